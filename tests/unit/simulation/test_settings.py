"""Are wrong settings of a simulation reported instead of ignored?"""

import pytest
from support.machines import cart

from robodyn import ModelError, Solver, assemble, compile_system, simulate
from robodyn.computation.results import OutcomeKind
from robodyn.description.model import Block, Event, Recording

MOVING = cart(
    Block("brake", "viscous_friction", on="rail", parameters={"viscous": 1.0}), initial={"rail.velocity": 1.0}
)
EULER = Solver("euler", step=0.1)


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(ModelError, match=r"method: .*dopri5"):
        Solver("ode45")


@pytest.mark.parametrize("setting", [{"step": 0.0}, {"rtol": -1e-3}, {"atol": float("nan")}, {"max_steps": -5}])
def test_impossible_numbers_are_refused(setting):
    with pytest.raises(ModelError, match=rf"  {next(iter(setting))}: must"):
        Solver(**setting)


def test_times_beyond_the_end_are_refused():
    with pytest.raises(ModelError, match=r"recording\.times: must lie between 0 and 1 s"):
        simulate(MOVING, EULER, recording=Recording(times=(0.0, 2.0)))


def test_a_pattern_without_a_signal_is_refused():
    with pytest.raises(ModelError, match=r"'rial\.\*' matches no signal"):
        simulate(MOVING, EULER, recording=Recording(signals=("rial.*",)))


def test_a_parameter_that_is_not_tunable_is_refused():
    with pytest.raises(ModelError, match=r"brake\.viscos: is not tunable .*'brake\.viscous'"):
        simulate(MOVING, EULER, parameters={"brake.viscos": 2.0})


def test_a_compiled_system_refuses_signals_it_was_not_compiled_for():
    compiled = compile_system(assemble(MOVING), EULER, signals=("rail.*",))
    assert all(name.startswith("rail.") for name in simulate(compiled, EULER).names)
    with pytest.raises(ModelError, match=r"recording\.signals"):
        simulate(compiled, EULER, recording=Recording(signals=("brake.*",)))


def test_a_run_knows_how_it_was_made():
    run = simulate(MOVING, EULER)
    assert run.provenance.solver["method"] == "euler"
    assert run.provenance.parameters["brake.viscous"] == {"value": 1.0, "unit": "N s/m"}
    assert run.provenance.description["machine"]["mechanism"]["bodies"][0]["mass"] == 2.0
    assert {"robodyn", "casadi", "llvmlite", "python"} <= set(run.provenance.versions)
    assert run.statistics.steps == 10


def test_numbers_changed_for_a_run_are_checked_like_any_other():
    with pytest.raises(ModelError, match=r"viscous: must not be negative"):
        simulate(MOVING, EULER, parameters={"brake.viscous": -1.0})


def test_any_state_can_be_given_a_start_value():
    run = simulate(MOVING.with_numbers({"initial.rail.position": 0.25}), EULER)
    assert run["rail.position"].values[0] == 0.25
    with pytest.raises(ModelError, match=r"initial\.rail\.positon: .*'rail\.position'"):
        assemble(MOVING.with_numbers({"initial.rail.positon": 0.25}))


def test_what_cannot_be_simulated_is_told():
    with pytest.raises(TypeError, match="not a Machine"):
        simulate(MOVING.machine)
    with pytest.raises(TypeError, match="must be a Solver"):
        simulate(MOVING, "rk4")


def test_energy_that_appears_from_nowhere_makes_a_run_suspect():
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 200.0})
    swinging = cart(spring, initial={"rail.position": 0.1}, duration=5.0)
    coarse = simulate(swinging, Solver("euler", step=0.01))
    assert coarse.outcome.kind is OutcomeKind.SUSPECT
    assert "check 'energy balance' failed: " in coarse.outcome.sentence
    assert simulate(swinging, Solver("rk4", step=0.01)).outcome.ok


def test_recording_at_a_rate_keeps_the_end_of_a_stopped_run():
    stop = Event("wall", lambda x: x - 0.333, {"x": "rail.position"}, terminal=True)
    run = simulate(cart(initial={"rail.velocity": 1.0}, events=(stop,)), EULER, recording=Recording(rate=10.0))
    assert run.time[-1] == pytest.approx(0.333, abs=1e-12)
    assert run.final["rail.position"] == pytest.approx(0.333, abs=1e-12)
    assert list(run.time[:-1]) == pytest.approx([0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize("setting", ["rtol", "atol", "max_step", "min_step"])
def test_step_control_settings_of_a_fixed_step_method_are_refused(setting):
    with pytest.raises(ModelError, match=rf"{setting}: has no effect on the fixed-step method euler"):
        Solver("euler", **{setting: 1e-3})


def test_more_rows_than_can_be_kept_are_refused():
    with pytest.raises(ModelError, match=r"recording\.rate: 1e\+12 Hz"):
        simulate(MOVING, EULER, recording=Recording(rate=1e12))


def test_an_operation_native_code_does_not_have_is_told_with_its_signal():
    import casadi as ca

    odd = Block("odd", lambda velocity: {"force": ca.erfinv(velocity)}, on="rail")
    with pytest.raises(ModelError, match=r"odd\.force: its law uses OP_ERFINV"):
        simulate(cart(odd))
