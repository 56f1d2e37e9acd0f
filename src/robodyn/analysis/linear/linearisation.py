"""Linearisation: A, B, C, D of a system about an operating point, with exact derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import qr

from robodyn.analysis.jumps import Jump, describe_leaps, describe_staircases, find_staircases, smooth_expressions
from robodyn.analysis.point_functions import OperatingPoint as OperatingPoint
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base import Array, FlawList, frozen, nearest, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.system import FREE, INPUTS, Expressions
from robodyn.computation.native import find_rough_entries, read_program
from robodyn.computation.results import Run
from robodyn.computation.simulation import find_equilibrium
from robodyn.computation.simulation.equilibrium import Balance, share_balance
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model.numbers import XYZ

from .linear_model import DelayedSignal, LinearModel, Variable

# --------------------------------------------------------------------------------------------------
# Operating point: where is a system linearised? Time, states, delayed signals, memory and parameters.


# "equilibrium", "start", a run (its end), a run and a time of it [s], values of states and memory by name, or a point
# found before.
Place = str | Run | tuple[Run, float] | Mapping[str, float] | OperatingPoint


def find_point(
    system: System, at: Place, parameters: Mapping[str, float] | None = None, balance: Balance | None = None
) -> OperatingPoint:
    """The operating point that `at` names.

    Delayed signals that are not recorded are taken as settled: d = w(x, d).

    Args:
        at: "equilibrium" | "start" | a run (its end) | (run, time [s]) | a point found before, whose parameters do
            not count | values by name of states and memory, the rest as the scenario starts.
        parameters: tunable numbers to change; balance: the equations of rest, where they are there already.
    """
    changes = dict(parameters or {})
    p = system.parameter_values(changes)
    if changes:
        # The descriptions check themselves: a negative mass is refused here as it is anywhere else.
        system.scenario.with_numbers(changes)
    if isinstance(at, OperatingPoint):
        point = replace(at, p=p)
        for part, infos in (("x", system.states), ("d", system.delays), ("m", system.memory)):
            count = getattr(point, part).size
            if count != len(infos):
                what = f"has {count} values of {part}, the system {len(infos)}"
                refuse("at", what, "give a point of the same system", "operating point")
        return point
    if at == "equilibrium" or (at == "start" and system.scenario.initialisation == "at_rest"):
        equilibrium = find_equilibrium(system, parameters=changes, balance=balance)
        return OperatingPoint(0.0, equilibrium.x, equilibrium.d, equilibrium.m, p)
    t, values = _values_at(system, at)
    described = search_start(system, p).x if at == "start" else [state.start for state in system.states]
    x = np.array([values.get(s.name, start) for s, start in zip(system.states, described, strict=True)], float)
    m = np.array([values.get(memory.name, memory.start) for memory in system.memory], float)
    return OperatingPoint(t, x, _settle(system, t, x, m, p, values), m, p)


def hold_outputs(system: System, patterns: Sequence[str], at: Place) -> tuple[System, Mapping[str, float]]:
    """A system in which some outputs of blocks stay as they are at an operating point, and the point by name.

    A valve whose controller's output is held stays where it holds the machine: what is left are the oil and the masses.

    Args:
        patterns: of output names, such as `*.control.current`, or of blocks.
    """
    from fnmatch import fnmatchcase

    blocks = system.scenario.machine.all_blocks
    own = {f"{block.name}.{key}" for block in blocks for key in (*block.state_names, *block.memory_names)}
    own |= {f"{name}_dot" for name in own}
    owners = {name: name.rpartition(".")[0] for name in system.signal_names}
    named = {block.name for block in blocks}
    outputs = [name for name in system.signal_names if owners[name] in named and name not in own]
    flaws, chosen = FlawList(), dict[str, None]()
    for pattern in patterns:
        matches = [name for name in outputs if fnmatchcase(name, pattern) or fnmatchcase(owners[name], pattern)]
        if not matches:
            flaws.add(f"hold.{pattern}", "is not an output of a block", nearest(pattern, outputs))
        chosen |= dict.fromkeys(matches)
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
    point = find_point(system, at)
    values = PointFunctions(system, {"outputs": system.expressions.outputs}, quick=True)("outputs", point)
    signals = dict(zip(system.signal_names, values.tolist(), strict=True))
    held = assemble(system.scenario, inputs={name: signals[name] for name in chosen})
    held = held if system.friction else held.without_friction
    there = system.name_states(point.x)
    there |= {info.name: value for info, value in zip(system.memory, point.m.tolist(), strict=True)}
    return held, there


def _values_at(system: System, at: Place) -> tuple[float, dict[str, float]]:
    """Time and values by name; friction that sticks is left open where they do not say what it does."""
    open_friction = dict.fromkeys(system.stick_directions, FREE)
    if isinstance(at, Mapping):
        flaws = FlawList()
        names = [*system.state_names, *(memory.name for memory in system.memory)]
        flaws.add_unknown(at, names, "there is no such state", "at")
        for name, value in at.items():
            if not np.isfinite(value):
                flaws.add(f"at.{name}", f"must be a finite number, is {value}")
        flaws.raise_if_any("operating point")
        return 0.0, open_friction | {name: float(value) for name, value in at.items()}
    if isinstance(at, Run):
        missing = [name for name in system.state_names if name not in at.end]
        if missing:
            what = f"has no end value of {', '.join(missing[:3])}"
            refuse("at", what, "give a run of the same machine", "operating point")
        recorded = {delay.name: at[delay.name].final for delay in system.delays if delay.name in at}
        return at.outcome.time, dict(at.end) | recorded
    if isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], Run):
        return float(at[1]), _recorded_values(system, *at)
    if isinstance(at, str) and at == "start":
        return 0.0, open_friction
    what = f"must be 'equilibrium', 'start', a run, (run, time) or values by name, is {at!r}"
    refuse("at", what, source="operating point")


def _recorded_values(system: System, run: Run, time: float) -> dict[str, float]:
    """Values at a time of a run; memory that is no signal is read by sampled tasks alone."""
    names = [*system.state_names, *(info.name for info in system.memory if not info.hidden)]
    missing = [name for name in names if name not in run]
    if missing:
        what = f"the run has not recorded {', '.join(missing[:3])}"
        refuse("at", what, "record all states", "operating point")
    recorded = [name for name in (*names, *(delay.name for delay in system.delays)) if name in run]
    return {name: float(run[name](time)) for name in recorded}


def _settle(system: System, t: float, x: Array, m: Array, p: Array, known: Mapping[str, Any]) -> Array:
    """Delayed signals: the known ones, and for the others what goes into the delay now."""
    delays = system.delays
    d = np.array([known.get(delay.name, 0.0) for delay in delays], float)
    free = np.array([delay.name not in known for delay in delays], bool)
    if not free.any():
        return d
    functions = PointFunctions(system, {"delayed": system.expressions.delayed})
    # A delayed signal may depend on others: each round settles at least one more.
    for _ in delays:
        d = np.where(free, functions("delayed", OperatingPoint(t, x, d, m, p)), d)
    return d


# --------------------------------------------------------------------------------------------------
# Tangent space: which small deviations does a state have, where orientations are quaternions?
#
#     dx = T dz,   dz = T^+ dx,   dz' = (T^+ A T + d(T^+)/dt T) dz
#
# The deviation of an orientation is a small rotation in the child's axes, `base.rotation.x` ...; of all other states
# it is that of the state itself. The length of a quaternion means nothing and has no part in it.


@frozen(eq=False)
class Tangent:
    """Deviations z of some states x at a point of a motion.

    Attributes:
        into: T, (n_x, n_z); out: T^+, (n_z, n_x); turning: d(T^+)/dt T, (n_z, n_z).
    """

    variables: tuple[Variable, ...]
    into: Array
    out: Array
    turning: Array


def find_tangent(system: System, x: Array, x_dot: Array, states: Sequence[int]) -> Tangent:
    """The deviations of states at x, which changes by x_dot; both in the order of `states`."""
    names = [system.states[k].name for k in states]
    freedoms = system.scenario.machine.any_mechanism.freedoms
    balls = [ball for ball in freedoms if not ball.is_single and next(iter(ball.positions)) in names]
    inside = {name for ball in balls for name in ball.positions}
    variables: list[Variable] = []
    columns, rows, rates = [], [], []
    size = len(names)
    for k, name in enumerate(names):
        if name not in inside:
            variables.append(Variable(name, system.states[states[k]].unit, float(x[k])))
            unit = np.eye(size)[:, [k]]
            columns.append(unit)
            rows.append(unit.T)
            rates.append(np.zeros((1, size)))
        elif ball := next((b for b in balls if next(iter(b.positions)) == name), None):
            part = slice(k, k + 4)
            variables += [Variable(f"{ball.name}.rotation.{axis}", "rad", 0.0) for axis in XYZ]
            lift = np.eye(size)[:, part]
            length = float(x[part] @ x[part])
            columns.append(lift @ _rates(x[part]))
            # N^T N is a quarter of the squared length.
            rows.append(4.0 / length * _rates(x[part]).T @ lift.T)
            rates.append(4.0 / length * _rates(x_dot[part]).T @ lift.T)
    into = np.hstack([np.zeros((size, 0)), *columns])
    out = np.vstack([np.zeros((0, size)), *rows])
    turning = np.vstack([np.zeros((0, size)), *rates]) @ into
    return Tangent(tuple(variables), into, out, turning)


def positions_by(system: System, x: Array) -> tuple[Array, tuple[str, ...]]:
    """Changes of the positions q by their deviations, (n_q, n_v), and the names of these."""
    n = system.n_q
    tangent = find_tangent(system, x[:n], np.zeros(n), range(n))
    return tangent.into, tuple(variable.name for variable in tangent.variables)


def _rates(q: Array) -> Array:
    """N(q): rates of a quaternion by the angular velocity in the child's axes, (4, 3)."""
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


# --------------------------------------------------------------------------------------------------
# Notes on a linearisation: what is held, what moves, where is the system not smooth?


# Part of a state's magnitude by which it is moved to look for kinks; the jump of a slope that is one, as part of the
# largest slope of the same row a wider step away: smooth laws change much less over such a distance.
KINK_STEP, KINK_JUMP, WIDE_STEP, ROUNDING = 1e-9, 1e-3, 1e-3, 1e-9
# A rate beyond this part of what its slopes make of the states' magnitudes is one of motion.
REST = 1e-6
MOST_NAMES = 5
WAYS = 3
"""On which all states are moved at once: two kinks may hide each other on one way, not on all."""


def describe_notes(slopes: Slopes) -> tuple[str, ...]:
    """Sentences on what a linear model leaves out or takes as it is."""
    staircases = slopes.parts.staircases
    notes = [note for note in (describe_staircases(staircases), describe_leaps(staircases)) if note]
    # States with a rate.
    n = slopes.parts.n
    size = np.abs(slopes.matrix[:n, :n]) @ np.maximum(slopes.nominal, np.abs(slopes.point.x[:n]))
    moving = [slopes.parts.system.state_names[k] for k in np.flatnonzero(np.abs(slopes.values[:n]) > REST * size)]
    inputs = slopes.parts.inputs
    columns = slopes.matrix.T[slopes.matrix.shape[1] - len(inputs) :]
    idle = [name for name, column in zip(inputs, columns, strict=True) if not column.any()]
    for sentence, names in (
        ("outputs of sampled blocks are held", [task.name for task in slopes.parts.system.discrete.tasks]),
        ("sticking dry friction is left out", list(_friction(slopes, FREE))),
        ("friction holds it at rest", list(_friction(slopes, 0.0))),
        ("not at rest", moving),
        ("without effect at this operating point", idle),
        ("a slope jumps exactly there; the model has one side of it", list(_kinks(slopes))),
    ):
        if names:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            notes.append(f"{sentence}: {', '.join(names[:MOST_NAMES])}{more}")
    return tuple(notes)


def _friction(slopes: Slopes, direction: float) -> Iterator[str]:
    """Blocks of friction that sticks and now have this direction."""
    system = slopes.parts.system
    for info, value in zip(system.memory, slopes.point.m, strict=True):
        if info.name in system.stick_directions and value == direction:
            yield info.name.removesuffix(".direction")


def _kinks(slopes: Slopes) -> Iterator[str]:
    """States at whose present value a slope jumps: friction at rest, the corner of a table, a limit."""
    x, rough = slopes.point.x, slopes.parts.rough_states
    sides = np.zeros((len(rough), x.size))
    sides[range(len(rough)), rough] = (slopes.nominal + np.abs(x[: slopes.parts.n]))[rough]
    # A way on which all of them move crosses every kink that one of them does: mostly there is none.
    ways = np.random.default_rng(0).uniform(0.5, 1.0, (WAYS, len(rough))) * [(-1) ** k for k in range(len(rough))]
    if not any(_jumps(slopes, way @ sides, anywhere=True) for way in ways):
        return
    for k, side in zip(rough, sides, strict=True):
        state = slopes.parts.system.states[k]
        if _jumps(slopes, side):
            yield f"{state.name} = {x[k]:.6g} {state.unit}".rstrip()


def _jumps(slopes: Slopes, side: Array, anywhere: bool = False) -> bool:
    """Whether a slope is another one on both sides of the operating point.

    Args:
        anywhere: whether small ones count that only the wider step makes large: it may reach what one state does not.
    """
    n, x = slopes.parts.n, slopes.point.x
    near, far = (
        [slopes.at(x + sign * part * side)[:, :n] * slopes.nominal for sign in (1, -1)]
        for part in (KINK_STEP, WIDE_STEP)
    )
    here, size = (np.abs(pair).max(axis=(0, 2))[:, None] for pair in (near, far))
    size = np.minimum(here, size) + ROUNDING * size if anywhere else size
    return bool(np.any(np.abs(near[0] - near[1]) > KINK_JUMP * size))


# --------------------------------------------------------------------------------------------------
# Linearisation: which linear model does a system have around an operating point? Exact derivatives, in native code.
#
# A = df/dx, B = df/dp, E = df/dd, and the same of the delayed signals and the outputs


def linearise(
    system: System,
    at: Place = "equilibrium",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
) -> LinearModel:
    """The linear model of a system around an operating point, by exact derivatives; delays stay delays.

    Memory of sampled blocks is held, friction that sticks is left out (without its viscous part) where the point does
    not say what it does, and book-keeping states that nothing depends on are left out; quantisers and other staircases
    have their mean slope. The model's notes say so, and also what is not at rest and where a slope jumps.

    Args:
        at: "equilibrium" | "start" | a run (its end) | (run, time [s]) | values of states and memory by name | the
            `point` of another model of the system.
        inputs: names of tunable numbers: setpoints, forces of loads, any parameter.
        outputs: names of signals.
        parameters: tunable numbers to change.
    """
    key = "linear", tuple(inputs), tuple(outputs)
    parts = system.kept.get(key)
    if parts is None:
        parts = Parts(system, *key[1:])
        parts.check()
        system.kept[key] = parts
    slopes = Slopes(parts, find_point(system, at, parameters, parts.balance))
    slopes.check()
    return replace(slopes.model(), notes=describe_notes(slopes))


@frozen
class Parts:
    """The rows [f, w, y] and columns [x, d, u] of a linear model in a system's expressions."""

    system: System
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def n(self) -> int:
        """States that count: all but the last ones that no rate and no delayed signal depends on."""
        rows = ca.vertcat(self.system.expressions.rhs, self.system.expressions.delayed)
        needed = ca.which_depends(rows, self.system.symbols.x, 1, False) if self.system.states else []
        return max((k + 1 for k, used in enumerate(needed) if used), default=0)

    def check(self) -> None:
        """Unknown inputs and outputs, and outputs of the book-keeping, are flaws."""
        system, flaws = self.system, FlawList()
        constants = [name for name in self.inputs if name in system.numbers and name not in system.places]
        for name in constants:
            flaws.add(f"inputs.{name}", "is a constant of the system", "name it in the machine's tunable")
        flaws.add_unknown(self.inputs, [*system.places, *constants], "there is no such number", "inputs")
        flaws.add_unknown(self.outputs, system.signal_names, "there is no such signal", "outputs")
        for name in set(self.outputs) & system.signal_units.keys():
            left_out = self.system.symbols.x[self.n :]
            if left_out.numel() > 0 and ca.depends_on(self.system.signal_expressions[name], left_out):
                flaws.add(f"outputs.{name}", "integrates along the motion", "choose a signal of the present state")
        for part, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            for name in sorted({name for name in names if names.count(name) > 1}):
                flaws.add(f"{part}.{name}", "is named twice", "name it once")
        if not self.n:
            flaws.add("states", "the system has none", "a linear model needs at least one")
        flaws.raise_if_any(f"scenario '{system.scenario.name}'")

    @cached_property
    def rough_states(self) -> list[int]:
        """Places of the states at which a slope can jump at all."""
        values = self.system.function(self._rows(self.system.expressions))
        return [k for k in find_rough_entries(read_program(values), INPUTS.index("x")) if k < self.n]

    @cached_property
    def staircases(self) -> tuple[Jump, ...]:
        """Blocks with steps."""
        return find_staircases(self.system.scenario)

    def _rows(self, expressions: Expressions) -> ca.SX:
        outputs = [expressions.outputs[self.system.signal_names.index(name)] for name in self.outputs]
        return ca.densify(ca.vertcat(expressions.rhs[: self.n], expressions.delayed, *outputs))

    @cached_property
    def functions(self) -> PointFunctions:
        """Values of the rows, and their derivatives by the columns."""
        symbols, places = self.system.symbols, self.system.places
        chosen = [symbols.p[places[name]] for name in self.inputs]
        columns = ca.vertcat(symbols.x[: self.n], symbols.d, *chosen)
        smooth = self._rows(smooth_expressions(self.system, self.staircases))
        values = {"values": self._rows(self.system.expressions)}
        return PointFunctions(self.system, values, (smooth, columns), quick=True)

    @cached_property
    def balance(self) -> Balance | None:
        """The equations of rest, which the rows of the model hold unless staircases are smoothed in it."""
        module, n = self.functions.module, self.n
        values, slopes = module.kernels["values"], module.kernels["slopes"]

        def jacobian(*at: Array) -> Array:
            return np.array(slopes(*at)).reshape((values.out_sizes[0], -1), order="F")[:n, :n]

        return None if self.staircases else share_balance(self.system, module, lambda *at: values(*at)[:n], jacobian)


class Slopes:
    """Values of the rows and their derivatives by the columns, in native code, at an operating point."""

    def __init__(self, parts: Parts, point: OperatingPoint) -> None:
        self.parts, self.point = parts, point
        self.values = parts.functions("values", point)
        self.matrix = parts.functions.slopes(point)
        # Typical magnitudes of the states, 1 where there is none.
        nominal = np.array([state.nominal for state in parts.system.states[: parts.n]])
        self.nominal = np.where(np.isfinite(nominal), nominal, 1.0)

    def at(self, x: Array) -> Array:
        """Derivatives with the states at x, the rest as at the operating point."""
        return self.parts.functions.slopes(replace(self.point, x=x))

    def check(self) -> None:
        """Refuse values and derivatives that are not numbers, and say of what by what."""
        flaws = FlawList()
        system = self.parts.system
        states, delays = system.state_names[: self.parts.n], [delay.name for delay in system.delays]
        rows = [f"rate of {name}" for name in states] + [f"what {name} delays" for name in delays]
        rows, columns = [*rows, *self.parts.outputs], [*states, *delays, *self.parts.inputs]
        for k in np.flatnonzero(~np.isfinite(self.values)):
            flaws.add(rows[k], f"is {self.values[k]} at this operating point", "choose another one")
        for i, j in np.argwhere(~np.isfinite(self.matrix)):
            what = f"its derivative by {columns[j]} is {self.matrix[i, j]} at this operating point"
            flaws.add(rows[i], what, "choose another one")
        flaws.raise_if_any(f"scenario '{system.scenario.name}'")

    def model(self) -> LinearModel:
        """The derivatives cut into matrices, with names, units and values."""
        parts, point = self.parts, self.point
        system, n, n_d = parts.system, parts.n, len(parts.system.delays)
        rows = np.split(self.matrix, [n, n + n_d])
        (A, E, B), (F, H, G), (C, K, D) = (np.split(block, [n, n + n_d], axis=1) for block in rows)
        # By small rotations instead of quaternions.
        tangent = find_tangent(system, point.x[:n], self.values[:n], range(n))
        A, E, B = tangent.out @ A @ tangent.into + tangent.turning, tangent.out @ E, tangent.out @ B
        F, C = F @ tangent.into, C @ tangent.into
        units = system.signal_units
        numbers = {number.name: number.unit for number in system.parameters}
        values = dict(zip(numbers, point.p.tolist(), strict=True))
        outputs = zip(parts.outputs, self.values[n + n_d :].tolist(), strict=True)
        # Times of delays that are tunable count as they are now.
        times = {delay.name: values.get(f"{delay.owner}.time", delay.time) for delay in system.delays}
        return LinearModel(
            *(A, B, C, D, E, F, G, H, K),
            states=tangent.variables,
            inputs=tuple(Variable(name, numbers[name], values[name]) for name in parts.inputs),
            outputs=tuple(Variable(name, units[name], value) for name, value in outputs),
            delays=tuple(DelayedSignal(name, time, units.get(name, "")) for name, time in times.items()),
            point=point,
        )


# --------------------------------------------------------------------------------------------------
# Linearisation under constraints: which model does a machine have in as few coordinates as it can move in?
#
# Linearised in all coordinates, a machine with k constraint equations has 2 k states too many: errors of the
# constraints and of their rates, which decay by themselves. Motions that keep the constraints,
#
#     [dh/dq  0    ] [dq]
#     [dh'/dq dh/dq] [dv] = 0,   dx = N dy,
#
# never leave this space, so that y' = S A N y + S B u, where y are some of the states themselves and S picks them.


RANK = 1e-8
"""Part of the largest gradient below which an equation says nothing new."""
STILL = 1e-7
"""Part of its size by which an input may move the constraints: rounding."""


def reduce_constraints(model: LinearModel, system: System, keep: Sequence[str] = ()) -> LinearModel:
    """A linear model in coordinates that the constraints leave free, from one in all coordinates.

    Args:
        model: `linearise(system, ...)`, at a point where the constraints are met.
        keep: joints whose position and velocity are to be states; the rest is chosen so that they move most.

    Raises:
        ModelError: when the system has no constraints, the kept joints do not determine the motion, or an input moves
            the constraints.
    """
    flaws, point, n = FlawList(), model.point, model.order + system.n_q - system.n_v
    if not system.motion.constraint_forces:
        what = f"'{system.scenario.name}' has no constraints"
        flaws.add("system", what, "its linear model is in free coordinates as it is")
    if point is None:
        flaws.add("model", "does not know its operating point", "use one of `linearise`")
    flaws.raise_if_any("linear model")
    assert point is not None

    # Positions and velocities of the kept joints among the states, which are those of the system.
    tangent = find_tangent(system, point.x[:n], np.zeros(n), range(n))
    names = [state.name for state in model.states]
    joints = [name.removesuffix(".position") for name in names if name.endswith(".position")]
    if names != [variable.name for variable in tangent.variables]:
        flaws.add("model", "is not one of this system in all its coordinates", "use `linearise(system, ...)`")
    flaws.add_unknown(keep, joints, "is not a moving joint", "keep")
    flaws.raise_if_any("linear model")
    places = [names.index(f"{joint}.{part}") for part in ("position", "velocity") for joint in keep]

    # Derivatives of all constraints and their rates by the model's states, (2 k, order), and inputs.
    columns = [system.symbols.x[:n], *(system.symbols.p[system.places[one.name]] for one in model.inputs)]
    matrix = PointFunctions(system, {}, (system.expressions.constraints, ca.vertcat(*columns))).slopes(point)
    by_states, by_inputs = matrix[:, :n] @ tangent.into, matrix[:, n:]
    N, chosen = free_motions(by_states, places)

    # An input that changes a constraint itself, or drives its error, has no place in free coordinates.
    driven = by_states @ model.B
    size = np.abs(by_states).max() * np.abs(model.B).max(axis=0, initial=0.0)
    for k, variable in enumerate(model.inputs):
        if by_inputs[:, k].any() or np.any(np.abs(driven[:, k]) > STILL * size[k]):
            flaws.add(f"inputs.{variable.name}", "moves the constraints", "linearise in all coordinates instead")
    flaws.raise_if_any("linear model")
    count = len(system.motion.constraint_forces)
    note = f"reduced from {model.order} states to the {len(chosen)} that {count} constraints leave free"
    return replace(
        model,
        A=(model.A @ N)[chosen],
        B=model.B[chosen],
        E=model.E[chosen],
        C=model.C @ N,
        F=model.F @ N,
        states=tuple(model.states[k] for k in chosen),
        notes=(*model.notes, note),
    )


def free_motions(gradients: Array, first: Sequence[int] = ()) -> tuple[Array, list[int]]:
    """Motions that keep linear constraints, as a function of some of the states: x = N x[chosen].

    Args:
        gradients: (2 k, n); first: states to choose before others.
    """
    _, sizes, Vh = np.linalg.svd(gradients)
    rank = int(np.sum(sizes > RANK * sizes.max(initial=0.0)))
    basis = Vh[rank:].T
    # Rows that determine all others: the first ones as named, the rest by pivots (those that move most).
    forced, free = list(first), basis
    if forced:
        R = qr(basis[forced].T, mode="r")[0]
        if len(forced) > basis.shape[1] or np.abs(np.diag(R)).min() < RANK:
            refuse("keep", "these joints do not move independently", "name fewer of them")
        Q = np.linalg.qr(basis[forced].T)[0]
        free = basis - basis @ Q @ Q.T
    pivots = qr(free.T, mode="r", pivoting=True)[1]
    chosen = sorted([*forced, *pivots[: basis.shape[1] - len(forced)].tolist()])
    return np.linalg.solve(basis[chosen].T, basis.T).T, chosen
