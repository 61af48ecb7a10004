"""The files that a profile is made from, read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coverage_eval.alignment.link_files import check_links, parse_line
from coverage_eval.text.corpus import Source, count_all_tokens, read_parallel, source_name
from coverage_eval.text.tokenizers import get_tokenizer
from fast_align_wrapper.links import Links

__all__ = ["read_profile_rows"]

_TEXT_OF_LINKS = {"hypothesis_links": "hypotheses", "reference_links": "references"}


def read_profile_rows(files: Mapping[str, Source], *, tokenizer: str = "none") -> Iterator[Any]:
    """Read the columns of a profile line by line.

    Args:
        files: Name of each column (see :func:`coverage_eval.metrics.profile.profile`) and its file;
            links need their two texts among them.
        tokenizer: Applied to every text; links count its tokens.

    Yields:
        One tuple a line, in the order of ``files``; links are parsed and checked.

    Raises:
        DataError: As :func:`~coverage_eval.text.corpus.read_parallel`; a malformed link or one
            out of range (file and line).
    """
    apply = get_tokenizer(tokenizer)
    for number, lines in enumerate(read_parallel(*files.values()), start=1):
        row = dict(zip(files, lines, strict=True))
        texts = {name: apply(text) for name, text in row.items() if name not in _TEXT_OF_LINKS}
        yield tuple(
            _links(name, row[name], texts, source_name(file), number)
            if name in _TEXT_OF_LINKS
            else texts[name]
            for name, file in files.items()
        )


def _links(name: str, line: str, texts: dict[str, str], file: str, number: int) -> Links:
    links = parse_line(line, file, number)
    source, target = count_all_tokens([texts["sources"], texts[_TEXT_OF_LINKS[name]]])
    check_links(links, source, target, name=file, line=number)
    return links
