"""Every loader reads a file or says in one line why it cannot, whatever bytes the file has."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coverage_eval.attention_maps import FORMATS, load
from coverage_eval.core.errors import CorpusWarning, DataError
from tests.attention_maps.writers import CASES, SAMPLES

HEADS = np.full((2, 3, 2, 2), 0.5)  # [layers, heads, T, S]
NPZ = io.BytesIO()
np.savez(NPZ, HEADS, HEADS[0])
FILES = {name: case.write(SAMPLES) for name, case in CASES.items()} | {
    "heads in arrays": NPZ.getvalue(),
    "heads in JSON": json.dumps(HEADS.tolist()).encode(),
}
SOURCES = [" ".join(s.source) for s in SAMPLES]
HYPOTHESES = [" ".join(s.hypothesis) for s in SAMPLES]

pytestmark = pytest.mark.filterwarnings(f"ignore::{CorpusWarning.__module__}.CorpusWarning")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data, tmp_path):
    name = data.draw(st.sampled_from(sorted(FILES)))
    content = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, max(len(content) - 1, 0)))
        piece = data.draw(
            st.binary(max_size=4)
            | st.sampled_from(
                [b"\n", b"\t", b" ", b" ||| ", b"-1", b"9" * 12, b"[", b"\xe2\x80\xa8"]
            )
        )
        content[start : start + data.draw(st.integers(0, 30))] = piece
    path = tmp_path / "dump"
    path.write_bytes(bytes(content))
    number = st.none() | st.integers(-4, 4)
    chosen = {"layer": data.draw(number), "head": data.draw(number | st.just("mean"))}
    for input_format in (None, data.draw(st.sampled_from(sorted(FORMATS)))):
        texts = {"sources": SOURCES, "hypotheses": HYPOTHESES} if data.draw(st.booleans()) else {}
        try:
            load(path, input_format=input_format, **texts, **chosen)
        except DataError as error:
            message = str(error)
            assert message.isprintable(), repr(message)
            assert path.name in message
            assert len(message) < 600
