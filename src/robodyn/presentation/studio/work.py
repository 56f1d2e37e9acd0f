"""Process of a job: a specification comes in as a line of JSON, progress and the result go out as lines of JSON.

A task returns a result, and what a reader sees is its display, as everywhere: tables, curves, sentences, and numbers
that can be taken over.
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
from robodyn.presentation.reporting.displays import Display, Table, display, to_studio

from .source import Source

Plain = dict[str, Any]
Tell = Callable[..., None]


def find_loops(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """Bandwidth and margins of the sampled loops, and their gains over frequency."""
    from robodyn.analysis.linear.loop_table import loop_table

    return loop_table(scenario, at=options.get("at", "start"))


def list_modes(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """Frequencies, damping and leading states."""
    from robodyn.analysis.linear.modes import find_modes
    from robodyn.computation.assembly import assemble

    return find_modes(assemble(scenario), at=options.get("at", "start"))


def certify(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """Errors of all signals by a second solution."""
    from robodyn.computation.simulation import simulate

    run = simulate(scenario, certify=True, progress=lambda t, *_: tell(f"{t:.3g} of {scenario.duration:g} s"))
    if run.errors is None:
        return Display("Errors", notes=[run.outcome.sentence])
    rows = [(name, bar.error, bar.unit, bar.time) for name, bar in run.errors.bars.items()]
    return Display("Errors", [Table(("signal", "largest error", "unit", "at [s]"), rows)], notes=run.errors.lines())


def sweep(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """A measure of the motion over values of a number, or of draws around it."""
    import numpy as np

    from robodyn.analysis.sweeps.plan import plan_sweep
    from robodyn.analysis.sweeps.runner import SweepProgress, run_sweep
    from robodyn.analysis.sweeps.variation import Distribution

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

    return run_sweep(plan, None, progress=progress)


def tune(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """Gains that make a measure smallest within limits."""
    from robodyn.analysis.tuning.tune import TuneProgress, tune_gains

    def progress(at: TuneProgress) -> None:
        best = f"{at.first:.4g} → {at.best:.4g} {at.unit}" if at.best == at.best else "no allowed gains yet"
        tell(f"{at.evaluations} evaluations, {best}")

    limits = _split(options.get("limits", ""))
    return tune_gains(scenario, _split(options["free"]), options["minimise"], limits=limits, progress=progress)


def fit(scenario: Scenario, options: Plain, tell: Tell) -> Any:
    """Numbers that make the scenario agree with measured data."""
    from robodyn.analysis.fitting.fit import FitProgress, fit_parameters
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

    return fit_parameters(scenario, data, _split(options["free"]), progress=progress)


def _split(text: str) -> list[str]:
    return [part.strip() for part in str(text).split(",") if part.strip()]


TASKS: dict[str, Callable[[Scenario, Plain, Tell], Any]] = {
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
        found = TASKS[spec["kind"]](what.with_numbers(spec["values"]), options, tell)
        return {"result": to_studio(display(found))}
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
