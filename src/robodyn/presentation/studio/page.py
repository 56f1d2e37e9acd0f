"""Page of the studio: markup, style and script in one answer, without anything of the scenario in it.

Names, titles and messages come later as data, and are put in as text. The policy lets the browser run this script and
talk to this server, nothing else.
"""

from __future__ import annotations

import functools
from importlib.resources import files

from robodyn.presentation.pages.page import SCRIPTS, fingerprint, read_template

OWN = (
    "connection.js",
    "runs.js",
    "numbers.js",
    "history.js",
    "toml.js",
    "completion.js",
    "editor.js",
    "curves.js",
    "jobs.js",
    "tabs.js",
    "studio.js",
)


@functools.cache
def studio_page() -> tuple[bytes, str]:
    """The page and its content security policy."""
    scripts = [read_template(name) for name in SCRIPTS[:-1]] + [_read(name) for name in OWN]
    script = "(() => {\n'use strict';\n" + "\n".join(scripts) + "\n})();\n"
    style = read_template("page.css") + _read("studio.css")
    page = _read("studio.html").replace("{{style}}", style).replace("{{script}}", script)
    rules = ("default-src 'none'", "img-src data: blob:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'")
    frames = "frame-ancestors 'none'"
    policy = "; ".join((*rules, frames, f"script-src {fingerprint(script)}", f"style-src {fingerprint(style)}"))
    return page.encode(), policy


def _read(name: str) -> str:
    return (files(__package__) / "template" / name).read_text(encoding="utf-8")
