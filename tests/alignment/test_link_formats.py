"""Gold links in every published format give the same links; exact messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.alignment.gold_links import Gold, read_gold, read_with_gold
from coverage_eval.data.files import CorpusWarning
from coverage_eval.errors import DataError

positions = st.integers(0, 30)
link_sets = st.sets(st.tuples(positions, positions), max_size=12)
corpora = st.lists(st.tuples(link_sets, link_sets), min_size=1, max_size=6)


def as_gold(pair):
    sure, possible = pair
    return Gold(tuple(sorted(sure)), tuple(sorted(sure | possible)))


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")

    def write_file(text, name="gold"):
        path = folder / name
        path.write_text(text)
        return path

    return write_file


def read(path, *arguments, **options):
    return list(read_gold(path, *arguments, **options))


@given(corpora, st.sampled_from([0, 1]), st.sampled_from(["{}p{}", "{}?{}", "*{}-{}"]))
def test_talp_files(write, corpus, base, possible_form):
    lines = []
    for sure, possible in corpus:
        written = [f"{i + base}-{j + base}" for i, j in sure]
        written += [possible_form.format(i + base, j + base) for i, j in possible]
        lines.append(" ".join(written) + "\n")
    path = write("".join(lines))
    golds = [as_gold(pair) for pair in corpus]
    assert read(path, "talp", one_based=bool(base)) == golds
    assert read(path, "auto", one_based=bool(base)) == golds


@given(corpora.filter(lambda corpus: any(corpus[-1])), st.randoms(), st.booleans())
def test_naacl_files(write, corpus, random, confidence):
    lines = []
    for number, (sure, possible) in enumerate(corpus, start=1):
        for kind, links in (("S", sure), ("P", possible)):
            end = " 0.5" if confidence else ""
            lines += [f"{number:04d} {i + 1} {j + 1} {kind}{end}\n" for i, j in links]
        lines.append(f"{number:04d} 0 1 S\n")  # a link with NULL
    random.shuffle(lines)
    path = write("".join(lines))
    golds = [as_gold(pair) for pair in corpus]
    assert read(path, "naacl") == golds
    assert read(path, "auto") == golds


def test_naacl_without_kinds_is_sure(tmp_path):
    path = tmp_path / "gold"
    path.write_text("")
    assert read(path, "naacl") == []
    path.write_text("1 1 2\n\n3 2 1 P\n")
    assert read(path) == [Gold(((0, 1),), ((0, 1),)), Gold((), ()), Gold((), ((1, 0),))]


def giza(number, rows):
    """The three lines of a pair; words may look like syntax."""
    body = " ".join(f"{word} ({{ {''.join(f'{n} ' for n in row)}}})" for word, row in rows)
    return f"# Sentence pair ({number}) source length 3 alignment score : 1e-5\nx\n{body}\n"


def test_giza_in_any_order_and_with_a_word_like_syntax(tmp_path):
    path = tmp_path / "a3"
    second = giza(2, [("NULL", [4]), ("({", [1, 3]), ("b", []), ("c", [2])])
    first = giza(1, [("NULL", []), ("a", [])])
    path.write_text(second + first)
    links = ((0, 0), (0, 2), (2, 1))
    assert read(path) == [Gold((), ()), Gold(links, links)]
    swapped = ((0, 0), (1, 2), (2, 0))
    assert read(path, "giza", swapped=True) == [Gold((), ()), Gold(swapped, swapped)]


def test_giza_uses_the_first_of_repeated_pairs_and_says_so(tmp_path):
    path = tmp_path / "a3"
    path.write_text(giza(1, [("NULL", []), ("a", [1])]) + giza(1, [("NULL", []), ("a", [2])]))
    message = "line 4: pair 1 is repeated; the first one is used"
    with pytest.warns(CorpusWarning, match=message):
        assert read(path) == [Gold(((0, 0),), ((0, 0),))]


@given(corpora)
def test_swapping_twice_changes_nothing(write, corpus):
    def lines(flip):
        for sure, possible in corpus:
            pairs = [
                (mark, *link) for mark, links in (("-", sure), ("p", possible)) for link in links
            ]
            yield " ".join(f"{j}{m}{i}" if flip else f"{i}{m}{j}" for m, i, j in pairs) + "\n"

    plain = write("".join(lines(flip=False)))
    flipped = write("".join(lines(flip=True)), "flipped")
    assert read(flipped, swapped=True) == read(plain)


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("talp", "0-0\n1x1\n", "line 2: '1x1' is not a link (i-j, or ipj, i?j, *i-j)"),
        ("pharaoh", "0-0 1p1\n", "line 1: '1p1' is not a link (i-j)"),
        ("naacl", "1 1 1 S\n1 1\n", "line 2: '1 1' is not 'pair source target [S|P] [confidence]', "
         "counted from 1"),
        ("naacl", "1 1 1 S\n999999999 1 1 S\n", "line 2: pair 999999999 would leave more than "
         "1000000 pairs without a line; is the first number of a line the number of its pair?"),
        ("naacl", "0 1 1 S\n", "line 1: '0 1 1 S' is not 'pair source target [S|P] [confidence]', "
         "counted from 1"),
        ("giza", "0-0\n", "line 1: not '# Sentence pair (n) …' of a GIZA A3 file"),
        ("giza", "# Sentence pair (1) x\nx\nNULL ({ }) a ({ 1 )\n",
         "line 3: not 'NULL ({ … }) word ({ … }) …' of a GIZA A3 file"),
        ("giza", "# Sentence pair (1) x\nx\n",
         "line 3: not 'NULL ({ … }) word ({ … }) …' of a GIZA A3 file"),
        ("giza", "# Sentence pair (1) x\nx\nNULL ({ }) a ({ 0 })\n",
         "line 3: position 0 in a file that counts from 1"),
    ],
)  # fmt: skip
def test_malformed_gold_lines_are_errors(tmp_path, form, text, message):
    path = tmp_path / "gold"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path, form)
    assert str(caught.value) == f"{path}: {message}"


def test_position_zero_in_a_file_counted_from_one_is_an_error(tmp_path):
    path = tmp_path / "gold"
    path.write_text("1-1 3p0\n")
    with pytest.raises(DataError) as caught:
        read(path, "talp", one_based=True)
    assert str(caught.value) == (
        f"{path}: line 1: link '3p0' has position 0 in a file said to count from 1"
    )


def test_a_missing_giza_pair_is_an_error(tmp_path):
    path = tmp_path / "a3"
    path.write_text(giza(1, [("NULL", [])]) + giza(3, [("NULL", [])]))
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: pair 2 is missing, but there is a pair 3"


def test_an_unknown_form_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="unknown form 'moses' of gold links"):
        read_gold(tmp_path / "gold", "moses")


def test_only_naacl_files_may_have_fewer_pairs(tmp_path):
    links, naacl, talp = tmp_path / "links", tmp_path / "naacl", tmp_path / "talp"
    links.write_text("0-0\n1-1\n")
    naacl.write_text("1 1 1\n")
    talp.write_text("0-0\n")
    one = Gold(((0, 0),), ((0, 0),))
    assert list(read_with_gold(links, naacl)) == [(((0, 0),), one), (((1, 1),), Gold((), ()))]
    with pytest.raises(DataError) as caught:
        list(read_with_gold(links, talp))
    assert str(caught.value) == f"unequal numbers of pairs: {links} has 2, {talp} has 1"
    talp.write_text("0-0\n\n")
    assert [gold for _, gold in read_with_gold(links, talp)] == [one, Gold((), ())]
    with pytest.raises(DataError, match=r"'-' \(standard input\) is given twice"):
        list(read_with_gold("-", "-"))
    naacl.write_text("3 1 1\n")
    with pytest.raises(DataError) as caught:
        list(read_with_gold(links, naacl))
    assert str(caught.value) == f"unequal numbers of pairs: {links} has 2, {naacl} has 3"
