"""Undetermined constraint forces: how do redundant constraints share what the motion does not determine?

    H_d = C H,    lam = lam_0 - C^T mu,    mu of the equations left out,    lam^T w lam + mu^T w mu least

Whatever mu is, the joints feel the same. The weights w are mean mobilities, 1/kg of all forces and 1/(kg m^2) of all
torques, so that the sum does not depend on units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from robodyn.base.symbolic import where
from robodyn.computation.assembly.contribution import Contribution, define, merge
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.dynamics import ldl, solve_ldl
from robodyn.description.model import Rod

if TYPE_CHECKING:
    from robodyn.computation.assembly.constraints import Constrained, Equation

NOTE = "not determined by the motion: the least that goes with it"


def define_constraint_forces(motion: Motion, constrained: Constrained, lam: ca.SX, bindings: Bindings) -> Contribution:
    """The forces of all equations as signals; those that the motion does not determine have a note."""
    parts = []
    for equation, force in _share_forces(motion, constrained, lam):
        note = NOTE if equation.force in constrained.redundancy.undetermined else ""
        value = -force if isinstance(equation.constraint, Rod) else force
        parts.append(define([SignalInfo(equation.force, equation.unit, note=note)], {equation.force: value}, bindings))
    return merge(parts)


def _share_forces(motion: Motion, constrained: Constrained, lam: ca.SX) -> list[tuple[Equation, ca.SX]]:
    """The forces of all equations, those left out too, of the least weighted sum of squares.

    Args:
        lam: forces of the equations that are not left out, which alone would do.
    """
    # What no joint has an effect on carries nothing.
    idle = [(e, ca.SX(0)) for e in constrained.left_out if e.force in constrained.redundancy.idle]
    shared = [e for e in constrained.left_out if e.force not in constrained.redundancy.idle]
    if not shared:
        if any(e.force in constrained.redundancy.undetermined for e in constrained.equations):
            # Compliance has shared them so, but for what errors of the motion add: H^T does not see that.
            lam = constrained.carry(constrained.H.T @ lam)
        return [*idle, *zip(constrained.equations, ca.vertsplit(lam), strict=True)]
    H_d, k = ca.jacobian(ca.vertcat(*(e.h_dot for e in shared)), motion.v), len(constrained.equations)
    w = _weigh(constrained, shared, H_d)
    # Column d: the forces of the equations that stay which do to the joints what equation d does.
    C_T = ca.horzcat(*(constrained.carry(H_d[d, :].T) for d in range(len(shared))))
    # What does not hold takes no part.
    C_T = C_T @ ca.diag(ca.vertcat(*(where(e.active, 1.0, 0.0) for e in shared)))
    # Normal equations of the weighted least squares: (C w C^T + w_d) mu = C w lam_0.
    normal = C_T.T @ ca.diag(w[:k]) @ C_T + ca.diag(w[k:])
    mu = ca.SX(solve_ldl(ldl(normal), ca.vertsplit(C_T.T @ (w[:k] * lam))))
    forces = ca.vertsplit(ca.vertcat(lam - C_T @ mu, mu))
    return [*idle, *zip((*constrained.equations, *shared), forces, strict=True)]


def _weigh(constrained: Constrained, shared: list[Equation], H_d: ca.SX) -> ca.SX:
    """Mean mobility of all equations of the same unit, for those that stay and then for those left out."""
    own = ca.vertsplit(ca.sum2(constrained.H * constrained.W.T))
    left = [ca.dot(H_d[d, :].T, constrained.solve(H_d[d, :].T)) for d in range(len(shared))]
    return mean_mobility((*constrained.equations, *shared), (*own, *left))


def mean_mobility(equations: Sequence[Equation], mobilities: Sequence[ca.SX]) -> ca.SX:
    """For each equation the mean mobility of all whose forces are of its unit."""
    total: dict[str, ca.SX] = {}
    for equation, mobility in zip(equations, mobilities, strict=True):
        total[equation.unit] = total.get(equation.unit, ca.SX(0)) + mobility
    count = Counter(equation.unit for equation in equations)
    return ca.vertcat(*(total[equation.unit] / count[equation.unit] for equation in equations))
