"""Every picture changes no setting, needs no display and leaves no figure open."""

import os
import subprocess
import sys
import warnings
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from coverage_eval import plotting
from tests.plotting.pictures import PICTURES

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
    figure = Figure()
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
        elements = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        no_progress = set(labels_beyond_limits(figure))
        boxes = {
            f"{text.get_text()} {id(text)}": text.get_window_extent()
            for text in elements
            if text not in no_progress
        }
        points = np.concatenate(list(points_of_lines(figure)))
    for label, box in boxes.items():
        inside = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
        assert not inside.all(axis=1).any(), label
    for (label, box), (other, other_box) in combinations(boxes.items(), 2):
        assert not box.padded(-1).overlaps(other_box.padded(-1)), (label, other)
    assert plt.get_fignums() == open_before
    assert figure.get_suptitle() or axes[0].get_title() or axes[0].get_title("left")
    assert {text.get_fontproperties().get_name() for text in elements} == {"DejaVu Sans"}
    assert {text.get_fontstyle() for text in elements} == {"normal"}
    assert not any("$" in text.get_text() for text in elements)


def labels_beyond_limits(figure):
    """Labels of ticks that Matplotlib makes and does not draw."""
    for ax in figure.findobj(Axes):
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    yield from (tick.label1, tick.label2)


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
