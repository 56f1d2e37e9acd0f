"""Are wrong settings of a simulation told instead of ignored?"""

import pytest
from support.machines import cart

from robodyn import ModelError, Solver, assemble, compile_system, simulate
from robodyn.model import Block, Recording
from robodyn.simulation import make_solver

MOVING = cart(
    Block("brake", "viscous_friction", on="rail", parameters={"viscous": 1.0}), initial={"rail.velocity": 1.0}
)
EULER = Solver("euler", step=0.1)


def test_an_unknown_solver_setting_suggests_the_nearest():
    with pytest.raises(ModelError, match=r"solver\.rtool: is unknown \(did you mean 'rtol'\?\)"):
        make_solver({"rtool": 1e-3})


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(ModelError, match=r"solver\.method: .*dopri5"):
        make_solver({"method": "ode45"})


@pytest.mark.parametrize("setting", [{"step": 0.0}, {"rtol": -1e-3}, {"atol": float("nan")}, {"max_steps": -5}])
def test_impossible_numbers_are_refused(setting):
    with pytest.raises(ModelError, match=rf"solver\.{next(iter(setting))}"):
        make_solver(setting)


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


def test_a_system_compiled_for_explicit_methods_refuses_a_stiff_one():
    compiled = compile_system(assemble(MOVING), EULER)
    with pytest.raises(ValueError, match="Jacobian"):
        simulate(compiled, Solver("rodas4"))


def test_a_run_knows_how_it_was_made():
    run = simulate(MOVING, EULER)
    assert run.provenance.solver["method"] == "euler"
    assert run.provenance.parameters["brake.viscous"] == {"value": 1.0, "unit": "N s/m"}
    assert run.provenance.description["machine"]["mechanism"]["bodies"][0]["mass"] == 2.0
    assert {"robodyn", "casadi", "numba", "python"} <= set(run.provenance.versions)
    assert run.statistics.steps == 10
