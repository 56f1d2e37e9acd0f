"""Arguments of commands: which scenario or run does the user mean?"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from robodyn import analysis
from robodyn.base import Flaw, FlawList, ModelError, UnitError, nearest, refuse

from .application import fail, messages
from .command import save_text, tell_notes

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.computation.results import Run
    from robodyn.description.model import Number, Scenario, ScenarioSequence

T = TypeVar("T")
ROBOTS = (".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
"""Endings of robot files."""
SHOWN = 6
"""Choices and start values of a robot that are printed."""


EDITED: dict[str, str] = {}
"""Texts of files as an editor holds them, read in place of what is kept of them."""


def load_scenario(what: str) -> Scenario | ScenarioSequence:
    """A scenario of the catalogue by name, read from a TOML file, or a robot file's machine left to itself."""
    if what in EDITED:
        from robodyn.description.files import read_scenario

        return read_scenario(what, EDITED[what])
    require_file(what)
    if what.endswith(".fmu"):
        raise fail(f"{what} is an FMU, not a scenario: use it with `run`, or in a file for `cosim`")
    if Path(what).suffix.lower() in ROBOTS and Path(what).is_file():
        return _load_robot(Path(what))
    if (kind := _other_kind(Path(what))) is not None:
        raise fail(f"{what} is {kind[0]}, not a scenario: {kind[1]}")
    if (what.endswith(".toml") and "=" not in what) or Path(what).is_file():
        from robodyn.description.files import is_sequence, read_scenario, read_sequence

        return read_sequence(what) if is_sequence(what) else read_scenario(what)
    from robodyn.description.catalog import find_scenario

    return find_scenario(what)


def _load_robot(path: Path) -> Scenario:
    """A robot left to itself; what was assumed is said."""
    from robodyn.description.robots import import_robot

    robot = import_robot(path)
    scenario = robot.scenario()
    starts = ", ".join(f"{name} = {value:.4g}" for name, value in list(scenario.initial.items())[:SHOWN])
    more = len(scenario.initial) - SHOWN
    at = f"{starts}{f' and {more} more' if more > 0 else ''}, everything else 0" if starts else "all positions 0"
    messages.print(f"robodyn: {path}: simulated without drives for {scenario.duration:g} s, starting at rest, {at}")
    sentences = [f"choice: {choice}" for choice in robot.sheet.choices]
    sentences += [f"shapes: {sentence}" for sentence in robot.sheet.not_drawn]
    for sentence in sentences[:SHOWN]:
        messages.print(f"robodyn: {sentence}")
    if len(sentences) > SHOWN:
        messages.print(f"robodyn: and {len(sentences) - SHOWN} more")
    messages.print(f"robodyn: robodyn import {path} --out {path.stem}.toml writes a file to edit")
    return scenario


def require_file(what: str) -> None:
    """Refuse what can only mean a file, by its ending or its folder, where there is none."""
    path = Path(what)
    if path.exists() or not (path.suffix or path.name != what):
        return
    if path.suffix != ".toml" or "=" in what:
        from robodyn.description.catalog import list_scenarios

        # Numbers among its options have points, as endings have; an option may name a file.
        if what.partition(":")[0] in list_scenarios():
            return
    refuse("", f"there is no file '{what}'", _near_files(path))


def _near_files(path: Path) -> str:
    """Files of nearly the same name in the same folder."""
    if not path.parent.is_dir():
        return f"there is no folder '{path.parent}'"
    close = difflib.get_close_matches(path.name, [neighbour.name for neighbour in path.parent.iterdir()], n=3)
    return f"did you mean {' or '.join(repr(str(path.with_name(name))) for name in close)}?" if close else ""


def _other_kind(path: Path) -> tuple[str, str] | None:
    """The kind of a file that is no scenario, and what can be done with it; None where it may be one."""
    kinds = {
        ".run": ("a run", "use it with `show`, `plot`, `report` or `export`"),
        ".csv": ("a table of samples", 'use it with `fit`, or in a block with law = "file_reference"'),
        **dict.fromkeys((".parquet", ".mcap", ".mat", ".npz"), ("a table of samples", "use it with `data` or `fit`")),
        ".py": ("a Python file", 'run it with Python; a law in it is law = "FILE.py:FUNCTION" in a scenario'),
        ".json": ("a JSON file", "a scenario is written in TOML"),
    }
    return kinds.get(path.suffix.lower()) if path.is_file() else None


def load_single(what: str, settings: Sequence[str] = ()) -> Scenario:
    """One scenario, not a sequence of them, with some numbers changed: key=value."""
    phases = phases_of(load_scenario(what))
    if len(phases) > 1:
        raise fail(f"{what} is a sequence of {len(phases)} phases: name one scenario")
    return phases[0].with_numbers(read_settings(settings, phases[0], what)) if settings else phases[0]


def load_system(what: str, settings: Sequence[str] = ()) -> System:
    """One scenario, with some numbers changed, assembled."""
    from robodyn.computation.assembly import assemble

    return assemble(load_single(what, settings))


def name_results(source: str, what: Scenario | ScenarioSequence) -> str:
    """Name the files of results: as the scenario's file, since several files may describe one machine, or
    as the scenario of the catalogue."""
    return Path(source).stem if Path(source).is_file() else what.name


def phases_of(what: Scenario | ScenarioSequence) -> tuple[Scenario, ...]:
    """The scenarios of a sequence, or the one scenario."""
    from robodyn.description.model import ScenarioSequence

    return what.phases if isinstance(what, ScenarioSequence) else (what,)


def load_run(path: str) -> Run:
    """A run from its file."""
    from robodyn.computation.results import RunFileError, load

    try:
        return load(path)
    except FileNotFoundError as error:
        raise ModelError([Flaw("", f"there is no run file '{path}'", _near_files(Path(path)))]) from error
    except RunFileError as error:
        raise fail(error) from error
    except OSError as error:
        raise fail(f"{path}: cannot be read: {error.strerror}") from error


def read_data(path: Path, mapping: Path | None = None) -> Run:
    """Measured signals of a file, by a mapping where there is one; a run file is as good, a scenario's is neither."""
    if path.suffix in (".run", ".toml"):
        return load_run(str(path))

    data = analysis.read_measured(path, mapping)
    tell_notes([f"{path}: {note}" for note in data.warnings])
    return data


def written_units(source: str, numbers: Mapping[str, Number]) -> dict[str, str]:
    """Units other than of SI that a scenario's file gives its numbers in; none for others, which are in SI."""
    if not Path(source).is_file() or Path(source).suffix.lower() in ROBOTS:
        return {}
    from robodyn.description.files.patching import find_written_units

    return find_written_units(source, numbers)


def read_settings(pairs: Sequence[str], what: Scenario | ScenarioSequence, source: str) -> dict[str, float]:
    """Numbers given as key=value, with units where wished (`initial.elbow.position="30 deg"`), by names or patterns
    (`*.friction.coulomb=2`).

    Args:
        source: name or file of the scenario; a number that the file gives in degrees must have a unit here too.
    """
    from robodyn.description.files.units import read_quantity

    numbers = what.numbers()
    starts = {f"initial.{name}": unit for name, unit in phases_of(what)[0].state_units().items()}
    written = written_units(source, numbers) if pairs else {}

    def read(key: str, text: str) -> float:
        if key not in numbers and not key.startswith("initial."):
            raise UnitError(f"there is no number '{key}' ({nearest(key, numbers)})")
        unit = starts.get(key) or (numbers[key].unit if key in numbers else "")
        return read_quantity(text, unit, written.get(key, ""), bare=True)

    # A pattern stands for each number that fits it; a name given after it has the last word.
    every: list[str] = []
    for pair in pairs:
        key, equals, text = pair.partition("=")
        matches = [name for name in {**numbers, **starts} if fnmatchcase(name, key.strip())]
        every += [f"{name}{equals}{text}" for name in matches] or [pair]
    return read_pairs("set", every, read)


def read_pairs(option: str, pairs: Iterable[str], read: Callable[[str, str], T], form: str = "") -> dict[str, T]:
    """Read texts key=value of an option; all that are wrong are reported at once.

    Args:
        read: what a value of a key means; a UnitError says what is wrong with it.
        form: how all of it is written, said where there is another ValueError.
    """
    values: dict[str, T] = {}
    flaws = FlawList()
    for pair in pairs:
        key, equals, text = (part.strip() for part in pair.partition("="))
        try:
            if not equals or not key:
                raise ValueError
            values[key] = read(key, text)
        except UnitError as error:
            flaws.add(f"--{option} {pair}", str(error))
        except ValueError:
            flaws.add(f"--{option} {pair}", f"must be written as {form or 'key=value'}")
    flaws.raise_if_any()
    return values


def split_names(texts: str | Sequence[str]) -> list[str]:
    """Names with commas between them."""
    several = [texts] if isinstance(texts, str) else texts
    return [name.strip() for text in several for name in text.split(",") if name.strip()]


def read_lengths(option: str, text: str, count: int) -> list[float]:
    """Lengths [m] of an option with commas between them, each with a unit where wished."""
    from robodyn.description.files.units import read_quantity

    parts = text.split(",")
    try:
        if len(parts) != count:
            raise UnitError(f"must be {count} lengths with commas between them")
        return [read_quantity(part.strip(), "m", bare=True) for part in parts]
    except UnitError as error:
        raise fail(f"{option} {text}: {error}") from error


def read_limit(text: str | None) -> float | None:
    """The largest allowed deviation [m] of an option `--limit`; None where none is given."""
    if not text:
        return None
    (value,) = read_lengths("--limit", text, 1)
    if not value > 0:
        raise fail(f"--limit {text}: must be above 0")
    return value


def read_bounds(pairs: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Where to look for numbers: name=lower:upper."""

    def read(_: str, span: str) -> tuple[float, float]:
        lower, upper = span.split(":")
        return float(lower), float(upper)

    return read_pairs("bounds", pairs, read, "name=lower:upper, in SI units")


def write_numbers(
    source: str, settings: Sequence[str], numbers: dict[str, float], out: Path | None, head: str = ""
) -> None:
    """A scenario's file with new numbers over those of another, where one is asked for; those that were set for the
    computation are among them. One of the catalogue is written as a whole, or where it cannot be, its numbers alone."""
    from robodyn.description.files.patching import patch_text
    from robodyn.description.files.writing import scenario_text

    if out is None:
        return
    what = load_single(source)
    values = read_settings(settings, what, source) | numbers
    if Path(source).suffix == ".toml":
        # The source is included by its path as seen from the new file's folder.
        text = patch_text(what, values, Path(os.path.relpath(source, out.parent)).as_posix())
    else:
        try:
            text = scenario_text(what.with_numbers(values), out.parent)
        except ModelError as error:
            messages.print(f"robodyn: {error}; only the new numbers are written")
            text = patch_text(what, values)
    save_text("--out", out, head + text, "new numbers")
