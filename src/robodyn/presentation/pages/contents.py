"""Contents of a page: what does it say about a run beside its pictures? Plain values that the page's script shows."""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from robodyn.analysis.key_result import KeyResult, capitalise, key_results, path_limit, share_causes
from robodyn.base import Array, find_unmatched, fits, nearest, show_number
from robodyn.computation.results import Outcome, Run

from .machine import read_geometry, read_machine, read_path
from .meshes import MeshStore

if TYPE_CHECKING:
    from robodyn.analysis.budget import Budget
    from robodyn.analysis.linear.loop_table import LoopTable

# Data of a page: how do the numbers of a run travel inside it? How many rows, and in which bytes.

MOST_ROWS = 10_000
# Single precision may blur a signal by this share of its range: less than a pixel of a plot enlarged 1000 times.
_BLUR = 1e-6
_STEP = 2e-6
"""Part of its usual range to which a signal is rounded in a page: off by half of it at most, a millionth."""
_MOST_STEPS = 2.0**47
"""The largest number of steps of which third differences may be made, so that the script's floats hold them."""

EMPTY: Mapping[str, Any] = MappingProxyType({})


def thin_rows(time: Array, values: Array, most: int = MOST_ROWS) -> tuple[Array, Array]:
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


def _extremes(column: Array, first: Array) -> Array:
    """Smallest and largest value of each group of rows, in the order they came, (2 * n_groups,)."""
    low, high = np.fmin.reduceat(column, first), np.fmax.reduceat(column, first)
    lengths = np.diff(np.append(first, column.size))
    rows = np.arange(first[0], column.size)

    def place(extreme: Array) -> Array:
        at_extreme = column[first[0] :] == np.repeat(extreme, lengths)
        return np.minimum.reduceat(np.where(at_extreme, rows, column.size), first - first[0])

    rising = place(low) <= place(high)
    return np.column_stack([np.where(rising, low, high), np.where(rising, high, low)]).ravel()


class ColumnStore:
    """Columns of numbers as one compressed text, which the page's script unpacks when it opens.

    A column is rounded to whole steps of `_STEP` times its usual range (that of its middle 90 %, so that a few peaks do
    not coarsen the rest). Differences of these counts, up to the third, are small where a signal is smooth. Their bytes
    are sorted, all first ones first, and all columns are deflated together. What is not finite, or has no usual
    range, is kept to the last bit: bits that differ from those of the number before. Columns that are the same but for
    their scale, such as a motor's current and torque, are stored once.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._places: dict[bytes, int] = {}

    def put(self, column: Array) -> dict[str, Any]:
        """Keep a column of finite numbers rounded, any other exactly; returns where and how."""
        if column.size and np.isfinite(column).all():
            if np.ptp(column) == 0:
                return {"type": "constant", "data": float(column[0])}
            low, high = np.quantile(column, (0.05, 0.95))
            step = _STEP * float(high - low)
            if step > 0 and np.abs(column).max() < _MOST_STEPS * step:
                # The sign goes into the step, so that a column and its opposite are the same.
                first = column[np.flatnonzero(column)[0]]
                step = math.copysign(step, first)
                return self._put_steps(np.rint(column / step).astype(np.int64)) | {"step": step}
        return self.put_exactly(column)

    def put_exactly(self, column: Array) -> dict[str, Any]:
        """Keep a column to the last bit."""
        bits = np.ascontiguousarray(column).astype("<f8").view("<u8")
        return {"type": "f8", "data": self.put_bytes(np.concatenate([bits[:1], bits[1:] ^ bits[:-1]]), 8)}

    def _put_steps(self, steps: Array) -> dict[str, Any]:
        # The order of differences with the smallest sum of magnitudes; signs go into the lowest bit.
        differences = [steps, *(np.diff(steps, order, prepend=[0] * order) for order in (1, 2, 3))]
        order = int(np.argmin([np.abs(column[4:]).sum(dtype=float) for column in differences]))
        signed = differences[order]
        folded = ((signed << 1) ^ (signed >> 63)).astype("<u8")
        width = max(1, (int(folded.max()).bit_length() + 7) // 8)
        return {"type": "steps", "data": self.put_bytes(folded, width), "order": order, "width": width}

    def put_bytes(self, numbers: Array, width: int = 1) -> int:
        """Keep the lowest bytes of whole numbers, so many of each; returns where."""
        planes = np.ascontiguousarray(numbers, "<u8").view("u1").reshape(-1, 8)[:, :width].T.tobytes()
        place = self._places.setdefault(planes, self._size)
        if place == self._size:
            self._parts.append(planes)
            self._size += len(planes)
        return place

    def encode(self) -> str:
        """All columns, deflated, as base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")


def encode_columns(run: Run, columns: ColumnStore, more: Mapping[str, tuple[str, Array]] = EMPTY) -> dict[str, Any]:
    """Times and signals of a run as JSON-able values, their numbers in the store.

    `rows` is how many rows the run has, `kept` how many are here; fewer than `rows` where they were thinned. Then lines
    between them are straight, else as the `knots` (one byte a row) allow.

    Args:
        more: signals beside those of the run, with unit and values at its times.
    """
    extra = [values for _, values in more.values()]
    time, values = thin_rows(run.time, np.column_stack([run.values, *extra]) if extra else run.values)
    heads: list[dict[str, Any]] = [
        {"name": info.name, "unit": info.unit, "held": info.kind == "held", "rate": info.rate} for info in run.infos
    ]
    heads += [{"name": name, "unit": unit, "held": False, "rate": None} for name, (unit, _) in more.items()]
    signals = [head | columns.put(column) for head, column in zip(heads, values.T, strict=True)]
    knots = None if run.knots is None or time.size < run.time.size else columns.put_bytes(run.knots)
    stamps = columns.put_exactly(time)
    return {"rows": run.time.size, "kept": time.size, "time": stamps, "knots": knots, "signals": signals}


def choose_kind(column: Array) -> str:
    """Single precision, "f4", where it is as good to the eye, else "f8"."""
    finite = column[np.isfinite(column)]
    with np.errstate(over="ignore"):
        error = np.abs(finite.astype("<f4") - finite).max(initial=0.0)
    return "f4" if error <= _BLUR * (np.ptp(finite) if finite.size else 0.0) else "f8"


# Contents of a report: what does it say about a run beside its pictures? Plain values that the page's script shows.

MOST_EVENTS = 2000
_COUNTS = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks")

Plain = dict[str, Any]


def describe_run(
    run: Run,
    label: str,
    meshes: MeshStore | None = None,
    columns: ColumnStore | None = None,
    *,
    limit: float | None = None,
    budget: Budget | None = None,
    loops: LoopTable | None = None,
    results: Sequence[KeyResult] | None = None,
) -> Plain:
    """One run for the page, its meshes and columns put into the stores; texts are plain text, never markup.

    Args:
        limit, budget, loops: as `key_results` takes them.
        results: in place of its key results.
    """
    machine, note = read_machine(run, meshes)
    numbers = {name: entry for name, entry in run.provenance.parameters.items() if isinstance(entry, dict)}
    equations = run.provenance.equations
    brief = describe_briefly(run)
    causes, parts = describe_causes(budget, run.time)
    if results is None:
        results = key_results(run, limit=limit, budget=budget, loops=loops)
    return {
        "label": label,
        "title": str(run.provenance.description.get("title") or ""),
        **brief,
        "tiles": [describe_tile(result) for result in results],
        "limit": path_limit(run) if limit is None else limit,
        "causes": causes,
        "warnings": [*brief["warnings"], *find_undrawn(machine)],
        "machine": machine,
        "machine_note": note,
        "path": read_path(run, machine),
        "parameters": [[name, entry.get("value"), entry.get("unit", "")] for name, entry in numbers.items()],
        "equations": [str(line) for line in equations] if equations else None,
        "provenance": _provenance(run),
        **encode_columns(run, columns or ColumnStore(), parts),
    }


def describe_tile(result: KeyResult) -> Plain:
    """A key result as a tile: what is asked, the answer, what stands beside it, how it is judged."""
    texts = {"heading": result.heading, "answer": result.answer, "detail": result.detail}
    return texts | {"verdict": result.verdict, "value": result.value}


def describe_causes(budget: Budget | None, time: Array) -> tuple[list[Plain], dict[str, tuple[str, Array]]]:
    """Causes of a miss for the page's bars, and their courses at some times as signals."""
    shares = share_causes(budget) if budget is not None else None
    if shares is None:
        return [], {}
    causes, parts = [], {}
    for name, members, values in zip(shares.names, shares.members, shares.values, strict=True):
        signal = f"deviation by {name}"
        causes.append({"name": capitalise(name), "signal": signal, "members": list(members)})
        parts[signal] = (shares.unit, np.interp(time, shares.time, values))
    return causes, parts


def describe_briefly(run: Run) -> Plain:
    """How a run went: outcome, warnings, certificate, statistics, events."""
    return {
        "outcome": _outcome(run.outcome),
        "warnings": list(run.warnings),
        "limits": [passed.sentence for passed in run.passed_limits],
        **describe_certificate(run),
        "statistics": _statistics(run),
        "events": [{"name": e.name, "time": e.time, "terminal": e.terminal} for e in run.events[:MOST_EVENTS]],
        "more_events": max(0, len(run.events) - MOST_EVENTS),
    }


def find_undrawn(machine: Plain | None) -> list[str]:
    """Sentences on looks that are not drawn."""
    return [sentence for body in (machine["bodies"] if machine else []) for sentence in body.get("undrawn", [])]


def match_signals(runs: Sequence[Run], patterns: Sequence[str]) -> list[str]:
    """Signals that match patterns, in the order of recording; a pattern that none matches is refused."""
    names = list(dict.fromkeys(name for run in runs for name in run.names))
    for pattern in find_unmatched(patterns, names):
        raise ValueError(f"no signal matches '{pattern}' ({nearest(pattern, names)})")
    return [name for name in names if fits(name, patterns)]


def _outcome(outcome: Outcome) -> Plain:
    state = next(word for word in ("ok", "suspect", "cut_short", "failed") if getattr(outcome, word)).replace("_", " ")
    return {
        "kind": outcome.kind.name.lower().replace("_", " "),
        "state": state,
        "sentence": outcome.sentence,
        "time": outcome.time,
    }


def describe_certificate(run: Run) -> Plain:
    """Every check as [what, value, limit, whether it holds]; errors of signals and what a second solution says."""
    rows = []
    for check in run.certificate:
        name = f"{check.name} ({check.subject})" if check.subject else check.name
        rows.append(
            [name, show_number(check.value, 3), f"{show_number(check.limit, 3)} {check.unit}".rstrip(), check.ok]
        )
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
    elif heading := _HEADING.match(line):
        blocks.append({"kind": "heading" if len(heading[1]) < 3 else "subheading", "text": heading[2]})
    elif heading := _ITEM.match(line):
        if last["kind"] == "list":
            last["items"].append(heading[1])
        else:
            blocks.append({"kind": "list", "items": [heading[1]]})
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
    description = run.provenance.description
    read_geometry(description, asked, MeshStore())
    blocks = {str(block["name"]) for block in (description.get("machine") or {}).get("blocks") or ()}
    sliders = []
    for slider in live.sliders:
        words = slider.name.split(".")
        owners = {".".join(words[:k]) for k in range(1, len(words))}
        group = "start" if words[0] == "initial" else "drives and control" if owners & blocks else "mechanism"
        plain = {"name": slider.name, "value": slider.value, "unit": slider.unit, "range": slider.ends}
        sliders.append(plain | {"sign": slider.sign, "group": group, "drawn": slider.name in asked.names})
    return {"module": base64.b64encode(live.module).decode("ascii"), "sliders": sliders, "digest": live.digest}
