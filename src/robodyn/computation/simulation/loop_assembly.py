"""Loop assembly: where are all constraints met? Positions and velocities near a guess, and other configurations.

h(q, t) = 0 by damped Newton, each step the shortest that meets the linearised equations; then h'(q, v, t) = 0.
Fixed start values take no part in the steps. Without a word of the scenario (its `keep`), every velocity that is given
stays, and of the positions that are given, in their order, as many as the constraints leave free. The other positions
are guesses: a loop that can be closed in two ways is closed in the one near to them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from robodyn.base import (
    Array,
    Flaw,
    FlawList,
    ModelError,
    frozen,
    limit_step,
    refuse,
    refuse_unknown,
    report_progress,
    solve_newton,
)
from robodyn.computation.assembly.declarations import StateInfo
from robodyn.computation.assembly.machine_size import size_machine
from robodyn.computation.assembly.system import INPUTS, System
from robodyn.computation.native import KernelModule, compile_kernels

CLOSED = 1e-9
"""Residual, and its rate as part of the largest speed, of equations that are met; lengths by that of the machine."""
NEWTON_STEPS = 100
LONGEST_STEP = 0.5
"""Largest change of a joint in one step [rad, or lengths of the machine]."""
RANK = 1e-10
"""Part of the largest singular value below which a direction does not count: singular positions."""
SAME = 1e-4
"""Largest difference of joint positions [rad, or lengths of the machine] of two assemblies that are the same."""


@frozen
class Assembled:
    """States at which the constraints are met, or as nearly as can be.

    Attributes:
        residuals: force signal of each equation -> what is left of it [m or rad]; rates: likewise of its rate.
        sizes: of the residuals, by which they are judged: 1 rad, or the machine's length [m].
        iterations: Newton steps taken; speed: the largest, likewise.
        problems: why they are not met, for people.
    """

    x: Array
    positions: Mapping[str, float]
    residuals: Mapping[str, float]
    rates: Mapping[str, float]
    sizes: Mapping[str, float]
    iterations: int
    speed: float = 1.0
    problems: tuple[Flaw, ...] = ()

    @property
    def residual(self) -> float:
        """Largest error of any constraint [m or rad]."""
        return max((abs(value) for value in self.residuals.values()), default=0.0)

    @property
    def closed(self) -> bool:
        """Whether positions and velocities keep all constraints."""
        left, fastest = (self._largest(values) for values in (self.residuals, self.rates))
        return left <= CLOSED and fastest <= CLOSED * self.speed

    def _largest(self, values: Mapping[str, float]) -> float:
        """The largest residual by the sizes of the equations."""
        return max((abs(value) / self.sizes[name] for name, value in values.items()), default=0.0)

    def require(self) -> Assembled:
        """Itself, if all constraints are met; else an error that says which are not, and by how much."""
        if self.closed:
            return self
        raise ModelError(self.problems or self.describe_left(), "assembly of the mechanism")

    def describe_left(self) -> tuple[Flaw, ...]:
        """The constraints that are not met, the worst first."""
        left = [
            (name, value, f"{value:.3g}")
            for name, value in self.residuals.items()
            if abs(value) > CLOSED * self.sizes[name]
        ]
        for name, value in self.rates.items() if not left else ():
            if abs(value) > CLOSED * self.speed * self.sizes[name]:
                left.append((name, value, f"a rate of {value:.3g}"))
        left.sort(key=lambda item: -abs(item[1]))
        return tuple(
            Flaw(f"constraints.{owner_of(name)}", f"cannot be met: {shown} is left of the equation of {name}")
            for name, _, shown in left
        )


def owner_of(force: str) -> str:
    """The constraint whose force a signal is."""
    return re.sub(r"\.(force|torque|tension)(\.\w+)?$", "", force)


@dataclass
class Equations:
    """Residuals, their rates and gradients at a point, in native code.

    Attributes:
        free: 1 for positions, then velocities, that may change, (n_q + n_v,).
    """

    system: System
    p: Array
    time: float
    module: KernelModule
    free: Array
    x: Array = field(init=False)
    m: Array = field(init=False)
    d: Array = field(init=False)

    def __post_init__(self) -> None:
        self.x, self.d, self.m, _ = self.system.described

    @property
    def names(self) -> list[str]:
        """The names of the positions and velocities."""
        return list(self.system.state_names[: self.system.n_q + self.system.n_v])

    def at(self, x: Array) -> tuple[Array, Array]:
        """Residuals on both levels (2 k,), and the gradients of the first by the positions (k, n_q)."""
        inputs = (np.array([self.time]), x, self.d, self.m, self.p)
        values = np.array(self.module.kernels["values"](*inputs))
        k = len(values) // 2
        return values, np.array(self.module.kernels["gradients"](*inputs)).reshape(self.system.n_q, k).T

    def slopes_at(self, x: Array) -> Array:
        """The gradients of the rates by the velocities (k, n_v)."""
        if "slopes" not in self.module.kernels:
            return self.at(x)[1]
        inputs = (np.array([self.time]), x, self.d, self.m, self.p)
        slopes = np.array(self.module.kernels["slopes"](*inputs))
        return slopes.reshape(self.system.n_v, -1).T

    def keeping(self, names: Sequence[str]) -> Equations:
        """These equations where some states keep their values."""
        return dataclasses.replace(self, free=np.array([name not in names for name in self.names], float))


def prepare_equations(system: System, parameters: Mapping[str, float] | None, time: float = 0.0) -> Equations:
    """The equations of all constraints in native code; there must be some."""
    if not system.motion.constraint_forces:
        flaw = Flaw("constraints", "there are none", "give the machine constraints, or start it as given")
        raise ModelError([flaw], system.scenario.name)
    module = compile_kernels(trace_closing(system), INPUTS.index("p"), quick=True)
    p = module.prepare(system.parameter_values(parameters or {}))
    return Equations(system, p, time, module, np.ones(system.n_q + system.n_v))


def trace_closing(system: System) -> dict[str, ca.Function]:
    """Residuals on both levels, and the gradients of the first by all positions, column by column; by the velocities
    too, where these are fewer."""
    values = ca.densify(system.expressions.constraints)
    h, columns = values[: len(system.motion.constraint_forces)], [*system.symbols]
    columns_by_name = {"values": values, "gradients": ca.vec(ca.densify(ca.jacobian(h, system.q)))}
    if system.has_balls or any(entry.is_zero() for entry in ca.vertsplit(h)):
        rates = values[len(system.motion.constraint_forces) :]
        columns_by_name["slopes"] = ca.vec(ca.densify(ca.jacobian(rates, system.v)))
    return {name: ca.Function(name, columns, [column]) for name, column in columns_by_name.items()}


def mark_joints(system: System) -> Array:
    """1 for positions and velocities of joints, 0 for those of modes, (n_q + n_v,)."""
    mechanism = system.scenario.machine.mechanism
    modes = {name for mode in (mechanism.modes if mechanism else ()) for name in (*mode.positions, *mode.velocities)}
    return np.array([state.name not in modes for state in system.states[: system.n_q + system.n_v]], float)


def close(equations: Equations, x: Array) -> Assembled:
    """Closed by the joints alone, where that is possible, otherwise with the modes of flexible bodies."""
    joints = mark_joints(equations.system)
    if np.all(joints):
        return _solve(equations, x)
    assembled = _solve(dataclasses.replace(equations, free=equations.free * joints), x)
    return assembled if assembled.closed else _solve(equations, x)


def _solve(equations: Equations, x: Array) -> Assembled:
    system, k, n = equations.system, len(equations.system.motion.constraint_forces), equations.system.n_q
    free_q, free_v = equations.free[:n], equations.free[n:]
    # Lengths are measured by that of the machine: which step is the shortest must not depend on their unit.
    nominal = np.array([state.nominal for state in system.states])
    by_q, by_v = nominal[:n], nominal[n : n + system.n_v]
    length = size_machine(system.scenario).length
    units = [system.signal_units[force] for force in system.motion.constraint_forces]
    sizes = np.array([length if unit == "N" else 1.0 for unit in units])

    def evaluate(z: Array) -> tuple[Array, Array]:
        values, H = equations.at(np.concatenate([x[:n] + by_q * z, x[n:]]))
        return values[:k] / sizes, H * by_q / sizes[:, None]

    def find_step(z: Array, h: Array, H: Array) -> Array | None:
        """The shortest step of what is free that meets the linearised equations."""
        return -free_q * np.linalg.lstsq(H * free_q, h, rcond=RANK)[0] if np.all(np.isfinite(H)) else None

    # From the guess on: what is kept stays to the last bit.
    solution = solve_newton(
        evaluate, find_step, np.zeros(n), most_steps=NEWTON_STEPS, still=CLOSED / 1000, shorten=limit_step(LONGEST_STEP)
    )
    x = np.concatenate([x[:n] + by_q * solution.z, x[n:]])
    values, H = equations.at(x)
    if not np.all(np.isfinite(H)):
        what = (
            "the constraints have no direction here: the ends of a rod coincide, or a loop joint is rotated by 180 deg"
        )
        refuse("constraints", what, "start elsewhere", system.scenario.name)
    motions = slice(n, n + system.n_v)
    slopes = equations.slopes_at(x) * (free_v * by_v) / sizes[:, None]
    x[motions] -= free_v * by_v * np.linalg.lstsq(slopes, values[k:] / sizes, rcond=RANK)[0]
    values, _ = equations.at(x)
    residuals, rates = (
        dict(zip(system.motion.constraint_forces, part.tolist(), strict=True)) for part in (values[:k], values[k:])
    )
    positions = {state.name: float(value) for state, value in zip(system.states[:n], x, strict=False)}
    sized = dict(zip(system.motion.constraint_forces, sizes.tolist(), strict=True))
    speed = float(np.max(np.abs(x[motions]) / by_v, initial=1.0))
    return Assembled(x, positions, residuals, rates, sized, solution.steps, speed)


@report_progress("finding the branches of")
def find_branches(
    system: System,
    *,
    around: float = np.pi,
    keep: Sequence[str] = (),
    tries: int = 200,
    seed: int = 1,
    parameters: Mapping[str, float] | None = None,
) -> list[Assembled]:
    """Different ways to assemble a mechanism near its start values, the nearest first.

    Args:
        around: how far from the start guesses are scattered [rad, or lengths of the machine].
        keep: positions (`drive.position`) that stay: with those of the driven joints, what is found are assembly modes.
    """
    equations = prepare_equations(system, parameters)
    check_kept(equations, keep)
    equations = equations.keeping(keep)
    generator, n = np.random.default_rng(seed), system.n_q
    turns = np.array([state.unit == "rad" for state in system.states[:n]])
    scattered = around * (equations.free * mark_joints(system))[:n]
    nominal = np.array([state.nominal for state in system.states[:n]])
    branches: list[Assembled] = []
    for k in range(tries):
        x = equations.x.copy()
        x[:n] += (k > 0) * scattered * nominal * generator.uniform(-1, 1, n)
        branch = close(equations, x)
        if branch.closed and not any(_same(branch.x[:n], other.x[:n], turns, nominal) for other in branches):
            branches.append(branch)
    return sorted(branches, key=lambda branch: float(np.linalg.norm(branch.x[:n] - equations.x[:n])))


def check_kept(equations: Equations, keep: Sequence[str]) -> None:
    """What is kept must be positions and velocities of the mechanism."""
    flaws = FlawList()
    flaws.add_unknown(keep, equations.names, "is not a position or velocity of a moving joint", "keep")
    equations.system.scenario.raise_if_any(flaws)


def _same(a: Array, b: Array, turns: Array, nominal: Array) -> bool:
    apart = np.where(turns, np.abs(np.angle(np.exp(1j * (a - b)))), np.abs(a - b))
    return bool(np.max(apart / nominal) < SAME)


ELSEWHERE = 0.1
"""How far from the start freedoms are counted [rad, or lengths of the machine]: it may be a dead centre."""
INDEPENDENT = 1e-7
"""Part of the largest singular value of the gradients beyond which a direction counts."""
REMEDY = "change it, leave it out, give other positions better guesses, or name in 'keep' what is to stay"


@report_progress("assembling the mechanism of")
def close_constraints(
    system: System,
    *,
    guess: Mapping[str, float] | None = None,
    keep: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    time: float = 0.0,
) -> Assembled:
    """Positions at which all constraints are met, with what is kept as it is and the rest near the start values, and
    velocities that go with them.

    Flexible bodies keep their shape where the joints alone can do it.

    Args:
        guess: states by name, instead of their start values.
        keep: positions and velocities (`drive.position`) that stay; as the scenario's start says by default.
        time: of prescribed motions [s].
    """
    guess = guess or {}
    refuse_unknown(guess, system.state_names, "there is no such state", "assembly of the mechanism", "guess")
    equations = prepare_equations(system, parameters, time)
    x = np.array([guess.get(state.name, state.start) for state in system.states], float)
    fixed = choose_kept(equations, x) if keep is None else tuple(keep)
    check_kept(equations, fixed)
    assembled = close(equations.keeping(fixed), x)
    return assembled if assembled.closed else replace(assembled, problems=_describe_conflict(equations, x, fixed))


def find_kept(system: System) -> tuple[str, ...]:
    """Names of the start values that stay where a system is assembled."""
    equations = prepare_equations(system, {})
    return choose_kept(equations, equations.x)


def choose_kept(equations: Equations, x: Array) -> tuple[str, ...]:
    """What the scenario says, or all velocities and as many positions of those that it gives as are free."""
    scenario = equations.system.scenario
    if scenario.keep is not None:
        return scenario.keep
    n = equations.system.n_q
    described = [name for name in scenario.initial if name in equations.names]
    H = _gradients_elsewhere(equations, x)
    rank, free = _rank(H), np.ones(n)
    fixed = []
    for name in described:
        column = equations.names.index(name)
        if column >= n:
            fixed.append(name)
            continue
        free[column] = 0.0
        # A position can stay if the others can still follow every change of the constraints.
        if _rank(H * free) == rank:
            fixed.append(name)
        else:
            free[column] = 1.0
    return tuple(fixed)


def _gradients_elsewhere(equations: Equations, x: Array) -> Array:
    """H at a general position where the constraints are met."""
    n = equations.system.n_q
    nearby = x.copy()
    nominal = np.array([state.nominal for state in equations.system.states[:n]])
    scattered = ELSEWHERE * mark_joints(equations.system)[:n] * nominal
    nearby[:n] += scattered * np.random.default_rng(1).standard_normal(n)
    return equations.at(close(equations, nearby).x)[1] * nominal


def _rank(H: Array) -> int:
    sizes = np.linalg.svd(H, compute_uv=False)
    return int(np.sum(sizes > INDEPENDENT * max(float(np.max(sizes, initial=0.0)), 1e-300)))


def _describe_conflict(equations: Equations, x: Array, fixed: Sequence[str]) -> tuple[Flaw, ...]:
    """The first kept value with which the constraints cannot be met, and what it would be without being kept.

    Velocities come last: whether they fit is known at the positions only.
    """
    ordered = sorted(fixed, key=lambda name: equations.names.index(name) >= equations.system.n_q)
    nearest = close(equations.keeping(()), x)
    if not nearest.closed:
        return nearest.describe_left()
    for count, name in enumerate(ordered):
        assembled = close(equations.keeping(ordered[: count + 1]), x)
        if not assembled.closed:
            k = equations.names.index(name)
            return (_describe_value(equations.system.states[k], (x[k], nearest.x[k]), ordered[:count]),)
        nearest = assembled
    return ()


def _describe_value(state: StateInfo, values: tuple[float, float], beside: Sequence[str]) -> Flaw:
    """A value that cannot stay, and the one that could, beside others that do."""
    start, fits = values
    if abs(fits) < 1e-12 * abs(start):
        fits = 0.0
    asks = f"beside {', '.join(beside)} the constraints ask for" if beside else "the nearest that meets them is"
    what = f"{start:.6g} {state.unit} cannot be kept with the constraints met: {asks} {fits:.6g} {state.unit}"
    return Flaw(f"initial.{state.name}", f"{what}, {fits - start:+.3g} {state.unit}", REMEDY)
