"""How is a scenario written in a TOML file, and how is it read with every problem told?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from robodyn.errors import FlawList, ModelError
from robodyn.files.block_tables import read_block, read_numbers
from robodyn.files.composition import load_composed
from robodyn.files.constraint_tables import read_constraint, read_treatment
from robodyn.files.contact_tables import read_contact
from robodyn.files.coordinate_tables import read_coordinate
from robodyn.files.interface_tables import read_interface
from robodyn.files.mechanism_tables import Declared, read_mechanism
from robodyn.files.path_tables import read_path
from robodyn.files.settings_tables import read_recording, read_solver
from robodyn.files.signal_names import check_initial_names, check_signal_names, signals_used
from robodyn.files.signal_tables import read_signal
from robodyn.files.table import Table, attempt
from robodyn.model import (
    Block,
    Delay,
    Event,
    Joint,
    Load,
    Machine,
    Mode,
    Obstacle,
    Scenario,
)
from robodyn.model.machine import (
    PARTS,
    check_constraint_references,
    check_contact_references,
    check_interface_references,
    check_part_names,
    check_references,
)
from robodyn.model.scenario import check_duration, check_event_names, check_keep, state_units

SolverCheck = Callable[[Mapping[str, Any]], Any]


def level_crossing(signal: Any, level: Any) -> Any:
    """Guard of an event in a file: the signal passes a level."""
    return signal - level


@dataclass(frozen=True)
class SetValues:
    """Action of an event in a file: give states or memory new values."""

    values: Mapping[str, float]

    def __call__(self) -> dict[str, float]:
        return dict(self.values)


def read_scenario(path: str | Path, check_solver: SolverCheck | None = None) -> Scenario:
    """Read a scenario from a TOML file.

    Args:
        check_solver: raises a ModelError for settings of a solver that cannot be used (`simulation.make_solver`), so
            that they are told together with all other problems.

    Raises:
        ModelError: with every problem of the file, each with its path in the file.
    """
    path = Path(path)
    composed = load_composed(path)
    flaws = FlawList()
    scenario = _read(Table(composed.data, "", flaws), path, check_solver)
    flaws.found = [composed.place(flaw) for flaw in flaws.found]
    flaws.raise_if_any(str(path))
    assert scenario is not None
    return scenario


def _read(root: Table, path: Path, check_solver: SolverCheck | None) -> Scenario | None:
    name = root.text("name", path.stem)
    title = root.text("title", "")
    duration = root.number("duration", "s")
    begin = root.text("start", "given")
    keep = {"keep": root.texts("keep")} if "keep" in root else {}
    declared = read_mechanism(root, name, path.parent)
    parts = {
        "coordinates": [read_coordinate(key, table) for key, table in root.tables("coordinates")],
        "blocks": [
            *(read_path(key, table, declared.mechanism) for key, table in root.tables("paths")),
            *(read_block(key, table, path.parent) for key, table in root.tables("blocks")),
        ],
        "signals": [read_signal(key, table) for key, table in root.tables("signals")],
        "delays": [_read_delay(key, table) for key, table in root.tables("delays")],
        "loads": [_read_load(key, table) for key, table in root.tables("loads")],
        "constraints": [read_constraint(key, table) for key, table in root.tables("constraints")],
        "contacts": [read_contact(key, table, path.parent) for key, table in root.tables("contacts")],
        "interfaces": [read_interface(key, table) for key, table in root.tables("interfaces")],
    }
    tunable = root.texts("tunable", [])
    units = _state_units(declared, parts["blocks"])
    initial = read_numbers(root.table("initial").flattened(), units)
    measured = units | {signal.name: signal.find_unit(units) for signal in parts["signals"] if signal is not None}
    events = [_read_event(key, table, measured) for key, table in root.tables("events")]
    obstacles = [_read_obstacle(key, table) for key, table in root.tables("obstacles")]
    recording = read_recording(root.table("recording"))
    solver = read_solver(root.table("solver"))
    treatment = read_treatment(root.table("treatment"))
    nominal = _read_nominal(root.table("nominal").flattened())
    root.finish()
    _check_solver(root, solver, check_solver)
    if root.flaws.found:
        _check_whole(root, declared, parts, duration, recording)
        _check_names(root, declared, parts, events, initial, nominal)
        if keep:
            check_keep(root.flaws, keep["keep"], declared.moving, begin)
        return None
    top = Table({}, "", root.flaws)
    mechanism = {"mechanism": declared.mechanism} if declared.mechanism else {}
    machine = attempt(top, Machine, name, tunable=tunable, **mechanism, **parts)
    shown = {"title": title, "obstacles": obstacles, "nominal": nominal}
    given = (duration, initial, events, recording, solver)
    return attempt(top, Scenario, name, machine, *given, **shown, start=begin, treatment=treatment, **keep)


def _check_solver(root: Table, solver: dict[str, Any], check_solver: SolverCheck | None) -> None:
    if check_solver is None or any(flaw.path.startswith("solver") for flaw in root.flaws.found):
        return
    try:
        check_solver(solver)
    except ModelError as error:
        root.flaws.extend(error.flaws)


def _part_names(root: Table) -> dict[str, list[str]]:
    """Names of the machine's parts by group; a path is a block."""
    names = {group: list(root.table(group).data) for group in PARTS}
    return names | {"blocks": [*root.table("paths").data, *names["blocks"]]}


def _read_nominal(table: Table) -> dict[str, Any]:
    """Joint -> signal that is its reference position."""
    return {joint: table.text(joint) for joint in table.data}


def _check_names(
    root: Table, declared: Declared, parts: dict[str, Any], events: list[Any], initial: Any, nominal: dict[str, Any]
) -> None:
    """Tell signals and states that cannot exist, where single parts are flawed already."""
    names = _part_names(root)
    owners = [name for group in ("blocks", "delays", "constraints", "contacts", "interfaces") for name in names[group]]
    signals = [*declared.points, *declared.flexible, *names["coordinates"], "constraints", *owners]
    good = {group: [part for part in found if part is not None] for group, found in parts.items()}
    used = signals_used(good, [event for event in events if event is not None])
    followed = [(f"nominal.{joint}", signal) for joint, signal in nominal.items() if isinstance(signal, str)]
    check_signal_names(root.flaws, declared.joints, signals, [*used, *followed], names["signals"])
    check_initial_names(root.flaws, declared.moving, owners, initial)


def _check_whole(root: Table, declared: Declared, parts: dict[str, Any], duration: Any, recording: Any) -> None:
    """Tell what does not fit together as well, where single parts are flawed already."""
    names = _part_names(root) | {"events": list(root.table("events").data)}
    everything = [*declared.moving, *declared.points, *(name for group in PARTS for name in names[group])]
    check_part_names(root.flaws, everything)
    check_event_names(root.flaws, names["events"], names["blocks"])
    good = {group: [part for part in found if part is not None] for group, found in parts.items()}
    actuated = [*declared.moving, *names["coordinates"]]
    check_references(root.flaws, declared.moving, declared.points, actuated, SimpleNamespace(**good))
    check_constraint_references(root.flaws, declared.points, actuated, good["constraints"])
    check_contact_references(root.flaws, declared.points, good["contacts"])
    check_interface_references(root.flaws, declared.points, actuated, good["interfaces"])
    if duration is not None:
        check_duration(root.flaws, duration, recording)


def _state_units(declared: Declared, blocks: list[Block | None]) -> dict[str, str]:
    """Units of the states and the memory that a file may give start values for."""
    moving: list[Joint | Mode] = []
    if declared.mechanism:
        moving = [*declared.mechanism.moving_joints, *declared.mechanism.modes]
    return state_units(moving, filter(None, blocks))


def _read_delay(name: str, table: Table) -> Delay | None:
    signal, time = table.text("signal"), table.number("time", "s")
    before = {"before": table.number("before")} if "before" in table else {}
    table.finish()
    return attempt(table, Delay, name, signal, time, **before)


def _read_obstacle(name: str, table: Table) -> Obstacle | None:
    center, size = table.vector("center", "m", 3), table.vector("size", "m", 3)
    table.finish()
    return attempt(table, Obstacle, name, center, size)


def _read_load(name: str, table: Table) -> Load | None:
    point = table.text("point")
    force = table.vector("force", "N", 3, (0.0, 0.0, 0.0))
    torque = table.vector("torque", "N m", 3, (0.0, 0.0, 0.0))
    table.finish()
    return attempt(table, Load, name, point, force, torque)


def _read_event(name: str, table: Table, units: Mapping[str, str]) -> Event | None:
    signal = table.text("signal")
    level = table.number("level", units.get(signal, ""))
    direction = table.text("direction", "both")
    stop = table.flag("stop")
    action = SetValues(read_numbers(table.table("set").flattened(), units)) if "set" in table else None
    table.finish()
    if signal is None or level is None or (action and None in action.values.values()):
        return None
    return attempt(
        table,
        Event,
        name,
        level_crossing,
        {"signal": signal},
        {"level": level},
        direction=direction,
        terminal=stop,
        **({"action": action} if action else {}),
    )
