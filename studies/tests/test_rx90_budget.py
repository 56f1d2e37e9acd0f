"""Of what does the deviation of the weld consist, and does it add up?"""

import numpy as np
import pytest

from robodyn.analysis import split_deviation
from robodyn_studies.catalog import rx90_weld

SIGNALS = ("deviation.horizontal", "deviation.vertical")


@pytest.fixture(scope="module")
def weld():
    """The elastic robot with a payload that its controller does not know of."""
    return split_deviation(rx90_weld(elastic=True, payload=2.0), SIGNALS, along="path.s")


def largest(found, pattern, signal="deviation.vertical"):
    grouped = found.grouped({"group": [pattern]})
    return np.max(np.abs(grouped.part("group", signal)))


def test_the_remainder_is_small(weld):
    # The goal of the budget: 5 %. Squares of deviations of a fifth of a millimetre are far below it.
    assert weld.remainder_share < 0.05
    # A fixed-step method is linear on linear equations: rounding is left.
    assert weld.interaction_share < 1e-7


def test_every_cause_has_its_part(weld):
    names = [part.name for part in weld.parts]
    places = [*(f"joint{k}.friction" for k in range(1, 7)), "wrist.friction"]
    assert [name for name in names if name.endswith(".friction")] == places
    for block in ("encoder", "feed_forward", "velocity_loop", "current_loop"):
        assert sum(name.endswith(f".{block}") for name in names) == 6
    assert names[-4:] == ["sampling and delay", "elasticity", "payload.mass", "dynamics not fed forward"]


def test_limits_are_not_reached_and_counts_of_the_encoders_are_below_a_micrometre(weld):
    assert largest(weld, "*.velocity_loop") < 1e-12
    assert largest(weld, "*.current_loop") < 1e-12
    assert 0 < largest(weld, "*.encoder") < 1e-6


def test_friction_of_the_joint_that_turns_back_counts_most_there(weld):
    """Joints 2 and 3 turn back halfway, 0.6 m along the line: the jump of the deviation is theirs."""
    way = weld.places
    turning = (way > 0.59) & (way < 0.65)
    sizes = {
        part.name: np.max(np.abs(weld.part(part.name, "deviation.horizontal")[turning]))
        for part in weld.parts
        if part.name.endswith(".friction")
    }
    assert max(sizes, key=sizes.get) == "joint3.friction"
    assert sizes["joint3.friction"] > 10 * sizes["joint1.friction"]


def test_compensation_takes_most_of_the_friction_away(weld):
    grouped = weld.grouped({"net": ["*.friction", "*.feed_forward"]})
    friction = weld.part("joint3.friction", "deviation.horizontal")
    assert np.max(np.abs(grouped.part("net", "deviation.horizontal"))) < 0.5 * np.max(np.abs(friction))


def test_an_elastic_robot_sags_more_than_anything_else_and_its_payload_counts(weld):
    assert largest(weld, "elasticity") > 2 * largest(weld, "payload.mass") > 20e-6
