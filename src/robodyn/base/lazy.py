"""Lazy imports: how does a package offer names without loading their modules before one is used?"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any


class ModuleWhenUsed:
    """A module that is loaded when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        # Kept here, so that it is looked up once.
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import casadi

    ca = casadi
else:
    ca = ModuleWhenUsed("casadi")
"""CasADi, for modules that every start loads: reading a file, or a run that was traced before, does not need it."""


VIEWS: dict[str, str] = {}
"""Functions that show results, and the modules that hold them: said by `robodyn/__init__.py`, above all floors."""


def view(name: str) -> Callable[..., Any]:
    """A method that shows a result. How that looks is said on a floor above; here stands the name of the view alone."""

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(VIEWS[name]), name)(*arguments, **named)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"See `{name}` of `robodyn.presentation`."
    return call


class Displayed:
    """A result that notebooks show."""

    _repr_html_ = view("notebook_html")


def load_when_used(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package that names what it offers once, in its imports for type
    checkers, and loads each of these modules when a name of it is used."""
    homes = {name: module for module, names in _imports_of(package, "    ") for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*vars(sys.modules[package]), *homes}), list(homes)


def imported_names(package: str) -> list[str]:
    """The `__all__` of a package that offers what it imports from its own modules."""
    return [name for module, names in _imports_of(package, "") for name in names if module.startswith(".")]


def _imports_of(package: str, indent: str) -> list[tuple[str, list[str]]]:
    """Modules that the source of a package imports from, at this indentation, and the names."""
    spec: Any = sys.modules[package].__spec__
    source = spec.loader.get_data(spec.origin).decode()
    imports = re.findall(rf"^{indent}from (\S+) import (\([^)]*\)|.*)$", source, re.MULTILINE)
    return [(module, re.findall(r"\w+", names)) for module, names in imports]
