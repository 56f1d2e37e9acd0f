"""robodyn bode: how strong and how late is a loop, open and closed, over frequency?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.loops import FRICTION_HELP, PLACES, draw_table, loop_as_json, print_loops, read_loops, tell_notes
from robodyn.cli.targets import load_single, read_data, refuse_other

if TYPE_CHECKING:
    from robodyn.analysis.linear.frequency import FrequencyResponse
    from robodyn.analysis.linear.linear_model import LinearModel
    from robodyn.analysis.linear.loop_table import LoopTable
    from robodyn.computation.assembly import System


@app.command("bode")
def bode(
    scenarios: Annotated[
        list[str], typer.Argument(help="Names in the catalogue, or TOML files; several are overlaid.")
    ],
    loop: Annotated[
        list[str] | None,
        typer.Option(help="SIGNAL or SIGNAL:TARGET:ANSWER, where a loop is cut; default: all."),
    ] = None,
    input: Annotated[str | None, typer.Option(help="Number that is varied, for continuous machines.")] = None,
    output_signal: Annotated[str | None, typer.Option("--output", help="Signal that follows it.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Run or measurement: response of --output to --of, coherence and confidence.")
    ] = None,
    of: Annotated[str | None, typer.Option(help="With --data: signal that --output follows.")] = None,
    reference: Annotated[str | None, typer.Option(help="With --data: signal that excites a loop.")] = None,
    at: Annotated[str, typer.Option(help="Where to linearise: start or equilibrium.")] = "start",
    friction: Annotated[str | None, typer.Option(help=FRICTION_HELP)] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number in all: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw dB and degrees into this file, margins marked.")] = None,
    nyquist: Annotated[Path | None, typer.Option(help="Draw the loops in the complex plane into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print frequencies, dB and degrees as JSON.")] = False,
) -> None:
    """Open and closed loop over frequency, in dB and degrees, of control loops or from a number to a signal."""
    refuse_other("--at", at, PLACES)
    if data is not None or of is not None or reference is not None:
        if data is None or of is None or output_signal is None or len(scenarios) != 1:
            raise fail("--data, --of and --output go together, with one scenario")
        _show_measured(scenarios[0], setting, data, of, output_signal, input, reference, at, plot, as_json)
        return
    if (input is None) != (output_signal is None):
        raise fail("--input and --output: give both or neither")
    systems = [_assemble(source, setting) for source in scenarios]
    names = [Path(source).stem for source in scenarios]
    if input is not None and output_signal is not None:
        if nyquist is not None or loop or friction is not None:
            raise fail("--loop, --nyquist and --friction: have no effect with --input")
        _show_channel(systems, names, input, output_signal, at, plot, as_json)
        return
    tables = [_cut(system, loop or [], at, friction) for system in systems]
    table, notes = _overlay(tables, names), _unique([table.model.notes for table in tables])
    draw_table(table, plot, nyquist)
    if as_json:
        rows = [loop_as_json(row) | {"open": curve(row.gain), "closed": curve(row.closed)} for row in table.rows]
        print_json({"notes": notes, "loops": rows})
        return
    tell_notes(notes)
    print_loops(table.rows)


def _assemble(source: str, settings: list[str] | None) -> System:
    from robodyn.computation.assembly import assemble

    return assemble(load_single(source, settings))


def _cut(system: System, loops: list[str], at: str, friction: str | None) -> LoopTable:
    from robodyn.analysis.linear.loop_table import loop_table

    return loop_table(system, read_loops(loops, []), at=at, friction=friction)


def _overlay(tables: list[LoopTable], names: list[str]) -> LoopTable:
    """All loops in one table, with the scenario's name where there are several."""
    from dataclasses import replace

    if len(tables) == 1:
        return tables[0]
    rows = [
        replace(row, name=f"{name}: {row.name}")
        for table, name in zip(tables, names, strict=True)
        for row in table.rows
    ]
    return replace(tables[0], rows=tuple(rows))


def _unique(notes: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(note for one in notes for note in one))


def _show_channel(
    systems: list[System], names: list[str], input: str, signal: str, at: str, plot: Path | None, as_json: bool
) -> None:
    from robodyn.analysis.linear.frequency import choose_frequencies, respond
    from robodyn.analysis.linear.linearisation import linearise

    models: list[LinearModel] = [linearise(system, at, [input], [signal]) for system in systems]
    notes = _unique([model.notes for model in models])
    labels = names if len(names) > 1 else None
    draw("--plot", plot, lambda reporting, path: reporting.plot_frequency(models, path, labels=labels))
    grid = choose_frequencies(models)
    found = [respond(model, frequency=grid) for model in models]
    if as_json:
        rows = [{"name": name} | curve(response) for name, response in zip(names, found, strict=True)]
        print_json({"notes": notes, "input": input, "output": signal, "responses": rows})
        return
    tell_notes(notes)
    output.print(f"{'scenario':<24} {'low':>12} {'peak':>12} {'at [Hz]':>10}  dB")
    for name, response in zip(names, found, strict=True):
        size = response.decibel
        k = int(size.argmax())
        numbers = f"{size[0]:>12.4g} {size[k]:>12.4g} {response.frequency[k]:>10.4g}"
        output.print(f"{name:<24} {numbers}")


def _show_measured(
    source: str,
    settings: list[str] | None,
    data: Path,
    of: str,
    signal: str,
    input: str | None,
    reference: str | None,
    at: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    """A measured response, beside the model's exact one where a number of the model moves both signals."""
    from robodyn.analysis.linear.linearisation import linearise
    from robodyn.analysis.measurement.responses import estimate_response, respond_between

    found = estimate_response(read_data(data), of, signal, reference=reference)
    exact = None
    if input is not None:
        model = linearise(_assemble(source, settings), at, [input], [of, signal])
        exact = respond_between(model, input, of, signal, found.frequency)
    draw("--plot", plot, lambda reporting, path: reporting.plot_measured(found, exact, path))
    if as_json:
        measured = {"coherence": found.coherence.tolist(), "deviation": found.deviation.tolist()}
        model_curve = None if exact is None else curve(exact)
        print_json({"input": of, "output": signal, "measured": curve(found) | measured, "model": model_curve})
        return
    head = f"{'frequency [Hz]':>14} {'dB':>9} {'deg':>9} {'coherence':>10} {'+- %':>8}  model dB, deg"
    output.print(head)
    for k in range(0, len(found.frequency), max(len(found.frequency) // 24, 1)):
        numbers = f"{found.decibel[k]:>9.3f} {found.phase[k]:>9.2f} {found.coherence[k]:>10.4f}"
        beside = "" if exact is None else f"{exact.decibel[k]:>9.3f} {exact.phase[k]:>9.2f}"
        width = f"{100 * 1.96 * found.deviation[k]:>8.2f}"
        output.print(f"{found.frequency[k]:>14.4g} {numbers} {width}  {beside}".rstrip())


def curve(response: FrequencyResponse) -> dict[str, Any]:
    """A response as plain lists."""
    frequency, phase = response.frequency.tolist(), response.phase.tolist()
    return {"frequency": frequency, "magnitude_db": response.decibel.tolist(), "phase_deg": phase}
