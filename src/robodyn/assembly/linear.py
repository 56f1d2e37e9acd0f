"""Linearised mechanics: how does a mechanism move near a nominal motion?

M(t) a + c(t, q, v) = forces on joints and combinations, with coordinates and points linear in q and v as well
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.assembly.builder import Builder
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import Definition


@dataclass(frozen=True)
class LinearMechanics:
    """What stands in for the mechanism's own mechanics.

    Attributes:
        carried: joint torques of folded forces and loads; the bias holds them, the joints' torque signals count them.
        signals: name -> expression, of coordinates (`name.position`, `name.velocity`) and points.
        folded: forces (coordinate, signal) that the bias holds; loads are in it in any case.
        data: numbers of the table that the expressions read, see `native.rows`.
    """

    mass_matrix: ca.SX
    bias: ca.SX
    carried: ca.SX
    signals: Mapping[str, ca.SX]
    folded: frozenset[tuple[str, str]]
    data: np.ndarray


Linearise = Callable[[ca.SX, ca.SX, ca.SX, ca.SX], LinearMechanics]
"""(time, q, v, p) -> what stands in for the mechanism's own mechanics; p are the tunable numbers, in their order."""


def replace_mechanics(builder: Builder, motion: Motion, linearise: Linearise) -> LinearMechanics:
    """Let a motion follow linear mechanics: everything that reads its coordinates and points sees the linear ones."""
    p = ca.vertcat(ca.SX(0, 1), *builder.values.symbols)
    linear = linearise(builder.time, motion.q, motion.v, p)
    motion.linear, motion.exact = linear, dict(motion.positions)
    for name, expression in linear.signals.items():
        info = builder.network.infos[name]
        builder.network.define([info], Definition({name: expression}, {}))
    for name in motion.positions:
        if f"{name}.position" in linear.signals:
            motion.positions[name] = linear.signals[f"{name}.position"]
            motion.coordinate_rates[name] = linear.signals[f"{name}.velocity"]
    builder.forces[:] = [force for force in builder.forces if force not in linear.folded]
    return linear
