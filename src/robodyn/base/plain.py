"""Plain values: a result as JSON, the JSON Schema of its type, and texts in columns.

A frozen class is written field by field, or as its text `JSON` says, a line for each key:

    crossover: [Hz]                 a field or property of this name, and what it means
    end_time = outcome.time: [s]    one under another key, or of a part
    errors?                         left out where it is None
    *margins                        all keys of that part
    ...                             all fields

Types come from the annotations, so that what is printed and what is promised cannot differ. Numbers that are not
finite, which JSON does not know, are null.
"""

from __future__ import annotations

import ast
import dataclasses
import math
import re
import sys
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from .records import frozen

Plain = dict[str, Any]
_LINE = re.compile(r"(\*?)([\w.]+)(\??)(?: = ([\w.]+))?(?:: (.*))?")
_SIMPLE: dict[Any, Plain] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    complex: {"type": "array", "items": {"type": ["number", "null"]}},
    type(None): {"type": "null"},
    Path: {"type": "string"},
}


@frozen
class Key:
    """A key of a class's JSON: where its value comes from and what it means."""

    name: str
    attribute: str
    meaning: str = ""
    optional: bool = False
    spread: bool = False


@cache
def keys_of(kind: Any) -> tuple[Key, ...]:
    """The keys of a class, as its text `JSON` says, else one for each field."""
    text = next((base.__dict__["JSON"] for base in kind.__mro__ if "JSON" in base.__dict__), "...")
    keys = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "...":
            keys += [Key(field.name, field.name) for field in dataclasses.fields(kind)]
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, f"{kind.__name__}.JSON: {line}"
        spread, name, optional, attribute, meaning = match.groups()
        keys.append(Key(name, attribute or name, meaning or "", bool(optional), bool(spread)))
    return tuple(keys)


def to_plain(value: Any) -> Any:
    """A value as dictionaries, lists, texts and finite numbers."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, complex):
        return [to_plain(value.real), to_plain(value.imag)]
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(entry) for entry in value]
    if dataclasses.is_dataclass(value):
        return _object(value)
    # Arrays and scalars of NumPy.
    return to_plain(value.tolist())


def _object(value: Any) -> Plain:
    plain: Plain = {}
    kind: Any = type(value)
    for key in keys_of(kind):
        part = value
        for name in key.attribute.split("."):
            part = None if part is None else getattr(part, name)
        entry = to_plain(part)
        if key.spread:
            plain |= entry
        elif entry is not None or not key.optional:
            plain[key.name] = entry
    return plain


def schema_of(annotation: Any) -> Plain:
    """The JSON Schema of what `to_plain` makes of a value of this type; empty, anything, where that is not known."""
    if annotation in _SIMPLE:
        return dict(_SIMPLE[annotation])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return schema_of(arguments[0]) | {"description": arguments[1]}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (Union, types.UnionType):
        # One of several: as one type where only null is added to it.
        schemas = [schema_of(argument) for argument in arguments]
        some = [schema for schema in schemas if schema != {"type": "null"}]
        if len(some) == len(schemas) or len(some) != 1 or "type" not in some[0]:
            return {"anyOf": list(schemas)} if len(schemas) > 1 and {} not in schemas else {}
        types_there = some[0]["type"]
        types_ = types_there if isinstance(types_there, list) else [types_there]
        return some[0] | {"type": list(dict.fromkeys([*types_, "null"]))}
    if isinstance(origin, type) and issubclass(origin, Counter):
        return {"type": "object", "additionalProperties": {"type": "integer"}}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        alike = len(set(arguments) - {...}) == 1
        return {"type": "array"} | ({"items": schema_of(arguments[0])} if alike else {})
    if dataclasses.is_dataclass(annotation):
        return _object_schema(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {"type": "string"}
    if isinstance(annotation, type) and issubclass(annotation, Mapping):
        return {"type": "object"}
    return {"type": "array"} if "ndarray" in str(annotation) else {}


def _object_schema(kind: Any) -> Plain:
    properties: Plain = {}
    required: list[str] = []
    others: Any = False
    for key in keys_of(kind):
        part: Any = kind
        for name in key.attribute.split("."):
            part = _annotation(_without_none(part), name)
        schema = schema_of(_without_none(part) if key.optional else part)
        if key.spread:
            properties |= schema.get("properties", {})
            required += schema.get("required", [])
            others = others or schema.get("additionalProperties", True)
            continue
        properties[key.name] = schema | ({"description": key.meaning} if key.meaning else {})
        required += [] if key.optional else [key.name]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": others}


def _without_none(annotation: Any) -> Any:
    """X of X | None."""
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    some = [argument for argument in get_args(annotation) if argument is not type(None)]
    return some[0] if len(some) == 1 else annotation


def _annotation(kind: Any, name: str) -> Any:
    """The type of a field or property, evaluated in the module that declares it; Any where it is not loaded there."""
    for base in kind.__mro__:
        member = base.__dict__.get(name)
        if isinstance(member, property):
            text = member.fget.__annotations__["return"] if member.fget else Any
        elif name in base.__dict__.get("__annotations__", {}):
            text = base.__annotations__[name]
        else:
            continue
        return evaluate(text, base.__module__)
    return Any


def evaluate(annotation: Any, module: str) -> Any:
    """An annotation of a module as a type; names that it imports for type checkers alone are imported for that."""
    if not isinstance(annotation, str):
        return annotation
    names = dict(vars(sys.modules[module]))
    try:
        return eval(annotation, names)
    except NameError:
        return eval(annotation, names | _names_of_checkers(module))


@cache
def _names_of_checkers(module: str) -> Plain:
    tree = ast.parse(Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8"))
    names: Plain = {"__package__": sys.modules[module].__package__, "__name__": module}
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return names


def align(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Columns of equal width; each side is "<" for texts, ">" for numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        lines.append("  ".join(padded).rstrip())
    return lines
