"""Co-simulation couplings: do errors grow from macro step to macro step, and up to which step?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, SignalConnection
from robodyn.computation.cosimulation.coupling import Answer, Asked, Coupling, Trend
from robodyn.computation.cosimulation.macro_steps import couple_units
from robodyn.computation.engine.binding import functions

Span = tuple[float, float]
WITHIN = 1.05
"""Ratio of the two macro steps between which a limit is found."""

# --------------------------------------------------------------------------------------------------
# Stability limit by bisection: up to which macro step does something hold?


@frozen
class StepLimit:
    """Where something ceases to hold.

    Attributes:
        holds: longest macro step known to hold [s], 0 where none did; fails: shortest known to fail [s], infinite where
            none did.
    """

    holds: float
    fails: float


def find_limit(
    check: Callable[[float], bool],
    start: float,
    *,
    shortest: float,
    longest: float,
    stride: float = 2.0,
) -> StepLimit:
    """The macro step at which a check begins to fail.

    What fails only between two strides, and holds again, is not seen.

    Args:
        check: whether it holds at a macro step [s].
        start: where to begin [s]; shortest, longest: where to give up [s].
        stride: ratio of steps until it fails or holds.
    """
    holds, fails, step = 0.0, math.inf, start
    while not holds or fails > WITHIN * holds:
        if check(step):
            holds = step
        else:
            fails = step
        if holds and math.isfinite(fails):
            step = math.sqrt(holds * fails)
        elif step in (shortest, longest):
            break
        else:
            step = min(stride * step, longest) if holds else max(step / stride, shortest)
    return StepLimit(holds, fails)


# --------------------------------------------------------------------------------------------------
# Spectral radius of a macro step: by how much does a small disturbance of any co-simulation grow in one?
#
# One macro step H takes z to F(z). z has the states of all units and the memory of their sampled blocks, the signals of
# earlier exchanges that polynomials still go through, and of what units were sent last all that acts on what they send
# next: an output that depends directly on an input is read at the end of a macro step, with the input as it was in it.
# The Jacobian comes by central differences of the units themselves, so that it holds for all couplings, schemes and
# orders;
#
#     growth = max |eigenvalue of dF/dz|
#
# is above 1 where the coupling, or what is coupled, is unstable. Sums on which nothing depends, such as impulses, are
# left out.


DISTURBANCE = 1e-4
"""Of every entry of z, up and down."""
IDLE = 1e-8
"""An entry of z whose disturbance stays as it is, and moves nothing else by more, is a sum on which nothing depends."""


class MacroSteps:
    """Macro steps from one instant of a co-simulation, tried again and again.

    Args:
        units: with tight tolerances of their solvers, since differences are taken; they cannot be used again.
        settings: gets there with its own step; time: of the instant [s].
    """

    def __init__(
        self,
        units: Sequence[ScenarioUnit],
        connections: Sequence[Connection] = (),
        *,
        settings: CosimSettings,
        signal_connections: Sequence[SignalConnection] = (),
        time: float = 0.0,
    ) -> None:
        flaws = FlawList()
        for unit in units:
            if not (isinstance(unit, ScenarioUnit) and unit.can_restore):
                flaws.add(
                    f"units.{unit.name}", "cannot be disturbed and restored", "use scenarios without Python blocks"
                )
            elif unit.system.delays:
                what = "has delays, whose history cannot be disturbed"
                flaws.add(f"units.{unit.name}", what, "compare runs with and without a disturbance instead")
        flaws.raise_if_any("growth")
        self.coupling = couple_units(units, connections, signal_connections, None, settings)
        self.units = {unit.name: unit for unit in units}
        self.settings, self.time = settings, time
        coupling = self.coupling
        coupling.progress = lambda time, step, steps: None
        request = coupling.carry_out(functions().coupling_advance)
        if request != Asked.STARTED:
            raise ValueError(f"the co-simulation does not start: {request.name}")
        # One macro step at a time, which ends where it is told to.
        coupling.native.set(row_capacity=1, first_step=math.inf)
        for end in np.linspace(0.0, self.time, math.ceil(self.time / self.settings.step) + 1).tolist()[1:]:
            _advance(coupling, end)
        self.coupling.carry_out(functions().coupling_save)
        # All that each unit is sent: inputs fed by signals, and what reduced models bring.
        sent: dict[str, list[str]] = {name: [] for name in self.coupling.units}
        for channel in self.coupling.channels:
            sent[channel.target] += channel.inputs
        for pair in self.coupling.pairs:
            for _, receiver in pair.models:
                side = pair.sides[receiver]
                sent[side.unit] += side.interface.incoming
        # Those of them on whose last value depends what is sent next, by trying each.
        self._passing = {name: tuple(key for key in inputs if self._passes(name, key)) for name, inputs in sent.items()}

    def jacobian(self, step: float, disturbance: float = DISTURBANCE) -> Array:
        """dF/dz of a macro step [s], (n, n)."""
        self._begin(step)
        z = self._read()
        columns = []
        for k in range(len(z)):
            ends = []
            for sign in (1.0, -1.0):
                moved = z.copy()
                moved[k] += sign * disturbance
                self._begin(step)
                self._write(moved)
                _advance(self.coupling, self.time + step)
                ends.append(self._read())
            columns.append((ends[0] - ends[1]) / (2 * disturbance))
        return np.column_stack(columns)

    def growth(self, step: float) -> float:
        """The growth of the disturbance that grows most in a macro step [s], a multiple of the sample times of all
        units."""
        # Between macro steps that end at different times after a sample, no map is like the one before.
        flaws = FlawList()
        for name, unit in self.units.items():
            base = Fraction(unit.system.discrete.base_period or 1)
            for task in unit.system.discrete.tasks:
                ratio = Fraction(step).limit_denominator(10**9) / (task.period * base)
                if ratio.denominator != 1:
                    what = f"{step:g} s is no multiple of the period {step / float(ratio):g} s of '{task.name}'"
                    flaws.add(f"units.{name}", what, "choose such a macro step")
        flaws.raise_if_any("growth")
        J = self.jacobian(step)
        active = np.max(np.abs(J - np.eye(len(J))), axis=0) > IDLE
        return float(np.max(np.abs(np.linalg.eigvals(J[np.ix_(active, active)])), initial=0.0))

    def _passes(self, name: str, key: str) -> bool:
        """Whether what all units have got after the exchange at the instant changes with an input before it."""
        unit, ends = self.units[name], []
        for change in (DISTURBANCE, -DISTURBANCE):
            self._begin(self.settings.step)
            unit.hold((key,), unit.held((key,)) + change)
            self._read_again()
            self.coupling.native.fields.end = self.time + self.settings.step
            self.coupling.carry_out(functions().coupling_exchange)
            ends.append(np.concatenate([part for one in self.units.values() for part in (one.state, one.values)]))
        return bool(np.any(ends[0] != ends[1]))

    def _begin(self, step: float) -> None:
        """Back to the instant, as if everything had been as it is there for some macro steps."""
        self.coupling.carry_out(functions().coupling_restore)
        self.coupling.native.fields.time = self.time
        for memory in _memories(self.coupling):
            memory.fill(self.time, step)

    def _read(self) -> Array:
        parts = []
        for name, unit in self.units.items():
            parts += [unit.state[: unit.system.n_moving], unit.memory, unit.held(self._passing[name])]
        return np.concatenate([*parts, *(memory.values.ravel() for memory in _memories(self.coupling))])

    def _write(self, z: Array) -> None:
        rest = z
        for name, unit in self.units.items():
            sizes = (unit.system.n_moving, len(unit.memory), len(self._passing[name]))
            state, memory, inputs, rest = np.split(rest, np.cumsum(sizes))
            unit.move(np.concatenate([state, unit.state[len(state) :]]), memory)
            unit.hold(self._passing[name], inputs)
        for earlier in _memories(self.coupling):
            taken, rest = np.split(rest, [earlier.values.size])
            earlier.values[:] = taken.reshape(earlier.values.shape)
        self._read_again()

    def _read_again(self) -> None:
        """Outputs at the instant, after something has been changed there."""
        for unit in self.units.values():
            unit.read()
        for channel, trend in zip(self.coupling.channels, self.coupling.trends, strict=False):
            if not channel.mean:
                source = self.units[channel.source].read()
                trend.values[trend.fields.count - 1] = [channel.gain * source[name] for name in channel.outputs]


def _advance(coupling: Coupling, end: float) -> None:
    """One macro step."""
    fields, begin = coupling.native.fields, coupling.time
    fields.n_rows, fields.duration = 0, end
    coupling.carry_out(functions().coupling_advance)
    if fields.ended != Answer.GOES_ON or coupling.time != end:
        reason = coupling.outcome.sentence if coupling.outcome else "a reduced model does not exist"
        raise ValueError(f"no macro step of {end - begin:g} s at {begin:g} s: {reason}")


@frozen(eq=False)
class _Memory:
    """Values of earlier exchanges that a polynomial goes through.

    Attributes:
        ages: how old their spans are at a communication point, oldest first, in macro steps.
        fresh: whether the trend holds a newer value, of this exchange, besides.
    """

    trend: Trend
    ages: tuple[Span, ...]
    fresh: bool

    def fill(self, time: float, step: float) -> None:
        """As if the last value had been there all the time."""
        ages = (*self.ages, (0.0, 0.0)) if self.fresh else self.ages
        trend, n = self.trend, len(ages)
        trend.values[:n] = trend.values[trend.fields.count - 1].copy()
        trend.spans[:n] = [(time - first * step, time - last * step) for first, last in ages]
        trend.fields.count = n

    @property
    def values(self) -> Array:
        """Oldest first, in the engine's memory."""
        end = self.trend.fields.count - self.fresh
        return self.trend.values[end - len(self.ages) : end]


def _memories(coupling: Coupling) -> list[_Memory]:
    memories = []
    n = len(coupling.channels)
    for channel, trend in zip(coupling.channels, coupling.trends, strict=False):
        if channel.mean:
            # The mean over the last macro step is remembered too.
            ages = tuple((k + 1.0, float(k)) for k in range(channel.order, -1, -1))
            memories.append(_Memory(trend, ages, False))
        elif channel.order:
            memories.append(_Memory(trend, _instants(channel.order), True))
    models = [(trend, trend.fields.order) for trend in coupling.trends[n:]]
    return memories + [_Memory(trend, _instants(order), False) for trend, order in models if order]


def _instants(order: int) -> tuple[Span, ...]:
    return tuple((float(k), float(k)) for k in range(order, 0, -1))
