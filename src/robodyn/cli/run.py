"""Runs: simulate a scenario or an FMU, near a nominal motion, or several subsystems together; and keep the run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn import analysis
from robodyn.analysis.key_result import KeyResult, key_results
from robodyn.base import Flaw, ModelError, UnitError, WaitingLine, frozen
from robodyn.presentation.reporting.displays import Display, Part, Table, shows
from robodyn.presentation.reporting.summaries import show_cosimulation, summarise

from .application import INTERRUPTED, SIMULATION_FAILED, fail, messages
from .command import Texts, command, needing, warn, writing
from .targets import (
    load_scenario,
    load_single,
    name_results,
    phases_of,
    read_limit,
    read_pairs,
    read_settings,
    require_file,
)

if TYPE_CHECKING:
    from robodyn.computation.cosimulation import CosimulationFile, CosimulationRun
    from robodyn.computation.perturbation import Convergence, Perturbed, WayComparison
    from robodyn.computation.results import Outcome, Run
    from robodyn.computation.results.outcome import Certificate
    from robodyn.computation.simulation import CompiledSystem
    from robodyn.description.model import Recording, Scenario

REFUSED = "has no effect on an FMU, which brings its own solver"
REMEDY = "remove it; --set, --duration, --step, --rtol, --signal, --signals, --out and --json do work"


@frozen
class KeptRun:
    """A run and its file.

    Attributes:
        unstable: sentences on loops, which the run does not know.
        signals, statistics: whether ranges of all signals and the costs are told, too.
        results: the answers, which come first.
    """

    JSON = """
    scenario = run.provenance.scenario
    outcome = run.outcome
    results: what one asks first, and its verdict
    end_time = run.outcome.time: [s]
    statistics = run.statistics: steps, evaluations, events, wall_time [s], times_real_time ...
    *run.certificate
    errors? = run.errors.bars: of --certify, the error bar of each signal
    second_solution? = run.errors: of --certify, how the bars were found
    passed_limits = run.passed_limits
    events = run.events
    final = run.final
    solver = run.provenance.solver: settings
    file
    warnings
    """
    run: Run
    file: Path
    unstable: Sequence[str] = ()
    signals: bool = False
    told_statistics: bool = False
    results: Sequence[KeyResult] = ()

    @property
    def warnings(self) -> list[str]:
        """The warnings of the run, and of its loops."""
        return [*self.run.warnings, *self.unstable]


@shows
def show_kept(kept: KeptRun) -> Display:
    shown = summarise(kept.run, kept.results, signals=kept.signals, statistics=kept.told_statistics)
    saved = f"saved as {kept.file}; look at it with: robodyn report {kept.file}"
    return replace(shown, parts=[*shown.parts, "", saved], **end_of(kept.run.outcome))


def end_of(outcome: Outcome) -> dict[str, Any]:
    """The display of a simulation with the complaint and exit code where it was not carried through."""
    if outcome.ok:
        return {}
    return {
        "complaint": outcome.sentence,
        "code": INTERRUPTED if outcome.kind.name == "INTERRUPTED" else SIMULATION_FAILED,
    }


def keep_run(run: Run, path: Path, tolerance: float = 0.0, **how: Any) -> KeptRun:
    """Save a run, or say why not."""
    from robodyn.computation.results import save

    with writing(str(path)):
        save(run, path, tolerance)
    return KeptRun(run, path, **how)


@command("run")
def run(
    scenario: str,
    solver: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int | None = None,
    max_wall_time: float | None = None,
    duration: float | None = None,
    rate: float | None = None,
    last: str | None = None,
    record_tolerance: float | None = None,
    signal: Texts = (),
    setting: Texts = (),
    out: Path = Path("out"),
    certify: bool = False,
    causes: bool = False,
    limit: str | None = None,
    signals: bool = False,
    statistics: bool = False,
    loop_check: bool = True,
) -> KeptRun:
    """Simulate a scenario or an FMU; exit code 3 where it could not be carried through (the partial run is kept).

    scenario: Name in the catalogue, a TOML file, or an FMU (.fmu).
    solver: Method: auto, euler, heun, rk4, dopri5, rodas4, ...
    step: Step (first step of an adaptive method) [s].
    rtol: Relative tolerance.
    atol: Absolute tolerance.
    max_steps: Limit on steps, 0 for none.
    max_wall_time: Limit on computing time [s].
    duration: Simulated time [s].
    rate: Record at this rate [Hz] instead of every step.
    last: Keep so much of the end alone, such as 10s.
    record_tolerance: Error of signals in the file as part of their size; 0 for none, by default rtol.
    signal: Record only these signals (patterns).
    setting (--set): Change a number: name=value.
    out: Folder for the run's file.
    certify: Simulate it again, by another method and tighter: errors of all signals.
    causes: Say why the tool misses its path: an error budget, which takes some seconds.
    limit: Largest allowed deviation from the path, such as 0.2mm.
    signals: List the ranges of all signals, too.
    statistics: Say what it cost, too: steps, evaluations, computing time.
    loop_check: Warn of unstable sampled loops before the run.
    """
    if scenario.endswith(".fmu"):
        require_file(scenario)
        refused = {"solver": solver, "atol": atol, "max-steps": max_steps, "max-wall-time": max_wall_time, "rate": rate}
        refused |= {"no-loop-check": None if loop_check else True, "certify": certify or None}
        refused |= {"causes": causes or None, "limit": limit, "last": last}
        if flaws := [Flaw(f"--{name}", REFUSED, REMEDY) for name, value in refused.items() if value is not None]:
            raise ModelError(flaws)
        result, path = run_unit(Path(scenario), setting, duration, step, rtol, signal, out)
        how: dict[str, Any] = {"signals": signals, "told_statistics": statistics, "results": key_results(result)}
        return keep_run(result, path, record_tolerance or 0.0, **how)
    allowed = read_limit(limit)
    from robodyn.description.files.units import read_quantity

    try:
        seconds = None if last is None else read_quantity(last, "s", bare=True)
    except UnitError as error:
        raise fail(f"--last {last}: {error}") from error
    what = load_scenario(scenario)
    if causes and len(phases_of(what)) > 1:
        raise fail("--causes: an error budget needs a single scenario, not a sequence")
    what = what.with_numbers(read_settings(setting, what, scenario))
    if duration is not None:
        what = what.with_numbers({"duration": duration})
    settings = {"method": solver, "step": step, "rtol": rtol, "atol": atol}
    settings |= {"max_steps": max_steps, "max_wall_time": max_wall_time}
    folder = prepare_folder(out)
    stated = {key: value for key, value in settings.items() if value is not None}
    ready, recording = _compile(phases_of(what), stated, rate, signal)
    systems = [compiled.system for compiled in ready]
    from robodyn.analysis.checked_run import find_loop_warnings
    from robodyn.computation.simulation.references import find_reference_warnings

    unstable = find_loop_warnings(systems) if loop_check else []
    # References that leave joints' limits: runs keep them too.
    warn([*(sentence for system in systems for sentence in find_reference_warnings(system)), *unstable])
    path = folder / f"{name_results(scenario, what)}.run"
    with writing(str(path)):
        stored = {"file": path, "tolerance": record_tolerance, "last": seconds}
        result = _simulate(what, ready, recording, certify, **stored)
    budget = None
    if causes and result.outcome.carried_through:
        budget = analysis.split_deviation(systems[0])
    results = key_results(result, limit=allowed, budget=budget)
    return KeptRun(result, path, unstable, signals, statistics, results)


def run_unit(
    path: Path,
    setting: Texts,
    duration: float | None,
    step: float | None,
    tolerance: float | None,
    signal: Texts,
    out: Path,
) -> tuple[Run, Path]:
    """The run of one FMU by itself, and where it is kept."""
    from robodyn.exchange.fmi import plan_experiment, simulate_fmu

    settings: dict[str, Any] = {"parameters": read_pairs("set", setting, lambda _, text: text)}
    settings |= {"signals": list(signal) or None, "duration": duration, "step": step, "tolerance": tolerance}
    folder = prepare_folder(out)
    with needing(f"{path}: an FMU", "fmi"):
        planned, *_ = plan_experiment(path, duration, step)
        with WaitingLine(f"simulating {path.stem}", watched=False) as line:
            result = simulate_fmu(path, progress=line.follow(planned.duration), **settings)
    return result, folder / f"{path.stem}.run"


def prepare_folder(out: Path) -> Path:
    """The folder for results, made before any time is spent."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fail(f"--out {out}: cannot create the folder: {error.strerror}") from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise fail(f"--out {out}: cannot write in this folder")
    return out


def _compile(
    phases: Sequence[Scenario], settings: dict[str, Any], rate: float | None, signals: Sequence[str]
) -> tuple[list[CompiledSystem], Recording]:
    """Everything that is checked and run, traced at most once; and what is recorded of it."""
    from robodyn.computation.simulation.system_cache import compile_scenario
    from robodyn.description.model.solver import ADAPTIVE_ONLY, Solver, is_adaptive

    first = phases[0]
    recording = first.recording
    if rate is not None:
        recording = replace(recording, rate=rate, times=None, refine=None)
    if signals:
        recording = replace(recording, signals=tuple(signals))
    base = first.solver.stated()
    if settings.get("method", first.solver.method) != first.solver.method:
        # Another method starts from its own defaults; tolerances that the scenario asks for are kept where they count.
        dropped = {"method", "step"} | (set() if is_adaptive(settings["method"]) else set(ADAPTIVE_ONLY))
        base = {key: value for key, value in base.items() if key not in dropped}
    solver = Solver(**(base | settings))
    return [compile_scenario(phase, solver, recording.signals) for phase in phases], recording


def _simulate(what: Any, ready: Sequence[CompiledSystem], recording: Recording, certify: bool, **stored: Any) -> Run:
    from robodyn.computation.simulation import simulate
    from robodyn.computation.simulation.compiled import Phases
    from robodyn.computation.simulation.system_cache import keep

    target = ready[0] if len(ready) == 1 else Phases(what, tuple(ready))
    result = simulate(target, recording=recording, certify=certify, **stored)
    for compiled in ready:
        keep(compiled)
    return result


# Near a nominal motion.


@frozen
class PerturbedRun:
    """A run near the nominal motion, its comparison with the non-linear one, and how that converges."""

    JSON = """
    scenario = run.provenance.scenario
    outcome = run.outcome
    statistics = run.statistics
    *run.certificate
    errors? = run.errors.bars
    second_solution? = run.errors
    file
    differences? = comparison.differences
    nonlinear_seconds? = comparison.nonlinear_seconds: [s]
    perturbed_seconds? = comparison.perturbed_seconds: [s]
    speedup? = comparison.speedup
    convergence?
    """
    run: Run
    file: Path
    comparison: WayComparison | None
    convergence: Convergence | None


@command("perturb")
def perturb(
    scenario: str,
    points: int | None = None,
    nominal: Path | None = None,
    compare: bool = False,
    convergence: str | None = None,
    certify: bool = False,
    signal: Texts = (),
    setting: Texts = (),
    out: Path = Path("out"),
) -> PerturbedRun:
    """Simulate near the nominal motion: linear mechanics, with friction, drives and control in full.

    scenario: Name in the catalogue, or a TOML file, with a nominal motion.
    points: Pieces of the nominal motion, 400 by default.
    nominal: File of the nominal motion: read, or written if new.
    compare: Run the non-linear simulation too, both several times in turns.
    convergence: Numbers of points to compare, such as 50,100,200.
    certify: Errors of all signals, by a tight non-linear simulation.
    signal: Compare these signals (patterns).
    setting (--set): Change a number: name=value.
    out: Folder for the run's file.
    """
    what = load_single(scenario, setting)
    counts = _read_counts(convergence)
    folder = prepare_folder(out)
    near = _make_ready(what, points, nominal)
    with WaitingLine(f"simulating {what.name} near its nominal motion", watched=False) as line:
        result = near.simulate(certify=certify, progress=line.follow(what.duration))
    saved = keep_run(result, folder / f"{name_results(scenario, what)}-perturbed.run")
    comparison = course = None
    if compare:
        from robodyn.computation.perturbation import compare_ways

        with WaitingLine(f"comparing both methods on {what.name}"):
            comparison = compare_ways(what, near, signals=list(signal))
    if counts:
        from robodyn.computation.perturbation import find_convergence

        course = find_convergence(what, counts, signals=list(signal))
    return PerturbedRun(result, saved.file, comparison, course)


def _read_counts(text: str | None) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise fail(f"--convergence {text}: must be whole numbers, such as 50,100,200") from error
    if any(count < 1 for count in counts):
        raise fail(f"--convergence {text}: each must be at least 1")
    return counts


def _make_ready(what: Any, points: int | None, file: Path | None) -> Perturbed:
    """The scenario near its nominal motion, which is read from a file, or computed and kept there."""
    from robodyn.computation.perturbation import Perturbed, load_nominal, save_nominal
    from robodyn.computation.perturbation.nominal import POINTS

    if file is not None and file.exists():
        read = load_nominal(file)
        if points not in (None, read.points):
            raise fail(f"--points {points}: the nominal motion in {file} has {read.points}; name another file")
        return Perturbed(what, nominal=read)
    near = Perturbed(what, points=POINTS if points is None else points)
    if file is not None:
        with writing(f"--nominal {file}"):
            save_nominal(near.nominal, file)
        messages.print(f"robodyn: nominal motion saved as {file}")
    return near


@shows
def show_perturbed(perturbed: PerturbedRun) -> Display:
    shown = summarise(perturbed.run, key_results(perturbed.run), signals=False)
    parts: list[Part] = [*shown.parts, "", f"saved as {perturbed.file}"]
    if (both := perturbed.comparison) is not None:
        rows: list[tuple[Any, ...]] = []
        for row in both.differences:
            shares = (f"{100 * share:.1f} %" for share in row.shares)
            rows.append((row.signal, row.largest, row.at, row.rms, row.unit, *shares))
        heads = ("difference from nonlinear", "largest", "at [s]", "rms", "unit", "< 2e-6", "< 1e-5")
        parts.append(Table(heads, rows, ("", ".3g", ".4f", ".3g", "", "", ""), by_row=("largest", "rms")))
        times = [f"{1e3 * seconds:.1f} ms" for seconds in (both.nonlinear_seconds, both.perturbed_seconds)]
        ratio = f"nonlinear {times[0]}, perturbed {times[1]}: {both.speedup:.2f} times as fast"
        parts.append(f"{ratio} (processor time, warm, best of several alternating runs)")
        parts.append(f"propagators: {perturbed.run.statistics.extra['propagators']}")
    if (course := perturbed.convergence) is not None:
        rows = list(zip(course.points, course.largest, strict=True))
        parts.append(Table(("points", "largest difference"), rows, ".4e"))
    heading = f"Run of {perturbed.run.provenance.scenario} near its nominal motion"
    return Display(heading, parts, verdict=shown.verdict, **end_of(perturbed.run.outcome))


# Several subsystems.


@frozen
class UnitErrors:
    """The second solution of one subsystem, in words."""

    JSON = """
    errors? = run.errors.bars
    second_solution? = run.errors
    """
    run: Run


@frozen
class KeptCosimulation:
    """A co-simulation and the files of its runs."""

    JSON = """
    name = run.name
    outcome = run.outcome
    end_time = run.outcome.time: [s]
    statistics = run.statistics
    coupling: energy errors, gaps and conditions of the connections at the end
    final
    certificates
    errors?: of --certify
    warnings = run.warnings
    files
    """
    run: CosimulationRun
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def coupling(self) -> dict[str, float]:
        """Signals that connections give about themselves."""
        final = self.run.coupling.final
        return {name: final[name] for name in final if name.endswith((".energy_error", ".gap", ".condition"))}

    @property
    def final(self) -> dict[str, dict[str, float]]:
        """Signals of each subsystem at the end."""
        return {name: run.final for name, run in self.run.runs.items()}

    @property
    def certificates(self) -> dict[str, Certificate]:
        """The certificates of each subsystem, and of the coupling."""
        return {name: run.certificate for name, run in (*self.run.runs.items(), ("coupling", self.run.coupling))}

    @property
    def errors(self) -> dict[str, UnitErrors] | None:
        """The errors of each subsystem; None where nothing was simulated again."""
        if not any(run.errors for run in self.run.runs.values()):
            return None
        return {name: UnitErrors(run) for name, run in self.run.runs.items()}


@command("cosim")
def cosim(
    file: Path,
    step: float | None = None,
    scheme: str | None = None,
    order: int | None = None,
    tolerance: float | None = None,
    certify: bool = False,
    out: Path = Path("out"),
) -> KeptCosimulation:
    """Simulate subsystems together; exit code 3 where it failed or is suspect (what there is, is kept).

    file: TOML file of a co-simulation.
    step: Macro step [s], instead of the file's.
    scheme: parallel or sequential.
    order: Order of extrapolation of all connections that have one.
    tolerance: Adapt the macro step to this coupling error.
    certify: Simulate it again with half the macro step: errors of all signals.
    out: Folder for the runs' files.
    """
    from robodyn.computation.cosimulation import read_cosimulation, save_cosimulation
    from robodyn.exchange.fmi import read_fmu

    what = _change(read_cosimulation(file, {"fmu": read_fmu}), step, scheme, order, tolerance)
    folder = prepare_folder(out)
    with needing(f"{file}: a subsystem that is an FMU", "fmi"):
        result = what.simulate(certify=certify)
    with writing(f"--out {folder}"):
        paths = save_cosimulation(result, folder)
    return KeptCosimulation(result, paths)


def _change(
    what: CosimulationFile, step: float | None, scheme: str | None, order: int | None, tolerance: float | None
) -> CosimulationFile:
    """The file's co-simulation with what the options say."""
    stated: dict[str, Any] = {"step": step, "scheme": scheme, "tolerance": tolerance}
    stated = {key: value for key, value in stated.items() if value is not None}
    what = replace(what, settings=replace(what.settings, **stated))
    if order is None:
        return what
    connections = tuple(replace(connection, order=order) for connection in what.connections)
    signals = tuple(replace(connection, order=order) for connection in what.signal_connections)
    return replace(what, connections=connections, signal_connections=signals)


@shows
def show_kept_cosimulation(kept: KeptCosimulation) -> Display:
    shown = show_cosimulation(kept.run)
    saved = [f"saved as {path}" for path in kept.files.values()]
    return replace(shown, parts=[*shown.parts, "", *saved], **end_of(kept.run.outcome))
