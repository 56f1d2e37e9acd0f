"""Modes of reactions: what sticks, what rests, with which forces, and what are the modes after an event?

Symbols: K rows of friction that sticks and of rigid contacts, f their forces, held the modes:

    w = b + S f = 0 where held,    f given elsewhere,    S = K M^-1 D^T with the constraints kept

One complementarity problem of all rows finds the modes anew wherever any of them may change: what slips changes what
presses, and what presses changes what slips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred
from robodyn.assembly.complementarity import UNSETTLED, pose_problem, stack_bounds
from robodyn.assembly.events import START
from robodyn.assembly.mobility import Mobility, Solve, stack
from robodyn.assembly.motion import Motion
from robodyn.assembly.rigid_contact import SETTLING, Rigid
from robodyn.assembly.stick_friction import Sticking
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import logical_and, where

ACTION, PROBLEM = "action:modes", "modes"


@dataclass(frozen=True)
class Reactions:
    """All rows of a machine that hold or move: those of friction that sticks, then those of rigid contacts.

    Attributes:
        a: joint accelerations without their forces, constraints kept.
    """

    sticking: Sticking | None
    rigid: Rigid | None
    a: ca.SX

    @property
    def n_sticking(self) -> int:
        return len(self.sticking.elements) if self.sticking else 0

    @cached_property
    def mobility(self) -> Mobility:
        return stack(*(part.mobility for part in (self.sticking, self.rigid) if part))

    @cached_property
    def held(self) -> list[ca.SX]:
        return (self.sticking.stuck if self.sticking else []) + (self.rigid.held if self.rigid else [])

    @cached_property
    def _hold(self) -> Solve:
        return self.mobility.holder(self.held)

    @cached_property
    def motions(self) -> ca.SX:
        """b: accelerations of the rows without their forces; contact points that rest also return to their surfaces."""
        parts = [self.sticking.g] if self.sticking else []
        return ca.vertcat(*parts, *([self.rigid.approach(self.a)] if self.rigid else []))

    @cached_property
    def forces(self) -> ca.SX:
        """Those that hold, with what returns held elements to their anchors, or those of sliding."""
        if self.sticking is None:
            return self.deciding_forces
        returning = ca.vertcat(self.sticking.returning, ca.SX.zeros(len(self.held) - self.n_sticking))
        return self._find(self.motions + returning)

    @cached_property
    def deciding_forces(self) -> ca.SX:
        """The same without what returns: by these an element holds or slips, here as where modes are found, so that a
        located slip is one there too."""
        return self._find(self.motions)

    def _find(self, b: ca.SX) -> ca.SX:
        if self.sticking is None:
            return self._hold(b)
        sliding = ca.vertcat(*self.sticking.sliding, ca.SX.zeros(len(self.held) - self.n_sticking))
        found = self._hold(b + self.mobility.S @ sliding)
        return ca.vertcat(*(where(held, found[i], sliding[i]) for i, held in enumerate(self.held)))

    def torques(self) -> ca.SX:
        """Of all rows on the joints."""
        count, total = self.n_sticking, ca.SX.zeros(self.a.numel())
        if self.sticking:
            total = total + self.sticking.mobility.rows.T @ self.forces[:count]
        return total + self.rigid.D.T @ self.forces[count:] if self.rigid else total


def add_modes(builder: Builder, motion: Motion, reactions: Reactions, bindings: Bindings) -> None:
    """The one problem of all modes and the one action that takes them over, at the start too."""
    sticking, rigid, count = reactions.sticking, reactions.rigid, reactions.n_sticking
    b, forces = reactions.motions, ca.vertsplit(reactions.deciding_forces)
    bounds = [sticking.bounds(forces[:count])] if sticking else []
    bounds += [rigid.bounds(builder, b[count:])] if rigid else []
    modes = pose_problem(builder, PROBLEM, reactions.mobility, b, stack_bounds(*bounds), bindings)
    update = _stick(sticking, modes[:count], motion, bindings) if sticking else {}
    if rigid:
        rests = zip(rigid.resting, modes[count:], strict=True)
        update |= {memory.name(): Deferred(where(mode == 0, 1.0, 0.0), {}) for memory, mode in rests}
    builder.start_problems = (PROBLEM,)
    # At the start there are no events: a contact that finds no force sinks, hits and is then reported.
    if rigid or START in builder.actions:
        builder.actions.setdefault(START, {}).update(update)
    wrong = [mode == UNSETTLED for mode in modes[count:]]
    builder.actions[ACTION] = update | (rigid.note_jams(wrong) | {SETTLING: Deferred(ca.SX(0), {})} if rigid else {})


def _stick(sticking: Sticking, directions: list[ca.SX], motion: Motion, bindings: Bindings) -> dict[str, Deferred]:
    """New directions, speeds of what rests made exactly zero, and where each began to stick."""
    stopped = sticking.hold_joints(sticking.stop_resting(motion.v), directions)
    update = {motion.v[j].name(): Deferred(stopped[j], bindings) for j in range(motion.v.numel())}
    for i, element in enumerate(sticking.elements):
        newly = logical_and(directions[i] == 0, element.direction != 0)
        anchor = where(newly, sticking.position[i], element.anchor)
        update[element.direction.name()] = Deferred(directions[i], {})
        update[element.anchor.name()] = Deferred(anchor, bindings)
    return update
