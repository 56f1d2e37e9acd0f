"""Which keys do scenario files have? Writes the tables in docs/toml.md from what the descriptions declare.

Run it after a description has changed: `python docs/make_key_tables.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from robodyn.description.files.composition import keys_of
from robodyn.description.files.flexible_forms import FLEXIBLE, BeamForm, FrameForm, ModalForm, NodeForm
from robodyn.description.files.laws_of_files import FileReference
from robodyn.description.files.mechanism_tables import BodyForm, RowForm
from robodyn.description.files.network_files import NetworkFile
from robodyn.description.files.path_forms import PATHS, Pointing, Timing, Turned
from robodyn.description.files.reading import EVENTS, is_required, key_of
from robodyn.description.model import (
    Block,
    BodyNode,
    ConstraintMethod,
    ControlModel,
    Delay,
    FlexibleBody,
    FormulaSignal,
    Interface,
    Joint,
    Load,
    Machine,
    Mechanism,
    ModalInertia,
    Obstacle,
    Point,
    Recording,
    Scenario,
    Solver,
    StateController,
)
from robodyn.description.model.body import LOOKS, Ball, Box, HeightField, Plane, Rim
from robodyn.description.model.constraint import CONSTRAINTS
from robodyn.description.model.contact import CONTACTS
from robodyn.description.model.coordinate import COORDINATES
from robodyn.description.model.description import Description, default_of
from robodyn.description.model.fields import IDENTITY
from robodyn.description.model.kinds import Children, Choice, FieldKind, Quantity, Rotation, Target
from robodyn.description.structures import Element
from robodyn.description.structures.beams import SECTIONS

PAGE = Path(__file__).with_name("toml.md")
TABLES: Mapping[str, Sequence[type[Description]]] = {
    "scenario": (Scenario,),
    "body": (BodyForm,),
    "look": LOOKS,
    "flexible body": FLEXIBLE,
    "beam and frame": (BeamForm, FrameForm),
    "element": (Element,),
    "section": SECTIONS,
    "modal": (ModalForm,),
    "modal node": (NodeForm,),
    "reduced body": (FlexibleBody,),
    "reduced node": (BodyNode,),
    "modal inertia": (ModalInertia,),
    "joint": (Joint,),
    "row": (RowForm,),
    "point": (Point,),
    "obstacle": (Obstacle,),
    "coordinate": COORDINATES,
    "block": (Block,),
    "model": (ControlModel,),
    "file reference": (FileReference,),
    "network": (NetworkFile,),
    "path": PATHS,
    "orientation": (Pointing, Turned),
    "timing": (Timing,),
    "signal": (FormulaSignal,),
    "delay": (Delay,),
    "controller": (StateController,),
    "load": (Load,),
    "constraint": CONSTRAINTS,
    "interface": (Interface,),
    "contact": CONTACTS,
    "shape": (Ball, Box, Rim, Plane, HeightField),
    "constraint_method": (ConstraintMethod,),
    "event": EVENTS,
    "recording": (Recording,),
    "solver": (Solver,),
}
MARKED = re.compile(r"(<!-- keys of (.+?): begin -->\n).*?(<!-- keys of \2: end -->)", re.S)
NAMES = {"BeamForm": "`beam`", "FrameForm": "`frame`", "Turned": "a rotation"}


def write_tables(page: str) -> str:
    """The page with every part between marks replaced by the present table."""
    return MARKED.sub(lambda found: f"{found[1]}{make_table(TABLES[found[2]])}{found[3]}", page)


def make_table(classes: Sequence[type[Description]]) -> str:
    """One row a key; one that not all classes have says with what it goes."""
    rows: dict[tuple[str, str, str], list[type[Description]]] = {}
    words = [_mark(mark) for mark in dict.fromkeys(cls.MARKS[0] for cls in classes if cls.MARKS) if "=" in mark]
    if words:
        rows["kind", ", ".join(words), "required"] = list(classes)
    for cls in classes:
        for key, name, kind, owner in _keys(cls):
            default = "" if key in cls.MARKS and len(classes) > 1 else _default(owner, name, kind)
            rows.setdefault((key, _meaning(kind), default), []).append(cls)
    lines = [f"| `{key}` | {_with(key, own, classes)}{doc} | {default} |" for (key, doc, default), own in rows.items()]
    return "\n".join(["| key | meaning | default |", "| --- | --- | --- |", *lines]) + "\n"


def _keys(cls: type[Description]) -> Iterator[tuple[str, str, FieldKind, type[Description]]]:
    """Every key of a class, with its field, kind and owner; groups of a file the page lists by itself."""
    for key, name, kind, owner in keys_of(cls):
        named = name == "name" and not kind.key and owner is not Scenario
        group = isinstance(kind, Children) and owner in (Scenario, Machine, Mechanism)
        if not (named or group or key_of(name, kind)[1]):
            yield key, name, kind, owner


def _with(key: str, own: Sequence[type[Description]], classes: Sequence[type[Description]]) -> str:
    """The keys or words that mark the classes that have a key; nothing where all have it or the key marks them."""
    if len(own) == len(classes) or any(key in cls.MARKS for cls in own):
        return ""
    marks = [NAMES.get(cls.__name__) or _mark(cls.MARKS[-1]) for cls in own]
    return f"with {', '.join(dict.fromkeys(marks))}: "


def _mark(mark: str) -> str:
    return f'`"{mark.partition("=")[2]}"`' if "=" in mark else f"`{mark}`"


def _meaning(kind: Any) -> str:
    unit = (isinstance(kind, (Quantity, Target)) and kind.written) or kind.unit
    if isinstance(unit, Mapping):
        unit = " or ".join(dict.fromkeys(unit.values()))
    unit = unit.replace("{x}", "rad or m").replace("{F}", "N m or N").replace("{I}", "kg m^2 or kg")
    shown = "" if unit in ("", "1") or "{" in unit or "/rad or m" in unit else f"[{unit}]"
    words = [f'`"{word}"`' for word in kind.options] if isinstance(kind, Choice) else []
    options = "" if all(word in kind.doc for word in words) else ", ".join(words)
    ways = "; or by `rpy` [rad] about fixed axes or `quaternion` (w, x, y, z)" if isinstance(kind, Rotation) else ""
    return ": ".join(filter(None, (" ".join(filter(None, (kind.doc, shown))) + ways, options)))


def _default(cls: type[Description], name: str, kind: FieldKind) -> str:
    if kind.absent:
        return kind.absent
    if is_required(cls, name):
        return "required"
    value = default_of(cls, name)
    return "" if value is None or value == IDENTITY or value in ((), {}, "") else _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "0" if value and set(value) == {0.0} and len(value) > 3 else ", ".join(map(_shown, value))
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return "none" if value == math.inf else f"{value:g}"


if __name__ == "__main__":
    PAGE.write_text(write_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
