"""Comparison of friction laws and gears: which of them do measured motions ask for?

Each law takes the place of the friction on every axis, is identified on the same samples, and is judged on samples it
has not seen and by the information criteria

    BIC = n log(mean square of the weighted residuals) + k log n,   n independent residuals, k parameters
    AIC = n log(mean square of the weighted residuals) + 2 k

`compare_friction_laws` works by inverse dynamics, which needs forces of drives: any law without states joins by the
names of its numbers. `compare_laws` fits simulations, also of laws with states and of elastic gears.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.analysis.checkpoint import Checkpoint, Memo, compute_now
from robodyn.analysis.identification.identify import (
    HELD_OUT,
    describe_recordings,
    effort_levers,
    plan_identification,
    split_rows,
)
from robodyn.analysis.identification.motion_rows import RegressionRows, with_joint_positions
from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.analysis.measurement.measured import tidy_rows
from robodyn.analysis.measurement.responses import LowPass, differentiate, resample
from robodyn.analysis.validation import SAME, WORSE, compare_squares
from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, refuse, report_progress, update_line
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.laws import arguments_of, info_of, known_laws
from robodyn.description.model import Block, ElasticGear, Scenario, describe, with_elastic_joints
from robodyn.description.model.block import JointBlock

from .fit import fit_parameters
from .residuals import Experiment, list_experiments
from .result import UNSEEN, Fit

EVEN = 2.0
"""Difference of the criterion below which two laws are as good as each other (Kass and Raftery 1995)."""
STOPPED = "stopped before it was tried"
LARGE = 1.5
"""Ratio of held-out squares that is no chance, wherever they are."""
SIMPLEST = "coulomb_friction"
ELASTIC, BACKLASH = "elastic_gear", "backlash_gear"
TOGETHER = " + "


@frozen
class ComparedLaw:
    """One law with the numbers it was tried with.

    Attributes:
        tried: with which numbers, or why it could not be judged.
        parameters: how many are found; bic, aic: less is better.
        fitted, held_out: root mean square of residuals by the noise that the best law leaves.
        gain: share of the simplest law's squares at held-out samples that is saved.
        than_best: whether held-out samples are predicted better or worse than by the best law, by more than chance.
    """

    law: str
    tried: str
    parameters: int
    bic: float
    aic: float
    fitted: float
    held_out: float
    gain: float | None = None
    than_best: str = ""


@frozen
class LawComparison:
    """The best law, the others in order of the Bayesian criterion; those that could not be judged come last.

    The best is the simplest one that predicts held-out data as well as the one of least criterion.

    Attributes:
        axes: joint -> the best law of it alone, where each was judged.
    """

    rows: tuple[ComparedLaw, ...]
    axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def as_good(self) -> list[str]:
        """Laws that the criterion, or the prediction of held-out data, does not distinguish from the best one.

        Those that are the best one and more are left out.
        """
        best = set(self.rows[0].law.split(TOGETHER))
        return [
            row.law
            for row in self.rows[1:]
            if (row.bic - self.rows[0].bic < EVEN or row.than_best == SAME) and not best < set(row.law.split(TOGETHER))
        ]


@frozen
class FrictionPlace:
    """A place with friction and the sizes that searches begin with.

    Attributes:
        coulomb, viscous: levels; smoothing: speed over which dry friction is smoothed.
        speed, range: of the motion in the data; force: largest one; drive: signal of the only drive there.
        temperature: mean of it, where it was measured; duration: of the longest recording, where laws may warm up.
    """

    name: str
    coulomb: float
    viscous: float
    smoothing: float
    speed: float
    range: float
    force: float = 0.0
    drive: str = ""
    temperature: float = 0.0
    duration: float = 0.0


SMOOTH = 1e-3
"""Speed over which dry friction is smoothed, by the fastest."""
SHORT = 1e-3
"""Play and bending of bristles by the range of motion."""
TWIST = 0.01
"""Twist of a gear under its friction that searches begin with, by the range of motion."""
GUESSES: Mapping[str, Callable[[FrictionPlace], float]] = MappingProxyType(
    {
        "coulomb": lambda p: p.coulomb,
        "coulomb_back": lambda p: p.coulomb,
        "viscous": lambda p: p.viscous,
        "static": lambda p: 1.3 * p.coulomb,
        "stribeck_velocity": lambda p: 0.05 * p.speed,
        "load_loss": lambda p: 0.03,
        "load_loss_back": lambda p: 0.03,
        "amplitude": lambda p: 0.02 * p.force,
        "share": lambda p: 0.02,
        "level": lambda p: 3.0 * p.force,
        "smoothing_velocity": lambda p: p.smoothing,
        "reference": lambda p: p.temperature,
        "coulomb_slope": lambda p: -0.005 * p.coulomb,
        "viscous_slope": lambda p: -0.01 * p.viscous,
        "order": lambda p: 1.0,
        "phase": lambda p: 0.0,
        "stiffness": lambda p: p.coulomb / (SHORT * p.range),
        "damping": lambda p: 0.1 * p.viscous,
        "softening": lambda p: 2 * p.speed * (p.coulomb + p.viscous * p.speed),
        "time_constant": lambda p: max(3 * p.range / p.speed, 0.2 * p.duration),
    }
)
"""First values of the numbers of laws, by their names."""


def _rank(rows: Mapping[str, ComparedLaw], held: Mapping[str, Array], simple: Array | None) -> list[ComparedLaw]:
    """The best law and the others in order of the criterion, with what they gain in prediction.

    Args:
        held: squares of weighted residuals at held-out samples in order of time; simple: the simplest law's.
    """

    def compare(law: str, other: str) -> str:
        """A difference in a few instants, such as those of sticking, is more than chance if it is large."""
        ratio = float(np.nanmean(held[law]) / max(float(np.nanmean(held[other])), 1e-300))
        verdict = compare_squares(held[law], held[other])
        return WORSE if verdict == SAME and ratio > LARGE else verdict

    best = min(rows, key=lambda law: rows[law].bic)
    # The simplest of those that predict held-out data as well as the one that the criterion prefers.
    equals = [law for law in rows if compare(law, best) != WORSE]
    best = min([best, *equals], key=lambda law: (rows[law].parameters, rows[law].bic))
    ranked = []
    for law, row in sorted(rows.items(), key=lambda pair: (pair[0] != best, pair[1].bic)):
        gain = None if simple is None else 1 - float(np.nanmean(held[law]) / np.nanmean(simple))
        than_best = compare(law, best) if law != best else ""
        ranked.append(replace(row, gain=gain, than_best=than_best))
    return ranked


def _judge(law: str, tried: str, count: int, n: float, squares: Sequence[float]) -> ComparedLaw:
    """A law by its parameters, n independent residuals, and their mean squares at fitted and held-out samples."""
    loss = n * float(np.log(squares[0]))
    bic, aic = loss + count * float(np.log(n)), loss + 2.0 * count
    return ComparedLaw(law, tried, count, bic, aic, squares[0] ** 0.5, squares[1] ** 0.5)


def _not_judged(law: str, reason: str, count: int = 0) -> ComparedLaw:
    return ComparedLaw(law, reason, count, np.inf, np.inf, np.nan, np.nan)


def _friction_blocks(scenario: Scenario) -> list[Block]:
    """Blocks that a comparison replaces; a scenario without friction is a ModelError."""
    blocks = [block for block in scenario.machine.all_blocks if block.on and block.info.disturbance]
    if not blocks:
        flaw = Flaw("blocks", "there is no friction", "give each axis a law of friction first")
        raise ModelError([flaw], "comparison of laws")
    return blocks


def _with_friction(
    scenario: Scenario,
    blocks: Sequence[Block],
    laws: Sequence[tuple[str, dict[str, dict[str, float]]]],
    inputs: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Scenario:
    """The scenario with other laws on every place that had friction.

    Args:
        laws: names of laws, each with its numbers by place; inputs: what a law reads, by place.
    """
    replaced = {block.name for block in blocks}
    others = [block for block in scenario.machine.all_blocks if block.name not in replaced]
    changed = []
    for block in others:
        # A joint's own property, such as an end stop, is a block of its own then.
        own = isinstance(block, JointBlock)
        changed.append(Block(block.name, block.law, block.on, parameters=block.parameters) if own else block)
    for law, parameters in laws:
        for place, numbers in parameters.items():
            read = inputs.get(place, {}) if "load" in _argument_names(law) else {}
            changed.append(Block(f"{place}.{law}", law, place, read, numbers))
    return scenario.replaced(machine=scenario.machine.with_all_blocks(changed))


# --------------------------------------------------------------------------------------------------
# By inverse dynamics: laws along the measured motion, all numbers of all axes at once.
#
# Symbols: tau measured forces of the joints, Y regressor of the bodies and beta their base parameters, f forces of the
# laws by their numbers theta; all of them low-passed alike, and weighted by the noise of each joint.
#
#     min |tau - Y beta - f(theta)|^2 = min |P (tau - f(theta))|^2,    P = 1 - Y Y^+
#
# (variable projection, Golub and Pereyra 1973): only theta is searched for. What a law of one axis cannot tell from
# masses and inertias is projected out, and what laws cannot tell from each other shows in the criteria.


MOST_ORDERS, LEAST_PERIODS = 400, 3.0
"""Orders of ripple that are tried, and periods within the motion that an order needs."""
MOST_ADDED = 3
SIGNALS = ("position", "velocity", "load")
TEMPERATURE = "temperature"
LAG, LAGGING = "time_constant", 8
"""Number by which a law's state lags behind the motion, and rounds in which the state is found."""


FIXED = ("smoothing_velocity", "reference")
LEVELS = ("coulomb", "viscous")
"""Numbers of laws that stand alone; others act beside the best of these."""


def comparable_laws(simulated: bool = False, measured: Sequence[str] = ()) -> tuple[str, ...]:
    """Laws that are disturbances of one axis and depend on its motion and load, with numbers of known meaning.

    Args:
        simulated: laws for simulations: those with states and gears too, but no waves, whose order a simulation cannot
            scan for; by inverse dynamics those that are functions of the motion.
        measured: what else of each place was measured, such as its temperature.
    """
    found = []
    for name, function in known_laws().items():
        info = info_of(function)
        own = {"direction", *info.states, *info.memory}
        arguments = [argument for argument in arguments_of(function) if argument.name not in own]
        signals = [one.name for one in arguments if not one.keyword_only and not one.has_default]
        numbers = [one.name for one in arguments if one.keyword_only and not one.has_default]
        known = info.disturbance and {*signals} <= {*SIGNALS, *measured} and {*numbers} <= {*GUESSES}
        # A state that lags behind the motion by a time constant, such as warmth, follows from it.
        follows = not info.states or (len(info.states) == 1 and LAG in numbers)
        direct = follows and not info.memory and not info.sticks
        if known and ("order" not in numbers if simulated else direct):
            found.append(name)
    found.sort(key=lambda name: (not _stands_alone(name), name))
    return (*found, ELASTIC, BACKLASH) if simulated else tuple(found)


def _numbers_of(law: str) -> list[str]:
    """Numbers that are searched for."""
    names = [argument.name for argument in arguments_of(known_laws()[law]) if argument.keyword_only]
    return [name for name in names if name in GUESSES and name not in FIXED]


def _argument_names(law: str) -> set[str]:
    return {argument.name for argument in arguments_of(known_laws()[law])}


def _stands_alone(law: str) -> bool:
    return any(name in LEVELS for name in _numbers_of(law))


@frozen(eq=False)
class AxisMotion:
    """One recording and its rows; signals of the places before the rows' filter, by their names in laws (n, places)."""

    time: Array
    signals: Mapping[str, Array]
    rows: RegressionRows

    def filtered(self, forces: Array) -> Array:
        """Forces at the rows, low-passed as these are."""
        rate = 1 / float(np.median(np.diff(self.time)))
        smooth = LowPass(self.rows.cutoff)(forces, rate)
        columns = [np.interp(self.rows.time, self.time, np.nan_to_num(column)) for column in smooth.T]
        return np.column_stack(columns)


@frozen(eq=False)
class LawContest:
    """Measured motions, what is projected out of them, and sizes of the places with friction.

    Attributes:
        levers: how a force at each place acts on the joints, (n_places, n_joints).
        fitted: which rows of each recording numbers are found by; noise: of each joint.
    """

    places: tuple[FrictionPlace, ...]
    levers: Array
    motions: tuple[AxisMotion, ...]
    fitted: tuple[Array, ...]
    noise: Array

    def force(self, law: str, motion: AxisMotion, k: int, numbers: Mapping[str, float]) -> Array:
        """Force of a law at a place along a motion, as of drives: every law returns the one ON the joint."""
        names = _argument_names(law)
        fixed = {name: GUESSES[name](self.places[k]) for name in FIXED if name in names}
        own = {name: np.nan_to_num(values[:, k]) for name, values in motion.signals.items() if name in names}
        own |= fixed | dict(numbers)
        function = known_laws()[law]
        for state in info_of(function).states:
            own[state] = _lag_behind(function, state, own, float(np.median(np.diff(motion.time))))
        return -np.asarray(function(**own)["torque"], float)

    def forces(self, laws: Sequence[str], theta: Array) -> list[Array]:
        """Forces of laws on the joints at the rows of each recording, numbers axis after axis, law after law."""
        found = []
        for motion in self.motions:
            total, numbers = np.zeros((len(motion.time), len(self.places))), iter(theta.tolist())
            for k in range(len(self.places)):
                for law in laws:
                    total[:, k] += self.force(law, motion, k, {name: next(numbers) for name in _numbers_of(law)})
            found.append(motion.filtered(total) @ self.levers)
        return found

    def residuals(self, laws: Sequence[str], theta: Array) -> tuple[Array, list[Array]]:
        """Weighted residuals at fitted rows, bodies projected out; and of all rows, (n, joints), nan where unused."""
        forces = self.forces(laws, theta)
        weighted = [(m.rows.tau - f) / self.noise for m, f in zip(self.motions, forces, strict=True)]
        parts = zip(weighted, self.motions, self.fitted, strict=True)
        e = np.concatenate([w[motion.rows.used & fitted[:, None]] for w, motion, fitted in parts])
        Q, R = self._projector
        left = e - Q @ (Q.T @ e)
        beta = np.linalg.lstsq(R, Q.T @ e)[0]
        whole = []
        for w, motion in zip(weighted, self.motions, strict=True):
            apart = w - motion.rows.Y @ beta / self.noise
            whole.append(np.where(motion.rows.used, apart, np.nan))
        return left, whole

    @cached_property
    def _projector(self) -> tuple[Array, Array]:
        Y = [
            (m.rows.Y / self.noise[:, None])[m.rows.used & rows[:, None]]
            for m, rows in zip(self.motions, self.fitted, strict=True)
        ]
        Q, R = np.linalg.qr(np.concatenate(Y))
        return Q, R

    def search(self, laws: Sequence[str], begin: Array) -> Array:
        """Numbers of all axes at which least is left."""
        from scipy.optimize import least_squares

        lower, upper, sizes = (np.array(column) for column in zip(*self._limits(laws, begin), strict=True))
        begin = np.clip(begin, lower, upper)
        found = least_squares(
            lambda theta: self.residuals(laws, theta)[0], begin, bounds=(lower, upper), x_scale=sizes, max_nfev=60
        )
        return np.asarray(found.x)

    def _limits(self, laws: Sequence[str], begin: Array) -> list[tuple[float, float, float]]:
        """Lower and upper bound and size of each number."""
        limits, at = [], 0
        for scale in self.places:
            for name in (name for law in laws for name in _numbers_of(law)):
                guess = GUESSES[name](scale)
                if name == "order":
                    # Next orders are those with another period in the motion.
                    width = np.pi / scale.range
                    limits.append((max(begin[at] - width, 1e-9), begin[at] + width, width / 10))
                elif name == "phase":
                    limits.append((-10.0, 10.0, 0.3))
                elif name.endswith("_slope"):
                    limits.append((-np.inf, np.inf, abs(guess)))
                elif name in ("stribeck_velocity", "level", "softening", LAG):
                    limits.append((0.02 * guess, 50 * guess, guess))
                else:
                    limits.append((0.0, np.inf, guess))
                at += 1
        return limits

    def begin(self, laws: Sequence[str], known: Mapping[str, Array]) -> Array:
        """Numbers to begin with: those known of laws that were found, orders and phases by a scan, else guesses."""
        tables = [known[law] if law in known else self._guess(law, known) for law in laws]
        return np.concatenate([np.concatenate([table[k] for table in tables]) for k in range(len(self.places))])

    def _guess(self, law: str, known: Mapping[str, Array]) -> Array:
        names = _numbers_of(law)
        table = np.array([[GUESSES[name](scale) for name in names] for scale in self.places])
        if "order" in names:
            for k in range(len(self.places)):
                best = self._scan(law, k, known)
                for name, value in best.items():
                    table[k, names.index(name)] = value
        return table

    def _scan(self, law: str, k: int, known: Mapping[str, Array]) -> dict[str, float]:
        """Order, phase and size of the wave that explains most of what the simplest law leaves of an axis."""
        scale = self.places[k]
        # A place is seen best at the joint that it acts on most.
        joint = int(np.argmax(np.abs(self.levers[k]) / self.noise))
        size = next(name for name in ("amplitude", "share") if name in _numbers_of(law))
        left = self.residuals([SIMPLEST], known[SIMPLEST].ravel())[1]
        least = LEAST_PERIODS * 2 * np.pi / scale.range
        # Faster waves than the low-pass lets through are not there.
        most = 2 * np.pi * min(m.rows.cutoff for m in self.motions) / (0.3 * scale.speed)
        # Neighbours differ by a quarter of a period over the motion.
        most = max(most, 2 * least)
        count = int((most - least) * scale.range / (np.pi / 2)) + 2
        orders = np.linspace(least, most, min(count, MOST_ORDERS))
        best: tuple[float, dict[str, float]] = (0.0, {})
        for order in orders.tolist():
            columns, targets = [], []
            for motion, e in zip(self.motions, left, strict=True):
                waves = [
                    self.force(law, motion, k, {size: 1.0, "order": order, "phase": phase})
                    for phase in (0.0, np.pi / 2)
                ]
                features = motion.filtered(np.column_stack(waves))
                there = np.isfinite(e[:, joint])
                columns.append(features[there] * self.levers[k, joint] / self.noise[joint])
                targets.append(e[there, joint])
            X, y = np.concatenate(columns), np.concatenate(targets)
            (sine, cosine), *_ = np.linalg.lstsq(X, y)
            saved = float(y @ y - np.sum((y - X @ [sine, cosine]) ** 2))
            if saved > best[0]:
                amplitude, phase = float(np.hypot(sine, cosine)), float(np.arctan2(cosine, sine))
                best = saved, {"order": order, "phase": phase, size: amplitude}
        return best[1]


def _lag_behind(function: Callable[..., Any], state: str, own: Mapping[str, Any], step: float) -> Array:
    """A law's state along a motion that begins with the state at 0: x + T x_dot is what it follows with the lag T.

    That depends on the state itself, if little: found in rounds, each half way.
    """
    from scipy.signal import lfilter

    T, x = own[LAG], np.zeros(len(own["velocity"]))
    kept = float(np.exp(-step / T))
    for _ in range(LAGGING):
        followed = x + T * np.asarray(function(**own, **{state: x})[f"{state}_dot"], float)
        x = (x + lfilter([1 - kept], [1.0, -kept], followed)) / 2
    return np.asarray(x)


def prepare_contest(
    scenario: Scenario, runs: Sequence[Run], cutoff: float | None, held_out: float, memo: Memo | None = None
) -> LawContest:
    """Motions of joints with friction, and the rows that laws are judged at."""
    blocks = _friction_blocks(scenario)
    bare = _with_friction(scenario, blocks, [])
    plan = plan_identification(bare, runs[0])
    joints = plan.regressor.joints
    positions = [f"{joint}.position" for joint in joints]
    places = tuple(dict.fromkeys(str(block.on) for block in blocks))
    flaws, levers = FlawList(), []
    for place in places:
        lever = effort_levers(plan.system, plan.regressor, place)
        if lever is None:
            what = "acts on the joints by a lever that changes"
            flaws.add(place, what, "compare laws by simulation: robodyn fit --compare-laws")
        else:
            levers.append(lever)
    flaws.raise_if_any("comparison of laws")
    G = np.array(levers)
    motions = []
    for run in runs:
        rows = plan.rows(run, cutoff, memo.recall if memo else compute_now)
        cutoff = rows.cutoff
        run = tidy_rows(with_joint_positions(bare, joints, run), positions)
        rate = min(assess_clock(run.time).rate, 20 * cutoff)
        even = resample(run, rate, filtered=False)
        q = LowPass(cutoff)(np.column_stack([even[name].values for name in positions]), rate)
        # Of a place without a drive of its own the load is what drives put on its joints.
        own = {effort.on: effort.of(even) for effort in plan.efforts}
        tau = np.column_stack([effort.of(even) for effort in plan.efforts]) @ plan.jacobians
        loads = [own.get(place, tau @ g / max(float(g @ g), 1e-300)) for place, g in zip(places, G, strict=True)]
        s, load = q @ G.T, LowPass(cutoff)(np.column_stack(loads), rate)
        signals = {"position": s, "velocity": differentiate(s, rate), "load": load}
        if all(f"{place}.{TEMPERATURE}" in even for place in places):
            signals[TEMPERATURE] = np.column_stack([even[f"{place}.{TEMPERATURE}"].values for place in places])
        motions.append(AxisMotion(even.time, signals, rows))
    # The last recordings are held out, or the last part of the only one.
    parts = split_rows([motion.rows for motion in motions], held_out)[0]
    kept = [np.isin(m.rows.time, part.time) for m, part in zip(motions, parts, strict=False)]
    fitted = [*kept, *(np.zeros(len(m.rows.time), bool) for m in motions[len(kept) :])]
    sizes = []
    for k, place in enumerate(places):
        own = {name: np.concatenate([m.signals[name][:, k] for m in motions]) for name in motions[0].signals}
        q, v, load = own["position"], own["velocity"], own["load"]
        warmth = float(np.nanmean(own.get(TEMPERATURE, np.zeros(1))))
        speed, force = (max(float(np.nanpercentile(np.abs(x), 99)), 1e-9) for x in (v, load))
        span, coulomb = max(float(np.nanmax(q) - np.nanmin(q)), 1e-9), 0.1 * force
        sizes.append(
            FrictionPlace(place, coulomb, coulomb / speed, SMOOTH * speed, speed, span, force,
                          temperature=warmth, duration=max(float(np.ptp(m.time)) for m in motions))  # fmt: skip
        )
    spread = np.array([np.nanstd(np.concatenate([m.rows.tau[:, j] for m in motions])) for j in range(len(joints))])
    noise = np.where(spread > 0, spread, 1.0)
    return LawContest(tuple(sizes), G, tuple(motions), tuple(fitted), noise)


@report_progress("comparing laws")
def compare_friction_laws(
    scenario: Scenario,
    data: Run | Sequence[Run],
    laws: Sequence[str] | None = None,
    *,
    cutoff: float | None = None,
    held_out: float = HELD_OUT,
    state: str | Path | None = None,
) -> LawComparison:
    """Laws of friction, losses and ripple by measured motions and efforts: alone, in turns beside the best, together.

    Args:
        laws: names; by default all of `comparable_laws`.
        held_out: share of the rows that laws are judged by and that takes no part in finding their numbers.
        state: file that keeps the numbers of laws; the same call goes on where it was interrupted.

    Raises:
        ModelError: where the scenario has no friction, or a law is none of those that can be compared.
    """
    runs, flaws = [data] if isinstance(data, Run) else list(data), FlawList()
    places = {str(block.on) for block in _friction_blocks(scenario)}
    warm = all(f"{place}.{TEMPERATURE}" in run for place in places for run in runs)
    known = comparable_laws(measured=[TEMPERATURE] if warm else [])
    flaws.add_unknown(laws or (), known, "cannot be compared here")
    if not 0 < held_out < 1:
        flaws.add("held_out", f"must be above 0 and below 1, is {held_out:g}", "laws are judged by it")
    flaws.raise_if_any("comparison of laws")
    chosen = list(laws or known)
    decides = describe(scenario), describe_recordings(runs), chosen, cutoff, held_out
    memo = Memo(Checkpoint("comparison of laws", state, *decides))
    contest = prepare_contest(scenario, runs, cutoff, held_out, memo)

    # The simplest law says the noise of each joint, and where searches of others begin.
    tables: dict[str, Array] = {}
    shape = len(contest.places), len(_numbers_of(SIMPLEST))
    first = memo.recall("first", lambda: contest.search([SIMPLEST], contest.begin([SIMPLEST], tables)))
    tables[SIMPLEST] = first.reshape(shape)
    whole = np.concatenate(contest.residuals([SIMPLEST], tables[SIMPLEST].ravel())[1])
    left = np.sqrt(np.nanmean(whole**2, axis=0))
    contest = replace(contest, noise=contest.noise * np.where(left > 0, left, 1.0))

    results: dict[tuple[str, ...], list[Array]] = {}
    numbers: dict[tuple[str, ...], Array] = {}

    def enter(team: tuple[str, ...]) -> None:
        if team in results:
            return
        update_line(TOGETHER.join(team))
        theta = memo.recall(TOGETHER.join(team), lambda: contest.search(team, contest.begin(team, tables)))
        if len(team) == 1:
            tables[team[0]] = theta.reshape(len(contest.places), -1)
        numbers[team], results[team] = theta, contest.residuals(team, theta)[1]

    alone = [law for law in chosen if _stands_alone(law)]
    beside = [law for law in chosen if not _stands_alone(law)]
    unfinished = list[ComparedLaw]()

    def bic(team: tuple[str, ...]) -> float:
        return _judge_team(contest, team, results[team], numbers[team]).bic

    try:
        for law in alone or [SIMPLEST]:
            enter((law,))
        best = min(results, key=bic)
        for _ in range(min(MOST_ADDED, len(beside))):
            for law in beside:
                if law not in best:
                    enter((*best, law))
            winner = min(results, key=bic)
            if winner == best or bic(best) - bic(winner) < EVEN:
                break
            best = winner
        # What stands alone may have won as a makeshift for what was added later.
        for law in alone:
            enter((law, *best[1:]))
    except KeyboardInterrupt:
        # What was tried is told, the rest is named.
        if not results:
            raise
        tried = {law for team in results for law in team}
        unfinished = [_not_judged(law, STOPPED) for law in chosen if law not in tried]
    rows, held = dict[str, ComparedLaw](), dict[str, Array]()
    for team, left in results.items():
        row = _judge_team(contest, team, left, numbers[team])
        rows[row.law], held[row.law] = row, _held_squares(contest, left)
    simple = _held_squares(contest, contest.residuals([SIMPLEST], tables[SIMPLEST].ravel())[1])
    level = min(row.held_out for row in rows.values())
    rows = {law: replace(r, fitted=r.fitted / level, held_out=r.held_out / level) for law, r in rows.items()}
    axes = {}
    for k, place in enumerate(contest.places):
        own = [_judge_team(contest, team, results[team], numbers[team], k) for team in results]
        axes[place.name] = min(own, key=lambda row: row.bic).law
    return LawComparison((*_rank(rows, held, simple), *unfinished), axes)


def _held_squares(contest: LawContest, left: Sequence[Array]) -> Array:
    """Squares of weighted residuals of all joints at held-out rows, one after the other in time."""
    rows = [np.nansum(e[~fitted] ** 2, axis=1) for e, fitted in zip(left, contest.fitted, strict=True)]
    return np.concatenate(rows)


def _judge_team(
    contest: LawContest, team: tuple[str, ...], left: Sequence[Array], theta: Array, axis: int | None = None
) -> ComparedLaw:
    """Laws by the residuals of all joints, or of one axis."""
    # An axis is judged at the joints that its law acts on.
    chosen = slice(None) if axis is None else np.flatnonzero(contest.levers[axis])
    parts = []
    for wanted in (True, False):
        picked = [e[fitted == wanted][:, chosen].ravel() for e, fitted in zip(left, contest.fitted, strict=True)]
        column = np.concatenate(picked)
        parts.append(column[np.isfinite(column)])
    # Rows are closer than the low-pass makes them new: those two a period of its cutoff are independent.
    rows = contest.motions[0].rows
    n = len(parts[0]) * min(2 * rows.cutoff / rows.rate, 1.0)
    names = [name for law in team for name in _numbers_of(law)]
    count = len(names) * (len(contest.places) if axis is None else 1)
    table = theta.reshape(len(contest.places), -1)
    which = range(len(contest.places)) if axis is None else [axis]
    said = []
    for place, values in ((contest.places[k], table[k].tolist()) for k in which):
        found = [f"{name} {value:.3g}" for name, value in zip(names, values, strict=True)]
        if LAG in names and values[names.index(LAG)] > place.duration:
            found.append("which the log is too short to tell")
        said.append(f"{place.name}: {', '.join(found)}")
    squares = [max(float(np.mean(part**2)), 1e-300) if part.size else np.nan for part in parts]
    return _judge(TOGETHER.join(team), "; ".join(said), count, n, squares)


# --------------------------------------------------------------------------------------------------
# By simulation. What the data cannot tell of a law is named before it is searched for, and such a law takes no part.
# Laws that contain the simplest one start from what that one found.


def compare_laws(
    scenario: Scenario,
    data: Run | Experiment | Sequence[Run | Experiment],
    laws: Sequence[str] | None = None,
    *,
    free: Sequence[str] = (),
    held_out: float = 0.25,
    link_side: Sequence[str] = (),
    state: str | Path | None = None,
    **settings: Any,
) -> LawComparison:
    """Laws of friction and gears by fits of simulations; those that the data cannot tell come last, with the reason.

    Args:
        laws: names; by default all of `comparable_laws(simulated=True)`.
        free: numbers that are fitted beside those of the laws, such as a mass.
        link_side: measured positions and speeds of joints that are taken behind an elastic gear; others are motors'.
        state: file beside which `STATE-LAW` keeps what the searches of each law found; the same call resumes there.
        settings: of `fit_parameters`.

    Raises:
        ModelError: where the scenario has no friction, or a law is not known.
    """
    known, flaws = comparable_laws(simulated=True), FlawList()
    laws = laws or known
    flaws.add_unknown(laws, known, "is not one of the laws to compare")
    if not 0 < held_out < 1:
        flaws.add("held_out", f"must be above 0 and below 1, is {held_out:g}", "laws are judged by it")
    blocks = _friction_blocks(scenario)
    flaws.raise_if_any("comparison of laws")
    experiments = list_experiments(data)
    places = _find_places(scenario, blocks, experiments)
    settings |= {"held_out": held_out}
    # Where efforts were measured too, searches start from what inverse dynamics says.
    levels = _identify_levels(scenario, [one.data for one in experiments], held_out)
    for k, place in enumerate(places):
        coulomb, viscous = levels.get(place.name, (0.0, 0.0))
        if coulomb > 0 and viscous > 0:
            places[k] = replace(place, coulomb=coulomb, viscous=viscous)

    # The simplest law first: others begin with its levels, and with what else was free.
    counts, fits, failures, guessed = dict[str, int](), dict[str, Fit](), dict[str, str](), dict[str, str]()
    for law in dict.fromkeys([SIMPLEST, *laws]):
        try:
            of_law = settings | ({"state": Path(state).with_stem(f"{Path(state).stem}-{law}")} if state else {})
            proposal, names, renamed = _propose(law, scenario, blocks, places, link_side)
            names += free
            counts[law] = len(names)
            try:
                fits[law] = _fit(proposal, names, experiments, renamed, of_law)
            except ModelError as error:
                # What the data do not tell of a law, such as a bristle's damping, stays as guessed.
                mute = {flaw.path for flaw in error.flaws if flaw.what.startswith(UNSEEN)} & {*names} - {*free}
                if not mute or len(mute) < len(error.flaws):
                    raise
                names = [name for name in names if name not in mute]
                counts[law], guessed[law] = len(names), f"left as guessed: {', '.join(sorted(mute))}"
                fits[law] = _fit(proposal, names, experiments, renamed, of_law)
        except ModelError as error:
            failures[law] = "; ".join(map(str, error.flaws))
            continue
        except KeyboardInterrupt:
            if not fits:
                raise
            failures |= {other: STOPPED for other in laws if other not in fits and other not in failures}
            break
        if law == SIMPLEST:
            values = fits[law].values
            scenario = scenario.with_numbers({name: values[name] for name in free if name in values})
            for k, place in enumerate(places):
                own = f"{place.name}.{SIMPLEST}"
                places[k] = replace(place, coulomb=values[f"{own}.coulomb"], viscous=values[f"{own}.viscous"])

    fits = {law: fits[law] for law in laws if law in fits}
    failed = [_not_judged(law, failures[law], counts.get(law, 0)) for law in laws if law in failures]
    if not fits:
        raise ModelError([Flaw(c.law, c.tried) for c in failed], "comparison of laws: none can be fitted")
    # Signals in their order: an elastic gear gives some of them other names.
    noise = np.min([[signal.noise for signal in fit.signals] for fit in fits.values()], axis=0)
    means, held = dict[str, list[float]](), dict[str, Array]()
    for law, fit in fits.items():
        both = _weighted_squares(fit, noise)
        means[law] = [float(np.nanmean(np.concatenate([x.ravel() for x in own]))) for own in both]
        rows_held = [np.where(np.isfinite(x).any(axis=1), np.nansum(x, axis=1), np.nan) for x in both[1]]
        held[law] = np.concatenate(rows_held)
    n = _independent(fits[min(means, key=lambda law: means[law][0])])
    remarks = {law: "; ".join(filter(None, (guessed.get(law), _remark(fit)))) for law, fit in fits.items()}
    rows = {law: _judge(law, remarks[law], counts[law], n, means[law]) for law, fit in fits.items()}
    return LawComparison((*_rank(rows, held, held.get(SIMPLEST)), *failed))


def _identify_levels(scenario: Scenario, runs: Sequence[Run], held_out: float) -> dict[str, tuple[float, float]]:
    """Coulomb and viscous levels of each place by inverse dynamics; none where the data lack positions or efforts."""
    try:
        contest = prepare_contest(scenario, runs, None, held_out)
    except ModelError:
        return {}
    theta = contest.search([SIMPLEST], contest.begin([SIMPLEST], {}))
    table = theta.reshape(len(contest.places), -1).tolist()
    return {place.name: (coulomb, viscous) for place, (coulomb, viscous) in zip(contest.places, table, strict=True)}


def _find_places(scenario: Scenario, blocks: Sequence[Block], experiments: Sequence[Experiment]) -> list[FrictionPlace]:
    """Levels by the friction there is, motions by the data, or by a simulation where they do not have them."""
    names = list(dict.fromkeys(str(block.on) for block in blocks))
    run = example = experiments[0].data
    if not all(f"{name}.position" in example for name in names):
        run = simulate(scenario.with_numbers(experiments[0].numbers).replaced(duration=float(example.time[-1])))
    places = []
    for name in names:
        position = run[f"{name}.position"].values
        steps = np.diff(run.time) > 0
        speeds = np.abs(np.diff(position)[steps] / np.diff(run.time)[steps])
        span = max(float(np.nanmax(position) - np.nanmin(position)), 1e-12)
        speed = max(float(np.nanpercentile(speeds, 99)), 1e-12)
        here = [block for block in blocks if block.on == name]
        own = {key: sum(_number(block, key) for block in here) for key in ("coulomb", "viscous")}
        coulomb = own["coulomb"] or 0.1 * own["viscous"] * speed
        viscous = own["viscous"] or 0.1 * coulomb / speed
        smoothing = max(_number(block, "smoothing_velocity") for block in here) or SMOOTH * speed
        # The force of the only drive there.
        acting = [block for block in scenario.machine.blocks if block.on == name]
        drives = [block.name for block in acting if not block.info.disturbance and not block.info.passive]
        drive = f"{drives[0]}.torque" if len(drives) == 1 else ""
        places.append(FrictionPlace(name, coulomb, viscous, smoothing, speed, span, drive=drive))
    return places


def _number(block: Block, key: str) -> float:
    value = block.parameters.get(key, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _propose(
    law: str,
    scenario: Scenario,
    blocks: Sequence[Block],
    places: Sequence[FrictionPlace],
    link_side: Sequence[str],
) -> tuple[Scenario, list[str], dict[str, str]]:
    """The scenario with one law on all places, the numbers that are fitted, and signals that data name otherwise."""
    geared = law in (ELASTIC, BACKLASH)
    alone = not geared and _stands_alone(law)
    team = [law] if alone else [SIMPLEST] if geared else [SIMPLEST, law]
    laws = [(one, {place.name: _first_values(one, place) for place in places}) for one in team]
    if any("load" in _argument_names(one) for one in team):
        what = "has no drive, or more than one, whose force could be the load"
        if undriven := [Flaw(place.name, what) for place in places if not place.drive]:
            raise ModelError(undriven, "comparison of laws")
    proposal = _with_friction(scenario, blocks, laws, {place.name: {"load": place.drive} for place in places})
    free = []
    for name, numbers in laws:
        for place, keys in numbers.items():
            free += [f"{place}.{name}.{key}" for key in keys if key != "smoothing_velocity"]
    renamed: dict[str, str] = {}
    if geared:
        gears = {place.name: _first_gear(proposal, place, law == BACKLASH) for place in places}
        proposal = proposal.replaced(machine=with_elastic_joints(proposal.machine, gears))
        of_gear = ("stiffness", "damping", "gap") if law == BACKLASH else ("stiffness", "damping")
        for joint, gear in gears.items():
            free += [f"{gear.drive}.gear.{key}" for key in of_gear]
            # What was measured is the motor's motion, unless it is said to be the link's.
            for quantity in ("position", "velocity", "acceleration"):
                if f"{joint}.{quantity}" not in link_side:
                    renamed[f"{joint}.{quantity}"] = f"{gear.drive}.{quantity}"
    return proposal, free, renamed


def _first_gear(scenario: Scenario, place: FrictionPlace, play: bool) -> ElasticGear:
    """Numbers that the search for a gear begins with."""
    joint = next((j for j in scenario.machine.any_mechanism.joints if j.name == place.name), None)
    if joint is None or not joint.armature:
        what = "there is no rotor for the gear to twist against"
        remedy = "give the joint its motor's inertia times the gear ratio squared"
        refuse(f"{place.name}.armature", what, remedy)
    stiffness = (place.coulomb + place.viscous * place.speed) / (TWIST * place.range)
    damping = 0.1 * float(np.sqrt(stiffness * joint.armature))
    return ElasticGear(f"{place.name}_drive", stiffness, damping, SHORT * place.range if play else 0.0)


def _first_values(law: str, place: FrictionPlace) -> dict[str, float]:
    """Numbers of a law that a search begins with."""
    if law == "viscous_friction":
        return {"viscous": place.viscous + place.coulomb / place.speed}
    names = [name for name in (*_numbers_of(law), *FIXED) if name in _argument_names(law)]
    # What holds in each direction is what slides in it.
    return {name: GUESSES[name](place) for name in names if name != "static" or "coulomb_back" not in names}


def _fit(
    scenario: Scenario,
    names: Sequence[str],
    experiments: Sequence[Experiment],
    renamed: Mapping[str, str],
    settings: Mapping[str, Any],
) -> Fit:
    """The fit of one proposal to data some of whose signals have other names there."""
    noise = settings.get("noise")
    if isinstance(noise, Mapping):
        settings = {**settings, "noise": {renamed.get(name, name): level for name, level in noise.items()}}
    data = []
    for one in experiments:
        infos = tuple(replace(info, name=renamed.get(info.name, info.name)) for info in one.data.infos)
        data.append(replace(one, data=replace(one.data, infos=infos)))
    return fit_parameters(scenario, data, names, **settings)


def _remark(fit: Fit) -> str:
    """Numbers at their bounds: the law has become a simpler one; and those that are hardly known."""
    bound = [p.name for p in fit.parameters if p.at_bound]
    poor = [p.name for p in fit.parameters if not p.at_bound and p.value and p.upper - p.lower > 2 * abs(p.value)]
    remarks = (("at its bound", bound), ("poorly identified", poor))
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in remarks if names)


def _weighted_squares(fit: Fit, noise: Array) -> tuple[list[Array], list[Array]]:
    """Squares of the residuals of each recording by the noise, (n, signals): at fitted and at held-out samples."""
    level = dict(zip([signal.name for signal in fit.signals], noise, strict=True))
    fitted, held = list[Array](), list[Array]()
    for r in fit.recordings:
        apart = [(r.measured[name].values - r.run[name].values) / level[name] for name in r.measured.names]
        squares, seen = np.column_stack(apart) ** 2, np.isfinite(r.residuals)
        fitted.append(np.where(seen, squares, np.nan))
        held.append(np.where(seen, np.nan, squares))
    return fitted, held


def _independent(fit: Fit) -> float:
    """How many independent samples residuals are worth: each row counts 1 / (1 + 2 sum of correlations) up to the first
    that is none (Bartlett 1935)."""
    total = 0.0
    for column in (column for r in fit.recordings for column in r.residuals.T):
        e = column[np.isfinite(column)]
        if e.size < 2 or not e.any():
            continue
        e = e - e.mean()
        power = np.abs(np.fft.rfft(e, 2 * e.size)) ** 2
        correlation = np.fft.irfft(power)[: e.size] / max(float(e @ e), 1e-300)
        end = int(np.argmax(correlation < 0.05)) or e.size
        total += e.size / (1 + 2 * float(np.sum(correlation[1:end])))
    return max(total, 2.0)
