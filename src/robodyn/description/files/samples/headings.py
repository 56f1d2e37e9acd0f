"""Headings of logs: which quantity of which joint does a name like `actual_qd_3 [deg/s]` mean?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from robodyn.base import frozen, known_unit, parse_unit

WORDS = {
    "time": "time timestamp timestamps stamp zeit temps tempo sec secs seconds msec usec nsec",
    "position": "q pos position positions angle angles theta phi winkel encoder enc counts cnt cnts lage weg qm qj "
    "angulo posizione",
    "velocity": "qd dq qdot dqdt vel velocity velocities speed speeds omega rpm w v geschwindigkeit drehzahl qv rate",
    "acceleration": "qdd ddq acc accel acceleration accelerations qddot beschleunigung",
    "effort": "tau torque torques trq effort efforts moment moments drehmoment force forces kraft tq m f",
    "current": "i current currents cur curr strom amps amp iq",
    "temperature": "temp temperature temperatures temperatur celsius",
    "other": "voltage volt pose tcp tool cartesian ee mode status state error err flag id seq gain ext hat pwm "
    "io digital analog payload wrench",
}
KINDS = {word: kind for kind, words in WORDS.items() for word in words.split()}
"""Kind of quantity by a word of a heading, in small letters."""
WEAK = frozenset(("q", "i", "m", "f", "v", "w", "rate", "id"))
"""Words that mean a quantity only where no other one does."""
COMMANDS = frozenset(
    ("cmd", "command", "commanded", "ref", "reference", "target", "desired", "des", "set", "setpoint", "soll", "goal",
     "d", "demand")
)  # fmt: skip
JOINT_WORDS = frozenset(("j", "joint", "axis", "axle", "a", "achse", "gelenk", "motor"))
UNITS = {
    "deg": "deg", "degree": "deg", "degrees": "deg", "grad": "deg", "rad": "rad", "rads": "rad/s", "rpm": "rpm",
    "rev": "rev", "mm": "mm", "nm": "N m", "mnm": "mN m", "ma": "mA", "amps": "A", "amp": "A", "ms": "ms",
    "msec": "ms", "us": "us", "usec": "us", "ns": "ns", "nsec": "ns", "nanoseconds": "ns", "milliseconds": "ms",
    "microseconds": "us", "seconds": "s", "sec": "s", "secs": "s",
}  # fmt: skip
"""Units that stand as a word of a heading."""
LIKE = {
    "s": "time", "rad": "position", "m": "position", "rad/s": "velocity", "m/s": "velocity",
    "rad/s^2": "acceleration", "m/s^2": "acceleration", "N m": "effort", "N": "effort", "A": "current",
    "K": "temperature",
}  # fmt: skip
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@frozen
class Heading:
    """The quantity, unit and owner that a column's name says.

    Attributes:
        kind: a key of `WORDS`, "" where nothing is said; number: of the joint as it is counted there.
        unit: as a unit of robodyn, "" where nothing is said; command: whether it is wanted and not measured.
    """

    column: str
    kind: str
    number: int | None
    unit: str = ""
    command: bool = False
    words: tuple[str, ...] = ()


def read_heading(column: str, unit: str = "") -> Heading:
    """Read a name and the unit beside it; the unit has the last word on the quantity."""
    words = [word.lower() for word in PART.findall(column)]
    numbers = [k for k, word in enumerate(words) if word.isdigit()]
    behind = [k for k in numbers if k and words[k - 1] in JOINT_WORDS]
    number = int(words[(behind or numbers)[-1]]) if numbers else None
    names = [word for word in words if not word.isdigit()]
    # The current that makes torque, often written in two words.
    names = " ".join(names).replace("i q", "iq").split()
    written = unit if unit and known_unit(unit) is not None else ""
    if not written:
        written = next((UNITS[word] for word in reversed(names) if word in UNITS), "")
    kinds = [KINDS[word] for word in names if word in KINDS and word not in WEAK]
    kinds = kinds or [KINDS[word] for word in names if word in KINDS]
    kind = next((one for one in ("other", "temperature") if one in kinds), kinds[-1] if kinds else "")
    if names[:1] == ["t"] and (len(names) == 1 or (len(names) == 2 and names[1] in UNITS)):
        kind = "time"
    of_unit = _kind_of(written)
    if kind in ("velocity", "acceleration") and of_unit == "position":
        written, of_unit = f"{written}/s" + ("^2" if kind == "acceleration" else ""), kind
    if of_unit and kind != "other" and not (of_unit == "time" and kind):
        kind = of_unit
    command = any(word in COMMANDS for word in names) and kind != "time"
    return Heading(column, kind, number, written, command, tuple(words))


def _kind_of(unit: str) -> str:
    """The quantity that a unit alone says; "" where there is none."""
    unit_there = known_unit(unit) if unit else None
    if unit_there is None:
        return ""
    return next((kind for name, kind in LIKE.items() if unit_there.measures_like(parse_unit(name))), "")


def number_joints(headings: Sequence[Heading], joints: Sequence[str], fixed: Sequence[str] = ()) -> list[int | None]:
    """Place of the joint that each heading means: by the joint's own name, or by numbers counted from 0 or from 1.

    Args:
        fixed: names of joints that do not move; what means one of them means none of the joints.
    """
    plain = ["".join(PART.findall(joint)).lower() for joint in (*joints, *fixed)]
    found: list[int | None] = []
    first = min((h.number for h in headings if h.number is not None), default=1)
    for heading in headings:
        text = "".join(heading.words)
        named = [k for k, joint in enumerate(plain) if len(joint) > 1 and joint in text]
        number = None if heading.number is None else heading.number - min(first, 1)
        if named:
            longest = max(named, key=lambda k: len(plain[k]))
            found.append(longest if longest < len(joints) else None)
        else:
            found.append(number if number is not None and 0 <= number < len(joints) else None)
    return found
