"""``coverage-eval simplex``: its pictures and its errors."""

import pytest
from matplotlib.figure import Figure
from PIL import Image

from coverage_eval.plotting import simplex_figure1
from coverage_eval.plotting.saving import save_figure


def test_without_further_arguments_it_draws_figure_1(run_cli, tmp_path):
    result = run_cli("simplex", "-o", tmp_path / "first.svg", env={"DISPLAY": ""})
    assert result.stdout == ""
    assert result.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["first.svg"]
    text = (tmp_path / "first.svg").read_text()
    for coordinates in ("(0.52, 0.35, 0.13)", "(0.12, 0.21, 0.67)", "(0, 0, 1)"):
        assert f">{coordinates}</text>" in text
    # The same command writes the same bytes.
    run_cli("simplex", "-o", tmp_path / "second.svg")
    assert text == (tmp_path / "second.svg").read_text()


@pytest.mark.parametrize(
    ("ending", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_the_ending_decides_the_format(tmp_path, ending, start):
    path = tmp_path / f"figure{ending}"
    figure = Figure(figsize=(1, 1))
    save_figure(figure, path)
    once = path.read_bytes()
    assert once.startswith(start)
    save_figure(figure, path)
    assert path.read_bytes() == once
    assert list(tmp_path.iterdir()) == [path]


def test_scores_steps_and_resolution_are_options(run_cli, tmp_path):
    file = tmp_path / "f.png"
    run_cli("simplex", "-o", file, "-z", "1,0,0", "-z", "-1,0,0.5", "--dpi", 40)
    width, height = simplex_figure1([[1, 0, 0], [-1, 0, 0.5]])[0, 0].figure.get_size_inches()
    with Image.open(file) as image:
        assert image.size == (int(40 * width), int(40 * height))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "figure"], "ends in .png, .svg, .pdf"),
        (["-o", "missing/figure.png"], "missing/figure.png: cannot be written"),
        (["-o", "f.png", *(["-z", "0,0,0"] * 4)], "upper bounds sum to 0"),
        (["-o", "f.png", "--fertilities", "-1,2,2"], "must not be negative: (-1, 2, 2)"),
    ],
)
def test_bad_data_is_one_line_and_leaves_no_file(run_cli, tmp_path, arguments, message):
    result = run_cli("simplex", *arguments, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments", [[], ["-o", "f.png", "-z", "1,2"], ["-o", "f.png", "--fertilities", "a,b,c"]]
)
def test_usage_errors_exit_2(run_cli, tmp_path, arguments):
    result = run_cli("simplex", *arguments, check=False, cwd=tmp_path)
    assert result.returncode == 2
    assert not list(tmp_path.iterdir())
