"""The languages of texts, told by the library py3langid, and outputs in another one.

The library gives the log-likelihood of a text in every language that it knows. It is loaded only
for texts that need it, because that takes half a second.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from coverage_eval.core.batches import Row
from coverage_eval.core.tokenizers import Segment, segment_text
from coverage_eval.outputs.parsed_segment import ParsedSegment, Vocabulary
from coverage_eval.outputs.shared_runs import outside_runs, shared_runs

# What the library tells

MARGIN = 20.0
"""By how much more likely a text is in another language for that to be certain. Of 157,000 sound
segments none is, and 99.8% of captions in another language are."""

MIN_WORDS = 4
"""Words from which a language is told, unless most letters are of another script, too."""

MAX_TEXTS = 200
"""Texts of a sample, spread over it, from which the language of all is told."""

MAX_LETTERS = 20_000
"""The beginning of a text from which its language is told, however long it is."""

_NEAR = ({"da", "nb", "nn", "no"}, {"bs", "hr", "sr"}, {"id", "ms"})
"""Languages that are too near to each other to be told apart in one segment."""


def log_likelihoods(text: str) -> Mapping[str, float]:
    """The log-likelihood of a text in each language, by its code in ISO 639."""
    from py3langid import rank  # takes half a second

    return dict(rank(text[:MAX_LETTERS]))


def common_language(texts: Sequence[str]) -> str:
    """The language that most of some texts are in; empty if there is no text.

    The likelihoods of a language are multiplied, but a single text tells no more than
    :data:`MARGIN`, so that a few long ones in another language do not outweigh the rest.
    """
    totals: dict[str, float] = defaultdict(float)
    for text in texts:
        likelihoods = log_likelihoods(text)
        greatest = max(likelihoods.values())
        for language, likelihood in likelihoods.items():
            totals[language] += max(likelihood - greatest, -MARGIN)
    return max(sorted(totals), key=totals.__getitem__, default="")


def are_near(first: str, second: str) -> bool:
    """Whether two languages are the same, or too near to each other to be told apart."""
    return first == second or any({first, second} <= group for group in _NEAR)


# The languages of a test set

MODEL_TEXTS, MODEL_WORDS = 20, 10
"""Texts that a model's words count as, and the words of each; they tell the language of few
outputs, and little of that of many."""

FREQUENT = 0.01
"""Share of texts that have a frequent word, or a usual letter."""

OFTEN, MIN_TIMES = 0.002, 3
"""Share of the sources' words that a function word makes up, and how often it comes, at least. In
captions and news, words such as "man" and "said" are as frequent; names are not."""

MIN_SAID = 300
"""Words of the sources from which on they tell function words."""

VERY_OFTEN = 0.01
"""Share of the sources' words that no name makes up, so that all outputs may keep such a word."""

KEPT = 0.75
"""Share of its segments in which translations have another source word, too, from which on it is
a name."""

AFTER_APOSTROPHES = frozenset("dlmst")
"""Letters that stand for no word by themselves, as in "Patrick's" and "L'Aquila"."""

USUAL = 0.3
"""Share of an output's words that are frequent in the references, from which on it is in their
language."""


KNOWN = 0.6
"""Share of an output's words that the references have anywhere, from which on it is in their
language: 0.6 to 1 for 99% of captions, 0.54 at most in another language."""


@dataclass(frozen=True)
class Languages:
    """The languages of the texts of a test set.

    Attributes:
        sources: Some sources.
        references: Some references.
        outputs: Some outputs of each system, and of each peer, without what they share with their
            source.
        vocabulary: Words of the target language that a model knows, a few to a text.
        function_words: Words that are so frequent in the sources that they are no names, and that
            translations do not keep.
        model_words: Words that a model knows on the source's side only.
        usual_words: Words that are frequent in the references.
        known_words: All words of the references.
        usual_letters: Letters that are frequent in the references, or else in the outputs.
        are_long: Whether at least half of each system's outputs are long enough to tell a language.
    """

    sources: Sequence[str] = ()
    references: Sequence[str] = ()
    outputs: Sequence[Sequence[str]] = ()
    vocabulary: Sequence[str] = ()
    function_words: Set[str] = frozenset()
    model_words: Set[str] = frozenset()
    usual_words: Set[str] = frozenset()
    known_words: Set[str] = frozenset()
    usual_letters: Set[str] = frozenset()
    are_long: bool = True

    @classmethod
    def learn(
        cls,
        rows: Sequence[Row],
        sources: Sequence[ParsedSegment],
        outputs: Sequence[Sequence[ParsedSegment]],
        vocabulary: Vocabulary | None = None,
    ) -> Languages:
        """The languages of some segments, each with the outputs of the same systems.

        They are learnt from at most :data:`MAX_LETTERS` of each text.

        Args:
            rows: The segments.
            sources: The source of each.
            outputs: The outputs of each.
            vocabulary: The words that a model knows.
        """
        said, in_sources, in_translations = Counter[str](), Counter[str](), Counter[str]()
        in_references, letters = Counter[str](), Counter[str]()
        references, long_outputs = list[str](), list[list[str]]()
        # A segment that comes again tells no more than once, except that shares are of all.
        keys = [
            (source.text, *(text.text for text in parsed))
            for source, parsed in zip(sources, outputs, strict=True)
        ]
        distinct = dict(zip(keys, zip(rows, sources, outputs, strict=True), strict=True))
        times = [*Counter(keys).values()]
        for row, whole_source, parsed in distinct.values():
            others = [
                ParsedSegment.of(text[:MAX_LETTERS], is_output=True)
                for text in (*row.peers, *row.nonblank_references)
            ]
            source, *translated = [
                text if len(text.text) <= MAX_LETTERS else ParsedSegment.of(text.text[:MAX_LETTERS])
                for text in (whole_source, *parsed, *others)
            ]
            said.update(source.words)
            in_sources.update(source.vocabulary)
            in_translations.update(set[str]().union(*(text.vocabulary for text in translated)))
            if source.words:  # what both sides have tells nothing of the language
                translated = [outside_runs(text, shared_runs(text, source)) for text in translated]
            own = translated[: len(parsed) + len(row.peers)]
            expected = translated[len(own) :] or own
            references += map(segment_text, row.nonblank_references)
            long_outputs.append([text.text if len(text.words) >= MIN_WORDS else "" for text in own])
            words = set[str]().union(*(text.vocabulary for text in expected))
            in_references.update(words if row.nonblank_references else ())
            letters.update(set[str]().union(*(text.text for text in expected)))
        least = FREQUENT * len(distinct)
        by_system = list(zip(*long_outputs, strict=True))
        return cls(
            _some([source.text for _, source, _ in distinct.values()]),
            _some(references),
            list(map(_some, by_system)),
            _word_lists(vocabulary[1]) if vocabulary else (),
            {
                word
                for word, times in said.items()
                if times >= max(MIN_TIMES, OFTEN * said.total())
                and (
                    times >= VERY_OFTEN * said.total()
                    or in_translations[word] < KEPT * in_sources[word]
                )
                and word.isalpha()
                and word not in AFTER_APOSTROPHES
                and said.total() >= MIN_SAID
            },
            vocabulary[0] - vocabulary[1] if vocabulary else frozenset(),
            {word for word, number in in_references.items() if number >= least},
            frozenset(in_references),
            {letter for letter, number in letters.items() if number >= least},
            all(
                2 * sum(n for text, n in zip(texts, times, strict=True) if text) >= len(rows)
                for texts in by_system
            ),
        )

    @cached_property
    def source(self) -> str:
        """The language of the sources; empty if there are none."""
        return common_language(self.sources)

    @cached_property
    def of_references(self) -> str:
        """The language of the references; empty if there are none."""
        return common_language(self.references)

    @cached_property
    def of_outputs(self) -> str:
        """The language of what the outputs do not share with their sources; empty if it is none."""
        every = [text for texts in self.outputs for text in texts]
        return common_language([*every, *self.vocabulary])

    @cached_property
    def has_other_references(self) -> bool:
        """Whether no system's outputs are in the language of the references.

        If they are in that of the sources, they are copies, and the references are right.
        """
        if not (self.references and self.are_long):
            return False
        for texts in self.outputs:
            usual = sum(self._is_usual(ParsedSegment.of(text)) for text in texts)
            if 2 * usual > len(texts):
                return False
        found = {common_language(texts) for texts in self.outputs} - {""}
        return bool(found) and not any(
            language == self.source or are_near(language, self.of_references) for language in found
        )

    @cached_property
    def target(self) -> str:
        """The language that outputs should be in; empty if nothing tells it."""
        if self.references and not self.has_other_references:
            return self.of_references
        return self.of_outputs

    def find_other(self, output: ParsedSegment, references: Sequence[Segment]) -> str:
        """The language of an output that should be in another one; empty if it should not.

        Args:
            output: The output.
            references: The references of the segment, which may be in another language, too.
        """
        if self._is_usual(output) or self._is_known(output):
            return ""
        if len(output.words) < MIN_WORDS and not self._is_other_script(output):
            return ""
        if _is_list(output):
            return ""
        found = self._other(output.text)
        is_expected = found and any(self._other(segment_text(text)) == found for text in references)
        return "" if is_expected else found

    def _is_usual(self, text: ParsedSegment) -> bool:
        usual = text.vocabulary & self.usual_words
        return bool(usual) and len(usual) >= USUAL * len(text.vocabulary)

    def _is_known(self, text: ParsedSegment) -> bool:
        """Whether the references have most words of a text, so that its language needs no look."""
        return len(text.vocabulary & self.known_words) >= KNOWN * max(1, len(text.vocabulary))

    def _other(self, text: str) -> str:
        likelihoods = log_likelihoods(text)
        best = max(likelihoods, key=likelihoods.__getitem__)
        if not self.target or are_near(best, self.target):
            return ""
        return best if likelihoods[best] - likelihoods[self.target] > MARGIN else ""

    def _is_other_script(self, output: ParsedSegment) -> bool:
        """Whether most letters of an output are unusual."""
        letters = list(filter(str.isalpha, output.text))
        return 2 * sum(letter not in self.usual_letters for letter in letters) > len(letters)


def _is_list(output: ParsedSegment) -> bool:
    """Whether half of the tokens are marks, numbers or initials, as in a list of authors."""
    others = sum(
        not token[0].isalpha() or (len(token) == 1 and token.lower() != token.upper())
        for token in output.tokens
    )
    return 2 * others >= len(output.tokens)


def _some(texts: Sequence[str]) -> list[str]:
    """At most :data:`MAX_TEXTS` or twice as many of the texts with words, spread over them."""
    with_words = list(filter(str.strip, texts))
    return with_words[:: max(1, len(with_words) // MAX_TEXTS)]


def _word_lists(vocabulary: Set[str]) -> list[str]:
    """Words that a model knows, as a few texts."""
    words = [word for word in sorted(vocabulary) if word.isalpha()]
    size = max(1, len(words) // (MODEL_TEXTS * MODEL_WORDS))
    chosen = words[::size][: MODEL_TEXTS * MODEL_WORDS]
    return [
        " ".join(chosen[number::MODEL_TEXTS]) for number in range(min(MODEL_TEXTS, len(chosen)))
    ]
