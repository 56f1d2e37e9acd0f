"""State feedback: sampled plants, gains of regulators and observers, and the law that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from robodyn.base import Array, FlawList, frozen, refuse
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block, Floats

if TYPE_CHECKING:
    from robodyn.analysis.linear.linear_model import LinearModel


# --------------------------------------------------------------------------------------------------
# Sampled plant (zero-order hold): how does a linear model go on from sample to sample, its inputs held, and late?
#
#     x_{k+1} = F x_k + sum_j G_j u_{k-j},   y_k = C x_k
#
# exactly, for inputs that take effect a delay after their sample, which need not be a whole number of periods.


ALIKE = 1e-9
"""Part of a period by which a delay may miss a whole number of them."""


@frozen
class Variable:
    """A state, input or output of a linear model; value: where it is at the operating point."""

    name: str
    unit: str = ""
    value: float = 0.0


@frozen(eq=False)
class SampledPlant:
    """A linear model at its samples.

    Attributes:
        F: (n, n); G: one (n, n_inputs) for the newest input and for each one before it; C: (n_outputs, n).
        period, delay: [s].
    """

    F: Array
    G: tuple[Array, ...]
    C: Array
    period: float
    delay: float
    states: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    @cached_property
    def augmented(self) -> tuple[Array, Array]:
        """A and B of the states followed by the inputs on their way, the latest first: z_{k+1} = A z_k + B u_k."""
        n, m, past = len(self.F), len(self.inputs), len(self.G) - 1
        A, B = np.zeros((n + past * m, n + past * m)), np.zeros((n + past * m, m))
        A[:n], B[:n] = np.hstack([self.F, *self.G[1:]]), self.G[0]
        if past:
            B[n : n + m] = np.eye(m)
            A[n + m :, n:-m] = np.eye((past - 1) * m)
        return A, B


def sample_plant(model: LinearModel, period: float, delay: float = 0.0) -> SampledPlant:
    """A linear model without delays of its own, seen by a controller that samples it.

    Args:
        delay: from a sample to the effect of what is commanded at it [s].
    """
    flaws = FlawList()
    if model.delays:
        flaws.add("model", f"has the delay '{model.delays[0].name}'", "with_pade approximates it")
    if model.D.any():
        flaws.add("model.D", "outputs follow inputs at once", "leave such outputs out, or give a delay")
    for key, value in (("period", period), ("delay", delay)):
        if not (math.isfinite(value) and (value > 0 or (key == "delay" and value == 0))):
            flaws.add(key, f"must be {'positive' if key == 'period' else '0 or more'}, is {value:g} s")
    flaws.raise_if_any("sampled plant")
    variables = (model.states, model.inputs, model.outputs)
    return hold_plant(model.A, model.B, model.C, period, delay, *variables)


def hold_plant(
    A: Array,
    B: Array,
    C: Array,
    period: float,
    delay: float,
    states: tuple[Variable, ...],
    inputs: tuple[Variable, ...],
    outputs: tuple[Variable, ...],
) -> SampledPlant:
    """x' = A x + B u, y = C x from sample to sample, u held and late."""
    whole = math.floor(delay / period + ALIKE)
    late = max(delay - whole * period, 0.0)
    late = 0.0 if late < ALIKE * period else late
    # Until `late`, the input of one sample before still acts.
    F_rest, G_rest = _hold(A, B, period - late)
    _, G_late = _hold(A, B, late)
    n, m = B.shape
    acting = [G_rest, *((F_rest @ G_late,) if late else ())]
    F, _ = _hold(A, B, period)
    return SampledPlant(F, (*[np.zeros((n, m))] * whole, *acting), C, period, delay, states, inputs, outputs)


def _hold(A: Array, B: Array, time: float) -> tuple[Array, Array]:
    """exp(A t), and the integral of exp(A s) B over that time."""
    n, m = B.shape
    rates = np.zeros((n + m, n + m))
    rates[:n, :n], rates[:n, n:] = A, B
    # Loaded where it is used: it takes as long as a fifth of all that a run needs.
    from scipy.linalg import expm

    transition = expm(rates * time)
    return transition[:n, :n], transition[:n, n:]


# --------------------------------------------------------------------------------------------------
# LQR, Kalman filter and Luenberger observer: which gains control and observe a sampled plant, by the Riccati equation?
#
# u = -K z minimises sum z^T Q z + u^T R u          z the states, and the inputs that are still on their way x <- x + L
# (y - C x) has the least variance       noise W of the states, V of the outputs, each sample


Weights = Mapping[str, float] | Array
HIDDEN = 1e-9
"""Least singular value of [mu - A, B], over the largest, at which a motion can still be controlled."""
SHOWN = 0.05


@frozen(eq=False)
class Regulator:
    """State feedback.

    Attributes:
        K: (n_inputs, n_states + inputs on their way); cost: P of the least cost z^T P z.
        multipliers: eigenvalues of A - B K: what a sample makes of each motion.
    """

    plant: SampledPlant
    K: Array
    cost: Array
    multipliers: Array


@frozen(eq=False)
class Observer:
    """Estimates states from outputs: x <- x + L (y - C x) at each sample, then x <- F x + sum G u.

    Attributes:
        L: (n_states, n_outputs); multipliers: eigenvalues of (1 - L C) F.
        covariance: of the error before a sample, of a Kalman filter.
    """

    plant: SampledPlant
    L: Array
    multipliers: Array
    covariance: Array | None = None


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
        refuse("poles", what, "give one for each state", "observer")
    _check_observed(plant)
    # (1 - L C) F has the eigenvalues of F - (F L) C: those of its transpose are placed.
    try:
        placed = place_poles(plant.F.T, plant.C.T, np.exp(np.asarray(poles, complex) * plant.period))
    except ValueError as error:
        refuse("poles", str(error), "give pairs, and not all the same", source="observer")
    L = np.linalg.solve(plant.F, placed.gain_matrix.T)
    return Observer(plant, L, _error_multipliers(plant, L))


def _error_multipliers(plant: SampledPlant, L: Array) -> Array:
    return np.linalg.eigvals((np.eye(len(plant.F)) - L @ plant.C) @ plant.F)


def _weigh(flaws: FlawList, path: str, weights: Weights, variables: Sequence[Variable]) -> Array:
    """A diagonal matrix of weights by name, or the matrix itself."""
    names = [variable.name for variable in variables]
    if not isinstance(weights, Mapping):
        matrix = np.atleast_2d(np.asarray(weights, float))
        if matrix.shape != (len(names), len(names)):
            flaws.add(path, f"has shape {matrix.shape}, needs ({len(names)}, {len(names)}): {', '.join(names)}")
        return matrix
    flaws.add_unknown(weights, names, "is not part of the plant", path)
    return np.diag([float(weights.get(name, 0.0)) for name in names])


def _check_observed(plant: SampledPlant) -> None:
    names = [variable.name for variable in plant.states]
    _check_reached(plant.F.T, plant.C.T, names, "seen in the outputs", "measure something that shows it")


def _check_reached(A: Array, B: Array, names: Sequence[str], what: str, remedy: str) -> None:
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
            refuse("plant", sentence, remedy, "state feedback")


def _solve(A: Array, B: Array, Q: Array, R: Array, path: str, remedy: str) -> Array:
    from scipy.linalg import solve_discrete_are

    try:
        return np.asarray(solve_discrete_are(A, B, Q, R))
    except (np.linalg.LinAlgError, ValueError) as error:
        refuse(path, f"the Riccati equation has no solution: {error}", remedy)


# --------------------------------------------------------------------------------------------------
# State controller (LQR, LQG) and observer: how do a regulator and an observer become a block of a machine?
#
# At each sample, in deviations from the operating point:
#
#     x <- x + L (y - C x),   u = -K [x, u_1, u_2 ...],   x <- F x + G_0 u + G_1 u_1 + ...
#
# u_1, u_2 ... being the inputs that are still on their way. The law is traced like any other.


Rows = tuple[Floats, ...]


def state_controller(
    name: str, regulator: Regulator, observer: Observer | None = None, acts: Mapping[str, Any] | None = None
) -> Block:
    """A sampled block that commands the plant's inputs, `<name>.command.0` and so on.

    It reads the plant's outputs and estimates the states, `<name>.estimate.0` and so on; without an observer it reads
    the states themselves (LQR).

    Args:
        acts: joints or coordinates that the commands act on, such as `{"command": ("rail",)}`.
    """
    plant = regulator.plant
    if observer is not None and observer.plant is not plant:
        refuse("observer", "is that of another plant", "design both for the same one", name)
    law = _law(plant, observer, regulator)
    held = {f"command.{k}": value for k, value in enumerate(law.commanded)}
    inputs = {"measured": tuple(variable.name for variable in (plant.outputs if observer else plant.states))}
    return _block(name, law, inputs, held, acts or {}, plant)


def state_observer(name: str, observer: Observer) -> Block:
    """A sampled block that estimates the states, `<name>.estimate.0` and so on, from outputs and inputs of the plant.

    Inputs count as held between samples.
    """
    plant = observer.plant
    law = _law(plant, observer, None)
    inputs = {
        "measured": tuple(variable.name for variable in plant.outputs),
        "applied": tuple(variable.name for variable in plant.inputs),
    }
    return _block(name, law, inputs, {}, {}, plant)


def _law(plant: SampledPlant, observer: Observer | None, regulator: Regulator | None) -> StateLaw:
    read = plant.outputs if observer else plant.states
    C, L = (plant.C, observer.L) if observer else (np.eye(len(plant.F)),) * 2
    return StateLaw(
        _rows(plant.F),
        _rows(C),
        _rows(L),
        _rows(regulator.K) if regulator else (),
        tuple(_rows(G) for G in plant.G),
        tuple(variable.value for variable in read),
        tuple(variable.value for variable in plant.inputs),
        tuple(variable.value for variable in plant.states) if observer else (),
    )


def _block(
    name: str,
    law: StateLaw,
    inputs: Mapping[str, Any],
    held: Mapping[str, float],
    acts: Mapping[str, Any],
    plant: SampledPlant,
) -> Block:
    estimates = {f"estimate.{k}": value for k, value in enumerate(law.estimated)}
    start: dict[str, Any] = {"hold": {**held, **estimates}, "period": plant.period, "delay": plant.delay}
    return Block(name, law, inputs=inputs, acts=acts, **start)


def _rows(matrix: Array) -> Rows:
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


@frozen
class StateLaw:
    """The law of a state controller, or of an observer alone where it has no gains K.

    Attributes:
        seen, commanded: outputs and inputs at the operating point; estimated: states there, none where they are read.
    """

    F: Rows
    C: Rows
    L: Rows
    K: Rows
    G: tuple[Rows, ...]
    seen: Floats
    commanded: Floats
    estimated: Floats

    @property
    def __name__(self) -> str:
        return "state_controller"

    @property
    def _predicted(self) -> list[str]:
        return [f"predicted{k}" for k in range(len(self.F))]

    @property
    def _late(self) -> list[str]:
        """Names of the inputs on their way, the latest first."""
        return [f"late{j}_{k}" for j in range(1, len(self.G)) for k in range(len(self.commanded))]

    @property
    def law_info(self) -> LawInfo:
        return LawInfo(memory=dict.fromkeys([*self._predicted, *self._late], 0.0))

    @property
    def __signature__(self) -> Signature:
        names = ["measured", *(() if self.K else ("applied",)), *self._predicted, *self._late]
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, measured: Any, applied: Any = (), **memory: Any) -> dict[str, Any]:
        x, late = [memory[name] for name in self._predicted], [memory[name] for name in self._late]
        y = _subtract(measured, self.seen)
        x = _add(x, _times(self.L, [one - guess for one, guess in zip(y, _times(self.C, x), strict=True)]))
        u = [-one for one in _times(self.K, [*x, *late])] if self.K else _subtract(applied, self.commanded)
        sent, n = [*u, *late], len(u)
        following = _times(self.F, x)
        for j, G in enumerate(self.G):
            following = _add(following, _times(G, sent[j * n : (j + 1) * n]))
        remembered = zip([*self._predicted, *self._late], [*following, *sent[: len(late)]], strict=True)
        results: dict[str, Any] = {f"{name}_next": value for name, value in remembered}
        results |= {"command": tuple(_add(u, self.commanded))} if self.K else {}
        return results | ({"estimate": tuple(_add(x, self.estimated))} if self.estimated else {})


def _subtract(signals: Any, values: Floats) -> list[Any]:
    several = signals if isinstance(signals, (tuple, list)) else (signals,)
    return [one - value for one, value in zip(several, values, strict=True)]


def _add(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(first, second, strict=True)]


def _times(matrix: Rows, column: Sequence[Any]) -> list[Any]:
    """A matrix of numbers times a column of numbers or symbols; zeros cost nothing."""
    return [sum(a * x for a, x in zip(row, column, strict=True) if a != 0) for row in matrix]


# --------------------------------------------------------------------------------------------------
# Pade approximation: which small linear system behaves like a pure delay?
#
# The Pade approximation of order n of the delay,
#
#     e^(-s tau) = (coth z - 1) / (coth z + 1),  z = s tau / 2,
#     coth z = 1/z + 1/(3/z + 1/(5/z + ... + 1/((2 n - 1)/z))),
#
# is the continued fraction cut after n terms: a ladder of n integrators. Built as that ladder it has no large
# coefficients, is stable and all-pass for every order.
#
# A model whose signals w are delayed, with what comes out of them d,
#
#     x' = A x + B u + E d,   w = F x + G u + H d,   y = C x + D u + K d,
#
# has A, B, C, D alone once finite lines z' = a z + b w, d = c z + e w stand for its delays.


Parts: TypeAlias = tuple[Array, Array, Array]


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u."""

    A: Array
    B: Array
    C: Array
    D: Array


def approximate_delay(time: float, order: int) -> StateSpace:
    """State space of the Pade approximation (order over order) of a delay.

    State k integrates the flow at rung k of the ladder: currents i at the odd rungs, voltages v at the even ones,

        x_k' = (2 k - 1) (2 / tau) (i or v, less what flows off before rung k),
        u = v + i,  y = v - i.

    Args:
        time: the delay [s], positive.
        order: 0 is no delay at all, y = u.
    """
    _check(time, order)
    rung = np.arange(order)
    # Sums over the last rung's kind are known; the other kind's follow from u = v + i.
    known = (rung % 2 == (order - 1) % 2).astype(float)
    flow = np.outer(1 - 2 * known, known)
    flow -= (rung[None, :] < rung[:, None]) & ((rung[:, None] - rung[None, :]) % 2 == 1)
    gains = (2 * rung + 1) * 2 / time
    sign = float((-1) ** order)
    return StateSpace(gains[:, None] * flow, (gains * known)[:, None], -2 * sign * known[None, :], np.array([[sign]]))


def close_lines(rates: Parts, delayed: Parts, outputs: Parts, line: StateSpace) -> StateSpace:
    """A model with lines in the place of its delays, its states followed by theirs.

        d = (I - e H)^-1 (c z + e F x + e G u)

    Args:
        rates, delayed, outputs: (A, B, E), (F, G, H), (C, D, K); line: of all delays together.

    Raises:
        LinAlgError: where lines that feed one another make an algebraic loop.
    """
    (A, B, E), (F, G, H), (C, D, K) = rates, delayed, outputs
    through = np.eye(len(H)) - line.D @ H
    of_z, of_x, of_u = (np.linalg.solve(through, part) for part in (line.C, line.D @ F, line.D @ G))
    w_of_x, w_of_u, w_of_z = F + H @ of_x, G + H @ of_u, H @ of_z
    return StateSpace(
        np.block([[A + E @ of_x, E @ of_z], [line.B @ w_of_x, line.A + line.B @ w_of_z]]),
        np.vstack([B + E @ of_u, line.B @ w_of_u]),
        np.hstack([C + K @ of_x, K @ of_z]),
        D + K @ of_u,
    )


@lru_cache(maxsize=16)
def join_lines(times: tuple[float, ...], order: int) -> StateSpace:
    """Pade approximations of several delays as one system, one after the other."""
    # Loaded where it is used: a plain run needs none of it.
    from scipy.linalg import block_diag

    lines = [approximate_delay(time, order) for time in times]
    return StateSpace(*(block_diag(*parts) for parts in zip(*lines, strict=True)))


def _check(time: float, order: int) -> None:
    if not time > 0:
        refuse("time", f"a delay must be positive, is {time:g} s")
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        refuse("order", f"must be a whole number of at least 0, is {order!r}")
