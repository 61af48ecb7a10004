"""Statements of comparisons whose truth is known: equally good systems, of which one is damaged.

Each comparison draws how many systems there are, how many segments, and whose texts, and damages
some outputs of one system in one way. A statement is false if it calls the damaged system best, or
says of an undamaged one that it leaves out more; one that calls the damaged system worse has found
it. Of systems that nobody damaged, any statement is false.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import pandas as pd
from corpora import Corpus, Translator, train
from people import Flags, labelled_texts

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import CorpusWarning

Damage = Callable[[list[str], list[str], Random], list[str]]
"""Damages the words of an output, given those of the source."""


def _halve(words: list[str]) -> int:
    return (len(words) + 1) // 2


def _without_phrase(words: list[str], _: list[str], generator: Random) -> list[str]:
    start = generator.randrange(max(1, len(words) - 3))
    return words[:start] + words[start + 3 :]


def _repeated_phrase(words: list[str], _: list[str], generator: Random) -> list[str]:
    start = generator.randrange(max(1, len(words) - 3))
    return words[: start + 3] + words[start : start + 3] + words[start + 3 :]


def _shuffled(words: list[str], _: list[str], generator: Random) -> list[str]:
    return generator.sample(words, len(words))


OMISSIONS: Mapping[str, Damage] = {
    "three words in a row left out": _without_phrase,
    "last third left out": lambda words, _, __: words[: len(words) - len(words) // 3],
    "second half left out": lambda words, _, __: words[: _halve(words)],
    "each third word left out": lambda words, _, __: [w for n, w in enumerate(words) if n % 3 != 2],
    "empty": lambda _, __, ___: [],
    "second half left in the source's language": lambda words, source, _: (
        words[: _halve(words)] + source[_halve(source) :]
    ),
    "source copied": lambda _, source, __: source,
    "second half replaced by a filler": lambda words, _, __: [
        *words[: _halve(words)],
        "and",
        "so",
        "on",
    ],
}
"""Ways to damage an output that leave something out."""

OTHERS: Mapping[str, Damage] = {
    "a phrase twice": _repeated_phrase,
    "last three words eight times": lambda words, _, __: words + 8 * words[-3:],
    "the same word at the end": lambda words, _, __: [*words, "xyzzy"],
    "a preface": lambda words, _, __: ["here", "is", "the", "translation", ":", *words],
    "words shuffled": _shuffled,
    "first half twice": lambda words, _, __: words[: _halve(words)] + words,
}
"""Ways that leave nothing out."""

SHARES = (0.1, 0.3, 0.6)
"""Shares of the outputs that are damaged."""

SYSTEMS = (2, 3, 5, 11)
SEGMENTS = (30, 200, 1000)
NULLS = 33
"""Comparisons in which nothing is damaged, with a reference and without."""


class Bed(NamedTuple):
    """Systems that are about equally good.

    Attributes:
        name: Whose texts they are, and whose the model.
        aligner: The model.
        sources: Their source.
        references: Their reference.
        systems: Their outputs.
    """

    name: str
    aligner: ModelAligner
    sources: Sequence[str]
    references: Sequence[str]
    systems: Sequence[Sequence[str]]


class Setting(NamedTuple):
    """A comparison: which share of one output is damaged, and how; with a reference or without."""

    damage: str
    share: float
    has_reference: bool


def known_truth(data: Path, corpus: Corpus) -> dict[str, pd.DataFrame]:
    """Every comparison, and how often each kind of damage was found."""
    aligner = train(corpus.training)
    translator = Translator(corpus, aligner)
    seeds = range(200, 200 + max(SYSTEMS))
    sources, references = zip(*corpus.test[: max(SEGMENTS)], strict=True)
    shortened = translator.shortened(max(SEGMENTS))
    beds = [Bed("captions", aligner, sources, references, [*map(shortened.translate, seeds)])]
    if (people := labelled_texts(data)) is not None:
        equal = _least_labelled(people.texts, people.labels)
        outside = train(corpus.flipped().training)
        reference = equal.pop("refA")
        beds.append(
            Bed(
                "paragraphs, model of captions",
                outside,
                people.sources,
                reference,
                [*equal.values()],
            )
        )
    table = pd.DataFrame(_comparisons(beds, is_trial=corpus.is_trial))
    return {"truth": table, **summaries(table)}


def summaries(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """How often statements were right and wrong, by kind of damage."""
    left_out = table["damage"].isin([*OMISSIONS]).map({True: "omissions", False: "other damage"})
    table = table.assign(kind=left_out.mask(table["damage"] == "none", "no damage"))
    counted = ["found", "took it", "another leaves out more", "any claim"]
    tables = {}
    for name, keys in {
        "truth_by_damage": ["reference", "damage"],
        "truth_by_kind": ["kind"],
    }.items():
        groups = table.groupby(keys, sort=False)
        summary = groups[counted].sum()
        summary.insert(0, "comparisons", groups.size())
        tables[name] = summary.reset_index()
    return tables


def _least_labelled(texts: Mapping[str, list[str]], labels: Flags) -> dict[str, list[str]]:
    """The systems of which people marked at most one omission in ten outputs."""
    shares = dict(zip(texts, labels.mean(axis=1), strict=True))
    return {name: outputs for name, outputs in texts.items() if shares[name] <= 0.1}


def _comparisons(beds: Sequence[Bed], *, is_trial: bool) -> Iterator[dict[str, object]]:
    generator = Random(56)  # noqa: S311 (not for secrets)
    shares, nulls, sizes = (SHARES[:1], 2, SYSTEMS[:2]) if is_trial else (SHARES, NULLS, SYSTEMS)
    settings = [
        Setting(damage, share, has_reference)
        for has_reference in (False, True)
        for damage in (*OMISSIONS, *OTHERS)
        for share in shares
    ]
    settings += [Setting("none", 0.0, r) for r in (False, True) for _ in range(nulls)]
    for setting in settings:
        # The paragraphs' systems are real ones, which may differ.
        bed = generator.choice(beds) if setting.share else beds[0]
        number = min(generator.choice(sizes), len(bed.systems))
        segments = generator.sample(
            range(len(bed.sources)), min(generator.choice(SEGMENTS), len(bed.sources))
        )
        outputs = generator.sample(bed.systems, number)
        systems = {f"s{n}": [text[i] for i in segments] for n, text in enumerate(outputs)}
        sources, references = (
            [side[i] for i in segments] for side in (bed.sources, bed.references)
        )
        if setting.share:
            systems["s0"] = damaged(systems["s0"], sources, setting, generator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)
            comparison = compare(
                dict(generator.sample(sorted(systems.items()), number)),
                references if setting.has_reference else None,
                sources,
                bed.aligner,
            )
        yield {
            "reference": "with" if setting.has_reference else "without",
            "damage": setting.damage,
            "outputs damaged %": 100 * setting.share,
            "texts": bed.name,
            "systems": number,
            "segments": len(segments),
            **outcome(comparison, "s0" if setting.share else None),
            "statements": " ".join(comparison.statements.write()),
        }


def damaged(
    outputs: Sequence[str], sources: Sequence[str], setting: Setting, generator: Random
) -> list[str]:
    """The outputs, a share of them damaged."""
    damage = {**OMISSIONS, **OTHERS}[setting.damage]
    chosen = generator.sample(range(len(outputs)), max(1, round(setting.share * len(outputs))))
    found = list(outputs)
    for i in chosen:
        found[i] = " ".join(damage(outputs[i].split(), sources[i].split(), generator))
    return found


def outcome(comparison: Comparison, worst: str | None) -> dict[str, int]:
    """What is stated of the damaged system, if there is one, and of the others."""
    stated = comparison.statements.statements
    omissions = [item for item in stated if item.metric == "omissions"]
    blamed = {system for item in stated for system in item.worse}
    taken = {
        item.better[0]
        for item in stated
        if not comparison.metrics[item.metric].presentation.more_errors
    }
    return {
        "found": int(worst in blamed),
        "took it": int(worst in taken),
        "another leaves out more": int(any({*item.worse} != {worst} for item in omissions)),
        "any claim": int(bool(stated)),
    }
