"""Model-exchange calls: how does the importer drive a unit? FMPy's classes of both versions behind one set of names."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_double
from pathlib import Path
from typing import Any

import numpy as np

Pointer = POINTER(c_double)


class CarriedUnit:
    """An instance whose states its user carries; closed by `with`.

    Attributes:
        references: of all variables by their names. messages: what the unit has said.
        terminated: whether the unit has asked to end the simulation.
        next_time: of the next instant that the unit has planned, or infinity [s].
    """

    def __init__(self, path: str | Path) -> None:
        import fmpy
        from fmpy import fmi2, fmi3

        self.folder = fmpy.extract(str(path))
        description = fmpy.read_model_description(self.folder)
        self.version = 2 if description.fmiVersion == "2.0" else 3
        self.references = {variable.name: variable.valueReference for variable in description.modelVariables}
        self.n_x, self.n_indicators = description.numberOfContinuousStates, description.numberOfEventIndicators
        kind: Any = fmi2.FMU2Model if self.version == 2 else fmi3.FMU3Model
        self.unit = kind(
            guid=description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="carried",
        )
        self.messages: list[str] = []
        if self.version == 2:
            self._callbacks = fmi2.fmi2CallbackFunctions()
            self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
            self._callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
            self._callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
            self.unit.instantiate(callbacks=self._callbacks)
        else:
            self.unit.instantiate(logMessage=self._note)
        self.terminated, self.next_time = False, np.inf

    def _note(self, *said: Any) -> None:
        self.messages.append(said[-1].decode("utf-8", "replace"))

    def __enter__(self) -> CarriedUnit:
        return self

    def __exit__(self, *_: object) -> None:
        self.unit.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, time: float, stop: float | None = None) -> None:
        """Initialise the unit and settle its first instant."""
        if self.version == 2:
            self.unit.setupExperiment(startTime=time, stopTime=stop)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(startTime=time, stopTime=stop)
        self.unit.exitInitializationMode()
        self.settle()

    def settle(self) -> None:
        """Carry out what is due in event mode, and leave it unless the unit has ended."""
        again = True
        while again and not self.terminated:
            update = self.unit.newDiscreteStates if self.version == 2 else self.unit.updateDiscreteStates
            again, self.terminated, _, _, known, time = update()
        self.next_time = time if known else np.inf
        if not self.terminated:
            self.unit.enterContinuousTimeMode()

    def place(self, time: float, x: np.ndarray) -> None:
        """Stand at a time with these states; nothing happens."""
        self.unit.setTime(time)
        column = np.ascontiguousarray(x, float)
        self.unit.setContinuousStates(column.ctypes.data_as(Pointer), self.n_x)

    def complete(self) -> bool:
        """Say that a step has been completed; returned: whether the unit wants to be at an event."""
        return bool(self.unit.completedIntegratorStep()[0])

    def update(self) -> None:
        """Be at an event here."""
        self.unit.enterEventMode()
        self.settle()

    @property
    def x(self) -> np.ndarray:
        return self._read(self.unit.getContinuousStates, self.n_x)

    @property
    def rates(self) -> np.ndarray:
        get = self.unit.getDerivatives if self.version == 2 else self.unit.getContinuousStateDerivatives
        return self._read(get, self.n_x)

    @property
    def indicators(self) -> np.ndarray:
        return self._read(self.unit.getEventIndicators, self.n_indicators)

    def _read(self, get: Callable[[Any, int], Any], size: int) -> np.ndarray:
        values = np.zeros(size)
        get(values.ctypes.data_as(Pointer), size)
        return values

    def get(self, references: Sequence[int]) -> list[float]:
        """Values of variables."""
        get = self.unit.getReal if self.version == 2 else self.unit.getFloat64
        return list(get(list(references))) if references else []

    def set(self, names: dict[str, float]) -> None:
        """Give variables values, in a mode in which they may be set."""
        references = [self.references[name] for name in names]
        put = self.unit.setReal if self.version == 2 else self.unit.setFloat64
        put(references, list(names.values()))
