"""Where are all constraints of a mechanism met? Positions and velocities near a guess, and other ways to assemble it.

h(q, t) = 0 by damped Newton, each step the shortest that meets the linearised equations; then h'(q, v, t) = 0
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from robodyn.assembly.system import INPUTS, System
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.native import KernelModule, compile_kernels
from robodyn.waiting import told_if_slow

CLOSED = 1e-9
"""Residual [m or rad] of equations that are met."""
NEWTON_STEPS = 100
LONGEST_STEP = 0.5
"""Largest change of a joint in one step [rad or m]."""
RANK = 1e-10
"""Part of the largest singular value below which a direction does not count: singular positions."""
SAME = 1e-4
"""Largest difference of joint positions [rad or m] of two assemblies that are the same."""


@dataclass(frozen=True)
class Assembled:
    """States at which the constraints are met, or as nearly as can be.

    Attributes:
        residuals: force signal of each equation -> what is left of it [m or rad].
        iterations: Newton steps taken.
    """

    x: np.ndarray
    positions: Mapping[str, float]
    residuals: Mapping[str, float]
    iterations: int

    @property
    def residual(self) -> float:
        return max((abs(value) for value in self.residuals.values()), default=0.0)

    @property
    def closed(self) -> bool:
        return self.residual <= CLOSED

    def require(self) -> Assembled:
        """Itself, if all constraints are met; else an error that says which are not, and by how much."""
        if self.closed:
            return self
        left = sorted(self.residuals.items(), key=lambda item: -abs(item[1]))
        flaws = [
            Flaw(f"constraints.{_owner(name)}", f"cannot be met: {value:.3g} is left of the equation of {name}")
            for name, value in left
            if abs(value) > CLOSED
        ]
        raise ModelError(flaws, "assembly of the mechanism")


def _owner(force: str) -> str:
    """The constraint whose force a signal is."""
    return re.sub(r"\.(force|torque|tension)(\.\w+)?$", "", force)


@dataclass
class _Equations:
    """Residuals, their rates and gradients at a point, in native code.

    Attributes:
        free: 1 for positions that may change, joints: 1 for those of joints, 0 for those of modes, (n_q,).
    """

    system: System
    p: np.ndarray
    time: float
    free: np.ndarray
    joints: np.ndarray
    module: KernelModule
    x: np.ndarray = field(init=False)
    m: np.ndarray = field(init=False)
    d: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.x = np.array([info.start for info in self.system.states], float)
        self.m = np.array([info.start for info in self.system.memory], float)
        self.d = np.array([delay.before or 0.0 for delay in self.system.delays], float)

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals on both levels (2 k,), and the gradients of the first for the free joints (k, n)."""
        inputs = (np.array([self.time]), x, self.d, self.m, self.p)
        values = np.array(self.module.kernels["values"](*inputs))
        k = len(values) // 2
        gradients = np.array(self.module.kernels["gradients"](*inputs)).reshape(self.system.n_q, k).T
        return values, gradients * self.free


def _prepare(system: System, parameters: Mapping[str, float], fixed: Sequence[str], time: float) -> _Equations:
    joints = [state.name.removesuffix(".position") for state in system.states[: system.n_q]]
    flaws = FlawList()
    if not system.equations:
        flaws.add("constraints", "there are none", "give the machine constraints, or start it as given")
    for name in fixed:
        if name not in joints:
            flaws.add(f"fixed.{name}", "is no moving joint", nearest(name, joints))
    flaws.raise_if_any(system.scenario.name)
    module = compile_kernels(trace_closing(system), INPUTS.index("p"), quick=True)
    p = module.prepare([parameters.get(number.name, number.value) for number in system.parameters])
    free = np.array([joint not in fixed for joint in joints], float)
    return _Equations(system, p, time, free, mark_joints(system), module)


def trace_closing(system: System) -> dict[str, ca.Function]:
    """Residuals on both levels, and the gradients of the first by all positions, column by column."""
    values = ca.densify(system.expressions["constraints"])
    gradients = ca.vec(ca.densify(ca.jacobian(values[: len(system.equations)], system.q)))
    columns = [system.symbols[key] for key in INPUTS]
    return {
        "values": ca.Function("values", columns, [values]),
        "gradients": ca.Function("gradients", columns, [gradients]),
    }


def mark_joints(system: System) -> np.ndarray:
    """1 for positions of joints, 0 for those of modes, (n_q,)."""
    mechanism = system.scenario.machine.mechanism
    modes = {f"{mode.name}.position" for mode in mechanism.modes} if mechanism else set()
    return np.array([state.name not in modes for state in system.states[: system.n_q]], float)


@told_if_slow("assembling the mechanism of")
def close_constraints(
    system: System,
    *,
    guess: Mapping[str, float] | None = None,
    fixed: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    time: float = 0.0,
) -> Assembled:
    """The nearest positions to the start values at which all constraints are met, and velocities that keep them.

    Flexible bodies keep their shape where the joints alone can do it.

    Args:
        guess: states by name, instead of their start values.
        fixed: joints that keep their position.
        time: of prescribed motions [s].
    """
    equations = _prepare(system, dict(parameters or {}), fixed, time)
    x = equations.x.copy()
    for k, state in enumerate(system.states):
        x[k] = (guess or {}).get(state.name, x[k])
    return _close(equations, x)


def _close(equations: _Equations, x: np.ndarray) -> Assembled:
    """Closed by the joints alone, where that is possible, otherwise with the modes of flexible bodies."""
    stiff = dataclasses.replace(equations, free=equations.free * equations.joints)
    if np.array_equal(stiff.free, equations.free):
        return _solve(equations, x)
    found = _solve(stiff, x)
    k = len(equations.system.equations)
    rates = stiff.at(found.x)[0][k:]
    speed = np.max(np.abs(found.x[equations.system.n_q :][: equations.system.n_v]), initial=1.0)
    return found if found.closed and np.max(np.abs(rates)) <= CLOSED * speed else _solve(equations, x)


def _solve(equations: _Equations, x: np.ndarray) -> Assembled:
    system, k, n = equations.system, len(equations.system.equations), equations.system.n_q
    values, H = equations.at(x)
    done = 0
    while done < NEWTON_STEPS and np.max(np.abs(values[:k])) > CLOSED / 1000 and np.all(np.isfinite(H)):
        done += 1
        step = -np.linalg.lstsq(H, values[:k], rcond=RANK)[0]
        factor = min(1.0, LONGEST_STEP / max(float(np.max(np.abs(step))), 1e-300))
        fresh = x.copy()
        while factor > 1e-4:
            fresh[:n] = x[:n] + factor * step
            trial, _ = equations.at(fresh)
            if np.linalg.norm(trial[:k]) < np.linalg.norm(values[:k]):
                break
            factor /= 2
        else:
            break
        x = fresh
        values, H = equations.at(x)
    if not np.all(np.isfinite(H)):
        what = "the constraints have no direction here: the ends of a rod coincide, or a closure is turned by 180 deg"
        raise ModelError([Flaw("constraints", what, "start elsewhere")], system.scenario.name)
    x[n : n + system.n_v] -= np.linalg.lstsq(H / np.maximum(equations.free, 1e-300), values[k:], rcond=RANK)[0]
    joints = {state.name: float(value) for state, value in zip(system.states[:n], x, strict=False)}
    return Assembled(x, joints, dict(zip(system.equations, values[:k].tolist(), strict=True)), done)


@told_if_slow("finding the branches of")
def find_branches(
    system: System,
    *,
    around: float = np.pi,
    fixed: Sequence[str] = (),
    tries: int = 200,
    seed: int = 1,
    parameters: Mapping[str, float] | None = None,
) -> list[Assembled]:
    """Different ways to assemble a mechanism near its start values, the nearest first.

    Args:
        around: how far from the start guesses are scattered [rad or m].
        fixed: joints that keep their position: with the driven ones fixed, what is found are assembly modes.
    """
    equations = _prepare(system, dict(parameters or {}), fixed, 0.0)
    generator, n = np.random.default_rng(seed), system.n_q
    turns = np.array([state.unit == "rad" for state in system.states[:n]])
    found: list[Assembled] = []
    for k in range(tries):
        x = equations.x.copy()
        x[:n] += (k > 0) * around * equations.free * equations.joints * generator.uniform(-1, 1, n)
        branch = _close(equations, x)
        if branch.closed and not any(_same(branch.x[:n], other.x[:n], turns) for other in found):
            found.append(branch)
    return sorted(found, key=lambda branch: float(np.linalg.norm(branch.x[:n] - equations.x[:n])))


def _same(a: np.ndarray, b: np.ndarray, turns: np.ndarray) -> bool:
    apart = np.where(turns, np.abs(np.angle(np.exp(1j * (a - b)))), np.abs(a - b))
    return bool(np.max(apart) < SAME)
