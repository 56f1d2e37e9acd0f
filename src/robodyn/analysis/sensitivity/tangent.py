"""Tangents: what is the derivative of any expression along the motion, and along a change of a parameter?

Symbols: S, M, D as in `sensitivity_system`; R = d_dot, the rates of the delayed signals.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.analysis.sensitivity.parameters import Direction
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import DelayInfo
from robodyn.computation.assembly.functions import Expressions, Symbols


@dataclass(frozen=True)
class Tangent:
    """A system's symbols with their sensitivities; j counts the parameters.

    Attributes:
        smooth: the system's expressions as they are differentiated, staircases with their means.
        states: integrated columns U, S = U - shift; memory: M; delayed: D as it is read from history.
        shifts: see `sensitivity.delays`; zero but for the time of a delay whose signal jumps.
        rates: R, one entry a delay, zero where it is not needed.
        moved: D as seen at a fixed time: `D - R` for the delay whose time is the parameter.
        instant: memory that holds when the last event or tick was, and how far that moves with each parameter.
        delays: further delays, and extra: their symbols in that order.
    """

    system: System
    smooth: Expressions
    directions: tuple[Direction, ...]
    states: tuple[ca.SX, ...]
    memory: tuple[ca.SX, ...]
    delayed: tuple[ca.SX, ...]
    moved: tuple[ca.SX, ...]
    shifts: tuple[ca.SX, ...]
    rates: ca.SX
    instant: ca.SX | None
    delays: tuple[DelayInfo, ...] = ()
    extra: ca.SX = ca.SX(0, 1)

    @property
    def count(self) -> int:
        return len(self.directions)

    @property
    def symbols(self) -> Symbols:
        """The system's symbols, x, d and m with their sensitivities appended."""
        own = self.system.symbols
        instant = ca.SX(0, 1) if self.instant is None else self.instant
        return own._replace(
            x=ca.vertcat(own.x, *self.states),
            d=ca.vertcat(own.d, self.extra),
            m=ca.vertcat(own.m, *self.memory, instant),
        )

    def sensitivity(self, j: int) -> ca.SX:
        """S of parameter j."""
        return self.states[j] - self.shifts[j]

    def along(self, j: int, expression: ca.SX, delayed: ca.SX | None = None) -> ca.SX:
        """Derivative by parameter j at a fixed time: `e_x S + e_d D + e_m M + e_p`.

        Args:
            delayed: D, as seen at a fixed time by default.
        """
        own, direction = self.system.symbols, self.directions[j]
        unit = ca.SX.zeros(own.p.numel())
        if direction.place is not None:
            unit[direction.place] = 1
        D = self.moved[j] if delayed is None else delayed
        by = ca.vertcat(own.x, own.d, own.m, own.p)
        way = ca.vertcat(self.sensitivity(j), D, self.memory[j], unit)
        return ca.densify(ca.jtimes(ca.densify(expression), by, way))

    def rate(self, expression: ca.SX) -> ca.SX:
        """Total derivative by time along the motion, memory held: `e_t + e_x f + e_d R`."""
        own = self.system.symbols
        by = ca.vertcat(own.t, own.x, own.d)
        way = ca.vertcat(1, self.system.expressions.rhs, self.rates)
        return ca.densify(ca.jtimes(ca.densify(expression), by, way))

    @property
    def state_rates(self) -> list[ca.SX]:
        """U_dot of each parameter; where there is a shift h(t, x, d), `U_dot = S_dot + h_t + h_x f` without d_dot."""
        own, f, smooth = self.system.symbols, self.system.expressions.rhs, self.smooth.rhs
        found = []
        for j in range(self.count):
            if self.shifts[j].nnz() == 0:
                found.append(self.along(j, smooth))
                continue
            by = ca.vertcat(own.t, own.x)
            carried = ca.jtimes(self.shifts[j], by, ca.vertcat(1, f))
            found.append(self.along(j, smooth, self.delayed[j]) + ca.densify(carried))
        return found


def start_tangent(system: System, smooth: Expressions, directions: tuple[Direction, ...]) -> Tangent:
    """Symbols of the sensitivities of states and memory; delays are added by `sensitivity.delays`."""
    own = system.symbols
    n_x, n_m, n_d = own.x.numel(), own.m.numel(), own.d.numel()
    acts = any(guard.action for guard in system.discrete.guards)
    zeros = tuple(ca.SX(n_d, 1) for _ in directions)
    return Tangent(
        system=system,
        smooth=smooth,
        directions=directions,
        states=tuple(ca.SX.sym(f"S{j}", n_x) for j in range(len(directions))),
        memory=tuple(ca.SX.sym(f"M{j}", n_m) for j in range(len(directions))),
        delayed=zeros,
        moved=zeros,
        shifts=tuple(ca.SX(n_x, 1) for _ in directions),
        rates=ca.SX(n_d, 1),
        instant=ca.SX.sym("instant", 1 + len(directions)) if acts else None,
    )


def sensitivity_name(name: str | None, parameter: str) -> str:
    """`d(<signal>)/d(<parameter>)`."""
    return f"d({name})/d({parameter})"
