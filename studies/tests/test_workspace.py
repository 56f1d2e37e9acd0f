"""Effective masses are compared with the published modelling study of the EPAAS robot.

The study prints neither strokes nor the place of its 4 kg load. Ours: 50 mm to both sides, which gives its range of L3;
and 0.2 m from the wrist along the gripper, which gives its effective masses of L1.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.epaas_arm import ACTUATORS, CENTRED, LENGTHS, epaas_system

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.description.catalog import two_link_loop
from robodyn_studies.force_components import effective_inertia_along
from robodyn_studies.kinetics import workspace_boundary

LOAD_AT = 0.2


@cache
def masses(loaded, moved):
    """Smallest and largest effective mass of each actuator around the boundary."""
    system = epaas_system(LOAD_AT if loaded else None)
    boundary = workspace_boundary(system, "wrist", moved, n_samples=9)
    found = effective_inertia_along(system, boundary.q.reshape(-1, 5), ACTUATORS)
    return {name: (low, high) for name, low, high in zip(ACTUATORS, found.min(axis=0), found.max(axis=0), strict=True)}


def test_boundary_is_four_trajectories_that_meet_at_the_corners():
    found = workspace_boundary(epaas_system(), "wrist", ("L3", "L4"), n_samples=5)

    assert found.names == ("L3", "L4", "L1", "L2", "vane")
    corners = found.coordinates[:, 0, :2] - [CENTRED["L3"], CENTRED["L4"]]
    np.testing.assert_allclose(corners, 0.05 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), atol=1e-15)
    for before, after in zip(found.q, np.roll(found.q, -1, axis=0), strict=True):
        np.testing.assert_allclose(before[-1], after[0], atol=1e-9)


def test_wrist_lies_where_the_two_arms_put_it():
    found = workspace_boundary(epaas_system(), "wrist", ("L3", "L4"), n_samples=5)
    alpha, beta = found.q[..., 1], found.q[..., 1] + found.q[..., 2]

    upper, lower = LENGTHS[1:3]
    np.testing.assert_allclose(found.r, np.abs(upper * np.cos(alpha) + lower * np.cos(beta)), atol=1e-12)
    np.testing.assert_allclose(found.z, upper * np.sin(alpha) + lower * np.sin(beta), atol=1e-12)


# Printed with two digits.
@pytest.mark.parametrize(("loaded", "figures"), [(False, (19.0, 38.0)), (True, (48.0, 96.0))])
def test_effective_mass_of_the_shoulder_cylinder_is_the_published_one(loaded, figures):
    np.testing.assert_allclose(masses(loaded, ("L3", "L4"))["L3"], figures, rtol=0.025)


def test_effective_inertia_of_the_vane_is_about_the_published_one():
    # The published boundary is cut to a rectangle in (r, z): it ends before ours does, on both sides.
    low, high = masses(False, ("L3", "L4"))["vane"]

    np.testing.assert_allclose((low, high), (0.18, 0.33), rtol=0.08)
    assert low < 0.18 < 0.33 < high


@pytest.mark.parametrize(("loaded", "figures"), [(False, (1.3, 2.7)), (True, (33.0, 68.0))])
def test_effective_mass_of_the_wrist_cylinder_along_its_stroke_is_about_the_published_one(loaded, figures):
    # The study's stroke of L1 is not printed; a wrist that turns by 45 degrees to both sides needs 49 to 52 mm.
    np.testing.assert_allclose(masses(loaded, ("L1", "L2"))["L1"], figures, rtol=0.08)


@pytest.mark.parametrize(("loaded", "smallest"), [(False, 14.0), (True, 64.0)])
def test_smallest_effective_mass_of_the_elbow_cylinder_is_the_published_one(loaded, smallest):
    assert masses(loaded, ("L3", "L4"))["L4"][0] == pytest.approx(smallest, rel=0.045)


def test_load_does_not_change_the_elbow_cylinders_ratio_of_masses():
    # Its lever alone changes along the boundary. The published ratios, 2.7 and 1.7 with load, cannot both be right.
    bare, loaded = (np.divide(*masses(load, ("L3", "L4"))["L4"][::-1]) for load in (False, True))

    assert loaded == pytest.approx(bare, rel=0.03)


def test_joints_without_a_coordinate_are_held_themselves():
    system = assemble(two_link_loop())
    ranges = {"shoulder": (0.1, 0.5), "elbow": (-1.0, -0.2)}

    found = workspace_boundary(system, "tool", ("shoulder", "elbow"), ranges=ranges, n_samples=3)

    assert found.names == ("shoulder", "elbow")
    np.testing.assert_allclose(found.q, found.coordinates, atol=1e-12)


def test_joint_that_no_cylinder_moves_is_held_beside_the_other_cylinders():
    system = epaas_system()
    machine = system.scenario.machine
    cylinders = tuple(c for c in machine.coordinates if c.name != "vane")
    bare = assemble(replace(system.scenario, machine=replace(machine, coordinates=cylinders)))

    found = workspace_boundary(bare, "wrist", ("L3", "L4"), n_samples=2)

    assert found.names == ("L3", "L4", "L1", "L2", "axis1")


def test_ranges_given_take_the_place_of_those_described():
    ranges = {"L3": (0.25, 0.26), "L4": (0.18, 0.19)}

    found = workspace_boundary(epaas_system(), "wrist", ("L3", "L4"), ranges=ranges, n_samples=2)

    np.testing.assert_allclose(found.coordinates[:, 0, 0], [0.25, 0.26, 0.26, 0.25])


def test_unknown_names_and_missing_ranges_are_told_at_once():
    with pytest.raises(ModelError) as message:
        workspace_boundary(epaas_system(), "wirst", ("axis2", "L5"), ranges={"L1": (0.1, 0.2)})

    text = str(message.value)
    assert "points.wirst: there is no such point (did you mean 'wrist'?)" in text
    assert "ranges.axis2: is missing" in text
    assert "coordinates.L5: there is no such joint or coordinate" in text
    assert "ranges.L1: has no effect" in text


def test_end_of_a_range_beyond_reach_is_told():
    ranges = {"L4": (0.12, 0.30)}

    with pytest.raises(ModelError, match="coordinates.L4: 0.3 is out of reach"):
        workspace_boundary(epaas_system(), "wrist", ("L3", "L4"), ranges=ranges, n_samples=3)
