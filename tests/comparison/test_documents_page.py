"""The page of a document: all text is there, escaped, with gaps and added text marked."""

import base64
import hashlib
import html
import json
import re
from types import SimpleNamespace
from typing import Any

from coverage_eval.comparison.report.faults import find_faults
from coverage_eval.comparison.report.page import (
    ViewedDocument,
    ViewedRow,
    render_documents,
)
from coverage_eval.documents.segmentation import Segmentation

ROWS = [
    ViewedRow(1, "eins <b>", "one <script>alert(1)</script>", "kept"),
    ViewedRow(None, "", "Note & so on", "extra"),
    ViewedRow(2, "zwei", "", "missing"),
    ViewedRow(3, "drei", "", "missing"),
    ViewedRow(4, "", "", "blank"),
    ViewedRow(None, "", "one again", "again", 1),
]


def test_all_text_is_escaped_and_marked():
    page = render_documents([ViewedDocument("a<b", "a sentence.", ROWS)], "what's <missing>")
    cells = re.findall(r"<tr id=\"(r1-\d)\" class=\"(\w+)\".*?</tr>", page, re.DOTALL)
    assert cells == [(f"r1-{n}", row.kind) for n, row in enumerate(ROWS)]
    assert "<script>alert" not in page
    assert "one &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "[+ Note &amp; so on +]" in page
    assert "[+ one again +] <em>line 1 again</em>" in page
    assert page.count("nothing like this line") == 2
    stops = re.findall(r'<a class="(\w+)" style="top: ([\d.]+)%" href="#r1-(\d)"', page)
    assert [(kind, int(place)) for kind, _, place in stops] == [
        ("extra", 1), ("missing", 2), ("again", 5),
    ]  # fmt: skip
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert f"script-src 'sha256-{digest}'" in html.unescape(policy)
    assert not re.search(r"(src|href)=\"(http|//)", page)


def test_texts_cannot_take_the_place_of_assets():
    row = ViewedRow(1, "/*script*/", "/*style*/", "kept")
    page = render_documents([ViewedDocument("d", "s", [row])], "t")
    assert page.count("<script>") == page.count("<style>") == 1
    assert '<td class="source" dir="auto">/*script*/</td>' in page
    assert page.index("scrollIntoView") > page.index("<footer>")


def test_the_command_writes_the_page(run_cli, tmp_path):
    (tmp_path / "ref").write_text("A house.\n\nA cat.\nThe dog sleeps here.\n")
    (tmp_path / "out").write_text("A house. The dog sleeps here. And what comes after that?\n")
    line = ("segment", "out", "--ref", "ref")
    found = run_cli(*line, "-f", "jsonl", cwd=tmp_path).stdout
    rows = [json.loads(row) for row in found.splitlines()]
    run_cli(*line, "-o", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    kinds = re.findall(r"<tr id=\"r1-\d\" class=\"(\w+)\"", page)
    assert kinds == ["kept", "blank", "missing", "kept", "extra"]
    assert len(rows) == len(kinds)
    assert "4 reference lines, 1 without words: 2 have text, 1 has none (33.3%): line 3" in page


def test_missing_lines_of_several_documents_name_theirs():
    documents = [Segmentation((), (0,) * n + (5, 4), 20, name=f"row {n}") for n in (6, 6, 2)]
    for several, said in ((documents, "row 6: 7 to 8, row 6: 7 to 8, row 2: 3 to 4"),
                          (documents[:1], "7 to 8")):  # fmt: skip
        result = SimpleNamespace(
            texts=SimpleNamespace(documents={"a": several}), output_errors={}, segments=9
        )
        comparison: Any = SimpleNamespace(result=result, rows=["a"])
        ((system, phrase, _),) = find_faults(comparison)
        number = 2 * len(several)
        assert (system, phrase) == ("a", f"lacks {number} of {number} lines: {said}")
