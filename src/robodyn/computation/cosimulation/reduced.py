"""Reduced interface model: what is a mechanism at one of its interfaces, and on which motion do two sides agree?

    M v' + c = f + A_i^T lambda_i + A_c^T lambda_c,    A_c v = 0,    w = A_i v
    P_c = M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c
    M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1
    lambda~ = M_eff A_i (I - P_c) M^-1 f
    z = M_eff [A_i (I - P_c) M^-1 c - A_i' v + A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c' v]

Peiret, Gonzalez, Kovecses, Teichmann (2020), J. Comput. Nonlinear Dyn. 15, 041001; for flexible bodies Dai, Raoofian,
Kovecses, Teichmann. f holds elastic, damping and all other forces but those of the interface and of constraints.

Two sides that are joined rigidly go on from a common motion, which each takes on by the change of its states that is
nearest in kinetic energy: see `coupled_motion.c`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import Port
from robodyn.computation.assembly.system import INPUTS, build_mass_matrix
from robodyn.computation.engine.binding import EngineStructure, address_of, functions
from robodyn.computation.native import Kernel, KernelModule, compile_kernels
from robodyn.description.model import Interface
from robodyn.description.paths.cartesian import rotation_vector

from .scenario_inputs import HIGHEST_ORDER, STEP, expected_outputs
from .unit import InterfaceMotion, ReducedModel


class HasPlace(Protocol):
    """A thing with a position (..., 1 or 3) and, where it is coupled, a rotation (..., 3, 3)."""

    @property
    def position(self) -> Array: ...

    @property
    def rotation(self) -> Array | None: ...


def reach(first: HasPlace, second: HasPlace) -> Array:
    """From the first place to the second, along and about the axes, (..., k) [m or rad]."""
    along = second.position - first.position
    if first.rotation is None or second.rotation is None:
        return along
    return np.concatenate([along, turn_between(first.rotation, second.rotation)], axis=-1)


def turn_between(first: Array, second: Array) -> Array:
    """Rotation vector in world axes that takes the first rotation to the second [rad]; less than 180 deg.

    Args:
        first, second: (..., 3, 3).
    """
    return rotation_vector(second @ np.swapaxes(first, -1, -2))


TAKES = {True: 1, False: 2}
"""How a model is taken, as in coupling.h: rigidly, or behind a stiffness."""


class PortTerms(EngineStructure):
    """An interface in the engine's memory: the terms of the equations there, as the head of this file names them.

    Args:
        places: of the unit's outputs.
        sizes: n_q, n_v and the number of constraints; none for a unit that gives its model by itself.
    """

    def __init__(
        self,
        part: Interface,
        places: Mapping[str, int],
        sizes: tuple[int, int, int] = (0, 0, 0),
        length: float = 1.0,
    ) -> None:
        k, (n_q, n, m), rotates = len(part.row_names), sizes, part.rotates
        self.rows = k
        entries = (n * n, n, n, k * n, k, m * n, m, m, n_q * n)
        n_motion = min(k, 3) + k + 9 * rotates
        super().__init__(
            "Port",
            rows=k,
            n_q=n_q,
            n_v=n,
            n_constraints=m,
            rotates=int(rotates),
            length=length,
            term_values=np.zeros(sum(entries) + n_motion),
            model=np.zeros(2 * k * k + 3 * k + 1),
            sent=np.zeros((HIGHEST_ORDER + 1, k)),
            wanted=np.zeros(n_motion),
            work=np.zeros(functions().interface_work(n, k, m)),
            change=np.zeros(n),
        )
        self._motion = self.arrays["term_values"][sum(entries) :]
        for key, names in (("velocity", part.names("velocity")), ("expected", expected_outputs(part))):
            if all(name in places for name in names):
                self.set(**{key: np.array([places[name] for name in names], np.int64)})

    @property
    def condition(self) -> float:
        """Condition number of the mobility."""
        return float(self.arrays["model"][-1])

    @property
    def taken(self) -> ReducedModel:
        """The model as it was taken last."""
        k = self.rows
        entries = np.split(self.arrays["model"].copy(), np.cumsum([k * k, k * k, k, k, k]))
        inertia, mobility, effective, inertial, acceleration, condition = entries
        matrices = inertia.reshape(k, k).T, effective, inertial, mobility.reshape(k, k).T
        return ReducedModel(*matrices, acceleration, self._split(self._motion), float(condition[0]))

    def put(self, model: ReducedModel, further: Array | None = None) -> None:
        """A model that a unit gave by itself; further: c1, c2, ... of its acceleration."""
        parts = (model.inertia.T.ravel(), model.mobility.T.ravel(), model.effective_force, model.inertial_force)
        self.arrays["model"][:] = np.concatenate([*parts, model.acceleration, [model.condition]])
        self._motion[:] = flatten_motion(model.motion)
        courses = [model.acceleration] if further is None else [model.acceleration, *further]
        self.arrays["sent"][: len(courses)] = courses
        self.fields.n_sent = len(courses)

    @property
    def course(self) -> Array:
        """c1, c2, ... of the acceleration sent last, (order, k)."""
        return self.arrays["sent"][1 : self.fields.n_sent].copy()

    @property
    def goal(self) -> InterfaceMotion | None:
        """The motion that this side goes on with, or that of the far side behind a stiffness; None: its own."""
        return self._split(self.arrays["wanted"]) if self.fields.moves else None

    def set_goal(self, motion: InterfaceMotion | None) -> None:
        self.fields.moves = int(motion is not None)
        if motion is not None:
            self.arrays["wanted"][:] = flatten_motion(motion)

    def _split(self, values: Array) -> InterfaceMotion:
        """Position, velocity and rotation, as they stand behind one another."""
        k, n = self.rows, min(self.rows, 3)
        values = values.copy()
        rotation = values[n + k :].reshape(3, 3) if len(values) > n + k else None
        return InterfaceMotion(values[:n], values[n : n + k], rotation)


def flatten_motion(motion: InterfaceMotion) -> Array:
    """Position, velocity and rotation row by row, one behind the other."""
    rotation = np.zeros(0) if motion.rotation is None else motion.rotation.ravel()
    return np.concatenate([motion.position, motion.velocity, rotation])


def invert(S: Array) -> Array:
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

    def __init__(self, system: System, extra: Mapping[str, SX] | None = None, implicit: Collection[str] = ()) -> None:
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

    def port(self, name: str, places: Mapping[str, int], length: float) -> PortTerms:
        """An interface in the engine's memory, which belongs to one run."""
        sizes = self.system.n_q, self.system.n_v, len(self.system.motion.constraint_forces)
        port = PortTerms(self.ports[name].interface, places, sizes, length)
        port.set(terms=self.kernel(f"terms:{name}").address)
        return port


def _motion(port: Port) -> list[SX]:
    turned = [ca.vec(port.rotation.T)] if port.rotation is not None else []
    return [port.position, port.velocity, *turned]


def _terms(system: System, port: Port, implicit: bool) -> list[SX]:
    """M, c, f, A_i, A_i' v, A_c, A_c' v, which constraints hold, and N."""
    assert system.motion.mechanics is not None
    attached = [other for other in system.motion.ports if other.inertia is not None]
    rotors = system.motion.rotors[: len(system.motion.rotors) - len(attached)]
    # What is attached rigidly elsewhere is felt here: its force is part of f, so that its inertia must be part of M.
    others = [(other.inertia, other.A) for other in attached if other is not port]
    M = build_mass_matrix(system.motion.mechanics.tree, system.q, [*rotors, *others])
    f = system.expressions.applied - port.A.T @ port.acting
    if implicit:
        M, f = _foresee(system, M, f)
    k = len(system.motion.constraint_forces)
    rates = system.expressions.constraints[k:] if k else SX(0, 1)
    A_c = ca.jacobian(rates, system.v)
    drift_c, active = system.expressions.constraint_drift, system.expressions.active
    return [M, system.bias, f, port.A, port.drift, A_c, drift_c, active, system.N]


def _foresee(system: System, M: SX, f: SX) -> tuple[SX, SX]:
    """M and f of a linearly implicit midpoint step of length h, whose forces are those in the middle of it.

        (M - h/2 b_v - h^2/4 b_q) v' = b + h/2 (b_q v + b_t),    b = f - c

    What gyroscopic forces add to M, which no inertia can be, is left out.
    """
    half, b = system.symbols.p[system.places[STEP]] / 2, f - system.bias
    by_v, by_q = ca.jacobian(b, system.v), ca.jacobian(b, system.q) @ system.N
    change = half * by_v + half**2 * by_q
    return M - (change + change.T) / 2, f + half * (by_q @ system.v + ca.jacobian(b, system.symbols.t))


def reduce_system(system: System, interface: str, x: Array) -> ReducedModel:
    """The reduced interface model of a system at a state, at the time 0 and with its numbers as described.

    Args:
        x: continuous states in the order of `system.states`.
    """
    ports = PortFunctions(system)
    _, d, m, values = system.described
    port = ports.port(interface, {}, 1.0)
    inputs = np.zeros(1), np.asarray(x, float), d, m, ports.module.prepare(values)
    port.arrays["term_values"][:] = ports.kernel(f"terms:{interface}")(*inputs)
    functions().interface_reduce(port.address)
    return port.taken


JOININGS = ("inertia", "mean", "none")
"""Each side moves by the other's share of the inertia, both move halfway, or each keeps its own motion."""
CLOSING_STEPS = 4
"""Newton steps that join an interface at the start, at most."""


def quaternions(system: System) -> Array:
    """Where quaternions of balls stand among the states: the first entry and the one behind the last of each, (n, 2).

    Moved along their tangents they need the length 1 again.
    """
    first, places = 0, []
    for freedom in system.machine.any_mechanism.freedoms:
        end = first + len(freedom.positions)
        places += [] if freedom.is_single else [(first, end)]
        first = end
    return np.array(places, np.int64).reshape(-1, 2)
