"""Do fits and sensitivities see floating bodies as they see hinges, and what refuses balls?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Recording,
    Scenario,
    Solver,
    simulate,
    simulate_perturbed,
)
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.sensitivity.ranking import measure_signal, rank_parameters

SIGNALS = ("base.orientation.x", "base.orientation.y", "hinge.position")
SHARP = Solver("dopri5", rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def floating():
    """A hull that tumbles, with an arm on a spring."""
    bodies = (Body("hull", 3.0, inertia=(0.05, 0.08, 0.1)), Body("arm", 0.7, (0.2, 0, 0), (0.002, 0.01, 0.01)))
    joints = (
        Joint("base", "free", GROUND, "hull"),
        Joint("hinge", "revolute", "hull", "arm", (0.1, 0, 0), axis=(0, 1, 0), damping=0.05),
    )
    spring = Block("spring", "spring", on="hinge", parameters={"stiffness": 2.0})
    machine = Machine("floating", Mechanism("floating", bodies, joints), (spring,), tunable=("arm.mass",))
    start = {"base.angular_velocity.x": 1.0, "base.angular_velocity.y": 0.7, "hinge.position": 0.5}
    return Scenario("floating", machine, 1.0, start, solver=SHARP)


def test_exact_sensitivities_of_an_orientation_are_those_of_finite_changes(floating):
    names = ["arm.mass", "spring.stiffness", "initial.base.angular_velocity.x", "initial.hinge.position"]
    measures = {name: measure_signal(name, "final") for name in ("base.orientation.x", "hinge.position")}
    table = rank_parameters(floating, measures, names, change=1e-3)
    for name in measures:
        largest = max(abs(row.per_percent) for row in table.of(name))
        for row in table.of(name):
            # Central differences of a change by a thousandth are off by about ten millionths here.
            assert row.per_percent == pytest.approx(row.finite_per_percent, abs=2e-5 * largest), row.parameter


def test_a_fit_finds_mass_and_stiffness_from_the_orientation_of_a_tumbling_body(floating):
    data = simulate(floating, recording=Recording(times=tuple(np.linspace(0, 1, 51)), signals=SIGNALS))
    fit = fit_parameters(floating.with_numbers({"arm.mass": 0.9, "spring.stiffness": 1.5}), data, list(FREE))
    assert {found.name: found.value for found in fit.parameters} == pytest.approx(FREE, rel=1e-7)
    assert fit.jacobian == "exact"


FREE = {"arm.mass": 0.7, "spring.stiffness": 2.0}


def test_an_entry_of_a_quaternion_is_no_parameter_of_its_own(floating):
    data = simulate(floating, recording=Recording(times=(0.0, 0.5, 1.0), signals=SIGNALS))
    name = "initial.base.orientation.x"
    message = f"{name}: is an entry of a quaternion: changed alone, it is no longer a rotation"
    leaning = replace(floating, initial={**floating.initial, "base.orientation.w": 0.8, "base.orientation.x": 0.6})
    with pytest.raises(ModelError, match=message):
        fit_parameters(leaning, data, [name])
    with pytest.raises(ModelError, match="orientation"):
        rank_parameters(leaning, {"h": measure_signal("hinge.position", "final")}, [name], change=0.01)


def test_a_ball_is_not_linearised_along_a_motion(floating):
    still = [Block(f"still_{axis}", "constant_reference", parameters={"constant": 0.0}, unit="m") for axis in "xyz"]
    flat = Block("flat", "constant_reference", parameters={"constant": 0.0}, unit="rad")
    machine = replace(floating.machine, blocks=(*floating.machine.blocks, *still, flat))
    nominal = {f"base.{axis}": f"still_{axis}.value" for axis in "xyz"} | {"hinge": "flat.value"}
    with pytest.raises(ModelError, match="joints.base: is a ball joint, whose orientation is not linearised"):
        simulate_perturbed(replace(floating, machine=machine, nominal=nominal))
