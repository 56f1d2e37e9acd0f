"""Pages: how do runs, machines and modes become one file that needs nothing else?

Styles, scripts and data are written into the page. Its content security policy lets the browser run exactly this
script and load nothing: names in a run that look like markup stay text.
"""

from __future__ import annotations

import html
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from robodyn.analysis.key_result import DISTANCE, KeyResult
from robodyn.base import choose_first, report_progress, write_file
from robodyn.base.units import SHOWN, parse_unit
from robodyn.computation.results import Run, SignalInfo
from robodyn.presentation.reporting.displays import display, policy_of

from .contents import (
    ColumnStore,
    Live,
    describe_live,
    describe_run,
    find_undrawn,
    make_finite,
    match_signals,
)
from .machine import drawn_positions, find_mechanism, read_closures, read_geometry
from .meshes import BUDGET, MeshStore, check_budget

if TYPE_CHECKING:
    from robodyn.analysis.budget import Budget
    from robodyn.analysis.linear.loop_table import LoopTable
    from robodyn.analysis.linear.modes import Vibration


# HTML report: how do runs become one file that needs nothing else?
#
# Styles, scripts and data are written into the page. Its content security policy lets the browser run exactly this
# script and load nothing: names in a run that look like markup stay text.

# In the order of their reading: each uses only what stands before it.
SCRIPTS = (
    "units.js",
    "elements.js",
    "signals.js",
    "store.js",
    "chart.js",
    "panels.js",
    "kinematics.js",
    "shapes.js",
    "camera.js",
    "renderer.js",
    "scene.js",
    "gif.js",
    "replay.js",
    "transport.js",
    "tables.js",
    "answers.js",
    "main.js",
)
EMPTY: Mapping[str, Sequence[KeyResult]] = MappingProxyType({})
STYLES = ("colours.css", "components.css", "page.css")
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


@report_progress("drawing the page")
def make_page(
    runs: Run | Sequence[Run],
    *,
    labels: Sequence[str] | None = None,
    exaggerate: float = 1.0,
    mesh_budget: float = BUDGET,
    live: Live | None = None,
    signals: Sequence[str] = (),
    sections: Sequence[dict[str, Any]] = (),
    limit: float | None = None,
    budget: Budget | None = None,
    loops: LoopTable | None = None,
    no_causes: str = "",
    results: Mapping[str, Sequence[KeyResult]] = EMPTY,
) -> str:
    """The report page as text.

    Args:
        labels: what to call each run, all different; the scenarios' names, numbered where equal, if not given.
        exaggerate: how many times too large deformations are drawn at first; the page has a slider for it.
        mesh_budget: megabytes that meshes may take; they are decimated until they fit.
        live: what the page needs to simulate its only run again with other numbers, by `codegen.make_live`.
        signals: patterns of what is plotted at first; positions and velocities by default.
        sections: notes and analyses, by `read_note` and `reporting.to_section`.
        limit: largest miss of a path that is allowed [m]; as the scenario says by default.
        budget, loops: of the first run's scenario: causes of its misses and margins of its loops.
        no_causes: sentence that says why there are no causes, where they were looked for.
        results: label of a run -> what stands in place of its key results.
    """
    runs = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not 1 <= len(runs) <= MOST_RUNS:
        raise ValueError(f"from 1 to {MOST_RUNS} runs fit on one page, not {len(runs)}")
    if live is not None and len(runs) != 1:
        raise ValueError(f"a live page re-simulates a single run, not {len(runs)}")
    check_budget(mesh_budget)
    labels, meshes, columns = _labels(runs, labels), MeshStore(), ColumnStore()
    message: list[dict[str, Any]] = []
    for run, label in zip(runs, labels, strict=True):
        first = not message
        analyses: dict[str, Any] = {"budget": budget, "loops": loops} if first else {}
        analyses["results"] = results.get(label)
        message.append(describe_run(run, label, meshes, columns, limit=limit, **analyses))
    _check_exaggeration(exaggerate, message)
    if signals:
        selected = match_signals(runs, signals)
    else:
        selected = choose_first([info for run in runs for info in plotted_infos(run)])
    data = {"runs": message, "selected": selected, "exaggeration": exaggerate, "sections": list(sections)}
    data["columns"] = columns.encode()
    data["no_causes"] = no_causes
    if live is not None:
        data["live"] = describe_live(live, runs[-1])
    scripts = SCRIPTS if live is None else (*SCRIPTS[:-1], "numbers.js", "live.js", "main.js")
    loader = "" if live is None else live.loader.replace("export ", "")
    return assemble_page("page.html", scripts, ", ".join(labels), data | meshes.encode(mesh_budget), loader)


def plotted_infos(run: Run) -> list[SignalInfo]:
    """Signals of which some are plotted at first: the distance is the size of other deviations, which stand there."""
    return [info for info in run.infos if info.name != DISTANCE]


def assemble_page(template: str, scripts: Sequence[str], title: str, data: dict[str, Any], loader: str = "") -> str:
    """A page of a template, the scripts that bring it to life, and the data they read.

    Args:
        loader: script that loads WebAssembly, which the page may run then.
    """
    script = wrap_scripts([loader, *map(read_template, scripts)])
    style = read_style()
    # That WebAssembly may be compiled lets no other text run as script.
    policy = policy_of(style, script, also=" 'wasm-unsafe-eval'" if loader else "")
    parts = {
        "title": html.escape(title),
        "kind": _KINDS[template],
        "mode": "live" if loader else "report",
        "policy": policy,
        "style": style,
        "script": script,
        "data": _script_text(data),
    }
    fill = partial(_PLACEHOLDER.sub, lambda found: parts[found[1]])
    parts |= {part: fill(read_template(f"{part}.html")) for part in ("head", "foot")}
    return fill(read_template(template))


def wrap_scripts(scripts: Sequence[str]) -> str:
    """Scripts as one that leaves nothing behind it in the page."""
    return "(() => {\n'use strict';\n" + "\n".join(scripts) + "\n})();\n"


def _labels(runs: Sequence[Run], labels: Sequence[str] | None) -> tuple[str, ...]:
    if labels is None:
        names = [run.provenance.scenario for run in runs]
        return tuple(f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names))
    if len(labels) != len(runs) or len(set(labels)) != len(labels):
        raise ValueError(f"{len(runs)} runs need as many distinct labels, not {', '.join(labels) or 'none'}")
    return tuple(labels)


def _check_exaggeration(factor: float, runs: Sequence[dict[str, Any]]) -> None:
    if not 1 <= factor <= MOST_EXAGGERATED:
        raise ValueError(f"deformations can be exaggerated from 1 to {MOST_EXAGGERATED:g} times, not {factor:g}")
    bodies = [body for run in runs if run["machine"] for body in run["machine"]["bodies"]]
    if factor != 1 and not any("shape" in body for body in bodies):
        raise ValueError("there is no deformation to exaggerate: no body that is drawn is flexible")


def _script_text(data: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: no tag can begin or end in it."""
    text = json.dumps(make_finite(data), separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def read_style() -> str:
    """The style sheet of all pages."""
    return "".join(map(read_template, STYLES))


def read_template(name: str) -> str:
    """A file of the page; that of units knows how people read them."""
    text = (files(__package__) / "template" / name).read_text(encoding="utf-8")
    if name != "units.js":
        return text
    shown = {unit: [[least, one, parse_unit(one).factor] for least, one in row] for unit, row in SHOWN.items()}
    return text.replace("{{units}}", json.dumps(shown, ensure_ascii=False))


# Mode page: how do the modes of a machine become a page on which they vibrate?

_MODE_SCRIPTS = (*SCRIPTS[:-1], "modes.js")
# What the page shows of a run: it moves, and all else is said of the modes.
_SHOWN = ("label", "machine", "machine_note", "events", "rows", "kept", "time", "signals")


def write_modes(vibration: Vibration, path: str | Path) -> Path:
    """Write the page of a machine's modes to a file, all or nothing; see `make_modes_page`."""
    return write_page(make_modes_page(vibration), path)


def make_modes_page(vibration: Vibration) -> str:
    """The page as text: a table of all modes, and the machine swinging in the chosen one over its rest position."""
    meshes, columns = MeshStore(), ColumnStore()
    rest = _describe(vibration.rest, "at rest", meshes, columns) | {"backdrop": True}
    if rest["machine"] is None:
        raise ValueError(rest["machine_note"])
    runs, shown = [], f"one period shown in {vibration.period:g} s, at a visible amplitude, without damping"
    for mode, run in zip(vibration.modes, vibration.runs, strict=True):
        caption = f"{mode.frequency:.4g} Hz, damping ratio {mode.damping:.3g}; a period is {shown}"
        runs.append(_describe(run, f"{mode.frequency:.4g} Hz", meshes, columns) | {"caption": caption})
    drawn = {id(mode): k + 1 for k, mode in enumerate(vibration.modes)}
    table = []
    for mode, row in zip(vibration.found, display(vibration.found).tables[0].rows, strict=True):
        cells = dict(zip(("frequency", "damping", "constant", "states"), row, strict=True))
        table.append(cells | {"run": drawn.get(id(mode))})
    name, notes = vibration.rest.provenance.scenario, list(vibration.found.model.notes)
    data = {"runs": [rest, *runs], "modes": table, "notes": notes, "period": vibration.period}
    data["columns"] = columns.encode()
    return assemble_page("modes.html", _MODE_SCRIPTS, f"Modes of {name}", data | meshes.encode(BUDGET))


def _describe(run: Run, label: str, meshes: MeshStore, columns: ColumnStore) -> dict[str, Any]:
    message = describe_run(run, label, meshes, columns)
    return {key: message[key] for key in _SHOWN}


# View of a machine: how does it look and move before any simulation? A page with a slider for every joint.

Plain = dict[str, Any]
_VIEW_SCRIPTS = (*SCRIPTS[:-1], "view.js")
_REACH = 1.0
"""Of a slide without limits, either way [m]."""
LOOSE = "Not enforced while joints are moved here: {}."


def write_view(description: Plain, start: Mapping[str, float], path: str | Path, **options: Any) -> Path:
    """Write the page of a machine to a file, all or nothing; see `make_view`."""
    return write_page(make_view(description, start, **options), path)


@report_progress("drawing the page")
def make_view(
    description: Plain, start: Mapping[str, float], *, notes: Sequence[str] = (), mesh_budget: float = BUDGET
) -> str:
    """The page of a scenario's machine as text.

    Args:
        description: the scenario as plain data, as runs have it too.
        start: positions by their names, such as `elbow.position`; others are 0.
        notes: sentences to be shown above it.
        mesh_budget: megabytes that meshes may take; they are decimated until they fit.
    """
    check_budget(mesh_budget)
    meshes = MeshStore()
    machine, problem = read_geometry(description, {}, meshes)
    if machine is None:
        raise ValueError(problem)
    closures, not_drawn = read_closures(description, machine)
    sentences = [*notes, *find_undrawn(machine), *([LOOSE.format(", ".join(not_drawn))] if not_drawn else [])]
    data = {"runs": [make_still(machine, start)], "sliders": _sliders(description, start), "notes": sentences}
    data["closures"] = closures
    return assemble_page(
        "view.html", _VIEW_SCRIPTS, str(description.get("name") or ""), data | meshes.encode(mesh_budget)
    )


def make_still(machine: Plain, start: Mapping[str, float]) -> Plain:
    """A run of one instant, in which every position stands at its start."""
    signals = [
        {"name": name, "unit": "", "held": True, "rate": None, "type": "constant", "data": start.get(name, origin)}
        for name, origin in drawn_positions(machine).items()
    ]
    columns = {"rows": 1, "kept": 1, "time": {"type": "constant", "data": 0.0}, "knots": None, "signals": signals}
    return {"label": machine["name"], "machine": machine, "machine_note": "", "events": [], **columns}


def _sliders(description: Plain, start: Mapping[str, float]) -> list[Plain]:
    """Sliders of everything that can be moved: each motion along or about an axis, with its range, and each ball."""
    mechanism = find_mechanism(description) or {}
    sliders = []
    for joint in mechanism["joints"]:
        for name, kind, *_ in joint.get("motions") or [[joint["name"], joint["kind"]]]:
            if kind != "fixed":
                sliders.append(_slider(str(name), str(kind), joint, start))
    return sliders


def _slider(name: str, kind: str, joint: Plain, start: Mapping[str, float]) -> Plain:
    plain: Plain = {"name": name, "kind": kind, "unit": "m" if kind == "prismatic" else "rad"}
    if kind == "ball":
        return plain
    value = start.get(f"{name}.position", 0.0)
    lower, upper = joint.get("lower_limit"), joint.get("upper_limit")
    reach = _REACH if kind == "prismatic" else math.pi
    low = value - reach if lower is None else min(lower, value)
    high = value + reach if upper is None else max(upper, value)
    plain |= {"limits": [lower, upper], "range": [low, high]}
    if follows := joint.get("mimic"):
        leads = {"ratio": follows.get("ratio", 1.0), "offset": follows.get("offset", 0.0)}
        plain["follows"] = {"joint": str(follows["joint"]), **leads}
    return plain


# Inline page: how is a run replayed inside a notebook? The report page in a frame of its own.


class InlinePage:
    """A page that notebooks show; `page` is its text."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def __repr__(self) -> str:
        return f"<page of {len(self.page) / 1e6:.1f} MB, for a notebook>"

    def _repr_html_(self) -> str:
        # The frame may run the page's own script, and is a stranger to the notebook around it.
        how = f'sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" style="border:0"'
        return f'<iframe {how} srcdoc="{escape(self.page)}"></iframe>'


def show_run(run: Run, *, height: int = 760, **options: Any) -> InlinePage:
    """`run.show()`: plots and 3-D replay in place; options as of `make_page`."""
    return InlinePage(make_page(run, **options), height)


# Local web server: how is a page shown to the browsers of this computer, and to no other?

LOOPBACK = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """Serves one page at a free port of the loopback address; `serve_forever` until interrupted."""

    daemon_threads = True

    def __init__(self, page: str) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.page = page.encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that is closed while a page is on its way is no fault; all else is reported."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Where the page is, for a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for the page itself."""

    server: PageServer
    server_version, sys_version = "robodyn", ""

    def do_GET(self) -> None:
        # A foreign name that leads to this address is how a web site would read what is served here.
        hosts = [f"{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")]
        if self.headers.get("Host") not in hosts:
            self.send_error(403, "Only the loopback address is served")
        elif self.path.partition("?")[0] != "/":
            self.send_error(404)
        else:
            self._send_page()

    def _send_page(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news."""
