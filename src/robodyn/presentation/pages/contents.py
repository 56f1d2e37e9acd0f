"""Contents of a page: what does it say about a run beside its pictures? Plain values that the page's script shows."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

import numpy as np

from robodyn.base.errors import nearest
from robodyn.computation.results import Outcome, Run

from .machine import read_geometry, read_machine
from .meshes import MeshStore

# Data of a page: how do the numbers of a run travel inside it? How many rows, and in which bytes.

MOST_ROWS = 20_000
# Single precision may blur a signal by this share of its range: less than a pixel of a plot enlarged 1000 times.
_BLUR = 1e-6

Floats = np.ndarray


def thin_rows(time: Floats, values: Floats, most: int = MOST_ROWS) -> tuple[Floats, Floats]:
    """At most `most` rows that keep the first and last one and every signal's minimum and maximum in between.

    The rows between the ends are cut into groups. Each leaves two rows, at the times of its first and its last
    one, which hold the group's smallest and largest value of each signal in the order they came: exact where a
    signal rises or falls throughout the group, else an extreme moved by less than a group's length.
    """
    n = time.size
    if n <= most:
        return time, values
    edges = np.linspace(1, n - 1, most // 2).astype(int)
    first, last = edges[:-1], edges[1:] - 1
    inner = np.column_stack([first, last]).ravel()
    columns = [_extremes(column[: n - 1], first) for column in values.T]
    body = np.column_stack(columns) if columns else np.empty((inner.size, 0))
    return time[np.concatenate([[0], inner, [n - 1]])], np.vstack([values[:1], body, values[-1:]])


def _extremes(column: Floats, first: Floats) -> Floats:
    """Smallest and largest value of each group of rows, in the order they came, (2 * n_groups,)."""
    low, high = np.fmin.reduceat(column, first), np.fmax.reduceat(column, first)
    lengths = np.diff(np.append(first, column.size))
    rows = np.arange(first[0], column.size)

    def place(extreme: Floats) -> Floats:
        found = column[first[0] :] == np.repeat(extreme, lengths)
        return np.minimum.reduceat(np.where(found, rows, column.size), first - first[0])

    rising = place(low) <= place(high)
    return np.column_stack([np.where(rising, low, high), np.where(rising, high, low)]).ravel()


def encode_columns(run: Run) -> dict[str, Any]:
    """Times and signals of a run as JSON-able values: base64 of little-endian floats, a bare number if constant.

    `rows` is how many rows the run has, `kept` how many are here; fewer than `rows` where they were thinned. Then lines
    between them are straight, else as the `knots` (one byte a row) allow.
    """
    time, values = thin_rows(run.time, run.values)
    signals = [
        {"name": info.name, "unit": info.unit, "held": info.kind == "held", "rate": info.rate, **_encode(column)}
        for info, column in zip(run.infos, values.T, strict=True)
    ]
    knots = None if run.knots is None or time.size < run.time.size else _text(run.knots, "u1")
    return {"rows": run.time.size, "kept": time.size, "time": encode_time(time), "knots": knots, "signals": signals}


def encode_time(time: Floats) -> str:
    """Times as base64 of little-endian floats."""
    return _text(time, "<f8")


def _encode(column: Floats) -> dict[str, Any]:
    finite = column[np.isfinite(column)]
    spread = np.ptp(finite) if finite.size else 0.0
    if finite.size and finite.size == column.size and spread == 0:
        return {"type": "constant", "data": float(column[0])}
    kind = choose_kind(column)
    return {"type": kind, "data": _text(column, f"<{kind}")}


def choose_kind(column: Floats) -> str:
    """Single precision, "f4", where it is as good to the eye, else "f8"."""
    finite = column[np.isfinite(column)]
    with np.errstate(over="ignore"):
        error = np.abs(finite.astype("<f4") - finite).max(initial=0.0)
    return "f4" if error <= _BLUR * (np.ptp(finite) if finite.size else 0.0) else "f8"


def _text(values: Floats, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")


# Contents of a report: what does it say about a run beside its pictures? Plain values that the page's script shows.

MOST_EVENTS = 2000
MOST_UNITS = 4
MOST_OF_A_UNIT = 4
_FIRST_QUANTITIES = ("position", "velocity")
_COUNTS = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks")

Plain = dict[str, Any]


def describe_run(run: Run, label: str, meshes: MeshStore | None = None) -> Plain:
    """One run for the page, its meshes put into the store; texts are plain text, never markup."""
    machine, note = read_machine(run, meshes)
    equations = run.provenance.equations
    brief = describe_briefly(run)
    return {
        "label": label,
        "title": str(run.provenance.description.get("title") or ""),
        **brief,
        "warnings": [*brief["warnings"], *find_undrawn(machine)],
        "machine": machine,
        "machine_note": note,
        "parameters": [[name, entry.get("value"), entry.get("unit", "")] for name, entry in _parameters(run)],
        "equations": [str(line) for line in equations] if equations else None,
        "provenance": _provenance(run),
        **encode_columns(run),
    }


def describe_briefly(run: Run) -> Plain:
    """How a run went: outcome, warnings, certificate, statistics, events."""
    return {
        "outcome": _outcome(run.outcome),
        "warnings": list(run.warnings),
        "limits": [passed.sentence for passed in run.passed_limits],
        **_certificate(run),
        "statistics": _statistics(run),
        "events": [{"name": e.name, "time": e.time, "terminal": e.terminal} for e in run.events[:MOST_EVENTS]],
        "more_events": max(0, len(run.events) - MOST_EVENTS),
    }


def find_undrawn(machine: Plain | None) -> list[str]:
    """Sentences on looks that are not drawn."""
    return [sentence for body in (machine["bodies"] if machine else []) for sentence in body.get("undrawn", [])]


def choose_signals(runs: Sequence[Run]) -> list[str]:
    """What is plotted at first: positions and velocities of joints, or the first signals of the first units."""
    units = {info.name: info.unit for run in runs for info in run.infos}
    motions = [n for q in _FIRST_QUANTITIES for n in units if n.count(".") == 1 and n.endswith(f".{q}")]
    groups: dict[str, list[str]] = {}
    for name in motions or units:
        groups.setdefault(units[name], []).append(name)
    shown = list(groups.values())[:MOST_UNITS]
    return [name for group in shown for name in (group if motions else group[:MOST_OF_A_UNIT])]


def match_signals(runs: Sequence[Run], patterns: Sequence[str]) -> list[str]:
    """Signals that match patterns, in the order of recording; a pattern that none matches is refused."""
    known = list(dict.fromkeys(name for run in runs for name in run.names))
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ValueError(f"no signal matches '{pattern}' ({nearest(pattern, known)})")
    return [name for name in known if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _outcome(outcome: Outcome) -> Plain:
    state = "ok" if outcome.ok else "suspect" if outcome.suspect else "cut short" if outcome.cut_short else "failed"
    return {
        "kind": outcome.kind.name.lower().replace("_", " "),
        "state": state,
        "sentence": outcome.sentence,
        "time": outcome.time,
    }


def _certificate(run: Run) -> Plain:
    """Every check as [what, value, limit, whether it holds]; errors of signals and what a second solution says."""
    rows = []
    for check in run.certificate:
        name = f"{check.name} ({check.subject})" if check.subject else check.name
        rows.append([name, f"{check.value:.3g}", f"{check.limit:.3g} {check.unit}".rstrip(), check.ok])
    bars = run.errors.bars.items() if run.errors else ()
    return {
        "checks": rows,
        "unchecked": list(run.certificate.unchecked),
        "errors": [[name, f"{bar.error:.2g} {bar.unit}".rstrip()] for name, bar in bars],
        "second_solution": run.errors.lines() if run.errors else [],
    }


def _statistics(run: Run) -> list[list[str]]:
    """Name and text of every number that says something about this run."""
    message = run.statistics
    rows = [["end time", f"{run.outcome.time:.6g} s"], ["rows", str(run.time.size)], ["signals", str(len(run))]]
    rows += [[name, str(count)] for name in _COUNTS if (count := getattr(message, name))]
    if message.wall_time > 0:
        rows += [["computing", f"{message.wall_time:.3g} s"], ["× real time", f"{message.times_real_time:.3g}"]]
    if message.energy_error is not None:
        rows.append(["energy error", f"{message.energy_error:.2g}"])
    return rows + [[name.replace("_", " "), _shown(value)] for name, value in message.extra.items()]


def _parameters(run: Run) -> list[tuple[str, Plain]]:
    return [(name, entry) for name, entry in run.provenance.parameters.items() if isinstance(entry, dict)]


def _provenance(run: Run) -> list[list[str]]:
    message = run.provenance
    solver = {name: value for name, value in message.solver.items() if value is not None}
    rows = [["scenario", message.scenario], ["created", message.created], ["model digest", message.digest]]
    rows += [[f"solver {name.replace('_', ' ')}", _shown(value)] for name, value in solver.items()]
    return rows + [[name, version] for name, version in message.versions.items()]


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def make_finite(value: Any) -> Any:
    """The value with NaN and infinities, which JSON does not know, as the texts "nan", "inf" and "-inf"."""
    if isinstance(value, dict):
        return {str(key): make_finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [make_finite(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# Notes of a report: how does a text with a little Markdown become part of a page? As text: no markup in it is run.

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_ITEM = re.compile(r"^[-*+]\s+(.*)$")
FENCE = "```"


def read_note(text: str) -> dict[str, Any]:
    """Headings, paragraphs, lists and code of a text; all else, emphasis and links too, stays as it is written."""
    blocks: list[dict[str, Any]] = []
    code: list[str] | None = None
    for line in text.splitlines():
        if line.startswith(FENCE):
            if code is not None:
                blocks.append({"kind": "code", "text": "\n".join(code)})
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        else:
            _add_line(blocks, line.rstrip())
    if code is not None:
        blocks.append({"kind": "code", "text": "\n".join(code)})
    return {"prose": [block for block in blocks if block["kind"] != "space"]}


def _add_line(blocks: list[dict[str, Any]], line: str) -> None:
    last: dict[str, Any] = blocks[-1] if blocks else {"kind": "space"}
    if not line:
        blocks.append({"kind": "space"})
    elif found := _HEADING.match(line):
        blocks.append({"kind": "heading" if len(found[1]) < 3 else "subheading", "text": found[2]})
    elif found := _ITEM.match(line):
        if last["kind"] == "list":
            last["items"].append(found[1])
        else:
            blocks.append({"kind": "list", "items": [found[1]]})
    elif last["kind"] == "paragraph":
        last["text"] += f" {line}"
    elif last["kind"] == "list":
        last["items"][-1] += f" {line.strip()}"
    else:
        blocks.append({"kind": "paragraph", "text": line})


# Live report: what does a page know of the model that it simulates by itself?


class AnySlider(Protocol):
    """A number that may be changed, its slider's ends, and which numbers are allowed."""

    name: str
    value: float
    unit: str
    ends: tuple[float, float]
    sign: str


class Live(Protocol):
    """A model as WebAssembly; see `robodyn.exchange.codegen.LiveModel`."""

    module: bytes
    loader: str
    sliders: Sequence[AnySlider]
    digest: int


class _Asked(dict[str, Any]):
    """Numbers that remember which of them were looked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return default


def describe_live(live: Live, run: Run) -> Plain:
    """The module and its sliders as plain values; `drawn` are those by which the drawing would change, and does not."""
    asked = _Asked()
    read_geometry(run.provenance.description, asked, MeshStore())
    keys = ("name", "value", "unit", "ends", "sign")
    sliders = [
        {key: getattr(slider, key) for key in keys} | {"drawn": slider.name in asked.names} for slider in live.sliders
    ]
    return {"module": base64.b64encode(live.module).decode("ascii"), "sliders": sliders, "digest": live.digest}
