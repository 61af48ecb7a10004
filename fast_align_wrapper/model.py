"""The model file: a whole trained model in one ZIP file.

Members: ``manifest.json``; for each direction ``forward.params`` or ``reverse.params`` (the table
as the original saves it, pruned and with six digits) and ``forward.full`` or ``reverse.full``
(θ ≥ 1e-7 in full precision; only from this project's aligner); and ``attached/NAME`` for each file
of :meth:`FastAlign.attach`. The same training gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.text import MARK, unescape_token

Direction = Literal["forward", "reverse"]
"""``forward`` links each target word to at most one source word, ``reverse`` vice versa."""

DIRECTIONS: tuple[Direction, Direction] = ("forward", "reverse")


@dataclass(frozen=True)
class Settings:
    """Settings of training (Dyer, Chahuneau and Smith 2013); the defaults are the usual ones.

    Attributes:
        favor_diagonal: Prefer links near the diagonal (fast_align's ``-d``); else IBM Model 1.
        optimize_tension: Fit the tension λ, the strength of that preference (``-o``).
        variational_bayes: Dirichlet prior on the translation probabilities (``-v``).
        iterations: Passes over the text; the last one only reads off the links.
        p0: Probability of NULL, in [0, 1).
        alpha: Concentration of the Dirichlet prior, above 0.
        tension: Initial tension, above 0.
    """

    favor_diagonal: bool = True
    optimize_tension: bool = True
    variational_bayes: bool = True
    iterations: int = 5
    p0: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {self.iterations}")
        if not 0 <= self.p0 < 1:
            raise ValueError(f"p0 must be a probability below 1, not {self.p0}")
        for name in ("alpha", "tension"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be a finite number above 0, not {value}")

    def training_options(self) -> list[str]:
        """The options for fast_align, ours or the original."""
        options = ["-I", str(self.iterations), "-q", repr(self.p0), "-a", repr(self.alpha)]
        if self.favor_diagonal:
            options += ["-d", "-T", repr(self.tension)]  # the original takes a tension as -d
        if self.optimize_tension:
            options += ["-o"]
        if self.variational_bayes:
            options += ["-v"]
        return options


@dataclass(frozen=True)
class DirectionParameters:
    """The parameters of a direction besides its translation table.

    Attributes:
        tension: λ after training.
        length_multiplier: Expected number of generated words per conditioning word.
        log_likelihood: Natural log-likelihood of the text in each iteration.
    """

    tension: float
    length_multiplier: float
    log_likelihood: tuple[float, ...] = ()


FORMAT = "coverage-eval aligner model"
FORMAT_VERSION = 6
"""The only one that is read."""

TABLES = ("forward.params", "reverse.params")
"""A model's tables as the original saves them."""

FULL_TABLES = ("forward.params", "forward.full", "reverse.params", "reverse.full")
"""The tables of a model that this project's aligner trained, with those in full precision."""

ATTACHED = "attached/"
"""The beginning of the names of attached files in the model file."""

ATTACHMENT_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,99}")
"""The names that an attached file may have."""

_MANIFEST = "manifest.json"
_OF_FILE = ("format", "format_version", "digest")
"""Values in the file that say something of the file itself."""
_MAX_MANIFEST_BYTES = 1 << 20
_EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip
"""What zipfile raises on damaged files, besides OSError; found by fuzzing."""


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

    @property
    def members(self) -> dict[str, str]:
        """SHA-256 of the model file's tables and attached files, by their names in the file."""
        attached = {f"{ATTACHED}{name}": self.attached[name] for name in sorted(self.attached)}
        return {name: self.tables[name] for name in sorted(self.tables)} | attached

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Manifest:
        """The manifest from the plain values in a model file.

        Raises:
            KeyError, TypeError, ValueError: A value is missing or wrong.
        """
        if values["digest"] != _digest(values):
            raise ValueError("the digest differs")
        fields = {k: v for k, v in values.items() if k not in _OF_FILE}
        fields["settings"] = Settings(**fields["settings"])
        for direction in DIRECTIONS:
            likelihood = tuple(fields[direction].pop("log_likelihood"))
            fields[direction] = DirectionParameters(**fields[direction], log_likelihood=likelihood)
        manifest = cls(**fields)
        # Names become file names, so only known ones are allowed.
        if set(manifest.tables) not in (set(TABLES), set(FULL_TABLES)):
            raise ValueError("unexpected names of tables")
        if not all(map(ATTACHMENT_NAME.fullmatch, manifest.attached)):
            raise ValueError("an attached file with an invalid name")
        return manifest


def _digest(values: Mapping[str, Any]) -> str:
    """SHA-256 of all plain values of a manifest but the digest, so the notes cannot be edited."""
    covered = {name: value for name, value in values.items() if name != "digest"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


def write_model(path: str | os.PathLike[str], manifest: Manifest, folder: Path) -> None:
    """Write a model file, complete or not at all.

    Args:
        path: The file to write.
        manifest: The manifest.
        folder: The folder with the tables and attached files.

    Raises:
        AlignerDataError: The file cannot be written.
    """
    with _complete_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        values = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}
        values["digest"] = _digest(values)
        text = json.dumps(values, indent=1, sort_keys=True, allow_nan=False)
        archive.writestr(_untimed_member(_MANIFEST), text + "\n")
        for name in manifest.members:
            with (
                (folder / name).open("rb") as table,
                archive.open(_untimed_member(name), "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(table, member, 1 << 20)


@contextmanager
def _complete_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file that is renamed to the target if the block ends without exception.

    A pipe or a device is written directly, because a rename would replace it.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise AlignerDataError(f"{path}: is a folder; name a file to write")
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        temporary = target.with_name(f".fast-align-{secrets.token_hex(8)}")
        try:
            temporary.touch(exist_ok=False)
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        problem = f"{path}: cannot be written: {error.strerror or error}"
        raise AlignerDataError(problem) from error


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _untimed_member(name: str) -> zipfile.ZipInfo:
    """A member of an archive with a fixed time, so that equal content gives equal files."""
    info = zipfile.ZipInfo(name, _EARLIEST_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    setattr(info, "_compresslevel", 1)  # noqa: B010 (untyped); a tenth larger, in a quarter of the time
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read and check the manifest of a model file.

    Raises:
        AlignerDataError: No such file, not a model, a model of another version, or a damaged one.
    """
    if Path(path).is_dir():
        raise AlignerDataError(f"{path}: is a folder; name a model file")
    try:
        if Path(path).exists() and not Path(path).is_file():  # zipfile would read a pipe endlessly
            raise zipfile.BadZipFile("not a regular file")
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if _MANIFEST not in names or archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST_BYTES:
                raise AlignerDataError(
                    f"{path}: is not an aligner model: it has no valid {_MANIFEST}"
                )
            values = json.loads(archive.read(_MANIFEST))
    except AlignerDataError:
        raise
    except FileNotFoundError:
        raise AlignerDataError(f"{path}: no such file") from None
    except _DAMAGE as error:
        problem = f"{path}: no model of 'align train', or damaged ({error})"
        raise AlignerDataError(problem) from error
    except OSError as error:
        raise AlignerDataError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise AlignerDataError(f"{path}: is not an aligner model of coverage-eval")
    if values.get("format_version") != FORMAT_VERSION:
        raise AlignerDataError(
            f"{path}: made by another version; train it again with: "
            "coverage-eval align train SRC TGT -o MODEL"
        )
    try:
        manifest = Manifest.from_dict(values)
    except (KeyError, TypeError, ValueError) as error:
        raise AlignerDataError(
            f"{path}: damaged aligner model: manifest: {error!s:.200}"
        ) from error
    missing = sorted(manifest.members.keys() - names)
    if missing:
        raise AlignerDataError(f"{path}: damaged aligner model: {', '.join(missing)} is missing")
    return manifest


def extract_table(path: str | os.PathLike[str], name: str, sha256: str, target: Path) -> None:
    """Unpack a member of a model file, and check it against its hash.

    Raises:
        AlignerDataError: The file is damaged, or the member was replaced.
    """
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(name) as member,
            target.open("wb") as file,
        ):
            while block := member.read(1 << 20):
                file.write(block)
                digest.update(block)
    except (*_DAMAGE, KeyError) as error:
        raise AlignerDataError(f"{path}: damaged aligner model: {name}: {error}") from error
    except OSError as error:
        raise AlignerDataError(f"{path}: cannot be unpacked: {error.strerror or error}") from error
    if digest.hexdigest() != sha256:
        raise AlignerDataError(f"{path}: damaged aligner model: {name} is not what was saved")


def read_table(table: Path) -> Iterator[tuple[str, str, float]]:
    """The rows of an unpacked table: conditioning word, generated word, natural logarithm of θ.

    Raises:
        AlignerDataError: A row is damaged.
    """
    with table.open(encoding="utf-8", newline="\n") as file:
        try:
            for line in file:
                conditioning, generated, value = line.split("\t")
                yield unescape_token(conditioning), unescape_token(generated), float(value)
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
        decoded = [word.decode() for word in words - {b"<eps>"}]
    except UnicodeDecodeError as error:  # a file that was made by another program
        raise AlignerDataError(f"damaged aligner model: {table.name}: {error}") from error
    return frozenset(unescape_token(word) if word.startswith(MARK) else word for word in decoded)
