"""robodyn move: a dressed robot whose joints or tool go somewhere, checked before it runs, as a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_single, read_pairs
from robodyn.errors import Flaw, ModelError

if TYPE_CHECKING:
    from robodyn.commissioning import Move
    from robodyn.files.writing import PathTables
    from robodyn.model import Scenario
    from robodyn.paths import CartesianPath

TURNS = ("rx", "ry", "rz")
"""How a tool of fewer than six joints may turn on its way."""


@app.command("move")
def move_robot(
    robot: Annotated[str, typer.Argument(help="TOML file of a dressed robot.")],
    to: Annotated[list[str] | None, typer.Option(help='Where a joint goes: joint="30 deg".')] = None,
    line: Annotated[str | None, typer.Option(help="How far the tool goes, straight: dx,dy,dz [m].")] = None,
    tool: Annotated[str | None, typer.Option(help="Point that goes along the line.")] = None,
    speed: Annotated[float, typer.Option(help="Share of the joints' speed limits, or of the tool in m/s.")] = 0.5,
    begin: Annotated[float, typer.Option(help="When it starts [s].")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="TOML file to write; it must not be there yet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move joints, or a tool along a line; everything that hinders it is reported before anything runs."""
    from robodyn.commissioning import line_from, move
    from robodyn.files import write_scenario

    if out is not None and out.exists():
        raise fail(f"--out {out}: is there already; name another file, or remove it")
    what = load_single(robot)
    along = None if line is None else line_from(what, _read_line(line), tool)
    free: dict[str, Any] = {} if along is None or along.orientation else {"free": TURNS}
    found = move(what, _read_places(to, what) if to else None, along=along, tool=tool, speed=speed, begin=begin, **free)
    if out is not None and found.scenario is not None:
        write_scenario(found.scenario, out, _path_tables(found, along) if along else None)
    if as_json:
        print_json({"duration": found.duration, "joints": _greatest(found)})
        return
    output.print(f"ends at {found.duration:.4g} s; largest values:", markup=False)
    width = max(len(name) for name in found.joints)
    for name, values in _greatest(found).items():
        shown = "".join(f"   {key} {value:8.4g}" for key, value in values.items())
        output.print(f"  {name:<{width}}{shown}", markup=False)
    if out is not None:
        output.print(f"wrote {out}; run it with: robodyn run {out}", markup=False)


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
    from robodyn.files.units import read_quantity
    from robodyn.units import UnitError

    units, places, flaws = what.state_units(), {}, []
    for name, text in read_pairs(pairs).items():
        try:
            places[name] = read_quantity(text, units.get(f"{name}.position", ""), bare=True)
        except UnitError as error:
            flaws.append(Flaw(f"--to {name}={text}", str(error)))
    if flaws:
        raise ModelError(flaws)
    return places


def _path_tables(found: Move, along: CartesianPath) -> PathTables:
    """The line as a table of a file, and the blocks that reading it makes."""
    from robodyn.paths import Line

    reference, path, piece = found.blocks[0], found.path, along.pieces[0]
    assert path is not None
    assert isinstance(piece, Line)
    measured = next((block.inputs["positions"] for block in found.blocks if "positions" in block.inputs), ())
    table = {
        "kind": "line",
        "point": path.point,
        "start": piece.start,
        "end": piece.end,
        **({"orientation": {"rotation": along.orientation.start}} if along.orientation else {"free": list(TURNS)}),
        **reference.parameters,
        "near": path.position[0].tolist(),
        "deviation": True,
        **({"measured": list(measured)} if measured else {}),
    }
    return {reference.name: (table, [block.name for block in found.blocks])}


def _greatest(found: Move) -> dict[str, dict[str, float]]:
    """Largest speed, acceleration and effort of each joint, in rad or m, N m or N."""
    columns = {"speed": found.velocity, "acceleration": found.acceleration, "effort": found.effort}
    return {
        name: {key: float(abs(values[:, k]).max()) for key, values in columns.items()}
        for k, name in enumerate(found.joints)
    }
