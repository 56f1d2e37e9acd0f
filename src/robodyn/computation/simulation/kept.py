"""Kept start values: which stay as given where a mechanism is assembled, and which contradict its constraints?

Without a word of the scenario (its `keep`): every velocity that is given stays, and of the positions that are given, in
their order, as many as the constraints leave free. The other positions are guesses: a loop that can be closed in two
ways is closed in the one near to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from robodyn.base.errors import Flaw
from robodyn.base.waiting import told_if_slow
from robodyn.computation.assembly.declarations import StateInfo
from robodyn.computation.assembly.system import System
from robodyn.computation.simulation.loop_assembly import (
    Assembled,
    Equations,
    check_kept,
    close,
    mark_joints,
    prepare_equations,
)

ELSEWHERE = 0.1
"""How far from the start freedoms are counted [rad, or lengths of the machine]: it may be a dead centre."""
INDEPENDENT = 1e-7
"""Part of the largest singular value of the gradients beyond which a direction counts."""
REMEDY = "change it, leave it out, give other positions better guesses, or name in 'keep' what is to stay"


@told_if_slow("assembling the mechanism of")
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
    equations = prepare_equations(system, parameters, time)
    x = np.array([(guess or {}).get(state.name, state.start) for state in system.states], float)
    kept = choose_kept(equations, x) if keep is None else tuple(keep)
    check_kept(equations, kept)
    found = close(equations.keeping(kept), x)
    return found if found.closed else replace(found, problems=_describe_conflict(equations, x, kept))


def find_kept(system: System) -> tuple[str, ...]:
    """Names of the start values that stay where a system is assembled."""
    equations = prepare_equations(system, {})
    return choose_kept(equations, equations.x)


def choose_kept(equations: Equations, x: np.ndarray) -> tuple[str, ...]:
    """What the scenario says, or all velocities and as many positions of those that it gives as are free."""
    scenario = equations.system.scenario
    if scenario.keep is not None:
        return scenario.keep
    n = equations.system.n_q
    given = [name for name in scenario.initial if name in equations.names]
    H = _gradients_elsewhere(equations, x)
    rank, free = _rank(H), np.ones(n)
    kept = []
    for name in given:
        column = equations.names.index(name)
        if column >= n:
            kept.append(name)
            continue
        free[column] = 0.0
        # A position can stay if the others can still follow every change of the constraints.
        if _rank(H * free) == rank:
            kept.append(name)
        else:
            free[column] = 1.0
    return tuple(kept)


def _gradients_elsewhere(equations: Equations, x: np.ndarray) -> np.ndarray:
    """H at a general position where the constraints are met."""
    n = equations.system.n_q
    nearby = x.copy()
    nominal = np.array([state.nominal for state in equations.system.states[:n]])
    scattered = ELSEWHERE * mark_joints(equations.system)[:n] * nominal
    nearby[:n] += scattered * np.random.default_rng(1).standard_normal(n)
    return equations.at(close(equations, nearby).x)[1] * nominal


def _rank(H: np.ndarray) -> int:
    sizes = np.linalg.svd(H, compute_uv=False)
    return int(np.sum(sizes > INDEPENDENT * max(float(np.max(sizes, initial=0.0)), 1e-300)))


def _describe_conflict(equations: Equations, x: np.ndarray, kept: Sequence[str]) -> tuple[Flaw, ...]:
    """The first kept value with which the constraints cannot be met, and what it would be without being kept.

    Velocities come last: whether they fit is known at the positions only.
    """
    ordered = sorted(kept, key=lambda name: equations.names.index(name) >= equations.system.n_q)
    nearest = close(equations.keeping(()), x)
    if not nearest.closed:
        return nearest.describe_left()
    for count, name in enumerate(ordered):
        found = close(equations.keeping(ordered[: count + 1]), x)
        if not found.closed:
            k = equations.names.index(name)
            return (_describe_value(equations.system.states[k], (x[k], nearest.x[k]), ordered[:count]),)
        nearest = found
    return ()


def _describe_value(state: StateInfo, values: tuple[float, float], beside: Sequence[str]) -> Flaw:
    """A value that cannot stay, and the one that could, beside others that do."""
    given, fits = values
    if abs(fits) < 1e-12 * abs(given):
        fits = 0.0
    asks = f"beside {', '.join(beside)} the constraints ask for" if beside else "the nearest that meets them is"
    what = f"{given:.6g} {state.unit} cannot be kept with the constraints met: {asks} {fits:.6g} {state.unit}"
    return Flaw(f"initial.{state.name}", f"{what}, {fits - given:+.3g} {state.unit}", REMEDY)
