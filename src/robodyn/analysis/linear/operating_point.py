"""Operating point: where is a system linearised? Time, states, delayed signals, memory and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.analysis.point_functions import OperatingPoint as OperatingPoint
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest, refuse_unknown
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.system import FREE
from robodyn.computation.results import Run
from robodyn.computation.simulation import find_equilibrium
from robodyn.computation.simulation.equilibrium import Balance
from robodyn.computation.simulation.starting import search_start

# "equilibrium", "start", a run (its end), a run and a time of it [s], values of states and memory by name, or a point
# found before.
Place = str | Run | tuple[Run, float] | Mapping[str, float] | OperatingPoint


def find_point(
    system: System, at: Place, parameters: Mapping[str, float] | None = None, balance: Balance | None = None
) -> OperatingPoint:
    """The operating point that `at` names.

    Delayed signals that are not recorded are taken as settled: d = w(x, d).

    Args:
        at: "equilibrium" | "start" | a run (its end) | (run, time [s]) | a point found before, whose parameters do
            not count | values by name of states and memory, the rest as the scenario starts.
        parameters: tunable numbers to change; balance: the equations of rest, where they are there already.
    """
    changes = dict(parameters or {})
    p = _parameter_values(system, changes)
    if isinstance(at, OperatingPoint):
        return _check_sizes(system, replace(at, p=p))
    if at == "equilibrium" or (at == "start" and system.scenario.initialisation == "at_rest"):
        found = find_equilibrium(system, parameters=changes, balance=balance)
        return OperatingPoint(0.0, found.x, found.d, found.m, p)
    t, values = _values_at(system, at)
    described = search_start(system, p).x if at == "start" else [state.start for state in system.states]
    x = np.array([values.get(s.name, start) for s, start in zip(system.states, described, strict=True)], float)
    m = np.array([values.get(memory.name, memory.start) for memory in system.memory], float)
    return OperatingPoint(t, x, _settle(system, t, x, m, p, values), m, p)


def hold_outputs(system: System, patterns: Sequence[str], at: Place) -> tuple[System, Mapping[str, float]]:
    """A system in which some outputs of blocks stay as they are at an operating point, and the point by name.

    A valve whose controller's output is held stays where it holds the machine: what is left are the oil and the masses.

    Args:
        patterns: of output names, such as `*.control.current`, or of blocks.
    """
    from fnmatch import fnmatchcase

    blocks = system.scenario.machine.all_blocks
    own = {f"{block.name}.{key}" for block in blocks for key in (*block.state_names, *block.memory_names)}
    own |= {f"{name}_dot" for name in own}
    owners = {name: name.rpartition(".")[0] for name in system.signal_names}
    named = {block.name for block in blocks}
    outputs = [name for name in system.signal_names if owners[name] in named and name not in own]
    flaws, chosen = FlawList(), dict[str, None]()
    for pattern in patterns:
        matches = [name for name in outputs if fnmatchcase(name, pattern) or fnmatchcase(owners[name], pattern)]
        if not matches:
            flaws.add(f"hold.{pattern}", "is no output of a block", nearest(pattern, outputs))
        chosen |= dict.fromkeys(matches)
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
    point = find_point(system, at)
    values = PointFunctions(system, {"outputs": system.expressions.outputs}, quick=True)("outputs", point)
    signals = dict(zip(system.signal_names, values.tolist(), strict=True))
    held = assemble(system.scenario, inputs={name: signals[name] for name in chosen})
    held = held if system.friction else held.without_friction
    there = {state.name: value for state, value in zip(system.states, point.x.tolist(), strict=True)}
    there |= {info.name: value for info, value in zip(system.memory, point.m.tolist(), strict=True)}
    return held, there


def sticking_directions(system: System) -> set[str]:
    """Names of the memory that says what friction that sticks does: 0 holds, -1 or 1 slides, `FREE` is left out."""
    return {f"{block.name}.direction" for block in system.scenario.machine.all_blocks if block.info.sticks}


def _check_sizes(system: System, point: OperatingPoint) -> OperatingPoint:
    for part, infos in (("x", system.states), ("d", system.delays), ("m", system.memory)):
        count = getattr(point, part).size
        if count != len(infos):
            what = f"has {count} values of {part}, the system {len(infos)}"
            raise ModelError([Flaw("at", what, "give a point of the same system")], "operating point")
    return point


def _values_at(system: System, at: Place) -> tuple[float, dict[str, float]]:
    """Time and values by name; friction that sticks is left open where they do not say what it does."""
    open_friction = dict.fromkeys(sticking_directions(system), FREE)
    if isinstance(at, Mapping):
        return 0.0, open_friction | _check_values(system, at)
    if isinstance(at, Run):
        return at.outcome.time, _end_values(system, at)
    if isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], Run):
        return float(at[1]), _recorded_values(system, *at)
    if isinstance(at, str) and at == "start":
        return 0.0, open_friction
    what = f"must be 'equilibrium', 'start', a run, (run, time) or values by name, is {at!r}"
    raise ModelError([Flaw("at", what)], "operating point")


def _parameter_values(system: System, changes: dict[str, float]) -> np.ndarray:
    tunable = [number.name for number in system.parameters]
    refuse_unknown(changes, tunable, "is not tunable in this system", "parameters")
    if changes:
        # The descriptions check themselves: a negative mass is refused here as it is anywhere else.
        system.scenario.with_numbers(changes)
    return np.array([changes.get(number.name, number.value) for number in system.parameters], float)


def _check_values(system: System, values: Mapping[str, float]) -> dict[str, float]:
    known = [state.name for state in system.states] + [memory.name for memory in system.memory]
    flaws = FlawList()
    flaws.add_unknown(values, known, "there is no such state", "at")
    for name, value in values.items():
        if not np.isfinite(value):
            flaws.add(f"at.{name}", f"must be a finite number, is {value}")
    flaws.raise_if_any("operating point")
    return {name: float(value) for name, value in values.items()}


def _end_values(system: System, run: Run) -> dict[str, float]:
    missing = [state.name for state in system.states if state.name not in run.end]
    if missing:
        what = f"has no end value of {', '.join(missing[:3])}"
        raise ModelError([Flaw("at", what, "give a run of the same machine")], "operating point")
    recorded = {delay.name: run[delay.name].final for delay in system.delays if delay.name in run}
    return dict(run.end) | recorded


def _recorded_values(system: System, run: Run, time: float) -> dict[str, float]:
    """Values at a time of a run; memory that is no signal is read by sampled tasks alone."""
    wanted = [state.name for state in system.states] + [info.name for info in system.memory if not info.hidden]
    missing = [name for name in wanted if name not in run]
    if missing:
        what = f"the run has not recorded {', '.join(missing[:3])}"
        raise ModelError([Flaw("at", what, "record all states")], "operating point")
    recorded = [name for name in (*wanted, *(delay.name for delay in system.delays)) if name in run]
    return {name: float(run[name](time)) for name in recorded}


def _settle(
    system: System, t: float, x: np.ndarray, m: np.ndarray, p: np.ndarray, known: Mapping[str, Any]
) -> np.ndarray:
    """Delayed signals: the known ones, and for the others what goes into the delay now."""
    delays = system.delays
    d = np.array([known.get(delay.name, 0.0) for delay in delays], float)
    free = np.array([delay.name not in known for delay in delays], bool)
    if not free.any():
        return d
    functions = PointFunctions(system, {"delayed": system.expressions.delayed})
    # A delayed signal may depend on others: each round settles at least one more.
    for _ in delays:
        d = np.where(free, functions("delayed", OperatingPoint(t, x, d, m, p)), d)
    return d
