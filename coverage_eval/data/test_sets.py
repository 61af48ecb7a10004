"""sacreBLEU's own test sets, where they are on this machine: nothing is ever fetched from here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from coverage_eval.errors import MissingDependencyError


class FoundTestSet(NamedTuple):
    """The files of a test set, as text of one segment a line.

    Attributes:
        source: The source.
        references: The references that sacreBLEU takes by default.
    """

    source: str
    references: tuple[str, ...]


def find_test_set(name: str, languages: str) -> FoundTestSet:
    """Find a test set that sacreBLEU has fetched.

    Args:
        name: Such as ``wmt20``.
        languages: Such as ``de-en``.

    Raises:
        ValueError: sacreBLEU knows no such test set, or has it not of these languages.
        MissingDependencyError: It has not been fetched; the message names the command.
    """
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        raise ValueError(f"sacreBLEU has no test set {name!r}; sacrebleu --list names them")
    data: Any = DATASETS[name]
    if languages not in data.langpairs:
        pairs = ", ".join(sorted(data.langpairs))
        raise ValueError(f"test set {name} has no languages {languages!r}; it has: {pairs}")
    # Its own functions for this fetch what is not there.
    files = [data._get_txt_file_path(languages, field) for field in _fields(data, languages)]
    missing = [file for file in files if not Path(file).is_file()]
    if missing:
        raise MissingDependencyError(
            f"test set {name} {languages}: is not here ({missing[0]}); fetch it once with "
            f"sacreBLEU: sacrebleu -t {name} -l {languages} --echo src > /dev/null"
        )
    source, *references = files
    return FoundTestSet(source, tuple(references))


def _fields(data: Any, languages: str) -> list[str]:
    """The names of the source and of the references that sacreBLEU takes by default."""
    if hasattr(data, "_get_langpair_allowed_refs"):  # sets in XML, whose names are in the data
        return ["src", *data._get_langpair_allowed_refs(languages)]
    return [name for name in data.fieldnames(languages) if name.startswith(("src", "ref"))]
