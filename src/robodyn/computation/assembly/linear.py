"""Linearised mechanics: how does a mechanism move near a nominal motion?

M(t) a + c(t, q, v) = forces on joints and combinations, with coordinates and points linear in q and v as well
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from robodyn.computation.assembly.contribution import Contribution, define, merge
from robodyn.computation.assembly.motion import Motion


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


def replace_mechanics(motion: Motion, linear: LinearMechanics, known: Contribution) -> tuple[Motion, Contribution]:
    """Let a motion follow linear mechanics: everything that reads its coordinates and points sees the linear ones.

    Args:
        known: contributions so far; what stands in for some of them replaces these.
    """
    signals = linear.signals
    seen = [name for name in motion.positions if f"{name}.position" in signals]
    positions, rates = ({name: signals[f"{name}.{what}"] for name in seen} for what in ("position", "velocity"))
    positions, rates = {**motion.positions, **positions}, {**motion.coordinate_rates, **rates}
    given = merge(define([known.signals[name]], {name: value}) for name, value in signals.items())
    forces = tuple(force for force in known.forces if force not in linear.folded)
    moved = replace(motion, linear=linear, positions=positions, coordinate_rates=rates)
    return moved, replace(known, forces=forces) + given
