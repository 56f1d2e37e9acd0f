"""Finite elements of beams: flexible bodies from beams, frames of beams and given modal data."""

from robodyn.structures.bodies import beam, frame, modal_body
from robodyn.structures.elements import Element
from robodyn.structures.matching import match_inertia
from robodyn.structures.particles import Particles
from robodyn.structures.reduction import DIRECTIONS, Reduction
from robodyn.structures.sections import Section

__all__ = ["DIRECTIONS", "Element", "Particles", "Reduction", "Section", "beam", "frame", "match_inertia", "modal_body"]
