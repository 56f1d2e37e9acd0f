"""How is a co-simulation written in a TOML file? Subsystems, connections, links and the master's settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn.catalog import SCENARIOS, find_scenario
from robodyn.cosimulation.connection import Connection, Link
from robodyn.cosimulation.master import Progress, cosimulate
from robodyn.cosimulation.result import CosimulationRun
from robodyn.cosimulation.scenario_unit import ScenarioUnit
from robodyn.cosimulation.settings import Master
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.files import read_scenario
from robodyn.files.interface_tables import read_interface
from robodyn.files.table import FAILED, Table, attempt, load_toml
from robodyn.model import Chain, Scenario
from robodyn.simulation import make_solver

STEP_KEYS = ("smallest_step", "largest_step")
PLAIN_KEYS = ("tolerance", "least_scale", "condition_warning", "condition_limit", "largest_value")


@dataclass(frozen=True)
class Subsystem:
    """A scenario of a co-simulation, with further inputs and the length for its condition numbers [m]."""

    name: str
    scenario: Scenario
    inputs: tuple[str, ...] = ()
    length: float = 1.0


@dataclass(frozen=True)
class CosimulationFile:
    """What a file says."""

    name: str
    title: str
    subsystems: tuple[Subsystem, ...]
    connections: tuple[Connection, ...]
    links: tuple[Link, ...]
    master: Master
    source: str = ""

    @property
    def duration(self) -> float:
        """Simulated time [s]: the shortest of the subsystems' own."""
        return min(part.scenario.duration for part in self.subsystems)

    def simulate(
        self, *, progress: Progress | None = None, on_compile: Callable[[str], None] | None = None
    ) -> CosimulationRun:
        """Carry it out; what does not fit together is told with the file's name."""
        try:
            units = [
                ScenarioUnit(
                    part.scenario, name=part.name, inputs=part.inputs, length=part.length, on_compile=on_compile
                )
                for part in self.subsystems
            ]
            return cosimulate(
                units, self.connections, master=self.master, links=self.links, name=self.name, progress=progress
            )
        except ModelError as error:
            raise ModelError(error.flaws, ": ".join(filter(None, (self.source, error.source)))) from error


def read_cosimulation(path: str | Path) -> CosimulationFile:
    """Read a co-simulation from a TOML file.

    Raises:
        ModelError: with every problem of the file, each with its path in the file.
    """
    path = Path(path)
    data = load_toml(path)
    flaws = FlawList()
    found = _read(Table(data, "", flaws), path)
    flaws.raise_if_any(str(path))
    return found


def _read(root: Table, path: Path) -> Any:
    name, title = root.text("name", path.stem), root.text("title", "")
    duration = root.number("duration", "s", None)
    parts = [_read_subsystem(key, table, path.parent, duration) for key, table in root.tables("subsystems")]
    if not parts:
        root.flaws.add("subsystems", "there are none", "name scenarios of the catalogue, or files")
    connections = [_read_connection(table) for table in _list(root, "connections")]
    links = [_read_link(table) for table in _list(root, "links")]
    master = _read_master(root.table("master"))
    root.finish()
    if root.flaws.found:
        return None
    return CosimulationFile(name, title, tuple(parts), tuple(connections), tuple(links), master, str(path))


def _list(root: Table, key: str) -> list[Table]:
    """Tables of a list of tables."""
    value = root.raw(key, [])
    if not isinstance(value, list):
        root.flaws.add(key, f"must be a list of tables, [[{key}]], is {value!r}")
        return []
    return [Table(entry, f"{key}[{k}]", root.flaws) for k, entry in enumerate(value)]


def _read_subsystem(name: str, table: Table, folder: Path, duration: float | None) -> Any:
    """A scenario with its interfaces; the duration of the whole, where it is given, is that of every subsystem."""
    scenario = _find_scenario(table, folder)
    interfaces = [read_interface(key, part) for key, part in table.tables("interfaces")]
    solver = dict(table.raw("solver", {}) or {})
    inputs = table.texts("inputs", [])
    length = table.number("length", "m", 1.0)
    table.finish()
    good = attempt(table, make_solver, solver) is not FAILED
    if scenario is None or FAILED in interfaces or not good:
        return None
    machine = attempt(
        table, dataclasses.replace, scenario.machine, interfaces=(*scenario.machine.interfaces, *interfaces)
    )
    if machine is FAILED:
        return None
    changed = {"machine": machine} | ({"solver": solver} if solver else {})
    changed |= {} if duration is None else {"duration": duration}
    made = attempt(table, dataclasses.replace, scenario, **changed)
    return None if made is FAILED else Subsystem(name, made, inputs, length)


def _find_scenario(table: Table, folder: Path) -> Scenario | None:
    """The scenario that a subsystem names, with changed numbers."""
    what = table.text("scenario")
    numbers = table.table("set").flattened()
    changes = {key: numbers.number(key) for key in numbers.data}
    if not isinstance(what, str):
        return None
    try:
        found: Any = read_scenario(folder / what, make_solver) if what.endswith(".toml") else _from_catalogue(what)
        return found.with_numbers({key: value for key, value in changes.items() if value is not None})
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.at("scenario"))
        return None


def _from_catalogue(name: str) -> Scenario:
    if name not in SCENARIOS:
        raise ModelError(
            [Flaw("", f"there is no scenario '{name}'", f"{nearest(name, SCENARIOS)}; a file ends in .toml")]
        )
    found = find_scenario(name)
    if isinstance(found, Chain):
        raise ModelError([Flaw("", f"'{name}' is a chain of phases", "name one scenario")])
    return found


def _read_connection(table: Table) -> Any:
    between = table.texts("between")
    fields: dict[str, Any] = {}
    if "order" in table:
        fields["order"] = table.integer("order")
    if "mean" in table:
        fields["mean"] = table.flag("mean")
    if "join" in table:
        fields["join"] = table.text("join")
    table.finish()
    if len(between) != 2:
        table.flaws.add(table.at("between"), f"must name two interfaces, names {len(between)}")
        return None
    return Connection(*between, **fields)


def _read_link(table: Table) -> Any:
    source, target = table.text("source"), table.text("target")
    fields: dict[str, Any] = {}
    if "order" in table:
        fields["order"] = table.integer("order")
    if "gain" in table:
        fields["gain"] = table.number("gain")
    table.finish()
    return Link(source, target, **fields) if source and target else None


def _read_master(table: Table) -> Any:
    fields: dict[str, Any] = {"step": table.number("step", "s")}
    for key in STEP_KEYS:
        if key in table:
            fields[key] = table.number(key, "s")
    for key in PLAIN_KEYS:
        if key in table:
            fields[key] = table.number(key)
    if "scheme" in table:
        fields["scheme"] = table.text("scheme")
    table.finish()
    if None in fields.values():
        return None
    return attempt(table, Master, **fields)
