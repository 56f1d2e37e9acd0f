"""Scenario files: how is a scenario read from a TOML file, with every problem reported?"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robodyn.base import Flaw, FlawList, ModelError, frozen, nearest, write_file
from robodyn.description.model import Freedom, Machine, Scenario, ScenarioSequence
from robodyn.description.model.coordinate import COORDINATES, coordinate_unit
from robodyn.description.model.machine import (
    PARTS,
    check_part_names,
    check_references,
    find_references,
    reference_names,
)
from robodyn.description.model.scenario import (
    check_duration,
    check_event_names,
    check_keep,
    spread_vectors,
    state_units,
    vector_units,
)

from .composition import Composed, load_composed
from .mechanism_tables import Declared, read_mechanism
from .path_forms import read_path
from .reading import TableReader, spell
from .table import FAILED, TomlTable
from .writing import tables_text, write_scenario


def read_scenario(path: str | Path, text: str | None = None) -> Scenario:
    """Read a scenario from a TOML file.

    Args:
        text: what an editor holds of the file, read in place of what is kept of it.

    Raises:
        ModelError: with every problem of the file, each with its path in the file.
    """
    path = Path(path)
    composed = load_composed(path, text)
    flaws, reader = FlawList(), TableReader(path.parent)
    scenario = _read(TomlTable(composed.data, "", flaws), path, reader)
    composed.raise_if_any(flaws, str(path))
    assert scenario is not None
    file = ScenarioFile(str(path), composed, reader.spelled)
    scenario.machine.read_from(file)
    return scenario.read_from(file)


@frozen
class ScenarioFile:
    """The file of a scenario: what is found wrong later on is reported as if it had been found when reading."""

    source: str
    composed: Composed
    spelled: Mapping[str, str]

    def place(self, flaw: Flaw) -> Flaw:
        return self.composed.place(spell(flaw, self.spelled))


def _read(root: TomlTable, path: Path, reader: TableReader) -> Scenario | None:
    """Mechanism, machine and scenario, each of which the file gives at its top."""
    name = root.text("name", path.stem)
    declared = read_mechanism(root, name, reader)
    # Units of the positions of moving joints, modes and coordinates, as far as they are known.
    units = {freedom.name: freedom.unit for freedom in declared.freedoms if freedom.is_single}
    reader.positions = units
    coordinates = reader.group(root, "coordinates", COORDINATES)
    reader.positions = units | {
        name: coordinate_unit(made, units) for name, made in coordinates.items() if made is not FAILED
    }
    paths = {key: read_path(key, table, reader, declared.mechanism) for key, table in root.tables("paths")}
    machine = {"name": name} | reader.values(root, Machine)
    blocks = (*(block for made in paths.values() for block in made), *reader.found.get("blocks", {}).values())
    joints = declared.mechanism.joints if declared.mechanism else ()
    reader.states = state_units(declared.freedoms, [block for block in blocks if block is not FAILED])
    reader.states |= vector_units(joints)
    formulas = [signal for signal in reader.found.get("signals", {}).values() if signal is not FAILED]
    reader.states |= {f"{name}.position": unit for name, unit in reader.positions.items()}
    reader.states |= {signal.name: signal.find_unit(reader.states) for signal in formulas}
    scenario = {"name": name} | reader.values(root, Scenario)
    root.finish()
    if root.flaws.found:
        reader.check(root, Scenario, scenario)
        # Of a path that could not be planned, the names of its blocks are known nevertheless.
        reader.found["paths"] = dict(paths)
        if paths:
            from robodyn.description.paths.deviation import DEVIATION, NOMINAL, SEEN

            reader.found["paths"] |= dict.fromkeys((DEVIATION, NOMINAL, SEEN))
        _check_whole(root, reader, declared, scenario)
        return None
    top = TomlTable({}, "", root.flaws)
    machine |= {"blocks": blocks} | ({"mechanism": declared.mechanism} if declared.mechanism else {})
    made = reader.make(top, Machine, machine)
    return FAILED if made is FAILED else reader.make(top, Scenario, scenario | {"machine": made})


def _check_whole(root: TomlTable, reader: TableReader, declared: Declared, values: dict[str, Any]) -> None:
    """Report what does not fit together as well, where single parts are flawed already."""
    flaws = FlawList()
    names = {group: list(reader.found.get(group, {})) for group in (*PARTS, "events")}
    names["blocks"] = [*reader.found["paths"], *names["blocks"]]
    check_part_names(flaws, [*declared.moving, *declared.points, *(name for group in PARTS for name in names[group])])
    check_event_names(flaws, names["events"], names["blocks"])
    good = {
        group: [part for part in reader.found.get(group, {}).values() if part is not FAILED]
        for group in (*PARTS, "events")
    }
    check_references(flaws, reference_names(declared.moving, declared.points, names["coordinates"]), good)
    owning = ("blocks", "controllers", "delays", "constraints", "contacts", "interfaces")
    owners = [name for group in owning for name in names[group]]
    others = [*declared.points, *declared.bodies, *declared.chained, *names["coordinates"], "constraints", *owners]
    used = [(path, name) for path, to, name in find_references(good) if to == "signal"]
    used += [(f"nominal.{joint}", signal) for joint, signal in (values.get("nominal") or {}).items()]
    # Report signals of parts that do not exist, and quantities no joint has.
    formulas = names["signals"]
    signals = [f"{joint}.{quantity}" for joint in declared.joints for quantity in QUANTITIES]
    for path, signal in used:
        if signal not in ("time", *formulas) and _is_wrong(signal, declared.joints, [*others, "energy"], QUANTITIES):
            flaws.add(path, f"there is no signal '{signal}'", nearest(signal, [*signals, *others, *formulas]))
    initial = root.table("initial").flattened().data
    if values.get("initial", FAILED) is not FAILED:
        # Of joints that cannot be made, nobody knows what may be a vector.
        unknown = () if declared.mechanism else tuple(f"{joint}." for joint in declared.chained)
        starts = {name: value for name, value in values["initial"].items() if not name.startswith(unknown)}
        spread_vectors(flaws, starts, declared.mechanism.joints if declared.mechanism else ())
    check_initial_names(flaws, declared.moving, [*declared.chained, *owners], initial)
    if values["duration"] is not FAILED and not root.flaws.concern("duration"):
        check_duration(flaws, values["duration"], values.get("recording"))
    if values.get("keep") is not None:
        signals = [f"{joint}.{quantity}" for joint in declared.moving for quantity in STATES]
        signals += [state for ball in declared.chained for state in Freedom(ball, "ball").states]
        check_keep(flaws, values["keep"], signals, values.get("initialisation", "given"))
    root.flaws.extend(reader.spell(flaw) for flaw in flaws.found)


# --------------------------------------------------------------------------------------------------
# Signal names in files: which of signals and states cannot be right, whatever the laws return?
#
# Used where a file has flaws, so that wrong names are reported together with them; a file without flaws is checked in
# full when it is assembled.


STATES = ("position", "velocity")
REACTIONS = tuple(f"reaction.{part}.{axis}" for part in ("force", "torque") for axis in "xyz")
QUANTITIES = (*STATES, "acceleration", "torque", "force", *REACTIONS)


def check_initial_names(flaws: FlawList, joints: Sequence[str], others: Sequence[str], initial: Iterable[str]) -> None:
    """Report start values of parts that do not exist, and of quantities that are no state of a joint."""
    states = [f"{joint}.{quantity}" for joint in joints for quantity in STATES]
    for name in initial:
        if _is_wrong(name, joints, others, STATES):
            flaws.add(f"initial.{name}", "there is no such state", nearest(name, [*states, *others]))


def _is_wrong(name: str, joints: Sequence[str], others: Sequence[str], quantities: Sequence[str]) -> bool:
    """Whether a name belongs to no part, or to a joint that has no such quantity."""
    owner = max((part for part in (*joints, *others) if name.startswith(f"{part}.")), key=len, default=None)
    if owner is None:
        return True
    return owner in joints and name.removeprefix(f"{owner}.") not in quantities


# --------------------------------------------------------------------------------------------------
# Sequence files: how are phases of one motion written and read? A file that names those of its phases, in order.
#
#     phases = ["approach.toml", "rise.toml", "finish.toml"]
#
# Each phase is a scenario's file of its own, which may `include` what all of them share. See `ScenarioSequence`.


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
    flaws.add_unknown(data, KEYS, "is not a key of a file that names phases: move it to a phase's file")
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
            flaws.add(f"phases[{k}]", f"there is no file '{file}'", f"looked for in {path.parent}")
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
