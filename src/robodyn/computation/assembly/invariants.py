"""Invariants of a run: what holds at every instant of a right one, and what is watched to see whether it does?"""

from __future__ import annotations

from enum import Enum

from robodyn.base.records import dataclass


class Invariant(Enum):
    """What must hold at every instant of a right run; the value says when it does not."""

    BALANCE = "energy appears or vanishes"
    PASSIVE = "gives energy that it does not have"
    HOLDS = "holds with more than its limit"
    SLIDES = "slides against its own direction"
    SIDE = "is on the other side than noted"
    LIMIT = "is outside of its limits"
    RANGE = "is not above zero, where its law holds"
    APART = "bodies overlap"
    PUSHES = "pulls"
    CLOSED = "constraints are not kept"
    WITHIN = "a joint passes a limit, which a right run may"


@dataclass(frozen=True)
class Watched:
    """What a run watches at every row, without recording it, to see whether an invariant holds.

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
