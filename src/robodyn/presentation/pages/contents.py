"""Contents of a report: what does it say about a run beside its pictures? Plain values that the page's script shows."""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from robodyn.base.errors import nearest
from robodyn.computation.results import Outcome, Run

from .columns import encode_columns
from .machine import read_machine
from .mesh_store import MeshStore

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
