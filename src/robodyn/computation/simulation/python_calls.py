"""Callbacks: how are laws and actions called that are plain Python, not native code?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import PythonCall
from robodyn.computation.simulation.compiled import CompiledSystem


def calls_python(system: System) -> bool:
    """Whether runs call functions that are no native code: these may keep something between calls."""
    return any(task.call for task in system.discrete.tasks) or any(guard.call for guard in system.discrete.guards)


class PythonCalls:
    """The Python tasks and actions of one run: arguments evaluated natively, results written back by name.

    Attributes:
        p: parameters of the run; running: name of the task or event called last.
    """

    def __init__(self, compiled: CompiledSystem, p: np.ndarray) -> None:
        self.compiled = compiled
        self.p = p
        self.running = ""

    @cached_property
    def _states(self) -> list[str]:
        return [info.name for info in self.compiled.system.states]

    @cached_property
    def _memory(self) -> list[str]:
        return [info.name for info in self.compiled.system.memory]

    def run_task(self, k: int, t: float, x: np.ndarray, d: np.ndarray, m: np.ndarray) -> np.ndarray:
        """New memory after task k."""
        task = self.compiled.system.discrete.tasks[k]
        self.running = task.name
        assert task.call is not None
        return _written(np.array(m), self._memory, self._call(task.call, t, x, d, m))

    def run_action(
        self, k: int, t: float, x: np.ndarray, d: np.ndarray, m: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """New states and memory after the action of guard k."""
        guard = self.compiled.system.discrete.guards[k]
        self.running = guard.name
        assert guard.call is not None
        names, results = [*self._states, *self._memory], self._call(guard.call, t, x, d, m)
        both = _written(np.concatenate([x, m]), names, results)
        return both[: len(x)], both[len(x) :]

    def _call(self, call: PythonCall, t: float, x: np.ndarray, d: np.ndarray, m: np.ndarray) -> dict[str, float]:
        inputs = self.compiled.module.kernels[call.inputs]
        column = iter(inputs(np.array([t]), x, d, m, self.p).tolist())
        arguments = {
            name: next(column) if size is None else tuple(next(column) for _ in range(size))
            for name, size in call.shapes.items()
        }
        returned = call.function(**arguments)
        single = next(iter(call.targets)) if len(call.targets) == 1 else "force"
        results = {single: returned} if isinstance(returned, (int, float)) else returned
        if not isinstance(results, Mapping):
            raise TypeError(f"must return a dictionary of numbers, returned {returned!r}")
        unknown = [name for name in results if name not in call.targets]
        if unknown:
            raise ValueError(f"returned {', '.join(unknown)}; known: {', '.join(call.targets)}")
        return {call.targets[name]: _number(name, value) for name, value in results.items()}


def _written(column: np.ndarray, names: list[str], results: dict[str, float]) -> np.ndarray:
    for name, value in results.items():
        column[names.index(name)] = value
    return column


def _number(name: str, value: object) -> float:
    """Texts that look like numbers, and arrays, are no numbers."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return float(value)
    raise TypeError(f"must return a number for {name}, returned {value!r}")
