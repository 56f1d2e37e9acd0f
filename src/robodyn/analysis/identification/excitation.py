"""Experiment design: which motion tells most of a machine's base parameters, within its limits?

Symbols: Y regressor of the base parameters by the noise of the efforts, F = sum_t Y_t^T Y_t their information.

    D: maximise log det F,   A: minimise the sum of relative variances, trace(S F^-1 S)

over Fourier series q_i(t) = c_i + sum_k a_ik sin(k w t) + b_ik cos(k w t) that begin at rest (Swevers et al. 1997).
Slopes are exact: with G = dJ/dY, the gradient by a motion is that of the number <G, Y(q, v, a)>, one reverse sweep of
the traced graph. Limits are penalties in the search; what is found is drawn together until it keeps all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.identification.base_parameters import BaseParameters, find_base_parameters
from robodyn.analysis.identification.regressor import Regressor, make_regressor
from robodyn.errors import Flaw, FlawList, ModelError
from robodyn.model import Scenario
from robodyn.native import compile_kernels
from robodyn.results.signal import Floats
from robodyn.waiting import told_if_slow

SAMPLES, CHECKED = 60, 1000
"""Instants of a period in the search, and in the check of limits."""
PENALTIES = (10.0, 1000.0)
WITHIN = 0.98
"""Share of a limit that is used."""
HARDLY = 1.0
"""Predicted deviation, by the value, beyond which an experiment hardly tells a number."""
CRITERIA = ("D", "A")


@dataclass(frozen=True)
class AxisSeries:
    """The series of one joint, as `multisine_reference` takes it."""

    joint: str
    sines: tuple[float, ...]
    cosines: tuple[float, ...]
    offset: float


@dataclass(frozen=True, eq=False)
class Excitation:
    """A designed experiment.

    Attributes:
        frequency: of the series [Hz]; information: log det F of a random motion within the limits, and of this one.
        deviations: predicted relative standard deviation of each base parameter after one period.
        hardly_told: base parameters that even this motion hardly tells.
        use: largest share of each limit that is used.
    """

    axes: tuple[AxisSeries, ...]
    frequency: float
    criterion: str
    information: tuple[float, float]
    deviations: dict[str, float]
    hardly_told: tuple[str, ...]
    use: dict[str, float]

    def at(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """Positions, velocities and accelerations at times [s], (n, joints) each."""
        basis = _basis(time, self.frequency, len(self.axes[0].sines))
        columns = np.array([[axis.offset, *axis.sines, *axis.cosines] for axis in self.axes]).T
        return basis[0] @ columns, basis[1] @ columns, basis[2] @ columns

    def as_plain(self) -> dict[str, Any]:
        """As plain dictionaries, lists and numbers, for JSON."""
        return asdict(self)


@told_if_slow("designing an experiment for")
def design_excitation(
    scenario: Scenario,
    *,
    frequency: float = 0.1,
    harmonics: int = 5,
    criterion: str = "D",
    noise: float = 0.02,
    rate: float = 100.0,
    limits: Mapping[str, float] | None = None,
    seed: int = 0,
    iterations: int = 60,
) -> Excitation:
    """Fourier series that tell most of a machine's base parameters.

    Args:
        frequency: of the series [Hz]: one over its period.
        noise: of measured efforts, by each joint's effort limit, or its greatest effort where there is none.
        rate: independent samples a second that will be measured, for the predicted deviations.
        limits: further ones or others than the joints': `elbow.speed_limit`, `elbow.lower_limit` and so on.
    """
    flaws = FlawList()
    if criterion not in CRITERIA:
        flaws.add("criterion", f"must be {' or '.join(CRITERIA)}, is {criterion!r}")
    for key, value in (("frequency", frequency), ("harmonics", harmonics), ("noise", noise), ("rate", rate)):
        if not value > 0:
            flaws.add(key, f"must be positive, is {value:g}")
    flaws.raise_if_any("excitation")
    regressor = make_regressor(scenario)
    if regressor.closure:
        what = "joints that follow others by constraints cannot be moved by series of their own"
        raise ModelError([Flaw("constraints", what, "design the motion of the open chain")], "excitation")
    kept = _find_limits(scenario, regressor, limits or {})
    problem = _Problem(regressor, kept, frequency, harmonics, noise, criterion)
    return problem.solve(seed, iterations, rate)


def _find_limits(scenario: Scenario, regressor: Regressor, given: Mapping[str, float]) -> dict[str, Floats]:
    """Limits of all joints: lower, upper, speed, acceleration, effort; infinite where there is none."""
    mechanism = scenario.machine.mechanism
    assert mechanism is not None
    flaws = FlawList()
    joints = {joint.name: joint for joint in mechanism.joints}
    known = {f"{name}.{key}" for name in regressor.joints for key in LIMITS}
    for name in given:
        if name not in known:
            flaws.add(name, "is no limit of a joint", f"JOINT.{', JOINT.'.join(LIMITS)}")
    found = {}
    for key in LIMITS:
        own = [given.get(f"{name}.{key}", getattr(joints[name], key)) for name in regressor.joints]
        for name, value in zip(regressor.joints, own, strict=True):
            if value is None and key in ("lower_limit", "upper_limit", "speed_limit"):
                flaws.add(f"{name}.{key}", "is needed to design an experiment", "give it to the joint, or as a limit")
        found[key] = np.array([np.inf if value is None else value for value in own])
    flaws.raise_if_any("excitation")
    return found


LIMITS = ("lower_limit", "upper_limit", "speed_limit", "acceleration_limit", "effort_limit")


class _Problem:
    """Cost and gradient by the coefficients y of all series, (2 harmonics - 1) each: offset and what begins at rest."""

    scale: Floats

    def __init__(
        self,
        regressor: Regressor,
        limits: dict[str, Floats],
        frequency: float,
        harmonics: int,
        noise: float,
        criterion: str,
    ) -> None:
        self.regressor, self.limits, self.frequency, self.criterion = regressor, limits, frequency, criterion
        self.base: BaseParameters = find_base_parameters(regressor)
        self.kept = list(self.base.kept)
        self.n, self.harmonics, self.noise = len(regressor.joints), harmonics, noise
        self.basis = _basis(np.arange(SAMPLES) / (SAMPLES * frequency), frequency, harmonics)
        k = np.arange(1, harmonics + 1)
        # At the start sum k a_k = 0 (speed) and sum k^2 b_k = 0 (acceleration).
        rest = np.zeros((2, 2 * harmonics + 1))
        rest[0, 1 : harmonics + 1], rest[1, harmonics + 1 :] = k, k**2
        self.free = np.linalg.svd(rest)[2][2:].T
        self.theta = self.base.G @ regressor.given
        self.sizes = np.ones(self.n)
        self.penalty = PENALTIES[0]
        self.reverse = self._trace_reverse()

    def _trace_reverse(self) -> Any:
        """(q, v, a; G; e) -> gradient of <G, Y_kept> + e . tau_0 by (q, v, a)."""
        state = ca.SX.sym("state", 3 * self.n)
        Y, fixed = self.regressor.function(*ca.vertsplit(state, self.n))
        Y = Y[:, self.kept]
        G, e = ca.SX.sym("G", self.n, len(self.kept)), ca.SX.sym("e", self.n)
        slope = ca.gradient(ca.dot(G, ca.densify(Y)) + ca.dot(e, fixed), state)
        function = ca.Function("reverse", [state, ca.vec(G), e], [ca.densify(slope)])
        return compile_kernels({"reverse": function}, None).kernels["reverse"]

    def coefficients(self, y: Floats) -> Floats:
        """Offset, sines, cosines of each joint, (2 harmonics + 1, n)."""
        return self.free @ y.reshape(self.free.shape[1], self.n)

    def motion(self, y: Floats, basis: tuple[Floats, Floats, Floats] | None = None) -> tuple[Floats, Floats, Floats]:
        c = self.coefficients(y)
        q, v, a = (part @ c for part in basis or self.basis)
        return q, v, a

    def cost(self, y: Floats) -> tuple[float, Floats]:
        q, v, a = self.motion(y)
        Y, fixed = self.regressor(q, v, a)
        Y = Y[:, :, self.kept]
        X = Y / self.sizes[:, None] / self.scale
        F = np.einsum("tjk,tjl->kl", X, X) + 1e-9 * np.eye(len(self.kept))
        inverse = np.linalg.inv(F)
        if self.criterion == "D":
            value, weight = -np.linalg.slogdet(F)[1], -2 * inverse
        else:
            value, weight = float(np.log(np.trace(inverse))), -2 * inverse @ inverse / np.trace(inverse)
        G = X @ weight / self.sizes[:, None] / self.scale
        tau = Y @ self.theta + fixed
        over, slope = _excess(tau, -self.limits["effort_limit"], self.limits["effort_limit"])
        G = G + self.penalty * slope[:, :, None] * self.theta
        gq, gv, ga = self._gradients(q, v, a, G, self.penalty * slope)
        value += self.penalty * over
        for x, g, low, high in (
            (q, gq, self.limits["lower_limit"], self.limits["upper_limit"]),
            (v, gv, -self.limits["speed_limit"], self.limits["speed_limit"]),
            (a, ga, -self.limits["acceleration_limit"], self.limits["acceleration_limit"]),
        ):
            over, slope = _excess(x, low, high)
            value += self.penalty * over
            g += self.penalty * slope
        gradient = self.free.T @ sum(part.T @ g for part, g in zip(self.basis, (gq, gv, ga), strict=True))
        return float(value), gradient.ravel()

    def _gradients(self, q: Floats, v: Floats, a: Floats, G: Floats, e: Floats) -> tuple[Floats, Floats, Floats]:
        states = np.hstack([q, v, a])
        found = np.array(
            [self.reverse(s, g.ravel(order="F"), w) for s, g, w in zip(states, G, np.ascontiguousarray(e), strict=True)]
        )
        gq, gv, ga = np.split(found, 3, axis=1)
        return gq.copy(), gv.copy(), ga.copy()

    def solve(self, seed: int, iterations: int, rate: float) -> Excitation:
        from scipy.optimize import minimize

        y = self._start(seed)
        before = self._information(self._keep_limits(y))
        for self.penalty in PENALTIES:
            y = minimize(self.cost, y, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x
        y = self._keep_limits(y)
        return self._result(y, before, rate)

    def _start(self, seed: int) -> Floats:
        """A random motion about the middle of the range, within the limits."""
        rng = np.random.default_rng(seed)
        k = np.arange(1, self.harmonics + 1)
        falling = np.concatenate([[0.0], 1 / k, 1 / k])
        wide = rng.normal(0, 1, (len(falling), self.n)) * falling[:, None]
        span = (self.limits["upper_limit"] - self.limits["lower_limit"]) / 4
        middle = (self.limits["upper_limit"] + self.limits["lower_limit"]) / 2
        wide[1:] *= span / np.sqrt(np.sum(wide[1:] ** 2, axis=0))
        wide[0] = middle
        y = (self.free.T @ wide).ravel()
        self.scale = np.ones(len(self.kept))
        y = self._keep_limits(y)
        Y, fixed = self.regressor(*self.motion(y))
        efforts = np.abs(Y[:, :, self.kept] @ self.theta + fixed).max(axis=0)
        limit = self.limits["effort_limit"]
        self.sizes = np.maximum(self.noise * np.where(np.isfinite(limit), limit, efforts), 1e-9)
        lengths = np.linalg.norm((Y[:, :, self.kept] / self.sizes[:, None]).reshape(-1, len(self.kept)), axis=0)
        self.scale = np.maximum(lengths, 1e-9 * lengths.max())
        return y

    def _uses(self, y: Floats) -> dict[str, Floats]:
        """Share of each limit that a motion uses, by joint."""
        basis = _basis(np.arange(CHECKED) / (CHECKED * self.frequency), self.frequency, self.harmonics)
        q, v, a = self.motion(y, basis)
        Y, fixed = self.regressor(q, v, a)
        tau = Y[:, :, self.kept] @ self.theta + fixed
        half = (self.limits["upper_limit"] - self.limits["lower_limit"]) / 2
        middle = (self.limits["upper_limit"] + self.limits["lower_limit"]) / 2
        sizes = {"position": np.abs(q - middle) / half, "speed": np.abs(v) / self.limits["speed_limit"]}
        sizes |= {"acceleration": np.abs(a) / self.limits["acceleration_limit"]}
        sizes |= {"effort": np.abs(tau) / self.limits["effort_limit"]}
        return {name: share.max(axis=0) for name, share in sizes.items()}

    def _keep_limits(self, y: Floats) -> Floats:
        """The motion, drawn together about its middle until every limit is kept."""
        middle = (self.limits["upper_limit"] + self.limits["lower_limit"]) / 2
        rest = np.zeros((2 * self.harmonics + 1, self.n))
        rest[0] = middle
        centre = (self.free.T @ rest).ravel()
        share = 1.0
        for _ in range(60):
            worst = max(float(use.max()) for use in self._uses(centre + share * (y - centre)).values())
            if worst <= 1.0:
                return centre + share * (y - centre)
            share *= max(min(WITHIN / worst, 0.98), 0.5)
        flaws = FlawList()
        flaws.add("limits", "cannot be kept: even at rest an effort is above its limit", "raise the effort limits")
        flaws.raise_if_any("excitation")
        return y

    def _information(self, y: Floats) -> float:
        return float(np.linalg.slogdet(self._fisher(y))[1])

    def _fisher(self, y: Floats) -> Floats:
        X = self.regressor(*self.motion(y))[0][:, :, self.kept] / self.sizes[:, None] / self.scale
        return np.einsum("tjk,tjl->kl", X, X) + 1e-12 * np.eye(len(self.kept))

    def _result(self, y: Floats, before: float, rate: float) -> Excitation:
        covariance = np.linalg.inv(self._fisher(y)) / np.outer(self.scale, self.scale)
        covariance *= SAMPLES * self.frequency / rate
        deviations = np.sqrt(np.diag(covariance)) / np.maximum(np.abs(self.theta), 1e-12)
        c, h = self.coefficients(y), self.harmonics
        axes = tuple(
            AxisSeries(joint, tuple(c[1 : h + 1, k].tolist()), tuple(c[h + 1 :, k].tolist()), float(c[0, k]))
            for k, joint in enumerate(self.regressor.joints)
        )
        known = np.abs(self.theta) > 1e-12
        hardly = tuple(self.base.names[k] for k in np.flatnonzero((deviations > HARDLY) & known).tolist())
        uses = {name: float(use.max()) for name, use in self._uses(y).items()}
        told = dict(zip(self.base.names, deviations.tolist(), strict=True))
        return Excitation(axes, self.frequency, self.criterion, (before, self._information(y)), told, hardly, uses)


def _basis(time: Floats, frequency: float, harmonics: int) -> tuple[Floats, Floats, Floats]:
    """Columns 1, sin k w t, cos k w t and their first and second derivatives."""
    w = 2 * np.pi * frequency * np.arange(1, harmonics + 1)
    s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    one, none = np.ones((len(time), 1)), np.zeros((len(time), 1))
    return np.hstack([one, s, c]), np.hstack([none, w * c, -w * s]), np.hstack([none, -w * w * s, -w * w * c])


def _excess(x: Floats, low: Floats, high: Floats) -> tuple[float, Floats]:
    """Sum of squares of what is beyond limits, by their width, and its slope."""
    finite = np.isfinite(high)
    width = np.where(finite, np.where(finite, high, 1.0) - np.where(finite, low, 0.0), 1.0)
    top, bottom = np.where(finite, high, np.inf), np.where(finite, low, -np.inf)
    over = (np.maximum(x - _drawn_in(top, bottom)[0], 0) - np.maximum(_drawn_in(top, bottom)[1] - x, 0)) / width
    return float(np.sum(over**2)), 2 * over / width


def _drawn_in(top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
    """Limits drawn in a little, so that what the penalty leaves over is still within."""
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(top), (top + bottom) / 2, 0.0)
        return middle + WITHIN * (top - middle), middle + WITHIN * (bottom - middle)
