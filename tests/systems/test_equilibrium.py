"""A run can begin at rest: the equilibrium is found, and nothing moves from there."""

import math

import numpy as np
import pytest

from robodyn import (
    Block,
    Body,
    Delay,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.simulation import find_equilibrium
from robodyn.symbolic import table


def pendulum(*blocks, delays=(), initialisation="at_rest", initial=None):
    body = Body("bob", 2.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01, 0, 0, 0))
    mechanism = Mechanism("pendulum", [body], [Joint("hinge", "revolute", "ground", "bob", axis=(0, 1, 0))])
    machine = Machine("pendulum", mechanism, blocks=blocks, delays=delays)
    return Scenario(
        "pendulum",
        machine,
        1.0,
        initial or {},
        initialisation=initialisation,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-12),
    )


SPRING = Block("spring", "spring", on="hinge", parameters={"stiffness": 50.0})


def test_a_sprung_pendulum_rests_where_spring_and_weight_balance():
    run = simulate(pendulum(SPRING))
    angle = run["hinge.position"].values
    assert 50.0 * angle[0] == pytest.approx(2.0 * 9.81 * 0.5 * math.cos(angle[0]), rel=1e-12)
    assert np.ptp(angle) < 1e-12
    assert np.max(np.abs(run["hinge.velocity"].values)) < 1e-11


def test_without_the_word_it_starts_as_given():
    run = simulate(pendulum(SPRING, initialisation="given"))
    assert run["hinge.position"].values[0] == 0.0
    assert np.ptp(run["hinge.position"].values) > 0.1


def test_the_nearest_of_several_rests_is_found():
    system = assemble(pendulum())
    for guess, rest in ((1.2, math.pi / 2), (-1.4, -math.pi / 2)):
        found = find_equilibrium(system, guess={"hinge.position": guess})
        assert found.x[0] == pytest.approx(rest, abs=1e-10)


def test_a_delayed_feedback_is_at_rest_with_its_delay():
    def push(seen, *, gain, target):
        return {"torque": gain * (target - seen)}

    block = Block("drive", push, on="hinge", inputs={"seen": "late.output"}, parameters={"gain": 80.0, "target": 0.2})
    found = simulate(pendulum(block, delays=[Delay("late", "hinge.position", 0.002)]))
    assert np.ptp(found["hinge.position"].values) < 1e-11


def test_play_in_a_valve_does_not_stop_the_search():
    """A flow that is zero about zero opening makes the equations singular where the search begins."""

    def circuit(position, velocity, force, *, gain, stiffness):
        speed = table(-gain * position, (-1.0, -0.1, 0.1, 1.0), (-0.9, 0.0, 0.0, 0.9))
        return {"torque": force, "force_dot": stiffness * (speed - velocity - 1e-3 * force)}

    block = Block("circuit", circuit, on="hinge", states={"force": 0.0}, parameters={"gain": 5.0, "stiffness": 1e4})
    run = simulate(pendulum(block))
    assert run["circuit.force"].values[0] == pytest.approx(-9.81 * math.cos(run["hinge.position"].values[0]), rel=1e-9)
    assert np.ptp(run["hinge.position"].values) < 1e-9


def test_a_sampled_integrator_is_at_rest_with_its_sum():
    def integrate(position, total, *, gain, target):
        return {"command": gain * total, "total_next": total + 0.001 * (target - position)}

    def apply(command, velocity):
        return {"torque": command - 0.5 * velocity}

    blocks = [
        Block(
            "control",
            integrate,
            inputs={"position": "hinge.position"},
            memory={"total": 0.0},
            parameters={"gain": 3.0, "target": 0.4},
            period=0.001,
        ),
        Block("drive", apply, on="hinge", inputs={"command": "control.command"}),
    ]
    run = simulate(pendulum(*blocks))
    assert run["hinge.position"].values[0] == pytest.approx(0.4, abs=1e-10)
    assert np.ptp(run["hinge.position"].values) < 1e-9


def test_friction_that_sticks_is_left_out_of_the_search_and_holds_afterwards():
    friction = Block("friction", "stick_friction", on="hinge", parameters={"coulomb": 1.0})
    run = simulate(pendulum(SPRING, friction))
    free = simulate(pendulum(SPRING))
    assert run["hinge.position"].values[0] == pytest.approx(free["hinge.position"].values[0], rel=1e-12)
    assert np.ptp(run["hinge.position"].values) == 0.0


def test_no_rest_is_an_error_that_names_what_moves():
    def drive():
        return {"torque": 100.0}

    with pytest.raises(ModelError, match=r"hinge\.\w+\' still changes by"):
        simulate(pendulum(Block("drive", drive, on="hinge")))


def test_a_python_block_cannot_be_at_rest():
    def control(position):
        return {"command": 0.0}

    block = Block(
        "control", control, inputs={"position": "hinge.position"}, period=0.01, native=False, hold={"command": 0.0}
    )
    with pytest.raises(ModelError, match="Python"):
        simulate(pendulum(SPRING, block))


def test_parameters_of_a_run_move_the_rest():
    scenario = pendulum(SPRING)
    stiff = simulate(scenario, parameters={"spring.stiffness": 500.0})["hinge.position"].values[0]
    assert 500.0 * stiff == pytest.approx(2.0 * 9.81 * 0.5 * math.cos(stiff), rel=1e-12)


def test_an_unknown_start_is_refused():
    with pytest.raises(ModelError, match="at_rest"):
        pendulum(initialisation="at_rets")
