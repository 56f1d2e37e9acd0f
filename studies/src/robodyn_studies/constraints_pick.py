"""Constraints study: which motors, rods and times does pick and place ask for, and can blocks be stacked? (section 4)

The study's library has such tasks and prints no number of them: all here are this project's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from robodyn import MachineDynamics
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import delta_rods_pick, delta_stack, delta_tracking
from robodyn_studies.catalog.delta_control import MOTOR, VOLTAGE_LIMIT
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY
from robodyn_studies.catalog.delta_pick import BLOCK, BLOCK_MASS, SITE
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_machine
from robodyn_studies.catalog.delta_rods import RODS
from robodyn_studies.catalog.delta_tasks import PATH, PATH_TIMES, PAYLOAD, pose_at
from robodyn_studies.constraints_control import path_error, tracking_run
from robodyn_studies.constraints_runs import AXES, OWN

MARGIN = 0.95
"""Share of the pace at which a motor reaches its limit that is driven: control needs some of it."""
POINTS = 400
PER_AMPERE = MOTOR["gear"] * MOTOR["torque_constant"]
"""Torque of the joint [N m/A], and voltage by its speed [V s/rad]."""


def pick_figures() -> Iterator[PublishedValue]:
    """Sizes of the motors, the shortest cycle that they can drive, and the forces in the rods."""
    yield from _sizing_figures()
    yield from _cycle_figures()
    yield from _rod_figures()


def _sizing_figures() -> Iterator[PublishedValue]:
    """What the motors must give for the path of pick and place, load known."""
    run = tracking_run("known")
    torques = np.array([run[f"{arm}.motor.torque"].values for arm in ARMS])
    speeds = np.array([run[f"{motor}.velocity"].values for motor in MOTORS])
    cycle = f"a path of {run.time[-1]:g} s with {PAYLOAD:g} kg, the largest of three motors, joint side"
    needed = {
        "peak_torque": (float(np.abs(torques).max()), "N m"),
        "rms_torque": (float(np.sqrt(np.trapezoid(torques**2, run.time, axis=1) / run.time[-1]).max()), "N m"),
        "peak_speed": (float(np.abs(speeds).max()), "rad/s"),
        "peak_power": (float((torques * speeds).max()), "W"),
    }
    for name, (value, unit) in needed.items():
        yield PublishedValue(f"pick_and_place_{name}", None, value, unit, None, cycle, OWN)


@cache
def path_torques() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Torques at rest, what motion adds at the path's own pace [N m], and speeds [rad/s], (POINTS, 3) each."""
    robot = MachineDynamics(delta_machine(FITTED, payload=PAYLOAD))
    times = np.linspace(PATH_TIMES[0], PATH_TIMES[-1], POINTS)
    spline = CubicSpline(PATH_TIMES, PATH, bc_type="clamped")
    q = np.array([robot.positions_at(pose_at(FITTED, place)) for place in spline(times).tolist()])
    motion = CubicSpline(times, q)
    v, a = motion(times, 1), motion(times, 2)
    rest, whole = (
        np.array([robot.inverse_dynamics(*row, MOTORS) for row in zip(q, share * v, share * a, strict=True)])
        for share in (0.0, 1.0)
    )
    motors = [robot.positions.index(f"{motor}.position") for motor in MOTORS]
    return rest, whole - rest, v[:, motors]


def load_at(pace: float) -> float:
    """Largest share of current and voltage limits along the path, driven that many times faster.

    tau = g + pace^2 (M a + c),   i = tau / (n kT),   U = R i + n kT w
    """
    rest, moving, speeds = path_torques()
    currents = (rest + pace**2 * moving) / PER_AMPERE
    voltages = MOTOR["resistance"] * currents + PER_AMPERE * pace * speeds
    return float(max(np.abs(currents).max() / MOTOR["current_limit"], np.abs(voltages).max() / VOLTAGE_LIMIT))


@cache
def fastest_pace() -> float:
    """How many times faster than given the path can be driven before a motor reaches a limit."""
    return float(brentq(lambda pace: load_at(pace) - 1.0, 0.2, 20.0, xtol=1e-6))


@cache
def paced_run(share: float) -> Run:
    """The path under feedback linearisation at a share of the fastest pace, load known."""
    return simulate(delta_tracking(payload=PAYLOAD, known_payload=PAYLOAD, pace=share * fastest_pace()))


def _cycle_figures() -> Iterator[PublishedValue]:
    pace = fastest_pace()
    there = (PATH_TIMES[-1] - PATH_TIMES[0]) / (MARGIN * pace)
    reason = (
        f"there and back with {PAYLOAD:g} kg, at 0.95 of the pace at which inverse dynamics reaches a motor's limit"
    )
    yield PublishedValue("pick_and_place_cycle_time", None, 2 * there, "s", None, reason, OWN)
    errors = {share: float(path_error(paced_run(share), paced_run(share).time).max()) for share in (MARGIN, 1.3)}
    reason = "driven so, closed loop: the platform stays within a millimetre of its path"
    yield below("pick_and_place_fast_error", errors[MARGIN], 1e-3, "m", reason, OWN)
    reason = "1.3 times the fastest pace: motors at their limits leave the path by more than five times as much"
    yield above("pick_and_place_too_fast_error", errors[1.3], 5 * errors[MARGIN], "m", reason, OWN)


@cache
def rods_run() -> Run:
    """Pick and place by the robot of six rods."""
    return simulate(delta_rods_pick())


def rod_forces(run: Run) -> dict[str, np.ndarray]:
    """Tension of each rod at the platform [N], (n_times,): the ball joint's force along the rod."""
    place = np.array([run[f"platform.position.{axis}"].values for axis in AXES])
    tensions = {}
    for k, arm in enumerate(ARMS):
        turn = -2 * np.pi / 3 * k
        offset = FITTED.platform_radius * np.array([np.cos(turn), np.sin(turn), 0.0])
        elbow = np.array([run[f"{arm}.elbow.position.{axis}"].values for axis in AXES])
        along = (place + offset[:, None] - elbow) / FITTED.distal_length
        for side in RODS:
            force = np.array([run[f"{arm}.{side}.loop_joint.force.{axis}"].values for axis in AXES])
            # On the rod, whose end the joint pulls outwards where it is in tension.
            tensions[f"{arm}.{side}"] = np.einsum("ij,ij->j", force, along)
    return tensions


def _rod_figures() -> Iterator[PublishedValue]:
    run = rods_run()
    tensions = np.array(list(rod_forces(run).values()))
    reason = f"of six rods on the path of pick and place with {PAYLOAD:g} kg, at the platform"
    yield PublishedValue("pick_and_place_rod_tension", None, float(tensions.max()), "N", None, f"largest {reason}", OWN)
    push = float(max(-tensions.min(), 0.0))
    yield PublishedValue("pick_and_place_rod_push", None, push, "N", None, f"largest push {reason}", OWN)
    weight = (FITTED.platform_mass + PAYLOAD) * GRAVITY
    borne = -sum(float(run[f"{arm}.{side}.loop_joint.force.z"].final) for arm in ARMS for side in RODS)
    reason = "at rest at the end all six ball joints carry platform and load; 0.1 % left of the motion"
    yield PublishedValue("pick_and_place_rods_bear", weight, borne, "N", 1e-3 * weight, reason, "closed form")


@cache
def stack_run() -> Run:
    """One block set on another."""
    return simulate(delta_stack())


def stack_figures() -> Iterator[PublishedValue]:
    """A block is put on another, let go where it touches, and left."""
    run = stack_run()
    times = [event.time for event in run.events if event.name == "release"]
    yield PublishedValue(
        "stack_releases", 1, len(times), "", 0, "a count: the gripper opens once, by what it feels", OWN
    )
    weight = BLOCK_MASS * GRAVITY
    left = float(run["stack.force.normal"].final)
    reason = "the block below bears the other one, which rests; 0.1 %"
    yield PublishedValue("stack_force_left", weight, left, "N", 1e-3 * weight, reason, "closed form")
    goal = (SITE[0], SITE[1], SITE[2] - BLOCK[2] / 2)
    off = max(abs(run[f"block.body.{axis}.position"].final - value) for axis, value in zip(AXES, goal, strict=True))
    yield below("stack_off", float(off), 1e-3, "m", "where it lies, from where it should: a millimetre", OWN)
    peak = float(run["stack.force.normal"].values.max())
    reason = "largest force on the block below; the robot comes down gently: less than ten weights"
    yield below("stack_peak_force", peak, 10 * weight, "N", reason, OWN)
    rise = float(run["robot.platform.position.z"].final - run["block.top.position.z"].final)
    yield above("stack_left_behind", rise, 0.04, "m", "the robot is gone, up by 50 mm, the block is not", OWN)
