"""Dry friction of rigid contacts: which contact points stick, and which slide in which direction?

Symbols: w slips of a contact point along one or two tangents, T their gradients, N the normal force, f what holds:

    sticks    T a + T_dot v = 0,    |f| <= mu N
    slides    f = -mu N e,          e = w / |w|

What slides is a part of the normal force, whose direction it changes; what sticks is a row of its own. Memory holds e,
zero where the point sticks.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.base.symbolic import logical_and, logical_not, logical_or, maximum, sqrt, where
from robodyn.computation.assembly.contact_geometry import ContactPoint
from robodyn.computation.assembly.stick_friction import HELD_SPEED, LIMIT_MARGIN, REST_SPEED, TINY

STOP_MARGIN, STOP_TIME = 1.01, 1e-3
"""Part of the rest speed up to which a slip may be stopped, and time [s] in which friction must be able to do so."""
TURNED = 0.97
"""Cosine of the angle, 14 degrees, from its direction in memory at which a slow slip has turned."""


@dataclass(frozen=True)
class DryPoint:
    """A contact point with dry friction.

    Attributes:
        number: of the contact point; rows: of its slips among all rows of contacts.
        used: along which of its two tangents it can slip; slips: along these (m,); memory: the direction e (m,).
        rest_speed: below which a slip in space that slows down has stopped; resting: whether the contact point rests.
        length: that of the machine [m], of which thresholds of speeds are parts.
    """

    contact_point: ContactPoint
    number: int
    rows: slice
    used: list[int]
    slips: ca.SX
    memory: ca.SX
    coefficient: ca.SX
    rest_speed: ca.SX
    resting: ca.SX
    length: float

    @property
    def in_space(self) -> bool:
        """Whether it may slip along both tangents, and not in a plane only."""
        return len(self.used) > 1

    @property
    def slides(self) -> ca.SX:
        return ca.sumsqr(self.memory) > 0.25

    @property
    def held(self) -> ca.SX:
        return logical_and(self.resting, logical_not(self.slides))

    @property
    def speed(self) -> ca.SX:
        return sqrt(ca.sumsqr(self.slips) + TINY * self.length**2)

    @property
    def moves(self) -> ca.SX:
        """Whether it slides for certain.

        What slid in a plane is at rest only where its zero was located. In space the slip need not pass zero: it slides
        while it is fast, or goes on as it does.
        """
        if not self.in_space:
            return self.speed > self.length * where(self.slides, REST_SPEED, HELD_SPEED)
        goes_on = logical_and(self.slides, logical_and(self.speed > REST_SPEED * self.length, self.onward > 0))
        return logical_or(self.speed > STOP_MARGIN * self.rest_speed, goes_on)

    @property
    def onward(self) -> ca.SX:
        """How fast it slides on in the direction of memory, less than zero where it has turned; in space only."""
        return ca.dot(self.memory, self.slips) - TURNED * self.speed + REST_SPEED * self.length

    @property
    def slip_direction(self) -> ca.SX:
        """e: that of memory in a plane, so that it does not turn round in a step; in space that of the slip, (m,).

        What begins to slip has no direction yet, and one that turns at mu N / (m |w|): memory gives it below the speed
        of rest.
        """
        if not self.in_space:
            return self.memory
        moved = self.slips + maximum(self.rest_speed - self.speed, 0.0) * self.memory
        return moved / sqrt(ca.sumsqr(moved) + TINY * self.length**2)

    @property
    def slide_direction(self) -> ca.SX:
        """The same where it slides already, else that of the slip, (m,)."""
        return where(self.slides, self.slip_direction, self.slips / self.speed)

    @property
    def direction(self) -> tuple[ca.SX, ca.SX]:
        """The same along both tangents; where nothing slides any will do."""
        e = where(self.slides, self.slip_direction, ca.SX([1.0, 0.0][: len(self.used)]))
        full = {k: e[i] for i, k in enumerate(self.used)}
        return full.get(0, ca.SX(0)), full.get(1, ca.SX(0))

    @property
    def turn(self) -> ca.SX:
        """Rows along and across the slip of what moves in space, (m, m)."""
        if not self.in_space:
            return ca.SX.eye(1)
        e = where(self.moves, self.slide_direction, ca.SX([1.0, 0.0]))
        return ca.vertcat(ca.horzcat(e[0], e[1]), ca.horzcat(-e[1], e[0]))

    @property
    def to_rest(self) -> ca.SX:
        """A slow slip in space by the time in which friction has to stop it: w / tau + w' is what it holds, (m,).

        So a point stops where a force within its cone can do that beside all others, else it slides on: close to a
        singular position a slow slip may be a fast joint.
        """
        slow = logical_and(self.speed > HELD_SPEED * self.length, logical_not(self.moves))
        return where(slow, self.slips / STOP_TIME, 0.0) if self.in_space else ca.SX(1, 1)

    def begin(self, forces: ca.SX) -> ca.SX:
        """Modes to begin with: what rests sticks, but for what is beyond its limit in a plane; what moves slides, (m,).

        Args:
            forces: of all rows of contacts, by the present modes.
        """
        limit, across = (1 + 0.5 * LIMIT_MARGIN) * self.coefficient * forces[self.number], forces[self.rows]
        slips = ca.SX(0) if self.in_space else logical_and(self.held, across**2 >= limit**2)
        return where(self.moves, _sign(self.turn @ self.slips), where(slips, -_sign(across), 0.0))

    @property
    def coefficients(self) -> ca.SX:
        """Of the rows: what moves along has no force across, (m,)."""
        return ca.vertcat(self.coefficient, where(self.moves, 0.0, self.coefficient))[: len(self.used)]

    def slide(self, modes: ca.SX) -> ca.SX:
        """The direction in which it slides in new modes, zero where it sticks."""
        begun = self.turn.T @ modes
        begun = begun / maximum(sqrt(ca.sumsqr(begun)), 0.5)
        ahead = self.slips / self.speed
        if self.in_space:
            # What friction cannot stop slides on in the direction it would have after STOP_TIME, an implicit step:
            # the present direction, taken over, would turn to and fro about the one that lasts.
            back = logical_and(ca.sumsqr(begun) > 0.25, ca.dot(begun, self.slips) <= 0)
            begun = where(logical_and(back, self.speed > HELD_SPEED * self.length), ahead, begun)
            ahead = where(logical_and(self.slides, self.speed < self.rest_speed), self.memory, ahead)
        return where(self.moves, ahead, begun)

    def stops(self, direction: ca.SX, rests: ca.SX) -> ca.SX:
        """Whether it has come to rest, if only to slide in another direction."""
        onward = ca.dot(direction, self.slips) > 0 if self.in_space else ca.sumsqr(direction) > 0
        return logical_and(logical_and(rests, logical_not(self.moves)), logical_not(onward))


def _sign(value: ca.SX) -> ca.SX:
    return where(value < 0, -1.0, 1.0)
