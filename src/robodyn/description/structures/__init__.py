"""Finite elements of beams: flexible bodies from beams, frames of beams and given modal data."""

from robodyn.base import imported_names

from .beams import Element, Section
from .bodies import (
    DIRECTIONS,
    Particles,
    Reduction,
    beam,
    frame,
    match_inertia,
    modal_body,
)

__all__ = imported_names(__name__)
