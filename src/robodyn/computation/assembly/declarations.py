"""Declarations of a hybrid system: which states, memory, tasks, guards, delays and ports does it have?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any

from robodyn.base import ca, frozen

if TYPE_CHECKING:
    from casadi import SX

    from robodyn.description.model import Block, Interface


@frozen
class StateInfo:
    """A continuous state: its name, unit, start value and nominal magnitude, and whether it has limits."""

    name: str
    unit: str
    start: float
    nominal: float = 1.0
    limited: bool = False


@frozen
class MemoryInfo:
    """A discrete state: its name, unit and start value; hidden ones are not signals, others only the outside writes."""

    name: str
    unit: str
    start: float
    hidden: bool = False
    outside: bool = False


@frozen
class PythonCall:
    """A law or action called in Python: argument names in the order of the `inputs` column, and its targets.

    Attributes:
        inputs: key of the column of its arguments, see `Expressions.arguments`.
        shapes: argument -> None for a scalar, n for a tuple of n.
        targets: result name -> the memory (tasks) or the state or memory (actions) that it is written to.
    """

    function: Callable[..., Any]
    inputs: str
    shapes: Mapping[str, int | None]
    targets: Mapping[str, str]


@frozen
class SampledTask:
    """A sampled piece of work: due at ticks `offset + k period` of the base period.

    Attributes:
        function: key of its column, see `Expressions.updates`; None where it is called in Python.
    """

    name: str
    period: int
    offset: int
    function: str | None
    call: PythonCall | None = None


@frozen
class LateRead:
    """A sampled block that reads what another left at a tick before, though both are due at the same ticks.

    Attributes:
        remembered: whether the signal is memory of the other, not an output.
    """

    block: str
    signal: str
    remembered: bool

    def __str__(self) -> str:
        why = "they read each other in a circle, which the order of declaration cuts here"
        if self.remembered:
            why = "it is memory of a block that is declared later"
        remedy = "declare that one first, or give it a delay where this is meant"
        return f"'{self.block}' reads '{self.signal}' of the sample before: {why} ({remedy})"


WORK = "energy.work"
"""The state that keeps books of what blocks and loads have done."""
SETTLE = "contacts.settle"
"""Guard of rigid contacts whose pushes are found anew."""


class Ending(Enum):
    """The meaning of a guard that ends a run."""

    STOPPED = "a requested event"
    OUT_OF_REACH = "a coordinate or a law left its range"
    SINGULAR = "the independent joints no longer determine the others"
    JAMMED = "no forces keep the bodies of a rigid contact apart"


@frozen
class Guard:
    """An event's guard and what it does.

    Attributes:
        ending: how it ends a run; None where the run goes on.
        action: key of its column, see `Expressions.actions`; None where nothing happens, or in Python.
        moves: whether its action can change continuous states, and with them the energy.
        coordinate, block: the one whose range it watches; contact: the one that it belongs to; if it is such a guard.
        problems: names of the complementarity problems that are solved before its action.
        side: memory that notes on which side of zero it is, if any does.
    """

    name: str
    direction: int
    ending: Ending | None = None
    action: str | None = None
    call: PythonCall | None = None
    moves: bool = False
    coordinate: str | None = None
    block: str | None = None
    contact: str | None = None
    side: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def terminal(self) -> bool:
        """Whether it ends a run."""
        return self.ending is not None


@frozen
class ProblemInfo:
    """A complementarity problem: its rows, the joints they depend on, and the first memory of its modes, one a row.

    Of the problem of a step memory holds forces instead; the engine notes events of its contacts by the guards from the
    one of this name on, two for each.
    """

    name: str
    rows: int
    joints: int
    modes: str
    events: str = ""


@frozen
class DelayInfo:
    """A delayed signal: how long, its value before (None: the signal's own start value), and its nominal magnitude."""

    name: str
    time: float
    before: float | None
    nominal: float = 1.0

    @property
    def owner(self) -> str:
        """The delay whose output this is; its time and value before are numbers of a run under its name."""
        return self.name.removesuffix(".output")


@frozen
class BreakRule:
    """When the reference of a block jumps; parameters: names of the numbers that its law takes for that."""

    block: Block
    parameters: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all these numbers."""
        entries = self.parameters.values()
        return tuple(name for entry in entries for name in (entry if isinstance(entry, tuple) else (entry,)))

    def times(self, values: Mapping[str, Any]) -> Sequence[Any]:
        """The times, by the values or symbols of all numbers."""
        breaks = self.block.info.breaks
        numbers = {
            key: tuple(values[name] for name in names) if isinstance(names, tuple) else values[names]
            for key, names in self.parameters.items()
        }
        return breaks(numbers) if breaks else ()


@frozen
class Port:
    """An interface in symbols.

    Attributes:
        A: from joint rates to the interface's velocity, (k, n_v); drift: its acceleration while the joints do not
            accelerate, A' v, (k,).
        position: (1 or 3,); rotation: world from body, (3, 3), or None; velocity: A v, (k,).
        inertia: of a model attached rigidly, (k, k), or None; units: of each row's displacement.
        acting: force on this side, all of it but `-inertia A a`, (k,).
    """

    interface: Interface
    A: SX
    drift: SX
    position: SX
    rotation: SX | None
    velocity: SX
    inertia: SX | None
    units: tuple[str, ...]
    acting: SX = field(default_factory=lambda: ca.SX(0, 1))


# --------------------------------------------------------------------------------------------------
# Invariants of a run: what holds at every instant of a right one, and what is watched to see whether it does?


class Invariant(Enum):
    """A condition that must hold at every instant of a right run; the value says when it does not."""

    BALANCE = "energy appears or vanishes"
    PASSIVE = "releases energy that it does not have"
    HOLDS = "holds with more than its limit"
    SLIDES = "slides against its own direction"
    SIDE = "is not on the recorded side"
    LIMIT = "is outside its limits"
    RANGE = "is not above zero, where its law holds"
    APART = "bodies overlap"
    PUSHES = "pulls"
    CLOSED = "constraints are violated"
    WITHIN = "a joint passes a limit, which a correct run may do"


@frozen
class Watched:
    """Values that a run watches at every row, without recording them, to see whether an invariant holds.

    Attributes:
        subject: block, contact or state that it is about.
        count: columns of the function "watched": those of the balance are E - W, kinetic and potential energy and the
            power and the size of all forces, those of a constraint the residuals of positions and velocities and its
            size, that of a joint's limit how far it is passed, all others how far the invariant is violated (positive)
            and the size that it is measured by.
    """

    invariant: Invariant
    subject: str
    unit: str
    count: int
