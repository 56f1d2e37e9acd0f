"""Looks of bodies: what is drawn where descriptions say so? Plain values for the page's script."""

from typing import Any

from .meshes import read_mesh

Plain = dict[str, Any]
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_SIZES = ("size", "radius", "length")


def read_looks(body: Plain) -> tuple[list[Plain], list[str]]:
    """Looks of a body's description, and a sentence for each that cannot be drawn."""
    found, sentences = [], []
    for look in body.get("looks") or []:
        try:
            found.append(_look(look))
        except (OSError, ValueError) as error:
            sentences.append(f"the look '{look['name']}' of '{body['name']}' is not drawn: {look['file']}: {error}")
    return found, sentences


def _look(look: Plain) -> Plain:
    kind = str(look["type"]).removesuffix("Look").lower()
    plain: Plain = {"kind": kind, "origin": _floats(look.get("origin", _ORIGIN)), "colour": look.get("colour")}
    plain["rotation"] = [_floats(row) for row in look.get("rotation", _IDENTITY)]
    plain |= {key: look[key] for key in _SIZES if key in look}
    if kind == "mesh":
        plain["vertices"], plain["faces"] = read_mesh(str(look["file"]), _floats(look.get("scale", (1.0, 1.0, 1.0))))
    return plain


def _floats(values: Any) -> list[float]:
    x, y, z = values
    return [float(x), float(y), float(z)]
