"""EPAAS study: of what parts are the joints' torques and the actuators' forces made? (section 8.2.4)

The study prints the state in whole degrees. How far the rounding can move each component is computed: the sum of what
half a degree in each position, speed and acceleration, and half of each last digit of the arm, does to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from robodyn.analysis import (
    ForceComponents,
    Kinetics,
    SampledMotion,
    effective_inertia_along,
    force_components,
    joint_motion,
    spline_motion,
)
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog.epaas import PATH, PATH_TIMES
from robodyn_studies.catalog.epaas_arm import CENTRES, LOWER_PRODUCT, LOWER_SQUARES, THETA_0
from robodyn_studies.epaas_rounding import rounding_of
from robodyn_studies.epaas_runs import ACTUATORS, LABELS, LOAD, arm_system

ROUNDED = (
    "half a unit of its last digit, and what half a degree in each number of the printed state and half of the last "
    "digits of the printed arm can do to it, as computed"
)
DIGIT = 5e-4
"""Half a unit of the last digit of the tables [N m or N]."""
L4_SLIP = (
    "with the study's slip, DDL4 = -(DL4^2 + PMPN2 cos)/L4: the sign of L3's formula, and twice the product of the "
    "sides; without the slip {:.3g}. "
)
SMALL = "so small at the printed state that its rounding alone can make it vanish: no more is said of it"
SPEEDS = {"normal": 1.0, "fast": 5.0}
HALF = np.radians(0.5)
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
    for k, axis in enumerate(axes):
        for component, figure in zip(components, printed[k], strict=True):
            name, value = f"{stem}{component}_{axis}", float(values[component][k])
            unit = "N" if axis.startswith("L") else "N m"
            band = float(slack[component][k]) + DIGIT
            reason = ROUNDED
            if axis == "L4" and component in ("speed_squared", "inertial"):
                reason = L4_SLIP.format(value) + ROUNDED
                value, band = slipped_force(speed, component)
            wide = SMALL if band >= abs(figure) else ""
            yield PublishedValue(name, figure, value, unit, band, reason, source, Kind.RESULT, wide=wide)


@cache
def components_at(speed: str, grouping: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Components at the printed state and how far its rounding can move each, (5,) [N m or N].

    Args:
        grouping: "origin" or "role" in the joints, "actuators" by role in the actuators.
    """
    states = _neighbourhood(speed)
    parts = _with_total(_along(*states, grouping))
    values = {name: rows[0] for name, rows in parts.items()}
    slack = {name: np.abs(rows[1:] - rows[0]).sum(axis=0) for name, rows in parts.items()}
    here = [rows[0] for rows in states]
    role = "role" if grouping == "actuators" else grouping

    def components(kinetics: Kinetics) -> np.ndarray:
        found = _with_total(force_components(kinetics, *here, grouping=role))
        return np.array([rows[0] for rows in found.values()])

    arm = rounding_of(components, grouping == "actuators")
    return values, {name: slack[name] + moved for name, moved in zip(parts, arm, strict=True)}


def slipped_force(speed: str, component: str) -> tuple[float, float]:
    """Force of L4 with the study's slip in d2L4/dbeta2, and how far the rounding of state and arm can move it [N].

    L4'' = DL4 beta'' + DDL4 beta'^2, so that the slip moves its force by M44 (slipped - right) beta'^2 from one
    component to the other.
    """
    q, v, _ = _neighbourhood(speed)
    turned, faster = q[:, 1] + q[:, 2] + THETA_0, (v[:, 1] + v[:, 2]) ** 2
    length = np.sqrt(LOWER_SQUARES - LOWER_PRODUCT * np.cos(turned))
    lever = LOWER_PRODUCT / 2 * np.sin(turned) / length
    right = (LOWER_PRODUCT / 2 * np.cos(turned) - lever**2) / length
    slipped = -(lever**2 + LOWER_PRODUCT * np.cos(turned)) / length
    mass = effective_inertia_along(arm_system(), q, ACTUATORS)[:, L4]
    moved = mass * (slipped - right) * faster
    rows = _along(*_neighbourhood(speed), "actuators").components[component][:, L4]
    arm = components_at(speed, "actuators")[1][component][L4] - np.abs(rows[1:] - rows[0]).sum()
    rows = rows + (moved if component == "inertial" else -moved)
    return float(rows[0]), float(arm + np.abs(rows[1:] - rows[0]).sum()) + DIGIT


def _with_total(found: ForceComponents) -> dict[str, np.ndarray]:
    return dict(found.components) | {"total": found.total}


def _neighbourhood(speed: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The printed state, then with half a degree more in each of its fifteen numbers, (16, 5) each."""
    state = np.radians(np.concatenate([published.POSITION, *published.MOTIONS[speed]]))
    rows = state + np.vstack([np.zeros(15), HALF * np.eye(15)])
    q, v, a = np.split(rows, 3, axis=1)
    return q, v, a


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
