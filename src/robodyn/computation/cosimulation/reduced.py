"""Reduced interface model: what is a mechanism at one of its interfaces, and on which motion do two sides agree?

    M v' + c = f + A_i^T lambda_i + A_c^T lambda_c,    A_c v = 0,    w = A_i v
    P_c = M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c
    M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1
    lambda~ = M_eff A_i (I - P_c) M^-1 f
    z = M_eff [A_i (I - P_c) M^-1 c - A_i' v + A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c' v]

Peiret, Gonzalez, Kovecses, Teichmann (2020), J. Comput. Nonlinear Dyn. 15, 041001; for flexible bodies Dai, Raoofian,
Kovecses, Teichmann. f holds elastic, damping and all other forces but those of the interface and of constraints.

Two sides that are joined rigidly go on from a common motion (`join_motions`), which each takes on by the change of its
states that is nearest in kinetic energy (`move_interface`).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import casadi as ca
import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import Port
from robodyn.computation.assembly.functions import INPUTS
from robodyn.computation.assembly.system import build_mass_matrix
from robodyn.computation.cosimulation.scenario_inputs import STEP
from robodyn.computation.cosimulation.unit import InterfaceMotion, ReducedModel
from robodyn.computation.engine.binding import address_of, functions, structures
from robodyn.computation.native import Kernel, KernelModule, compile_kernels

SMALL = 1e-9


class Placed(Protocol):
    """What has a position (..., 1 or 3) and, where it is coupled, a rotation (..., 3, 3)."""

    @property
    def position(self) -> np.ndarray: ...

    @property
    def rotation(self) -> np.ndarray | None: ...


def reach(first: Placed, second: Placed) -> np.ndarray:
    """From the first place to the second, along and about the axes, (..., k) [m or rad]."""
    along = second.position - first.position
    if first.rotation is None or second.rotation is None:
        return along
    return np.concatenate([along, turn_between(first.rotation, second.rotation)], axis=-1)


def turn_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vector in world axes that takes the first rotation to the second [rad]; less than 180 deg.

    Args:
        first, second: (..., 3, 3).
    """
    R = second @ np.swapaxes(first, -1, -2)
    sine = (R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]) / 2
    size = np.linalg.norm(sine, axis=-1, keepdims=True)
    angle = np.arctan2(size, (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1) / 2)
    return sine * np.where(size < SMALL, 1.0, angle / np.where(size < SMALL, 1.0, size))


def turn_by(rotation: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A rotation followed by another, given as a rotation vector in world axes, (3, 3), by Rodrigues' formula."""
    angle = math.hypot(*turn.tolist())
    if angle == 0.0:
        return rotation
    x, y, z = turn / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ rotation


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


JOININGS = ("inertia", "mean", "none")
"""Each side moves by the other's share of the inertia, both move halfway, or each keeps its own motion."""
CLOSED = 1e-12
"""Distance at which an interface is where it should be [m, rad]."""


def join_motions(first: ReducedModel, second: ReducedModel, how: str) -> InterfaceMotion:
    """The common motion of two sides.

        inertia: (M_1 + M_2) w = M_1 w_1 + M_2 w_2,    mean: w = (w_1 + w_2) / 2

    and so for the position and the rotation. The first keeps the momentum; a side is not asked to move where it cannot,
    which is where its inertia has no bound.
    """
    a, b = first.motion, second.motion
    # How much of the way to the second side the first one goes, (k, k): by the mobilities W = M^-1, which exist also
    # where an inertia does not, (M_1 + M_2)^-1 M_2 = W_1 (W_1 + W_2)^-1.
    share = np.eye(len(first.mobility)) / 2
    if how == "inertia":
        share = np.linalg.solve((first.mobility + second.mobility).T, first.mobility.T).T
    moved = share @ reach(a, b)
    n = len(a.position)
    rotation = None if a.rotation is None else turn_by(a.rotation, moved[n:])
    return InterfaceMotion(a.position + moved[:n], a.velocity + share @ (b.velocity - a.velocity), rotation)


def move_interface(
    terms: PortTerms,
    evaluate: Callable[[np.ndarray], object],
    x: np.ndarray,
    spheres: np.ndarray,
    inertia: np.ndarray,
    motion: InterfaceMotion,
    steps: int,
) -> np.ndarray:
    """States with which an interface has a motion, by the changes nearest in kinetic energy, attached inertia included.

    One Newton step closes a gap but for its square. To force that to zero would throw a mechanism about that cannot
    move so, near a singular position: on the way it is left to the next exchange. The velocity changes by the terms of
    the last step, for the same reason.

    Args:
        evaluate: makes the terms those at some states; spheres: see `quaternions`.
        inertia: attached at the interface, (k, k); steps: of Newton's method, at most.
    """
    x, n_q, n_v = x.copy(), terms.n_q, terms.n_v
    for _ in range(steps):
        evaluate(x)
        apart = reach(terms.motion, motion)
        if np.max(np.abs(apart)) <= CLOSED:
            break
        x[:n_q] += terms.N @ terms.direct(inertia, apart)
        for first, end in spheres.tolist():
            x[first:end] /= np.linalg.norm(x[first:end])
    x[n_q : n_q + n_v] += terms.direct(inertia, motion.velocity - terms.motion.velocity)
    return x


def quaternions(system: System) -> np.ndarray:
    """Where quaternions of balls stand among the states: the first entry and the one behind the last of each, (n, 2).

    Moved along their tangents they need the length 1 again.
    """
    mechanism, first, found = system.scenario.machine.mechanism, 0, []
    for freedom in mechanism.freedoms if mechanism else ():
        end = first + len(freedom.positions)
        found += [] if freedom.is_single else [(first, end)]
        first = end
    return np.array(found, np.int64).reshape(-1, 2)
