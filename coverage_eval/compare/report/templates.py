"""Pages from templates: text is escaped, and a page's policy lets only its own script run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from coverage_eval.core.show.table import escape_controls
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


def make_environment() -> Environment:
    """Where templates are; a value that a page lacks is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("coverage_eval.compare.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
    )


def render_page(
    environment: Environment, template: str, script: str, styles: Sequence[str], **values: Any
) -> str:
    """Fill a template with values, and with a script and styles, which are named as assets are."""
    from markupsafe import Markup

    code = _asset(script)
    page = environment.get_template(template).render(
        script=Markup(code),  # noqa: S704 (ours, as are the styles)
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        style=Markup("".join(map(_asset, styles))),  # noqa: S704
        version=__version__,
        **values,
    )
    # Text from Python may hold lone surrogates, which no file can.
    return page.encode("utf-8", "replace").decode()


def _visible(value: Any) -> Any:
    """Escape control characters in plain text; keep text that is marked as safe."""
    return escape_controls(value) if type(value) is str else value


def _asset(name: str) -> str:
    return (files("coverage_eval.compare.report") / "assets" / name).read_text("utf-8")
