"""Summaries of runs: how did it go, in words and tables? The answers first, then checks, events, signals and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.units import ROUNDING, show_number, show_quantities, show_quantity

from .displays import Display, DisplayFigure, Part, Table, shows, to_text
from .runs import draw_signal, draw_signals, quantity

if TYPE_CHECKING:
    from robodyn.analysis.key_result import KeyResult
    from robodyn.computation.cosimulation import CosimulationRun
    from robodyn.computation.results import Certificate, Comparison, EventRecord, Outcome, Run, Signal
    from robodyn.computation.results.run import EventList

MOST_EVENTS = MOST_STARTS = 10
MOST_SIGNALS = 20
_COUNTS = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks")


@shows
def show_run(run: Run) -> Display:
    """The key results, checks, events and ranges of the first signals, and a picture."""
    from robodyn.analysis.key_result import key_results

    return summarise(run, key_results(run), statistics=True)


def summarise(
    run: Run, results: Sequence[KeyResult] = (), *, signals: bool | None = None, statistics: bool = False
) -> Display:
    """Summarise a run.

    Args:
        results: its answers, which come first.
        signals: whether all signals are listed, or none; by default the first ones.
        statistics: whether its costs are told.
    """
    parts: list[Part] = [f"{run.provenance.scenario}: {run.outcome.sentence}"]
    if results:
        parts += ["", result_table(results)]
    sentences: list[Part] = [f"warning: {sentence}" for sentence in run.warnings]
    sentences += [f"limit: {passed.sentence}" for passed in run.passed_limits]
    sentences += [*show_certificate(run.certificate).parts]
    sentences += [*(run.errors.lines() if run.errors else []), *list_starts(run.found)]
    parts += ["", *sentences] if sentences else []
    if run.events:
        parts += ["", event_table(run.events)]
    if signals is not False and run.time.size:
        parts += ["", signal_table(run, len(run) if signals else MOST_SIGNALS)]
    if statistics:
        parts += ["", statistics_table(run)]
    if run.time.size > 1 and run.names:
        parts.append(DisplayFigure("Signals", lambda: draw_signals(run)))
    return Display(f"Run of {run.provenance.scenario}", parts, verdict=judge_outcome(run.outcome))


def summary_of(run: Run, signals: bool | None = None, statistics: bool = False) -> str:
    """`run.summary()`: the key results, checks, events and the ranges of signals as lines of text.

    Args:
        signals: whether all signals are listed, or none; by default the first ones.
        statistics: whether steps, evaluations and computing time are told.
    """
    from robodyn.analysis.key_result import key_results

    return to_text(summarise(run, key_results(run), signals=signals, statistics=statistics))


def judge_outcome(outcome: Outcome) -> str:
    """Good, fair or bad."""
    if outcome.ok:
        return "good"
    return "bad" if outcome.failed else "fair"


def result_table(results: Sequence[KeyResult]) -> Table:
    """The key results: what is asked, the answer, and what stands beside it."""
    marks = {"bad": "!", "fair": "?"}
    rows = []
    for result in results:
        answer = f"{result.answer} {marks.get(result.verdict, '')}".rstrip()
        rows.append((result.heading, answer, result.detail))
    return Table(("", "", ""), rows)


@shows
def show_certificate(certificate: Certificate) -> Display:
    """Every check that is violated, and of the others the worst of each name; and what was not checked."""
    passed = len(certificate) - len(certificate.violated)
    parts: list[Part] = []
    if certificate.checks:
        names = dict.fromkeys(check.name for check in certificate)
        rows = []
        for check in [*certificate.violated, *(certificate[name] for name in names if certificate[name].ok)]:
            name = f"{check.name} ({check.subject})" if check.subject else check.name
            rows.append((name, check.value, check.limit, check.unit, "passed" if check.ok else "VIOLATED"))
        heads = ("check", "worst", "allowed", "unit", f"{passed} of {len(certificate)} passed")
        parts.append(Table(heads, rows, ".3g", by_row=("worst", "allowed")))
    parts += [f"not checked: {sentence}" for sentence in certificate.unchecked]
    verdict = "good" if certificate.ok else "bad"
    return Display(f"{passed} of {len(certificate)} checks passed", parts, verdict=verdict)


@shows
def show_events(events: EventList) -> Display:
    """When which event happened."""
    return Display(f"{len(events)} events", [event_table(events)])


def event_table(events: Sequence[EventRecord]) -> Table:
    """Names and times of events."""
    rows = [(event.name, f"{event.time:.9g} s", "terminal" if event.terminal else "") for event in events]
    return Table(("event", "at", ""), rows, most_printed=MOST_EVENTS)


def signal_table(run: Run, most: int) -> Table:
    """Ranges of signals, a row each; signals without any number show a dash."""
    errors = run.errors.bars if run.errors else {}
    noted = any(info.note for info in run.infos)
    rows = []
    for info, values in zip(run.infos, run.values.T, strict=True):
        numbers = values[~np.isnan(values)]
        ends = (float(numbers.min()), float(numbers.max())) if numbers.size else (np.nan, np.nan)
        row: list[Any] = [info.name, *ends, float(values[-1])]
        row += [errors[info.name].error if info.name in errors else None] if errors else []
        rows.append([*row, info.unit, *([info.note] if noted else [])])
    numbers_in = ("smallest", "largest", "last", *(["error"] if errors else []))
    heads = ("signal", *numbers_in, "unit", *([""] if noted else []))
    return Table(heads, rows, ".5g", most=MOST_SIGNALS, most_printed=most, by_row=numbers_in)


def statistics_table(run: Run) -> Table:
    """The cost of a run, and its model."""
    counts = run.statistics
    rows: list[tuple[str, Any]] = [(name, getattr(counts, name)) for name in _COUNTS if getattr(counts, name)]
    if counts.wall_time > 0:
        speed = f"{counts.times_real_time:.3g} times real time"
        rows.append(("computing", f"{show_quantity(counts.wall_time, 's', 3)}, {speed}"))
    rows += [(name.replace("_", " "), value) for name, value in counts.extra.items()]
    rows += [("rows", run.time.size), ("signals", len(run)), ("model", run.provenance.digest[:12])]
    return Table(("statistics", ""), [(name, show_value(value)) for name, value in rows])


def show_value(value: object) -> str:
    """A statistic as text."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def list_starts(starts: Mapping[str, tuple[float, float]]) -> list[str]:
    """Start values that were found and are not what was described, each beside it."""
    sizes: dict[str, float] = {}
    for name, pair in starts.items():
        sizes[quantity(name)] = max(sizes.get(quantity(name), 0.0), *map(abs, pair))
    lines = []
    for name, (described, new) in starts.items():
        # Rounding moves what stays as it is, too.
        if abs(new - described) > ROUNDING * sizes[quantity(name)]:
            lines.append(f"start {name}: {show_number(described, 6)} described, {show_number(new, 6)} found")
    more = len(lines) - MOST_STARTS
    return [*lines[:MOST_STARTS], f"and {more} more start values found"] if more > 0 else lines


@shows
def show_signal(signal: Signal) -> Display:
    """Range and picture of one signal."""
    rows: list[tuple[str, str]] = [("samples", str(signal.time.size))]
    unit = signal.unit
    parts: list[Part] = []
    if signal.time.size:
        numbers, unit = show_quantities([signal.min, signal.max, signal.final], signal.unit)
        rows += zip(("smallest", "largest", "last"), numbers, strict=True)
    parts.append(Table((signal.name, unit), rows))
    if signal.time.size > 1:
        parts.append(DisplayFigure(signal.name, lambda: draw_signal(signal)))
    return Display(f"Signal {signal.name}", parts, notes=(signal.note,) if signal.note else ())


@shows
def show_comparison(comparison: Comparison) -> Display:
    """Differences of all signals, the largest by the signal's size first."""
    rows = []
    for apart in sorted(comparison, key=lambda difference: -difference.relative):
        rows.append((apart.name, apart.max_abs, apart.rms, apart.unit, apart.at_time))
    heads, digits = ("signal", "largest", "rms", "unit", "at [s]"), ("", ".4g", ".4g", "", ".4f")
    parts: list[Part] = [Table(heads, rows, digits, most=MOST_SIGNALS, by_row=("largest", "rms"))]
    for which, names in (("first", comparison.only_in_first), ("second", comparison.only_in_second)):
        if names:
            parts.append(f"only in the {which}: {', '.join(names)}")
    begin, end = comparison.span
    return Display(f"{len(comparison)} signals compared from {begin:g} s to {end:g} s", parts)


@shows
def show_cosimulation(run: CosimulationRun) -> Display:
    """Outcome, the coupling and its checks, and each subsystem's run."""
    counts = run.statistics
    steps = f"{run.describe_steps()}, {counts.rejected} rejected"
    parts: list[Part] = [f"{run.name}: {run.outcome.sentence}"]
    parts.append(f"{steps}, {show_quantity(counts.wall_time, 's', 3)} of computing")
    final = run.coupling.final if run.coupling.time.size else {}
    rows = []
    for name in (name for name in final if name.endswith((".energy_error", ".gap", ".condition"))):
        signal = run.coupling[name]
        rows.append((name, signal.final, signal.peak, signal.unit))
    if rows:
        parts += ["", Table(("coupling", "at the end", "largest", "unit"), rows, by_row=("at the end", "largest"))]
    parts += show_certificate(run.certificate).parts
    for name, own in run.runs.items():
        parts += ["", *_describe_subsystem(name, own)]
    parts += [f"warning: {sentence}" for sentence in run.warnings]
    return Display(f"Co-simulation {run.name}", parts, verdict=judge_outcome(run.outcome))


def _describe_subsystem(name: str, run: Run) -> Iterator[Part]:
    micro = f"{run.statistics.steps} steps" if run.statistics.steps else "no record of its steps"
    yield f"{name}: {micro}, {run.time.size} rows of {len(run)} signals"
    yield from (f"{name}: {line}" for line in list_starts(run.found))
    if run.errors is not None:
        yield from run.errors.lines()
        yield signal_table(run, MOST_SIGNALS)
