"""Signal names in files: which of signals and states cannot be right, whatever the laws return?

Used where a file has flaws, so that wrong names are reported together with them; a file without flaws is checked in
full when it is assembled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robodyn.base.errors import FlawList, nearest

STATES = ("position", "velocity")
REACTIONS = tuple(f"reaction.{part}.{axis}" for part in ("force", "torque") for axis in "xyz")
QUANTITIES = (*STATES, "acceleration", "torque", "force", *REACTIONS)


def check_signal_names(
    flaws: FlawList,
    joints: Sequence[str],
    others: Sequence[str],
    used: Iterable[tuple[str, str]],
    formulas: Sequence[str] = (),
) -> None:
    """Report signals of parts that do not exist, and quantities no joint has.

    Args:
        others: names of all other parts that have signals.
        used: (path in the file, signal).
        formulas: names of signals by formula.
    """
    known = [f"{joint}.{quantity}" for joint in joints for quantity in QUANTITIES]
    for path, signal in used:
        if signal not in ("time", *formulas) and _is_wrong(signal, joints, [*others, "energy"], QUANTITIES):
            flaws.add(path, f"there is no signal '{signal}'", nearest(signal, [*known, *others, *formulas]))


def check_initial_names(flaws: FlawList, joints: Sequence[str], others: Sequence[str], initial: Iterable[str]) -> None:
    """Report start values of parts that do not exist, and of quantities that are no state of a joint."""
    known = [f"{joint}.{quantity}" for joint in joints for quantity in STATES]
    for name in initial:
        if _is_wrong(name, joints, others, STATES):
            flaws.add(f"initial.{name}", "there is no such state", nearest(name, [*known, *others]))


def _is_wrong(name: str, joints: Sequence[str], others: Sequence[str], quantities: Sequence[str]) -> bool:
    """Whether a name belongs to no part, or to a joint that has no such quantity."""
    owner = max((part for part in (*joints, *others) if name.startswith(f"{part}.")), key=len, default=None)
    if owner is None:
        return True
    return owner in joints and name.removeprefix(f"{owner}.") not in quantities
