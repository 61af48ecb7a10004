"""Part files: the results of one shard in one file, and the checks that parts make a whole.

A part is a zip archive of ``part.json`` (format and version, the command, the shard, a digest of
all texts, figures with their settings, what is printed how), one array ``[systems, segments, k]``
for each figure (``statistics/N.npy``), and one JSON Lines file for each kind of record
(``records/N.jsonl``), N counting from 0 in the order of ``part.json``. It is written completely or
not at all, and equal results are equal files.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coverage_eval.errors import DataError
from coverage_eval.scale.plain_values import from_plain, to_plain
from coverage_eval.scale.results import Results, join_results
from coverage_eval.scale.shards import Shard
from coverage_eval.text.corpus import Source
from coverage_eval.text.files import atomic_path
from coverage_eval.text.spool import Spool
from coverage_eval.version import __version__
from fast_align_wrapper.files import DAMAGE, check_inflation, open_archive
from fast_align_wrapper.model import untimed_member

FORMAT = "part of a coverage-eval result"
FORMAT_VERSION = 1

_HEADER = "part.json"


@dataclass(frozen=True)
class ShardPart:
    """The results of a command for one shard.

    Attributes:
        command: The command's name.
        shard: Which.
        texts: A digest of all texts of the test set, those of other shards too.
        results: What was counted.
    """

    command: str
    shard: Shard
    texts: str
    results: Results


def write_part(path: Source, part: ShardPart) -> None:
    """Write a part, complete or not at all.

    Raises:
        DataError: The file cannot be written.
    """
    results = part.results
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "command": part.command,
        "shard": [part.shard.number, part.shard.of],
        "segments": results.segments,
        "texts": part.texts,
        "formulas": {name: to_plain(formula) for name, formula in results.formulas.items()},
        "records": list(results.records),
        "facts": to_plain(dict(results.facts)),
        "findings": [to_plain(finding) for finding in results.findings],
        "figures": to_plain(dict(results.figures)),
    }
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(untimed_member(_HEADER), json.dumps(header, indent=1) + "\n")
        for number, name in enumerate(results.formulas):
            with archive.open(untimed_member(_array_name(number)), "w", force_zip64=True) as member:
                np.save(member, results.statistics[name], allow_pickle=False)
        for number, items in enumerate(results.records.values()):
            with archive.open(untimed_member(_lines_name(number)), "w", force_zip64=True) as member:
                member.writelines(f"{json.dumps(to_plain(item))}\n".encode() for item in items)


def _array_name(number: int) -> str:
    return f"statistics/{number}.npy"


def _lines_name(number: int) -> str:
    return f"records/{number}.jsonl"


def read_part(path: Source) -> ShardPart:
    """Read a part.

    Raises:
        DataError: There is no such file; it is no part, of another version, or damaged.
    """
    try:
        with open_archive(path) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
            check_inflation(path, Path(path).stat().st_size, unpacked, DataError, ratio=1100)
            header = json.loads(archive.read(_HEADER))
            _check_format(path, header)
            return _read(archive, header)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (*DAMAGE, AttributeError, LookupError, TypeError) as error:
        shown = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: is not a part, as --shard writes them, or damaged ({shown})"
        ) from error


def _check_format(path: Source, header: Mapping[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ValueError("another format")
    versions = (header.get("format_version"), header.get("version"))
    if versions != (FORMAT_VERSION, __version__):
        raise DataError(
            f"{path}: was made by version {versions[1]} (format {versions[0]}), and this is "
            f"{__version__} (format {FORMAT_VERSION}); make it again"
        )


def _read(archive: zipfile.ZipFile, header: Mapping[str, Any]) -> ShardPart:
    formulas = {name: from_plain(plain) for name, plain in header["formulas"].items()}
    statistics = {
        name: np.load(io.BytesIO(archive.read(_array_name(number))), allow_pickle=False)
        for number, name in enumerate(formulas)
    }
    records = {
        name: Spool(_read_lines(archive, number)) for number, name in enumerate(header["records"])
    }
    facts, figures = from_plain(header["facts"]), from_plain(header["figures"])
    findings = [from_plain(finding) for finding in header["findings"]]
    results = Results(formulas, statistics, records, facts, findings, figures)
    counts = {block.shape[1] for block in statistics.values()} | set(map(len, records.values()))
    if counts != {header["segments"]}:
        raise ValueError("unequal numbers of segments")
    return ShardPart(header["command"], Shard(*header["shard"]), header["texts"], results)


def _read_lines(archive: zipfile.ZipFile, number: int) -> Iterator[Any]:
    with archive.open(_lines_name(number)) as member:
        for line in member:
            yield from_plain(json.loads(line))


def join_parts(files: Sequence[Source]) -> ShardPart:
    """Read all parts of a result, in any order, and put them together.

    Returns:
        The whole as its only part.

    Raises:
        DataError: As :func:`read_part`; a part is missing or there twice; or parts are of other
            commands, settings or texts.
    """
    parts = {str(file): read_part(file) for file in files}
    _check_alike(parts)
    _check_complete(parts, list(map(str, files)))
    inorder = sorted(parts.values(), key=lambda part: part.shard.number)
    whole = join_results([part.results for part in inorder])
    for name, part in parts.items():
        if part.results.segments != part.shard.size(whole.segments):
            raise DataError(
                f"{name}: has {part.results.segments:,} segments, and shard {part.shard} of "
                f"{whole.segments:,} has {part.shard.size(whole.segments):,}; make all parts again"
            )
    first = inorder[0]
    return ShardPart(first.command, Shard(1, 1), first.texts, whole)


def _check_alike(parts: Mapping[str, ShardPart]) -> None:
    """Refuse parts that were not made by the same command line."""
    (first, one), *others = parts.items()
    for name, other in others:
        ours, theirs = _described(one), _described(other)
        for what in {**ours, **theirs}:
            if ours.get(what) != theirs.get(what):
                raise DataError(
                    f"{name} does not belong to {first}: another {what}: "
                    f"{theirs.get(what)} against {ours.get(what)}"
                )


def _described(part: ShardPart) -> dict[str, str]:
    """What must be the same of all parts, by what it is."""
    results = part.results
    return {
        "command": part.command,
        "number of shards": str(part.shard.of),
        "choice of figures": ", ".join(results.formulas),
        **{
            f"{name} or model": str(formula.signature) for name, formula in results.formulas.items()
        },
        **{f"option ({name})": str(value) for name, value in results.facts.items()},
        "text (by its hash)": part.texts[:12],
        "warning": str((results.findings, results.figures)),
    }


def _check_complete(parts: Mapping[str, ShardPart], files: Sequence[str]) -> None:
    if len(parts) < len(files):
        double = next(file for file in files if files.count(file) > 1)
        raise DataError(f"{double}: is named twice")
    found: dict[int, str] = {}
    for name, part in parts.items():
        if part.shard.number in found:
            raise DataError(f"{name}: is shard {part.shard}, and so is {found[part.shard.number]}")
        found[part.shard.number] = name
    (of,) = {part.shard.of for part in parts.values()}
    if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in found]:
        shown = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        raise DataError(f"of {of} parts, some are missing: --shard {shown}")
