"""Field declarations: each fact about a field of a description is said once, in its one line.

    length: float = quantity("m", positive=True, doc="distance of the points")
    start: str = reference("point", key="rod[0]")

Further words that each of these functions takes are the attributes of `FieldKind`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from robodyn.description.model import kinds

from .kinds import Bounds, FieldKind
from .numbers import XYZ, FrozenDict

MISSING: Any = dataclasses.MISSING
ZERO = (0.0, 0.0, 0.0)
X_AXIS, Y_AXIS, Z_AXIS = IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
EMPTY: Mapping[str, Any] = FrozenDict()


def declare(make: type[FieldKind], default: Any, *arguments: Any, **words: Any) -> Any:
    """A field of a kind; None as its default, or `none`, allows None."""
    kind = make(*arguments, optional=words.pop("none", False) or default is None, **words)
    return dataclasses.field(default=default, metadata={"kind": kind})


def declare_as(other: Any, name: str) -> Any:
    """A field that is declared as that of another description."""
    like = other.__dataclass_fields__[name]
    return dataclasses.field(default=like.default, metadata=like.metadata)


def _field(make: type[FieldKind]) -> Callable[..., Any]:
    """The function that declares fields of a kind: `unit` and what else it is of, `default`, attributes of the kind."""
    bounded = any(field.name == "bounds" for field in dataclasses.fields(make))
    limits = {field.name for field in dataclasses.fields(Bounds)} if bounded else set()

    def field(*arguments: Any, default: Any = MISSING, **words: Any) -> Any:
        bounds = {word: words.pop(word) for word in limits & words.keys()}
        return declare(make, default, *arguments, **words, **({"bounds": Bounds(**bounds)} if bounds else {}))

    field.__doc__ = make.__doc__
    return field


part_name = _field(kinds.PartName)
"""The part's own name."""
text = _field(kinds.AnyText)
file = _field(kinds.File)
"""The path of a file, in files from the folder of the scenario's."""
texts = _field(kinds.Texts)
"""A list of texts, which are called by a noun."""
flag = _field(kinds.Flag)
choice = _field(kinds.Choice)
"""One of several words."""
whole_number = _field(kinds.Count)
quantity = _field(kinds.Quantity)
"""A number with a unit; bounds are words of `Bounds`."""
quantities = _field(kinds.Quantities)
"""A number, or several."""
unit_vector = _field(kinds.UnitVector)
rotation_matrix = _field(kinds.Rotation)
array = _field(kinds.Array)
"""Numbers in nested lists."""
reference = _field(kinds.Reference)
"""The name of another part, or of a signal."""
references = _field(kinds.ReferenceList)
"""Names of other parts."""
weights = _field(kinds.FactorMap)
"""Factors by the name of what they belong to."""
target = _field(kinds.Target)
"""A signal, or a number in its place."""
reference_map = _field(kinds.ReferenceMap)
"""Names of other parts, or of signals, by what they are for."""
text_map = _field(kinds.TextMap)
"""Texts by what they are for."""
numbers = _field(kinds.NamedNumbers)
"""Numbers by name, in the units of a law."""
plain_function = _field(kinds.Function)
law_or_name = _field(kinds.LawOrName)
"""A law by name, or a function."""


def vector(unit: str, length: int | None = 3, *, make: type[FieldKind] = kinds.Vector, **words: Any) -> Any:
    """Several numbers; of three of a description the names end in x, y, z."""
    suffixes = words.pop("suffixes", XYZ if length == 3 else ())
    return _field(make)(unit, length, suffixes, **words)


def place(**words: Any) -> Any:
    """A place in a frame [m]."""
    return vector("m", placed=True, **words)


def child(*classes: type, **words: Any) -> Any:
    """A description within the description."""
    return _field(kinds.Child)(classes, **words)


def children(*classes: type, **words: Any) -> Any:
    """Descriptions that have names, in order."""
    return _field(kinds.Children)(classes, **words)
