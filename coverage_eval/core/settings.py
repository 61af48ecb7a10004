"""Fields of dataclasses that are options, too: their help and range stand beside their default."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def setting(default: Any, help: str, **metadata: Any) -> Any:  # noqa: A002 (click's word)
    """A field of a dataclass that is also an option of a command.

    Args:
        default: Its default value.
        help: The option's help.
        **metadata: ``flag`` (another name for the option), ``choices``, ``min`` and ``max``
            (of a number), ``is_output`` (whether it is the name of a file that is written), and
            further arguments of click's options.
    """
    return field(default=default, metadata={"help": help, **metadata})


def file_setting(help_text: str, **more: Any) -> Any:
    """A field for the name of a file that is read."""
    return setting(None, help_text, metavar="FILE", **more)


def files_setting(help_text: str, **more: Any) -> Any:
    """A field for such names, one each time the option is given."""
    return setting((), help_text, metavar="FILE", multiple=True, **more)


def output_file_setting(help_text: str, **more: Any) -> Any:
    """A field for the name of a file that is written."""
    return file_setting(help_text, is_output=True, **more)
