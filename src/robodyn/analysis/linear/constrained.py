"""Linearisation under constraints: which model does a machine have in as few coordinates as it can move in?

Linearised in all coordinates, a machine with k constraint equations has 2 k states too many: errors of the constraints
and of their rates, which decay by themselves. Motions that keep the constraints,

    [dh/dq  0    ] [dq]
    [dh'/dq dh/dq] [dv] = 0,   dx = N dy,

never leave this space, so that y' = S A N y + S B u, where y are some of the states themselves and S picks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from scipy.linalg import qr

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.linearisation import find_tangent
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import System

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
    by_states, by_inputs = _constraint_slopes(model, system)
    places = _find_places(model, system, keep)
    N, chosen = free_motions(by_states, places)
    _check_inputs(model, by_states, by_inputs)
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


def _constraint_slopes(model: LinearModel, system: System) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of all constraints and their rates by the model's states, (2 k, order), and inputs."""
    flaws, point, n = FlawList(), model.point, model.order + system.n_q - system.n_v
    if not system.motion.constraint_forces:
        what = f"'{system.scenario.name}' has no constraints"
        flaws.add("system", what, "its linear model is in free coordinates as it is")
    if point is None:
        flaws.add("model", "does not know its operating point", "take one of `linearise`")
    flaws.raise_if_any("linear model")
    assert point is not None
    tunable = [number.name for number in system.parameters]
    columns = [system.symbols.x[:n], *(system.symbols.p[tunable.index(one.name)] for one in model.inputs)]
    matrix = PointFunctions(system, {}, (system.expressions.constraints, ca.vertcat(*columns))).slopes(point)
    tangent = find_tangent(system, point.x[:n], np.zeros(n), range(n))
    return matrix[:, :n] @ tangent.into, matrix[:, n:]


def free_motions(gradients: np.ndarray, first: Sequence[int] = ()) -> tuple[np.ndarray, list[int]]:
    """Motions that keep linear constraints, as a function of some of the states: x = N x[chosen].

    Args:
        gradients: (2 k, n); first: states to choose before others.
    """
    _, sizes, Vh = np.linalg.svd(gradients)
    rank = int(np.sum(sizes > RANK * sizes.max(initial=0.0)))
    basis = Vh[rank:].T
    chosen = _independent_rows(basis, first)
    return np.linalg.solve(basis[chosen].T, basis.T).T, chosen


def _independent_rows(basis: np.ndarray, first: Sequence[int]) -> list[int]:
    """Rows that determine all others: the first ones as given, the rest by pivots (those that move most)."""
    forced = list(first)
    left = basis
    if forced:
        R = qr(basis[forced].T, mode="r")[0]
        if len(forced) > basis.shape[1] or np.abs(np.diag(R)).min() < RANK:
            raise ModelError([Flaw("keep", "these joints do not move independently", "name fewer of them")])
        Q = np.linalg.qr(basis[forced].T)[0]
        left = basis - basis @ Q @ Q.T
    pivots = qr(left.T, mode="r", pivoting=True)[1]
    return sorted([*forced, *pivots[: basis.shape[1] - len(forced)].tolist()])


def _find_places(model: LinearModel, system: System, keep: Sequence[str]) -> list[int]:
    """Positions and velocities of the kept joints among the states."""
    names = [state.name for state in model.states]
    joints = [name.removesuffix(".position") for name in names if name.endswith(".position")]
    flaws, n = FlawList(), len(names) + system.n_q - system.n_v
    tangent = find_tangent(system, np.array([state.start for state in system.states[:n]]), np.zeros(n), range(n))
    if names != [variable.name for variable in tangent.variables]:
        flaws.add("model", "is not one of this system in all its coordinates", "take `linearise(system, ...)`")
    flaws.add_unknown(keep, joints, "is no moving joint", "keep")
    flaws.raise_if_any("linear model")
    return [names.index(f"{joint}.{part}") for part in ("position", "velocity") for joint in keep]


def _check_inputs(model: LinearModel, by_states: np.ndarray, by_inputs: np.ndarray) -> None:
    """An input that changes a constraint itself, or drives its error, has no place in free coordinates."""
    flaws = FlawList()
    driven = by_states @ model.B
    size = np.abs(by_states).max() * np.abs(model.B).max(axis=0, initial=0.0)
    for k, variable in enumerate(model.inputs):
        if by_inputs[:, k].any() or np.any(np.abs(driven[:, k]) > STILL * size[k]):
            flaws.add(f"inputs.{variable.name}", "moves the constraints", "linearise in all coordinates instead")
    flaws.raise_if_any("linear model")
