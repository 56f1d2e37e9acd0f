"""Shapes of flexible bodies: their nodes, how they move with the modes, and the lines between them."""

import math
from collections.abc import Sequence
from typing import Any

Plain = dict[str, Any]
# Digits kept of shapes: far finer than a pixel, and half as long in the page.
_DIGITS = 7


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
    message = [_node(node) for node in nodes]
    edges = [[names.index(start), names.index(end)] for start, end in body.get("edges") or []]
    if not edges:
        message.append({"position": [0.0] * 3, "shift": [[0.0] * 3] * count, "turn": [[0.0] * 3] * count, "bend": None})
        edges = [[len(nodes), k] for k in range(len(nodes))]
    modes = [f"{body['name']}.mode{k + 1}.position" for k in range(count)]
    return {"modes": modes, "names": names, "nodes": message, "edges": edges}


def _node(node: Plain) -> Plain:
    bend = node.get("shortening") or None
    shapes = {key: _rounded(node[key]) for key in ("shift", "turn")}
    return {"position": _rounded(node["position"]), **shapes, "bend": _rounded(bend) if _any(bend) else None}


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
    moves, carries = _any(node["shift"]) or _any(node["turn"]), _carries(point["body"], k, joints)
    return not moves or carries or sum(k in edge for edge in shape["edges"]) > 1


def _carries(body: str, node: int, joints: Sequence[Plain]) -> bool:
    return any(joint["parent"] == body and joint.get("node") == node for joint in joints)


def _any(values: Any) -> bool:
    return any(_any(value) for value in values) if isinstance(values, Sequence) else bool(values)


def _rounded(values: Any) -> Any:
    if isinstance(values, Sequence):
        return [_rounded(value) for value in values]
    return float(f"{float(values):.{_DIGITS}g}")
