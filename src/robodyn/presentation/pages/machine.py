"""3-D geometry of a machine: which of it can be drawn? Bodies, joints, points, struts and obstacles.

Descriptions leave out what is at its default and may come from other versions of the program, so everything is
looked up with care: what cannot be drawn is answered with a sentence, not with an error.
"""

from typing import Any

from robodyn.computation.results import Run

from .deforming import find_carrier, is_inner, read_shape
from .ellipsoids import read_ellipsoid
from .looks import read_looks
from .mesh_store import MeshStore
from .surfaces import read_surfaces

Plain = dict[str, Any]
GROUND = "ground"
_AXES = ("x", "y", "z")
_TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_X_AXIS = (1.0, 0.0, 0.0)
_Z_AXIS = (0.0, 0.0, 1.0)
_STANDARD_GRAVITY = (0.0, 0.0, -9.81)
_DRAWN_KINDS = ("revolute", "prismatic", "screw", "ball", "fixed")


def read_machine(run: Run, meshes: MeshStore | None = None) -> tuple[Plain | None, str]:
    """The drawable geometry of a run's machine, or None and the sentence that says why there is none."""
    machine, note = read_geometry(run.provenance.description, run.provenance.parameters, meshes or MeshStore())
    if machine is None:
        return None, note
    return (None, problem) if (problem := _missing(machine, run)) else (machine, "")


def read_geometry(description: Plain, numbers: Plain, meshes: MeshStore) -> tuple[Plain | None, str]:
    """The drawable geometry of a scenario's description, or None and the sentence that says why there is none."""
    mechanism = find_mechanism(description)
    if mechanism is None:
        return None, "There is no description of a mechanism, so there is nothing to draw in space."
    try:
        machine = _geometry(mechanism, description, numbers, meshes)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return None, f"The mechanism's description cannot be drawn ({type(error).__name__}: {error})."
    return (None, problem) if (problem := _problem(machine)) else (machine, "")


def find_mechanism(description: Plain) -> Plain | None:
    """The mechanism a scenario's description holds, if it holds one."""
    machine = description.get("machine")
    found = machine.get("mechanism") if isinstance(machine, dict) else None
    return found if isinstance(found, dict) else None


def _geometry(mechanism: Plain, description: Plain, numbers: Plain, meshes: MeshStore) -> Plain:
    gravity = zip(_AXES, _triple(mechanism.get("gravity", _STANDARD_GRAVITY)), strict=True)
    bodies = [_body(body, numbers, meshes) for body in mechanism["bodies"]]
    shapes = {body["name"]: body.get("shape") for body in bodies}
    joints = _ordered([part for joint in mechanism["joints"] for part in _joint(joint, shapes, numbers)])
    points = [_point(point, shapes, joints, numbers) for point in mechanism.get("points", [])]
    return {
        "name": str(mechanism.get("name", "")),
        "gravity": [_number(numbers, f"gravity.{axis}", entry) for axis, entry in gravity],
        "bodies": bodies,
        "joints": joints,
        "points": points,
        "struts": _struts(description, mechanism, numbers),
        "surfaces": read_surfaces(description["machine"], [point["name"] for point in points]),
        "obstacles": [_obstacle(box) for box in description.get("obstacles") or []],
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
    motions = _motions(joint, names["name"], names["kind"])
    between = [f"{names['child']} {k}" for k in range(1, len(motions))]
    pitch = _number(numbers, f"{names['name']}.pitch", joint.get("pitch", 0.0))
    found = []
    for (name, kind, axis), parent, child in zip(
        motions, [names["parent"], *between], [*between, names["child"]], strict=True
    ):
        # Slides of a body that moves freely stand for no guides.
        plain = {"name": name, "kind": kind, "parent": parent, "child": child, "axis": axis, "pitch": pitch}
        found.append(plain | place | carrier | ({"bare": True} if names["kind"] in ("free", "planar") else {}))
        place, carrier = {"origin": list(_ORIGIN), "rotation": [list(row) for row in _IDENTITY]}, {}
    return found


def _motions(joint: Plain, name: str, kind: str) -> list[tuple[str, str, list[float]]]:
    """Name, kind and axis of each."""
    given = joint.get("motions") or [[name, kind, joint.get("axis", _Z_AXIS)]]
    return [(str(own), str(motion), _triple(axis)) for own, motion, axis in given]


def _point(point: Plain, shapes: Plain, joints: list[Plain], numbers: Plain) -> Plain:
    shape = shapes.get(str(point["body"]))
    message = {"name": str(point["name"]), "body": str(point["body"]), "origin": _vector(point, "origin", numbers)}
    return message | find_carrier(shape, point) | ({"inner": True} if is_inner(shape, point, joints) else {})


def _obstacle(box: Plain) -> Plain:
    return {"name": str(box.get("name", "")), "center": _triple(box["center"]), "size": _triple(box["size"])}


def _struts(description: Plain, mechanism: Plain, numbers: Plain) -> list[Plain]:
    """What forces act along and whose place is known: distances of points, cylinders beside a hinge."""
    parts = description["machine"].get("coordinates") or []
    points = {str(point["name"]) for point in mechanism.get("points", [])}
    distances = [_distance(part) for part in parts if part.get("type") == "Distance"]
    triangles = [_triangle(part, numbers) for part in parts if part.get("type") == "TriangleLength" and part.get("at")]
    joints = {str(joint["name"]) for joint in mechanism["joints"]}
    return [strut for strut in distances if {strut["start"], strut["end"]} <= points] + [
        strut for strut in triangles if strut["at"] in points and strut["of"].keys() <= joints
    ]


def _distance(part: Plain) -> Plain:
    return _strut(part) | {"start": str(part["start"]), "end": str(part["end"])}


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
        return f"The points {', '.join(loose)} are on no body of the mechanism, so it cannot be drawn."
    return ""


def _missing(machine: Plain, run: Run) -> str:
    """Why a geometry cannot follow the run, or nothing."""
    moving = [joint["name"] for joint in machine["joints"] if joint["kind"] != "fixed"]
    moving += [name.removesuffix(".position") for body in machine["bodies"] for name in _modes(body)]
    balls = {joint["name"] for joint in machine["joints"] if joint["kind"] == "ball"}
    missing = [name for name in moving if f"{name}.{'orientation.w' if name in balls else 'position'}" not in run]
    if missing:
        return f"The position of {', '.join(missing)} was not recorded, so the machine cannot be drawn."
    return "" if moving and run.time.size else "Nothing of the mechanism moves in this record."


def _modes(body: Plain) -> list[str]:
    shape = body.get("shape")
    return [] if shape is None else shape["modes"]
