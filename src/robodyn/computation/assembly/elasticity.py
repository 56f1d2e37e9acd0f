"""Modal elasticity: which forces does the elasticity of flexible bodies exert on their modes?

    F_i = -s k_i eta_i - d_i eta_i',   d_i = 2 zeta sqrt(s k_i m_i) + alpha m_i + beta s k_i

They are forces like those of springs on joints: what treats stiff forces by itself finds them there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca

from robodyn.base.symbolic import sqrt
from robodyn.computation.assembly.contribution import Contribution, define, merge
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.units import FORCE
from robodyn.computation.assembly.values import Values
from robodyn.description.model import FlexibleBody

if TYPE_CHECKING:
    from robodyn.computation.assembly.motion import Motion


def define_elasticity(motion: Motion) -> Contribution:
    """Elastic forces `<mode>.elastic_force`, and `<body>.strain_energy` [J] as signals."""
    parts, values = [], motion.context.values
    for body in motion.mechanism.flexible_bodies:
        energy = ca.SX(0)
        factor = values[f"{body.name}.stiffness"]
        for k, mode in enumerate(body.modes):
            stiffness, damping = factor * body.modal_stiffness[k], _damping(values, body, k)
            eta, rate = motion.positions[mode.name], motion.coordinate_rates[mode.name]
            info = SignalInfo(f"{mode.name}.elastic_force", FORCE["rad" if mode.rotates else "m"])
            force = -stiffness * eta - damping * rate
            parts.append(replace(define([info], {info.name: ca.SX(force)}), forces=((mode.name, info.name),)))
            energy = energy + 0.5 * stiffness * eta**2
        stored = SignalInfo(f"{body.name}.strain_energy", "J")
        parts.append(define([stored], {stored.name: energy}))
    return merge(parts)


def _damping(values: Values, body: FlexibleBody, k: int) -> ca.SX:
    """d_i of a mode [N s/m or N m s/rad]."""
    stiffness = values[f"{body.name}.stiffness"] * body.modal_stiffness[k]
    own = 2 * values[f"{body.name}.damping"] * sqrt(stiffness * body.modal_mass[k])
    mass, rigidity = values.vector(f"{body.name}.rayleigh", ("mass", "stiffness"))
    return own + mass * body.modal_mass[k] + rigidity * stiffness
