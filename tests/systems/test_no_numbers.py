"""Is a run whose signals are no numbers, whose rest cannot be found or whose steps do not end reported as such?"""

import numpy as np
import pytest

from robodyn import Block, Body, Joint, Machine, Mechanism, ModelError, Scenario, Solver, simulate
from robodyn.base.symbolic import sqrt, where


def arm(*blocks, duration=1.0, **more):
    body = Body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    mechanism = Mechanism("arm", [body], [Joint("hinge", "revolute", "ground", "arm", axis=(0, 1, 0))])
    return Scenario("arm", Machine("arm", mechanism, blocks=blocks), duration, **more)


def test_a_signal_that_is_no_number_is_the_outcome_with_its_name_and_time():
    gauge = Block("gauge", lambda time: {"root": sqrt(0.5 - time), "level": time}, inputs={})
    run = simulate(arm(gauge), Solver("rk4", step=0.01))
    assert run.outcome.kind.name == "NOT_A_NUMBER"
    assert run.outcome.time == 1.0
    first = run.time[np.argmin(np.isfinite(run["gauge.root"].values))]
    assert first == pytest.approx(0.51)
    assert f"from {first:.6g} s on these are not finite numbers: 'gauge.root'; " in run.outcome.sentence
    assert "gauge.level" not in run.outcome.sentence


def test_large_numbers_whose_sum_has_no_number_are_numbers():
    gauge = Block("gauge", lambda time: {"huge": 1e308 + 0 * time}, inputs={})
    assert simulate(arm(gauge), Solver("rk4", step=0.01)).outcome.ok


def test_a_run_that_ends_at_once_where_nothing_is_recorded_is_finished():
    assert simulate(arm(duration=1e-9)).outcome.ok


@pytest.mark.parametrize(
    "law",
    [
        lambda position: {"torque": sqrt(position - 1.0)},
        lambda position: {"torque": where(position > -1.0, 1e300 * position**3 + 1e300, 0.0)},
        lambda position: {"torque": 1e200 / (position * 1e-200 + 1e-300)},
    ],
)
def test_an_equilibrium_without_numbers_is_refused_with_a_message(law):
    with pytest.raises(ModelError, match="nothing at rest found near the start: 'hinge.*' (has no finite rate|still)"):
        simulate(arm(Block("odd", law, on="hinge"), initialisation="at_rest"))


def test_an_explicit_method_that_crawls_through_a_stiff_system_is_told_by_its_steps():
    oil = Block("oil", "viscous_friction", on="hinge", parameters={"viscous": 1e9})
    run = simulate(arm(oil), Solver("dopri5", max_steps=60_000))
    assert run.outcome.kind.name == "STEP_LIMIT"
    assert "too stiff for dopri5: choose rodas4 or trbdf2" in run.outcome.sentence
    assert simulate(arm(oil), Solver("rodas4", max_steps=60_000)).outcome.ok
    # Steps that a short longest step asks for, or events, are not called stiff.
    run = simulate(arm(), Solver("dopri5", max_steps=100, max_step=1e-3))
    assert "stiff" not in run.outcome.sentence
