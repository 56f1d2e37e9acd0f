"""Robots in scenario files: which tables does `robot = "panda.urdf"` stand for, and how is a file to edit made?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import FlawList, parse_toml, refuse, write_file

from .writing import scenario_tables, tables_text

if TYPE_CHECKING:
    from robodyn.description.robots import Robot

ROBOT_KEYS: dict[str, Any] = {
    "file": str, "base": str, "search": list, "keep_massless": bool, "lock": (list, dict),
}  # fmt: skip
NOUNS = {
    "file": "text", "base": "text", "search": "a list of folders", "keep_massless": "true or false",
    "lock": "a list of joints, or their positions [rad or m] by name",
}  # fmt: skip
OWN = ("name", "duration", "title")
"""Keys that the scenario says itself."""


def robot_tables(folder: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a robot's machine and of its start.

    Args:
        folder: of the scenario's file, from which paths are given.
    """
    from robodyn.description.robots import import_robot

    flaws = FlawList()
    for key, value in options.items():
        wrong = isinstance(value, list) and not all(isinstance(entry, str) for entry in value)
        if isinstance(value, dict):
            wrong = any(isinstance(entry, bool) or not isinstance(entry, (int, float)) for entry in value.values())
        if not isinstance(value, ROBOT_KEYS[key]) or wrong:
            flaws.add(key, f"must be {NOUNS[key]}, is {value!r}")
    flaws.raise_if_any()
    search = [folder / entry for entry in options.get("search", ())]
    others = {key: value for key, value in options.items() if key not in ("file", "search")}
    robot = import_robot(folder / options["file"], search=search, **others)
    said = {key: value for key, value in scenario_tables(robot.scenario()).items() if key not in OWN}
    return parse_toml(tables_text(said))


def write_robot(robot: Robot, path: Path, embed: bool = False) -> list[Path]:
    """Write a robot, left to itself, to a TOML file that can be edited; returns the files that were written.

    Args:
        embed: copy its meshes into a folder beside the file.

    Raises:
        ModelError: where a file cannot be written.
    """
    from robodyn.description.robots import copy_meshes

    scenario, copies = robot.scenario(), list[Path]()
    try:
        if embed:
            machine, copies = copy_meshes(scenario.machine, path)
            scenario = scenario.replaced(machine=machine)
        tables = scenario_tables(scenario)
        for body in tables["bodies"].values() if embed else ():
            for look in body.get("looks", {}).values():
                if "file" in look:
                    look["file"] = Path(look["file"]).relative_to(path.absolute().parent).as_posix()
        write_file(path, "\n".join([*_head(robot), "", tables_text(tables)]))
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        refuse("", what, source=str(error.filename or path))
    return [path, *copies]


def _head(robot: Robot) -> Iterator[str]:
    """Where the file is from, and what was chosen."""
    counts = ", ".join(f"{count} {column}" for column, count in robot.sheet.counts.items())
    total = f"{len(robot.sheet.entries)} elements and attributes"
    yield f"# Imported from {Path(robot.sheet.source).name}: {total}, {counts}."
    if robot.sheet.choices:
        yield "# Choices made:"
    yield from (f"#   {' '.join(choice.split())}" for choice in robot.sheet.choices)
