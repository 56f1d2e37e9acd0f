"""3-D geometry of a machine: which of it can be drawn? Bodies, joints, points, struts, obstacles, closed loops.

Descriptions leave out what is at its default and may come from other versions of the program, so everything is
looked up with care: what cannot be drawn is answered with a sentence, not with an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.computation.results import Run
from robodyn.presentation.reporting.space import find_followed_path

from .meshes import MeshStore

# Shapes of flexible bodies: their nodes, how they move with the modes, and the lines between them.

Plain = dict[str, Any]
# Digits kept of shapes: far finer than a pixel, and half as long in the page.
_DIGITS = 9


def read_shape(body: Plain) -> Plain | None:
    """A body's nodes and edges for the page; None for a rigid one.

    Each node has its place at rest and, for a unit of each mode, displacement (n, 3) and rotation (n, 3), and the
    second derivative of its place (n, n, 3), None where bending does not shorten. A body without edges is drawn as
    lines from where it is clamped, one more node, to all the others.
    """
    nodes = body.get("nodes")
    if not nodes:
        return None
    count = len(body["modal_mass"])
    names = [str(node["name"]) for node in nodes]
    message: list[Plain] = []
    for node in nodes:
        shapes = {key: _rounded(node[key]) for key in ("position", "shift", "turn")}
        bend = node.get("shortening") or None
        message.append(shapes | {"bend": _rounded(bend) if _any(bend) else None})
    edges = [[names.index(start), names.index(end)] for start, end in body.get("edges") or []]
    if not edges:
        message.append({"position": [0.0] * 3, "shift": [[0.0] * 3] * count, "turn": [[0.0] * 3] * count, "bend": None})
        edges = [[len(nodes), k] for k in range(len(nodes))]
    modes = [f"{body['name']}.mode{k + 1}.position" for k in range(count)]
    return {"modes": modes, "names": names, "nodes": message, "edges": edges}


def find_carrier(shape: Plain | None, part: Plain) -> Plain:
    """{"node": number of the node that carries a joint or point}; nothing on a rigid body."""
    if shape is None:
        return {}
    if part.get("node") is not None:
        return {"node": shape["names"].index(part["node"])}
    origin = part.get("origin", (0.0, 0.0, 0.0))
    places = [node["position"] for node in shape["nodes"][: len(shape["names"])]]
    return {"node": min(range(len(places)), key=lambda k: math.dist(places[k], origin))}


def is_inner(shape: Plain | None, point: Plain, joints: Sequence[Plain]) -> bool:
    """Whether a point only names a node between others or under a joint, or the clamped one: the drawing shows it."""
    if shape is None or not str(point["name"]).startswith(f"{point['body']}."):
        return False
    k = find_carrier(shape, point)["node"]
    if point["name"] != f"{point['body']}.{shape['names'][k]}":
        return False
    node = shape["nodes"][k]
    moves = _any(node["shift"]) or _any(node["turn"])
    carries = any(joint["parent"] == point["body"] and joint.get("node") == k for joint in joints)
    return not moves or carries or sum(k in edge for edge in shape["edges"]) > 1


def _any(values: Any) -> bool:
    return any(_any(value) for value in values) if isinstance(values, Sequence) else bool(values)


def _rounded(values: Any) -> Any:
    if isinstance(values, Sequence):
        return [_rounded(value) for value in values]
    return float(f"{float(values):.{_DIGITS}g}")


# Inertia ellipsoids: which homogeneous ellipsoid has a body's mass and inertia?
#
# I_1 = m/5 (b^2 + c^2),  ...   so   a^2 = 5/(2 m) (I_2 + I_3 - I_1)


def read_ellipsoid(mass: float, entries: list[float]) -> Plain | None:
    """Half lengths [m] and the axes they lie along, as columns of a rotation in the body's frame; None without inertia.

    Args:
        entries: xx, yy, zz, xy, xz, yz about the centre of mass [kg m^2].
    """
    xx, yy, zz, xy, xz, yz = entries
    if mass <= 0 or not any(entries):
        return None
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.linalg.det(axes) < 0:
        axes = -axes
    # An inertia that no real body can have leaves less than nothing along an axis: drawn flat.
    squares = np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0)
    return {"axes": np.sqrt(squares).tolist(), "rotation": axes.tolist()}


# Looks of bodies: what is drawn where descriptions say so? Plain values for the page's script.

_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_SIZES = ("size", "radius", "length")


def read_looks(body: Plain, meshes: MeshStore) -> tuple[list[Plain], list[str]]:
    """Looks of a body's description, and a sentence for each that cannot be drawn."""
    looks, sentences = [], []
    for look in body.get("looks") or []:
        try:
            looks.append(_look(look, meshes))
        except (OSError, ValueError) as error:
            sentences.append(
                f"the visual '{look['name']}' of '{body['name']}' cannot be drawn: {look['file']}: {error}"
            )
    return looks, sentences


def _look(look: Plain, meshes: MeshStore) -> Plain:
    kind = str(look["type"]).removesuffix("Look").lower()
    plain: Plain = {"kind": kind, "origin": _triple(look.get("origin", _ORIGIN)), "colour": look.get("colour")}
    plain["rotation"] = [_triple(row) for row in look.get("rotation", _IDENTITY)]
    plain |= {"collision": True} if look.get("collision") else {}
    plain |= {key: look[key] for key in _SIZES if key in look}
    if kind == "mesh":
        plain["meshes"] = meshes.find(str(look["file"]), _triple(look.get("scale", (1.0, 1.0, 1.0))))
    return plain


# Contact geometry in 3-D: the balls, boxes and planes of a machine's contacts, as shapes on its points.

_UP = (0.0, 0.0, 1.0)
_SIDES = ("touching", "against")


def read_surfaces(machine: Plain, points: list[str]) -> list[Plain]:
    """Each surface once, on its named point; balls without a radius are points and drawn as such."""
    contacts = machine.get("contacts") or []
    surfaces = [_surface(contact[side]) for contact in contacts for side in _SIDES]
    shown = [surface for surface in surfaces if surface is not None and surface["point"] in points]
    return [surface for k, surface in enumerate(shown) if surface not in shown[:k]]


def _surface(shape: Plain) -> Plain | None:
    kind, point = shape["type"], {"point": str(shape["point"])}
    if kind == "Plane":
        return {"kind": "plane", **point, "normal": _triple(shape.get("normal", _UP))}
    if kind == "Box":
        rotation = [_triple(row) for row in shape.get("rotation", _IDENTITY)]
        return {"kind": "box", **point, "size": _triple(shape["size"]), "rotation": rotation}
    radius = float(shape.get("radius", 0.0))
    return {"kind": "ball", **point, "radius": radius} if kind == "Ball" and radius > 0 else None


# Loop closures in pages: which constraints are kept while joints are moved by hand, and by which equations?

_Z_AXIS = (0.0, 0.0, 1.0)


def read_closures(description: Plain, machine: Plain) -> tuple[list[Plain], list[str]]:
    """Constraints for the page's script, and the names of those that it does not keep; inactive ones are neither."""
    points = {point["name"] for point in machine["points"]}
    joints = {joint["name"] for joint in machine["joints"] if joint["kind"] not in ("ball", "fixed")}
    closures, not_drawn = [], []
    for constraint in description["machine"].get("constraints") or []:
        if not constraint.get("active", True):
            continue
        closure = _closure(constraint, points, joints)
        if closure is None:
            not_drawn.append(str(constraint["name"]))
        else:
            closures.append(closure)
    return closures, not_drawn


def _closure(constraint: Plain, points: set[str], joints: set[str]) -> Plain | None:
    kind = constraint["type"]
    if kind == "LoopJoint" and {constraint["first"], constraint["second"]} <= points:
        axis = constraint.get("axis", _Z_AXIS)
        return {
            "kind": str(constraint.get("kind", "spherical")),
            "ends": [str(constraint["first"]), str(constraint["second"])],
            "axes": [list(axis), list(constraint.get("second_axis") or axis)],
            "rotation": [list(row) for row in constraint.get("rotation", _IDENTITY)],
        }
    if kind == "Rod" and {constraint["start"], constraint["end"]} <= points:
        ends = [str(constraint["start"]), str(constraint["end"])]
        return {"kind": "rod", "ends": ends, "length": float(constraint["length"])}
    if kind == "LinearConstraint" and constraint["of"].keys() <= joints:
        weights = {str(name): float(weight) for name, weight in constraint["of"].items()}
        return {"kind": "linear", "of": weights, "offset": float(constraint.get("offset", 0.0))}
    return None


# 3-D geometry of a machine: which of it can be drawn? Bodies, joints, points, struts and obstacles.
#
# Descriptions leave out what is at its default and may come from other versions of the program, so everything is
# looked up with care: what cannot be drawn is answered with a sentence, not with an error.

GROUND = "ground"
_AXES = ("x", "y", "z")
_TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
_X_AXIS = (1.0, 0.0, 0.0)
_STANDARD_GRAVITY = (0.0, 0.0, -9.81)
_DRAWN_KINDS = ("revolute", "prismatic", "screw", "ball", "fixed")
_QUATERNION = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}


def read_machine(run: Run, meshes: MeshStore | None = None) -> tuple[Plain | None, str]:
    """The drawable geometry of a run's machine, or None and the sentence that says why there is none."""
    machine, note = read_geometry(run.provenance.description, run.provenance.parameters, meshes or MeshStore())
    if machine is None:
        return None, note
    return (None, problem) if (problem := _missing(machine, run)) else (machine, "")


def read_path(run: Run, machine: Plain | None) -> Plain | None:
    """The path that a drawn point should follow, by arc length, and the signals of its place on it and its distance.

    None where the run measures no deviation from a path, or the point is not drawn.
    """
    followed = find_followed_path(run)
    points = [point["name"] for point in machine["points"]] if machine else []
    if followed is None or followed.point not in points:
        return None
    table = {key: _rounded(followed.law[key]) for key in ("knots", "place", "tangent")}
    return {"point": followed.point, "way": followed.way, "distance": followed.distance, **table}


def read_geometry(description: Plain, numbers: Plain, meshes: MeshStore) -> tuple[Plain | None, str]:
    """The drawable geometry of a scenario's description, or None and the sentence that says why there is none."""
    mechanism = find_mechanism(description)
    if mechanism is None:
        return None, "There is no description of a mechanism, so there is nothing to draw in 3-D."
    try:
        machine = _geometry(mechanism, description, numbers, meshes)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return None, f"The mechanism's description cannot be drawn ({type(error).__name__}: {error})."
    return (None, problem) if (problem := _problem(machine)) else (machine, "")


def drawn_positions(machine: Plain) -> dict[str, float]:
    """Signals by which a machine is drawn, each with what it is where nothing moves."""
    positions: dict[str, float] = {}
    for joint in machine["joints"]:
        if joint["kind"] == "ball":
            positions |= {f"{joint['name']}.orientation.{part}": value for part, value in _QUATERNION.items()}
        elif joint["kind"] != "fixed":
            positions[f"{joint['name']}.position"] = 0.0
    return positions | {mode: 0.0 for body in machine["bodies"] for mode in body.get("shape", {}).get("modes", ())}


def find_mechanism(description: Plain) -> Plain | None:
    """The mechanism a scenario's description holds, if it holds one."""
    machine = description.get("machine")
    mechanism = machine.get("mechanism") if isinstance(machine, dict) else None
    return mechanism if isinstance(mechanism, dict) else None


def _geometry(mechanism: Plain, description: Plain, numbers: Plain, meshes: MeshStore) -> Plain:
    gravity = zip(_AXES, _triple(mechanism.get("gravity", _STANDARD_GRAVITY)), strict=True)
    bodies = [_body(body, numbers, meshes) for body in mechanism["bodies"]]
    shapes = {body["name"]: body.get("shape") for body in bodies}
    joints = _ordered([part for joint in mechanism["joints"] for part in _joint(joint, shapes, numbers)])
    points: list[Plain] = []
    for point in mechanism.get("points", []):
        name, body = str(point["name"]), str(point["body"])
        carrier = find_carrier(shapes.get(body), point)
        inner = {"inner": True} if is_inner(shapes.get(body), point, joints) else {}
        points.append({"name": name, "body": body, "origin": _vector(point, "origin", numbers)} | carrier | inner)
    return {
        "name": str(mechanism.get("name", "")),
        "gravity": [_number(numbers, f"gravity.{axis}", entry) for axis, entry in gravity],
        "bodies": bodies,
        "joints": joints,
        "points": points,
        "struts": _struts(description, mechanism, numbers),
        "surfaces": read_surfaces(description["machine"], [point["name"] for point in points]),
        "obstacles": [
            {"name": str(box.get("name", "")), "center": _triple(box["center"]), "size": _triple(box["size"])}
            for box in description.get("obstacles") or []
        ],
    }


def _body(body: Plain, numbers: Plain, meshes: MeshStore) -> Plain:
    """A rigid body by its mass, centre of mass, inertia and looks, one that deforms with its shape."""
    shape, name = read_shape(body), str(body["name"])
    message: Plain = {"name": name, "com": _vector(body, "com", numbers)}
    if shape is not None:
        return message | {"shape": shape}
    mass = _number(numbers, f"{name}.mass", body.get("mass", 0.0))
    inertia = zip(_TENSOR, body.get("inertia") or [0.0] * 6, strict=True)
    ellipsoid = read_ellipsoid(mass, [_number(numbers, f"{name}.inertia.{key}", entry) for key, entry in inertia])
    looks, undrawn = read_looks(body, meshes)
    parts = {"mass": mass, "ellipsoid": ellipsoid, "looks": looks, "undrawn": undrawn}
    return message | {key: part for key, part in parts.items() if part}


def _joint(joint: Plain, shapes: Plain, numbers: Plain) -> list[Plain]:
    """The elementary motions that a joint is made of, each carried by the one before it."""
    first, second, third = joint.get("rotation", _IDENTITY)
    rotation = [_triple(row) for row in (first, second, third)]
    names = {key: str(joint[key]) for key in ("name", "kind", "parent", "child")}
    place = {"origin": _vector(joint, "origin", numbers), "rotation": rotation}
    carrier = find_carrier(shapes.get(names["parent"]), joint)
    # Name, kind and axis of each.
    described = joint.get("motions") or [[names["name"], names["kind"], joint.get("axis", _Z_AXIS)]]
    motions = [(str(name), str(kind), _triple(axis)) for name, kind, axis in described]
    between = [f"{names['child']} {k}" for k in range(1, len(motions))]
    pitch = _number(numbers, f"{names['name']}.pitch", joint.get("pitch", 0.0))
    axes = []
    for (name, kind, axis), parent, child in zip(
        motions, [names["parent"], *between], [*between, names["child"]], strict=True
    ):
        # Slides of a body that moves freely stand for no guides.
        plain = {"name": name, "kind": kind, "parent": parent, "child": child, "axis": axis, "pitch": pitch}
        axes.append(plain | place | carrier | ({"bare": True} if names["kind"] in ("free", "planar") else {}))
        place, carrier = {"origin": list(_ORIGIN), "rotation": [list(row) for row in _IDENTITY]}, {}
    return axes


def _struts(description: Plain, mechanism: Plain, numbers: Plain) -> list[Plain]:
    """Struts that forces act along and whose place is known: distances of points, cylinders beside a hinge."""
    parts = description["machine"].get("coordinates") or []
    points = {str(point["name"]) for point in mechanism.get("points", [])}
    joints = {str(joint["name"]) for joint in mechanism["joints"]}
    distances, triangles = [], []
    for part in parts:
        if part.get("type") == "Distance" and {str(part["start"]), str(part["end"])} <= points:
            distances.append(_strut(part) | {"start": str(part["start"]), "end": str(part["end"])})
        elif part.get("type") == "TriangleLength" and part.get("at"):
            strut = _triangle(part, numbers)
            triangles += [strut] if strut["at"] in points and strut["of"].keys() <= joints else []
    return distances + triangles


def _triangle(part: Plain, numbers: Plain) -> Plain:
    """A cylinder between two arms of a hinge: side b on the fixed arm, side a on the arm rotated by the joints."""
    name, (a, b) = part["name"], part["sides"]
    return _strut(part) | {
        "at": str(part["at"]),
        "of": {str(joint): float(weight) for joint, weight in part["of"].items()},
        "sides": [_number(numbers, f"{name}.sides.a", a), _number(numbers, f"{name}.sides.b", b)],
        "offset": _number(numbers, f"{name}.offset", part.get("offset", 0.0)),
        "arm": _triple(part.get("arm", _X_AXIS)),
        "axis": _triple(part.get("axis", _Z_AXIS)),
    }


def _strut(part: Plain) -> Plain:
    """Name and stroke, shortest to longest [m]; no stroke if the description has none."""
    limits = part.get("range")
    return {"name": str(part["name"]), "range": None if limits is None else [float(limits[0]), float(limits[1])]}


def _triple(values: Any) -> list[float]:
    x, y, z = values
    return [float(x), float(y), float(z)]


def _vector(part: Plain, key: str, numbers: Plain) -> list[float]:
    """A vector as the run used it: a parameter of that name stands above the description."""
    entries = zip(_AXES, _triple(part.get(key, _ORIGIN)), strict=True)
    return [_number(numbers, f"{part['name']}.{key}.{axis}", entry) for axis, entry in entries]


def _number(numbers: Plain, name: str, described: Any) -> float:
    return float(numbers.get(name, {}).get("value", described))


def _ordered(joints: list[Plain]) -> list[Plain]:
    """Parents before children."""
    reached, ordered, waiting = {GROUND}, [], list(joints)
    while waiting:
        joint = next((joint for joint in waiting if joint["parent"] in reached), None)
        if joint is None:
            raise ValueError(f"joint {waiting[0]['name']!r} never reaches the ground")
        waiting.remove(joint)
        ordered.append(joint)
        reached.add(joint["child"])
    return ordered


def _problem(machine: Plain) -> str:
    """Why a geometry cannot be drawn, or nothing."""
    strange = sorted({joint["kind"] for joint in machine["joints"]} - set(_DRAWN_KINDS))
    if strange:
        return f"Joints of the kind {', '.join(strange)} cannot be drawn yet."
    reached = {GROUND, *(joint["child"] for joint in machine["joints"])}
    loose = [point["name"] for point in machine["points"] if point["body"] not in reached]
    if loose:
        return f"The points {', '.join(loose)} are not on any body of the mechanism, so it cannot be drawn."
    return ""


def _missing(machine: Plain, run: Run) -> str:
    """Why a geometry cannot follow the run, or nothing."""
    positions = drawn_positions(machine)
    missing = dict.fromkeys(name.partition(".orientation.")[0] for name in positions if name not in run)
    if missing:
        names = ", ".join(name.removesuffix(".position") for name in missing)
        return f"The position of {names} was not recorded, so the machine cannot be drawn."
    return "" if positions and run.time.size else "No joint of the mechanism moves in this recording."
