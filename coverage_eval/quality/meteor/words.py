r"""Meteor's English: data files, properties of words, ``-norm``, and checks of the texts.

The data come with the ``meteor`` extra (the package pycocoevalcap): a paraphrase table as a file,
and word lists inside Meteor's jar, which is a zip archive. Nothing here starts Java, and the
package is only located, never imported.

``-norm`` is the Moses tokeniser of 2010 with Meteor's own additions: curly quotes, backquotes and
dashes become plain ones, hyphens between letters or digits become spaces, and abbreviations with
several full stops lose them. Substitutions run from left to right and never overlap, so in
``a-b-c-d`` only every other hyphen goes; scores depend on it. The rules were found by running the
jar on chosen and random text, not from its source.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from string import punctuation

from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import DataError, Finding, MissingDependencyError
from coverage_eval.core.sampled_texts import SampledTexts
from coverage_eval.core.tokenizers import UNSPACED_CHARACTER, tokenize
from coverage_eval.core.word_splitting import why_untokenised

_INSTALL = "pip install 'coverage-eval[meteor]'"

JAR = "spice/lib/Meteor-1.5.jar"
"""The stock Meteor 1.5 jar, for :func:`data_file`."""

PARAPHRASES = "meteor/data/paraphrase-en.gz"
"""The English paraphrase table: gzip, (probability, phrase, paraphrase) as line triples."""

MIN_WORDS = 50
"""Fewer words tell too little about their language."""

ENGLISH_SHARE = 0.16
"""The least share of function words in English. Captions have 0.43 and everyday sentences 0.48
(no 100 words of them less than 0.30), the terse messages of a program 0.26; German captions have
0.05 (no 100 words more than 0.15), messages in Danish 0.06 and in Irish 0.11, Japanese has none."""

FOR_ENGLISH = "METEOR is for English: use BLEU or chrF"
"""What to do with text in another language."""

_ENOUGH_SEGMENTS = 200


@cache
def data_file(relative: str) -> Path:
    """A file of the extra's package, by its path inside the package.

    Raises:
        MissingDependencyError: The ``meteor`` extra is not installed.
    """
    spec = find_spec("pycocoevalcap")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / relative
        if path.is_file():
            return path
    missing = "package pycocoevalcap" if spec is None else f"pycocoevalcap's file {relative}"
    raise MissingDependencyError(f"METEOR needs its data files ({missing} is missing): {_INSTALL}")


def package_version(name: str) -> str:
    """The version of a package of the extra.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return version(name)
    except PackageNotFoundError as error:
        raise MissingDependencyError(
            f"METEOR needs the package {name}, which is missing: {_INSTALL}"
        ) from error


def _read_jar(name: str) -> list[str]:
    """The lines of one text file in the jar."""
    path = data_file(JAR)
    try:
        with zipfile.ZipFile(path) as jar:
            return jar.read(name).decode("utf-8").split("\n")
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot read {name} ({error}); reinstall: {_INSTALL}") from error


@cache
def read_function_words() -> frozenset[str]:
    """Meteor's English function words and punctuation marks, lowercase."""
    lines = _read_jar("function/english.words")
    return frozenset(line.strip() for line in lines if line.strip())


@cache
def read_synsets() -> dict[str, str]:
    """WordNet's words (lowercase, ``_`` in compounds), with their synset numbers as one string.

    The numbers are separated by spaces; all parts of speech are pooled.
    """
    lines = iter(_read_jar("synonym/english.synsets"))
    return dict(zip(lines, lines, strict=False))  # the last line is empty


@cache
def _read_inflections() -> dict[str, tuple[str, ...]]:
    """WordNet's irregular forms, each with its base forms."""
    bases: dict[str, tuple[str, ...]] = {}
    lines = iter(_read_jar("synonym/english.exceptions"))
    for base, forms in zip(lines, lines, strict=False):  # the last line is empty
        for form in forms.split():
            bases[form] = (*bases.get(form, ()), base)
    return bases


@cache
def _read_nonbreaking_prefixes() -> dict[str, bool]:
    """Abbreviations whose full stop ends no sentence; True if only before a number."""
    prefixes = {}
    for line in _read_jar("nonbreaking/english.prefixes"):
        if line.strip() and not line.startswith("#"):
            prefix, _, remark = line.strip().partition(" ")
            prefixes[prefix] = "NUMERIC_ONLY" in remark
    return prefixes


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``, modulo 2**32: Meteor compares words and stems by it.

    >>> java_hash("Aa") == java_hash("BB")
    True
    """
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + 256 * high + low) & 0xFFFFFFFF
    return value


@dataclass(frozen=True, eq=False)
class Word:
    """Meteor's properties of a word.

    Attributes:
        text: The word.
        key: The number that Meteor's exact matcher compares.
        stem_key: The number that Meteor's stem matcher compares; stems keep their case.
        is_function: Whether the word, lowercased, is a function word.
    """

    text: str
    key: int
    stem_key: int
    is_function: bool


@cache
def get_word(text: str) -> Word:
    """The :class:`Word` of a text, made once."""
    stem = load_stemmer()(text)
    return Word(text, java_hash(text), java_hash(stem), text.lower() in read_function_words())


@cache
def load_stemmer() -> Callable[[str], str]:
    """The English Snowball stemmer as it was when Meteor 1.5 was made.

    The class is imported directly, because ``snowballstemmer.stemmer`` silently prefers PyStemmer
    if it is installed, and not every version of PyStemmer fits.
    """
    installed = package_version("snowballstemmer")
    if int(installed.partition(".")[0]) >= 3:
        raise MissingDependencyError(
            f"METEOR needs snowballstemmer before version 3, whose stems differ from Meteor's; "
            f"installed is {installed}: {_INSTALL}"
        )
    from snowballstemmer.english_stemmer import EnglishStemmer

    stem_word: Callable[[str], str] = EnglishStemmer().stemWord
    return stem_word


# WordNet's suffix rules for nouns, verbs and adjectives, in Meteor's order: (suffix, replacement).
_SUFFIX_RULES = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"),
    ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""),
    ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip


@cache
def find_synsets(word: str) -> frozenset[str]:
    """The synset numbers of a word and of its base forms."""
    entries = read_synsets()
    found = set(entries.get(word, "").split())
    for base in find_bases(word, entries):
        found.update(entries.get(base, "").split())
    return frozenset(found)


def find_bases(word: str, entries: dict[str, str]) -> tuple[str, ...]:
    """The irregular bases of a word, else the first regular base that WordNet lists."""
    bases = _read_inflections().get(word)
    if bases is not None:
        return bases
    if len(word) <= 2 or word.endswith("ss"):
        return ()
    for suffix, replacement in _SUFFIX_RULES:
        if word.endswith(suffix):
            base = word[: -len(suffix)] + replacement
            if base in entries:
                return (base,)
    return ()


# Letters of the languages that Meteor 1.5 supports; all others are separated one by one, as
# punctuation is. Digits are ASCII digits.
_LETTERS = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0400-\u0527"
    "\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697"
)
_L = f"[{_LETTERS}]"
_NOT_L = f"[^{_LETTERS}]"

_MARKS = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": "'"})

_SUBSTITUTIONS = (
    ("\u2013", " - "),
    (f"([^{_LETTERS}0-9 \t\n\x0b\f\r.',-])", r" \1 "),
    (r"(\.{2,})", r" \1 "),
    ("([^0-9]),([^0-9])", r"\1 , \2"),
    ("([0-9]),([^0-9])", r"\1 , \2"),
    ("([^0-9]),([0-9])", r"\1 , \2"),
    ("--", "-"),
    ("''", ' " '),
    (f"({_NOT_L})'({_NOT_L})", r"\1 ' \2"),
    (f"([^{_LETTERS}0-9])'({_L})", r"\1 ' \2"),
    (f"({_L})'({_NOT_L})", r"\1 ' \2"),
    (f"({_L})'({_L})", r"\1 '\2"),
    ("([0-9])'s", r"\1 's"),
    (f"([{_LETTERS}0-9.])-([{_LETTERS}0-9])", r"\1 \2"),
)

# What Java's String.trim removes: the space and all control characters below it.
_TRIMMED = "".join(map(chr, range(33)))


def normalize(text: str) -> str:
    """Tokenise a text as ``meteor -l en -norm`` does; spaces separate the tokens.

    All white space is a space first: Meteor itself splits some of it only later, or not at all.
    """
    text = re.sub(r"\s", " ", f" {text} ").translate(_MARKS)
    for pattern, replacement in _SUBSTITUTIONS:
        text = re.sub(pattern, replacement, text)
    words = text.split()
    text = " ".join(
        _separate_full_stop(word, following)
        for word, following in zip(words, [*words, ""][1:], strict=True)
    )
    return text.strip(_TRIMMED).lower()


def _separate_full_stop(word: str, following: str) -> str:
    """Separate or keep a word's final full stop, or remove all its full stops (``U.S.``)."""
    stem = word[:-1]
    if not word.endswith(".") or not stem.strip("."):
        return word
    if "." in stem and re.search(_L, stem):
        return word.replace(".", "")
    numeric_only = _read_nonbreaking_prefixes().get(stem)
    first = following[:1]
    if numeric_only is False or "a" <= first <= "z" or (numeric_only and "0" <= first <= "9"):
        return word
    return f"{stem} ."


def check_english(sample: RowSample) -> tuple[Finding, ...]:
    """Why METEOR does not fit references in another language; empty for English.

    Words in Latin letters must be many, before they tell that a text is in another language.

    Args:
        sample: Segments of a test set; only the first 200 are read.
    """
    words = [
        token.lower().strip(punctuation)
        for row in sample.rows[:_ENOUGH_SEGMENTS]
        for reference in row.references
        for token in tokenize(reference)
        if any(map(str.isalpha, token))
    ]
    if not words:
        return ()
    unspaced, latin = (
        sum(find(word) is not None for word in words) / len(words)
        for find in (re.compile(UNSPACED_CHARACTER).search, re.compile("[a-z]").search)
    )
    # The ending 's does not count: other languages have it too.
    function_words = read_function_words() - {"s"}
    functions = sum(word in function_words for word in words) / len(words)
    if unspaced >= 1 / 3:
        why = "a script without spaces"
    elif latin < 1 / 2:
        why = "most words are in another script than English"
    elif len(words) >= MIN_WORDS and functions < ENGLISH_SHARE:
        why = f"only {100 * functions:.1f}% of the words are English function words"
    else:
        return ()
    names = sample.references
    return (Finding(f"{', '.join(names)}: {why}; {FOR_ENGLISH}", texts=names, kind="unfit"),)


def check_tokenised(sample: RowSample, remedy: str = "") -> tuple[Finding, ...]:
    """Texts that are not tokenised; METEOR counts what is between spaces.

    Args:
        sample: Segments of a test set.
        remedy: What else could be done than to tokenise them.
    """
    sampled = SampledTexts.tokenize(sample, tokenize, tokenize)
    texts = [*sampled.hypotheses, *sampled.references]
    labels = {text.name: label for text in texts if (label := why_untokenised(text))}
    advice = f"METEOR counts what is between spaces: tokenise all texts alike{remedy}"
    return tuple(
        Finding.of_text(name, label, advice, "untokenised") for name, label in labels.items()
    )
