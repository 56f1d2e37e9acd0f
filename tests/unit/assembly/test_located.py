"""Are outputs that laws want located watched, and their sides found at the start and at each crossing?"""

import pytest
from support.machines import cart

from robodyn import ModelError, Solver, assemble, simulate
from robodyn.description.laws import law
from robodyn.description.model import Block


@law(position="m", force="N", above="m", side="", located={"above": "side"})
def step_up(position, side):
    """A force that changes where a place is passed."""
    return {"force": 3.0 * side, "above": position - 0.1}


@law(position="m", force="N", side="", located={"beyond": "side"})
def lost(position, side):
    """It locates what it does not return."""
    return {"force": side * position}


UP = Block("up", step_up, on="rail")


def test_a_side_is_found_at_the_start_and_changes_where_zero_is_passed():
    run = simulate(cart(UP, initial={"rail.velocity": 1.0}, duration=0.3, mass=2.0), Solver("rk4", step=0.01))
    # Below, -3 N on 2 kg: 0.1 = t - 0.75 t^2.
    passing = (1 - (1 - 0.3) ** 0.5) / 1.5
    assert [event.name for event in run.events] == ["up.above"]
    assert run.events[0].time == pytest.approx(passing, abs=1e-12)
    assert run["up.side"](0.0) == -1
    assert run["up.side"](0.3) == 1
    after = 0.3 - passing
    # Constant forces on both sides: a method of fourth order makes no error.
    assert run.final["rail.velocity"] == pytest.approx(1 - 1.5 * passing + 1.5 * after, abs=1e-12)


def test_a_side_and_friction_that_sticks_are_both_found_at_the_start():
    stick = Block("stick", "stick_friction", on="rail", parameters={"coulomb": 1.0, "static": 5.0})
    run = simulate(cart(UP, stick, initial={"rail.position": 0.05}, duration=0.1))
    assert run["up.side"](0.0) == -1
    assert run["stick.direction"](0.1) == 0
    assert run.final["rail.position"] == 0.05


def test_a_law_that_locates_what_it_does_not_return_is_told():
    with pytest.raises(ModelError, match="locates 'beyond', which it does not return"):
        assemble(cart(Block("gone", lost, on="rail")))


def test_a_side_cannot_be_sampled_nor_given():
    with pytest.raises(ModelError, match="what it locates is continuous"):
        Block("up", step_up, on="rail", period=1e-3)
    with pytest.raises(ModelError, match="is found at the start"):
        Block("up", step_up, on="rail", memory={"side": 1.0})
