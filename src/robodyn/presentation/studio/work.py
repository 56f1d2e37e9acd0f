"""Process of a job: a specification comes in as a line of JSON, progress and the result go out as lines of JSON.

A result is what a reader sees: `tables` of rows, `curves` to draw, `notes`, and `values` that can be taken over.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from robodyn.base.errors import Flaw, ModelError
from robodyn.description.model import Scenario, ScenarioSequence
from robodyn.presentation.pages.contents import make_finite

from .source import Source

Plain = dict[str, Any]
Tell = Callable[..., None]
MOST_POINTS = 400
"""Of a curve."""


def find_loops(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """Bandwidth and margins of the sampled loops, and their gains over frequency."""
    import numpy as np

    from robodyn.analysis.linear.loop_table import loop_table

    table = loop_table(scenario, at=options.get("at", "start"))
    heads = ["loop", "crossover [Hz]", "bandwidth [Hz]", "gain from", "to", "phase [deg]", "delay [ms]", "stable"]
    rows, curves = [], []
    for row in table.rows:
        m = row.margins
        rows.append([row.name, row.crossover, row.bandwidth, m.gain_from, m.gain_to, m.phase, 1e3 * m.delay, m.stable])
        every = max(1, len(row.gain.frequency) // MOST_POINTS)
        decibels = 20 * np.log10(np.maximum(np.abs(row.gain.values), 1e-12))
        curves.append({"name": row.name, "x": row.gain.frequency[::every].tolist(), "y": decibels[::every].tolist()})
    picture = {"x": "frequency [Hz]", "y": "loop gain [dB]", "log": True, "curves": curves}
    none = [] if rows else ["No sampled block with gains acts back on itself."]
    return {"tables": [{"heads": heads, "rows": rows}], "picture": picture, "notes": [*table.model.notes, *none]}


def list_modes(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """Frequencies, damping and leading states."""
    from robodyn.analysis.linear.modes import find_modes
    from robodyn.computation.assembly import assemble

    found = find_modes(assemble(scenario), at=options.get("at", "start"))
    rows = [
        ["free", None, None, ", ".join(name for name, size in mode.shape.items() if abs(size) > 0.1)]
        if mode in found.free
        else [mode.frequency, mode.damping, mode.time_constant, _shares(mode)]
        for mode in found
    ]
    heads = ["frequency [Hz]", "damping", "time constant [s]", "states that take part"]
    return {"tables": [{"heads": heads, "rows": rows}], "notes": list(found.model.notes)}


def _shares(mode: Any) -> str:
    return ", ".join(f"{name} {100 * mode.participation[name]:.0f} %" for name in mode.dominant())


def certify(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """Errors of all signals by a second solution."""
    from robodyn.computation.simulation import simulate

    run = simulate(scenario, certify=True, progress=lambda t, *_: tell(f"{t:.3g} of {scenario.duration:g} s"))
    bars = run.errors.bars.items() if run.errors else ()
    rows = [[name, bar.error, bar.unit, bar.time] for name, bar in bars]
    notes = run.errors.lines() if run.errors else [run.outcome.sentence]
    return {"tables": [{"heads": ["signal", "largest error", "unit", "at [s]"], "rows": rows}], "notes": notes}


def sweep(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """A measure of the motion over values of a number, or of draws around it."""
    import numpy as np

    from robodyn.analysis.sweeps.plan import plan_sweep
    from robodyn.analysis.sweeps.progress import SweepProgress
    from robodyn.analysis.sweeps.runner import run_sweep
    from robodyn.analysis.sweeps.sampling import Distribution

    name, count = str(options["number"]), int(options["count"])
    low, high = float(options["from"]), float(options["to"])
    if options.get("random"):
        varied: Plain = {"random": {name: Distribution("uniform", (low, high))}, "runs": count}
    else:
        varied = {"vary": {name: np.linspace(low, high, count).tolist()}}
    measures = [one for one in [str(options.get("measure", "")).strip()] if one]
    plan = plan_sweep(scenario, measures=measures, **varied)

    def progress(at: SweepProgress) -> None:
        tell(f"{at.done} of {at.total} runs", at.done / at.total)

    table = run_sweep(plan, None, progress=progress)
    values = table.inputs[plan.names[0]]
    order = np.argsort(values)
    rows = [
        [float(values[k]), *(float(column[k]) for column in table.measures.values()), table.outcomes[k]] for k in order
    ]
    units = [f"{key} [{table.units[key] or '1'}]" for key in (plan.names[0], *table.measures)]
    shown = next(iter(table.measures))
    points = {"x": values[order].tolist(), "y": table.measures[shown][order].tolist()}
    picture = {"x": units[0], "y": units[1], "log": False, "curves": [{"name": shown, **points}]}
    notes = [f"{n} runs ended: {why}" for why, n in table.failures.items()]
    return {"tables": [{"heads": [*units, "outcome"], "rows": rows}], "picture": picture, "notes": notes}


def tune(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """Gains that make a measure smallest within limits."""
    from robodyn.analysis.tuning.tune import TuneProgress, tune_gains

    def progress(at: TuneProgress) -> None:
        best = f"{at.first:.4g} → {at.best:.4g} {at.unit}" if at.best == at.best else "no allowed gains yet"
        tell(f"{at.evaluations} evaluations, {best}")

    limits = _split(options.get("limits", ""))
    found = tune_gains(scenario, _split(options["free"]), options["minimise"], limits=limits, progress=progress)
    gains = [[gain.name, gain.before, gain.after, gain.unit, gain.at_bound] for gain in found.gains]
    bounds = [[f"{limit.text} {limit.loop}".strip(), limit.before, limit.after, limit.unit] for limit in found.limits]
    tables = [{"heads": ["gain", "before", "after", "unit", "at its bound"], "rows": gains}]
    tables += [{"heads": ["limit", "before", "after", "unit"], "rows": bounds}] if bounds else []
    change = f"{found.objective}: {found.before:.5g} → {found.after:.5g} {found.unit}"
    return {"tables": tables, "notes": [change, *found.notes], "values": found.values}


def fit(scenario: Scenario, options: Plain, tell: Tell) -> Plain:
    """Numbers that make the scenario agree with measured data."""
    from robodyn.analysis.fitting.fit import FitProgress, fit_parameters
    from robodyn.analysis.identification.result import interval_heading
    from robodyn.analysis.measurement.measured import read_measured
    from robodyn.computation.results import RunFileError, load

    path = Path(options["folder"]) / str(options["data"])
    if not path.is_file():
        raise ModelError([Flaw("data", f"there is no file '{path}'", "a path as seen from the scenario's folder")])
    try:
        data = load(path) if path.suffix == ".run" else read_measured(path)
    except RunFileError as error:
        raise ModelError([Flaw("data", str(error))]) from error

    def progress(at: FitProgress) -> None:
        tell(f"simulation {at.evaluations}, cost {at.cost:.4g}")

    found = fit_parameters(scenario, data, _split(options["free"]), progress=progress)
    numbers = [[p.name, p.given, p.value, p.lower, p.upper, p.unit] for p in found.parameters]
    signals = [[s.name, s.rms, s.unit, s.r_squared] for s in found.signals]
    tables = [
        {"heads": ["number", "given", "fitted", f"{interval_heading(found.doubt)} from", "to", "unit"], "rows": numbers}
    ]
    tables += [{"heads": ["signal", "residual rms", "unit", "explained"], "rows": signals}]
    values = {p.name: p.value for p in found.parameters}
    return {"tables": tables, "notes": list(found.warnings), "values": values}


def _split(text: str) -> list[str]:
    return [part.strip() for part in str(text).split(",") if part.strip()]


TASKS: dict[str, Callable[[Scenario, Plain, Tell], Plain]] = {
    "loops": find_loops,
    "modes": list_modes,
    "certify": certify,
    "sweep": sweep,
    "tune": tune,
    "fit": fit,
}


def carry_out(spec: Plain, tell: Tell) -> Plain:
    """The last message of a job: its result, or its flaws."""
    source = Source(spec["source"])
    try:
        if spec["kind"] not in TASKS:
            raise ModelError([Flaw("", f"there is no job '{spec['kind']}'")])
        tell("reading the scenario")
        what = source.read(spec["text"])
        if isinstance(what, ScenarioSequence):
            raise ModelError([Flaw("", "is a sequence of scenarios: name one of them", "")])
        options = spec["options"] | {"folder": str(source.folder)}
        return {"result": TASKS[spec["kind"]](what.with_numbers(spec["values"]), options, tell)}
    except ModelError as error:
        return {"flaws": [asdict(flaw) for flaw in error.flaws]}
    except (ValueError, KeyError, ArithmeticError) as error:
        return {"flaws": [asdict(Flaw("", f"{type(error).__name__}: {error}"))]}


def main() -> None:
    """Listen, work, answer."""
    out, sys.stdout = sys.stdout, sys.stderr

    def send(message: Plain, stream: TextIO = out) -> None:
        stream.write(json.dumps(make_finite(message), allow_nan=False) + "\n")
        stream.flush()

    def tell(text: str, share: float | None = None) -> None:
        send({"progress": text, "share": share})

    spec = json.loads(sys.stdin.readline())
    threading.Thread(target=_watch, daemon=True).start()
    send(carry_out(spec, tell))


def _watch() -> None:
    """End where the studio has ended, however that came."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
