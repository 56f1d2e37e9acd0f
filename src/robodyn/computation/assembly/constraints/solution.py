"""Constraint forces: accelerations under constraints, Lagrange multipliers, Baumgarte's terms, and their signals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.spatial import perpendicular_to
from robodyn.base.symbolic import absolute, maximum, sqrt, to_column, where
from robodyn.computation.assembly.contact.geometry import find_touch
from robodyn.computation.assembly.contact.modes import COMPLIANCE, Rows, Solve, build_mobility
from robodyn.computation.assembly.contribution import (
    Context,
    Contribution,
    Deferred,
    declare_memory,
    define,
    merge,
    watch,
)
from robodyn.computation.assembly.declarations import Guard, Invariant, MemoryInfo
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import Binding, SignalInfo
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.assembly.units import FORCE
from robodyn.description.laws import arguments_of
from robodyn.description.model import (
    Constraint,
    ConstraintFunction,
    LinearConstraint,
    LoopJoint,
    PrescribedMotion,
    Rod,
    Wheel,
)

from .redundancy import (
    Redundancy,
    define_constraint_forces,
    find_redundant,
    mean_mobility,
)

# --------------------------------------------------------------------------------------------------
# Constraint equations: which h(q, t) = 0 does a constraint stand for, as expressions?


def express_equations(motion: Motion, constraint: Constraint) -> list[SX]:
    """The residuals of a constraint; that of a prescribed motion is the coordinate itself, which is to follow."""
    return _EXPRESSIONS[type(constraint)](motion, constraint)


def _rod(motion: Motion, rod: Rod) -> list[SX]:
    apart = motion.point_position(rod.end) - motion.point_position(rod.start)
    return [sqrt(ca.sumsqr(apart)) - motion.values[f"{rod.name}.length"]]


def express_rates(motion: Motion, constraint: Constraint) -> list[SX | None]:
    """Rates of the residuals that follow from no residual of positions, by equation; None of all others."""
    if isinstance(constraint, Wheel):
        return [*find_touch(motion, constraint).slips, None]
    return [None] * len(constraint.equations)


def _coupling(motion: Motion, coupling: LinearConstraint) -> list[SX]:
    total = sum((weight * motion.positions[name] for name, weight in coupling.of.items()), SX(0))
    return [total - motion.values[f"{coupling.name}.offset"]]


def _relation(motion: Motion, relation: ConstraintFunction) -> list[SX]:
    """The user's function, traced; what it raises is reported as a flaw of that constraint."""
    path = f"constraints.{relation.name}"
    positions = [motion.positions[name] for name in relation.of]
    timed = any(argument.name == "time" for argument in arguments_of(relation.function))
    try:
        returned = relation.function(*positions, **({"time": motion.context.time} if timed else {}))
        values = [SX(value) for value in (returned if isinstance(returned, (tuple, list)) else (returned,))]
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        what = f"its function cannot be traced: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        motion.flaws.add(path, what, "use functions from robodyn.symbolic")
        return [positions[0]] * relation.count
    if len(values) != relation.count:
        motion.flaws.add(path, f"its function returns {len(values)} values, count says {relation.count}")
        return [positions[0]] * relation.count
    return values


def _loop_joint(motion: Motion, loop_joint: LoopJoint) -> list[SX]:
    p_1, p_2 = motion.point_position(loop_joint.first), motion.point_position(loop_joint.second)
    R_1, R_2 = motion.point_rotation(loop_joint.first), motion.point_rotation(loop_joint.second)
    # Three equations of the positions, and as many of the rotations as the joint takes away.
    meeting = ca.vertsplit(p_1 - p_2)
    axis, second = np.array(loop_joint.axis), np.array(loop_joint.second_axis)
    if loop_joint.kind == "spherical":
        return meeting
    # Universal: the two axes stay perpendicular; revolute: they stay parallel.
    if loop_joint.kind == "universal":
        return [*meeting, ca.dot(R_1 @ axis, R_2 @ second)]
    if loop_joint.kind == "revolute":
        return [*meeting, *_tilt(R_1 @ axis, R_2, second)]
    # How the first body is rotated from where it should be, in its own axes: its torques act on that body.
    turned = _turn(ca.DM(loop_joint.rotation) @ R_2.T @ R_1)
    if loop_joint.kind == "prismatic":
        return [*(ca.dot(p_1 - p_2, R_1 @ square) for square in perpendicular_to(axis)), *turned]
    return [*meeting, *turned]


def _tilt(axis: SX, R: SX, second: Array) -> list[SX]:
    """Twice the tangent of half the angle between an axis and `R second`, about two directions perpendicular to that.

    Unlike its sine it is not zero for axes that point against each other.
    """
    along = 1 + ca.dot(axis, R @ second)
    return [2 * ca.dot(axis, R @ square) / along for square in perpendicular_to(second)]


def _turn(R: SX) -> list[SX]:
    """Twice the tangent of half the angle from the identity, about each axis: zero for the identity alone."""
    along = 1 + ca.trace(R)
    return [2 * (R[i, j] - R[j, i]) / along for i, j in ((2, 1), (0, 2), (1, 0))]


_EXPRESSIONS: dict[type, Callable[[Motion, Any], list[SX]]] = {
    LoopJoint: _loop_joint,
    Rod: _rod,
    Wheel: lambda motion, wheel: [SX(0), SX(0), find_touch(motion, wheel).height],
    LinearConstraint: _coupling,
    PrescribedMotion: lambda motion, prescribed: [motion.positions[prescribed.of]],
    ConstraintFunction: _relation,
}


# --------------------------------------------------------------------------------------------------
# Constraint dynamics: which Lagrange multipliers keep a mechanism's constraints, and how does it move under them?
#
#     M a = b + H^T lam,    H a = -drift - 2 p h' - p^2 h,    S = H M^-1 H^T
#
# The mass matrix is factorised once with its own structure (branches, chains); what is solved densely has only as many
# rows as there are equations.


AT_ORIGIN = 1e-3
"""Distance from the world's origin, as part of a machine's length, of a joint that says nothing about its size."""
OFF_GROUND = 0.1
"""Part of its radius by which a wheel that is off its plane at the start does not roll on it."""
STIFFER = 0.1
"""Part of what contacts give way by that equations do: contacts share their loads, but a toggle near a dead centre must
hold."""


@frozen
class ConstraintEquation:
    """One equation of a constraint: residual h, its rate, and what its acceleration is without joint accelerations.

    Attributes:
        force: name of the signal of its force; unit: of that; active: whether the equation holds.
    """

    constraint: Constraint
    force: str
    unit: str
    active: SX
    h: SX
    h_dot: SX
    drift: SX


@frozen
class Constrained(Rows):
    """A mechanism that keeps its constraints: rows H of the equations, held where they are active.

    Attributes:
        solve: M^-1 applied to a column; pole: of Baumgarte's method [1/s].
        left_out: equations that follow from these; redundancy: which do, and which forces are not determined.
        bindings: of what is prescribed.
    """

    equations: tuple[ConstraintEquation, ...]
    solve: Solve
    pole: SX
    left_out: tuple[ConstraintEquation, ...]
    redundancy: Redundancy
    bindings: Bindings

    @property
    def H(self) -> SX:
        return self.mobility.rows

    @property
    def W(self) -> SX:
        """M^-1 H^T, (n_v, k)."""
        return self.mobility.columns

    @property
    def returning(self) -> SX:
        """h'' + 2 p h' + p^2 h = 0 (Baumgarte 1972)."""
        return to_column(2 * self.pole * e.h_dot + self.pole**2 * e.h for e in self.equations)

    def accelerate(self, b: SX) -> tuple[SX, SX]:
        """Joint accelerations under b = tau - c, and the forces that keep the constraints."""
        a = self.solve(b)
        lam = self.hold(self.motions(a) + self.returning)
        return a + self.W @ lam, lam

    def respond(self, b: SX) -> SX:
        """Accelerations that a force causes, the constraints kept: the mobility of what is left free."""
        a = self.solve(b)
        return a + self.W @ self.hold(self.H @ a)

    def constraint_force(self, b: SX) -> SX:
        """Force on the joints with which the constraints answer to a force."""
        return self.H.T @ self.hold(self.H @ self.solve(b))

    def carry(self, b: SX) -> SX:
        """Forces of the equations that would do to the joints what b does, as far as these are constrained (k,)."""
        return -self.hold(self.H @ self.solve(b))

    def project(self, v: SX, rates: SX) -> SX:
        """Velocities nearest in kinetic energy to v at which the rates of the equations vanish."""
        return v + self.W @ self.hold(rates)


def declare_constraints(context: Context) -> Contribution:
    """Memory that says whether each constraint holds; events may change it."""
    parts = []
    for constraint in context.machine.all_constraints:
        name = f"{constraint.name}.active"
        start = context.scenario.initial.get(name, float(constraint.active))
        parts.append(declare_memory(MemoryInfo(name, "", start)))
    return merge(parts)


def constrain(
    motion: Motion, solve: Solve, contributions: Contribution
) -> tuple[Motion, Constrained | None, Contribution]:
    """Trace all equations, leave out those that follow from others, and factorise.

    Args:
        solve: M^-1; contributions: whatever may switch constraints, and units of coordinates.

    Returns:
        The motion, with a position that meets the constraints; None where there are none to keep; warnings.
    """
    flaws, bindings = motion.flaws, dict[str, Binding]()
    traced = [e for c in motion.machine.all_constraints for e in _trace(motion, c, contributions, bindings)]
    read = Contribution(read=(bindings,))
    if not traced or flaws.found:
        return motion, None, read
    _check_ground(motion, traced)
    # Equations that follow from others would make S singular: they are left out before it is built.
    redundancy = find_redundant(motion, traced, [e.active.is_one() for e in traced])
    motion, read = replace(motion, somewhere=redundancy.somewhere), replace(read, warnings=redundancy.warnings)
    if flaws.found:
        return motion, None, read
    equations = tuple(e for e in traced if e.force not in redundancy.left_out)
    if not equations:
        for name in dict.fromkeys(e.constraint.name for e in traced):
            flaws.add(f"constraints.{name}", "has no effect: it holds whatever the joints do", "leave it out")
        return motion, None, read
    H = ca.jacobian(to_column(e.h_dot for e in equations), motion.v)
    # S = H M^-1 H^T, by one solution with the mass matrix for each row.
    mobility = build_mobility(solve, H, lambda own: STIFFER * COMPLIANCE * mean_mobility(equations, ca.vertsplit(own)))
    active, drift = to_column(e.active for e in equations), to_column(e.drift for e in equations)
    left_out = tuple(e for e in traced if e.force in redundancy.left_out)
    own = (equations, solve, SX(_choose_pole(motion)), left_out, redundancy, bindings)
    return motion, Constrained(mobility, active, drift, *own), read


def _check_ground(motion: Motion, equations: list[ConstraintEquation]) -> None:
    """Report wheels that do not touch the plane on which they should roll from the start."""
    scenario = motion.context.scenario
    for e in equations:
        if not isinstance(e.constraint, Wheel) or not e.force.endswith("normal") or scenario.initialisation != "given":
            continue
        active, height = motion.values_at_start(ca.vertcat(e.active, e.h))
        if active and abs(height) > OFF_GROUND * e.constraint.radius:
            side = "above" if height > 0 else "below"
            what = f"has no ground: at the start its rim is {abs(height):.3g} m {side} its plane"
            remedy = "start it there, move the plane, or leave the start out and set initialisation = 'assembled'"
            motion.flaws.add(f"constraints.{e.constraint.name}", what, remedy)


def _choose_pole(motion: Motion) -> Any:
    """The pole of Baumgarte's method [1/s]: as given, or fast enough for the mechanism's own time scale and for the
    run.

    max(5 sqrt(g / size), 10 / duration), where size is the largest distance of a joint from the world's origin,
    or that between joints and points where all joints are there.
    """
    scenario = motion.context.scenario
    if scenario.constraint_method.method != "baumgarte":
        return 0.0
    if scenario.constraint_method.pole is not None:
        return motion.values["constraint_method.pole"]
    # Chosen where it is not given: faster than what moves, slower than what the solver can follow.
    places = to_column(sqrt(ca.sumsqr(SX(pose.p))) for pose in motion.poses)
    reach = float(np.max(motion.values_at_start(places), initial=0.0))
    size = reach if reach > AT_ORIGIN * motion.context.size.length else motion.size
    fall = float(np.linalg.norm(np.asarray(motion.mechanism.gravity)))
    return max(5.0 * float(np.sqrt(fall / size)), 10.0 / scenario.duration)


def _trace(
    motion: Motion, constraint: Constraint, contributions: Contribution, bindings: dict[str, Binding]
) -> list[ConstraintEquation]:
    equations = []
    targets: list[SX | float] = [0.0, 0.0, 0.0]
    if isinstance(constraint, PrescribedMotion):
        path = f"constraints.{constraint.name}"
        levels = {
            "position": constraint.position,
            "velocity": constraint.velocity,
            "acceleration": constraint.acceleration,
        }
        targets = [placeholder(f"{path}.{key}", signal, bindings) for key, signal in levels.items()]
    # h' = H q_dot + h_t, and h'' = H a + drift; what a prescribed motion wants is taken off each.
    traced = zip(express_equations(motion, constraint), express_rates(motion, constraint), strict=True)
    for name, (h, rate) in zip(constraint.equations, traced, strict=True):
        h_dot = _rate(motion, h) if rate is None else rate
        drift = _rate(motion, h_dot)
        kind = (
            f"{constraint.name}.{name}",
            _force_unit(constraint, name, contributions),
            _activity(constraint, contributions),
        )
        equations.append(ConstraintEquation(constraint, *kind, h - targets[0], h_dot - targets[1], drift - targets[2]))
    return equations


def _rate(motion: Motion, value: SX) -> SX:
    """Total time derivative while the joints do not accelerate."""
    return ca.jtimes(value, motion.q, motion.q_dot) + ca.jacobian(value, motion.context.time)


def _activity(constraint: Constraint, contributions: Contribution) -> SX:
    """Whether a constraint holds: a constant unless some event can change it."""
    name = f"{constraint.name}.active"
    python = any(guard.call is not None for guard, _ in contributions.guards)
    changed = python or any(
        name in update for update in (*contributions.updates.values(), *contributions.actions.values())
    )
    start = next(info.start for info in contributions.memory if info.name == name)
    return contributions.symbols[name] > 0.5 if changed else SX(float(start > 0.5))


def _force_unit(constraint: Constraint, force: str, contributions: Contribution) -> str:
    """That of a force is N, of a torque N m; of coordinates of both kinds together there is none."""
    if isinstance(constraint, (LoopJoint, Rod, Wheel)):
        return "N m" if force.startswith("torque") else "N"
    of = (constraint.of,) if isinstance(constraint, PrescribedMotion) else constraint.of
    units = {FORCE[contributions.signals[f"{name}.position"].unit] for name in of}
    return units.pop() if len(units) == 1 else ""


# --------------------------------------------------------------------------------------------------
# Signals of constraints: with which forces are they kept, how well, and what happens where one begins to hold?


CLOSING = "action:closing"
RESIDUAL = {"N": "m", "N m": "rad", "": ""}
"""Unit of an equation's residual by that of its force."""


def trace_constraint_signals(motion: Motion, constrained: Constrained, lam: SX, bindings: Bindings) -> Contribution:
    """Forces of the constraints, how well they are kept, and what happens where one begins to hold."""
    return merge(
        (
            define_constraint_forces(motion, constrained, lam, bindings),
            _watch_residuals(motion, constrained, bindings),
            _close(motion, constrained, bindings),
        )
    )


def _close(motion: Motion, constrained: Constrained, bindings: Bindings) -> Contribution:
    """A constraint that begins to hold stops what moves against it: an impact without rebound."""
    rates = to_column(e.h_dot for e in constrained.equations)
    switched = {e.constraint.name: e.active for e in constrained.equations if not e.active.is_constant()}
    if not switched:
        return Contribution()
    stopped = constrained.project(motion.v, rates)
    update = {motion.v[k].name(): Deferred(stopped[k], bindings) for k in range(motion.v.numel())}
    guards = [
        (Guard(f"{name}.closes", 1, action=CLOSING, moves=True), Deferred(where(active, 1.0, -1.0), {}))
        for name, active in switched.items()
    ]
    return Contribution(guards=tuple(guards), actions={CLOSING: update})


def project_on(motion: Motion, constrained: Constrained, bindings: Bindings) -> dict[str, Deferred]:
    """Positions and velocities put back on the constraints: two simplified Newton steps each."""
    h = to_column(e.h for e in constrained.equations)
    h_dot = to_column(e.h_dot for e in constrained.equations)
    q, v = motion.q, motion.v
    # M^-1-weighted Newton: the nearest positions in kinetic energy on h = 0, then velocities on h' = 0.
    for _ in range(2):
        q = q + motion.N @ constrained.project(SX.zeros(motion.v.numel()), ca.substitute(h, motion.q, q))
    for _ in range(2):
        rates = ca.substitute(h_dot, ca.vertcat(motion.q, motion.v), ca.vertcat(q, v))
        v = constrained.project(v, rates)
    moved = ca.vertcat(q, v)
    names = [motion.q[k].name() for k in range(q.numel())] + [motion.v[k].name() for k in range(v.numel())]
    return {name: Deferred(moved[k], bindings) for k, name in enumerate(names)}


def _watch_residuals(motion: Motion, constrained: Constrained, bindings: Bindings) -> Contribution:
    """How far each constraint is off, and all together; those of equations left out show whether they truly follow."""
    groups: dict[tuple[str, str], list[ConstraintEquation]] = {}
    for equation in (*constrained.equations, *constrained.left_out):
        groups.setdefault((equation.constraint.name, RESIDUAL[equation.unit]), []).append(equation)
    # What is small counts as part of its own size.
    size, parts = min(1.0, motion.size), []
    for (name, unit), equations in groups.items():
        values = (*_largest(equations), SX(size if unit == "m" else 1.0))
        parts.append(watch(Invariant.CLOSED, name, unit, values, bindings))
    infos = [SignalInfo(f"constraints.{level}_error", "") for level in ("position", "velocity")]
    largest = _largest([equation for equations in groups.values() for equation in equations])
    outputs = {info.name: value for info, value in zip(infos, largest, strict=True)}
    return merge((*parts, define(infos, outputs, bindings)))


def _largest(equations: Sequence[ConstraintEquation]) -> tuple[SX, SX]:
    """The largest residual and the largest rate of those equations that hold."""
    position, velocity = SX(0), SX(0)
    for e in equations:
        position = maximum(position, where(e.active, absolute(e.h), 0.0))
        velocity = maximum(velocity, where(e.active, absolute(e.h_dot), 0.0))
    return position, velocity
