"""How are units of both versions of the interface called alike? FMPy's classes behind one set of names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

TERMINATED = 3
"""Kind of status of version 2 that tells whether a unit wants to end the simulation."""


class Slave(Protocol):
    """An instance of a unit."""

    messages: list[str]

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        """Enter the initialisation."""

    def begin(self) -> None:
        """Leave the initialisation."""

    def get(self, references: Sequence[int]) -> list[float]: ...

    def set(self, references: Sequence[int], values: Sequence[float]) -> None: ...

    def set_slopes(self, references: Sequence[int], orders: Sequence[int], values: Sequence[float]) -> None:
        """Derivatives of inputs by time."""

    def step(self, time: float, length: float) -> bool:
        """Go on; whether the unit wants to end the simulation."""

    def slopes(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]) -> list[float]: ...

    def save(self) -> Any: ...

    def restore(self, state: Any) -> None: ...

    def release(self, state: Any) -> None: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


def open_slave(description: Any, folder: str | Path, name: str) -> Slave:
    """An instance of an unpacked co-simulation unit."""
    settings = {
        "guid": description.guid,
        "unzipDirectory": str(folder),
        "modelIdentifier": description.coSimulation.modelIdentifier,
        "instanceName": name,
    }
    return Slave2(settings) if description.fmiVersion == "2.0" else Slave3(settings)


class Slave2:
    """A unit of version 2.0."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from fmpy import calloc, fmi2, free

        self.messages: list[str] = []
        self._slave = fmi2.FMU2Slave(**settings)
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
        self._callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        self._callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self._slave.instantiate(callbacks=self._callbacks)
        self.get, self.set = self._slave.getReal, self._slave.setReal
        self.begin, self.reset = self._slave.exitInitializationMode, self._slave.reset
        self.set_slopes, self.slopes = self._slave.setRealInputDerivatives, self._slave.getDirectionalDerivative
        self.save, self.restore = self._slave.getFMUstate, self._slave.setFMUstate
        self.release = self._slave.freeFMUstate

    def _note(self, environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._slave.setupExperiment(tolerance=tolerance, startTime=time, stopTime=stop)
        self._slave.enterInitializationMode()

    def step(self, time: float, length: float) -> bool:
        from fmpy import fmi1

        try:
            self._slave.doStep(time, length)
        except fmi1.FMICallException as error:
            if error.status == fmi1.fmi1Discard and self._slave.getBooleanStatus(TERMINATED):
                return True
            raise
        return False

    def close(self) -> None:
        self._slave.freeInstance()


class Slave3:
    """A unit of version 3.0."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from fmpy import fmi3

        self.messages: list[str] = []
        self._slave = fmi3.FMU3Slave(**settings)
        self._slave.instantiate(logMessage=self._note)
        self.get, self.set = self._slave.getFloat64, self._slave.setFloat64
        self.begin, self.reset = self._slave.exitInitializationMode, self._slave.reset
        self.slopes = self._slave.getDirectionalDerivative
        self.save, self.restore = self._slave.getFMUState, self._slave.setFMUState
        self.release = self._slave.freeFMUState

    def _note(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._slave.enterInitializationMode(tolerance=tolerance, startTime=time, stopTime=stop)

    def set_slopes(self, references: Sequence[int], orders: Sequence[int], values: Sequence[float]) -> None:
        raise NotImplementedError("units of version 3.0 take no derivatives of inputs")

    def step(self, time: float, length: float) -> bool:
        _, terminate, _, _ = self._slave.doStep(time, length)
        return bool(terminate)

    def close(self) -> None:
        self._slave.freeInstance()
