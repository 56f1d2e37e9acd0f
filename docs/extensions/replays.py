"""Live replays: how does a machine move? `{replay} NAME` runs a scenario and embeds its report page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import robodyn as rd
from robodyn.description.catalog import find_scenario
from robodyn.presentation.pages import write_report

ROOT = Path(__file__).parents[2]
# An origin of its own: the page inside can go to its replay without moving the page around it.
FRAME = (
    '<iframe class="replay" style="height: {height}px" src="{source}#replay" title="{title}" '
    'sandbox="allow-scripts allow-downloads"></iframe>\n'
)
LINK = '<p class="replay-link"><a href="{source}">Open this report on a page of its own</a></p>'


class Replay(SphinxDirective):
    """The report of a run: a scenario's name, or a file from the root of the project."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"height": directives.nonnegative_int}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = Path(self.env.app.outdir) / "replays" / f"{Path(name).stem}.html"
        if not path.is_file() and not os.environ.get("ROBODYN_SITE_READ_ONLY"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_report(rd.simulate(_find(name)), path)
        source = "../" * self.env.docname.count("/") + f"replays/{path.name}"
        shown = (FRAME + LINK).format(source=source, height=self.options.get("height", 620), title=f"Replay of {name}")
        return [nodes.raw("", shown, format="html")]


def _find(name: str) -> Any:
    return rd.read_scenario(ROOT / name) if name.endswith(".toml") else find_scenario(name)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("replay", Replay)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
