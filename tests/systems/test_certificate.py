"""Does every run report what it promised and whether it kept it? And can every check fail?"""

import dataclasses
import json
import math

import pytest
from support.machines import cart
from typer.testing import CliRunner

from robodyn import Solver, assemble, simulate
from robodyn.base.symbolic import logical_and, where
from robodyn.cli import app
from robodyn.computation.results import Certificate, Check, OutcomeKind, load, save
from robodyn.description.catalog import SCENARIOS, cartesian_pendulum
from robodyn.description.laws import law
from robodyn.description.model import Block, Event, Recording, ScenarioSequence

ENERGY = "energy balance"
PASSIVE = "passive elements give no energy"
DRIVES = "step size resolves the inputs"
UNSEEN = "no condition change was missed"


@law(force="N", passive=True)
def pushing_damper(velocity):
    """Says that it only takes energy, and gives it."""
    return {"force": 0.5 * velocity}


def sprung(solver=None, **changes):
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 200.0})
    return simulate(cart(spring, initial={"rail.position": 0.1}, duration=2.0, **changes), solver)


def test_a_right_run_has_a_clean_certificate():
    run = sprung()
    assert run.certificate.ok
    assert run.outcome.ok
    assert {check.name for check in run.certificate} >= {ENERGY, PASSIVE}
    assert run.certificate[ENERGY].value == run.statistics.energy_error < 1e-5
    assert run.certificate[PASSIVE].subject == "spring"


def test_what_is_watched_need_not_be_recorded():
    whole, few = sprung(), sprung(recording=Recording(signals=("rail.position",)))
    assert few.names == ("rail.position",)
    both = [[check for check in run.certificate if check.name != "signals between rows"] for run in (few, whole)]
    assert both[0] == both[1]
    assert len(both[0]) == 2


def test_an_element_that_gives_energy_is_told_by_name():
    run = simulate(cart(Block("pump", pushing_damper, on="rail"), initial={"rail.velocity": 1.0}, duration=1.0))
    (broken,) = run.certificate.violated
    assert (broken.name, broken.subject) == (PASSIVE, "pump")
    # The speed grows all the time, and with it the power: it is largest at the end.
    assert broken.time == pytest.approx(1.0)
    assert run.outcome.kind is OutcomeKind.SUSPECT
    assert not run.outcome.ok
    assert not run.outcome.failed
    assert run.outcome.carried_through
    assert "of 'pump'" in run.outcome.sentence


def test_bristles_that_give_energy_by_their_own_numbers_are_told_with_the_remedy():
    # At 5 m/s the level is 2 N and bristles are bent to 4 N: 5 c1 must not be above 8 N.
    numbers = {"stiffness": 200.0, "viscous": 0.0, "coulomb": 2.0, "static": 8.0, "stribeck_velocity": 0.1}
    start = {"rail.velocity": 5.0, "rub.bristle": 0.02}
    for damping, kind in ((1.5, OutcomeKind.FINISHED), (3.0, OutcomeKind.SUSPECT)):
        rub = Block("rub", "lugre_friction", on="rail", parameters=numbers | {"damping": damping})
        run = simulate(cart(rub, initial=start, duration=0.1))
        assert run.outcome.kind is kind
    assert "'rub'" in run.outcome.sentence
    assert "lower that damping" in run.outcome.sentence


def test_energy_that_appears_is_told_with_its_time():
    run = sprung(Solver("euler", step=0.01))
    check = run.certificate[ENERGY]
    assert not check.ok
    assert check.value > 0.5
    assert check.time == pytest.approx(2.0, abs=0.3)
    assert check.remedy in run.outcome.sentence


def test_fixed_steps_that_miss_what_drives_are_told():
    push = Block("push", "sine_reference", parameters={"amplitude": 1.0, "frequency": 100.0}, unit="N")
    source = Block("source", "torque_source", on="rail", inputs={"command": "push.value"})
    machine = cart(push, source, duration=0.5)
    # One step a period: the sine is taken at its zeros, and nothing moves.
    missed = simulate(machine, Solver("rk4", step=0.01))
    assert not missed.certificate[DRIVES].ok
    seen = simulate(machine, Solver("rk4", step=0.0005))
    assert seen.certificate[DRIVES].value == 0.0
    assert abs(seen["rail.velocity"].values).max() > 1e3 * abs(missed["rail.velocity"].values).max()


def test_a_jump_between_fixed_steps_is_no_missed_drive():
    jump = Block("push", _jump)
    source = Block("source", "torque_source", on="rail", inputs={"command": "push.value"})
    run = simulate(cart(jump, source, duration=1.0), Solver("rk4", step=0.001))
    assert run.certificate[DRIVES].ok


def _jump(time):
    return {"value": where(time > 0.123456, 1.0, 0.0)}


def test_what_fixed_steps_pass_over_is_found_or_told():
    """A cart swings beyond 0.0995 m for 20 ms of each 628 ms: a step of 25 ms may begin before and end after that."""
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 200.0})
    far = Event("far", lambda x: x - 0.0995, {"x": "rail.position"})
    scenario = cart(spring, initial={"rail.velocity": 1.0}, events=(far,), duration=30.0)
    for solver in (Solver("rk4", step=0.025), Solver("rk4", step=0.002), Solver()):
        run = simulate(scenario, solver)
        # The coarse ones damp the swing a little.
        assert len(run.events) == 2 * 48 if solver.step != 0.025 else len(run.events) > 2 * 40
        assert run.certificate[UNSEEN].ok
        assert run.certificate[UNSEEN].subject == f"proven on {run.statistics.steps} of {run.statistics.steps} steps"


def test_a_zone_that_fixed_steps_pass_over_is_told():
    """A force that acts between 0.32 and 0.33 m: steps of 50 mm see nothing of it."""
    zone = Block(
        "zone",
        lambda x: {"force": where(logical_and(x > 0.32, x < 0.33), -1.0, 0.0)},
        on="rail",
        inputs={"x": "rail.position"},
    )
    scenario = cart(zone, initial={"rail.velocity": 1.0}, duration=1.0)
    coarse = simulate(scenario, Solver("euler", step=0.05))
    assert coarse.outcome.kind.name == "SUSPECT"
    assert not coarse.certificate[UNSEEN].ok
    assert coarse.certificate[UNSEEN].time == pytest.approx(0.32, abs=1e-6)
    # A mass of 2 kg loses 10 mJ.
    assert simulate(scenario).final["rail.velocity"] == pytest.approx(math.sqrt(1 - 0.01), rel=1e-6)


def test_constraints_that_drift_are_told():
    fast = cartesian_pendulum()
    coarse = simulate(fast, Solver("euler", step=0.05))
    names = {check.name for check in coarse.certificate.violated}
    assert "constraints, positions" in names
    assert simulate(fast).certificate.ok


def test_an_action_that_moves_leaves_the_balance_unchecked():
    kick = Event("kick", lambda t: t - 0.5, {"t": "time"}, action=lambda: {"rail.velocity": 3.0})
    run = simulate(cart(initial={"rail.velocity": 1.0}, events=(kick,), duration=1.0))
    assert run.statistics.energy_error is None
    assert run.certificate.unchecked == ("energy balance: event 'kick' changes states",)
    assert run.outcome.ok


def test_extremes_are_those_of_the_rows():
    run = simulate(SCENARIOS["swinging-arm"]())
    balance = run["energy.balance"].values
    moved = run["energy.kinetic"].max + abs(run["energy.potential"].values - run["energy.potential"].values[0]).max()
    expected = abs(balance - balance[0]).max() / moved
    assert run.certificate[ENERGY].value == pytest.approx(expected, rel=1e-12)
    assert run.certificate[ENERGY].time in run.time[abs(balance - balance[0]) == abs(balance - balance[0]).max()]


def test_a_certificate_outlives_a_file(tmp_path):
    run = simulate(cart(Block("pump", pushing_damper, on="rail"), initial={"rail.velocity": 1.0}), certify=True)
    kept = load(save(run, tmp_path / "pump.run"))
    assert kept.certificate == run.certificate
    assert kept.errors == run.errors
    assert kept.outcome == run.outcome


def test_a_chain_is_as_suspect_as_its_worst_phase():
    bad = cart(Block("pump", pushing_damper, on="rail"), initial={"rail.velocity": 1.0}, duration=1.0)
    good = dataclasses.replace(cart(duration=1.0), name="after")
    run = simulate(ScenarioSequence("both", (bad, good)))
    assert run.time[-1] == pytest.approx(2.0)
    assert run.outcome.suspect
    assert run.outcome.time == pytest.approx(2.0)
    assert [check.subject for check in run.certificate.violated] == ["pump"]


def test_what_is_not_a_number_is_not_kept():
    assert not Check("a", math.nan, 1.0).ok
    assert not Certificate((Check("a", 0.5, 1.0), Check("a", math.nan, 1.0)))["a"].ok


def test_the_command_line_says_so(tmp_path):
    runner = CliRunner()
    coarse = ["--solver", "euler", "--step", "0.05", "--out", str(tmp_path), "--json"]
    message = runner.invoke(app, ["run", "pendulum", *coarse])
    assert message.exit_code == 3
    said = json.loads(message.stdout)
    assert said["outcome"]["kind"] == "suspect"
    assert {"name", "value", "limit", "ok"} <= said["certificate"][0].keys()
    shown = runner.invoke(app, ["show", str(tmp_path / "pendulum.run")])
    assert "energy balance" in shown.stdout
    assert "VIOLATED" in shown.stdout


QUICK = ("pendulum", "bouncing-ball", "swinging-arm", "scara-ptp", "four-bar", "breaking-pendulum")


@pytest.mark.parametrize("name", QUICK)
def test_the_catalogue_is_clean(name):
    run = simulate(SCENARIOS[name]())
    assert run.certificate.ok, run.certificate.violated
    assert len(run.certificate) + len(run.certificate.unchecked) > 0


def test_every_passive_law_is_watched():
    friction = Block("friction", "stick_friction", on="rail", parameters={"coulomb": 1.0})
    gear = Block("gear", "backlash_gear", on="rail", parameters={"stiffness": 100.0, "gap": 0.01})
    system = assemble(cart(friction, gear))
    message = {(watched.invariant.name, watched.subject) for watched in system.watched}
    assert {("HOLDS", "friction"), ("SLIDES", "friction"), ("PASSIVE", "friction")} <= message
    assert {("SIDE", "gear.upper"), ("SIDE", "gear.lower"), ("PASSIVE", "gear")} <= message
