"""robodyn modes: at which frequencies does a machine vibrate, how damped, and what moves?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import ModelError
from robodyn.cli.answers import draw, drawing
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.loops import tell_notes
from robodyn.cli.targets import load_single, refuse_other

if TYPE_CHECKING:
    from robodyn.analysis.linear.modes import Mode, ModeSet
    from robodyn.computation.assembly import System

FRICTION = ("kept", "none")
PLACES = ("equilibrium", "start")


@app.command("modes")
def show_modes(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    at: Annotated[str, typer.Option(help="Where to linearise: equilibrium or start.")] = "equilibrium",
    pade: Annotated[int, typer.Option(help="Order of the approximations that find the poles of delays.")] = 8,
    friction: Annotated[str, typer.Option(help="kept (as it is there) or none.")] = "kept",
    hold: Annotated[
        list[str] | None,
        typer.Option(help="Outputs of blocks that stay as they are there, such as '*.control.current'."),
    ] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the shapes into this file (.png, .svg, .pdf).")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page on which the shapes swing.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Linearise a scenario and print its modes: frequency, damping, and the states that take most part."""
    from robodyn.analysis.linear.modes import find_modes
    from robodyn.computation.assembly import assemble

    refuse_other("--at", at, PLACES)
    refuse_other("--friction", friction, FRICTION)
    if pade < 0:
        raise fail(f"--pade {pade}: must not be negative")
    system = assemble(load_single(scenario, setting))
    try:
        found = find_modes(system, at=at, pade=pade, friction=friction, hold=hold or ())
    except ModelError:
        if at == "equilibrium":
            messages.print("robodyn: note: --at start linearises where the scenario begins")
        raise
    draw("--plot", plot, lambda reporting, path: reporting.plot_modes(found, path))
    if html is not None:
        _animate(found, system, html)
    if as_json:
        print_json({"notes": list(found.model.notes), "modes": [_as_json(mode, mode in found.free) for mode in found]})
        return
    tell_notes(found.model.notes)
    output.print(f"{'frequency [Hz]':>14}  {'damping':>8}  {'time const. [s]':>15}  states")
    for mode in found:
        output.print(_row(mode, mode in found.free))


def _animate(found: ModeSet, system: System, path: Path) -> None:
    from robodyn.analysis.linear.vibration import animate_modes
    from robodyn.presentation.pages import write_modes

    with drawing(f"--html {path}"):
        write_modes(animate_modes(found, system), path)


def _row(mode: Mode, free: bool) -> str:
    shares = ", ".join(f"{name} {100 * mode.participation[name]:.0f} %" for name in mode.dominant())
    if free and not mode.of_method:
        # Several poles at zero share their states: the shape says what moves.
        moves = ", ".join(name for name, size in mode.shape.items() if abs(size) > 0.1)
        return f"{'0':>14}  {'-':>8}  {'inf':>15}  free motion: {moves}"
    # What rounding leaves of zero is zero.
    damping = mode.damping if abs(mode.damping) > 1e-12 else abs(mode.damping) * 0
    constant = mode.time_constant if abs(mode.damping) > 1e-12 else float("inf")
    # Errors of constraints decay in it, nothing of the machine moves by itself.
    shares = f"constraint method: {shares}" if mode.of_method else shares
    return f"{mode.frequency:>14.6g}  {damping:>8.4f}  {constant:>15.6g}  {shares}"


def _as_json(mode: Mode, free: bool) -> dict[str, Any]:
    return {
        "free": free,
        "of_method": mode.of_method,
        "frequency": mode.frequency,
        "damping": mode.damping,
        "time_constant": mode.time_constant,
        "pole": [mode.pole.real, mode.pole.imag],
        "participation": dict(mode.participation),
    }
