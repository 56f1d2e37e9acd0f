"""What must hold for any machine? Two methods and two constraint methods agree, runs repeat, energy is kept.

Errors grow in a machine that is unstable or chaotic. A third run, to a coarser tolerance, tells by how much: two runs
must agree to a small multiple of what the coarser one is off, and are compared only as long as that stays small.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run, load, save
from robodyn.computation.results.compare import identical
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.description.laws import info_of, known_laws
from robodyn.description.model import ConstraintMethod, Recording, Scenario, Solver

BUDGET = {"max_steps": 30_000, "max_wall_time": 60.0}
FINE, COARSE, FINEST = {"rtol": 1e-8, "atol": 1e-9}, {"rtol": 1e-6, "atol": 1e-7}, {"rtol": 1e-10, "atol": 1e-11}
SAMPLES = 40
GROWN = 1e-3
"""Error of the coarse run, as part of the largest values, up to which motions are compared."""
CLOSE = 1e-5
"""Difference of two fine runs, as part of the largest values, that is always allowed."""
UNSEEN = 1e-10
"""Difference of any state, in its own unit, that is always allowed, a tenth of what positions may be off in a step:
bristles of a machine that cannot move bend by less."""
SHARE = 3.0
"""Difference of two fine runs that is allowed, as part of the coarse run's error so far."""
TOLD = ("FINISHED", "STOPPED", "STEP_LIMIT", "WALL_TIME", "CHATTERING", "JAMMED", "OUT_OF_REACH", "SINGULAR")
"""Ends that a machine of sensible numbers may have; any other is a failure."""


@dataclass
class Finding:
    """What the examination of one machine found.

    Attributes:
        refused: why the description was refused; outcomes: how its runs ended; singular: whether its constraints met a
            position in which they do not determine its motion.
        compared: part of its time over which two runs were compared, for each pair; 0 where nothing could be.
        failures: sentences, one for each thing that must hold and does not.
        compiled: the machine, for whoever has more to ask of it.
    """

    name: str
    refused: str = ""
    outcomes: list[str] = field(default_factory=list)
    singular: bool = False
    compared: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    compiled: CompiledSystem | None = None


def examine(scenario: Scenario) -> Finding:
    """Everything that must hold for this machine."""
    finding = Finding(scenario.name)
    try:
        system = assemble(scenario)
        finding.compiled = compiled = compile_system(system, Solver("rodas4"), quick=True)
    except ModelError as error:
        finding.refused = str(error)
        return finding
    try:
        coarse, fine = _examine_methods(finding, compiled)
        if scenario.machine.constraints:
            _examine_constraint_methods(finding, system, coarse, fine)
    except ModelError as error:
        finding.refused = str(error)
    return finding


def _examine_methods(finding: Finding, compiled: CompiledSystem) -> tuple[Run, Run]:
    """Explicit and implicit runs, and that one of them repeats; the explicit ones, to compare others with."""
    explicit, implicit = Solver("dopri5", **FINE, **BUDGET), Solver("rodas4", **FINE, **BUDGET)
    run = simulate(compiled, explicit)
    _note(finding, run)
    if run.outcome.cut_short:
        # Too stiff for an explicit method: another implicit one takes its place.
        explicit = replace(explicit, method="rodas4p")
        run = simulate(compiled, explicit)
        _note(finding, run)
    finding.failures += _check_repeats(compiled, explicit, run)
    grid = Recording(times=_times(compiled.system))
    fine = simulate(compiled, explicit, recording=grid)
    if not run.outcome.failed and fine.end != run.end:
        finding.failures.append("what is recorded changes the motion")
    coarse = simulate(compiled, replace(explicit, **COARSE), recording=grid)
    if np.array_equal(coarse.values, fine.values):
        # Samples alone make the steps, to any tolerance: how errors grow is seen in the other method.
        coarse = simulate(compiled, replace(implicit, **COARSE), recording=grid)
    other = simulate(compiled, implicit, recording=grid)
    _note(finding, other)
    what = f"{explicit.method} and rodas4"
    found = list(_compare(finding, what, compiled.system, fine, other, coarse))
    if found:
        # The errors of thousands of jumps add up in one method and not in the other: what fades with them is no fault.
        closer = [
            simulate(compiled, replace(one, **FINEST, max_steps=200_000), recording=grid)
            for one in (explicit, implicit)
        ]
        found = list(_compare(finding, what, compiled.system, *closer, coarse))
    finding.failures += found
    return coarse, fine


def _examine_constraint_methods(finding: Finding, system: System, coarse: Run, fine: Run) -> None:
    """The same motion where constraints are kept in another way: every second machine by minimal coordinates."""
    way = "projection" if finding.name.endswith(tuple("02468")) else "minimal"
    run, sentence = _treat(system, way)
    if sentence:
        way = "projection"
        run, _ = _treat(system, way)
    assert run is not None
    found = list(_compare(finding, f"baumgarte and {way}", system, fine, run, coarse))
    if found and way == "projection":
        # Where constraints do not determine the motion, every constraint method may find another one.
        least, sentence = _treat(system, "minimal")
        finding.singular = "singular" in sentence or (least is not None and least.outcome.kind.name == "SINGULAR")
    if not finding.singular:
        _note(finding, run)
        finding.failures += found


def _treat(system: System, way: str) -> tuple[Run | None, str]:
    """A run with another constraint method, or why there is none."""
    try:
        other = assemble(replace(system.scenario, constraint_method=ConstraintMethod(way)))
    except ModelError as error:
        return None, str(error)
    solver = Solver("dopri5", **FINE, **BUDGET)
    times = Recording(times=_times(system))
    return simulate(compile_system(other, solver, quick=True), solver, recording=times), ""


def _note(finding: Finding, run: Run) -> None:
    """How a run ended, and what it shows by itself: the one place where certificates are looked at."""
    finding.outcomes.append(run.outcome.kind.name)
    if run.outcome.kind.name not in TOLD and not _gives_by_its_numbers(run):
        finding.failures.append(f"{run.provenance.solver['method']} {run.outcome.kind.name}: {run.outcome.sentence}")
    broken = [name for k, name in enumerate(run.names) if not np.all(np.isfinite(run.values[:, k]))]
    if run.outcome.ok and broken:
        finding.failures.append(f"finished, but not finite: {', '.join(broken[:4])}")
    if run.outcome.ok and not run.certificate.ok:
        finding.failures.append("finished well with a certificate that is violated")


def _gives_by_its_numbers(run: Run) -> bool:
    """Whether all that is suspect is friction that gives energy with the numbers it was given, and that is said."""
    said = {info_of(law).gives for law in known_laws().values()} - {""}
    return run.outcome.kind.name == "SUSPECT" and all(one.remedy in said for one in run.certificate.violated)


def _times(system: System) -> tuple[float, ...]:
    """Instants that are no samples, where nothing jumps but at random."""
    return tuple((np.arange(SAMPLES) + 0.377) / SAMPLES * system.scenario.duration)


def _check_repeats(compiled: CompiledSystem, solver: Solver, run: Run) -> Iterator[str]:
    """Once more, and from a file: the same, bit by bit."""
    if not identical(run, simulate(compiled, solver)):
        yield "the same run twice is not the same"
    with tempfile.TemporaryDirectory() as folder:
        if not identical(run, load(save(run, Path(folder) / "random.run"))):
            yield "a run is not the same after save and load"


def _compare(finding: Finding, what: str, system: System, fine: Run, other: Run, coarse: Run) -> Iterator[str]:
    """Whether two runs agree as long as errors stay small; notes how long that is."""
    n = min(len(run.time) for run in (fine, other, coarse))
    apart, error = np.zeros(n), np.zeros(n)
    worst = ""
    for state in system.states:
        if not np.isfinite(state.nominal) or state.name not in fine:
            continue
        values, others, rough = (run[state.name].values[:n] for run in (fine, other, coarse))
        scale = max(np.max(np.abs(values), initial=0.0), 0.1 * state.nominal)
        difference = np.maximum(np.abs(values - others) - UNSEEN, 0.0) / scale
        worst = state.name if np.max(difference, initial=0.0) > np.max(apart, initial=0.0) else worst
        apart, error = np.maximum(apart, difference), np.maximum(error, np.abs(values - rough) / scale)
    error = np.maximum.accumulate(error)
    trusted = int(np.sum(error < GROWN))
    finding.compared.append(trusted / SAMPLES)
    excess = apart[:trusted] - SHARE * error[:trusted] - CLOSE
    if np.max(excess, initial=0.0) > 0:
        k = int(np.argmax(excess > 0))
        at = f"{apart[k]:.2g} at {fine.time[k]:.4g} s, where a coarser run is off by {error[k]:.2g}"
        yield f"{what} differ by {at}; in the end by {apart[-1]:.2g} ({worst})"
