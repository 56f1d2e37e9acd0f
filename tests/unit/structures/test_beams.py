"""Are beams and frames as stiff and as heavy as their closed forms say?"""

import numpy as np
import pytest

from robodyn import GROUND, Joint, Machine, Mechanism, Scenario, simulate
from robodyn.base.errors import ModelError
from robodyn.description.structures import Element, Particles, Reduction, Section, beam, frame, modal_body

SECTION = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-9, 2.0e-9, 1.7e-9)
LENGTH = 2.0
FLAT = ("y", "rz")


def give(body, node, direction, force=1.0, turn=False):
    """Static displacement of a node along a direction under a force there, from the body's modes."""
    place = body.node(node)
    shape = np.array(place.turn if turn else place.shift) @ np.asarray(direction, float)
    return force * np.sum(shape**2 / np.array(body.modal_stiffness))


def test_cantilever_has_the_frequencies_of_the_closed_form():
    body = beam("arm", LENGTH, SECTION, Reduction(modes=3, directions=FLAT))

    roots = np.array([1.875104069, 4.694091133])
    mass = SECTION.density * SECTION.area
    expected = roots**2 * np.sqrt(SECTION.young * SECTION.iz / mass / LENGTH**4) / (2 * np.pi)

    # Three fixed-interface modes and the motions of the tip; eight cubic elements.
    assert body.frequencies[0] == pytest.approx(expected[0], rel=1e-4)
    assert body.frequencies[1] == pytest.approx(expected[1], rel=1e-3)


def test_frequencies_come_down_to_the_closed_form_as_modes_are_added():
    expected = 1.875104069**2 * np.sqrt(SECTION.young * SECTION.iz / 2.7 / LENGTH**4) / (2 * np.pi)
    found = [beam("arm", LENGTH, SECTION, Reduction(modes=n, directions=FLAT)).frequencies[0] for n in range(4)]

    assert found == sorted(found, reverse=True)
    # Rayleigh: never below the closed form, but for the inertia of turning slices, which it leaves out.
    assert all(value > expected * (1 - 1e-5) for value in found)


@pytest.mark.parametrize("shear_area", [None, 5.0e-4])
def test_tip_deflection_is_that_of_a_bent_and_sheared_beam(shear_area):
    section = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-7, 2.0e-7, 1.7e-7, shear_area)
    body = beam("arm", 0.3, section, Reduction(modes=0), elements=3)

    sheared = 0.3 / (2.7e10 * shear_area) if shear_area else 0.0

    # Constraint modes hold static deflections exactly, whatever the number of elements.
    assert give(body, "tip", (0, 1, 0)) == pytest.approx(0.3**3 / (3 * 7.0e10 * 2.0e-7) + sheared, rel=1e-9)
    assert give(body, "tip", (0, 0, 1)) == pytest.approx(0.3**3 / (3 * 7.0e10 * 1.0e-7) + sheared, rel=1e-9)
    assert give(body, "tip", (1, 0, 0)) == pytest.approx(0.3 / (7.0e10 * 1.0e-3), rel=1e-9)
    assert give(body, "tip", (1, 0, 0), turn=True) == pytest.approx(0.3 / (2.7e10 * 1.7e-7), rel=1e-9)


def test_bent_frame_deflects_by_bending_of_both_legs_and_twist_of_the_first():
    a, b = 0.8, 0.5
    nodes = {"root": (0, 0, 0), "corner": (a, 0, 0), "tip": (a, b, 0)}
    legs = [Element("root", "corner", SECTION, 3), Element("corner", "tip", SECTION, 2)]
    body = frame("bracket", nodes, legs, Reduction(modes=2))

    bending = (a**3 + b**3) / (3 * SECTION.young * SECTION.iy)
    twist = b**2 * a / (SECTION.shear * SECTION.torsion)

    assert give(body, "tip", (0, 0, 1)) == pytest.approx(bending + twist, rel=1e-9)
    assert body.mass == pytest.approx(2.7 * (a + b))
    assert ("root", "root_corner1") in body.edges


def test_rest_inertia_is_that_of_a_rod():
    body = beam("arm", LENGTH, SECTION)
    mass = 2.7 * LENGTH

    assert body.mass == pytest.approx(mass)
    assert body.com == pytest.approx((LENGTH / 2, 0, 0))
    assert body.inertia[1] == pytest.approx(mass * LENGTH**2 / 12 + 2700 * SECTION.iy * LENGTH)


def test_modal_data_of_lumped_masses_give_the_beam_again():
    exact = beam("arm", LENGTH, SECTION, Reduction(modes=1, directions=FLAT), elements=40)
    shapes = np.array([node.shift for node in exact.nodes])
    places = np.array([node.position for node in exact.nodes])
    weights = np.where((places[:, 0] == 0) | (places[:, 0] == LENGTH), 0.5, 1.0) * 2.7 * LENGTH / 40
    mixed = np.array([[1.0, 0.3, 0.2], [0.0, 1.0, -0.4], [0.1, 0.0, 1.0]])
    stiffness = mixed.T @ np.diag(exact.modal_stiffness) @ mixed
    particles = Particles.lumped(weights, places, np.einsum("pix,ij->pjx", shapes, mixed))
    tip = exact.node("tip")
    nodes = {"tip": (tip.position, mixed.T @ np.array(tip.shift), mixed.T @ np.array(tip.turn))}

    found = modal_body("arm", particles, stiffness, nodes)

    # Lumps miss the mass between them, and the most of it in the highest mode, a mere shape of the tip's turn.
    np.testing.assert_allclose(found.frequencies, exact.frequencies, rtol=0.01)
    assert give(found, "tip", (0, 1, 0)) == pytest.approx(give(exact, "tip", (0, 1, 0)), rel=1e-9)


def test_modes_beyond_a_frequency_are_left_out():
    full = beam("arm", LENGTH, SECTION, Reduction(modes=4))
    limit = float(full.frequencies[4]) + 0.1
    assert len(beam("arm", LENGTH, SECTION, Reduction(modes=4, highest=limit)).frequencies) == 5


def test_everything_wrong_with_a_frame_is_told_at_once():
    along = Element("root", "tip", SECTION, up=(1, 0, 0))
    elements = [Element("root", "hand", SECTION), Element("root", "root", SECTION), along]
    with pytest.raises(ModelError) as error:
        frame("arm", {"root": (0, 0, 0), "tip": (1, 0, 0)}, elements, Reduction(interfaces=("top",)))

    for part in ("'hand'", "no length", "along the element", "'top'"):
        assert part in str(error.value)


def test_everything_wrong_with_an_element_is_told_at_once():
    with pytest.raises(ModelError) as error:
        Element("root", "tip", 3.0, 0, up=(0, 0, 0))
    for part in ("section: must be a Section", "parts: must be a whole number of at least 1", "up: must not be zero"):
        assert part in str(error.value)


def test_a_beam_of_rigidities_is_that_of_its_sizes():
    measured = Section.of_rigidities(7.0e7, 70.0, 140.0, 45.9, 2.7, 1.35e7)
    sized = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-9, 2.0e-9, 1.7e-9, 5.0e-4)
    found, expected = beam("arm", LENGTH, measured), beam("arm", LENGTH, sized)

    np.testing.assert_allclose(found.frequencies, expected.frequencies, rtol=1e-9)
    assert found.mass == pytest.approx(expected.mass)


@pytest.mark.parametrize(
    ("make", "sizes", "part"),
    [
        (Section.tube, (0.01, 0.02, 7e10, 2.7e10, 2700.0), "thickness: 0.02 m is more than the outer radius"),
        (Section.tube, (-0.02, -0.01, 7e10, 2.7e10, 2700.0), "radius: must be positive"),
        (Section.rectangle, (-0.02, -0.01, 7e10, 2.7e10, 2700.0), "height: must be positive"),
        (Section.rod, (0.01, 7e10, 0.0, 2700.0), "shear: must be positive"),
    ],
)
def test_impossible_sections_are_refused(make, sizes, part):
    with pytest.raises(ModelError, match=part):
        make(*sizes)


def test_more_modes_than_there_are_and_none_at_all_are_refused():
    with pytest.raises(ModelError, match="5 are requested with the interfaces held, the structure has 2"):
        beam("arm", LENGTH, SECTION, Reduction(modes=5, directions=FLAT), elements=2)
    with pytest.raises(ModelError, match="none is left"):
        beam("arm", LENGTH, SECTION, Reduction(modes=2, highest=0.001))


def test_parts_of_a_frame_that_float_are_refused():
    nodes = {"root": (0, 0, 0), "tip": (1, 0, 0), "here": (2, 0, 0), "there": (3, 0, 0)}
    elements = [Element("root", "tip", SECTION), Element("here", "there", SECTION)]
    with pytest.raises(ModelError, match="nodes.there: no elements lead from it to 'root'"):
        frame("arm", nodes, elements, Reduction(modes=0))


def test_a_reduction_wants_modes_or_a_frequency_and_known_directions():
    with pytest.raises(ModelError) as error:
        Reduction(modes=2, frequency=10.0, directions=("y", "zz", "y"))

    assert "either modes or frequency" in str(error.value)
    assert "'y' appears twice" in str(error.value)
    assert "'zz'" in str(error.value)


def test_modes_that_move_the_place_of_the_joint_are_refused():
    particles = Particles.lumped([1, 1], [(0, 0, 0), (1, 0, 0)], [[(0, 0, 0)], [(0, 1, 0)]])
    with pytest.raises(ModelError, match=r"nodes\.root: moves in the modes"):
        modal_body("m", particles, [100.0], {"root": ((0, 0, 0), [(0, 1, 0)], [(0, 0, 1)])})
    modal_body("m", particles, [100.0], {"root": ((0, 0, 0), [(0, 0, 0)], [(0, 0, 0)])})


def test_a_limp_body_and_an_interface_named_twice_are_refused():
    with pytest.raises(ModelError, match="stiffness: must be positive"):
        beam("b", 1.0, SECTION, Reduction(modes=1), stiffness=0.0)
    with pytest.raises(ModelError, match="'tip' appears twice"):
        beam("b", 1.0, SECTION, Reduction(modes=1, interfaces=("tip", "tip")))


def test_nodes_of_modal_data_shorten_with_its_particles():
    """Modes of a stiffening beam, mixed, with a particle at each of its nodes: the same motion of both."""
    exact = beam("arm", LENGTH, SECTION, Reduction(modes=1, directions=FLAT, stiffening=True), elements=8)
    n, random = len(exact.frequencies), np.random.default_rng(3)
    mixed = np.eye(n) + 0.3 * random.normal(size=(n, n))
    shift, turn = (np.array([mixed.T @ getattr(node, key) for node in exact.nodes]) for key in ("shift", "turn"))
    bend = np.array([np.einsum("abx,ai,bj->ijx", node.shortening, mixed, mixed) for node in exact.nodes])
    places = np.array([node.position for node in exact.nodes])
    mass = np.full(len(places), 0.3)
    particles = Particles(mass, places, np.zeros((len(places), 3, 3)), shift, turn, bend)
    stiffness = mixed.T @ np.diag(exact.modal_stiffness) @ mixed
    nodes = {
        node.name: (places[k], shift[k], turn[k], bend[k]) for k, node in enumerate(exact.nodes) if node.name != "root"
    }
    body = modal_body("arm", particles, stiffness, nodes)
    joint = Joint("foot", "fixed", GROUND, "arm")
    pull = 7.0
    mechanism = Mechanism("arm", (body,), (joint,), body.points(), gravity=(-pull, 0, 0))
    bent = {f"arm.mode{k + 1}.position": 0.05 / (k + 1) for k in range(n)}
    run = simulate(Scenario("bent", Machine("arm", mechanism), 0.01, bent))
    # The potential energy of the particles says how far they stand out on average: the nodes stand there too.
    outside = [run[f"arm.{name}.position.x"](0.0) for name in nodes]
    assert run["energy.potential"](0.0) == pytest.approx(0.3 * pull * sum(outside), rel=1e-12)
    assert outside[-1] < LENGTH - 1e-4


def test_nodes_that_do_not_say_how_they_shorten_are_refused():
    gamma = np.zeros((1, 1, 1, 3))
    gamma[0, 0, 0, 0] = -1.0
    one, still = np.array([[[0, 1.0, 0]]]), np.zeros((1, 1, 3))
    particles = Particles(np.array([1.0]), np.array([[1.0, 0, 0]]), np.zeros((1, 3, 3)), one, still, gamma)
    with pytest.raises(ModelError, match=r"nodes.tip: has 3 parts.*shortening"):
        modal_body("b", particles, [100.0], {"tip": ((1.0, 0, 0), one[0], still[0])})
    with pytest.raises(ModelError, match=r"nodes.tip.shortening: must be of shape \(1, 1, 3\)"):
        modal_body("b", particles, [100.0], {"tip": ((1.0, 0, 0), one[0], still[0], still[0])})
