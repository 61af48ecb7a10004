"""What ``-norm`` does, case by case, as the jar was seen to do it (``-norm -writeAlignments``)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.metrics.meteor.words import normalize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, world!", "hello , world !"),
        ('He said: “yes” and ‘no’, ``so\'\'.', 'he said : " yes " and \' no \' , " so " .'),
        ("„low“ «x»", '„ low " « x »'),
        # Substitutions do not overlap: of single letters only every other hyphen goes.
        ("state-of-the-art a-b-c -d e- 3-4", "state of the art a b-c -d e- 3 4"),
        ("a--b a---b a–b a—b --", "a b a--b a - b a — b -"),
        ("a,b,c 1,000 1,a", "a , b,c 1,000 1 , a"),
        ("Mr. A met no. 5 of No. 5 and No. B", "mr. a met no . 5 of no. 5 and no . b"),
        ("U.S. and U.S.-based p.m., U.S", "us and us based pm , u.s"),
        ("see foo.bar. The 1.5. The", "see foobar the 1.5 . the"),
        # A lower-case ASCII letter after a full stop keeps it in place.
        ("foo. bar foo. Bar foo. été end.", "foo. bar foo . bar foo . été end ."),
        ("a... ... b.. x.y...", "a ... ... b .. x.y ..."),
        ("can't we've John's 1980's 'tis rock'n'roll 5'10\"",
         "can 't we 've john 's 1980 's ' tis rock 'n'roll 5 ' 10 \""),
        ("a@b.com $5 50% x/y a_b &amp;", "a @ b.com $ 5 50 % x / y a _ b & amp ;"),
        # Letters of languages that Meteor does not support are separated one by one.
        ("naïve Straße привет 日本", "naïve straße привет 日 本"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\x01 \x02a b\x1f", "a b"),
        ("", ""),
        ("  ", ""),
        (". .. -", ". .. -"),
    ],
)  # fmt: skip
def test_examples(text: str, tokens: str) -> None:
    assert normalize(text).split() == tokens.split()


@given(st.text(max_size=40))
def test_any_text_becomes_tokens_in_lower_case(text: str) -> None:
    normal = normalize(text)
    assert normal == normal.lower()
    assert set("“”‘’`–\u00a0\u3000").isdisjoint(normal)
