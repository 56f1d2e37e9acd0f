"""Excitation: which motion within a robot's limits tells its numbers best?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.identification.identify import HARDLY, Suggestion, Told, plan_identification, suggest_motions
from robodyn.analysis.identification.regressor import (
    BaseParameters,
    Regressor,
    bare_system,
    find_base_parameters,
    make_regressor,
)
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.symbolic.tables import spell_out
from robodyn.base.units import UnitError
from robodyn.base.waiting import report_progress
from robodyn.computation.assembly import System
from robodyn.computation.native import compile_kernels
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.description.files.units import read_quantity
from robodyn.description.model import Scenario

# --------------------------------------------------------------------------------------------------
# Limits of the workspace: which signals of a machine must stay above or below a value while it moves?
#
# Symbols: h(q, v) what is kept positive, such as `tool.position.z` - 0.1, by the width over which it varies.


KINEMATIC = ("m", "rad", "m/s", "rad/s")
"""Units of what follows from a motion: accelerations and forces of a run would be those of its drives."""
BOUND = re.compile(r"\s*([^<>=\s]+)\s*(>=|<=)\s*([^<>=]+?)\s*")


@dataclass(frozen=True, eq=False)
class Workspace:
    """Bounds as texts, their signs (1 for >=), values, units, and the signals by (q, v), one column."""

    texts: tuple[str, ...]
    signs: Floats
    values: Floats
    units: tuple[str, ...]
    function: ca.Function

    def signals(self, q: Floats, v: Floats) -> Floats:
        """Along a motion, (n_times, bounds)."""
        if not self.texts:
            return np.zeros((len(q), 0))
        return np.array(self.function.map(len(q))(q.T, v.T)).T

    def margins(self, q: Floats, v: Floats) -> Floats:
        """How far each bound is kept, (n_times, bounds): negative where it is not."""
        return self.signs * (self.signals(q, v) - self.values)


def read_workspace(system: System, texts: Sequence[str]) -> Workspace:
    """Bounds such as `tool.position.z>=0.1` or `tool.position.x<=800 mm` on positions and velocities.

    Args:
        system: the mechanism alone.
    """
    units = {info.name: info.unit for info in system.signals if info.unit in KINEMATIC and _follows(system, info.name)}
    flaws = FlawList()
    found = [bound for text in texts for bound in _read(flaws, text, units)]
    flaws.raise_if_any("excitation")
    names = [name for name, _, _ in found]
    signs, values = np.array([sign for _, sign, _ in found]), np.array([value for _, _, value in found])
    own = tuple(units[name] for name in names)
    return Workspace(tuple(text.strip() for text in texts), signs, values, own, _function(system, names))


def _read(flaws: FlawList, text: str, units: dict[str, str]) -> Iterator[tuple[str, float, float]]:
    """Signal, sign and value of a bound."""
    match = BOUND.fullmatch(text)
    if match is None:
        flaws.add(f"within {text}", "must be written as SIGNAL>=VALUE or SIGNAL<=VALUE", '"tool.position.z>=0.1"')
    elif match[1] not in units:
        what = f"'{match[1]}' is no position or velocity of a point, joint or coordinate"
        flaws.add(f"within {text}", what, nearest(match[1], units))
    else:
        try:
            yield match[1], 1.0 if match[2] == ">=" else -1.0, read_quantity(match[3], units[match[1]], bare=True)
        except UnitError as error:
            flaws.add(f"within {text}", str(error))


def _place(system: System, name: str) -> ca.SX:
    return system.expressions.outputs[system.signal_names.index(name)]


def _follows(system: System, name: str) -> bool:
    """Whether a signal depends on q, and on v where that is a state, alone."""
    own = system.symbols
    moving = system.n_q if system.motion.momenta else system.n_q + system.n_v
    others = ca.vertcat(own.t, own.x[moving:], own.d, own.m)
    return not ca.depends_on(_place(system, name), others)


def _function(system: System, names: Sequence[str]) -> ca.Function:
    own = system.symbols
    column = ca.vertcat(ca.SX(0, 1), *(_place(system, name) for name in names))
    numbers = ca.SX([number.value for number in system.parameters])
    column = ca.substitute(column, own.p, numbers) if names else column
    q, v = own.x[: system.n_q], ca.SX(own.x[system.n_q : system.n_q + system.n_v])
    return spell_out(ca.Function("workspace", [q, v], [ca.densify(column)]))


# --------------------------------------------------------------------------------------------------
# Motions of an experiment: Fourier series and splines, linear in their coefficients c, that begin and end at rest.
#
#     q(t) = B(t) c,   q(0) = q(T),   q'(0) = q'(T) = 0,   q''(0) = q''(T) = 0
#
# The conditions at the ends are linear in c too: c = Z y keeps them for every y.


MOTIONS = ("fourier", "spline")


@dataclass(frozen=True)
class AxisSeries:
    """The series of one joint, as `multisine_reference` takes it."""

    joint: str
    sines: tuple[float, ...]
    cosines: tuple[float, ...]
    offset: float


@dataclass(frozen=True)
class AxisSpline:
    """The cubic spline of one joint, as `spline_reference` takes it."""

    joint: str
    times: tuple[float, ...]
    points: tuple[float, ...]


@dataclass(frozen=True)
class MotionFamily:
    """All motions of a kind: series of a frequency [Hz], or splines over its period with as many free numbers."""

    kind: str
    frequency: float
    harmonics: int

    def basis(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """B and its first and second derivatives at times [s]."""
        return self._splines(time) if self.kind == "spline" else self._waves(time)

    def _waves(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns 1, sin k w t, cos k w t."""
        w = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
        one, none = np.ones((len(time), 1)), np.zeros((len(time), 1))
        return np.hstack([one, s, c]), np.hstack([none, w * c, -w * s]), np.hstack([none, -w * w * s, -w * w * c])

    def _splines(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns: cubic splines that are 1 at one of the knots and 0 at the others."""
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(self.knots, np.eye(len(self.knots)), bc_type="clamped")
        return spline(time), spline(time, 1), spline(time, 2)

    @property
    def knots(self) -> Floats:
        """Times of a spline's points [s]: three more than its free numbers, which the ends take."""
        return np.linspace(0, 1 / self.frequency, 2 * self.harmonics + 2)

    @cached_property
    def free(self) -> Floats:
        """Z, orthonormal."""
        from scipy.linalg import null_space

        B, rate, acceleration = self.basis(np.array([0.0, 1 / self.frequency]))
        ends = np.vstack([B[1] - B[0], rate / self.frequency, acceleration / self.frequency**2])
        return np.asarray(null_space(ends, rcond=1e-9))

    @cached_property
    def still(self) -> Floats:
        """y of the motion that stays at 1."""
        constant = np.ones(len(self.free)) if self.kind == "spline" else np.eye(len(self.free))[0]
        return np.asarray(self.free.T @ constant)

    def draw(self, rng: np.random.Generator, joints: int) -> Floats:
        """y of random motions about 0, (free numbers, joints), of a mean square of 1, slow parts larger."""
        k = np.arange(1, self.harmonics + 1)
        wide = rng.normal(0, 1, (2 * self.harmonics, joints)) / np.concatenate([k, k])[:, None]
        if self.kind == "spline":
            waves = MotionFamily("fourier", self.frequency, self.harmonics).basis(self.knots)[0]
            y = self.free.T @ (waves[:, 1:] @ wide)
        else:
            y = self.free[1:].T @ wide
        shape = self.basis(np.linspace(0, 1 / self.frequency, 200))[0] @ self.free @ y
        return np.asarray(y / np.sqrt(np.mean(shape**2, axis=0)))

    def axes(self, joints: tuple[str, ...], c: Floats) -> tuple[AxisSeries, ...] | tuple[AxisSpline, ...]:
        """Coefficients (coefficients, joints) as the laws of references take them."""
        columns, h = c.T.tolist(), self.harmonics
        if self.kind == "spline":
            times = tuple(self.knots.tolist())
            return tuple(AxisSpline(joint, times, tuple(own)) for joint, own in zip(joints, columns, strict=True))
        return tuple(
            AxisSeries(joint, tuple(own[1 : h + 1]), tuple(own[h + 1 :]), own[0])
            for joint, own in zip(joints, columns, strict=True)
        )


# --------------------------------------------------------------------------------------------------
# Experiment design: which motion tells most of a machine's base parameters, within its limits?
#
# Symbols: Y regressor of the base parameters by the noise of the efforts, F = sum_t Y_t^T Y_t their information.
#
#     D: maximise log det F,   A: minimise the sum of relative variances, trace(S F^-1 S)
#
# over Fourier series (Swevers et al. 1997) or splines that begin and end at rest, see `motions`. What was measured
# before
# is part of F. Slopes are exact: with G = dJ/dY, the gradient by a motion is that of the number <G, Y(q, v, a)>, one
# reverse sweep of the traced graph. Limits are penalties in the search; what is found is drawn together about a
# position
# that keeps them until it keeps all of them.


SAMPLES, CHECKED = 60, 200
"""Instants of a period in the search, and of each harmonic in the check of limits."""
KEPT = 0.9995
"""Share of a limit at these instants that keeps it between them too."""
SMALLEST = 1e-3
"""Part to which a motion is drawn together at most."""
POSITIONS = 300
"""Random positions among which one is sought that keeps all limits."""
PENALTIES = (10.0, 1000.0)
WITHIN = 0.98
"""Share of a limit that is used."""
CRITERIA = ("D", "A")


@dataclass(frozen=True, eq=False)
class Excitation:
    """A designed experiment.

    Attributes:
        axes: series or splines of the joints; frequency: one over the period [Hz].
        information: log det F of a random motion within the limits, and of this one.
        deviations: predicted standard deviation of each base parameter after one period, by its value unless that is 0.
        hardly_told: base parameters that even this motion hardly tells.
        use: largest share of each limit that is used.
        workspace: value of each bounded signal that comes nearest to its bound.
        suggestions: numbers that the measured motions hardly tell, or this one where nothing was measured, and the
            joints whose motion would tell them; measured: whether something was.
    """

    JSON = """
    axes
    frequency: [Hz]
    criterion
    information
    deviations
    hardly_told
    use
    workspace
    suggestions
    """
    axes: tuple[AxisSeries, ...] | tuple[AxisSpline, ...]
    frequency: float
    criterion: str
    information: tuple[float, float]
    deviations: dict[str, float | None]
    hardly_told: tuple[str, ...]
    use: dict[str, float]
    workspace: dict[str, float]
    suggestions: tuple[Suggestion, ...]
    family: MotionFamily
    coefficients: Floats = field(repr=False)
    measured: bool = False

    def at(self, time: Floats, coefficients: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """Positions, velocities and accelerations at times [s], (n, joints) each, of this motion or a suggested one."""
        c = self.coefficients if coefficients is None else coefficients
        q, v, a = (part @ c for part in self.family.basis(time))
        return q, v, a


@report_progress("designing an experiment for")
def design_excitation(
    scenario: Scenario,
    *,
    frequency: float = 0.1,
    harmonics: int = 5,
    criterion: str = "D",
    noise: float = 0.02,
    rate: float = 100.0,
    limits: Mapping[str, float] | None = None,
    within: Sequence[str] = (),
    motion: str = "fourier",
    measured: Sequence[Run] = (),
    seed: int = 0,
    iterations: int = 60,
) -> Excitation:
    """Motions that tell most of a machine's base parameters, and what they or measured ones hardly tell.

    Args:
        frequency: one over the period [Hz]; harmonics: of the series, at least 2; a spline has as many free numbers.
        noise: of measured efforts, by each joint's effort limit, or its greatest effort where there is none.
        rate: independent samples a second that will be measured, for the predicted deviations.
        limits: further ones or others than the joints': `elbow.speed_limit`, `elbow.lower_limit` and so on.
        within: bounds of signals that follow from the joints' motion: `tool.position.z>=0.1`.
        motion: fourier or spline; measured: recordings that tell something already.
    """
    flaws = FlawList()
    if criterion not in CRITERIA:
        flaws.add("criterion", f"must be {' or '.join(CRITERIA)}, is {criterion!r}")
    if motion not in MOTIONS:
        flaws.add("motion", f"must be {' or '.join(MOTIONS)}, is {motion!r}")
    if harmonics < 2:
        flaws.add("harmonics", f"must be at least 2, is {harmonics}: a single one does not begin at rest")
    flaws.add_unless_positive(frequency=frequency, noise=noise, rate=rate)
    flaws.raise_if_any("excitation")
    bare = bare_system(scenario)
    regressor = make_regressor(scenario, bare)
    if regressor.closure:
        what = "joints that follow others by constraints cannot be moved by series of their own"
        raise ModelError([Flaw("constraints", what, "design the motion of the open chain")], "excitation")
    kept = _find_limits(scenario, regressor, limits or {})
    family = MotionFamily(motion, frequency, harmonics)
    problem = _Problem(regressor, kept, family, noise, criterion, read_workspace(bare, within))
    return problem.solve(seed, iterations, rate, measured)


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
    """Cost and gradient by the free numbers y of all motions, see `MotionFamily`."""

    scale: Floats

    def __init__(
        self,
        regressor: Regressor,
        limits: dict[str, Floats],
        family: MotionFamily,
        noise: float,
        criterion: str,
        workspace: Workspace,
    ) -> None:
        self.regressor, self.limits, self.family, self.criterion = regressor, limits, family, criterion
        self.workspace = workspace
        self.base: BaseParameters = find_base_parameters(regressor)
        self.kept = list(self.base.kept)
        self.n, self.noise = len(regressor.joints), noise
        period = 1 / family.frequency
        self.basis = family.basis(np.arange(SAMPLES) / SAMPLES * period)
        self.dense = family.basis(np.linspace(0, period, CHECKED * family.harmonics))
        self.free = family.free
        self.theta = self.base.G @ regressor.given
        self.sizes = np.ones(self.n)
        self.penalty = PENALTIES[0]
        self.prior = np.zeros((len(self.kept),) * 2)
        self.reverse = self._trace_reverse()
        self.middle = (limits["upper_limit"] + limits["lower_limit"]) / 2
        self.centre = self._find_centre()

    def _trace_reverse(self) -> Any:
        """(q, v, a; G; e) -> gradient of <G, Y_kept> + e . (tau_0, signals of the workspace) by (q, v, a)."""
        state = ca.SX.sym("state", 3 * self.n)
        q, v, a = ca.vertsplit(state, self.n)
        Y, fixed = self.regressor.function(q, v, a)
        Y, others = Y[:, self.kept], ca.vertcat(fixed, self.workspace.function(q, v))
        G, e = ca.SX.sym("G", self.n, len(self.kept)), ca.SX.sym("e", others.numel())
        slope = ca.gradient(ca.dot(G, ca.densify(Y)) + ca.dot(e, others), state)
        function = ca.Function("reverse", [state, ca.vec(G), e], [ca.densify(slope)])
        return compile_kernels({"reverse": function}, None).kernels["reverse"]

    def _find_centre(self) -> Floats:
        """A position at which no limit is passed: the middle of all ranges, or the best of many random ones."""
        rng = np.random.default_rng(0)
        half = (self.limits["upper_limit"] - self.limits["lower_limit"]) / 2
        q = self.middle + np.vstack([np.zeros((1, self.n)), rng.uniform(-1, 1, (POSITIONS, self.n))]) * half
        fast = np.where(np.isfinite(self.limits["speed_limit"]), self.limits["speed_limit"], 1.0)
        spread = self.workspace.margins(q, fast * rng.uniform(-1, 1, q.shape))
        self.widths = np.maximum(np.ptp(spread, axis=0), 1e-9)
        still = np.zeros_like(q)
        shares = self._shares(q, still, still)
        worst = np.max(np.hstack(list(shares.values())), axis=1)
        if worst.min() > WITHIN:
            self._refuse(shares)
        return np.asarray(q[0] if worst[0] <= WITHIN else q[np.argmin(worst)])

    def _refuse(self, shares: Mapping[str, Floats]) -> None:
        """Say which limits no position keeps."""
        flaws, remedy = FlawList(), "make it wider"
        for text, least in zip(self.workspace.texts, shares["workspace"].min(axis=0), strict=True):
            if least > WITHIN:
                flaws.add(f"within {text}", "cannot be kept: the machine is not there at any position", remedy)
        for joint, least in zip(self.regressor.joints, shares["effort"].min(axis=0), strict=True):
            if least > WITHIN:
                flaws.add(f"{joint}.effort_limit", "cannot be kept: even at rest the effort is above it", "raise it")
        if not flaws.found:
            flaws.add("limits", "cannot be kept all at once at any position", "make some of them wider")
        flaws.raise_if_any("excitation")

    def coefficients(self, y: Floats) -> Floats:
        """Of all joints, (coefficients, n)."""
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
        F = self.prior + self._information_of(Y) + 1e-9 * np.eye(len(self.kept))
        inverse = np.linalg.inv(F)
        if self.criterion == "D":
            value, weight = -np.linalg.slogdet(F)[1], -2 * inverse
        else:
            value, weight = float(np.log(np.trace(inverse))), -2 * inverse @ inverse / np.trace(inverse)
        G = X @ weight / self.sizes[:, None] / self.scale
        tau = Y @ self.theta + fixed
        over, slope = _excess(tau, -self.limits["effort_limit"], self.limits["effort_limit"])
        G = G + self.penalty * slope[:, :, None] * self.theta
        value += self.penalty * over
        # Margins less than the part of a width that is left free.
        low = np.maximum(1 - WITHIN - self.workspace.margins(q, v) / self.widths, 0)
        value += self.penalty * float(np.sum(low**2))
        slope = np.hstack([slope, -2 * low * self.workspace.signs / self.widths])
        gq, gv, ga = self._gradients(q, v, a, G, self.penalty * slope)
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

    def solve(self, seed: int, iterations: int, rate: float, measured: Sequence[Run]) -> Excitation:
        from scipy.optimize import minimize

        y = self._start(seed)
        self.prior = sum((self._measured(run) for run in measured), self.prior)
        before = self._information(y)
        for self.penalty in PENALTIES:
            y = minimize(self.cost, y, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x
        y = self._keep_limits(y)
        return self._result(y, before, rate, bool(measured))

    def _measured(self, run: Run) -> Floats:
        """Information of a recording: rows and noise as dense in time as those of the search."""
        plan = plan_identification(self.regressor.scenario, run, offsets=False)
        assert plan.base.kept == self.base.kept
        rows = plan.rows(run)
        return self._information_of(rows.Y * rows.used[:, :, None]) * SAMPLES * self.family.frequency / rows.rate

    def _start(self, seed: int) -> Floats:
        """A random motion of all joints, by which numbers are scaled."""
        y = self._draw(seed, range(self.n))
        Y, fixed = self.regressor(*self.motion(y))
        efforts = np.abs(Y[:, :, self.kept] @ self.theta + fixed).max(axis=0)
        limit = self.limits["effort_limit"]
        self.sizes = np.maximum(self.noise * np.where(np.isfinite(limit), limit, efforts), 1e-9)
        lengths = np.linalg.norm((Y[:, :, self.kept] / self.sizes[:, None]).reshape(-1, len(self.kept)), axis=0)
        self.scale = np.maximum(lengths, 1e-9 * lengths.max())
        return y

    def _draw(self, seed: int, moved: Sequence[int]) -> Floats:
        """A random motion of some joints about the centre, within the limits."""
        span = (self.limits["upper_limit"] - self.limits["lower_limit"]) / 4
        y = self.family.draw(np.random.default_rng(seed), self.n) * np.where(np.isin(range(self.n), moved), span, 0.0)
        return self._keep_limits((y + np.outer(self.family.still, self.centre)).ravel())

    def _shares(self, q: Floats, v: Floats, a: Floats) -> dict[str, Floats]:
        """Share of each limit that is used at each instant, (n_times, joints); of the workspace, 1 at its bounds."""
        Y, fixed = self.regressor(q, v, a)
        tau = Y[:, :, self.kept] @ self.theta + fixed
        half = (self.limits["upper_limit"] - self.limits["lower_limit"]) / 2
        sizes = {"position": np.abs(q - self.middle) / half, "speed": np.abs(v) / self.limits["speed_limit"]}
        sizes |= {"acceleration": np.abs(a) / self.limits["acceleration_limit"]}
        sizes |= {"effort": np.abs(tau) / self.limits["effort_limit"]}
        return sizes | {"workspace": 1 - self.workspace.margins(q, v) / self.widths}

    def _uses(self, y: Floats) -> dict[str, Floats]:
        return {name: share.max(axis=0) for name, share in self._shares(*self.motion(y, self.dense)).items()}

    def _keep_limits(self, y: Floats) -> Floats:
        """The motion, drawn together about the centre until every limit is kept."""
        centre = np.outer(self.family.still, self.centre).ravel()
        share = 1.0
        while share > SMALLEST:
            drawn = centre + share * (y - centre)
            worst = max(float(use.max(initial=0.0)) for use in self._uses(drawn).values())
            if worst <= KEPT:
                return drawn
            share *= max(min(WITHIN / worst, 0.98), 0.5)
        what = "cannot be kept by a motion: it would have to be too small to tell anything"
        raise ModelError([Flaw("limits", what, "make those of efforts and workspace wider")], "excitation")

    def _information(self, y: Floats) -> float:
        return float(np.linalg.slogdet(self.prior + self._fisher(y) + 1e-12 * np.eye(len(self.kept)))[1])

    def _fisher(self, y: Floats) -> Floats:
        """Information of a motion without what was measured."""
        return self._information_of(self.regressor(*self.motion(y))[0][:, :, self.kept])

    def _information_of(self, Y: Floats) -> Floats:
        """Sum of Y_t^T Y_t by the noise and in the scale of the numbers."""
        X = Y / self.sizes[:, None] / self.scale
        return np.einsum("tjk,tjl->kl", X, X)

    def _result(self, y: Floats, before: float, rate: float, measured: bool) -> Excitation:
        per_sample = rate / (SAMPLES * self.family.frequency)
        F = (self.prior + self._fisher(y)) * per_sample
        told = Told(self.base.names, self.theta, 1 / self.scale)
        deviations = told.deviations(F)
        uses = {name: float(use.max()) for name, use in self._uses(y).items() if name != "workspace"}
        q, v, _ = self.motion(y, self.dense)
        nearest = np.argmin(self.workspace.margins(q, v), axis=0)
        reached = self.workspace.signals(q, v)[nearest, range(len(nearest))].tolist()

        def move(moved: tuple[int, ...]) -> tuple[Floats, Floats]:
            own = self._draw(0, moved)
            return self.coefficients(own), self._fisher(own) * per_sample

        c = self.coefficients(y)
        return Excitation(
            axes=self.family.axes(self.regressor.joints, c),
            frequency=self.family.frequency,
            criterion=self.criterion,
            information=(before, self._information(y)),
            deviations={name: told.told(k, deviations[k]) for k, name in enumerate(told.names)},
            hardly_told=tuple(told.names[k] for k in np.flatnonzero(deviations > HARDLY).tolist()),
            use=uses,
            workspace=dict(zip(self.workspace.texts, reached, strict=True)),
            suggestions=suggest_motions(told, self.prior * per_sample if measured else F, self.regressor.joints, move),
            family=self.family,
            coefficients=c,
        )


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
