"""The model file: a whole trained model in one ZIP file.

Members: ``manifest.json``; for each direction ``forward.params`` or ``reverse.params`` (the table
as the original saves it, pruned and with six digits) and ``forward.full`` or ``reverse.full``
(θ ≥ 1e-7 in full precision; only from this project's aligner); and ``attached/NAME`` for each file
of :meth:`FastAlign.attach`. The same training gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.files import (
    DAMAGE,
    check_inflation,
    file_sha256,
    open_archive,
    replacing,
)
from fast_align_wrapper.settings import (
    DIRECTIONS,
    Direction,
    DirectionParameters,
    Settings,
    is_finite,
)
from fast_align_wrapper.text import unescape_token

FORMAT = "coverage-eval aligner model"
FORMAT_VERSION = 4
"""The only one that is read."""
_ATTACHED = "attached"
_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 1 << 20
_MAX_INFLATION = 100
"""Tables shrink about 5 times, so this is generous."""

_COUNTS = ("pairs", "empty_pairs", "source_tokens", "target_tokens")
_TYPES = {
    **dict.fromkeys(("settings", "forward", "reverse", "tables", "notes", "attached"), (dict,)),
    **dict.fromkeys(_COUNTS, (int,)),
    **dict.fromkeys(("training_text_sha256", "version"), (str,)),
    "aligner": (str, type(None)),
}
"""Types of the manifest's values, checked before use."""
_MAX_PAIRS = 1 << 53
"""A float does not represent every integer above it."""
_MAX_NAME = 100
"""Maximum number of characters of a version."""
_EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)


def table_names(*, full: bool) -> tuple[str, ...]:
    """Names of a model's tables, with or without those in full precision."""
    endings = ("params", "full") if full else ("params",)
    return tuple(f"{direction}.{ending}" for direction in DIRECTIONS for ending in endings)


@dataclass(frozen=True)
class Manifest:
    """Everything about a model except its tables.

    Attributes:
        settings: Settings of training.
        forward: Parameters of the forward direction.
        reverse: Parameters of the reverse direction.
        pairs: Number of training pairs, including those with an empty side.
        empty_pairs: Number of pairs with an empty side, which were left out.
        source_tokens: Number of source tokens in training.
        target_tokens: Number of target tokens in training.
        training_text_sha256: SHA-256 of the training text as it was given to the aligner.
        tables: SHA-256 of each table.
        aligner: The version that the aligner prints; None for an aligner that is not ours.
        version: Version of this package.
        notes: The notes that were given to :meth:`FastAlign.train`, names to JSON values.
        attached: SHA-256 of each attached file, by name.
    """

    settings: Settings
    forward: DirectionParameters
    reverse: DirectionParameters
    pairs: int
    empty_pairs: int
    source_tokens: int
    target_tokens: int
    training_text_sha256: str
    tables: dict[str, str]
    aligner: str | None
    version: str
    notes: dict[str, Any]
    attached: dict[str, str] = field(default_factory=dict)

    @property
    def has_full_tables(self) -> bool:
        """Whether there are tables in full precision."""
        return "forward.full" in self.tables

    @property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the tables and of every number that affects a link."""
        moves = {
            "favor_diagonal": self.settings.favor_diagonal,
            "p0": self.settings.p0,
            "forward": [self.forward.tension, self.forward.length_multiplier],
            "reverse": [self.reverse.tension, self.reverse.length_multiplier],
            "tables": self.tables,
        }
        return hashlib.sha256(json.dumps(moves, sort_keys=True).encode()).hexdigest()

    def parameters(self, direction: Direction) -> DirectionParameters:
        """Parameters of a direction."""
        return self.forward if direction == "forward" else self.reverse

    def as_dict(self) -> dict[str, Any]:
        """The manifest as plain values, for the model file."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION, "hash": self.hash}
        return {**head, **asdict(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Manifest:
        """Read :meth:`as_dict` back.

        Raises:
            KeyError, TypeError, ValueError: A value is missing or wrong.
        """
        given = dict(values)
        _check_values(given)
        for name in ("format", "format_version", "hash"):
            del given[name]
        for direction in DIRECTIONS:
            parameters = dict(given[direction])
            parameters["log_likelihood"] = tuple(parameters["log_likelihood"])
            given[direction] = DirectionParameters(**parameters)
            if not all(map(is_finite, given[direction].numbers)):
                raise ValueError(f"{direction}: not finite")
        given["settings"] = Settings(**given["settings"])
        manifest = cls(**given)
        # Names become file names, so only known ones are allowed.
        if set(manifest.tables) not in (set(table_names(full=f)) for f in (True, False)):
            raise ValueError("unexpected names of tables")
        if not all(map(is_attachment_name, manifest.attached)):
            raise ValueError("an attached file with an invalid name")
        hashes = [manifest.training_text_sha256, *manifest.tables.values()]
        for sha256 in (*hashes, *manifest.attached.values()):
            if not re.fullmatch(r"[0-9a-f]{64}", str(sha256)):
                raise ValueError("an invalid hash")
        if values["hash"] != manifest.hash:
            raise ValueError("the hash differs")
        return manifest


def _check_values(given: dict[str, Any]) -> None:
    """Refuse values of the wrong type, and numbers and names that are not plausible."""
    if any(type(given[name]) not in kinds for name, kinds in _TYPES.items() if name in given):
        raise TypeError("a value of the wrong type")
    for item in fields(Settings):
        kinds = (int, float) if isinstance(item.default, float) else (type(item.default),)
        if type(given["settings"].get(item.name, item.default)) not in kinds:
            raise TypeError("a value of the wrong type")
    if not all(0 <= given[name] <= _MAX_PAIRS for name in _COUNTS):
        raise ValueError("an impossible count")
    names = (given["version"], given["aligner"] or "x")
    if not all(name.isprintable() and len(name) <= _MAX_NAME for name in names):
        raise ValueError("an invalid version")


def is_attachment_name(name: str) -> bool:
    """Whether an attached file may have this name: lowercase letters, digits, dots and dashes."""
    return re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,99}", name) is not None


def member_name(name: str) -> str:
    """The member of the model file that holds an attached file."""
    return f"{_ATTACHED}/{name}"


def write_model(path: str | os.PathLike[str], manifest: Manifest, folder: Path) -> None:
    """Write a model file, complete or not at all.

    Args:
        path: The file to write.
        manifest: The manifest.
        folder: The folder with the tables and attached files.

    Raises:
        AlignerDataError: The file cannot be written.
    """
    with replacing(path, AlignerDataError) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        text = json.dumps(manifest.as_dict(), indent=1, sort_keys=True, allow_nan=False)
        archive.writestr(untimed_member(_MANIFEST), text + "\n")
        for name in (*sorted(manifest.tables), *map(member_name, sorted(manifest.attached))):
            with (
                (folder / name).open("rb") as table,
                archive.open(untimed_member(name), "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(table, member, 1 << 20)


def untimed_member(name: str) -> zipfile.ZipInfo:
    """A member of an archive with a fixed time, so that equal content gives equal files."""
    info = zipfile.ZipInfo(name, _EARLIEST_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read and check the manifest of a model file.

    Raises:
        AlignerDataError: No such file, not a model, a model of another version, or a damaged one.
    """
    names, text = _read_members(path)
    if text is None:
        raise AlignerDataError(f"{path}: is not an aligner model: it has no valid {_MANIFEST}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_model(path, error) from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise AlignerDataError(f"{path}: is not an aligner model of coverage-eval")
    if (version := values.get("format_version")) != FORMAT_VERSION:
        age = "an older" if version in (1, 2, 3) else "another"
        raise AlignerDataError(
            f"{path}: made by {age} version; train it again with: "
            "coverage-eval align train SRC TGT -o MODEL"
        )
    try:
        manifest = Manifest.from_dict(values)
    except (KeyError, TypeError, ValueError) as error:
        raise AlignerDataError(
            f"{path}: damaged aligner model: manifest: {error!s:.200}"
        ) from error
    missing = sorted({*manifest.tables, *map(member_name, manifest.attached)} - names)
    if missing:
        raise AlignerDataError(f"{path}: damaged aligner model: {', '.join(missing)} is missing")
    return manifest


def _read_members(path: str | os.PathLike[str]) -> tuple[set[str], bytes | None]:
    """Names of the members, and the manifest; None if it is missing or too large."""
    if Path(path).is_dir():
        raise AlignerDataError(f"{path}: is a folder; name a model file")
    try:
        with open_archive(path) as archive:
            names = set(archive.namelist())
            has_one = _MANIFEST in names
            if not has_one or archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST_BYTES:
                return names, None
            return names, archive.read(_MANIFEST)
    except DAMAGE as error:
        raise _no_model(path, error) from error
    except FileNotFoundError:
        raise AlignerDataError(f"{path}: no such file") from None
    except OSError as error:
        raise AlignerDataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _no_model(path: str | os.PathLike[str], error: Exception) -> AlignerDataError:
    return AlignerDataError(f"{path}: no model of 'align train', or damaged ({error})")


def extract_table(path: str | os.PathLike[str], name: str, sha256: str, target: Path) -> None:
    """Unpack a member of a model file, and check it against its hash.

    Raises:
        AlignerDataError: The file is damaged, or the member was replaced.
    """
    try:
        with (
            open_archive(path) as archive,
            archive.open(name) as member,
            target.open("wb") as file,
        ):
            sizes = (item.file_size for item in archive.infolist())
            packed = Path(path).stat().st_size
            check_inflation(path, packed, sum(sizes), AlignerDataError, ratio=_MAX_INFLATION)
            shutil.copyfileobj(member, file, 1 << 20)
    except AlignerDataError:
        raise
    except (*DAMAGE, KeyError) as error:
        raise AlignerDataError(f"{path}: damaged aligner model: {name}: {error}") from error
    except OSError as error:
        raise AlignerDataError(f"{path}: cannot be unpacked: {error.strerror or error}") from error
    if file_sha256(target) != sha256:
        raise AlignerDataError(f"{path}: damaged aligner model: {name} is not what was saved")


def read_table(table: Path) -> Iterator[tuple[str, str, float]]:
    """The rows of an unpacked table: conditioning word, generated word, natural logarithm of θ.

    Raises:
        AlignerDataError: A row is damaged.
    """
    with table.open(encoding="utf-8", newline="\n") as file:
        try:
            for given, generated, value in (line.split("\t") for line in file):
                yield unescape_token(given), unescape_token(generated), float(value)
        except ValueError as error:
            raise AlignerDataError(f"{table.name}: damaged table: {error}") from None


def read_words(table: Path) -> frozenset[str]:
    """The conditioning words of an unpacked table, without NULL.

    Raises:
        AlignerDataError: They are not UTF-8.
    """
    with table.open("rb") as file:
        words = {line.partition(b"\t")[0] for line in file}
    try:
        return frozenset(unescape_token(word.decode()) for word in words - {b"<eps>"})
    except UnicodeDecodeError as error:  # a file that was made by another program
        raise AlignerDataError(f"damaged aligner model: {table.name}: {error}") from error
