"""robodyn loops: which bandwidth and margins does each control loop have, and is any of them unstable?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import load_single, refuse_other

if TYPE_CHECKING:
    from robodyn.analysis.linear.loop_table import Loop, LoopFigures, LoopTable

HEAD = ("crossover [Hz]", "bandwidth [Hz]", "gain from", "to", "phase [deg]", "delay [ms]")
PLACES = ("start", "equilibrium")
FRICTION_HELP = "none (of sampled loops the default), stuck, or sliding: without what is dry (of continuous ones)."


@app.command("loops")
def show_loops(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    loop: Annotated[
        list[str] | None,
        typer.Option(help="SIGNAL, or SIGNAL:TARGET:ANSWER: where to cut, and whose bandwidth; default: all loops."),
    ] = None,
    cut: Annotated[list[str] | None, typer.Option(help="Output of an outer loop that is zero meanwhile.")] = None,
    at: Annotated[str, typer.Option(help="Where to linearise: start or equilibrium.")] = "start",
    friction: Annotated[str | None, typer.Option(help=FRICTION_HELP)] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the gains over frequency into this file.")] = None,
    nyquist: Annotated[Path | None, typer.Option(help="Draw the gains in the complex plane into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Cut each loop at a controller's output and print what it bears, all others closed, delays exact."""
    from robodyn.analysis.linear.loop_check import check_loops
    from robodyn.analysis.linear.loop_table import loop_table
    from robodyn.computation.assembly import assemble

    refuse_other("--at", at, PLACES)
    system = assemble(load_single(scenario, setting))
    table = loop_table(system, read_loops(loop or [], cut or []), at=at, friction=friction)
    judged = friction if system.discrete.tasks else friction or "sliding"
    found = [finding.sentence for finding in check_loops(system, at=at, friction=judged)]
    draw_table(table, plot, nyquist)
    if as_json:
        rows = [loop_as_json(row) for row in table.rows]
        print_json({"notes": list(table.model.notes), "warnings": found, "loops": rows})
        return
    warn(found)
    tell_notes(table.model.notes)
    print_loops(table.rows)


def tell_notes(sentences: Sequence[str]) -> None:
    """Print on stderr what a linear model leaves out."""
    for sentence in sentences:
        messages.print(f"robodyn: note: {sentence}")


def warn(sentences: Sequence[str]) -> None:
    """Print warnings on stderr."""
    for sentence in sentences:
        messages.print(f"robodyn: warning: {sentence}")


def read_loops(texts: list[str], cut: list[str]) -> dict[str, Loop] | None:
    """Loops given as SIGNAL or SIGNAL:TARGET:ANSWER; None where there are none."""
    from robodyn.analysis.linear.loop_table import Loop

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
        loops[text] = Loop(parts[0], target, answer, tuple(cut))
    return loops or None


def draw_table(table: LoopTable, plot: Path | None, nyquist: Path | None) -> None:
    """Bode and Nyquist plots, where they are asked for."""
    draw("--plot", plot, lambda reporting, path: reporting.plot_loops(table, path))
    draw("--nyquist", nyquist, lambda reporting, path: reporting.plot_nyquist(table, path))


def print_loops(rows: Sequence[LoopFigures]) -> None:
    """The table of loops."""
    width = max((len(row.name) for row in rows), default=4)
    widths = [max(len(head), 8) for head in HEAD]
    heads = [f"{head:>{wide}}" for head, wide in zip(HEAD, widths, strict=True)]
    output.print("  ".join([f"{'loop':<{width}}", *heads]))
    for row in rows:
        m = row.margins
        numbers = (row.crossover, row.bandwidth, m.gain_from, m.gain_to, m.phase, 1e3 * m.delay)
        cells = [f"{_describe(value):>{wide}}" for value, wide in zip(numbers, widths, strict=True)]
        output.print("  ".join([f"{row.name:<{width}}", *cells]) + ("" if m.stable else "  unstable"))


def _describe(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def loop_as_json(row: LoopFigures) -> dict[str, Any]:
    """Crossover, bandwidth and margins of a loop."""
    message = {"name": row.name, "crossover": row.crossover, "bandwidth": row.bandwidth}
    return message | asdict(row.margins)
