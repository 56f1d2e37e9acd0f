"""robodyn run: simulate a scenario and keep the run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.answers import needing, writing
from robodyn.cli.application import INTERRUPTED, SIMULATION_FAILED, app, fail, messages, output, print_json
from robodyn.cli.loops import warn
from robodyn.cli.progress import SimulationProgress
from robodyn.cli.targets import load_scenario, name_results, phases_of, read_pairs, read_settings, require_file

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.computation.results import Outcome, Run
    from robodyn.computation.simulation import CompiledSystem
    from robodyn.description.model import Recording, Scenario

REFUSED = "has no effect on an FMU, which has its own solver"
REMEDY = "leave it out; --set, --duration, --step, --rtol, --signal, --signals, --out and --json have"


@app.command("run")
def run_scenario(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, a TOML file, or an FMU (.fmu).")],
    solver: Annotated[str | None, typer.Option(help="Method: auto, euler, heun, rk4, dopri5, rodas4, ...")] = None,
    step: Annotated[float | None, typer.Option(help="Step (first step of an adaptive method) [s].")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance.")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Limit on steps, 0 for none.")] = None,
    max_wall_time: Annotated[float | None, typer.Option(help="Limit on computing time [s].")] = None,
    duration: Annotated[float | None, typer.Option(help="Simulated time [s].")] = None,
    rate: Annotated[float | None, typer.Option(help="Record at this rate [Hz] instead of every step.")] = None,
    signal: Annotated[list[str] | None, typer.Option(help="Record only these signals (patterns).")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the run's file.")] = Path("out"),
    certify: Annotated[
        bool, typer.Option("--certify", help="Simulate it again, by another method and tighter: errors of all signals.")
    ] = False,
    signals: Annotated[bool, typer.Option("--signals", help="List the ranges of all signals, too.")] = False,
    loop_check: Annotated[bool, typer.Option(help="Warn of unstable sampled loops before the run.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate a scenario or an FMU; exit code 3 where it could not be carried through (the partial run is kept)."""
    if scenario.endswith(".fmu"):
        require_file(scenario)
        refused = {"solver": solver, "atol": atol, "max-steps": max_steps, "max-wall-time": max_wall_time, "rate": rate}
        refused |= {"no-loop-check": None if loop_check else True, "certify": certify or None}
        refuse_options(refused)
        run_unit(Path(scenario), setting or [], duration, step, rtol, signal, out, signals, as_json)
        return
    what = load_scenario(scenario)
    what = what.with_numbers(read_settings(setting or [], what, scenario))
    if duration is not None:
        what = what.with_numbers({"duration": duration})
    settings = {"method": solver, "step": step, "rtol": rtol, "atol": atol}
    settings |= {"max_steps": max_steps, "max_wall_time": max_wall_time}
    folder = prepare_folder(out)
    given = {key: value for key, value in settings.items() if value is not None}
    ready, recording = _compile(phases_of(what), given, rate, signal)
    systems = [compiled.system for compiled in ready]
    from robodyn.description.model.controllers import has_loops

    unstable: list[str] = []
    if loop_check and any(has_loops(system.scenario.machine) for system in systems):
        from robodyn.analysis.linear.loop_check import find_loop_warnings

        unstable = find_loop_warnings(systems)
    warn([*_find_limit_warnings(systems), *unstable])
    done = _simulate(what, ready, recording, certify)
    keep_run(done, folder / f"{name_results(scenario, what)}.run", as_json, signals, unstable)


def keep_run(done: Run, path: Path, as_json: bool, signals: bool = False, warnings: Sequence[str] = ()) -> None:
    """Save a run and report it; one that was not carried through ends the command."""
    save_run(done, path)
    if as_json:
        print_json(_as_json(done, path) | {"warnings": [*done.warnings, *warnings]})
    else:
        output.print(done.summary(signals))
        output.print(f"saved as {path}; look at it with: robodyn report {path}")
    end_unless_ok(done.outcome)


def end_unless_ok(outcome: Outcome) -> None:
    """End the command where a simulation was not carried through, and say why."""
    if not outcome.ok:
        messages.print(f"robodyn: {outcome.sentence}")
        raise typer.Exit(INTERRUPTED if outcome.kind.name == "INTERRUPTED" else SIMULATION_FAILED)


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """How a run ended."""
    return {"kind": outcome.kind.name.lower(), "ok": outcome.ok, "sentence": outcome.sentence}


def run_unit(
    path: Path,
    setting: list[str],
    duration: float | None,
    step: float | None,
    tolerance: float | None,
    signal: list[str] | None,
    out: Path,
    signals: bool,
    as_json: bool,
) -> None:
    """Simulate one FMU by itself."""
    from robodyn.exchange.fmi import plan_experiment, simulate_fmu

    settings: dict[str, Any] = {"parameters": read_pairs("set", setting, lambda _, text: text), "signals": signal}
    settings |= {"duration": duration, "step": step, "tolerance": tolerance}
    folder = prepare_folder(out)
    with needing(f"{path}: an FMU", "fmi"):
        planned, *_ = plan_experiment(path, duration, step)
        with SimulationProgress(planned.duration) as progress:
            done = simulate_fmu(path, progress=progress, **settings)
    keep_run(done, folder / f"{path.stem}.run", as_json, signals)


def refuse_options(given: Mapping[str, object]) -> None:
    """Options of scenarios that do nothing for an FMU."""
    flaws = [Flaw(f"--{name}", REFUSED, REMEDY) for name, value in given.items() if value is not None]
    if flaws:
        raise ModelError(flaws)


def prepare_folder(out: Path) -> Path:
    """The folder for results, made before any time is spent."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fail(f"--out {out}: cannot make the folder: {error.strerror}") from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise fail(f"--out {out}: cannot write in this folder")
    return out


def save_run(done: Run, path: Path) -> None:
    """Write a run to its file, or say why not."""
    from robodyn.computation.results import save

    with writing(str(path)):
        save(done, path)


def _find_limit_warnings(systems: Sequence[System]) -> list[str]:
    """Sentences on references that leave joints' limits; runs keep them too."""
    from robodyn.computation.simulation.reference_limits import find_reference_warnings

    return [sentence for system in systems for sentence in find_reference_warnings(system)]


def _compile(
    phases: Sequence[Scenario], settings: dict[str, Any], rate: float | None, signals: list[str] | None
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
    return [compile_scenario(phase, solver, recording.signals, announce) for phase in phases], recording


def _simulate(what: Any, ready: Sequence[CompiledSystem], recording: Recording, certify: bool) -> Run:
    from robodyn.computation.simulation import simulate
    from robodyn.computation.simulation.compiled import Phases
    from robodyn.computation.simulation.system_cache import keep

    target = ready[0] if len(ready) == 1 else Phases(what, tuple(ready))
    with SimulationProgress(what.duration) as progress:
        done = simulate(target, recording=recording, certify=certify, progress=progress, on_compile=announce)
    for compiled in ready:
        keep(compiled)
    return done


def announce(message: str) -> None:
    """Say that something is being compiled."""
    messages.print(f"robodyn: {message} (kept for the next time)")


def errors_as_json(done: Run) -> dict[str, Any]:
    """Errors by signal, and what else a second solution says; nothing without one."""
    if done.errors is None:
        return {}
    plain = done.errors.to_plain()
    return {"errors": plain.pop("bars"), "second_solution": plain}


def _as_json(done: Run, path: Path) -> dict[str, Any]:
    from dataclasses import asdict

    statistics = asdict(done.statistics) | {"times_real_time": done.statistics.times_real_time}
    return {
        "scenario": done.provenance.scenario,
        "outcome": outcome_as_json(done.outcome),
        "end_time": done.outcome.time,
        "statistics": statistics,
        **done.certificate.to_plain(),
        **errors_as_json(done),
        "passed_limits": [passed.to_plain() for passed in done.passed_limits],
        "events": [asdict(event) for event in done.events],
        "final": done.final,
        "solver": done.provenance.solver,
        "file": str(path),
    }
