"""Are the error bars of a certified run as large as its errors, and are they said where nothing can be known?"""

import dataclasses
import json

import numpy as np
import pytest
from support.followers import pendulum
from support.machines import cart
from typer.testing import CliRunner

from robodyn import Solver, assemble, simulate
from robodyn.analysis.mechanics.hamiltonian import hamiltonian_system
from robodyn.cli import app
from robodyn.computation.cosimulation import read_cosimulation
from robodyn.computation.perturbation import simulate_perturbed
from robodyn.computation.results import EventRecord, compare_solutions
from robodyn.computation.simulation.simulator import SAFETY, other_solver
from robodyn.description.catalog import cartesian_pendulum, find_scenario
from robodyn.description.model import Block, ConstraintMethod, Event, Recording

INDEX3 = ConstraintMethod("index3")
STIFFNESS, MASS, START = 200.0, 2.0, 0.1


def swinging(**fields):
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": STIFFNESS})
    return cart(spring, mass=MASS, initial={"rail.position": START}, duration=3.0, **fields)


@pytest.mark.parametrize(
    "solver",
    [Solver(), Solver(rtol=1e-4, atol=1e-6), Solver("rodas4", rtol=1e-5), Solver("rk4", step=0.02), Solver("trbdf2")],
    ids=lambda solver: solver.method,
)
def test_bars_are_the_errors_with_a_margin(solver):
    run = simulate(swinging(), solver, certify=True)
    exact = START * np.cos(np.sqrt(STIFFNESS / MASS) * run.time)
    true = abs(run["rail.position"].values - exact).max()
    assert run.errors["rail.position"].error == pytest.approx(SAFETY * true, rel=0.1, abs=1e-9)
    assert run.errors["rail.position"].unit == "m"
    assert run.errors.agree
    assert run.errors.lost is None


def test_the_second_method_is_another_one_and_tighter():
    for solver in (Solver(), Solver("rodas4"), Solver("rk4", step=1e-3), Solver("trbdf2", rtol=1e-4)):
        second = other_solver(solver)
        assert second.method != solver.method
        assert not solver.adaptive or second.rtol == pytest.approx(solver.rtol / 100)


def test_times_of_events_have_bars_too():
    passed = Event("passed", lambda x: x, {"x": "rail.position"})
    run = simulate(swinging(events=(passed,)), certify=True)
    period = 2 * np.pi / np.sqrt(STIFFNESS / MASS)
    exact = period / 4 + period / 2 * np.arange(len(run.events))
    true = abs(np.array([event.time for event in run.events]) - exact).max()
    assert run.errors.agree
    assert run.errors.shift == pytest.approx(true, rel=0.1, abs=1e-9)
    assert f"{len(run.events)} agree one to one" in run.errors.events


def test_events_that_only_one_solution_has_are_said():
    passed = Event("passed", lambda x: x, {"x": "rail.position"})
    first = simulate(swinging(events=(passed,)))
    fewer = dataclasses.replace(first, events=first.events[:-1])
    found = compare_solutions(first, fewer, "one without")
    assert not found.agree
    assert f"{len(first.events)} against {len(first.events) - 1}" in found.events
    assert f"{first.events[-1].time:.6g} s" in found.events


def test_a_jump_that_comes_late_is_said_of_the_event_not_of_the_signal():
    count = Block("count", lambda position, seen: {"value": seen}, on="rail", memory={"seen": 0.0})
    step = Event("step", lambda x: x, {"x": "rail.position"}, action=lambda: {"count.seen": 1.0})
    scenario = swinging(events=(step,))
    machine = dataclasses.replace(scenario.machine, blocks=(*scenario.machine.blocks, count))
    run = simulate(dataclasses.replace(scenario, machine=machine), Solver(rtol=1e-4, atol=1e-6), certify=True)
    assert run.errors.shift > 1e-9
    assert run["count.value"].max == 1.0
    assert run.errors["count.value"].error == 0.0


def test_chaos_is_recognised():
    wild = find_scenario("double-pendulum")
    wild = dataclasses.replace(
        wild, duration=40.0, initial={"shoulder.position": 3.0, "elbow.position": 0.1}, recording=Recording(rate=50.0)
    )
    run = simulate(wild, Solver(rtol=1e-7, atol=1e-9), certify=True)
    assert run.errors.lost is not None
    # Twice as many digits last twice as long, at the same rate of growth.
    longer = simulate(wild, Solver(rtol=1e-9, atol=1e-11), certify=True)
    assert longer.errors.lost > run.errors.lost
    assert longer.errors.growth == pytest.approx(run.errors.growth, rel=0.5)
    assert any("chaotic" in line for line in run.errors.lines())
    assert "chaotic" in run.summary()


def test_constraints_are_kept_another_way_by_the_second():
    loop = find_scenario("four-bar")
    for method in ("baumgarte", "projection"):
        run = simulate(dataclasses.replace(loop, constraint_method=ConstraintMethod(method)), certify=True)
        # At its dead centres rounding counts a hundred times and more.
        assert run.errors["foot0.position"].error < 5e-5
        assert run.errors.lost is None


def test_a_run_that_could_not_go_on_has_no_errors():
    stopped = simulate(swinging(), Solver(max_steps=5), certify=True)
    assert stopped.outcome.cut_short
    assert stopped.errors is None


def test_a_run_that_ends_before_its_first_row_has_no_errors():
    """From 0.1 m it comes to 0.05 m after a sixth of its period of 0.63 s."""
    ends = Event("ends", lambda x: x - 0.05, {"x": "rail.position"}, direction="falling", terminal=True)
    stopped = simulate(swinging(events=(ends,), recording=Recording(times=(1.0,))), certify=True)
    assert stopped.outcome.kind.name == "STOPPED"
    assert len(stopped.time) == 0
    assert stopped.errors is None


def test_one_instant_is_enough():
    run = simulate(swinging(recording=Recording(times=(1.0,))), certify=True)
    assert run.time.tolist() == [1.0]
    assert 0 < run.errors["rail.position"].error < 1e-5


def test_a_chain_has_errors():
    run = simulate(find_scenario("scara-phases"), certify=True)
    assert run.errors.agree
    assert run.errors["shoulder.position"].error < 1e-4


def test_the_command_line_gives_errors_by_signal(tmp_path):
    message = CliRunner().invoke(app, ["run", "pendulum", "--certify", "--json", "--out", str(tmp_path)])
    said = json.loads(message.stdout)
    assert said["errors"].keys() == said["final"].keys()
    assert 0 < said["errors"]["hinge.position"]["error"] < 1e-4
    assert said["second_solution"]["agree"] is True
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "pendulum.run")])
    assert "errors are differences from rodas4" in shown.stdout


def test_momenta_are_compared_with_finer_steps():
    system = hamiltonian_system(assemble(dataclasses.replace(cartesian_pendulum(), constraint_method=INDEX3)))
    run, finer = (simulate(system, Solver("rattle", step=step), certify=True) for step in (0.01, 0.005))
    assert "finer steps" in run.errors.against
    # A method of second order.
    assert run.errors["x.position"].error / finer.errors["x.position"].error == pytest.approx(4.0, rel=0.3)


def test_a_perturbed_run_has_the_error_of_its_linear_mechanics():
    scenario = pendulum(4.0)
    run = simulate_perturbed(scenario, points=400, certify=True)
    exact = simulate(scenario)
    true = abs(run["tip.position.x"].values - exact["tip.position.x"].values).max()
    assert run.errors["tip.position.x"].error == pytest.approx(SAFETY * true, rel=0.02)


MASSES = """
name = "masses"
duration = 1.0
[subsystems.first]
scenario = "oscillator-first"
interfaces.port = { on = "slide", takes = "model", stiffness = "100 N/m" }
[subsystems.second]
scenario = "oscillator-second"
interfaces.port = { on = "slide", takes = "force" }
[[connections]]
between = ["first.port", "second.port"]
[settings]
step = "5 ms"
"""


def test_a_cosimulation_has_the_error_of_its_coupling(tmp_path):
    (tmp_path / "masses.toml").write_text(MASSES)
    file = read_cosimulation(tmp_path / "masses.toml")
    done = file.simulate(certify=True)
    fine = dataclasses.replace(file, settings=file.settings.finer(50)).simulate()
    run, times = done["first"], done["first"].time
    true = abs(run["slide.position"].values - fine["first"]["slide.position"](times)).max()
    assert true > 1e-6
    assert run.errors["slide.position"].error == pytest.approx(true, rel=0.35)  # twice what half the macro step changes
    assert done["second"].errors is not None


def test_events_of_one_instant_may_change_places():
    """Two events within rounding of each other are the same two, whichever is first."""
    first = simulate(swinging(events=(Event("a", lambda x: x, {"x": "rail.position"}),)))
    late = [EventRecord("b", event.time + 1e-7) for event in first.events]
    early = [EventRecord("b", event.time - 1e-7) for event in first.events]
    one, two = (dataclasses.replace(first, events=(*first.events, *more)) for more in (late, early))
    found = compare_solutions(one, two, "the other order")
    assert found.agree
    assert found.shift == pytest.approx(2e-7)


def test_what_is_no_number_in_both_is_the_same():
    run = simulate(swinging())
    values = run.values.copy()
    values[: len(values) // 2, 0] = np.nan
    part = dataclasses.replace(run, values=values, probes=None)
    assert compare_solutions(part, part, "itself")[run.names[0]].error == 0.0
    assert np.isnan(compare_solutions(part, run, "the whole")[run.names[0]].error)
