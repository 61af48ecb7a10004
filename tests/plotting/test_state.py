"""Every picture changes no setting, needs no display and leaves no figure open."""

import os
import subprocess
import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from coverage_eval import plotting
from tests.plotting.pictures import PICTURES

HELPERS = {"quiet_missing_glyphs"}
MANY = {
    "attention_heatmaps_side_by_side": (1, 2),
    "plot_comparison": (1, 2),
    "plot_differences": (1, 2),
    "simplex_figure1": (4, 4),
}

# Inches across and down, and the points of its texts; documents were made for these.
SIZES = {
    "attention_heatmap": (4.55, 3.04, {8, 9, 11}),
    "attention_heatmaps_side_by_side": (6.40, 3.04, {8, 9, 11}),
    "plot_comparison": (5.65, 1.58, {8, 10}),
    "plot_differences": (5.65, 1.58, {8, 10}),
    "simplex": (4.40, 4.20, {8, 9}),
    "simplex_figure1": (9.60, 7.85, {8, 9, 10, 12}),
    "transformation_curves": (4.60, 3.00, {8, 10}),
}


def draw_all(result):
    """Draw the result of a function: Axes, or several Axes."""
    axes = list(np.ravel(np.asarray(result, dtype=object)))
    assert all(isinstance(ax, Axes) for ax in axes)
    assert len({ax.figure for ax in axes}) == 1
    assert not any(legend.get_frame_on() for legend in axes[0].figure.findobj(Legend))
    axes[0].figure.canvas.draw()


def test_every_public_function_is_among_the_pictures():
    assert set(PICTURES) == set(plotting.__all__) - HELPERS
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
        drawn = PICTURES[name](**({"axes": given} if name in MANY else {"ax": given[0]}))
        draw_all(drawn)
        assert dict(mpl.rcParams) == before
    assert np.array_equal(np.ravel(np.asarray(drawn, object)), np.ravel(axes))
    assert all(ax.has_data() for ax in figure.axes)


@pytest.mark.parametrize("name", PICTURES)
def test_sizes_of_pictures_and_their_texts_and_no_figure_stays_open(name):
    open_before = plt.get_fignums()
    with mpl.rc_context(mpl.rcParamsDefault):
        result = PICTURES[name]()
        draw_all(result)
        figure = np.ravel(np.asarray(result, dtype=object))[0].figure
        shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        assert figure.get_size_inches() == pytest.approx(SIZES[name][:2], abs=0.005)
        assert {text.get_fontsize() for text in shown} == SIZES[name][2]
    assert plt.get_fignums() == open_before


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
