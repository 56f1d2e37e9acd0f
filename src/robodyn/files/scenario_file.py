"""How is a scenario written in a TOML file, and how is it read with every problem told?"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.files.mechanism_tables import attempt, read_mechanism
from robodyn.files.table import Table
from robodyn.laws import info_of
from robodyn.model import (
    Along,
    Block,
    Combination,
    Delay,
    Distance,
    Event,
    Load,
    Machine,
    Recording,
    Scenario,
)
from robodyn.model.block import find_law


def level_crossing(signal: Any, level: Any) -> Any:
    """Guard of an event in a file: the signal passes a level."""
    return signal - level


@dataclass(frozen=True)
class SetValues:
    """Action of an event in a file: give states or memory new values."""

    values: Mapping[str, float]

    def __call__(self) -> dict[str, float]:
        return dict(self.values)


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a TOML file.

    Raises:
        ModelError: with every problem of the file, each with its path in the file.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError([Flaw("", f"cannot be read: {error.strerror or error}")], str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError([Flaw("", f"is not TOML: {error}")], str(path)) from error
    flaws = FlawList()
    scenario = _read(Table(data, "", flaws), path)
    flaws.raise_if_any(str(path))
    assert scenario is not None
    return scenario


def _read(root: Table, path: Path) -> Scenario | None:
    name = root.text("name", path.stem)
    title = root.text("title", "")
    duration = root.number("duration", "s")
    mechanism = read_mechanism(root, name)
    parts = {
        "coordinates": [_read_coordinate(key, table) for key, table in root.tables("coordinates")],
        "blocks": [_read_block(key, table, path.parent) for key, table in root.tables("blocks")],
        "delays": [_read_delay(key, table) for key, table in root.tables("delays")],
        "loads": [_read_load(key, table) for key, table in root.tables("loads")],
    }
    tunable = root.texts("tunable", [])
    initial = _numbers(root.table("initial"))
    events = [_read_event(key, table) for key, table in root.tables("events")]
    recording = _read_recording(root.table("recording"))
    solver = _read_solver(root.table("solver"))
    root.finish()
    if root.flaws.found:
        return None
    top = Table({}, "", root.flaws)
    machine = attempt(top, Machine, name, tunable=tunable, **({"mechanism": mechanism} if mechanism else {}), **parts)
    return attempt(top, Scenario, name, machine, duration, initial, events, recording, solver, title)


def _numbers(table: Table, units: Mapping[str, str] | None = None) -> dict[str, Any]:
    """All entries of a table as numbers or lists of numbers, converted to SI."""
    found = {}
    for key, value in table.data.items():
        unit = (units or {}).get(key, "")
        found[key] = table.vector(key, unit) if isinstance(value, list) else table.number(key, unit)
    return found


def _read_coordinate(name: str, table: Table) -> Any:
    kinds = [key for key in ("of", "between", "point") if key in table]
    if len(kinds) != 1:
        table.flaws.add(table.path, "must have exactly one of 'of', 'between', 'point'")
        return None
    if kinds[0] == "of":
        weights, inertia = _numbers(table.table("of")), table.number("inertia", "", 0.0)
        table.finish()
        return attempt(table, Combination, name, weights, inertia)
    if kinds[0] == "between":
        points = table.texts("between")
        table.finish()
        if len(points) != 2:
            table.flaws.add(table.at("between"), f"must name two points, names {len(points)}")
            return None
        return attempt(table, Distance, name, *points)
    point, direction = table.text("point"), table.vector("direction", "", 3)
    table.finish()
    return attempt(table, Along, name, point, direction)


def _load_law(text: Any, table: Table, folder: Path) -> Callable[..., Any] | str | None:
    """A law of the package by name, or a function of a Python file beside this one: "my_laws.py:drag"."""
    if not isinstance(text, str) or ".py:" not in text:
        return text
    file, _, function = text.rpartition(":")
    source = folder / file
    if not source.is_file():
        table.flaws.add(table.at("law"), f"there is no file '{source}'")
        return None
    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises is told as a flaw of that file
        table.flaws.add(table.at("law"), f"'{source}' cannot be loaded: {type(error).__name__}: {error}")
        return None
    if not callable(getattr(module, function, None)):
        known = [key for key, value in vars(module).items() if callable(value)]
        table.flaws.add(table.at("law"), f"'{file}' has no function '{function}'", nearest(function, known))
        return None
    found: Callable[..., Any] = getattr(module, function)
    return found


def _read_block(name: str, table: Table, folder: Path) -> Block | None:
    law = _load_law(table.text("law"), table, folder)
    function = find_law(law) if law is not None else None
    units = info_of(function).units if function else {}
    fields: dict[str, Any] = {}
    for key in ("on", "unit"):
        if key in table:
            fields[key] = table.text(key)
    for key in ("period", "offset", "delay"):
        if key in table:
            fields[key] = table.number(key, "s")
    for key in ("parameters", "states", "memory", "hold"):
        if key in table:
            fields[key] = _numbers(table.table(key), units)
    for key in ("inputs", "acts"):
        if key in table:
            fields[key] = _signals(table.table(key))
    if "native" in table:
        fields["native"] = table.flag("native", True)
    table.finish()
    if any(None in (value.values() if isinstance(value, dict) else (value,)) for value in fields.values()):
        return None
    return attempt(table, Block, name, law, **fields)


def _signals(table: Table) -> dict[str, Any]:
    """Argument -> signal name, or a list of them."""
    found: dict[str, Any] = {}
    for key, value in table.data.items():
        table.asked.add(key)
        good = isinstance(value, str) or (isinstance(value, list) and all(isinstance(entry, str) for entry in value))
        if not good:
            table.flaws.add(table.at(key), f"must be a signal's name or a list of them, is {value!r}")
        found[key] = tuple(value) if isinstance(value, list) else value
    return found


def _read_delay(name: str, table: Table) -> Delay | None:
    signal, time = table.text("signal"), table.number("time", "s")
    before = {"before": table.number("before")} if "before" in table else {}
    table.finish()
    return attempt(table, Delay, name, signal, time, **before)


def _read_load(name: str, table: Table) -> Load | None:
    point = table.text("point")
    force = table.vector("force", "N", 3, (0.0, 0.0, 0.0))
    torque = table.vector("torque", "N m", 3, (0.0, 0.0, 0.0))
    table.finish()
    return attempt(table, Load, name, point, force, torque)


def _read_event(name: str, table: Table) -> Event | None:
    signal, level = table.text("signal"), table.number("level")
    direction = table.text("direction", "both")
    stop = table.flag("stop")
    action = SetValues(_numbers(table.table("set"))) if "set" in table else None
    table.finish()
    if signal is None or level is None:
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


def _read_recording(table: Table) -> Recording | None:
    fields: dict[str, Any] = {}
    if "rate" in table:
        fields["rate"] = table.number("rate", "Hz")
    if "times" in table:
        fields["times"] = table.vector("times", "s")
    if "refine" in table:
        fields["refine"] = table.integer("refine")
    if "signals" in table:
        fields["signals"] = table.texts("signals")
    table.finish()
    return attempt(table, Recording, **fields)


def _read_solver(table: Table) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key in table.data:
        if key == "method":
            settings[key] = table.text(key)
        elif key in ("step", "max_step", "min_step", "max_wall_time"):
            settings[key] = table.number(key, "s")
        elif key == "max_steps":
            settings[key] = table.integer(key)
        else:
            settings[key] = table.number(key)
    return settings
