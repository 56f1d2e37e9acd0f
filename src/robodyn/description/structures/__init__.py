"""Finite elements of beams: flexible bodies from beams, frames of beams and given modal data."""

from robodyn.description.structures.bodies import beam, frame, modal_body
from robodyn.description.structures.elements import Element
from robodyn.description.structures.matching import match_inertia
from robodyn.description.structures.particles import Particles
from robodyn.description.structures.reduction import DIRECTIONS, Reduction
from robodyn.description.structures.sections import Section

__all__ = ["DIRECTIONS", "Element", "Particles", "Reduction", "Section", "beam", "frame", "match_inertia", "modal_body"]
