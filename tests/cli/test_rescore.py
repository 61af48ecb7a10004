"""``coverage-eval rescore``, against a plain loop with sacreBLEU."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from coverage_eval.errors import DataError
from coverage_eval.papers.rescoring import (
    GRID,
    Candidates,
    NBest,
    grid_search,
    read_coverage,
    read_nbest,
)

NBEST = (
    "0 ||| a b ||| F0= -9 ||| -1.0\n"
    "0 ||| a b c d ||| F0= -1 ||| -1.2\n"
    "1 ||| x y ||| F0= -1 ||| -0.5\n"
    "1 |||  ||| F0= -2 ||| -0.25 ||| 0-0\n"
)
ATTENTION = (
    '{"attention": [[0.5, 0.5], [0.45, 0.55]]}\n'
    '{"attention": [[0.5, 0.5], [1, 0], [1, 0], [0.9, 0.1], [0.5, 0.5]]}\n'
    '{"coverage": [1.5, 0.5, 1.0]}\n'
    '{"attention": []}\n'
)


@pytest.fixture
def files(tmp_path):
    nbest, attention = tmp_path / "nbest.txt", tmp_path / "attention.jsonl"
    nbest.write_text(NBEST, encoding="utf-8")
    attention.write_text(ATTENTION, encoding="utf-8")
    return nbest, attention


def test_totals_of_attention_by_hand(files):
    lists = read_nbest(files[0])
    totals = [row.tolist() for row in read_coverage(files[1], lists)]
    assert totals[0] == pytest.approx([0.95, 1.05])
    assert totals[1] == pytest.approx([3.9, 1.1])
    # The empty hypothesis attends to nothing, in a source of three words.
    assert totals[2:] == [[1.5, 0.5, 1.0], [0, 0, 0]]
    assert lists.texts == ("a b", "a b c d", "x y", "")
    assert lists.log_probabilities.tolist() == [-1.0, -1.2, -0.5, -0.25]


def test_marian_writes_alignments_before_features(tmp_path):
    path = tmp_path / "n"
    path.write_text("0 ||| a b ||| 0-0 1-1 ||| F0= -3 ||| -1.5\n", encoding="utf-8")
    assert read_nbest(path).log_probabilities.tolist() == [-1.5]
    assert read_nbest(path, feature="F0").log_probabilities.tolist() == [-3.0]
    with pytest.raises(DataError, match="line 1: no feature 'F1=' in 'F0= -3'"):
        read_nbest(path, feature="F1")
    path.write_text(f"{'9' * 5000} ||| a ||| F0= -1 ||| -1\n")
    with pytest.raises(DataError, match="line 1: not a line"):
        read_nbest(path)


words = st.text(
    alphabet=st.characters(exclude_categories=["C", "Z"], exclude_characters="|"), min_size=1
)
hypotheses = st.lists(
    st.lists(st.tuples(st.lists(words, max_size=4), st.floats(-1e6, 0)), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(hypotheses)
def test_what_is_written_as_moses_does_reads_back(tmp_path_factory, segments):
    path = tmp_path_factory.mktemp("nbest") / "n"
    lines = [
        f"{number} ||| {' '.join(text)} ||| F0= {score!r} ||| {score!r}\n"
        for number, segment in enumerate(segments)
        for text, score in segment
    ]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    lists = read_nbest(path)
    flat = [pair for segment in segments for pair in segment]
    assert list(lists.texts) == [" ".join(text) for text, _ in flat]
    assert lists.log_probabilities.tolist() == [score for _, score in flat]
    assert lists.sizes.tolist() == [len(segment) for segment in segments]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='01 |=.-a{}[]"coverageattention:,\n', max_size=40))
def test_any_text_reads_or_is_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("fuzz") / "f"
    path.write_text(text, encoding="utf-8", newline="")
    with contextlib.suppress(DataError):
        assert len(read_nbest(path).texts) > 0
    with contextlib.suppress(DataError):
        assert (
            len(list(read_coverage(path, NBest("n", ("a", ""), np.array([0, 1]), np.zeros(2)))))
            == 2
        )


def test_given_weights_choose_the_hypotheses(run_cli, files):
    nbest, attention = files
    plain = run_cli("rescore", nbest, "--alpha", 0, "--beta", 0)
    assert plain.stdout == "a b\n\n"
    # Length alone: -1/(7/6) = -.857 against -1.2/(9/6) = -.8; -.5/(7/6) = -.43 against -.25·6/5.
    longer = run_cli("rescore", nbest, "--alpha", 1, "--beta", 0)
    assert longer.stdout == "a b c d\n\n"
    # Coverage: the empty hypothesis now pays three times log 0.1.
    covered = run_cli("rescore", nbest, "--attention", attention, "--alpha", 0, "--beta", 0.2)
    assert covered.stdout == "a b\nx y\n"
    feature = run_cli("rescore", nbest, "--feature", "F0", "--alpha", 0, "--beta", 0)
    assert feature.stdout == "a b c d\nx y\n"


def test_equal_scores_give_the_first_listed(run_cli, tmp_path):
    nbest = tmp_path / "n"
    nbest.write_text(
        "0 ||| b ||| ||| -1\n0 ||| a ||| ||| -1\n0 ||| c ||| ||| -2\n", encoding="utf-8"
    )
    assert run_cli("rescore", nbest, "--alpha", 0.4, "--beta", 0).stdout == "b\n"
    # Wu's penalty is -inf for a word without attention, in all hypotheses here.
    attention = tmp_path / "a.jsonl"
    attention.write_text('{"coverage": [0, 1]}\n' * 3, encoding="utf-8")
    done = run_cli(
        "rescore", nbest, "--attention", attention, "--alpha", 0, "--beta", 1, "--penalty", "wu"
    )
    assert done.stdout == "b\n"


def make_corpus(shared, folder, segments=60):
    """N-best lists of real references, cut short and with repetitions, and random attention."""
    rng = random.Random(3)
    text = (shared / "data" / "multi30k-de-en" / "val.en").read_text(encoding="utf-8")
    references = text.split("\n")[:segments]
    rows = []
    for number, reference in enumerate(references):
        words = reference.split()
        size = rng.randint(3, 12)
        for kind in range(5):
            hypothesis = list(words)
            if kind % 2:
                hypothesis = hypothesis[: rng.randint(1, len(words))]
            if kind > 1:
                place = rng.randrange(len(hypothesis))
                hypothesis[place:place] = hypothesis[place : place + 3]
            score = -rng.uniform(0.2, 0.6) * len(hypothesis) - rng.uniform(0, 2)
            matrix = np.random.default_rng(number * 10 + kind).dirichlet(
                np.full(size, 0.3), len(hypothesis) + rng.randint(0, 1)
            )
            rows.append((number, " ".join(hypothesis), score, matrix.round(6)))
    nbest, attention, ref = folder / "dev.nbest", folder / "dev.jsonl", folder / "dev.ref"
    nbest.write_text(
        "".join(f"{n} ||| {h} ||| F0= {s!r} ||| {s!r}\n" for n, h, s, _ in rows), encoding="utf-8"
    )
    attention.write_text(
        "".join(json.dumps({"attention": m.tolist()}) + "\n" for *_, m in rows), encoding="utf-8"
    )
    ref.write_text("".join(r + "\n" for r in references), encoding="utf-8")
    return rows, references, (nbest, attention, ref)


def slow_choice(rows, segments, alpha, beta, form, epsilon=0.1):
    """The paper's formulas, hypothesis by hypothesis."""
    best = [(-math.inf, "")] * segments
    for number, text, log_probability, matrix in rows:
        penalty = 0.0
        for column in matrix.T:
            total = float(sum(column))
            if form == "paper":
                penalty += math.log(max(epsilon, min(1.0, total)))
            elif form == "wu":
                penalty += math.log(min(1.0, total)) if total > 0 else -math.inf
            else:
                penalty -= max(1.0, total) - 1.0
        score = log_probability / ((5 + len(text.split())) / 6) ** alpha
        score += beta * penalty if beta else 0.0
        if score > best[number][0]:
            best[number] = score, text
    return [text for _, text in best]


@pytest.mark.parametrize("form", ["paper", "wu", "summary"])
def test_grid_search_equals_a_plain_loop(run_cli, shared, tmp_path, form):
    rows, references, (nbest, attention, ref) = make_corpus(shared, tmp_path)
    chosen = tmp_path / "chosen.txt"
    done = run_cli(
        "rescore", nbest, "--attention", attention, "--ref", ref, "--penalty", form,
        "-f", "json", "-o", chosen,
    )  # fmt: skip
    result = json.loads(done.stdout)
    bleu = {}
    for a in range(6):
        for b in range(6):
            texts = slow_choice(rows, len(references), 0.2 * a, 0.2 * b, form)
            bleu[a, b] = BLEU(force=True).corpus_score(texts, [references]).score
    ours = {(round(p["alpha"] * 5), round(p["beta"] * 5)): p["bleu"] for p in result["grid"]}
    assert ours.keys() == bleu.keys()
    assert ours == pytest.approx(bleu)
    assert len(set(bleu.values())) > 5, "the weights matter"
    best = max(bleu, key=lambda pair: (bleu[pair], -pair[0], -pair[1]))
    assert (result["best"]["alpha"], result["best"]["beta"]) == (GRID[best[0]], GRID[best[1]])
    assert result["scores"][0]["score"] == pytest.approx(bleu[best])
    expected = slow_choice(rows, len(references), 0.2 * best[0], 0.2 * best[1], form)
    assert chosen.read_text(encoding="utf-8").split("\n")[:-1] == expected


def test_text_has_the_table_and_the_best_with_its_signature(run_cli, shared, tmp_path):
    _, _, (nbest, attention, ref) = make_corpus(shared, tmp_path, 10)
    arguments = ("rescore", nbest, "--attention", attention, "--ref", ref)
    lines = run_cli(*arguments).stdout.rstrip("\n").split("\n")
    assert len(lines) == 10  # the table, an empty line, the score
    assert [float(x) for x in lines[0].split()[3:]] == list(GRID)
    assert [float(line.split()[0]) for line in lines[2:8]] == list(GRID)
    signature, _, value = lines[-1].partition(" = ")
    assert "|coverage:paper|epsilon:0.1|length:tokens|" in signature
    assert float(value) == max(float(x) for line in lines[2:8] for x in line.split()[1:])
    one = run_cli(*arguments, "--alpha", 0.2, "--beta", 0.4, "--count-eos").stdout
    assert "|alpha:0.2|beta:0.4|coverage:paper|epsilon:0.1|length:tokens+eos|" in one
    assert run_cli(*arguments).stdout == run_cli(*arguments).stdout
    csv = run_cli(*arguments, "-f", "csv").stdout.split("\n")
    assert csv[0] == "alpha,beta,bleu,best"
    assert sum(line.endswith("True") for line in csv) == 1


def test_lengths_as_the_scripts_count_them():
    """logP −10, α = 0.6, five words: |y| is 7 with BOS and EOS."""
    lists = NBest("n", ("a b c d e",), np.array([0]), np.array([-10.0]))
    scripts = Candidates(lists, count_bos=True, count_eos=True)
    assert scripts.scores(0.6, 0)[0] == pytest.approx(-6.598, abs=5e-4)
    search = grid_search(scripts, ["a b c d e"], alphas=[0.6], betas=[0])
    assert "|length:tokens+bos+eos|" in str(search.score.signature)


def test_equal_bleu_gives_the_smallest_weights():
    """One hypothesis a segment: every point of the grid has the same BLEU."""
    lists = NBest("n", ("a b c d", "e f g h"), np.array([0, 1]), np.array([-1.0, -1.0]))
    search = grid_search(Candidates(lists, [np.ones(2)] * 2), ["a b c d", "e f g x"])
    assert (search.best.alpha, search.best.beta) == (0.0, 0.0)
    assert len({point.bleu for point in search.points}) == 1


def test_attention_in_npz_and_with_a_sink_and_lists_in_gzip(run_cli, shared, tmp_path):
    rows, _, (nbest, attention, ref) = make_corpus(shared, tmp_path, 8)
    expected = run_cli("rescore", nbest, "--attention", attention, "--ref", ref).stdout
    archive = tmp_path / "dev.npz"
    np.savez_compressed(archive, **{f"attention_{i}": m for i, (*_, m) in enumerate(rows)})
    assert run_cli("rescore", nbest, "--attention", archive, "--ref", ref).stdout == expected
    zipped, padded = tmp_path / "dev.nbest.gz", tmp_path / "padded.jsonl"
    zipped.write_bytes(gzip.compress(nbest.read_bytes()))
    records = [
        {"attention": np.pad(m, ((0, 0), (0, 1)), constant_values=0.5).tolist(), "src_eos": True}
        for *_, m in rows
    ]
    padded.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    assert run_cli("rescore", zipped, "--attention", padded, "--ref", ref).stdout == expected


def test_subwords_of_the_chosen_hypotheses_are_merged(run_cli, tmp_path):
    ref = tmp_path / "ref"
    ref.write_text("Netanyahu said so .\n\n", encoding="utf-8")
    nbest = "0 ||| Net@@ any@@ ahu said so . ||| ||| -1\n1 ||| ||| ||| -1\n"
    arguments = ("rescore", "-", "--alpha", 0, "--beta", 0)
    done = run_cli(*arguments, "--subwords", "bpe", "--ref", ref, stdin=nbest)
    assert done.stdout.rstrip().endswith("= 100.00")
    assert "|subwords:bpe|" in done.stdout
    assert run_cli(*arguments, stdin=nbest).stdout == "Net@@ any@@ ahu said so .\n\n"
    done = run_cli(*arguments, "--subwords", "bpe", stdin=nbest)
    assert done.stdout == "Netanyahu said so .\n\n"
    pieces = Candidates(
        NBest("n", ("▁Hel lo ▁world",), np.array([0]), np.array([-1.0])), subwords="sentencepiece"
    )
    assert pieces.chosen_texts(0, 0) == ["Hello world"]


def test_empty_references_and_hypotheses_are_data(run_cli, tmp_path):
    ref = tmp_path / "ref"
    ref.write_text("\na b c d\n", encoding="utf-8")
    nbest = "0 ||| ||| ||| -1\n1 ||| a b c d ||| ||| -1\n"
    done = run_cli("rescore", "-", "--ref", ref, "--beta", 0, "--alpha", 0, stdin=nbest)
    assert done.stdout.rstrip().endswith("= 100.00")


@pytest.mark.parametrize(
    ("nbest", "message"),
    [
        ("0 ||| a ||| -1\n", "line 1: not a line 'number ||| hypothesis"),
        ("x ||| a ||| ||| -1\n", "line 1: not a line"),
        ("0 ||| a ||| ||| -1\n\n", "line 2: not a line"),
        ("0 ||| a ||| ||| low\n", "line 1: the score: 'low' is not a finite number"),
        ("0 ||| a ||| ||| nan\n", "line 1: the score: 'nan' is not a finite number"),
        ("1 ||| a ||| ||| -1\n", "line 1: the first segment is 1; it must be 0"),
        ("0 ||| a ||| ||| -1\n2 ||| a ||| ||| -1\n", "line 2: segment 2 follows segment 0"),
        (
            "0 ||| a ||| ||| -1\n1 ||| a ||| ||| -1\n0 ||| b ||| ||| -1\n",
            "line 3: segment 0 follows",
        ),
        ("", "no hypotheses: the file is empty"),
    ],
)
def test_bad_lists_are_errors(tmp_path, nbest, message):
    path = tmp_path / "wrong.nbest"
    path.write_text(nbest, encoding="utf-8")
    with pytest.raises(DataError, match="wrong") as caught:
        read_nbest(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        ('{"attention": [[1, 0]]}\n', "line 1: attention has 1 rows for a hypothesis of 2 tokens"),
        ('{"attention": [[1, 0], [1]]}\n', "line 1: not a rectangle"),
        ('{"attention": [[1, 2], [1, 0]]}\n', "a weight of attention is not between 0 and 1"),
        ('{"attention": [[NaN, 1], [1, 0]]}\n', "line 1: not a rectangle of numbers"),
        ('{"attention": 3}\n', "line 1: 'attention' is not a list of rows"),
        ('{"coverage": [-1]}\n', "line 1: a total of attention is negative"),
        ('{"coverage": [[1]]}\n', "line 1: 'coverage' is not a list of numbers"),
        ('{"weights": []}\n', "line 1: not an object with either"),
        ("[1]\n", "line 1: not an object with either"),
        ("{\n", "line 1: not JSON: "),
        ('{"coverage": [1]}\n', "has attention for 1 hypotheses, but"),
        ('{"coverage": [1]}\n{"coverage": [1, 1]}\n', "segment 0: some hypotheses attend to 1 "),
        (ATTENTION + '{"coverage": [1]}\n', "line 5: attention for more than the 4 hypotheses"),
    ],
)
def test_bad_attention_is_an_error(files, tmp_path, attention, message):
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(attention, encoding="utf-8")
    with pytest.raises(DataError, match="wrong") as caught:
        list(read_coverage(wrong, read_nbest(files[0])))
    assert message in str(caught.value)


def test_damaged_npz_files_are_errors(files, tmp_path):
    bad, gap = tmp_path / "bad.npz", tmp_path / "gap.npz"
    bad.write_bytes(b"PK\x03\x04 no archive")
    np.savez(gap, attention_0=np.ones((2, 1)), attention_2=np.ones((2, 1)))
    odd = tmp_path / "odd.npz"
    np.savez(odd, attention_0=np.ones((2, 1)), segments=np.array("5"))
    for path, message in ((bad, "not a readable"), (gap, "no 'attention_1'"), (odd, "not a read")):
        with pytest.raises(DataError, match=message):
            list(read_coverage(path, read_nbest(files[0])))


def test_totals_in_npz_may_end_with_a_sink(tmp_path):
    nbest, archive = tmp_path / "nbest", tmp_path / "totals.npz"
    nbest.write_text("0 ||| a b ||| F0= -1 ||| -1\n")
    records = np.array(json.dumps([{"src_eos": True}]))
    np.savez(archive, attention_0=np.array([0.5, 1.5, 9.0]), segments=records)
    assert [row.tolist() for row in read_coverage(archive, read_nbest(nbest))] == [[0.5, 1.5]]


def test_too_few_references_are_an_error(run_cli, files, tmp_path):
    ref = tmp_path / "ref"
    ref.write_text("one\n", encoding="utf-8")
    done = run_cli("rescore", files[0], "--ref", ref, "--beta", 0, check=False)
    assert done.returncode == 1
    assert "hypotheses for 2 segments, but there are 1 references" in done.stderr


def test_usage_errors(run_cli, files):
    search = "give --ref to search for the weights"
    for arguments, said in (
        ((), search), (("--alpha", 0), search), (("--beta", 0), search),
        (("--alpha", 0, "--beta", 1), "needs --attention"), (("--alpha", -1), "at least 0"),
    ):  # fmt: skip
        done = run_cli("rescore", files[0], *arguments, check=False)
        assert (done.returncode, said in done.stderr) == (2, True)
    twice = run_cli("rescore", "-", "--attention", "-", "--alpha", 1, "--beta", 1, check=False)
    assert (twice.returncode, "named more than once" in twice.stderr) == (2, True)
    with pytest.raises(DataError, match="needs the attention"):
        Candidates(read_nbest(files[0])).choose(0.0, 0.2)
