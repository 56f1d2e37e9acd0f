"""Source of a scenario: a name of the catalogue, a TOML file, or a robot file; and what an editor makes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robodyn.base.atomic import write_file
from robodyn.base.errors import Flaw, ModelError
from robodyn.description.catalog import find_scenario
from robodyn.description.files import read_scenario, scenario_text
from robodyn.description.files.patching import patch_text
from robodyn.description.files.scenario_file import ScenarioFile
from robodyn.description.files.table import leaves_of
from robodyn.description.model import Scenario, ScenarioSequence

ROBOTS = (".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
LONGEST_NAME = 200
Stamp = tuple[tuple[Path, int, int], ...]
"""Files with the times of their last change and their sizes."""
NO_FILE = "only a file with the ending .toml can be written, in the folder of the scenario: give its name alone"


@dataclass(frozen=True)
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
        """What an editor begins with, and why there is nothing to edit where that is so."""
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

    def stamp(self, what: Scenario | ScenarioSequence, text: str | None) -> Stamp:
        """By which it is seen whether a file that a scenario was read from has changed since."""
        written = what.written_in if isinstance(what, Scenario) else None
        names: set[str] = set()
        if isinstance(written, ScenarioFile):
            names = {file for file, _ in written.composed.origins.values() if file}
            texts = [value for _, value in leaves_of(written.composed.data) if isinstance(value, str)]
            names |= {value.rpartition(":")[0] or value for value in texts}
        files = {self.folder / name for name in names if len(name) < LONGEST_NAME}
        files |= {self.file} if self.file and text is None else set()
        return stamp_files(file for file in sorted(files) if file.is_file())

    def patch(self, values: Mapping[str, float]) -> str:
        """TOML that changes these numbers: of a file's scenario it includes the file, and is a scenario by itself."""
        what = self.read()
        if isinstance(what, ScenarioSequence):
            raise ModelError([Flaw("", "is a sequence of scenarios, which no file describes")], self.name)
        include = self.file.name if self.is_text and self.file else None
        head = "" if include else f"# Changes of {self.name}, which is not a file that could be included.\n"
        return head + patch_text(what, values, include)

    def save(self, name: str, text: str, replaces: str | None) -> Path:
        """Write a file beside the scenario's own.

        Args:
            replaces: mark of the text that is there and known to whoever writes; None where there is none.

        Raises:
            ModelError: for other places, and where the file holds something that the writer has not seen.
        """
        path = self.folder / name
        if not name or Path(name).name != name or path.suffix != ".toml" or path.is_symlink():
            raise ModelError([Flaw("", f"'{name}' cannot be written", NO_FILE)])
        if path.exists() and mark_text(path.read_text("utf-8", errors="replace")) != replaces:
            raise ModelError([Flaw("", f"'{name}' holds something else by now", "save under another name, or reload")])
        try:
            write_file(path, text)
        except OSError as error:
            raise ModelError([Flaw("", f"'{name}' cannot be written: {error.strerror}")]) from error
        return path


def stamp_files(files: Iterable[Path]) -> Stamp:
    """Of those that are there."""
    found = []
    for file in files:
        try:
            state = file.stat()
        except OSError:
            continue
        found.append((file, state.st_mtime_ns, state.st_size))
    return tuple(found)


def mark_text(text: str) -> str:
    """By which one text is told from another."""
    return hashlib.sha256(text.encode()).hexdigest()
