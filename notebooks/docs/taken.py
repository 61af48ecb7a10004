"""Pages that the site generates or copies: commands, notebooks, pictures, a sample report.

``python notebooks/docs/taken.py`` writes docstrings and the lists of commands and formats into the
pages that quote them, for readers on a code host.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLE_REPORT = ROOT / "build" / "sample-report.html"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = {
    "contributing.md": ".github/CONTRIBUTING.md",
    "evidence.md": "notebooks/evidence.md",
    "reproduction.md": "notebooks/reproduction/README.md",
    "tanaka.md": "notebooks/tanaka/README.md",
}


def on_config(config: Any) -> Any:
    """Add the generated pages to the navigation."""
    for section in config.nav:
        if "Commands" in section:
            for title, found in _sections().items():
                pages = [f"commands/{_file_name(names)}.md" for names in found]
                section["Commands"].append({title: pages})
        if "Notebooks" in section:
            section["Notebooks"] += [f"notebooks/{path.stem}.md" for path in NOTEBOOKS]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """Keep options such as ``--src`` in one piece: browsers break lines after hyphens."""
    return re.sub(r"<code.*?</code>", lambda code: _OPTION.sub(_WHOLE, code[0]), html, flags=re.S)


_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*(?![^<]*>)")
_WHOLE = r'<span class="option">\g<0></span>'


def on_files(files: Any, config: Any) -> Any:
    """Add generated pages, and pages and pictures from elsewhere in the repository."""
    from mkdocs.structure.files import File

    def add(target: str, **content: Any) -> None:
        files.append(File.generated(config, target, **content))

    for target, source in PAGES.items():
        add(target, abs_src_path=str(ROOT / source))
    for path in (ROOT / "notebooks/figures").iterdir():
        add(f"figures/{path.name}", abs_src_path=str(path))
    for page in (ROOT / "notebooks/reproduction/README.md", ROOT / "notebooks/evidence.md"):
        for name in _linked(page):
            add(name, abs_src_path=str(page.parent / name))
    for names, command in commands():
        add(f"commands/{_file_name(names)}.md", content=command_page(names, command))
    for path in NOTEBOOKS:
        text, pictures = notebook_page(path)
        add(f"notebooks/{path.stem}.md", content=text)
        for name, data in pictures.items():
            add(f"notebooks/{name}", content=data)
    # Colours and fonts of the report; its other rules are for pages without a theme.
    style = (ROOT / "coverage_eval/core/page.css").read_text(encoding="utf-8")
    add("assets/page.css", content=style.partition("}\n")[0] + "}\n")
    _write_sample_report()
    add("sample-report.html", abs_src_path=str(SAMPLE_REPORT))
    return files


def _linked(page: Path) -> list[str]:
    """The tables and drawings in folders beside a page that it links to."""
    text = page.read_text(encoding="utf-8")
    return list(dict.fromkeys(re.findall(r"\]\(((?:\w+/)+\w+\.(?:csv|svg))\)", text)))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Adapt links and examples to the site; link to pages that only the site has."""
    for target, source in PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)+(?:notebooks/)?{source.removeprefix('notebooks/')}",
                          f"]({target}", markdown)  # fmt: skip
    # So that prompts and output are told apart, and a copy has neither.
    markdown = markdown.replace("```python\n>>>", "```pycon\n>>>")
    markdown = re.sub(r"""(\]\(|=")(?:\.\./)+figures/""", r"\1figures/", markdown)
    markdown = re.sub(r"\]\(../../(\d\d_\w+)\.ipynb", r"](notebooks/\1.md", markdown)
    markdown = re.sub(
        r"(\[a sample[^]]*\])\(compare\.md#[\w-]+\)", r"\1(sample-report.html)", markdown
    )
    for names, command in commands():
        page = f"[`{' '.join(names)}`](commands/{_file_name(names)}.md)"
        markdown = markdown.replace(
            f"\n- `{' '.join(names)}`\n", f"\n- {page}: {_escaped(_summary(command))}\n"
        )
    return markdown.replace("../notebooks/docs/pages/", "")  # in pages from elsewhere


def _formats() -> str:
    """The formats of attention dumps."""
    from coverage_eval.attention_maps import FORMATS

    rows = (f"| `{item.name}` | {item.title} |" for item in FORMATS.values())
    return "\n".join(["", "| format | what writes it |", "|---|---|", *rows, ""])


def _output_errors() -> str:
    """The kinds of output errors, and which of them a filter rejects."""
    from coverage_eval.outputs.output_errors import GUESSES, KINDS

    rows = (
        f"| `{kind}` | {what} | {'kept unless flagged' if kind in GUESSES else 'rejected'} |"
        for kind, what in KINDS.items()
    )
    head = "| name | outputs that | by `--keep` and `--reject` |"
    return "\n".join(["", head, "|---|---|---|", *rows, ""])


def _list_commands() -> str:
    """Every command, grouped as in --help; the site adds its summary, and links it to its page."""
    lines = []
    for title, found in _sections().items():
        lines += ["", f"**{title}**", "", *(f"- `{' '.join(names)}`" for names in found)]
    return "\n".join([*lines, ""])


def _sections() -> dict[str, list[tuple[str, ...]]]:
    """The titles of --help and the commands below them, each followed by its subcommands."""
    from coverage_eval.cli import cli

    return {
        title: [path for name, _ in found for path, _ in commands() if path[0] == name]
        for title, found in cli.sections().items()
    }


def commands() -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command and subcommand, with the words that call it."""
    from coverage_eval.cli import cli

    def walk(names: tuple[str, ...], command: click.Command) -> Iterator[Any]:
        if names:
            yield names, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                if found is not None and not found.hidden:
                    yield from walk((*names, name), found)

    return list(walk((), cli))


def _file_name(names: tuple[str, ...]) -> str:
    return "-".join(names)


def _summary(command: click.Command) -> str:
    """The first paragraph of the command's help."""
    first = cleandoc(command.help or "").partition("\n\n")[0]
    return " ".join(first.split())


def command_page(names: tuple[str, ...], command: click.Command) -> str:
    """A command's help as Markdown, without tables so that it fits narrow screens."""
    from coverage_eval.cli.click_options import GROUPS

    called = f"coverage-eval {' '.join(names)}"
    context = click.Context(command, info_name=called, help_option_names=["-h", "--help"])
    text, _, example = cleandoc(command.help or "").partition("\b\nExample:\n")
    usage = " ".join([called, *command.collect_usage_pieces(context)])
    lines = [f"# {' '.join(names)}", ""]
    if example:
        lines += ["```sh", cleandoc(example), "```", ""]
    lines += [text.replace("\b\n", ""), "", f"Usage: `{usage}`", ""]
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    for item in command.get_params(context):
        record = item.get_help_record(context)
        if record is not None and isinstance(item, click.Option):
            anchor = max(item.opts, key=len)  # commands/report.html#--labels
            words = f"`{record[0]}`{{#{anchor}}}\n:   {_escaped(record[1])}\n"
            groups[getattr(item, "group", GROUPS[0])].append(words)
    for title, items in groups.items():
        lines += [f"## {title}", "", *items] if items else []
    if isinstance(command, click.Group):
        lines += ["## Commands", ""]
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                page = f"{_file_name((*names, name))}.md"
                lines.append(f"- [`{name}`]({page}): {_escaped(_summary(found))}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]<>*_|])", r"\\\1", text)


def notebook_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook with its stored outputs as Markdown, and its pictures by their names."""
    import base64

    import nbformat

    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"\]\((\d\d_\w+)\.ipynb", r"](\1.md", cell.source)
            lines += [re.sub(r"\]\((\w+)/README\.md", r"](../\1.md", text), ""]
            continue
        lines += ["```python", cell.source, "```", ""]
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                lines += [f"![Output of the code above]({name})", ""]
            elif "text/html" in data and "<table" in data["text/html"]:
                table = re.search(r"<table.*</table>", data["text/html"], re.DOTALL)
                assert table is not None
                lines += [re.sub(r"\n\s*", "", table[0]), ""]
            elif "text/markdown" in data:
                lines += [data["text/markdown"], ""]
            elif data["text/plain"].strip():
                lines += ["```text", data["text/plain"].rstrip("\n"), "```", ""]
    return "\n".join(lines), pictures


def _write_sample_report() -> None:
    """The report that ``coverage-eval demo`` writes."""
    from coverage_eval import demonstrate

    with tempfile.TemporaryDirectory() as folder:
        for _ in demonstrate(Path(folder)):
            pass
        SAMPLE_REPORT.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(folder, "report.html"), SAMPLE_REPORT)


_QUOTED = re.compile(r"^(<!-- ([^\n]+) -->)\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def with_quotations(page: str) -> str:
    """The page with what its comments name: docstrings and lists as they are now."""
    return _QUOTED.sub(lambda found: f"{found[1]}\n{_quoted(found[2])}\n<!-- end -->", page)


def _quoted(name: str) -> str:
    lists = {
        "commands": _list_commands,
        "formats": _formats,
        "output errors": _output_errors,
    }
    if name in lists:
        return lists[name]()
    return _docstring(name.removeprefix("from "))


def _docstring(name: str) -> str:
    try:
        found: Any = import_module(name)
    except ModuleNotFoundError:
        module, _, member = name.rpartition(".")
        found = getattr(import_module(module), member)
    text = cleandoc(found.__doc__ or "")
    text = re.split(r"^(?:Args|Returns|Raises|Yields):$", text, flags=re.MULTILINE)[0].rstrip()
    text = re.sub(r":(?:attr|class|data|exc|func|meth|mod):`~?\.?([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r"^( *)(.*)::$", r"\1\2:", text, flags=re.MULTILINE)
    return re.sub(r"(?<=[:.])\n(?=\* )", "\n\n", text)


if __name__ == "__main__":
    for page in sorted((HERE / "pages").rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = with_quotations(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page, file=sys.stderr)
