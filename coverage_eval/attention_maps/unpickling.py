"""Pickles of other toolkits, read through an allow-list: NumPy arrays and plain containers.

A pickle is a program that calls the functions it names. Here, the few names that a pickled array
needs only record the call, and the arrays are built from the records when the program has ended.
Any other name is refused before it is looked up. NumPy's own functions are never called: their
arguments could ask for any amount of memory, or pass bytes off as pointers. The unpickler is the
standard library's pure Python one, because the C version allocates whatever a forged index asks
for.

The size of a pickle limits the number of steps and of array cells. The depth of nested containers
has a fixed limit.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import struct
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError

# The names that pickled arrays use, in all releases of NumPy and in Python 2 and 3.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
    ("__builtin__", "bytes"),
    ("builtins", "bytes"),
    ("collections", "OrderedDict"),
}


_FREE_STEPS = 100_000
_BYTES_A_STEP = 2
"""An array takes about 23 steps and 32 bytes besides its cells; words use the free steps."""

_FREE_CELLS = 1_000_000
_CELLS_A_BYTE = 4
"""An array has at least one byte per cell, but a pickle can name an array several times."""

_DEEPEST = 100


def unpickle_arrays(data: bytes, where: str) -> Any:
    """Read the plain containers, numbers, strings and NumPy arrays of a pickle.

    Args:
        data: A pickle of any protocol, by Python 2 or 3 (Python 2's strings are read as Latin-1).
        where: The file, for messages.

    Returns:
        Nested dict, list, tuple, str, bytes, numbers, and arrays of booleans or numbers.

    Raises:
        DataError: It is damaged, holds anything else, or is far too costly for its size. Nothing
            was executed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd escapes in damaged strings
            value = _ArrayUnpickler(io.BytesIO(data), encoding="latin1").load_within(
                _FREE_STEPS + len(data) // _BYTES_A_STEP
            )
        return _Maker(_FREE_CELLS + _CELLS_A_BYTE * len(data)).plain(value)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    except Exception as error:  # a forged pickle can make the unpickler fail in any way
        reason = str(error).replace("\n", " ")[:200] or type(error).__name__
        raise DataError(f"{where}: damaged pickle ({reason!a})") from error


@dataclass(slots=True, eq=False)
class _Noted:
    """An allowed name, or a recorded call of it with the state that the pickle sets."""

    name: str
    arguments: tuple[Any, ...] | None = None
    state: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self.name == "OrderedDict" and not arguments:
            return {}
        return _Noted(self.name, arguments)

    def __setstate__(self, state: Any) -> None:
        if self.arguments is None:
            raise DataError("tries to change what it may call")
        self.state = state


_BEGUN = object()


class _Maker:
    """Builds arrays from recorded calls; refuses all but arrays, containers, strings and numbers.

    A few nested lists can refer to one part many times, so each part is built only once: ``_done``
    maps the identity of a recorded value to what was built from it.

    Args:
        cells: The most cells of all arrays; an array counts each time that it is referred to.
    """

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._done: dict[int, Any] = {}
        self._depth = 0

    def plain(self, value: Any) -> Any:
        """The value that a part of the pickle describes."""
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if id(value) not in self._done:
            self._done[id(value)] = _BEGUN
            self._done[id(value)] = self._made(value)
        made = self._done[id(value)]
        if made is _BEGUN:
            raise DataError("holds a container that contains itself")
        if isinstance(made, np.ndarray):
            self._cells -= made.size
            if self._cells < 0:
                raise DataError("names its arrays so often that they would fill the memory")
        return made

    def _made(self, value: Any) -> Any:
        """The container, array, number or bytes that a value of the pickle describes."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DataError(f"holds containers more than {_DEEPEST} deep in each other")
        made: Any
        if isinstance(value, dict):
            made = {key: self.plain(item) for key, item in value.items()}
        elif isinstance(value, list | tuple):
            made = type(value)(self.plain(item) for item in value)
        elif isinstance(value, _Noted):
            made = self._called(value)
        else:
            kind = type(value).__name__
            raise DataError(f"holds a {kind}; only arrays and plain containers are read")
        self._depth -= 1
        return made

    def _called(self, noted: _Noted) -> Any:
        """The array, number or bytes that a recorded call makes."""
        match noted.name, noted.arguments, noted.state:
            case "_reconstruct", (_Noted("ndarray", None), *_), (*_, shape, dtype, turned, data):
                return _array(self.plain(data), dtype, shape, "F" if turned else "C")
            case "_frombuffer", (data, dtype, shape, ("C" | "F") as order), None:
                return _array(data, dtype, shape, order)
            case "scalar", (dtype, data), None:
                return _array(self.plain(data), dtype, (), "C").item()
            case "encode", (str() as text,) | (str() as text, "latin1" | "latin-1"), None:
                return text.encode("latin1")  # how Python 3 writes bytes in protocol 2
            case "bytes", (), None:
                return b""
        raise DataError(f"calls {noted.name} with arguments that no array of numbers needs")


def _array(content: object, dtype: object, shape: object, order: Literal["C", "F"]) -> NDArray[Any]:
    """An array from its bytes, after checking type, shape and size."""
    if isinstance(content, str):  # Python 2's
        content = content.encode("latin1")
    if not isinstance(content, bytes | bytearray):
        raise DataError("holds a NumPy array of Python objects; only numbers are read")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise DataError("holds a NumPy array of impossible shape")
    real = _dtype(dtype)
    if math.prod(shape) * real.itemsize != len(content):
        raise DataError("holds a NumPy array whose bytes do not fit its shape")
    return np.frombuffer(bytes(content), dtype=real).reshape(shape, order=order)


def _dtype(noted: object) -> np.dtype[Any]:
    """A numeric type, from its code and the byte order in its state."""
    match noted:
        case _Noted("dtype", (code, *_), (_, ("<" | ">" | "|" | "=") as byte_order, *_)):
            if isinstance(code, str) and re.fullmatch("[biuf][0-9]{1,2}", code):
                known: np.dtype[Any] = np.dtype(byte_order + code)
                return known
            raise DataError(f"holds a NumPy array of type {code!a}; only numbers are read")
    raise DataError("holds a NumPy array of unknown type; only numbers are read")


def _key_checked(load: Callable[[Any], None], keys: slice) -> Callable[[Any], None]:
    """Refuse keys other than strings and numbers before they are hashed.

    Nested tuples can take forever to hash, or overflow the stack.
    """

    def checked(unpickler: Any) -> None:
        for key in unpickler.stack[keys]:
            if not isinstance(key, str | int | float | bytes | None):
                raise DataError("holds a dictionary with keys other than strings and numbers")
        load(unpickler)

    return checked


def _counted(load: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make an opcode use up the step budget."""

    def counted(unpickler: Any) -> None:
        unpickler.steps -= 1
        if unpickler.steps < 0:
            raise DataError("holds more parts than arrays of its size need")
        load(unpickler)

    return counted


_Unpickler: Any = pickle._Unpickler  # type: ignore[attr-defined,unused-ignore]


class _ArrayUnpickler(_Unpickler):  # type: ignore[misc]
    """The standard library's Python unpickler, which only records calls of allowed names."""

    steps = 0

    def load_within(self, steps: int) -> Any:
        """Load the pickle in at most this many steps."""
        self.steps = steps
        return self.load()

    def find_class(self, module: str, name: str) -> _Noted:
        """Record an allowed name."""
        if (module, name) not in _ALLOWED:
            raise DataError(
                f"refused: the pickle asks for {f'{module}.{name}'[:80]!a}; only NumPy arrays of "
                "numbers and plain containers are read, and nothing was executed"
            )
        return _Noted(name)

    def persistent_load(self, pid: object) -> Any:  # noqa: ARG002
        """Refuse references to objects outside the pickle."""
        raise DataError("refused: the pickle refers to objects outside itself")

    get_extension = persistent_load  # a code for a name, which other unpicklers may have looked up

    def _load_set(self) -> None:
        raise DataError("holds a set; only arrays and plain containers are read")

    def _load_bytearray(self) -> None:
        """Read at most the bytes there are, whatever length a forged pickle states."""
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(min(size, sys.maxsize))))

    _checked: ClassVar = {
        pickle.SETITEM[0]: _key_checked(_Unpickler.load_setitem, slice(-2, -1)),
        pickle.SETITEMS[0]: _key_checked(_Unpickler.load_setitems, slice(0, None, 2)),
        pickle.DICT[0]: _key_checked(_Unpickler.load_dict, slice(0, None, 2)),
        pickle.EMPTY_SET[0]: _load_set,
        pickle.FROZENSET[0]: _load_set,
        pickle.BYTEARRAY8[0]: _load_bytearray,
    }
    dispatch: ClassVar = {
        code: _counted(load) for code, load in {**_Unpickler.dispatch, **_checked}.items()
    }
