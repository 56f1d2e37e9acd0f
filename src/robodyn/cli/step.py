"""robodyn step: how does a signal answer a step? Overshoot, rise and settling time, of linear models and of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import drawing
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.loops import PLACES, tell_notes
from robodyn.cli.targets import load_run, load_single, refuse_other

if TYPE_CHECKING:
    from robodyn.analysis.linear.responses import TimeResponse

HEAD = ("start", "final", "overshoot [%]", "peak [s]", "rise [s]", "settled [s]")
FIGURES = ("overshoot", "peak", "rise", "settled")


@app.command("step")
def step(
    what: Annotated[list[str], typer.Argument(help="Scenarios, or run files; several are overlaid.")],
    answer: Annotated[str, typer.Option(help="Signal that answers.")],
    target: Annotated[
        str | None,
        typer.Option(help="Scenarios: held signal (or, nothing being sampled, number) that jumps by --height."),
    ] = None,
    height: Annotated[float | None, typer.Option(help="Of the jump, in SI; 1 by default.")] = None,
    duration: Annotated[float | None, typer.Option(help="How long to look [s]; default: until settled.")] = None,
    when: Annotated[float | None, typer.Option(help="Runs: time of the step [s]; 0 by default.")] = None,
    within: Annotated[float, typer.Option(help="Settled within this part of the step.")] = 0.02,
    at: Annotated[str, typer.Option(help="Scenarios: where to linearise, start or equilibrium.")] = "start",
    friction: Annotated[str, typer.Option(help="none, stuck or sliding.")] = "none",
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number in all: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the answers into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Step responses, exact from tick to tick where something is sampled; of run files what was simulated."""
    refuse_other("--at", at, PLACES)
    if not 0 < within < 1:
        raise fail(f"--within {within:g}: must be between 0 and 1")
    linear = [not one.endswith(".run") for one in what]
    if when is not None and all(linear):
        raise fail("--when: has no effect without a run file")
    for option, given in (("target", target), ("height", height), ("duration", duration), ("set", setting)):
        if given and not any(linear):
            raise fail(f"--{option}: has no effect on run files")
    options = {"height": 1.0 if height is None else height, "duration": duration, "at": at, "friction": friction}
    found = [_answer(one, answer, target, options, when or 0.0, setting) for one in what]
    names = [Path(one).stem for one in what]
    rows = [_figures(name, *pair, within, model) for name, pair, model in zip(names, found, linear, strict=True)]
    if plot is not None:
        from robodyn.presentation.reporting.step_response import plot_responses

        with drawing(f"--plot {plot}"):
            plot_responses([response for response, _ in found], plot, labels=names)
    if as_json:
        curves = [{"time": r.time.tolist(), "values": r.values.tolist()} for r, _ in found]
        print_json({"answer": answer, "responses": [row | kept for row, kept in zip(rows, curves, strict=True)]})
        return
    output.print(f"{'':<24} " + " ".join(f"{head:>13}" for head in HEAD))
    for row in rows:
        numbers = [row["start"], row["final"], 100 * row["overshoot"], row["peak"], row["rise"], row["settled"]]
        cells = " ".join(f"{number:>13.5g}" if number == number else f"{'-':>13}" for number in numbers)
        output.print(f"{row['name']:<24} {cells}")


def _answer(
    source: str, answer: str, target: str | None, options: dict[str, Any], when: float, settings: list[str] | None
) -> tuple[TimeResponse, float]:
    """The answer and the time of the step."""
    if source.endswith(".run"):
        return _of_run(source, answer), when
    from robodyn.analysis.linear.linearisation import linearise
    from robodyn.analysis.linear.loop_gain import respond_held_step
    from robodyn.analysis.linear.responses import choose_times, respond_to_step
    from robodyn.analysis.linear.sampling import linearise_sampled
    from robodyn.computation.assembly import assemble

    if target is None:
        raise fail(f"--target: say what jumps in {source}")
    system = assemble(load_single(source, settings))
    if system.discrete.tasks:
        sampled = linearise_sampled(system, options["at"], outputs=[answer], friction=options["friction"])
        tell_notes(sampled.notes)
        return respond_held_step(sampled, target, answer, options["duration"], options["height"]), 0.0
    if options["friction"] != "none":
        raise fail(f"--friction {options['friction']}: has no effect, nothing is sampled in {source}")
    import numpy as np

    model = linearise(system, options["at"], [target], [answer])
    tell_notes(model.notes)
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


def _figures(name: str, response: TimeResponse, when: float, within: float, linear: bool) -> dict[str, Any]:
    """Of a linear model from rest, levels are known; of a run they are its values at the step and at its end."""
    from robodyn.analysis.step_response import measure_step

    none = float("nan")
    if linear and not abs(response.settled) > 0:
        # It goes back to where it was, or nowhere: that is no step of it.
        return {"name": name, "start": 0.0, "final": response.settled} | dict.fromkeys(FIGURES, none)
    levels = {"start": 0.0, "final": response.settled} if linear else {}
    found = measure_step(response.signal, when, **levels)
    overshoot = max(found.overshoot, 0.0) if found.peaks else 0.0
    peak = found.peaks[0].time if found.peaks else none
    numbers = (overshoot, peak, found.rise_time(), found.settling_time(within))
    return {"name": name, "start": found.start, "final": found.final} | dict(zip(FIGURES, numbers, strict=True))
