"""Forced alignment: new text linked by a frozen model, streamed through running aligners."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from fast_align_wrapper.binaries import Binary
from fast_align_wrapper.errors import AlignerDataError, AlignerError
from fast_align_wrapper.links import Links, format_links, parse_links
from fast_align_wrapper.posteriors import MAGIC, Posterior, take_posteriors
from fast_align_wrapper.process import Child, Children
from fast_align_wrapper.settings import Direction, DirectionParameters, Settings
from fast_align_wrapper.standby import Standby, running
from fast_align_wrapper.text import PreparedPair

T = TypeVar("T")

_BATCH_PAIRS = 512


@dataclass(frozen=True)
class ForcedLinks:
    """Links of a pair in one direction.

    Attributes:
        links: The links.
        score: Natural log-probability of the generated side and its length; None for a pair with
            an empty side.
    """

    links: Links
    score: float | None


@dataclass(frozen=True)
class ScoredLinks:
    """Symmetrised links of a pair, with the scores of the directions they come from.

    Attributes:
        links: The links.
        scores: Score of each direction, forward first, as in :class:`ForcedLinks`.
    """

    links: Links
    scores: tuple[float | None, ...]

    def format(self, *, scores: bool) -> str:
        """A Pharaoh line; on request each score after a tab, empty where there is none."""
        fields = [format_links(self.links)]
        if scores:
            fields += ["" if score is None else f"{score:g}" for score in self.scores]
        return "\t".join(fields)


@dataclass(frozen=True)
class ForcedModel:
    """A direction of a frozen model, as the aligner gets it.

    Attributes:
        direction: Which.
        table: File of the translation table.
        parameters: Tension and length multiplier.
        settings: Settings of training.
        rounded: Pass the parameters with six significant digits, as the original prints them.
    """

    direction: Direction
    table: Path
    parameters: DirectionParameters
    settings: Settings
    rounded: bool

    def command(self, binary: Binary, threads: int | None) -> list[str]:
        """The aligner and its arguments, to read pairs from standard input."""
        digits = ".6g" if self.rounded else ".17g"
        command = [str(binary.path), "-i", "-", "-f", str(self.table)]
        command += ["-m", format(self.parameters.length_multiplier, digits)]
        command += ["-q", repr(self.settings.p0)]
        if self.settings.favor_diagonal:
            command += ["-d", "-T", format(self.parameters.tension, digits)]
        command += ["-r"] if self.direction == "reverse" else []
        if binary.is_own and threads is not None:
            command += ["--threads", str(threads)]
        return command


def _threads_each(threads: int | None, children: int) -> int:
    return max(1, (threads or os.cpu_count() or 1) // children)


def stream_links(
    binary: Binary,
    models: Iterable[ForcedModel],
    pairs: Iterable[PreparedPair],
    *,
    threads: int | None,
    timeout: float | None,
    standby: Standby | None = None,
) -> Iterator[tuple[ForcedLinks, ...]]:
    """Align a stream of pairs by some directions at once, in constant memory.

    Args:
        binary: The aligner.
        models: A model for each direction.
        pairs: The pairs.
        threads: Number of threads of all aligners together; None for all cores.
        timeout: Seconds without a sign of life after which to give up.
        standby: Where aligners wait for the next text; None to end them with this one.

    Yields:
        One tuple a pair, with the links of each model.

    Raises:
        AlignerError: An aligner failed, or does not print one sound line a pair.
    """
    models = list(models)
    share = _threads_each(threads, len(models))
    commands = [model.command(binary, share) for model in models]
    with running(commands, timeout=timeout, standby=standby) as children:
        aligners = children.running

        def take(pair: PreparedPair) -> tuple[ForcedLinks, ...] | None:
            if not all(child.lines for child in aligners):
                return None
            return tuple(_parse_line(child, child.lines.popleft(), pair) for child in aligners)

        def empty(_: PreparedPair) -> tuple[ForcedLinks, ...]:
            return (ForcedLinks((), None),) * len(models)

        yield from _stream(children, pairs, take, empty, keeps=standby is not None)


def stream_posteriors(
    binary: Binary,
    model: ForcedModel,
    pairs: Iterable[PreparedPair],
    *,
    threads: int | None,
    timeout: float | None,
    standby: Standby | None = None,
) -> Iterator[Posterior]:
    """The posteriors of a stream of pairs, one by one, in memory of a few pairs.

    Args:
        binary: The aligner.
        model: The model.
        pairs: The pairs.
        threads: As in :func:`stream_links`, like the next two.
        timeout: Seconds without a sign of life after which to give up.
        standby: Where the aligner waits for the next text.

    Raises:
        AlignerError: As :func:`stream_links`.
        AlignerDataError: A pair is so long that its matrix does not fit in memory.
    """
    command = model.command(binary, _threads_each(threads, 1))
    with running([command], "--posteriors", timeout=timeout, standby=standby) as children:
        (child,) = children.running
        ready: deque[Posterior] = deque()

        def take(pair: PreparedPair) -> Posterior | None:
            if not child.side_began and len(child.side_bytes) >= len(MAGIC):
                if not child.side_bytes.startswith(MAGIC):
                    raise child.fail("its posteriors are in an unknown form")
                del child.side_bytes[: len(MAGIC)]
                child.side_began = True
            if child.side_began and not ready:
                ready.extend(take_posteriors(child.side_bytes, model.direction))
            if not ready or not child.lines:
                return None
            child.lines.popleft()
            return _checked(child, ready.popleft(), pair)

        def empty(pair: PreparedPair) -> Posterior:
            return Posterior.of_empty_side(pair.source_length, pair.target_length, model.direction)

        oversize_refused = _refuse_oversize(pairs)
        yield from _stream(children, oversize_refused, take, empty, keeps=standby is not None)


def _refuse_oversize(pairs: Iterable[PreparedPair]) -> Iterator[PreparedPair]:
    for number, pair in enumerate(pairs, start=1):
        if pair.is_oversize:
            raise AlignerDataError(
                f"pair {number}: posteriors of {pair.source_length} times {pair.target_length} "
                "words do not fit in memory; split the segment"
            )
        yield pair


def _stream(
    children: Children,
    pairs: Iterable[PreparedPair],
    take: Callable[[PreparedPair], T | None],
    empty: Callable[[PreparedPair], T],
    *,
    keeps: bool,
) -> Iterator[T]:
    """Feed pairs, withholding those with an empty side, and give one result a pair, in order.

    Args:
        children: The aligners.
        pairs: The pairs.
        take: Gives a pair's result, or None while it has not arrived.
        empty: Gives the result of a pair with an empty side.
        keeps: Whether the aligners are left to wait for another text.
    """
    waiting: deque[PreparedPair] = deque()
    fed = done = 0

    def has_all() -> bool:
        return done == fed

    def chunks() -> Iterator[bytes]:
        nonlocal fed
        rest = iter(pairs)
        while batch := list(islice(rest, _BATCH_PAIRS)):
            # The text itself need not wait for its result.
            waiting.extend(pair._replace(line=pair.line[:1]) for pair in batch)
            fed += sum(bool(pair.line) for pair in batch)
            yield b"".join(pair.line for pair in batch)

    for _ in children.run(chunks(), enough=has_all if keeps else None):
        while waiting:
            result = take(waiting[0]) if waiting[0].line else empty(waiting[0])
            if result is None:
                break
            done += bool(waiting.popleft().line)
            yield result
    for child in children.running:
        if waiting or child.lines:
            raise child.fail(f"{done + len(child.lines)} results for {fed} pairs of segments")


def _parse_line(child: Child, line: bytes, pair: PreparedPair) -> ForcedLinks:
    """Links and score of a line of forced alignment, which begins with the pair's text."""
    # Without links, the original prints no second space between the two marks.
    fields = line.rsplit(b" |||", 2)
    try:
        links, score = parse_links(fields[1].decode("ascii")), float(fields[2])
    except (IndexError, ValueError):
        shown = line[-80:].decode("utf-8", "replace")
        raise child.fail(f"printed a line without links and score, ending in '{shown}'") from None
    if math.isnan(score):
        raise child.fail("a score is not a number (NaN): the model or the aligner is damaged")
    for source, target in links:
        if source >= pair.source_length or target >= pair.target_length:
            raise child.fail(
                f"link {source}-{target} is out of range in a pair of {pair.source_length} and "
                f"{pair.target_length} tokens"
            )
    return ForcedLinks(links, score)


def _checked(child: Child, posterior: Posterior, pair: PreparedPair) -> Posterior:
    shape = (pair.target_length, pair.source_length)
    if posterior.matrix.shape != shape:
        raise child.fail(
            f"posteriors of shape {posterior.matrix.shape} for a pair of shape {shape}"
        )
    # One sum finds a NaN anywhere.
    if math.isnan(float(posterior.matrix.sum()) + float(posterior.null.sum())):
        raise AlignerError("a posterior is not a number (NaN): the model is damaged")
    return posterior
