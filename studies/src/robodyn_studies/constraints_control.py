"""Constraints study: does the delta robot move as wanted under control? (section 4 and figure 9)

The study prints no gains, paths or loads: those here are this project's own choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.optimize import fsolve

from robodyn import MachineDynamics
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Solver
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import delta_linearised, delta_pid, delta_tracking
from robodyn_studies.catalog.delta_control import PLACE_LOOP
from robodyn_studies.catalog.delta_parameters import FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_machine
from robodyn_studies.catalog.delta_tasks import ASIDE, HIGH, PATH, PAYLOAD, pose_at, torques_at
from robodyn_studies.constraints_runs import AXES, OWN, STUDY

NEAR = 1e-3
"""Distance from the target that counts as settled [m]."""
LOADS = {"none": (0.0, 0.0), "unknown": (PAYLOAD, 0.0), "known": (PAYLOAD, PAYLOAD)}
STEP_TO = (0.0, 0.02, -0.21)
SECTION = f"{STUDY}, section 4"


@cache
def pid_run() -> Run:
    """A move from where the robot alone falls, under PID with gravity compensation at 1 kHz, geared dc motors."""
    return simulate(delta_pid())


@cache
def tracking_run(load: str) -> Run:
    """Pick and place under feedback linearisation with no load, or one that the controller knows or does not."""
    payload, known = LOADS[load]
    return simulate(delta_tracking(payload=payload, known_payload=known))


@cache
def linearised_run() -> Run:
    """A step under feedback linearisation, continuous and with ideal drives, to a tight tolerance."""
    return simulate(delta_linearised(drives="ideal", period=None), Solver("dopri5", rtol=1e-9, atol=1e-11))


def path_error(run: Run, times: np.ndarray) -> np.ndarray:
    """Distance of the platform from its reference [m]."""
    apart = [run[f"platform.position.{axis}"](times) - run[f"reference.{axis}.position"](times) for axis in AXES]
    return np.asarray(np.linalg.norm(apart, axis=0))


def settling_time(run: Run, target: tuple[float, ...], begin: float, near: float = NEAR) -> float:
    """How long after `begin` the platform is last further than `near` from its target [s]."""
    places = [run[f"platform.position.{axis}"].values - goal for axis, goal in zip(AXES, target, strict=True)]
    outside = run.time[np.linalg.norm(places, axis=0) > near]
    return float(outside[-1] - begin)


def control_figures() -> Iterator[PublishedValue]:
    """PID with gravity compensation, feedback linearisation, and tracking with a payload."""
    yield from _pid_figures()
    yield from _linearised_figures()
    errors = {load: path_error(tracking_run(load), np.linspace(0, 1.2, 2000)) for load in LOADS}
    reason = "a sample's delay and the motors' electric lag leave some tenths of a millimetre"
    for load in ("none", "known"):
        yield below(f"tracking_error_{load}_payload", float(errors[load].max()), 5e-4, "m", reason, OWN)
    ratio = float(errors["unknown"].max() / errors["known"].max())
    reason = f"a payload of {PAYLOAD:g} kg that the controller does not know, over one it knows"
    yield above("tracking_unknown_over_known", ratio, 10.0, "", reason, OWN)
    expected = _sag()
    found = float(errors["unknown"][-1])
    reason = "the stiffness of the loop carries the payload: statics of the sagged place; 1 % left of the motion"
    yield PublishedValue("tracking_sag", expected, found, "m", 0.01 * expected, reason, "closed form by statics")


def _sag() -> float:
    """Distance at which the wanted acceleration k1 e of a robot without payload makes the torques that hold it [m]."""
    goal = np.array(PATH[-1])

    def unbalanced(place: np.ndarray) -> np.ndarray:
        pull = PLACE_LOOP["stiffness"] * (goal - place)
        held, made = torques_at(FITTED, place.tolist(), PAYLOAD), torques_of(place.tolist(), pull.tolist())
        return np.subtract(held, made)

    return float(np.linalg.norm(fsolve(unbalanced, goal - (0, 0, 5e-3), xtol=1e-10) - goal))


def torques_of(place: Sequence[float], acceleration: Sequence[float]) -> np.ndarray:
    """Torques that accelerate the robot without payload from rest [N m]."""
    robot = _dynamics()
    q = robot.positions_at(pose_at(FITTED, place))
    rows = np.vstack([robot.constraint_gradients(q), robot.jacobian("platform", q)[3:]])
    a = np.linalg.solve(rows, [*np.zeros(6), *acceleration])
    return robot.inverse_dynamics(q, np.zeros(9), a, MOTORS)


@cache
def _dynamics() -> MachineDynamics:
    return MachineDynamics(delta_machine(FITTED))


def _pid_figures() -> Iterator[PublishedValue]:
    run, place = pid_run(), f"{SECTION} and figure 9"
    settled = settling_time(run, ASIDE, 0.1)
    reason = "within 1 mm of the target, from the start of a move of 0.4 s; loops of 25 rad/s need some 0.2 s more"
    yield below("pid_settling_time", settled, 0.8, "s", reason, place)
    left = float(path_error(run, run.time[-1:])[0])
    yield below("pid_error_left", left, 1e-4, "m", "1 s after the move; the integral takes what gravity leaves", place)
    wanted = torques_at(FITTED, ASIDE)
    apart = max(abs(run[f"{arm}.motor.torque"].final - torque) for arm, torque in zip(ARMS, wanted, strict=True))
    reason = "motor torques at the end against equation 34 there; what is left of the motion, 1 % of 1.5 N m"
    yield below("pid_torque_off_gravity", float(apart), 0.015, "N m", reason, f"{STUDY}, equation 34")


def _linearised_figures() -> Iterator[PublishedValue]:
    """Feedback linearisation: continuous and with ideal drives, the platform is a linear oscillator."""
    run, t = linearised_run(), np.linspace(0, 0.8, 100)
    first, second = np.roots([1, PLACE_LOOP["damping"], PLACE_LOOP["stiffness"]]).astype(complex)
    decay = ((second * np.exp(first * t) - first * np.exp(second * t)) / (second - first)).real
    apart = [
        np.abs(run[f"platform.position.{axis}"](t) - (goal + (begin - goal) * decay)).max()
        for axis, begin, goal in zip(AXES, HIGH, STEP_TO, strict=True)
    ]
    reason = "e'' + k2 e' + k1 e = 0 in closed form, solved at 1e-9"
    yield below("linearised_off_oscillator", float(max(apart)), 5e-9, "m", reason, f"{SECTION}.4")
