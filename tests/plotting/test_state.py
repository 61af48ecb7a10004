"""Every picture changes no setting, needs no display and leaves no figure open."""

import os
import subprocess
import sys
import warnings
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from coverage_eval import plotting
from coverage_eval.plotting.saving import save_figure
from tests.plotting.pictures import PICTURES, overlaps, texts_of

EDGES = {"simplex", "repeated", "dropped"}
MANY = {
    "attention_heatmaps_side_by_side": (1, 2),
    "plot_differences": (1, 2),
    "simplex_figure1": (4, 4),
}


def draw_all(result):
    """Draw the result of a function: Axes, or several Axes."""
    axes = list(np.ravel(np.asarray(result, dtype=object)))
    assert all(isinstance(ax, Axes) for ax in axes)
    assert len({ax.figure for ax in axes}) == 1
    assert not any(legend.get_frame_on() for legend in axes[0].figure.findobj(Legend))
    axes[0].figure.canvas.draw()


def test_every_public_function_is_among_the_pictures():
    assert set(PICTURES) == set(plotting.__all__)
    assert set(dir(plotting)) >= set(plotting.__all__)
    with pytest.raises(AttributeError, match="no_such_picture"):
        plotting.no_such_picture  # noqa: B018


@pytest.mark.parametrize("name", PICTURES)
def test_settings_of_the_user_neither_change_nor_matter_and_given_axes_are_drawn_on(name):
    figure = Figure(figsize=(14, 12))
    axes = figure.subplots(*MANY.get(name, (1, 1)), squeeze=False)
    given = axes if name == "simplex_figure1" else tuple(axes[0])
    with (
        mpl.rc_context({"text.parse_math": True, "axes.grid": True, "font.size": 14}),
        warnings.catch_warnings(),
    ):
        before = dict(mpl.rcParams)
        warnings.simplefilter("error", UserWarning)
        # An old Matplotlib with a new pyparsing raises both kinds of warnings.
        warnings.simplefilter("ignore", DeprecationWarning)
        elements = PICTURES[name](**({"axes": given} if name in MANY else {"ax": given[0]}))
        draw_all(elements)
        assert dict(mpl.rcParams) == before
    assert np.array_equal(np.ravel(np.asarray(elements, object)), np.ravel(axes))
    assert all(ax.has_data() for ax in figure.axes)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_a_title_one_typeface_and_labels_that_touch_nothing(name):
    open_before = plt.get_fignums()
    with mpl.rc_context(mpl.rcParamsDefault):
        result = PICTURES[name]()
        draw_all(result)
        axes = np.ravel(np.asarray(result, dtype=object))
        figure = axes[0].figure
        elements = texts_of(figure)
        boxes = {f"{text.get_text()} {id(text)}": text.get_window_extent() for text in elements}
        assert overlaps(figure) == []
        points = np.concatenate(list(points_of_lines(figure)))
    for label, box in boxes.items():
        inside = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
        assert not inside.all(axis=1).any(), label
    assert plt.get_fignums() == open_before
    assert figure.get_suptitle() or axes[0].get_title() or axes[0].get_title("left")
    assert {text.get_fontproperties().get_name() for text in elements} == {"DejaVu Sans"}
    assert {text.get_fontstyle() for text in elements} == {"normal"}
    assert not any("$" in text.get_text() for text in elements)


def points_of_lines(figure):
    """Points on the lines, edges and spines of all Axes, in pixels."""
    for ax in figure.findobj(Axes):
        edges = [patch for patch in ax.patches if patch.get_gid() in EDGES]
        for line in (*ax.lines, *edges, *ax.spines.values()):
            if line.get_visible():
                corners = line.get_transform().transform_path(line.get_path()).vertices
                yield corners if line.get_linestyle() == "None" else sampled(corners)
        for lines in ax.findobj(LineCollection):
            for segment in lines.get_segments():
                yield sampled(lines.get_transform().transform(segment))


def sampled(corners):
    """Points on a polygonal chain, closer to one another than letters are high."""
    steps = np.linspace(0, 1, 200)[:, np.newaxis]
    return np.concatenate([corners, *(a + steps * (b - a) for a, b in pairwise(corners))])


@pytest.mark.parametrize("size", [7, 8, 14])
@pytest.mark.parametrize("name", PICTURES)
def test_fonts_are_those_of_the_settings(name, size):
    with mpl.rc_context({"font.size": size, "xtick.labelsize": size - 1, "axes.titlesize": 9}):
        axes = np.ravel(np.asarray(PICTURES[name](), dtype=object))
        figure = axes[0].figure
        figure.canvas.draw()
        for ax in figure.findobj(Axes):
            assert {label.get_fontsize() for label in ax.get_xticklabels()} <= {size - 1}
            assert {label.get_fontsize() for label in ax.get_yticklabels()} <= {size}
            assert {ax.title.get_fontsize(), ax._left_title.get_fontsize()} == {9}
            named = (ax.xaxis.label, ax.yaxis.label, *ax.texts)
            assert {text.get_fontsize() for text in named} == {size}
        legends = figure.findobj(Legend)
        assert {text.get_fontsize() for one in legends for text in one.get_texts()} <= {size}
        assert [text for text in overlaps(figure) if "edge" in text] == []


@pytest.mark.parametrize("name", PICTURES)
def test_arguments_of_matplotlib_say_what_to_type(name):
    """Here ``ax`` where ``axes`` are drawn on, or the other way round, and ``figsize``."""
    wrong, right = ("ax", "axes") if name in MANY else ("axes", "ax")
    with pytest.raises(TypeError, match=f"{name} has no {wrong}=: give {right}="):
        PICTURES[name](**{wrong: None})
    with pytest.raises(TypeError, match=f"{name} has no figsize=: give (width|axe?s?)="):
        PICTURES[name](figsize=(3, 2))


@pytest.mark.parametrize("name", PICTURES)
def test_pdf_has_truetype_fonts_on_given_axes_too(name, tmp_path):
    axes = Figure(figsize=(14, 12)).subplots(*MANY.get(name, (1, 1)), squeeze=False)
    given = axes if name == "simplex_figure1" else tuple(axes[0])
    PICTURES[name](**({"axes": given} if name in MANY else {"ax": given[0]}))
    save_figure(axes[0, 0], tmp_path / "given.pdf")
    assert b"/Type3" not in (tmp_path / "given.pdf").read_bytes()
    assert b"/CIDFontType2" in (tmp_path / "given.pdf").read_bytes()


@pytest.mark.slow
def test_pictures_need_neither_pyplot_nor_a_display():
    script = (
        "import sys, coverage_eval.plotting as plotting\n"
        "assert 'matplotlib' not in sys.modules, 'the package alone must import quickly'\n"
        "from tests.plotting.pictures import PICTURES\n"
        "for name, draw in PICTURES.items():\n"
        "    draw()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    # A backend that needs a display and a toolkit would fail here.
    environment |= {"MPLBACKEND": "GTK4Agg", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
