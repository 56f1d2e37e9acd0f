"""robodyn step: how does a signal answer a step? Overshoot, rise and settling time, of linear models and of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.drawing import drawing
from robodyn.cli.loops import PLACES
from robodyn.cli.targets import load_run, load_single, read_settings
from robodyn.errors import ModelError

if TYPE_CHECKING:
    from robodyn.analysis.linear.responses import TimeResponse
    from robodyn.analysis.step_response import StepResponse

HEAD = ("start", "final", "overshoot [%]", "peak [s]", "rise [s]", "settled [s]")


@app.command("step")
def step(
    what: Annotated[list[str], typer.Argument(help="Scenarios, or run files; several are overlaid.")],
    answer: Annotated[str, typer.Option(help="Signal that answers.")],
    target: Annotated[
        str | None,
        typer.Option(help="Scenarios: held signal (or, nothing being sampled, number) that jumps by --height."),
    ] = None,
    height: Annotated[float, typer.Option(help="Of the jump, in SI.")] = 1.0,
    duration: Annotated[float | None, typer.Option(help="How long to look [s]; default: until settled.")] = None,
    when: Annotated[float, typer.Option(help="Runs: time of the step [s].")] = 0.0,
    within: Annotated[float, typer.Option(help="Settled within this part of the step.")] = 0.02,
    at: Annotated[str, typer.Option(help="Scenarios: where to linearise, start or equilibrium.")] = "start",
    friction: Annotated[str, typer.Option(help="none, stuck or sliding.")] = "none",
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number in all: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the answers into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Step responses, exact from tick to tick where something is sampled; of run files what was simulated."""
    if at not in PLACES:
        raise fail(f"--at {at}: must be {' or '.join(PLACES)}")
    if not 0 < within < 1:
        raise fail(f"--within {within:g}: must be between 0 and 1")
    options = {"height": height, "duration": duration, "at": at, "friction": friction}
    found = [_answer(one, answer, target, options, when, setting or []) for one in what]
    names = [Path(one).stem for one in what]
    rows = [_figures(name, *pair, within) for name, pair in zip(names, found, strict=True)]
    if plot is not None:
        from robodyn.reporting.step_response import plot_responses

        with drawing(f"--plot {plot}"):
            plot_responses([response for response, _ in found], plot, labels=names)
    if as_json:
        curves = [{"time": r.time.tolist(), "values": r.values.tolist()} for r, _ in found]
        print_json({"answer": answer, "responses": [row | kept for row, kept in zip(rows, curves, strict=True)]})
        return
    output.print(f"{'':<24} " + " ".join(f"{head:>13}" for head in HEAD), markup=False)
    for row in rows:
        numbers = [row["start"], row["final"], 100 * row["overshoot"], row["peak"], row["rise"], row["settled"]]
        cells = " ".join(f"{number:>13.5g}" if number == number else f"{'-':>13}" for number in numbers)
        output.print(f"{row['name']:<24} {cells}", markup=False)


def _answer(
    source: str, answer: str, target: str | None, options: dict[str, Any], when: float, settings: list[str]
) -> tuple[TimeResponse, float]:
    """The answer and the time of the step."""
    if source.endswith(".run"):
        return _of_run(source, answer), when
    from robodyn.analysis.linear.linearisation import linearise
    from robodyn.analysis.linear.loop_step import respond_held_step
    from robodyn.analysis.linear.responses import choose_times, respond_to_step
    from robodyn.analysis.linear.sampling import linearise_sampled
    from robodyn.assembly import assemble

    if target is None:
        raise fail(f"--target: say what jumps in {source}")
    scenario = load_single(source)
    system = assemble(scenario.with_numbers(read_settings(settings, scenario, source)))
    if system.discrete.tasks:
        sampled = linearise_sampled(system, options["at"], outputs=[answer], friction=options["friction"])
        return respond_held_step(sampled, target, answer, options["duration"], options["height"]), 0.0
    import numpy as np

    model = linearise(system, options["at"], [target], [answer])
    times = choose_times(model) if options["duration"] is None else np.linspace(0, options["duration"], 1001)
    return respond_to_step(model, time=times, height=options["height"]), 0.0


def _of_run(path: str, answer: str) -> TimeResponse:
    import numpy as np

    from robodyn.analysis.linear.linear_model import Variable
    from robodyn.analysis.linear.responses import TimeResponse

    run = load_run(path)
    try:
        signal = run[answer]
    except KeyError as error:
        raise fail(f"--answer {answer}: {error.args[0]}") from error
    variable = Variable(answer, signal.unit)
    return TimeResponse(Variable("step"), variable, signal.time, np.ones(signal.time.size), signal.values)


def _figures(name: str, response: TimeResponse, when: float, within: float) -> dict[str, Any]:
    from robodyn.analysis.step_response import measure_step

    found = measure_step(response.signal, when)
    return {
        "name": name,
        "start": found.start,
        "final": found.final,
        "overshoot": _or_zero(found),
        "peak": found.peaks[0].time if found.peaks else float("nan"),
        "rise": found.rise_time(),
        "settled": found.settling_time(within),
    }


def _or_zero(found: StepResponse) -> float:
    """No peak at all is no overshoot."""
    try:
        return max(found.overshoot, 0.0)
    except ModelError:
        return 0.0
