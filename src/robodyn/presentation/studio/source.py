"""Source of a scenario: a name of the catalogue, a TOML file, or a robot file; and what an editor makes of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robodyn.base import Flaw, ModelError, frozen, refuse, write_file
from robodyn.computation.native import cache_folder
from robodyn.computation.native.cache import make_private, open_private
from robodyn.description.catalog import find_scenario, list_scenarios, title_of
from robodyn.description.files import read_scenario, scenario_text
from robodyn.description.files.patching import find_written_units
from robodyn.description.files.scenario_file import ScenarioFile
from robodyn.description.files.starters import starter_titles
from robodyn.description.files.table import leaves_of
from robodyn.description.model import Scenario, ScenarioSequence

ROBOTS = (".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
LONGEST_NAME = 200
Stamp = tuple[tuple[Path, int, int], ...]
"""Files with the times of their last change and their sizes."""
NO_FILE = "only .toml files in the scenario's folder can be written: give just the file name"


@frozen
class Source:
    """Where a scenario comes from.

    Attributes:
        name: of the catalogue, or the path of a file.
    """

    name: str

    @property
    def file(self) -> Path | None:
        """Its file, if it has one."""
        path = Path(self.name)
        return path if path.suffix and path.is_file() else None

    @property
    def is_text(self) -> bool:
        """Whether its file is one to edit."""
        return self.file is not None and self.file.suffix.lower() not in ROBOTS

    @property
    def folder(self) -> Path:
        """Where files go that are saved."""
        return self.file.parent if self.file else Path()

    def read(self, text: str | None = None) -> Scenario | ScenarioSequence:
        """The scenario, as an editor's text has it if one is given.

        Raises:
            ModelError: with every problem.
        """
        file = self.file
        if text is not None:
            return read_scenario(file if self.is_text and file else Path(f"{Path(self.name).stem}.toml"), text)
        if file is None:
            return find_scenario(self.name)
        if not self.is_text:
            from robodyn.description.robots import import_robot

            return import_robot(file).scenario()
        return read_scenario(file)

    def text(self) -> tuple[str | None, str]:
        """The text that an editor begins with, and the reason where there is none."""
        try:
            if self.is_text and self.file:
                return self.file.read_text("utf-8"), ""
            what = self.read()
            if isinstance(what, ScenarioSequence):
                return None, "A sequence of scenarios has no file."
            return scenario_text(what), ""
        except ModelError as error:
            return None, str(error)
        except (OSError, UnicodeDecodeError) as error:
            return None, f"{self.name}: cannot be read: {error}"

    def units(self, what: Scenario | ScenarioSequence, text: str | None) -> dict[str, str]:
        """Number -> the unit that it is written in, where that is not of SI."""
        if text is None:
            return {}
        path = self.file if self.is_text and self.file else f"{self.name}.toml"
        return find_written_units(path, what.numbers(), text)

    def stamp(self, what: Scenario | ScenarioSequence, text: str | None) -> Stamp:
        """The stamp by which it is seen whether a file that a scenario was read from has changed since."""
        written = what.written_in if isinstance(what, Scenario) else None
        names: set[str] = set()
        if isinstance(written, ScenarioFile):
            names = {file for file, _ in written.composed.origins.values() if file}
            texts = [value for _, value in leaves_of(written.composed.data) if isinstance(value, str)]
            names |= {value.rpartition(":")[0] or value for value in texts}
        files = {self.folder / name for name in names if len(name) < LONGEST_NAME}
        files |= {self.file} if self.file and text is None else set()
        return stamp_files(file for file in sorted(files) if file.is_file())

    def save(self, name: str, text: str, replaces: str | None) -> Path:
        """Write a file beside the scenario's own.

        Args:
            replaces: mark of the text that is there and known to whoever writes; None where there is none.

        Raises:
            ModelError: for other places, and where the file holds something that the writer has not seen.
        """
        path = self.folder / name
        if not name or Path(name).name != name or path.suffix != ".toml" or path.is_symlink():
            refuse("", f"'{name}' cannot be written", NO_FILE)
        if path.exists() and mark_text(path.read_text("utf-8", errors="replace")) != replaces:
            refuse("", f"'{name}' was changed by another program", "save under another name, or reload the file")
        try:
            write_file(path, text)
        except OSError as error:
            raise ModelError([Flaw("", f"'{name}' cannot be written: {error.strerror}")]) from error
        return path


def stamp_files(files: Iterable[Path]) -> Stamp:
    """The stamps of those files that are there."""
    stamps = []
    for file in files:
        try:
            state = file.stat()
        except OSError:
            continue
        stamps.append((file, state.st_mtime_ns, state.st_size))
    return tuple(stamps)


def mark_text(text: str) -> str:
    """The mark by which one text is told from another."""
    return hashlib.sha256(text.encode()).hexdigest()


# Start page: what could be opened? The catalogue, files that were opened before, a new file, a file that is dropped.

MOST_RECENT = 12
DROPPED = (*ROBOTS, ".toml")


def starting_points() -> dict[str, Any]:
    """Scenarios of the catalogue by name and title, the last files, and the kinds of new files."""
    scenarios = [{"name": name, "title": title_of(entry.thing)} for name, entry in list_scenarios().items()]
    kinds = [{"kind": kind, "title": title} for kind, title in starter_titles().items()]
    recent = [str(path) for path in recent_files() if path.is_file()]
    return {"scenarios": scenarios, "recent": recent, "kinds": kinds, "folder": str(Path.cwd())}


def recent_files() -> list[Path]:
    """The files that were opened last, the newest first."""
    try:
        with open_private(_studio_folder() / "recent.json") as file:
            return [Path(str(name)) for name in json.load(file)]
    except (OSError, ValueError, TypeError):
        return []


def keep_recent(name: str) -> None:
    """Remember a file that is opened, for the user alone; where that cannot be kept, it is not."""
    path = Path(name).resolve()
    names = [str(path), *(str(other) for other in recent_files() if other != path)][:MOST_RECENT]
    with contextlib.suppress(OSError):
        write_private(_studio_folder() / "recent.json", json.dumps(names))


def keep_dropped(name: str, text: str) -> Path:
    """A file whose contents came from the browser, in a folder of the cache.

    Raises:
        ModelError: for names that are none of a robot file or a scenario.
    """
    if not name or Path(name).name != name or Path(name).suffix.lower() not in DROPPED or len(name) > LONGEST_NAME:
        refuse("", f"'{name}' is not a robot file", f"drop one of {', '.join(DROPPED)}")
    path = _studio_folder() / "dropped" / name
    try:
        write_private(path, text)
    except OSError as error:
        raise ModelError([Flaw("", f"'{name}' cannot be saved: {error.strerror}")]) from error
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file that only the user can read, as a whole."""
    make_private(path.parent)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    draft.replace(path)


def _studio_folder() -> Path:
    return cache_folder() / "studio"
