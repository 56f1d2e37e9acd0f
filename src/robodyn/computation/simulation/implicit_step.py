"""Implicit step: what are its equations to the engine? Functions of what is known at its start and of unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.computation.assembly.system import System


@dataclass(frozen=True)
class Known:
    """What a step starts from, as symbols.

    Attributes:
        x, x_dot: states and rates at its start; kept: what the step before left for this one.
        h: length [s]; fresh: whether nothing was left; radius: spectral radius of the method.
    """

    x: ca.SX
    x_dot: ca.SX
    kept: ca.SX
    h: ca.SX
    fresh: ca.SX
    radius: ca.SX

    @property
    def column(self) -> ca.SX:
        return ca.vertcat(self.x, self.x_dot, self.kept, self.h, self.fresh, self.radius)


@dataclass(frozen=True)
class ImplicitStep:
    """The equations of a step: `residual(unknowns) = 0`, a first guess, and what follows once they are solved.

    Attributes:
        end: [x1, x_dot1, kept for the next step]. The time t of all functions is that at the end of the step.
    """

    system: System
    known: Known
    unknowns: ca.SX
    guess: ca.SX
    residual: ca.SX
    end: ca.SX

    @property
    def n_kept(self) -> int:
        return int(self.known.kept.numel())

    @property
    def n_unknowns(self) -> int:
        return int(self.unknowns.numel())

    def functions(self) -> dict[str, ca.Function]:
        """What the engine calls, with the exact derivatives of the residual."""
        outputs = {
            "step_guess": self.guess,
            "step_residual": self.residual,
            "step_jacobian": ca.vec(ca.densify(ca.jacobian(self.residual, self.unknowns))),
            "step_end": self.end,
        }
        columns = [*self.system.symbols._replace(x=ca.vertcat(self.known.column, self.unknowns))]
        return {name: ca.Function(name, columns, [ca.densify(output)]) for name, output in outputs.items()}


def start_step(system: System, n_kept: int) -> Known:
    """Symbols of what a step starts from."""
    n = len(system.states)
    sizes = {"x": n, "x_dot": n, "kept": n_kept, "h": 1, "fresh": 1, "radius": 1}
    return Known(**{name: ca.SX.sym(name, size) for name, size in sizes.items()})


def at_state(system: System, expressions: Sequence[ca.SX], x: ca.SX) -> list[ca.SX]:
    """Expressions of a system's states, elsewhere."""
    return list(ca.substitute(list(expressions), [system.symbols.x], [x]))
