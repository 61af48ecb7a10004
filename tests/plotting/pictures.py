"""One call of each public function, for tests of all of them."""

from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text

from coverage_eval import plotting
from coverage_eval.attention import sparsemax

SOURCE = ["überlassen", "sie", "das", "ruhig", "uns", ".", "<SINK>"]
SOFTMAX = ["give", "us", "us", "a", "silence", "."]
CSPARSEMAX = ["leave", "it", "to", "us", "."]

# Invented attention that fits these translations.
SOFTMAX_WEIGHTS = np.array(
    [
        [0.74, 0.04, 0.04, 0.05, 0.08, 0.03, 0.02],
        [0.04, 0.05, 0.02, 0.04, 0.80, 0.03, 0.02],
        [0.05, 0.04, 0.02, 0.10, 0.74, 0.03, 0.02],
        [0.02, 0.02, 0.03, 0.85, 0.04, 0.02, 0.02],
        [0.02, 0.02, 0.03, 0.86, 0.03, 0.02, 0.02],
        [0.01, 0.01, 0.02, 0.02, 0.02, 0.90, 0.02],
    ]
)
CSPARSEMAX_WEIGHTS = np.array(
    [
        [1.0, 0, 0, 0, 0, 0, 0],
        [0, 0.1, 0.9, 0, 0, 0, 0],
        [0, 0.3, 0, 0.7, 0, 0, 0],
        [0, 0, 0, 0, 1.0, 0, 0],
        [0, 0, 0, 0, 0, 1.0, 0],
    ]
)
FERTILITY = [1, 1, 1, 1, 1, 1, np.inf]
SCORES = np.array([[1.2, 0.8, -0.2], [0.1, 0.6, 0.9], [-0.4, 0.1, 1.4]])


def by_gid(ax, gid):
    """The artists of an Axes that have this gid."""
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def overlaps(figure):
    """Pairs of texts of a drawn figure that overlap, or are cut off on the right."""
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in texts_of(figure)]
    cut = [(name, "edge") for name, box in boxes if box.x1 > figure.bbox.x1]
    return cut + [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)]


def texts_of(figure):
    """All texts that are drawn."""
    hidden = set(labels_beyond_limits(figure))
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text for text in texts if text.get_text().strip() and text not in hidden]


def labels_beyond_limits(figure):
    """Labels of ticks that Matplotlib makes and does not draw."""
    for ax in figure.findobj(Axes):
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    yield from (tick.label1, tick.label2)


# Each takes ``ax`` or ``axes`` as a keyword argument.
PICTURES = {
    "attention_heatmap": lambda **kwargs: plotting.attention_heatmap(
        SOFTMAX_WEIGHTS, SOURCE, SOFTMAX, fertility=FERTILITY, title="softmax", **kwargs
    ),
    "attention_heatmaps_side_by_side": lambda **kwargs: plotting.attention_heatmaps_side_by_side(
        (SOFTMAX_WEIGHTS, CSPARSEMAX_WEIGHTS), SOURCE, (SOFTMAX, CSPARSEMAX), **kwargs
    ),
    "plot_differences": lambda **kwargs: plotting.plot_differences(
        ["softmax", "csparsemax", "sparsemax"],
        [[0, 0.34, -0.2], [0, -0.7, 0.1]],
        [[np.nan, 0.1, -0.6], [np.nan, -0.9, -0.2]],
        [[np.nan, 0.6, 0.3], [np.nan, -0.5, 0.4]],
        labels=["BLEU (higher is better)", "REP (lower is better)"],
        baseline="softmax",
        significant=[[False, True, False], [False, True, False]],
        **kwargs,
    ),
    "simplex": lambda **kwargs: plotting.simplex(
        sparsemax(SCORES), scores=SCORES, regions=True, **kwargs
    ),
    "simplex_figure1": plotting.simplex_figure1,
    "transformation_curves": plotting.transformation_curves,
}
