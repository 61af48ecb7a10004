"""A model prepares texts as its training text was prepared; users see their own text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.core.tokenizers import StopWords, Tokenizer
from coverage_eval.coverage.drop import DROP
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.coverage.training import train_for_omissions
from tests.grammar import generate
from tests.rows import score_of, segment_scores_of

TRAIN, TEST = generate(900, seed=1), generate(120, seed=2)
MISSING = (30, 31, 70)
FORMS: dict[str, Callable[[str], str]] = {"lower": str.lower, "cased": str.title}


def spell(rows: Sequence[Sequence[str]], form: str) -> list[str]:
    return [" ".join(map(FORMS[form], row)) for row in rows]


def texts(form: str) -> dict[str, list[str]]:
    """Source and reference, an output that shortens every third line, and one that lacks lines."""
    source = spell([pair.source for pair in TEST], form)
    reference = spell([pair.target for pair in TEST], form)
    output = [line if n % 3 else " ".join(line.split()[:4]) for n, line in enumerate(reference)]
    document = [line for n, line in enumerate(reference) if n not in MISSING]
    return {"src": source, "ref": reference, "out": output, "doc": document}


def train(form: str) -> ModelAligner:
    sides = zip(*((pair.source, pair.target) for pair in TRAIN), strict=True)
    return train_for_omissions(*(spell(side, form) for side in sides))


@pytest.fixture(scope="module")
def lower() -> Iterator[ModelAligner]:
    with train("lower") as aligner:
        yield aligner


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, lower: ModelAligner) -> Path:
    """The model of lowercased text, and texts in both forms."""
    folder = tmp_path_factory.mktemp("texts")
    lower.save(folder / "model")
    for form in FORMS:
        for name, lines in texts(form).items():
            (folder / f"{name}.{form}").write_text("\n".join(lines) + "\n")
    return folder


def figures(aligner: ModelAligner, corpus: dict[str, list[str]]) -> list[Any]:
    """Figures of the Python functions that align."""
    metrics = ["drop", "softdrop", "omissions", "additions"]
    table = ce.compare(
        {"out": corpus["out"]},
        corpus["ref"],
        corpus["src"],
        aligner,
        metrics=metrics,
        resamples=0,
    )
    document = ce.compare(
        {"doc": corpus["doc"]}, None, corpus["src"], aligner,
        metrics=["missing-lines", "omissions"], resamples=0, unaligned=True,
    )  # fmt: skip
    segmented = ce.segment(corpus["doc"], corpus["src"], aligner)
    return [
        [float(each.result.score(name)) for each in (table, document) for name in each.metrics],
        segment_scores_of(Omissions(aligner), corpus["out"], None, corpus["src"]),
        segmented.missing,
    ]


@pytest.mark.slow
def test_figures_do_not_depend_on_the_case_of_either_text(lower):
    """A model of lowercased text and one of cased text are the same, with any text."""
    by_hand = figures(lower, texts("lower"))
    assert by_hand[2] == MISSING
    with train("cased") as cased:
        assert cased.settings == lower.settings  # with the model's digest
        for aligner, form in ((lower, "cased"), (cased, "lower"), (cased, "cased")):
            assert figures(aligner, texts(form)) == by_hand


def test_commands_give_the_figures_of_texts_that_were_cased_by_hand(run_cli, folder):
    for line in (
        "drop out.{0} ref.{0} --src src.{0} --model model -b",
        "omissions out.{0} --src src.{0} --model model -b",
        "omissions doc.{0} --src src.{0} --model model --unaligned -b",
        "segment doc.{0} --src src.{0} --model model",
        "compare out.{0} --ref ref.{0} --src src.{0} --model model -m drop,softdrop -f json",
        "align apply model src.{0} ref.{0}",
    ):
        by_hand, found = (
            run_cli(*line.format(form).split(), cwd=folder) for form in ("lower", "cased")
        )
        corpus = found.stdout.lower() if line.startswith("segment") else found.stdout
        assert corpus.replace("cased", "lower") == by_hand.stdout, line
        assert "model" not in found.stderr
    result = run_cli("segment", "doc.cased", "--src", "src.cased", "--model", "model", cwd=folder)
    assert "3 have none (2.5%): lines 31 to 32, 71" in result.stderr
    assert [line for line in result.stdout.splitlines() if line] == texts("cased")["doc"]


def test_spark_gives_the_figures_of_texts_that_were_cased_by_hand(folder):
    pa = pytest.importorskip("pyarrow", reason="needs the extra 'spark'")
    from coverage_eval.spark import Job

    job = Job("out", ("drop", "softdrop", "omissions"), references=("ref",), source="src")
    scores = []
    for form in FORMS:
        corpus = texts(form)
        table = pa.table({name: corpus[name] for name in ("src", "ref", "out")})
        batches = job.score_batches(table.to_batches(), str(folder / "model"))
        scores.append([batch.to_pylist() for batch in batches])
    assert scores[0] == scores[1]


def test_marks_and_lines_are_the_users_own_text(lower):
    corpus = texts("cased")
    with pytest.warns(CorpusWarning):
        result = ce.compare(
            {"out": corpus["out"]}, corpus["ref"], corpus["src"], lower, resamples=0,
            metrics=["drop", "softdrop", "omissions", "additions"],
        ).result  # fmt: skip
    marked = 0
    for name in result.metrics:
        for row, (found,) in zip(result.rows, result.explanations(name), strict=True):
            for mark in found.marks:
                text = row.source if mark.side == "source" else row.hypotheses[0]
                assert mark.text in str(text)
                marked += 1
    assert marked > 40


def test_stop_words_count_in_any_case_for_a_model_of_lowercased_text(lower):
    words = StopWords(frozenset({"Der", "die", "das", "."}))
    by_hand, found, plain = (
        float(score_of(DROP(lower, chosen), corpus["out"], corpus["ref"], corpus["src"]))
        for corpus, chosen in (
            (texts("lower"), words), (texts("cased"), words), (texts("cased"), StopWords())
        )
    )  # fmt: skip
    assert found == by_hand != plain


RAW = ["Don't go, he said.", "The dog's bone (a big one): it's here!"] * 30


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (RAW, "13a"),
        ([" ".join(Tokenizer("13a")(line)) for line in RAW], "13a"),
        ([" ".join(Tokenizer("intl")(line)) for line in RAW], "intl"),
        (["Do n't go , he said .", "The dog 's bone ( a big one ) : it 's here !"] * 30,
         "by the user"),
        ([line.split() for line in ["a dog ."] * 30], "by the user"),
        (["我 喜 欢 狗 。", "他 不 在 家 。"] * 30, "char"),
        (["我 喜欢 狗 。", "他 不在 家 。"] * 30, "by the user"),
        (["我喜欢狗。", "他不在家。"] * 30, "char"),
        (["a dog", "a cat"] * 30, "none"),
    ],
)  # fmt: skip
def test_a_model_notes_which_tokeniser_made_its_text(text, noted):
    with Aligner.train(text, ["a b"] * len(text)) as aligner:
        assert aligner.model.manifest.notes["src_tokenize"] == noted
        assert aligner.source_tokenizer.name == ("none" if noted == "by the user" else noted)


def test_raw_text_is_refused_for_a_model_of_text_that_its_user_tokenised(run_cli, tmp_path):
    corpus = texts("cased")
    segmented = {
        name: [line.replace("The ", "The 's ") for line in corpus[name]] for name in corpus
    }
    raw = {name: [line.replace(" .", ".") for line in segmented[name]] for name in segmented}
    with Aligner.train(corpus["src"], segmented["ref"]) as aligner:
        aligner.save(tmp_path / "model")
        assert ce.segment(segmented["doc"], corpus["src"], aligner).missing == MISSING
        with pytest.raises(ce.DataError, match="the output: 100% of the segments have punctuation"):
            ce.segment(raw["doc"], corpus["src"], aligner)
    for name, lines in {
        "src": corpus["src"],
        "ref": segmented["ref"],
        "out": raw["ref"],
    }.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    line = ("drop", "out", "ref", "--src", "src", "--model", "model")
    done = run_cli(*line, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "out: 100% of the segments have punctuation attached to words; the model was" in (
        done.stderr
    )
