"""Summary of a run: how does it read at a glance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base.plain import align

if TYPE_CHECKING:
    from .run import Run

_EVENTS_SHOWN = 10
_STARTS_SHOWN = 10
SIGNALS_SHOWN = 20


def summarise(run: Run, signals: bool | None = None) -> str:
    """A run as lines of text: outcome, costs, warnings, limits passed, checks, start values found, events, signals."""
    message = [_warnings(run), _limits(run), run.certificate.lines(), _errors(run), list_found(run.found)]
    shown = len(run) if signals else SIGNALS_SHOWN
    blocks = [_head(run), *message, _events(run), [] if signals is False else list_signals(run, shown)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(run: Run) -> list[str]:
    counts = run.statistics
    lines = [
        f"{run.provenance.scenario}: {run.outcome.kind.name} at {run.outcome.time:.6g} s",
        run.outcome.sentence,
        f"{_count(run.time.size, 'rows')} of {_count(len(run), 'signals')}, model {run.provenance.digest[:12]}",
    ]
    if counts.wall_time > 0:
        lines.append(f"{counts.wall_time:.3g} s of computing, {counts.times_real_time:.3g} times real time")
    if counts.steps:
        lines.append(_costs(run))
    return lines + [f"{name.replace('_', ' ')}: {_shown(value)}" for name, value in counts.extra.items()]


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _costs(run: Run) -> str:
    names = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks")
    counts = ((name, getattr(run.statistics, name)) for name in names)
    return ", ".join(_count(count, name) for name, count in counts if count)


def _count(count: int, nouns: str) -> str:
    """A number of things, in the singular where it is one."""
    return f"{count} {nouns.removesuffix('s') if count == 1 else nouns}"


def _warnings(run: Run) -> list[str]:
    return [f"warning: {sentence}" for sentence in run.warnings]


def _limits(run: Run) -> list[str]:
    return [f"limit: {passed.sentence}" for passed in run.passed_limits]


def list_found(found: Mapping[str, tuple[float, float]]) -> list[str]:
    """Start values that were found, each with what was described."""
    lines = [f"start {name}: {given:.6g} described, {new:.6g} found" for name, (given, new) in found.items()]
    more = len(lines) - _STARTS_SHOWN
    return [*lines[:_STARTS_SHOWN], f"and {more} more start values found"] if more > 0 else lines


def _errors(run: Run) -> list[str]:
    return run.errors.lines() if run.errors else []


def _events(run: Run) -> list[str]:
    shown = run.events[:_EVENTS_SHOWN]
    lines = [f"event {e.name} at {e.time:.9g} s{', terminal' if e.terminal else ''}" for e in shown]
    more = len(run.events) - len(shown)
    return lines + [f"and {more} more events"] if more else lines


def list_signals(run: Run, most: int) -> list[str]:
    """One row a signal, of the first ones; signals without any number show 'nan'."""
    if run.time.size == 0:
        return []
    errors = run.errors.bars if run.errors else {}
    rows: list[Sequence[str]] = [("signal", "unit", "min", "max", "final", *(["error"] if errors else []))]
    for name in run.names[:most]:
        signal = run[name]
        numbers = signal.values[~np.isnan(signal.values)]
        low, high = (numbers.min(), numbers.max()) if numbers.size else (np.nan, np.nan)
        # Adding 0 turns a negative zero into a plain one.
        shown = [f"{value + 0.0:.6g}" for value in (low, high, signal.final)]
        if errors:
            shown.append(f"{errors[name].error:.2g}" if name in errors else "")
        rows.append((name, signal.unit, *shown))
    notes = ["", *(info.note for info in run.infos[:most])]
    sides = "<<>>>>"[: len(rows[0])]
    lines = [f"{line}  {note}".rstrip() for line, note in zip(align(rows, sides), notes, strict=True)]
    more = len(run) - most
    return [*lines, f"and {more} more signals: summary(signals=True) shows all"] if more > 0 else lines
