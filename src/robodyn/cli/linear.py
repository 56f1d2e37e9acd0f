"""Linear analyses: modes, loops over frequency and in time, and the design of state controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn import analysis
from robodyn.base import ModelError, frozen, nearest
from robodyn.presentation.reporting.displays import Display, DisplayFigure, Part, Table, display, shows

from .application import fail, messages
from .command import Texts, command, drawing, refuse_other, tell_notes
from .targets import load_run, load_single, load_system, read_data, split_names

if TYPE_CHECKING:
    import numpy as np

    from robodyn.computation.assembly import System
    from robodyn.computation.assembly.control.state_design import StateDesign

PLACES = ("start", "equilibrium")


@command("modes", plot="Draw the shapes into this file (.png, .svg, .pdf), or the poles where nothing swings.")
def find_modes(
    scenario: str,
    at: str = "equilibrium",
    pade: int = 8,
    friction: str = "kept",
    hold: Texts = (),
    setting: Texts = (),
    html: Path | None = None,
) -> analysis.ModeSet:
    """Linearise a scenario and print its modes: frequency, damping, and the dominant states.

    scenario: Name in the catalogue, or a TOML file.
    at: Where to linearise: equilibrium or start.
    pade: Order of the approximations that find the poles of delays.
    friction: kept (as it is there) or none.
    hold: Outputs of blocks that stay as they are there, such as '*.control.current'.
    setting (--set): Change a number: name=value.
    html: Write a page on which the shapes swing.
    """
    from robodyn.analysis.linear import modes

    refuse_other("--at", at, PLACES[::-1])
    refuse_other("--friction", friction, ("kept", "none"))
    if pade < 0:
        raise fail(f"--pade {pade}: must not be negative")
    system = load_system(scenario, setting)
    try:
        result = modes.find_modes(system, at=at, pade=pade, friction=friction, hold=hold)
    except ModelError:
        if at == "equilibrium":
            messages.print("robodyn: note: --at start linearises where the scenario begins")
        raise
    if html is not None:
        from robodyn.presentation.pages import write_modes

        with drawing(f"--html {html}"):
            write_modes(analysis.animate_modes(result, system), html)
    return result


Roots = Sequence[complex]


@frozen
class PolesZeros:
    """Poles and invariant zeros [rad/s], which of them cancel or are hidden, and a model of lower order."""

    JSON = """
    notes = model.notes
    inputs
    outputs
    poles: real and imaginary part [rad/s]
    zeros
    cancelled
    uncontrollable
    unobservable
    order = reduced.model.order: of the truncated model
    hankel_values = reduced.hankel_values
    error_bound = reduced.error_bound: of the transfer matrix at any frequency
    reduced_poles
    """
    model: analysis.LinearModel
    inputs: Sequence[str]
    outputs: Sequence[str]
    poles: Roots
    zeros: Roots
    cancelled: Roots
    uncontrollable: Roots
    unobservable: Roots
    reduced: analysis.Truncation

    @property
    def reduced_poles(self) -> Roots:
        """The poles of the truncated model."""
        return self.reduced.model.poles().tolist()


@command("poles", plot="Draw poles and zeros into this file.")
def find_poles(
    scenario: str,
    varied: Texts,
    signal: Texts,
    order: int | None = None,
    at: str = "equilibrium",
    setting: Texts = (),
) -> PolesZeros:
    """Poles and invariant zeros of a linearised scenario, and what balanced (Hankel) truncation leaves of it.

    scenario: Name in the catalogue, or a TOML file.
    varied (--input): Numbers that are varied, or patterns of them.
    signal (--output): Signals that follow them, or patterns.
    order: Order of the truncated model; default: what has an effect.
    at: Where to linearise: equilibrium or start.
    setting (--set): Change a number: name=value.
    """

    refuse_other("--at", at, PLACES[::-1])
    system = load_system(scenario, setting)
    numbers = _choose("--input", varied, [number.name for number in system.parameters])
    signals = _choose("--output", signal, system.signal_names)
    model = analysis.linearise(system, at, numbers, signals)
    hidden = analysis.find_hidden_poles(model)
    return PolesZeros(
        model,
        numbers,
        signals,
        model.poles().tolist(),
        analysis.find_zeros(model).tolist(),
        [pair.pole for pair in analysis.find_cancelled_pairs(model)],
        list(hidden.uncontrollable),
        list(hidden.unobservable),
        analysis.truncate(model, order),
    )


def _choose(option: str, patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names that fit the patterns, in the order of the patterns."""
    chosen: dict[str, None] = {}
    for pattern in split_names(patterns):
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise fail(f"{option} {pattern}: matches nothing ({nearest(pattern, names)})")
        chosen |= dict.fromkeys(matches)
    return list(chosen)


@shows
def show_poles(found: PolesZeros) -> Display:
    from robodyn.presentation.reporting.linear import draw_pole_zeros

    kinds = {"poles": found.poles, "zeros": found.zeros, "cancelled": found.cancelled}
    kinds |= {"uncontrollable": found.uncontrollable, "unobservable": found.unobservable}
    model, reduced = found.model, found.reduced
    orders = f"order {reduced.model.order} of {model.order}, {reduced.unstable} of them unstable"
    parts: list[Part] = [
        f"{len(found.inputs)} inputs, {len(found.outputs)} outputs, rad/s",
        *(f"{len(roots):>3} {name:<15} {_list_roots(roots)}" for name, roots in kinds.items()),
        f"truncated: {orders}; error at any frequency at most {reduced.error_bound:.3g}",
        f"reduced poles        {_list_roots(found.reduced_poles)}",
        DisplayFigure("Poles and zeros", lambda: draw_pole_zeros(model)),
    ]
    return Display("Poles and zeros", parts, notes=model.notes)


def _list_roots(roots: Roots) -> str:
    """Roots once each with how often they occur, of pairs the upper one: `-5 (x12)  -1.99 +- 1.136j`."""
    texts: dict[str, int] = {}
    for root in sorted(roots, key=lambda root: (abs(root), -root.imag)):
        real, imaginary = float(f"{root.real:.4g}"), float(f"{root.imag:.4g}")
        # What rounding leaves beside the axis is none of a pair.
        alone = abs(imaginary) <= 1e-4 * abs(root)
        if alone or imaginary > 0:
            text = f"{real:.4g}" if alone else f"{real:.4g} +- {imaginary:.4g}j"
            texts[text] = texts.get(text, 0) + 1
    return "  ".join(text if count == 1 else f"{text} (x{count})" for text, count in texts.items()) or "-"


@command(
    "loops",
    plot="Draw the gains over frequency into this file.",
    nyquist="Draw the gains in the complex plane into this file.",
)
def find_loops(
    scenario: str,
    loop: Texts = (),
    cut: Texts = (),
    at: str = "start",
    friction: str | None = None,
    setting: Texts = (),
) -> analysis.LoopTable:
    """Cut each loop at a controller's output and print its margins, all others closed, delays exact.

    scenario: Name in the catalogue, or a TOML file.
    loop: SIGNAL, or SIGNAL:TARGET:ANSWER: where to cut, and whose bandwidth; default: all loops.
    cut: Output of an outer loop that is zero meanwhile.
    at: Where to linearise: start or equilibrium.
    friction: none (of sampled loops the default), stuck, or sliding: without what is dry (of continuous ones).
    setting (--set): Change a number: name=value.
    """

    refuse_other("--at", at, PLACES)
    system = load_system(scenario, setting)
    table = analysis.loop_table(system, read_loops(loop, cut), at=at, friction=friction)
    judged = friction if system.discrete.tasks else friction or "sliding"
    unstable = tuple(finding.sentence for finding in analysis.check_loops(system, at=at, friction=judged))
    return replace(table, warnings=unstable)


def read_loops(texts: Sequence[str], cut: Sequence[str] = ()) -> dict[str, analysis.Loop] | None:
    """Loops given as SIGNAL or SIGNAL:TARGET:ANSWER; None where there are none."""

    if cut and not texts:
        raise fail("--cut: has no effect without --loop")
    loops = {}
    for text in texts:
        parts = text.split(":")
        if len(parts) not in (1, 3) or not all(parts):
            raise fail(f"--loop {text}: must be SIGNAL or SIGNAL:TARGET:ANSWER")
        if text in loops:
            raise fail(f"--loop {text}: is given twice")
        target, answer = parts[1:] if parts[1:] else (None, None)
        loops[text] = analysis.Loop(parts[0], target, answer, tuple(cut))
    return loops or None


@frozen
class LoopCurves:
    """A loop with its gain over frequency, open and closed."""

    JSON = """
    *figures
    open
    closed
    """
    figures: analysis.LoopFigures

    @property
    def open(self) -> analysis.FrequencyResponse:
        """Once round it."""
        return self.figures.gain

    @property
    def closed(self) -> analysis.FrequencyResponse:
        """The response of the answer to the target."""
        return self.figures.closed


@frozen
class BodeLoops:
    """Loops of one or more scenarios."""

    JSON = """
    notes
    loops
    """
    table: analysis.LoopTable
    notes: Sequence[str]

    @property
    def loops(self) -> tuple[LoopCurves, ...]:
        """All rows, with their curves."""
        return tuple(LoopCurves(row) for row in self.table.rows)


@frozen
class NamedResponse:
    """A response of one scenario."""

    JSON = """
    name
    *response
    """
    name: str
    response: analysis.FrequencyResponse


@frozen
class BodeChannel:
    """Responses of a signal to a number, of one or more scenarios."""

    JSON = """
    notes
    input
    output
    responses
    """
    notes: Sequence[str]
    input: str
    output: str
    responses: Sequence[NamedResponse]
    models: Sequence[analysis.LinearModel]


@frozen
class BodeMeasured:
    """A measured response, beside the model's exact one where a number of the model moves both signals."""

    input: str
    output: str
    measured: analysis.MeasuredResponse
    model: analysis.FrequencyResponse | None


@command(
    "bode",
    plot="Draw dB and degrees into this file, margins marked.",
    nyquist="Draw the loops in the complex plane into this file.",
)
def bode(
    scenarios: Texts,
    loop: Texts = (),
    varied: str | None = None,
    signal: str | None = None,
    data: Path | None = None,
    of: str | None = None,
    reference: str | None = None,
    at: str = "start",
    friction: str | None = None,
    setting: Texts = (),
) -> BodeLoops | BodeChannel | BodeMeasured:
    """Open and closed loop over frequency, in dB and degrees, of control loops or from a number to a signal.

    scenarios: Names in the catalogue, or TOML files; several are overlaid.
    loop: SIGNAL or SIGNAL:TARGET:ANSWER, where a loop is cut; default: all.
    varied (--input): Number that is varied, for continuous machines.
    signal (--output): Signal that follows it.
    data: Run or measurement: response of --output to --of, coherence and confidence.
    of: With --data: signal that --output follows.
    reference: With --data: signal that excites a loop.
    at: Where to linearise: start or equilibrium.
    friction: none (of sampled loops the default), stuck, or sliding: without what is dry (of continuous ones).
    setting (--set): Change a number in all: name=value.
    """

    refuse_other("--at", at, PLACES)
    if data is not None or of is not None or reference is not None:
        if data is None or of is None or signal is None or len(scenarios) != 1:
            raise fail("--data, --of and --output go together, with one scenario")
        return _measure(scenarios[0], setting, data, of, signal, varied, reference, at)
    if (varied is None) != (signal is None):
        raise fail("--input and --output: give both or neither")
    systems = [load_system(source, setting) for source in scenarios]
    names = [Path(source).stem for source in scenarios]
    if varied is not None and signal is not None:
        if loop or friction is not None:
            raise fail("--loop and --friction: have no effect with --input")
        return _respond(systems, names, varied, signal, at)
    tables = [analysis.loop_table(system, read_loops(loop), at=at, friction=friction) for system in systems]
    rows = [row for table in tables for row in table.rows]
    if len(tables) > 1:
        labels = [name for name, table in zip(names, tables, strict=True) for _ in table.rows]
        rows = [replace(row, name=f"{label}: {row.name}") for label, row in zip(labels, rows, strict=True)]
    return BodeLoops(replace(tables[0], rows=tuple(rows)), _unique(table.notes for table in tables))


def _unique(notes: Any) -> list[str]:
    return list(dict.fromkeys(note for some in notes for note in some))


def _respond(systems: Sequence[System], names: Sequence[str], varied: str, signal: str, at: str) -> BodeChannel:
    models = [analysis.linearise(system, at, [varied], [signal]) for system in systems]
    grid = analysis.choose_frequencies(models)
    responses = [
        NamedResponse(name, analysis.respond(model, frequency=grid)) for name, model in zip(names, models, strict=True)
    ]
    return BodeChannel(_unique(model.notes for model in models), varied, signal, responses, models)


def _measure(
    source: str, setting: Texts, data: Path, of: str, signal: str, varied: str | None, reference: str | None, at: str
) -> BodeMeasured:
    measured = analysis.estimate_response(read_data(data), of, signal, reference=reference)
    exact = None
    if varied is not None:
        model = analysis.linearise(load_system(source, setting), at, [varied], [of, signal])
        exact = analysis.respond_between(model, varied, of, signal, measured.frequency)
    return BodeMeasured(of, signal, measured, exact)


@shows
def show_bode_loops(loops: BodeLoops) -> Display:
    return replace(display(loops.table), notes=loops.notes)


@shows
def show_channel(channel: BodeChannel) -> Display:
    from robodyn.presentation.reporting import draw_frequency

    rows = []
    for one in channel.responses:
        size = one.response.decibel
        k = int(size.argmax())
        rows.append((one.name, float(size[0]), float(size[k]), float(one.response.frequency[k]), ""))
    labels = [one.name for one in channel.responses] if len(channel.responses) > 1 else None
    picture = DisplayFigure("Response over frequency", lambda: draw_frequency(channel.models, labels=labels))
    table = Table(("scenario", "low", "peak", "at [Hz]", "dB"), rows)
    return Display(f"{channel.output} over {channel.input}", (table, picture), notes=channel.notes)


@shows
def show_measured_response(found: BodeMeasured) -> Display:
    from robodyn.presentation.reporting import draw_measured

    measured, exact = found.measured, found.model
    rows = []
    for k in range(0, len(measured.frequency), max(len(measured.frequency) // 24, 1)):
        numbers = (measured.decibel[k], measured.phase[k], measured.coherence[k], 100 * 1.96 * measured.deviation[k])
        beside = ("", "") if exact is None else (float(exact.decibel[k]), float(exact.phase[k]))
        rows.append((float(measured.frequency[k]), *map(float, numbers), *beside))
    heads = ("frequency [Hz]", "dB", "deg", "coherence", "+- %", "model dB,", "deg")
    table = Table(heads, rows, (".4g", ".3f", ".2f", ".4f", ".2f", ".3f", ".2f"))
    picture = DisplayFigure("Measured response", lambda: draw_measured(measured, exact))
    return Display(f"{found.output} over {found.input}", (table, picture))


@frozen
class StepFigures:
    """Figures of one answer to a step; nan where there are none."""

    JSON = """
    name
    start
    final
    overshoot: part of the step
    peak: [s]
    rise: [s]
    settled: [s]
    time
    values
    """
    name: str
    response: analysis.TimeResponse
    start: float
    final: float
    overshoot: float = float("nan")
    peak: float = float("nan")
    rise: float = float("nan")
    settled: float = float("nan")
    step: analysis.StepResponse | None = None

    @property
    def time(self) -> np.ndarray:
        """[s]."""
        return self.response.time

    @property
    def values(self) -> np.ndarray:
        """The values of the signal."""
        return self.response.values


@frozen
class StepAnswers:
    """Answers of a signal to steps."""

    JSON = """
    answer
    responses
    """
    answer: str
    responses: Sequence[StepFigures]
    within: float


@command("step", plot="Draw the responses into this file.")
def step(
    what: Texts,
    answer: str,
    target: str | None = None,
    height: float | None = None,
    duration: float | None = None,
    when: float | None = None,
    within: float = 0.02,
    at: str = "start",
    friction: str = "none",
    setting: Texts = (),
) -> StepAnswers:
    """Step responses, exact from tick to tick where something is sampled; of run files what was simulated.

    what: Scenarios, or run files; several are overlaid.
    answer (--answer): Signal that answers.
    target: Scenarios: held signal (or, nothing being sampled, number) that jumps by --height.
    height: Height of the step, in SI; 1 by default.
    duration: How long to look [s]; default: until settled.
    when: Runs: time of the step [s]; 0 by default.
    within: Settled within this part of the step.
    at: Scenarios: where to linearise, start or equilibrium.
    friction: none, stuck or sliding.
    setting (--set): Change a number in all: name=value.
    """
    refuse_other("--at", at, PLACES)
    if not 0 < within < 1:
        raise fail(f"--within {within:g}: must be between 0 and 1")
    of_runs = [one.endswith(".run") for one in what]
    if when is not None and not any(of_runs):
        raise fail("--when: has no effect without a run file")
    for option, value in (("target", target), ("height", height), ("duration", duration), ("set", setting)):
        if value and all(of_runs):
            raise fail(f"--{option}: has no effect on run files")
    answers = []
    for source, is_run in zip(what, of_runs, strict=True):
        if is_run:
            response = _answer_of_run(source, answer)
        elif target is None:
            raise fail(f"--target: name the input that steps in {source}")
        else:
            system, jump = load_system(source, setting), 1.0 if height is None else height
            response = _answer_of_model(system, answer, target, jump, duration, at, friction)
        answers.append(_measure_step(Path(source).stem, response, (when or 0.0) if is_run else None, within))
    return StepAnswers(answer, answers, within)


def _answer_of_run(path: str, answer: str) -> analysis.TimeResponse:
    import numpy as np

    run = load_run(path)
    try:
        signal = run[answer]
    except KeyError as error:
        raise fail(f"--answer {answer}: {error.args[0]}") from error
    variable = analysis.Variable(answer, signal.unit)
    return analysis.TimeResponse(
        analysis.Variable("step"), variable, signal.time, np.ones(signal.time.size), signal.values
    )


def _answer_of_model(
    system: System, answer: str, target: str, height: float, duration: float | None, at: str, friction: str
) -> analysis.TimeResponse:
    from robodyn.analysis.linear.margins import respond_held_step
    from robodyn.analysis.linear.responses import choose_times

    if system.discrete.tasks:
        sampled = analysis.linearise_sampled(system, at, outputs=[answer], friction=friction)
        tell_notes(sampled.notes)
        return respond_held_step(sampled, target, answer, duration, height)
    if friction != "none":
        raise fail(f"--friction {friction}: has no effect, there is no sampled block in {system.scenario.name}")
    import numpy as np

    model = analysis.linearise(system, at, [target], [answer])
    tell_notes(model.notes)
    times = choose_times(model) if duration is None else np.linspace(0, duration, 1001)
    return analysis.respond_to_step(model, time=times, height=height)


def _measure_step(name: str, response: analysis.TimeResponse, when: float | None, within: float) -> StepFigures:
    """Measure a step: a linear model from rest has known levels; those of a run are its values at the step and at
    its end."""

    if when is None and not abs(response.settled) > 0:
        # It goes back to where it was, or nowhere: that is no step of it.
        return StepFigures(name, response, 0.0, response.settled)
    levels = {"start": 0.0, "final": response.settled} if when is None else {}
    response_to_step = analysis.measure_step(response.signal, when or 0.0, **levels)
    overshoot = max(response_to_step.overshoot, 0.0) if response_to_step.peaks else 0.0
    peak = response_to_step.peaks[0].time if response_to_step.peaks else float("nan")
    times = peak, response_to_step.rise_time(), response_to_step.settling_time(within)
    return StepFigures(
        name, response, response_to_step.start, response_to_step.final, overshoot, *times, step=response_to_step
    )


@shows
def show_steps(answers: StepAnswers) -> Display:
    from robodyn.presentation.reporting.linear import draw_responses

    rows = []
    for one in answers.responses:
        unit, times = one.response.output.unit, (one.peak, one.rise, one.settled)
        rows.append((one.name, one.start, one.final, unit, 100 * one.overshoot, *times))
    levels = ("start", "final")
    heads = ("", *levels, "unit", "overshoot [%]", "peak [s]", "rise [s]", "settled [s]")
    responses, names = [one.response for one in answers.responses], [one.name for one in answers.responses]
    steps = [one.step for one in answers.responses]
    picture = DisplayFigure(
        "Step responses", lambda: draw_responses(responses, labels=names, steps=steps, within=answers.within)
    )
    return Display(f"Step responses of {answers.answer}", (Table(heads, rows, ".5g", by_row=levels), picture))


@frozen
class ControllerDesign:
    """Gains of a state controller and the poles [1/s] that they give, real and imaginary; None for what is gone."""

    JSON = """
    period: [s]
    delay: [s]
    states
    at
    commands: that hold the operating point
    K?: feedback gains
    regulator_poles?
    L?: observer gains
    observer_poles?
    """
    name: str
    period: float
    delay: float
    states: Sequence[str]
    at: Sequence[float]
    commands: dict[str, float]
    units: dict[str, str]
    K: np.ndarray | None = None
    regulator_poles: Sequence[Sequence[float | None]] | None = None
    L: np.ndarray | None = None
    observer_poles: Sequence[Sequence[float | None]] | None = None


@frozen
class ControllerDesigns:
    """All designs, by the name of the controller."""

    JSON = "*controllers"
    controllers: dict[str, ControllerDesign]


@command("design")
def design(scenario: str, setting: Texts = ()) -> ControllerDesigns:
    """Gains of state controllers, from the linear model and the weights of the file, and the poles that they give.

    scenario: TOML file with state controllers (LQR, LQG, observers).
    setting (--set): Change a number: name=value.
    """
    from robodyn.computation.assembly.control.state_design import find_designs

    what = load_single(scenario, setting)
    if not what.machine.controllers:
        raise fail(f"{scenario}: has no controllers; describe one in [controllers.NAME]")
    return ControllerDesigns({one.controller.name: _describe_design(one) for one in find_designs(what)})


def _describe_design(one: StateDesign) -> ControllerDesign:
    plant = one.plant
    description: dict[str, Any] = {}
    if one.regulator:
        description |= {"K": one.regulator.K, "regulator_poles": _poles(one.regulator.multipliers, plant.period)}
    if one.observer:
        description |= {"L": one.observer.L, "observer_poles": _poles(one.observer.multipliers, plant.period)}
    return ControllerDesign(
        one.controller.name,
        plant.period,
        plant.delay,
        [variable.name for variable in plant.states],
        [variable.value for variable in plant.states],
        {variable.name: variable.value for variable in plant.inputs},
        {variable.name: variable.unit for variable in plant.inputs},
        **description,
    )


def _poles(multipliers: np.ndarray, period: float) -> list[list[float | None]]:
    """Real and imaginary part [1/s] of what decays from sample to sample; None for what is gone at the next."""
    import numpy as np

    logs = [np.log(complex(mu)) / period if abs(mu) > 1e-12 else None for mu in multipliers]
    return [[None, None] if pole is None else [pole.real, pole.imag] for pole in logs]


@shows
def show_designs(designs: ControllerDesigns) -> Display:
    """State controllers, one after the other."""
    parts: list[Part] = []
    for one in designs.controllers.values():
        parts.append(f"{one.name}, every {1e3 * one.period:g} ms, {1e3 * one.delay:g} ms delay")
        late = sorted({name.rpartition(".")[0] for name in one.states if ".pade" in name})
        if late:
            parts.append(f"  delays as Padé approximations: {', '.join(late)}")
        for name, value in one.commands.items():
            parts.append(f"  {name} at the operating point: {value:.6g} {one.units[name]}")
        n = len(one.states)
        feedback = None if one.K is None else one.K[:, :n].T
        kinds = (("feedback", feedback, one.regulator_poles), ("observer", one.L, one.observer_poles))
        for what, gains, poles in kinds:
            if gains is None or poles is None:
                continue
            rows = [(f"    {name}", *row) for name, row in zip(one.states, gains.tolist(), strict=True)]
            parts.append(Table((f"  {what}", *[""] * gains.shape[1]), rows, ".6g"))
            parts.append(f"    poles [1/s]: {', '.join(_describe_pole(pole) for pole in poles)}")
    return Display("State controllers", parts)


def _describe_pole(pole: Sequence[float | None]) -> str:
    """A pole of a sampled design in continuous time; what is gone after one sample has none."""
    real, imaginary = pole
    if real is None:
        return "-inf"
    return f"{real:.4g}{imaginary:+.4g}j" if imaginary else f"{real:.4g}"
