"""Connections of units: which output goes to which input? Interfaces and single signals, and their exchanges.

What the two interfaces of a connection take says how they are coupled:

| one side takes | the other | coupling |
| --- | --- | --- |
| force | motion | force-displacement |
| motion | motion | displacement-displacement: each side has the elastic part of the coupling |
| force | model | reduced interface model of the first in the second, whose force goes back |
| model | model | reduced interface models in both directions |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.cosimulation.capabilities import interfaces_of
from robodyn.computation.cosimulation.interface_merge import JOININGS
from robodyn.computation.cosimulation.polynomials import HIGHEST_ORDER
from robodyn.computation.cosimulation.port_signals import MEAN
from robodyn.computation.cosimulation.unit import Unit
from robodyn.description.model import Description, Interface
from robodyn.description.model.fields import choice, flag, quantity, reference, whole_number

ORDER = "of the polynomials by which it goes on between exchanges; 0 holds it"


class Connection(Description):
    """Two interfaces that are one place: their signals, and the forces of reduced models.

    Two sides that take models and are joined rigidly come together at an exchange each by the other's share of the
    inertia ("inertia"), or both halfway ("mean"); or each keeps its own motion, and they drift apart ("none").
    """

    NOUN = "connection"

    first: str = reference("interface", key="between[0]", doc="two interfaces, `unit.interface`")
    second: str = reference("interface", key="between[1]")
    order: int = whole_number(most=HIGHEST_ORDER, default=0, doc=ORDER)
    mean: bool | None = flag(
        default=None,
        doc="whether a force is sent as its mean over the last macro step, not as it is",
        absent="where the force of a reduced model goes back",
    )
    join: str | None = choice(
        JOININGS, default=None, doc="how sides joined rigidly come together", absent=f'`"{JOININGS[0]}"`'
    )
    implicit: bool = flag(
        default=False, doc="whether reduced models hold what their forces become within the macro step, to first order"
    )

    @property
    def name(self) -> str:
        """Both interfaces, `first-second`."""
        return f"{self.first}-{self.second}"


class SignalConnection(Description):
    """One signal that feeds one input: `input = gain output`."""

    NOUN = "signal connection"

    source: str = reference("output", doc="`unit.output`")
    target: str = reference("input", doc="`unit.input`")
    order: int = whole_number(most=HIGHEST_ORDER, default=0, doc=ORDER)
    gain: float = quantity(default=1.0, doc="by which it is multiplied")


@dataclass(frozen=True)
class Channel:
    """Signals of one unit that feed inputs of another together.

    Attributes:
        late: whether they depend on what is sent in the same exchange, and are read after that.
        mean: whether they are means over the last macro step.
    """

    source: str
    outputs: tuple[str, ...]
    target: str
    inputs: tuple[str, ...]
    order: int = 0
    gain: float = 1.0
    late: bool = False
    mean: bool = False


@dataclass(frozen=True)
class Side:
    """One end of a connection."""

    unit: str
    interface: Interface

    @property
    def elastic(self) -> bool:
        """Whether this side has the elastic part of the coupling."""
        return self.interface.stiffness is not None


@dataclass(frozen=True)
class InterfacePair:
    """A connection made ready: its two sides, the channels and the directions in which reduced models go.

    Attributes:
        models: (sender, receiver) as numbers of sides.
    """

    name: str
    sides: tuple[Side, Side]
    channels: tuple[Channel, ...]
    models: tuple[tuple[int, int], ...]
    order: int = 0
    join: str = JOININGS[0]
    implicit: bool = False

    @property
    def merged(self) -> bool:
        """Whether both sides are joined rigidly and neither leads."""
        return len(self.models) == 2 and not self.sides[0].elastic


def make_bonds(units: Mapping[str, Unit], connections: Sequence[Connection], flaws: FlawList) -> list[InterfacePair]:
    """The exchanges that connections come to; what does not fit is reported."""
    found = []
    for k, connection in enumerate(connections):
        path = f"connections[{k}]"
        named = {"first": connection.first, "second": connection.second}
        sides = [_find_side(units, text, f"{path}.{key}", flaws) for key, text in named.items()]
        if sides[0] is None or sides[1] is None:
            continue
        pair = _make_interface_pair(connection, (sides[0], sides[1]), path, flaws)
        if pair is not None:
            found.append(pair)
    return found


def _find_side(units: Mapping[str, Unit], text: str, path: str, flaws: FlawList) -> Side | None:
    parts = [(name, key, part) for name, unit in units.items() for key, part in interfaces_of(unit).items()]
    known = {f"{name}.{key}": Side(name, part) for name, key, part in parts}
    if text not in known:
        flaws.add(path, f"there is no interface '{text}'", nearest(text, known))
    return known.get(text)


def _make_interface_pair(
    connection: Connection, sides: tuple[Side, Side], path: str, flaws: FlawList
) -> InterfacePair | None:
    takes = tuple(side.interface.takes for side in sides)
    n_before = len(flaws.found)
    _check_bond(connection, sides, takes, path, flaws)
    if len(flaws.found) > n_before:
        return None
    channels, models = [], []
    for this, other in ((0, 1), (1, 0)):
        if takes[this] == "model":
            models.append((other, this))
        elif takes[this] == "motion":
            channels += _motion_channels(sides[other], sides[this], connection.order)
        else:
            mean = connection.mean if connection.mean is not None else takes[other] == "model"
            channels.append(_force_channel(sides[other], sides[this], connection.order, mean))
    how = connection.order, connection.join or JOININGS[0], connection.implicit
    return InterfacePair(connection.name, sides, tuple(channels), tuple(models), *how)


def _check_bond(connection: Connection, sides: tuple[Side, Side], takes: Any, path: str, flaws: FlawList) -> None:
    rows = [side.interface.row_names for side in sides]
    if len(rows[0]) != len(rows[1]):
        flaws.add(
            path, f"couples {len(rows[0])} rows with {len(rows[1])}", "both must be joints, points or turning points"
        )
    elif all(side.interface.point for side in sides) and rows[0] != rows[1]:
        flaws.add(path, f"couples rows {', '.join(rows[0])} with {', '.join(rows[1])}", "choose the same rows")
    if sides[0].unit == sides[1].unit:
        flaws.add(path, "couples a unit with itself", "a constraint or a spring within the scenario does that")
    if takes == ("force", "force"):
        flaws.add(path, "both sides take a force, none gives one", "let one side take the motion or a model")
    elif set(takes) == {"motion", "model"}:
        flaws.add(path, "one side takes a motion, the other a model", "let both take the same, or one a force")
    elif takes == ("model", "model") and sides[0].elastic != sides[1].elastic:
        flaws.add(path, "one side is elastic, the other rigid", "give both the same stiffness, or none")
    if connection.mean is not None and "force" not in takes:
        flaws.add(f"{path}.mean", "has no effect", "no force is sent")
    if connection.join is not None and (takes != ("model", "model") or sides[0].elastic):
        flaws.add(f"{path}.join", "has no effect", "only sides that both take a model, rigidly, are joined")
    if connection.implicit and not any(side.interface.rigid for side in sides):
        flaws.add(f"{path}.implicit", "has no effect", "only models that are attached rigidly can be implicit")
    if connection.implicit and connection.order:
        flaws.add(f"{path}.implicit", "knows how forces go on, order too", "connect it with order 0")


def _motion_channels(source: Side, target: Side, order: int) -> list[Channel]:
    quantities = ["position", "velocity"] + (["orientation"] if target.interface.rotates else [])
    return [
        Channel(source.unit, source.interface.names(key), target.unit, target.interface.names(f"far_{key}"), order)
        for key in quantities
    ]


def _force_channel(source: Side, target: Side, order: int, mean: bool) -> Channel:
    """The force on the source's side is the opposite of that on the target's."""
    outputs = source.interface.names(MEAN if mean else "force")
    return Channel(source.unit, outputs, target.unit, target.interface.names("force"), order, -1.0, not mean, mean)


def make_channels(
    units: Mapping[str, Unit], signal_connections: Sequence[SignalConnection], flaws: FlawList
) -> list[Channel]:
    """Links of single signals, checked."""
    found = []
    outputs = {f"{name}.{key}": (name, key) for name, unit in units.items() for key in unit.outputs}
    inputs = {f"{name}.{key}": (name, key) for name, unit in units.items() for key in unit.inputs}
    for k, link in enumerate(signal_connections):
        ends = {"output": (link.source, outputs), "input": (link.target, inputs)}
        known = True
        for (noun, (text, names)), key in zip(ends.items(), ("source", "target"), strict=True):
            if text not in names:
                flaws.add(f"signal_connections[{k}].{key}", f"there is no {noun} '{text}'", nearest(text, names))
                known = False
        if known:
            (source, output), (target, entry) = outputs[link.source], inputs[link.target]
            found.append(Channel(source, (output,), target, (entry,), link.order, link.gain))
    return found


def check_fed_once(channels: Sequence[Channel], flaws: FlawList) -> None:
    """No input may be fed twice."""
    fed: set[tuple[str, str]] = set()
    for channel in channels:
        for name in channel.inputs:
            if (channel.target, name) in fed:
                flaws.add(f"{channel.target}.{name}", "is fed twice", "connect it once")
            fed.add((channel.target, name))
