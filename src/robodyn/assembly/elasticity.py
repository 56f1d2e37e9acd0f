"""Modal elasticity: which forces does the elasticity of flexible bodies exert on their modes?

    F_i = -s k_i eta_i - d_i eta_i',   d_i = 2 zeta sqrt(s k_i m_i) + alpha m_i + beta s k_i

They are forces like those of springs on joints: what treats stiff forces by itself finds them there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.units import FORCE
from robodyn.model import FlexibleBody
from robodyn.symbolic import sqrt

if TYPE_CHECKING:
    from robodyn.assembly.motion import Motion


def add_elasticity(builder: Builder, motion: Motion) -> None:
    """Elastic forces `<mode>.elastic_force`, and `<body>.strain_energy` [J] as signals."""
    for body in motion.mechanism.flexible_bodies:
        energy = ca.SX(0)
        factor = builder.values[f"{body.name}.stiffness"]
        for k, mode in enumerate(body.modes):
            stiffness, damping = factor * body.modal_stiffness[k], _damping(builder, body, k)
            eta, rate = motion.positions[mode.name], motion.coordinate_rates[mode.name]
            info = SignalInfo(f"{mode.name}.elastic_force", FORCE["rad" if mode.rotates else "m"])
            force = -stiffness * eta - damping * rate
            builder.network.define([info], Definition({info.name: ca.SX(force)}, {}))
            builder.forces.append((mode.name, info.name))
            energy = energy + 0.5 * stiffness * eta**2
        stored = SignalInfo(f"{body.name}.strain_energy", "J")
        builder.network.define([stored], Definition({stored.name: energy}, {}))


def _damping(builder: Builder, body: FlexibleBody, k: int) -> ca.SX:
    """d_i of a mode [N s/m or N m s/rad]."""
    values = builder.values
    stiffness = values[f"{body.name}.stiffness"] * body.modal_stiffness[k]
    own = 2 * values[f"{body.name}.damping"] * sqrt(stiffness * body.modal_mass[k])
    mass, rigidity = values.vector(f"{body.name}.rayleigh", ("mass", "stiffness"))
    return own + mass * body.modal_mass[k] + rigidity * stiffness
