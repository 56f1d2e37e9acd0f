"""FMUs with interfaces: how are reduced interface models exchanged? From directional derivatives.

A unit written from a machine with interfaces has what comes in there as inputs and parameters, and the motion of the
interface as outputs. Its directional derivatives give its reduced model, from accelerations w' and forces lambda, which
both follow a force that comes in, or the far side's place s where the coupling's stiffness is on this side:

    mobility = d w' / d lambda = (d w' / d s) (d lambda / d s)^-1,    w'(lambda = 0) = w' - mobility lambda

A side that takes a model through a stiffness is given it by parameters and by the states that stand for the far side.
One that takes a model M, f rigidly is given it by parameters alone, and keeps its own motion: `join = "none"`. With it
attached, the interface has the mobility W = d w' / d f, and without it

    mobility = (1 - W M)^-1 W,    w'(lambda = 0) = (1 - W M)^-1 (w' - W f)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest
from robodyn.computation.cosimulation import InterfaceMotion, ReducedModel, model_from_mobility
from robodyn.computation.cosimulation.scenario_inputs import MEAN, far_turns
from robodyn.computation.results import Outcome
from robodyn.description.files.reading import TableReader
from robodyn.description.files.table import FAILED, TomlTable
from robodyn.description.model import Interface

from .unit import FmuUnit


class InterfaceFmu(FmuUnit):
    """A unit with interfaces.

    Args:
        interfaces: as in the machine that the unit was written from.
        accelerations: outputs that are the accelerations of an interface's rows; by default those of the joint or
            coordinate that it is on.
        length: in units of which rotations are compared with displacements, for condition numbers [m].
        settings: those of `FmuUnit`.
    """

    keeps_motion = True

    def __init__(
        self,
        path: str | Path,
        name: str = "",
        *,
        interfaces: Sequence[Interface],
        accelerations: Mapping[str, Sequence[str]] | None = None,
        length: float = 1.0,
        **settings: Any,
    ) -> None:
        super().__init__(path, name, **settings)
        self.interfaces = {part.name: part for part in interfaces}
        self.length = length
        self._accelerations: dict[str, tuple[str, ...]] = {
            part.name: (f"{part.on}.acceleration",) for part in interfaces if part.on
        }
        self._accelerations |= {key: tuple(names) for key, names in (accelerations or {}).items()}
        self._giving = tuple(part for part in interfaces if part.takes != "force")
        self._impulse: dict[str, float] = {}
        self._since = self.time
        self._check_interfaces()
        for part in interfaces:
            # A force that comes in is reported back, so that both sides of a coupling can be compared.
            received = "force" if part.takes == "force" else MEAN
            self.outputs |= {
                name: self._unit_of(f) for name, f in zip(part.names(received), part.names("force"), strict=True)
            }

    def _unit_of(self, name: str) -> str:
        return self.variables[name].unit

    def read(self) -> dict[str, float]:
        """All outputs, and the mean force at each interface over the last step where this side has the coupling."""
        values = self.look([name for name in self.outputs if name in self.variables])
        for part in self._giving:
            forces = np.array([values[name] for name in part.names("force")])
            passed = self.time - self._since
            if passed > 0 and self._impulse:
                forces = np.array([values[name] - self._impulse[name] for name in part.names("impulse")]) / passed
            values |= _by_name(part, **{MEAN: forces})
        return values

    def advance(self, time: float, step: float) -> Outcome | None:
        """Go from one communication point to the next."""
        names = [name for part in self._giving for name in part.names("impulse")]
        self._impulse, self._since = self.look(names), time
        return super().advance(time, step)

    def reduced_model(self, interface: str) -> ReducedModel:
        """This unit as it is felt at an interface that takes a force or a model."""
        part = self.interfaces[interface]
        rows, forces = self._accelerations[interface], part.names("force")
        if part.rigid:
            mobility, free = self._detach(part)
        elif part.takes == "force":
            mobility = self.derivatives(rows, forces)
        else:
            far = (*part.names("far_position"), *far_turns(part))
            slopes = self.derivatives((*rows, *forces), far)
            mobility = np.linalg.solve(slopes[len(rows) :].T, slopes[: len(rows)].T).T
        if not part.rigid:
            free = np.array(self._get(rows)) - mobility @ np.array(self._get(forces))
        keys = ("position", "velocity", *(["orientation"] if part.rotates else []))
        position, velocity, *rotation = (np.array(self._get(part.names(key))) for key in keys)
        motion = InterfaceMotion(position, velocity, rotation[0].reshape(3, 3) if rotation else None)
        return model_from_mobility(mobility, free, motion, self.length)

    def _detach(self, part: Interface) -> tuple[Array, Array]:
        """Mobility and free acceleration without the model that is attached rigidly."""
        rows, k = self._accelerations[part.name], len(part.row_names)
        attached, lower = self.derivatives(rows, part.names("far_force")), np.zeros((k, k))
        lower[np.tril_indices(k)] = self._get(part.names("far_inertia"))
        inertia = lower + np.tril(lower, -1).T
        free = np.array(self._get(rows)) - attached @ np.array(self._get(part.names("far_force")))
        solution = np.linalg.solve(np.eye(k) - attached @ inertia, np.column_stack([attached, free]))
        mobility = solution[:, :k]
        return (mobility + mobility.T) / 2, solution[:, k]

    def attach_model(self, interface: str, model: ReducedModel, motion: InterfaceMotion | None) -> None:
        """Go on with the model of another unit behind an interface's stiffness, or rigidly with one's own motion."""
        part = self.interfaces[interface]
        rows = np.tril_indices(len(part.row_names))
        if part.rigid:
            self.change(_by_name(part, far_inertia=model.inertia[rows], far_force=model.force))
            return
        assert motion is not None
        values = _by_name(part, far_mobility=model.mobility[rows], far_acceleration=model.acceleration)
        if motion.rotation is not None:
            values |= _by_name(part, far_orientation=motion.rotation)
        states = _by_name(part, far_position=motion.position, far_velocity=motion.velocity)
        states |= dict.fromkeys(far_turns(part), 0.0)
        self.change(values | {f"initial.{name}": value for name, value in states.items()})

    def save(self) -> Any:
        """The present state, to come back to."""
        return super().save(), dict(self._impulse), self._since

    def restore(self, state: Any) -> None:
        """Go back to a state saved before."""
        saved, self._impulse, self._since = state
        super().restore(saved)

    def _check_interfaces(self) -> None:
        """Check that the variables which the interfaces need are there."""
        flaws = FlawList()
        for part in self.interfaces.values():
            needed = [*part.names("position"), *part.names("velocity"), *part.names("force")]
            needed += self._accelerations.get(part.name, ())
            if part.name not in self._accelerations:
                flaws.add(
                    f"interfaces.{part.name}", "its accelerations are not known", "name the outputs that they are"
                )
            for name in needed:
                if name not in self.variables:
                    flaws.add(f"interfaces.{part.name}", f"the unit has no '{name}'", nearest(name, self.variables))
        flaws.raise_if_any(f"unit '{self.name}'")


def _by_name(part: Interface, **quantities: Array) -> dict[str, float]:
    """Values of an interface's quantities by the names of their entries, matrices row by row."""
    values: dict[str, float] = {}
    for key, array in quantities.items():
        values |= dict(zip(part.names(key), array.ravel().tolist(), strict=True))
    return values


@frozen
class FmuSubsystem:
    """A unit of a co-simulation; the fields are those of `FmuUnit` and, with interfaces, of `InterfaceFmu`."""

    name: str
    path: Path
    duration: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    interfaces: tuple[Interface, ...] = ()
    accelerations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    length: float = 1.0

    def open(self, duration: float) -> FmuUnit:
        """The unit that the co-simulation moves."""
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


def read_fmu(name: str, table: TomlTable, folder: Path, duration: float | None) -> FmuSubsystem | None:
    """A subsystem `fmu = "FILE"`; its flaws are noted in the table."""
    path = table.text("fmu")
    # What they may be, the unit says when it is opened.
    parameters = table.table("set").flattened().data
    interfaces = list(TableReader(folder).group(table, "interfaces", (Interface,)).values())
    wanted = table.table("accelerations")
    accelerations = {key: wanted.texts(key) for key in wanted.data}
    length = table.number("length", "m", 1.0)
    table.finish()
    for key in accelerations:
        if key not in [part.name for part in interfaces if part is not FAILED]:
            table.flaws.add(wanted.at(key), "is not an interface of this unit", "they stand under 'interfaces'")
    if path is None or length is None or FAILED in interfaces:
        return None
    return FmuSubsystem(name, folder / path, duration, parameters, tuple(interfaces), accelerations, length)
