"""Identification: masses, inertias, friction and stiffness from measured motions and efforts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import casadi as ca
import numpy as np

from robodyn.analysis.checkpoint import Checkpoint, Memo, Recall, compute_now
from robodyn.analysis.coloured_noise import Spread, describe_doubt
from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.analysis.measurement.measured import describe_fixed, leave_out_repeats, match_measured, without
from robodyn.base import Array, FlawList, ModelError, frozen, refuse, refuse_unknown, report_progress, update_line
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.description.model import Body, Scenario, describe

from .least_squares import Consistent, Estimate, estimate, make_consistent
from .motion_rows import (
    Effort,
    Force,
    MotionRows,
    RegressionRows,
    compute_rows,
    drives_of,
    find_efforts,
    find_inputs,
)
from .regressor import (
    BaseParameters,
    Regressor,
    body_numbers,
    body_parameters,
    find_base_parameters,
    make_regressor,
    passive_blocks,
)

# --------------------------------------------------------------------------------------------------
# Identification, as a result: base parameters with intervals, possible bodies, and predictions of each joint.
#
# Symbols of the residual tests: e residual of a joint, u its predicted force, n rows independent of the filter's
# memory.
#
#     r_ee(l), r_eu(l) within +-1.96 / sqrt(n) at 95 % of the lags, if nothing of the motion is left in e (Ljung 1999)


@frozen
class IntervalEstimate:
    """A number: estimate, standard deviation, 95 % interval, and its value by the scenario."""

    name: str
    unit: str
    value: float
    deviation: Annotated[float, "standard deviation"]
    lower: Annotated[float, "of the 95 % interval"]
    upper: Annotated[float, "of the 95 % interval"]
    given: Annotated[float, "before"]


@frozen
class BaseEstimate(IntervalEstimate):
    """One base parameter, and whether the data determine it."""

    identifiable: Annotated[bool, "whether the data determine it"]


@frozen
class JointPrediction:
    """Predicted against measured force of a joint: root mean square of the difference, also by that of the force.

    Attributes:
        percent: of the force's own root mean square about its mean; held_out: whether the rows took no part in the fit.
    """

    joint: str
    unit: str
    rows: int
    rms: float
    percent: float
    held_out: bool


@frozen(eq=False)
class Identification:
    """What measured motions and efforts say of a machine.

    Attributes:
        numbers: new values of the scenario's numbers, every body a possible one; parameters: the same as theta.
        correlation: of the base estimates.
        cutoff: of the low-pass [Hz]; rate: of the rows [Hz]; whiteness: correlation of what is left from row to row.
        lost: how much the sum of squares by the noise grew by making bodies possible; gap: how clear the rank is.
        doubt: why the intervals are not 95 % intervals, empty where nothing speaks against them.
        offsets: constants of measured signals [SI] that the data tell, which a mapping takes off: see `with_offsets`.
        gains: true by measured effort of each drive and its standard deviation, where known loads told them.
        delays: by which measured efforts come later than the motion asks for [s], where all agree on one.
        time, measured, predicted, fitted: forces of all joints (n, joints) at the rows, nan where one is not used, and
            which rows took part in the fit.
    """

    JSON = """
    base_parameters = base
    correlation
    numbers
    parameters
    predictions
    noise
    cutoff: [Hz]
    rate: [Hz]
    lost
    rank_gap = gap
    without_effect = silent
    doubt: why the intervals are not 95 % intervals, or empty
    offsets: of measured signals, by name [SI]
    gains: of drives, true by measured effort and its standard deviation
    delays: of measured efforts behind the motion that asks for them, by name [s]
    warnings
    """
    joints: tuple[str, ...]
    base: tuple[BaseEstimate, ...]
    correlation: Array
    numbers: dict[str, float]
    parameters: dict[str, float]
    predictions: tuple[JointPrediction, ...]
    noise: dict[str, float]
    cutoff: float
    rate: float
    lost: float
    gap: float
    silent: tuple[str, ...]
    doubt: str
    warnings: tuple[str, ...]
    time: Array
    measured: Array
    predicted: Array
    fitted: Array
    offsets: dict[str, float] = field(default_factory=dict)
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)


def interval_heading(doubt: str) -> str:
    """The heading of a column of intervals."""
    return "interval by noise alone" if doubt else "95 % interval"


LAGS = 25
NORMAL = 1.959964


@frozen(eq=False)
class ResidualTest:
    """Correlations of one joint's residual at lags [s].

    Attributes:
        own: with itself at lags from one row on; with_force: with its predicted force, lags of both signs.
        band: half width of the 95 % band; white, independent: shares of lags within it.
    """

    joint: str
    lag: Array
    own: Array
    with_force: Array
    band: float
    white: float
    independent: float


def check_residuals(found: Identification) -> tuple[ResidualTest, ...]:
    """Tests of every joint's residual at rows that the low-pass leaves independent: two a period of its cutoff."""
    every = max(int(found.rate / (2 * found.cutoff)), 1)
    tests = []
    for k, joint in enumerate(found.joints):
        e = (found.measured - found.predicted)[::every, k]
        u = found.predicted[::every, k]
        there = np.isfinite(e)
        if there.sum() < 4 * LAGS:
            continue
        e, u = (np.where(there, x - np.mean(x[there]), 0.0) for x in (e, u))
        band = NORMAL / np.sqrt(there.sum())
        size, force = np.sqrt(e @ e), np.sqrt(u @ u)
        own = np.array([e[lag:] @ e[:-lag] for lag in range(1, LAGS + 1)]) / size**2
        crossed = np.array([_at_lag(e, u, lag) for lag in range(-LAGS, LAGS + 1)]) / max(size * force, 1e-300)
        lags = np.arange(1, LAGS + 1) * every / found.rate
        shares = float(np.mean(np.abs(own) < band)), float(np.mean(np.abs(crossed) < band))
        tests.append(ResidualTest(joint, lags, own, crossed, float(band), *shares))
    return tuple(tests)


def _at_lag(e: Array, u: Array, lag: int) -> float:
    """sum e(t + lag) u(t)."""
    return float(e[lag:] @ u[: len(u) - lag] if lag >= 0 else e[:lag] @ u[-lag:])


# --------------------------------------------------------------------------------------------------
# Suggestions: which numbers does an experiment hardly tell, and the motion of which joints would tell them?
#
# Symbols: F information of the experiment, F_S that of one period in which only the joints S move, as fast and as far
# as limits allow; s_k deviation of the k-th number.
#
#     s_k^2 = [(F + F_S)^-1]_kk,   S of one joint if that is enough, or else of two


HARDLY = 1.0
"""Predicted deviation, by the value, beyond which an experiment hardly tells a number."""
NOTHING = 1e3
"""Deviation of a number that is 0, by that which its own column alone would leave: beyond, others hide it."""


@frozen(eq=False)
class Suggestion:
    """A number that is hardly told, and what would tell it.

    Attributes:
        deviation: by its value, None where that is 0; joints: whose motion would tell it, none if no one or two
            joints' would.
        then: the deviation together with one period of that motion; motion: its coefficients.
    """

    JSON = """
    number
    deviation: by its value
    joints
    then: after these joints have moved
    """
    number: str
    deviation: float | None
    joints: tuple[str, ...]
    then: float | None
    motion: Array | None = None


@frozen(eq=False)
class Information:
    """What an experiment says of numbers.

    Attributes:
        sizes: deviations that the numbers' own columns alone would leave; F: information on numbers over their sizes.
    """

    names: tuple[str, ...]
    values: Array
    sizes: Array
    F: Array

    @cached_property
    def deviations(self) -> Array:
        """The standard deviations by the values, or by sizes where these are 0."""
        # F^-1, very large where there is no information.
        values, vectors = np.linalg.eigh(self.F)
        inverse = (vectors / np.maximum(values, 1e-14 * max(float(values[-1]), 1e-12))) @ vectors.T
        relative = np.where(self._zero, NOTHING * self.sizes, self.values)
        return np.sqrt(np.maximum(np.diag(inverse), 0)) * self.sizes / np.abs(relative)

    @property
    def _zero(self) -> Array:
        return np.abs(self.values) <= 1e-12

    def relative(self, k: int) -> float | None:
        """Deviation of a number by its value, if it has one."""
        return None if self._zero[k] else float(self.deviations[k])

    @property
    def poorly_identified(self) -> list[int]:
        """Places of the numbers that the experiment hardly tells."""
        return np.flatnonzero(self.deviations > HARDLY).tolist()


def suggest_motions(
    known: Information, joints: tuple[str, ...], move: Callable[[tuple[int, ...]], tuple[Array, Array]]
) -> tuple[Suggestion, ...]:
    """What would tell the numbers that an experiment hardly tells.

    Args:
        move: coefficients and information of a motion of some joints alone.
    """
    best: dict[int, tuple[float, Suggestion]] = {}
    for count in (1, 2):
        # Of each number left, the motion of so many joints that leaves the least deviation, if that is little enough.
        left = [k for k in known.poorly_identified if k not in best]
        for moved in combinations(range(len(joints)), count) if left else ():
            motion, more = move(moved)
            then = replace(known, F=known.F + more)
            names = tuple(joints[j] for j in moved)
            for k in left:
                deviation = then.deviations[k]
                if deviation <= HARDLY and (k not in best or deviation < best[k][0]):
                    suggestion = Suggestion(known.names[k], known.relative(k), names, then.relative(k), motion)
                    best[k] = deviation, suggestion
    suggestions = []
    for k in known.poorly_identified:
        before = known.relative(k)
        suggestions.append(best[k][1] if k in best else Suggestion(known.names[k], before, (), before))
    return tuple(suggestions)


# --------------------------------------------------------------------------------------------------
# Identification by inverse dynamics: motions and efforts in, base parameters and possible bodies out.
#
# The steps: regressor of the machine, its base parameters, filtered rows of each recording, weighted least squares on
# the first part of them, possible bodies with these base parameters, prediction of the part that was held out.


HELD_OUT = 0.25
LOWER = (0.5, 0.25)
"""Parts of the highest cutoff that are tried."""
CLEARER = 1.02
"""By how much a lower cutoff must predict better to be taken."""
ENOUGH = 4
"""Rows for each base parameter without which no lower cutoff is tried."""
WIDE = 1.0
SURE, SHORTEST, AGREE = 5.0, 0.25, 4.0
"""Delay of efforts by its deviation, and in rows, that is said, and deviations by which each effort may differ."""
ROWS_OF_DELAYS = 20_000
POOR = 30.0
"""Per cent of a joint's force that is left, beyond which the model is not that of the data."""


@report_progress("identifying")
def identify(
    scenario: Scenario,
    data: Run | Sequence[Run],
    *,
    cutoff: float | None = None,
    held_out: float = HELD_OUT,
    robust: bool = False,
    offsets: bool = True,
    loads: Sequence[Mapping[str, float]] = (),
    gains: bool = False,
    state: str | Path | None = None,
) -> Identification:
    """Find inertial parameters, rotors, friction and stiffness of a machine from measured motions and efforts.

    Args:
        data: recordings with `<joint>.position` of every joint and forces of drives, see `find_efforts`.
        cutoff: of the low-pass [Hz]; by default twice the frequency up to which positions rise out of their noise.
        held_out: share of the rows that takes no part in the fit: whole recordings at the end where there are several.
        robust: whether rows far off count less (Huber), as they do anyway where some are outliers beyond doubt.
        offsets: whether each measured effort may have an unknown constant.
        loads: numbers of the scenario that a recording was made with, such as a known payload's mass, for each one.
        gains: whether the efforts' own scale is unknown too: recordings with and without a known load tell it.
        state: file that keeps finished parts; the same call goes on where it was interrupted.

    Raises:
        ModelError: for machines and data that this cannot be done with, with the remedy.
    """
    runs = [data] if isinstance(data, Run) else list(data)
    _check(runs, cutoff, held_out)
    settings = [cutoff, held_out, robust, offsets, list(loads), gains]
    memo = Memo(Checkpoint("identification", state, describe(scenario), describe_recordings(runs), settings))
    plan = plan_identification(scenario, runs[0], offsets)
    rows = plan.choose_rows(plan.prepare_all(runs, cutoff, memo), held_out, cutoff is None, memo.recall)
    if loads and len(loads) != len(runs):
        refuse(
            "loads", f"are {len(loads)}, recordings {len(runs)}", "give each one its own, {} for none", "identification"
        )
    known = [plan.load_of(load) for load in loads] or [np.zeros(len(plan.base.kept))] * len(runs)
    scales = plan.find_gains(rows, known) if gains else {}
    rows = [plan.corrected(own, load, scales) for own, load in zip(rows, known, strict=True)]
    fitted, held = split_rows(rows, held_out)
    update_line("least squares", 0.5)
    estimate, notes = plan.estimate(fitted, robust), dict.fromkeys(note for own in rows for note in own.notes)
    if not robust and (outliers := estimate.outliers):
        estimate = plan.estimate(fitted, True)
        notes[f"{outliers} rows are far off all others (outliers): rows far off count less (Huber)"] = None
    update_line("delays of efforts", 0.55)
    delays = memo.recall("delays", lambda: plan.find_delays(fitted, estimate.beta))
    late, said = _common_delay(delays, 1 / assess_clock(runs[0].time).rate)
    notes |= dict.fromkeys(said)
    found = _summarise(plan.regressor, plan.base, estimate, fitted, held, memo.recall)
    names = [name for effort in plan.efforts for name in effort.signals]
    return replace(found, warnings=(*plan.notes, *notes, *found.warnings), offsets=plan.find_offsets(found),
                   gains=scales, delays=dict.fromkeys(names, late) if late else {})  # fmt: skip


@frozen(eq=False)
class IdentificationPlan:
    """What is the same for all recordings of a machine.

    Attributes:
        inputs: what laws read beside the motion of their place.
        jacobians: how each effort acts on the joints, (n_efforts, n); usable: joints all of whose drives are measured.
        notes: sentences on where efforts come from.
    """

    system: System
    regressor: Regressor
    base: BaseParameters
    efforts: tuple[Effort, ...]
    inputs: tuple[Force, ...]
    jacobians: Array
    usable: Array
    notes: tuple[str, ...]

    @cached_property
    def reduced(self) -> Regressor:
        """The regressor of the base parameters."""
        return self.regressor.choose(self.base.kept)

    def rows(self, run: Run, cutoff: float | None = None, recall: Recall = compute_now) -> RegressionRows:
        """Filtered rows of a recording."""
        return self._usable(self.prepare(run, cutoff, recall).filtered())

    def _usable(self, rows: RegressionRows) -> RegressionRows:
        return replace(rows, used=rows.used & self.usable)

    def prepare_all(self, runs: Sequence[Run], cutoff: float | None, memo: Memo) -> list[MotionRows]:
        """Rows of all recordings before their last filter."""
        prepared = []
        for k, run in enumerate(runs):
            update_line(f"recording {k + 1} of {len(runs)}", 0.35 * k / len(runs))
            prepared.append(self.prepare(run, cutoff, memo.within(f"recording {k + 1}")))
        return prepared

    def prepare(self, run: Run, cutoff: float | None = None, recall: Recall = compute_now) -> MotionRows:
        """Rows of a recording before their last filter."""
        # Units of the signals that are used must be those of the model.
        units = {info.name: info.unit for info in self.system.signals}
        of_efforts = [name for effort in self.efforts for name in effort.signals]
        of_efforts += [name for force in self.inputs for name in force.signals]
        source = str(run.provenance.description.get("file", "measured data"))
        refuse_unknown(of_efforts, run.names, "is not in the data", source)
        unused = [n for n in run.names if n not in units or not (n.endswith(".position") or n in of_efforts)]
        run = replace(run, warnings=(*run.warnings, *describe_fixed(self.system.scenario, run)))
        rising = leave_out_repeats(replace(run, time=run.time - run.time[0], knots=None))
        match_measured(without(rising, unused), units)
        return compute_rows(self.reduced, self.efforts, self.inputs, self.jacobians, run, cutoff, recall)

    def choose_rows(
        self, prepared: Sequence[MotionRows], held_out: float, free: bool, recall: Recall = compute_now
    ) -> list[RegressionRows]:
        """Rows by the cutoff whose numbers predict best what took no part: all that is, up to the highest cutoff.

        A part of the rows that are fitted judges; the part that is held out as proof has no say.
        """
        known: dict[float, list[RegressionRows]] = {}

        def rows_at(part: float) -> list[RegressionRows]:
            if part not in known:
                update_line(f"rows low-passed at {part:g} of the highest cutoff", 0.4)
                known[part] = [self._usable(one.filtered(part * one.cutoff)) for one in prepared]
            return known[part]

        def choose() -> float:
            inner, judges = split_rows(split_rows(rows_at(1.0), held_out)[0], HELD_OUT)
            best = 1.0
            if not judges or sum(int(r.used.sum()) for r in inner) < ENOUGH * len(self.base.kept):
                return best
            found = self.estimate(inner)
            noise, least = found.noise, self._error(judges, found.beta, found.noise) / CLEARER
            for part in LOWER:
                try:
                    lower = rows_at(part)
                except ModelError:
                    break
                fitted = split_rows(split_rows(lower, held_out)[0], HELD_OUT)[0]
                if sum(int(r.used.sum()) for r in fitted) < ENOUGH * len(self.base.kept):
                    break
                error = self._error(judges, self.estimate(fitted).beta, noise)
                if error < least:
                    least, best = error, part
            return best

        return rows_at(recall("part of the cutoff", choose) if free else 1.0)

    def load_of(self, numbers: Mapping[str, float]) -> Array:
        """What known numbers add to the base parameters."""
        if not numbers:
            return np.zeros(len(self.base.kept))
        loaded = self.system.scenario.with_numbers(dict(numbers))
        mechanism = loaded.machine.mechanism
        assert mechanism is not None
        values = {name: number.value for name, number in loaded.numbers().items()}
        for body in (one for one in mechanism.bodies if isinstance(one, Body)):
            values |= {parameter.name: parameter.given for parameter in body_parameters(body)}
        theta = np.array([values.get(p.name, p.given) for p in self.regressor.parameters])
        change = np.asarray(self.base.G @ (theta - self.regressor.given))
        if not np.any(change):
            what, remedy = f"{', '.join(numbers)} have no effect on efforts", "name the mass of a body that has one"
            refuse("loads", what, remedy, "identification")
        return change

    def find_gains(self, rows: Sequence[RegressionRows], known: Sequence[Array]) -> dict[str, tuple[float, float]]:
        """True by measured effort of each drive, and its standard deviation, by known loads b of some recordings.

        (1 + d) tau = Y (beta + b):   tau = Y beta - d tau + Y b
        """
        if not any(np.any(load) for load in known):
            what = "cannot be determined without a known load: numbers and gains can grow together"
            refuse("gains", what, "record again with a known payload, and give its mass as a load", "identification")
        plain = [replace(own, tau=own.tau - own.Y @ load) for own, load in zip(rows, known, strict=True)]
        numbers = self._numbers_of_efforts(plain, [own.efforts for own in rows])
        return {on: (1 + d, deviation) for on, (d, deviation) in numbers.items()}

    def find_delays(self, rows: Sequence[RegressionRows], beta: Array) -> dict[str, tuple[float, float]]:
        """The time by which each effort comes later than the motion needs [s], and its standard deviation.

        tau(t) + d tau'(t) = Y beta

        with the slopes of what the model needs: noise of measured ones would make delays look shorter.
        """
        back = np.linalg.pinv(self.jacobians)
        inner, slopes = [], []
        for own in rows:
            used = own.used.copy()
            used[1:-1] &= own.used[:-2] & own.used[2:]
            # So many rows tell a delay as well as all of them.
            every = max(len(own.time) // ROWS_OF_DELAYS, 1)
            inner.append(replace(replace(own, used=used).part(slice(None, None, every)), rate=own.rate / every))
            slopes.append(np.gradient(own.Y @ beta @ back, 1 / own.rate, axis=0)[::every])
        return self._numbers_of_efforts(inner, slopes)

    def _numbers_of_efforts(
        self, rows: Sequence[RegressionRows], columns: Sequence[Array]
    ) -> dict[str, tuple[float, float]]:
        """One more number d of each effort, tau = Y beta - d column, and its deviation, where the data tell it."""
        count = len(self.efforts)
        wider = []
        for own, column in zip(rows, columns, strict=True):
            levers = -column[:, None, :] * self.jacobians.T[None]
            wider.append(replace(own, Y=np.concatenate([own.Y, levers], axis=2)))
        start = np.concatenate([self.base.G @ self.regressor.given, np.zeros(count)])
        found = estimate(wider, start)
        told = np.linalg.norm(np.linalg.qr(found.known)[0], axis=1)[-count:] > 1 - 1e-6
        d, deviations = found.beta[-count:].tolist(), found.spread.deviations[-count:].tolist()
        numbers = zip(self.efforts, d, deviations, told, strict=True)
        return {effort.on: (x, deviation) for effort, x, deviation, sure in numbers if sure}

    def corrected(self, rows: RegressionRows, load: Array, gains: Mapping[str, tuple[float, float]]) -> RegressionRows:
        """Rows with efforts in their true size, less what a known load needs."""
        more = np.array([gains[e.on][0] - 1 if e.on in gains else 0.0 for e in self.efforts])
        return replace(rows, tau=rows.tau + (rows.efforts * more) @ self.jacobians - rows.Y @ load)

    def find_offsets(self, found: Identification) -> dict[str, float]:
        """Constants of the measured signals: all that the numbers were found with, as they hold only together.

        One that is hardly told, as where little motion hardly tells it from a weight, changes the weight by as much.
        """
        constants = {effort.on: found.parameters.get(f"{effort.on}.effort_offset", 0.0) for effort in self.efforts}
        return {
            effort.signals[0]: constants[effort.on] / slope
            for effort in self.efforts
            if constants[effort.on] and len(effort.signals) == 1 and (slope := effort.slope) is not None
        }

    def _error(self, rows: Sequence[RegressionRows], beta: Array, noise: Array) -> float:
        """Mean square of what numbers leave of rows, by the noise of each joint."""
        left = [np.where(r.used, (r.tau - r.Y @ beta) / noise, np.nan) for r in rows]
        return float(np.nanmean(np.concatenate(left) ** 2))

    def estimate(self, rows: Sequence[RegressionRows], robust: bool = False) -> Estimate:
        """Base parameters from rows; what these do not tell stays as the scenario has it."""
        return estimate(rows, self.base.G @ self.regressor.given, robust)


def plan_identification(what: Scenario | System, example: Run, offsets: bool = True) -> IdentificationPlan:
    """Regressor, base parameters and efforts for recordings with the signals of an example."""
    system = what if isinstance(what, System) else assemble(what)
    regressor = make_regressor(system)
    efforts, notes = find_efforts(system, example)
    inputs = find_inputs(system, regressor.inputs, example)
    jacobians, usable = _act_on_joints(system, regressor, efforts)
    if offsets:
        units = [system.signals[system.signal_names.index(f"{e.on}.position")].unit for e in efforts]
        forces = ["N m" if unit == "rad" else "N" for unit in units]
        regressor = regressor.with_offsets([effort.on for effort in efforts], forces, jacobians)
    base = find_base_parameters(regressor)
    # A constant that changes efforts as masses do, such as that of a vertical slide, would take part of the weight.
    first = len(regressor.parameters) - len(regressor.offsets)
    told = [k for k in range(len(regressor.offsets)) if first + k in base.kept]
    if len(told) < len(regressor.offsets):
        others = [effort.on for k, effort in enumerate(efforts) if k not in told]
        hidden = "a constant offset of its effort cannot be told from weights or springs: taken as none"
        notes.append(f"{', '.join(others)}: {hidden}; its zero is to be known")
        parameters = tuple(regressor.parameters[k] for k in [*range(first), *(first + k for k in told)])
        regressor = replace(regressor, parameters=parameters, offsets=regressor.offsets[told])
        base = find_base_parameters(regressor)
    numbers = {parameter.number.rpartition(".")[0] for parameter in regressor.parameters}
    for block in passive_blocks(system.scenario):
        if block.info.disturbance and block.info.states and block.name not in numbers:
            kept = f"{block.name}: {block.function.__name__} is taken as it stands, not being linear in its numbers"
            notes.append(f"{kept}; identify --compare-laws finds those of laws that warm up, robodyn fit all")
    return IdentificationPlan(system, regressor, base, tuple(efforts), inputs, jacobians, usable, tuple(notes))


def describe_recordings(runs: Sequence[Run]) -> list[Any]:
    """All of recordings that decides what is found in them."""
    return [[run.names, run.time, run.values, run.provenance.description.get("saturation_kept", [])] for run in runs]


def _check(runs: Sequence[Run], cutoff: float | None, held_out: float) -> None:
    flaws = FlawList()
    if not runs:
        flaws.add("data", "there are none")
    flaws.add_unless_positive(cutoff=cutoff)
    if not 0 <= held_out < 1:
        flaws.add("held_out", f"must be at least 0 and below 1, is {held_out:g}")
    flaws.raise_if_any("identification")


def _act_on_joints(system: System, regressor: Regressor, efforts: Sequence[Effort]) -> tuple[Array, Array]:
    """How each effort acts on the joints, (n_efforts, n), and joints all of whose drives are measured."""
    rows, flaws = [], FlawList()
    for effort in efforts:
        lever = effort_levers(system, regressor, effort.on)
        if lever is None:
            flaws.add(effort.on, "acts on the joints by a lever that changes", "give the efforts of independent joints")
            continue
        rows.append(lever)
    flaws.raise_if_any("identification")
    A = np.array(rows)
    measured = {effort.on for effort in efforts}
    usable = np.any(A != 0, axis=0)
    for on in drives_of(system):
        if on not in measured and on in system.motion.coordinates:
            lever = effort_levers(system, regressor, on)
            usable &= False if lever is None else lever == 0
    return A, usable


def effort_levers(system: System, regressor: Regressor, on: str) -> Array | None:
    """How a force on a joint or coordinate acts on the joints of the regressor; None where that changes on the way."""
    gradient = ca.jacobian(system.motion.coordinates[on], system.q)
    if not gradient.is_constant():
        return None
    row = np.array(ca.DM(ca.densify(gradient))).ravel()
    return regressor.closure.lever(row) if regressor.closure else row


def split_rows(rows: Sequence[RegressionRows], held_out: float) -> tuple[list[RegressionRows], list[RegressionRows]]:
    """Rows for the fit and rows for its proof: last recordings, or the last part of the only one."""
    if held_out == 0:
        return list(rows), []
    if len(rows) > 1:
        count = min(max(round(held_out * len(rows)), 1), len(rows) - 1)
        return list(rows[:-count]), list(rows[-count:])
    only = rows[0]
    edge = int(round((1 - held_out) * len(only.time)))
    first = np.arange(len(only.time)) < edge
    return [only.part(first)], [only.part(~first)]


def _common_delay(delays: Mapping[str, tuple[float, float]], step: float) -> tuple[float, list[str]]:
    """A delay on which all efforts agree: one alone that comes late is more likely a law that the model lacks."""
    if not delays:
        return 0.0, []
    d, s = (np.array(column) for column in zip(*delays.values(), strict=True))
    deviation = float(np.sum(s**-2.0) ** -0.5)
    common = float(np.sum(d * s**-2.0)) * deviation**2
    agree = np.all(np.abs(d - common) < np.maximum(AGREE * s, 0.1 * abs(common)))
    if agree and abs(common) > max(SURE * deviation, SHORTEST * step):
        late, sure = 1e3 * common, 1e3 * deviation
        what = f"efforts come {abs(late):.3g} +- {sure:.1g} ms {'later' if late > 0 else 'earlier'}"
        remedy = f'delay = "{late:.3g} ms" more in a mapping (--map-out writes it), or the model lacks a law'
        return common, [f"{what} than the motion asks for: {remedy}"]
    return 0.0, []


def _summarise(
    regressor: Regressor,
    base: BaseParameters,
    found: Estimate,
    fitted: Sequence[RegressionRows],
    held: Sequence[RegressionRows],
    recall: Recall,
) -> Identification:
    update_line("intervals", 0.65)
    spread = Spread(**recall("spread", lambda: vars(found.spread)))
    update_line("bodies that could be", 0.8)
    bodies = recall("bodies", lambda: vars(make_consistent(regressor.parameters, base.G, found, spread)))
    consistent = Consistent(**bodies)
    beta = base.G @ consistent.theta
    parts = [(rows, False) for rows in fitted] + [(rows, True) for rows in held]
    predictions = [*predict_joints(regressor, fitted, beta, False), *predict_joints(regressor, held, beta, True)]
    given = base.G @ regressor.given
    basis = np.linalg.qr(found.known)[0]
    identifiable = np.linalg.norm(basis, axis=1) > 1 - 1e-6
    estimates = tuple(
        BaseEstimate(name, regressor.parameters[k].unit, b, d, b - h, b + h, g, bool(t))
        for name, k, b, d, h, g, t in zip(
            base.names,
            base.kept,
            found.beta.tolist(),
            spread.deviations.tolist(),
            spread.half_widths.tolist(),
            given.tolist(),
            identifiable,
            strict=True,
        )  # fmt: skip
    )
    update_line("tests of the residuals", 0.9)
    doubt = recall("doubt", lambda: describe_doubt(spread, found.parts, [r.Y for r in fitted]))
    measured = np.concatenate([np.where(r.used, r.tau, np.nan) for r, _ in parts])
    return Identification(
        joints=regressor.joints,
        base=estimates,
        correlation=spread.correlation,
        numbers=_numbers(regressor, consistent.theta),
        parameters=dict(zip(regressor.names, consistent.theta.tolist(), strict=True)),
        predictions=tuple(predictions),
        noise=dict(zip(regressor.joints, found.noise.tolist(), strict=True)),
        cutoff=fitted[0].cutoff,
        rate=fitted[0].rate,
        lost=consistent.lost,
        gap=base.gap,
        silent=base.silent,
        doubt=doubt,
        warnings=(
            *filter(None, [doubt]),
            *_describe_negative(regressor, base, estimates),
            *_warnings(estimates, predictions, fitted, consistent.lost),
        ),
        time=np.concatenate([r.time for r, _ in parts]),
        measured=measured,
        predicted=np.concatenate([r.Y @ beta for r, _ in parts]),
        fitted=np.concatenate([np.full(len(r.time), not flag) for r, flag in parts]),
    )


def _numbers(regressor: Regressor, theta: Array) -> dict[str, float]:
    """Values of the scenario's numbers."""
    numbers: dict[str, float] = {}
    for body in dict.fromkeys(p.body for p in regressor.parameters if p.body):
        own = [k for k, parameter in enumerate(regressor.parameters) if parameter.body == body]
        numbers |= body_numbers(body, theta[own])
    waves: dict[str, list[float]] = {}
    for parameter, value in zip(regressor.parameters, theta.tolist(), strict=True):
        if parameter.wave is None:
            numbers |= {parameter.number: value} if parameter.number else {}
            continue
        # Size and phase of a wave from its cosine and sine part.
        waves.setdefault(parameter.number, []).append(value)
        if parameter.wave[1] == 1:
            cosine, sine = waves[parameter.number]
            numbers[parameter.number] = float(np.hypot(cosine, sine))
            numbers[parameter.wave[0]] = float(np.arctan2(sine, cosine))
    return numbers


def predict_joints(
    regressor: Regressor, rows: Sequence[RegressionRows], beta: Array, held_out: bool
) -> list[JointPrediction]:
    found = []
    for k, (joint, unit) in enumerate(zip(regressor.joints, regressor.forces, strict=True)):
        tau = np.concatenate([r.tau[r.used[:, k], k] for r in rows]) if rows else np.zeros(0)
        if not tau.size:
            continue
        e = tau - np.concatenate([(r.Y @ beta)[r.used[:, k], k] for r in rows])
        rms = float(np.sqrt(np.mean(e**2)))
        found.append(JointPrediction(joint, unit, tau.size, rms, 100 * rms / max(float(np.std(tau)), 1e-300), held_out))
    return found


def _describe_negative(regressor: Regressor, base: BaseParameters, estimates: Sequence[BaseEstimate]) -> Iterator[str]:
    """Friction and rotors that come out negative beyond doubt: a sign is wrong.

    Only a sum of what cannot be negative is judged, with numbers that are not negative: a difference may have either
    sign, and so may a sum with a first moment of mass in it.
    """
    positive = np.array([parameter.non_negative for parameter in regressor.parameters])
    for row, k, e in zip(base.G, base.kept, estimates, strict=True):
        a_sum = bool(np.all(row[positive] >= 0) and not np.any(row[~positive]))
        if not regressor.parameters[k].body and positive[k] and a_sum and e.identifiable and e.upper < 0:
            yield f"{e.name} comes out negative: the sign of a position or of an effort there is wrong, or a delay is"


def _warnings(
    estimates: Sequence[BaseEstimate],
    predictions: Sequence[JointPrediction],
    rows: Sequence[RegressionRows],
    lost: float,
) -> tuple[str, ...]:
    unknown = [e.name for e in estimates if not e.identifiable]
    warnings = [f"{name} cannot be identified from these data: it stays as given" for name in unknown]
    hardly = [
        e.name for e in estimates
        if e.identifiable and not e.name.endswith(".effort_offset") and (e.upper - e.lower) / 2 > WIDE * abs(e.value)
    ]  # fmt: skip
    if hardly:
        warnings.append(f"hardly known from these data, intervals are wider than values: {', '.join(hardly)}")
    for p in predictions:
        if p.percent > POOR:
            part = "held-out" if p.held_out else "fitted"
            what = f"{p.percent:.0f} % of the {part} force of {p.joint} is left"
            warnings.append(f"{what}: look at sign, unit, gear and delay of its columns, or at what the model lacks")
    count = sum(int(r.used.sum()) for r in rows)
    if lost > 3 * len(estimates):
        what = f"possible bodies are {lost:.3g} worse in the sum of squares of {count} rows than impossible ones"
        warnings.append(f"{what}: the model lacks something")
    return tuple(warnings)
