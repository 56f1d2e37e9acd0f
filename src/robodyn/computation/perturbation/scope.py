"""Scope of the linearisation: what of a system is linearised along its nominal motion, what is kept as it is?

Linear become the mechanism itself, coordinates and points that do not depend linearly on the joints, loads, and forces
on such coordinates that positions and velocities alone decide (a spring between two points). Everything else is kept in
full: friction, drives, controllers, springs on joints and on combinations of joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System
from robodyn.description.model.numbers import XYZ


@dataclass(frozen=True)
class Outline:
    """A system that has a nominal motion.

    Attributes:
        signals: those of coordinates and points that become linear; folded: forces (coordinate, signal) that do.
        curved: coordinates with forces that are kept in full: their gradients change with the deviation too.
    """

    system: System
    signals: tuple[str, ...]
    folded: tuple[tuple[str, str], ...]
    curved: tuple[str, ...]

    @cached_property
    def expressions(self) -> Mapping[str, ca.SX]:
        """Every signal as an expression in the system's symbols."""
        return dict(zip(self.system.signal_names, ca.vertsplit(self.system.expressions.outputs), strict=True))

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(state.name.removesuffix(".position") for state in self.system.states[: self.system.n_q])


def outline_system(system: System) -> Outline:
    """What is linearised in a system.

    Raises:
        ModelError: where it has no nominal motion, or closed loops, or friction that sticks to a curved coordinate.
    """
    _check_kind(system)
    varying = [name for name, s in system.motion.coordinates.items() if _is_curved(system, s)]
    bare = Outline(system, (), (), ())
    forces = [force for force in system.motion.forces if force[0] in varying]
    folded = tuple(force for force in forces if _is_geometric(system, bare.expressions[force[1]]))
    curved = tuple(dict.fromkeys(target for target, signal in forces if (target, signal) not in folded))
    signals = [f"{name}.{quantity}" for name in varying for quantity in ("position", "velocity")]
    mechanism = system.scenario.machine.mechanism
    for point in mechanism.points if mechanism else ():
        for axis in XYZ:
            if _is_curved(system, bare.expressions[f"{point.name}.position.{axis}"]):
                signals += [f"{point.name}.{quantity}.{axis}" for quantity in ("position", "velocity")]
    _check_sticking(system, varying)
    return Outline(system, tuple(signals), folded, curved)


def _is_curved(system: System, position: ca.SX) -> bool:
    """Whether the gradient of a position changes with the joints."""
    return bool(ca.depends_on(ca.jacobian(position, system.q), system.q))


def _is_geometric(system: System, force: ca.SX) -> bool:
    """Whether positions, velocities, time and numbers alone decide a force."""
    other = system.symbols.x[system.n_q + system.n_v :]
    return not ca.depends_on(force, ca.vertcat(other, system.symbols.d, system.symbols.m))


def _check_kind(system: System) -> None:
    flaws = FlawList()
    scenario = system.scenario
    if system.motion.mechanics is None:
        flaws.add("joints", "there are none", "only the motion of a mechanism is linearised")
    elif not scenario.nominal:
        remedy = "say for each moving joint which signal is its reference position"
        flaws.add("nominal", "is missing: there is no motion to linearise about", remedy)
    mechanism = scenario.machine.mechanism
    for freedom in (one for one in mechanism.freedoms if not one.is_single) if mechanism else ():
        what = "is a ball, whose orientation is not linearised along a motion"
        flaws.add(f"joints.{freedom.name}", what, "take revolute joints, or simulate the scenario itself")
    if scenario.machine.all_constraints:
        flaws.add("constraints", "are not linearised along a motion", "simulate the scenario itself")
    if scenario.machine.contacts:
        flaws.add("contacts", "are not linearised along a motion", "simulate the scenario itself")
    for path in (path for path in scenario.machine.rigid_parts if path.startswith("joints")):
        flaws.add(path, "rigid end stops are not linearised along a motion", "simulate the scenario itself")
    for load in (load for load in scenario.machine.loads if load.times is not None):
        what = "loads by a signal are not linearised along a motion"
        flaws.add(f"loads.{load.name}.times", what, "simulate the scenario itself")
    if system.motion.terms or system.motion.momenta:
        flaws.add("", "is not a mechanism in positions and velocities", "assemble the scenario itself")
    flaws.raise_if_any(f"nominal motion of '{scenario.name}'")


def _check_sticking(system: System, varying: list[str]) -> None:
    flaws = FlawList()
    for block in system.scenario.machine.all_blocks:
        if block.info.sticks and block.on in varying:
            what = f"sticks on '{block.on}', which does not depend linearly on the joints"
            flaws.add(f"blocks.{block.name}", what, "take a friction law with bristles, such as lugre_friction")
    flaws.raise_if_any(f"nominal motion of '{system.scenario.name}'")
