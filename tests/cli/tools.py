"""What tests of several commands use: a list of all commands, texts of the grammar, a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import click

from coverage_eval.cli import cli
from tests.conftest import COMMAND
from tests.grammar import generate


def _walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            if not found.hidden:  # an old name, kept for one version; its help has the new one
                yield from _walk(found, f"{path} {name}")


ALL_COMMANDS = dict(_walk(cli, "coverage-eval"))
"""Every command and group by its full name, such as ``coverage-eval align train``."""


def write_grammar(folder: Path, training: int, test: int) -> list[str]:
    """Write ``train.source``, ``train.target``, ``test.source`` and ``test.target``.

    Returns:
        The target side of the test set.
    """
    for name, pairs in (("train", generate(training, seed=1)), ("test", generate(test, seed=2))):
        for side in ("source", "target"):
            lines = [" ".join(getattr(pair, side)) for pair in pairs]
            (folder / f"{name}.{side}").write_text("".join(f"{line}\n" for line in lines))
    return lines


def on_a_terminal(
    *arguments: object, cwd: Path, columns: int = 100, stream: str = "stdout", **environment: str
) -> tuple[str, str]:
    """Run the installed command with one of its output streams connected to a terminal.

    Returns:
        What the terminal shows, and the other stream's text.
    """
    other = "stderr" if stream == "stdout" else "stdout"
    with TemporaryFile() as file:
        line = [str(COMMAND), *map(str, arguments)]
        shown = _run_on_a_terminal(line, cwd, columns, environment, **{other: file})
        file.seek(0)
        return shown, file.read().decode()


def in_a_window(command: str, cwd: Path, columns: int) -> list[str]:
    """The lines that a person sees who types a line into a shell, when the command has ended."""
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"TERM": "xterm-256color", "PATH": path}
    shown = _run_on_a_terminal(["/bin/sh", "-c", command], cwd, columns, environment)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.replace("\r\n", "\n"))
    lines = re.sub(r".*\n\x1b\[\?25h\r\x1b\[1A\x1b\[2K", "", plain).splitlines()  # bars of progress
    assert not any("\x1b" in line or "\r" in line for line in lines)
    return lines


def _run_on_a_terminal(
    line: list[str], cwd: Path, columns: int, environment: dict[str, str], **elsewhere: IO[bytes]
) -> str:
    """What a terminal shows of a program that succeeds; streams may go elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR"}}
    streams = {"stdout": theirs, "stderr": theirs} | elsewhere
    with (
        os.fdopen(ours, "rb", buffering=0) as screen,
        subprocess.Popen(line, cwd=cwd, env=kept | environment, **streams) as process,
    ):
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # Linux's way to say that the other side is closed
            while part := screen.read(4096):
                shown += part
    assert process.returncode == 0, shown.decode()
    return shown.decode()
