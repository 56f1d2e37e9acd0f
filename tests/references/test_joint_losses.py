"""Do damping, dry friction, armature and end stops of joints move a hinge as the closed forms say?"""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import linearise

INERTIA, ARMATURE, SPEED = 0.1, 0.05, 2.0
TIGHT = rd.Solver("dopri5", rtol=1e-10, atol=1e-12)


def spinning(kind="revolute", duration=2.0, gravity=(0, 0, 0), **properties):
    """A body of 0.1 kg m^2 (or 0.1 kg) on one joint, which has an armature of 0.05."""
    body = rd.Body("arm", INERTIA, (0, 0, 0), (INERTIA,) * 3)
    joint = rd.Joint("axis", kind, rd.GROUND, "arm", armature=ARMATURE, **properties)
    machine = rd.Machine("m", rd.Mechanism("m", (body,), (joint,), gravity=gravity))
    return rd.Scenario("s", machine, duration, {"axis.velocity": SPEED}, solver=TIGHT)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_damping_slows_down_exponentially_and_loses_the_energy(kind, proof):
    damping = 0.3
    run = rd.simulate(spinning(kind, damping=damping))
    # (J + Ja) w' = -d w
    left = SPEED * math.exp(-damping / (INERTIA + ARMATURE) * 2.0)
    what, final = "speed of a damped joint", run["axis.velocity"].final
    proof(what, kind="closed form", source="w_0 exp(-d t / J)", ours=final, reference=left, within=1e-8, relative=True)
    lost = 0.5 * (INERTIA + ARMATURE) * (left**2 - SPEED**2)
    assert run["energy.work"].final == pytest.approx(lost, rel=1e-8)
    assert run.certificate["passive elements give no energy"].ok
    assert run.certificate["energy balance"].value < 1e-8


def test_friction_stops_after_a_time_that_is_known_and_holds_from_then_on(proof):
    friction = 0.2
    run = rd.simulate(spinning(friction=friction))
    # w = w0 - t Tc / (J + Ja), until it stops.
    stop = SPEED * (INERTIA + ARMATURE) / friction
    (event,) = [event for event in run.events if event.name == "axis.friction.stops"]
    what, source = "time at which dry friction stops a joint", "w_0 J / T_c"
    proof(what, kind="closed form", source=source, ours=event.time, reference=stop, within=1e-9, relative=True)
    assert run["axis.position"].final == pytest.approx(0.5 * SPEED * stop, rel=1e-8)
    assert run["axis.velocity"].final == 0.0


def test_linear_model_has_the_damping_and_the_armature():
    damping = 0.3
    model = linearise(rd.assemble(spinning(damping=damping)))
    assert np.min(model.poles().real) == pytest.approx(-damping / (INERTIA + ARMATURE), rel=1e-9)


def test_end_stop_is_entered_as_deep_as_the_energy_says():
    stiffness, limit = 4e3, 0.5
    run = rd.simulate(spinning(duration=0.4, upper_limit=limit, stop_stiffness=stiffness))
    (passed,) = run.passed_limits
    # (J + Ja) w^2 / 2 = k e^2 / 2, a quarter of a period after it is met.
    depth, omega = SPEED * math.sqrt((INERTIA + ARMATURE) / stiffness), math.sqrt(stiffness / (INERTIA + ARMATURE))
    assert passed.first == pytest.approx(limit / SPEED, rel=1e-5)
    assert passed.worst == pytest.approx(limit + depth, rel=1e-4)
    assert passed.time == pytest.approx(limit / SPEED + 0.5 * math.pi / omega, rel=1e-2)
    assert run["axis.velocity"].final == pytest.approx(-SPEED, rel=1e-6)
    assert run["axis.end_stop.force"].values.min() == pytest.approx(-stiffness * depth, rel=1e-4)


def test_numbers_of_a_joint_change_without_compiling_again():
    scenario = spinning(damping=0.3, upper_limit=10.0)
    compiled = rd.compile_system(rd.assemble(scenario))
    run = rd.simulate(compiled, parameters={"axis.damping": 0.0, "axis.upper_limit": 1.0})
    assert run["axis.velocity"].final == pytest.approx(SPEED, rel=1e-12)
    (passed,) = run.passed_limits
    assert (passed.value, passed.worst) == (1.0, pytest.approx(4.0))
