"""Files of the testbed's grammar, for commands to read."""

from __future__ import annotations

from pathlib import Path

from coverage_eval.testbed.grammar import generate

__all__ = ["write_grammar"]


def write_grammar(folder: Path, training: int, test: int) -> list[str]:
    """Write ``train.source``, ``train.target``, ``test.source`` and ``test.target``.

    Args:
        folder: Where.
        training: Pairs to train on.
        test: Pairs of the test set.

    Returns:
        The target side of the test set.
    """
    for name, pairs in (("train", generate(training, seed=1)), ("test", generate(test, seed=2))):
        for side in ("source", "target"):
            lines = [" ".join(getattr(pair, side)) for pair in pairs]
            (folder / f"{name}.{side}").write_text("".join(f"{line}\n" for line in lines))
    return lines
