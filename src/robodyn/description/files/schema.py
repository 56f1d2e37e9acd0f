"""JSON Schema of scenario files, by which editors complete and check them: made from what the descriptions declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robodyn.description.laws import known_laws
from robodyn.description.model import Block, Description, Scenario, kinds
from robodyn.description.model.body import TENSOR, InertiaEntries
from robodyn.description.model.kinds import FieldKind
from robodyn.description.robots import BASES
from robodyn.description.structures.beams import SectionPart

from .composition import GROUPS
from .flexible_forms import ListOfTables, NodePlaces
from .laws_of_files import LAWS_OF_DATA
from .mechanism_tables import CONVENTIONS, RowForm
from .reading import forms_of, is_required, key_of, marked_words

Schema = dict[str, Any]
STRING, BOOLEAN = {"type": "string"}, {"type": "boolean"}
NUMBER: Schema = {"$ref": "#/$defs/number"}
DEFINED: Schema = {
    "number": {
        "description": 'a number in SI, or text with a unit such as "90 deg"',
        "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?(\d|\.\d|inf)"}],
    },
    "nested_numbers": {"type": "array", "items": {"anyOf": [NUMBER, {"$ref": "#/$defs/nested_numbers"}]}},
    "dotted_numbers": {
        "type": "object",
        "additionalProperties": {"anyOf": [NUMBER, {"$ref": "#/$defs/dotted_numbers"}]},
    },
    "dotted_vectors": {
        "type": "object",
        "additionalProperties": {
            "anyOf": [NUMBER, {"type": "array", "items": NUMBER}, {"$ref": "#/$defs/dotted_vectors"}]
        },
    },
    "dotted_texts": {"type": "object", "additionalProperties": {"anyOf": [STRING, {"$ref": "#/$defs/dotted_texts"}]}},
}

ROBOT: Schema = {
    "file": STRING,
    "base": {"enum": list(BASES)},
    "search": {"type": "array", "items": STRING},
    "keep_massless": BOOLEAN,
    "lock": {"anyOf": [{"type": "array", "items": STRING}, {"type": "object", "additionalProperties": NUMBER}]},
}
COMPOSITION: Schema = {
    "include": {
        "description": "files whose tables are merged in",
        "anyOf": [STRING, {"type": "array", "items": STRING}],
    },
    "robot": {
        "description": "a robot file (URDF, SDF, MJCF, xacro) whose machine is used",
        "anyOf": [STRING, {"type": "object", "properties": ROBOT, "required": ["file"], "additionalProperties": False}],
    },
    "templates": {"description": "tables of parts, used below", "additionalProperties": {"type": "object"}},
    "use": {
        "description": "parts of a template under another name, with other numbers",
        "additionalProperties": {"type": "object", "properties": {"template": STRING}, "required": ["template"]},
    },
}


def make_schema() -> Schema:
    """The schema of scenario files."""
    properties, required = _properties(Scenario)
    rows = {"type": "array", "items": _object((RowForm,)), "minItems": 1}
    dh = {"convention": {"enum": list(CONVENTIONS)}, "rows": rows}
    properties |= {
        "name": STRING | {"description": "name in summaries and reports; results are called after the file"},
        **{key: _tables(classes, whole=False) for key, classes in GROUPS.items()},
        "dh": {"type": "object", "properties": dh, "required": ["rows"], "additionalProperties": False},
    }
    properties |= COMPOSITION
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario of robodyn",
        "type": "object",
        "properties": properties,
        # What an included file or a robot file may say need not be said again: parts are then changed, not described.
        "if": {"not": {"anyOf": [{"required": ["include"]}, {"required": ["robot"]}]}},
        "then": {"properties": {key: _tables(classes) for key, classes in GROUPS.items()}},
        "anyOf": [
            {"required": [key for key in required if key not in ("bodies", "joints")]},
            {"required": ["include"]},
        ],
        "additionalProperties": False,
        "$defs": DEFINED,
    }


def _properties(cls: type[Description]) -> tuple[Schema, list[str]]:
    """Schemas of the keys of a description, and the keys that must be there."""
    words = marked_words(cls)
    properties: Schema = {key: {"enum": [word]} for key, word in words.items()}
    required = list(words)
    for name, kind in cls.KINDS.items():
        key, entry = key_of(name, kind)
        if isinstance(kind, kinds.Child) and kind.inline:
            inner = _properties(kind.classes[0])
            properties |= inner[0]
            required += inner[1]
        elif entry is not None:
            names = [own for own in cls.KINDS if key_of(own, cls.KINDS[own])[0] == key]
            properties.setdefault(key, _list(STRING, len(names)) | _about(kind))
            required += [key] if entry == 0 else []
        elif name != "name" or kind.key:
            properties[key] = _schema(kind) | _about(kind)
            required += [key] if is_required(cls, name) and name != "name" else []
            if isinstance(kind, kinds.Rotation):
                properties |= {"rpy": _list(NUMBER, 3), "quaternion": _list(NUMBER, 4)}
            if isinstance(kind, kinds.LawOrName) and cls is Block:
                for form in LAWS_OF_DATA.values():
                    properties |= _properties(form)[0]
    return properties, required


def _object(classes: Sequence[type[Description]], whole: bool = True) -> Schema:
    """A table of one of several classes, which their marks distinguish; whole, or some entries of it."""
    choices = []
    for cls in forms_of(classes):
        properties, required = _properties(cls)
        marks = [mark for mark in cls.MARKS if "=" not in mark]
        refused = {mark for other in forms_of(classes) for mark in other.MARKS} - {*cls.MARKS, *properties}
        choices.append(
            {
                "type": "object",
                "title": cls.__name__,
                "description": (cls.__doc__ or "").splitlines()[0],
                "properties": {key: value for key, value in properties.items() if key not in refused},
                "required": list(dict.fromkeys([*marks, *required])) if whole else [],
                "additionalProperties": False,
            }
        )
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _tables(classes: Sequence[type[Description]], whole: bool = True) -> Schema:
    return {"type": "object", "additionalProperties": _object(classes, whole)}


def _list(items: Schema, length: int | None = None) -> Schema:
    counted = {} if length is None else {"minItems": length, "maxItems": length}
    return {"type": "array", "items": items} | counted


def _about(kind: FieldKind) -> Schema:
    return {"description": kind.about} if kind.about else {}


def _schema(kind: Any) -> Schema:
    return next(SCHEMAS[cls] for cls in type(kind).__mro__ if cls in SCHEMAS)(kind)


def _count(kind: kinds.Count) -> Schema:
    return {"type": "integer", "minimum": kind.least} | ({} if kind.most is None else {"maximum": kind.most})


def _vector(kind: kinds.Vector) -> Schema:
    if kind.units:
        entries = dict.fromkeys(kind.suffixes, NUMBER)
        return {"type": "object", "properties": entries, "additionalProperties": False}
    return _list(NUMBER, kind.length)


def _inertia(kind: InertiaEntries) -> Schema:
    entries = {"type": "object", "properties": dict.fromkeys(TENSOR, NUMBER), "additionalProperties": False}
    return {"anyOf": [_list(NUMBER, 3), _list(NUMBER, 6), _list(_list(NUMBER, 3), 3), entries]}


def _mapping(*values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values[0] if len(values) == 1 else {"anyOf": list(values)}}


def _numbers(kind: kinds.NamedNumbers) -> Schema:
    if kind.dotted:
        return {"$ref": f"#/$defs/dotted_{'vectors' if kind.lists else 'numbers'}"}
    return _mapping(NUMBER, _list(NUMBER)) if kind.lists else _mapping(NUMBER)


def _reference_map(kind: kinds.ReferenceMap) -> Schema:
    if kind.keys_to:
        return {"$ref": "#/$defs/dotted_texts"}
    return _mapping(STRING, {"type": "number"}, {"type": "array"}) if kind.several else _mapping(STRING)


def _law(kind: kinds.LawOrName) -> Schema:
    return {"anyOf": [{"enum": [*LAWS_OF_DATA, *sorted(known_laws())]}, {"type": "string", "pattern": ":"}]}


def _array(kind: kinds.Array) -> Schema:
    return {"$ref": "#/$defs/nested_numbers"} if kind.of == "number" else {"type": "array"}


SCHEMAS: dict[type, Callable[[Any], Schema]] = {
    FieldKind: lambda kind: STRING,
    kinds.Flag: lambda kind: BOOLEAN,
    kinds.Choice: lambda kind: {"enum": list(kind.options)},
    kinds.Count: _count,
    kinds.Texts: lambda kind: _list({"enum": list(kind.options)} if kind.options else STRING),
    kinds.Quantity: lambda kind: NUMBER,
    kinds.Quantities: lambda kind: {"anyOf": [NUMBER, _list(NUMBER)]},
    kinds.Vector: _vector,
    InertiaEntries: _inertia,
    kinds.Rotation: lambda kind: _list(_list(NUMBER, 3), 3),
    kinds.Array: _array,
    kinds.Target: lambda kind: {"type": ["string", "number"]},
    kinds.FactorMap: lambda kind: _mapping(NUMBER),
    kinds.ReferenceMap: _reference_map,
    kinds.NamedNumbers: _numbers,
    kinds.Function: lambda kind: {"type": "string", "pattern": ":"},
    kinds.LawOrName: _law,
    kinds.Child: lambda kind: _object(kind.classes),
    kinds.Children: lambda kind: _tables(kind.classes),
    NodePlaces: lambda kind: _mapping(_list(NUMBER, 3)),
    ListOfTables: lambda kind: _list(_object(kind.classes)),
    SectionPart: lambda kind: {"anyOf": [STRING, _object(kind.classes)]},
}
