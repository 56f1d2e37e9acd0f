"""Functions of files: which law or function does a text name, and which text names a function?

A law of the package is named alone, a function of a Python file beside the scenario's as "my_laws.py:drag", one of an
importable module as "package.module:drag".
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Hashable, MutableMapping
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from robodyn.base.errors import nearest
from robodyn.description.files.table import FAILED, Table

_FILES: MutableMapping[Any, tuple[Path, str]] = WeakKeyDictionary()
"""Files of laws and names in them, of functions that were loaded from there."""


def load_function(text: Any, table: Table, key: str, folder: Path) -> Callable[..., Any] | str | None:
    """The function that a text names, or the text itself where it can only be the name of a law."""
    if not isinstance(text, str) or ":" not in text:
        return text
    source, _, name = text.rpartition(":")
    try:
        module = _run(folder / source) if source.endswith(".py") else importlib.import_module(source)
    except FileNotFoundError:
        table.flaws.add(table.at(key), f"there is no file '{folder / source}'")
        return FAILED
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever the user's file raises is reported as a flaw of that file)
        table.flaws.add(table.at(key), f"'{source}' cannot be loaded: {type(error).__name__}: {error}")
        return FAILED
    member: Any = getattr(module, name, None)
    if not callable(member):
        known = [key for key, value in vars(module).items() if callable(value)]
        table.flaws.add(table.at(key), f"'{source}' has no function '{name}'", nearest(name, known))
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


def name_function(function: Any, folder: Path | None = None) -> str | None:
    """The text that names a function of an importable module, or of a file of laws as seen from a folder; None where
    there is none."""
    if isinstance(function, Hashable) and function in _FILES:
        file, law_name = _FILES[function]
        try:
            seen = file if folder is None else Path(os.path.relpath(file, folder.resolve()))
        except ValueError:  # on another drive
            seen = file
        return f"{seen.as_posix()}:{law_name}"
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return None
    try:
        namesake = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    return f"{module}:{name}" if namesake is function else None
