"""Modes of reactions: what sticks, what rests, with which forces, and what are the modes after an event?

Symbols: K rows of friction that sticks and of rigid contacts, f their forces, held the modes:

    w = b + S f = 0 where held,    f given elsewhere,    S = K M^-1 D^T with the constraints kept

One complementarity problem of all rows finds the modes anew wherever any of them may change: what slips changes what
presses, and what presses changes what slips.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import casadi as ca

from robodyn.assembly.complementarity import UNSETTLED, pose_problem, stack_bounds
from robodyn.assembly.contact_friction import DryFriction
from robodyn.assembly.contribution import Contribution, Deferred
from robodyn.assembly.events import START
from robodyn.assembly.mobility import Mobility, Solve, stack
from robodyn.assembly.motion import Motion
from robodyn.assembly.rigid_contact import SETTLING, Rigid
from robodyn.assembly.stick_friction import OPEN, Sticking
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import logical_and, where

ACTION, PROBLEM = "action:modes", "modes"


@dataclass(frozen=True)
class Reactions:
    """All rows that hold or move: of friction that sticks on joints, of rigid contacts, of the dry friction of these.

    Attributes:
        a: joint accelerations without their forces, constraints kept.
    """

    sticking: Sticking | None
    rigid: Rigid | None
    a: ca.SX

    @property
    def dry(self) -> DryFriction | None:
        return self.rigid.dry if self.rigid else None

    @cached_property
    def counts(self) -> list[int]:
        """Rows of each kind."""
        return [len(part.held) if part else 0 for part in (self.sticking, self.rigid, self.dry)]

    def split(self, column: ca.SX) -> list[ca.SX]:
        """A column of all rows by kinds."""
        ends = [0, *accumulate(self.counts)]
        return [column[begin:end] for begin, end in pairwise(ends)]

    @cached_property
    def mobility(self) -> Mobility:
        return stack(*(part.mobility for part in (self.sticking, self.rigid, self.dry) if part))

    @cached_property
    def held(self) -> list[ca.SX]:
        return [held for part in (self.sticking, self.rigid, self.dry) if part for held in part.held]

    @cached_property
    def _hold(self) -> Solve:
        return self.mobility.holder(self.held)

    @cached_property
    def motions(self) -> ca.SX:
        """b: accelerations of the rows without their forces; contact points that rest also return to their surfaces."""
        parts = (self.sticking, self.rigid, self.dry)
        return ca.vertcat(ca.SX(0, 1), *(part.motions(self.a) for part in parts if part))

    @cached_property
    def forces(self) -> ca.SX:
        """Those that hold, with what returns held elements to their anchors, or those of sliding."""
        if self.sticking is None and self.dry is None:
            return self.deciding_forces
        parts = zip((self.sticking, None, self.dry), self.counts, strict=True)
        returning = [part.returning if part else ca.SX.zeros(count) for part, count in parts]
        return self._find(self.motions + ca.vertcat(*returning))

    @cached_property
    def deciding_forces(self) -> ca.SX:
        """The same without what returns: by these an element holds or slips, here as where modes are found, so that a
        located slip is one there too."""
        return self._find(self.motions)

    def _find(self, b: ca.SX) -> ca.SX:
        if self.sticking is None:
            return self._hold(b)
        sliding = ca.vertcat(*self.sticking.sliding, ca.SX.zeros(len(self.held) - self.counts[0]))
        found = self._hold(b + self.mobility.S @ sliding)
        return ca.vertcat(*(where(held, found[i], sliding[i]) for i, held in enumerate(self.held)))

    def torques(self) -> ca.SX:
        """Of all rows on the joints."""
        directions = [self.sticking.mobility.rows] if self.sticking else []
        directions += [self.rigid.D] if self.rigid else []
        return ca.vertcat(*directions, *([self.dry.mobility.rows] if self.dry else [])).T @ self.forces


def trace_modes(motion: Motion, reactions: Reactions, known: Contribution, bindings: Bindings) -> Contribution:
    """The one problem of all modes and the one action that takes them over, at the start too.

    Args:
        known: memory of what has to settle; what else is noted at the start, so that this joins it there.
    """
    sticking, rigid, dry = reactions.sticking, reactions.rigid, reactions.dry
    b, forces = (reactions.split(column) for column in (reactions.motions, reactions.deciding_forces))
    parts, bounds = [], []
    if sticking:
        parts.append((sticking.mobility, b[0]))
        bounds.append(sticking.bounds(ca.vertsplit(forces[0])))
    if rigid:
        parts.append((rigid.sorting, b[1]))
        bounds.append(rigid.bounds(motion.context.values, b[1], forces[1], known.symbols[SETTLING]))
    if dry:
        aligned = dry.align(b[2])
        parts.append((aligned.mobility, aligned.motions))
        bounds.append(aligned.bounds(forces[1:], bounds[-1], reactions.counts[0]))
    mobility, motions = stack(*(part for part, _ in parts)), ca.vertcat(*(column for _, column in parts))
    modes, problem = pose_problem(PROBLEM, mobility, motions, stack_bounds(*bounds), bindings)
    ends = [0, *accumulate(reactions.counts)]
    sticks, pushes, slides = (modes[begin:end] for begin, end in pairwise(ends))
    rests = [mode == 0 for mode in pushes]
    update = _stick(sticking, sticks, bindings) if sticking else {}
    if rigid:
        update |= {m.name(): Deferred(where(r, 1.0, 0.0), {}) for m, r in zip(rigid.resting, rests, strict=True)}
        update |= rigid.unbend(rests)
    stops = sticking.resting if sticking else []
    if dry:
        update |= {name: replace(new, bindings=bindings) for name, new in aligned.take_over(slides, rests).items()}
        stops = [*stops, *rests, *aligned.stops(slides, rests)]
    if stops:
        update |= _stop(reactions, motion, stops, sticks, bindings)
    if rigid:
        update[SETTLING] = Deferred(ca.SX(0), {})
    # At the start there are no events: a contact that finds no force sinks, hits and is then reported.
    begins = {START: update} if rigid or START in known.actions else {}
    wrong = [mode == UNSETTLED for mode in pushes]
    jams = rigid.note_jams(wrong) if rigid else {}
    return replace(problem, actions=begins | {ACTION: update | jams})


def _stop(
    reactions: Reactions, motion: Motion, stops: list[ca.SX], sticks: list[ca.SX], bindings: Bindings
) -> dict[str, Deferred]:
    """Speeds of what has come to rest made exactly zero: `v - W S^-1 K v`, the nearest in kinetic energy.

    Args:
        stops: rows that rest; those of contacts only where some of them have dry friction.
    """
    sticking, rigid, dry = reactions.sticking, reactions.rigid, reactions.dry
    parts = [(sticking.mobility, sticking.speed)] if sticking else []
    parts += [(rigid.normal, rigid.rates), (dry.mobility, dry.slips)] if rigid and dry else []
    mobility = stack(*(part for part, _ in parts))
    # An impulse along what rests: K M^-1 K^T lam = -K v.
    v = motion.v + mobility.columns @ mobility.holder(stops)(ca.vertcat(*(rates for _, rates in parts)))
    v = sticking.hold_joints(v, sticks) if sticking else v
    return {motion.v[j].name(): Deferred(v[j], bindings) for j in range(v.numel())}


def _stick(sticking: Sticking, directions: list[ca.SX], bindings: Bindings) -> dict[str, Deferred]:
    """New directions, of what can hold nothing marked as such, and where each began to stick."""
    update: dict[str, Deferred] = {}
    for i, element in enumerate(sticking.elements):
        newly = logical_and(directions[i] == 0, element.direction != 0)
        anchor = where(newly, sticking.position[i], element.anchor)
        opened = where(element.strength <= 0, OPEN, 1.0)
        update[element.direction.name()] = Deferred(opened * directions[i], bindings)
        update[element.anchor.name()] = Deferred(anchor, bindings)
    return update
