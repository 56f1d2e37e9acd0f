"""Finite elements of beams: flexible bodies from beams, frames of beams and given modal data."""

from robodyn.description.structures.beams import Element, Section
from robodyn.description.structures.bodies import (
    DIRECTIONS,
    Particles,
    Reduction,
    beam,
    frame,
    match_inertia,
    modal_body,
)

__all__ = ["DIRECTIONS", "Element", "Particles", "Reduction", "Section", "beam", "frame", "match_inertia", "modal_body"]
