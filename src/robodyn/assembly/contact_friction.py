"""Dry friction of rigid contacts: which contact points stick, and which slide in which direction?

Symbols: w slips of a contact point along one or two tangents, T their gradients, N the normal force, f what holds:

    sticks    T a + T_dot v = 0,    |f| <= mu N
    slides    f = -mu N e,          e = w / |w|

What slides is a part of the normal force, whose direction it changes; what sticks is a row of its own. Memory holds e,
zero where the point sticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.assembly.complementarity import ALLOWED, FIXED, Bounds
from robodyn.assembly.contact import own_name
from robodyn.assembly.contact_geometry import ContactPoint, find_drifts
from robodyn.assembly.contribution import Contribution, Deferred, declare_memory, merge
from robodyn.assembly.declarations import MemoryInfo
from robodyn.assembly.end_stops import RigidPoint, StopPoint
from robodyn.assembly.mobility import RETURN_RATE, Mobility, Solve, build_mobility, mean_compliance
from robodyn.assembly.motion import Motion
from robodyn.assembly.stick_friction import HELD_SPEED, LIMIT_MARGIN, REST_SPEED, TINY
from robodyn.symbolic import logical_and, logical_not, logical_or, maximum, sqrt, where

STOP_MARGIN, STOP_TIME = 1.01, 1e-3
"""Part of the rest speed up to which a slip may be stopped, and time [s] in which friction must be able to do so."""
TURNED = 0.97
"""Cosine of the angle, 14 degrees, from its direction in memory at which a slow slip has turned."""
IDLE = 1e-9
"""Gradient [m or m/rad] of a slip that no joint makes."""


@dataclass(frozen=True)
class DryPoint:
    """A contact point with dry friction.

    Attributes:
        number: of the contact point; first: number of its first row.
        used, tangents: along which of the two it can slip, and these, (3,) each.
        slips: along these (m,); memory: the direction e (m,); rest_speed: below which a slip in space that slows down
        has stopped; resting: whether the contact point rests.
    """

    contact_point: ContactPoint
    number: int
    first: int
    used: list[int]
    tangents: list[ca.SX]
    slips: ca.SX
    memory: ca.SX
    coefficient: ca.SX
    rest_speed: ca.SX
    resting: ca.SX

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + len(self.tangents))

    @property
    def slides(self) -> ca.SX:
        return ca.sumsqr(self.memory) > 0.25

    @property
    def held(self) -> ca.SX:
        return logical_and(self.resting, logical_not(self.slides))

    @property
    def speed(self) -> ca.SX:
        return sqrt(ca.sumsqr(self.slips) + TINY)

    @property
    def moves(self) -> ca.SX:
        """Whether it slides for certain.

        What slid in a plane is at rest only where its zero was located. In space the slip need not pass zero: it slides
        while it is fast, or goes on as it does.
        """
        if len(self.tangents) == 1:
            return self.speed > where(self.slides, REST_SPEED, HELD_SPEED)
        goes_on = logical_and(self.slides, logical_and(self.speed > REST_SPEED, self.onward > 0))
        return logical_or(self.speed > STOP_MARGIN * self.rest_speed, goes_on)

    @property
    def onward(self) -> ca.SX:
        """How fast it slides on in the direction of memory, less than zero where it has turned; in space only."""
        return ca.dot(self.memory, self.slips) - TURNED * self.speed + REST_SPEED

    @property
    def slip_direction(self) -> ca.SX:
        """e: that of memory in a plane, so that it does not turn round in a step; in space that of the slip, (m,).

        What begins to slip has no direction yet, and one that turns at mu N / (m |w|): memory gives it below the speed
        of rest.
        """
        if len(self.tangents) == 1:
            return self.memory
        moved = self.slips + maximum(self.rest_speed - self.speed, 0.0) * self.memory
        return moved / sqrt(ca.sumsqr(moved) + TINY)

    @property
    def slide_direction(self) -> ca.SX:
        """The same where it slides already, else that of the slip, (m,)."""
        return where(self.slides, self.slip_direction, self.slips / self.speed)

    @property
    def direction(self) -> tuple[ca.SX, ca.SX]:
        """The same along both tangents; where nothing slides any will do."""
        e = where(self.slides, self.slip_direction, ca.SX([1.0, 0.0][: len(self.tangents)]))
        full = {k: e[i] for i, k in enumerate(self.used)}
        return full.get(0, ca.SX(0)), full.get(1, ca.SX(0))


def _gradients(point: ContactPoint) -> ca.SX:
    """Of both slips by the joints' velocities, (2, n_v)."""
    return ca.vertcat(*(tangent.T @ point.gradient for tangent in point.tangents))


def find_dry_points(
    motion: Motion, contact_points: Sequence[RigidPoint], resting: tuple[ca.SX, ...]
) -> tuple[dict[int, DryPoint], Contribution]:
    """Those whose friction sticks, by number, and their memory; slips that no joint makes are left out."""
    found: dict[int, DryPoint] = {}
    first, parts = 0, []
    for i, point in enumerate(contact_points):
        if isinstance(point, StopPoint) or not point.contact.sticks:
            continue
        slips = ca.vertcat(*point.slips)
        moved = np.linalg.norm(motion.value_somewhere(_gradients(point)), axis=1) > IDLE
        used = [k for k in range(2) if moved[k]]
        infos = [MemoryInfo(own_name(point, f"slides{k + 1}"), "", 0.0, hidden=True) for k in used]
        memory = merge(declare_memory(info) for info in infos)
        parts.append(memory)
        mu = ca.SX(motion.context.values[f"{point.contact.name}.friction.coefficient"])
        tangents = [point.tangents[k] for k in used]
        rest_speed = point.rest_speed(motion.context.values)
        symbols = ca.vertcat(ca.SX(0, 1), *memory.symbols.values())
        own = (used, tangents, slips[used], symbols, mu, rest_speed, resting[i] > 0.5)
        found[i] = DryPoint(point, i, first, *own)
        first += len(used)
    return {i: point for i, point in found.items() if point.tangents}, merge(parts)


@dataclass(frozen=True)
class DryFriction:
    """All contact points with dry friction, and the rows of their slips."""

    points: tuple[DryPoint, ...]
    mobility: Mobility
    drift: ca.SX

    @property
    def held(self) -> list[ca.SX]:
        return [point.held for point in self.points for _ in point.tangents]

    @property
    def slips(self) -> ca.SX:
        return ca.vertcat(*(point.slips for point in self.points))

    def motions(self, a: ca.SX) -> ca.SX:
        """Accelerations of the slips without the forces of contacts."""
        return self.mobility.rows @ a + self.drift

    @property
    def returning(self) -> ca.SX:
        """What is held comes to rest again, should it move by the solver's errors."""
        return 2 * RETURN_RATE * self.slips

    def align(self, motions: ca.SX) -> Aligned:
        """Rows along and across the slip of each contact point that moves."""
        turns = ca.SX.eye(self.mobility.S.shape[0])
        for point in self.points:
            if len(point.tangents) > 1:
                e = where(point.moves, point.slide_direction, ca.SX([1.0, 0.0]))
                turns[point.rows, point.rows] = ca.vertcat(ca.horzcat(e[0], e[1]), ca.horzcat(-e[1], e[0]))
        m = self.mobility
        turned = Mobility(turns @ m.rows, m.columns @ turns.T, turns @ m.S @ turns.T, m.compliance)
        return Aligned(self, turned, turns @ (motions + self._to_rest), turns @ self.slips, turns)

    @property
    def _to_rest(self) -> ca.SX:
        """Slips in space that are slow, by the time in which friction has to stop them: w / tau + w' is what it holds.

        So a point stops where a force within its cone can do that beside all others, else it slides on: close to a
        singular position a slow slip may be a fast joint.
        """
        slow = [logical_and(p.speed > HELD_SPEED, logical_not(p.moves)) for p in self.points]
        slips = [where(s, p.slips / STOP_TIME, 0.0) for p, s in zip(self.points, slow, strict=True)]
        return ca.vertcat(*(w if w.numel() > 1 else ca.SX(0) for w in slips))


@dataclass(frozen=True)
class Aligned:
    """The rows of slips, turned so that each contact point that moves does so along its first."""

    friction: DryFriction
    mobility: Mobility
    motions: ca.SX
    slips: ca.SX
    turns: ca.SX

    @cached_property
    def moving(self) -> list[ca.SX]:
        return [point.moves for point in self.friction.points]

    def bounds(self, forces: list[ca.SX], normals: Bounds, first: int) -> Bounds:
        """What rests sticks at first, but for what is beyond its limit in a plane; what moves slides.

        Args:
            forces: along the normals and across them, by the present modes; normals: bounds of the normals; first:
                number of the first of them.
        """
        columns: list[list[ca.SX]] = [[], [], [], [], []]
        for point, moves in zip(self.friction.points, self.moving, strict=True):
            limit = (1 + 0.5 * LIMIT_MARGIN) * point.coefficient * forces[0][point.number]
            plane = len(point.tangents) == 1
            for k in range(len(point.tangents)):
                row = point.first + k
                slips = logical_and(point.held, forces[1][row] ** 2 >= limit**2) if plane else ca.SX(0)
                begins = where(moves, _sign(self.slips[row]), where(slips, -_sign(forces[1][row]), 0.0))
                columns[0].append(where(moves, FIXED, where(normals.allowed[point.number] == ALLOWED, ALLOWED, FIXED)))
                columns[1].append(normals.tolerance[point.number])
                columns[2].append(begins)
                # What moves along has no force across.
                columns[3].append(point.coefficient if k == 0 else where(moves, 0.0, point.coefficient))
                columns[4].append(ca.SX(float(first + point.number)))
        zero = ca.SX.zeros(len(columns[0]))
        return Bounds(zero, zero, zero, zero, *(ca.vertcat(*column) for column in columns))

    def _directions(self, modes: list[ca.SX]) -> list[ca.SX]:
        """In which each contact point slides, zero where it sticks."""
        found = []
        for point, moves in zip(self.friction.points, self.moving, strict=True):
            begun = self.turns[point.rows, point.rows].T @ ca.vertcat(*modes[point.rows])
            begun = begun / maximum(sqrt(ca.sumsqr(begun)), 0.5)
            ahead = point.slips / point.speed
            if len(point.tangents) > 1:
                # What friction cannot stop slides on in the direction it would have after STOP_TIME, an implicit step:
                # the present direction, taken over, would turn to and fro about the one that lasts.
                back = logical_and(ca.sumsqr(begun) > 0.25, ca.dot(begun, point.slips) <= 0)
                begun = where(logical_and(back, point.speed > HELD_SPEED), ahead, begun)
                ahead = where(logical_and(point.slides, point.speed < point.rest_speed), point.memory, ahead)
            found.append(where(moves, ahead, begun))
        return found

    def take_over(self, modes: list[ca.SX], rests: list[ca.SX]) -> dict[str, Deferred]:
        """The new directions, of contact points that rest."""
        update: dict[str, Deferred] = {}
        for point, direction in zip(self.friction.points, self._directions(modes), strict=True):
            for k in range(len(point.tangents)):
                update[point.memory[k].name()] = Deferred(where(rests[point.number], direction[k], 0.0), {})
        return update

    def stops(self, modes: list[ca.SX], rests: list[ca.SX]) -> list[ca.SX]:
        """Rows that have come to rest, if only to slide in another direction."""
        stopped = []
        for point, moves, direction in zip(self.friction.points, self.moving, self._directions(modes), strict=True):
            onward = ca.dot(direction, point.slips) > 0 if len(point.tangents) > 1 else ca.sumsqr(direction) > 0
            still = logical_and(rests[point.number], logical_not(moves))
            stopped += [logical_and(still, logical_not(onward))] * len(point.tangents)
        return stopped


def _sign(value: ca.SX) -> ca.SX:
    return where(value < 0, -1.0, 1.0)


def build_dry_friction(motion: Motion, points: dict[int, DryPoint], solve: Solve) -> DryFriction | None:
    """The rows of all contact points with dry friction, if there are any."""
    if not points:
        return None
    rows = [tangent.T @ point.contact_point.gradient for point in points.values() for tangent in point.tangents]
    drifts = [find_drifts(motion, point.contact_point, point.tangents) for point in points.values()]
    mobility = build_mobility(solve, ca.sparsify(ca.vertcat(*rows)), mean_compliance)
    return DryFriction(tuple(points.values()), mobility, ca.vertcat(*drifts))
