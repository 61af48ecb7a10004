"""Files in which a row is one segment as one system translated it: a text for each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coverage_eval.data.column_files import ColumnFile
from coverage_eval.data.corpus import Column, Source, source_name
from coverage_eval.errors import DataError


class SystemRow(NamedTuple):
    """One segment as one system translated it.

    Attributes:
        place: Where it stands, such as ``row 7``.
        system: The system.
        segment: What tells the segment from others; None for the next one of the system.
        text: The translation.
        shared: Texts that are the same for all systems, such as the source.
    """

    place: str
    system: str
    segment: str | None
    text: str
    shared: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Columns in memory, of one length.

    Attributes:
        source: The file that they are from.
        held: The segments of each by its name.
    """

    source: Source
    held: Mapping[str, Sequence[str]]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The segments of some columns, row by row."""
        return zip(*(self.held[name] for name in columns), strict=True)


@dataclass(frozen=True, eq=False)
class SystemTexts:
    """The translations of each system, segment by segment.

    Args:
        source: The file that they are from.
        shared_names: What the texts are called that all systems share.
    """

    source: Source
    shared_names: tuple[str, ...]
    _texts: dict[str, dict[str, str]] = field(default_factory=dict)
    _shared: dict[str, SystemRow] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        file: ColumnFile,
        system: str,
        text: str,
        shared: Sequence[str] = (),
        segment: str | None = None,
    ) -> SystemTexts:
        """Read them from a file with a column of systems.

        Args:
            file: The file.
            system: The column that names systems.
            text: The column of translations.
            shared: Columns that are the same for all systems, such as the source.
            segment: The column that tells segments apart; None where the rows of every system are
                in one order.

        Raises:
            DataError: As :meth:`ColumnFile.texts` and :meth:`add`.
        """
        found = cls(file.source, tuple(shared))
        columns = [system, text, *([] if segment is None else [segment]), *shared]
        for number, (name, translation, *rest) in enumerate(file.texts(columns), start=1):
            key = None if segment is None else rest.pop(0)
            found.add(SystemRow(f"row {number}", name, key, translation, tuple(rest)))
        return found

    @property
    def systems(self) -> list[str]:
        """The systems, in the order of their first rows."""
        return list(self._texts)

    def add(self, row: SystemRow) -> None:
        """Take up a row.

        Raises:
            DataError: A system without a name, a segment of a system for the second time, or a
                shared text that differs from that of another system.
        """
        where = f"{source_name(self.source)}: {row.place}"
        if not row.system:
            raise DataError(f"{where}: the system has no name")
        texts = self._texts.setdefault(row.system, {})
        segment = str(len(texts) + 1) if row.segment is None else row.segment
        if segment in texts:
            raise DataError(f"{where}: segment {segment} of {row.system} is there twice")
        texts[segment] = row.text
        first = self._shared.setdefault(segment, row)
        for name, ours, theirs in zip(self.shared_names, row.shared, first.shared, strict=True):
            if ours != theirs:
                raise DataError(
                    f"{where}: another {name} than in {first.place}, of the same segment "
                    f"({segment}) of {first.system}; sort the rows alike, or name the column that "
                    "tells segments apart: --segment-col"
                )

    def columns(self, systems: Sequence[str]) -> tuple[dict[str, Column], dict[str, Column]]:
        """The texts of some systems and those that they share, segment by segment.

        Returns:
            Columns by system, and the shared ones by name.

        Raises:
            DataError: There is no such system, or it lacks a segment that another one has.
        """
        name = source_name(self.source)
        for system in systems:
            if system not in self._texts:
                raise DataError(f"{name}: no system {system}; there are: {', '.join(self._texts)}")
        segments = dict.fromkeys(key for system in systems for key in self._texts[system])
        held: dict[str, list[str]] = {}
        for system in systems:
            texts = self._texts[system]
            lacking = [segment for segment in segments if segment not in texts]
            if lacking:
                raise DataError(
                    f"{name}: {system} has {len(texts)} segments of {len(segments)} that there "
                    f"are of {', '.join(systems)}; the first that it lacks is {lacking[0]}"
                )
            held[f"of {system}"] = [texts[segment] for segment in segments]
        for place, shared in enumerate(self.shared_names):
            held[shared] = [self._shared[segment].shared[place] for segment in segments]
        columns = HeldColumns(self.source, held)
        return (
            {system: Column(columns, f"of {system}") for system in systems},
            {shared: Column(columns, shared) for shared in self.shared_names},
        )
