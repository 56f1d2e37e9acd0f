"""Is it reported before a run how large it will be, and refused where it cannot be kept?"""

import warnings
from dataclasses import replace

import pytest

from robodyn import (
    Block,
    Body,
    Event,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Recording,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.computation.simulation.problem import LARGE_RECORD, count_steps


def arm(duration, blocks=(), **more):
    body = Body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    mechanism = Mechanism("arm", [body], [Joint("hinge", "revolute", "ground", "arm", axis=(0, 1, 0))])
    return Scenario("arm", Machine("arm", mechanism, blocks=blocks), duration, **more)


HOLD = Block("hold", "sample_and_hold", inputs={"value": "hinge.position"}, period=1e-3)
TURN = Event(
    "turn", lambda position, level: position - level, {"position": "hinge.position"}, {"level": 0.01}, terminal=True
)


@pytest.mark.parametrize(
    ("scenario", "solver", "steps"),
    [
        (arm(10.0), Solver("rk4", step=1e-3), 10_000),
        (arm(10.0), Solver("rk4"), 10_000),
        (arm(10.0), Solver("dopri5"), 1),
        (arm(10.0), Solver("dopri5", max_step=0.1), 100),
        (arm(10.0, (HOLD,)), Solver("dopri5"), 10_000),
        (arm(10.0, (HOLD,)), Solver("rk4", step=1e-4), 100_000),
    ],
)
def test_steps_are_counted_by_step_longest_step_and_ticks(scenario, solver, steps):
    assert count_steps(assemble(scenario), solver, scenario.duration) == pytest.approx(steps)


def test_a_record_that_cannot_be_kept_is_refused_with_a_rate_that_can():
    with pytest.raises(
        ModelError, match=r"keeps 1e\+08 rows of 7 signals, 5.96 GB; at most 2 GB .*rate = 100 "
    ) as error:
        simulate(arm(1000.0), Solver("rk4", step=1e-5, max_steps=0))
    assert "scenario 'arm'" in str(error.value)
    with pytest.raises(ModelError, match=r"keeps 4e\+07 rows"):
        simulate(arm(1000.0, (HOLD,)), Solver("dopri5"), recording=Recording(refine=40))


@pytest.mark.parametrize("rate", [1e9, 1e30])
def test_samples_that_cannot_be_counted_are_refused_in_the_description_and_in_a_run(rate):
    with pytest.raises(ModelError, match="recording.rate: .* rows .at most 50,000,000 are kept"):
        replace(arm(1000.0), recording=Recording(rate=rate))
    with pytest.raises(ModelError, match="recording.rate: .* rows .at most 50,000,000 are kept"):
        simulate(arm(1000.0), recording=Recording(rate=rate))


def test_a_record_that_an_event_or_a_limit_ends_is_told_and_run():
    with pytest.warns(UserWarning, match="5.96 GB: recording.rate = 100 "):
        run = simulate(arm(1000.0, events=(TURN,)), Solver("rk4", step=1e-5, max_steps=0))
    assert run.outcome.kind.name == "STOPPED"
    with pytest.warns(UserWarning, match="needs 1e.08 steps, 100 are allowed"):
        run = simulate(arm(1000.0), Solver("rk4", step=1e-5, max_steps=100))
    assert run.outcome.kind.name == "STEP_LIMIT"


def test_the_remedy_keeps_it_quiet_and_as_small_as_it_says():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = simulate(arm(10.0), Solver("rk4", step=1e-4), recording=Recording(rate=1e4))
    assert run.outcome.ok
    assert run.values.nbytes < LARGE_RECORD / 10


def test_rows_that_the_engine_chooses_are_counted_too():
    """Adaptive steps end at every tick: a microsecond for a minute are 240 million rows."""
    hold = Block("hold", "sample_and_hold", inputs={"value": "hinge.position"}, period=1e-6)
    with pytest.raises(ModelError, match=r"keeps 2\.4e\+08 rows .* GB are kept"):
        simulate(arm(60.0, (hold,)), Solver(max_steps=0))


def test_ticks_that_time_cannot_tell_apart_are_refused_and_would_do_no_harm(monkeypatch):
    """Beyond 1e12 s the last place of a time is 0.1 ms: no step is made between ticks, and rows pile up."""
    hold = Block("hold", "sample_and_hold", inputs={"value": "hinge.position"}, period=1e-4)
    with pytest.raises(ModelError, match=r"duration: is so long that times 0\.0001 s apart"):
        simulate(arm(2e12, (hold,)))
    monkeypatch.setattr("robodyn.computation.simulation.problem.RESOLUTION", 0.0)
    with pytest.warns(UserWarning, match="are allowed"):
        run = simulate(arm(2e12, (hold,)), Solver("rodas4", max_wall_time=0.3))
    assert run.outcome.kind.name == "WALL_TIME"
