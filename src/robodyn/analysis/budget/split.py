"""Splitting a deviation: linear twins with one cause at a time, or differences of motions, and loops without their
properties."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

from robodyn.analysis.budget.causes import find_causes, leave_out, why_no_twin
from robodyn.analysis.budget.replay import Announce, Replay, find_twin
from robodyn.analysis.budget.result import REST, TIME, Budget, Part
from robodyn.analysis.budget.twin import PREFIX, Twin
from robodyn.analysis.budget.variants import vary
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.waiting import told_if_slow
from robodyn.computation.assembly import System, assemble
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.perturbation.nominal import POINTS
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Recording, Scenario, Solver

DEVIATIONS = ("deviation.*",)
ROWS = 2000
"""Times at which the parts are taken where the scenario has no rate of recording."""

Move = Callable[[str, Callable[[], Run]], Run]
Share = tuple[Part, np.ndarray]


@told_if_slow("splitting the deviation of")
def split_deviation(
    what: Scenario | System,
    signals: Sequence[str] = DEVIATIONS,
    *,
    along: str = TIME,
    without: Mapping[str, float] | None = None,
    points: int = POINTS,
    solver: Solver | None = None,
    progress: Callable[[str], None] | None = None,
    on_compile: Announce | None = None,
) -> Budget:
    """The error budget of a scenario with a nominal motion.

        total = sum of causes + sum of properties of the loop + dynamics not fed forward + remainder

    The causes' parts are those in the loop as it is; its properties and the rest are those of the loop without causes.
    A scenario that has no linear twin, since friction sticks, is split by differences of non-linear motions.

    Args:
        signals: patterns of what is split; along: signal that pictures are drawn against.
        without: numbers that are parts of their own -> values without an effect; an unknown payload 0 by default.
        progress: called with what is simulated next.
    """
    scenario = what.scenario if isinstance(what, System) else what
    machine = scenario.machine
    # Damping and friction of joints are causes like those of blocks.
    if machine.all_blocks != machine.blocks:
        what = scenario.replaced(machine=machine.with_all_blocks(machine.all_blocks))
        scenario = what
    if why := why_no_twin(scenario):
        return _split_by_differences(scenario, signals, along, without, solver, progress, on_compile, why)
    near = Perturbed(what, points=points, solver=solver, on_compile=on_compile)
    scenario, twin = near.scenario, find_twin(near)
    system = near.equations.outline.system
    chosen = choose_signals(system, signals, twin)
    recording = choose_recording(scenario, (*chosen, *choose_along(system, along)))
    bare = leave_out(scenario, twin.causes)
    loops = [("linear motion", bare), *vary(bare, without)]

    def move(name: str, start: Callable[[], Run]) -> Run:
        if progress:
            progress(name)
        return _carried_through(start(), name)

    replay = Replay(near, twin, recording, on_compile)
    base = move("twin without causes", replay.simulate)
    parts = list(_split_causes(replay, base, chosen, move))
    moved = [_values(move(name, partial(replay.simulate_alone, loop)), chosen) for name, loop in loops]
    parts += _split_loops([name for name, _ in loops[1:]], moved)
    run = move("non-linear motion", lambda: simulate(system, near.solver, recording=recording, on_compile=on_compile))
    _check_times(run, parts)
    values = np.stack([values for _, values in parts], axis=1)
    return Budget(run, chosen, along, tuple(part for part, _ in parts), values, _values(base, chosen))


def _split_by_differences(
    scenario: Scenario,
    signals: Sequence[str],
    along: str,
    without: Mapping[str, float] | None,
    solver: Solver | None,
    progress: Callable[[str], None] | None,
    on_compile: Announce | None,
    why: str,
) -> Budget:
    """The error budget of a scenario without a linear twin, by non-linear motions with and without each cause.

    With y(C) the deviation under the causes C, of all of them A, the part of c is

        (y({c}) - y({}) + y(A) - y(A - {c})) / 2

    which adds up to y(A) - y({}) where causes act together by twos at most: then it is Shapley's value.
    """
    system, causes = assemble(scenario), find_causes(scenario)
    chosen = choose_signals(system, signals)
    recording = choose_recording(scenario, (*chosen, *choose_along(system, along)))

    def move(name: str, what: Scenario | System) -> Run:
        if progress:
            progress(name)
        return _carried_through(simulate(what, solver, recording=recording, on_compile=on_compile), name)

    run, bare = move("all causes", system), leave_out(scenario, causes)
    total, base = _values(run, chosen), _values(move("no cause", bare), chosen)
    parts: list[Share] = []
    for name, cause in causes.items():
        others = {key: other for key, other in causes.items() if key != name}
        alone = _values(move(f"{name} alone", leave_out(scenario, others)), chosen)
        missing = _values(move(f"without {name}", leave_out(scenario, {name: cause})), chosen)
        parts.append((Part(name, cause.what, "cause"), 0.5 * (alone - base + total - missing)))
    loops = list(vary(bare, without))
    moved = [base, *(_values(move(name, loop), chosen) for name, loop in loops)]
    parts += _split_loops([name for name, _ in loops], moved)
    _check_times(run, parts)
    values = np.stack([values for _, values in parts], axis=1)
    return Budget(run, chosen, along, tuple(part for part, _ in parts), values, total, why)


def _split_causes(replay: Replay, base: Run, signals: Sequence[str], move: Move) -> Iterator[Share]:
    """What each cause does to the twin."""
    twins = [f"{PREFIX}.{name}" for name in signals]
    for name, cause in replay.twin.causes.items():
        run = move(name, partial(replay.simulate, name))
        yield Part(name, cause.what, "cause"), _values(run, twins) - _values(base, twins)


def _split_loops(properties: Sequence[str], moved: Sequence[np.ndarray]) -> Iterator[Share]:
    """What each property of the loop does where there are no causes, and what is left without all of them.

    Args:
        moved: deviations with all properties, and without one more each.
    """
    for name, before, after in zip(properties, moved, moved[1:], strict=False):
        yield Part(name, "", "loop"), before - after
    yield Part(REST, "", "rest"), moved[-1]


def _check_times(run: Run, parts: Sequence[Share]) -> None:
    if any(values.shape[1] != run.time.size for _, values in parts):
        what = f"ends at {run.time[-1]:g} s, motions near it elsewhere"
        raise ModelError([Flaw("non-linear motion", what, "leave out the event that ends it")], "budget")


def _values(run: Run, names: Sequence[str]) -> np.ndarray:
    """(signals, times)."""
    return np.array([run[name].values for name in names])


def _carried_through(run: Run, name: str) -> Run:
    if not run.outcome.ok:
        raise ModelError([Flaw(name, f"cannot be simulated: {run.outcome.sentence}")], "budget")
    return run


def choose_signals(system: System, patterns: Sequence[str], twin: Twin | None = None) -> tuple[str, ...]:
    """Names of the signals to split; each must depend on the motion, where a twin says so."""
    names, flaws = system.signal_names, FlawList()
    chosen = tuple(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns))
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            remedy = f"name what is to be split; {nearest(pattern, names)}"
            flaws.add("signals", f"'{pattern}' matches no signal", remedy)
    for name in chosen:
        if twin is not None and not twin.has(name):
            flaws.add(f"signals.{name}", "does not depend on the motion or has no linear part", "choose another")
    flaws.raise_if_any(f"budget of '{system.scenario.name}'")
    return chosen


def choose_along(system: System, along: str) -> tuple[str, ...]:
    """The signal to draw against, none for the time."""
    if along != TIME and along not in system.signal_names:
        what = f"there is no signal '{along}'"
        raise ModelError([Flaw("along", what, nearest(along, system.signal_names))])
    return () if along == TIME else (along,)


def choose_recording(scenario: Scenario, signals: tuple[str, ...]) -> Recording:
    """Evenly spaced times, the same for all runs."""
    own = scenario.recording
    if own.rate is None and own.times is None:
        own = Recording(rate=ROWS / scenario.duration)
    return dataclasses.replace(own, signals=signals)
