"""robodyn sweep: what if some parameters were others? Many runs on all cores, resumable."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import FlawList, ModelError
from robodyn.cli.answers import needing, writing
from robodyn.cli.application import INTERRUPTED, SIMULATION_FAILED, app, fail, messages, output, print_json
from robodyn.cli.loops import warn
from robodyn.cli.progress import Bar
from robodyn.cli.targets import load_single, name_results, read_pairs, read_settings, split_names, written_units

if TYPE_CHECKING:
    from robodyn.analysis.sweeps.plan import SweepPlan
    from robodyn.analysis.sweeps.progress import SweepProgress
    from robodyn.analysis.sweeps.table import SweepTable
    from robodyn.computation.assembly import System
    from robodyn.description.model import Number, Scenario


BETWEEN_LINES = 60.0
"""Seconds between two lines of progress where there is no terminal."""


@app.command("sweep")
def sweep(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    vary: Annotated[
        list[str] | None, typer.Option(help="name=first:last:count (:log by factors); name=scale:first:last:count.")
    ] = None,
    values: Annotated[list[str] | None, typer.Option(help="name=1,2,5: these values.")] = None,
    random: Annotated[
        list[str] | None,
        typer.Option(
            help="name=normal:mean:deviation, uniform:lower:upper, scale:lower:upper, lognormal:deviation; "
            "each number a pattern matches is drawn by itself."
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Draws (at each point of the grid), 1000 by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the draws, 1 by default.")] = None,
    sampling: Annotated[str, typer.Option(help="How draws are made: random, latin-hypercube or sobol.")] = "random",
    limit: Annotated[
        list[str] | None,
        typer.Option(help="measure=value: which share of the robots stays within it, and what breaks it."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads, or processes with --on dask; one a core by default.")
    ] = None,
    on: Annotated[
        str, typer.Option(help="dask: processes of this machine; dask:ADDRESS (or scheduler file): a running cluster.")
    ] = "",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="kind:signal; kinds peak (largest magnitude), rms, mean, final, max, min, time_of_peak."),
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Keep the curves of these signals (patterns).")] = None,
    along: Annotated[str, typer.Option(help="Signal to keep curves against; time by default.")] = "",
    points: Annotated[int | None, typer.Option(help="Places of each curve, 300 by default.")] = None,
    rate: Annotated[float | None, typer.Option(help="Measure at this rate [Hz] instead of every step.")] = None,
    method: Annotated[str, typer.Option(help="Way to simulate: nonlinear or perturbation.")] = "nonlinear",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Change a number for all runs: name=value.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the sweep; default: out/NAME.sweep.")] = None,
    resume: Annotated[bool, typer.Option("--resume/--fresh", help="Go on where it stopped, or begin anew.")] = True,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw pictures into the folder.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a scenario with other numbers: grids, random draws or both; the same command goes on after a break."""
    settings: dict[str, Any] = {"runs": runs, "seed": seed, "along": along, "points": points, "rate": rate}
    settings |= {"measures": split_names(measure), "keep": split_names(keep), "sampling": sampling}
    varied = {"vary": vary or [], "values": values or [], "random": random or []}
    plan = _plan(scenario, varied, setting or [], settings)
    limits = _read_limits(plan, limit or [])
    from robodyn.analysis.linear.loop_check import find_loop_warnings

    warn([*find_loop_warnings([plan.system]), *_find_start_warnings(plan)])
    if plan.n_codes > 1:
        message = f"native code is made {plan.n_codes} times: {', '.join(plan.structural)} are constants of it"
        messages.print(f"robodyn: {message}")
    folder = out or Path("out") / f"{name_results(scenario, plan.scenario)}.sweep"
    table = _run(plan, folder, workers, on, method, not resume)
    from robodyn.analysis.sweeps.table import describe_sweep
    from robodyn.analysis.sweeps.yields import describe_yield, find_yield

    yields = [find_yield(table, name, value) for name, value in limits.items()]
    pictures = _draw(table, folder, limits) if plot else []
    if as_json:
        answers = [dataclasses.asdict(one) | {"share": one.share} for one in yields]
        print_json(_as_plain(table, folder, pictures) | {"yields": answers})
        return
    output.print(describe_sweep(table))
    for one in yields:
        output.print(describe_yield(one))
    output.print(f"table: {folder / 'table.parquet'}")
    if pictures:
        names = ", ".join(path.name for path in pictures)
        output.print(f"pictures in {folder}: {names}")


def _find_start_warnings(plan: SweepPlan) -> list[str]:
    """Sentences on a given start that does not fit the smallest or largest of a varied number."""
    from robodyn.computation.simulation.start_fit import check_starts

    if plan.scenario.initialisation != "given":
        return []
    system = plan.system
    tunable = {number.name for number in system.parameters}
    columns = [(name, values) for name, values in zip(plan.names, plan.inputs.T, strict=True) if name in tunable]
    ends = [{name: float(end)} for name, values in columns for end in (values.min(), values.max())]
    return check_starts(system, [{}, *ends])


def _plan(source: str, varied: Mapping[str, list[str]], changes: list[str], settings: dict[str, Any]) -> SweepPlan:
    """The plan the options ask for; what is wrong with any of them is reported at once."""
    from robodyn.analysis.sweeps.numbers import find_numbers
    from robodyn.analysis.sweeps.plan import plan_sweep

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
        plan = plan_sweep(system, vary=grid, random=drawn, **settings)
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
    flaws: FlawList, system: System, source: str, vary: list[str], values: list[str], random: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the options vary: values by name or pattern, and distributions."""
    from robodyn.analysis.sweeps.numbers import find_numbers
    from robodyn.analysis.sweeps.reading import read_distribution, read_list, read_span

    known = find_numbers(system)
    written = written_units(source, known)
    grid = _read(flaws, "vary", vary, read_span, known, written)
    grid |= _read(flaws, "values", values, read_list, known, written, grid)
    return grid, _read(flaws, "random", random, read_distribution, known, written)


def _check_fixed(
    flaws: FlawList, fixed: Mapping[str, float], varied: dict[str, Any], known: Mapping[str, Number]
) -> None:
    """A number that takes given values cannot be set as well; one that is multiplied can."""
    from robodyn.analysis.sweeps.grid import Factors
    from robodyn.analysis.sweeps.numbers import match_numbers
    from robodyn.analysis.sweeps.sampling import Distribution

    for key, how in varied.items():
        if not (isinstance(how, Factors) or (isinstance(how, Distribution) and how.relative)):
            for number in match_numbers(FlawList(), key, known):
                if number.name in fixed:
                    flaws.add(f"--set {number.name}", f"has no effect beside '{key}', which is varied", "leave it out")


def _read(
    flaws: FlawList,
    option: str,
    pairs: list[str],
    read: Callable[[str, str, str], Any],
    known: Mapping[str, Number],
    written: Mapping[str, str],
    taken: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Options `key=text` as key -> what the text means, in the unit the numbers of the key share."""
    from robodyn.analysis.sweeps.numbers import match_numbers
    from robodyn.base.units import UnitError

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip()
        matched = match_numbers(FlawList(), key, known)
        units = {number.unit for number in matched}
        own = next((written[number.name] for number in matched if number.name in written), "")
        try:
            if not equals or not key:
                raise UnitError("must be written as name=...")
            if key in found or key in (taken or {}):
                raise UnitError(f"'{key}' is given twice")
            found[key] = read(text, units.pop() if len(units) == 1 else "", own)
        except UnitError as error:
            flaws.add(f"--{option} {pair}", str(error))
            match_numbers(flaws, key, known)
    return found


def _run(plan: SweepPlan, folder: Path, workers: int | None, on: str, method: str, fresh: bool) -> SweepTable:
    from robodyn.analysis.sweeps.progress import ClusterLost
    from robodyn.analysis.sweeps.runner import run_sweep

    settings: dict[str, Any] = {"method": method, "fresh": fresh}
    with SweepBar() as bar, _connect(on, workers) as client, writing(f"--out {folder}", "export"):
        settings |= {"client": client} if client else {"workers": workers}
        try:
            return run_sweep(plan, folder, **settings, progress=bar)
        except (KeyboardInterrupt, ClusterLost) as error:
            kept = f"{bar.done} of {plan.n_runs} runs are kept in {folder}: the same command goes on"
            messages.print(f"robodyn: {error or 'interrupted'}; {kept}")
            raise typer.Exit(SIMULATION_FAILED if isinstance(error, ClusterLost) else INTERRUPTED) from error


def _connect(on: str, workers: int | None) -> Any:
    """The client of `--on`, to be closed after use; nothing without it."""
    name, colon, address = on.partition(":")
    flaws = FlawList()
    if on and (name != "dask" or (colon and not address)):
        flaws.add("--on", f"must be dask or dask:ADDRESS, is '{on}'", "dask:tcp://head:8786, or dask alone")
    if workers is not None and (workers < 1 or address):
        what = "has no effect: the cluster has its own workers" if address else f"must be at least 1, is {workers}"
        flaws.add("--workers", what)
    flaws.raise_if_any("sweep")
    if not on:
        return nullcontext()
    with needing("--on dask", "dask"):
        from robodyn.analysis.sweeps.clusters import connect
    return connect(address or None, workers)


def _read_limits(plan: SweepPlan, pairs: list[str]) -> dict[str, float]:
    """Options `measure=value` as limits in the measures' units, with every problem."""
    from robodyn.analysis.sweeps.yields import check_drawn
    from robodyn.base.errors import nearest
    from robodyn.base.units import UnitError
    from robodyn.description.files.units import read_quantity

    flaws = FlawList()
    units = {measure.name: measure.unit for measure in plan.measures}

    def read(name: str, text: str) -> float:
        if name not in units:
            raise UnitError(f"'{name}' is not measured ({nearest(name, units)})")
        return read_quantity(text, units[name], bare=True)

    found = read_pairs("limit", pairs, read, "measure=value")
    if pairs:
        check_drawn(flaws, [draw.label for draw in plan.draws], [len(axis.places) for axis in plan.axes])
    flaws.raise_if_any(f"sweep of '{plan.scenario.name}'")
    return found


def _draw(table: SweepTable, folder: Path, limits: Mapping[str, float]) -> list[Path]:
    """Pictures of all measures and curves; without a plotting library there are none, and a word about it."""
    try:
        from robodyn.presentation.reporting.sweeps import plot_sweep

        return plot_sweep(table, folder, limits)
    except ImportError as error:
        messages.print(f"robodyn: pictures need {error.name}: pip install 'robodyn[plot]'")
    except OSError as error:
        raise fail(f"--out {folder}: cannot write: {error.strerror}") from error
    return []


def _as_plain(table: SweepTable, folder: Path, pictures: list[Path]) -> dict[str, Any]:
    percents = (0.0, 5.0, 50.0, 95.0, 100.0)
    measures = {
        name: dict(zip(map(str, percents), table.percentiles(name, percents).tolist(), strict=True))
        | {"unit": table.units[name]}
        for name in table.measures
    }
    carried = int((table.done | table.suspect).sum())
    message = {"scenario": table.scenario, "runs": len(table), "carried_through": carried}
    message |= {"failures": dict(table.failures), "percentiles": measures}
    message |= {"simulated": table.simulated, "elapsed": table.elapsed, "robots_seconds_per_second": table.rate}
    return message | {"folder": str(folder), "pictures": [str(path) for path in pictures]}


class SweepBar(Bar):
    """A bar with rate and time left on a terminal, a line a minute elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.done = self.refused = 0
        self.said = 0.0

    def __call__(self, at: SweepProgress) -> None:
        self.done = at.done
        self.show(at.sentence, at.done, at.total)
        if not self.bar and at.elapsed - self.said >= BETWEEN_LINES:
            self.said = at.elapsed
            messages.print(f"robodyn: {at.sentence}")
        for worker, why in at.refused[self.refused :]:
            messages.print(f"robodyn: the worker {worker} takes no part: {why}")
        self.refused = len(at.refused)
