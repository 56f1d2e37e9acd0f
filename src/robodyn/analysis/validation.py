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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any

import casadi as ca
import numpy as np

from robodyn.analysis.checkpoint import Checkpoint, Memo, text_as_array
from robodyn.base import Array, FlawList, ModelError, WaitingLine, frozen, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.batch import RunInputs, SegmentRunner, run_segments
from robodyn.computation.simulation.problem import count_steps
from robodyn.computation.simulation.recording import make_run
from robodyn.computation.simulation.starting import Start
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block, Delay, FormulaSignal, Recording, Scenario, Solver, describe

from .identification.identify import JointPrediction, describe_recordings, plan_identification, predict_joints
from .identification.motion_rows import drives_of, find_efforts, with_joint_positions
from .measurement.measured import (
    FORCES,
    SignalError,
    at_ticks,
    compare_signals,
    correlate,
    describe_fixed,
    describe_rates,
    drive_by_data,
    match_measured,
    tidy_rows,
    without,
)
from .measurement.responses import resample

HORIZON = 0.5
"""How far ahead predictions go [s]."""
MOST_STARTS, MOST_AHEAD = 200, 40
"""Instants that predictions start from, and rows of each that are compared."""
FEWEST_ROWS = 50
WINDOWS = (2, 3, 5, 9, 17, 33)
"""Rows of the polynomial that a slope is taken from; the one that says the next rows best is taken."""
STARTS_AT_ONCE = 20
"""Predictions after which their errors are kept."""
LEAST_STEPS, STEPS_OF_SECOND, STEPS_OF_ROW, STEPS_OF_TICK = 1_000, 2_000, 20, 10
"""Steps of a simulation, of each of its seconds, measured rows and ticks, beyond which a model has another motion."""
BLOCKS = 10
"""Consecutive parts of the data whose errors count as independent of each other."""
FIRST_ROWS = 20
"""Rows that say whether the machine was at the described start when the data begin."""
OTHER_WAY = -0.5
"""Correlation of predicted and measured departures from the straight line below which a signal moves the other way."""
ALIKE, OTHER_SIZE = 0.95, 1.5
"""Correlation of a free run with the data from which on they are one motion, and ratio of sizes that is an error."""
SAME_STEP = 1e-3
"""Part of a step by which one of an even clock may be off."""
WIDEST = 3.5
"""Usual steps of an input between two of its samples from which on nobody knows what the machine was told meanwhile."""
CLOCK_OF_DAY = 1e6
"""Time of the first row [s] from which on it is no time of a simulation."""

SAME, BETTER, WORSE = "as good as", "better than", "worse than"


@frozen
class Prediction:
    """Errors of one signal, so far ahead.

    Attributes:
        percent: of the signal's own deviation, none where it is constant; lower, upper: 95 % band of the rms.
        line, nominal: rms of the baselines.
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
    percent: float | None
    line: float
    than_line: str
    nominal: float | None
    than_nominal: str
    correlation: float | None
    unit: str


@frozen(eq=False)
class Validation:
    """Errors of predictions and of efforts by inverse dynamics; what was not done, and why, is in the notes.

    Attributes:
        signals: errors of the free run; inputs: measured signals that took the place of computed ones.
        measured: what was compared; run: the free run; growth: of each signal its errors at all distances ahead.
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
    growth: Mapping[str, tuple[Prediction, ...]] = field(default_factory=dict)


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
    state: str | Path | None = None,
) -> Validation:
    """Compare a scenario with data.

    Ctrl-C ends the free run or the predictions; what there is by then is judged.

    Args:
        inputs: measured signals that take the place of computed ones, see `drive_by_data`; by default those that
            `choose_inputs` finds.
        method: "simulation", "inverse" for inverse dynamics, or "both": whichever can be done.
        cutoff: of the low-pass of inverse dynamics [Hz].
        nominal: a second baseline.
        held_out: share of the data, at their end, that is compared.
        state: file that keeps finished parts; the same call goes on where it was interrupted.

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
    settings = [inputs, method, cutoff, horizon, held_out]
    decides = describe(scenario), describe(nominal) if nominal else None, describe_recordings([data]), settings
    memo = Memo(Checkpoint("validation", state, *decides))
    scenario, driven = with_measured_drives(scenario, data)
    nominal = nominal and with_measured_drives(nominal, data)[0]
    system = assemble(scenario)
    joints = [name.removesuffix(".position") for name in system.state_names[: system.n_q]]
    whole = with_joint_positions(scenario, joints, data)
    if solved := [name for name in whole.names if name not in data]:
        driven.append(f"{', '.join(solved)} follow from the positions of coupled motors")
    data, tidied = _tidy(system, whole)
    tidied = (*tidied, *driven, *describe_fixed(scenario, data))
    first = int(round((1 - held_out) * len(data.time)))
    if first:
        first += int(np.argmax(_at_common_ticks(system, data.time[first:])))
    found = Validation((), (), (), (), tidied, None)
    reasons = []
    if method != "inverse":
        try:
            found = _validate_by_simulation(system, data, first, inputs, nominal, horizon, memo)
            found = replace(found, notes=(*tidied, *found.notes))
        except ModelError as error:
            if method == "simulation" or inputs:
                raise
            reasons.append(error)
            found = replace(found, notes=(*tidied, f"not simulated: {'; '.join(map(str, error.flaws))}"))
    if method != "simulation":
        try:
            plan = plan_identification(system, data, offsets=False)
            truth = plan.base.G @ plan.regressor.given
            rows = [plan.rows(_part(data, first), cutoff, memo.recall)]
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


def _tidy(system: System, data: Run) -> tuple[Run, tuple[str, ...]]:
    """The data with rows at the model's ticks, none of them twice, and what was done to them."""
    said = len(data.warnings)
    positions = [name for name in system.state_names[: system.n_q] if name in data]
    data = tidy_rows(replace(data, values=np.where(np.isfinite(data.values), data.values, np.nan)), positions)
    notes = data.warnings[said:]
    if data.time.size and data.time[0] > CLOCK_OF_DAY:
        notes = (*notes, f"times are counted from the first row, which is at {data.time[0]:.10g} s")
        data = replace(data, time=data.time - data.time[0])
    return at_ticks(system, data), notes


def with_measured_drives(scenario: Scenario, data: Run) -> tuple[Scenario, list[str]]:
    """The scenario with a drive wherever an effort was measured and it has none, as robots' files do, and a note."""
    machine = scenario.machine
    mechanism, taken = machine.mechanism, {block.name for block in machine.all_blocks}
    driven = {str(block.on) for block in machine.all_blocks if not (block.info.passive or block.info.disturbance)}
    places = [freedom.name for freedom in mechanism.freedoms if freedom.is_single] if mechanism else []
    places += [coordinate.name for coordinate in machine.coordinates]
    bare = [on for on in places if f"{on}.effort" in data and on not in driven and f"{on}.drive" not in taken]
    blocks = list(machine.blocks)
    for on in bare:
        command = Block(f"{on}.command", "constant_reference", parameters={"constant": 0.0})
        blocks += [command, Block(f"{on}.drive", "torque_source", on, {"command": f"{command.name}.value"})]
    if not bare:
        return scenario, []
    note = f"the scenario has no drive on {', '.join(bare)}: the measured efforts act there"
    return scenario.replaced(machine=machine.replaced(blocks=tuple(blocks))), [note]


def _part(data: Run, first: int) -> Run:
    return replace(data, time=data.time[first:], values=data.values[first:]) if first else data


# --------------------------------------------------------------------------------------------------
# Inputs: which measured signals say what drove the machine, so that the model has to be driven by them?


MEASURED, CONSTANT, MOVING, STATE = "measured", "constant", "moving", "state"
"""Where a signal comes from: measured sources, numbers of the scenario, its own references, the machine."""


def choose_inputs(system: System, data: Run) -> tuple[Run, tuple[str, ...], list[str]]:
    """Measured references and commands that take the place of the scenario's.

    Returns:
        The data with forces that follow from what was measured, the inputs among them, and sentences on what is left.

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
    # What a model holds between samples is held in the recording, too; a constant stands for what may move.
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    held = {info.name for info in system.signals if info.kind == "held" and info.name in chosen}
    held = {name for name in held if any(ca.which_depends(outputs[name], system.symbols.m, 1, False))}
    data = replace(data, infos=tuple(replace(i, kind="held") if i.name in held else i for i in data.infos))
    filled = []
    for name in chosen:
        values = data[name].values
        if missing := int(np.isnan(values).sum()):
            filled.append(f"{name} ({missing} rows)")
            there = np.isfinite(values)
            data = _with_column(data, name, np.interp(data.time, data.time[there], values[there]), system)
    if filled:
        notes.append(f"inputs are interpolated linearly across missing samples: {', '.join(filled)}")
    return data, tuple(chosen), notes


def _derived_efforts(system: System, data: Run) -> dict[str, Array]:
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


def _with_column(data: Run, name: str, values: Array, system: System) -> Run:
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
    memo: Memo,
) -> Validation:
    """Free run and predictions from rows `first` on."""
    notes: list[str] = []
    whole = data
    if inputs is None:
        data, inputs, notes = choose_inputs(system, data)
    gaps = _find_gaps(whole, inputs)
    if len(gaps):
        longest = gaps[np.argmax(gaps[:, 1] - gaps[:, 0])]
        what = f"inputs are not known for {np.ptp(longest):.3g} s at {longest[0]:.6g} s"
        others = f", nor in {len(gaps) - 1} other gaps" if len(gaps) > 1 else ""
        notes.append(f"{what}{others}: predictions skip that, the free run interpolates linearly")
    # A block that a measured signal takes the place of has no other signals any more.
    driven = assemble(drive_by_data(system.scenario, data, inputs)) if inputs else system
    units = {info.name: info.unit for info in driven.signals}
    # A formula of inputs alone says nothing of the model.
    formulas = {one.name: {name for _, _, name in one.references()} for one in system.scenario.machine.signals}
    given = {f"{on}.effort" for on, forces in drives_of(system).items() if {*forces} <= {*inputs}}
    given |= {*inputs, *(name for name, reads in formulas.items() if reads <= {*inputs})}
    compared = without(data, [name for name in data.names if name in given or name not in units])
    if not compared.names:
        what = "none of the data is a signal of the model that could be compared"
        remedy = f"the data have {', '.join(data.names[:8])}, the model {', '.join(list(units)[:8])}; write a mapping"
        refuse("signals", what, remedy, "validation")
    match_measured(compared, units)
    if not data.time[-1] > 0:
        refuse("time", "has nothing after the start", source="measured data")
    unused = [name for name in data.names if name not in given and name not in system.signal_names]
    if unused:
        notes.append(f"not signals of the model, and not compared: {', '.join(unused)}")
    late = _part(compared, first)

    even = _even_rows(system, data)
    with WaitingLine(f"predicting with {system.scenario.name}") as line:
        models = [_Predictor(driven, even, compared.names, late.time, memo, "model")]
        runs = [models[0].free_run()]
        if nominal is not None:
            try:
                rivals = assemble(drive_by_data(nominal, data, inputs))
                rival = _Predictor(rivals, even, compared.names, late.time, memo, "second baseline")
                runs.append(rival.free_run())
                models.append(rival)
            except ModelError as error:
                notes.append(f"no second baseline: {'; '.join(map(str, error.flaws))}")
        run, free = runs[0], {}
        notes += [*models[0].said, *describe_rates(system.scenario, data)]
        if not run.outcome.ok:
            why = ""
            if run.outcome.kind is OutcomeKind.STEP_LIMIT:
                why = "; a motion like the measured one takes fewer: the model diverges, or swings much faster"
            notes.append(f"the free run: {run.outcome.sentence}{why}; its errors are those up to there")
        for name in late.names:
            row, more = _judge_free_run(name, units[name], late, [_read(each, name, late.time) for each in runs])
            free[name], notes = row, notes + more
        growth: dict[str, tuple[Prediction, ...]] = {}
        try:
            if any(one.outcome.kind is OutcomeKind.INTERRUPTED for one in runs):
                refuse("predictions", "were stopped before they began")
            starts, steps = _choose_starts(models[0], horizon, gaps)
            errors, more = _predict_all(models, starts, steps, line)
            notes += more
        except ModelError as error:
            notes.append(f"no predictions from measured states: {'; '.join(map(str, error.flaws))}")
        else:
            starts = starts[: len(errors[0])]
            growth, more = _judge_growth(even, starts, steps, errors, compared.names, units)
            notes += more
    predictions: list[Prediction] = []
    for name, row in free.items():
        ahead = growth.get(name, ())
        predictions += [one for one in ahead if one.kind == "one step" or one is ahead[-1]]
        predictions += [row] if row is not None else []
    signals = compare_signals(run, late)
    return Validation(tuple(inputs), tuple(predictions), signals, (), tuple(notes), run, late, growth)


def _find_gaps(data: Run, inputs: Sequence[str]) -> Array:
    """Times between which an input has no sample although it usually has, (n, 2)."""
    found = [np.zeros((0, 2))]
    for name in inputs:
        time = data.time[np.isfinite(data[name].values)] if name in data else data.time
        edges = np.concatenate([data.time[:1], time, data.time[-1:]])
        usual = float(np.median(np.diff(time))) if len(time) > 1 else np.inf
        wide = np.flatnonzero(np.diff(edges) > WIDEST * usual)
        found.append(np.column_stack([edges[wide], edges[1:][wide]]))
    return np.unique(np.concatenate(found), axis=0)


def _even_rows(system: System, data: Run) -> Run:
    """The data at even times, so that rows count time; samples of gaps are missing."""
    steps = np.diff(data.time)
    usual = float(np.median(steps))
    if np.all(np.abs(steps / usual - 1) < SAME_STEP):
        return data
    return at_ticks(system, resample(data, 1 / usual, filtered=False))


class _Predictor:
    """A system driven by data, ready to be simulated from measured states.

    Args:
        even: the data at even times; times: those that are compared; memo, name: where its parts are kept, and as what.

    Attributes:
        measured: places of states, and the data's values of them, (n_rows,); hidden: whether there are other states.
        said: how the free run begins, where that is not as described.
    """

    def __init__(self, driven: System, even: Run, signals: Sequence[str], times: Array, memo: Memo, name: str) -> None:
        self.system = driven.lasting(replace(driven.scenario, duration=float(times[-1])))
        self.memo, self.name = memo, name
        self.solver, self.even, self.signals, self.times = driven.scenario.solver, even, tuple(signals), times
        # Positions say how the machine stood, for its pictures.
        self.recorded = tuple(dict.fromkeys([*signals, *driven.state_names[: driven.n_q]]))
        self.compiled = compile_system(self.system, self.solver, signals=self.recorded)
        recorded = [info.name for info in self.compiled.recorded]
        self.columns = [recorded.index(name) for name in self.signals]
        self.measured = _measured_states(self.system, even)
        self.hidden = len(self.system.states) + len(self.system.memory) > len(self.measured)
        self.said: list[str] = []

    def free_run(self) -> Run:
        """From the described start, or from the measured one where that tells the first rows better."""
        described = None
        if self.times[0] == 0.0:
            recording = Recording(times=tuple(self.times.tolist()), signals=self.recorded)
            solver = self._solver(float(self.times[-1]), len(self.times))
            described = self._recall("free run", lambda: simulate(self.compiled, solver, recording=recording))
        x, m = self.system.described.x.copy(), self.system.described.m.copy()
        for k, values in self.measured.items():
            later = values[(self.even.time >= self.times[0]) & np.isfinite(values)]
            x[k] = later[0] if later.size else x[k]
        start = Start(float(self.times[0]), x, m)
        if described is not None:
            run = self._run_from(start, self.times[:FIRST_ROWS])
            stopped = described.outcome.kind is OutcomeKind.INTERRUPTED
            if stopped or self._miss_of(described) <= 2 * self._miss_of(run):
                return described
        said = f"the free run starts as measured at {self.times[0]:.6g} s"
        if self.hidden:
            names = [state.name for k, state in enumerate(self.system.states) if k not in self.measured]
            names += [state.name for state in self.system.memory]
            said += f"; not measured, and as described then: {', '.join(names[:6])}"
        self.said = [said]
        return self._recall("free run as measured", lambda: self._run_from(start, self.times))

    def _recall(self, name: str, run: Callable[[], Run]) -> Run:
        """A run that was completed before, its rows and its outcome, or a new one; one that was stopped is not kept."""
        name = f"{self.name}: {name}"
        if name not in self.memo.parts:
            new = run()
            if new.outcome.kind is not OutcomeKind.INTERRUPTED:
                how = [new.outcome.kind.value, new.outcome.sentence, new.outcome.time]
                self.memo.recall(name, lambda: {"time": new.time, "values": new.values, "outcome": how})
            return new
        known = self.memo.parts[name]
        kind, sentence, end = known["outcome"]
        provenance = Provenance(self.system.scenario.name)
        outcome = Outcome(OutcomeKind(kind), sentence, end)
        time, values = (text_as_array(known[key]) for key in ("time", "values"))
        return Run(time, values, tuple(self.compiled.recorded), outcome, provenance)

    def _run_from(self, start: Start, times: Array) -> Run:
        solver, values = self._solver(float(times[-1]) - start.time, len(times)), self.system.described_values
        runner = SegmentRunner(self.compiled, solver, {start.time: times})
        integration, calls = runner.begin(RunInputs(values, self.system.number_values, start))
        with WaitingLine("free run", watched=False) as line:
            follow = line.follow(float(times[-1]) - start.time, start.time)
            trajectory, failure = runner.complete(integration, calls, follow, probes=True)
        outcome = runner.describe(trajectory, failure)
        return make_run(self.compiled, solver, values, trajectory, outcome, start)

    def _solver(self, seconds: float, rows: int) -> Solver:
        """The solver with as many steps as a motion like the measured one could ask for, unless the scenario says so.

        A model that diverges takes ever shorter steps, or spins ever faster.
        """
        if "max_steps" in self.solver.stated():
            return self.solver
        ticks = count_steps(self.system, self.solver, seconds)
        most = LEAST_STEPS + STEPS_OF_SECOND * seconds + STEPS_OF_ROW * rows + STEPS_OF_TICK * ticks
        return replace(self.solver, max_steps=int(most))

    def _miss_of(self, run: Run) -> float:
        """The miss of a run at the first rows of measured positions, by their ranges."""
        even, worst = self.even, 0.0
        rows = np.flatnonzero(even.time >= self.times[0])[:FIRST_ROWS]
        for name in (name for name in self.system.state_names[: self.system.n_q] if name in even):
            values = even[name].values
            apart = _read(run, name, even.time[rows]) - values[rows]
            spread = float(np.nanmax(values) - np.nanmin(values))
            if np.isfinite(apart).any() and spread > 0:
                worst = max(worst, float(root_mean(apart**2)) / spread)
        return worst

    def recall_chunk(self, k: int, chunk: Array, steps: Array, before: Mapping[str, Array] | None) -> Any:
        """Predictions that were made before, or are made now."""
        return self.memo.recall(f"{self.name}: predictions {k}", lambda: self.predict(chunk, steps, before))

    def predict(self, chunk: Array, steps: Array, before: Mapping[str, Array] | None) -> dict[str, Array]:
        """Predicted minus measured of each start, row ahead and signal, (n_starts, n_ahead, n_signals); and the last
        start, from which hidden states go on.

        Args:
            before: the last start of the rows before these.
        """
        times = [self.even.time[k + steps] for k in chunk.tolist()]
        solver = self._solver(float(np.ptp(times[0])), int(steps[-1]))
        starts = self._starts(chunk, before)
        ends = run_segments(self.compiled, solver, starts, times)
        errors = np.full((len(chunk), len(steps), len(self.signals)), np.nan)
        measured = np.column_stack([self.even[name].values for name in self.signals])
        for own, k, end in zip(errors, chunk.tolist(), ends, strict=True):
            own[: len(end.y)] = end.y[:, self.columns] - measured[k + steps[: len(end.y)]]
        return {"errors": errors, "row": chunk[-1:], "x": starts[-1].x, "m": starts[-1].m}

    def _starts(self, rows: Array, before: Mapping[str, Array] | None) -> list[Start]:
        """Measured states, with hidden ones of a run that is put back to the measured states at every row."""
        x, m, time = self.system.described.x.copy(), self.system.described.m.copy(), self.even.time
        places, values = list(self.measured), np.array([self.measured[k] for k in self.measured])
        starts, last, way = list[Start](), None, rows
        if before is not None:
            x, m = before["x"], before["m"]
            last = Start(float(time[int(before["row"][0])]), x, m)
        elif self.hidden:
            # The hidden states settle on the way to the first row.
            settle = rows[:1] - np.arange(min(int(rows[0]), 20), 0, -1) * max(int(rows[0]) // 20, 1)
            way = np.unique(np.concatenate([settle[settle >= 0], rows]))
        for k in way.tolist():
            if self.hidden and last is not None:
                # A tick there is that of the next part.
                until = time[k] - 1e-6 * (time[k] - time[k - 1])
                solver = self._solver(until - last.time, 1)
                (end,) = run_segments(self.compiled, solver, [last], [np.array([until])])
                x, m = end.x, end.m
            x, m = x.copy(), m.copy()
            x[places] = np.where(np.isfinite(values[:, k]), values[:, k], x[places])
            last = Start(float(time[k]), x, m)
            if k in rows:
                starts.append(last)
        return starts


def _predict_all(
    models: Sequence[_Predictor], starts: Array, steps: Array, line: WaitingLine
) -> tuple[list[Array], list[str]]:
    """Errors of each model, of as many starts as were predicted when Ctrl-C came, and a sentence if it did."""
    chunks = np.split(starts, range(STARTS_AT_ONCE, len(starts), STARTS_AT_ONCE))
    errors: list[list[Array]] = [[] for _ in models]
    before: list[Mapping[str, Array] | None] = [None] * len(models)
    notes, done = list[str](), 0
    try:
        for k, chunk in enumerate(chunks):
            line.update(f"{done} of {len(starts)} predictions", done / len(starts))
            found = [model.recall_chunk(k, chunk, steps, own) for model, own in zip(models, before, strict=True)]
            for own, new in zip(errors, found, strict=True):
                own.append(new["errors"])
            before = found
            done += len(chunk)
    except KeyboardInterrupt:
        if not done:
            refuse("predictions", "were stopped before the first ones had ended")
        notes.append(f"stopped after {done} of {len(starts)} predictions from measured states: those are judged")
    return [np.concatenate(own) for own in errors], notes


def _measured_states(system: System, data: Run) -> dict[int, Array]:
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


def slope_before(time: Array, y: Array) -> Array:
    """Slope of a measured signal at each of its samples from this one and those before it.

    That of a parabola (of a line through two rows) by least squares, over as many samples as tell the next ones best;
    samples that have too few before them, such as those behind a gap, have none.
    """
    from scipy.signal import savgol_coeffs

    there, found, ahead, least = np.isfinite(y), np.full(len(y), np.nan), 4, np.inf
    time, y = time[there], y[there]
    if len(y) < 2 * WINDOWS[0] + ahead:
        return found
    period = float(np.median(np.diff(time)))

    def are_whole(steps: int) -> Array:
        """Where no sample is missing on the way to the one so many later."""
        return np.asarray(np.abs((time[steps:] - time[:-steps]) / (steps * period) - 1) < 0.5 / steps)

    for size in WINDOWS:
        if len(y) < 2 * size + ahead:
            break
        order = min(2, size - 1)
        rows = np.lib.stride_tricks.sliding_window_view(y, size)
        weights = [savgol_coeffs(size, order, deriv=k, pos=size - 1, delta=period, use="dot") for k in range(order + 1)]
        level, rate, *bend = (rows @ each for each in weights)
        tau = ahead * period
        said = (level + tau * rate + sum(tau**2 / 2 * each for each in bend))[:-ahead]
        judged = are_whole(size - 1 + ahead)
        error = float(np.mean((said - y[size - 1 + ahead :])[judged] ** 2)) if judged.any() else np.inf
        if error < least:
            least = error
            rate = np.where(are_whole(size - 1), rate, np.nan)
            found[there] = np.concatenate([np.full(size - 1, np.nan), rate])
    return found


def _at_common_ticks(system: System, time: Array) -> Array:
    """Which times are ticks of all sampled blocks, so that they begin anew in the same order; all without any."""
    base, tasks = system.discrete.base_period, system.discrete.tasks
    if base is None or not tasks:
        return np.ones(len(time), bool)
    period = float(base * math.lcm(*(task.period for task in tasks)))
    return np.abs(time / period - np.rint(time / period)) < 1e-6


def _choose_starts(model: _Predictor, horizon: float, gaps: Array) -> tuple[Array, Array]:
    """Rows that predictions start from, and rows after each at which they are compared.

    Args:
        gaps: of the inputs, (n, 2) [s]; no prediction crosses one.

    Raises:
        ModelError: with what keeps them from starting at measured states.
    """
    system, time, flaws = model.system, model.even.time, FlawList()
    missing = [state.name for k, state in enumerate(system.states[: system.n_q]) if k not in model.measured]
    if not system.n_q:
        flaws.add("joints", "the model has none")
    if missing:
        flaws.add("data", f"lack {', '.join(missing[:6])}", "name columns of them in a mapping")
    if system.scenario.machine.all_constraints:
        flaws.add("constraints", "are not met by measured positions to the last digit", "look at the free run")
    rows = np.flatnonzero(time >= model.times[0])
    if len(rows) < FEWEST_ROWS:
        what = f"{len(rows)} rows are too few, {FEWEST_ROWS} are needed"
        flaws.add("data", what, "record longer or raise held_out")
    flaws.raise_if_any("validation")
    period = float(np.median(np.diff(time)))
    # A short recording has a shorter horizon: half of the rows are starts at least.
    most = min(max(int(round(horizon / period)), 1), len(rows) // 2)
    steps = np.unique(np.rint(np.linspace(1, most, MOST_AHEAD)).astype(int))
    rows = rows[:-most]
    crossing = np.searchsorted(gaps[:, 0], time[rows + most]) > np.searchsorted(
        np.sort(gaps[:, 1]), time[rows], "right"
    )
    whole = np.all([np.isfinite(values[rows]) for values in model.measured.values()], axis=0)
    rows = rows[whole & ~crossing & _at_common_ticks(system, time[rows])]
    if len(rows) < 2:
        what = f"have no {most * period:.3g} s without gaps of inputs that begin at a tick of all sampled blocks"
        remedy = (
            "resample it by `robodyn data LOG --rate`, lower the horizon, or set the model's period to the real one"
        )
        refuse("data", what, remedy)
    chosen = np.unique(np.rint(np.linspace(0, len(rows) - 1, min(MOST_STARTS, len(rows)))).astype(int))
    return rows[chosen], steps


# --------------------------------------------------------------------------------------------------
# Errors beside those of the baselines.


def root_mean(squares: Array) -> Array:
    """Root of the mean of the squares that there are, row after row; nan where there is none."""
    there = np.isfinite(squares)
    count = there.sum(axis=0)
    total = np.where(there, squares, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(np.where(count, total / np.maximum(count, 1), np.nan)))


def _block_logarithms(squares: Array) -> Array:
    """Logarithms of the mean squares of consecutive parts, which are independent of each other but at their ends."""
    squares = squares[np.isfinite(squares)]
    if len(squares) < 2:
        return np.zeros(1)
    parts = np.array_split(squares, min(BLOCKS, len(squares) // 2))
    means = np.array([np.mean(part) for part in parts])
    # Parts that are met exactly count as met to a millionth of the rest.
    return np.log(np.maximum(means, max(1e-12 * means.max(), 1e-300)))


def _interval(logarithms: Array) -> tuple[float, float]:
    """Mean and half width of its 95 % interval by Student's distribution."""
    from scipy.special import stdtrit

    n = len(logarithms)
    half = stdtrit(n - 1, 0.975) * np.std(logarithms, ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return float(np.mean(logarithms)), float(half)


def compare_squares(own: Array, other: Array) -> str:
    """Whether squares of errors are smaller than others by more than chance, by their ratios in consecutive parts."""
    there = np.isfinite(own) & np.isfinite(other)
    mean, half = _interval(_block_logarithms(own[there]) - _block_logarithms(other[there]))
    return BETTER if mean < -half else WORSE if mean > half else SAME


def _judge(
    signal: str,
    unit: str,
    kind: str,
    ahead: float | None,
    squares: Sequence[Array],
    line: Array,
    spread: float,
    correlation: float | None = None,
) -> Prediction:
    """Squares of errors, of the scenario and of the nominal one, beside those of the straight line."""
    own = squares[0]
    rms = float(root_mean(own))
    # The band of a mean square by the spread of its parts' logarithms.
    width = float(np.exp(_interval(_block_logarithms(own))[1] / 2))
    than_nominal, nominal = "", None
    if len(squares) > 1:
        nominal, than_nominal = float(root_mean(squares[1])), compare_squares(own, squares[1])
    return Prediction(
        signal, kind, ahead, int(np.isfinite(own).sum()), rms, rms / width, rms * width,
        percent=100 * rms / spread if spread > 0 else None,
        line=float(root_mean(line)), than_line=compare_squares(own, line),
        nominal=nominal, than_nominal=than_nominal, correlation=correlation, unit=unit,
    )  # fmt: skip


def _read(run: Run, name: str, time: Array) -> Array:
    """A signal of a run at some times; nan beyond its end, and of one that it does not have."""
    found = np.full(len(time), np.nan)
    reached = time <= run.time[-1]
    if name in run:
        found[reached] = run[name](time[reached])
    return found


def _judge_free_run(name: str, unit: str, late: Run, predicted: Sequence[Array]) -> tuple[Prediction | None, list[str]]:
    """The row of a free run, and a sentence where it is the measured motion in another size or direction."""
    y, time = late[name].values, late.time
    squares = [(each - y) ** 2 for each in predicted]
    if np.isfinite(squares[0]).sum() < 2:
        return None, []
    there = np.isfinite(y)
    nearest_line = np.polynomial.Polynomial.fit(time[there], y[there], 1)
    spread, notes = float(np.nanstd(y)), []
    row = _judge(name, unit, "free run", None, squares, (y - nearest_line(time)) ** 2, spread)
    both = np.isfinite(squares[0])
    alike = correlate(predicted[0], y)
    ratio = float(np.std(y[both])) / max(float(np.std(predicted[0][both])), 1e-300)
    if alike > ALIKE and not 1 / OTHER_SIZE < ratio < OTHER_SIZE:
        what = f"{name} moves {ratio:.3g} times as far as in the free run, in the same way"
        notes.append(f"{what}: look at unit and gear in the mapping, then at the model")
    elif alike < -ALIKE:
        notes.append(f"{name} moves opposite to the free run: look at signs in the mapping")
    return row, notes


def _judge_growth(
    data: Run,
    starts: Array,
    steps: Array,
    errors: Sequence[Array],
    signals: Sequence[str],
    units: Mapping[str, str],
) -> tuple[dict[str, tuple[Prediction, ...]], list[str]]:
    """Errors of each signal at all distances, and sentences on signals that are not met at all."""
    growth, notes = dict[str, tuple[Prediction, ...]](), []
    places = starts[:, None] + steps
    ahead = steps * float(np.median(np.diff(data.time)))
    lost = [np.isnan(errors[0][:, :, k]) & np.isfinite(data[name].values[places]) for k, name in enumerate(signals)]
    if broken := int(np.any(lost, axis=(0, 2)).sum()):
        notes.append(f"{broken} of {len(starts)} predictions ended before {ahead[-1]:.3g} s")
    for column, name in enumerate(signals):
        y = data[name].values
        squares = [each[:, :, column] ** 2 for each in errors]
        # The better one of the two lines at each distance.
        hold = y[starts][:, None] - y[places]
        straight = hold + slope_before(data.time, y)[starts][:, None] * ahead
        line = np.where(root_mean(straight**2) < root_mean(hold**2), straight**2, hold**2)
        rows = []
        for j in np.flatnonzero(np.isfinite(squares[0]).sum(axis=0) > 1):
            kind = "one step" if steps[j] == 1 else f"{ahead[j]:.3g} s ahead"
            # What the model knows beyond the speed that it starts with.
            bent = -straight[:, j]
            correlation = correlate(bent + errors[0][:, j, column], bent)
            at = [each[:, j] for each in squares]
            rows.append(
                _judge(name, units[name], kind, float(ahead[j]), at, line[:, j], float(np.nanstd(y)), correlation)
            )
        if not rows:
            continue
        growth[name] = tuple(rows)
        least = min(row.correlation or 0.0 for row in (rows[0], rows[-1]))
        # One step of an effort may be the other way where the speed that it starts with is noise.
        if least < OTHER_WAY and rows[-1].than_line != BETTER:
            what = f"{name} moves opposite to the prediction (correlation {least:.2f})"
            notes.append(f"{what}: look at signs in the mapping, and at loads")
        elif rows[-1].than_line == WORSE:
            what = f"{name} is not predicted {rows[-1].kind}: a straight line is closer"
            notes.append(f"{what}: is this the log of another machine, or is an input missing?")
    return growth, notes
