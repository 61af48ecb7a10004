"""Links and soft links of other aligners: from files or memory, checked, and signed by content."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.alignment.aligner import Aligner
from coverage_eval.alignment.alignment_checks import check_given_links
from coverage_eval.alignment.coverage_files import coverage_of
from coverage_eval.alignment.link_files import LinkColumn
from coverage_eval.data.dataset import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.omission_finder import OmissionFinder
from tests.grammar import generate
from tests.rows import make_text_rows

REFERENCE, HYPOTHESIS = [[(0, 0), (1, 1)], [(0, 0)]], [[(0, 0)], []]
TEXTS = (["x", "y"], ["x z", "y"], ["a b", "c"])


def write(path: Path, links: list[list[tuple[int, int]]]) -> Path:
    path.write_text("".join(" ".join(f"{i}-{j}" for i, j in row) + "\n" for row in links))
    return path


def test_files_and_lists_give_the_same_links(tmp_path):
    files = (write(tmp_path / "ref", REFERENCE), write(tmp_path / "hyp", HYPOTHESIS))
    from_files, from_lists = Aligner.from_links(*files), Aligner.from_links(REFERENCE, HYPOTHESIS)
    rows = make_text_rows(*TEXTS)
    assert list(from_files.align(rows)) == list(from_lists.align(rows))
    assert from_files.settings == from_lists.settings
    score = ce.drop(*TEXTS, from_files)
    assert score.score == pytest.approx(100 * 2 / 3)
    assert str(score.signature) == str(ce.drop(*TEXTS, from_lists).signature)


def test_different_links_have_different_signatures():
    names = {
        str(Aligner.from_links(*links).settings["links"])
        for links in (
            (REFERENCE, HYPOTHESIS), (HYPOTHESIS, REFERENCE), (REFERENCE, REFERENCE),
            (REFERENCE, [HYPOTHESIS, HYPOTHESIS]),
        )
    }  # fmt: skip
    assert len(names) == 4
    assert all(part for name in names for part in name.replace(",", "+").split("+"))


def test_links_to_the_sink_are_left_out():
    """The source has two words, so position 2 is the sink."""
    aligner = Aligner.from_links([[(0, 0), (2, 1)]], [[(2, 0)]], sink=True)
    (row,) = aligner.align(make_text_rows(["x"], ["x z"], ["a b"]))
    assert row.references == (((0, 0),),)
    assert row.hypotheses == ((),)
    assert aligner.settings["sink"] is True
    with pytest.raises(DataError, match="the source text is needed to find the sink"):
        list(aligner.align(make_text_rows(["x"], ["x z"])))


def test_several_references_and_systems():
    one, two = [[(0, 0)]], [[(1, 0)]]
    aligner = Aligner.from_links([one, two], [one])
    (row,) = aligner.align(make_text_rows(["x"], [["x"], ["y"]], ["a b"]))
    assert row.references == (((0, 0),), ((1, 0),))
    with pytest.raises(DataError, match="2 references and 1 hypotheses, but 1 references and 1"):
        list(aligner.align(make_text_rows(["x"], ["x"], ["a b"])))


def test_links_that_do_not_fit_are_refused(tmp_path):
    short = Aligner.from_links(REFERENCE[:1], HYPOTHESIS)
    with pytest.raises(
        DataError, match="unequal numbers of lines: the text has 2, links of the ref"
    ):
        list(short.align(make_text_rows(*TEXTS)))
    path = write(tmp_path / "far", [[(0, 0)], [(1, 0)]])
    with pytest.raises(DataError, match="far: line 2: link 1-0 is out of range: the source has 1"):
        list(Aligner.from_links(REFERENCE, path).align(make_text_rows(*TEXTS)))
    with pytest.raises(DataError, match="no such file"):
        Aligner.from_links(REFERENCE, tmp_path / "missing")
    with pytest.raises(DataError, match="coverage needs a model"):
        ce.soft_drop(*TEXTS, Aligner.from_links(REFERENCE, HYPOTHESIS))


def test_links_by_system_name_may_be_in_any_order():
    hypotheses, references, sources = TEXTS
    systems = {"good": references, "bad": hypotheses}
    named = {"bad": HYPOTHESIS, "good": REFERENCE}
    by_name = Aligner.from_links(REFERENCE, named)
    in_order = Aligner.from_links(REFERENCE, [named[system] for system in systems])
    expected = ce.compare(systems, references, sources, in_order, metrics="drop", resamples=0)
    metrics: list[Any]
    for metrics in (["drop"], [ce.DROP(by_name)]):
        found = ce.compare(systems, references, sources, by_name, metrics=metrics, resamples=0)
        assert found.rows == expected.rows
        assert found.signatures == expected.signatures
    with pytest.raises(DataError, match="links are for the systems bad, good, but the systems are"):
        ce.compare({"good": references, "worse": references}, references, sources, by_name)


@pytest.mark.parametrize(
    "kind", [iter, set, tuple, lambda links: np.array(links, dtype=int).reshape(-1, 2)]
)
def test_links_in_memory_of_any_kind(kind):
    links = [[kind(segment) for segment in text] for text in (REFERENCE, HYPOTHESIS)]
    assert ce.drop(*TEXTS, Aligner.from_links(*links)) == ce.drop(
        *TEXTS, Aligner.from_links(REFERENCE, HYPOTHESIS)
    )


def test_several_references_without_any_link():
    settings = Aligner.from_links([[[], []], [[], []]], HYPOTHESIS).settings
    assert settings["links"] == Aligner.from_links([[[], []]] * 2, [HYPOTHESIS]).settings["links"]
    assert str(settings["links"]).count(",") == 1


def test_the_papers_script_skips_lines_that_look_like_markup(tmp_path):
    (tmp_path / "ref").write_text("<doc>\n1-0\n0-0\n")
    aligner = Aligner.from_links(tmp_path / "ref", [[(0, 0)], [(0, 0)], []])
    rows = aligner.align(make_text_rows(*TEXTS), compat="acl2018")
    assert [(row.references[0], row.hypotheses[0]) for row in rows] == [
        (((1, 0),), ((0, 0),)),
        (((0, 0),), ((0, 0),)),
    ]
    (tmp_path / "ref").write_text("<doc>\n0-0\n1-0\n")
    aligner = Aligner.from_links(tmp_path / "ref", HYPOTHESIS)
    with pytest.raises(DataError, match="ref: line 3: link 1-0 is out of range"):
        list(aligner.align(make_text_rows(*TEXTS), compat="acl2018"))


def test_a_file_without_any_link_is_reported_and_not_held_in_memory(tmp_path):
    (tmp_path / "blank").write_text("\n \n")
    columns = [LinkColumn(tmp_path / "blank", "links"), LinkColumn([[], [(0, 0)]], "links")]
    assert [isinstance(column.lines(), list) for column in columns] == [False, True]
    (found,) = check_given_links(columns)
    assert found.check == "no-links"
    assert found.message == f"{tmp_path}/blank: no line has a link; is it the right file?"


@pytest.mark.parametrize("links", [[[(0, 0, 1)], []], [["0-0"], ["0-0"]], [[(0,)], []]])
def test_values_that_are_not_links_are_refused(links):
    with pytest.raises(DataError, match=r"links of the reference: segment 1: .* are not links"):
        Aligner.from_links(links, HYPOTHESIS)
    with pytest.raises(TypeError, match="links of the reference: a file or a list"):
        Aligner.from_links(None, HYPOTHESIS)  # type: ignore[arg-type]


def test_links_from_a_pipe_are_signed_and_used(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    in_memory = Aligner.from_links(REFERENCE, HYPOTHESIS)
    lines = write(tmp_path / "ref", REFERENCE).read_text()
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_text, lines)
        piped = Aligner.from_links(pipe, HYPOTHESIS)
    rows = make_text_rows(*TEXTS)
    assert piped.settings == in_memory.settings
    assert list(piped.align(rows)) == list(in_memory.align(rows))


PAIRS = generate(500, seed=3)
SOURCES, TARGETS = ([" ".join(getattr(p, side)) for p in PAIRS] for side in ("source", "target"))


@pytest.fixture(scope="module")
def posteriors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Any]]]:
    """A model, and its posteriors for a reference and an output in files and in memory."""
    folder = tmp_path_factory.mktemp("posteriors")
    outputs = [" ".join(line.split()[:-2]) for line in TARGETS[:40]]
    rows = [Row((out,), (ref,), src) for out, ref, src in zip(outputs, TARGETS, SOURCES)]  # noqa: B905
    with Aligner.train(SOURCES, TARGETS) as model:
        model.save(folder / "model")
        found = list(model.posteriors(rows))
    matrices = {
        "ref": [row.references[0].matrix for row in found],
        "hyp": [row.hypotheses[0].matrix for row in found],
    }
    texts = {"src": SOURCES[:40], "ref": TARGETS[:40], "hyp": outputs}
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    for name, arrays in matrices.items():
        # Every second one as a matrix, the others as the row of its column sums.
        lines = [
            json.dumps((one if n % 2 else one.sum(axis=0)).tolist()) for n, one in enumerate(arrays)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return folder, matrices


NAMED = ("hyp", "ref", "--src", "src")
GIVEN = ("--coverage", "hyp.jsonl", "--ref-coverage", "ref.jsonl")


def test_a_models_own_matrices_give_the_models_own_scores(run_cli, posteriors):
    folder, matrices = posteriors
    soft = run_cli("drop", "--soft", *NAMED, *GIVEN, "-b", cwd=folder).stdout
    assert soft == run_cli("drop", "--soft", *NAMED, "--model", "model", "-b", cwd=folder).stdout
    aligner = Aligner.from_posteriors(matrices["ref"], matrices["hyp"])
    texts = [(folder / name).read_text().splitlines() for name in ("hyp", "ref", "src")]
    assert f"{float(ce.soft_drop(*texts, aligner)):.2f}" == soft.strip()
    for more in ((), ("--sentence-level",)):
        options = ("omissions", "hyp", "--src", "src", "-f", "json", *more)
        found = json.loads(run_cli(*options, "--coverage", "hyp.jsonl", cwd=folder).stdout)
        model = json.loads(run_cli(*options, "--model", "model", cwd=folder).stdout)
        assert found["scores"][0]["score"] == model["scores"][0]["score"]
        for one, other in zip(
            found["scores"][0].get("sentences", []), model["scores"][0].get("sentences", []),
            strict=True,
        ):  # fmt: skip
            assert one["losses"] == pytest.approx(other["losses"], abs=1e-3)
    options = ("compare", "--ref", "ref", "--src", "src", "-f", "csv", "--resamples", 0)
    table = run_cli(*options, "hyp", *GIVEN, cwd=folder).stdout
    assert [line.split(",")[1] for line in table.splitlines()[1:]] == [
        "BLEU",
        "METEOR",
        "REP",
        "SoftDROP",
    ]
    assert "|coverage:" in table
    two = ("a=hyp", "b=ref", "--coverage", "hyp.jsonl", "--coverage", "ref.jsonl", *GIVEN[2:])
    table = run_cli(*options, *two, "--metrics", "softdrop,omissions", cwd=folder).stdout
    assert table.splitlines()[-2].startswith("b,SoftDROP,0.0,")
    report = ("report", "--ref", "ref", "--src", "src", "hyp", *GIVEN, "-o", "r.html")
    run_cli(*report, "--metrics", "softdrop,omissions", cwd=folder)


def test_soft_links_are_not_links():
    aligner = Aligner.from_posteriors([], [[1, 1]])
    with pytest.raises(DataError, match="soft links give coverages, not links: give links with"):
        aligner.align([Row((["a"],), (), ["x", "y"])])


def test_additions_need_a_matrix():
    matrix = np.array([[0.9, 0.3], [0.0, 0.0], [0.01, 0.02]])
    aligner = Aligner.from_posteriors([], [matrix])
    (row,) = aligner.cover([Row(("a b c",), (), "x y")], "target")
    assert row.hypotheses[0].tolist() == pytest.approx([1.0, 0.0, 0.03])
    (found,) = OmissionFinder.of(aligner, "target").find_texts(["a b c"], ["x y"])
    assert [mark.text for mark in found.marks] == ["b c"]
    with pytest.raises(DataError, match="line 1: a row of source words does not say"):
        list(Aligner.from_posteriors([], [[1, 1]]).cover([Row(("a",), (), "x y")], "target"))


def test_soft_links_by_system_name_with_a_sink():
    soft = {"a": [[0.5, 0.5, 0.9]], "b": [[1.0, 2.0, 0.0]]}
    aligner = Aligner.from_posteriors([[1, 1, 1]], soft, sink=True)
    systems = {"b": ["x"], "a": ["x"]}
    comparison = ce.compare(systems, ["x"], ["u v"], aligner, metrics=["softdrop"], resamples=0)
    scores = {name: float(cells["softdrop"].score) for name, cells in comparison.rows.items()}
    assert scores == {"b": 0.0, "a": 50.0}
    with pytest.raises(DataError, match="links are for the systems a, b, but"):
        ce.compare({"c": ["x"]}, ["x"], ["u v"], aligner, metrics=["softdrop"])


def test_attention_maps_are_matrices(tmp_path):
    maps = tmp_path / "maps.jsonl"
    record = {"attention": [[0.9, 0.1], [0.2, 0.8]], "tgt_eos": True, "src_eos": True}
    maps.write_text(json.dumps(record) + "\n")
    (row,) = Aligner.from_posteriors([], maps).cover([Row(("a",), (), "x")])
    assert row.hypotheses[0].tolist() == [0.9]


def test_soft_links_of_peers_are_used():
    soft = {"hyp": [[0.9, 0.1]], "peer": [[0.8, 0.9]]}
    finder = OmissionFinder.of(Aligner.from_posteriors([], soft), peers=1)
    (found,) = finder.find_texts(["x"], ["u v"], peers=[["y"]])
    assert found.peers == 1
    assert found.losses.argmax() == 1
    with pytest.raises(DataError, match="soft links of 0 references and 2 hypotheses and peers"):
        OmissionFinder.of(Aligner.from_posteriors([], soft)).find_texts(["x"], ["u v"])


def test_a_side_without_words_has_no_coverage():
    aligner = Aligner.from_posteriors([], [[], [[]], [0.2]])
    rows = [Row(("",), (), "x y"), Row(("a",), (), ""), Row(("a",), (), "x")]
    assert [row.hypotheses[0].tolist() for row in aligner.cover(rows)] == [[0, 0], [], [0.2]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 1", "line 1: not JSON"),
        ('{"a": 1}', "line 1: is neither a row of numbers"),
        ("[[1], [1, 2]]", "line 1: is neither a row of numbers"),
        ("[1, -1]", "line 1: values are finite numbers from 0"),
        ("[NaN, 1]", "line 1: values are finite numbers from 0"),
        ("3", "line 1: is neither a row of numbers"),
        ("[1, 1, 1]", "line 1: has 3 values, but there are 1 target words and 2 source words"),
        ("[[1, 1], [1, 1]]", "line 1: has 2 x 2 values, but there are 1 target words"),
        ("[1, 1]\n[1, 1]", "unequal numbers of lines: the text has 1"),
    ],
)
def test_damaged_soft_links_are_errors(run_cli, tmp_path, line, message):
    (tmp_path / "soft").write_text(f"{line}\n")
    (tmp_path / "hyp").write_text("a\n")
    (tmp_path / "src").write_text("x y\n")
    texts = ("omissions", "hyp", "--src", "src", "--coverage", "soft")
    done = run_cli(*texts, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["drop", *NAMED, *GIVEN], "DROP needs links, and --coverage gives soft"),
        (["drop", "--soft", "hyp", "ref", *GIVEN], "--coverage needs --src"),
        (["drop", "--soft", *NAMED, *GIVEN[2:]], "--ref-coverage goes with --coverage"),
        (["drop", "--soft", *NAMED, *GIVEN, "--model", "model"], "give only one of: --model"),
        (["compare", "--ref", "ref", "--src", "src", "hyp", *GIVEN, "--metrics", "drop"],
         "metric drop needs links"),
        (["compare", "--ref", "ref", "--src", "src", "hyp", "x=hyp", *GIVEN],
         "--coverage: 1 for 2 systems; give it once for each"),
    ],
)  # fmt: skip
def test_conflicting_options_are_usage_errors(run_cli, posteriors, arguments, message):
    done = run_cli(*arguments, cwd=posteriors[0], check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_soft_links_of_several_words_cover_a_word_once_at_most():
    soft = np.array([[0.9, 0.25, 0.0], [0.8, 0.25, 0.1]])
    of_source = coverage_of(soft, 3, 2, "source", sink=False, where="")
    assert of_source.tolist() == [1.0, 0.5, 0.1]
    of_target = coverage_of(soft, 3, 2, "target", sink=False, where="")
    assert of_target == pytest.approx([1.0, 1.0])
    assert coverage_of(soft, 2, 2, "target", sink=True, where="") == pytest.approx([1.0, 1.0])


def test_soft_links_of_nothing_are_said(run_cli, tmp_path):
    (tmp_path / "hyp").write_text("a b\nc d\n")
    (tmp_path / "src").write_text("x y\nz\n")
    arguments = ("omissions", "hyp", "--src", "src", "--coverage", "soft")
    (tmp_path / "soft").write_text("[]\n[]\n")
    done = run_cli(*arguments, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "soft: line 1: has no values, but there are 2 target words and 2 source" in done.stderr
    (tmp_path / "soft").write_text("[0, 0]\n[0]\n")
    done = run_cli(*arguments, cwd=tmp_path)
    assert "soft: no line has a link; is it the right file?" in done.stderr
    (tmp_path / "hyp").write_text("\nc d\n")
    (tmp_path / "soft").write_text("[]\n[1]\n")
    assert "no line has a link" not in run_cli(*arguments, cwd=tmp_path).stderr
