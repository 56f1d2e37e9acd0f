"""Do two delta robots carry a beam together, and does a grip let go when it is pulled too hard?"""

import numpy as np
import pytest

from robodyn import simulate
from robodyn_studies.catalog.delta_pair import BEAM_MASS, delta_pair
from robodyn_studies.catalog.delta_parameters import GRAVITY

WEIGHT = BEAM_MASS * GRAVITY


@pytest.fixture(scope="module")
def lifted():
    return simulate(delta_pair())


@pytest.fixture(scope="module")
def lost():
    return simulate(delta_pair(grips=(50.0, 3.3), duration=0.5))


def test_each_robot_carries_half_the_beam_at_rest(lifted):
    for robot in ("left", "right"):
        force = lifted[f"{robot}.grip.force.z"].values
        # Force on the platform, downwards; at the start nothing moves, at the end it has settled to 1e-4.
        assert force[0] == pytest.approx(-WEIGHT / 2, rel=1e-6)
        assert force[-1] == pytest.approx(-WEIGHT / 2, rel=1e-4)


def test_the_grips_carry_weight_and_inertia_of_the_beam(lifted):
    """Newton's law of the beam, from the reported forces and the reported acceleration."""
    total = lifted["left.grip.force.z"].values + lifted["right.grip.force.z"].values
    acceleration = lifted["beam.body.z.acceleration"].values
    assert -total == pytest.approx(WEIGHT + BEAM_MASS * acceleration, abs=1e-6)
    assert np.max(acceleration) > 0.5


def test_the_beam_rises_level_and_nothing_is_lost(lifted):
    assert lifted.events == ()
    assert lifted.statistics.extra["constraint_position_error"] < 1e-8
    rise = lifted["beam.body.z.position"].values
    assert rise[-1] - rise[0] > 0.1
    for axis in "xyz":
        # The two robots mirror each other; only rounding turns the beam.
        assert np.max(np.abs(lifted[f"beam.body.turn_{axis}.position"].values)) < 1e-10


def test_a_grip_lets_go_at_its_limit_and_stays_open(lost):
    (event,) = lost.events
    assert event.name == "right.loss"
    pull, active = -lost["right.grip.force.z"].values, lost["right.grip.active"].values
    before, after = lost.time <= event.time, lost.time > event.time
    # Located to the solver's tolerance of 1e-7 or so.
    assert np.max(pull[before]) == pytest.approx(3.3, abs=1e-4)
    assert np.all(pull[after] == 0)
    assert np.all(active[after] == 0)


def test_the_other_grip_takes_what_a_beam_swinging_from_it_leaves(lost):
    """What is gone at once is the load shared with the right; the beam then swings down from the left handle."""
    (event,) = lost.events
    left = -lost["left.grip.force.z"].values
    # A uniform rod let go at one end leaves a quarter of its weight to the other, here and with some acceleration.
    just_after = left[lost.time > event.time][0]
    assert WEIGHT / 4 < just_after < WEIGHT / 2
    apart = [
        lost[f"right.platform.position.{axis}"].final - lost[f"beam.right.position.{axis}"].final for axis in "xyz"
    ]
    assert np.linalg.norm(apart) > 0.1
    held = [lost[f"left.platform.position.{axis}"].final - lost[f"beam.left.position.{axis}"].final for axis in "xyz"]
    assert np.linalg.norm(held) < 1e-8
    assert lost["beam.body.turn_y.position"].final > 0.2


def test_losing_a_grip_takes_no_energy(lost):
    assert lost.statistics.energy_error < 1e-6
