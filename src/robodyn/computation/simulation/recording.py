"""Run from a trajectory: how does it get names, units, statistics and provenance?"""

from __future__ import annotations

import dataclasses
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np

from robodyn.base import Array
from robodyn.computation.assembly import System
from robodyn.computation.engine import Trajectory
from robodyn.computation.results import (
    Certificate,
    EventRecord,
    Outcome,
    OutcomeKind,
    Probes,
    Provenance,
    Run,
    Statistics,
)
from robodyn.computation.results.provenance import PlainDict, plain
from robodyn.computation.results.rows import StoredRows
from robodyn.description.model import ScenarioSequence, Solver, describe

from .certificate import (
    ENERGY,
    certify,
    check_rows,
    constraint_errors,
    describe_action,
    find_passed_limits,
    judge,
)
from .compiled import CompiledSystem
from .outcomes import describe_choice, describe_march, find_doubts
from .starting import Start


def make_run(
    compiled: CompiledSystem,
    solver: Solver,
    values: Array,
    trajectory: Trajectory,
    outcome: Outcome,
    start: Start,
    warnings: tuple[str, ...] = (),
    unbalanced: str = "",
    rows_chosen: bool = False,
    stored: StoredRows | None = None,
) -> Run:
    """The run of a trajectory.

    Args:
        unbalanced: why its energies do not balance by themselves, if they do not.
        rows_chosen: whether the engine chose the rows, so that signals can be read between them.
        stored: the rows, where those of the trajectory are an excerpt of them.
    """
    system = compiled.system
    unbalanced = unbalanced or describe_action(system, trajectory)
    certificate = certify(compiled, solver, trajectory, trajectory.at_time - start.time, unbalanced)
    statistics = _statistics(compiled, solver, trajectory, start.time, certificate)
    crossed = [(time, system.discrete.guards[guard]) for time, guard in trajectory.events]
    events = tuple(EventRecord(guard.name, time, guard.terminal) for time, guard in crossed)
    run = Run(
        time=trajectory.time,
        values=trajectory.y if stored is None else cast(Array, stored),
        infos=tuple(compiled.recorded),
        outcome=outcome,
        provenance=_provenance(compiled, solver, values),
        statistics=statistics,
        events=events,
        end=_end(system, trajectory),
        knots=trajectory.knots,
        probes=Probes(*trajectory.probes),
        found=dict(start.found),
        warnings=(*system.warnings, *warnings, *find_doubts(compiled, solver, trajectory)),
        certificate=certificate,
    )
    certificate = check_rows(certificate, compiled, trajectory, rows_chosen)
    limits = find_passed_limits(system, trajectory, run, rows_chosen)
    return run.judged(outcome=judge(outcome, certificate), certificate=certificate, passed_limits=limits)


def make_beginning(compiled: CompiledSystem, solver: Solver, values: Array, start: Start) -> Run:
    """What is known of a run before its first row."""
    return Run(
        time=np.zeros(0),
        values=np.zeros((0, len(compiled.recorded))),
        infos=tuple(compiled.recorded),
        outcome=Outcome(OutcomeKind.INTERRUPTED, "the run has begun", start.time),
        provenance=_provenance(compiled, solver, values),
        found=dict(start.found),
        warnings=compiled.system.warnings,
    )


def _end(system: System, trajectory: Trajectory) -> dict[str, float]:
    """All states and memory at the end of a run, hidden ones too."""
    names = [*system.state_names, *(memory.name for memory in system.memory)]
    return dict(zip(names, [*trajectory.x.tolist(), *trajectory.m.tolist()], strict=True))


def describe_chain(chain: ScenarioSequence) -> dict[str, Any]:
    """The first phase's description, which pictures are drawn from, with all phases beside it."""
    phases = [describe(phase) for phase in chain.phases]
    return phases[0] | {"name": chain.name, "title": chain.title, "phases": phases}


def _statistics(
    compiled: CompiledSystem, solver: Solver, trajectory: Trajectory, start: float, certificate: Certificate
) -> Statistics:
    counted = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "ticks", "wall_time")
    return Statistics(
        **{name: getattr(trajectory.counters, name) for name in counted},
        events=len(trajectory.events),
        simulated_time=trajectory.at_time - start,
        energy_error=next((check.value for check in certificate.checks if check.name == ENERGY), None),
        extra=PlainDict(
            **describe_choice(solver, trajectory, trajectory.at_time - start),
            **describe_march(compiled, trajectory),
            smallest_step=trajectory.counters.smallest_step,
            largest_step=trajectory.counters.largest_step,
            **_stick_drift(compiled, trajectory),
            **constraint_errors(compiled.system, trajectory),
        ),
    )


def _stick_drift(compiled: CompiledSystem, trajectory: Trajectory) -> dict[str, float]:
    """Largest distance a coordinate held by friction moved while it was held; nothing where none is recorded."""
    columns = [k for k, info in enumerate(compiled.recorded) if info.name.endswith(".stick_drift")]
    if not columns or not len(trajectory.y):
        return {}
    return {"stick_drift": float(np.max(np.abs(trajectory.y[:, columns])))}


def _provenance(compiled: CompiledSystem, solver: Solver, values: Array) -> Provenance:
    used, parameters = PlainDict(compiled.plain_numbers), compiled.system.parameters
    # Mostly few are not as described, bit by bit.
    for k in (values.view(np.int64) != compiled.system.described_values.view(np.int64)).nonzero()[0].tolist():
        used[parameters[k].name] = {"value": float(values[k]), "unit": parameters[k].unit}
    return Provenance(
        scenario=compiled.system.scenario.name,
        description=compiled.description,
        parameters=used,
        solver=_plain_solver(solver),
        equations=compiled.equations,
        versions=package_versions(),
    )


@cache
def _plain_solver(solver: Solver) -> PlainDict:
    return PlainDict(plain(dataclasses.asdict(solver), "solver"))


@cache
def package_versions() -> PlainDict:
    """What made the run: Python, platform, this package and those that decide its numbers."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("robodyn", "numpy", "scipy", "casadi", "llvmlite"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return PlainDict(versions)
