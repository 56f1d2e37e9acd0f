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

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import casadi as ca
import numpy as np

from robodyn.assembly import System
from robodyn.assembly.declarations import Port
from robodyn.assembly.functions import INPUTS
from robodyn.assembly.system import build_mass_matrix
from robodyn.cosimulation.unit import InterfaceMotion, ReducedModel, condition_of
from robodyn.native import Kernel, KernelModule, compile_kernels

RANK = 1e-10
"""Relative size below which a singular value counts as zero: constraints may follow from others."""


@dataclass(frozen=True, eq=False)
class Mechanics:
    """The terms of a mechanism's equations at a state, as the head of this file names them.

    Attributes:
        M: without the inertia attached at this interface; f: without its force.
        drift_i: A_i' v; drift_c: A_c' v, less the accelerations of prescribed joints; N: q' = N v.
    """

    M: np.ndarray
    c: np.ndarray
    f: np.ndarray
    A_i: np.ndarray
    drift_i: np.ndarray
    A_c: np.ndarray
    drift_c: np.ndarray
    N: np.ndarray
    motion: InterfaceMotion

    def reduce(self, length: float = 1.0) -> ReducedModel:
        """The reduced interface model by the equations of the head."""
        n = len(self.M)
        inverse = np.linalg.solve(self.M, np.column_stack([self.A_i.T, self.A_c.T, self.f, self.c]))
        k, m = len(self.A_i), len(self.A_c)
        M_A_i, M_A_c = inverse[:, :k], inverse[:, k : k + m]
        # (I - P_c) applied from the left: accelerations that the constraints allow.
        answer = M_A_c @ invert(self.A_c @ M_A_c)
        allowed = np.eye(n) - answer @ self.A_c
        mobility = self.A_i @ allowed @ M_A_i
        mobility = (mobility + mobility.T) / 2
        forced, free = self.A_i @ allowed @ inverse[:, -2], self.A_i @ allowed @ inverse[:, -1]
        inertial = free - self.drift_i + self.A_i @ answer @ self.drift_c
        condition = condition_of(mobility, length)
        inertia = np.linalg.inv(mobility) if np.isfinite(condition) else np.full((k, k), np.nan)
        return ReducedModel(
            inertia, inertia @ forced, inertia @ inertial, mobility, forced - inertial, self.motion, condition
        )

    def direct(self, inertia: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The change of v nearest in kinetic energy with which the interface's velocity changes as wanted.

        Args:
            inertia: attached at the interface, (k, k).
        """
        G = np.vstack([self.A_i, self.A_c])
        W = np.linalg.solve(self.M + self.A_i.T @ inertia @ self.A_i, G.T)
        return W @ (invert(G @ W) @ np.concatenate([wanted, np.zeros(len(self.A_c))]))


def invert(S: np.ndarray) -> np.ndarray:
    """Inverse of a symmetric matrix on what is independent; rows of idle or redundant constraints have none."""
    if not len(S):
        return S
    values, vectors = np.linalg.eigh(S)
    size = np.abs(values)
    kept = size > RANK * size.max()
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


class PortFunctions:
    """Native functions of a system's interfaces, made once: their motion, and the terms of the equations there."""

    def __init__(self, system: System, extra: Mapping[str, ca.SX] | None = None) -> None:
        self.system = system
        self.ports: dict[str, Port] = {port.interface.name: port for port in system.motion.ports}
        columns = [*system.symbols]
        outputs = dict(extra or {})
        for name, port in self.ports.items():
            outputs[f"motion:{name}"] = ca.vertcat(*_motion(port))
            parts = [*_terms(system, port), *_motion(port)]
            outputs[f"terms:{name}"] = ca.vertcat(*(ca.vec(ca.densify(part)) for part in parts))
        functions = {
            key: ca.Function(key.replace(":", "_").replace(".", "_"), columns, [ca.densify(column)])
            for key, column in outputs.items()
        }
        self.module: KernelModule = compile_kernels(functions, INPUTS.index("p"), data=system.data)

    def kernel(self, name: str) -> Kernel:
        return self.module.kernels[name]

    def motion(self, name: str, *inputs: np.ndarray) -> InterfaceMotion:
        """Of an interface at (t, x, d, m, p), p prepared by `module`."""
        return _split_motion(self.ports[name], self.kernel(f"motion:{name}")(*inputs))

    def mechanics(self, name: str, *inputs: np.ndarray) -> Mechanics:
        """Terms of the equations at (t, x, d, m, p), p prepared by `module`."""
        port, n, n_q = self.ports[name], self.system.n_v, self.system.n_q
        k, m = len(port.interface.rows), len(self.system.motion.constraint_forces)
        values = self.kernel(f"terms:{name}")(*inputs)
        ends = list(accumulate((n * n, n, n, k * n, k, m * n, m, m, n_q * n)))
        M, c, f, A_i, drift_i, A_c, drift_c, active, N = (
            values[begin:end] for begin, end in zip((0, *ends), ends, strict=False)
        )
        held = active > 0.5
        return Mechanics(
            M.reshape(n, n),
            c,
            f,
            A_i.reshape(n, k).T,
            drift_i,
            A_c.reshape(n, m).T[held],
            drift_c[held],
            N.reshape(n, n_q).T,
            _split_motion(port, values[ends[-1] :]),
        )


def _motion(port: Port) -> list[ca.SX]:
    turned = [ca.vec(port.rotation.T)] if port.rotation is not None else []
    return [port.position, port.velocity, *turned]


def _split_motion(port: Port, values: np.ndarray) -> InterfaceMotion:
    k = len(port.interface.rows)
    n = min(k, 3)
    rotation = values[n + k :].reshape(3, 3) if port.rotation is not None else None
    return InterfaceMotion(values[:n], values[n : n + k], rotation)


def _terms(system: System, port: Port) -> list[ca.SX]:
    """M, c, f, A_i, A_i' v, A_c, A_c' v, which constraints hold, and N."""
    assert system.motion.mechanics is not None
    attached = [other for other in system.motion.ports if other.inertia is not None]
    own = system.motion.rotors[: len(system.motion.rotors) - len(attached)]
    # What is attached rigidly elsewhere is felt here: its force is part of f, so that its inertia must be part of M.
    others = [(other.inertia, other.A) for other in attached if other is not port]
    M = build_mass_matrix(system.motion.mechanics.tree, system.q, [*own, *others])
    f = system.expressions.applied - port.A.T @ port.acting
    k = len(system.motion.constraint_forces)
    rates = system.expressions.constraints[k:] if k else ca.SX(0, 1)
    A_c = ca.jacobian(rates, system.v)
    drift_c, active = system.expressions.constraint_drift, system.expressions.active
    return [M, system.bias, f, port.A, port.drift, A_c, drift_c, active, system.N]


def reduce_system(
    system: System, interface: str, x: np.ndarray, *, time: float = 0.0, length: float = 1.0
) -> ReducedModel:
    """The reduced interface model of a system at a state, with its numbers as described.

    Args:
        x: continuous states in the order of `system.states`.
    """
    functions = PortFunctions(system)
    p = functions.module.prepare([number.value for number in system.parameters])
    m = np.array([info.start for info in system.memory], float)
    d = np.array([delay.before or 0.0 for delay in system.delays], float)
    return functions.mechanics(interface, np.array([time]), np.asarray(x, float), d, m, p).reduce(length)
