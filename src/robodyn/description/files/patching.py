"""Changing the numbers of a scenario's file: in its own text, or by a patch, a file that includes it and says them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn.base import Flaw, FlawList, ModelError, known_unit, refuse
from robodyn.description.model import XYZ, Scenario
from robodyn.description.model.scenario import ORIENTATION

from .composition import GROUPS, Composed, load_composed, merge_tables
from .scenario_file import ScenarioFile, read_scenario
from .units import is_quantity, split_quantity
from .writing import scenario_tables, tables_text

# --------------------------------------------------------------------------------------------------
# Units of a file's numbers: in which were they given? A number without a unit means SI, wherever it is given.


WITHIN = re.compile(rf"^({'|'.join(GROUPS)})\.")


def find_written_units(path: str | Path, numbers: Collection[str], text: str | None = None) -> dict[str, str]:
    """Number -> the unit it is written with in a scenario's file, where that is not of SI (`elbow.target`: deg).

    Args:
        text: what an editor holds of the file, read in place of what is kept of it.
    """
    units: dict[str, str] = {}
    for place, value in list_leaves(load_composed(Path(path), text).data):
        written = split_quantity(value)[1] if isinstance(value, str) and is_quantity(value) else ""
        unit = known_unit(written)
        if unit is not None and unit.factor != 1:
            units |= {name: written for name in number_names(place) if name in numbers or name.startswith("initial.")}
    return units


def list_leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every text, number and switch of a file with its place, entries of lists by their number."""
    if not isinstance(value, (dict, list)):
        yield place, value
        return
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from list_leaves(entry, f"{place}.{key}" if place else str(key))


def number_names(place: str) -> Iterator[str]:
    """Names that the number at a place may have: `blocks.drive.parameters.limit` is `drive.limit`."""
    name = WITHIN.sub("", place).replace(".parameters.", ".")
    yield name
    stem, _, last = name.rpartition(".")
    if last not in ("0", "1", "2") or stem.endswith(ORIENTATION):
        return
    yield f"{stem}.{XYZ[int(last)]}"
    # A free joint's `base.position[0]` is that of its axis `base.x`.
    owner, _, quantity = stem.rpartition(".")
    yield f"{owner}.{XYZ[int(last)]}.{quantity}"


# --------------------------------------------------------------------------------------------------
# Changing the numbers of a scenario's file: in its own text, or by a patch, a file that includes it and says them.


ROUNDING = 1e-9
"""Relative: a number written with twelve digits in its own unit is the same number."""
INITIAL = "initial."


def patch_text(scenario: Scenario, values: Mapping[str, float], include: str | Path | None = None) -> str:
    """TOML with new values of a scenario's numbers, at their places.

    Args:
        include: the scenario's file; the patch is then a scenario by itself.
    """
    head = {} if include is None else {"include": str(include)}
    return tables_text(head | _patch_tables(scenario, values))


def change_text(old: Scenario, new: Scenario, include: str | Path | None) -> str:
    """TOML with what differs in one scenario from another, a scenario by itself where it includes the other's file."""
    before, after = (scenario_tables(one, unnamed=FlawList()) for one in (old, new))
    return tables_text(({} if include is None else {"include": str(include)}) | _difference(before, after))


def _patch_tables(scenario: Scenario, values: Mapping[str, float]) -> dict[str, Any]:
    """Tables with new values, to be merged into those of the scenario's file."""
    # Numbers of blocks have known places, also in a scenario of which another part cannot be written.
    places: dict[str, tuple[str, ...]] = {
        f"{block.name}.{key}": ("blocks", block.name, "parameters", key)
        for block in scenario.machine.blocks
        for key, value in block.parameters.items()
        if isinstance(value, float)
    }
    numbers = scenario.numbers()
    starts = [name for name in values if name.startswith(INITIAL) and name not in numbers]
    places |= {name: ("initial", name.removeprefix(INITIAL)) for name in starts}
    data: dict[str, Any] = {}
    for name in (name for name in values if name in places):
        *path, key = places[name]
        table = data
        for step in path:
            table = table.setdefault(step, {})
        table[key] = values[name]
    others = {name: value for name, value in values.items() if name not in places}
    if not others:
        return data
    # What a file cannot name stands in the file that is patched.
    changed = scenario.with_numbers({name: value for name, value in values.items() if name not in starts})
    old, new = (scenario_tables(one, unnamed=FlawList()) for one in (scenario, changed))
    return merge_tables(_difference(old, new), data)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of new tables that the old ones have not, or otherwise; lists are said as a whole."""
    changes: dict[str, Any] = {}
    for key, value in new.items():
        if isinstance(value, Mapping) and isinstance(old.get(key), Mapping):
            inner = _difference(old[key], value)
            changes |= {key: inner} if inner else {}
        elif value != old.get(key):
            changes[key] = value
    return changes


# Editing the text itself: comments, layout and the unit that each number is written in are kept.
#
# A number that the file states is replaced where it stands. One that it does not state itself (a default, a number of a
# template, of an included file or of a robot file) gets an entry of its own, which wins over the others. The text is
# read again afterwards: the numbers must be what was asked for, and all others what they were.


def edit_text(scenario: Scenario, text: str, values: Mapping[str, float], *, check: bool = True) -> str:
    """The text of a scenario's TOML file with other values of its numbers.

    Args:
        scenario: as read from this text.
        check: whether to read the result again, which takes as long as reading the scenario.

    Raises:
        ModelError: that names each number which cannot be written into this text.
    """
    file = scenario.written_in
    assert isinstance(file, ScenarioFile), "the scenario was read from a file"
    stated: dict[str, float] = {}
    unstated: dict[str, float] = {}
    homes = _find_homes(file.composed, values)
    for name, value in values.items():
        (stated if name in homes else unstated)[name] = value
    edited = _write(text, scenario, {homes[name]: value for name, value in stated.items()}, unstated)
    if not check:
        return edited
    if not _unequal(Path(file.source), edited, scenario, values):
        return edited
    # A file may state a number in a form of its own, such as a mass by a density: then all are said as in a patch.
    edited = _write(text, scenario, {}, dict(values))
    if unequal := _unequal(Path(file.source), edited, scenario, values):
        remedy = "change it in the file by hand"
        raise ModelError([Flaw(name, "cannot be written into the file", remedy) for name in unequal], file.source)
    return edited


def _find_homes(composed: Composed, values: Mapping[str, float]) -> dict[str, str]:
    """Number -> its place in the file's own text, where it is stated there for this number alone."""
    homes: dict[str, str] = {}
    for place, _ in list_leaves(composed.data):
        for name in (name for name in number_names(place) if name in values):
            # A place without the numbers of entries of lists at its end, and these.
            parts = place.split(".")
            end = len(parts)
            while end > 1 and parts[end - 1].isdigit():
                end -= 1
            stem, entry = ".".join(parts[:end]), "".join(f".{part}" for part in parts[end:])
            origin, there = composed.origins.get(stem, ("", stem))
            if not origin and not there.startswith("templates."):
                homes[name] = there + entry
    return homes


def _write(text: str, scenario: Scenario, stated: Mapping[str, float], unstated: Mapping[str, float]) -> str:
    """The text with values at places that it has, and with entries for numbers that it does not state."""
    import tomlkit

    document = tomlkit.parse(text)
    for place, value in stated.items():
        _replace(document, place, value)
    if unstated:
        _insert(document, _patch_tables(scenario, unstated))
    return tomlkit.dumps(document)


def _replace(table: Any, place: str, value: float) -> None:
    """Put a number at a place, in the unit that stands there; names with dots may be one key or several."""
    entries = table.items() if isinstance(table, Mapping) else enumerate(table)
    for key, old in entries:
        if place == str(key):
            table[key] = _in_unit_of(old, value)
            return
        if place.startswith(f"{key}.") and isinstance(old, (Mapping, list)):
            return _replace(old, place[len(str(key)) + 1 :], value)
    refuse(place, "is not in the text")


def _in_unit_of(old: Any, value: float) -> Any:
    """A number as it would be written in place of another: "4 kg" for "2 kg", 3 for 2, 3.5 for 2.0."""
    if isinstance(old, str) and is_quantity(old):
        unit = split_quantity(old)[1]
        factor = measure.factor if unit and (measure := known_unit(unit)) else 1.0
        return f"{value / factor:.12g} {unit}".strip()
    is_whole = isinstance(old, int) and math.isfinite(value) and value == round(value)
    return round(value) if is_whole else float(value)


def _insert(table: Any, changes: Mapping[str, Any]) -> None:
    """Put entries into a table of a text, which has some of them already."""
    import tomlkit

    for key, value in changes.items():
        old = table.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            _insert(old, value)
        elif isinstance(value, (list, tuple)) and isinstance(old, list) and len(old) == len(value):
            _replace_entries(old, value)
        elif isinstance(value, Mapping):
            # A table under a table that has only tables in it needs no heading of its own.
            fresh = tomlkit.table(is_super_table=all(isinstance(entry, Mapping) for entry in value.values()))
            _insert(fresh, value)
            table[key] = fresh
        else:
            table[key] = _plain(value) if old is None or not isinstance(value, float) else _in_unit_of(old, value)


def _replace_entries(old: Any, new: Any) -> None:
    for k, (one, other) in enumerate(zip(old, new, strict=True)):
        if isinstance(other, (list, tuple)) and isinstance(one, list) and len(one) == len(other):
            _replace_entries(one, other)
        elif one != other:
            old[k] = _in_unit_of(one, other) if isinstance(other, float) else _plain(other)


def _plain(value: Any) -> Any:
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _unequal(path: Path, text: str, before: Scenario, values: Mapping[str, float]) -> list[str]:
    """Numbers that a text does not give as they are wanted, or as they were."""
    try:
        after = read_scenario(path, text)
    except ModelError:
        return list(values)
    described = {name: number.value for name, number in before.numbers().items()}
    starts = {f"{INITIAL}{name}": value for name, value in before.start_values.items()}
    numbers = starts | described | dict(values)
    actual = {f"{INITIAL}{name}": value for name, value in after.start_values.items()}
    actual |= {name: number.value for name, number in after.numbers().items()}
    # Start values that nothing said are what they are; numbers that come along with a new table are defaults.
    return [
        name
        for name, value in numbers.items()
        if not math.isclose(actual.get(name, 0.0), value, rel_tol=ROUNDING, abs_tol=1e-300) and not math.isnan(value)
    ]
