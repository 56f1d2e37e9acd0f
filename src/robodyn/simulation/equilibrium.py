"""Equilibrium: where is a system at rest? States and memory that nothing changes, near a guess.

    f(t, x, d, m, p) = 0,   w(t, x, d, m, p) - d = 0 for delayed signals,   tasks leave m as it is

Newton's method from the guess; where that fails, because a valve or a gear has play that makes the equations singular,
pseudo-transient continuation: implicit Euler steps that grow as the motion dies out, and end as Newton's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from robodyn.assembly import assemble
from robodyn.assembly.declarations import DelayInfo, StateInfo
from robodyn.assembly.functions import INPUTS
from robodyn.assembly.system import FREE, System
from robodyn.errors import Flaw, ModelError
from robodyn.model import ConstraintMethod
from robodyn.native import FEW_CALLS, KernelModule, Sweep, build_jacobian, compile_kernels
from robodyn.symbolic.kinds import changed_entries
from robodyn.waiting import told_if_slow

NEWTON_STEPS = 40
TRANSIENT_STEPS = 2000
FIRST_STEP = 1e-4
"""First pseudo-time step [s]."""
LARGEST_CHANGE = 0.2
"""Largest change of an unknown in one pseudo-time step, relative to its nominal magnitude and its value."""
SETTLED = 1e-10
"""Largest Newton step, relative to the states' nominal magnitudes, of a point at rest."""
REGULAR = 1e-11
"""Reciprocal condition from which on equations count as regular: far above what least squares leaves out."""
STILL = 1e-6
"""Largest rate there, in nominal magnitudes per second."""


@dataclass(frozen=True)
class Equilibrium:
    """A point at rest.

    Attributes:
        x, d, m: states, delayed signals, memory; directions of friction that sticks are left open.
        residual: largest rate left, in nominal magnitudes per second.
        iterations: Newton and transient steps together.
    """

    x: np.ndarray
    d: np.ndarray
    m: np.ndarray
    residual: float
    iterations: int


@dataclass(frozen=True)
class RestEquations:
    """The equations of rest of a system: unknowns z = [x, d, m as far as tasks change it].

    Attributes:
        rates: how many of the unknowns are states with a rate, the first ones.
        scale: nominal magnitude of each unknown.
        memory: places of the memory that tasks change.
        functions: "residual" and "jacobian" of (t, x, d, m, p).
    """

    names: tuple[str, ...]
    rates: int
    scale: np.ndarray
    memory: tuple[int, ...]
    functions: Mapping[str, ca.Function | Sweep]


@dataclass(frozen=True)
class Balance:
    """The equations of rest in native code.

    Attributes:
        names, rates, scale, memory: as of `RestEquations`.
        residual, jacobian: of (t, x, d, m, p), p as `prepare` gives it; n_memory: how many entries of m they take.
    """

    names: tuple[str, ...]
    rates: int
    scale: np.ndarray
    memory: tuple[int, ...]
    prepare: Callable[[np.ndarray], np.ndarray]
    residual: Callable[..., np.ndarray]
    jacobian: Callable[..., np.ndarray]
    n_memory: int


@told_if_slow("finding the equilibrium of")
def find_equilibrium(
    system: System,
    *,
    parameters: Mapping[str, float] | None = None,
    guess: Mapping[str, float] | None = None,
    time: float = 0.0,
    balance: Balance | None = None,
) -> Equilibrium:
    """The point at rest nearest to the start values, or to a guess by state names.

    Args:
        parameters: tunable numbers to change.
        time: at which references are held [s].
        balance: the equations, where they have been built before.

    Raises:
        ModelError: when there is none to be found, with the state that moves most; or when a Python block would have
            to be at rest.
    """
    balance = balance or build_balance(system)
    given, changed = dict(guess or {}), dict(parameters or {})
    x, m = guess_rest(system, given)
    p = np.array([changed.get(number.name, number.value) for number in system.parameters], float)
    point = _Point(system, balance, x, m, p, time)
    z, iterations = _solve(point)
    found = point.at(z)
    residual = point.rates(z)
    if not np.max(np.abs(residual), initial=0.0) <= STILL:
        flaws = [_describe_unrest(balance, residual), *_describe_rigid(system)]
        raise ModelError(flaws, f"equilibrium of '{system.scenario.name}'")
    return Equilibrium(*found, float(np.max(np.abs(residual), initial=0.0)), iterations)


def guess_rest(system: System, given: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """States and memory from which rest is looked for; directions of friction that sticks are open."""
    x = np.array([given.get(info.name, info.start) for info in system.states], float)
    m = np.array([given.get(info.name, info.start) for info in system.memory], float)
    m[[k for k, info in enumerate(system.memory) if info.name in _directions(system)]] = FREE
    return x, m


def _directions(system: System) -> set[str]:
    blocks = system.scenario.machine.all_blocks
    return {f"{block.name}.direction" for block in blocks if block.info.sticks}


def _describe_unrest(balance: Balance, residual: np.ndarray) -> Flaw:
    worst = int(np.argmax(np.where(np.isfinite(residual), np.abs(residual), np.inf)))
    rate = residual[worst] * balance.scale[worst]
    moves = f"still changes by {rate:.3g} a second" if np.isfinite(rate) else "has no finite rate there"
    what = f"nothing at rest found near the start: '{balance.names[worst]}' {moves}"
    return Flaw("start", what, "give start values nearer to it, or let it settle in a run of its own")


def _describe_rigid(system: System) -> list[Flaw]:
    """What is rigid holds nothing while a rest is searched for: which of it touches changes only in a run."""
    what = "a rest on a rigid contact or end stop is not searched for"
    remedy = "take a compliant Contact, or a stop_stiffness"
    return [Flaw(path, what, remedy) for path in system.scenario.machine.rigid_parts]


def _pulled_together(system: System) -> System:
    """The system with Baumgarte's terms: without them, also places off the constraints would be at rest."""
    if _pulls_together(system):
        return system
    other = assemble(replace(system.scenario, constraint_method=ConstraintMethod()), inputs=system.inputs)
    return other if system.friction else other.without_friction


def _pulls_together(system: System) -> bool:
    return not system.motion.constraint_forces or system.scenario.constraint_method.method == "baumgarte"


def build_balance(system: System) -> Balance:
    """Residual and its exact Jacobian, in native code."""
    rest = trace_rest(system)
    module = compile_kernels(rest.functions, INPUTS.index("p"), quick=True, data=system.data)
    residual, slopes = module.kernels["residual"], module.kernels["jacobian"]

    def jacobian(*at: np.ndarray) -> np.ndarray:
        return np.array(slopes(*at)).reshape(len(rest.scale), len(rest.scale)).T

    # Memory of charts comes last, and the system with Baumgarte's terms has none.
    n_memory = residual.in_sizes[INPUTS.index("m")]
    return Balance(rest.names, rest.rates, rest.scale, rest.memory, module.prepare, residual, jacobian, n_memory)


def share_balance(
    system: System, module: KernelModule, residual: Callable[..., np.ndarray], jacobian: Callable[..., np.ndarray]
) -> Balance | None:
    """The equations of rest from a module that gives rates and their slopes by the states; None where more is wanted:
    delayed signals, memory that tasks change, another way to keep constraints."""
    if system.delays or system.discrete.tasks or not _pulls_together(system):
        return None
    states = system.states[: len(system.states) - system.n_quadratures]
    names, scale = tuple(state.name for state in states), np.array([state.nominal for state in states], float)
    return Balance(names, len(names), scale, (), module.prepare, residual, jacobian, len(system.memory))


def trace_rest(system: System) -> RestEquations:
    """Residual and its exact Jacobian.

    Raises:
        ModelError: when a Python block would have to be at rest.
    """
    system = _pulled_together(system)
    python = [task.name for task in system.discrete.tasks if task.call is not None]
    if python:
        what = f"block '{python[0]}' is called in Python: whether it is at rest cannot be known"
        raise ModelError([Flaw("start", what, "give start values instead")], system.scenario.name)
    n = len(system.states) - system.n_quadratures
    x, d, m = system.symbols.x[:n], system.symbols.d, system.symbols.m
    after = _memory_after(system)
    changing = changed_entries(m, after)
    held, kept = m[changing, 0], after[changing, 0] - m[changing, 0]
    delayed = system.expressions.delayed - d if system.delays else ca.SX(0, 1)
    residual = ca.densify(ca.vertcat(system.expressions.rhs[:n], delayed, kept))
    columns = [*system.symbols]
    functions = {
        "residual": ca.Function("residual", columns, [residual]),
        "jacobian": build_jacobian("jacobian", columns, residual, ca.vertcat(x, d, held), FEW_CALLS),
    }
    parts: list[StateInfo | DelayInfo] = [*system.states[:n], *system.delays]
    remembered = [system.memory[k].name for k in changing]
    scale = np.array([*(part.nominal for part in parts), *(1.0 for _ in remembered)], float)
    names = (*(part.name for part in parts), *remembered)
    return RestEquations(names, n, scale, tuple(changing), functions)


def _memory_after(system: System) -> ca.SX:
    """Memory after all tasks have run once, in their order."""
    m = system.symbols.m
    after = m
    for task in system.discrete.tasks:
        after = ca.substitute(system.memory_after(task), m, after)
    return after


class _Point:
    """Residual and Jacobian as functions of the scaled unknowns."""

    def __init__(
        self, system: System, balance: Balance, x: np.ndarray, m: np.ndarray, p: np.ndarray, time: float
    ) -> None:
        self.balance = balance
        self.t, self.x, self.m = np.array([time]), x, m
        self.p = balance.prepare(p)
        self.n_d = len(system.delays)
        before = [0.0 if delay.before is None else delay.before for delay in system.delays]
        self.z = np.concatenate([x[: balance.rates], before, m[list(balance.memory)]]) / balance.scale

    def at(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States, delayed signals and memory at z."""
        n, values = self.balance.rates, z * self.balance.scale
        x, m = self.x.copy(), self.m.copy()
        x[:n] = values[:n]
        m[list(self.balance.memory)] = values[n + self.n_d :]
        return x, values[n : n + self.n_d], m

    def rates(self, z: np.ndarray) -> np.ndarray:
        x, d, m = self.at(z)
        return np.array(self.balance.residual(self.t, x, d, m[: self.balance.n_memory], self.p)) / self.balance.scale

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        x, d, m = self.at(z)
        scale = self.balance.scale
        return self.balance.jacobian(self.t, x, d, m[: self.balance.n_memory], self.p) * scale / scale[:, None]


def _solve(point: _Point) -> tuple[np.ndarray, int]:
    z, done = _newton(point)
    if done is not None:
        return z, done
    return _continue_transient(point)


def _newton(point: _Point) -> tuple[np.ndarray, int | None]:
    """Newton with halved steps where the residual grows; least squares where the equations do not fix a state."""
    z = point.z.copy()
    for k in range(NEWTON_STEPS):
        residual = point.rates(z)
        if not np.all(np.isfinite(residual)):
            break
        step = _least_squares(point.jacobian(z), -residual, 1e-13)
        if step is None:
            break
        if np.max(np.abs(step), initial=0.0) <= SETTLED and np.max(np.abs(residual), initial=0.0) <= STILL:
            return z + step, k + 1
        size = np.linalg.norm(residual)
        factor = 1.0
        while factor > 1e-4 and not np.linalg.norm(point.rates(z + factor * step)) < size:
            factor /= 2
        z = z + factor * step
    return z, None


def _continue_transient(point: _Point) -> tuple[np.ndarray, int]:
    """(E / h - J) step = residual, E the identity for states with a rate; h grows as long as the steps stay small."""
    z, h = point.z.copy(), FIRST_STEP
    E = np.diag(np.arange(len(z)) < point.balance.rates).astype(float)
    residual = point.rates(z)
    for k in range(TRANSIENT_STEPS):
        step = _least_squares(E / h - point.jacobian(z), residual, None)
        if step is None:
            break
        fresh = point.rates(z + step)
        changes = np.abs(step) / (1 + np.abs(z))
        # What has no rate jumps with the rest, however short the step.
        if not (np.all(np.isfinite(fresh)) and np.max(changes[: point.balance.rates], initial=0.0) <= LARGEST_CHANGE):
            h /= 3
            continue
        z, residual, h = z + step, fresh, min(2 * h, 1e9)
        if np.max(changes) <= SETTLED and np.max(np.abs(residual)) <= STILL:
            return z, NEWTON_STEPS + k + 1
    return z, NEWTON_STEPS + TRANSIENT_STEPS


def _least_squares(J: np.ndarray, b: np.ndarray, rcond: float | None) -> np.ndarray | None:
    """The shortest step with J step = b; None where that has no numbers to go on with."""
    if not (np.all(np.isfinite(J)) and np.all(np.isfinite(b))):
        return None
    # Where the equations fix all, as mostly, elimination gives the same in a tenth of the time.
    from scipy.linalg import lapack

    factors, pivots, singular = lapack.dgetrf(J)
    if not singular and lapack.dgecon(factors, np.linalg.norm(J, 1))[0] > REGULAR:
        return lapack.dgetrs(factors, pivots, b)[0]
    try:
        return np.linalg.lstsq(J, b, rcond=rcond)[0]
    except np.linalg.LinAlgError:  # the singular values of numbers very far apart are not found
        return None
