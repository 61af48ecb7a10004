from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.dataset import BLOCK_ROWS, MOST_BLOCKS, Row, Sampler
from coverage_eval.data.sample import Sample, SampledText


def expected_rows(number: int) -> list[int]:
    """All blocks whose number is a multiple of the least power of two that keeps few enough."""
    blocks = -(-number // BLOCK_ROWS)
    stride = 1
    while -(-blocks // stride) > MOST_BLOCKS:
        stride *= 2
    return [row for row in range(number) if row // BLOCK_ROWS % stride == 0]


@given(st.integers(0, 30_000))
def test_blocks_are_spread_over_the_whole_stream(number: int) -> None:
    sampler: Sampler[int] = Sampler()
    assert list(sampler.watch(iter(range(number)))) == list(range(number))
    assert sampler.rows == expected_rows(number)
    assert len(sampler.rows) <= BLOCK_ROWS * MOST_BLOCKS
    assert [sampler.rows[block] + 1 for block in sampler.blocks] == sampler.lines


def test_rows_pass_one_at_a_time() -> None:
    seen = []

    def stream() -> object:
        for row in range(3):
            seen.append(row)
            yield row

    watched = Sampler[int]().watch(stream())  # type: ignore[arg-type]
    assert next(watched) == 0
    assert seen == [0]


def test_never_holds_more_than_its_limit() -> None:
    sampler: Sampler[int] = Sampler()
    most = max(len(sampler.rows) for _ in sampler.watch(range(12_000)))
    assert most == BLOCK_ROWS * MOST_BLOCKS


def test_a_sample_knows_the_lines_of_its_rows() -> None:
    sampler: Sampler[list[str]] = Sampler()
    for _ in sampler.watch([[str(number)] for number in range(1, 5001)]):
        pass
    sample = Sample([SampledText("hyp", sampler.rows)], blocks=sampler.blocks, lines=sampler.lines)
    for row in (0, 49, 50, 777, len(sampler.rows) - 1):
        assert sample.line(row) == int(sampler.rows[row][0])


def test_pieces_do_not_cross_blocks() -> None:
    rows = [["a"]] * 130
    sample = Sample([SampledText("hyp", rows)], blocks=[0, 30, 40])
    assert sample.pieces == [range(30), range(40, 90), range(90, 130)]


def test_rows_become_named_texts() -> None:
    sampler: Sampler[Row] = Sampler()
    rows = [Row(("a b", "c"), ("",), "x\ty"), Row(("", "d"), ("e ",), "z")]
    assert list(sampler.watch(rows)) == rows
    sample = Sample.from_rows(
        sampler, hypotheses=["h", "i"], references=["r"], source="s", source_tokens=list
    )
    assert [(text.name, text.rows) for text in sample.texts] == [
        ("h", [["a", "b"], []]),
        ("i", [["c"], ["d"]]),
        ("r", [[], ["e"]]),
        ("s", [["x", "\t", "y"], ["z"]]),
    ]
    assert [len(sample.hypotheses), len(sample.references)] == [2, 1]
    assert sample.source is sample.texts[-1]
    assert (sample.blocks, sample.lines) == ([0], [1])
