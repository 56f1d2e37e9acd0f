"""robodyn kinematics: where do closed loops put a point for positions of the motors, and which bring it to a place?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_single, read_pairs, split_names
from robodyn.description.model.numbers import XYZ

if TYPE_CHECKING:
    from robodyn.analysis.mechanics.parallel_kinematics import ParallelKinematics, Posture


@app.command("kinematics")
def show_kinematics(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file: a machine with loops.")],
    point: Annotated[str, typer.Option(help="Name of the point.")],
    motor: Annotated[list[str], typer.Option(help="Joints or coordinates that motors move, with commas between.")],
    position: Annotated[list[str] | None, typer.Option(help="Forward: motor=position; others as at the start.")] = None,
    to: Annotated[str | None, typer.Option(help="Inverse: place of the point, x=0.1,z=-0.3; others 0.")] = None,
    axes: Annotated[str, typer.Option(help="Coordinates of the point that count, one for each motor.")] = "x,y,z",
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forward or inverse kinematics of a machine with closed loops, its branches, and how near it is to singular."""
    from robodyn.analysis.mechanics.parallel_kinematics import ParallelKinematics
    from robodyn.computation.assembly import assemble

    if (to is None) == (position is None):
        raise fail("--position, --to: give one of them: positions of the motors, or a place of the point")
    kinematics = ParallelKinematics(
        assemble(load_single(scenario, setting)), point, split_names(motor), split_names(axes)
    )
    postures = [_forward(kinematics, position or [])] if to is None else _inverse(kinematics, to)
    rows = [_describe(kinematics, posture) for posture in postures]
    if as_json:
        print_json({"postures": rows})
        return
    for k, row in enumerate(rows):
        name = f"branch {k + 1} of {len(rows)}" if len(rows) > 1 else "posture"
        motors = ", ".join(f"{joint} {round(value, 9):.6g}" for joint, value in row["motors"].items())
        place = ", ".join(f"{axis} {round(value, 9):.6g}" for axis, value in row["point"].items())
        output.print(f"{name}: {motors}")
        output.print(f"  {point}: {place} m; singular: {row['singular']}, condition {row['condition']:.4g}")


def _forward(kinematics: ParallelKinematics, texts: list[str]) -> Posture:
    values = read_pairs("position", texts, lambda _, text: float(text), "motor=position")
    unknown = [name for name in values if name not in kinematics.actuated]
    if unknown:
        raise fail(f"--position {unknown[0]}: is none of the motors {', '.join(kinematics.actuated)}")
    start = dict(zip(kinematics.actuated, kinematics.at(kinematics.start).s.tolist(), strict=True))
    posture = kinematics.forward(list((start | values).values()))
    if not posture.solved:
        raise fail(f"--position: the loops do not close there, {posture.residual:.3g} m or rad are left")
    return posture


def _inverse(kinematics: ParallelKinematics, text: str) -> list[Posture]:
    place = read_pairs("to", text.split(","), lambda _, value: float(value), "x=0.1,y=0,z=-0.3")
    unknown = [axis for axis in place if axis not in kinematics.axes]
    if unknown:
        raise fail(f"--to {unknown[0]}: is none of the axes {', '.join(kinematics.axes)}")
    target = [place.get(axis, 0.0) for axis in kinematics.axes]
    branches = kinematics.branches(target)
    if not branches:
        nearest = kinematics.inverse(target)
        at = ", ".join(f"{value:.4g}" for value in nearest.points[kinematics.point])
        raise fail(f"--to {text}: is out of reach; from the start it comes to ({at}) m")
    return branches


def _describe(kinematics: ParallelKinematics, posture: Posture) -> dict[str, Any]:
    near = kinematics.singularity(posture)
    return {
        "motors": dict(zip(kinematics.actuated, posture.actuated.tolist(), strict=True)),
        "point": dict(zip(XYZ, posture.points[kinematics.point].tolist(), strict=True)),
        "joints": dict(zip(posture.joints, posture.q.tolist(), strict=True)),
        "iterations": posture.iterations,
        "residual": posture.residual,
        "singular": near.kind,
        "condition": near.condition,
    }
