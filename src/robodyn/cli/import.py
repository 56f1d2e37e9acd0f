"""robodyn import: which machine does a robot file describe, and what became of everything in it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.atomic import write_file
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, output, print_json

if TYPE_CHECKING:
    from robodyn.description.robots import Robot


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A robot file: URDF, SDF, MJCF or xacro.")],
    out: Annotated[Path | None, typer.Option(help="Write an editable TOML file.")] = None,
    embed: Annotated[bool, typer.Option("--embed", help="Copy the meshes beside the TOML file.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Print the whole balance sheet.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write the balance sheet as a page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the balance sheet as JSON.")] = False,
    base: Annotated[str | None, typer.Option(help="How the robot stands: fixed, free or planar.")] = None,
    search: Annotated[
        list[Path] | None, typer.Option(help="Folder in which packages and meshes are looked for.")
    ] = None,
    keep_massless: Annotated[
        bool, typer.Option("--keep-massless", help="Keep joints that move nothing that has inertia.")
    ] = False,
    lock: Annotated[
        list[str] | None,
        typer.Option(help="Fix these joints (patterns) where they start, or at NAME=POSITION [rad or m]."),
    ] = None,
) -> None:
    """Read a robot file, account for every element and attribute, and write it as an editable TOML file."""
    from robodyn.description.robots import import_robot

    if embed and out is None:
        raise fail("--embed: copies meshes beside the TOML file; say --out FILE.toml")
    places = dict(_read_lock(text) for text in lock or [])
    robot = import_robot(file, base, search or [], keep_massless, places)
    written = _write(robot, file, out, embed, html)
    if as_json:
        print_json(robot.sheet.to_plain() | {"written": [str(path) for path in written]})
        return
    output.print(robot.sheet.text() if report else describe_robot(robot, file))
    for path in written[:1] if out is None else [out, *([html] if html else [])]:
        output.print(f"wrote {path}")
    if out is not None:
        output.print(f"run it with: robodyn run {out}")


def _read_lock(text: str) -> tuple[str, float | None]:
    """A pattern of joints, and where they are locked, if that is said."""
    pattern, equals, place = (part.strip() for part in text.partition("="))
    try:
        return pattern, float(place) if equals else None
    except ValueError as error:
        raise fail(f"--lock {text}: must be NAME or NAME=POSITION, a number in rad or m") from error


def _write(robot: Robot, file: Path, out: Path | None, embed: bool, html: Path | None) -> list[Path]:
    written: list[Path] = []
    for option, path in (("--out", out), ("--html", html)):
        if path is not None and path.exists() and path.samefile(file):
            raise fail(f"{option} {path}: is the robot's own file; name another one")
    if out is not None:
        from robodyn.description.files.robot_files import write_robot

        written += write_robot(robot, out, embed)
    if html is not None:
        from robodyn.presentation.reporting.balance_page import balance_page

        with writing(f"--html {html}"):
            write_file(html, balance_page(robot.sheet.to_plain()))
        written.append(html)
    return written


def describe_robot(robot: Robot, file: Path) -> str:
    """What there is, how the file's entries add up, and the choices that were made."""
    mechanism = robot.machine.mechanism
    assert mechanism is not None
    counts = robot.sheet.counts
    free = sum(len(freedom.velocities) for freedom in mechanism.freedoms)
    lines = [
        f"{file}: '{robot.machine.name}' has {len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints, "
        f"{free} degrees of freedom, {sum(body.mass for body in mechanism.bodies):.6g} kg",
        f"{len(robot.sheet.entries)} elements and attributes: {counts['read']} read as they are, {counts['converted']} "
        f"converted, {counts['choice']} need a choice, {counts['not used']} not used; --report lists them",
    ]
    lines += [f"shapes: {sentence}" for sentence in robot.sheet.not_drawn]
    return "\n".join([*lines, *(f"choice: {choice}" for choice in robot.sheet.choices)])
