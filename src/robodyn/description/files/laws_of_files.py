"""Laws of files: which law, function, recorded reference or network does a text name, and which text names a law?

A law of the package is named alone, a function of a Python file beside the scenario's as "my_laws.py:drag", one of an
importable module as "package.module:drag". A law that is made from data has a word of its own, and keys beside it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from robodyn.base import Array, FlawList, ModelError, Unreadable, nearest
from robodyn.description.laws.recorded import ENDS, INTERPOLATIONS, RecordedReference
from robodyn.description.laws.trained_network import TrainedNetwork
from robodyn.description.model import Description
from robodyn.description.model.fields import choice, text

from .network_files import NetworkFile
from .samples import read_samples
from .table import FAILED, TomlTable

if TYPE_CHECKING:
    from .reading import TableReader

_FILES: MutableMapping[Any, tuple[Path, str]] = WeakKeyDictionary()
"""Files of laws and names in them, of functions that were loaded from there."""
_FORMS: MutableMapping[Any, tuple[FileReference | NetworkFile, Path]] = WeakKeyDictionary()
"""Keys of laws that were made from data, with the folders of the files that said them."""


def load_function(text: Any, table: TomlTable, key: str, folder: Path) -> Callable[..., Any] | str | None:
    """The function that a text names, or the text itself where it can only be the name of a law."""
    if not isinstance(text, str) or ":" not in text:
        return text
    source, _, name = text.rpartition(":")
    try:
        module = _run(folder / source) if source.endswith(".py") else importlib.import_module(source)
    except FileNotFoundError:
        table.note(key, f"there is no file '{folder / source}'")
        return FAILED
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever the user's file raises is reported as a flaw of that file)
        table.note(key, f"'{source}' cannot be loaded: {type(error).__name__}: {error}")
        return FAILED
    member: Any = getattr(module, name, None)
    if not callable(member):
        functions = [key for key, value in vars(module).items() if callable(value)]
        table.note(key, f"'{source}' has no function '{name}'", nearest(name, functions))
        return FAILED
    if source.endswith(".py"):
        with suppress(TypeError):  # what has no weak references is not found again
            _FILES[member] = (folder / source).resolve(), name
    return member


def _run(source: Path) -> ModuleType:
    if not source.is_file():
        raise FileNotFoundError
    # From its text, not from compiled code of before, which is known to be old by whole seconds and its size alone.
    loader = SourceFileLoader(source.stem, str(source))
    spec = importlib.util.spec_from_file_location(source.stem, source, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(loader.source_to_code(source.read_bytes(), str(source)), module.__dict__)
    return module


def name_function(function: Any, folder: Path | None) -> str | None:
    """The text that names a function of an importable module, or of a file of laws as seen from a folder; None where
    there is none."""
    if isinstance(function, Hashable) and function in _FILES:
        file, law_name = _FILES[function]
        return f"{_seen_from(folder, file)}:{law_name}"
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return None
    try:
        namesake = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    return f"{module}:{name}" if namesake is function else None


def _seen_from(folder: Path | None, file: Path) -> str:
    """A file as seen from a folder; its whole path without one, and from another drive."""
    try:
        return (file if folder is None else Path(os.path.relpath(file, folder.resolve()))).as_posix()
    except ValueError:
        return file.as_posix()


# --------------------------------------------------------------------------------------------------
# Laws made from data: a column of a CSV, Parquet or other table, or a trained network.


MOST_SAMPLES = 100_000
"""Of one reference: a step ends at each of them."""


class FileReference(Description):
    """A column of a file, over its column `time`, as a law."""

    NOUN = "reference"

    file: str = text(doc="a CSV file, or one that ends in `.parquet`, beside this one; its first column is `time`")
    column: str = text(doc="name of the column, without the unit that may follow in brackets")
    interpolation: str = choice(INTERPOLATIONS, default="linear", doc="between the samples")
    ends: str = choice(
        ENDS,
        default="natural",
        doc='of a cubic spline: `"natural"` (no acceleration at the ends) or `"clamped"` (no speed)',
    )

    def check(self, flaws: FlawList) -> None:
        if self.ends != "natural" and self.interpolation in ("held", "linear"):
            flaws.add("ends", f"has no effect on the interpolation '{self.interpolation}'", "it applies to cubic")

    def load(self, folder: Path) -> RecordedReference:
        """The law, of a file in a folder."""
        path, column = folder / self.file, self.column
        flaws = FlawList()
        data = read_samples(path)
        if column not in data.names:
            flaws.add("column", f"there is no column '{column}'", nearest(column, data.names))
            flaws.raise_if_any(str(path))
        k = data.names.index(column)
        _check_samples(flaws, column, data.time, data.values[:, k])
        flaws.raise_if_any(str(path))
        samples = tuple(data.time.tolist()), tuple(data.values[:, k].tolist())
        unit = data.units[k] or None
        return RecordedReference(*samples, self.interpolation, self.ends, unit, f"{path.name}: {column}")


def read_reference(
    path: str | Path, column: str, interpolation: str = "linear", ends: str = "natural"
) -> RecordedReference:
    """Read a column over the column `time` as a law with the outputs value, rate and acceleration.

    Raises:
        ModelError: with every flaw of the file.
    """
    return FileReference(str(path), column, interpolation, ends).load(Path())


def _check_samples(flaws: FlawList, column: str, time: Array, values: Array) -> None:
    if not 2 <= time.size <= MOST_SAMPLES:
        flaws.add("", f"has {time.size} samples, a reference takes 2 to {MOST_SAMPLES}", "keep, say, every tenth")
    for k in np.flatnonzero(np.diff(time) <= 0)[:10]:
        flaws.add("time", f"{time[k]:g} s appears twice", "remove one of these lines")
    for k in np.flatnonzero(~np.isfinite(values))[:10]:
        flaws.add(column, f"is missing at {time[k]:g} s", "remove the line, or fill it in")


LAWS_OF_DATA: Mapping[str, type[FileReference | NetworkFile]] = {
    "file_reference": FileReference,
    "network": NetworkFile,
}
"""Laws by the word that names them in a file, with the keys that say what they are made from."""


def read_law_of_data(word: str, table: TomlTable, reader: TableReader) -> Any:
    """The law of a block whose `law` is one of these words."""
    form = reader.make(table, LAWS_OF_DATA[word], reader.values(table, LAWS_OF_DATA[word]))
    if form is FAILED:
        return FAILED
    try:
        law = form.load(reader.folder)
    except ModelError as error:
        # What is wrong with samples lies in the file, what is wrong with a network in the key that does not fit it.
        table.flaws.extend(error.flaws, under=table.at("file") if word == "file_reference" else table.path)
        return FAILED
    except (OSError, Unreadable, ImportError) as error:
        table.note("file", f"cannot be read: {error}")
        return FAILED
    if isinstance(law, RecordedReference) and law.unit and "unit" in table:
        what = f"has no effect: the file gives '{form.column}' in {law.unit}"
        table.note("unit", what, "leave it out")
        return FAILED
    _FORMS[law] = form, reader.folder.resolve()
    return law


def written_form(law: Any, folder: Path | None) -> dict[str, Any]:
    """The keys by which a file says a law that was made from data; none for another one."""
    if not isinstance(law, RecordedReference | TrainedNetwork) or law not in _FORMS:
        return {}
    form, home = _FORMS[law]
    return {"law": law.__name__, **form.stated(), "file": _seen_from(folder, home / form.file)}
