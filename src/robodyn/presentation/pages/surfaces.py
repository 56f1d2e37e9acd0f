"""Contact geometry in 3-D: the balls, boxes and planes of a machine's contacts, as shapes on its points."""

from typing import Any

Plain = dict[str, Any]
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_UP = (0.0, 0.0, 1.0)
_SIDES = ("touching", "against")


def read_surfaces(machine: Plain, points: list[str]) -> list[Plain]:
    """Each surface once, on its named point; balls without a radius are points and drawn as such."""
    contacts = machine.get("contacts") or []
    found = [_surface(contact[side]) for contact in contacts for side in _SIDES]
    shown = [surface for surface in found if surface is not None and surface["point"] in points]
    return [surface for k, surface in enumerate(shown) if surface not in shown[:k]]


def _surface(shape: Plain) -> Plain | None:
    kind, point = shape["type"], {"point": str(shape["point"])}
    if kind == "Plane":
        return {"kind": "plane", **point, "normal": _floats(shape.get("normal", _UP))}
    if kind == "Box":
        rotation = [_floats(row) for row in shape.get("rotation", _IDENTITY)]
        return {"kind": "box", **point, "size": _floats(shape["size"]), "rotation": rotation}
    radius = float(shape.get("radius", 0.0))
    return {"kind": "ball", **point, "radius": radius} if kind == "Ball" and radius > 0 else None


def _floats(values: Any) -> list[float]:
    x, y, z = values
    return [float(x), float(y), float(z)]
