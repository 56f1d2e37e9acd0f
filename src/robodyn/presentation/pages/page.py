"""HTML report: how do runs become one file that needs nothing else?

Styles, scripts and data are written into the page. Its content security policy lets the browser run exactly this
script and load nothing: names in a run that look like markup stay text.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from robodyn.base.atomic import write_file
from robodyn.base.waiting import told_if_slow
from robodyn.computation.results import Run

from .contents import choose_signals, describe_run, make_finite, match_signals
from .live import Live, describe_live
from .mesh_store import BUDGET, MeshStore, check_budget

# In the order of their reading: each uses only what stands before it.
SCRIPTS = (
    "elements.js",
    "signals.js",
    "store.js",
    "chart.js",
    "gestures.js",
    "panels.js",
    "picker.js",
    "kinematics.js",
    "shapes.js",
    "bending.js",
    "surfaces.js",
    "skins.js",
    "looks.js",
    "struts.js",
    "camera.js",
    "renderer.js",
    "scene.js",
    "surroundings.js",
    "gif.js",
    "replay.js",
    "transport.js",
    "tables.js",
    "sections.js",
    "main.js",
)
MOST_RUNS = 6
MOST_EXAGGERATED = 1000.0
_KINDS = {"page.html": "report", "modes.html": "modes", "view.html": "view"}
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def write_report(runs: Run | Sequence[Run], path: str | Path, **options: Any) -> Path:
    """Write the report page of one or more runs to a file, all or nothing.

    Args:
        options: labels, exaggerate, mesh_budget, live, signals and sections, as `make_page` takes them.
    """
    return write_page(make_page(runs, **options), path)


def write_page(page: str, path: str | Path) -> Path:
    write_file(path, page)
    return Path(path)


@told_if_slow("drawing the page")
def make_page(
    runs: Run | Sequence[Run],
    *,
    labels: Sequence[str] | None = None,
    exaggerate: float = 1.0,
    mesh_budget: float = BUDGET,
    live: Live | None = None,
    signals: Sequence[str] = (),
    sections: Sequence[dict[str, Any]] = (),
) -> str:
    """The report page as text.

    Args:
        labels: what to call each run, all different; the scenarios' names, numbered where equal, if not given.
        exaggerate: how many times too large deformations are drawn at first; the page has a slider for it.
        mesh_budget: megabytes that meshes may take; they are decimated until they fit.
        live: what the page needs to simulate its only run again with other numbers, by `codegen.make_live`.
        signals: patterns of what is plotted at first; positions and velocities by default.
        sections: notes and analyses, by `read_note` and `reporting.to_section`.
    """
    runs = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not 1 <= len(runs) <= MOST_RUNS:
        raise ValueError(f"from 1 to {MOST_RUNS} runs fit on one page, not {len(runs)}")
    if live is not None and len(runs) != 1:
        raise ValueError(f"a page simulates one run again, not {len(runs)}")
    check_budget(mesh_budget)
    labels, meshes = _labels(runs, labels), MeshStore()
    message = [describe_run(run, label, meshes) for run, label in zip(runs, labels, strict=True)]
    _check_exaggeration(exaggerate, message)
    selected = match_signals(runs, signals) if signals else choose_signals(runs)
    data = {"runs": message, "selected": selected, "exaggeration": exaggerate, "sections": list(sections)}
    if live is not None:
        data["live"] = describe_live(live, runs[-1])
    scripts = SCRIPTS if live is None else (*SCRIPTS[:-1], "live.js", "main.js")
    loader = "" if live is None else live.loader.replace("export ", "")
    return assemble_page("page.html", scripts, ", ".join(labels), data | meshes.encode(mesh_budget), loader)


def assemble_page(template: str, scripts: Sequence[str], title: str, data: dict[str, Any], loader: str = "") -> str:
    """A page of a template, the scripts that bring it to life, and the data they read.

    Args:
        loader: script that loads WebAssembly, which the page may run then.
    """
    script = "(() => {\n'use strict';\n" + "\n".join([loader, *(read_template(name) for name in scripts)]) + "\n})();\n"
    style = read_template("page.css")
    parts = {
        "title": html.escape(title),
        "kind": _KINDS[template],
        "policy": _policy(script, style, " 'wasm-unsafe-eval'" if loader else ""),
        "style": style,
        "script": script,
        "data": _script_text(data),
    }
    fill = partial(_PLACEHOLDER.sub, lambda found: parts[found[1]])
    parts |= {part: fill(read_template(f"{part}.html")) for part in ("head", "foot")}
    return fill(read_template(template))


def _labels(runs: Sequence[Run], labels: Sequence[str] | None) -> tuple[str, ...]:
    if labels is None:
        names = [run.provenance.scenario for run in runs]
        return tuple(f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names))
    if len(labels) != len(runs) or len(set(labels)) != len(labels):
        raise ValueError(f"{len(runs)} runs need as many different labels, not {', '.join(labels) or 'none'}")
    return tuple(labels)


def _check_exaggeration(factor: float, runs: Sequence[dict[str, Any]]) -> None:
    if not 1 <= factor <= MOST_EXAGGERATED:
        raise ValueError(f"deformations are exaggerated from 1 to {MOST_EXAGGERATED:g} times, not {factor:g}")
    bodies = [body for run in runs if run["machine"] for body in run["machine"]["bodies"]]
    if factor != 1 and not any("shape" in body for body in bodies):
        raise ValueError("there is no deformation to exaggerate: no body that is drawn is flexible")


def _script_text(data: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: no tag can begin or end in it."""
    text = json.dumps(make_finite(data), separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(script: str, style: str, more: str) -> str:
    """What the page's script may do. That WebAssembly may be compiled lets no other text run as script."""
    rules = ("default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'")
    return "; ".join((*rules, f"script-src {fingerprint(script)}{more}", f"style-src {fingerprint(style)}"))


def fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def read_template(name: str) -> str:
    return (files(__package__) / "template" / name).read_text(encoding="utf-8")
