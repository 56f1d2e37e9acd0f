"""Signals of constraints: with which forces are they kept, how well, and what happens where one begins to hold?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.base.symbolic import absolute, maximum, where
from robodyn.computation.assembly.constraints import Constrained, Equation
from robodyn.computation.assembly.contribution import Contribution, Deferred, define, merge, watch
from robodyn.computation.assembly.declarations import Guard
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.assembly.undetermined import define_constraint_forces

CLOSING = "action:closing"
RESIDUAL = {"N": "m", "N m": "rad", "": ""}
"""Unit of an equation's residual by that of its force."""


def trace_constraint_signals(motion: Motion, constrained: Constrained, lam: ca.SX, bindings: Bindings) -> Contribution:
    """Forces of the constraints, how well they are kept, and what happens where one begins to hold."""
    return merge(
        (
            define_constraint_forces(motion, constrained, lam, bindings),
            _watch_residuals(motion, constrained, bindings),
            _close(motion, constrained, bindings),
        )
    )


@dataclass(frozen=True)
class Residuals:
    """Of all constraint equations: h, h', the drift of h'', and whether each holds."""

    h: tuple[Deferred, ...] = ()
    h_dot: tuple[Deferred, ...] = ()
    drift: tuple[Deferred, ...] = ()
    active: tuple[Deferred, ...] = ()


def express_residuals(equations: Sequence[Equation], bindings: Bindings) -> Residuals:
    """Zero of equations that do not hold."""
    return Residuals(
        h=tuple(Deferred(where(e.active, e.h, 0.0), bindings) for e in equations),
        h_dot=tuple(Deferred(where(e.active, e.h_dot, 0.0), bindings) for e in equations),
        drift=tuple(Deferred(ca.SX(where(e.active, e.drift, 0.0)), bindings) for e in equations),
        active=tuple(Deferred(where(e.active, 1.0, 0.0), {}) for e in equations),
    )


def _close(motion: Motion, constrained: Constrained, bindings: Bindings) -> Contribution:
    """A constraint that begins to hold stops what moves against it: an impact without rebound."""
    rates = ca.vertcat(*(e.h_dot for e in constrained.equations))
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
    h = ca.vertcat(*(e.h for e in constrained.equations))
    h_dot = ca.vertcat(*(e.h_dot for e in constrained.equations))
    q, v = motion.q, motion.v
    # M^-1-weighted Newton: the nearest positions in kinetic energy on h = 0, then velocities on h' = 0.
    for _ in range(2):
        q = q + motion.N @ constrained.project(ca.SX.zeros(motion.v.numel()), ca.substitute(h, motion.q, q))
    for _ in range(2):
        rates = ca.substitute(h_dot, ca.vertcat(motion.q, motion.v), ca.vertcat(q, v))
        v = constrained.project(v, rates)
    moved = ca.vertcat(q, v)
    names = [motion.q[k].name() for k in range(q.numel())] + [motion.v[k].name() for k in range(v.numel())]
    return {name: Deferred(moved[k], bindings) for k, name in enumerate(names)}


def _watch_residuals(motion: Motion, constrained: Constrained, bindings: Bindings) -> Contribution:
    """How far each constraint is off, and all together; those of equations left out show whether they truly follow."""
    groups: dict[tuple[str, str], list[Equation]] = {}
    for equation in (*constrained.equations, *constrained.left_out):
        groups.setdefault((equation.constraint.name, RESIDUAL[equation.unit]), []).append(equation)
    # What is small counts as part of its own size.
    size, parts = min(1.0, motion.size), []
    for (name, unit), equations in groups.items():
        values = (*_largest(equations), ca.SX(size if unit == "m" else 1.0))
        parts.append(watch(Invariant.CLOSED, name, unit, values, bindings))
    infos = [SignalInfo(f"constraints.{level}_error", "") for level in ("position", "velocity")]
    largest = _largest([equation for equations in groups.values() for equation in equations])
    outputs = {info.name: value for info, value in zip(infos, largest, strict=True)}
    return merge((*parts, define(infos, outputs, bindings)))


def _largest(equations: Sequence[Equation]) -> tuple[ca.SX, ca.SX]:
    """The largest residual and the largest rate of those equations that hold."""
    position, velocity = ca.SX(0), ca.SX(0)
    for e in equations:
        position = maximum(position, where(e.active, absolute(e.h), 0.0))
        velocity = maximum(velocity, where(e.active, absolute(e.h_dot), 0.0))
    return position, velocity
