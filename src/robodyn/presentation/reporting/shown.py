"""Displays by kind of object: which tables and pictures say most about it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .displays import Display, make_table, to_html
from .figures import COLOURS

if TYPE_CHECKING:
    from robodyn.analysis.accuracy.sheet import Sheet
    from robodyn.analysis.budget.result import Budget
    from robodyn.analysis.fitting.result import Fit
    from robodyn.analysis.linear.linear_model import LinearModel
    from robodyn.analysis.linear.loop_table import LoopTable
    from robodyn.analysis.linear.modes import ModeSet
    from robodyn.analysis.sweeps.table import SweepTable
    from robodyn.computation.results import Comparison, Run, Signal
    from robodyn.description.model import Machine, Scenario

NOTHING = 1e-9
"""Part of the total that is rounding."""
MOST_SIGNALS = 12


def show_machine(machine: Machine) -> Display:
    mechanism = machine.mechanism
    joints = mechanism.joints if mechanism else ()
    masses = {number.name: number.value for number in (mechanism.numbers() if mechanism else ())}
    rows = [
        (joint.name, joint.kind, f"{joint.parent} → {joint.child}", masses.get(f"{joint.child}.mass", ""))
        for joint in joints
    ]
    tables = [make_table(("joint", "kind", "from → to", "mass [kg]"), rows)] if rows else []
    if machine.blocks:
        blocks = [
            (block.name, block.law_name, "" if block.period is None else block.period) for block in machine.blocks
        ]
        tables.append(make_table(("block", "law", "period [s]"), blocks))
    counts = {"constraints": machine.constraints, "contacts": machine.contacts, "loads": machine.loads}
    others = ", ".join(f"{len(parts)} {what}" for what, parts in counts.items() if parts)
    return Display(f"Machine {machine.name}", (others,) if others else (), tuple(tables))


def show_scenario(scenario: Scenario) -> Display:
    solver = scenario.solver
    how = f"{scenario.duration:g} s by {solver.method}" + (f", rtol {solver.rtol:g}" if solver.adaptive else "")
    starts = make_table(("start", "value"), list(scenario.initial.items()))
    machine = show_machine(scenario.machine)
    said = tuple(text for text in (scenario.title, how, *machine.sentences) if text)
    return Display(f"Scenario {scenario.name}", said, (*machine.tables, *((starts,) if scenario.initial else ())))


def show_run(run: Run) -> Display:
    from .timeseries import draw_signals

    signals = [run[name] for name in run.names] if run.time.size else []
    rows = [(signal.name, signal.unit, signal.min, signal.max, float(signal.values[-1])) for signal in signals]
    said = [run.outcome.sentence, *(f"warning: {sentence}" for sentence in run.warnings)]
    if checks := list(run.certificate):
        broken = [check.name for check in checks if not check.ok]
        said.append(f"{len(checks)} checks " + (f"violated: {', '.join(broken)}" if broken else "kept"))
    table = make_table(("signal", "unit", "smallest", "largest", "last"), rows, MOST_SIGNALS)
    figures = (lambda: draw_signals(run),) if run.time.size > 1 and run.names else ()
    return Display(f"Run of {run.provenance.scenario}", tuple(said), (table,), figures)


def show_signal(signal: Signal) -> Display:
    from .timeseries import draw_signal

    rows: list[tuple[str, float]] = [("samples", signal.time.size)]
    if signal.time.size:
        rows += [("smallest", signal.min), ("largest", signal.max), ("last", float(signal.values[-1]))]
    table = make_table((signal.name, signal.unit), rows)
    notes = (signal.note,) if signal.note else ()
    return Display(
        f"Signal {signal.name}", notes, (table,), (lambda: draw_signal(signal),) if signal.time.size > 1 else ()
    )


def show_comparison(found: Comparison) -> Display:
    ordered = sorted(found, key=lambda difference: -difference.relative)
    rows = [(d.name, d.unit, d.max_abs, d.relative, d.at_time, d.rms) for d in ordered]
    table = make_table(("signal", "unit", "largest difference", "relative", "at [s]", "rms"), rows, MOST_SIGNALS)
    alone = [
        (f"only in the {which}", names)
        for which, names in (("first", found.only_in_first), ("second", found.only_in_second))
    ]
    said = tuple(f"{what}: {', '.join(names)}" for what, names in alone if names)
    return Display(f"{len(found)} signals compared from {found.span[0]:g} s to {found.span[1]:g} s", said, (table,))


def show_linear(model: LinearModel) -> Display:
    from .poles import draw_poles

    parts = {"states": model.states, "inputs": model.inputs, "outputs": model.outputs}
    names = {what: [entry.name for entry in entries] for what, entries in parts.items()}
    names["delays"] = [delay.name for delay in model.delays]
    named = [(what, len(found), ", ".join(found[:8])) for what, found in names.items() if found]
    return Display(
        "Linear model", tuple(model.notes), (make_table(("", "", "names"), named),), (lambda: draw_poles(model),)
    )


def show_modes(found: ModeSet) -> Display:
    from .modes import draw_modes
    from .poles import draw_poles

    rows = [
        (
            mode.frequency,
            mode.damping,
            mode.time_constant,
            ", ".join(f"{n} {100 * mode.participation[n]:.0f} %" for n in mode.dominant()),
        )
        for mode in found
    ]
    table = make_table(("frequency [Hz]", "damping", "time constant [s]", "states"), rows, 20)
    picture = (
        (lambda: draw_modes(found)) if any(mode.displaced for mode in found.moving) else (lambda: draw_poles(found))
    )
    return Display(f"{len(found)} modes", tuple(found.model.notes), (table,), (picture,))


def show_loops(found: LoopTable) -> Display:
    from .loops import draw_loops

    heads = ("loop", "crossover [Hz]", "bandwidth [Hz]", "gain from", "to", "phase [deg]", "delay [ms]", "")
    rows = [
        (
            r.name,
            r.crossover,
            r.bandwidth,
            m.gain_from,
            m.gain_to,
            m.phase,
            1e3 * m.delay,
            "" if m.stable else "unstable",
        )
        for r in found.rows
        for m in [r.margins]
    ]
    # A figure has no more colours: those with the least phase to lose are drawn.
    drawn = sorted(found.rows, key=lambda row: row.margins.phase)[: len(COLOURS)]
    left_out = f"drawn are the {len(drawn)} loops with the smallest phase margins"
    notes = [*found.model.notes, *([left_out] if len(drawn) < len(found.rows) else [])]
    figures = (lambda: draw_loops(replace(found, rows=tuple(drawn))),) if drawn else ()
    return Display(f"{len(found.rows)} control loops", tuple(notes), (make_table(heads, rows),), figures)


def show_sweep(found: SweepTable) -> Display:
    from .sweeps import draw_measure

    rows = [(name, found.units.get(name, ""), *found.percentiles(name)) for name in found.measures]
    table = make_table(("measure", "unit", "least", "5 %", "median", "95 %", "largest"), rows)
    failures = [f"{count} of them {kind}" for kind, count in found.failures.items()]
    measures = list(found.measures)[:1] if len(found) > 1 else []
    figures = tuple(lambda measure=name: draw_measure(found, measure) for name in measures)
    return Display(f"Sweep of {len(found)} runs", tuple(failures), (table,), figures)


def show_fit(found: Fit) -> Display:
    from .fitted import draw_fit

    rows = [
        (p.name, p.unit, p.value, p.lower, p.upper, p.given, "at its bound" if p.at_bound else "")
        for p in found.parameters
    ]
    table = make_table(("parameter", "unit", "estimate", "from", "to", "given", ""), rows)
    met = [(s.name, s.unit, s.rms, s.noise, s.r_squared) for s in found.signals]
    signals = make_table(("signal", "unit", "rms residual", "noise", "R²"), met)
    heading = f"Fit of {len(found.parameters)} parameters: {found.agreeing} of {len(found.starts)} starts agree"
    return Display(heading, tuple(found.warnings), (table, signals), (lambda: draw_fit(found),))


def show_budget(found: Budget) -> Display:
    from .budget import draw_budget, small_unit

    tables = []
    for signal in found.signals:
        unit, factor = small_unit(found.run[signal].unit)
        lines = found.table(signal)
        least = NOTHING * lines[-1].largest
        rows = [
            (
                row.name,
                row.what,
                factor * row.largest,
                factor * row.rms,
                factor * row.at_worst,
                f"{100 * row.share:.1f} %",
            )
            for row in lines
            if row.largest > least
        ]
        tables.append(
            make_table((f"{signal} [{unit}]", "of", "largest", "rms", "where total is largest", "share"), rows)
        )
    said = (f"remainder: {100 * found.remainder_share:.2g} % of the largest total",)
    return Display("Error budget", said, tuple(tables), (lambda: draw_budget(found),))


def show_sheet(found: Sheet) -> Display:
    from .accuracy_sheet import draw_sheet, shown_value

    rows = [(f.symbol, f.name, f.pose, shown_value(f, f.value), f.cycles) for f in found.figures]
    table = make_table(("", "figure", "pose", "value", "cycles"), rows, 80)
    said = (f"Performance by ISO 9283, simulated; draws by seed {found.seed}", *found.notes)
    return Display(f"ISO 9283: {found.title or found.scenario}", said, (table,), (lambda: draw_sheet(found),))


def _html_of(show: Any) -> Any:
    return lambda found: to_html(show(found))


machine_html = _html_of(show_machine)
scenario_html = _html_of(show_scenario)
run_html = _html_of(show_run)
signal_html = _html_of(show_signal)
comparison_html = _html_of(show_comparison)
linear_html = _html_of(show_linear)
modes_html = _html_of(show_modes)
loops_html = _html_of(show_loops)
sweep_html = _html_of(show_sweep)
fit_html = _html_of(show_fit)
budget_html = _html_of(show_budget)
sheet_html = _html_of(show_sheet)
