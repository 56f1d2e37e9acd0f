"""Stick-slip friction of joints: what holds, what slips, and when does that change?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from itertools import combinations

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.symbolic import absolute, logical_and, maximum, minimum, sign, to_column, where
from robodyn.computation.assembly.constraints.solution import Constrained
from robodyn.computation.assembly.contribution import Contribution, StickElement, define, define_signal, merge, watch
from robodyn.computation.assembly.declarations import Invariant
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings

from .modes import (
    ALLOWED,
    COMPLIANCE,
    FIXED,
    FOLLOWS,
    RETURN_RATE,
    Posed,
    Reaction,
    Settled,
    Solve,
    build_mobility,
    guard_modes,
)

# --------------------------------------------------------------------------------------------------
# Joints at rest: which sets of friction elements hold a joint, so that its speed can be exactly zero?


LARGEST_SEARCH = 10
"""Number of elements up to which all their combinations are looked at for joints they hold together."""

HeldBy = tuple[tuple[tuple[int, ...], ...], ...]


def find_held_joints(G: Array, always: Array | None = None) -> HeldBy:
    """For each joint the smallest sets of rows of G in whose span its own axis lies: held, they hold the joint.

    Args:
        always: gradients of constraints, which hold in any case and leave the joints at rest.
    """
    k, n = G.shape
    always = np.zeros((0, n)) if always is None else always
    # Rows of unit length: which of them are in m and which in rad has no say in their span.
    G, always = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) for rows in (G, always))
    sizes = range(1, k + 1) if k <= LARGEST_SEARCH else (1, 2, 3, k)
    sets_of_joints: list[list[tuple[int, ...]]] = [[] for _ in range(n)]
    for size in sizes:
        for group in combinations(range(k), size):
            # pinv(R) R projects on the span of the rows: the joint's own axis lies in it where the entry is 1.
            rows = np.vstack([always, G[list(group)]])
            reached = np.linalg.pinv(rows, rcond=1e-9) @ rows
            for j in range(n):
                # Only sets without a smaller one inside are kept.
                new = not any(set(smaller) <= set(group) for smaller in sets_of_joints[j])
                if new and reached[j, j] > 1 - 1e-9:
                    sets_of_joints[j].append(group)
    return tuple(tuple(groups) for groups in sets_of_joints)


# --------------------------------------------------------------------------------------------------
# Stick-slip friction: which joints and coordinates hold at rest, with which force, and which slide?
#
# Symbols: k elements with friction that sticks, each on a coordinate s_i with gradient G_i = d(s_i)'/dv. A memory
# `direction` says what each does: 0 holds, -1 or 1 slides, -2 or 2 slides because it can hold nothing. The forces F of
# those that hold keep them at rest:
#
#     M a = tau - c + G^T F,    g + S F = G a + G_dot v = 0 where held,    S = G M^-1 G^T
#
# Dry friction is a complementarity: an element either rests with F_i within its holding limit, which may differ with
# the direction, or slides against the force of sliding. It slides once F_i passes the limit and holds again once its
# speed is zero. Both are located events, and both find the directions of all elements anew, since the forces of one
# change those of the others.
#
# At a dead centre of a loop or a linkage an element stands still whatever the machine does, S_ii = 0: no force of it
# holds anything there. It passes like an open brake, with a holding limit of zero.


# Speeds in m/s are those of a machine of 1 m; of a smaller one they are parts of its size.
REST_SPEED = 1e-9
"""Speed [rad/s or m/s] below which an element that slides has come to rest: a located zero is much nearer."""
LEAST_SPEED = 1e-12
"""Speed [rad/s or m/s] against its direction at which what slides is stopped: at zero itself it has just slipped."""
HELD_SPEED = 1e-6
"""Speed [rad/s or m/s] beyond which an element that holds has been knocked loose, by an impact or an outer action."""
LIMIT_MARGIN = 1e-9
"""Part of the holding limit by which a located slip may fall short of it."""
WEAKEST, TINY = 1e-3, 1e-30
"""Part of all limits together below which an element shares no less of a load; a number that is none."""
OPEN = 2.0
"""Size of the direction of what can hold nothing: it may hold as soon as it is able to, if it is still at rest then."""
DEAD_CENTRE = 1e-9
"""Part of the mobility at a general position below which an element cannot hold the machine: its gradient is smaller by
the root of this."""


@frozen
class Sticking(Reaction):
    """The elements of a machine and the expressions their behaviour is made of.

    Attributes:
        position, speed: of the elements' coordinates (k,).
        held_by: for each joint, the smallest sets of elements that hold it at rest together.
        sizes: of their coordinates, 1 rad or the machine's length [m] (k,).
    """

    elements: tuple[StickElement, ...]
    position: SX
    speed: SX
    held_by: HeldBy
    sizes: SX

    def _of(self, name: str) -> SX:
        """A quantity of all elements (k,)."""
        return to_column(getattr(element, name) for element in self.elements)

    @property
    def returning(self) -> SX:
        """Accelerations that return what is held to its anchor: G a + G_dot v = -2 r s_dot - r^2 (s - anchor)."""
        off = self.position - where(self.held, self._of("anchor"), self.position)
        return 2 * RETURN_RATE * self.speed + RETURN_RATE**2 * off

    @property
    def sliding(self) -> SX:
        direction, idle = self._of("direction"), where(self.held, 0.0, self._of("frictionless"))
        return where(direction >= 1, self._of("forward"), where(direction <= -1, self._of("backward"), idle))

    @property
    def resting(self) -> SX:
        """Which elements are at rest; one that cannot hold anything slides, also where nothing moves it yet."""
        still = absolute(self.speed) <= self.sizes * where(self.held, HELD_SPEED, REST_SPEED)
        return logical_and(still, self._of("strength") > 0)

    def pose(self, b: SX, forces: SX) -> list[Posed]:
        """Limits and forces of sliding of those that rest: all hold at first, but the one furthest beyond its limit."""
        resting, strength = self.resting, self._of("strength")
        excess = to_column(-reserve_of(e, forces[i], certain=False) for i, e in enumerate(self.elements))
        excess = where(logical_and(self.held, resting), excess, -1.0)
        slips = logical_and(excess > 0, excess >= ca.mmax(excess))
        idle = logical_and(absolute(self.speed) <= REST_SPEED * self.sizes, strength <= 0)
        levels = [_levels(element) for element in self.elements]
        return [
            Posed(
                self.mobility,
                b,
                allowed=where(resting, ALLOWED, where(idle, FOLLOWS, FIXED)),
                tolerance=LIMIT_MARGIN * strength * self.mobility.own + TINY,
                initial=where(resting, where(slips, -sign(forces), 0.0), where(self.speed < 0, -1.0, 1.0)),
                lower=-to_column(forth for forth, _ in levels),
                upper=to_column(back for _, back in levels),
                below=self._of("forward"),
                above=self._of("backward"),
            )
        ]

    def settle(self, modes: list[SX]) -> Settled:
        """New directions, of what can hold nothing marked as such, and where each began to stick."""
        update: dict[str, SX] = {}
        for i, (element, mode) in enumerate(zip(self.elements, ca.vertsplit(modes[0]), strict=True)):
            newly = logical_and(mode == 0, element.direction != 0)
            update[element.direction.name()] = where(element.strength <= 0, OPEN, 1.0) * mode
            update[element.anchor.name()] = where(newly, self.position[i], element.anchor)
        return Settled(update, self.mobility, self.speed, self.resting)

    def hold_joints(self, values: SX, held: SX) -> SX:
        """A joint rests exactly where some set of elements that holds it all sticks."""
        groups = [[reduce(logical_and, (held[i] for i in group)) for group in sets] for sets in self.held_by]
        return to_column(where(reduce(maximum, sets, SX(0)), 0.0, values[j]) for j, sets in enumerate(groups))


def reserve_of(element: StickElement, force: SX, certain: bool) -> SX:
    """How much more force would hold: what holds against sliding forth is negative, against sliding back positive.

    Args:
        certain: False where a slip has been located: then the force may fall short of the limit by a margin.
    """
    forth, back = _levels(element, certain)
    return minimum(forth + force, back - force)


def _levels(element: StickElement, certain: bool = False) -> tuple[SX, SX]:
    """Limits of holding forth and back; one of zero beside another gives way to more than rounding only."""
    least = LIMIT_MARGIN * element.strength
    shares = (1.0, 1.0) if certain else (1 - LIMIT_MARGIN, 0.5)
    forth, back = (maximum(shares[0] * limit, shares[1] * least) for limit in element.limits)
    return forth, back


def build_sticking(
    motion: Motion,
    elements: tuple[StickElement, ...],
    units: Mapping[str, str],
    a: SX,
    solve: Solve,
    constrained: Constrained | None,
) -> tuple[Sticking | None, Contribution]:
    """The elements of friction that sticks, if there is any; and a warning where its loads are not determined.

    Args:
        units: of all signals; a: accelerations without friction and contacts; solve: M^-1.
    """
    if not elements:
        return None, Contribution()
    G = ca.vertcat(*(motion.gradient(element.on) for element in elements))
    speed = to_column(motion.coordinate_rates[element.on] for element in elements)
    position = to_column(motion.positions[element.on] for element in elements)
    drift = ca.jtimes(speed, motion.q, motion.q_dot)
    numeric = motion.value_somewhere(G)
    always, resting = np.zeros((0, motion.v.numel())), []
    if constrained is not None and constrained.held.is_constant():
        always = motion.value_somewhere(constrained.H)
        # A constraint that is kept where nothing moves; one that says how to move is not.
        still = [ca.substitute(e.h_dot, motion.v, SX.zeros(motion.v.numel())) for e in constrained.equations]
        resting = [k for k, rate in enumerate(still) if rate.is_zero()]
    # Rows that add no rank hold what others hold already, with all constraints or without those that may let go: their
    # share of the load is not determined.
    whole = motion.value_somewhere(constrained.H) if constrained else always
    shared = any(
        np.linalg.matrix_rank(np.vstack([rows, numeric])) < np.linalg.matrix_rank(rows) + len(numeric)
        for rows in (always, whole)
    )
    rigid = bool(motion.machine.rigid_parts)
    mobility = build_mobility(
        constrained.respond if constrained else solve,
        G,
        lambda own: COMPLIANCE * _share(elements, G @ a + drift) * own if shared or rigid else SX(*own.shape),
    )
    # At a dead centre S_ii goes to zero: the element lets go before it would need an unbounded force.
    open_ = [None if constrained is None and G[i, :].is_constant() else SX(row) for i, row in enumerate(numeric)]
    elements = tuple(
        e if row is None else _open(e, mobility.S[i, i] <= DEAD_CENTRE * ca.dot(row, solve(row)))
        for i, (e, row) in enumerate(zip(elements, open_, strict=True))
    )
    # By lengths of the machine: a joint that slides far by a small angle of another one is not held by it.
    held_by = find_held_joints(numeric * motion.speed_scales, always[resting] * motion.speed_scales)
    warnings: tuple[str, ...] = ()
    if shared:
        names = ", ".join(element.block.name for element in elements)
        what = f"some of the sticking friction ({names}) holds the same motion"
        warnings = (f"{what}: at rest, they share its load in proportion to their limits",)
    held = to_column(element.direction == 0 for element in elements)
    sizes = SX([motion.context.size.of(units[f"{element.on}.position"]) for element in elements])
    sticking = Sticking(mobility, held, drift, elements, position, speed, held_by, sizes)
    return sticking, Contribution(warnings=warnings)


def _share(elements: tuple[StickElement, ...], g: SX) -> SX:
    """How much elements give way that hold the same motion: inversely to their limits, so that they share its load in
    that proportion and all of them slip at once.

    Args:
        g: accelerations without friction: which way each would slide.
    """
    limits = to_column(where(g[i] > 0, *element.limits) for i, element in enumerate(elements))
    total = ca.sum1(limits) + TINY
    return total / maximum(limits, WEAKEST * total)


def _open(element: StickElement, condition: SX) -> StickElement:
    """An element that holds nothing under a condition."""
    forth, back = (where(condition, 0.0, limit) for limit in element.limits)
    return replace(element, limits=(forth, back))


# --------------------------------------------------------------------------------------------------
# Events of stick-slip friction: when does an element slip or stop?


SEEN_SPEED = 1e-4
"""Speed [rad/s, or m/s of a machine of 1 m] by which the work of friction is measured: a millionth is rounding."""


def trace_stick_events(
    motion: Motion, sticking: Sticking, forces: SX, deciding: SX, contributions: Contribution, bindings: Bindings
) -> Contribution:
    """Forces and drifts as signals, invariants, and guards of slipping and stopping.

    A guard is negative while it has no meaning: falling, it fires when an element that slid holds, and vice versa, also
    where the event of another element made it so.

    Args:
        forces: of the elements; deciding: those that decide which hold.
        contributions: signals of the elements and of what they are on.
    """
    parts = []
    for i, element in enumerate(sticking.elements):
        info = contributions.signals[element.force]
        parts.append(define([info], {info.name: forces[i]}, bindings))
        moved = where(element.direction == 0, sticking.position[i] - element.anchor, 0.0)
        unit = contributions.signals[f"{element.on}.position"].unit
        parts.append(define_signal(f"{element.block.name}.stick_drift", unit, moved))
        units = (info.unit, contributions.signals[f"{element.on}.velocity"].unit)
        parts.append(_trace_events(sticking, i, deciding[i], units, bindings))
    return merge(parts)


def _trace_events(sticking: Sticking, i: int, force: SX, units: tuple[str, str], bindings: Bindings) -> Contribution:
    element, speed = sticking.elements[i], sticking.speed[i]
    size, stuck = sticking.sizes[i], element.direction == 0
    # What holds must not creep either; scaled as the force is, so that the course of the force is seen.
    level, reserve = 0.5 * element.strength, reserve_of(element, force, certain=True)
    margin = minimum(reserve, level * (1 - absolute(speed) / (HELD_SPEED * size)))
    # What has just slipped is still at rest, and not stopped yet; nor has what can hold nothing. But where one can hold
    # again, or no longer, its rest is decided anew.
    opened = absolute(element.direction) == OPEN
    idle = where(element.strength > 0, where(opened, -REST_SPEED, LEAST_SPEED), where(opened, 1, -1) * REST_SPEED)
    values = {
        "slips": where(stuck, margin, -1.0),
        "stops": where(stuck, -1.0, sign(element.direction) * speed + idle * size),
    }
    beyond = where(stuck, -reserve, 0.0)
    against = where(absolute(element.direction) == 1, -element.direction * speed, 0.0)
    power, least, name = force * speed, absolute(force) * SEEN_SPEED * size, element.block.name
    guards = tuple(guard_modes(f"{name}.{event}", value, bindings) for event, value in values.items())
    return merge(
        (
            watch(Invariant.HOLDS, name, units[0], [beyond, level], bindings),
            watch(Invariant.SLIDES, name, units[1], [against, 0.0], bindings),
            # What always holds, and what rubs at a joint that constraints lock, has no power but rounding.
            watch(Invariant.PASSIVE, name, "W", [power, absolute(power) + least], bindings),
            Contribution(guards=guards),
        )
    )
