"""``python -m fast_align_wrapper which`` prints the folder of fast_align and atools."""

from __future__ import annotations

import sys

from fast_align_wrapper.errors import AlignerError
from fast_align_wrapper.process import bundled_folder


def main(arguments: list[str]) -> int:
    """Run the command; the result is the exit status."""
    if arguments != ["which"]:
        sys.stderr.write("usage: python -m fast_align_wrapper which\n")
        return 2
    try:
        sys.stdout.write(f"{bundled_folder()}\n")
    except AlignerError as error:
        sys.stderr.write(f"fast_align_wrapper: error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
