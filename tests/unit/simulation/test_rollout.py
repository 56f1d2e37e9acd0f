"""Do rollouts of many robots lead where the engine's fixed steps do?"""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.computation.simulation.rollout import STEPS
from robodyn.description.catalog import double_pendulum, pendulum, two_link_loop

STEP, COUNT = 2e-3, 40
MASS = "lower.mass"


@pytest.fixture(scope="module")
def system():
    scenario = replace(double_pendulum(), duration=STEP * COUNT)
    return rd.assemble(replace(scenario, machine=replace(scenario.machine, tunable=(MASS,))))


@pytest.mark.parametrize("method", STEPS)
def test_fixed_steps_are_those_of_the_engine(system, method):
    rollout = rd.compile_rollout(system, method)
    compiled = rd.compile_system(system, rd.Solver(method, step=STEP))
    masses = np.linspace(0.5, 2.0, 6)
    start = np.array([[state.start for state in system.states]] * 6)
    ends = rollout.roll(start, COUNT, STEP, parameters={MASS: masses})
    for mass, end in zip(masses, ends, strict=True):
        run = rd.simulate(compiled, parameters={MASS: mass})
        expected = np.array([run.end[state.name] for state in system.states])
        assert np.abs(end - expected).max() < 1e-12
    # The rates are those that a short explicit step follows, and rows do not mix.
    rates = rollout.rates(ends, parameters={MASS: masses})
    alone = [rollout.rates(end, parameters={MASS: mass})[0] for end, mass in zip(ends, masses, strict=True)]
    assert np.array_equal(rates, alone)
    assert len(np.unique(rates[:, -1])) == len(masses)


def test_what_a_rollout_cannot_do_is_refused(system):
    with pytest.raises(rd.ModelError, match="sampled blocks.*simulate_many"):
        rd.compile_rollout(rd.assemble(two_link_loop()))
    with pytest.raises(rd.ModelError, match="did you mean 'rk4'"):
        rd.compile_rollout(system, "rk5")
    rollout = rd.compile_rollout(system, "euler")
    with pytest.raises(rd.ModelError) as refused:
        rollout.rates(np.zeros((2, 3)), parameters={"lower.mas": 1.0})
    assert "must have 4 numbers a robot, has the shape (2, 3)" in str(refused.value)
    assert f"did you mean '{MASS}'?" in str(refused.value)
    with pytest.raises(rd.ModelError, match="are of 2 robots, others of"):
        rollout.rates(np.zeros((2, 4)), parameters={MASS: [1.0, 2.0, 3.0]})
    with pytest.raises(rd.ModelError, match="a positive length"):
        rollout.roll(np.zeros((2, 4)), 5, 0.0)


@pytest.mark.parametrize("method", STEPS)
def test_what_the_clock_drives_is_driven_by_it(method):
    """A pendulum pushed by a sine, from half a second on: the times of the steps are those of the engine."""
    scenario = replace(pendulum(angle=0.3), duration=0.5 + STEP * COUNT)
    wave = rd.Block("wave", "sine_reference", parameters={"amplitude": 5.0, "frequency": 3.0}, unit="N m")
    push = rd.Block("push", lambda value: {"torque": value}, "hinge", {"value": "wave.value"})
    driven = rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(wave, push))))
    rollout = rd.compile_rollout(driven, method)
    run = rd.simulate(driven, rd.Solver(method, step=STEP), recording=rd.Recording(times=(0.5, scenario.duration)))
    start, end = ([run[state.name].values[k] for state in driven.states] for k in (0, -1))
    found = rollout.roll([start] * 3, COUNT, STEP, time=0.5)
    # Times are multiples of a step from half a second on in the one, from zero in the other.
    np.testing.assert_allclose(found, [end] * 3, rtol=1e-9)
    assert np.abs(rollout.roll([start], COUNT, STEP)[0] - end).max() > 1e-3
