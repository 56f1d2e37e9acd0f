"""Which geometry of a run's machine can be drawn? Joints, points, struts and obstacles, told in full.

Descriptions leave out what is at its default and may come from other versions of the program, so everything is
looked up with care: what cannot be drawn is answered with a sentence, not with an error.
"""

from typing import Any

from robodyn.results import Run

Plain = dict[str, Any]
GROUND = "ground"
_AXES = ("x", "y", "z")
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_Z_AXIS = (0.0, 0.0, 1.0)
_STANDARD_GRAVITY = (0.0, 0.0, -9.81)
_DRAWN_KINDS = ("revolute", "prismatic", "fixed")


def read_machine(run: Run) -> tuple[Plain | None, str]:
    """The drawable geometry, or None and the sentence that says why there is none."""
    description = run.provenance.description
    mechanism = find_mechanism(description)
    if mechanism is None:
        return None, "This run has no description of a mechanism, so there is nothing to draw in space."
    try:
        machine = _geometry(mechanism, description, run.provenance.parameters)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return None, f"The mechanism's description cannot be drawn ({type(error).__name__}: {error})."
    return (None, problem) if (problem := _problem(machine, run)) else (machine, "")


def find_mechanism(description: Plain) -> Plain | None:
    """The mechanism a scenario's description holds, if it holds one."""
    machine = description.get("machine")
    found = machine.get("mechanism") if isinstance(machine, dict) else None
    return found if isinstance(found, dict) else None


def _geometry(mechanism: Plain, description: Plain, numbers: Plain) -> Plain:
    gravity = [_number(numbers, f"gravity.{a}", g) for a, g in zip(_AXES, _gravity(mechanism), strict=True)]
    return {
        "name": str(mechanism.get("name", "")),
        "gravity": gravity,
        "bodies": [{"name": b["name"], "com": _vector(b, "com", numbers)} for b in mechanism["bodies"]],
        "joints": _ordered([_joint(joint, numbers) for joint in mechanism["joints"]]),
        "points": [_point(point, numbers) for point in mechanism.get("points", [])],
        "struts": _struts(description),
        "obstacles": [_obstacle(box) for box in description.get("obstacles") or []],
    }


def _gravity(mechanism: Plain) -> Any:
    return mechanism.get("gravity", _STANDARD_GRAVITY)


def _joint(joint: Plain, numbers: Plain) -> Plain:
    rotation = [[float(entry) for entry in row] for row in joint.get("rotation", _IDENTITY)]
    names = {key: str(joint[key]) for key in ("name", "kind", "parent", "child")}
    axis = [float(entry) for entry in joint.get("axis", _Z_AXIS)]
    return names | {"origin": _vector(joint, "origin", numbers), "rotation": rotation, "axis": axis}


def _point(point: Plain, numbers: Plain) -> Plain:
    return {"name": point["name"], "body": point["body"], "origin": _vector(point, "origin", numbers)}


def _obstacle(box: Plain) -> Plain:
    center, size = ([float(entry) for entry in box[key]] for key in ("center", "size"))
    return {"name": str(box.get("name", "")), "center": center, "size": size}


def _struts(description: Plain) -> list[Plain]:
    """The distances between points that forces act along: springs, cylinders."""
    machine = description.get("machine")
    coordinates = machine.get("coordinates", []) if isinstance(machine, dict) else []
    return [{"start": c["start"], "end": c["end"]} for c in coordinates if c.get("type") == "Distance"]


def _vector(part: Plain, key: str, numbers: Plain) -> list[float]:
    """A vector as the run used it: a parameter of that name stands above the description."""
    entries = zip(_AXES, part.get(key, _ORIGIN), strict=True)
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


def _problem(machine: Plain, run: Run) -> str:
    """Why a geometry cannot follow the run, or nothing."""
    strange = sorted({joint["kind"] for joint in machine["joints"]} - set(_DRAWN_KINDS))
    if strange:
        return f"Joints of the kind {', '.join(strange)} cannot be drawn yet."
    moving = [joint["name"] for joint in machine["joints"] if joint["kind"] != "fixed"]
    missing = [name for name in moving if f"{name}.position" not in run]
    if missing:
        return f"The position of {', '.join(missing)} was not recorded, so the machine cannot be drawn."
    return "" if moving and run.time.size else "Nothing of the mechanism moves in this record."
