"""Equilibrium: where is a system at rest? States and memory that nothing changes, near a guess.

    f(t, x, d, m, p) = 0,   w(t, x, d, m, p) - d = 0 for delayed signals,   tasks leave m as it is

Newton's method from the guess; where that fails, because a valve or a gear has play that makes the equations singular,
pseudo-transient continuation: implicit Euler steps that grow as the motion dies out, and end as Newton's. No step of
either leaves the ranges of coordinates, in which the guess lies: beyond a cylinder's stroke its linkage may rest too.

References are those just before the start: one that begins to move there has stood still until then. Friction carries
nothing: what sticks is left open, bristles stay as they are. Quantisers and noise count as ideal (`LawInfo.ideal`), as
no machine rests on the edge of a step. Before and after the search the tasks run where the states stand until they
change nothing, but for sums. The guess is then not that of an encoder that has just been switched on, whose speed would
drive the loops into their limits; and what is found is what the real quantisers show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

import casadi as ca
import numpy as np

from robodyn.base import (
    Array,
    Flaw,
    FlawList,
    ModelError,
    frozen,
    refuse,
    refuse_unknown,
    report_progress,
    same_quantity,
    solve_newton,
)
from robodyn.base.symbolic import changed_entries, to_column
from robodyn.computation.assembly import assemble
from robodyn.computation.assembly.declarations import WORK, DelayInfo, Invariant, StateInfo
from robodyn.computation.assembly.system import FREE, INPUTS, System
from robodyn.computation.native import FEW_CALLS, KernelModule, Sweep, build_jacobian, compile_kernels
from robodyn.description.model import ConstraintMethod

NEWTON_STEPS = 40
TRANSIENT_STEPS = 2000
FIRST_STEP = 1e-4
"""First pseudo-time step [s]."""
SHORTEST_STEP = 1e-15
"""Pseudo-time step [s] below which there is no way on: at the end of a range."""
LARGEST_CHANGE = 0.2
"""Largest change of an unknown in one pseudo-time step, relative to its nominal magnitude and its value."""
SETTLED = 1e-10
"""Largest Newton step, relative to the states' nominal magnitudes, of a point at rest."""
BALANCED = 10
"""Rounds in which rows and columns are drawn towards size 1."""
REGULAR = 1e-11
"""Reciprocal condition from which on equations count as regular: far above what least squares leaves out."""
STILL = 1e-6
"""Largest rate there, in nominal magnitudes per second."""
SAMPLES = 100
"""How often tasks run at most where states stand: filters may take long, and what waits in a pipeline."""
SUM = 1e-9
"""Slope of the change of a memory by itself up to which it is a sum: 0, but for rounding."""
TOUCHING = 1e-9
"""Largest rate of a reference that stands still, and depth of what does not touch [SI]."""
JUST_BEFORE = 1e-12
"""How long before the start references count [s]."""
RIGID = "an equilibrium on a rigid contact or end stop is not searched for"
GIVE = "give start values: initialisation = 'given'"


@frozen
class Equilibrium:
    """A point at rest.

    Attributes:
        x, d, m: states, delayed signals, memory; directions of friction that sticks are left open.
        residual: largest rate left, in nominal magnitudes per second.
        iterations: Newton and transient steps together.
    """

    x: Array
    d: Array
    m: Array
    residual: float
    iterations: int


@frozen
class RestEquations:
    """The equations of rest of a system: unknowns z = [x, d, m as far as tasks change it].

    Attributes:
        rates: how many of the unknowns are states with a rate, the first ones.
        scale: nominal magnitude of each unknown.
        memory: places of the memory that tasks change.
        fixed: places of unknowns that stay as they are guessed: bristles of friction.
        ideal: places of parameters that do nothing at other values: resolution -> 0.
        moving: names of the rates of references, which are to be 0.
        apart: names of rigid contacts and end stops, which are to be open: the search knows no forces of theirs.
        ranged: coordinates that have a range.
        functions: "residual", "jacobian" and "conditions" (of (t, x, d, m, p)), these the rates of references and the
            depths of contacts, and "beyond", how far coordinates with a range are out of it, where there are any.
    """

    names: tuple[str, ...]
    rates: int
    scale: Array
    memory: tuple[int, ...]
    fixed: tuple[int, ...]
    ideal: Mapping[int, float]
    moving: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    ranged: tuple[str, ...] = ()
    functions: Mapping[str, ca.Function | Sweep] = field(default_factory=dict)


@frozen
class Balance:
    """The equations of rest in native code.

    Attributes:
        residual, jacobian, conditions, beyond: of (t, x, d, m, p), p as `module.prepare` gives it.
        n_memory: how many entries of m they take.
    """

    rest: RestEquations
    module: KernelModule
    residual: Callable[..., Array]
    jacobian: Callable[..., Array]
    conditions: Callable[..., Array]
    beyond: Callable[..., Array] | None
    n_memory: int


@report_progress("finding the equilibrium of")
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
        time: just before which references are held [s].
        balance: the equations, where they have been built before.

    Raises:
        ModelError: when there is none to be found, with the state that moves most; or when a Python block would have
            to be at rest.
    """
    balance = balance or build_balance(system)
    guesses, changed = dict(guess or {}), dict(parameters or {})
    names = [*system.state_names, *(info.name for info in system.memory)]
    refuse_unknown(guesses, names, "there is no such state", f"equilibrium of '{system.scenario.name}'", "guess")
    x, m = guess_rest(system, guesses, changed)
    p = system.parameter_values(changed)
    ideal = p.copy()
    ideal[list(balance.rest.ideal)] = list(balance.rest.ideal.values())
    point = _Point(system, balance, x, m, ideal, time)
    _check_references(point)
    point.z = _sample(point.z, point, point.jacobian(point.z))
    z, iterations = _solve(point)
    residual = point.rates(z)
    if not np.max(np.abs(residual), initial=0.0) <= STILL:
        # What is rigid holds nothing while a rest is searched for: which of it touches changes only in a run.
        remedy = "use a compliant Contact, or a stop_stiffness"
        rigid = [Flaw(path, RIGID, remedy) for path in system.scenario.machine.rigid_parts]
        flaws = [_describe_unrest(system, balance.rest, residual), *rigid]
        raise ModelError(flaws, f"equilibrium of '{system.scenario.name}'")
    _check_apart(point, z)
    if balance.rest.ideal and balance.rest.memory:
        z = _sample(z, _Point(system, balance, x, m, p, time), point.jacobian(z))
    return Equilibrium(*point.at(z), float(np.max(np.abs(residual), initial=0.0)), iterations)


def guess_rest(
    system: System, guess: Mapping[str, float], parameters: Mapping[str, float] | None = None
) -> tuple[Array, Array]:
    """States and memory from which rest is looked for; directions of friction that sticks are open.

    Joints of a planned path that have no start value are looked for where the path begins.
    """
    from .references import path_starts

    numbers = system.number_values | dict(parameters or {})
    described = dict(system.scenario.start_values)
    for starts in path_starts(system, numbers).values():
        described = starts | described
    guesses = described | dict(guess)
    x = np.array([guesses.get(info.name, info.start) for info in system.states], float)
    m = np.array([guess.get(info.name, info.start) for info in system.memory], float)
    m[[k for k, info in enumerate(system.memory) if info.name in system.stick_directions]] = FREE
    return x, m


def _given_states(system: System) -> list[int]:
    """Places of states that stay as they are given, whatever their rates; with sensitivities the book-keeping stands
    among the others."""
    blocks = [block for block in system.scenario.machine.all_blocks if block.info.given_at_rest]
    names = {f"{block.name}.{state}" for block in blocks for state in block.state_names} | {WORK}
    return [k for k, state in enumerate(system.states[: system.n_moving]) if _owner(state.name) in names]


def _owner(name: str) -> str:
    """A name, or of which one it is the sensitivity: `d(NAME)/d(...)`."""
    return name.removeprefix("d(").partition(")/d(")[0] if name.startswith("d(") else name


def _check_references(point: _Point) -> None:
    """One that moves asks for its rate, which at standstill would be taken for an error of position."""
    flaws, names = FlawList(), point.balance.rest.moving
    for name, rate in zip(names, point.conditions(point.z), strict=False):
        if abs(rate) > TOUCHING:
            what = f"moves before the start, '{name}' is {rate:.3g}: nothing that follows it is at rest"
            flaws.add(f"blocks.{name.rpartition('.')[0]}", what, f"let it begin later, or {GIVE}")
    point.system.scenario.raise_if_any(flaws)


def _check_apart(point: _Point, z: Array) -> None:
    """What is rigid and touches would carry a load, which the search knows nothing of."""
    flaws, rest = FlawList(), point.balance.rest
    for name, depth in zip(rest.apart, point.conditions(z)[len(rest.moving) :], strict=True):
        if depth > TOUCHING:
            flaws.add(name, f"{RIGID}, and the one found without it is {depth:.3g} m inside", GIVE)
    point.system.scenario.raise_if_any(flaws)


def _describe_unrest(system: System, rest: RestEquations, residual: Array) -> Flaw:
    worst = int(np.argmax(np.where(np.isfinite(residual), np.abs(residual), np.inf)))
    rate = residual[worst] * rest.scale[worst]
    moves = f"still changes by {rate:.3g} a second" if np.isfinite(rate) else "has no finite rate there"
    within = " and within the ranges of its coordinates" if rest.ranged else ""
    what = f"nothing at rest found near the start{within}: '{rest.names[worst]}' {moves}"
    remedy = "give start values nearer to it, or let it settle in a run of its own"
    # What holds in reality may be what the search leaves out, or what it cannot see.
    sticking = sorted(name.removesuffix(".direction") for name in system.stick_directions)
    if sticking:
        remedy += f"; friction that sticks ('{sticking[0]}') carries nothing here: where it holds the machine, {GIVE}"
    return Flaw("start", what, remedy)


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
    residual = module.kernels["residual"]

    def jacobian(*at: Array) -> Array:
        return np.array(call("jacobian", *at)).reshape(len(rest.scale), len(rest.scale)).T

    def call(name: str, t: Array, x: Array, d: Array, m: Array, p: Array) -> Array:
        # Those that read no table of the run's own take the parameters alone.
        kernel = module.kernels[name]
        return kernel(t, x, d, m, p[: kernel.in_sizes[INPUTS.index("p")]])

    # Memory of charts comes last, and the system with Baumgarte's terms has none.
    n_memory = residual.in_sizes[INPUTS.index("m")]
    beyond = partial(call, "beyond") if rest.ranged else None
    return Balance(rest, module, residual, jacobian, partial(call, "conditions"), beyond, n_memory)


def share_balance(
    system: System, module: KernelModule, residual: Callable[..., Array], jacobian: Callable[..., Array]
) -> Balance | None:
    """The equations of rest from a module that gives rates and their slopes by the states; None where more is wanted:
    delayed signals, memory that tasks change, another way to keep constraints, conditions."""
    conditions = any(_conditions(system)) or _ranges(system)
    if system.delays or system.discrete.tasks or conditions or not _pulls_together(system):
        return None
    return Balance(_describe_rest(system, ()), module, residual, jacobian, residual, None, len(system.memory))


def trace_rest(system: System) -> RestEquations:
    """Residual and its exact Jacobian.

    Raises:
        ModelError: when a Python block would have to be at rest.
    """
    system = _pulled_together(system)
    python = [task.name for task in system.discrete.tasks if task.call is not None]
    if python:
        what = f"block '{python[0]}' is called in Python: whether it is at rest cannot be known"
        refuse("start", what, "give start values instead", system.scenario.name)
    n = system.n_moving
    x, d, m = system.symbols.x[:n], system.symbols.d, system.symbols.m
    after = _memory_after(system)
    # What noise has drawn goes on changing, and has no effect where noise counts as ideal.
    noisy = [block for block in system.scenario.machine.all_blocks if "drawn" in block.info.memory]
    drawn = {f"{block.name}.drawn" for block in noisy}
    changing = [k for k in changed_entries(m, after) if system.memory[k].name not in drawn]
    held, changes = m[changing, 0], after[changing, 0] - m[changing, 0]
    delayed = system.expressions.delayed - d if system.delays else ca.SX(0, 1)
    rates = ca.SX(system.expressions.rhs[:n])
    rates[_given_states(system)] = 0.0
    residual = ca.densify(ca.vertcat(rates, delayed, changes))
    rest, (moving, apart), ranged = _describe_rest(system, changing), _conditions(system), _ranges(system)
    columns = [*system.symbols]
    functions = {
        "residual": ca.Function("residual", columns, [residual]),
        "jacobian": build_jacobian("jacobian", columns, residual, ca.vertcat(x, d, held), FEW_CALLS),
        "conditions": system.function(to_column([*moving.values(), *apart.values()]), "conditions"),
    }
    if ranged:
        functions["beyond"] = system.function(ca.vertcat(*ranged.values()), "beyond")
    return replace(rest, moving=tuple(moving), apart=tuple(apart), ranged=tuple(ranged), functions=functions)


def _describe_rest(system: System, changing: Sequence[int]) -> RestEquations:
    """Names, places and magnitudes of the unknowns."""
    n = system.n_moving
    parts: list[StateInfo | DelayInfo] = [*system.states[:n], *system.delays]
    remembered = [system.memory[k].name for k in changing]
    scale = np.array([*(part.nominal for part in parts), *(1.0 for _ in remembered)], float)
    names = (*(part.name for part in parts), *remembered)
    blocks = system.scenario.machine.all_blocks
    # What is fixed has no sensitivity either: `d(friction.bristle)/d(...)` stays 0.
    bristles = {f"{block.name}.{state}" for block in blocks if block.info.disturbance for state in block.state_names}
    ideal = {f"{block.name}.{key}": value for block in blocks for key, value in block.info.ideal.items()}
    return RestEquations(
        names=names,
        rates=n,
        scale=scale,
        memory=tuple(changing),
        fixed=tuple(sorted({*(k for k, name in enumerate(names) if _owner(name) in bristles), *_given_states(system)})),
        ideal={k: ideal[p.name] for k, p in enumerate(system.parameters) if np.isfinite(ideal.get(p.name, np.inf))},
    )


def _conditions(system: System) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
    """Rates of references that are read, and depths of rigid contacts and end stops, by name.

    A reference is a block whose outputs depend on time alone; of these an output is a rate by its unit.
    """
    symbols, outputs, units = system.symbols, system.signal_expressions, system.signal_units
    read = {name for _, to, name in system.scenario.machine.references() if to == "signal"}
    columns = ca.vertcat(symbols.x, symbols.d, symbols.m), symbols.t
    varied, timed = (
        ca.which_depends(ca.vertcat(*outputs.values()), column, 1, True) if column.numel() else [False] * len(outputs)
        for column in columns
    )
    references = [name for name, by_state, by_time in zip(outputs, varied, timed, strict=True) if by_time > by_state]
    moving = {}
    for name in references:
        block = name.rpartition(".")[0]
        others = [units[other] for other in references if other.rpartition(".")[0] == block and units[other]]
        if name in read and any(same_quantity(f"({unit})/s", units[name]) for unit in others):
            moving[name] = outputs[name]
    bodies = system.watched_rows(Invariant.APART)
    apart = {watched.subject: system.expressions.watched[rows.start] for watched, rows in bodies}
    return moving, apart


def _ranges(system: System) -> dict[str, ca.SX]:
    """How far each coordinate that has a range is out of it, by name."""
    beyond = {}
    for coordinate in system.scenario.machine.coordinates:
        if coordinate.range is not None:
            (lower, upper), place = coordinate.range, system.motion.coordinates[coordinate.name]
            beyond[coordinate.name] = ca.fmax(lower - place, place - upper)
    return beyond


def _memory_after(system: System) -> ca.SX:
    """Memory after all tasks have run once, in their order."""
    m = system.symbols.m
    after = m
    for task in system.discrete.tasks:
        after = ca.substitute(system.memory_after(task), m, after)
    return after


class _Point:
    """Residual and Jacobian as functions of the scaled unknowns."""

    def __init__(self, system: System, balance: Balance, x: Array, m: Array, p: Array, time: float) -> None:
        self.system, self.balance, rest = system, balance, balance.rest
        self.t, self.x, self.m = np.array([time - JUST_BEFORE]), x, m
        self.p = balance.module.prepare(p)
        self.n_d = len(system.delays)
        before = [0.0 if delay.before is None else delay.before for delay in system.delays]
        self.z = np.concatenate([x[: rest.rates], before, m[list(rest.memory)]]) / rest.scale

    def at(self, z: Array) -> tuple[Array, Array, Array]:
        """States, delayed signals and memory at z."""
        rest = self.balance.rest
        n, values = rest.rates, z * rest.scale
        x, m = self.x.copy(), self.m.copy()
        x[:n] = values[:n]
        m[list(rest.memory)] = values[n + self.n_d :]
        return x, values[n : n + self.n_d], m

    def call(self, function: Callable[..., Array], z: Array) -> Array:
        """A function of (t, x, d, m, p) at z."""
        x, d, m = self.at(z)
        return np.array(function(self.t, x, d, m[: self.balance.n_memory], self.p))

    def rates(self, z: Array) -> Array:
        return self.call(self.balance.residual, z) / self.balance.rest.scale

    def conditions(self, z: Array) -> Array:
        """Rates of references and depths of contacts at z."""
        if not (self.balance.rest.moving or self.balance.rest.apart):
            return np.zeros(0)
        return self.call(self.balance.conditions, z)

    def is_beyond(self, z: Array) -> bool:
        """Whether a coordinate is out of its range at z."""
        beyond = self.balance.beyond
        return beyond is not None and not np.all(self.call(beyond, z) <= 0)

    def jacobian(self, z: Array) -> Array:
        scale = self.balance.rest.scale
        slopes = self.call(self.balance.jacobian, z) * scale / scale[:, None]
        # What is fixed takes part in no step; where it has no equation either, one of its own lets elimination do.
        fixed = np.array(self.balance.rest.fixed, dtype=np.int64)
        slopes[:, fixed] = 0.0
        alone = fixed[~slopes[fixed].any(axis=1)]
        slopes[alone, alone] = -1.0
        return slopes


def _solve(point: _Point) -> tuple[Array, int]:
    """Newton's method, by least squares where the equations do not fix a state; else the transient motion."""
    free = point.is_beyond(point.z)

    def rates(z: Array) -> tuple[Array, None]:
        # Beyond a range nothing counts: such a step is halved.
        return (point.rates(z) if free or not point.is_beyond(z) else np.full(z.shape, np.inf)), None

    solution = solve_newton(
        rates,
        lambda z, residual, _: _least_squares(point.jacobian(z), -residual, 1e-13),
        point.z.copy(),
        most_steps=NEWTON_STEPS,
        still=STILL,
        settled=SETTLED,
        uphill=True,
    )
    return (solution.z, solution.steps) if solution.solved else _continue_transient(point)


def _continue_transient(point: _Point) -> tuple[Array, int]:
    """(E / h - J) step = residual, E the identity for states with a rate; h grows as long as the steps stay small."""
    z, h = point.z.copy(), FIRST_STEP
    free = point.is_beyond(z)
    n = point.balance.rest.rates
    E = np.diag(np.arange(len(z)) < n).astype(float)
    residual = point.rates(z)
    for k in range(TRANSIENT_STEPS):
        step = _least_squares(E / h - point.jacobian(z), residual, None)
        if step is None:
            break
        step[list(point.balance.rest.fixed)] = 0.0
        fresh = point.rates(z + step)
        changes = np.abs(step) / (1 + np.abs(z))
        # What has no rate jumps with the rest, however short the step.
        small = np.all(np.isfinite(fresh)) and np.max(changes[:n], initial=0.0) <= LARGEST_CHANGE
        if not small or (not free and point.is_beyond(z + step)):
            h /= 3
            if h < SHORTEST_STEP:
                break
            continue
        z, residual, h = z + step, fresh, min(2 * h, 1e9)
        if np.max(changes) <= SETTLED and np.max(np.abs(residual)) <= STILL:
            return z, NEWTON_STEPS + k + 1
    return z, NEWTON_STEPS + TRANSIENT_STEPS


def _sample(z: Array, point: _Point, slopes: Array) -> Array:
    """The unknowns after tasks have run some times; states and sums, whose change does not depend on them, stay."""
    memory = np.arange(len(z) - len(point.balance.rest.memory), len(z))
    written = memory[np.abs(np.diag(slopes)[memory]) > SUM]
    sampled = z.copy()
    for _ in range(SAMPLES if written.size else 0):
        changes = point.rates(sampled)[written]
        sampled[written] += changes
        if np.all(np.abs(changes) <= SETTLED * (1 + np.abs(sampled[written]))):
            break
    return sampled


def _eliminate(J: Array, b: Array) -> Array | None:
    """The solution of J step = b; None where J is nearly singular."""
    from scipy.linalg import lapack

    factors, pivots, singular = lapack.dgetrf(J)
    if singular or not lapack.dgecon(factors, np.linalg.norm(J, 1))[0] > REGULAR:
        return None
    return lapack.dgetrs(factors, pivots, b)[0]


def _sizes(J: Array, axis: int) -> Array:
    """The largest magnitudes along an axis, 1 where there is nothing."""
    largest = np.abs(J).max(axis=axis, initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def _least_squares(J: Array, b: Array, rcond: float | None) -> Array | None:
    """The shortest step with J step = b; None where that has no numbers to go on with."""
    if not (np.all(np.isfinite(J)) and np.all(np.isfinite(b))):
        return None
    # Where the equations fix all, as mostly, elimination gives the same in a tenth of the time.
    step = _eliminate(J, b)
    if step is None:
        # Stiff springs beside slow loops only look singular, and so do sensitivities by small numbers: once more with
        # rows and columns that are drawn towards size 1.
        rows, columns = np.ones(len(J)), np.ones(len(J))
        for _ in range(BALANCED):
            scaled = np.abs(J / rows[:, None] / columns)
            rows, columns = rows * np.sqrt(_sizes(scaled, 1)), columns * np.sqrt(_sizes(scaled, 0))
        step = _eliminate(J / rows[:, None] / columns, b / rows)
        step = None if step is None else step / columns
    if step is not None:
        return step
    try:
        return np.linalg.lstsq(J, b, rcond=rcond)[0]
    except np.linalg.LinAlgError:  # the singular values of numbers very far apart are not found
        return None
