"""The glossary of a report: words lead to their meaning, once in each part of the page."""

import re

import coverage_eval as ce
from coverage_eval.report.glossary import GLOSSARY, make_explainer

LINK = re.compile(r'<a class="term" href="#word-([^"]*)" title="[^"<>]+">([^<]*)</a>')


def test_words_are_linked_once_in_each_part_and_text_stays_text():
    explain = make_explainer()
    first = explain("p = 0.1, up = 2, <b>Segments</b> & 2 N-grams\x1b", "a")
    assert LINK.findall(first) == [("p", "p"), ("segment", "Segments"), ("n-gram", "N-grams")]
    assert (
        LINK.sub(r"\2", first)
        == "p = 0.1, up = 2, &lt;b&gt;Segments&lt;/b&gt; &amp; 2 N-grams\\x1b"
    )
    assert LINK.findall(explain("p < 0.05 by peers", "a")) == [("peer", "peers")]
    assert LINK.findall(explain("p\u00a0≤ 0.05", "b")) == [("p", "p")]


def test_every_link_has_its_meaning_on_the_page():
    outputs = {"good": ["a house"] * 30, "bad": ["a house a house"] * 30}
    page = ce.make_report(ce.compare(outputs, ["a house"] * 30, metrics=["rep"])).html
    listed = re.findall(r'<dt id="word-([^"]*)"', page)
    assert listed == [term.word for term in GLOSSARY]
    linked = [word for word, _ in LINK.findall(page)]
    assert linked[0] == "p"  # at its first place, in the verdict
    assert {"baseline", "segment", "interval"} <= {*linked}
