"""Initialisation: where does a run begin? As given, where constraints are met, at rest, or where another run ended; and
can the scenario be simulated at all?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.base.symbolic import to_column
from robodyn.computation.assembly.system import System
from robodyn.computation.results import Run
from robodyn.description.model import Scenario
from robodyn.description.model.numbers import check_finite
from robodyn.description.model.scenario import check_orientations, vector_parts

from .certificate import check_start_limits
from .compiled import CompiledSystem

if TYPE_CHECKING:
    from .equilibrium import Balance

LEFT = 1e-6
"""How much of the residual of all equations, those left out too, may be left [m or rad]."""
ROUNDING = 1e-12
"""Change of a start value, absolute or relative, that is not reported."""


@frozen
class Start:
    """Where a run begins: time [s], continuous states, memory.

    Attributes:
        found: start values that a search changed, as described and as found.
    """

    time: float
    x: Array
    m: Array
    found: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def find_start(compiled: CompiledSystem, values: Array, before: Run | None = None) -> Start:
    """The described start, or the end of a run before for all it knows by name.

    Args:
        values: of the tunable parameters.
    """
    system = compiled.system
    if before is None:

        def search() -> Start:
            balance = compiled.balance if system.scenario.initialisation == "at_rest" else None
            return search_start(system, values, balance)

        described = np.array_equal(values, system.described_values)
        start = system.recall("start", search) if described else search()
        return Start(start.time, start.x.copy(), start.m.copy(), start.found)
    x = np.array([before.end.get(state.name, state.start) for state in system.states], float)
    m = np.array([before.end.get(memory.name, memory.start) for memory in system.memory], float)
    _check_constraints(system, m)
    return Start(before.outcome.time, x, m)


def search_start(system: System, values: Array, balance: Balance | None = None) -> Start:
    """The described start values, or what the scenario's `start` asks for near to them.

    Args:
        values: of the tunable parameters; balance: the equations of rest, where they have been built before.
    """
    x, _, m, _ = system.described
    if system.scenario.initialisation == "given":
        return Start(0.0, x, m)
    parameters = dict(zip(system.places, values.tolist(), strict=True))
    described = x
    if system.scenario.initialisation == "at_rest":
        from .equilibrium import find_equilibrium

        rest = find_equilibrium(system, parameters=parameters, balance=balance)
        x, m = rest.x, rest.m
    else:
        from .loop_assembly import close_constraints

        x = close_constraints(system, parameters=parameters).require().x
        _check_left_out(system, x, m, values)
    check_ranges(system, x, values)
    return Start(0.0, x, m, list_changes(system, described, x))


def change_start(system: System, start: Start, starts: Mapping[str, float], values: Array) -> Start:
    """A given start with other values of some states and sampled outputs.

    Args:
        values: of the tunable parameters.
    """
    x, m = start.x.copy(), start.m.copy()
    for k, state in enumerate(system.states):
        x[k] = starts.get(state.name, x[k])
    for k, info in enumerate(system.memory):
        # Samples under way when the run starts hold the same value as the output they will become.
        m[k] = starts.get(info.name.partition(".pending.")[0], m[k])
    _check_starts(system, starts, x)
    check_ranges(system, x, values)
    return Start(start.time, x, m)


def _check_starts(system: System, starts: Mapping[str, float], x: Array) -> None:
    """What a scenario would refuse of these start values; the others of a quaternion are in x."""
    flaws = FlawList()
    for name, value in starts.items():
        check_finite(flaws, f"initial.{name}", value)
    mechanism = system.scenario.machine.mechanism
    if mechanism is not None and system.has_balls and not flaws.found:
        check_orientations(flaws, vector_parts(mechanism.joints), system.name_states(x))
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


def _check_left_out(system: System, x: Array, m: Array, values: Array) -> None:
    """Equations that follow from others near one position may not at the one that was found: another assembly."""
    if system.constraint_residual is None:
        return
    residual: Any = system.constraint_residual(0.0, x, system.described.d, m, values)
    flaws = FlawList()
    if float(residual) > LEFT:
        what = (
            f"are met by the start found but for {float(residual):.3g} of equations that seem to follow from the others"
        )
        flaws.add("constraints", what, "give start values nearer to where all are met, or leave a constraint out")
    system.scenario.raise_if_any(flaws)


def list_changes(system: System, before: Array, after: Array) -> dict[str, tuple[float, float]]:
    pairs = zip(system.state_names, before.tolist(), after.tolist(), strict=True)
    return {name: (old, new) for name, old, new in pairs if abs(new - old) > ROUNDING * max(1.0, abs(old))}


def _check_constraints(system: System, m: Array) -> None:
    """Whether a constraint holds is built in where no event changes it: a run before must not end otherwise."""
    flaws = FlawList()
    switched = {guard.name for guard in system.discrete.guards}
    active = {f"{c.name}.active": c.name for c in system.scenario.machine.all_constraints}
    for info, value in zip(system.memory, m, strict=True):
        name = active.get(info.name)
        if name and f"{name}.closes" not in switched and (value > 0.5) != (info.start > 0.5):
            what = f"{'holds' if value > 0.5 else 'is broken'} at the end of the run before, and not here"
            flaws.add(f"constraints.{name}", what, f"start with '{info.name}' = {value:g}")
    system.scenario.raise_if_any(flaws)


def check_ranges(system: System, x: Array, values: Array) -> None:
    """A start that was found must lie within the ranges of all coordinates, as a given one must."""
    ranged = [c for c in system.scenario.machine.coordinates if c.range is not None]
    if not ranged:
        return
    positions = system.evaluate(to_column(system.motion.coordinates[c.name] for c in ranged), x=x, p=values)
    flaws = FlawList()
    for c, position in zip(ranged, positions.ravel(), strict=True):
        lower, upper = c.range or (-np.inf, np.inf)
        if not lower <= position <= upper:
            what = f"the start found at {position:.6g} is out of reach, allowed is {lower:g} to {upper:g}"
            flaws.add(f"coordinates.{c.name}.range", what, "change initial, the setpoint or the range")
    system.scenario.raise_if_any(flaws)


Found = Mapping[str, tuple[float, float]]
"""State -> its start as described, and as a run finds it."""


def make_ready(scenario: Scenario, begins: bool = True) -> tuple[System, Found | None]:
    """The assembled system, and the start values that a run would find.

    Args:
        begins: whether its start is known; a later phase of a sequence begins where the one before it ends.

    Raises:
        ModelError: with every problem.
    """
    from robodyn.computation.assembly import assemble

    from .run_functions import check_operations

    system = assemble(scenario)
    check_operations(system)
    if not begins:
        return system, None
    start = search_start(system, system.described_values)
    check_start_limits(system, system.name_states(start.x), system.number_values)
    return system, start.found
