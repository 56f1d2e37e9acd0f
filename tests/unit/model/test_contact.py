"""Do contacts check themselves, name their numbers and move with their machine?"""

import math

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.base.spatial import Pose, from_rpy
from robodyn.description.model import (
    GROUND,
    Ball,
    Body,
    Box,
    Contact,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    RigidContact,
    combine,
    describe,
)
from robodyn.description.model.contact import ContactPair

TIP, FLOOR = Ball("tip", 0.1), Plane("floor")
SOFT = {"law": "kelvin_voigt", "parameters": {"stiffness": 1e4}}


def flaws_of(make, *arguments, **named):
    with pytest.raises(ModelError) as caught:
        make("touch", *arguments, **named)
    return [flaw.path for flaw in caught.value.flaws]


def machine(contact):
    body = Body("ball", 1.0)
    points = (Point("tip", "ball"), Point("floor", GROUND, (0.0, 0.0, 1.0)))
    joint = Joint("height", "prismatic", GROUND, "ball")
    return Machine("ball", Mechanism("ball", (body,), (joint,), points), contacts=(contact,))


def test_every_flaw_of_a_contact_is_told_with_its_place():
    wrong = {"stiffness": -1.0, "softness": 2.0}
    paths = flaws_of(Contact, TIP, FLOOR, law="kelvin_voigt", parameters=wrong, friction="bristle")
    assert set(paths) == {"parameters.stiffness", "parameters.softness", "friction"}
    assert flaws_of(Contact, TIP, FLOOR, law="hunt_crossley") == ["parameters.stiffness"]
    assert flaws_of(Contact, FLOOR, TIP, **SOFT) == ["touching", "against"]
    assert flaws_of(Contact, TIP, Plane("tip"), **SOFT) == ["against.point"]
    assert flaws_of(Contact, TIP, FLOOR, law="spring", parameters={"stiffness": 1.0, "position": 0.0, "velocity": 0.0})
    assert flaws_of(Contact, TIP, FLOOR, **SOFT, friction_parameters={"coefficient": 1.0}) == ["friction_parameters"]
    assert flaws_of(RigidContact, TIP, FLOOR, 1.5, -1.0) == ["restitution", "rest_speed"]


def test_friction_of_a_rigid_contact_has_a_coefficient():
    assert flaws_of(RigidContact, TIP, FLOOR, friction=lambda slip1, slip2, normal: {}) == ["friction"]


def test_an_elastic_part_of_one_would_never_slip_and_is_refused():
    rough = {"coefficient": 0.5, "stiffness": 1e5, "elastic": 1.0}
    named = {"friction": "bristle_friction", "friction_parameters": rough}
    assert flaws_of(Contact, TIP, FLOOR, **SOFT, **named) == ["friction_parameters.elastic"]


@pytest.mark.parametrize(
    ("shape", "fields"),
    [(Ball, {"radius": -1.0}), (Box, {"size": (1, 0, 1)}), (Plane, {"normal": (0, 0, 0)})],
)
def test_a_shape_without_extent_is_refused(shape, fields):
    with pytest.raises(ModelError):
        shape("tip", **fields)


def test_points_must_be_there():
    with pytest.raises(ModelError, match=r"contacts.touch.against.point: there is no point 'flor'.*'floor'"):
        machine(Contact("touch", TIP, Plane("flor"), **SOFT))


def test_numbers_have_names_and_units_and_change():
    rough = {"friction": "sliding_friction", "friction_parameters": {"coefficient": 0.3, "smoothing_velocity": 0.1}}
    contact = Contact("touch", TIP, Box("floor", (1, 2, 3)), **SOFT, **rough)
    numbers = {number.name: (number.value, number.unit) for number in contact.numbers()}
    assert numbers["touch.radius"] == (0.1, "m")
    assert numbers["touch.against.size.y"] == (2.0, "m")
    assert numbers["touch.stiffness"] == (1e4, "N/m")
    assert numbers["touch.damping"] == (0.0, "N s/m")
    assert numbers["touch.friction.coefficient"] == (0.3, "")
    changed = (
        machine(contact).with_numbers({"touch.against.size.y": 5.0, "touch.friction.coefficient": 0.4}).contacts[0]
    )
    assert changed.against.size == (1.0, 5.0, 3.0)
    assert changed.friction_parameters["coefficient"] == 0.4
    with pytest.raises(ModelError, match="parameters.stiffness: must be positive"):
        contact.with_numbers({"touch.stiffness": 0.0})


def test_a_contact_is_described_by_what_was_said():
    said = describe(RigidContact("touch", TIP, FLOOR, 0.5))
    assert said["touching"] == {"type": "Ball", "point": "tip", "radius": 0.1}
    assert "rest_speed" not in said


def test_surfaces_on_the_ground_turn_with_their_machine():
    R = np.asarray(from_rpy(0.0, math.pi / 2, 0.0))
    both = combine(
        "both",
        {"left": machine(Contact("touch", TIP, FLOOR, **SOFT)), "right": machine(RigidContact("touch", TIP, FLOOR))},
        places={"right": Pose(R, np.array([1.0, 0.0, 0.0]))},
    )
    left, right = both.contacts
    assert left.name == "left.touch"
    assert left.points == ("left.tip", "left.floor")
    np.testing.assert_allclose(right.against.normal, R @ [0, 0, 1], atol=1e-12)


def test_what_both_kinds_of_contacts_are_is_no_contact_itself():
    with pytest.raises(TypeError, match="abstract"):
        ContactPair("touch", Ball("tip"), Plane("floor"))
