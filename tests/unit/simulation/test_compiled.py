"""A compiled system remembers what it was compiled for."""

import pytest

from robodyn import ModelError, Recording, Solver, assemble, compile_system, simulate
from robodyn.computation.simulation.run_functions import gather_functions
from robodyn.description.catalog import pendulum, two_link_loop


def test_a_run_uses_the_solver_that_the_system_was_compiled_for():
    solver = Solver("rosw2", step=1e-3)
    compiled = compile_system(assemble(two_link_loop()), solver)
    assert simulate(compiled).provenance.solver["method"] == "rosw2"
    other = Solver("rosw2", step=5e-4)
    assert simulate(compiled, other).provenance.solver["step"] == 5e-4


def test_without_a_solver_it_is_compiled_for_the_scenarios_own():
    compiled = compile_system(assemble(pendulum()))
    assert simulate(compiled).provenance.solver == simulate(pendulum()).provenance.solver


@pytest.mark.parametrize(
    ("there", "other"),
    [("dopri5", "rodas4"), ("rk4", "symplectic_euler"), ("rosw1", "rosw2"), ("generalised_alpha", "rattle")],
)
def test_a_method_that_it_was_not_compiled_for_is_refused(there, other):
    """Also one whose functions have the names of the other's: rosw2 would have taken the steps of rosw1."""
    compiled = compile_system(assemble(pendulum()), Solver(there))
    with pytest.raises(ModelError, match=rf"{other} needs .* compiled for {there} .*compile_system.*'{other}'"):
        simulate(compiled, Solver(other))


def test_a_run_of_it_keeps_those_signals_that_are_asked_for():
    compiled = compile_system(assemble(pendulum()))
    run = simulate(compiled, recording=Recording(signals=("hinge.*",)))
    whole = simulate(compiled)
    assert run.names == ("hinge.position", "hinge.velocity", "hinge.acceleration", "hinge.torque")
    assert run["hinge.position"](0.731) == whole["hinge.position"](0.731)
    # Without its rate a position is read by the rows alone.
    alone = simulate(compiled, recording=Recording(signals=("hinge.position",)))
    assert alone["hinge.position"].rate_values is None
    with pytest.raises(ModelError, match=r"asks for tip\.\*, compiled for hinge\.\*"):
        simulate(compile_system(assemble(pendulum()), signals=("hinge.*",)), recording=Recording(signals=("tip.*",)))


def test_what_runs_watch_of_themselves_does_not_count_in_the_choice_of_a_method():
    """Exported code watches nothing, and must take the same steps: both count the same operations."""
    system = assemble(pendulum())
    here, exported = (
        gather_functions(system, Solver("auto"), ("*",), watched=w, complete=not w) for w in (True, False)
    )
    assert here.functions["outputs"].n_instructions() > exported.functions["outputs"].n_instructions()
    assert here.work == exported.work
