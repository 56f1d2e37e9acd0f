"""FMU in a co-simulation file: how is it written in TOML?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robodyn.description.files.reading import Reader
from robodyn.description.files.table import FAILED, Table
from robodyn.description.model import Interface
from robodyn.exchange.fmi.interface_unit import InterfaceFmu
from robodyn.exchange.fmi.unit import FmuUnit


@dataclass(frozen=True)
class FmuSubsystem:
    """A unit of a co-simulation; the fields are those of `FmuUnit` and, with interfaces, of `InterfaceFmu`."""

    name: str
    path: Path
    duration: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    interfaces: tuple[Interface, ...] = ()
    accelerations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    length: float = 1.0

    def open(self, duration: float, on_compile: Callable[[str], None] | None = None) -> FmuUnit:
        """The unit that the co-simulation moves; nothing is compiled for it."""
        if not self.interfaces:
            return FmuUnit(self.path, self.name, parameters=self.parameters, stop=duration)
        return InterfaceFmu(
            self.path,
            self.name,
            interfaces=self.interfaces,
            accelerations=self.accelerations,
            length=self.length,
            parameters=self.parameters,
            stop=duration,
        )


def read_fmu(name: str, table: Table, folder: Path, duration: float | None) -> FmuSubsystem | None:
    """A subsystem `fmu = "FILE"`; its flaws are noted in the table."""
    path = table.text("fmu")
    # What they may be, the unit says when it is opened.
    parameters = table.table("set").flattened().data
    interfaces = list(Reader(folder).group(table, "interfaces", (Interface,)).values())
    wanted = table.table("accelerations")
    accelerations = {key: wanted.texts(key) for key in wanted.data}
    length = table.number("length", "m", 1.0)
    table.finish()
    for key in accelerations:
        if key not in [part.name for part in interfaces if part is not FAILED]:
            table.flaws.add(wanted.at(key), "is no interface of this unit", "they stand under 'interfaces'")
    if path is None or length is None or FAILED in interfaces:
        return None
    return FmuSubsystem(name, folder / path, duration, parameters, tuple(interfaces), accelerations, length)
