"""robodyn move: a dressed robot whose joints or tool go somewhere, checked before it runs, as a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.answers import drawing
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_single, read_pairs

if TYPE_CHECKING:
    from robodyn.analysis.commissioning import FastMove, Move
    from robodyn.description.model import Scenario
    from robodyn.description.paths import CartesianPath

TURNS = ("rx", "ry", "rz")
"""How a tool of fewer than six joints may turn on its way."""


@app.command("move")
def move_robot(
    robot: Annotated[str, typer.Argument(help="TOML file of a dressed robot.")],
    to: Annotated[list[str] | None, typer.Option(help='Where a joint goes: joint="30 deg".')] = None,
    line: Annotated[str | None, typer.Option(help="How far the tool goes, straight: dx,dy,dz [m].")] = None,
    cube: Annotated[
        float | None, typer.Option(help="Side [m] of a cube about the tool, whose five poses of ISO 9283 it visits.")
    ] = None,
    plane: Annotated[str | None, typer.Option(help="Of the poses: rises or falls, x+ (default), x-, y+, y-.")] = None,
    pause: Annotated[float | None, typer.Option(help="At each pose [s]; 0.5 by default.")] = None,
    tool: Annotated[str | None, typer.Option(help="Point that goes along the line or to the poses.")] = None,
    speed: Annotated[
        float | None, typer.Option(help="Share of the joints' speed limits, or of the tool in m/s; 0.5 by default.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="In the least time that all limits allow.")] = False,
    share: Annotated[float | None, typer.Option(help="Of the limits that --fast may use; 1 by default.")] = None,
    jerk: Annotated[float | None, typer.Option(help="Limit of --fast along the line [m/s^3].")] = None,
    begin: Annotated[float, typer.Option(help="When it starts [s].")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="TOML file to write; it must not be there yet.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw speed and efforts of --fast into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move joints, or a tool along a line or to poses; what hinders it is reported before anything runs."""
    from robodyn.description.files import write_scenario

    if out is not None and out.exists():
        raise fail(f"--out {out}: is there already; name another file, or remove it")
    if sum(given is not None for given in (to, line, cube)) != 1:
        raise fail("--to, --line and --cube: give one of them, positions of joints or a way of the tool")
    _refuse_unused(cube is not None, "--cube", {"--plane": plane, "--pause": pause})
    _refuse_unused(fast, "--fast", {"--share": share, "--jerk": jerk, "--plot": plot})
    _refuse_unused(line is not None, "--line", {"--fast": fast or None})
    what = load_single(robot)
    along = _read_path(what, line, cube, plane or "x+", tool)
    free: dict[str, Any] = {} if along is None or along.orientation else {"free": TURNS}
    if fast:
        assert along is not None
        found: Move = _move_fast(what, along, tool, speed, share, jerk, begin, plot, free)
    else:
        from robodyn.analysis.commissioning import move

        rests: dict[str, Any] = {"pause": 0.5 if pause is None else pause} if cube is not None else {}
        places = _read_places(to, what) if to else None
        options: dict[str, Any] = {"speed": 0.5 if speed is None else speed, "begin": begin}
        found = move(what, places, along=along, tool=tool, **options, **rests, **free)
    if out is not None and found.scenario is not None:
        write_scenario(found.scenario, out)
    if as_json:
        print_json({"duration": found.duration, **_fast_figures(found), "joints": _greatest(found)})
        return
    _print(found)
    if out is not None:
        output.print(f"wrote {out}; run it with: robodyn run {out}")


def _refuse_unused(used: bool, by: str, options: dict[str, Any]) -> None:
    for option, value in options.items():
        if value is not None and not used:
            raise fail(f"{option}: has no effect without {by}")


def _read_path(
    what: Scenario, line: str | None, cube: float | None, plane: str, tool: str | None
) -> CartesianPath | None:
    from robodyn.analysis.commissioning import cube_path, line_from

    if line is not None:
        return line_from(what, _read_line(line), tool)
    return None if cube is None else cube_path(what, cube, tool, plane)


def _move_fast(
    what: Scenario,
    along: CartesianPath,
    tool: str | None,
    speed: float | None,
    share: float | None,
    jerk: float | None,
    begin: float,
    plot: Path | None,
    free: dict[str, Any],
) -> FastMove:
    from robodyn.analysis.commissioning import move_fast

    given = {"top_speed": speed, "share": share, "jerk": jerk}
    limits: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    found = move_fast(what, along, tool=tool, begin=begin, **limits, **free)
    if plot is not None:
        from robodyn.presentation.reporting.fast_path import plot_fast_move

        with drawing(f"--plot {plot}"):
            plot_fast_move(found, plot)
    return found


def _fast_figures(found: Move) -> dict[str, float]:
    """Beside the duration of a fast move: the fastest trapezoid's, and the largest share of any limit."""
    from robodyn.analysis.commissioning import FastMove

    if not isinstance(found, FastMove):
        return {}
    return {"trapezoid": float(found.time[0]) + found.trapezoid, "use": float(found.use.max())}


def _print(found: Move) -> None:
    output.print(f"ends at {found.duration:.4g} s; largest values:")
    width = max(len(name) for name in found.joints)
    for name, values in _greatest(found).items():
        shown = "".join(f"   {key} {value:8.4g}" for key, value in values.items())
        output.print(f"  {name:<{width}}{shown}")
    if fast := _fast_figures(found):
        begin = float(found.time[0])
        longer = 100 * ((fast["trapezoid"] - begin) / (found.duration - begin) - 1)
        rival = f"the fastest trapezoid within the same limits ends at {fast['trapezoid']:.4g} s, {longer:.3g} % longer"
        output.print(f"{rival}; at most {100 * fast['use']:.4g} % of a limit is used")


def _read_line(text: str) -> list[float]:
    try:
        by = [float(part) for part in text.split(",")]
    except ValueError:
        by = []
    if len(by) != 3:
        raise ModelError([Flaw(f"--line {text}", "must be three numbers, dx,dy,dz [m]", "--line 0,0.5,0")])
    return by


def _read_places(pairs: list[str], what: Scenario) -> dict[str, float]:
    """Positions of joints, with units where wished; who moves them says which joints there are."""
    from robodyn.description.files.units import read_quantity

    units = what.state_units()
    return read_pairs("to", pairs, lambda name, text: read_quantity(text, units.get(f"{name}.position", ""), bare=True))


def _greatest(found: Move) -> dict[str, dict[str, float]]:
    """Largest speed, acceleration and effort of each joint, in rad or m, N m or N."""
    columns = {"speed": found.velocity, "acceleration": found.acceleration, "effort": found.effort}
    return {
        name: {key: float(abs(values[:, k]).max()) for key, values in columns.items()}
        for k, name in enumerate(found.joints)
    }
