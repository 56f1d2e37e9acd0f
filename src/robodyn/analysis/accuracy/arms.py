"""Arm sheet: how accurate and repeatable is an open arm that nobody has measured, and how sure is that?

ISO 9283 poses and figures, 30 cycles each, on many robots that differ in what is not published of them. A joint stops

    q - q_c = e + s + l,   e = offset + (tau_g + tau_f) / K + tau_g / K_link,   |s| by friction and counts, l by play

and the tool is off by J (q - q_c), and by the lengths of its links. Friction stops a servo apart from cycle to cycle;
play counts where its load does not press the teeth to one side: |tau_g| < tau_f. K: gain of the servo's position loop.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from robodyn.analysis.commissioning.library import NamedDrive, read_library
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base import Array, Displayed, FlawList, UnitError, frozen, nearest, refuse, report_progress
from robodyn.base.spatial import from_rpy
from robodyn.description.files.units import read_quantity
from robodyn.description.model import GROUND, Body, Joint, Machine, Mechanism, Point

from .iso9283 import POSE_CYCLES

ROBOTS, CUBE, SHARE = 200, 0.1, 0.8
"""Robots that are drawn; side of the cube [m], and the share of it between the poses, as in the standard."""
INTERVAL = (5.0, 95.0)
"""Percentiles of the robots."""
UNITS = {"calibration": "rad", "length": "m", "play": "rad"}
DRIVES = ("play", "counts")
"""Choices that are the drives' own unless they are given."""


@frozen
class AssumedRange:
    """The range of an unpublished number, and the reason for it."""

    least: float
    most: float
    reason: str

    def draw(self, rng: np.random.Generator) -> float:
        """One value, log-uniform."""
        return float(np.exp(rng.uniform(np.log(self.least), np.log(self.most))))


@frozen
class Arm:
    """An open arm: its machine, the drives of its joints and how many of each, where it stands, what is known of it."""

    name: str
    title: str
    source: str
    material: str
    known: str
    machine: Machine
    drives: tuple[NamedDrive, ...]
    home: Array
    servos: Array


@frozen
class ArmFigure:
    """A figure of ISO 9283 of arms of a kind [m]: median and interval over robots, and the median by its causes."""

    symbol: str
    name: str
    pose: str
    median: float
    low: float
    high: float
    causes: Mapping[str, float]


@frozen(eq=False)
class ArmSheet(Displayed):
    """Figures of an open arm, with causes and intervals."""

    JSON = """
    name
    title
    source
    known
    standard
    figures
    choices
    robots
    seed
    """
    name: str
    title: str
    source: str
    known: str
    figures: tuple[ArmFigure, ...]
    choices: dict[str, AssumedRange]
    robots: int
    seed: int
    reach: float

    @property
    def standard(self) -> str:
        """The standard by which it is measured."""
        return "ISO 9283"


@cache
def _tables() -> dict[str, Any]:
    text = files("robodyn.analysis.accuracy").joinpath("arms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def arm_names() -> list[str]:
    """Names of all arms."""
    return [name for name in _tables() if name != "choices"]


def load_arm(name: str) -> Arm:
    """An arm by its name."""
    if name not in arm_names():
        refuse("arm", f"there is no arm '{name}'", nearest(name, arm_names()))
    table, library = _tables()[name], read_library()
    bodies, joints, drives, home, servos, parent = [], [], [], [], [], GROUND
    for joint, drive, origin, rpy, axis, mass, centre, lower, upper, start, *count in table["joints"]:
        # Only its weight counts where it stands still: inertia of a ball of 3 cm.
        inertia = (0.4 * mass * 0.03**2,) * 3
        body = f"{joint}_link"
        bodies.append(Body(body, mass, com=centre, inertia=inertia))
        rotation = from_rpy(*rpy)
        limits = {"lower_limit": lower, "upper_limit": upper}
        joints.append(Joint(joint, "revolute", parent, body, origin, rotation, axis).replaced(**limits))
        drives.append(library[drive])
        home.append(start)
        servos.append(count[0] if count else 1)
        parent = body
    tool = Point("tool", parent, table["tool"])
    machine = Machine(name, Mechanism(name, tuple(bodies), tuple(joints), points=(tool,)))
    title, source, material, known = (table[key] for key in ("title", "source", "material", "known"))
    standing, counts = np.array(home, float), np.array(servos, float)
    return Arm(name, title, source, material, known, machine, tuple(drives), standing, counts)


def choices_of(arm: Arm, given: Mapping[str, str] | None = None) -> dict[str, AssumedRange]:
    """Ranges of what is not published, with those that are given instead: "0.5 deg", or "0.2 deg:1 deg".

    Raises:
        ModelError: with every choice that is unknown or no quantity.
    """
    tables = _tables()["choices"]
    rows = {key: row for key, row in tables.items() if isinstance(row, list)} | tables[arm.material]
    choices = {}
    for key, (least, most, reason) in rows.items():
        unit = UNITS.get(key, "1")
        choices[key] = AssumedRange(read_quantity(least, unit), read_quantity(most, unit), reason)
    flaws = FlawList()
    flaws.add_unknown(given or {}, [*choices, *DRIVES], "is not a choice", "set")
    for key, text in (given or {}).items():
        try:
            ends = [read_quantity(end.strip(), UNITS.get(key, "1"), bare=True) for end in text.split(":")]
        except UnitError as error:
            flaws.add(f"set.{key}", str(error), 'such as "0.5 deg", or a range "0.2 deg:1 deg"')
            continue
        if len(ends) > 2 or not 0 < ends[0] <= ends[-1]:
            flaws.add(f"set.{key}", f"'{text}' is not a range of positive numbers", 'such as "0.2 deg:1 deg"')
            continue
        choices[key] = AssumedRange(ends[0], ends[-1], "given")
    flaws.raise_if_any(f"sheet of '{arm.name}'")
    return choices


# --------------------------------------------------------------------------------------------------
# Poses: where does the arm stand at each, and how does its tool answer to its joints?


@frozen
class ArmPose:
    """An arm at a pose: jacobian (3, n) of the tool, torques of its weight (n,) and places of its joints' frames."""

    jacobian: Array
    weight: Array


def _poses(arm: Arm, side: float) -> tuple[list[ArmPose], float]:
    """P1 to P5: where it stands, and the corners of the plane that rises along x through a cube about it."""
    dynamics = MachineDynamics(arm.machine)
    middle = dynamics.position("tool", arm.home)
    corners = [(0, 0, 0), (1, 1, 1), (1, -1, 1), (-1, -1, -1), (-1, 1, -1)]
    flaws, poses = FlawList(), []
    for k, corner in enumerate(corners):
        target = middle + SHARE * side / 2 * np.array(corner, float)
        q = _reach(arm, dynamics, target)
        if q is None:
            what = f"is out of reach, {1e3 * np.linalg.norm(target):.3g} mm from the base"
            flaws.add(f"P{k + 1}", what, "use a smaller cube")
            continue
        weight = -np.asarray(dynamics.holding_forces(q))
        poses.append(ArmPose(_jacobian(dynamics, q), weight))
    flaws.raise_if_any(f"sheet of '{arm.name}'")
    return poses, float(np.linalg.norm(middle))


def _jacobian(dynamics: MachineDynamics, q: Array) -> Array:
    """Velocity of the tool by those of the joints, (3, n)."""
    return np.asarray(dynamics.jacobian("tool", q))[3:]


def _reach(arm: Arm, dynamics: MachineDynamics, wanted: Array) -> Array | None:
    """Joint positions that bring the tool to a place, by damped least squares within the limits; None where none do."""
    joints = arm.machine.any_mechanism.joints
    lower = np.array([joint.lower_limit for joint in joints])
    upper = np.array([joint.upper_limit for joint in joints])
    q = arm.home.copy()
    for _ in range(200):
        miss = wanted - dynamics.position("tool", q)
        if np.linalg.norm(miss) < 1e-9:
            return q
        J = _jacobian(dynamics, q)
        q = np.clip(q + J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(3), miss), lower, upper)
    return None


# --------------------------------------------------------------------------------------------------
# Robots and cycles: 30 times each pose, on many robots.

SCATTERS = ("friction", "encoder counts", "play")
MISSES = ("weight on servos", "friction of servos", "weight on links", "zeros of joints", "lengths of links")


@report_progress("drawing robots of")
def arm_sheet(
    arm: Arm, given: Mapping[str, str] | None = None, *, side: float = CUBE, robots: int = ROBOTS, seed: int = 1
) -> ArmSheet:
    """Repeatability and accuracy of an arm, over robots that differ in their unpublished numbers.

    Args:
        given: choices instead of their ranges, as texts; side: of the cube [m].
    """
    choices = choices_of(arm, given)
    poses, reach = _poses(arm, side)
    rng = np.random.default_rng(seed)
    # Of each robot the figures at P1, where it stands, and those of its worst pose.
    figures_by_pose: dict[tuple[str, str], list[Array]] = {}
    for _ in range(robots):
        numbers = {key: choice.draw(rng) for key, choice in choices.items()}
        measured = list(measure_robot(arm, numbers, poses, rng))
        for k, symbol in enumerate(("RP", "AP")):
            parts = [figures[k] for figures in measured]
            figures_by_pose.setdefault((symbol, "P1"), []).append(parts[0])
            figures_by_pose.setdefault((symbol, "worst of P1 to P5"), []).append(
                max(parts, key=lambda part: float(part[0]))
            )
    figures = tuple(_figure(symbol, pose, rows) for (symbol, pose), rows in figures_by_pose.items())
    return ArmSheet(
        arm.name, arm.title, arm.source, arm.known, figures, choices, robots, seed, reach
    )  # fmt: skip


NAMES = {"RP": ("positioning repeatability", SCATTERS), "AP": ("positioning accuracy", MISSES)}


def _figure(symbol: str, pose: str, samples: list[Array]) -> ArmFigure:
    rows = np.array(samples)
    name, causes = NAMES[symbol]
    low, high = np.percentile(rows[:, 0], INTERVAL)
    shares = rows[:, 1:].mean(axis=0)
    median = float(np.median(rows[:, 0]))
    parts = {cause: float(median * share) for cause, share in zip(causes, shares / shares.sum(), strict=True)}
    return ArmFigure(symbol, name, pose, median, float(low), float(high), parts)


def measure_robot(
    arm: Arm, numbers: Mapping[str, float], poses: Sequence[ArmPose], rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """RP and AP of one robot at each pose, each before the shares of its causes: of the variance, of the mean square.

    Args:
        numbers: a draw of what is not published.
    """

    def of_drives(key: str) -> Array:
        return np.array([drive[key] for drive in arm.drives])

    n = len(arm.drives)
    gain = numbers["servo_gain"] * (arm.servos * of_drives("peak_torque"))
    friction = numbers["friction"] * arm.servos * of_drives("static")
    count = numbers["count_scatter"] * 2 * np.pi / (numbers.get("counts") or of_drives("counts"))
    play = numbers["loose_play"] * (numbers.get("play") or of_drives("play"))
    for pose in poses:
        # A cloud of places by what differs from cycle to cycle.
        loose = np.abs(pose.weight) < friction
        scatter = np.array([
            numbers["friction_scatter"] * friction / gain * rng.normal(size=(POSE_CYCLES, n)),
            count * rng.uniform(-0.5, 0.5, (POSE_CYCLES, n)),
            loose * play * rng.uniform(-0.5, 0.5, (POSE_CYCLES, n)),
        ])  # fmt: skip
        places = scatter @ pose.jacobian.T
        attained = places.sum(axis=0)
        apart = np.linalg.norm(attained - attained.mean(axis=0), axis=1)
        variances = places.var(axis=1, ddof=1).sum(axis=1)
        spread = np.array([apart.mean() + 3 * apart.std(ddof=1), *variances / variances.sum()])
        # How far its middle is off, by what stays the same.
        turns = np.array([
            pose.weight / gain,
            friction / gain * rng.choice((-1.0, 1.0), n),
            pose.weight / numbers["link_stiffness"],
            numbers["calibration"] * rng.normal(size=n),
        ])  # fmt: skip
        lengths = numbers["length"] * np.sqrt(n) * rng.normal(size=3)
        misses = np.vstack([turns @ pose.jacobian.T, lengths])
        squares = (misses**2).sum(axis=1)
        yield spread, np.array([np.linalg.norm(misses.sum(axis=0)), *squares / squares.sum()])
