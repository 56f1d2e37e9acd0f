"""Diagnostics of a run: which of its numbers are doubtful, whatever its outcome says? A sentence for each."""

from __future__ import annotations

import numpy as np

from robodyn.computation.engine import Trajectory
from robodyn.computation.simulation.choice import report_stiffness
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.model import Solver

# Residual of constraints at the start [m, rad, m/s or rad/s] that a run's solver would hardly notice.
START_LIMIT = 1e-5
# Part of its largest speed below which a joint stands still; part of the duration that is waiting, own choice.
STILL, WAITED = 1e-4, 0.4
# Rotation of a node [rad] up to which deformations may be taken as linear, own choice: its cosine is 12 % off 1.
BEND_LIMIT = 0.5


def find_doubts(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> list[str]:
    """What whoever uses the numbers should know."""
    column = {info.name: k for k, info in enumerate(compiled.recorded)}
    return [
        *_describe_start(column, trajectory),
        *_describe_bends(compiled, column, trajectory),
        *_describe_waiting(compiled, column, trajectory),
        *report_stiffness(solver, trajectory),
    ]


def _describe_waiting(compiled: CompiledSystem, column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence where a machine stands still for most of a run that waits for an event which does not come."""
    scenario = compiled.system.scenario
    ends = [event.name for event in scenario.events if event.terminal]
    speeds = [k for name, k in column.items() if name.endswith(".velocity") and name.count(".") == 1]
    if not ends or not speeds or not len(trajectory.y):
        return []
    begin, passed = trajectory.time[0], trajectory.at_time - trajectory.time[0]
    if passed < (1 - 1e-9) * scenario.duration:
        return []
    sizes = np.abs(trajectory.y[:, speeds])
    moving = np.flatnonzero(np.any(sizes > STILL * (sizes.max(axis=0) + 1e-12), axis=1))
    since = float(trajectory.time[moving[-1]]) if moving.size else begin
    if since - begin > (1 - WAITED) * passed:
        return []
    names = ", ".join(f"'{name}'" for name in ends)
    what = f"nothing has moved since {since:.4g} s, and the run has waited for {names} in vain"
    return [f"{what}: targets, levels or conditions of the events do not fit each other"]


def _describe_start(column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence where a run begins off its constraints: what follows is partly the correction of that."""
    names = [f"constraints.{level}_error" for level in ("position", "velocity")]
    if not set(names) <= column.keys() or not len(trajectory.y):
        return []
    position, velocity = (float(trajectory.y[0, column[name]]) for name in names)
    if max(position, velocity) <= START_LIMIT:
        return []
    off = f"{position:.3g} (positions) and {velocity:.3g} (velocities)"
    return [
        f"the start is off the constraints by {off}: initialisation = 'assembled' keeps what is given, finds the rest"
    ]


def _describe_bends(compiled: CompiledSystem, column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence for each flexible body that is bent or twisted further than linear deformations go."""
    mechanism = compiled.system.scenario.machine.mechanism
    found = []
    for body in mechanism.flexible_bodies if mechanism else ():
        names = [f"{mode.name}.position" for mode in body.modes]
        if not set(names) <= column.keys():
            continue
        modal = trajectory.y[:, [column[name] for name in names]]
        turns = np.concatenate([np.array(node.turn) for node in body.nodes], axis=1)
        largest = float(np.max(np.abs(modal @ turns), initial=0.0))
        if largest > BEND_LIMIT:
            bent = f"flexible body '{body.name}' is bent by {largest:.3g} rad, more than linear deformations go"
            found.append(f"{bent}: divide it into several on fixed joints")
    return found
