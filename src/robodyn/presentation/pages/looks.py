"""Looks of bodies: what is drawn where descriptions say so? Plain values for the page's script."""

from typing import Any

from .mesh_store import MeshStore

Plain = dict[str, Any]
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_SIZES = ("size", "radius", "length")


def read_looks(body: Plain, meshes: MeshStore) -> tuple[list[Plain], list[str]]:
    """Looks of a body's description, and a sentence for each that cannot be drawn."""
    found, sentences = [], []
    for look in body.get("looks") or []:
        try:
            found.append(_look(look, meshes))
        except (OSError, ValueError) as error:
            sentences.append(f"the look '{look['name']}' of '{body['name']}' is not drawn: {look['file']}: {error}")
    return found, sentences


def _look(look: Plain, meshes: MeshStore) -> Plain:
    kind = str(look["type"]).removesuffix("Look").lower()
    plain: Plain = {"kind": kind, "origin": _floats(look.get("origin", _ORIGIN)), "colour": look.get("colour")}
    plain["rotation"] = [_floats(row) for row in look.get("rotation", _IDENTITY)]
    plain |= {"collision": True} if look.get("collision") else {}
    plain |= {key: look[key] for key in _SIZES if key in look}
    if kind == "mesh":
        plain["meshes"] = meshes.find(str(look["file"]), _floats(look.get("scale", (1.0, 1.0, 1.0))))
    return plain


def _floats(values: Any) -> list[float]:
    x, y, z = values
    return [float(x), float(y), float(z)]
