"""Named errors of whole texts, as findings and as reasons to reject a segment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.checks import Finding
from coverage_eval.core.dataset import Dataset, RowSample
from coverage_eval.outputs.named import GUESSES, KINDS, NamedError, NamedErrors

NAMED_ERRORS = "named errors"
"""The key of :class:`~coverage_eval.core.measure.Result` that has them, by system."""

NamedSegments = Mapping[str, Mapping[int, Sequence[NamedError]]]
"""For each system, the named errors of the segments that have some, by their index."""


def learn_named(sample: RowSample, aligner: Aligner | None = None) -> NamedErrors:
    """Learn from a sample what is usual in its texts.

    Args:
        sample: The sample; it is learnt from once.
        aligner: A model's vocabulary tells languages apart; None to do without.
    """
    model = aligner.model if isinstance(aligner, ModelAligner) else None
    return sample.once(
        ("named", id(model)),
        lambda: NamedErrors.learn(sample.rows, model.vocabulary() if model else None),
    )


def by_system(
    systems: Sequence[str], found: Mapping[int, Sequence[Sequence[NamedError]]]
) -> NamedSegments:
    """For each system its errors by segment, from those of the segments that have some."""
    return {
        system: {number: errors[place] for number, errors in found.items() if errors[place]}
        for place, system in enumerate(systems)
    }


def find_named(dataset: Dataset, aligner: Aligner | None = None) -> NamedSegments:
    """The named errors of all outputs; arguments as for :func:`learn_named`.

    Raises:
        DataError: A text cannot be read.
    """
    finder = learn_named(dataset.sample, aligner)
    return by_system(dataset.systems, dict(enumerate(map(finder.find_row, dataset.rows()))))


_SHOWN = 5

_MIN_GUESSES = 3


def named_findings(
    named: NamedSegments, segments: int, kinds: Iterable[str] = tuple(KINDS)
) -> list[Finding]:
    """One finding for each system and kind of error: how many outputs, and which come first.

    Args:
        named: The errors, as :func:`find_named` gives them.
        segments: Number of segments.
        kinds: Kinds to tell of.
    """
    findings = []
    for system, of_segments in named.items():
        seen: dict[str, dict[int, str]] = defaultdict(dict)
        for index, errors in of_segments.items():
            for error in errors:
                seen[error.kind].setdefault(index + 1, error.detail)
        for kind in kinds:
            numbers, example = list(seen[kind]), next(iter(seen[kind].values()), "")
            least = max(_MIN_GUESSES, GUESSES[kind] * segments) if kind in GUESSES else 1
            if len(numbers) < least:  # as many as among correct outputs
                continue
            such_as = f", such as {example}" if example and kind in {"preamble", "note"} else ""
            plural = "s" if len(numbers) > 1 else ""
            listed = ", ".join(map(str, numbers[:_SHOWN]))
            more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
            message = (
                f"{system}: {len(numbers)} of {segments} outputs {KINDS[kind]}{such_as} ({kind}): "
                f"segment{plural} {listed}{more}"
            )
            findings.append(Finding(kind, message, (system,)))
    return findings


def reasons_of(
    errors: Mapping[int, Sequence[NamedError]], flagged: Iterable[bool], said: str
) -> list[str]:
    """Why each segment of a system is rejected, ``""`` for those that are not.

    Args:
        errors: The named errors by segment, which reject it whatever its score.
        flagged: Whether the score of each segment is a reason.
        said: What this reason is called, such as ``omission``.
    """
    return [
        "; ".join([*map(str, errors.get(index, ())), *([said] if is_flagged else [])])
        for index, is_flagged in enumerate(flagged)
    ]
