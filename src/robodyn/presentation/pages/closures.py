"""Loop closures in pages: which constraints are kept while joints are moved by hand, and by which equations?"""

from typing import Any

Plain = dict[str, Any]
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_Z_AXIS = (0.0, 0.0, 1.0)


def read_closures(description: Plain, machine: Plain) -> tuple[list[Plain], list[str]]:
    """Constraints for the page's script, and the names of those that it does not keep; inactive ones are neither."""
    points = {point["name"] for point in machine["points"]}
    joints = {joint["name"] for joint in machine["joints"] if joint["kind"] not in ("ball", "fixed")}
    kept, left = [], []
    for constraint in description["machine"].get("constraints") or []:
        if not constraint.get("active", True):
            continue
        closure = _closure(constraint, points, joints)
        if closure is None:
            left.append(str(constraint["name"]))
        else:
            kept.append(closure)
    return kept, left


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
