"""The files of a translation: unknown pieces are replaced, and the files are read back."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

from coverage_eval.attention_maps import load
from coverage_eval.papers.reproduction.bitext import (
    END,
    UNKNOWN_ID,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.decoding import (
    Translation,
    best_texts,
    read_best,
    translate,
    write_attention,
    write_nbest,
)
from coverage_eval.papers.reproduction.run_folder import PRESETS
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK

SOURCE, TARGET = Vocabulary([SINK, *"abc"]), Vocabulary("xy")
TEXT = PieceText([(*"abca", SINK), ("c", SINK), (*"bb", SINK), (SINK,)], [()] * 4)


def _translated() -> list[list[Translation]]:
    """Translations by a random model that often chooses the unknown piece."""
    torch.manual_seed(3)
    preset = replace(PRESETS["tiny"], embedding=6, hidden=8, initial=0.9)
    model = Translator(preset, Attention(), len(SOURCE), len(TARGET)).eval()
    with torch.no_grad():
        model.output.bias[UNKNOWN_ID] += 2.0
        model.output.bias[END] += 1.0
    batches = make_minibatches(TEXT, SOURCE, TARGET, None, size=2)
    return translate(model, TEXT, batches, TARGET, beam=3)


def test_an_unknown_piece_becomes_the_source_piece_with_the_most_attention():
    unknown = 0
    for source, found in zip(TEXT.sources, _translated(), strict=True):
        words = source[:-1]
        for item in found:
            assert len(item.pieces) == len(item.hypothesis.numbers)
            for place, number in enumerate(item.hypothesis.numbers):
                if number == UNKNOWN_ID and words:
                    row = item.hypothesis.attention[place].tolist()[: len(words)]
                    assert item.pieces[place] == words[row.index(max(row))]
                    unknown += 1
                else:
                    assert item.pieces[place] == TARGET.pieces[number]
    assert unknown > 10


def test_chosen_hypotheses_are_read_back_from_the_files(tmp_path):
    lists = _translated()
    write_nbest(tmp_path, "test", lists)
    chosen = read_best(tmp_path, TARGET)
    assert [tuple(numbers) for numbers, _ in chosen] == [
        found[0].hypothesis.numbers for found in lists
    ]
    assert [log for _, log in chosen] == pytest.approx(
        [found[0].hypothesis.log_probability for found in lists], abs=1e-6
    )
    write_attention(tmp_path / "test.attention.npz", TEXT, lists)
    for item, found, text in zip(
        load(tmp_path / "test.attention.npz"), lists, best_texts(lists), strict=True
    ):
        assert item.hypothesis == (*found[0].pieces, "</s>")
        assert " ".join(item.hypothesis[:-1]) == text
