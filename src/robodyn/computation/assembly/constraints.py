"""Constraint dynamics: which Lagrange multipliers keep a mechanism's constraints, and how does it move under them?

    M a = b + H^T lam,    H a = -drift - 2 p h' - p^2 h,    S = H M^-1 H^T

The mass matrix is factorised once with its own structure (branches, chains); what is solved densely has only as many
rows as there are equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic import sqrt
from robodyn.computation.assembly.contribution import Context, Contribution, declare_memory, merge
from robodyn.computation.assembly.declarations import MemoryInfo
from robodyn.computation.assembly.equations import express_equations, express_rates
from robodyn.computation.assembly.mobility import COMPLIANCE, Solve, build_mobility
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import Binding
from robodyn.computation.assembly.reaction_modes import Rows
from robodyn.computation.assembly.redundancy import Redundancy, find_redundant
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.assembly.undetermined import mean_mobility
from robodyn.computation.assembly.units import FORCE
from robodyn.description.model import Constraint, LoopJoint, PrescribedMotion, Rod, Wheel

AT_ORIGIN = 1e-3
"""Distance from the world's origin, as part of a machine's length, of a joint that says nothing about its size."""
OFF_GROUND = 0.1
"""Part of its radius by which a wheel that is off its plane at the start does not roll on it."""
STIFFER = 0.1
"""Part of what contacts give way by that equations do: contacts share their loads, but a toggle near a dead centre must
hold."""


@dataclass(frozen=True)
class Equation:
    """One equation of a constraint: residual h, its rate, and what its acceleration is without joint accelerations.

    Attributes:
        force: name of the signal of its force; unit: of that; active: whether the equation holds.
    """

    constraint: Constraint
    force: str
    unit: str
    active: ca.SX
    h: ca.SX
    h_dot: ca.SX
    drift: ca.SX


@dataclass(frozen=True)
class Constrained(Rows):
    """A mechanism that keeps its constraints: rows H of the equations, held where they are active.

    Attributes:
        solve: M^-1 applied to a column; pole: of Baumgarte's method [1/s].
        left_out: equations that follow from these; redundancy: which do, and which forces are not determined.
        bindings: of what is prescribed.
    """

    equations: tuple[Equation, ...]
    solve: Solve
    pole: ca.SX
    left_out: tuple[Equation, ...]
    redundancy: Redundancy
    bindings: Bindings

    @property
    def H(self) -> ca.SX:
        return self.mobility.rows

    @property
    def W(self) -> ca.SX:
        """M^-1 H^T, (n_v, k)."""
        return self.mobility.columns

    @property
    def returning(self) -> ca.SX:
        """h'' + 2 p h' + p^2 h = 0 (Baumgarte 1972)."""
        return ca.vertcat(*(2 * self.pole * e.h_dot + self.pole**2 * e.h for e in self.equations))

    def accelerate(self, b: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Joint accelerations under b = tau - c, and the forces that keep the constraints."""
        a = self.solve(b)
        lam = self.hold(self.motions(a) + self.returning)
        return a + self.W @ lam, lam

    def respond(self, b: ca.SX) -> ca.SX:
        """Accelerations that a force causes, the constraints kept: the mobility of what is left free."""
        a = self.solve(b)
        return a + self.W @ self.hold(self.H @ a)

    def constraint_force(self, b: ca.SX) -> ca.SX:
        """Force on the joints with which the constraints answer to a force."""
        return self.H.T @ self.hold(self.H @ self.solve(b))

    def carry(self, b: ca.SX) -> ca.SX:
        """Forces of the equations that would do to the joints what b does, as far as these are constrained (k,)."""
        return -self.hold(self.H @ self.solve(b))

    def project(self, v: ca.SX, rates: ca.SX) -> ca.SX:
        """Velocities nearest in kinetic energy to v at which the rates of the equations vanish."""
        return v + self.W @ self.hold(rates)


def declare_constraints(context: Context) -> Contribution:
    """Memory that says whether each constraint holds; events may change it."""
    parts = []
    for constraint in context.scenario.machine.all_constraints:
        name = f"{constraint.name}.active"
        start = context.scenario.initial.get(name, float(constraint.active))
        parts.append(declare_memory(MemoryInfo(name, "", start)))
    return merge(parts)


def constrain(motion: Motion, solve: Solve, known: Contribution) -> tuple[Motion, Constrained | None, Contribution]:
    """Trace all equations, leave out those that follow from others, and factorise.

    Args:
        solve: M^-1; known: whatever may switch constraints, and units of coordinates.

    Returns:
        The motion, with a position that meets the constraints; None where there are none to keep; warnings.
    """
    flaws, bindings = motion.context.flaws, dict[str, Binding]()
    found = [e for c in motion.context.scenario.machine.all_constraints for e in _trace(motion, c, known, bindings)]
    read = Contribution(read=(bindings,))
    if not found or flaws.found:
        return motion, None, read
    _check_ground(motion, found)
    # Equations that follow from others would make S singular: they are left out before it is built.
    redundancy = find_redundant(motion, found, [e.active.is_one() for e in found])
    motion, read = replace(motion, somewhere=redundancy.somewhere), replace(read, warnings=redundancy.warnings)
    if flaws.found:
        return motion, None, read
    equations = tuple(e for e in found if e.force not in redundancy.left_out)
    if not equations:
        for name in dict.fromkeys(e.constraint.name for e in found):
            flaws.add(f"constraints.{name}", "has no effect: it holds whatever the joints do", "leave it out")
        return motion, None, read
    H = ca.jacobian(ca.vertcat(*(e.h_dot for e in equations)), motion.v)
    # S = H M^-1 H^T, by one solution with the mass matrix for each row.
    mobility = build_mobility(solve, H, lambda own: STIFFER * COMPLIANCE * mean_mobility(equations, ca.vertsplit(own)))
    active, drift = ca.vertcat(*(e.active for e in equations)), ca.vertcat(*(e.drift for e in equations))
    left_out = tuple(e for e in found if e.force in redundancy.left_out)
    own = (equations, solve, ca.SX(_choose_pole(motion)), left_out, redundancy, bindings)
    return motion, Constrained(mobility, active, drift, *own), read


def _check_ground(motion: Motion, equations: list[Equation]) -> None:
    """Report wheels that do not touch the plane on which they should roll from the start."""
    scenario = motion.context.scenario
    for e in equations:
        if not isinstance(e.constraint, Wheel) or not e.force.endswith("normal") or scenario.initialisation != "given":
            continue
        active, height = motion.values_at_start(ca.vertcat(e.active, e.h))
        if active and abs(height) > OFF_GROUND * e.constraint.radius:
            side = "above" if height > 0 else "below"
            what = f"has no ground: at the start its rim is {abs(height):.3g} m {side} its plane"
            remedy = "start it there, move the plane, or leave the start out and say initialisation = 'assembled'"
            motion.context.flaws.add(f"constraints.{e.constraint.name}", what, remedy)


def _choose_pole(motion: Motion) -> Any:
    """Of Baumgarte's method [1/s]: as given, or fast enough for the mechanism's own time scale and for the run.

    max(5 sqrt(g / size), 10 / duration), where size is the largest distance of a joint from the world's origin,
    or that between joints and points where all joints are there.
    """
    scenario = motion.context.scenario
    if scenario.constraint_method.method != "baumgarte":
        return 0.0
    if scenario.constraint_method.pole is not None:
        return motion.context.values["constraint_method.pole"]
    # Chosen where it is not given: faster than what moves, slower than what the solver can follow.
    places = ca.vertcat(*(sqrt(ca.sumsqr(ca.SX(pose.p))) for pose in motion.poses))
    reach = float(np.max(motion.values_at_start(places), initial=0.0))
    size = reach if reach > AT_ORIGIN * motion.context.size.length else motion.size
    fall = float(np.linalg.norm(np.asarray(motion.mechanism.gravity)))
    return max(5.0 * float(np.sqrt(fall / size)), 10.0 / scenario.duration)


def _trace(motion: Motion, constraint: Constraint, known: Contribution, bindings: dict[str, Binding]) -> list[Equation]:
    equations = []
    targets: list[ca.SX | float] = [0.0, 0.0, 0.0]
    if isinstance(constraint, PrescribedMotion):
        path = f"constraints.{constraint.name}"
        wanted = {
            "position": constraint.position,
            "velocity": constraint.velocity,
            "acceleration": constraint.acceleration,
        }
        targets = [placeholder(f"{path}.{key}", signal, bindings) for key, signal in wanted.items()]
    # h' = H q_dot + h_t, and h'' = H a + drift; what a prescribed motion wants is taken off each.
    traced = zip(express_equations(motion, constraint), express_rates(motion, constraint), strict=True)
    for name, (h, rate) in zip(constraint.equations, traced, strict=True):
        h_dot = _rate(motion, h) if rate is None else rate
        drift = _rate(motion, h_dot)
        kind = (f"{constraint.name}.{name}", _force_unit(constraint, name, known), _activity(constraint, known))
        equations.append(Equation(constraint, *kind, h - targets[0], h_dot - targets[1], drift - targets[2]))
    return equations


def _rate(motion: Motion, value: ca.SX) -> ca.SX:
    """Total time derivative while the joints do not accelerate."""
    return ca.jtimes(value, motion.q, motion.q_dot) + ca.jacobian(value, motion.context.time)


def _activity(constraint: Constraint, known: Contribution) -> ca.SX:
    """Whether a constraint holds: a constant unless some event can change it."""
    name = f"{constraint.name}.active"
    python = any(guard.call is not None for guard, _ in known.guards)
    changed = python or any(name in update for update in (*known.updates.values(), *known.actions.values()))
    start = next(info.start for info in known.memory if info.name == name)
    return known.symbols[name] > 0.5 if changed else ca.SX(float(start > 0.5))


def _force_unit(constraint: Constraint, force: str, known: Contribution) -> str:
    """That of a force is N, of a torque N m; of coordinates of both kinds together there is none."""
    if isinstance(constraint, (LoopJoint, Rod, Wheel)):
        return "N m" if force.startswith("torque") else "N"
    of = (constraint.of,) if isinstance(constraint, PrescribedMotion) else constraint.of
    units = {FORCE[known.signals[f"{name}.position"].unit] for name in of}
    return units.pop() if len(units) == 1 else ""
