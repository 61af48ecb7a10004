"""Alignment grid: links, marks, and labels that do not overlap."""

from itertools import pairwise

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.plotting import alignment_grid

SOURCE = ["überlassen", "sie", "das", "ruhig", "uns", "."]
REFERENCE = ["leave", "that", "up", "to", "us", "."]
HYPOTHESIS = ["give", "us", "a", "silence", "."]
TO_REFERENCE = [(0, 0), (2, 1), (3, 2), (4, 4), (5, 5)]
TO_HYPOTHESIS = [(3, 3), (4, 1), (5, 4)]


def by_gid(ax, gid):
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


class TestAlignmentGrid:
    def test_links_of_both_sides_are_filled_cells(self):
        ax = alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, TO_REFERENCE, TO_HYPOTHESIS)
        cells = np.asarray(ax.images[0].get_array())
        assert {(i, j) for i, j in np.argwhere(cells == 1)} == set(TO_REFERENCE)
        shift = len(REFERENCE) + 1
        assert {(i, j - shift) for i, j in np.argwhere(cells == 2)} == set(TO_HYPOTHESIS)
        assert [t.get_text() for t in ax.get_xticklabels()] == [*REFERENCE, "", *HYPOTHESIS]
        titles = {text.get_text(): text.xy for text in ax.texts}
        assert titles == {"reference": (2.5, -0.5), "hypothesis": (9, -0.5)}, "in the middle"

    def test_dropped_rows_are_those_linked_to_the_reference_only(self):
        ax = alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, TO_REFERENCE, TO_HYPOTHESIS)
        assert [patch.get_y() for patch in by_gid(ax, "dropped")] == [-0.5, 1.5]
        bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
        assert bold == ["überlassen", "das"]
        (meaning,) = ax.get_legend().get_texts()
        assert meaning.get_text() == "dropped: linked to the reference only"

    def test_without_dropped_words_nothing_is_marked(self):
        ax = alignment_grid(["a"], ["b"], ["c"], [(0, 0)], [(0, 0)])
        assert not by_gid(ax, "dropped")
        assert ax.get_legend() is None

    def test_empty_sides_are_drawn(self):
        ax = alignment_grid(SOURCE, REFERENCE, [], TO_REFERENCE, [])
        runs = [(patch.get_y(), patch.get_height()) for patch in by_gid(ax, "dropped")]
        assert runs == [(-0.5, 1), (1.5, 4)], "'sie' has no link to the reference either"

    def test_labels_of_long_sentences_do_not_overlap(self):
        words = [f"Wort{i}" for i in range(100)]
        ax = alignment_grid(words, words, words, [], [])
        assert [t.get_text() for t in ax.get_xticklabels()] == [*words, "", *words]
        assert ax.get_xlabel() == ""
        ax.figure.canvas.draw()
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(boxes))

    def test_the_axis_says_how_many_words_are_labelled(self):
        words = [f"Wort{i}" for i in range(200)]
        ax = alignment_grid(words, words, words, [], [])
        shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
        assert ax.get_xlabel() == f"{len(shown)} of 400 words are labelled"

    @pytest.mark.parametrize("link", [(6, 0), (0, 6), (-1, 0)])
    def test_links_out_of_range_are_refused(self, link):
        for name, links in (
            ("reference", ([link], TO_HYPOTHESIS)), ("hypothesis", (TO_REFERENCE, [link])),
        ):  # fmt: skip
            with pytest.raises(DataError, match=f"of the {name} is out of range"):
                alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, *links)
