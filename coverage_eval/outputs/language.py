"""Outputs in another script or language than a system's other outputs."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median

from coverage_eval.core.checks import MIN_SEGMENTS
from coverage_eval.outputs.parsed_segment import Pair, ParsedSegment, Vocabulary

COMMON = 0.01
"""Share of outputs that have a common word."""

SHARED = 0.75
"""Share of the common words that other texts have, from which on the rest are not common: a poor
text tells nothing."""

MIN_WORDS: Mapping[str, int] = {"common": 8, "known": 5}
"""Number of words from which a language can be told by common words, and by those that a model
knows, too."""


@dataclass(frozen=True)
class LanguageProfile:
    """The script and the language of a system's outputs.

    Attributes:
        scripts: Scripts of at least a twentieth of the letters.
        common: Words that many outputs have.
        known: The medians of outputs' :meth:`known_shares`; 0 if too few outputs tell.
        vocabulary: The words that a model knows.
    """

    scripts: Set[str] = frozenset()
    common: Set[str] = frozenset()
    known: Mapping[str, float] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None

    @classmethod
    def learn(
        cls, pairs: Sequence[Pair], vocabulary: Vocabulary | None, shared: Set[str]
    ) -> LanguageProfile:
        """The script and the language of some outputs.

        Args:
            pairs: Sources and outputs.
            vocabulary: The words that a model knows.
            shared: Words that another text or the model has, too; only they are common, because a
                tenth of the outputs in another language has common words of its own.
        """
        outputs_with, letters = Counter[str](), Counter[str]()
        for _, output in pairs:
            outputs_with.update(output.vocabulary)
            letters.update(scripts_of(output.text))
        min_outputs = max(3, COMMON * len(pairs))
        common = frozenset(
            word for word, n in outputs_with.items() if n >= min_outputs and word[0].isalpha()
        )
        if len(common & shared) > SHARED * len(common):
            common &= shared
        scripts = frozenset(name for name, n in letters.items() if n >= letters.total() / 20)
        profile = cls(scripts, common, {}, vocabulary)
        shares = [profile.known_shares(output, source) for source, output in pairs]
        known = {}
        for name in MIN_WORDS:
            of_outputs = [share[name] for share in shares if name in share]
            known[name] = median(of_outputs) if len(of_outputs) >= MIN_SEGMENTS else 0.0
        return cls(scripts, common, known, vocabulary)

    def known_shares(self, output: ParsedSegment, source: ParsedSegment | None) -> dict[str, float]:
        """The share of words that are common in the outputs, or that a model knows, too.

        Words that are the source's, such as names, do not count, unless they are common. There is
        no share of fewer words than :data:`MIN_WORDS`.
        """
        translated = output.vocabulary
        if source:
            translated = translated - (source.vocabulary - self.common)
        words = {word for word in translated if word[0].isalpha()}
        known = {"common": words & self.common}
        if self.vocabulary is not None:
            known["known"] = known["common"] | words & self.vocabulary[1]
        return {
            name: len(found) / len(words)
            for name, found in known.items()
            if len(words) >= MIN_WORDS[name]
        }


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    # Japanese mixes three scripts; Korean may have some Chinese characters.
    return "KANA" if name in {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else name


def scripts_of(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    if text.isascii():
        return Counter(LATIN=sum(map(str.isalpha, text)))
    return Counter(_script(letter) for letter in text if letter.isalpha())


MIN_LETTERS = 4
"""Letters from which a script can be told."""

STRANGE: Mapping[str, float] = {"common": 0.2, "known": 0.4}
"""The share of known words, of the usual share, below which a language is another one. A model of
much text knows some words of every language, so outputs without common words are strange, too."""

MIN_KNOWN = 0.3
"""Usual share of known words from which on a smaller one tells something."""


def why_other_language(
    output: ParsedSegment, source: ParsedSegment | None, profile: LanguageProfile
) -> str:
    """Why an output seems to be in another language; empty if it does not."""
    # Letters of ASCII are Latin, so they need not be counted.
    if profile.scripts and not ("LATIN" in profile.scripts and output.text.isascii()):
        letters = scripts_of(output.text)
        others = {name: n for name, n in letters.items() if name not in profile.scripts}
        number = sum(others.values())
        if number >= MIN_LETTERS and 2 * number > letters.total():
            script = max(others, key=others.__getitem__)
            return f"{number / letters.total():.0%} of its letters are {script.capitalize()}"
    if len(output.vocabulary & profile.common) >= max(STRANGE.values()) * len(output.vocabulary):
        return ""  # as nearly all outputs; source words that are left out would only add to it
    if not profile.known:
        return ""
    for name, share in profile.known_shares(output, source).items():
        expected = profile.known.get(name, 0.0)
        if expected >= MIN_KNOWN and share < STRANGE[name] * expected:
            return f"{share:.0%} of its words are {name}, usually {expected:.0%}"
    return ""
