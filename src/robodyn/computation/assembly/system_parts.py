"""Parts of a hybrid system: what describes the motion of its mechanism, and what interrupts the motion in time?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from robodyn.base.lazy import ca
from robodyn.base.records import dataclass
from robodyn.computation.assembly.declarations import BreakRule, Guard, LateRead, Port, ProblemInfo, Task
from robodyn.description.model.fields import EMPTY

if TYPE_CHECKING:
    from robodyn.computation.assembly.tree import Mechanics


@dataclass(frozen=True)
class Terms:
    """Mechanics that stand in for those of the mechanism itself: see `assembly.linear`."""

    mass_matrix: ca.SX
    bias: ca.SX


@dataclass(frozen=True)
class EquationsOfMotion:
    """Of a system's mechanism; empty where it has none.

    Attributes:
        n_q, n_v: numbers of positions and velocities, which are the first states.
        coordinates: position of every moving joint and coordinate in the system's symbols.
        rotors: inertia and gradient of each rotor that rotates with a combined coordinate, then inertia and Jacobian of
            each model attached at an interface; ports: the interfaces.
        forces: (joint or coordinate, signal of a force on it); loads: joint torques of constant loads.
        terms: M and c, where they are not those of the mechanism itself.
        constraint_forces: names of the forces (Lagrange multipliers) of all constraint equations, in the order of
            `expressions.constraints`; spare: how many of them follow from others.
        momenta: whether the states after the positions are the momenta p = M v instead of the velocities.
    """

    mechanics: Mechanics | None = None
    n_q: int = 0
    n_v: int = 0
    coordinates: Mapping[str, ca.SX] = EMPTY
    rotors: tuple[tuple[ca.SX, ca.SX], ...] = ()
    ports: tuple[Port, ...] = ()
    forces: tuple[tuple[str, str], ...] = ()
    loads: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    terms: Terms | None = None
    constraint_forces: tuple[str, ...] = ()
    spare: int = 0
    momenta: bool = False


@dataclass(frozen=True)
class Discrete:
    """What interrupts the continuous motion: ticks, events, jumps of references, and what is found at the start.

    Attributes:
        tasks: in the order in which those of a tick run; late_reads: where that order leaves a value a sample old.
        base_period: of which all sample times are multiples.
        problems: complementarity problems that are solved before actions.
        start_action: key of the action that makes states and memory consistent at the start, if there is one;
            start_problems: names of the problems that are solved before it.
    """

    tasks: tuple[Task, ...] = ()
    base_period: Fraction | None = None
    guards: tuple[Guard, ...] = ()
    breaks: tuple[BreakRule, ...] = ()
    problems: tuple[ProblemInfo, ...] = ()
    start_action: str | None = None
    start_problems: tuple[str, ...] = ()
    late_reads: tuple[LateRead, ...] = ()
