"""Characters that hide in a text, and how every format shows them.

They break rows, steer terminals or cannot be seen, so no output has them as they are. This is the
only list of them.
"""

from __future__ import annotations

from functools import cache

HIDDEN = (
    *(*range(0x20), *range(0x7F, 0xA0), 0xAD),  # C0 and C1, and the soft hyphen
    *(0x2028, 0x2029),  # some programs treat them as line ends
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # Bidi_Control
    *(0x180E, 0x200B, *range(0x2060, 0x2066), 0xFEFF),  # invisible
    *range(0xFFF9, 0xFFFC),  # annotations
    *range(0xD800, 0xE000),  # lone surrogates, which cannot be encoded
    *range(0xE0000, 0xE0080),  # invisible letters that a program may still read
)
"""Without U+200C and U+200D, which Persian, Hindi and emoji need."""


def spell_utf16(text: str) -> str:
    """Every character as JSON writes it, ``\\u202e``, and those above U+FFFF as two halves."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


@cache
def _controls() -> dict[int, str]:
    """How each hidden character is shown; made when the first one is met."""
    return {
        code: f"\\x{code:02x}" if code < 0x100 else ascii(chr(code)).strip("'") for code in HIDDEN
    }


@cache
def _csv_controls() -> dict[int, str]:
    return {code: text for code, text in _controls().items() if chr(code) not in "\t\n\r"}


@cache
def _json_controls() -> dict[int, str]:
    return {code: spell_utf16(chr(code)) for code in HIDDEN if code >= 0x7F}


def escape_controls(text: str) -> str:
    """Show hidden characters as ``\\x1b`` or ``\\u202e``."""
    return text if text.isprintable() else text.translate(_controls())


def escape_csv(text: str) -> str:
    """As :func:`escape_controls`, without the characters that CSV quotes."""
    return text if text.isprintable() else text.translate(_csv_controls())


def escape_json(text: str) -> str:
    """Escape hidden characters of a JSON text; they occur only in its strings."""
    return text if text.isprintable() else text.translate(_json_controls())
