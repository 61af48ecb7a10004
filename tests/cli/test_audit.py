"""``coverage-eval audit``: its table, other formats, scores against a printed table, errors."""

import csv
import io
import json

from coverage_eval.papers.audits import AUDITS


def test_all_audits_run(run_cli, monkeypatch):
    """Here those that are quick; tests/papers runs every audit by itself."""
    for name in set(AUDITS) - {"table1", "table2", "figure1", "appendix-a", "report-tables"}:
        monkeypatch.delitem(AUDITS, name)
    # A claim that is contradicted is a finding, not a failure: the exit status is 0.
    rows = list(csv.DictReader(run_cli("audit", "-f", "csv").stdout.splitlines()))
    assert list(dict.fromkeys(row["audit"] for row in rows)) == list(AUDITS)
    assert {row["verdict"] for row in rows} == {"confirmed", "contradicted", "not decidable"}
    (row,) = (row for row in rows if "METEOR: PREDICTED" in row["exceptions"])
    assert row["exceptions"] == "1 of 12: METEOR: PREDICTED c = 0, CONSTANT f = 2"
    assert row["place"] == "section 5, page 374"
    data = json.loads(run_cli("audit", "-f", "json").stdout)["audits"]
    assert sum(len(audit["claims"]) for audit in data) == len(rows)


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


def test_all_audits_are_one_page(run_cli, monkeypatch, tmp_path):
    for name in set(AUDITS) - {"table1", "figure1"}:
        monkeypatch.delitem(AUDITS, name)
    text = run_cli("audit", "all").stdout
    assert "28 of 38" in text
    run_cli("audit", "all", "-o", tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "28 of 38" in page


def test_the_papers_claims_on_ones_own_systems(run_cli, tmp_path):
    scores = {"BLEU": (30, 29), "METEOR": (32, 31), "REP": (2, 3), "DROP": (5, 6)}
    for seed in range(2):
        lines = [f"{name},{metric},{pair[k] + seed}" for metric, pair in scores.items()
                 for k, name in enumerate(("mine", "softmax"))]  # fmt: skip
        (tmp_path / f"{seed}.csv").write_text("\n".join(["system,metric,score", *lines, ""]))
    files = [word for seed in range(2) for word in ("--scores", tmp_path / f"{seed}.csv")]
    text = run_cli("audit", "claims", *files, "--sparse", "mine").stdout
    assert text.count("2 of 2") == 3
    rows = run_cli("audit", "claims", *files, "--sparse", "mine", "-f", "csv").stdout
    assert rows.count("mine has better REP and DROP") == 4
    for wrong in (["claims"], ["table1", *files], ["table1", "--sparse", "mine"], ["all", *files]):
        assert run_cli("audit", *wrong, check=False).returncode == 2
