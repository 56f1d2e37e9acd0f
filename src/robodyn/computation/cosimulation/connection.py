"""Connections of units: which output goes to which input? Interfaces and single signals, and their exchanges.

What the two interfaces of a connection take says how they are coupled:

| one side takes | the other | coupling |
| --- | --- | --- |
| force | motion | force-displacement |
| motion | motion | displacement-displacement: each side has the elastic part of the coupling |
| force | model | reduced interface model of the first in the second, whose force goes back |
| model | model | reduced interface models in both directions |

An interface meets one other at most, and no reduced model may come back to where it came from.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from robodyn.base import FlawList, frozen, nearest
from robodyn.description.model import Description, Interface
from robodyn.description.model.fields import choice, flag, quantity, reference, whole_number

from .reduced import JOININGS
from .scenario_inputs import HIGHEST_ORDER, MEAN, expected_outputs
from .unit import Unit, abilities_of

ORDER = "of the polynomials that extrapolate it between exchanges; 0 holds it"


class Connection(Description):
    """A connection of two interfaces: their signals, and the forces of reduced models.

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
        JOININGS, default=None, doc="how rigidly joined sides are brought together", absent=f'`"{JOININGS[0]}"`'
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


@frozen
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


@frozen
class Side:
    """One end of a connection."""

    unit: str
    interface: Interface

    @property
    def elastic(self) -> bool:
        """Whether this side has the elastic part of the coupling."""
        return self.interface.stiffness is not None

    @property
    def expected(self) -> list[str]:
        """Outputs that say what this side takes the motion of the other for."""
        return expected_outputs(self.interface)


@frozen
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


def pair_interfaces(
    units: Mapping[str, Unit], connections: Sequence[Connection], flaws: FlawList
) -> list[InterfacePair]:
    """The exchanges that connections come to; what does not fit is reported."""
    interfaces = {name: abilities_of(unit).interfaces for name, unit in units.items()}
    known = {f"{name}.{key}": Side(name, part) for name, own in interfaces.items() for key, part in own.items()}
    pairs = []
    for k, connection in enumerate(connections):
        path, before = f"connections[{k}]", len(flaws.found)
        for key, text in (("first", connection.first), ("second", connection.second)):
            if text not in known:
                flaws.add(f"{path}.{key}", f"there is no interface '{text}'", nearest(text, known))
        if len(flaws.found) > before:
            continue
        sides = known[connection.first], known[connection.second]
        _check_pair(connection, sides, path, flaws)
        if len(flaws.found) == before:
            pairs.append(_make_interface_pair(connection, sides))
    return pairs


def _make_interface_pair(connection: Connection, sides: tuple[Side, Side]) -> InterfacePair:
    takes = [side.interface.takes for side in sides]
    channels, models = [], []
    for this, other in ((0, 1), (1, 0)):
        if takes[this] == "model":
            models.append((other, this))
        elif takes[this] == "motion":
            quantities = ["position", "velocity"] + (["orientation"] if sides[this].interface.rotates else [])
            for key in quantities:
                outputs, inputs = sides[other].interface.names(key), sides[this].interface.names(f"far_{key}")
                channels.append(Channel(sides[other].unit, outputs, sides[this].unit, inputs, connection.order))
        else:
            mean = connection.mean if connection.mean is not None else takes[other] == "model"
            # The force on the source's side is the opposite of that on the target's.
            outputs = sides[other].interface.names(MEAN if mean else "force")
            inputs = sides[this].interface.names("force")
            how = connection.order, -1.0, not mean, mean
            channels.append(Channel(sides[other].unit, outputs, sides[this].unit, inputs, *how))
    settings = connection.order, connection.join or JOININGS[0], connection.implicit
    return InterfacePair(connection.name, sides, tuple(channels), tuple(models), *settings)


def _check_pair(connection: Connection, sides: tuple[Side, Side], path: str, flaws: FlawList) -> None:
    takes: tuple[str, ...] = tuple(side.interface.takes for side in sides)
    rows = [side.interface.row_names for side in sides]
    if len(rows[0]) != len(rows[1]):
        flaws.add(
            path, f"couples {len(rows[0])} rows with {len(rows[1])}", "both must be joints, points or turning points"
        )
    elif all(side.interface.point for side in sides) and rows[0] != rows[1]:
        flaws.add(path, f"couples rows {', '.join(rows[0])} with {', '.join(rows[1])}", "choose the same rows")
    if sides[0].unit == sides[1].unit:
        flaws.add(path, "couples a subsystem with itself", "a constraint or a spring within the scenario does that")
    if takes == ("force", "force"):
        flaws.add(path, "both sides receive a force, none provides one", "let one side receive the motion or a model")
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
        flaws.add(f"{path}.implicit", "extrapolates forces already, as order does", "connect it with order 0")


def make_channels(
    units: Mapping[str, Unit], signal_connections: Sequence[SignalConnection], flaws: FlawList
) -> list[Channel]:
    """Links of single signals, checked."""
    channels = []
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
            channels.append(Channel(source, (output,), target, (entry,), link.order, link.gain))
    return channels


def check_fed_once(channels: Sequence[Channel], flaws: FlawList) -> None:
    """No input may be fed twice."""
    fed: set[tuple[str, str]] = set()
    for channel in channels:
        for name in channel.inputs:
            if (channel.target, name) in fed:
                flaws.add(f"{channel.target}.{name}", "is connected twice", "connect it once")
            fed.add((channel.target, name))


Place = tuple[str, str]
"""Unit and interface."""


def check_meeting(units: Mapping[str, Unit], pairs: Sequence[InterfacePair], flaws: FlawList) -> None:
    """Report interfaces and models that do not fit together over all connections."""
    for (unit, interface), count in Counter(place for pair in pairs for place in _places(pair)).items():
        if count > 1:
            flaws.add(f"{unit}.{interface}", f"is in {count} connections", "give each an interface of its own")
    for pair in pairs:
        for sender, receiver in pair.models:
            _check_exchange(units, pair, (sender, receiver), flaws)
    circle = _find_circle(pairs)
    if circle:
        what = f"reduced models form a loop: {', '.join('.'.join(place) for place in circle)}"
        flaws.add("connections", what, "attach one of them through a stiffness, or couple it by signals")


def find_idle(units: Mapping[str, Unit], pairs: Sequence[InterfacePair], fed: Sequence[str]) -> list[str]:
    """Interfaces that wait for a motion or a model that nothing gives, as "unit.interface".

    Args:
        fed: "unit.input" of all links.
    """
    met = {place for pair in pairs for place in _places(pair)}
    return [
        f"{name}.{key}"
        for name, unit in units.items()
        for key, part in abilities_of(unit).interfaces.items()
        if part.takes != "force" and (name, key) not in met and not part.given
        if not any(f"{name}.{entry}" in fed for entry in part.incoming)
    ]


def _check_exchange(units: Mapping[str, Unit], pair: InterfacePair, way: tuple[int, int], flaws: FlawList) -> None:
    names = [pair.sides[k].unit for k in way]
    sender, receiver = (abilities_of(units[name]) for name in names)
    if sender.reduced_model is None:
        flaws.add(names[0], "has no reduced_model", "couple it by signals")
    elif pair.implicit and "step" not in inspect.signature(sender.reduced_model).parameters:
        flaws.add(names[0], "has no implicit models", "connect it without implicit")
    if receiver.attach_model is None:
        flaws.add(names[1], "has no attach_model", "couple it by signals")
    elif _sets_motion(pair, way[1]) and receiver.keeps_motion:
        place, what = ".".join(_places(pair)[way[1]]), "takes a model rigidly, which would set its joints"
        remedy = 'let both sides take a model, with join = "none"; or attach it through a stiffness'
        flaws.add(place, what, remedy)
    elif pair.order and "trend" not in inspect.signature(receiver.attach_model).parameters:
        place = ".".join(_places(pair)[way[1]])
        flaws.add(place, f"models of order {pair.order} are more than it takes", "connect it with order 0")


def _sets_motion(pair: InterfacePair, receiver: int) -> bool:
    """Whether a side goes on with another motion than its own after an exchange."""
    apart = pair.merged and pair.join == "none"
    return pair.sides[receiver].interface.rigid and not apart


def _places(pair: InterfacePair) -> list[Place]:
    return [(side.unit, side.interface.name) for side in pair.sides]


def _find_circle(pairs: Sequence[InterfacePair]) -> list[Place]:
    """A model that is part of itself, with all on its way; the model of a unit at one interface holds those that are
    attached rigidly to the unit's others."""
    attached: dict[Place, Place] = {}
    for pair in pairs:
        places = _places(pair)
        attached |= {places[to]: places[of] for of, to in pair.models if pair.sides[to].interface.rigid}
    holds = {
        place: [model for at, model in attached.items() if at[0] == place[0] and at != place]
        for place in attached.values()
    }
    try:
        TopologicalSorter(holds).prepare()
    except CycleError as error:
        # From each to what it holds; the first stands at the end too.
        return list(error.args[1][:0:-1])
    return []
