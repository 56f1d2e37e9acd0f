"""Simulator: what happens? A scenario or system, a solver, and out comes a run; its errors by a second solution.

The second solution is of the same trace: by another method, with tighter tolerances.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import WaitingLine, refuse
from robodyn.computation.assembly.system import System
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.results import Run, compare_solutions, join
from robodyn.computation.results.rows import LARGEST_TOLERANCE
from robodyn.computation.results.store import RunWriter
from robodyn.description.model import ConstraintMethod, Recording, Scenario, ScenarioSequence, Solver

from .batch import RunInputs, find_runner
from .compiled import CompiledSystem, Phases
from .recording import describe_chain, make_beginning, make_run
from .references import find_reference_warnings
from .streaming import RowStream, keep_run

Progress = Callable[[float, float, int], None]


Target = Scenario | ScenarioSequence | System | CompiledSystem | Phases


def simulate(
    what: Target,
    solver: Solver | None = None,
    *,
    start: Run | None = None,
    parameters: Mapping[str, float] | None = None,
    recording: Recording | None = None,
    certify: bool = False,
    progress: Progress | None = None,
    on_compile: Callable[[str], None] | None = None,
    file: str | Path | None = None,
    tolerance: float | None = None,
    last: float | None = None,
    loop_warnings: Sequence[str] = (),
) -> Run:
    """Simulate a scenario from its start to its end; arguments are those of the public `robodyn.simulate`.

    Args:
        loop_warnings: sentences on unstable loops, for the run.
    """
    others: dict[str, Any] = {"parameters": parameters, "progress": progress, "on_compile": on_compile}
    if certify or isinstance(what, (ScenarioSequence, Phases)):
        if last is not None:
            whole = "certify" if certify else "a sequence"
            refuse("last", f"keeps the end of a run alone, {whole} needs all of it", "leave it out")
        if certify:
            run = _simulate_twice(what, solver, recording, **others, start=start)
        elif isinstance(what, (ScenarioSequence, Phases)):
            run = _simulate_chain(what, solver, recording, start, **others)
        run = add_loop_warnings(run, loop_warnings)
        # All of it is in memory: it is written at the end.
        part_of_size = choose_tolerance(tolerance, run.provenance.solver.get("rtol"))
        return run if file is None else keep_run(run, RowStream(len(run), None, None), file, part_of_size)
    system = _system_of(what, recording)
    solver = solver or _own_solver(what, system.scenario)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver: must be a Solver, is {solver!r}; for example Solver('rk4', step=1e-3)")
    asked = recording.signals if recording else None
    compiled, recording = _prepare(what, system, solver, recording, on_compile)
    scenario, begin = system.scenario, start.outcome.time if start else 0.0
    if last is not None and not 0.0 < last < scenario.duration:
        what_is = f"must be positive and shorter than the duration of {scenario.duration:g} s, is {last:g} s"
        refuse("last", what_is, "leave it out to keep all of the run")
    streamed, part_of_size = file is not None or last is not None, choose_tolerance(tolerance, solver.rtol)
    if streamed and asked not in (None, recording.signals):
        refuse("recording.signals", "with file or last, must be those of the compiled system", "leave it out")
    runner = find_runner(compiled, solver, recording, begin, scenario.duration, drained=streamed)
    inputs = runner.read(parameters or {}, before=start)
    warnings = _find_start_warnings(what, compiled, inputs, described=start is None and not parameters)

    with WaitingLine(f"simulating {scenario.name}", quiet=progress is not None, watched=False) as line:
        integration, calls = runner.begin(inputs)
        stream = None
        if streamed:
            begin_file = partial(_begin_file, compiled, solver, inputs, file, part_of_size) if file else None
            stream = RowStream(len(compiled.recorded), begin_file, last)
            integration.drain = stream.take
        progress = progress or line.follow(scenario.duration, begin)
        trajectory, failure = runner.complete(integration, calls, progress, probes=True)
    runner.give_back(integration)
    if runner.march is not None:
        trajectory = trajectory._replace(no_march=runner.march.reason)
    if failure:
        warnings = (*warnings, "".join(traceback.format_exception(failure[1])))
    stored = None
    if stream is not None:
        integration.drain = None
        trajectory, stored = stream.finish(trajectory, integration.drained_rows)
    outcome, chosen = runner.describe(trajectory, failure), runner.rows_chosen and not failure
    run = make_run(
        compiled, solver, inputs.values, trajectory, outcome, inputs.start, warnings, rows_chosen=chosen, stored=stored
    )
    run = add_loop_warnings(run, loop_warnings)
    # What was asked for of all that the system was compiled for.
    if asked is not None and asked != recording.signals:
        run = run.select(*asked)
    return run if stream is None or file is None else keep_run(run, stream, file, part_of_size)


def choose_tolerance(tolerance: float | None, rtol: Any) -> float:
    """The error that signals may have in a file, as part of their size: by default what the solver may leave."""
    if tolerance is None:
        return min(float(rtol or 0.0), LARGEST_TOLERANCE)
    if not 0.0 <= tolerance <= LARGEST_TOLERANCE:
        what = f"must be from 0 (exact) to {LARGEST_TOLERANCE:g}, is {tolerance:g}"
        refuse("tolerance", what, "leave it out for the relative tolerance of the solver")
    return tolerance


def add_loop_warnings(run: Run, sentences: Sequence[str]) -> Run:
    """The run with what is to be said of its loops: an unstable one may be why it was not carried through."""
    if not sentences:
        return run
    outcome = run.outcome
    if not outcome.ok:
        outcome = dataclasses.replace(outcome, sentence=f"{outcome.sentence}; {sentences[0]}")
    return run.judged(outcome=outcome, warnings=(*run.warnings, *sentences))


def _begin_file(
    compiled: CompiledSystem, solver: Solver, inputs: RunInputs, file: str | Path, tolerance: float
) -> RunWriter:
    """The file of a run that has begun."""
    beginning = make_beginning(compiled, solver, inputs.values, inputs.start)
    return RunWriter(file, len(compiled.recorded), tolerance, begin=beginning)


def _find_start_warnings(what: Target, compiled: CompiledSystem, inputs: RunInputs, described: bool) -> tuple[str, ...]:
    """What references do that the machine cannot follow, and a start that does not fit them; of a single run alone."""
    if isinstance(what, CompiledSystem) and not what.once:
        return ()
    system = compiled.system

    def search() -> list[str]:
        from .reference_paths import find_start_warnings

        states = system.name_states(inputs.start.x)
        beyond = find_reference_warnings(system, compiled.number_values(inputs.values), states)
        return [*beyond, *find_start_warnings(compiled, inputs.start, inputs.values)]

    # From the described start with the described numbers, references do the same every time.
    return tuple(system.recall("doubts of the start", search) if described else search())


def _own_solver(what: Any, scenario: Scenario) -> Solver:
    """What a system was compiled for, or the scenario's own settings."""
    return what.solver if isinstance(what, CompiledSystem) else scenario.solver


def _simulate_twice(what: Target, solver: Solver | None, recording: Recording | None, **others: Any) -> Run:
    """A run, and its errors by another one of the same trace."""
    if isinstance(what, ScenarioSequence):
        # Numbers are changed here, phase by phase, so that both runs take what is traced once.
        what = what.with_numbers(others.pop("parameters", None) or {})
        what = Phases(what, tuple(_system_of(phase, recording) for phase in what.phases))
    elif isinstance(what, Scenario):
        what = _system_of(what, recording)
    run = simulate(what, solver, recording=recording, **others)
    target = Phases(what.sequence, what.systems) if isinstance(what, Phases) else _system_of(what, recording)
    first = what.ready[0] if isinstance(what, Phases) else what
    scenario = _system_of(first, recording).scenario
    patterns = first.patterns if isinstance(first, CompiledSystem) else scenario.recording.signals
    signals = recording.signals if recording else patterns

    def again(other: Traced, tighter: Solver, instants: Recording) -> Run:
        return simulate(other, tighter, recording=instants, **others)

    return add_errors(run, target, solver or _own_solver(first, scenario), signals, again)


def _simulate_chain(
    chain: ScenarioSequence | Phases,
    solver: Solver | None,
    recording: Recording | None,
    start: Run | None,
    parameters: Mapping[str, float] | None,
    **others: Any,
) -> Run:
    """Phase after phase, each from the end of the one before; a phase that cannot be carried through is the last."""
    sequence = chain.sequence if isinstance(chain, Phases) else chain
    # What was traced before has its numbers: others are those of another sequence.
    traced = chain.ready if isinstance(chain, Phases) and not parameters else None
    runs: list[Run] = []
    for phase in traced or sequence.with_numbers(parameters or {}).phases:
        start = simulate(phase, solver, start=start, recording=recording, **others)
        runs.append(start)
        if not start.outcome.carried_through:
            break
    first = runs[0].provenance
    return join(runs, dataclasses.replace(first, scenario=sequence.name, description=describe_chain(sequence)))


def _system_of(what: Any, recording: Recording | None) -> System:
    if isinstance(what, CompiledSystem):
        return what.system
    if isinstance(what, Scenario):
        from robodyn.computation.assembly import assemble

        return assemble(what, signals=recording.signals if recording else ())
    if isinstance(what, System):
        return what
    kind = type(what).__name__
    raise TypeError(f"simulate takes a Scenario, a System or a CompiledSystem, not a {kind}: use Scenario(name, ...)")


def _prepare(
    what: Scenario | System | CompiledSystem,
    system: System,
    solver: Solver,
    recording: Recording | None,
    on_compile: Callable[[str], None] | None,
) -> tuple[CompiledSystem, Recording]:
    """Native code for the run and what it keeps; a system compiled before records all that it was compiled for."""
    if not isinstance(what, CompiledSystem):
        from .run_functions import compile_system

        recording = recording or system.scenario.recording
        return compile_system(system, solver, signals=recording.signals, once=True, on_compile=on_compile), recording
    if recording is None or recording.signals == what.patterns:
        return what, recording or what.recording
    from .run_functions import choose_signals

    there = {info.name for info in what.recorded}
    if any(system.signal_names[k] not in there for k in choose_signals(system, recording.signals)):
        problem = f"asks for {', '.join(recording.signals)}, compiled for {', '.join(what.patterns)}"
        remedy = f"compile it for these: compile_system(system, signals={recording.signals})"
        refuse("recording.signals", problem, remedy)
    return what, dataclasses.replace(recording, signals=what.patterns)


TIGHTER, TIGHTEST = 1e-2, (1e-10, 1e-12)
"""How much tighter the second solution is, and the tightest tolerances that arithmetic can hope for."""
FIXED_TOLERANCES = (1e-8, 1e-10)
"""Tolerances of the second solution of a run in fixed steps."""
LONGEST_PART = (5.0**0.5 - 1.0) / 20.0
"""Longest step of the second solution as part of the run: other steps than the first, on purpose, and no multiple of
them. Where the motion is a polynomial, both would otherwise grow their steps over the same things."""
SAFETY = 1.5
"""Error bar by difference of both solutions: |e1| <= |e1 - e2| + |e2|, and the second error is at most a third of the
first. The difference alone covers the first error only where both have opposite signs."""
FINER = 4.0
"""How much finer its steps are where its method must stay the same."""

Traced = Scenario | ScenarioSequence | System | Phases
Simulate = Callable[[Traced, Solver, Recording], Run]


def add_errors(run: Run, what: Traced, solver: Solver, signals: tuple[str, ...], simulate: Simulate) -> Run:
    """A run with the errors that a second solution shows; one not carried through, or without rows, stays as it is.

    Args:
        signals: patterns of those recorded; simulate: makes the second run.
    """
    if not run.outcome.carried_through or not len(run.time):
        return run
    # What is no longer as its scenario describes it keeps its constraints as it does.
    changed = isinstance(what, System) and bool(what.motion.momenta or what.motion.terms or what.inputs)
    second = other_solver(solver, retreated=not changed)
    span = float(run.time[-1] - run.time[0])
    if second.adaptive and span > 0:
        second = dataclasses.replace(second, max_step=min(second.max_step, LONGEST_PART * span))
    # Where the first has rows, the second has them too: nothing is interpolated.
    times = None if isinstance(what, (ScenarioSequence, Phases)) else tuple(np.unique(run.time))
    second_run = simulate(what if changed else _treat_otherwise(what), second, Recording(signals=signals, times=times))
    against = f"{second.method} at rtol {second.rtol:g}" if second.adaptive else f"{second.method} in finer steps"
    against = f"{against}, times {SAFETY:g}"
    if not second_run.outcome.ok:
        against = f"{against}; it {second_run.outcome.sentence}"
    return dataclasses.replace(run, errors=compare_solutions(run, second_run, against, SAFETY))


def other_solver(solver: Solver, retreated: bool = True) -> Solver:
    """A method of another kind with tighter tolerances; stiff, so that it can follow whatever the first could.

    Args:
        retreated: whether constraints may be kept another way; a method with them in its steps otherwise stays.
    """
    if solver.implicit_step and not retreated:
        return dataclasses.replace(solver, step=(solver.step or DEFAULT_FIXED_STEP) / FINER)
    rtol, atol = FIXED_TOLERANCES
    if solver.adaptive:
        tolerances = zip((solver.rtol, solver.atol), TIGHTEST, strict=True)
        rtol, atol = (max(TIGHTER * tolerance, least) for tolerance, least in tolerances)
    method = "rodas4p" if solver.method == "rodas4" else "rodas4"
    return Solver(method, rtol=rtol, atol=atol, max_wall_time=solver.max_wall_time)


def _treat_otherwise(what: Traced) -> Traced:
    """Constraints kept another way; without any, what was traced before serves again."""
    if isinstance(what, Phases):
        constrained = any(phase.scenario.machine.all_constraints for phase in what.systems)
        return _treat_otherwise(what.sequence) if constrained else what
    if isinstance(what, System):
        return _treat_scenario(what.scenario) if what.scenario.machine.all_constraints else what
    if isinstance(what, ScenarioSequence):
        return dataclasses.replace(what, phases=tuple(_treat_scenario(phase) for phase in what.phases))
    return _treat_scenario(what)


def _treat_scenario(scenario: Scenario) -> Scenario:
    if not scenario.machine.all_constraints:
        return scenario
    other = "baumgarte" if scenario.constraint_method.method == "projection" else "projection"
    return dataclasses.replace(scenario, constraint_method=ConstraintMethod(other))
