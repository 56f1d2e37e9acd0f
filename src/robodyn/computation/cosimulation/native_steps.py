"""Native macro steps: how do scenarios go on together without Python between their exchanges?

Where every unit is a scenario whose blocks are all compiled and the macro step is fixed, the engine exchanges and
advances by itself (coupling.c), with the numbers that `Exchange` would find, and returns for what it cannot decide.
Before the first macro step and after the last, everything is where `Exchange` has it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.computation.cosimulation.asking import name_unit
from robodyn.computation.cosimulation.model_exchange import IllConditioned
from robodyn.computation.cosimulation.native_units import (
    NativeChannel,
    NativePair,
    NativeUnit,
    Structure,
    advance_natively,
    line_up,
)
from robodyn.computation.cosimulation.scenario_unit import ScenarioUnit
from robodyn.computation.cosimulation.unit_events import all_arrive
from robodyn.computation.engine import Status
from robodyn.computation.engine.integrate import Reason
from robodyn.computation.results import Outcome

if TYPE_CHECKING:
    from robodyn.computation.cosimulation.exchange import Exchange

MOST_ROWS = 256
"""Macro steps between two looks at the keyboard."""
BUDGET = 2000
"""Micro steps of a unit between them."""


class Returned(IntEnum):
    """Why the engine returned, as in coupling.h."""

    ROWS_FULL = 0
    ENDED = 1
    UNIT_RETURNED = 2
    NO_MODEL = 3
    DIVERGED = 4


def runs_natively(exchange: Exchange) -> bool:
    """Whether Python has no part in a macro step."""
    return exchange.settings.tolerance is None and all(
        type(unit) is ScenarioUnit and unit.can_restore and unit.solver.max_wall_time is None
        for unit in exchange.units.values()
    )


class NativeSteps:
    """Macro steps of a co-simulation that has started.

    Attributes:
        time: that all units have reached [s]; steps: that were taken.
    """

    def __init__(self, exchange: Exchange, time: float, duration: float) -> None:
        self.exchange = exchange
        self.last: Outcome | None = None
        units: dict[str, Any] = {}
        for name, unit in exchange.units.items():
            units[name] = NativeUnit(unit)  # type: ignore[arg-type]
        self.units: dict[str, NativeUnit] = units
        self.channels = [NativeChannel(samples, units) for samples in exchange.samples]
        self.pairs = [NativePair(pair, units, exchange.models.trends) for pair in exchange.pairs]
        self.record = exchange.record
        self.coupling = self._couple(time, duration)
        self._write()

    def _couple(self, time: float, duration: float) -> Structure:
        settings, names = self.exchange.settings, list(self.units)
        parts = {
            "units": line_up("CoupledRun", [*self.units.values()]),
            "channels": line_up("Channel", self.channels),
            "pairs": line_up("Pair", self.pairs),
        }
        places = {
            key: np.array([(names.index(unit), self.units[unit].place[name]) for unit, name in signals], np.int64)
            for key, signals in (("kept", self.record.kept), ("booked", self.record.booked))
        }
        self.rows = np.zeros((MOST_ROWS, self.record.width))
        limits = ("step", "condition_limit", "condition_warning", "largest_value")
        return Structure(
            "Coupling",
            **places,
            **parts,
            **{f"n_{key}": len(entries) for key, entries in (places | parts).items()},
            **{key: getattr(settings, key) for key in limits},
            rows=self.rows,
            row_capacity=MOST_ROWS,
            budget=BUDGET,
            sequential=int(settings.scheme == "sequential"),
            time=time,
            duration=duration,
        )

    @property
    def time(self) -> float:
        return self.coupling.fields.time

    @property
    def steps(self) -> int:
        return self.coupling.fields.passed

    def _write(self) -> None:
        """Begin where `Exchange` is."""
        exchange = self.exchange
        for name, unit in self.units.items():
            unit.write(exchange.outputs[name])
        for channel, samples in zip(self.channels, exchange.samples, strict=True):
            channel.trend.write(samples.trend)
        for pair, told in zip(self.pairs, exchange.pairs, strict=True):
            pair.fields.gap, pair.fields.condition = exchange.models.message[told.name]
            for k, port in enumerate(pair.ports):
                if port.trend:
                    port.trend.write(exchange.models.trends[told.name, k])

    def _leave(self) -> None:
        """`Exchange` and its units are where the engine has got with them."""
        exchange, fields = self.exchange, self.coupling.fields
        self.record.extend(self.rows[: fields.n_rows].copy())
        fields.n_rows = 0
        exchange.outputs = {name: unit.read("outputs") for name, unit in self.units.items()}
        for unit in self.units.values():
            unit.leave()
        for channel, samples in zip(self.channels, exchange.samples, strict=True):
            channel.trend.read(samples.trend)
        for pair, told in zip(self.pairs, exchange.pairs, strict=True):
            exchange.models.message[told.name] = pair.fields.gap, pair.fields.condition
            for k, port in enumerate(pair.ports):
                self._leave_port(port, (told.name, k))

    def _leave_port(self, port: Any, key: tuple[str, int]) -> None:
        models, fields = self.exchange.models, port.fields
        if port.trend:
            port.trend.read(models.trends[key])
        if not np.isnan(fields.warned_at):
            models.warn_of(port.side, fields.warned, fields.warned_at)
        port.native.unit.corrected |= port.corrects

    def advance(self) -> Outcome | None:
        """Macro steps for a while; the outcome of a unit that could not go on, or ends the run.

        Raises:
            IllConditioned: where a reduced model that is needed does not exist.
        """
        reason = advance_natively(self.coupling.address)
        self._leave()
        fields = self.coupling.fields
        if reason == Returned.NO_MODEL:
            port = self.pairs[fields.pair].ports[fields.side]
            raise IllConditioned(port.side, float(port.terms.model[-1]), self.time)
        if reason == Returned.UNIT_RETURNED:
            return self._serve(list(self.units.values())[fields.unit])
        return self.last

    def _serve(self, unit: NativeUnit) -> Outcome | None:
        fields, run = self.coupling.fields, unit.run
        if fields.reason == Reason.NEEDS_JACOBIAN:
            run.add_derivatives()
            unit.add_derivatives()
        elif fields.reason == Reason.BUDGET_USED:
            run.run.budget = BUDGET
        else:
            return self._end(unit)
        return None

    def _end(self, unit: NativeUnit) -> Outcome | None:
        """A run has ended before its macro step, or at its end: then the others go there too."""
        fields = self.coupling.fields
        outcome = name_unit(unit.unit.name, unit.unit.conclude(Status(unit.run.run.status)), self.time)
        self.last = self.last or outcome
        if not all_arrive(self.last, self.time, fields.end):
            self.exchange.noted = {name: part.read("noted") for name, part in self.units.items()}
            self.exchange.note_last(self.time)
            return self.last
        fields.row_capacity = 1
        return None
