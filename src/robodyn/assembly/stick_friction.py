"""Stick-slip friction: which joints and coordinates hold at rest, with which force, and which slide?

Symbols: k elements with friction that sticks, each on a coordinate s_i with gradient G_i = ds_i/dq. A memory
`direction` says what each does: 0 holds, -1 or 1 slides, -2 or 2 slides because it can hold nothing. The forces F of
those that hold keep them at rest:

    M a = tau - c + G^T F,    g + S F = G a + G_dot v = 0 where held,    S = G M^-1 G^T

Dry friction is a complementarity: an element either rests with F_i within its holding limit, which may differ with the
direction, or slides against the force of sliding. It slides once F_i passes the limit and holds again once its speed is
zero. Both are located events, and both find the directions of all elements anew, since the forces of one change those
of the others.

At a dead centre of a loop or a linkage an element stands still whatever the machine does, S_ii = 0: no force of it
holds anything there. It passes like an open brake, with a holding limit of zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from robodyn.assembly.builder import StickElement
from robodyn.dynamics import solve_symmetric
from robodyn.symbolic import absolute, logical_and, logical_not, maximum, minimum, sign, where

REST_SPEED = 1e-9
"""Speed [rad/s or m/s] below which an element that slides has come to rest: a located zero is much nearer."""
LEAST_SPEED = 1e-12
"""Speed [rad/s or m/s] against its direction at which what slides is stopped: at zero itself it has just slipped."""
HELD_SPEED = 1e-6
"""Speed [rad/s or m/s] beyond which an element that holds has been knocked loose, by an impact or an outer action."""
LIMIT_MARGIN = 1e-9
"""Part of the holding limit by which a located slip may fall short of it."""
WEAKEST, TINY = 1e-3, 1e-30
"""Part of all limits together below which an element shares no less of a load."""
RETURN_RATE = 20.0
"""Rate [1/s] at which a held coordinate on moving joints returns to where it stuck (Baumgarte)."""
OPEN = 2.0
"""Size of the direction of what can hold nothing: it may hold as soon as it is able to, if it is still at rest then."""
DEAD_CENTRE = 1e-9
"""Part of the mobility at a general position below which an element cannot hold the machine: its gradient is smaller by
the root of this."""


@dataclass(frozen=True)
class Sticking:
    """The elements of a machine and the expressions their behaviour is made of.

    Attributes:
        G: gradients (k, n_v); W: M^-1 G^T (n_v, k); S: (k, k).
        position, speed: of the elements' coordinates (k,).
        g: accelerations G a + G_dot v of the coordinates without friction (k,).
        held_by: for each joint, the smallest sets of elements that hold it at rest together.
    """

    elements: tuple[StickElement, ...]
    G: ca.SX
    W: ca.SX
    S: ca.SX
    position: ca.SX
    speed: ca.SX
    g: ca.SX
    held_by: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def count(self) -> int:
        return len(self.elements)

    def forces(self) -> list[ca.SX]:
        """Friction force of each element: the one that holds, or the one of sliding."""
        # What holds also returns, r the rate of it: G a + G_dot v = -2 r s_dot - r^2 (s - anchor).
        drift = [position - e.anchor for position, e in zip(ca.vertsplit(self.position), self.elements, strict=True)]
        returning = [
            2 * RETURN_RATE * self.speed[i] + RETURN_RATE**2 * where(e.direction == 0, drift[i], 0.0)
            for i, e in enumerate(self.elements)
        ]
        return self._forces([self.g[i] + returning[i] for i in range(self.count)])

    def physical_forces(self) -> list[ca.SX]:
        """The same without what returns a held element to its anchor: the forces by which it holds or slips, here as
        where the directions are found, so that a located slip is one there too."""
        return self._forces(ca.vertsplit(self.g))

    def _forces(self, g: list[ca.SX]) -> list[ca.SX]:
        """Forces that make `g + S F` zero where held, else those of sliding."""
        direction = [element.direction for element in self.elements]
        stuck = [d == 0 for d in direction]
        sliding = [
            where(d >= 1, e.forward, where(d <= -1, e.backward, e.frictionless))
            for d, e in zip(direction, self.elements, strict=True)
        ]
        holding = solve_holding(self.S, g, sliding, stuck)
        return [where(stuck[i], holding[i], sliding[i]) for i in range(self.count)]

    def hold_joints(self, values: ca.SX, directions: list[ca.SX]) -> ca.SX:
        """Rates of the joints, exactly zero where the elements hold a joint at rest."""
        # A joint rests exactly where some set of elements that holds it all sticks.
        held = [_any([_all([directions[i] == 0 for i in group]) for group in groups]) for groups in self.held_by]
        return ca.vertcat(*(where(h, 0.0, values[j]) for j, h in enumerate(held)))

    def find_directions(self) -> tuple[list[ca.SX], list[ca.SX]]:
        """Directions that agree with forces and speeds, and which elements are at rest.

        All at rest hold at first. In each pass those that would slide against their own direction hold again; if there
        are none, the one furthest beyond its limit slides. That may go round in circles: later passes change the first
        element that contradicts its forces alone, which cannot (Murty, 1974).
        """
        # What cannot hold anything slides, also where nothing moves it yet.
        resting = [
            logical_and(
                absolute(self.speed[i]) <= where(element.direction == 0, HELD_SPEED, REST_SPEED), element.strength > 0
            )
            for i, element in enumerate(self.elements)
        ]
        direction = [where(rest, 0.0, _direction_of(self.speed[i])) for i, rest in enumerate(resting)]
        # Principal pivoting of the linear complementarity problem (LCP), unrolled: as many passes as are ever needed.
        for step in range(3 * self.count + 1):
            wrong, excess, holding, _ = self._find_contradictions(direction, resting)
            chosen = _pick_worst(wrong, excess) if step <= self.count else _pick_first(wrong, excess)
            direction = [
                where(chosen[i], where(wrong[i], 0.0, -sign(holding[i])), direction[i]) for i in range(self.count)
            ]
        return self._follow_motion(direction, resting), resting

    def _follow_motion(self, direction: list[ca.SX], resting: list[ca.SX]) -> list[ca.SX]:
        """Directions of what cannot hold, an open brake: the way it moves or will move, and that it is open."""
        *_, acceleration = self._find_contradictions(direction, resting)
        found = []
        for i, element in enumerate(self.elements):
            ahead = where(absolute(self.speed[i]) <= REST_SPEED, _direction_of(acceleration[i]), direction[i])
            found.append(where(element.strength <= 0, OPEN * ahead, direction[i]))
        return found

    def _find_contradictions(
        self, direction: list[ca.SX], resting: list[ca.SX]
    ) -> tuple[list[ca.SX], list[ca.SX], list[ca.SX], ca.SX]:
        """Which elements would slide against their direction, how far each is beyond its limit, what holds it, and how
        all accelerate."""
        stuck = [d == 0 for d in direction]
        sliding = [where(d > 0, e.forward, e.backward) for d, e in zip(direction, self.elements, strict=True)]
        holding = solve_holding(self.S, [self.g[i] for i in range(self.count)], sliding, stuck)
        # s_ddot = g + S F, with F as the directions would have it.
        force = ca.vertcat(*(where(stuck[i], holding[i], sliding[i]) for i in range(self.count)))
        acceleration = self.g + self.S @ force
        # At a located slip an element is let go a little below its limit: it must not be caught again for that.
        slack = [LIMIT_MARGIN * e.strength * self.S[i, i] for i, e in enumerate(self.elements)]
        wrong = [logical_and(resting[i], direction[i] * acceleration[i] < -slack[i]) for i in range(self.count)]
        excess = [where(stuck[i], -reserve_of(e, holding[i], certain=False), -1.0) for i, e in enumerate(self.elements)]
        return wrong, excess, holding, acceleration

    def stop_resting(self, v: ca.SX, resting: list[ca.SX]) -> ca.SX:
        """Joint speeds with the coordinates at rest exactly so: `v - W (S)^-1 s_dot`, the nearest in kinetic energy."""
        # An impulse along what rests: G M^-1 G^T lam = -s_dot.
        none = [ca.SX(0)] * self.count
        impulse = solve_holding(self.S, [self.speed[i] for i in range(self.count)], none, resting)
        return v + self.W @ ca.vertcat(*impulse)


def reserve_of(element: StickElement, force: ca.SX, certain: bool) -> ca.SX:
    """How much more force would hold: what holds against sliding forth is negative, against sliding back positive.

    A limit of zero beside another gives way to more than rounding only.

    Args:
        certain: False where a slip has been located: then the force may fall short of the limit by a margin.
    """
    least = LIMIT_MARGIN * element.strength
    shares = (1.0, 1.0) if certain else (1 - LIMIT_MARGIN, 0.5)
    forth, back = (maximum(shares[0] * limit, shares[1] * least) for limit in element.limits)
    return minimum(forth + force, back - force)


def _direction_of(rate: ca.SX) -> ca.SX:
    return where(rate < 0, -1.0, 1.0)


def _pick_worst(wrong: list[ca.SX], excess: list[ca.SX]) -> list[ca.SX]:
    """All that slide the wrong way, else the one furthest beyond its limit."""
    worst = _largest(excess)
    may_slide = logical_and(logical_not(_any(wrong)), worst > 0)
    return [maximum(w, logical_and(may_slide, e >= worst)) for w, e in zip(wrong, excess, strict=True)]


def _pick_first(wrong: list[ca.SX], excess: list[ca.SX]) -> list[ca.SX]:
    """The first element that slides the wrong way or is beyond its limit."""
    chosen: list[ca.SX] = []
    for w, e in zip(wrong, excess, strict=True):
        chosen.append(logical_and(maximum(w, e > 0), logical_not(_any(chosen))))
    return chosen


def solve_holding(S: ca.SX, g: list[ca.SX], sliding: list[ca.SX], stuck: list[ca.SX]) -> list[ca.SX]:
    """Forces F of the stuck elements that make `g + S F` zero for them; 0 for the others, whose forces are given."""
    k = len(stuck)
    # S_ss F_s = -g_s - S_sm F_m, written with all k rows: those of what slides are rows of the identity, so that one
    # factorisation serves every combination of modes.
    moving = [where(stuck[j], 0.0, sliding[j]) for j in range(k)]
    due = [where(stuck[i], -g[i] - sum(S[i, j] * moving[j] for j in range(k)), 0.0) for i in range(k)]
    masked = ca.SX(k, k)
    for i in range(k):
        for j in range(i + 1):
            other = ca.SX(1) if i == j else ca.SX(0)
            masked[i, j] = masked[j, i] = where(logical_and(stuck[i], stuck[j]), S[i, j], other)
    solution = solve_symmetric(masked, due)
    return [solution[i] for i in range(k)]


def build_sticking(
    elements: list[StickElement],
    solve: Callable[[ca.SX], ca.SX],
    gradients: list[Any],
    motion: tuple[ca.SX, ca.SX, ca.SX],
    held_by: tuple[tuple[tuple[int, ...], ...], ...],
    shared: bool,
    mobility: list[ca.SX | None],
) -> Sticking:
    """Gather the expressions of all elements.

    Args:
        accelerate: M^-1, constraints kept, as a function of a column; gradients: G_i, each (1, n_v).
        motion: positions, speeds of the coordinates, and accelerations without friction.
        held_by: for each joint the sets of elements that hold it; shared: whether some hold the same motion.
        mobility: S_ii where the machine is not at a dead centre of an element; None for one that has none.
    """
    G = ca.vertcat(*gradients)
    W = ca.horzcat(*(solve(row.T) for row in gradients))
    S = G @ W
    # At a dead centre S_ii goes to zero: the element lets go before it would need an unbounded force.
    elements = [
        e if usual is None else _open(e, S[i, i] <= DEAD_CENTRE * usual)
        for i, (e, usual) in enumerate(zip(elements, mobility, strict=True))
    ]
    # Elements that hold the same motion make S singular: each gives way a little, and the solution is unique.
    if shared:
        S = S + ca.diag(LIMIT_MARGIN * _compliance_of(elements, motion[2]) * ca.diag(S))
    return Sticking(tuple(elements), G, W, S, *motion, held_by)


def _compliance_of(elements: list[StickElement], g: ca.SX) -> ca.SX:
    """How much elements give way that hold the same motion: inversely to their limits, so that they share its load in
    that proportion and all of them slip at once.

    Args:
        g: accelerations without friction: which way each would slide.
    """
    limits = ca.vertcat(*(where(g[i] > 0, *element.limits) for i, element in enumerate(elements)))
    return ca.sum1(limits) / maximum(limits, WEAKEST * ca.sum1(limits) + TINY)


def _open(element: StickElement, condition: ca.SX) -> StickElement:
    """An element that holds nothing under a condition."""
    forth, back = (where(condition, 0.0, limit) for limit in element.limits)
    return replace(element, limits=(forth, back))


def _all(conditions: list[ca.SX]) -> ca.SX:
    together = ca.SX(1)
    for condition in conditions:
        together = logical_and(together, condition)
    return together


def _any(conditions: list[ca.SX]) -> ca.SX:
    together = ca.SX(0)
    for condition in conditions:
        together = maximum(together, condition)
    return together


def _largest(values: list[ca.SX]) -> ca.SX:
    largest = values[0]
    for value in values[1:]:
        largest = maximum(largest, value)
    return largest
