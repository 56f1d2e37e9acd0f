"""Readiness: can this scenario be simulated? All that is wrong with it before any time passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.computation.assembly import System, assemble
from robodyn.computation.simulation.passed_limits import check_start_limits
from robodyn.computation.simulation.run_functions import check_operations
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model import Scenario

Found = Mapping[str, tuple[float, float]]
"""State -> its start as described, and as a run finds it."""


def make_ready(scenario: Scenario, begins: bool = True) -> tuple[System, Found | None]:
    """The assembled system, and the start values that a run would find.

    Args:
        begins: whether its start is known; a later phase of a sequence begins where the one before it ends.

    Raises:
        ModelError: with every problem.
    """
    system = assemble(scenario)
    check_operations(system)
    return system, _find_start(system) if begins else None


def _find_start(system: System) -> Found:
    """Start values that a run would find, within the limits of all joints."""
    start = search_start(system, np.array([number.value for number in system.parameters], float))
    states = dict(zip((state.name for state in system.states), start.x.tolist(), strict=True))
    check_start_limits(system, states, {name: number.value for name, number in system.numbers.items()})
    return start.found
