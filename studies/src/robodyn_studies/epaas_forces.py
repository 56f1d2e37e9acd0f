"""EPAAS study: of what parts are the joints' torques and the actuators' forces made? (section 8.2.4)

The study prints the state in whole degrees, which leaves its small components open: half a degree moves some of them by
more than they are. But it prints the same state at five times the speed, where v = v_fast / 5 and a = a_fast / 25 have
more digits, and torques to a thousandth. So the decimals are solved for: the most likely ones, each within half a
degree, by the torques by origin at the higher speed. These are inputs then; the other tables follow and could fail.
Their tolerance is half a digit, what half of the last digits of the printed arm can do, and what is left open of the
decimals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.optimize import least_squares

from robodyn.analysis import ForceComponents
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog.epaas import PATH, PATH_TIMES
from robodyn_studies.catalog.epaas_arm import CENTRES, LOWER_PRODUCT, LOWER_SQUARES, THETA_0
from robodyn_studies.epaas_rounding import arm_kinetics, rounding_of
from robodyn_studies.epaas_runs import ACTUATORS, LABELS, LOAD, arm_system
from robodyn_studies.force_components import effective_inertia_along, force_components
from robodyn_studies.kinetics import Kinetics, SampledMotion, joint_motion, spline_motion

ROUNDED = (
    "half a unit of its last digit, what half of the last digits of the printed arm can do to it, and two deviations "
    "of the decimals that were solved for, as computed"
)
DIGIT = 5e-4
"""Half a unit of the last digit of the tables [N m or N]."""
HALF_DEGREE = 0.5
STEP = 0.01
"""Of differences by which slopes are found [deg]."""
UNIFORM = HALF_DEGREE / np.sqrt(3)
"""Standard deviation of a number of which only the rounding to a degree is known [deg]."""
DECIMALS = "14 decimals of the printed state, each within half a degree, to 25 torques by origin"
L4_SLIP = (
    "with the study's slip, DDL4 = -(DL4^2 + PMPN2 cos)/L4: the sign of L3's formula, and twice the product of the "
    "sides; without the slip {:.3g}. "
)
SMALL = "so small that rounding alone can make it vanish: no more is said of it"
SPEEDS = {"normal": 1.0, "fast": 5.0}
L4 = ACTUATORS.index("l4")


def force_figures() -> Iterator[PublishedValue]:
    """Torques by origin and by role, forces of the actuators by role, at both speeds."""
    joints = tuple(str(k) for k in range(1, 6))
    for table, speed in enumerate(SPEEDS, start=1):
        mark, source = "" if speed == "normal" else "fast_", f"table 8.2.4 {table}"
        tables = (
            ("torque", joints, "origin", published.ORIGINS, published.TORQUES_BY_ORIGIN[speed]),
            ("torque", joints, "role", published.TORQUE_ROLES, published.TORQUES_BY_ROLE[speed]),
            ("force", LABELS, "actuators", published.FORCE_ROLES, published.FORCES_BY_ROLE[speed]),
        )
        for stem, axes, grouping, components, printed in tables:
            yield from _figures(f"{stem}_{mark}", axes, speed, grouping, components, printed, source)
    yield from _decimal_figures()


def _figures(
    stem: str,
    axes: Sequence[str],
    speed: str,
    grouping: str,
    components: Sequence[str],
    printed: Sequence[Sequence[float]],
    source: str,
) -> Iterator[PublishedValue]:
    values, slack = components_at(speed, grouping)
    whole, _ = components_at(speed, grouping, solved=False)
    solved_for = speed == "fast" and grouping == "origin"
    for k, axis in enumerate(axes):
        for component, figure in zip(components, printed[k], strict=True):
            name, value = f"{stem}{component}_{axis}", float(values[component][k])
            at_degrees = float(whole[component][k])
            unit = "N" if axis.startswith("L") else "N m"
            band = float(slack[component][k]) + DIGIT
            reason = ROUNDED
            if axis == "L4" and component in ("speed_squared", "inertial"):
                reason = L4_SLIP.format(value) + ROUNDED
                value, more = slipped_force(speed, component)
                at_degrees, band = slipped_force(speed, component, solved=False)[0], band + more
            reason += f"; at whole degrees {at_degrees:.3f}"
            wide = SMALL if band >= abs(figure) else ""
            kind, fitted = (Kind.INPUT, DECIMALS) if solved_for else (Kind.RESULT, "")
            yield PublishedValue(name, figure, value, unit, band, reason, source, kind, wide=wide, fitted=fitted)


def _decimal_figures() -> Iterator[PublishedValue]:
    """How much nearer the solved decimals are, and that they are decimals."""
    largest = float(np.abs(solved_decimals()[0]).max())
    reason = "largest of the decimals solved for; more would be another printed number"
    yield below("state_decimals_largest", largest, HALF_DEGREE, "deg", reason, "own")
    for name, solved in (("solved", True), ("whole_degrees", False)):
        off = [_misfits(speed, grouping, solved) for speed in SPEEDS for grouping in ("origin", "role", "actuators")]
        outside = int(np.sum(np.abs(np.concatenate(off)) > 1))
        what = "with the solved decimals" if solved else "at whole degrees"
        reason = f"of 126 printed figures those outside of their tolerances, {what}"
        yield PublishedValue(f"state_{name}_outside", None, outside, "", None, reason, "own")


def _misfits(speed: str, grouping: str, solved: bool) -> np.ndarray:
    """Deviations of a table over what rounding allows; L4's slipped components left out."""
    values, _ = components_at(speed, grouping, solved)
    _, slack = components_at(speed, grouping)
    off = []
    for component, column in _printed(speed, grouping).items():
        share = (values[component] - column) / (slack[component] + DIGIT)
        slipped = grouping == "actuators" and component in ("speed_squared", "inertial")
        off.append(np.delete(share, L4) if slipped else share)
    return np.concatenate(off)


def _printed(speed: str, grouping: str) -> dict[str, np.ndarray]:
    """Component -> its column of a printed table, (5,)."""
    components, table = {
        "origin": (published.ORIGINS, published.TORQUES_BY_ORIGIN[speed]),
        "role": (published.TORQUE_ROLES, published.TORQUES_BY_ROLE[speed]),
        "actuators": (published.FORCE_ROLES, published.FORCES_BY_ROLE[speed]),
    }[grouping]
    return dict(zip(components, np.array(table, float).T, strict=True))


def _state(speed: str, decimals: np.ndarray) -> list[np.ndarray]:
    """q, v, a [rad, s] at a speed: what is printed at the higher one, with decimals [deg] of its 15 numbers added."""
    numbers = np.concatenate([published.POSITION, *published.MOTIONS["fast"]]) + decimals
    q, v, a = np.split(np.radians(numbers), 3)
    slower = SPEEDS[speed] / SPEEDS["fast"]
    return [q, v * slower, a * slower**2]


@cache
def solved_decimals() -> tuple[np.ndarray, np.ndarray]:
    """Decimals of the state printed at the higher speed, (15,) [deg], and their covariance, (15, 15) [deg^2].

    The most likely ones: of the torques by origin a deviation of one tolerance counts as one, of the decimals one of
    the standard deviation of a rounded number. That of joint 1, which nothing depends on, stays 0.
    """
    kinetics, printed = arm_kinetics(False), _printed("fast", "origin")
    _, slack = components_at("fast", "origin", solved=False)

    def misfit(decimals: np.ndarray) -> np.ndarray:
        found = force_components(kinetics, *_state("fast", decimals)).components
        off = [(rows[0] - printed[name]) / (slack[name] + DIGIT) for name, rows in found.items()]
        return np.concatenate([*off, decimals / UNIFORM])

    fit = least_squares(misfit, np.zeros(15), bounds=(-HALF_DEGREE, HALF_DEGREE), x_scale=0.1, xtol=1e-12, ftol=1e-12)
    return np.asarray(fit.x), np.linalg.inv(fit.jac.T @ fit.jac)


@cache
def components_at(
    speed: str, grouping: str, solved: bool = True
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Components at the printed state and how far the rounding of arm and state leaves each open, (5,) [N m or N].

    Args:
        grouping: "origin" or "role" in the joints, "actuators" by role in the actuators.
        solved: with the decimals that were solved for; else in whole degrees, as printed, the arm's rounding alone.
    """
    actuators, role = grouping == "actuators", "role" if grouping == "actuators" else grouping
    if solved:
        decimals, covariance = solved_decimals()
        here = _state(speed, decimals)
    else:
        here = [np.radians(np.array(row, float)) for row in (published.POSITION, *published.MOTIONS[speed])]

    def components(kinetics: Kinetics, state: Sequence[np.ndarray] = here) -> np.ndarray:
        found = _with_total(force_components(kinetics, *state, grouping=role))
        return np.array([rows[0] for rows in found.values()])

    values, open_by = components(arm_kinetics(actuators)), rounding_of(components, actuators)
    if solved:
        # Two standard deviations of what the decimals leave open.
        moved = [components(arm_kinetics(actuators), _state(speed, decimals + STEP * row)) for row in np.eye(15)]
        slopes = (np.array(moved) - values) / STEP
        open_by = open_by + 2 * np.sqrt(np.einsum("kca,kl,lca->ca", slopes, covariance, slopes))
    names = _with_total(force_components(arm_kinetics(actuators), *here, grouping=role))
    return dict(zip(names, values, strict=True)), dict(zip(names, open_by, strict=True))


def slipped_force(speed: str, component: str, solved: bool = True) -> tuple[float, float]:
    """Force of L4 with the study's slip in d2L4/dbeta2, and how far the decimals leave the slip's share open [N].

    L4'' = DL4 beta'' + DDL4 beta'^2, so that the slip moves its force by M44 (slipped - right) beta'^2 from one
    component to the other.
    """
    decimals, covariance = solved_decimals()
    rows = (decimals if solved else 0 * decimals) + STEP * np.vstack([np.zeros(15), np.eye(15)])
    q, v, _ = (np.array(part) for part in zip(*(_state(speed, row) for row in rows), strict=True))
    turned, faster = q[:, 1] + q[:, 2] + THETA_0, (v[:, 1] + v[:, 2]) ** 2
    length = np.sqrt(LOWER_SQUARES - LOWER_PRODUCT * np.cos(turned))
    lever = LOWER_PRODUCT / 2 * np.sin(turned) / length
    right = (LOWER_PRODUCT / 2 * np.cos(turned) - lever**2) / length
    slipped = -(lever**2 + LOWER_PRODUCT * np.cos(turned)) / length
    moved = effective_inertia_along(arm_system(), q, ACTUATORS)[:, L4] * (slipped - right) * faster
    slopes = (moved[1:] - moved[0]) / STEP
    value = components_at(speed, "actuators", solved)[0][component][L4]
    value += moved[0] if component == "inertial" else -moved[0]
    return float(value), float(2 * np.sqrt(slopes @ covariance @ slopes))


def _with_total(found: ForceComponents) -> dict[str, np.ndarray]:
    return dict(found.components) | {"total": found.total}


def _along(
    q: np.ndarray, v: np.ndarray, a: np.ndarray, grouping: str, payload: float = 0.0, time: np.ndarray | None = None
) -> ForceComponents:
    system = arm_system(payload)
    if grouping == "actuators":
        return force_components(system, q, v, a, grouping="role", coordinates=ACTUATORS, time=time)
    return force_components(system, q, v, a, grouping=grouping, time=time)


@cache
def path_motion(times_faster: float = 1.0, samples: int = 81) -> tuple[SampledMotion, SampledMotion]:
    """Splines through the catalogue's piston positions, and the joints' motion.

    Args:
        times_faster: 1 turns the vane motor at most as fast as it turns in the study's state.
    """
    points = _path_points()
    slow = spline_motion(PATH_TIMES, points, np.linspace(PATH_TIMES[0], PATH_TIMES[-1], samples))
    usual = np.radians(published.MOTIONS["normal"][0][0]) / np.abs(slow.velocity[:, ACTUATORS.index("joint1")]).max()
    times = np.array(PATH_TIMES) / (usual * times_faster)
    motion = spline_motion(times, points, np.linspace(times[0], times[-1], samples))
    return motion, joint_motion(arm_system(), motion)


def _path_points() -> dict[str, list[float]]:
    """Positions of the actuators the path goes through."""
    offsets = {name: np.array(PATH["vane" if name == "joint1" else name]) for name in ACTUATORS}
    return {name: (CENTRES.get(name, 0.0) + offset).tolist() for name, offset in offsets.items()}


@cache
def path_forces(times_faster: float = 1.0, payload: float = 0.0, actuators: bool = False) -> ForceComponents:
    """Components along that path: torques by origin, or forces of the actuators by role."""
    _, joints = path_motion(times_faster)
    state = (joints.position, joints.velocity, joints.acceleration)
    return _along(*state, "actuators" if actuators else "origin", payload, joints.time)


def path_figures() -> Iterator[PublishedValue]:
    """Splines are continuous to the second derivative; the study's conclusion on forces along a path holds."""
    yield from _continuity_figures()
    source, reason = "section 8.2.4", "largest along the path, shoulder and elbow; the study's own path is not printed"
    for name, faster, payload in (("normal", 1.0, 0.0), ("4kg", 1.0, LOAD), ("fast", SPEEDS["fast"], 0.0)):
        parts = path_forces(faster, payload).components
        speed = np.abs(parts["centripetal"] + parts["coriolis"])[:, 1:3].max()
        value = float(speed / np.abs(parts["gravity"])[:, 1:3].max())
        what = f"{reason}: gravity {'is passed by' if faster > 1 else 'exceeds'} speed's torques"
        holds = value > 1 if faster > 1 else value < 1
        yield PublishedValue(
            f"path_{name}_speed_over_gravity", None, value, "", None, what, source, Kind.RESULT, holds=holds
        )


def _continuity_figures() -> Iterator[PublishedValue]:
    """Jumps at the inner knots, relative to the largest value along the path."""
    eps = 1e-9
    knots = np.array(PATH_TIMES[1:-1])
    motion = spline_motion(PATH_TIMES, _path_points(), np.linspace(PATH_TIMES[0], PATH_TIMES[-1], 81))
    before, after = (spline_motion(PATH_TIMES, _path_points(), knots + side) for side in (-eps, eps))
    for quantity in ("position", "velocity", "acceleration"):
        jump = np.abs(getattr(after, quantity) - getattr(before, quantity)).max(axis=0)
        size = np.abs(getattr(motion, quantity)).max(axis=0)
        reason = "continuous to the second derivative: what is left is 2 ns of motion"
        yield below(f"spline_jump_of_{quantity}", float(np.max(jump / size)), 1e-6, "relative", reason, "section 8.2.1")
