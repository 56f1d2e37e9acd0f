"""Reactions: which rows of motions hold, with which forces, and what are their modes after an event?

Symbols: K rows of motions, D the directions of their forces f, held the modes:

    w = b + S f = 0 where held,    f given elsewhere,    S = K M^-1 D^T with the constraints kept

Constraints are such `Rows` too, whose modes stay; each `Reaction` has rows whose modes change. One complementarity
problem of all of them finds the modes anew wherever any of them may change: what slips changes what presses, and what
presses changes what slips.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain

import casadi as ca

from robodyn.base.symbolic import where
from robodyn.computation.assembly.complementarity import Posed, pose_problem
from robodyn.computation.assembly.contribution import Contribution, Deferred
from robodyn.computation.assembly.declarations import Guard
from robodyn.computation.assembly.events import START
from robodyn.computation.assembly.mobility import Mobility, Solve, stack
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings

ACTION, PROBLEM = "action:modes", "modes"


@dataclass(frozen=True)
class Settled:
    """What new modes change.

    Attributes:
        update: memory and states by name; jams: memory of what has found no modes.
        stops: which of the rows `mobility`, of the given speeds, have come to rest.
    """

    update: dict[str, ca.SX]
    mobility: Mobility | None = None
    speeds: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    stops: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    jams: dict[str, ca.SX] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """Rows of one kind, `w = K a + drift`, each entry a column (k,).

    Attributes:
        held: where the present modes keep w at zero; drift: motions while the joints do not accelerate.
    """

    mobility: Mobility
    held: ca.SX
    drift: ca.SX

    def motions(self, a: ca.SX) -> ca.SX:
        """Without the forces of the rows."""
        return self.mobility.rows @ a + self.drift

    @cached_property
    def hold(self) -> Solve:
        """Forces that take off motions where they are held, 0 elsewhere."""
        return self.mobility.holder(self.held)

    @property
    def returning(self) -> ca.SX:
        """Motions against which what is held returns to where it should be; they do not decide what holds."""
        return ca.SX(self.held.numel(), 1)


@dataclass(frozen=True)
class Reaction(Rows, ABC):
    """Rows whose modes change: friction that sticks, rigid contacts."""

    @property
    def sliding(self) -> ca.SX:
        """Forces of what is not held."""
        return ca.SX(self.held.numel(), 1)

    @property
    def directions(self) -> ca.SX:
        """D, of the forces in the joints' space (k, n_v)."""
        return self.mobility.rows

    @abstractmethod
    def pose(self, b: ca.SX, forces: ca.SX) -> list[Posed]:
        """The rows as parts of the problem of all modes.

        Args:
            b: motions without forces; forces: by the present modes, which locate events: what holds is decided by the
                same.
        """

    @abstractmethod
    def settle(self, modes: list[ca.SX]) -> Settled:
        """What new modes of these parts change."""

    def hold_joints(self, values: ca.SX, held: ca.SX) -> ca.SX:
        """Rates of the joints, exactly zero of those that rows keep at rest."""
        return values


@dataclass(frozen=True)
class Reactions:
    """All reactions of a machine.

    Attributes:
        a: joint accelerations without their forces, constraints kept.
    """

    parts: Sequence[Reaction]
    a: ca.SX

    def split(self, column: ca.SX) -> list[ca.SX]:
        """A column of all rows by kinds."""
        return list(ca.vertsplit(column, [0, *accumulate(part.held.numel() for part in self.parts)]))

    @cached_property
    def motions(self) -> ca.SX:
        return ca.vertcat(*(part.motions(self.a) for part in self.parts))

    @cached_property
    def forces(self) -> ca.SX:
        """Those that hold, with what returns held rows to where they should be, or those of sliding."""
        returning = ca.vertcat(*(part.returning for part in self.parts))
        return self._find(self.motions + returning) if returning.nnz() else self.deciding_forces

    @cached_property
    def deciding_forces(self) -> ca.SX:
        """The same without what returns: by these a row holds or slips, here as where modes are found, so that a
        located slip is one there too."""
        return self._find(self.motions)

    @cached_property
    def _all(self) -> Rows:
        mobility = stack(*(part.mobility for part in self.parts))
        return Rows(mobility, ca.vertcat(*(part.held for part in self.parts)), self.motions)

    def _find(self, b: ca.SX) -> ca.SX:
        sliding = ca.vertcat(*(part.sliding for part in self.parts))
        if not sliding.nnz():
            return self._all.hold(b)
        return where(self._all.held, self._all.hold(b + self._all.mobility.S @ sliding), sliding)

    def torques(self) -> ca.SX:
        """Of all rows on the joints."""
        return ca.vertcat(*(part.directions for part in self.parts)).T @ self.forces

    def hold_joints(self, values: ca.SX) -> ca.SX:
        """Rates of the joints, exactly zero of those that rows keep at rest."""
        for part in self.parts:
            values = part.hold_joints(values, part.held)
        return values


def trace_modes(motion: Motion, reactions: Reactions, known: Contribution, bindings: Bindings) -> Contribution:
    """The one problem of all modes and the one action that takes them over, at the start too.

    Args:
        known: what else is noted at the start, so that this joins it there.
    """
    columns = (reactions.parts, reactions.split(reactions.motions), reactions.split(reactions.deciding_forces))
    posed = [part.pose(b, forces) for part, b, forces in zip(*columns, strict=True)]
    modes, problem = pose_problem(PROBLEM, list(chain(*posed)), bindings)
    each = iter(modes)
    found = [[next(each) for _ in group] for group in posed]
    settled = [part.settle(own) for part, own in zip(reactions.parts, found, strict=True)]
    update = {name: value for one in settled for name, value in one.update.items()}
    jams = {name: value for one in settled for name, value in one.jams.items()}
    stopping = [one for one in settled if one.mobility]
    if stopping:
        v = _stop(motion.v, stopping)
        for part, own in zip(reactions.parts, found, strict=True):
            v = part.hold_joints(v, own[0] == 0)
        update |= {motion.v[j].name(): v[j] for j in range(v.numel())}
    # At the start there are no events: a contact that finds no force sinks, hits and is then reported.
    actions = {START: update} if jams or START in known.actions else {}
    actions[ACTION] = update | jams
    deferred = {name: {key: Deferred(v, bindings) for key, v in new.items()} for name, new in actions.items()}
    return replace(problem, actions=deferred)


def guard_modes(name: str, value: ca.SX, bindings: Bindings, contact: str | None = None) -> tuple[Guard, Deferred]:
    """An event at which modes are found anew: where a value falls through zero."""
    return Guard(name, -1, action=ACTION, contact=contact, problems=(PROBLEM,)), Deferred(value, bindings)


def _stop(v: ca.SX, stopping: list[Settled]) -> ca.SX:
    """Speeds of what has come to rest made exactly zero: `v - W S^-1 K v`, the nearest in kinetic energy."""
    mobility = stack(*(one.mobility for one in stopping if one.mobility))
    stops, speeds = (ca.vertcat(*column) for column in zip(*((s.stops, s.speeds) for s in stopping), strict=True))
    # An impulse along what rests: K M^-1 K^T lam = -K v.
    return v + mobility.columns @ mobility.holder(stops)(speeds)
