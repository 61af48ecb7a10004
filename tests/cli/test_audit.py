"""``coverage-eval audit``: its table, other formats, scores against a printed table, errors."""

import csv
import io
import json

from coverage_eval.core.show import render
from coverage_eval.papers.audit_tables import AUDITS, run_audit
from coverage_eval.papers.claims import present_audits


def test_all_audits_run(run_cli, monkeypatch):
    """Here those that are quick; tests/papers runs every audit by itself."""
    for name in set(AUDITS) - {"table1", "table2", "figure1", "report-tables"}:
        monkeypatch.delitem(AUDITS, name)
    lines = run_cli("audit", "-f", "csv").stdout.splitlines()[1:]
    assert list(dict.fromkeys(line.split(",")[0] for line in lines)) == list(AUDITS)
    # A claim that is contradicted is a finding, not a failure: the exit status is 0.
    for verdict in (",confirmed,", ",contradicted,"):
        assert any(verdict in line for line in lines)
    assert any("1 of 12: METEOR: PREDICTED c = 0, CONSTANT f = 2" in line for line in lines)


def test_the_overview_prints_in_other_formats():
    audits = [run_audit("table2"), run_audit("figure2")]
    rows = list(csv.DictReader(io.StringIO(render(present_audits(audits), "csv"))))
    assert [row["verdict"] for row in rows] == [
        "confirmed",
        "confirmed",
        "confirmed",
        "not checked",
    ]
    assert rows[0]["exceptions"] == "1 of 12: METEOR: PREDICTED c = 0, CONSTANT f = 2"
    assert rows[0]["place"] == "section 5, page 374"
    data = json.loads(render(present_audits(audits), "json"))["audits"]
    assert [len(audit["claims"]) for audit in data] == [2, 2]
    assert len(data[0]["claims"][0]["facts"]) == 12


def test_scores_against_the_printed_table(run_cli, tmp_path):
    lines = ["softmax,De-En,BLEU,30", "csparsemax,De-En,BLEU,29.5"]
    text = "system,dataset,metric,value\n" + "\n".join(lines) + "\n"
    table = run_cli("audit", "--scores", "-", stdin=text).stdout
    assert "opposite" in table
    (tmp_path / "my.csv").write_text(text)
    rows = csv.DictReader(
        io.StringIO(run_cli("audit", "--scores", tmp_path / "my.csv", "-f", "csv").stdout)
    )
    kinds = [(row["kind"], row["difference"], row["direction"]) for row in rows]
    assert kinds == [("cell", "0.49", ""), ("cell", "-0.35", ""), ("direction", "", "opposite")]
    data = json.loads(
        run_cli("audit", "table1", "--scores", tmp_path / "my.csv", "-f", "json").stdout
    )
    assert data["directions"][0]["printed"] == -0.34
    assert len(data["cells"]) == 2


def test_wrong_tables_and_names_are_errors(run_cli, tmp_path):
    (tmp_path / "my.csv").write_text("system,dataset,metric,value\nsoftmax,De-En,BLEU,x\n")
    output = tmp_path / "out"
    done = run_cli("audit", "--scores", tmp_path / "my.csv", "-o", output, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"coverage-eval: error: {tmp_path / 'my.csv'}: softmax,De-En,BLEU,x: not a number\n"
    )
    assert not output.exists()
    assert run_cli("audit", "nonsense", check=False).returncode == 2
    assert run_cli("audit", "run", check=False).returncode == 2
    done = run_cli("audit", "figure1", "--scores", tmp_path / "my.csv", check=False)
    assert done.returncode == 2
    assert "--scores goes with table1, table2, report-tables" in done.stderr
