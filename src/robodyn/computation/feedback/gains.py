"""LQR, Kalman filter and Luenberger observer: which gains control and observe a sampled plant, by the Riccati equation?

u = -K z minimises sum z^T Q z + u^T R u          z the states, and the inputs that are still on their way
x <- x + L (y - C x) has the least variance       noise W of the states, V of the outputs, each sample
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.computation.feedback.sampled_plant import SampledPlant, Variable

Weights = Mapping[str, float] | np.ndarray
HIDDEN = 1e-9
"""Least singular value of [mu - A, B], over the largest, at which a motion can still be controlled."""
SHOWN = 0.05


@dataclass(frozen=True, eq=False)
class Regulator:
    """State feedback.

    Attributes:
        K: (n_inputs, n_states + inputs on their way); cost: P of the least cost z^T P z.
        multipliers: eigenvalues of A - B K: what a sample makes of each motion.
    """

    plant: SampledPlant
    K: np.ndarray
    cost: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class Observer:
    """Estimates states from outputs: x <- x + L (y - C x) at each sample, then x <- F x + sum G u.

    Attributes:
        L: (n_states, n_outputs); multipliers: eigenvalues of (1 - L C) F.
        covariance: of the error before a sample, of a Kalman filter.
    """

    plant: SampledPlant
    L: np.ndarray
    multipliers: np.ndarray
    covariance: np.ndarray | None = None


def design_regulator(plant: SampledPlant, states: Weights, inputs: Weights) -> Regulator:
    """Discrete linear-quadratic regulator (LQR), with the delay of its inputs.

    Args:
        states: weight of each state's square by name, 0 where not given, or Q; inputs: the same of inputs, or R.

    Raises:
        ModelError: where a motion that grows cannot be controlled: which one.
    """
    A, B = plant.augmented
    flaws = FlawList()
    Q, R = np.zeros_like(A), _weigh(flaws, "inputs", inputs, plant.inputs)
    n = len(plant.F)
    Q[:n, :n] = _weigh(flaws, "states", states, plant.states)
    if not flaws.found and np.min(np.linalg.eigvalsh(R)) <= 0:
        flaws.add("inputs", "weights must be positive", "each input costs something")
    flaws.raise_if_any("regulator")
    names = [*(v.name for v in plant.states), *(f"late {v.name}" for _ in plant.G[1:] for v in plant.inputs)]
    _check_reached(A, B, names, "controlled by the inputs", "choose inputs that move it")
    P = _solve(A, B, Q, R, "states", "weigh what must not drift")
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    return Regulator(plant, K, P, np.linalg.eigvals(A - B @ K))


def design_kalman_filter(plant: SampledPlant, states: Weights, outputs: Weights) -> Observer:
    """Steady Kalman filter.

    Args:
        states: variance of the noise that each state gets in a sample, by name, 0 where not given, or W.
        outputs: variance of the noise of each output, or V.
    """
    flaws = FlawList()
    W, V = _weigh(flaws, "states", states, plant.states), _weigh(flaws, "outputs", outputs, plant.outputs)
    if not flaws.found and np.min(np.linalg.eigvalsh(V)) <= 0:
        flaws.add("outputs", "variances must be positive", "give a small one for a good sensor")
    flaws.raise_if_any("Kalman filter")
    _check_observed(plant)
    P = _solve(plant.F.T, plant.C.T, W, V, "states", "give noise to what drifts")
    L = np.linalg.solve(V + plant.C @ P @ plant.C.T, plant.C @ P).T
    return Observer(plant, L, _error_multipliers(plant, L), P)


def design_observer(plant: SampledPlant, poles: Sequence[complex]) -> Observer:
    """Luenberger observer whose errors decay with given poles [1/s], as many as there are states."""
    # It takes as long to load as all else of the library.
    from scipy.signal import place_poles

    if len(poles) != len(plant.F):
        what = f"are {len(poles)}, the plant has {len(plant.F)} states"
        raise ModelError([Flaw("poles", what, "give one for each state")], "observer")
    _check_observed(plant)
    # (1 - L C) F has the eigenvalues of F - (F L) C: those of its transpose are placed.
    try:
        placed = place_poles(plant.F.T, plant.C.T, np.exp(np.asarray(poles, complex) * plant.period))
    except ValueError as error:
        raise ModelError([Flaw("poles", str(error), "give pairs, and not all the same")], "observer") from error
    L = np.linalg.solve(plant.F, placed.gain_matrix.T)
    return Observer(plant, L, _error_multipliers(plant, L))


def _error_multipliers(plant: SampledPlant, L: np.ndarray) -> np.ndarray:
    return np.linalg.eigvals((np.eye(len(plant.F)) - L @ plant.C) @ plant.F)


def _weigh(flaws: FlawList, path: str, given: Weights, variables: Sequence[Variable]) -> np.ndarray:
    """A diagonal matrix of weights by name, or the matrix itself."""
    names = [variable.name for variable in variables]
    if not isinstance(given, Mapping):
        matrix = np.atleast_2d(np.asarray(given, float))
        if matrix.shape != (len(names), len(names)):
            flaws.add(path, f"has shape {matrix.shape}, needs ({len(names)}, {len(names)}): {', '.join(names)}")
        return matrix
    for name in given:
        if name not in names:
            flaws.add(f"{path}.{name}", "is none of the plant", nearest(name, names))
    return np.diag([float(given.get(name, 0.0)) for name in names])


def _check_observed(plant: SampledPlant) -> None:
    names = [variable.name for variable in plant.states]
    _check_reached(plant.F.T, plant.C.T, names, "seen in the outputs", "measure something that shows it")


def _check_reached(A: np.ndarray, B: np.ndarray, names: Sequence[str], what: str, remedy: str) -> None:
    """Hautus: where [mu - A, B] loses rank for |mu| >= 1, a motion that does not decay is out of reach.

    States are scaled so that A's rows and columns are of like size, and B to one: the force of oil may be 1e9 times its
    compression.
    """
    from scipy.linalg import matrix_balance

    A, (scale, _) = matrix_balance(A, permute=False, separate=True)
    B = B / scale[:, None]
    B = B / max(float(np.abs(B).max(initial=0.0)), np.finfo(float).tiny)
    for mu in np.linalg.eigvals(A):
        if abs(mu) < 1 - HIDDEN:
            continue
        left, values, _ = np.linalg.svd(np.hstack([mu * np.eye(len(A)) - A, B]))
        if values[-1] <= HIDDEN * values[0]:
            shares = np.abs(left[:, -1])
            parts = [f"{share:.2g} {name}" for share, name in zip(shares, names, strict=True) if share > SHOWN]
            sentence = f"the motion of {', '.join(parts)} does not decay and cannot be {what}"
            raise ModelError([Flaw("plant", sentence, remedy)], "state feedback")


def _solve(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, path: str, remedy: str) -> np.ndarray:
    from scipy.linalg import solve_discrete_are

    try:
        return np.asarray(solve_discrete_are(A, B, Q, R))
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ModelError([Flaw(path, f"the Riccati equation has no solution: {error}", remedy)]) from error
