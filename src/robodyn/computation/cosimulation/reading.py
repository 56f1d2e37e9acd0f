"""Co-simulation files: how is one written in TOML? Subsystems, connections, and the settings of the co-simulation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from robodyn.base import FlawList, ModelError, frozen, refuse
from robodyn.computation.results import compare_solutions
from robodyn.computation.simulation.simulator import other_solver
from robodyn.description.catalog import find_scenario
from robodyn.description.files import read_scenario, reading
from robodyn.description.files.composition import load_composed
from robodyn.description.files.reading import read_numbers
from robodyn.description.files.table import FAILED, TomlTable, attempt
from robodyn.description.model import Interface, Recording, Scenario, ScenarioSequence, Solver
from robodyn.description.model.numbers import check_name

from .connection import Connection, SignalConnection
from .coupling import Progress
from .macro_steps import cosimulate
from .record import CosimulationRun
from .scenario_unit import ScenarioUnit
from .settings import CosimSettings
from .unit import Unit, abilities_of

FINER = 2.0
"""How many times finer the macro steps of a second solution are."""
RICHARDSON = FINER / (FINER - 1.0)
"""Error by difference of the two: the error of every coupling falls at least in proportion to the macro step."""


class Part(Protocol):
    """A subsystem that a file describes."""

    @property
    def name(self) -> str:
        """The name by which connections refer to it."""
        ...

    @property
    def duration(self) -> float | None:
        """The duration of its own [s], where it has one."""

    def open(self, duration: float) -> Unit:
        """The unit that the co-simulation moves."""


Reader = Callable[[str, TomlTable, Path, float | None], Part | None]
"""Reads a subsystem of a name from its table, with the folder of the file and the duration of the whole [s]."""


@frozen
class Subsystem:
    """A scenario of a co-simulation, with further inputs and the length for its condition numbers [m]."""

    name: str
    scenario: Scenario
    inputs: tuple[str, ...] = ()
    length: float = 1.0

    @property
    def duration(self) -> float:
        """The duration of the scenario [s]."""
        return self.scenario.duration

    def solved_otherwise(self) -> Subsystem:
        """This subsystem by another method, tighter."""
        other = other_solver(self.scenario.solver)
        other = Solver(other.method, rtol=other.rtol, atol=other.atol)
        return replace(self, scenario=replace(self.scenario, solver=other))

    def open(self, duration: float) -> ScenarioUnit:
        """The unit that the co-simulation moves."""
        return ScenarioUnit(self.scenario, name=self.name, inputs=self.inputs, length=self.length)


@frozen
class CosimulationFile:
    """The contents of a file of a co-simulation."""

    name: str
    title: str
    subsystems: tuple[Part, ...]
    connections: tuple[Connection, ...]
    signal_connections: tuple[SignalConnection, ...]
    settings: CosimSettings
    source: str

    @property
    def duration(self) -> float:
        """Simulated time [s]: the shortest of the subsystems' own."""
        return min(part.duration for part in self.subsystems if part.duration is not None)

    def simulate(self, *, certify: bool = False, progress: Progress | None = None) -> CosimulationRun:
        """Carry it out; what does not fit together is reported with the file's name.

        Args:
            certify: carry it out again with half the macro step, and other methods in the units: every run then has
                the errors of its signals.
        """
        if certify:
            return self._certify(progress)
        try:
            with ExitStack() as opened:
                units = []
                for part in self.subsystems:
                    units.append(part.open(self.duration))
                    opened.callback(abilities_of(units[-1]).close)
                return cosimulate(
                    units,
                    self.connections,
                    settings=self.settings,
                    signal_connections=self.signal_connections,
                    duration=self.duration,
                    name=self.name,
                    progress=progress,
                )
        except ModelError as error:
            raise ModelError(error.flaws, ": ".join(filter(None, (self.source, error.source)))) from error

    def _certify(self, progress: Progress | None) -> CosimulationRun:
        first = self.simulate(progress=progress)
        if not first.outcome.carried_through:
            return first
        parts = tuple(part.solved_otherwise() if isinstance(part, Subsystem) else part for part in self.subsystems)
        finer = replace(self, subsystems=parts, settings=self.settings.finer(FINER))
        second = finer.simulate(progress=progress)
        against = "half the macro step, doubled, units by other methods"
        if not second.outcome.ok:
            against = f"{against}, which {second.outcome.sentence}"
        runs = {}
        for name, run in first.runs.items():
            errors = compare_solutions(run, second[name], against, RICHARDSON)
            runs[name] = replace(run, errors=errors)
        return replace(first, runs=runs)


def read_cosimulation(path: str | Path, readers: Mapping[str, Reader] | None = None) -> CosimulationFile:
    """Read a co-simulation from a TOML file.

    Args:
        readers: of subsystems that are no scenarios, by the key that marks them: `{"fmu": read_fmu}`.

    Raises:
        ModelError: with every problem of the file, each with its path in the file.
    """
    path = Path(path)
    composed = load_composed(path)
    flaws = FlawList()
    described = _read(TomlTable(composed.data, "", flaws), path, readers or {})
    composed.raise_if_any(flaws, str(path))
    return described


def _read(root: TomlTable, path: Path, readers: Mapping[str, Reader]) -> Any:
    name, title = root.text("name", path.stem), root.text("title", "")
    if "name" in root and name is not None:
        check_name(root.flaws, name)
    duration = root.number("duration", "s", None)
    parts = []
    for key, table in root.tables("subsystems"):
        # By the key that a table has; a scenario, where it has none of them.
        read = next((reader for mark, reader in readers.items() if mark in table), _read_subsystem)
        parts.append(read(key, table, path.parent, duration))
    if not parts:
        root.flaws.add("subsystems", "there are none", "name scenarios of the catalogue, or files")
    elif all(part is not None and part.duration is None for part in parts):
        root.flaws.add("duration", "is missing", "no subsystem has one of its own")
    reader = reading.TableReader(path.parent)
    connections = [reader.read(row, (Connection,)) for row in root.rows("connections", [])]
    signal_connections = [reader.read(row, (SignalConnection,)) for row in root.rows("signal_connections", [])]
    settings = reader.read(root.table("settings"), (CosimSettings,))
    root.finish()
    if root.flaws.found:
        return None
    good = tuple(part for part in parts if part is not None)
    return CosimulationFile(name, title, good, tuple(connections), tuple(signal_connections), settings, str(path))


def _read_subsystem(name: str, table: TomlTable, folder: Path, duration: float | None) -> Any:
    """A scenario with its interfaces; the duration of the whole, where it is given, is that of every subsystem."""
    scenario = _find_scenario(table, folder)
    reader = reading.TableReader(folder, states=scenario.state_units() if scenario else {})
    interfaces = reader.group(table, "interfaces", (Interface,)).values()
    solver = reader.read(table.table("solver"), (Solver,)) if "solver" in table else None
    recording = reader.read(table.table("recording"), (Recording,)) if "recording" in table else None
    initial = read_numbers(table.table("initial").flattened(), reader.states)
    inputs = table.texts("inputs", [])
    length = table.number("length", "m", 1.0)
    table.finish()
    failed = [
        key
        for key, changed_scenario in (("solver", solver), ("recording", recording))
        if key in table and changed_scenario is FAILED
    ]
    if scenario is None or FAILED in (*interfaces, *initial.values()) or failed:
        return None
    machine = attempt(table, replace, scenario.machine, interfaces=(*scenario.machine.interfaces, *interfaces))
    if machine is FAILED:
        return None
    changed = {"machine": machine} | ({"solver": solver} if solver else {})
    changed |= {} if duration is None else {"duration": duration}
    changed |= {"recording": recording} if recording is not None else {}
    changed |= {"initial": {**scenario.initial, **initial}} if initial else {}
    changed_scenario = attempt(table, replace, scenario, **changed)
    return None if changed_scenario is FAILED else Subsystem(name, changed_scenario, inputs, length)


def _find_scenario(table: TomlTable, folder: Path) -> Scenario | None:
    """The scenario that a subsystem names, with changed numbers."""
    what, numbers = table.text("scenario"), table.table("set").flattened()
    if not isinstance(what, str):
        return None
    place = "scenario"
    try:
        # A name with an "=" has options, of which the last may name a file.
        is_file = what.endswith(".toml") and "=" not in what
        scenario: Any = read_scenario(folder / what) if is_file else _from_catalogue(what, folder)
        place = "set"
        changes = read_numbers(numbers, {number.name: number.unit for number in scenario.numbers().values()})
        return scenario.with_numbers({key: value for key, value in changes.items() if value is not None})
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.at(place))
        return None


def _from_catalogue(what: str, folder: Path) -> Scenario:
    """A scenario of the catalogue; TOML files that its options name stand beside the file."""
    what = re.sub(r"=([^,=:]+\.toml)", lambda scenario: f"={folder / scenario.group(1)}", what)
    scenario = find_scenario(what)
    if isinstance(scenario, ScenarioSequence):
        refuse("", f"'{what}' is a sequence of phases", "name one scenario")
    return scenario
