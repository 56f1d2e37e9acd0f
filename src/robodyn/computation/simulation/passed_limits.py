"""Passed limits: which limits of joints does a trajectory pass? From what the engine watched on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.base.errors import FlawList
from robodyn.base.numerics import bisect
from robodyn.computation.assembly import System
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.engine import Trajectory
from robodyn.computation.results import PassedLimit, Run
from robodyn.description.model.limits import BOUNDED, excess, value_beyond

LARGEST, LARGEST_AT, POSITIVE_AT = 3, 4, 5
HALVINGS = 60


def find_passed_limits(system: System, trajectory: Trajectory, run: Run, rows_chosen: bool) -> tuple[PassedLimit, ...]:
    """Every limit that was passed, in the order of the joints.

    Looked at where rows are and within every step.

    Args:
        rows_chosen: whether signals can be read between rows, which makes the first time exact.
    """
    if not len(trajectory.time):
        return ()
    found, begin = [], 0
    for watched in system.watched:
        kept = trajectory.extremes[begin]
        begin += watched.count
        if watched.invariant is not Invariant.WITHIN or not kept[LARGEST] > 0:
            continue
        joint, _, field = watched.subject.rpartition(".")
        limit = float(run.provenance.parameters[watched.subject]["value"])
        first = float(kept[POSITIVE_AT])
        first = _first_time(run, joint, field, limit, first) if rows_chosen else first
        worst = value_beyond(field, float(kept[LARGEST]), limit)
        found.append(PassedLimit(joint, field, limit, watched.unit, first, worst, float(kept[LARGEST_AT])))
    return tuple(found)


def _first_time(run: Run, joint: str, field: str, limit: float, seen: float) -> float:
    """When a limit was passed, between the row before it was seen and that instant."""
    name = f"{joint}.{BOUNDED[field][0]}"
    before = run.time[run.time < seen]
    if name not in run or not before.size or not run.time[0] <= seen <= run.time[-1]:
        return seen
    signal, low, high = run[name], float(before[-1]), seen
    if excess(field, float(signal(low)), limit) > 0 or not excess(field, float(signal(high)), limit) > 0:
        return seen
    _, first = bisect(lambda time: excess(field, float(signal(time)), limit) > 0, low, high, HALVINGS)
    return float(first)


def check_start_limits(system: System, states: Mapping[str, float], numbers: Mapping[str, Any]) -> None:
    """A start beyond a joint's limits of position or speed is refused; one found at rest may lie in an end stop.

    Args:
        states: values at the start; numbers: of the scenario, as used.
    """
    mechanism = system.scenario.machine.mechanism
    flaws = FlawList()
    given = system.scenario.initialisation != "at_rest"
    for joint in mechanism.limited_joints if mechanism and given else ():
        for field in joint.limits:
            name, limit = f"{joint.name}.{BOUNDED[field][0]}", numbers[f"{joint.name}.{field}"]
            if name in states and excess(field, states[name], limit) > 0:
                what = f"the start at {states[name]:.6g} is beyond the joint's {field} of {limit:g}"
                flaws.add(f"initial.{name}", what, "give a start within it, or change the limit")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
