"""Sequence files: how are phases of one motion written and read? A file that names those of its phases, in order.

    phases = ["approach.toml", "rise.toml", "finish.toml"]

Each phase is a scenario's file of its own, which may `include` what all of them share. See `ScenarioSequence`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from robodyn.base.atomic import write_file
from robodyn.base.errors import FlawList, ModelError
from robodyn.description.files.scenario_file import read_scenario
from robodyn.description.files.writing import tables_text, write_scenario
from robodyn.description.model import ScenarioSequence

KEYS = ("name", "title", "phases")


def is_sequence(path: str | Path) -> bool:
    """Whether a file names phases; one that is no TOML is reported where it is read as a scenario."""
    try:
        return "phases" in tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def read_sequence(path: str | Path) -> ScenarioSequence:
    """Read a sequence and the files of its phases, each relative to the file that names it.

    Raises:
        ModelError: with every problem of the file and of its phases.
    """
    path = Path(path)
    data, flaws = tomllib.loads(path.read_text(encoding="utf-8")), FlawList()
    flaws.add_unknown(data, KEYS, "is no key of a file that names phases: it belongs into a phase's file")
    for key in ("name", "title"):
        if not isinstance(data.get(key, ""), str):
            flaws.add(key, f"must be a text, is {data[key]!r}")
    files = data["phases"]
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        flaws.add("phases", f"must be a list of files, is {files!r}", 'write phases = ["first.toml", "second.toml"]')
        files = []
    phases = []
    for k, file in enumerate(files):
        if not (path.parent / file).is_file():
            flaws.add(f"phases[{k}]", f"there is no file '{file}'", f"it is looked for in {path.parent}")
            continue
        try:
            phases.append(read_scenario(path.parent / file))
        except ModelError as error:
            flaws.extend(error.flaws)
    flaws.raise_if_any(str(path))
    return ScenarioSequence(data.get("name", path.stem), tuple(phases), data.get("title", ""))


def write_sequence(sequence: ScenarioSequence, path: str | Path) -> list[Path]:
    """Write a sequence, each phase beside it as `FILE-PHASE.toml`; returns all paths, its own first."""
    path = Path(path)
    parts = [path.with_name(f"{path.stem}-{phase.name}.toml") for phase in sequence.phases]
    for phase, part in zip(sequence.phases, parts, strict=True):
        write_scenario(phase, part)
    title = {"title": sequence.title} if sequence.title else {}
    data = {"name": sequence.name} | title | {"phases": [part.name for part in parts]}
    write_file(path, tables_text(data))
    return [path, *parts]
