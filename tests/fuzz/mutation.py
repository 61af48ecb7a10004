"""Random but repeatable damage to files."""

from __future__ import annotations

import random
from collections.abc import Sequence

__all__ = ["mutate"]

# Strings that are known to trip parsers.
_TOKENS = (
    b"", b"\n", b"\r\n", b"\t", b" ", b"|||", b" ||| ", b"<eps>", b"</s>", b"0-0", b"-1", b"1e309",
    b"nan", b"inf", b"-0", b"99999999999999999999", b"4294967296", b"[", b"]", b"{", b"}", b'"',
    b",", b":", b"null", b"\x00", b"\x1b[31m", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff",
    b"\xed\xa0\x80", b"\\ud800", b"\x80\x04", b"PK\x03\x04", b"\x1f\x8b", b"\x93NUMPY",
    b"@@", b"\xe2\x96\x81",
)  # fmt: skip


def mutate(data: bytes, generator: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """A damaged copy.

    Args:
        data: The file to damage.
        generator: The source of randomness.
        others: Files from which pieces may be inserted.
    """
    damaged = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 3, 8))):
        _damage(damaged, generator, others)
    return bytes(damaged)


def _damage(data: bytearray, generator: random.Random, others: Sequence[bytes]) -> None:
    start = generator.randint(0, len(data))
    end = min(len(data), start + generator.choice((1, 1, 2, 4, 16, 64, 1024)))
    kind = generator.randrange(7)
    if kind == 0 and start < len(data):
        data[start] ^= 1 << generator.randrange(8)
    elif kind == 1:
        del data[start:end]
    elif kind == 2:
        data[start:start] = generator.choice(_TOKENS)
    elif kind == 3:
        data[start:end] = generator.choice(_TOKENS)
    elif kind == 4:
        data[start:start] = data[start:end] * generator.choice((1, 2, 8, 64, 1024))
    elif kind == 5:
        data[start:end] = generator.randbytes(end - start)
    elif others:
        other = generator.choice(others)
        begin = generator.randint(0, len(other))
        data[start:end] = other[begin : begin + generator.choice((1, 8, 64, 1024))]
