"""Pickles of other toolkits, read through an allow-list: NumPy arrays and plain containers.

A pickle is a program. Here it gets none of Python's or NumPy's own functions: the few names that a
pickled array mentions lead to stand-ins of this module, which take numbers out of bytes and can do
nothing else; any other name is refused before it is looked up. The interpreter is the one written
in Python, because the C one allocates whatever memory a forged index asks for.
"""

from __future__ import annotations

import io
import math
import pickle
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError

__all__ = ["unpickle_arrays"]

_KINDS = frozenset("biuf")
_LARGEST = 10**12  # elements, more than any file here can hold

# Where releases of NumPy and Python 2's and 3's pickle say that an array's parts are.
_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
_NUMERIC_MODULES = ("numpy.core.numeric", "numpy._core.numeric")


def unpickle_arrays(data: bytes, where: str) -> Any:
    """The plain containers, numbers, texts and NumPy arrays of a pickle.

    Args:
        data: A pickle of any protocol, by Python 2 or 3 (Python 2's strings are read as Latin-1).
        where: The file, for messages.

    Returns:
        Nested dict, list, tuple, set, str, bytes, numbers, and arrays of booleans or numbers.

    Raises:
        DataError: Damaged, or with anything else in it; nothing of it was executed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's on odd escapes in damaged strings
            value = _ArrayUnpickler(io.BytesIO(data)).load()
        return _plain(value, frozenset())
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    except Exception as error:  # a forged pickle can make the interpreter fail in any way
        reason = str(error).replace("\n", " ")[:200] or type(error).__name__
        raise DataError(f"{where}: damaged pickle ({reason!a})") from error


class _Dtype:
    """Stand-in for ``numpy.dtype``: kind, size and byte order, of numbers only."""

    __slots__ = ("code", "order")

    def __init__(self, code: object, *_: object) -> None:
        text = code.decode("ascii") if isinstance(code, bytes) else code
        if not (isinstance(text, str) and len(text) <= 4 and text[:1] in _KINDS):
            raise DataError(f"holds a NumPy array of type {code!a}; only numbers are read")
        self.code = text
        self.order = "="

    def __setstate__(self, state: object) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else None
        text = order.decode("ascii") if isinstance(order, bytes) else order
        if text not in {"<", ">", "|", "="}:
            raise DataError("holds a NumPy array of unknown byte order")
        self.order = str(text)

    def real(self) -> np.dtype[Any]:
        """The dtype itself."""
        return np.dtype(("" if self.order == "|" else self.order) + self.code)


class _Array:
    """Stand-in for ``numpy.ndarray``, filled by the pickle's BUILD."""

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array: NDArray[Any] | None = None

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) not in {4, 5}:
            raise DataError("holds a NumPy array of unknown form")
        shape, dtype, fortran, content = state[-4:]
        self.array = _array_of(content, dtype, shape, "F" if fortran else "C")


class _Callable:
    """What a pickle may call, by name; without a dictionary, so that BUILD cannot change it."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise DataError("tries to change what it may call")

    def __call__(self, *arguments: Any) -> Any:
        return _FUNCTIONS[self.name](*arguments)


def _array_of(content: object, dtype: object, shape: object, order: str) -> NDArray[Any]:
    """An array from its bytes, checked before anything is made of them."""
    if isinstance(content, str):
        content = content.encode("latin1")
    if isinstance(content, pickle.PickleBuffer):
        content = content.raw().tobytes()
    if not isinstance(dtype, _Dtype) or not isinstance(content, bytes | bytearray):
        raise DataError("holds a NumPy array of Python objects; only numbers are read")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise DataError("holds a NumPy array of impossible shape")
    real = dtype.real()
    if math.prod(shape) > _LARGEST or math.prod(shape) * real.itemsize != len(content):
        raise DataError("holds a NumPy array whose bytes do not fit its shape")
    if order not in {"C", "F"}:
        raise DataError("holds a NumPy array of unknown order")
    flat = np.frombuffer(bytes(content), dtype=real)
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _reconstruct(subtype: object, *_: object) -> _Array:
    if not (isinstance(subtype, _Callable) and subtype.name == "ndarray"):
        raise DataError("holds a subclass of NumPy's array")
    return _Array()


def _ndarray(*_: object) -> _Array:
    raise DataError("holds a NumPy array of unknown form")


def _scalar(dtype: object, content: object) -> Any:
    return _array_of(content, dtype, (), "C").item()


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """How Python 3 writes bytes in protocol 2."""
    if encoding not in {"latin1", "latin-1"}:
        raise DataError("holds bytes in an unknown encoding")
    return text.encode("latin1")


def _bytes(*arguments: object) -> bytes:
    """How Python 3 writes empty bytes in protocol 2."""
    if arguments:
        raise DataError("holds bytes in an unknown form")
    return b""


def _frombuffer(content: object, dtype: object, shape: object, order: object) -> NDArray[Any]:
    """How NumPy writes a contiguous array in protocol 5."""
    return _array_of(content, dtype, shape, str(order))


def _ordered(items: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict(items)


_FUNCTIONS: dict[str, Any] = {
    "reconstruct": _reconstruct,
    "ndarray": _ndarray,
    "dtype": _Dtype,
    "scalar": _scalar,
    "encode": _encode,
    "bytes": _bytes,
    "frombuffer": _frombuffer,
    "OrderedDict": _ordered,
}

_ALLOWED = {
    **{(module, "_reconstruct"): "reconstruct" for module in _ARRAY_MODULES},
    **{(module, "scalar"): "scalar" for module in _ARRAY_MODULES},
    **{(module, "_frombuffer"): "frombuffer" for module in _NUMERIC_MODULES},
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("__builtin__", "bytes"): "bytes",
    ("builtins", "bytes"): "bytes",
    ("collections", "OrderedDict"): "OrderedDict",
}


class _ArrayUnpickler(pickle._Unpickler):  # type: ignore[misc,name-defined,unused-ignore]
    """Python's own unpickler, with names led to the stand-ins above."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, encoding="latin1")

    def find_class(self, module: str, name: str) -> _Callable:
        """The stand-in of an allowed name; extension codes come here too."""
        allowed = _ALLOWED.get((module, name))
        if allowed is None:
            raise DataError(
                f"refused: the pickle asks for {f'{module}.{name}'[:80]!a}; only NumPy arrays of "
                "numbers and plain containers are read, and nothing was executed"
            )
        return _Callable(allowed)

    def persistent_load(self, pid: object) -> Any:  # noqa: ARG002
        """References to outside of the pickle are refused."""
        raise DataError("refused: the pickle refers to objects outside of it")


def _plain(value: Any, above: frozenset[int]) -> Any:
    """Replace stand-ins by arrays; refuse whatever is no array, container, text or number."""
    if isinstance(value, _Array):
        if value.array is None:
            raise DataError("holds a NumPy array without content")
        return value.array
    if value is None or isinstance(value, bool | int | float | str | bytes | np.ndarray):
        return value
    if id(value) in above:
        raise DataError("holds a container that contains itself")
    inside = above | {id(value)}
    if isinstance(value, dict):
        return {_key(k): _plain(v, inside) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_plain(item, inside) for item in value)
    raise DataError(f"holds a {type(value).__name__}; only arrays and plain containers are read")


def _key(value: Any) -> Any:
    if isinstance(value, str | int | float | bytes | bool | type(None)):
        return value
    raise DataError("holds a dictionary with keys that are no text")
