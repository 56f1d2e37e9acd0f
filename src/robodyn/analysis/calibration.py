"""Kinematic calibration: where do a robot's axes really stand, told by where its tool was found?

A robot's file says where each joint stands in the frame of the one before: rotation A_i and origin a_i. What was built
differs a little. With the joints' positions q of many poses and what was measured of the tool there, calibration finds

    origin_i   = a_i + A_i s_i              shift of joint i in its own axes [m]
    rotation_i = A_i exp(r_i)               its turn [rad]: about its axis an offset of the encoder, across it a tilt
    tool       = c + s_c                    place of the measured point on its body
    frame      = X                          pose of the robot in the frame that was measured in
    bend_i     = exp(K_i m_i)               by the moment m_i of weight and load [N m] with compliance K_i [rad/(N m)]

by least squares. What is measured of a pose is the tool's place (a tracker, a camera), perhaps with its orientation; or
no more than that it touches a fixed point, touches a plane, or is at a known distance from a fixed point (a ball bar):
where these stand is found as well, and nothing absolute is needed.

Not all of these numbers can be told apart: a shift of a joint along its axis moves the tool as one of the next parallel
joint does. A number is sought only if its effect on the measured rows is not that of numbers before it, in the order
things touched, frame, tool, offsets, shifts, tilts, compliances; the others stay as the file has them and are named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import chi2
from scipy.stats import t as student

from robodyn.base import Array, Displayed, FlawList, frozen, known_unit, nearest, refuse, refuse_word
from robodyn.description.files.samples.text_tables import TextFormat, read_text_table
from robodyn.description.model import GROUND, Body, Joint, Mechanism, Point, Scenario

from .identification.regressor import own_parts

XYZ = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
TOUCHED = ("point", "plane")
COLUMNS = (*XYZ, *QUATERNION, *TOUCHED, "distance", "load")
"""Columns of poses beside the joints' positions."""
UNITS = {**dict.fromkeys((*XYZ, "distance"), "m"), "load": "kg"}
ELASTIC = ("none", "gears", "links")
"""What gives way under the load: nothing, joints about their axes, joints about all three axes."""
FRAMES = ("fitted", "robot")
"""Which frame places were measured in: one of its own, found by the fit, or the robot's."""
SEPARATE = 0.01
"""Part of a number's effect that no number before it has: with less it is not told apart by real measurements."""
STEP = 1e-6
"""Of central differences [m, rad]; of compliances times 1e-3 [rad/N m]."""
MOST_STEPS, SETTLED = 50, 1e-10
UNLIKELY = 1e-3
"""Chance that any pose of a right set is named as one that does not fit the others."""
ANOTHER = 0.2
"""Part of the spread of the measured places that may be left: with more, they are not of this robot."""
EXCHANGES = 3
"""How often each planned pose is weighed against all others."""
SOFT, SEEN = 1e-4, 1e-6
"""A soft joint [rad/(N m)], and how far it must move the tool [m] for its compliance to be sought."""


@frozen(eq=False)
class Poses:
    """Positions of joints, and what was measured of the tool there.

    Attributes:
        q: of the chain's moving joints [rad, m], (poses, joints).
        place: of the tool's point [m], (poses, 3), NaN where it was not measured; turn: its quaternion (w, x, y, z).
        touched: name of the point or plane that it touches, "" where it touches none; of planes, `is_plane`.
        distance: from that point [m], 0 where it touches it. load: mass at the tool [kg].
    """

    q: Array
    place: Array
    turn: Array
    touched: tuple[str, ...]
    is_plane: Array
    distance: Array
    load: Array

    @classmethod
    def at(cls, q: Array, **measured: Any) -> Poses:
        """Poses at joint positions with what was measured of them; the rest is absent."""
        n = len(q)
        absent: dict[str, Any] = {"place": np.full((n, 3), np.nan), "turn": np.full((n, 4), np.nan)}
        absent |= {"touched": ("",) * n, "is_plane": np.zeros(n, bool), "distance": np.zeros(n), "load": np.zeros(n)}
        return cls(np.asarray(q, float), **(absent | measured))

    def __len__(self) -> int:
        return len(self.q)

    def take(self, rows: Array) -> Poses:
        """Some of the poses."""
        arrays = {name: part[rows] for name, part in vars(self).items() if name != "touched"}
        return Poses(**arrays, touched=tuple(self.touched[k] for k in rows))


@frozen(eq=False)
class Geometry:
    """What calibration changes: how joints, tool, measuring frame and touched things stand.

    Attributes:
        R, p: of the chain's joints in their parents, (joints, 3, 3) and [m] (joints, 3).
        tool, tool_R: the measured point on the last body [m], and the orientation that is measured of it.
        frame_R, frame_p: of the robot in the measuring frame.
        compliance: about axis, and two axes across it [rad/(N m)], (joints, 3).
        points: where fixed points stand [m]; planes: unit normal and distance from the origin [m], of each name.
    """

    R: Array
    p: Array
    tool: Array
    tool_R: Array
    frame_R: Array
    frame_p: Array
    compliance: Array
    points: Mapping[str, Array]
    planes: Mapping[str, Array]


@frozen
class CalibratedNumber:
    """A number that the poses tell.

    Attributes:
        value: change from the file, or the compliance itself, in SI; lower, upper: 95 % interval.
    """

    name: str
    value: float
    lower: float
    upper: float
    unit: str


@frozen
class Untold:
    """A number that these poses do not tell.

    Attributes:
        like: numbers whose joint effect is the same, those of the largest part first.
        postures: whether other postures would tell it.
    """

    name: str
    like: tuple[str, ...]
    postures: bool


@frozen
class PoseErrors:
    """How far poses are from where the robot says [m].

    Attributes:
        what: which poses, and by which robot.
    """

    what: str
    rms: float
    largest: float
    poses: int


@frozen
class Calibration(Displayed):
    """What poses tell of a robot's geometry.

    Attributes:
        numbers: found, with intervals. untold: not found.
        errors: of the file's robot, with frame and tool fitted, and of the calibrated one.
        noise: standard deviation of measured places or distances [m]; turn_noise: of orientations [rad].
        each: error of every pose before and after [m], (poses, 2); held_out: whether it took no part in the fit.
        frame: of the robot in the measuring frame: x, y, z [m] and a rotation vector [rad].
        joints: name -> origin and rotation matrix in its parent, of all that change; tool: the point on its body [m].
        warnings: what to doubt.
    """

    point: str
    numbers: tuple[CalibratedNumber, ...]
    untold: tuple[Untold, ...]
    errors: tuple[PoseErrors, ...]
    noise: float
    turn_noise: float | None
    each: Array
    held_out: Array
    frame: tuple[float, ...]
    joints: Mapping[str, tuple[Array, Array]]
    tool: Array
    warnings: tuple[str, ...]

    def apply(self, scenario: Scenario) -> Scenario:
        """The scenario with joints and tool where they were found."""
        assert scenario.machine.mechanism is not None
        mechanism = scenario.machine.mechanism
        joints = []
        for joint in mechanism.joints:
            if joint.name in self.joints:
                origin, rotation = self.joints[joint.name]
                rows = tuple(tuple(float(entry) for entry in row) for row in rotation)
                joint = joint.replaced(origin=tuple(float(entry) for entry in origin), rotation=rows)
            joints.append(joint)
        points = [
            point.replaced(origin=tuple(float(entry) for entry in self.tool)) if point.name == self.point else point
            for point in mechanism.points
        ]
        changed = mechanism.replaced(joints=tuple(joints), points=tuple(points))
        return scenario.replaced(machine=scenario.machine.replaced(mechanism=changed))

    def origins(self, scenario: Scenario) -> dict[str, tuple[Array, Array]]:
        """Place and rotation of joints as robot files have them, where a tool is the origin of its own link.

        Raises:
            ModelError: when the tool has moved on a link that carries more than it.
        """
        assert scenario.machine.mechanism is not None
        origins, mechanism = dict(self.joints), scenario.machine.mechanism
        point = _find_point(mechanism, self.point)
        carrier = next(joint for joint in mechanism.joints if joint.child == point.body)
        shift = self.tool - np.array(point.origin)
        if carrier.kind == "fixed":
            R = np.array(carrier.rotation)
            origins[carrier.name] = np.array(carrier.origin) + R @ shift, R
        elif np.any(shift):
            refuse(
                f"point {self.point}",
                f"is on '{point.body}', which moves: a robot file cannot shift it alone",
                "write TOML",
            )
        return origins


@frozen
class PosePlan(Displayed):
    """Poses chosen for a calibration.

    Attributes:
        joints: of the chain; q: their positions [rad, m], (poses, joints).
        deviations: expected standard deviation of the worst-told number of each kind, per deviation of the measured
            place: of the chosen poses, and of as many taken at random.
    """

    point: str
    joints: tuple[str, ...]
    units: tuple[str, ...]
    q: Array
    deviations: tuple[tuple[str, float, float, str], ...]


# --------------------------------------------------------------------------------------------------
# The chain: which joints carry the tool, and where are they at given positions?


class Chain:
    """The joints from the ground to the body of a point, with the masses that they carry.

    Attributes:
        joints: moving ones. start: the file's geometry of them; fixed joints between are part of the next one's.
    """

    def __init__(self, mechanism: Mechanism, point: str) -> None:
        self.point = _find_point(mechanism, point)
        flaws = FlawList()
        carriers = {joint.child: joint for joint in mechanism.joints}
        body = self.point.body
        row: list[Joint] = []
        while body != GROUND:
            row.insert(0, carriers[body])
            body = carriers[body].parent
        for joint in row:
            if len(joint.freedoms) > 1 or any(not freedom.is_single for freedom in joint.freedoms):
                flaws.add(f"joints.{joint.name}", f"is {joint.kind}", "calibrated joints have one position each")
            if joint.node is not None:
                flaws.add(f"joints.{joint.name}", "is on a flexible body", "calibrate the rigid arm")
        if self.point.node is not None:
            flaws.add(f"points.{point}", "is on a flexible body", "calibrate the rigid arm")
        if not any(joint.freedoms for joint in row):
            flaws.add("point", f"'{point}' is not carried by any joint", "name a point that moves")
        flaws.raise_if_any(f"calibration of '{mechanism.name}'")
        self.joints = tuple(joint for joint in row if joint.freedoms)
        self.gravity = np.array(mechanism.gravity, float)
        # Fixed joints are folded into what follows them: into the next joint, or into the tool.
        self.before: list[tuple[Array, Array]] = []
        folded, at = np.eye(3), np.zeros(3)
        for joint in row:
            if joint.freedoms:
                self.before.append((folded, at))
                folded, at = np.eye(3), np.zeros(3)
            else:
                at = at + folded @ np.array(joint.origin)
                folded = folded @ np.array(joint.rotation)
        self.after = folded, at
        self.basis = np.array([_basis(joint) for joint in self.joints])
        self.masses = _carried_masses(mechanism, self.joints)

    @property
    def moved(self) -> tuple[Joint, ...]:
        """Joints whose positions are measured; the others follow them."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    def positions(self, q: Array) -> Array:
        """Positions of all joints of the chain, those that follow others included, (poses, joints)."""
        column = {joint.name: k for k, joint in enumerate(self.moved)}
        columns = []
        for joint in self.joints:
            if joint.mimic is None:
                columns.append(q[:, column[joint.name]])
            else:
                columns.append(joint.mimic.ratio * q[:, column[joint.mimic.joint]] + joint.mimic.offset)
        return np.stack(columns, axis=1)

    def geometry(self) -> Geometry:
        """As the file has it, measured in the robot's own frame."""
        R = np.array([joint.rotation for joint in self.joints], float)
        p = np.array([joint.origin for joint in self.joints], float)
        compliance = np.zeros((len(self.joints), 3))
        tool = np.array(self.point.origin, float)
        return Geometry(R, p, tool, np.eye(3), np.eye(3), np.zeros(3), compliance, {}, {})

    def place(self, geometry: Geometry, poses: Poses) -> tuple[Array, Array]:
        """Orientation (poses, 3, 3) and place (poses, 3) [m] of the tool in the measuring frame."""
        moments = self._moments(geometry, poses) if np.any(geometry.compliance) else None
        R, p, _ = self._walk(geometry, poses, moments)[-1]
        return geometry.frame_R @ R @ geometry.tool_R, (geometry.frame_R @ p[..., None])[..., 0] + geometry.frame_p

    def _walk(self, geometry: Geometry, poses: Poses, moments: Array | None) -> list[tuple[Array, Array, Array]]:
        """Frames behind each joint, R, p, and the joint's own frame before its motion; then those of the tool."""
        q = self.positions(poses.q)
        R = np.broadcast_to(np.eye(3), (len(q), 3, 3))
        p = np.zeros((len(q), 3))
        frames = []
        for k, joint in enumerate(self.joints):
            folded, at = self.before[k]
            p = p + R @ (at + folded @ geometry.p[k])
            R = R @ (folded @ geometry.R[k])
            stood = R
            axis = np.array(joint.axis)
            if joint.kind != "prismatic":
                R = R @ Rotation.from_rotvec(q[:, k, None] * axis).as_matrix()
            advance = {"prismatic": 1.0, "screw": joint.pitch}.get(joint.kind, 0.0)
            if advance:
                p = p + advance * q[:, k, None] * (stood @ axis)
            if moments is not None:
                # The load's moment in the joint's axes turns it by the compliance about each.
                local = np.einsum("nij,aj,ni->na", stood, self.basis[k], moments[:, k])
                bend = (local * geometry.compliance[k]) @ self.basis[k]
                R = R @ Rotation.from_rotvec(bend).as_matrix()
            frames.append((R, p, stood))
        folded, at = self.after
        frames.append((R @ folded, p + R @ (at + folded @ geometry.tool), R))
        return frames

    def _moments(self, geometry: Geometry, poses: Poses) -> Array:
        """Moments of weight and load at each joint of the arm that does not give way, (poses, joints, 3)."""
        frames = self._walk(geometry, poses, None)
        places = [p for _, p, _ in frames[:-1]]
        tip = frames[-1][1]
        moments = np.zeros((len(poses), len(self.joints), 3))
        for k in range(len(self.joints)):
            moments[:, k] += np.cross(tip - places[k], poses.load[:, None] * self.gravity)
            for j in range(k, len(self.joints)):
                mass, center = self.masses[j]
                at = places[j] + frames[j][0] @ center
                moments[:, k] += np.cross(at - places[k], mass * self.gravity)
        return moments


def _find_point(mechanism: Mechanism, point: str) -> Point:
    for candidate in mechanism.points:
        if candidate.name == point:
            return candidate
    names = [candidate.name for candidate in mechanism.points]
    refuse("point", f"there is no point '{point}'", nearest(point, names) or f"it has: {', '.join(names) or 'none'}")


def _basis(joint: Joint) -> Array:
    """A joint's axis and two axes across it, as rows in its own frame; axes of the frame where they can be."""
    axis = np.array(joint.axis, float)
    largest = int(np.argmax(np.abs(axis)))
    across = np.eye(3)[[k for k in range(3) if k != largest]]
    first = across[0] - (across[0] @ axis) * axis
    first /= np.linalg.norm(first)
    return np.array([axis, first, np.cross(axis, first)])


def _carried_masses(mechanism: Mechanism, joints: Sequence[Joint]) -> list[tuple[float, Array]]:
    """Mass and its centre, in the frame behind each joint of the chain, of the bodies that hang on it rigidly.

    Bodies beyond joints that are not of the chain, such as fingers, are taken where these are at zero.
    """
    own = {joint.child: k for k, joint in enumerate(joints)}
    parents = {joint.child: joint for joint in mechanism.joints}
    total = [(0.0, np.zeros(3)) for _ in joints]
    for body in (body for body in mechanism.bodies if isinstance(body, Body)):
        p, name = np.array(body.com, float), body.name
        while name != GROUND and name not in own:
            joint = parents[name]
            p = np.array(joint.origin) + np.array(joint.rotation) @ p
            name = joint.parent
        if name != GROUND:
            mass, moment = total[own[name]]
            total[own[name]] = mass + body.mass, moment + body.mass * p
    return [(mass, moment / mass if mass else moment) for mass, moment in total]


# --------------------------------------------------------------------------------------------------
# Poses from a file


def read_poses(path: str | Path, chain: Chain) -> Poses:
    """Poses of a CSV file: a column for every joint, and `x`, `y`, `z` (with `qw`, `qx`, `qy`, `qz`), or `point` or
    `plane` with the name of what is touched, or `point` and `distance`; `load` where a mass is at the tool.

    Units stand in brackets behind the headings: `elbow [deg]`, `x [mm]`; rad, m and kg where there are none.

    Raises:
        ModelError: with every problem of the file.
    """
    path, flaws = Path(path), FlawList()
    columns = read_text_table(path, TextFormat(), TOUCHED)
    names = {joint.name: ("m" if joint.kind == "prismatic" else "rad") for joint in chain.moved}
    units = names | {column: UNITS.get(column, "") for column in COLUMNS}
    values, count = dict[str, Array](), len(columns.places)  # type: ignore[arg-type]
    for heading, column in columns.values.items():
        name = heading.removesuffix(".position") if heading.removesuffix(".position") in names else heading
        unit = columns.units.get(heading, "")
        own = known_unit(unit) if unit else None
        if name not in units:
            flaws.add(heading, "is neither a joint of the chain nor a measured column", nearest(name, units))
        elif unit and (own is None or own.name != units[name]):
            flaws.add(heading, f"'{unit}' is not a unit of it", f"such as [{units[name]}]")
        else:
            values[name] = column * (own.factor if own else 1.0)
    missing = [name for name in names if name not in values]
    if missing:
        flaws.add(", ".join(missing), "has no column", "every joint that carries the tool needs one")
    if not {*XYZ} <= values.keys() and not columns.texts:
        flaws.add("", "has no measurement of the tool", "columns x, y and z, or point or plane: what it touches")
    flaws.raise_if_any(str(path))

    def numbers(*wanted: str, absent: float = np.nan) -> Array:
        """Columns in SI; what is empty is absent."""
        entries = np.stack([values.get(name, np.full(count, np.nan)) for name in wanted], axis=1)
        return np.where(np.isnan(entries), absent, entries)

    q, place, turn = numbers(*names), numbers(*XYZ), numbers(*QUATERNION)
    touches = {kind: columns.texts.get(kind, ("",) * count) for kind in TOUCHED}
    distance, load = numbers("distance", "load", absent=0.0).T
    is_plane = np.array([bool(text) for text in touches["plane"]])
    touched = tuple(point or plane for point, plane in zip(touches["point"], touches["plane"], strict=True))
    for k in range(len(q)):
        line = columns.place(k)
        if np.any(np.isnan(q[k])):
            flaws.add(line, "has no position of every joint", "fill it in, or remove the pose")
        if touches["point"][k] and touches["plane"][k]:
            flaws.add(line, "touches a point and a plane", "one of them")
        if not touched[k] and np.any(np.isnan(place[k])):
            flaws.add(line, "has no measurement of the tool", "x, y and z, or point or plane")
        if touched[k] and not np.all(np.isnan(place[k])):
            flaws.add(line, f"touches '{touched[k]}' and also has a position", "leave one of them empty")
        present = np.isfinite(turn[k])
        if np.any(present) and (not np.all(present) or not np.any(turn[k])):
            flaws.add(line, "has no whole quaternion", "qw, qx, qy and qz, not all 0, or none of them")
        if distance[k] and not touches["point"][k]:
            flaws.add(line, "has a distance without a reference point", "name the point it is measured from")
    flaws.raise_if_any(str(path))
    return Poses(q, place, turn, touched, is_plane, distance, load)


def join_poses(parts: Sequence[Poses]) -> Poses:
    """Poses of several files together."""
    arrays = {
        name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0]) if name != "touched"
    }
    return Poses(**arrays, touched=tuple(name for part in parts for name in part.touched))


# --------------------------------------------------------------------------------------------------
# Least squares: which numbers are sought, and what do poses make of them?


@frozen
class Sought:
    """A number that calibration may change.

    Attributes:
        kind: "touched", "frame", "tool", "offset", "shift", "tilt" or "compliance", in the order they are taken.
        axis: 0 to 2 of shifts, 3 to 5 of turns; of a plane two tilts and the distance.
        joint: its number in the chain; touched: name of the point or plane.
    """

    name: str
    kind: str
    unit: str
    axis: int
    joint: int = -1
    touched: str = ""


KINDS = ("touched", "frame", "tool", "offset", "shift", "tilt", "compliance")


def list_sought(chain: Chain, poses: Poses, elastic: str, frame: str) -> list[Sought]:
    """All numbers, those that are surely unknown first."""
    sought = []
    places = [(axis, "m") for axis in XYZ]
    plane = [("tilt.1", "rad"), ("tilt.2", "rad"), ("distance", "m")]
    pose = [*places, *((f"turn.{axis}", "rad") for axis in XYZ)]
    for name, is_plane in sorted({(n, bool(f)) for n, f in zip(poses.touched, poses.is_plane, strict=True) if n}):
        for k, (part, unit) in enumerate(plane if is_plane else places):
            sought.append(Sought(f"{name}.{part}", "touched", unit, k, touched=name))
    if frame == "fitted":
        sought += [Sought(f"frame.{part}", "frame", unit, k) for k, (part, unit) in enumerate(pose)]
    tool = pose if np.any(np.isfinite(poses.turn)) else places
    sought += [Sought(f"{chain.point.name}.{part}", "tool", unit, k) for k, (part, unit) in enumerate(tool)]
    for j, joint in enumerate(chain.joints):
        letters = _letters(chain.basis[j])
        slides = joint.kind == "prismatic"
        for k, letter in enumerate(letters):
            along = k == 0
            shift = "offset" if along and slides else "shift"
            turn = "offset" if along and not slides else "tilt"
            sought.append(Sought(f"{joint.name}.{shift}" + f".{letter}" * (shift == "shift"), shift, "m", k, j))
            sought.append(Sought(f"{joint.name}.{turn}" + f".{letter}" * (turn == "tilt"), turn, "rad", 3 + k, j))
            if not slides and (elastic == "links" or (elastic == "gears" and along)):
                name = f"{joint.name}.compliance" + f".{letter}" * (not along)
                sought.append(Sought(name, "compliance", "rad/(N m)", k, j))
    return sorted(sought, key=lambda one: KINDS.index(one.kind))


def _letters(basis: Array) -> list[str]:
    """Names of a joint's axis and of two across it: of the frame's axes where they are these."""
    aligned = np.max(np.abs(basis), axis=1) > 1 - 1e-9
    return [
        XYZ[int(np.argmax(np.abs(row)))] if own else str(k)
        for k, (row, own) in enumerate(zip(basis, aligned, strict=True))
    ]


def change(geometry: Geometry, chain: Chain, sought: Sequence[Sought], x: Array) -> Geometry:
    """The geometry with numbers changed by x, in SI."""
    n = len(chain.joints)
    shift, turn, compliance = np.zeros((n, 3)), np.zeros((n, 3)), geometry.compliance.copy()
    frame, tool = np.zeros(6), np.zeros(6)
    points, planes = dict(geometry.points), dict(geometry.planes)
    for one, value in zip(sought, x, strict=True):
        if one.kind == "touched":
            name, k = one.touched, one.axis
            # A point is shifted along an axis; a plane is tilted about two axes, or moved along its normal.
            if name in points:
                points[name] = points[name] + value * np.eye(3)[k]
            else:
                normal, away = planes[name][:3], planes[name][3]
                if k == 2:
                    away = away + value
                else:
                    across = np.linalg.svd(normal[None])[2][1 + k]
                    normal = np.cos(value) * normal + np.sin(value) * across
                planes[name] = np.array([*normal, away])
        elif one.kind == "frame":
            frame[one.axis] += value
        elif one.kind == "tool":
            tool[one.axis] += value
        elif one.kind == "compliance":
            compliance[one.joint, one.axis] += value
        else:
            # Shifts and turns of a joint are about its own axes.
            j, k = one.joint, one.axis
            vector = chain.basis[j][k % 3] * value
            if k < 3:
                shift[j] += vector
            else:
                turn[j] += vector
    # p_i = a_i + A_i s_i and R_i = A_i exp(r_i), as the head of this file says.
    turns = Rotation.from_rotvec(turn).as_matrix()
    return Geometry(
        geometry.R @ turns,
        geometry.p + np.einsum("jab,jb->ja", geometry.R, shift),
        geometry.tool + tool[:3],
        geometry.tool_R @ Rotation.from_rotvec(tool[3:]).as_matrix(),
        geometry.frame_R @ Rotation.from_rotvec(frame[3:]).as_matrix(),
        geometry.frame_p + frame[:3],
        compliance,
        points,
        planes,
    )


def residuals(chain: Chain, geometry: Geometry, poses: Poses) -> tuple[Array, Array]:
    """What is measured less what the geometry says: places and distances [m], orientations [rad], (poses, 3) each.

    Of a pose that touches something the first column alone counts; what is not measured is NaN.
    """
    R, p = chain.place(geometry, poses)
    lengths = poses.place - p
    for k, name in enumerate(poses.touched):
        if not name:
            continue
        lengths[k] = np.nan
        if poses.is_plane[k]:
            lengths[k, 0] = geometry.planes[name][:3] @ p[k] - geometry.planes[name][3]
        elif poses.distance[k]:
            lengths[k, 0] = poses.distance[k] - np.linalg.norm(p[k] - geometry.points[name])
        else:
            lengths[k] = geometry.points[name] - p[k]
    turns = np.full((len(poses), 3), np.nan)
    has_turn = np.all(np.isfinite(poses.turn), axis=1)
    if np.any(has_turn):
        measured = Rotation.from_quat(poses.turn[has_turn][:, [1, 2, 3, 0]]).as_matrix()
        turns[has_turn] = Rotation.from_matrix(np.swapaxes(R[has_turn], 1, 2) @ measured).as_rotvec()
    return lengths, turns


@frozen(eq=False)
class Solution:
    """A fit: the geometry, deviations of lengths [m] and turns [rad], and the covariance of the numbers."""

    geometry: Geometry
    noise: float
    turn_noise: float | None
    covariance: Array
    freedom: int


def _stacked(chain: Chain, geometry: Geometry, poses: Poses, weights: tuple[float, float]) -> Array:
    lengths, turns = residuals(chain, geometry, poses)
    both = np.concatenate([(weights[0] * lengths).ravel(), (weights[1] * turns).ravel()])
    return both[np.isfinite(both)]


def _slopes(
    chain: Chain, geometry: Geometry, poses: Poses, sought: Sequence[Sought], weights: tuple[float, float]
) -> Array:
    """Derivatives of the weighted residuals by the numbers, by central differences."""
    columns = []
    for one in sought:
        step = STEP * (1e-3 if one.kind == "compliance" else 1.0)
        sides = [_stacked(chain, change(geometry, chain, [one], np.array([s * step])), poses, weights) for s in (1, -1)]
        columns.append((sides[0] - sides[1]) / (2 * step))
    return np.stack(columns, axis=1)


def choose_told(slopes: Array) -> tuple[list[int], dict[int, Array]]:
    """Columns whose effect is not that of columns before them, and the others with what they are made of.

    In the given order a column counts if more than `SEPARATE` of it is across all that count already.
    """
    shares = own_parts(slopes, range(slopes.shape[1]), 0.0, SEPARATE)
    independent = [k for k, share in shares.items() if share > SEPARATE][: len(slopes)]
    others = [k for k in range(slopes.shape[1]) if k not in independent]
    parts = np.linalg.lstsq(slopes[:, independent], slopes[:, others], rcond=None)[0]
    return independent, {k: parts[:, i] for i, k in enumerate(others)}


def solve(chain: Chain, geometry: Geometry, poses: Poses, sought: Sequence[Sought]) -> Solution:
    """The numbers of least squares, lengths and turns weighted by their own scatter (damped Gauss-Newton)."""
    lengths, turns = residuals(chain, geometry, poses)
    has_turns = bool(np.any(np.isfinite(turns)))
    counts = np.array([np.sum(np.isfinite(lengths)), np.sum(np.isfinite(turns))])
    freedom = int(np.sum(counts)) - len(sought)
    weights = (1.0, 1.0)
    for _ in range(4 if has_turns else 1):
        geometry = _descend(chain, geometry, poses, sought, weights)
        # The numbers take freedom from lengths and turns alike, by their share of the rows.
        spread = []
        for part, count in zip(residuals(chain, geometry, poses), counts, strict=True):
            free = max(count - len(sought) * count / np.sum(counts), 1e-9)
            spread.append(float(np.sqrt(np.nansum(part**2) / free)) if count else 0.0)
        weights = (1.0 / max(spread[0], 1e-15), 1.0 / max(spread[1], 1e-15) if has_turns else 1.0)
    J = _slopes(chain, geometry, poses, sought, weights)
    return Solution(geometry, spread[0], spread[1] if has_turns else None, np.linalg.pinv(J.T @ J), freedom)


def _descend(
    chain: Chain, geometry: Geometry, poses: Poses, sought: Sequence[Sought], weights: tuple[float, float]
) -> Geometry:
    """Gauss-Newton's steps, halved while they make the sum of squares larger."""
    left = _stacked(chain, geometry, poses, weights)
    for _ in range(MOST_STEPS):
        J = _slopes(chain, geometry, poses, sought, weights)
        size = np.linalg.norm(J, axis=0)
        size[size == 0] = 1.0
        step = np.linalg.lstsq(J / size, -left, rcond=None)[0] / size
        for _ in range(12):
            trial = change(geometry, chain, sought, step)
            new = _stacked(chain, trial, poses, weights)
            if new @ new <= left @ left:
                break
            step = step / 2
        else:
            return geometry
        gained = left @ left - new @ new
        geometry, left = trial, new
        if gained <= SETTLED * (left @ left) or left @ left < 1e-30:
            return geometry
    return geometry


# --------------------------------------------------------------------------------------------------
# Calibration as a whole


def calibrate(
    scenario: Scenario,
    poses: Poses | Sequence[str | Path],
    point: str | None = None,
    *,
    elastic: str = "none",
    frame: str = "fitted",
    held_out: float = 0.25,
    seed: int = 0,
) -> Calibration:
    """Find where a robot's joints and tool stand, by poses in which its tool was measured.

    Args:
        poses: as read by `read_poses`, or CSV files of them.
        point: the machine's point that was measured; by default its only one.
        elastic: what gives way under gravity and the poses' loads: "none", "gears" (about axes) or "links" (about all).
        frame: "fitted": places were measured in a frame of their own; "robot": in that of the robot's ground.
        held_out: share of the poses that prove the result and take no part in it, 0 to 1.
        seed: of their choice.

    Raises:
        ModelError: for poses that are too few, are not of this robot, or contradict their units.
    """
    refuse_word("elastic", elastic, ELASTIC)
    refuse_word("frame", frame, FRAMES)
    chain = chain_of(scenario, point, elastic)
    if not isinstance(poses, Poses):
        poses = join_poses([read_poses(path, chain) for path in poses])
    if not 0 <= held_out < 1:
        refuse("held_out", f"must be at least 0 and below 1, is {held_out:g}", "0.25 is usual")
    rows = np.random.default_rng(seed).permutation(len(poses))
    proof = np.zeros(len(poses), bool)
    proof[rows[: int(held_out * len(poses))]] = True
    _keep_touched(poses, proof)
    fitted, proving = poses.take(np.flatnonzero(~proof)), poses.take(np.flatnonzero(proof))

    start = _first_guess(chain, fitted, frame)
    _check_units(chain, fitted, frame)
    sought = list_sought(chain, poses, elastic, frame)
    placing = [one for one in sought if one.kind in ("touched", "frame", "tool")]
    before = solve(chain, start, fitted, _told_of(chain, start, fitted, placing)[0])
    _check_robot(chain, before, fitted)
    identifiable, like = _told_of(chain, before.geometry, fitted, sought)
    lengths, turns = residuals(chain, before.geometry, fitted)
    equations = int(np.sum(np.isfinite(lengths)) + np.sum(np.isfinite(turns)))
    if equations < len(identifiable) + 5:
        # Half as many equations again as numbers, beside the poses of the proof.
        needed = math.ceil(1.5 * len(identifiable) * len(fitted) / equations / (1 - held_out))
        refuse(
            "poses",
            f"{len(fitted)} poses give {equations} equations for {len(identifiable)} numbers",
            f"measure {needed} poses or more",
        )
    after = solve(chain, before.geometry, fitted, identifiable)

    half = student.ppf(0.975, max(after.freedom, 1)) * np.sqrt(np.diag(after.covariance))
    values = _changes(chain, start, after.geometry, identifiable)
    numbers = tuple(
        CalibratedNumber(one.name, float(value), float(value - width), float(value + width), one.unit)
        for one, value, width in zip(identifiable, values, half, strict=True)
        if one.kind not in ("touched", "frame")
    )
    generic = _told_anywhere(chain, poses, before.geometry, sought)
    untold = tuple(
        Untold(sought[k].name, _names_of(identifiable, parts), sought[k].name in generic)
        for k, parts in like.items()
        if sought[k].kind not in ("touched", "frame")
    )
    each = np.stack([_distances(chain, one.geometry, poses) for one in (before, after)], axis=1)
    errors = [
        _summary("fitted poses, as in the file", each[~proof, 0]),
        _summary("fitted poses, calibrated", each[~proof, 1]),
    ]
    if len(proving):
        errors += [_summary("held-out poses, as in the file", each[proof, 0])]
        errors += [_summary("held-out poses, calibrated", each[proof, 1])]
    return Calibration(
        chain.point.name,
        numbers,
        untold,
        tuple(errors),
        after.noise,
        after.turn_noise,
        each,
        proof,
        (*after.geometry.frame_p, *Rotation.from_matrix(after.geometry.frame_R).as_rotvec()),
        {
            joint.name: (after.geometry.p[k], after.geometry.R[k])
            for k, joint in enumerate(chain.joints)
            if any(one.joint == k and one.kind != "compliance" for one in identifiable)
        },
        after.geometry.tool,
        tuple(_doubts(chain, after, poses, each, proof, elastic)),
    )


def chain_of(scenario: Scenario, point: str | None, elastic: str = "none") -> Chain:
    """The chain to a scenario's point, or to its only one."""
    mechanism = scenario.machine.mechanism
    if mechanism is None:
        refuse("machine", "has no mechanism", "a robot with joints is calibrated")
    if elastic != "none" and mechanism.flexible_bodies:
        refuse("elastic", "the machine has flexible bodies, whose weight is not known here", "calibrate it rigid")
    if point is None:
        names = [known.name for known in mechanism.points]
        if len(names) != 1:
            refuse("point", f"the machine has {len(names)} points", f"name one of: {', '.join(names) or '(none)'}")
        point = names[0]
    return Chain(mechanism, point)


def _keep_touched(poses: Poses, proof: Array) -> None:
    """What is touched in held-out poses alone is not known: some of its poses go back to the fit."""
    for name in {name for name in poses.touched if name}:
        own = np.array([touched == name for touched in poses.touched])
        if len({*poses.is_plane[own]}) > 1:
            refuse(f"point {name}", "is also the name of a plane", "give them different names")
        least = 4 if np.any(poses.is_plane[own]) or np.any(poses.distance[own]) else 2
        if np.sum(own & ~proof) < least:
            proof[own] = False
        if np.sum(own) < least:
            what = "plane" if np.any(poses.is_plane[own]) else "point"
            refuse(f"{what} {name}", f"is touched by {np.sum(own)} poses, which is not enough", f"{least} or more")


def _first_guess(chain: Chain, poses: Poses, frame: str) -> Geometry:
    """The file's geometry, the measuring frame where places fit best, and touched things amid the tool's places."""
    geometry = chain.geometry()
    _, p = chain.place(geometry, poses)
    has_place = np.array([not name for name in poses.touched])
    if frame == "fitted" and np.any(has_place):
        R, shift, _ = _fit_places(p[has_place], poses.place[has_place])
        geometry = replace(geometry, frame_R=R, frame_p=shift)
        p = p @ R.T + shift
    points, planes = {}, {}
    for name in {name for name in poses.touched if name}:
        own = np.array([touched == name for touched in poses.touched])
        if np.any(poses.is_plane[own]):
            center = p[own].mean(axis=0)
            normal = np.linalg.svd(p[own] - center)[2][2]
            planes[name] = np.array([*normal, normal @ center])
        elif np.any(poses.distance[own]):
            # |p - c|^2 = d^2 is linear in c and |c|^2.
            A = np.column_stack([2 * p[own], np.ones(np.sum(own))])
            b = np.sum(p[own] ** 2, axis=1) - poses.distance[own] ** 2
            points[name] = np.linalg.lstsq(A, b, rcond=None)[0][:3]
        else:
            points[name] = p[own].mean(axis=0)
    return replace(geometry, points=points, planes=planes)


def _fit_places(p: Array, measured: Array) -> tuple[Array, Array, float]:
    """Rotation and shift that bring places nearest to measured ones (Kabsch), and the scale that would be best."""
    own, other = p.mean(axis=0), measured.mean(axis=0)
    U, sizes, Vt = np.linalg.svd((measured - other).T @ (p - own))
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))])
    R = U @ np.diag(signs) @ Vt
    scale = float(np.sum(sizes * signs) / max(np.sum((p - own) ** 2), 1e-300))
    return R, other - R @ own, scale


def _check_units(chain: Chain, poses: Poses, frame: str) -> None:
    """Places in millimetres and angles in degrees are told from what would fit."""
    has_place = np.array([not name for name in poses.touched])
    if np.sum(has_place) < 4 or frame != "fitted":
        return
    _, p = chain.place(chain.geometry(), poses)
    scale = _fit_places(p[has_place], poses.place[has_place])[2]
    for factor, unit in ((1000.0, "mm"), (100.0, "cm"), (39.37, "inch")):
        if abs(np.log(scale / factor)) < 0.2:
            refuse(
                "x, y, z", f"are {scale:.0f} times as far apart as the robot's places", f"write their unit: x [{unit}]"
            )

    def misfit(q: Array) -> float:
        _, p = chain.place(chain.geometry(), replace(poses, q=q))
        R, shift, _ = _fit_places(p[has_place], poses.place[has_place])
        return float(np.sqrt(np.mean((poses.place[has_place] - p[has_place] @ R.T - shift) ** 2)))

    slides = np.array([joint.kind == "prismatic" for joint in chain.moved])
    if misfit(np.where(slides, poses.q, np.deg2rad(poses.q))) < 0.2 * misfit(poses.q):
        refuse(
            "joints",
            "their positions fit as degrees and not as radians",
            f"write their unit: {chain.moved[0].name} [deg]",
        )


def _check_robot(chain: Chain, fit: Solution, poses: Poses) -> None:
    """Refuse poses that another robot must have taken."""
    has_place = np.array([not name for name in poses.touched])
    if np.sum(has_place) < 4:
        return
    spread = float(np.sqrt(np.mean(np.var(poses.place[has_place], axis=0))))
    if fit.noise > ANOTHER * spread:
        remedy = "look for swapped joint columns, other signs or zero positions, another robot or point"
        refuse(
            "poses", f"{fit.noise * 1e3:.3g} mm of {spread * 1e3:.3g} mm remain: the poses are of another robot", remedy
        )


def _told_of(
    chain: Chain, geometry: Geometry, poses: Poses, sought: Sequence[Sought]
) -> tuple[list[Sought], dict[int, Array]]:
    """Numbers that poses tell apart, a turn weighed like the length it moves the tool by."""
    _, p = chain.place(geometry, poses)
    reach = float(np.max(np.linalg.norm(p - p.mean(axis=0), axis=1))) or 1.0
    slopes = _slopes(chain, geometry, poses, sought, (1.0, reach))
    for k, one in enumerate(sought):
        # Joints that carry no moment tell nothing of their compliance, but for rounding and small errors of masses.
        if one.kind == "compliance" and SOFT * np.max(np.abs(slopes[:, k])) < SEEN:
            slopes[:, k] = 0.0
    independent, like = choose_told(slopes)
    return [sought[k] for k in independent], like


def _told_anywhere(chain: Chain, poses: Poses, geometry: Geometry, sought: Sequence[Sought]) -> set[str]:
    """Names of numbers that places at random postures, with random loads, would tell."""
    wide = random_poses(chain, 200, 1, load=5.0)
    if np.any(np.isfinite(poses.turn)):
        wide = replace(wide, turn=np.tile([1.0, 0.0, 0.0, 0.0], (len(wide), 1)))
    own = [one for one in sought if one.kind != "touched"]
    return {one.name for one in _told_of(chain, replace(geometry, points={}, planes={}), wide, own)[0]}


def random_poses(chain: Chain, count: int, seed: int, load: float = 0.0) -> Poses:
    """Postures within the joints' limits, a turn each way and half a metre where there are none."""
    random = np.random.default_rng(seed)
    lower, upper = [], []
    for joint in chain.moved:
        far = 0.5 if joint.kind == "prismatic" else np.pi
        lower.append(-far if joint.lower_limit is None else joint.lower_limit)
        upper.append(far if joint.upper_limit is None else joint.upper_limit)
    q = random.uniform(lower, upper, (count, len(lower)))
    return Poses.at(q, place=np.zeros((count, 3)), load=random.uniform(0.0, load, count))


def _names_of(identifiable: Sequence[Sought], parts: Array) -> tuple[str, ...]:
    """Numbers that a column is made of, but for traces; turns and shifts count alike per m and rad."""
    largest = np.max(np.abs(parts), initial=0.0)
    order = np.argsort(-np.abs(parts))
    return tuple(identifiable[k].name for k in order if largest > 0 and abs(parts[k]) > 0.05 * largest)[:4]


def _changes(chain: Chain, start: Geometry, end: Geometry, identifiable: Sequence[Sought]) -> Array:
    """How far each number is from where it began."""
    shift = np.einsum("jba,jb->ja", start.R, end.p - start.p)
    turn = Rotation.from_matrix(np.swapaxes(start.R, 1, 2) @ end.R).as_rotvec()
    tool = [*(end.tool - start.tool), *Rotation.from_matrix(start.tool_R.T @ end.tool_R).as_rotvec()]
    values = []
    for one in identifiable:
        if one.kind in ("touched", "frame"):
            values.append(np.nan)
        elif one.kind == "tool":
            values.append(tool[one.axis])
        elif one.kind == "compliance":
            values.append(end.compliance[one.joint, one.axis])
        else:
            j, k = one.joint, one.axis
            values.append(chain.basis[j][k % 3] @ (shift[j] if k < 3 else turn[j]))
    return np.array(values)


def _distances(chain: Chain, geometry: Geometry, poses: Poses) -> Array:
    """How far each pose is off [m]."""
    return np.sqrt(np.nansum(residuals(chain, geometry, poses)[0] ** 2, axis=1))


def _summary(what: str, errors: Array) -> PoseErrors:
    return PoseErrors(what, float(np.sqrt(np.mean(errors**2))), float(np.max(errors)), len(errors))


def _doubts(chain: Chain, fit: Solution, poses: Poses, each: Array, proof: Array, elastic: str) -> Sequence[str]:
    """What a reader should know before the numbers are used."""
    doubts = []
    # Squared errors over the variance are chi-squared with a row's number of measured lengths; the variance comes from
    # the median, which a few wrong poses do not move.
    lengths = np.sum(np.isfinite(residuals(chain, fit.geometry, poses)[0]), axis=1)
    squares = each[:, 1] ** 2
    variance = max(float(np.median(squares / chi2.median(lengths))), 1e-24)
    far = np.flatnonzero(chi2.sf(squares / variance, lengths) < UNLIKELY / len(each))
    if 0 < len(far) < 0.2 * len(each):
        rows, worst = ", ".join(str(k + 1) for k in far[:8]), 1e3 * float(np.max(each[far, 1]))
        doubts.append(
            f"poses {rows} do not fit the others (up to {worst:.3g} mm): measure them again or leave them out"
        )
    if all(poses.touched) and not np.any(poses.distance):
        doubts.append(
            "touch points determine the shape but not the size: one length stays as in the file; measure a distance too"
        )
    if elastic == "none" and np.any(poses.load):
        doubts.append("loads have no effect on a rigid arm: use --elastic gears or links")
    if np.any(proof):
        before, after = (float(np.sqrt(np.mean(each[proof, k] ** 2))) for k in (0, 1))
        own = float(np.sqrt(np.mean(each[~proof, 1] ** 2)))
        if after > before:
            doubts.append("held-out poses fit worse than before: measure more poses, or calibrate fewer numbers")
        elif after > 2 * own and after > 0.2 * before:
            doubts.append(
                f"held-out poses are {after / own:.1f} times as far off as fitted poses: more poses would help"
            )
    for k, joint in enumerate(chain.moved):
        span = float(np.ptp(poses.q[:, k]))
        if joint.kind != "prismatic" and span < 0.5:
            doubts.append(
                f"{joint.name} moves by {np.rad2deg(span):.0f} deg only: move it further to separate its neighbours"
            )
    if np.any(fit.geometry.compliance < 0):
        names = [joint.name for joint, c in zip(chain.joints, fit.geometry.compliance, strict=True) if np.any(c < 0)]
        doubts.append(f"{', '.join(names)}: a negative compliance is not physical; loads that differ more would help")
    return doubts


# --------------------------------------------------------------------------------------------------
# Poses that tell most


def plan_poses(
    scenario: Scenario,
    count: int,
    point: str | None = None,
    *,
    candidates: Poses | None = None,
    elastic: str = "none",
    seed: int = 0,
) -> PosePlan:
    """Choose poses whose measured places tell most of the geometry: the least sum of variances (A-optimal).

    Args:
        candidates: postures to choose from, such as those a tracker sees; by default random ones within the limits.
    """
    chain = chain_of(scenario, point, elastic)
    loads = 5.0 if elastic != "none" else 0.0
    offered = random_poses(chain, max(40 * count, 400), seed, loads) if candidates is None else candidates
    offered = replace(offered, touched=("",) * len(offered), place=np.zeros((len(offered), 3)))
    if not 0 < count <= len(offered):
        refuse("plan", f"{count} poses of {len(offered)} candidates", "a number from 1 to the number of candidates")
    geometry = chain.geometry()
    sought = list_sought(chain, offered, elastic, "fitted")
    identifiable, _ = _told_of(chain, geometry, offered, sought)
    if 3 * count < len(identifiable) + 5:
        refuse(
            "plan",
            f"{count} poses cannot identify {len(identifiable)} numbers",
            f"{-(-(len(identifiable) + 5) // 3)} or more",
        )
    J = _slopes(chain, geometry, offered, identifiable, (1.0, 1.0)).reshape(len(offered), 3, len(identifiable))
    J = J / np.sqrt(np.mean(J**2, axis=(0, 1)))
    # D-optimal first, pose by pose: log det(M + J^T J) = log det M + log det(1 + J M^-1 J^T), from a faint M on.
    inverse = 1e6 * np.eye(len(identifiable))
    chosen: list[int] = []
    for _ in range(count):
        gains = np.linalg.slogdet(np.eye(3) + np.einsum("nia,ab,njb->nij", J, inverse, J))[1]
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        inverse = _with_pose(inverse, J[chosen[-1]])
    # Then A-optimal by exchange: each chosen pose in turn gives way to the one that leaves the least sum of variances.
    for k in [*range(count)] * EXCHANGES:
        others = J[[row for row in chosen if row != chosen[k]]].reshape(-1, len(identifiable))
        rest = np.linalg.pinv(others.T @ others)
        inner = np.eye(3) + np.einsum("nia,ab,njb->nij", J, rest, J)
        saved = np.trace(np.linalg.solve(inner, np.einsum("nia,ab,njb->nij", J, rest @ rest, J)), axis1=1, axis2=2)
        saved[[row for row in chosen if row != chosen[k]]] = -np.inf
        chosen[k] = int(np.argmax(saved))
    rows = np.array(chosen)
    others = np.random.default_rng(seed + 1).choice(len(offered), count, replace=False)
    expected = [_expected(chain, geometry, offered.take(k), identifiable) for k in (rows, others)]
    deviations = []
    for kind in KINDS[2:]:
        own = [k for k, one in enumerate(identifiable) if one.kind == kind]
        for unit in sorted({identifiable[k].unit for k in own}):
            same = [k for k in own if identifiable[k].unit == unit]
            pair = [float(np.max(deviation[same])) for deviation in expected]
            deviations.append((kind, pair[0], pair[1], f"{unit}/m"))
    units = tuple("m" if joint.kind == "prismatic" else "rad" for joint in chain.moved)
    names = tuple(joint.name for joint in chain.moved)
    return PosePlan(chain.point.name, names, units, offered.q[rows], tuple(deviations))


def _with_pose(inverse: Array, J: Array) -> Array:
    """The inverse of the information with one pose more (Woodbury)."""
    gain = inverse @ J.T
    return inverse - gain @ np.linalg.solve(np.eye(len(J)) + J @ gain, gain.T)


def _expected(chain: Chain, geometry: Geometry, poses: Poses, identifiable: Sequence[Sought]) -> Array:
    """Deviations of the numbers per deviation of the measured place."""
    J = _slopes(chain, geometry, poses, identifiable, (1.0, 1.0))
    size = np.linalg.norm(J, axis=0)
    return np.sqrt(np.diag(np.linalg.pinv((J / size).T @ (J / size)))) / size
