"""Many runs: sweeps of numbers on all cores or a cluster, resumable; and gains that make a motion best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from robodyn import analysis
from robodyn.base import FlawList, ModelError, WaitingLine, frozen
from robodyn.presentation.reporting.displays import Display, display, shows

from .application import INTERRUPTED, SIMULATION_FAILED, fail, messages
from .command import Texts, command, needing, refuse_ending, resumable, warn, writing
from .targets import (
    load_single,
    name_results,
    read_bounds,
    read_pairs,
    read_settings,
    split_names,
    write_numbers,
    written_units,
)

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.description.model import Number, Scenario

@frozen
class KeptSweep:
    """A sweep, its folder and pictures, and the shares of robots that keep limits."""

    JSON = """
    *table
    folder
    pictures
    yields
    """
    table: analysis.SweepTable
    folder: Path
    pictures: Sequence[Path]
    yields: Sequence[analysis.Yield]


@command("sweep")
def sweep(
    scenario: str,
    vary: Texts = (),
    values: Texts = (),
    random: Texts = (),
    runs: int | None = None,
    seed: int | None = None,
    sampling: str = "random",
    limit: Texts = (),
    workers: int | None = None,
    on: str = "",
    measure: Texts = (),
    keep: Texts = (),
    along: str = "",
    points: int | None = None,
    rate: float | None = None,
    method: str = "nonlinear",
    setting: Texts = (),
    out: Path | None = None,
    resume: bool = True,
    plot: bool = True,
) -> KeptSweep:
    """Run a scenario with other numbers: grids, random draws or both; the same command goes on after a break.

    scenario: Name in the catalogue, or a TOML file.
    vary: name=first:last:count (:log by factors); name=scale:first:last:count.
    values: name=1,2,5: these values.
    random: name=normal:mean:deviation, uniform:lower:upper, scale:lower:upper, lognormal:deviation; each number a
        pattern matches is drawn by itself.
    runs: Draws (at each point of the grid), 1000 by default.
    seed: Seed of the random draws, 1 by default.
    sampling: How draws are made: random, latin-hypercube or sobol.
    limit: measure=value: which share of the robots stays within it, and what breaks it.
    workers: Threads, or processes with --on dask; one a core by default.
    on: dask: processes of this machine; dask:ADDRESS (or scheduler file): a running cluster.
    measure: kind:signal; kinds peak (largest magnitude), rms, mean, final, max, min, time_of_peak.
    keep: Keep the curves of these signals (patterns).
    along: Signal to keep curves against; time by default.
    points: Places of each curve, 300 by default.
    rate: Measure at this rate [Hz] instead of every step.
    method: Way to simulate: nonlinear or perturbation.
    setting (--set): Change a number for all runs: name=value.
    out: Folder of the sweep; default: out/NAME.sweep.
    resume (--resume/--fresh): Go on where it stopped, or begin anew.
    plot: Draw pictures into the folder.
    """
    from robodyn.analysis.checked_run import find_loop_warnings

    settings: dict[str, Any] = {"runs": runs, "seed": seed, "along": along, "points": points, "rate": rate}
    settings |= {"measures": split_names(measure), "keep": split_names(keep), "sampling": sampling}
    plan = _plan(scenario, {"vary": vary, "values": values, "random": random}, setting, settings)
    limits = _read_limits(plan, limit)
    warn([*find_loop_warnings([plan.system]), *_find_start_warnings(plan)])
    if plan.n_codes > 1:
        constants = f"{', '.join(plan.structural)} are compile-time constants"
        messages.print(f"robodyn: native code is compiled {plan.n_codes} times: {constants}")
    folder = out or Path("out") / f"{name_results(scenario, plan.scenario)}.sweep"
    table = _run(plan, folder, workers, on, method, not resume)
    yields = [analysis.find_yield(table, name, value) for name, value in limits.items()]
    return KeptSweep(table, folder, _draw(table, folder, limits) if plot else [], yields)


def _find_start_warnings(plan: analysis.SweepPlan) -> list[str]:
    """Sentences on a given start that does not fit the smallest or largest of a varied number."""
    from robodyn.computation.simulation.reference_paths import check_starts

    if plan.scenario.initialisation != "given":
        return []
    system = plan.system
    tunable = {number.name for number in system.parameters}
    columns = [(name, values) for name, values in zip(plan.names, plan.inputs.T, strict=True) if name in tunable]
    ends = [{name: float(end)} for name, values in columns for end in (values.min(), values.max())]
    return check_starts(system, [{}, *ends])


def _plan(
    source: str, varied: Mapping[str, Sequence[str]], changes: Sequence[str], settings: dict[str, Any]
) -> analysis.SweepPlan:
    """The plan the options ask for; what is wrong with any of them is reported at once."""
    from robodyn.analysis.sweeps.variation import find_numbers

    flaws = FlawList()
    scenario = load_single(source)
    fixed: dict[str, float] = {}
    try:
        fixed = read_settings(changes, scenario, source)
        scenario = scenario.with_numbers(fixed)
    except ModelError as error:
        flaws.extend(error.flaws)
    system = trace_varied(scenario, [*varied["vary"], *varied["values"], *varied["random"]], settings["keep"])
    grid, drawn = read_varied(flaws, system, source, varied["vary"], varied["values"], varied["random"])
    _check_fixed(flaws, fixed, grid | drawn, find_numbers(system))
    unread = bool(flaws.found) and not (grid or drawn)
    if varied["random"] and not drawn:
        settings = settings | {"runs": None, "seed": None, "sampling": "random"}
    try:
        plan = analysis.plan_sweep(system, vary=grid, random=drawn, **settings)
    except ModelError as error:
        # With nothing readable left, that nothing is varied follows from what is reported already.
        flaws.extend(flaw for flaw in error.flaws if flaw.path or not unread)
    flaws.raise_if_any(f"sweep of '{scenario.name}'")
    return plan


def trace_varied(scenario: Scenario, options: Sequence[str], signals: Sequence[str] = ()) -> System:
    """The system that is varied by options NAME=...: what they name of the mechanism are inputs from the start."""
    from robodyn.analysis.sweeps.plan import assemble_varied

    return assemble_varied(scenario, [option.partition("=")[0] for option in options], signals)


def read_varied(
    flaws: FlawList, system: System, source: str, vary: Sequence[str], values: Sequence[str], random: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what the options vary: values by name or pattern, and distributions."""
    from robodyn.analysis.sweeps.variation import find_numbers, read_distribution, read_list, read_span

    numbers = find_numbers(system)
    written = written_units(source, numbers)
    grid = _read(flaws, "vary", vary, read_span, numbers, written)
    grid |= _read(flaws, "values", values, read_list, numbers, written, grid)
    return grid, _read(flaws, "random", random, read_distribution, numbers, written)


def _check_fixed(
    flaws: FlawList, fixed: Mapping[str, float], varied: dict[str, Any], numbers: Mapping[str, Number]
) -> None:
    """A number that takes given values cannot be set as well; one that is multiplied can."""
    from robodyn.analysis.sweeps.variation import match_numbers

    for key, how in varied.items():
        if not (isinstance(how, analysis.Factors) or (isinstance(how, analysis.Distribution) and how.relative)):
            for number in match_numbers(FlawList(), key, numbers):
                if number.name in fixed:
                    flaws.add(f"--set {number.name}", f"has no effect: '{key}' is varied", "leave it out")


def _read(
    flaws: FlawList,
    option: str,
    pairs: Sequence[str],
    read: Callable[[str, str, str], Any],
    numbers: Mapping[str, Number],
    written: Mapping[str, str],
    taken: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Options `key=text` as key -> what the text means, in the unit the numbers of the key share."""
    from robodyn.analysis.sweeps.variation import match_numbers
    from robodyn.base import UnitError

    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip()
        matched = match_numbers(FlawList(), key, numbers)
        units = {number.unit for number in matched}
        own = next((written[number.name] for number in matched if number.name in written), "")
        try:
            if not equals or not key:
                raise UnitError("must be written as name=...")
            if key in values or key in (taken or {}):
                raise UnitError(f"'{key}' is given twice")
            values[key] = read(text, units.pop() if len(units) == 1 else "", own)
        except UnitError as error:
            flaws.add(f"--{option} {pair}", str(error))
            match_numbers(flaws, key, numbers)
    return values


def _run(
    plan: analysis.SweepPlan, folder: Path, workers: int | None, on: str, method: str, fresh: bool
) -> analysis.SweepTable:
    settings: dict[str, Any] = {"method": method, "fresh": fresh}
    refused: list[str] = []
    done = 0

    def follow(at: analysis.SweepProgress) -> None:
        nonlocal done
        done = at.done
        line.update(at.sentence, at.share)
        for worker, why in at.refused[len(refused) :]:
            refused.append(worker)
            messages.print(f"robodyn: worker {worker} cannot take part: {why}")

    line = WaitingLine(f"sweeping {plan.scenario.name}")
    with line, _connect(on, workers) as client, writing(f"--out {folder}", "export"):
        settings |= {"client": client} if client else {"workers": workers}
        try:
            return analysis.run_sweep(plan, folder, **settings, progress=follow)
        except (KeyboardInterrupt, analysis.ClusterLost) as error:
            saved = f"{done} of {plan.n_runs} runs are saved in {folder}; run the same command again to continue"
            messages.print(f"robodyn: {error or 'interrupted'}; {saved}")
            raise typer.Exit(SIMULATION_FAILED if isinstance(error, analysis.ClusterLost) else INTERRUPTED) from error


def _connect(on: str, workers: int | None) -> Any:
    """The client of `--on`, to be closed after use; nothing without it."""
    name, colon, address = on.partition(":")
    flaws = FlawList()
    if on and (name != "dask" or (colon and not address)):
        flaws.add("--on", f"must be dask or dask:ADDRESS, is '{on}'", "dask:tcp://head:8786, or dask alone")
    if workers is not None and (workers < 1 or address):
        what = "has no effect: the cluster manages its own workers" if address else f"must be at least 1, is {workers}"
        flaws.add("--workers", what)
    flaws.raise_if_any("sweep")
    if not on:
        return nullcontext()
    with needing("--on dask", "dask"):
        from robodyn.analysis.sweeps.clusters import connect
    return connect(address or None, workers)


def _read_limits(plan: analysis.SweepPlan, pairs: Sequence[str]) -> dict[str, float]:
    """Options `measure=value` as limits in the measures' units, with every problem."""
    from robodyn.analysis.sweeps.uncertainty import check_drawn
    from robodyn.base import UnitError, nearest
    from robodyn.description.files.units import read_quantity

    flaws = FlawList()
    units = {measure.name: measure.unit for measure in plan.measures}

    def read(name: str, text: str) -> float:
        if name not in units:
            raise UnitError(f"'{name}' is not measured ({nearest(name, units)})")
        return read_quantity(text, units[name], bare=True)

    limits = read_pairs("limit", pairs, read, "measure=value")
    if pairs:
        check_drawn(flaws, [draw.label for draw in plan.draws], [len(axis.places) for axis in plan.axes])
    flaws.raise_if_any(f"sweep of '{plan.scenario.name}'")
    return limits


def _draw(table: analysis.SweepTable, folder: Path, limits: Mapping[str, float]) -> list[Path]:
    """Pictures of all measures and curves; without a plotting library there are none, and a word about it."""
    try:
        from robodyn.presentation.reporting import plot_sweep

        return plot_sweep(table, folder, limits)
    except ImportError as error:
        messages.print(f"robodyn: pictures need {error.name}: pip install 'robodyn[plot]'")
    except OSError as error:
        raise fail(f"--out {folder}: cannot write: {error.strerror}") from error
    return []


@shows
def show_kept_sweep(kept: KeptSweep) -> Display:
    from robodyn.presentation.reporting.sweeps import yield_lines

    shown = display(kept.table)
    lines = [line for answer in kept.yields for line in yield_lines(answer)]
    lines.append(f"table: {kept.folder / 'table.parquet'}")
    if kept.pictures:
        lines.append(f"pictures in {kept.folder}: {', '.join(path.name for path in kept.pictures)}")
    return replace(shown, parts=(*shown.parts, *lines))


# Gains that make a motion best.


@command("tune", plot="Draw the signal before and after into this file.")
def tune(
    scenario: str,
    minimise: str,
    free: str = "gains",
    subject_to: Texts = (),
    bounds: Texts = (),
    vary: Texts = (),
    values: Texts = (),
    random: Texts = (),
    runs: int | None = None,
    seed: int | None = None,
    over: str = "worst",
    starts: int = 1,
    at: Texts = (),
    friction: str = "none",
    points: int = 2001,
    setting: Texts = (),
    out: Path | None = None,
    state: Path | None = None,
) -> analysis.Tuning:
    """Choose gains so that a measure of the motion is smallest, within limits; exact slopes, all cases at once.

    scenario: Name in the catalogue, or a TOML file.
    minimise (--minimise): kind:signal to make small, such as rms:deviation.vertical.
    free: Numbers to choose, also patterns, with commas; gains: all.
    subject_to: Limit: "margin>=6 dB", "phase:x.*>=45 deg", "delay>=1 ms", "peak:SIGNAL<=VALUE"; or >=now.
    bounds: Search range: name=lower:upper; otherwise a decade.
    vary: Cases: name=first:last:count, as in sweep.
    values: Cases: name=1,2,5.
    random: Cases drawn: name=scale:0.8:1.2, as in sweep.
    runs: Draws, 8 by default.
    seed: Seed of random draws and starting points.
    over: worst or mean of the cases.
    starts: How many searches, from different places.
    at: Where loops are cut: start, equilibrium, or a time.
    friction: In the loops: none, stuck or sliding.
    points: Times at which signals are read.
    setting (--set): Change a number: name=value.
    out: Write a TOML file with the new numbers.
    state: Keep what was computed here, to go on after a break.
    """
    from robodyn.description.files.units import is_quantity, read_quantity

    refuse_ending("--out", out, ".toml")
    what = load_single(scenario, setting)
    flaws = FlawList()
    system = trace_varied(what, [*vary, *values, *random])
    grid, drawn = read_varied(flaws, system, scenario, vary, values, random)
    flaws.raise_if_any(f"tuning of '{what.name}'")
    # A place is named, or a time of the motion.
    places = [read_quantity(text, "s", bare=True) if is_quantity(text) else text for text in at or ["start"]]
    settings: dict[str, Any] = {
        "limits": subject_to, "bounds": read_bounds(bounds), "vary": grid, "random": drawn, "runs": runs,
        "seed": seed, "over": over, "starts": starts, "at": places,
        "friction": friction, "points": points, "state": state,
    }  # fmt: skip
    line = WaitingLine(f"tuning {what.name}")

    def follow(at: analysis.TuneProgress) -> None:
        best = f"{at.first:.4g} -> {at.best:.4g} {at.unit}" if at.best == at.best else "no feasible gains yet"
        line.update(f"{at.evaluations} evaluations, {best}")

    with resumable(state), line:
        tuning = analysis.tune_gains(system, split_names(free), minimise, progress=follow, **settings)
    head = f"# {tuning.objective}: {tuning.before:.5g} -> {tuning.after:.5g} {tuning.unit}\n"
    write_numbers(scenario, setting, tuning.values, out, head)
    return tuning
