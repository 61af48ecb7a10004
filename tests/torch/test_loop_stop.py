"""A tiny random model that loops, and the criterion that stops it."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from coverage_eval.metrics.loops import LoopStop  # noqa: E402

PROMPT = [[5, 6, 7, 8, 5, 6, 7, 8]]


@pytest.fixture(scope="module")
def model() -> Any:
    """A decoder with random weights, which soon says the same again and again.

    It does not know positions, so that it cannot get out of a loop by chance.
    """
    torch.manual_seed(5)
    config = transformers.GPT2Config(
        vocab_size=40, n_positions=512, n_embd=16, n_layer=1, n_head=2, bos_token_id=0,
        eos_token_id=None, pad_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    made = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        made.transformer.wpe.weight.zero_()
    return made


def generate(model: Any, prompt: list[list[int]], criterion: LoopStop | None, **more: Any) -> Any:
    ids = torch.tensor(prompt)
    criteria = None if criterion is None else [criterion]
    return model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=200, stopping_criteria=criteria,
        pad_token_id=0, **{"do_sample": False, **more},
    )  # fmt: skip


def test_generation_ends_where_the_output_loops(model):
    criterion = LoopStop()
    written = generate(model, PROMPT, criterion)[0, 8:].tolist()
    (loop,) = criterion.loops
    assert loop is not None
    assert len(written) == loop.end < 200
    whole = generate(model, PROMPT, None)[0, 8:].tolist()
    assert len(whole) == 200
    assert whole[: loop.end] == written
    looped = whole[loop.start :]
    assert looped == (looped[: loop.period] * 200)[: len(looped)]  # it would never have stopped


def test_each_row_has_its_own_loop_and_the_prompt_does_not_count(model):
    criterion = LoopStop(min_repeated=6)
    generate(model, [*PROMPT, [1, 2, 3, 4, 5, 6, 7, 9]], criterion)
    alone = []
    for prompt in (PROMPT, [[1, 2, 3, 4, 5, 6, 7, 9]]):
        single = LoopStop(min_repeated=6)
        generate(model, prompt, single)
        alone.append(single.loops[0])
    assert all(loop is not None and loop.start >= 0 for loop in alone)
    assert [loop and (loop.period, loop.start) for loop in criterion.loops] == [
        loop and (loop.period, loop.start) for loop in alone
    ]


def test_beams_that_change_places_are_read_again(model):
    criterion = LoopStop(min_repeated=10_000)
    generate(model, PROMPT, criterion, num_beams=3)
    assert criterion.loops
    assert not any(criterion.loops)
    stopped = generate(model, PROMPT, LoopStop(), num_beams=3)
    assert stopped.shape[1] < 208


def test_numbers_are_numbers_with_a_tokeniser():
    class Words:
        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return [("item", ",")[n] if n < 2 else str(n) for n in ids]

    def first_stop(criterion: LoopStop) -> int | None:
        ids = [9] + [token for n in range(2, 90) for token in (0, n, 1)]
        for end in range(2, len(ids) + 1):
            if criterion(torch.tensor([ids[:end]])).tolist() == [True]:
                return end
        return None

    assert first_stop(LoopStop(Words(), near=False)) is None
    assert (
        first_stop(LoopStop(Words())) == 1 + 3 + 24 * 3
    )  # 48 tokens are repeated, two in each copy


def test_wrong_settings_are_refused_at_once():
    with pytest.raises(ValueError, match="min_count"):
        LoopStop(min_count=1)
