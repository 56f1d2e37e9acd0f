"""Does a gear with play touch, push and let go when the closed forms say so, and keep its energy?

Two masses on rails, joined by teeth with play: their distance s moves like one mass mu = m1 m2 / (m1 + m2).
"""

import dataclasses

import numpy as np
import pytest
from support.linkages import crank_rocker

from robodyn import ConstraintMethod, Solver, assemble, law, simulate
from robodyn.base.errors import ModelError
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    FunctionCoordinate,
    Joint,
    LinearCombination,
    Machine,
    Mechanism,
    Recording,
    Scenario,
)

FIRST, SECOND, GAP, STIFFNESS, SPEED = 2.0, 3.0, 0.01, 8e4, 0.2
REDUCED = FIRST * SECOND / (FIRST + SECOND)
OMEGA = np.sqrt(STIFFNESS / REDUCED)
# Located to the solver's accuracy: rtol 1e-9 on times of about 0.1 s.
SHARP = Solver("dopri5", rtol=1e-9, atol=1e-12)


def play(gap=GAP, damping=0.0, duration=0.2, **fields):
    joints = [Joint(name, "prismatic", GROUND, f"{name}_mass", axis=(1, 0, 0)) for name in ("first", "second")]
    bodies = (Body("first_mass", FIRST), Body("second_mass", SECOND))
    mechanism = Mechanism("pair", bodies, joints, gravity=(0, 0, 0))
    gear = Block(
        "gear", "backlash_gear", on="twist", parameters={"stiffness": STIFFNESS, "gap": gap, "damping": damping}
    )
    machine = Machine("pair", mechanism, (gear,), (LinearCombination("twist", {"first": 1.0, "second": -1.0}),))
    return Scenario("pair", machine, duration, {"first.velocity": SPEED}, **fields)


def contacts(run):
    return [event.time for event in run.events]


def test_without_damping_flanks_touch_and_part_at_the_times_of_a_free_flight_and_half_a_swing():
    run = simulate(play(), SHARP)
    flight, swing = GAP / SPEED, np.pi / OMEGA
    first = 0.5 * flight
    expected = [first, first + swing, first + swing + flight, first + 2 * swing + flight]
    np.testing.assert_allclose(contacts(run)[:4], expected, atol=1e-9)
    assert [event.name for event in run.events[:4]] == ["gear.upper", "gear.upper", "gear.lower", "gear.lower"]


def test_with_damping_a_flank_parts_when_its_force_is_gone_and_never_pulls():
    """m e'' + d e' + k e = 0 from e = 0: the force vanishes at tan(wd t) = 2 z sqrt(1 - z^2) / (2 z^2 - 1)."""
    z = 0.1
    run = simulate(play(damping=2 * z * np.sqrt(STIFFNESS * REDUCED)), SHARP)
    root = np.sqrt(1 - z * z)
    lasting = (np.pi - np.arctan(2 * z * root / (1 - 2 * z * z))) / (OMEGA * root)
    touch, part = contacts(run)[:2]
    assert touch == pytest.approx(0.5 * GAP / SPEED, abs=1e-9)
    assert part - touch == pytest.approx(lasting, abs=1e-9)
    pushes = run["gear.force"].values * np.sign(run["twist.position"].values)
    # Just before it parts, the force is the rounding error of its root.
    assert pushes.max() < 1e-9


def test_the_side_of_a_flank_cannot_be_given():
    with pytest.raises(ModelError, match="initial.gear.upper_side: is found at the start"):
        simulate(dataclasses.replace(play(), initial={"gear.upper_side": 1.0}))


def test_energy_is_kept_by_elastic_teeth():
    run = simulate(play(duration=1.0), SHARP, recording=Recording(rate=2000.0))
    depth = np.maximum(np.abs(run["twist.position"].values) - GAP / 2, 0.0)
    energy = run["energy.kinetic"].values + 0.5 * STIFFNESS * depth**2
    # Twenty impacts at rtol 1e-9.
    np.testing.assert_allclose(energy, 0.5 * FIRST * SPEED**2, rtol=1e-7)


def test_steps_end_at_the_flanks_so_that_a_fixed_step_method_keeps_its_order():
    def final(step):
        scenario = play(duration=0.1)
        return simulate(scenario, Solver("rk4", step=step))["first.position"].values[-1]

    errors = [abs(final(step) - final(1.25e-4)) for step in (1e-3, 5e-4)]
    # Fourth order gives 16; a kink inside the steps would leave 2 to 4. The reference's own error lowers it a little.
    assert errors[0] / errors[1] > 10


def test_without_a_gap_it_is_a_spring_and_damper():
    run = simulate(play(gap=0.0, damping=30.0, duration=0.05), SHARP)
    decay, frequency = 15.0 / REDUCED, np.sqrt(OMEGA**2 - (15.0 / REDUCED) ** 2)
    t = run["twist.position"].time
    expected = SPEED / frequency * np.exp(-decay * t) * np.sin(frequency * t)
    np.testing.assert_allclose(run["twist.position"].values, expected, atol=1e-9)


def four_bar_with_play(on, centre, constraint_method):
    """A four-bar linkage falls between the flanks of a gear on its crank or its rocker."""
    parameters = {"stiffness": 2e3, "gap": 0.2, "damping": 1.0}
    return crank_rocker(
        "revolute",
        blocks=(Block("gear", "backlash_gear", on="play", parameters=parameters),),
        coordinates=(FunctionCoordinate("play", (on,), lambda q: q - centre),),
        constraint_method=ConstraintMethod(constraint_method),
        duration=1.5,
    )


@pytest.mark.parametrize(("on", "centre"), [("rocker_joint", 1.75), ("crank_joint", 0.6)])
def test_flanks_in_a_closed_loop_are_passed_alike_however_the_loop_is_closed(on, centre):
    runs = [
        simulate(system, solver)
        for system in (assemble(four_bar_with_play(on, centre, way)) for way in ("baumgarte", "projection", "minimal"))
        for solver in (Solver("dopri5", rtol=1e-9, atol=1e-11), Solver("dopri5"), Solver("rk4", step=5e-4))
    ]
    first = runs[0]
    assert len(first.events) > 20
    for run in runs:
        assert [event.name for event in run.events] == [event.name for event in first.events]
        # The coarsest of them follows some thirty impacts to 1e-4 s.
        np.testing.assert_allclose(contacts(run), contacts(first), atol=5e-4)
        for flank in ("upper", "lower"):
            value, side = run[f"gear.{flank}"].values, run[f"gear.{flank}_side"].values
            assert np.all(value * side > -1e-9)


@law(located={"height": "side"})
def noted(position, side):
    return {"height": position, "seen": side}


@pytest.mark.parametrize("push", [0.5, 1.0, 2.0, 2.2509069879051298, 3.3])
@pytest.mark.parametrize("turn", [0.25, 1.0, 1.1])
def test_the_side_of_a_value_that_turns_round_at_zero_is_where_it_is_afterwards(push, turn):
    """s = a (t - T)^2 / 2 touches zero, and only rounding says whether it passed."""
    slide = Joint("slide", "prismatic", GROUND, "mass", axis=(1, 0, 0))
    blocks = (
        Block("push", "constant_force", on="slide", parameters={"value": push}),
        Block("watch", noted, inputs={"position": "slide.position"}),
    )
    machine = Machine("mass", Mechanism("mass", (Body("mass", 1.0),), (slide,)), blocks)
    start = {"slide.position": push * turn**2 / 2, "slide.velocity": -push * turn}
    for solver in (Solver("dopri5"), Solver("rodas4"), Solver("rk4", step=0.125)):
        run = simulate(Scenario("touch", machine, 2.0, start), solver)
        assert run["watch.height"].final > 0
        assert run["watch.side"].final == 1
        assert len(run.events) in (0, 2)
