"""Constraint residuals: how far is a mechanism off its constraints, as signals and as what a run watches?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from robodyn.assembly.contribution import Contribution, define, merge, watch
from robodyn.assembly.invariants import Invariant
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import SignalInfo
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import absolute, maximum, where

if TYPE_CHECKING:
    from robodyn.assembly.constraints import Constrained, Equation

RESIDUAL = {"N": "m", "N m": "rad", "": ""}
"""Unit of an equation's residual by that of its force."""


def watch_residuals(motion: Motion, constrained: Constrained, bindings: Bindings) -> Contribution:
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
