"""Field declarations: each fact about a field of a description is said once, in its one line.

    length: float = quantity("m", positive=True, doc="distance of the points")
    start: str = reference("point", key="rod[0]")

Further words that each of these functions takes are the attributes of `Kind`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from robodyn.model import kinds, referring_kinds, vector_kinds
from robodyn.model.frozen import FrozenDict
from robodyn.model.kinds import Bounds, Kind
from robodyn.model.numbers import XYZ

MISSING: Any = dataclasses.MISSING
ZERO, Z_AXIS = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
EMPTY: Mapping[str, Any] = FrozenDict()


def declare(make: type[Kind], default: Any, *arguments: Any, **words: Any) -> Any:
    """A field of a kind; None as its default, or `none`, allows None."""
    kind = make(*arguments, optional=words.pop("none", False) or default is None, **words)
    return dataclasses.field(default=default, metadata={"kind": kind})


def declare_as(other: Any, name: str) -> Any:
    """A field that is declared as that of another description."""
    like = other.__dataclass_fields__[name]
    return dataclasses.field(default=like.default, metadata=like.metadata)


def _bounded(words: dict[str, Any]) -> dict[str, Any]:
    limits = {field.name: words.pop(field.name) for field in dataclasses.fields(Bounds) if field.name in words}
    return words | {"bounds": Bounds(**limits)}


def part_name(**words: Any) -> Any:
    """The part's own name."""
    return declare(kinds.Name, MISSING, **words)


def text(*, default: Any = MISSING, **words: Any) -> Any:
    return declare(kinds.Text, default, **words)


def file(*, default: Any = MISSING, **words: Any) -> Any:
    """The path of a file, in files from the folder of the scenario's."""
    return declare(kinds.File, default, **words)


def texts(noun: str, *, default: Any = MISSING, **words: Any) -> Any:
    """A list of texts, which are called by a noun."""
    return declare(kinds.Texts, default, noun, **words)


def flag(*, default: Any = MISSING, **words: Any) -> Any:
    return declare(kinds.Flag, default, **words)


def choice(options: Iterable[str], *, default: Any = MISSING, **words: Any) -> Any:
    """One of several words."""
    return declare(kinds.Choice, default, tuple(options), **words)


def whole_number(*, least: int = 0, default: Any = MISSING, **words: Any) -> Any:
    """A whole number."""
    return declare(kinds.Count, default, least, **words)


def quantity(unit: str | Mapping[str, str] = "", *, default: Any = MISSING, **words: Any) -> Any:
    """A number with a unit; bounds are words of `Bounds`."""
    return declare(kinds.Quantity, default, unit, **_bounded(words))


def quantities(unit: str = "", *, default: Any = MISSING, **words: Any) -> Any:
    """A number, or several."""
    return declare(kinds.Quantities, default, unit, **_bounded(words))


def vector(unit: str, length: int | None = 3, *, default: Any = MISSING, **words: Any) -> Any:
    """Several numbers; of three of a description the names end in x, y, z."""
    suffixes = words.pop("suffixes", XYZ if length == 3 else ())
    make = words.pop("make", vector_kinds.Vector)
    return declare(make, default, unit, length, suffixes, **_bounded(words))


def place(*, default: Any = MISSING, **words: Any) -> Any:
    """A place in a frame [m]."""
    return vector("m", default=default, placed=True, **words)


def unit_vector(*, default: Any = MISSING, **words: Any) -> Any:
    """A unit vector."""
    return declare(vector_kinds.Direction, default, **words)


def rotation_matrix(*, default: Any = MISSING, **words: Any) -> Any:
    """A rotation matrix."""
    return declare(vector_kinds.Rotation, default, **words)


def array(unit: str = "", *, default: Any = MISSING, **words: Any) -> Any:
    """Numbers in nested lists."""
    return declare(vector_kinds.Array, default, unit, **words)


def reference(to: str, *, default: Any = MISSING, **words: Any) -> Any:
    """The name of another part, or of a signal."""
    return declare(referring_kinds.Reference, default, to, **words)


def references(to: str, *, default: Any = MISSING, **words: Any) -> Any:
    """Names of other parts."""
    return declare(referring_kinds.References, default, to, **words)


def weights(to: str, *, default: Any = MISSING, **words: Any) -> Any:
    """Factors by the name of what they belong to."""
    return declare(referring_kinds.Weights, default, to, **words)


def target(written: str, *, default: Any = MISSING, **words: Any) -> Any:
    """A signal, or a number in its place."""
    return declare(referring_kinds.Target, default, "signal", written, **words)


def reference_map(to: str, *, default: Any = MISSING, **words: Any) -> Any:
    """Names of other parts, or of signals, by what they are for."""
    return declare(referring_kinds.ReferenceMap, default, to, **words)


def text_map(*, default: Any = MISSING, **words: Any) -> Any:
    """Texts by what they are for."""
    return declare(referring_kinds.TextMap, default, "", **words)


def numbers(law: str = "", *, default: Any = MISSING, **words: Any) -> Any:
    """Numbers by name, in the units of a law."""
    return declare(referring_kinds.Numbers, default, law, **words)


def plain_function(*, default: Any = MISSING, **words: Any) -> Any:
    return declare(referring_kinds.Function, default, **words)


def law_or_name(*, default: Any = MISSING, **words: Any) -> Any:
    """A law by name, or a function."""
    return declare(referring_kinds.Law, default, **words)


def child(*classes: type, default: Any = MISSING, **words: Any) -> Any:
    """A description within the description."""
    return declare(referring_kinds.Part, default, classes, **words)


def children(*classes: type, default: Any = MISSING, **words: Any) -> Any:
    """Descriptions that have names, in order."""
    return declare(referring_kinds.Parts, default, classes, **words)
