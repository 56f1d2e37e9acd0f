"""System cache: how is a scenario that was made ready before neither traced nor compiled again?

What a run must know of a compiled system in plain values, and what was found of it (unstable loops, references beyond
limits, the start), is kept beside its native code (`native.cache`), with the same safety. Its name is made of all that
it depends on: the scenario with all that was read for it, solver, signals, the sources of this package, the versions
of what it uses, the processor. The scenario is made anew each time, so that what its files, tables and programs say
today is what counts.

Functions of others are not looked into: what they call, or read, might be other than before. A scenario that holds one
is made ready anew each time, and so is one with a function that has no name in its module.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import cache as once_a_process
from types import BuiltinFunctionType, FunctionType
from typing import Any

from robodyn.computation.native import cache
from robodyn.computation.native.machine import circumstances, optimisation
from robodyn.description.model import Scenario, Solver

from .compiled import CompiledSystem
from .recording import package_versions

OWN = ("robodyn", "robodyn_studies")
"""Packages whose sources are part of the name: their functions depend on nothing else."""
KNOWN = frozenset({*OWN, "numpy", *sys.stdlib_module_names} - {"__main__"})
"""Packages of classes and functions in a scenario that the name covers, by sources or by version."""
STATE = "system cache"


def compile_scenario(
    scenario: Scenario, solver: Solver, signals: tuple[str, ...], on_compile: Callable[[str], None] | None = None
) -> CompiledSystem:
    """A scenario compiled for one run: as it was kept, or traced now.

    Args:
        signals: patterns of what is recorded; solver, on_compile: as of `compile_system`.
    """
    key = _name(scenario, solver, signals)
    compiled = _load(key, scenario) if key else None
    if compiled is None:
        compiled = _compile(scenario, solver, signals, on_compile)
        compiled.prepared[STATE] = key, None
    else:
        compiled.prepared[STATE] = key, set(compiled.system.findings)
    return compiled


def keep(compiled: CompiledSystem) -> None:
    """Keep a system that `compile_scenario` gave, with what has been found of it since."""
    key, findings = compiled.prepared[STATE]
    if key and findings != set(compiled.system.findings):
        file = io.BytesIO()
        try:
            _SystemPickler(file, compiled.system.scenario).dump(compiled)
        except (TypeError, AttributeError, pickle.PicklingError):
            return  # something in it has no name, such as a function made on the way: it is made anew each time
        cache.save(key, file.getvalue(), cache.SYSTEMS)


def _compile(
    scenario: Scenario, solver: Solver, signals: tuple[str, ...], on_compile: Callable[[str], None] | None
) -> CompiledSystem:
    from dataclasses import replace

    from robodyn.computation.assembly import assemble

    from .run_functions import compile_system

    system = assemble(scenario, signals=signals)
    return replace(compile_system(system, solver, signals=signals, once=True, on_compile=on_compile), once=True)


def _load(key: str, scenario: Scenario) -> CompiledSystem | None:
    content = cache.load(key, cache.SYSTEMS)
    if content is None:
        return None
    try:
        compiled: CompiledSystem = _SystemUnpickler(io.BytesIO(content), scenario).load()
    except Exception:  # noqa: BLE001  whatever is wrong with it, or its code no longer there: it is made anew
        return None
    return compiled


def _name(scenario: Scenario, solver: Solver, signals: tuple[str, ...]) -> str:
    """A name of all that the compiled system depends on; empty where that is not known."""
    file = io.BytesIO()
    try:
        _NamePickler(file, pickle.HIGHEST_PROTOCOL).dump((scenario, solver, signals))
    except (TypeError, AttributeError, pickle.PicklingError):
        return ""
    described = hashlib.sha256(file.getvalue()).hexdigest()
    versions = [f"{package} {version}" for package, version in package_versions().items()]
    made_by = (*versions, sys.version, *circumstances(), f"optimisation {optimisation(quick=False)}", *_sources())
    return cache.key_of(["system", described, *made_by])


class _NamePickler(pickle.Pickler):
    """Writes what is described, and refuses what a name cannot cover."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
            module = value.__module__ or "builtins"
            if module.partition(".")[0] not in KNOWN:
                raise pickle.PicklingError(f"{module} is not known")
        return NotImplemented


class _SystemPickler(pickle.Pickler):
    """Writes a compiled system without its scenario and the blocks of that, which are there when it is read."""

    def __init__(self, file: io.BytesIO, scenario: Scenario) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.places = {id(part): place for place, part in enumerate(_parts(scenario))}

    def persistent_id(self, value: Any) -> int | None:
        return self.places.get(id(value))


class _SystemUnpickler(pickle.Unpickler):
    """Reads a compiled system, its scenario given."""

    def __init__(self, file: io.BytesIO, scenario: Scenario) -> None:
        super().__init__(file)
        self.parts = _parts(scenario)

    def persistent_load(self, place: int) -> Any:
        return self.parts[place]


def _parts(scenario: Scenario) -> tuple[Any, ...]:
    return scenario, *scenario.machine.blocks


@once_a_process
def _sources() -> tuple[str, ...]:
    """Size and times of every source file of our own packages that are loaded; a change of any changes its time."""
    states = []
    for package in OWN:
        if package in sys.modules:
            files = [file for folder in sys.modules[package].__path__ for file in _walk(folder)]
            # Where there are none to compare, what this process makes is not taken for what another one made.
            states += sorted(files) or [os.urandom(16).hex()]
    return tuple(states)


def _walk(folder: str) -> Iterator[str]:
    # A package may also be in an archive, which is no folder.
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".c", ".h")):
                state = entry.stat()
                yield f"{entry.path} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _walk(entry.path)
