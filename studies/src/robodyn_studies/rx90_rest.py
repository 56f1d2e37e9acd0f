"""RX90B study: does friction hold the robot at rest, with any torque within its band? (section 7, figure 9)

Joints stand under preloads: bristles bent by a share of what they bear, with currents that balance them. With the
currents kept as they are (gains of all loops 0), friction alone holds; with the loops closed, encoders that change by
a count now and then move the joints to and fro by less than a count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Scenario
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog.rx90 import rx90_hold
from robodyn_studies.catalog.rx90_arm import coupling_matrix
from robodyn_studies.catalog.rx90_parameters import ASYMMETRY, AXES, COUNTS, DRIVES, FRICTIONS, JOINTS, RESISTANCE
from robodyn_studies.rx90_runs import OWN, SMOOTH, STUDY

SETTLED, HELD = 5.0, 10.0
"""Time to settle, and time after it in which nothing may move [s]."""
SHARES = (-0.9, -0.45, 0.0, 0.45, 0.9)
"""Of the static friction that bears a preload."""
SECTION = f"{STUDY}, section 7"


@cache
def holding_run(share: float = 0.0, payload: float = 0.0, controlled: bool = True, smooth: bool = False) -> Run:
    """The robot at rest in the middle of the line.

    Args:
        share: of the static friction of each joint that bears a preload; payload: [kg] hung on at the start.
        controlled: whether the loops act, or currents stay what they are; smooth: whether encoders don't round.
    """
    scenario = rx90_hold(SETTLED + HELD, payload)
    changed = preload(scenario, share)
    if not controlled:
        changed |= {f"axis{k}.position_loop.{gain}": 0.0 for k in AXES for gain in ("proportional", "integral")}
        changed |= {f"axis{k}.velocity_loop.derivative": 0.0 for k in AXES}
    if smooth:
        changed |= {f"axis{k}.encoder.resolution": SMOOTH for k in AXES}
    return simulate(scenario.with_numbers(changed))


def preload(scenario: Scenario, share: float) -> dict[str, float]:
    """Start values with bent bristles in all joints, and currents `C^-1 T^-T tau` more that keep them so."""
    bent = {f"{joint}.friction": _bear(scenario, joint, share) for joint in JOINTS}
    stiffness = {place: scenario.numbers()[f"{place}.stiffness"].value for place in bent}
    start = {f"initial.{place}.bristle": tau / stiffness[place] for place, tau in bent.items()}
    torques = np.linalg.solve(coupling_matrix().T, list(bent.values()))
    for k, axis in enumerate(DRIVES, start=1):
        current = torques[k - 1] / axis.torque_constant
        for name in ("position_loop.held", "position_loop.command", "drive.current"):
            start[f"initial.axis{k}.{name}"] = scenario.initial[f"axis{k}.{name}"] + current
        for name in ("current_loop.held", "current_loop.voltage"):
            start[f"initial.axis{k}.{name}"] = scenario.initial[f"axis{k}.{name}"] + RESISTANCE * current
    return start


def _bear(scenario: Scenario, joint: str, share: float) -> float:
    """Torque that bends a joint's bristles [N m]."""
    level = "static" if share >= 0 else "static_back"
    return share * scenario.numbers()[f"{joint}.friction.{level}"].value


def drift(run: Run, joint: str) -> float:
    """How far a joint moves after it has settled [rad]."""
    return float(np.ptp(run[f"{joint}.position"].values[run.time >= SETTLED]))


def stick_figures() -> Iterator[PublishedValue]:
    """How still the joints are, and which torques friction holds."""
    loaded, free = holding_run(payload=1.0), holding_run(payload=1.0, controlled=False)
    counts = [2 * np.pi / COUNTS / axis.gear for axis in DRIVES]
    reason = (
        "largest of six joints within 10 s, 5 s after 1 kg was hung on the tip, loops closed: "
        "less than one count of the coarsest encoder, seen from its joint"
    )
    yield below("stick_drift_rad", max(drift(loaded, joint) for joint in JOINTS), max(counts), "rad", reason, OWN)
    ratio = max(drift(loaded, joint) / count for joint, count in zip(JOINTS, counts, strict=True))
    yield below("stick_drift_counts", ratio, 1.0, "", "the same, each in counts of its own encoder", OWN)
    reason = "the same with constant currents: friction alone holds 1 kg; what is left is the bristles' ringing"
    yield below("stick_drift_friction_alone_rad", max(drift(free, joint) for joint in JOINTS), 1e-9, "rad", reason, OWN)
    yield from _torque_figures()


def _torque_figures() -> Iterator[PublishedValue]:
    """Any torque of the band stays; closed loops loosen it."""
    runs = [holding_run(share, controlled=False) for share in SHARES]
    kept = max(_change(run, joint) for run in runs for joint in JOINTS)
    reason = (
        "the stiction torque can be anywhere between both static levels: preloads of -0.9, -0.45, 0, 0.45 and 0.9 of "
        "them stay under constant currents; the largest change within 10 s, as a part of the static level"
    )
    yield below("stick_torque_change_share", kept, 1e-6, "", reason, SECTION, Kind.RESULT)
    reason = "largest of six after 15 s with closed loops, from 0.9 of the static level"
    dither = "joints that move to and fro by less than a count loosen the bristles, as LuGre friction does in vibration"
    left = max(_left(holding_run(SHARES[-1])))
    yield below("stick_torque_left_share", left, 0.1, "", f"{reason}: {dither}", OWN)
    left = min(_left(holding_run(SHARES[-1], smooth=True)))
    reason = "the smallest of six with encoders that don't round: nothing moves, nothing is loosened"
    yield above("stick_torque_left_smooth_share", left, 0.85, "", reason, OWN)


def _level(joint: str) -> float:
    """Mean static friction of a joint [N m]."""
    return FRICTIONS[joint].coulomb * FRICTIONS[joint].static


def _left(run: Run) -> list[float]:
    """Friction torque of each joint at the end, as a part of its static level forth."""
    levels = [_level(joint) * (1 + ASYMMETRY) for joint in JOINTS]
    ends = [abs(float(run[f"{joint}.friction.torque"](run.time[-1]))) for joint in JOINTS]
    return [end / level for end, level in zip(ends, levels, strict=True)]


def _change(run: Run, joint: str) -> float:
    torque = run[f"{joint}.friction.torque"].values[run.time >= SETTLED]
    return float(np.ptp(torque)) / _level(joint)
