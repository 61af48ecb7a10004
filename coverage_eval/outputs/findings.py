"""Named errors of whole texts, as findings and as reasons to reject a segment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.checks import Finding
from coverage_eval.core.dataset import Dataset, RowSample
from coverage_eval.core.mark import NamedError, NamedSegments
from coverage_eval.outputs.named import GUESSES, KINDS, NamedErrors


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
    found: NamedSegments,
    segments: int,
    kinds: Iterable[str] = tuple(KINDS),
) -> list[Finding]:
    """One finding for each system and kind of error: how many outputs, and which come first.

    Args:
        found: The errors, as :func:`find_named` gives them.
        segments: Number of segments.
        kinds: Kinds to tell of.
    """
    findings = []
    for system, errors in found.items():
        places: dict[str, list[int]] = defaultdict(list)
        for index, own in errors.items():
            for error in own:
                places[error.kind].append(index)
        for kind in kinds:
            seen = places[kind]
            least = max(_MIN_GUESSES, GUESSES[kind] * segments) if kind in GUESSES else 1
            if len(seen) < least:  # as many as among correct outputs
                continue
            example = next(e.detail for e in errors[seen[0]] if e.kind == kind)
            shown = f", such as {example}" if example and kind in {"preamble", "note"} else ""
            message = (
                f"{system}: {len(seen)} of {segments} outputs {KINDS[kind]}{shown} ({kind}): "
                f"{listed_segments([index + 1 for index in seen], _SHOWN)}"
            )
            findings.append(Finding(kind, message, (system,)))
    return findings


def listed_segments(numbers: Sequence[int], most: int) -> str:
    """Numbers of segments for a message, at most so many of them."""
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    plural = "s" if len(numbers) > 1 else ""
    return f"segment{plural} {', '.join(map(str, numbers[:most]))}{more}"


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
