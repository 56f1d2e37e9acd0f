"""Linearised equations along a nominal motion: exact derivatives of the traced ones, in native code.

    e(t, q, v, a) = M(q) a + c(q, v) - sum over folded forces (ds/dq)^T f - loads
    M0 = de/da,   C0 = de/dv,   K0 = de/dq = structural + geometric + dynamic

structural: the folded forces change with the lengths they act on; geometric: gravity, loads and these forces rotate
with the links, as they are; dynamic: so do the inertia forces of the nominal motion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import bias, inverse_dynamics
from robodyn.computation.native import KernelModule, compile_kernels, read_program
from robodyn.computation.perturbation.scope import Outline

PARAMETERS = 4
"""Number of the input that holds the parameters, after t, q, v, a."""


@dataclass(frozen=True)
class Equations:
    """Functions of (t, q, v, a, p) along a nominal motion, and where their results have entries at all.

    Attributes:
        motion: columns q0, v0, a0 of t and p.
        carried: joints on which folded forces or loads act.
        terms: name -> matrix or column in (t, q, v, a, p), see `express_terms`.
    """

    outline: Outline
    a: ca.SX
    motion: Mapping[str, ca.SX]
    terms: Mapping[str, ca.SX]
    carried: tuple[str, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs y: signals that become linear, and what folded forces and loads exert on joints."""
        return (*self.outline.signals, *(f"{joint}.carried" for joint in self.carried))

    @cached_property
    def functions(self) -> dict[str, ca.Function]:
        system = self.outline.system
        inputs = [system.symbols.t, system.q, system.v, self.a, system.symbols.p]
        return {
            name: ca.Function(name, inputs, [ca.densify(part) for part in parts.values()])
            for name, parts in (("motion", self.motion), ("terms", self.terms))
        }

    @cached_property
    def module(self) -> KernelModule:
        return compile_kernels(self.functions, PARAMETERS, quick=True)

    @cached_property
    def _programs(self) -> list[Any]:
        return [read_program(function) for function in self.functions.values()]

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the equations; numbers that are parameters are not in it."""
        text = repr([(program.nodes, program.outputs) for program in self._programs])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the nominal motion and its equations depend on."""
        names = [number.name for number in self.outline.system.parameters]
        nodes = {node for program in self._programs for node in program.nodes if node[0] == "input"}
        return tuple(names[k] for k in sorted(node[2] for node in nodes if node[1] == PARAMETERS))

    def evaluate(self, name: str, inputs: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
        """All parts of a function, in their shapes."""
        parts = self.motion if name == "motion" else self.terms
        flat = self.module.kernels[name](*inputs)
        return {
            key: column.reshape(part.shape, order="F") for (key, part), column in zip(parts.items(), flat, strict=True)
        }


def derive_equations(outline: Outline) -> Equations:
    """The equations of a system along its nominal motion."""
    system, t = outline.system, outline.system.symbols.t
    nominal = system.scenario.nominal
    # Modes are not named there: nominally, nothing deforms.
    q0 = ca.vertcat(*(outline.expressions[nominal[j]] if j in nominal else ca.SX(0) for j in outline.joints))
    v0 = ca.jacobian(q0, t)
    a = ca.SX.sym("a", system.n_v)
    motion = {"position": q0, "velocity": v0, "acceleration": ca.jacobian(v0, t)}
    turning = _folded_forces(outline)[0]
    carried = tuple(outline.joints[k] for k in _find_entries(turning.total))
    return Equations(outline, a, motion, express_terms(outline, a), carried)


def _find_entries(column: ca.SX) -> list[int]:
    """Rows of a column that are not zero by structure."""
    return list(ca.sparsify(column).sparsity().row())


def express_terms(outline: Outline, a: ca.SX) -> dict[str, ca.SX]:
    """Everything that is kept of the equations at a point of the nominal motion.

    torque e (n,), torque_rate de/dt (n,); mass M0, damping C0, stiffness_structural, _geometric, _dynamic (n, n);
    outputs y (k,) with their derivatives outputs_by_position, outputs_by_velocity (k, n); curvature d2s/dq2 of
    coordinates whose forces are kept in full (n, n each, side by side).
    """
    system = outline.system
    q, v = system.q, system.v
    inertial, weight = _inverse_dynamics(system, a)
    turning, changing = _folded_forces(outline)
    e = inertial + weight - turning.total
    carried = [turning.total[k] for k in _find_entries(turning.total)]
    y = ca.vertcat(ca.SX(0, 1), *(outline.expressions[name] for name in outline.signals), *carried)
    bends = [ca.hessian(system.motion.coordinates[name], q)[0] for name in outline.curved]
    return {
        "torque": e,
        "torque_rate": ca.jacobian(e, system.symbols.t),
        "mass": system.mass_matrix,
        "damping": ca.jacobian(e, v),
        "stiffness_structural": -changing,
        "stiffness_geometric": ca.jacobian(weight, q) - turning.by_position,
        "stiffness_dynamic": ca.jacobian(inertial, q),
        "outputs": y,
        "outputs_by_position": ca.jacobian(y, q),
        "outputs_by_velocity": ca.jacobian(y, v),
        "curvature": ca.horzcat(ca.SX(system.n_q, 0), *bends),
    }


@dataclass(frozen=True)
class _Turning:
    """Joint torques of folded forces and loads, and how they change where the links rotate under constant forces."""

    total: ca.SX
    by_position: ca.SX


def _inverse_dynamics(system: System, a: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Joint torques of inertia and of gravity."""
    assert system.motion.mechanics is not None
    tree = system.motion.mechanics.tree
    q, v, acceleration = (list(ca.vertsplit(column)) for column in (system.q, system.v, a))
    weight = ca.SX(bias(tree, q, [ca.SX(0)] * system.n_v))
    total = ca.SX(inverse_dynamics(tree, q, v, acceleration))
    for inertia, gradient in system.motion.rotors:
        total = total + gradient.T @ (inertia @ (gradient @ a))
    return total - weight, weight


def _folded_forces(outline: Outline) -> tuple[_Turning, ca.SX]:
    """Torques of folded forces and loads, and `(ds/dq)^T df/dq`, the change of the forces themselves."""
    system = outline.system
    q = system.q
    positions = ca.vertcat(ca.SX(0, 1), *(system.motion.coordinates[target] for target, _ in outline.folded))
    forces = ca.vertcat(ca.SX(0, 1), *(outline.expressions[signal] for _, signal in outline.folded))
    held = ca.SX.sym("held", forces.numel())
    G = ca.jacobian(positions, q)
    constant = G.T @ held + (system.motion.loads if system.motion.loads.numel() else ca.SX.zeros(system.n_v))
    total, by_position = ca.substitute([constant, ca.jacobian(constant, q)], [held], [forces])
    return _Turning(total, by_position), G.T @ ca.jacobian(forces, q)
