"""Constraints study: statics, kinematics, drift and cooperation of the delta robot (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from robodyn.analysis import ParallelKinematics, WorkspaceMap, find_trim, map_workspace, point_outwards
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies.catalog import delta_fall, delta_machine, delta_pair, delta_rods
from robodyn_studies.catalog.delta_pair import BEAM_MASS
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, constant_torques
from robodyn_studies.constraints_runs import AXES, GRAVITY, OWN, STUDY, distance, held_delta

TORQUES = tuple(f"{arm}.motor.value" for arm in ARMS)
PLATFORM = tuple(f"platform.position.{axis}" for axis in AXES)
FIT = "own reference for the fitted parameters"


@cache
def kinematics() -> ParallelKinematics:
    """From the motors to the platform and back."""
    return ParallelKinematics(held_delta(), "platform", MOTORS)


def statics_figures() -> Iterator[PublishedValue]:
    """What holds the robot, two ways: equilibrium of the closed mechanism, and virtual work by hand."""
    trim = find_trim(held_delta(), dict.fromkeys((f"{motor}.position" for motor in MOTORS), 0.0), TORQUES)
    torque = trim.inputs[TORQUES[0]]
    yield PublishedValue("delta_holding_torque", -1.961, torque, "N m", 5e-4, "known to four digits", FIT)
    reason = "equilibrium of nine joints and six equations against one line of virtual work; Newton to 1e-10"
    apart = abs(torque - FITTED.holding_torque(0.0))
    yield below("delta_holding_torque_two_ways", apart, 1e-8, "N m", reason, f"{STUDY}, equation 34")
    posture = kinematics().forward([0.0, 0.0, 0.0])
    height = float(posture.points["platform"][2])
    yield PublishedValue("delta_platform_height", -0.183, height, "m", 5e-4, "known to three digits", FIT)
    angle = np.degrees(FITTED.distal_angle(0.0))
    yield PublishedValue("delta_distal_angle", 154.1, angle, "deg", 0.05, "known to four digits", FIT)
    reason = "known to four digits; an industrial robot's CAD data"
    yield PublishedValue("autonox_holding_torque", -17.26, AUTONOX.holding_torque(0.0), "N m", 5e-3, reason, FIT)


def kinematics_figures() -> Iterator[PublishedValue]:
    """Newton's forward kinematics, inverse kinematics and its branches, the Jacobian."""
    place = f"{STUDY}, section 4.1"
    steps = max(_newton_steps())
    reason = "7 decimals from 3 deg beside the solution in 20 directions, the most steps of them"
    inside = 2 <= steps <= 3
    yield PublishedValue(
        "delta_fk_iterations",
        None,
        steps,
        "steps",
        None,
        f"printed: 2 to 3; {reason}",
        place,
        Kind.RESULT,
        holds=inside,
    )
    posture = kinematics().forward([0.1, 0.2, 0.3])
    branches = kinematics().branches(posture.points["platform"])
    reason = "each arm's elbow inside or outside"
    yield PublishedValue("delta_ik_branches", 8, len(branches), "", 0, reason, "closed form: 2^3")
    chosen = min(branches, key=point_outwards(*(f"{arm}.elbow" for arm in ARMS)))
    back = float(np.abs(chosen.actuated - posture.actuated).max())
    reason = "forward, then inverse with the elbows outside; both Newton to 1e-10"
    yield below("delta_ik_undoes_fk", back, 1e-9, "rad", reason, f"{STUDY}, section 4.2")
    yield below("delta_jacobian_error", _jacobian_error(), 1e-7, "m/rad", "against differences of 1e-5 rad", place)


def _newton_steps() -> list[int]:
    solved = kinematics().forward([0.1, 0.2, 0.3])
    generator = np.random.default_rng(4)
    signs = generator.choice((-1.0, 1.0), (20, len(solved.q)))
    near = [solved.q + np.radians(3.0) * sign for sign in signs]
    return [kinematics().forward(solved.actuated, guess, tolerance=1e-7).iterations for guess in near]


def _jacobian_error() -> float:
    step, motors = 1e-5, np.array([0.1, 0.2, 0.3])
    posture = kinematics().forward(motors)
    columns = []
    for shift in step * np.eye(3):
        ends = [kinematics().forward(motors + s * shift, posture.q).points["platform"] for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * step))
    return float(np.abs(kinematics().jacobian(posture) - np.column_stack(columns)).max())


@cache
def workspace(points: int = 41) -> WorkspaceMap:
    """Reach of the platform in the plane of arm 1."""
    height = np.linspace(-0.68, -0.02, points)
    return map_workspace(kinematics(), {"x": np.linspace(-0.5, 0.5, points), "y": [0.0], "z": height})


@cache
def falling_run() -> Run:
    return simulate(delta_fall())


@cache
def pushed_runs() -> tuple[Run, Run]:
    """The robot under unequal torques: lumped as in the study, and of six rods and a free platform."""
    torques = [share * FITTED.holding_torque(0.0) for share in (0.9, 1.0, 0.7)]
    lumped = replace(delta_fall(), machine=delta_machine(drives=constant_torques(torques)), duration=0.5)
    return simulate(lumped), simulate(delta_rods())


def motion_figures() -> Iterator[PublishedValue]:
    """Residuals and energy of the falling robot; all bodies against the lumped model; the equations' number."""
    run, place = falling_run(), f"{STUDY}, section 3.4"
    left = run.statistics.extra["constraint_position_error"]
    reason = "said to be small and to fall with the tolerance, here 1e-8"
    yield below("delta_drift", left, 1e-8, "m", reason, place, Kind.RESULT)
    reason = "energy less what damping took, solved at 1e-8"
    yield below("delta_energy_error", run.statistics.energy_error or 0.0, 1e-6, "relative", reason, OWN)
    system = held_delta()
    yield PublishedValue("delta_states", 18, 2 * system.n_q, "", 0, "counted: q and v", place, Kind.INPUT)
    count, reason = len(system.motion.constraint_forces), "counted: two spherical loop joints"
    yield PublishedValue("delta_multipliers", 6, count, "", 0, reason, place, Kind.INPUT)
    lumped, rods = pushed_runs()
    apart = distance(rods, lumped, PLATFORM, np.linspace(0, 0.5, 51))
    reason = "six rods on universal joints and a free platform, 18 equations; two runs at 1e-8, moves of 0.2 m"
    yield below("delta_rods_against_lumped", apart, 1e-8, "m", reason, f"{STUDY}, section 3.1")


@cache
def pair_run() -> Run:
    return simulate(delta_pair())


def pair_figures() -> Iterator[PublishedValue]:
    """Two robots that lift one beam: who carries what, and that nothing is lost."""
    run, half = pair_run(), BEAM_MASS * GRAVITY / 2
    for robot in ("left", "right"):
        share = -float(run[f"{robot}.grip.force.z"].values[0])
        reason = "half of the beam's weight while nothing moves, solved at 1e-7"
        yield PublishedValue(f"pair_share_{robot}", half, share, "N", 1e-5, reason, "closed form")
    total = -sum(run[f"{robot}.grip.force.z"].values for robot in ("left", "right"))
    inertial = BEAM_MASS * (GRAVITY + run["beam.body.z.acceleration"].values)
    reason = "Newton's law of the beam from reported forces and acceleration, all the time; rounding"
    yield below("pair_forces_off_newton", float(np.abs(total - inertial).max()), 1e-6, "N", reason, OWN)
    left = run.statistics.extra["constraint_position_error"]
    yield below("pair_drift", left, 1e-7, "m", "solved at 1e-7: 18 equations of two robots and two grips", OWN)
    lost = simulate(delta_pair(grips=(50.0, 3.3), duration=0.3))
    alone = [event.name for event in lost.events] == ["right.loss"] and lost["right.grip.force.z"].final == 0.0
    reason = "a grip that holds 3.3 N lets go once while the beam is lifted, and pulls nothing after"
    yield PublishedValue(
        "pair_loses_contact", None, lost.events[0].time, "s", None, reason, f"{STUDY}, section 1", holds=alone
    )
