"""robodyn dress: a robot's file with drives, friction, encoders and tuned loops added, as a TOML file to edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_single
from robodyn.description.model import Body

if TYPE_CHECKING:
    from robodyn.analysis.commissioning import Dressed
    from robodyn.description.model import Machine


@app.command("dress")
def dress_robot(
    robot: Annotated[str, typer.Argument(help="TOML file with a mechanism, or a name of the catalogue.")],
    drives: Annotated[
        str, typer.Option(help="strain-wave, planetary or ball-screw; or a TOML file with [all] and [JOINT] tables.")
    ] = "strain-wave",
    control: Annotated[
        str, typer.Option(help="cascade, computed-torque, or a TOML file with an [all] table.")
    ] = "cascade",
    joint: Annotated[
        list[str] | None, typer.Option(help="Joints to dress (patterns); default: all that nothing drives.")
    ] = None,
    payload: Annotated[str | None, typer.Option(help='Mass that the robot carries at a point, "2 kg".')] = None,
    tool: Annotated[str | None, typer.Option(help="Point that carries it.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help='Change a number: name=value; initial.JOINT.position="30 deg".')
    ] = None,
    out: Annotated[Path | None, typer.Option(help="TOML file to write; it must not be there yet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Add a drive, friction, an encoder and tuned loops to joints; print what was assumed, and from which source."""
    from robodyn.analysis.commissioning import dress
    from robodyn.analysis.commissioning.summary import dressing_table
    from robodyn.description.files import write_scenario

    if out is not None and out.exists():
        raise fail(f"--out {out}: is there already; name another file, or remove it")
    bare = load_single(robot, setting)
    start = {name.removesuffix(".position"): q for name, q in bare.initial.items() if name.endswith(".position")}
    machine = _with_payload(bare.machine, payload, tool) if payload or tool else bare.machine
    found = dress(machine, drives, control, joint, start=start, duration=bare.duration)
    if out is not None:
        write_scenario(found.scenario, out)
    if as_json:
        print_json(_as_json(found))
        return
    for line in dressing_table(found):
        output.print(line)
    if out is not None:
        output.print(f"\nwrote {out}; run it with: robodyn run {out}")


def _with_payload(machine: Machine, payload: str | None, tool: str | None) -> Machine:
    """A mass `payload` at a point; an error budget knows it by this name."""
    from robodyn.base.units import UnitError
    from robodyn.description.files.units import read_quantity

    points = machine.mechanism.points if machine.mechanism else ()
    chosen = [point for point in points if point.name == tool] if tool else list(points)
    if not payload or len(chosen) != 1 or not machine.mechanism:
        names = ", ".join(point.name for point in points) or "none"
        raise ModelError([Flaw("--payload", "needs a mass, and --tool the point that carries it", f"points: {names}")])
    try:
        mass = read_quantity(payload, "kg", bare=True)
    except UnitError as error:
        raise ModelError([Flaw(f"--payload {payload}", str(error))]) from error
    loaded = machine.mechanism.with_payload(Body("payload", mass), chosen[0].body, chosen[0].origin)
    return replace(machine, mechanism=loaded)


def _as_json(found: Dressed) -> dict[str, object]:
    joints = {
        part.axis.name: {
            "family": part.axis.sized.family,
            "size": part.axis.sized.size,
            "scale": part.axis.sized.scale,
            "inertia": [part.least_inertia, part.most_inertia],
            "gains": vars(part.gains),
            "phase_margin": part.margins.phase,
            "gain_margin": part.margins.gain,
            "numbers": {key: vars(number) for key, number in part.axis.sized.numbers.items()},
        }
        for part in found.axes
    }
    return {"joints": joints, "undressed": dict(found.undressed), "notes": list(found.notes)}
