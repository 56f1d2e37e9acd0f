"""Reduced interface model: what is a mechanism at one of its interfaces, at a state?

    M v' + c = f + A_i^T lambda_i + A_c^T lambda_c,    A_c v = 0,    w = A_i v
    P_c = M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c
    M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1
    lambda~ = M_eff A_i (I - P_c) M^-1 f
    z = M_eff [A_i (I - P_c) M^-1 c - A_i' v + A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c' v]

Peiret, Gonzalez, Kovecses, Teichmann (2020), J. Comput. Nonlinear Dyn. 15, 041001; for flexible bodies Dai, Raoofian,
Kovecses, Teichmann. f holds elastic, damping and all other forces but those of the interface and of constraints.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping
from typing import Any

import casadi as ca
import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import Port
from robodyn.computation.assembly.functions import INPUTS
from robodyn.computation.assembly.system import build_mass_matrix
from robodyn.computation.cosimulation.polynomials import STEP
from robodyn.computation.cosimulation.unit import InterfaceMotion, ReducedModel
from robodyn.computation.engine.binding import address_of, functions
from robodyn.computation.engine.layout import structures
from robodyn.computation.native import Kernel, KernelModule, compile_kernels


class PortTerms:
    """The terms of the equations at an interface, as the head of this file names them, in the engine's memory.

    Attributes:
        port: the engine's structure, with terms, reduced model and room for work in arrays of this object.
    """

    def __init__(self, system: System, port: Port, length: float) -> None:
        k, n, m = len(port.interface.row_names), system.n_v, len(system.motion.constraint_forces)
        self.rows, self.n_q, self.n_v = k, system.n_q, n
        self.rotates = port.rotation is not None
        sizes = (n * n, n, n, k * n, k, m * n, m, m, system.n_q * n, min(k, 3) + k + 9 * self.rotates)
        self.values = np.zeros(sum(sizes))
        self.model = np.zeros(2 * k * k + 3 * k + 1)
        self._room = np.zeros(functions().interface_work(n, k, m)), np.zeros(n)
        self._first_motion, self._first_N = sum(sizes[:-1]), sum(sizes[:-2])
        self.port: Any = structures()["Port"]()
        numbers = {"rows": k, "n_q": system.n_q, "n_v": n, "n_constraints": m, "rotates": int(self.rotates)}
        for name, value in {**numbers, "length": length}.items():
            setattr(self.port, name, value)
        arrays = zip(("term_values", "model", "work", "change"), (self.values, self.model, *self._room), strict=True)
        for name, array in arrays:
            setattr(self.port, name, address_of(array))

    @property
    def motion(self) -> InterfaceMotion:
        """Of the interface."""
        return split_motion(self.rows, self.values[self._first_motion :].copy())

    @property
    def N(self) -> np.ndarray:
        """q' = N v."""
        return self.values[self._first_N : self._first_motion].reshape(self.n_v, self.n_q).T

    def reduce(self) -> ReducedModel:
        """The reduced interface model by the equations of the head; M without the inertia attached here."""
        functions().interface_reduce(ctypes.addressof(self.port))
        k = self.rows
        inertia, mobility, *others = np.split(self.model.copy(), np.cumsum([k * k, k * k, k, k, k]))
        effective, inertial, acceleration, condition = others
        matrices = inertia.reshape(k, k).T, effective, inertial, mobility.reshape(k, k).T
        return ReducedModel(*matrices, acceleration, self.motion, float(condition[0]))

    def direct(self, inertia: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The change of v nearest in kinetic energy with which the interface's velocity changes as wanted.

        Args:
            inertia: attached at the interface, (k, k).
        """
        address, change = ctypes.addressof(self.port), np.zeros(self.n_v)
        columns, wanted = np.ascontiguousarray(inertia.T), np.ascontiguousarray(wanted)
        functions().interface_prepare(address, address_of(columns))
        functions().interface_direct(address, address_of(wanted), address_of(change))
        return change


def invert(S: np.ndarray) -> np.ndarray:
    """Inverse of a symmetric matrix on what is independent; rows of idle or redundant constraints have none."""
    n, S = len(S), np.ascontiguousarray(S, float)
    inverse, work = np.zeros((n, n)), np.zeros(2 * n * n + n)
    functions().invert_symmetric(address_of(S), n, address_of(inverse), address_of(work))
    return inverse


class PortFunctions:
    """Native functions of a system's interfaces, made once: their motion, and the terms of the equations there.

    Args:
        implicit: interfaces whose models hold what their forces become within the macro step, see `_foresee`.
    """

    def __init__(
        self, system: System, extra: Mapping[str, ca.SX] | None = None, implicit: Collection[str] = ()
    ) -> None:
        self.system = system
        self.ports: dict[str, Port] = {port.interface.name: port for port in system.motion.ports}
        columns = [*system.symbols]
        outputs = dict(extra or {})
        for name, port in self.ports.items():
            parts = [*_terms(system, port, name in implicit), *_motion(port)]
            outputs[f"terms:{name}"] = ca.vertcat(*(ca.vec(ca.densify(part)) for part in parts))
        traced = {
            key: ca.Function(key.replace(":", "_").replace(".", "_"), columns, [ca.densify(column)])
            for key, column in outputs.items()
        }
        self.module: KernelModule = compile_kernels(traced, INPUTS.index("p"), data=system.data)

    def kernel(self, name: str) -> Kernel:
        return self.module.kernels[name]

    def terms(self, name: str, length: float) -> PortTerms:
        """Room for the terms of an interface, which belongs to one run."""
        return PortTerms(self.system, self.ports[name], length)

    def fill(self, terms: PortTerms, name: str, *inputs: np.ndarray) -> PortTerms:
        """Terms of the equations at (t, x, d, m, p), p prepared by `module`."""
        terms.values[:] = self.kernel(f"terms:{name}")(*inputs)
        return terms


def _motion(port: Port) -> list[ca.SX]:
    turned = [ca.vec(port.rotation.T)] if port.rotation is not None else []
    return [port.position, port.velocity, *turned]


def split_motion(k: int, values: np.ndarray) -> InterfaceMotion:
    """Position, velocity and rotation of an interface of k rows, as they stand behind one another."""
    n = min(k, 3)
    rotation = values[n + k :].reshape(3, 3) if len(values) > n + k else None
    return InterfaceMotion(values[:n], values[n : n + k], rotation)


def _terms(system: System, port: Port, implicit: bool = False) -> list[ca.SX]:
    """M, c, f, A_i, A_i' v, A_c, A_c' v, which constraints hold, and N."""
    assert system.motion.mechanics is not None
    attached = [other for other in system.motion.ports if other.inertia is not None]
    own = system.motion.rotors[: len(system.motion.rotors) - len(attached)]
    # What is attached rigidly elsewhere is felt here: its force is part of f, so that its inertia must be part of M.
    others = [(other.inertia, other.A) for other in attached if other is not port]
    M = build_mass_matrix(system.motion.mechanics.tree, system.q, [*own, *others])
    f = system.expressions.applied - port.A.T @ port.acting
    if implicit:
        M, f = _foresee(system, M, f)
    k = len(system.motion.constraint_forces)
    rates = system.expressions.constraints[k:] if k else ca.SX(0, 1)
    A_c = ca.jacobian(rates, system.v)
    drift_c, active = system.expressions.constraint_drift, system.expressions.active
    return [M, system.bias, f, port.A, port.drift, A_c, drift_c, active, system.N]


def _foresee(system: System, M: ca.SX, f: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M and f of a linearly implicit midpoint step of length h, whose forces are those in the middle of it.

        (M - h/2 b_v - h^2/4 b_q) v' = b + h/2 (b_q v + b_t),    b = f - c

    What gyroscopic forces add to M, which no inertia can be, is left out.
    """
    names = [number.name for number in system.parameters]
    half, b = system.symbols.p[names.index(STEP)] / 2, f - system.bias
    by_v, by_q = ca.jacobian(b, system.v), ca.jacobian(b, system.q) @ system.N
    change = half * by_v + half**2 * by_q
    return M - (change + change.T) / 2, f + half * (by_q @ system.v + ca.jacobian(b, system.symbols.t))


def reduce_system(
    system: System, interface: str, x: np.ndarray, *, time: float = 0.0, length: float = 1.0
) -> ReducedModel:
    """The reduced interface model of a system at a state, with its numbers as described.

    Args:
        x: continuous states in the order of `system.states`.
    """
    made = PortFunctions(system)
    p = made.module.prepare([number.value for number in system.parameters])
    m = np.array([info.start for info in system.memory], float)
    d = np.array([delay.before or 0.0 for delay in system.delays], float)
    terms = made.terms(interface, length)
    return made.fill(terms, interface, np.array([time]), np.asarray(x, float), d, m, p).reduce()
