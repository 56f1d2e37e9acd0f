"""Does a link that is made flexible keep its rigid inertia, and are structures refused that would not fit into it?"""

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.description.model import Body
from robodyn.description.structures import Reduction, Section, beam, match_inertia

LENGTH = 0.5
TUBE = Section.tube(radius=0.05, thickness=0.004, young=7e10, shear=2.7e10, density=2700.0)
LINK = Body("link", 12.0, (0.15, 0.01, 0.03), (0.10, 0.45, 0.46, 0.002, -0.02, 0.001))


def test_a_flexible_link_has_the_inertia_of_the_rigid_one_and_the_modes_of_the_structure():
    structure = beam("tube", LENGTH, TUBE)
    link = match_inertia(structure, LINK)

    assert (link.name, link.mass, link.com, link.inertia) == (LINK.name, LINK.mass, LINK.com, LINK.inertia)
    assert link.modal_mass == structure.modal_mass
    assert link.modal_inertia == structure.modal_inertia
    assert link.modes[0].name == "link.mode1"


def test_a_structure_heavier_than_the_link_is_refused():
    with pytest.raises(ModelError, match="the structure has 1.6286 kg, the link 1 kg"):
        match_inertia(beam("tube", LENGTH, TUBE), Body("link", 1.0, (0.25, 0, 0), (0.02, 0.02, 0.02)))


def test_a_structure_longer_than_the_link_s_inertia_allows_is_refused():
    """Light enough, but the link's mass is all near its joint: what is left would have negative moments."""
    stub = Body("link", 12.0, (0.01, 0, 0), (0.01, 0.01, 0.01))
    with pytest.raises(ModelError, match="could not be made of masses"):
        match_inertia(beam("tube", LENGTH, TUBE), stub)


def test_a_link_that_is_the_structure_itself_is_accepted():
    structure = beam("tube", LENGTH, TUBE)
    alone = Body("link", structure.mass, structure.com, structure.inertia)
    assert match_inertia(structure, alone).inertia == structure.inertia


def test_a_round_tube_bends_along_its_axes():
    """Any plane is as good: the modes of equal frequency are turned into those of the axes."""
    tip = np.array(beam("tube", LENGTH, TUBE, Reduction(modes=1)).node("tip").shift)
    moving = np.abs(tip) > 1e-9
    assert np.all(moving.sum(axis=1) <= 1)
    assert moving.any(axis=0).all()
