"""Arrays are read from pickles, and nothing that a hostile pickle asks for is done."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention_maps import load
from coverage_eval.attention_maps.unpickling import unpickle_arrays
from coverage_eval.errors import DataError
from tests.attention_maps.writers import SAMPLES, python2_pickle, python2_pickle_protocol_0

ARRAYS = [s.weights.astype("<f4") for s in SAMPLES]


class Attack:
    """An object that is pickled as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


class Subclass(np.ndarray[Any, Any]):
    """A subclass of arrays, which is not read."""


@pytest.mark.parametrize(
    "content",
    [python2_pickle(ARRAYS, ARRAYS[:1]), python2_pickle_protocol_0(ARRAYS)],
    ids=["protocol 2", "protocol 0"],
)
def test_python_2_pickles(content):
    value = unpickle_arrays(content, "f")
    for array, expected in zip(value["pred"], ARRAYS, strict=True):
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, expected)
    # Python's own unpickler is the oracle; this content is our own, so it is safe.
    oracle = pickle.loads(content, encoding="latin1")
    np.testing.assert_array_equal(oracle["pred"][1], value["pred"][1])
    assert len(oracle["gold"]) == len(value["gold"])


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f8", "<i8", "?", "<f2"])
def test_python_3_pickles_of_any_protocol(protocol, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    value = {
        "pred": [array, array.T, array[:0], np.float32(0.5), array[:, ::2]],
        "gold": OrderedDict(a=(1, 2.5, None, True, "text", b"", b"bytes")),
    }
    loaded = unpickle_arrays(pickle.dumps(value, protocol=protocol), "f")
    for got, expected in zip(loaded["pred"], value["pred"], strict=True):
        np.testing.assert_array_equal(got, expected)
    assert loaded["gold"] == dict(value["gold"])


def test_an_array_may_occur_several_times():
    value = unpickle_arrays(pickle.dumps({"pred": [ARRAYS[0]] * 3}), "f")
    assert len(value["pred"]) == 3


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [os.system, subprocess.check_output, eval, exec])
def test_calls_are_refused_and_not_executed(function, protocol, tmp_path):
    proof = tmp_path / "executed"
    code = f"open({str(proof)!r}, 'w')" if function in {eval, exec} else f"touch {proof}"
    attack = Attack(function, code)
    hidden_in_array = np.empty(1, dtype=object)
    hidden_in_array[0] = attack
    for value in (attack, {"pred": [attack]}, {"pred": [hidden_in_array]}, [ARRAYS[0], attack]):
        with pytest.raises(DataError, match=r"refused.*nothing was executed|only numbers"):
            unpickle_arrays(pickle.dumps(value, protocol=protocol), "f")
    assert not proof.exists()


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_python_objects_in_files_of_numpy_are_refused_and_not_executed(ending, tmp_path):
    proof, path = tmp_path / "executed", tmp_path / f"maps.{ending}"
    array = np.array([[Attack(os.system, f"touch {proof}")]], dtype=object)
    if ending == "npy":
        np.save(path, array, allow_pickle=True)
    else:
        np.savez(path, array)
    with pytest.raises(DataError, match="Object arrays cannot be loaded"):
        load(path, sources=["a"], hypotheses=["x"])
    assert not proof.exists()


@pytest.mark.parametrize(
    "value",
    [
        np.array([{"a": 1}, None], dtype=object),
        np.array(["text"]),
        np.zeros(2, dtype=[("a", "f4"), ("b", "O")]),
        np.zeros((1, 1)).view(Subclass),
        np.ma.masked_array([1.0], mask=[True]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1j]),
        Path("x"),
        range(3),
        int,
        np.load,
        complex(1, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_arrays_of_numbers_and_plain_containers_are_read(value):
    with pytest.raises(DataError, match=r"^f: "):
        unpickle_arrays(pickle.dumps({"pred": [value]}), "f")


def test_forged_states_of_arrays_are_refused():
    content = python2_pickle(ARRAYS[:1], [])
    rows = len(ARRAYS[0])
    assert content.count(b"K" + bytes([rows])) == 1
    for part, forged, message in (
        (b"K" + bytes([rows]), b"K" + bytes([rows + 1]), "bytes do not fit its shape"),
        (b"K" + bytes([rows]), b"J\xff\xff\xff\xff", "impossible shape"),  # −1
        (b"U\x02f4", b"U\x02O8", "type 'O8'"),  # bytes taken for pointers
        (b"U\x02f4", b"U\x02V4", "type 'V4'"),
        (b"U\x01<", b"U\x01!", "unknown type"),
        (b"_reconstruct", b"_reconstrukt", "refused"),
    ):
        with pytest.raises(DataError, match=message):
            unpickle_arrays(content.replace(part, forged), "f")


def test_a_pickle_cannot_change_which_functions_it_may_call():
    attributes, slots = b"}U\x04nameU\x04evalsb.", b"N}U\x04nameU\x04evals\x86b."
    for state in (attributes, slots):
        with pytest.raises(DataError, match="tries to change"):
            unpickle_arrays(b"\x80\x02cnumpy.core.multiarray\nscalar\n" + state, "f")


def test_a_forged_memo_index_takes_no_memory():
    """Python's C unpickler would allocate 16 GB for it."""
    assert unpickle_arrays(b"\x80\x02Nr\xff\xff\xff\x7f.", "f") is None


def test_a_forged_length_of_a_bytearray_takes_no_memory():
    """Python's unpicklers allocate the stated number of bytes before they read any."""
    forged = b"\x80\x05\x96" + (1 << 62).to_bytes(8, "little") + b"x."
    with pytest.raises(DataError, match="damaged pickle"):
        unpickle_arrays(forged, "f")


def test_a_part_that_is_referred_to_twice_is_built_once():
    """Sixty lists hold the previous one twice: 2⁶⁰ lists if each reference were built anew."""
    doubled = b"".join(b"](h%ch%ceq%c" % (number, number, number + 1) for number in range(1, 61))
    value = unpickle_arrays(b"\x80\x02]q\x01" + doubled + b".", "f")
    for _ in range(60):
        assert value[0] is value[1]
        value = value[0]
    assert value == []


DEEP = b")" + b"\x85" * 150_000  # (((((…),),),),): hashing it overflows the stack


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        (b"\x80\x02}" + DEEP + b"Ns.", "keys other than strings"),
        (b"\x80\x02}(" + DEEP + b"Nu.", "keys other than strings"),
        (b"\x80\x02(" + DEEP + b"Nd.", "keys other than strings"),
        (b"\x80\x04\x8f(" + DEEP + b"\x90.", "holds a set"),
        (b"\x80\x04(" + DEEP + b"\x91.", "holds a set"),
        (b"\x80\x02ccollections\nOrderedDict\n]" + DEEP + b"K\x01\x86a\x85R.", "calls OrderedDict"),
    ],
    ids=["item", "items", "dict", "set", "frozenset", "call"],
)
def test_keys_are_refused_before_they_are_hashed(forged, message):
    with pytest.raises(DataError, match=message):
        unpickle_arrays(forged, "f")


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        (b"\x80\x02)" + b"\x85" * 90_000 + b".", "more than 100 deep"),
        (b"\x80\x02" + b"]" * 40_000 + b"a" * 39_999 + b".", "more than 100 deep"),
        (b"\x80\x02(" + b"}" * 300_000 + b"t.", "more parts than arrays"),
        (b"\x80\x02N" + b"20" * 300_000 + b".", "more parts than arrays"),
        (pickle.dumps([np.zeros(1000)] * 9000), "names its arrays so often"),
    ],
    ids=["deep tuples", "deep lists", "dictionaries", "steps without parts", "one array"],
)
def test_the_cost_of_a_pickle_is_limited_by_its_size(forged, message):
    with pytest.raises(DataError, match=f"^f: .*{message}"):
        unpickle_arrays(forged, "f")


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_many_small_arrays_are_within_the_limits(protocol):
    """In arrays this small, the cells are the smallest part of the pickle."""
    value = [np.ones((1, 2), dtype="<f4") for _ in range(8000)]
    assert len(unpickle_arrays(pickle.dumps(value, protocol=protocol), "f")) == 8000


@pytest.mark.parametrize("value", [[], (), {}, b"text", 1.5, None])
def test_plain_values_cannot_be_given_a_state(value):
    content = pickle.dumps(value, protocol=2)[:-1] + b"}U\x01xK\x01sb."
    with pytest.raises(DataError, match=r"damaged pickle|calls encode"):
        unpickle_arrays(content, "f")


def test_a_container_that_contains_itself_is_refused():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(DataError, match="contains itself"):
        unpickle_arrays(pickle.dumps(value), "f")


def test_persistent_references_and_extensions_are_refused():
    class Persistent(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return "outside" if obj == "x" else None

    file = io.BytesIO()
    Persistent(file).dump(["x"])
    for content in (file.getvalue(), b"\x80\x02\x82\x01."):
        with pytest.raises(DataError, match="outside"):
            unpickle_arrays(content, "f")


VALID = (
    python2_pickle(ARRAYS, []),
    pickle.dumps({"pred": ARRAYS}),
    python2_pickle_protocol_0(ARRAYS),
)


def outcome(content: bytes) -> str:
    """The message of the DataError for a pickle, or an empty string; other exceptions are bugs."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            unpickle_arrays(content, "f")
        except DataError as error:
            return str(error)
        return ""


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_pickles_give_one_line_errors(data):
    content = bytearray(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    assert "\n" not in outcome(bytes(content))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_give_one_line_errors(content):
    assert "\n" not in outcome(b"\x80\x02" + content)
