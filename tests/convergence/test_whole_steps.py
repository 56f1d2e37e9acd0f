"""Steps that the model takes itself: order 2 on stiff friction under sampled control, whatever they leave out."""

import dataclasses

import numpy as np
import pytest
from convergence.rates import observed_order

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import compile_system, simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.model import GROUND, Block, Body, Delay, Joint, Machine, Mechanism, Recording, Scenario, Solver

ANGLES = ("shoulder.position", "elbow.position")
STEPS = np.array([0.25e-3, 0.125e-3, 0.0625e-3])
RECORDING = Recording(rate=1000.0, signals=("*.position", "*.velocity", "*.bristle"))


def make(scenario, **changes):
    return dataclasses.replace(scenario, recording=RECORDING, **changes)


def with_blocks(scenario, *blocks, **changes):
    machine = dataclasses.replace(scenario.machine, blocks=(*scenario.machine.blocks, *blocks), **changes)
    return dataclasses.replace(scenario, machine=machine)


def errors_of(scenario, method, steps=STEPS):
    """Largest differences of the angles from a run at tight tolerances."""
    exact = simulate(scenario, Solver("rodas4p", rtol=1e-10, atol=1e-12))
    runs = [simulate(scenario, Solver(method, step=float(h))) for h in steps]
    return [max(np.max(np.abs(run[name].values - exact[name].values)) for name in ANGLES) for run in runs]


@pytest.mark.parametrize("method", ["rosw1", "rosw2"])
def test_sliding_sticking_and_reversing_converge_with_order_two(method):
    errors = errors_of(make(two_link_loop(1.0)), method)
    assert 1.7 < observed_order(STEPS, errors) < 2.4
    assert errors[0] < 2e-6


@pytest.mark.parametrize("method", ["rosw1", "rosw2"])
def test_forces_without_a_potential_converge_as_well(method):
    """A torque on the elbow from the shoulder's speed makes the matrix of the step unsymmetric."""

    def cross(speed):
        return {"torque": -40.0 * speed}

    block = Block("cross", cross, inputs={"speed": "shoulder.velocity"}, acts={"torque": "elbow"})
    errors = errors_of(make(with_blocks(two_link_loop(0.5), block)), method)
    assert 1.7 < observed_order(STEPS, errors) < 2.4


def test_delayed_forces_are_taken_at_both_ends_of_a_step():
    def late(speed, other):
        return {"torque": -5.0 * speed + 2.0 * other}

    scenario = two_link_loop(0.5)
    delayed = with_blocks(
        scenario,
        Block("late", late, inputs={"speed": "slow.output", "other": "slower.output"}, acts={"torque": "elbow"}),
        delays=(Delay("slow", "elbow.velocity", 0.01), Delay("slower", "shoulder.velocity", 0.02)),
    )
    errors = errors_of(make(delayed), "rosw2")
    assert 1.7 < observed_order(STEPS, errors) < 2.4


@pytest.mark.parametrize("method", ["rosw1", "rosw2"])
def test_the_work_of_forces_is_booked_as_accurately_as_the_motion(method):
    """Bristles that settle within a step, and damp: their torque at a stage is far from that of the motion."""
    values = {
        "stiffness": 1e4,
        "damping": 10.0,
        "viscous": 0.4,
        "coulomb": 1.0,
        "static": 1.5,
        "stribeck_velocity": 0.01,
    }
    values |= {"coulomb_back": 1.0, "static_back": 1.5, "load_loss": 0.1}
    slide = Joint("slide", "prismatic", GROUND, "cart", axis=(1, 0, 0))
    blocks = (
        Block("spring", "spring", on="slide", parameters={"stiffness": 20.0}),
        Block("lugre", "two_way_lugre_friction", on="slide", inputs={"load": "spring.force"}, parameters=values),
    )
    cart = Machine("cart", Mechanism("cart", (Body("cart", 1.0),), (slide,)), blocks)
    run = simulate(Scenario("cart", cart, 1.0, {"slide.position": 1.0}), Solver(method, step=0.25e-3))
    # E - W stays constant; powers of the stages, added up as they are, miss 1e-3 (rosw1) and 8e-6 (rosw2) of W.
    assert np.ptp(run["energy.balance"].values) < 2e-6 * run["energy.work"].max


def test_between_the_ends_of_a_step_there_is_a_cubic():
    scenario = make(two_link_loop(0.5))
    between = Recording(times=tuple(np.linspace(0.0101, 0.4901, 300)), signals=ANGLES)
    exact = simulate(scenario, Solver("rodas4p", rtol=1e-10, atol=1e-12), recording=between)
    run = simulate(scenario, Solver("rosw2", step=0.25e-3), recording=between)
    assert max(np.max(np.abs(run[name].values - exact[name].values)) for name in ANGLES) < 2e-6


def test_a_joint_that_is_held_stays_within_its_bristles():
    """Loaded by gravity and not driven: the arm's friction holds it, ten seconds long."""
    scenario = two_link_loop(10.0)
    blocks = tuple(block for block in scenario.machine.blocks if block.name.endswith("friction"))
    strong = [
        dataclasses.replace(b, parameters=dict(b.parameters) | {"coulomb": 90.0, "static": 100.0}) for b in blocks
    ]
    machine = dataclasses.replace(scenario.machine, blocks=tuple(strong))
    held = dataclasses.replace(scenario, machine=machine, nominal={})
    run = simulate(compile_system(assemble(make(held)), Solver("rosw2", step=1e-3)), Solver("rosw2", step=1e-3))
    elbow = run["elbow.position"].values
    # Bristles bend by at most Ts / c0 = 2 mrad, and swing for some seconds; then nothing moves any more.
    assert np.max(np.abs(elbow)) < 100.0 / 5e4
    assert np.ptp(elbow[9000:]) < 1e-9


@pytest.mark.parametrize("method", ["rosw1", "rosw2"])
def test_bodies_that_float_and_tumble_converge_with_order_two(method):
    """Positions of a free joint are more than its velocities: q_dot = N(q) v."""
    trunk = Body("trunk", 2.0, inertia=(0.01, 0.02, 0.03))
    rod = Body("rod", 0.5, com=(0.0, 0.0, -0.1), inertia=(2e-3, 2e-3, 1e-4))
    base = Joint("base", "free", GROUND, "trunk")
    hinge = Joint("hinge", "revolute", "trunk", "rod", (0.1, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    spring = Block("spring", "spring", on="hinge", parameters={"stiffness": 5.0})
    damper = Block("damper", "viscous_friction", on="hinge", parameters={"viscous": 3.0})
    machine = Machine("tumbler", Mechanism("tumbler", (trunk, rod), (base, hinge)), (spring, damper))
    start = {
        "base.x.velocity": 1.0,
        "base.angular_velocity.x": 3.0,
        "base.angular_velocity.z": 5.0,
        "hinge.position": 0.5,
    }
    scenario = Scenario("tumbler", machine, 0.4, start, recording=Recording(rate=100.0))
    exact = simulate(scenario, Solver("dopri5", rtol=1e-11, atol=1e-13))
    names = ("hinge.position", "base.x.position", *(f"base.orientation.{axis}" for axis in "wxyz"))
    steps, errors = np.array([4e-3, 2e-3, 1e-3]), []
    for step in steps:
        run = simulate(scenario, Solver(method, step=float(step)))
        errors.append(max(np.max(np.abs(run[name].values - exact[name].values)) for name in names))
    assert observed_order(steps, errors) == pytest.approx(2.0, abs=0.3)


def test_systems_without_a_free_mechanism_are_refused():
    with pytest.raises(ModelError, match="rosw2 cannot be combined with constraints"):
        simulate(find_scenario("four-bar"), Solver("rosw2"))
