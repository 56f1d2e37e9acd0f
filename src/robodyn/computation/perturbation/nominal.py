"""Nominal motion of a scenario: positions, torques by inverse dynamics, linear equations along it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, FlawList, frozen, refuse, report_progress
from robodyn.base.symbolic import to_column
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import bias, inverse_dynamics
from robodyn.computation.native import KernelModule, compile_kernels, read_program
from robodyn.description.model import XYZ

# --------------------------------------------------------------------------------------------------
# Scope of the linearisation: what of a system is linearised along its nominal motion, what is kept as it is?
#
# Linear become the mechanism itself, coordinates and points that do not depend linearly on the joints, loads, and
# forces on such coordinates that positions and velocities alone decide (a spring between two points). Everything else
# is kept in full: friction, drives, controllers, springs on joints and on combinations of joints.


@frozen
class LinearisationScope:
    """A system that has a nominal motion.

    Attributes:
        signals: those of coordinates and points that become linear; folded: forces (coordinate, signal) that do.
        curved: coordinates with forces that are kept in full: their gradients change with the deviation too.
    """

    system: System
    signals: tuple[str, ...]
    folded: tuple[tuple[str, str], ...]
    curved: tuple[str, ...]

    @property
    def expressions(self) -> Mapping[str, SX]:
        """Every signal as an expression in the system's symbols."""
        return self.system.signal_expressions

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(state.name.removesuffix(".position") for state in self.system.states[: self.system.n_q])


def find_scope(system: System) -> LinearisationScope:
    """Find the parts of a system that are linearised.

    Raises:
        ModelError: where it has no nominal motion, or closed loops, or friction that sticks to a curved coordinate.
    """
    _check_kind(system)
    varying = [name for name, s in system.motion.coordinates.items() if _is_curved(system, s)]
    bare = LinearisationScope(system, (), (), ())
    forces = [force for force in system.motion.forces if force[0] in varying]
    folded = tuple(force for force in forces if _is_geometric(system, bare.expressions[force[1]]))
    curved = tuple(dict.fromkeys(target for target, signal in forces if (target, signal) not in folded))
    signals = [f"{name}.{quantity}" for name in varying for quantity in ("position", "velocity")]
    for point in system.machine.any_mechanism.points:
        for axis in XYZ:
            if _is_curved(system, bare.expressions[f"{point.name}.position.{axis}"]):
                signals += [f"{point.name}.{quantity}.{axis}" for quantity in ("position", "velocity")]
    flaws = FlawList()
    for block in system.machine.all_blocks:
        if block.info.sticks and block.on in varying:
            what = f"sticks on '{block.on}', which does not depend linearly on the joints"
            flaws.add(f"blocks.{block.name}", what, "use a friction law with bristles, such as lugre_friction")
    flaws.raise_if_any(f"nominal motion of '{system.scenario.name}'")
    return LinearisationScope(system, tuple(signals), folded, curved)


def _is_curved(system: System, position: SX) -> bool:
    """Whether the gradient of a position changes with the joints."""
    return bool(ca.depends_on(ca.jacobian(position, system.q), system.q))


def _is_geometric(system: System, force: SX) -> bool:
    """Whether positions, velocities, time and numbers alone decide a force."""
    other = system.symbols.x[system.n_q + system.n_v :]
    return not ca.depends_on(force, ca.vertcat(other, system.symbols.d, system.symbols.m))


def _check_kind(system: System) -> None:
    flaws = FlawList()
    scenario = system.scenario
    if system.motion.mechanics is None:
        flaws.add("joints", "there are none", "only the motion of a mechanism is linearised")
    elif not scenario.nominal:
        remedy = "name the reference position signal of each moving joint"
        flaws.add("nominal", "is missing: there is no motion to linearise about", remedy)
    for freedom in (one for one in scenario.machine.any_mechanism.freedoms if not one.is_single):
        what = "is a ball joint, whose orientation is not linearised along a motion"
        flaws.add(f"joints.{freedom.name}", what, "use revolute joints, or simulate the scenario itself")
    if scenario.machine.all_constraints:
        what = "close kinematic loops, whose joints have no own reference: they are not linearised along a motion"
        flaws.add("constraints", what, "simulate the scenario itself")
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


# --------------------------------------------------------------------------------------------------
# Linearised equations along a nominal motion: exact derivatives of the traced ones, in native code.
#
#     e(t, q, v, a) = M(q) a + c(q, v) - sum over folded forces (ds/dq)^T f - loads
#     M0 = de/da,   C0 = de/dv,   K0 = de/dq = structural + geometric + dynamic
#
# structural: the folded forces change with the lengths they act on; geometric: gravity, loads and these forces rotate
# with the links, as they are; dynamic: so do the inertia forces of the nominal motion.


PARAMETERS = 4
"""Number of the input that holds the parameters, after t, q, v, a."""


@frozen
class LinearisedEquations:
    """Functions of (t, q, v, a, p) along a nominal motion, and where their results have entries at all.

    Attributes:
        motion: columns q0, v0, a0 of t and p.
        carried: joints on which folded forces or loads act.
        terms: name -> matrix or column in (t, q, v, a, p), see `express_terms`.
    """

    scope: LinearisationScope
    a: SX
    motion: Mapping[str, SX]
    terms: Mapping[str, SX]
    carried: tuple[str, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs y: signals that become linear, and what folded forces and loads exert on joints."""
        return (*self.scope.signals, *(f"{joint}.carried" for joint in self.carried))

    @cached_property
    def functions(self) -> dict[str, ca.Function]:
        system = self.scope.system
        inputs = [system.symbols.t, system.q, system.v, self.a, system.symbols.p]
        return {
            name: ca.Function(name, inputs, [ca.densify(part) for part in getattr(self, name).values()])
            for name in ("motion", "terms")
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
        names = [*self.scope.system.places]
        nodes = {node for program in self._programs for node in program.nodes if node[0] == "input"}
        return tuple(names[k] for k in sorted(node[2] for node in nodes if node[1] == PARAMETERS))

    def evaluate(self, name: str, inputs: tuple[Array, ...]) -> dict[str, Array]:
        """All parts of a function, in their shapes."""
        columns = zip(getattr(self, name).items(), self.module.kernels[name](*inputs), strict=True)
        return {key: column.reshape(part.shape, order="F") for (key, part), column in columns}


def derive_equations(scope: LinearisationScope) -> LinearisedEquations:
    """The equations of a system along its nominal motion."""
    system, t = scope.system, scope.system.symbols.t
    nominal = system.scenario.nominal
    # Modes are not named there: nominally, nothing deforms.
    q0 = ca.vertcat(*(scope.expressions[nominal[j]] if j in nominal else SX(0) for j in scope.joints))
    v0 = ca.jacobian(q0, t)
    a = SX.sym("a", system.n_v)
    motion = {"position": q0, "velocity": v0, "acceleration": ca.jacobian(v0, t)}
    carried = tuple(scope.joints[k] for k in _find_entries(_folded_forces(scope)[0]))
    return LinearisedEquations(scope, a, motion, express_terms(scope, a), carried)


def _find_entries(column: SX) -> list[int]:
    """Rows of a column that are not zero by structure."""
    return list(ca.sparsify(column).sparsity().row())


def express_terms(scope: LinearisationScope, a: SX) -> dict[str, SX]:
    """Everything that is kept of the equations at a point of the nominal motion.

    torque e (n,), torque_rate de/dt (n,); mass M0, damping C0, stiffness_structural, _geometric, _dynamic (n, n);
    outputs y (k,) with their derivatives outputs_by_position, outputs_by_velocity (k, n); curvature d2s/dq2 of
    coordinates whose forces are kept in full (n, n each, side by side).
    """
    system = scope.system
    q, v = system.q, system.v
    inertial, weight = _inverse_dynamics(system, a)
    torques, turning, changing = _folded_forces(scope)
    e = inertial + weight - torques
    carried = [torques[k] for k in _find_entries(torques)]
    y = to_column([*(scope.expressions[name] for name in scope.signals), *carried])
    bends = [ca.hessian(system.motion.coordinates[name], q)[0] for name in scope.curved]
    return {
        "torque": e,
        "torque_rate": ca.jacobian(e, system.symbols.t),
        "mass": system.mass_matrix,
        "damping": ca.jacobian(e, v),
        "stiffness_structural": -changing,
        "stiffness_geometric": ca.jacobian(weight, q) - turning,
        "stiffness_dynamic": ca.jacobian(inertial, q),
        "outputs": y,
        "outputs_by_position": ca.jacobian(y, q),
        "outputs_by_velocity": ca.jacobian(y, v),
        "curvature": ca.horzcat(SX(system.n_q, 0), *bends),
    }


def _inverse_dynamics(system: System, a: SX) -> tuple[SX, SX]:
    """Joint torques of inertia and of gravity."""
    assert system.motion.mechanics is not None
    tree = system.motion.mechanics.tree
    q, v, acceleration = (list(ca.vertsplit(column)) for column in (system.q, system.v, a))
    weight = SX(bias(tree, q, [SX(0)] * system.n_v))
    total = SX(inverse_dynamics(tree, q, v, acceleration))
    for inertia, gradient in system.motion.rotors:
        total = total + gradient.T @ (inertia @ (gradient @ a))
    return total - weight, weight


def _folded_forces(scope: LinearisationScope) -> tuple[SX, SX, SX]:
    """Joint torques of folded forces and loads, how they change where the links rotate under constant forces, and
    `(ds/dq)^T df/dq`, the change of the forces themselves."""
    system = scope.system
    q = system.q
    positions = to_column(system.motion.coordinates[target] for target, _ in scope.folded)
    forces = to_column(scope.expressions[signal] for _, signal in scope.folded)
    held = SX.sym("held", forces.numel())
    G = ca.jacobian(positions, q)
    constant = G.T @ held + (system.motion.loads if system.motion.loads.numel() else SX.zeros(system.n_v))
    total, by_position = ca.substitute([constant, ca.jacobian(constant, q)], [held], [forces])
    return total, by_position, G.T @ ca.jacobian(forces, q)


# --------------------------------------------------------------------------------------------------
# Knots of a nominal motion: at which instants is it taken? Evenly in time, and where it breaks.


BESIDE = 1e-10
"""Part of the duration beside a break at which the motion before and after it is taken."""


def place_knots(duration: float, points: int, breaks: Iterable[float]) -> tuple[Array, Array]:
    """Instants of a nominal motion, and which of them are breaks.

    `points` equal pieces of the duration; the knot nearest to each break is moved onto it, so that no piece has a kink
    inside.
    """
    if not isinstance(points, int) or points < 1:
        refuse("points", f"must be a whole number of at least 1, is {points!r}")
    knots = np.linspace(0.0, duration, points + 1)
    inside = sorted({float(time) for time in breaks if 0 < time < duration})
    if len(inside) > points - 1:
        what = f"{points} are too few for a motion with discontinuities at {len(inside)} instants"
        refuse("points", what, f"use at least {len(inside) + 1}")
    free = np.ones(points + 1, bool)
    free[[0, -1]] = False
    for time in inside:
        nearest = int(np.argmin(np.where(free, np.abs(knots - time), np.inf)))
        knots[nearest], free[nearest] = time, False
    order = np.argsort(knots, kind="stable")
    return knots[order], ~free[order]


def evaluation_times(knots: Array, breaks: Array) -> tuple[Array, Array]:
    """Times of all points, a break twice; and the instants where they are evaluated, a little before and after it."""
    beside = BESIDE * (knots[-1] - knots[0])
    times, instants = [knots[0]], [knots[0] + beside]
    for knot, broken in zip(knots[1:-1], breaks[1:-1], strict=True):
        times += [knot, knot] if broken else [knot]
        instants += [knot - beside, knot + beside] if broken else [knot]
    return np.array([*times, knots[-1]]), np.array([*instants, knots[-1] - beside])


POINTS = 400
"""Pieces that the duration is divided into."""


@frozen(eq=False)
class Nominal:
    """A nominal motion at the ends of its pieces (R rows), and the linear equations of small deviations from it.

        M0 a' + C0 v' + K0 q' = tau - torque,    y = outputs + outputs_by_position q' + outputs_by_velocity v'

    A time that occurs twice is a break: the first row belongs to the piece before, the second to the one after.

    Attributes:
        points: number of pieces asked for; joints, signals, curved: names of the columns of the arrays.
        position, velocity, acceleration, torque: q0, v0, a0 and what the motion needs without friction, (R, n).
        torque_rate: explicit change of the torque with time, where folded forces depend on it, (R, n).
        mass, damping, stiffness_structural, stiffness_geometric, stiffness_dynamic: M0, C0, parts of K0, (R, n, n).
        outputs: y of `signals`, where "joint.carried" is the torque of folded forces and loads on a joint, (R, k), with
            their derivatives outputs_by_position, outputs_by_velocity (R, k, n).
        curvature: d2s/dq2 of the coordinates `curved`, (R, n, n each, side by side).
        parameters: the numbers it depends on; digest: fingerprint of the equations.
    """

    points: int
    joints: tuple[str, ...]
    signals: tuple[str, ...]
    curved: tuple[str, ...]
    parameters: Mapping[str, float]
    digest: str
    times: Array
    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    torque_rate: Array
    mass: Array
    damping: Array
    stiffness_structural: Array
    stiffness_geometric: Array
    stiffness_dynamic: Array
    outputs: Array
    outputs_by_position: Array
    outputs_by_velocity: Array
    curvature: Array

    @property
    def stiffness(self) -> Array:
        """K0, all parts together, (R, n, n)."""
        return self.stiffness_structural + self.stiffness_geometric + self.stiffness_dynamic

    @property
    def duration(self) -> float:
        """The duration of the nominal motion [s]."""
        return float(self.times[-1])


COLUMNS = ("torque", "torque_rate", "outputs")
"""Terms that are columns; all others are matrices."""
ARRAYS = tuple(field.name for field in fields(Nominal) if field.type == "Array")
"""Fields that are arrays, one row a point."""


@report_progress("computing the nominal motion of")
def compute_nominal(
    system: System | LinearisedEquations, points: int = POINTS, parameters: Mapping[str, float] | None = None
) -> Nominal:
    """The nominal motion of a system, by inverse dynamics without friction and control.

    Args:
        system: as assembled, or its equations derived before, for many parameters.
        points: pieces that the duration is divided into; breaks of the reference move the nearest ends onto them.
        parameters: tunable numbers to change.
    """
    equations = system if isinstance(system, LinearisedEquations) else derive_equations(find_scope(system))
    traced = equations.scope.system
    p, scenario = traced.parameter_values(parameters or {}), traced.scenario
    values = dict(zip(traced.places, p.tolist(), strict=True))
    breaks = traced.discrete.break_times(traced.number_values | values, 0.0, scenario.duration)
    times, instants = evaluation_times(*place_knots(scenario.duration, points, breaks.tolist()))
    prepared = equations.module.prepare(p)
    rows = [_evaluate(equations, instant, prepared) for instant in instants]
    arrays: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    scope = equations.scope
    numbers = {name: values[name] for name in equations.parameters}
    names = (scope.joints, equations.outputs, scope.curved)
    return Nominal(points, *names, numbers, equations.digest, times=times, **arrays)


def _evaluate(equations: LinearisedEquations, instant: float, p: Array) -> dict[str, Array]:
    """Everything at one instant."""
    none = np.zeros(equations.scope.system.n_q)
    t = np.array([instant])
    motion = {name: part.ravel() for name, part in equations.evaluate("motion", (t, none, none, none, p)).items()}
    terms = equations.evaluate("terms", (t, *motion.values(), p))
    return motion | {name: part.ravel() if name in COLUMNS else part for name, part in terms.items()}
