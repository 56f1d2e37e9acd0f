"""Native macro steps: how do scenarios go on together without Python between their exchanges?

Where every unit is a scenario whose blocks are all compiled and the macro step is fixed, the engine exchanges and
advances by itself (coupling.c), with the numbers that `Exchange` would find, and returns for what it cannot decide.
Before the first macro step and after the last, everything is where `Exchange` has it. Structures of the engine's
`coupling.h` are filled once; their arrays are kept alive by the objects here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.computation.cosimulation.connection import InterfacePair, Side
from robodyn.computation.cosimulation.exchange import IllConditioned, Samples, Trend
from robodyn.computation.cosimulation.reduced import JOININGS
from robodyn.computation.cosimulation.scenario_inputs import (
    EXCHANGE,
    HIGHEST_ORDER,
    MEAN,
    STEP,
    all_coefficients,
    far_states,
)
from robodyn.computation.cosimulation.scenario_unit import ScenarioUnit
from robodyn.computation.cosimulation.unit import InterfaceMotion, all_arrive, name_unit
from robodyn.computation.engine import Status
from robodyn.computation.engine.binding import address_of, functions, structures
from robodyn.computation.engine.integrate import Reason
from robodyn.computation.results import Outcome

if TYPE_CHECKING:
    from robodyn.computation.cosimulation.exchange import Exchange

TAKES_NONE, TAKES_RIGID, TAKES_ELASTIC = range(3)


class Structure:
    """A structure of the engine with the arrays that it points to."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.fields: Any = structures()[name]()
        self.arrays: dict[str, Any] = {}
        for key, value in fields.items():
            self.set(key, value)

    def set(self, key: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self.arrays[key], value = value, address_of(value)
        elif isinstance(value, Structure):
            self.arrays[key], value = value, value.address
        elif isinstance(value, ctypes.Array):
            self.arrays[key], value = value, ctypes.addressof(value)
        setattr(self.fields, key, value)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.fields)


def line_up(name: str, parts: Sequence[Structure]) -> Any:
    """Structures one behind the other; each part is one of them from now on."""
    row = (structures()[name] * len(parts))(*(part.fields for part in parts))
    for part, entry in zip(parts, row, strict=True):
        part.fields = entry
    return row


class NativeTrend(Structure):
    """The last values of a vector in the engine's memory."""

    def __init__(self, trend: Trend, size: int) -> None:
        self.spans, self.values = np.zeros((HIGHEST_ORDER + 1, 2)), np.zeros((HIGHEST_ORDER + 1, size))
        super().__init__("Trend", order=trend.order, size=size, spans=self.spans, values=self.values)

    def write(self, trend: Trend) -> None:
        n = self.fields.count = len(trend.spans)
        self.spans[:n], self.values[:n] = trend.spans, trend.values

    def read(self, trend: Trend) -> None:
        n = self.fields.count
        trend.spans = [(a, b) for a, b in self.spans[:n].tolist()]
        trend.values = [row.copy() for row in self.values[:n]]


class NativeUnit(Structure):
    """A scenario as the engine advances it, from where it is.

    Attributes:
        place: output -> its place among those read; means stand behind them.
    """

    def __init__(self, unit: ScenarioUnit) -> None:
        assert unit.run is not None
        self.unit, self.run = unit, unit.run.integration
        chosen = unit.chosen or ()
        means = [name for part in unit.giving for name in part.names(MEAN)]
        self.place = {name: k for k, name in enumerate((*chosen, *means))}
        self.numbers = {number.name: k for k, number in enumerate(unit.system.parameters)}
        self.port_p = unit.p.copy()
        self.impulse = np.zeros(len(means))
        read = {key: np.zeros(len(self.place)) for key in ("outputs", "noted", "begun")}
        places = {
            f"{key}s": self.outputs_at([n for part in unit.giving for n in part.names(key)])
            for key in ("impulse", "force")
        }
        super().__init__(
            "CoupledRun",
            run=self.run.address,
            read=unit.functions.kernel("chosen").address,
            run_prelude=unit.compiled.module.prelude_address,
            port_prelude=unit.functions.module.prelude_address,
            values=unit.values,
            run_p=self.run.p,
            port_p=self.port_p,
            impulse=self.impulse,
            spheres=unit.spheres,
            n_read=len(chosen),
            n_means=len(means),
            n_values=len(unit.values),
            n_spheres=len(unit.spheres),
            clock=self.numbers.get(EXCHANGE, -1),
            span=self.numbers[STEP] if unit.foresees else -1,
            **read,
            **places,
        )
        self.add_derivatives()

    def outputs_at(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.place[name] for name in names], np.int64)

    def numbers_at(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.numbers[name] for name in names], np.int64)

    def add_derivatives(self) -> None:
        """What a stiff method has got on the way."""
        if self.run.derivatives is not None:
            self.set("jacobian_prelude", self.unit.compiled.derivative_module[0].prelude_address)
            self.set("jacobian_p", self.run.p_jacobian)

    def write(self, outputs: Any) -> None:
        """Begin where the unit is."""
        unit = self.unit
        assert unit.run is not None
        self.arrays["outputs"][:] = [outputs[name] for name in self.place]
        self.impulse[:] = [value for part in unit.giving for value in unit.impulse[part.name]]
        self.fields.since, self.fields.moved = unit.since, int(unit.run.moved)

    def read(self, which: str) -> dict[str, float]:
        """Outputs as read last ("outputs") or after the exchange ("noted")."""
        return dict(zip(self.place, self.arrays[which].tolist(), strict=True))

    def leave(self) -> None:
        """The unit is where the engine has got with it."""
        unit = self.unit
        assert unit.run is not None
        unit.p, unit.since, unit.run.moved = self.port_p, self.fields.since, bool(self.fields.moved)
        left = iter(self.impulse.tolist())
        unit.impulse = {part.name: [next(left) for _ in part.row_names] for part in unit.giving}


class NativeChannel(Structure):
    """Signals of one unit that feed inputs of another together."""

    def __init__(self, samples: Samples, units: dict[str, NativeUnit]) -> None:
        channel = samples.channel
        self.trend = NativeTrend(samples.trend, len(channel.outputs))
        names, order = list(units), ("source", "target")
        super().__init__(
            "Channel",
            trend=self.trend,
            scratch=NativeTrend(samples.trend, len(channel.outputs)),
            outputs=units[channel.source].outputs_at(channel.outputs),
            inputs=units[channel.target].numbers_at(all_coefficients(channel.inputs)),
            gain=channel.gain,
            late=int(channel.late),
            mean=int(channel.mean),
            **{key: names.index(getattr(channel, key)) for key in order},
        )


class NativePort(Structure):
    """One side of a connection."""

    def __init__(self, pair: InterfacePair, k: int, units: dict[str, NativeUnit], trend: Trend | None) -> None:
        side = pair.sides[k]
        self.native, self.terms = units[side.unit], units[side.unit].unit.terms[side.interface.name]
        self.side, self.fields, self.arrays = side, self.terms.port, {}
        self.corrects = _taking(pair, k) == TAKES_RIGID and not (pair.merged and pair.join == "none")
        given = {"gives": int((k, 1 - k) in pair.models), "takes": _taking(pair, k), "warned_at": np.nan}
        given |= {"unit": list(units).index(side.unit)}
        for key, value in (given | self._places(side)).items():
            self.set(key, value)
        self.set("terms", self.native.unit.functions.kernel(f"terms:{side.interface.name}").address)
        self.trend = NativeTrend(trend, len(side.interface.row_names)) if trend else None
        if self.trend:
            self.set("trend", self.trend)

    def _places(self, side: Side) -> dict[str, np.ndarray]:
        part, far = side.interface, "far_" if side.elastic else ""
        if part.takes != "model":
            return {}
        expected = [*part.names(f"{far}position"), *part.names(f"{far}velocity")]
        expected += part.names(f"{far}orientation") if part.rotates else ()
        matrix, course = ("far_inertia", "far_force") if part.rigid else ("far_mobility", "far_acceleration")
        found = {"expected": self.native.outputs_at(expected)}
        found["matrix"] = self.native.numbers_at(part.names(matrix))
        found["course"] = self.native.numbers_at(all_coefficients(part.names(course)))
        if side.elastic:
            names = [state.name for state in self.native.unit.system.states]
            rows = len(part.row_names)
            wanted = far_states(part, InterfaceMotion(np.zeros(min(rows, 3)), np.zeros(rows)))
            found["states"] = np.array([names.index(name) for name in wanted], np.int64)
            if part.rotates:
                found["turned"] = self.native.numbers_at(part.names("far_orientation"))
        return found


def _taking(pair: InterfacePair, k: int) -> int:
    if (1 - k, k) not in pair.models:
        return TAKES_NONE
    return TAKES_ELASTIC if pair.sides[k].elastic else TAKES_RIGID


class NativePair(Structure):
    """Two interfaces that are one place."""

    def __init__(self, pair: InterfacePair, units: dict[str, NativeUnit], trends: Any) -> None:
        self.ports = [NativePort(pair, k, units, trends.get((pair.name, k))) for k in range(2)]
        join = JOININGS.index(pair.join)
        super().__init__("Pair", first=self.ports[0], second=self.ports[1], join=join)


def advance_natively(address: int) -> int:
    """Macro steps until Python is needed; why that is, see coupling.h."""
    return functions().coupling_advance(address)


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
        for pair, described in zip(self.pairs, exchange.pairs, strict=True):
            pair.fields.gap, pair.fields.condition = exchange.models.reports[described.name]
            for k, port in enumerate(pair.ports):
                if port.trend:
                    port.trend.write(exchange.models.trends[described.name, k])

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
        for pair, described in zip(self.pairs, exchange.pairs, strict=True):
            exchange.models.reports[described.name] = pair.fields.gap, pair.fields.condition
            for k, port in enumerate(pair.ports):
                self._leave_port(port, (described.name, k))

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
