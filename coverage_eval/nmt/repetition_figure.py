"""Figure 2 of Malaviya et al. 2018 from a run: a repetition, and an attention without it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.attention_maps.load import load
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.attention_maps.subwords import merge_subwords
from coverage_eval.data.files import read_segments
from coverage_eval.errors import DataError
from coverage_eval.metrics.rep import REP
from coverage_eval.nmt.roster import find_system
from coverage_eval.nmt.run_folder import HYPOTHESES, RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def fixed_repetitions(run: RunFolder, names: tuple[str, str]) -> list[int]:
    """Segments of the test set that the first system repeats words in and the second does not.

    Args:
        run: The run.
        names: The systems as the tables have them.

    Returns:
        Numbers from 1, the segment with the highest REP-score first.

    Raises:
        DataError: A system that is unknown or not finished.
    """
    references = list(read_segments(run.path / "test.ref"))
    first, second = (
        REP().sentence_scores(list(read_segments(_folder(run, name) / HYPOTHESES)), references)
        for name in names
    )
    found = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a and b == 0]
    return [i + 1 for i in sorted(found, key=lambda i: (-(first[i] or 0.0), i))]


def _folder(run: RunFolder, name: str) -> Path:
    """The folder of a finished system."""
    folder = find_system(name).folder
    if not run.has_decoded(folder):
        raise DataError(f"{run.path}: {name} is not finished yet")
    return run.system(folder)


def draw_figure2(
    run: RunFolder,
    number: int | None = None,
    names: tuple[str, str] = ("softmax", "csparsemax"),
) -> Sequence[Axes]:
    """Draw both systems' attention to one source sentence, in words.

    Args:
        run: The run.
        number: Which segment, from 1; None for the first of :func:`fixed_repetitions`.
        names: The systems as the tables have them.

    Returns:
        The two Axes.

    Raises:
        DataError: As :func:`fixed_repetitions`; there is no such segment.
    """
    from coverage_eval.plotting import attention_heatmaps_side_by_side

    if number is None:
        found = fixed_repetitions(run, names)
        if not found:
            raise DataError(
                f"{run.path}: no segment in which {names[0]} repeats and {names[1]} does not; "
                "choose one with --index"
            )
        number = found[0]
    left, right = (_map(run, name, number) for name in names)
    return attention_heatmaps_side_by_side(
        (left.weights, right.weights),
        left.source_labels,
        (left.hypothesis_labels, right.hypothesis_labels),
        systems=names,
    )


def _map(run: RunFolder, name: str, number: int) -> AttentionMap:
    maps = load(_folder(run, name) / "test.attention.npz")
    if number > len(maps):
        raise DataError(f"segment {number}: the test set has {len(maps)}")
    return merge_subwords([maps[number - 1]], source_scheme="bpe", target_scheme="bpe")[0]
