"""Rows of the regression: from measured positions and efforts to filtered regressors and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.checkpoint import Recall, compute_now
from robodyn.analysis.measurement.data_sheet import (
    GAP,
    assess_clock,
    estimate_noise,
    find_quantum,
    saturated_stretches,
)
from robodyn.analysis.measurement.measured import tidy_rows, without
from robodyn.analysis.measurement.responses import ANTI_ALIAS, LowPass, differentiate, resample
from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, nearest, refuse
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.laws import arguments_of
from robodyn.description.model import LinearCombination, Scenario
from robodyn.description.model.block import name_results

from .regressor import Regressor, passive_blocks

# --------------------------------------------------------------------------------------------------
# Measured efforts: from which measured signals follow the forces that drives put on the joints?
#
# A drive's force is a signal of the scenario, `elbow.drive.torque`. It is taken from the data by that name, or computed
# by the drive's own law where the data have all that it depends on, such as a current that is a state, or another
# output of the drive, such as the current of a current source, of which it is a multiple. Where several blocks act on a
# joint each force is found by itself; `elbow.effort` is all of them together.


PROBE, PROBES = 1e-2, 8
"""Size and number of random arguments at which a force is compared with another output of its law."""
SAME = 1e-9


@frozen
class Force:
    """One force, and the data's signals that it is computed from by a function; None for what is measured itself."""

    signal: str
    signals: tuple[str, ...]
    function: Any = None

    def of(self, data: Run) -> Array:
        columns = [data[name].values for name in self.signals]
        if self.function is None:
            return columns[0]
        table = np.vstack([np.zeros((0, len(data.time))), *columns])
        return np.array(self.function.map(len(data.time))(table)).ravel()


@frozen
class Effort:
    """What all drives put on a joint or coordinate, and what there is to say about where it comes from."""

    on: str
    forces: tuple[Force, ...]
    note: str = ""

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals of the data that it is read from."""
        return tuple(dict.fromkeys(name for force in self.forces for name in force.signals))

    def of(self, data: Run) -> Array:
        return np.sum([force.of(data) for force in self.forces], axis=0)

    @property
    def slope(self) -> float | None:
        """Effort of one unit of its only signal; None where it is not proportional to it."""
        points = np.zeros((3, len(self.signals)))
        points[1:, 0] = 1.0, 2.0
        infos = tuple(SignalInfo(name, "") for name in self.signals)
        none, first, second = self.of(Run(np.arange(3.0), points, infos, _NO_OUTCOME, Provenance("probe")))
        straight = abs(second - 2 * first + none) <= SAME * abs(first - none)
        return float(first - none) if straight and first != none else None


_NO_OUTCOME = Outcome(OutcomeKind.FINISHED, "", 0.0)


def find_efforts(system: System, data: Run) -> tuple[list[Effort], list[str]]:
    """Efforts of all drives that the data tell, and a sentence on each measured force that is of no use."""
    drives = drives_of(system)
    efforts, notes = [], []
    for place in dict.fromkeys([*drives, *system.motion.coordinates]):
        found = _effort(system, place, drives.get(place, []), data)
        if isinstance(found, Effort):
            efforts.append(found)
            found = found.note
        notes += [found] if found else []
    if not efforts:
        known = ", ".join(signal for signals in drives.values() for signal in signals) or "none of the model's drives"
        what = f"have no force of a drive: {known}"
        remedy = "name a column like one of them, or JOINT.effort, in a mapping"
        raise ModelError([Flaw("signals", what, remedy), *(Flaw("signals", note) for note in notes)], "measured data")
    return efforts, notes


def find_inputs(system: System, signals: Sequence[str], data: Run) -> tuple[Force, ...]:
    """Measured signals that laws depend on, such as loads and temperatures."""
    flaws, inputs = FlawList(), list[Force]()
    alone = {names[0]: f"{place}.effort" for place, names in drives_of(system).items() if len(names) == 1}
    for signal in signals:
        effort = alone.get(signal, "")
        force = Force(signal, (effort,)) if effort in data else _force(system, signal, data)
        if force is None:
            remedy = "name its column in a mapping, or fit by simulation: robodyn fit"
            flaws.add(signal, "is read by a law and not in the data", remedy)
        else:
            inputs.append(force)
    flaws.raise_if_any("measured data")
    return tuple(inputs)


def drives_of(system: System) -> dict[str, list[str]]:
    """Joint or coordinate -> signals of forces that drives put on it."""
    passive = {block.name for block in passive_blocks(system.scenario)}
    found: dict[str, list[str]] = {}
    for on, signal in system.motion.forces:
        if signal.rpartition(".")[0] not in passive:
            found.setdefault(on, []).append(signal)
    return found


def _effort(system: System, place: str, signals: Sequence[str], data: Run) -> Effort | str:
    """The effort on a place, or why a force that was measured there does not give it."""
    if f"{place}.effort" in data:
        return Effort(place, (Force(f"{place}.effort", (f"{place}.effort",)),))
    forces = {signal: _force(system, signal, data) for signal in signals}
    told = [signal for signal, force in forces.items() if force and force.signals]
    measured = ", ".join(signal for signal in told if signal in data)
    others = ", ".join(signal for signal in signals if signal not in data)
    unknown = ", ".join(signal for signal, force in forces.items() if force is None)
    if told and not unknown:
        note = f"{place}: the effort is {measured} as measured and {others} by the model's law"
        return Effort(place, tuple(filter(None, forces.values())), note if measured and others else "")
    if not measured:
        return ""
    what = f"{measured} is not used: {unknown} acts on {place} too, and the data do not determine it"
    return f"{what}; name what its law depends on, or all together as {place}.effort, in a mapping"


def _force(system: System, signal: str, data: Run) -> Force | None:
    """One force by the data; of no signals where it is a constant of the model, None where they do not tell it."""
    if signal in data:
        return Force(signal, (signal,))
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    columns, other = _columns(system), ca.vertcat(system.symbols.t, system.symbols.d)
    depends = ca.which_depends(outputs[signal], ca.vertcat(*columns.values()), 1, False)
    names = [name for name, used in zip(columns, depends, strict=True) if used]
    computed = not any(ca.which_depends(outputs[signal], other, 1, False)) and all(name in data for name in names)
    if computed and names:
        return Force(signal, tuple(names), _function(system, outputs[signal], [columns[name] for name in names]))
    owner = signal.rpartition(".")[0]
    for name in (n for n in outputs if n.rpartition(".")[0] == owner and n != signal and n in data):
        factor = _factor(system, signal, name)
        if factor is not None:
            given = ca.SX.sym("given")
            return Force(signal, (name,), ca.Function("force", [given], [factor * given]))
    return Force(signal, (), _function(system, outputs[signal], [])) if computed else None


def _factor(system: System, force: str, other: str) -> float | None:
    """How many times another output of its block a force is, whatever the block reads; None where it is no constant."""
    owner = force.rpartition(".")[0]
    block = next((block for block in system.scenario.machine.all_blocks if block.name == owner), None)
    if block is None or not block.native or block.model is not None:
        return None
    symbols, arguments = list[ca.SX](), dict[str, Any]()
    for name in (argument.name for argument in arguments_of(block.function)):
        count = len(block.inputs[name]) if isinstance(block.inputs.get(name), tuple) else 0
        own = [ca.SX.sym(name) for _ in range(max(count, 1))]
        arguments[name] = block.parameters.get(name, tuple(own) if count else own[0])
        symbols += [] if name in block.parameters else own
    results = name_results(block, block.function(**arguments))
    keys = [signal.removeprefix(f"{owner}.") for signal in (force, other)]
    if not all(key in results for key in keys):
        return None
    pair = [ca.SX(results[key]) for key in keys]
    both = spell_out(ca.Function("pair", [ca.vertcat(ca.SX(0, 1), *symbols)], pair))
    rng = np.random.default_rng(0)
    probes = [both(rng.normal(0, PROBE, len(symbols))) for _ in range(PROBES)]
    found = np.array([[float(value) for value in probe] for probe in probes])
    if not np.isfinite(found).all() or not np.any(found[:, 1]):
        return None
    factor = float(found[:, 0] @ found[:, 1] / (found[:, 1] @ found[:, 1]))
    left = np.abs(found[:, 0] - factor * found[:, 1]).max()
    return factor if factor and left <= SAME * np.abs(found[:, 0]).max() else None


def _columns(system: System) -> Mapping[str, ca.SX]:
    """States and memory by name."""
    states = [(info.name, system.symbols.x[k]) for k, info in enumerate(system.states)]
    memory = [(info.name, system.symbols.m[k]) for k, info in enumerate(system.memory)]
    return dict([*states, *memory])


def _function(system: System, force: ca.SX, columns: Sequence[ca.SX]) -> Any:
    """A force by columns of the data, numbers as the scenario has them."""
    given = ca.SX.sym("given", len(columns))
    old = ca.vertcat(*columns, system.symbols.p)
    new = ca.vertcat(given, ca.SX([number.value for number in system.parameters]))
    plain = ca.substitute([force], [old], [new])[0]
    return spell_out(ca.Function("force", [given], [plain]))


# --------------------------------------------------------------------------------------------------
# Rows of the regression: from noisy positions and efforts to filtered regressors and forces, without phase.
#
#     q -> low-pass -> q, v, a by central differences -> Y, tau_0 -> low-pass -> every n-th row
#     tau                                                        -> low-pass -> every n-th row
#
# Both sides pass the same filter, so that it changes nothing but the noise (Gautier 1997). Rows in which a joint hardly
# moves are left out: dry friction has no direction there.


NOISY = 1e-4
"""Power of the noise in an acceleration, by that of the acceleration: by so much it makes inertias too small."""
PER_CUTOFF = 5.0
"""Rows that are kept, by the cutoff: twice what it takes, to see whether what is left is white."""
OVERSAMPLED = 10.0
"""Rows at which regressors are computed, by the cutoff."""
HELD = 3.0
"""Deviation of a position, by its noise, below which the joint is held."""
NEAR = 0.5
"""Periods of the cutoff over which the filter mixes rows."""
STILL = 0.01
"""Speed, by a joint's greatest, below which it hardly moves; more where the noise of the speed is more."""
ORDERS = (4, 8, 12)
"""Of the differences that tell noise."""
FEW_SPIKES = 3
"""Spikes of a signal that are left to the fit's own judgement of outliers."""
FINER, HIGHEST = 4, 0.4
"""Rate at which a motion of few rows is differentiated, and the highest cutoff there, by the log's own rate."""
AT_REST = 0.25
"""Share of a joint's rows near standstill that is worth a word."""


@frozen(eq=False)
class RegressionRows:
    """Rows of one recording: time (n,), Y (n, joints, parameters), tau (n, joints), used (n, joints).

    Attributes:
        rate: of the rows [Hz]; cutoff: of the low-pass [Hz]; efforts: as measured, (n, n_efforts).
    """

    time: Array
    Y: Array
    tau: Array
    used: Array
    rate: float
    cutoff: float
    notes: tuple[str, ...] = ()
    efforts: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def part(self, kept: Array | slice) -> RegressionRows:
        own = {name: getattr(self, name)[kept] for name in ("time", "Y", "tau", "used", "efforts")}
        return replace(self, **own)


def with_joint_positions(scenario: Scenario, joints: Sequence[str], data: Run) -> Run:
    """The data with positions of joints that only motors of coupled axes tell: s = A q solved for q."""
    missing = [joint for joint in joints if f"{joint}.position" not in data]
    combinations = [
        c for c in scenario.machine.coordinates
        if isinstance(c, LinearCombination) and f"{c.name}.position" in data and set(c.of) <= set(joints)
    ]  # fmt: skip
    if not missing or not combinations:
        return data
    known = {joint: data[f"{joint}.position"].values for joint in joints if joint not in missing}
    A = np.array([[c.of.get(joint, 0.0) for joint in missing] for c in combinations])
    if np.linalg.matrix_rank(A) < len(missing):
        return data
    rest = [
        data[f"{c.name}.position"].values - sum(factor * known[j] for j, factor in c.of.items() if j in known)
        for c in combinations
    ]
    # A row that lacks a sample must not spoil others, as it does in a factorisation of all of them.
    found = np.linalg.pinv(A) @ np.array(rest)
    infos = (*data.infos, *(SignalInfo(f"{joint}.position", "rad") for joint in missing))
    return replace(data, values=np.column_stack([data.values, *found]), infos=infos, knots=None)


def without_false_samples(data: Run, efforts: Sequence[str], positions: Sequence[str]) -> Run:
    """The data without spikes, which a filter would spread, and without efforts at their limit, less than is needed."""
    values, notes = data.values.copy(), list(data.warnings)
    kept = data.provenance.description.get("saturation_kept", [])
    for name in (*efforts, *positions):
        column = values[:, data.names.index(name)]
        there = np.flatnonzero(np.isfinite(column))
        spikes = there[estimate_noise(column[there])[1]]
        if spikes.size > FEW_SPIKES:
            column[spikes] = np.nan
            notes.append(f"{name} has {spikes.size} spikes, which are left out")
    for name in (name for name in efforts if name not in kept):
        column = values[:, data.names.index(name)]
        levels = {stretch.value for stretch in saturated_stretches(name, data)}
        at_limit = np.isin(column, list(levels))
        column[at_limit] = np.nan
        if levels:
            said = " and ".join(f"{level:.5g}" for level in sorted(levels))
            notes.append(f"{name} is saturated at {said}: {int(at_limit.sum())} rows are left out")
    return replace(data, values=values, warnings=tuple(notes), knots=None)


def choose_cutoff(data: Run, joints: Sequence[str], finer: int = 1) -> float:
    """The highest frequency [Hz] up to which noise of positions spoils no acceleration; of joints that are moved.

    White noise of deviation s at a rate r has, low-passed and differentiated twice, the power

        s^2 (2 / r) (2 pi)^4 f^5 / 5

    Args:
        finer: times the log's own rate at which the motion is differentiated.
    """
    own_rate = assess_clock(data.time).rate
    rate = finer * own_rate
    lowest, highest = 4 * own_rate / len(data.time), (own_rate / 6 if finer == 1 else HIGHEST * own_rate)
    found = highest
    for joint in joints:
        only = without(data, [name for name in data.names if name != f"{joint}.position"])
        q = _even(only, rate, highest).values[:, 0]
        rows = data[f"{joint}.position"].values
        rows = rows[np.isfinite(rows)]
        # Differences of a low order see the motion of a slow log too, those of a high one its noise alone.
        noises = [np.nan_to_num(estimate_noise(rows, order)[0]) for order in ORDERS]
        noise = max(min(noises), find_quantum(rows) / 12**0.5, 1e-300)
        own = highest
        if np.nanstd(q) <= HELD * noise:
            continue
        for _ in range(4):
            q = _even(only, rate, own).values[:, 0]
            a = differentiate(differentiate(LowPass(own)(q, rate), rate), rate)
            allowed = NOISY * float(np.nanvar(a)) * 5 * own_rate / (2 * (2 * np.pi) ** 4 * noise**2)
            own = float(np.clip(allowed**0.2, lowest, own))
        found = min(found, own)
    return found


@frozen(eq=False)
class MotionRows:
    """Regressors of one recording before their last filter, at even times.

    Attributes:
        Y, tau: (n, joints, parameters), (n, joints), nan where samples lack; present: where they do not.
        sliding: speeds of the places with friction, (n, places); rate, cutoff: [Hz], of the rows and of the positions.
    """

    regressor: Regressor
    time: Array
    Y: Array
    tau: Array
    present: Array
    speeds: Array
    rate: float
    cutoff: float
    gaps: int
    efforts: Array
    notes: tuple[str, ...] = ()

    def filtered(self, cutoff: float | None = None) -> RegressionRows:
        """Rows that a low-pass of at most the positions' cutoff has passed."""
        cutoff = self.cutoff if cutoff is None else min(cutoff, self.cutoff)
        smooth, n = LowPass(cutoff), len(self.time)
        Y, tau = smooth(self.Y.reshape(n, -1), self.rate).reshape(self.Y.shape), smooth(self.tau, self.rate)
        slides = _sliding(self.regressor, self.speeds, self.rate, cutoff)
        used = np.isfinite(tau) & _away_from(np.logical_not(self.present), self.rate, cutoff)[:, None] & slides
        resting = 1 - slides.mean(axis=0)
        rests = [f"{share:.0%} of {joint}" for joint, share in zip(self.regressor.joints, resting, strict=True)
                 if share > AT_REST]  # fmt: skip
        notes = self.notes
        if rests:
            what = "rows near standstill are left out, where dry friction has no direction"
            notes = (*notes, f"{what}: {', '.join(rests)}")
        if not used.any():
            what = f"no rows are left: a low-pass of {cutoff:.3g} Hz mixes rows over {NEAR / cutoff:.3g} s"
            remedy = "log longer without them, move faster, or give a higher cutoff"
            gaps = f"{what}, and there are {self.gaps} gaps and joints that stand still"
            refuse("rows", gaps, remedy, "measured data")
        thin = slice(None, None, max(int(self.rate / (PER_CUTOFF * cutoff)), 1))
        return RegressionRows(
            self.time[thin], np.nan_to_num(Y)[thin], np.nan_to_num(tau)[thin], used[thin],
            self.rate / (thin.step or 1), cutoff, notes, np.nan_to_num(smooth(self.efforts, self.rate))[thin],
        )  # fmt: skip


def compute_rows(
    regressor: Regressor,
    efforts: Sequence[Effort],
    inputs: Sequence[Force],
    jacobians: Array,
    data: Run,
    cutoff: float | None = None,
    recall: Recall = compute_now,
) -> MotionRows:
    """Regressors and forces of one recording.

    Args:
        regressor: of the base parameters.
        inputs: what laws read beside the motion; jacobians: how each effort acts on the joints, (n_efforts, n_joints).
        cutoff: of the low-pass [Hz], None to find one.
        recall: the cutoff found before the task was interrupted.
    """
    data = with_joint_positions(regressor.scenario, regressor.joints, data)
    positions, flaws = [f"{joint}.position" for joint in regressor.joints], FlawList()
    for name in (name for name in positions if name not in data):
        remedy = "a mapping names it; a joint that stood still can be locked: kind = 'fixed'"
        flaws.add(name, "is not in the data", f"{nearest(name, data.names)}; {remedy}")
    flaws.raise_if_any("measured data")
    measured = [name for effort in efforts for name in effort.signals]
    data = without_false_samples(data, list(dict.fromkeys(measured)), positions)
    used = {*positions, *measured, *(name for one in inputs for name in one.signals)}
    data = tidy_rows(without(data, [name for name in data.names if name not in used]), positions)
    rate = assess_clock(data.time).rate
    chosen = recall("cutoff", lambda: choose_cutoff(data, regressor.joints)) if cutoff is None else cutoff
    if cutoff is None and chosen > 0.99 * rate / 6:
        # Rows are few and not noisy: a spline through them has the motion that differences of rows would blur.
        chosen = recall("finer cutoff", lambda: choose_cutoff(data, regressor.joints, FINER))
        rate *= FINER
    even = _even(data, rate, chosen)
    q = LowPass(chosen)(np.column_stack([even[name].values for name in positions]), rate)
    v = differentiate(q, rate)
    a = differentiate(v, rate)
    given = np.column_stack([*(one.of(even) for one in efforts), *(one.of(even) for one in inputs)])
    # Ten rows for each period of the cutoff are enough for what follows.
    every = max(int(rate / (OVERSAMPLED * chosen)), 1)
    slow = rate / every
    if every > 1:
        given = LowPass(ANTI_ALIAS * slow)(given, rate)
    q, v, a, given, time = (part[::every] for part in (q, v, a, given, even.time))
    given, u = given[:, : len(efforts)], given[:, len(efforts) :]
    tau = given @ jacobians
    present = np.asarray(np.isfinite(np.hstack([q, v, a, tau, u])).all(axis=1))
    Y = np.full((len(q), len(regressor.joints), len(regressor.parameters)), np.nan)
    forces = np.full(q.shape, np.nan)
    Y[present], fixed = regressor(q[present], v[present], a[present], u[present])
    forces[present] = tau[present] - fixed
    gaps = len(assess_clock(data.time).gaps)
    speeds = regressor.speeds(q, v)
    return MotionRows(regressor, time, Y, forces, present, speeds, slow, chosen, gaps, given, data.warnings)


def _even(data: Run, rate: float, cutoff: float) -> Run:
    """Even rows; gaps too short for what a low-pass leaves, such as stumbles of a clock, are interpolated.

    Parts on both sides of a longer gap are filtered by themselves, and the rows near it are lost.
    """
    usual = 1 / assess_clock(data.time).rate
    return resample(data, rate, filtered=False, widest_gap=max(GAP * usual, 1 / (OVERSAMPLED * cutoff)))


def _sliding(regressor: Regressor, speeds: Array, rate: float, cutoff: float) -> Array:
    """Rows of each joint in which all friction on it has a direction, (n, joints)."""
    used = np.ones((len(speeds), len(regressor.joints)), bool)
    for speed, gradient in zip(speeds.T, regressor.rubbing, strict=True):
        known = speed[np.isfinite(speed)]
        least = max(STILL * float(np.abs(known).max()), 5 * float(np.nan_to_num(estimate_noise(known)[0])))
        slides = _away_from(~(np.abs(np.nan_to_num(speed)) > least), rate, cutoff)
        used[:, gradient != 0] &= slides[:, None]
    return used


def _away_from(gone: Array, rate: float, cutoff: float) -> Array:
    """Rows that no filter has begun or ended near to, and that the filter has not mixed with rows left out."""
    edge = int(np.ceil(NEAR * rate / cutoff))
    padded = np.concatenate([np.ones(edge), gone, np.ones(edge)])
    return np.convolve(padded, np.ones(2 * edge + 1), "valid") < 0.5
