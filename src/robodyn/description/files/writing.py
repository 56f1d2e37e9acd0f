"""Writing scenarios: how does a description become a TOML file that is read back equal to it?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn.base import FlawList, write_file
from robodyn.description.model import Description, Event, Scenario, kinds
from robodyn.description.model.kinds import Vector

from .laws_of_files import name_function, written_form
from .path_forms import path_tables
from .reading import form_of, key_of, marked_words

BARE = re.compile(r"[A-Za-z0-9_-]+")
WIDTH = 120
"""Letters of a line, beyond which tables and lists of lists go over several."""


def write_scenario(scenario: Scenario, path: str | Path) -> None:
    """Write a scenario to a TOML file, from which `read_scenario` reads an equal one.

    Raises:
        ModelError: that names every Python function that a file cannot name.
    """
    write_file(path, scenario_text(scenario, Path(path).parent))


def scenario_text(scenario: Scenario, folder: Path | None = None) -> str:
    """The text of a scenario's TOML file in a folder; without one, files of laws are named by their whole paths."""
    return tables_text(scenario_tables(scenario, folder))


def scenario_tables(scenario: Scenario, folder: Path | None = None, unnamed: FlawList | None = None) -> dict[str, Any]:
    """The tables of a scenario's TOML file.

    Args:
        unnamed: collects what a file cannot name; without it, that is an error.
    """
    flaws = FlawList()
    data = {"name": scenario.name} | _table(scenario, scenario.name, "", flaws, folder)
    written = path_tables(flaws, scenario.machine)
    for name, (table, blocks) in written.items():
        data.setdefault("paths", {})[name] = table
        for block in blocks:
            del data["blocks"][block]
            flaws.found[:] = [flaw for flaw in flaws.found if flaw.path != f"blocks.{block}.law"]
    if unnamed is None:
        flaws.raise_if_any(f"scenario '{scenario.name}' cannot be written to a file")
    else:
        unnamed.extend(flaws.found)
    return data


def tables_text(data: Mapping[str, Any]) -> str:
    """Tables as TOML."""
    return "\n".join(_lines(data, "")).strip() + "\n"


def _table(description: Description, name: str, path: str, flaws: FlawList, folder: Path | None) -> dict[str, Any]:
    """A description by the keys of a file; fields at their defaults are left out.

    Args:
        name: of the file, which names what has no other name; folder: in which it is.
    """
    said: dict[str, Any] = {**marked_words(type(description))}
    stated = description.stated()
    for field, kind in description.KINDS.items():
        value, (key, entry) = getattr(description, field), key_of(field, kind)
        if field == "name":
            said |= {key: value} if kind.key and value != name else {}
        elif isinstance(kind, kinds.Child) and kind.inline:
            said |= _table(value, name, path, flaws, folder) if value is not None else {}
        elif entry is not None:
            said.setdefault(key, []).append(value)
        elif made_of := written_form(value, folder) if field == "law" else {}:
            said |= made_of
        elif field in stated or _marks(description, key, value):
            said[key] = _value(kind, value, name, f"{path}.{key}" if path else key, flaws, folder)
    return said


def _marks(description: Description, key: str, value: Any) -> bool:
    """Whether a file tells the description's class by this key, or by this word under it."""
    return key in description.MARKS or f"{key}={value}" in description.MARKS


def _value(kind: Any, value: Any, name: str, path: str, flaws: FlawList, folder: Path | None) -> Any:
    if isinstance(kind, kinds.Children):
        forms = {part.name: form_of(part) if isinstance(part, Event) else part for part in value}
        return {own: _table(form, name, f"{path}.{own}", flaws, folder) for own, form in forms.items()}
    if isinstance(kind, kinds.Child):
        return _table(value, name, path, flaws, folder)
    if isinstance(kind, Vector) and kind.units:
        return dict(zip(kind.suffixes, value, strict=True))
    if not callable(value):
        return value
    text = name_function(value, folder)
    if text is None:
        what = getattr(value, "__qualname__", type(value).__qualname__)
        remedy = "put it at the top of a module, or of a file of laws beside the scenario's"
        flaws.add(path, f"'{what}' is a Python function that a file cannot name", remedy)
    return text


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    """A table's own keys, then the tables in it."""
    inner = {key: value for key, value in table.items() if _is_section(key, value, path)}
    if inner and all(isinstance(value, Mapping) for value in table.values()):
        # Parts keep their order, be some of them too long for a line.
        inner = dict(table)
    for key, value in table.items():
        if key not in inner:
            yield f"{_key(key)} = {_text(value)}"
    for key, value in inner.items():
        own = f"{path}.{_key(key)}" if path else _key(key)
        if not all(isinstance(entry, Mapping) for entry in value.values()) or path:
            yield from ("", f"[{own}]")
        yield from _lines(value, own)


def _is_section(key: str, value: Any, path: str) -> bool:
    """Whether a value is written as a table of its own: at the top, one of named parts, or one too long for a line."""
    if not isinstance(value, Mapping):
        return False
    return not path or path.count(".") == 0 or len(f"{key} = {_text(value)}") > WIDTH


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_text(entry)}' for key, entry in value.items())} }}" if value else "{}"
    if isinstance(value, (tuple, list)):
        entries = [_text(entry) for entry in value]
        line = f"[{', '.join(entries)}]"
        nested = len(line) > WIDTH and any(isinstance(entry, (tuple, list)) for entry in value)
        return "[\n    " + ",\n    ".join(entries) + ",\n]" if nested else line
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
