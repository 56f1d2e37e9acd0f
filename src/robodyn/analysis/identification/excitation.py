"""Excitation: which motion within a robot's limits tells its numbers best?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, ModelError, UnitError, frozen, nearest, refuse, report_progress
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.computation.native import compile_kernels
from robodyn.computation.results import Run
from robodyn.description.files.units import read_quantity
from robodyn.description.model import Scenario

from .identify import Information, Suggestion, plan_identification, suggest_motions
from .regressor import (
    BaseParameters,
    Regressor,
    bare_system,
    find_base_parameters,
    make_regressor,
)

# --------------------------------------------------------------------------------------------------
# Limits of the workspace: which signals of a machine must stay above or below a value while it moves?
#
# Symbols: h(q, v) what is kept positive, such as `tool.position.z` - 0.1, by the width over which it varies.


KINEMATIC = ("m", "rad", "m/s", "rad/s")
"""Units of what follows from a motion: accelerations and forces of a run would be those of its drives."""
BOUND = re.compile(r"\s*([^<>=\s]+)\s*(>=|<=)\s*([^<>=]+?)\s*")


@frozen(eq=False)
class Workspace:
    """Bounds as texts, their signs (1 for >=), values, units, and the signals by (q, v), one column."""

    texts: tuple[str, ...]
    signs: Array
    values: Array
    units: tuple[str, ...]
    function: ca.Function

    def signals(self, q: Array, v: Array) -> Array:
        """Along a motion, (n_times, bounds)."""
        if not self.texts:
            return np.zeros((len(q), 0))
        return np.array(self.function.map(len(q))(q.T, v.T)).T

    def margins(self, q: Array, v: Array) -> Array:
        """How far each bound is kept, (n_times, bounds): negative where it is not."""
        return self.signs * (self.signals(q, v) - self.values)


def read_workspace(system: System, texts: Sequence[str]) -> Workspace:
    """Bounds such as `tool.position.z>=0.1` or `tool.position.x<=800 mm` on positions and velocities.

    Args:
        system: the mechanism alone.
    """
    own = system.symbols
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    # Signals that depend on q, and on v where that is a state, alone.
    moving = system.n_q if system.motion.momenta else system.n_q + system.n_v
    others = ca.vertcat(own.t, own.x[moving:], own.d, own.m)
    units = {
        info.name: info.unit
        for info in system.signals
        if info.unit in KINEMATIC and not ca.depends_on(outputs[info.name], others)
    }
    flaws = FlawList()
    names, signs, values = list[str](), list[float](), list[float]()
    for text in texts:
        match = BOUND.fullmatch(text)
        if match is None:
            flaws.add(f"within {text}", "must be written as SIGNAL>=VALUE or SIGNAL<=VALUE", '"tool.position.z>=0.1"')
        elif match[1] not in units:
            what = f"'{match[1]}' is not a position or velocity of a point, joint or coordinate"
            flaws.add(f"within {text}", what, nearest(match[1], units))
        else:
            try:
                values.append(read_quantity(match[3], units[match[1]], bare=True))
            except UnitError as error:
                flaws.add(f"within {text}", str(error))
                continue
            names.append(match[1])
            signs.append(1.0 if match[2] == ">=" else -1.0)
    flaws.raise_if_any("excitation")
    column = ca.vertcat(ca.SX(0, 1), *(outputs[name] for name in names))
    if names:
        column = ca.substitute(column, own.p, ca.SX([number.value for number in system.parameters]))
    q, v = own.x[: system.n_q], ca.SX(own.x[system.n_q : system.n_q + system.n_v])
    function = spell_out(ca.Function("workspace", [q, v], [ca.densify(column)]))
    labels = tuple(text.strip() for text in texts)
    return Workspace(labels, np.array(signs), np.array(values), tuple(units[name] for name in names), function)


# --------------------------------------------------------------------------------------------------
# Motions of an experiment: Fourier series and splines, linear in their coefficients c, that begin and end at rest.
#
#     q(t) = B(t) c,   q(0) = q(T),   q'(0) = q'(T) = 0,   q''(0) = q''(T) = 0
#
# The conditions at the ends are linear in c too: c = Z y keeps them for every y.


MOTIONS = ("fourier", "spline")
Motion = tuple[Array, Array, Array]
"""Positions, velocities and accelerations, or what gives them from coefficients; (n_times, n) each."""


@frozen
class AxisSeries:
    """The series of one joint, as `multisine_reference` takes it."""

    joint: str
    sines: tuple[float, ...]
    cosines: tuple[float, ...]
    offset: float


@frozen
class AxisSpline:
    """The cubic spline of one joint, as `spline_reference` takes it."""

    joint: str
    times: tuple[float, ...]
    points: tuple[float, ...]


@frozen
class MotionFamily:
    """All motions of a kind: series of a frequency [Hz], or splines over its period with as many free numbers."""

    kind: str
    frequency: float
    harmonics: int

    def basis(self, time: Array) -> Motion:
        """B and its first and second derivatives at times [s]."""
        if self.kind == "spline":
            # Columns: cubic splines that are 1 at one of the knots and 0 at the others.
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(self.knots, np.eye(len(self.knots)), bc_type="clamped")
            return spline(time), spline(time, 1), spline(time, 2)
        # Columns 1, sin k w t, cos k w t.
        w = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
        one, none = np.ones((len(time), 1)), np.zeros((len(time), 1))
        return np.hstack([one, s, c]), np.hstack([none, w * c, -w * s]), np.hstack([none, -w * w * s, -w * w * c])

    @property
    def knots(self) -> Array:
        """Times of a spline's points [s]: three more than its free numbers, which the ends take."""
        return np.linspace(0, 1 / self.frequency, 2 * self.harmonics + 2)

    @cached_property
    def free(self) -> Array:
        """Z, orthonormal."""
        from scipy.linalg import null_space

        B, rate, acceleration = self.basis(np.array([0.0, 1 / self.frequency]))
        ends = np.vstack([B[1] - B[0], rate / self.frequency, acceleration / self.frequency**2])
        return np.asarray(null_space(ends, rcond=1e-9))

    @cached_property
    def still(self) -> Array:
        """y of the motion that stays at 1."""
        constant = np.ones(len(self.free)) if self.kind == "spline" else np.eye(len(self.free))[0]
        return np.asarray(self.free.T @ constant)

    def draw(self, rng: np.random.Generator, joints: int) -> Array:
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

    def axes(self, joints: tuple[str, ...], c: Array) -> tuple[AxisSeries, ...] | tuple[AxisSpline, ...]:
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
# Symbols: Y regressor of the base parameters by the noise of the efforts, F = sum_t Y_t^T Y_t their information, y the
# free numbers of the motions of all joints.
#
#     D: maximise log det F,   A: minimise the sum of relative variances, trace(S F^-1 S)
#
# over Fourier series (Swevers et al. 1997) or splines that begin and end at rest, see `MotionFamily`. What was measured
# before is part of F. Slopes are exact: with G = dJ/dY, the gradient by a motion is that of the number <G, Y(q, v, a)>,
# one reverse sweep of the traced graph. Limits are penalties in the search; what is found is drawn together about a
# position that keeps them until it keeps all of them.


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
LIMITS = ("lower_limit", "upper_limit", "speed_limit", "acceleration_limit", "effort_limit")


@frozen(eq=False)
class Excitation:
    """A designed experiment.

    Attributes:
        axes: series or splines of the joints; frequency: one over the period [Hz].
        information: log det F of a random motion within the limits, and of this one.
        deviations: predicted standard deviation of each base parameter after one period, by its value unless that is 0.
        poorly_identified: base parameters that even this motion hardly tells.
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
    poorly_identified
    use
    workspace
    suggestions
    """
    axes: tuple[AxisSeries, ...] | tuple[AxisSpline, ...]
    frequency: float
    criterion: str
    information: tuple[float, float]
    deviations: dict[str, float | None]
    poorly_identified: tuple[str, ...]
    use: dict[str, float]
    workspace: dict[str, float]
    suggestions: tuple[Suggestion, ...]
    family: MotionFamily
    coefficients: Array = field(repr=False)
    measured: bool = False

    def at(self, time: Array, coefficients: Array | None = None) -> Motion:
        """Positions, velocities and accelerations at times [s], (n, joints) each, of this motion or a suggested one."""
        c = self.coefficients if coefficients is None else coefficients
        q, v, a = (part @ c for part in self.family.basis(time))
        return q, v, a


@frozen(eq=False)
class ExcitationProblem:
    """A machine, its limits and the motions among which one is sought.

    Attributes:
        limits: of all joints by name, infinite where there is none; widths: over which bounded signals vary.
        theta: base parameters of the scenario; centre: a position at which no limit is passed, (n,).
        basis, dense: of the motions at the instants of the search, and of the check of limits.
    """

    regressor: Regressor
    base: BaseParameters
    limits: Mapping[str, Array]
    family: MotionFamily
    workspace: Workspace
    criterion: str
    theta: Array
    basis: Motion
    dense: Motion
    widths: Array
    centre: Array

    @property
    def n(self) -> int:
        return len(self.regressor.joints)

    def coefficients(self, y: Array) -> Array:
        """The coefficients of all joints, (coefficients, n)."""
        return self.family.free @ y.reshape(-1, self.n)

    def motion(self, y: Array, basis: Motion) -> Motion:
        c = self.coefficients(y)
        q, v, a = (part @ c for part in basis)
        return q, v, a

    def efforts(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Y of the base parameters, and the efforts of the scenario's own numbers."""
        Y, fixed = self.regressor(q, v, a)
        Y = Y[:, :, list(self.base.kept)]
        return Y, Y @ self.theta + fixed

    @cached_property
    def reverse(self) -> Any:
        """(q, v, a; G; e) -> gradient of <G, Y> + e . (tau_0, signals of the workspace) by (q, v, a)."""
        state = ca.SX.sym("state", 3 * self.n)
        q, v, a = ca.vertsplit(state, self.n)
        Y, fixed = self.regressor.function(q, v, a, ca.SX(0, 1))
        Y, others = Y[:, list(self.base.kept)], ca.vertcat(fixed, self.workspace.function(q, v))
        G, e = ca.SX.sym("G", *Y.shape), ca.SX.sym("e", others.numel())
        slope = ca.gradient(ca.dot(G, ca.densify(Y)) + ca.dot(e, others), state)
        function = ca.Function("reverse", [state, ca.vec(G), e], [ca.densify(slope)])
        return compile_kernels({"reverse": function}, None).kernels["reverse"]


@frozen(eq=False)
class Scaling:
    """Noise of each joint's effort, (n,), and sizes of the base parameters' columns, by which information counts."""

    noise: Array
    columns: Array

    def rows(self, Y: Array) -> Array:
        """Y by the noise, and in the scale of the numbers."""
        return Y / self.noise[:, None] / self.columns

    def information(self, Y: Array) -> Array:
        """F of the scaled numbers."""
        X = self.rows(Y)
        return np.einsum("tjk,tjl->kl", X, X)


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
    from scipy.optimize import minimize

    flaws = FlawList()
    if criterion not in CRITERIA:
        flaws.add("criterion", f"must be {' or '.join(CRITERIA)}, is {criterion!r}")
    if motion not in MOTIONS:
        flaws.add("motion", f"must be {' or '.join(MOTIONS)}, is {motion!r}")
    if harmonics < 2:
        flaws.add("harmonics", f"must be at least 2, is {harmonics}: a single one cannot begin at rest")
    flaws.add_unless_positive(frequency=frequency, noise=noise, rate=rate)
    flaws.raise_if_any("excitation")
    problem = pose_problem(scenario, limits or {}, within, MotionFamily(motion, frequency, harmonics), criterion)

    # A random motion of all joints: numbers are scaled by what it shows of them.
    first = draw_motion(problem, seed, range(problem.n))
    scaling = find_scaling(problem, first, noise)
    fisher = partial(_fisher, problem, scaling)
    none = np.zeros((len(problem.theta),) * 2)
    prior = sum((_measured_information(problem, scaling, run) for run in measured), none)

    # Limits count little at first, so that the search is not held by them, then much.
    y = first
    for penalty in PENALTIES:
        y = minimize(
            lambda y, penalty=penalty: cost(problem, scaling, prior, penalty, y),
            y,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations},
        ).x
    y = _keep_limits(problem, y)

    # What one period at the rate of the measurement will tell, and what other motions would add.
    per_sample = rate / (SAMPLES * frequency)
    sizes, names = 1 / scaling.columns, problem.base.names
    predicted = Information(names, problem.theta, sizes, (prior + fisher(y)) * per_sample)
    known = replace(predicted, F=prior * per_sample) if measured else predicted

    def move(moved: tuple[int, ...]) -> tuple[Array, Array]:
        alone = draw_motion(problem, 0, moved)
        return problem.coefficients(alone), fisher(alone) * per_sample

    q, v, a = problem.motion(y, problem.dense)
    shares = _limit_shares(problem, q, v, a)
    del shares["workspace"]
    margins = problem.workspace.margins(q, v)
    reached = problem.workspace.signals(q, v)[np.argmin(margins, axis=0), range(margins.shape[1])].tolist()
    c = problem.coefficients(y)
    return Excitation(
        axes=problem.family.axes(problem.regressor.joints, c),
        frequency=frequency,
        criterion=criterion,
        information=(_log_det(prior + fisher(first)), _log_det(prior + fisher(y))),
        deviations={name: predicted.relative(k) for k, name in enumerate(names)},
        poorly_identified=tuple(names[k] for k in predicted.poorly_identified),
        use={name: float(share.max()) for name, share in shares.items()},
        workspace=dict(zip(problem.workspace.texts, reached, strict=True)),
        suggestions=suggest_motions(known, problem.regressor.joints, move),
        family=problem.family,
        coefficients=c,
        measured=bool(measured),
    )


def pose_problem(
    scenario: Scenario, given: Mapping[str, float], within: Sequence[str], family: MotionFamily, criterion: str
) -> ExcitationProblem:
    """The problem, with a position at which all limits are kept; a ModelError where there is none."""
    bare = bare_system(scenario)
    regressor = make_regressor(scenario, bare)
    if regressor.closure:
        what = "joints that follow others by constraints cannot have series of their own"
        refuse("constraints", what, "design the motion of the open chain", "excitation")
    if regressor.inputs:
        what = f"laws depend on {', '.join(regressor.inputs)}, which motion alone does not determine"
        refuse("blocks", what, "design the motion without these laws", "excitation")
    limits = _find_limits(scenario, regressor, given)
    workspace = read_workspace(bare, within)
    base = find_base_parameters(regressor)
    period, n = 1 / family.frequency, len(regressor.joints)
    basis = family.basis(np.arange(SAMPLES) / SAMPLES * period)
    dense = family.basis(np.linspace(0, period, CHECKED * family.harmonics))

    # Positions: the middle of all ranges, and many random ones.
    rng = np.random.default_rng(0)
    low, high = limits["lower_limit"], limits["upper_limit"]
    q = (high + low) / 2 + np.vstack([np.zeros((1, n)), rng.uniform(-1, 1, (POSITIONS, n))]) * ((high - low) / 2)
    fast = np.where(np.isfinite(limits["speed_limit"]), limits["speed_limit"], 1.0)
    margins = workspace.margins(q, fast * rng.uniform(-1, 1, q.shape))
    widths = np.maximum(np.ptp(margins, axis=0), 1e-9)
    theta = base.G @ regressor.given
    problem = ExcitationProblem(
        regressor, base, limits, family, workspace, criterion, theta, basis, dense, widths, q[0]
    )

    # The middle is the centre where it keeps all limits at rest, else the position that keeps them best.
    shares = _limit_shares(problem, q, np.zeros_like(q), np.zeros_like(q))
    worst = np.max(np.hstack(list(shares.values())), axis=1)
    if worst.min() <= WITHIN:
        return problem if worst[0] <= WITHIN else replace(problem, centre=q[np.argmin(worst)])
    flaws, remedy = FlawList(), "widen it"
    for text, least in zip(workspace.texts, shares["workspace"].min(axis=0), strict=True):
        if least > WITHIN:
            flaws.add(f"within {text}", "cannot be kept: the machine is not there at any position", remedy)
    for joint, least in zip(regressor.joints, shares["effort"].min(axis=0), strict=True):
        if least > WITHIN:
            flaws.add(f"{joint}.effort_limit", "cannot be kept: even at rest the effort is above it", "raise it")
    if not flaws.found:
        flaws.add("limits", "cannot be kept all at once at any position", "widen some of them")
    raise ModelError(flaws.found, "excitation")


def _find_limits(scenario: Scenario, regressor: Regressor, given: Mapping[str, float]) -> dict[str, Array]:
    """Limits of all joints: lower, upper, speed, acceleration, effort; infinite where there is none."""
    mechanism = scenario.machine.mechanism
    assert mechanism is not None
    flaws = FlawList()
    joints = {joint.name: joint for joint in mechanism.joints}
    known = {f"{name}.{key}" for name in regressor.joints for key in LIMITS}
    for name in given:
        if name not in known:
            flaws.add(name, "is not a limit of a joint", f"JOINT.{', JOINT.'.join(LIMITS)}")
    limits = {}
    for key in LIMITS:
        values = [given.get(f"{name}.{key}", getattr(joints[name], key)) for name in regressor.joints]
        for name, value in zip(regressor.joints, values, strict=True):
            if value is None and key in ("lower_limit", "upper_limit", "speed_limit"):
                flaws.add(f"{name}.{key}", "is needed to design an experiment", "give it to the joint, or as a limit")
        limits[key] = np.array([np.inf if value is None else value for value in values])
    flaws.raise_if_any("excitation")
    return limits


def _limit_shares(problem: ExcitationProblem, q: Array, v: Array, a: Array) -> dict[str, Array]:
    """Share of each limit that is used at each instant, (n_times, joints); of the workspace, 1 at its bounds."""
    limits = problem.limits
    low, high = limits["lower_limit"], limits["upper_limit"]
    return {
        "position": np.abs(q - (high + low) / 2) / ((high - low) / 2),
        "speed": np.abs(v) / limits["speed_limit"],
        "acceleration": np.abs(a) / limits["acceleration_limit"],
        "effort": np.abs(problem.efforts(q, v, a)[1]) / limits["effort_limit"],
        "workspace": 1 - problem.workspace.margins(q, v) / problem.widths,
    }


def _keep_limits(problem: ExcitationProblem, y: Array) -> Array:
    """The motion, drawn together about the centre until every limit is kept."""
    centre = np.outer(problem.family.still, problem.centre).ravel()
    share = 1.0
    while share > SMALLEST:
        drawn = centre + share * (y - centre)
        shares = _limit_shares(problem, *problem.motion(drawn, problem.dense))
        worst = max(float(used.max(initial=0.0)) for used in shares.values())
        if worst <= KEPT:
            return drawn
        share *= max(min(WITHIN / worst, 0.98), 0.5)
    what = "leave room only for motions too small to identify anything"
    refuse("limits", what, "widen those of efforts and workspace", "excitation")


def draw_motion(problem: ExcitationProblem, seed: int, moved: Sequence[int]) -> Array:
    """A random motion of some joints about the centre, within the limits."""
    span = (problem.limits["upper_limit"] - problem.limits["lower_limit"]) / 4
    wide = problem.family.draw(np.random.default_rng(seed), problem.n)
    y = wide * np.where(np.isin(range(problem.n), moved), span, 0.0)
    return _keep_limits(problem, (y + np.outer(problem.family.still, problem.centre)).ravel())


def find_scaling(problem: ExcitationProblem, y: Array, noise: float) -> Scaling:
    """Noise of the efforts by their limits, or as large as in a motion, and columns by their lengths in it."""
    Y, efforts = problem.efforts(*problem.motion(y, problem.basis))
    limit = problem.limits["effort_limit"]
    largest = np.where(np.isfinite(limit), limit, np.abs(efforts).max(axis=0))
    level = np.maximum(noise * largest, 1e-9)
    lengths = np.linalg.norm((Y / level[:, None]).reshape(-1, Y.shape[2]), axis=0)
    return Scaling(level, np.maximum(lengths, 1e-9 * lengths.max()))


def _fisher(problem: ExcitationProblem, scaling: Scaling, y: Array) -> Array:
    """Information of a motion without what was measured."""
    return scaling.information(problem.efforts(*problem.motion(y, problem.basis))[0])


def _measured_information(problem: ExcitationProblem, scaling: Scaling, run: Run) -> Array:
    """Information of a recording: rows and noise as dense in time as those of the search."""
    plan = plan_identification(problem.regressor.scenario, run, offsets=False)
    assert plan.base.kept == problem.base.kept
    rows = plan.rows(run)
    return scaling.information(rows.Y * rows.used[:, :, None]) * SAMPLES * problem.family.frequency / rows.rate


def _log_det(F: Array) -> float:
    return float(np.linalg.slogdet(F + 1e-12 * np.eye(len(F)))[1])


def cost(problem: ExcitationProblem, scaling: Scaling, prior: Array, penalty: float, y: Array) -> tuple[float, Array]:
    """The criterion with penalties for limits that are passed, and its gradient by y."""
    limits, workspace, theta = problem.limits, problem.workspace, problem.theta
    q, v, a = problem.motion(y, problem.basis)
    Y, tau = problem.efforts(q, v, a)

    # The criterion and its gradient G by Y.
    F = prior + scaling.information(Y) + 1e-9 * np.eye(len(theta))
    inverse = np.linalg.inv(F)
    if problem.criterion == "D":
        value, weight = -np.linalg.slogdet(F)[1], -2 * inverse
    else:
        value, weight = float(np.log(np.trace(inverse))), -2 * inverse @ inverse / np.trace(inverse)
    G = scaling.rows(scaling.rows(Y) @ weight)

    # Efforts beyond their limits, and margins of the workspace less than the part of a width that is left free.
    over, slope = _excess(tau, -limits["effort_limit"], limits["effort_limit"])
    G = G + penalty * slope[:, :, None] * theta
    value += penalty * over
    low = np.maximum(1 - WITHIN - workspace.margins(q, v) / problem.widths, 0)
    value += penalty * float(np.sum(low**2))
    e = penalty * np.hstack([slope, -2 * low * workspace.signs / problem.widths])

    # By the motion at every instant, then limits of the motion itself, then by y.
    rows = zip(np.hstack([q, v, a]), G, np.ascontiguousarray(e), strict=True)
    by_motion = np.array([problem.reverse(state, g.ravel(order="F"), w) for state, g, w in rows])
    parts = (
        (q, limits["lower_limit"], limits["upper_limit"]),
        (v, -limits["speed_limit"], limits["speed_limit"]),
        (a, -limits["acceleration_limit"], limits["acceleration_limit"]),
    )
    gradient = np.zeros(())
    for (x, bottom, top), by_part, basis in zip(parts, np.split(by_motion, 3, axis=1), problem.basis, strict=True):
        over, slope = _excess(x, bottom, top)
        value += penalty * over
        gradient = gradient + basis.T @ (by_part + penalty * slope)
    return float(value), (problem.family.free.T @ gradient).ravel()


def _excess(x: Array, low: Array, high: Array) -> tuple[float, Array]:
    """Sum of squares of what is beyond limits, by their width, and its slope.

    Limits are drawn in a little, so that what the penalty leaves over is still within.
    """
    finite = np.isfinite(high)
    top, bottom = np.where(finite, high, 1.0), np.where(finite, low, 0.0)
    middle, width = (top + bottom) / 2, top - bottom
    upper = np.where(finite, middle + WITHIN * (top - middle), np.inf)
    lower = np.where(finite, middle + WITHIN * (bottom - middle), -np.inf)
    over = (np.maximum(x - upper, 0) - np.maximum(lower - x, 0)) / width
    return float(np.sum(over**2)), 2 * over / width
