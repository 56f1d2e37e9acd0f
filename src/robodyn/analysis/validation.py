"""Validation: how well does a scenario predict data it has not seen, and how much better than what knows nothing of it?

Predictions start from measured states at many instants t_k, and from the first one alone:

    one step      x(t_k) as measured -> the next row
    ahead         x(t_k) as measured -> `horizon` later; the curves between are how errors grow
    free run      the start of the compared rows -> their end, without a look at the data

Measured references and commands are inputs; states that are not measured, such as currents and the memory of
controllers, are those of a run that is put back to the measured states at every t_k. Two baselines predict the same:

    line          the better one of y(t_k) and y(t_k) + slope (t - t_k), the slope from rows up to t_k alone; of a free
                  run the straight line that is nearest to all rows, which knows more than it may
    nominal       another scenario, such as the file before its numbers were fitted

Errors of starts near each other are alike: bands and comparisons are those of the means of ten consecutive parts (batch
means; as a comparison of forecasts Diebold and Mariano 1995). By inverse dynamics the measured motion says which
efforts the model would need; that asks nothing of start values and controllers and does not drift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from robodyn.analysis.identification.identify import JointPrediction, plan_identification, predict_joints
from robodyn.analysis.identification.motion_rows import drives_of, find_efforts
from robodyn.analysis.measurement.data_sheet import estimate_noise
from robodyn.analysis.measurement.measured import (
    FORCES,
    SignalError,
    at_ticks,
    compare_signals,
    describe_rates,
    drive_by_data,
    match_measured,
    without,
)
from robodyn.base.errors import FlawList, ModelError, refuse
from robodyn.base.waiting import WaitingLine
from robodyn.computation.assembly import System, assemble
from robodyn.computation.engine.trajectory import ProbeRows
from robodyn.computation.results import OutcomeKind, Run, SignalInfo
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.batch import run_segments
from robodyn.computation.simulation.outcomes import describe_outcome
from robodyn.computation.simulation.recording import make_run
from robodyn.computation.simulation.starting import Start
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block, Delay, FormulaSignal, Recording, Scenario

HORIZON = 0.5
"""How far ahead predictions go [s]."""
MOST_STARTS, MOST_AHEAD = 200, 40
"""Instants that predictions start from, and rows of each that are compared."""
FEWEST_ROWS = 50
WINDOWS = (2, 3, 5, 9, 17, 33)
"""Rows of the polynomial that a slope is taken from; the one that says the next rows best is taken."""
BLOCKS = 10
"""Consecutive parts of the data whose errors count as independent of each other."""
ELSEWHERE = 1e-3
"""Distance of the scenario's start from the measured one, by the range of the signal, that is none."""
OTHER_WAY = -0.5
"""Correlation of predicted and measured departures from the straight line below which a signal moves the other way."""

SAME, BETTER, WORSE = "as good as", "better than", "worse than"


@dataclass(frozen=True)
class Prediction:
    """Errors of one signal, so far ahead.

    Attributes:
        percent: of the signal's own deviation; lower, upper: 95 % band of the rms.
        line, nominal: rms of the baselines; gain: 1 - (rms / line)^2, the share of the line's squares that is saved.
        than_line, than_nominal: whether the difference is more than chance.
        correlation: of predicted with measured departures from the straight line.
    """

    signal: str
    kind: str
    ahead: Annotated[float | None, "[s], none for a free run"]
    count: Annotated[int, "errors compared"]
    rms: float
    lower: float
    upper: float
    percent: float
    line: float
    gain: float
    than_line: str
    nominal: float | None
    than_nominal: str
    correlation: float | None
    unit: str


@dataclass(frozen=True, eq=False)
class ErrorGrowth:
    """Rms of a signal's error over the time ahead [s], with its band and the baselines'."""

    ahead: Floats
    rms: Floats
    lower: Floats
    upper: Floats
    line: Floats
    nominal: Floats | None


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors of predictions and of efforts by inverse dynamics; what was not done, and why, is in the notes.

    Attributes:
        signals: errors of the free run; inputs: measured signals that took the place of computed ones.
        measured: what was compared; run: the free run.
    """

    JSON = """
    inputs
    predictions
    signals
    efforts
    notes
    """
    inputs: tuple[str, ...]
    predictions: tuple[Prediction, ...]
    signals: tuple[SignalError, ...]
    efforts: tuple[JointPrediction, ...]
    notes: tuple[str, ...]
    run: Run | None
    measured: Run | None = None
    growth: Mapping[str, ErrorGrowth] = field(default_factory=dict)


def validate(
    scenario: Scenario,
    data: Run,
    inputs: Sequence[str] | None = None,
    *,
    method: str = "both",
    cutoff: float | None = None,
    nominal: Scenario | None = None,
    horizon: float = HORIZON,
    held_out: float = 1.0,
) -> Validation:
    """Compare a scenario with data.

    Args:
        inputs: measured signals that take the place of computed ones, see `drive_by_data`; by default those that
            `choose_inputs` finds.
        method: "simulation", "inverse" for inverse dynamics, or "both": whichever can be done.
        cutoff: of the low-pass of inverse dynamics [Hz].
        nominal: a second baseline.
        held_out: share of the data, at their end, that is compared.

    Raises:
        ModelError: where nothing can be compared, or the method that was asked for cannot be carried out.
    """
    flaws = FlawList()
    if method not in ("simulation", "inverse", "both"):
        flaws.add("method", f"must be 'simulation', 'inverse' or 'both', is {method!r}")
    flaws.add_unless_positive(horizon=horizon)
    if not 0 < held_out <= 1:
        flaws.add("held_out", f"must be above 0 and at most 1, is {held_out:g}", "1 compares all of the data")
    flaws.raise_if_any("validation")
    system = assemble(scenario)
    data = at_ticks(system, data)
    first = int(round((1 - held_out) * len(data.time)))
    if first:
        first += int(np.argmax(_at_common_ticks(system, data.time[first:])))
    found = Validation((), (), (), (), (), None)
    reasons = []
    if method != "inverse":
        try:
            found = _validate_by_simulation(system, data, first, inputs, nominal, horizon)
        except ModelError as error:
            if method == "simulation" or inputs:
                raise
            reasons.append(error)
            found = replace(found, notes=(f"not simulated: {'; '.join(map(str, error.flaws))}",))
    if method != "simulation":
        try:
            plan = plan_identification(system, data, offsets=False)
            truth = plan.base.G @ plan.regressor.given
            rows = [plan.rows(_part(data, first), cutoff)]
            efforts = tuple(predict_joints(plan.regressor, rows, truth, held_out=True))
            found = replace(found, efforts=efforts, notes=(*found.notes, *plan.notes))
        except ModelError as error:
            if method == "inverse":
                raise
            if reasons:
                raise ModelError([*reasons[0].flaws, *error.flaws], "validation") from error
            note = f"no inverse dynamics: {'; '.join(map(str, error.flaws))}"
            found = replace(found, notes=(*found.notes, note))
    return found


def runs_beside(found: Validation) -> tuple[Run, Run]:
    """The free run with what is left of each signal, and the measured motion as a run of the same machine, in which
    positions that were not measured are those of the free run."""
    if found.run is None or found.measured is None:
        refuse("", "; ".join(found.notes) or "there is no free run", source="measured beside simulated")
    run, data = found.run, found.measured
    reached = data.time <= run.time[-1]
    time = data.time[reached]
    measured = {name: data[name].values[reached] for name in data.names if name in run}
    left = {f"{name}.residual": values - run[name](time) for name, values in measured.items()}
    units = {info.name: info.unit for info in run.infos}
    infos = tuple(SignalInfo(name, units[name.removesuffix(".residual")]) for name in left)
    simulated = {name: run[name](time) for name in run.names}
    beside = replace(
        run, time=time, values=np.column_stack([*simulated.values(), *left.values()]), infos=(*run.infos, *infos),
        knots=None, probes=None,
    )  # fmt: skip
    outcome = replace(run.outcome, kind=OutcomeKind.FINISHED, sentence="measured")
    columns = np.column_stack(list((simulated | measured).values()))
    whole = Run(time, columns, run.infos, outcome, replace(run.provenance, scenario="measured"))
    return beside, whole


def _part(data: Run, first: int) -> Run:
    return replace(data, time=data.time[first:], values=data.values[first:]) if first else data


# --------------------------------------------------------------------------------------------------
# Inputs: which measured signals say what drove the machine, so that the model has to be driven by them?


MEASURED, CONSTANT, MOVING, STATE = "measured", "constant", "moving", "state"
"""Where a signal comes from: measured sources, numbers of the scenario, its own references, the machine."""


@dataclass(frozen=True, eq=False)
class DrivingSignals:
    """Data with forces that follow from what was measured, the inputs among them, and sentences on what is left."""

    data: Run
    inputs: tuple[str, ...]
    notes: tuple[str, ...]


def choose_inputs(system: System, data: Run) -> DrivingSignals:
    """Measured references and commands that take the place of the scenario's.

    From each force of a drive the signals are followed to where they come from. Measured references drive the model,
    and its controllers are part of what is compared. Where a force comes from constants alone, which stand for what is
    not known, the first signal on its way that is measured does: a command, a current, the force itself. A reference
    that moves and is not measured stays that of the scenario, and is named.
    """
    machine = system.scenario.machine
    blocks = {block.name: block for block in machine.blocks}
    parts: dict[str, Delay | FormulaSignal] = {delay.name: delay for delay in machine.delays}
    parts |= {signal.name: signal for signal in machine.signals if isinstance(signal, FormulaSignal)}
    read = {name for _, to, name in system.scenario.references() if to == "signal"}
    designed = {name for one in machine.controllers for name in (*one.measured, *one.applied)}

    def drives(signal: str) -> bool:
        """Whether a measured signal can take the place of a computed one, and is of use there."""
        owner, _, output = signal.rpartition(".")
        force = owner in blocks and bool(blocks[owner].on) and output in FORCES
        there = signal in data and bool(np.isfinite(data[signal].values).any())
        return there and owner in blocks and signal not in designed and (force or signal in read)

    known: dict[str, tuple[set[str], tuple[str, ...]]] = {}

    def follow(signal: str) -> tuple[set[str], tuple[str, ...]]:
        """Where a signal comes from, and the inputs by which it is measured."""
        if signal in known:
            return known[signal]
        # What depends on the machine or on itself adds no source.
        known[signal] = {STATE}, ()
        owner = signal.rpartition(".")[0]
        part: Block | Delay | FormulaSignal | None = blocks.get(owner) or parts.get(signal) or parts.get(owner)
        if part is None:
            return known[signal]
        sources = [name for _, to, name in part.references() if to == "signal"]
        found = [follow(name) for name in sources]
        kinds = set[str]().union(*(kinds for kinds, _ in found))
        if isinstance(part, Block) and not sources:
            moves = any(part.source_of(argument) == "time" for argument in arguments_of(part.function))
            # A reference that is measured is an input whatever stands for it.
            kinds = {CONSTANT} if drives(signal) else {MOVING} if moves else {CONSTANT}
        used = tuple(dict.fromkeys(name for _, names in found for name in names))
        if drives(signal) and CONSTANT in kinds and kinds <= {CONSTANT, STATE}:
            kinds, used = {MEASURED}, (signal,)
        known[signal] = kinds, used
        return known[signal]

    chosen: dict[str, None] = {}
    notes, undriven, efforts = list[str](), list[str](), _derived_efforts(system, data)
    for forces in drives_of(system).values():
        for signal in forces:
            kinds, names = follow(signal)
            derived = signal in efforts and signal.rpartition(".")[0] in blocks
            if derived and not names and MOVING not in kinds and CONSTANT in kinds:
                # A current that a law turns into the force, or the joint's whole effort.
                data, names = _with_column(data, signal, efforts[signal], system), (signal,)
            if not names:
                undriven.append(signal)
            chosen |= dict.fromkeys(names)
    if undriven:
        what = f"as in the scenario, since the data lack what they follow: {', '.join(undriven)}"
        other = "name columns of it in a mapping"
        if undriven[0] in data:
            other = f"let the measured efforts drive the model (--input {undriven[0]} ...)"
        notes.append(f"{what}; if the machine followed something else, {other}")
    prescribed = [name for c in machine.constraints for _, to, name in c.references() if to == "signal"]
    chosen |= {name: None for signal in prescribed for name in follow(signal)[1]}
    # What a model holds between samples is held in the recording, too.
    held = {info.name for info in system.signals if info.kind == "held" and info.name in chosen}
    data = replace(data, infos=tuple(replace(i, kind="held") if i.name in held else i for i in data.infos))
    filled = []
    for name in chosen:
        values = data[name].values
        if missing := int(np.isnan(values).sum()):
            filled.append(f"{name} ({missing} rows)")
            there = np.isfinite(values)
            data = _with_column(data, name, np.interp(data.time, data.time[there], values[there]), system)
    if filled:
        notes.append(f"inputs are taken in straight lines across missing samples: {', '.join(filled)}")
    return DrivingSignals(data, tuple(chosen), tuple(notes))


def _derived_efforts(system: System, data: Run) -> dict[str, Floats]:
    """Forces of drives that follow from other signals: by the law of a drive, or the effort of a joint's only one."""
    try:
        efforts, _ = find_efforts(system, data)
    except ModelError:
        return {}
    drives, found = drives_of(system), {}
    for effort in efforts:
        for force in effort.forces:
            if force.signal in drives.get(effort.on, ()):
                found[force.signal] = force.of(data)
            elif force.signal == f"{effort.on}.effort" and len(drives.get(effort.on, ())) == 1:
                found[drives[effort.on][0]] = force.of(data)
    return found


def _with_column(data: Run, name: str, values: Floats, system: System) -> Run:
    """The data with a signal that is new or takes the place of one."""
    if name in data:
        columns = [values if known == name else data[known].values for known in data.names]
        return replace(data, values=np.column_stack(columns))
    info = next(info for info in system.signals if info.name == name)
    infos = (*data.infos, SignalInfo(name, info.unit))
    return replace(data, values=np.column_stack([data.values, values]), infos=infos)


# --------------------------------------------------------------------------------------------------
# Predictions from measured states.


def _validate_by_simulation(
    system: System,
    data: Run,
    first: int,
    inputs: Sequence[str] | None,
    nominal: Scenario | None,
    horizon: float,
) -> Validation:
    """Free run and predictions from rows `first` on."""
    notes: list[str] = []
    if inputs is None:
        driving = choose_inputs(system, data)
        data, inputs = driving.data, driving.inputs
        notes += driving.notes
    # A block that a measured signal takes the place of has no other signals any more.
    driven = assemble(drive_by_data(system.scenario, data, inputs)) if inputs else system
    units = {info.name: info.unit for info in driven.signals}
    # A formula of inputs alone says nothing of the model.
    formulas = {one.name: {name for _, _, name in one.references()} for one in system.scenario.machine.signals}
    given = {*inputs, *(name for name, reads in formulas.items() if reads <= {*inputs})}
    compared = without(data, [name for name in data.names if name in given or name not in units])
    if not compared.names:
        what = "none of the data is a signal of the model that could be compared"
        remedy = f"the data have {', '.join(data.names[:8])}, the model {', '.join(list(units)[:8])}; write a mapping"
        refuse("signals", what, remedy, "validation")
    match_measured(compared, units)
    if not data.time[-1] > 0:
        refuse("time", "has nothing after the start", source="measured data")
    unused = [name for name in data.names if name not in inputs and name not in system.signal_names]
    if unused:
        notes.append(f"no signal of the model, and not compared: {', '.join(unused)}")
    late = _part(compared, first)

    with WaitingLine(f"predicting with {system.scenario.name}") as line:
        model = _Predictor(driven, data, compared.names)
        run, said = model.free_run(first)
        notes += [*said, *describe_rates(system.scenario, data)]
        if not run.outcome.ok:
            notes.append(f"the free run: {run.outcome.sentence}")
        found = Validation(tuple(inputs), (), compare_signals(run, late), (), (), run, late)
        rivals = [model]
        if nominal is not None:
            rivals.append(_Predictor(assemble(drive_by_data(nominal, data, inputs)), data, compared.names))
        frees = [_squares_of_run(run, late)]
        frees += [_squares_of_run(rival.free_run(first)[0], late) for rival in rivals[1:]]
        rows = [_judge_free_run(name, units[name], late, [free.get(name) for free in frees]) for name in late.names]
        predictions = [row for row in rows if row is not None]

        growth: dict[str, ErrorGrowth] = {}
        try:
            at_ticks = _at_common_ticks(system, late.time)
            starts, steps = _choose_starts(model, late, first, horizon, at_ticks)
        except ModelError as error:
            notes.append(f"no predictions from measured states: {'; '.join(map(str, error.flaws))}")
        else:
            errors = [rival.predict(starts, steps, line, horizon) for rival in rivals]
            predictions, growth, more = _judge_predictions(compared, starts, steps, errors, units, predictions)
            notes += more
    return replace(found, predictions=tuple(predictions), growth=growth, notes=tuple(notes))


class _Predictor:
    """A system driven by data, ready to be simulated from measured states.

    Attributes:
        measured: places of states, and the data's values of them, (n_rows,); hidden: whether there are other states.
    """

    def __init__(self, driven: System, data: Run, signals: Sequence[str]) -> None:
        self.system = driven.lasting(replace(driven.scenario, duration=float(data.time[-1])))
        self.solver, self.data, self.signals = driven.scenario.solver, data, tuple(signals)
        # Positions say how the machine stood, for its pictures.
        self.recorded = tuple(dict.fromkeys([*signals, *driven.state_names[: driven.n_q]]))
        self.compiled = compile_system(self.system, self.solver, signals=self.recorded)
        recorded = [info.name for info in self.compiled.recorded]
        self.columns = [recorded.index(name) for name in self.signals]
        self.measured = _measured_states(self.system, data)
        others = len(self.system.states) - len(self.measured) + len(self.system.memory)
        self.hidden = others > 0

    def free_run(self, first: int) -> tuple[Run, list[str]]:
        """From the described start, or from the measured one where that is elsewhere."""
        data = self.data
        recording = Recording(times=tuple(data.time[first:].tolist()), signals=self.recorded)
        if first == 0 and data.time[0] == 0.0:
            changed, said = self._compare_starts()
            if not changed:
                return simulate(self.compiled, self.solver, recording=recording), []
        else:
            said = [f"the free run starts as measured at {data.time[first]:.6g} s"]
        x, m = self.system.described.x.copy(), self.system.described.m.copy()
        for k, values in self.measured.items():
            later = values[first:][np.isfinite(values[first:])]
            x[k] = later[0] if later.size else x[k]
        start = Start(float(data.time[first]), x, m)
        (trajectory,) = run_segments(self.compiled, self.solver, [start], [data.time[first:]])
        none = np.zeros((0, trajectory.y.shape[1]))
        trajectory = trajectory._replace(probes=ProbeRows(np.zeros(0), none, none))
        outcome = describe_outcome(self.compiled, self.solver, trajectory)
        return make_run(self.compiled, self.solver, self.system.described_values, trajectory, outcome, start), said

    def _compare_starts(self) -> tuple[bool, list[str]]:
        """Whether positions begin elsewhere than described, and where."""
        x, elsewhere = self.system.described.x, []
        for k, values in self.measured.items():
            state = self.system.states[k]
            if state.name not in self.data or k >= self.system.n_q or not np.isfinite(values[0]):
                continue
            noise, _ = estimate_noise(values[np.isfinite(values)])
            if abs(values[0] - x[k]) > max(ELSEWHERE * np.nanmax(np.abs(values - values[0])), 5 * noise):
                elsewhere.append(f"{state.name} = {values[0]:.5g} (the scenario: {x[k]:.5g})")
        said = f"the free run starts as measured: {', '.join(elsewhere)}"
        return bool(elsewhere), [said] if elsewhere else []

    def predict(self, starts: np.ndarray, steps: np.ndarray, line: WaitingLine, horizon: float) -> Floats:
        """Predicted minus measured of each start, row ahead and signal, (n_starts, n_ahead, n_signals)."""
        data, time = self.data, self.data.time
        begun = self._starts(starts)
        times = [time[k + steps] for k in starts.tolist()]

        def report(ended: int) -> None:
            line.update(f"{ended} of {len(starts)} predictions of {horizon:g} s")

        ends = run_segments(self.compiled, self.solver, begun, times, report)
        errors = np.full((len(starts), len(steps), len(self.signals)), np.nan)
        for j, (k, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
            for column, name in enumerate(self.signals):
                own = end.y[:, self.columns[column]]
                errors[j, : len(own), column] = own - data[name].values[k + steps[: len(own)]]
        return errors

    def _starts(self, rows: np.ndarray) -> list[Start]:
        """Measured states, with hidden ones of a run that is put back to the measured states at every row."""
        x, m, time = self.system.described.x.copy(), self.system.described.m.copy(), self.data.time
        places, values = list(self.measured), np.array([self.measured[k] for k in self.measured])
        starts = []
        # The hidden states settle on the way to the first row.
        settle = rows[:1] - np.arange(min(int(rows[0]), 20), 0, -1) * max(int(rows[0]) // 20, 1)
        way = np.unique(np.concatenate([settle[settle >= 0], rows])) if self.hidden else rows
        for k, after in zip(way.tolist(), [*way[1:].tolist(), None], strict=True):
            x, m = x.copy(), m.copy()
            x[places] = values[:, k]
            start = Start(float(time[k]), x, m)
            if k in rows:
                starts.append(start)
            if self.hidden and after is not None:
                # A tick there is that of the next part.
                until = time[after] - 1e-6 * (time[after] - time[after - 1])
                (end,) = run_segments(self.compiled, self.solver, [start], [np.array([until])])
                x, m = end.x, end.m
        return starts


def _measured_states(system: System, data: Run) -> dict[int, Floats]:
    """Place of a state -> measured values; speeds that are not measured are slopes of the positions before."""
    names = system.state_names
    found = {}
    for k, name in enumerate(names):
        if name in data:
            found[k] = data[name].values
    for k, name in enumerate(names):
        joint, _, quantity = name.rpartition(".")
        if k not in found and quantity == "velocity" and f"{joint}.position" in data:
            found[k] = slope_before(data.time, data[f"{joint}.position"].values)
    return found


def slope_before(time: Floats, y: Floats) -> Floats:
    """Slope of a measured signal at each row from this row and those before it.

    That of a parabola (of a line through two rows) by least squares, over as many rows as tell the next ones best; the
    first rows, which have too few before them, have none.
    """
    from scipy.signal import savgol_coeffs

    period, ahead = float(np.median(np.diff(time))), 4
    there = np.isfinite(y)
    y = np.interp(time, time[there], y[there])
    best, least = np.full(len(y), np.nan), np.inf
    for size in WINDOWS:
        if len(y) < 2 * size + ahead:
            break
        order = min(2, size - 1)
        rows = np.lib.stride_tricks.sliding_window_view(y, size)
        weights = [savgol_coeffs(size, order, deriv=k, pos=size - 1, delta=period, use="dot") for k in range(order + 1)]
        level, rate, *bend = (rows @ each for each in weights)
        tau = ahead * period
        said = (level + tau * rate + sum(tau**2 / 2 * each for each in bend))[:-ahead]
        error = float(np.mean((said - y[size - 1 + ahead :]) ** 2))
        if error < least:
            least, best = error, np.concatenate([np.full(size - 1, np.nan), rate])
    return best


def _at_common_ticks(system: System, time: Floats) -> np.ndarray:
    """Which times are ticks of all sampled blocks, so that they begin anew in the same order; all without any."""
    base, tasks = system.discrete.base_period, system.discrete.tasks
    if base is None or not tasks:
        return np.ones(len(time), bool)
    period = float(base * math.lcm(*(task.period for task in tasks)))
    return np.abs(time / period - np.rint(time / period)) < 1e-6


def _choose_starts(
    model: _Predictor, late: Run, first: int, horizon: float, at_ticks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that predictions start from, and rows after each at which they are compared.

    Raises:
        ModelError: with what keeps them from starting at measured states.
    """
    system, flaws = model.system, FlawList()
    missing = [state.name for k, state in enumerate(system.states[: system.n_q]) if k not in model.measured]
    if not system.n_q:
        flaws.add("joints", "the model has none")
    if missing:
        flaws.add("data", f"lack {', '.join(missing[:6])}", "name columns of them in a mapping")
    if system.scenario.machine.all_constraints:
        flaws.add("constraints", "are not met by measured positions to the last digit", "look at the free run")
    if len(late.time) < FEWEST_ROWS:
        what = f"{len(late.time)} rows are too few, {FEWEST_ROWS} are needed"
        flaws.add("data", what, "record longer or raise held_out")
    flaws.raise_if_any("validation")
    period = float(np.median(np.diff(late.time)))
    # A short recording has a shorter horizon: half of the rows are starts at least.
    most = min(max(int(round(horizon / period)), 1), len(late.time) // 2)
    steps = np.unique(np.rint(np.linspace(1, most, MOST_AHEAD)).astype(int))
    rows = np.arange(0, len(late.time) - most)
    # No gap on the way, and states that are measured.
    spans = late.time[rows + most] - late.time[rows]
    whole = np.all([np.isfinite(values[first + rows]) for values in model.measured.values()], axis=0)
    rows = rows[whole & at_ticks[rows] & (np.abs(spans / (most * period) - 1) < 0.05)]
    if len(rows) < 2:
        what = f"have no {most * period:.3g} s of even rows that begin at a tick of all sampled blocks"
        remedy = (
            "resample it by `robodyn data LOG --rate`, lower the horizon, or set the model's period to the real one"
        )
        refuse("data", what, remedy)
    chosen = np.unique(np.rint(np.linspace(0, len(rows) - 1, min(MOST_STARTS, len(rows)))).astype(int))
    return first + rows[chosen], steps


# --------------------------------------------------------------------------------------------------
# Errors beside those of the baselines.


def root_mean(squares: Floats) -> Floats:
    """Root of the mean of the squares that there are, row after row; nan where there is none."""
    there = np.isfinite(squares)
    count = there.sum(axis=0)
    total = np.where(there, squares, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(np.where(count, total / np.maximum(count, 1), np.nan)))


def _block_logarithms(squares: Floats) -> Floats:
    """Logarithms of the mean squares of consecutive parts, which are independent of each other but at their ends."""
    squares = squares[np.isfinite(squares)]
    if len(squares) < 2:
        return np.zeros(1)
    parts = np.array_split(squares, min(BLOCKS, len(squares) // 2))
    means = np.array([np.mean(part) for part in parts])
    # Parts that are met exactly count as met to a millionth of the rest.
    return np.log(np.maximum(means, max(1e-12 * means.max(), 1e-300)))


def _interval(logarithms: Floats) -> tuple[float, float]:
    """Mean and half width of its 95 % interval by Student's distribution."""
    from scipy.special import stdtrit

    n = len(logarithms)
    half = stdtrit(n - 1, 0.975) * np.std(logarithms, ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return float(np.mean(logarithms)), float(half)


def compare_squares(own: Floats, other: Floats) -> str:
    """Whether squares of errors are smaller than others by more than chance, by their ratios in consecutive parts."""
    there = np.isfinite(own) & np.isfinite(other)
    mean, half = _interval(_block_logarithms(own[there]) - _block_logarithms(other[there]))
    return BETTER if mean < -half else WORSE if mean > half else SAME


def _judge(
    signal: str,
    unit: str,
    kind: str,
    ahead: float | None,
    squares: Sequence[Floats],
    line: Floats,
    spread: float,
    correlation: float | None,
) -> Prediction:
    own = squares[0]
    rms, level = float(root_mean(own)), float(root_mean(line))
    # The band of a mean square by the spread of its parts' logarithms.
    width = float(np.exp(_interval(_block_logarithms(own))[1] / 2))
    lower, upper = rms / width, rms * width
    gain = 1 - (rms / level) ** 2 if level > 0 else 0.0
    than_nominal, nominal = "", None
    if len(squares) > 1:
        nominal, than_nominal = float(root_mean(squares[1])), compare_squares(own, squares[1])
    count = int(np.isfinite(own).sum())
    percent, than_line = 100 * rms / max(spread, 1e-300), compare_squares(own, line)
    return Prediction(
        signal, kind, ahead, count, rms, lower, upper, percent, level, gain, than_line, nominal, than_nominal,
        correlation, unit,
    )  # fmt: skip


def _squares_of_run(run: Run, late: Run) -> dict[str, Floats]:
    """Squares of a free run's errors at the rows of the data; nan beyond its end."""
    reached = late.time <= run.time[-1]
    found = {}
    for name in late.names:
        apart = np.full(len(late.time), np.nan)
        apart[reached] = run[name](late.time[reached]) - late[name].values[reached]
        found[name] = apart**2
    return found


def _correlate(x: Floats, y: Floats) -> float:
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there] - np.mean(x[there]), y[there] - np.mean(y[there])
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / size if size > 0 else 0.0


def _judge_free_run(name: str, unit: str, late: Run, squares: Sequence[Floats | None]) -> Prediction | None:
    own = [each for each in squares if each is not None and np.isfinite(each).sum() > 1]
    if not own or squares[0] is None:
        return None
    y, time = late[name].values, late.time
    there = np.isfinite(y)
    nearest_line = np.polynomial.Polynomial.fit(time[there], y[there], 1)
    line = (y - nearest_line(time)) ** 2
    spread = float(np.nanstd(y))
    return _judge(name, unit, "free run", None, own, line, spread, None)


def _judge_predictions(
    data: Run,
    starts: np.ndarray,
    steps: np.ndarray,
    errors: Sequence[Floats],
    units: Mapping[str, str],
    free: Sequence[Prediction],
) -> tuple[list[Prediction], dict[str, ErrorGrowth], list[str]]:
    """Rows of the table, signal after signal, how errors grow, and sentences on signals that are not met at all."""
    rows: list[Prediction] = []
    growth, notes = {}, []
    places = starts[:, None] + steps
    ahead = np.mean(data.time[places] - data.time[starts][:, None], axis=0)
    failed = sum(not np.isfinite(each).any(axis=1).all() for each in errors[0])
    if failed:
        notes.append(f"{failed} of {len(starts)} predictions ended before {ahead[-1]:.3g} s")
    for column, name in enumerate(data.names):
        y = data[name].values
        squares = [e[:, :, column] ** 2 for e in errors]
        # The better one of the two lines at each distance.
        hold = y[starts][:, None] - y[places]
        straight = hold + slope_before(data.time, y)[starts][:, None] * ahead
        levels = [root_mean(guess**2) for guess in (hold, straight)]
        line = np.where(levels[0] <= levels[1], hold**2, straight**2)
        spread, own = float(np.nanstd(y)), list[Prediction]()
        for kind, j in (("one step", 0), (f"{ahead[-1]:.3g} s ahead", len(steps) - 1)):
            if np.isfinite(squares[0][:, j]).sum() < 2:
                continue
            # What the model knows beyond the speed that it starts with.
            bent = -straight[:, j]
            correlation = _correlate(bent + errors[0][:, j, column], bent)
            at = [each[:, j] for each in squares]
            own.append(_judge(name, units[name], kind, float(ahead[j]), at, line[:, j], spread, correlation))
        rows += [*own, *(row for row in free if row.signal == name)]
        if not own:
            continue
        rms = root_mean(squares[0])
        width = np.exp([_interval(_block_logarithms(squares[0][:, j]))[1] / 2 for j in range(len(steps))])
        other = root_mean(squares[1]) if len(squares) > 1 else None
        growth[name] = ErrorGrowth(ahead, rms, rms / width, rms * width, root_mean(line), other)
        last = own[-1]
        least = min(row.correlation or 0.0 for row in own)
        if least < OTHER_WAY:
            what = f"{name} moves the other way than predicted (correlation {least:.2f})"
            notes.append(f"{what}: look at signs in the mapping, and at loads")
        elif last.than_line == WORSE:
            what = f"{name} is not predicted {last.kind}, a straight line is nearer"
            notes.append(f"{what}: is this the log of another machine, or is an input missing?")
    return rows, growth, notes
