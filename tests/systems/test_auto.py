"""The method auto: explicit while that pays, stiff while that pays, with the reason reported."""

import dataclasses
import json
import re
import shutil
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from support.machines import cart
from support.sampled_loops import cascade
from typer.testing import CliRunner

from robodyn.base.errors import ModelError
from robodyn.cli import app
from robodyn.computation.assembly import assemble
from robodyn.computation.results import OutcomeKind, compare, load, save
from robodyn.computation.simulation import compile_system, simulate
from robodyn.description.catalog import cartesian_pendulum, find_scenario
from robodyn.description.files import read_scenario
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Joint,
    Machine,
    Mechanism,
    PrescribedMotion,
    Recording,
    Scenario,
    Solver,
)
from robodyn.exchange.codegen import write_c
from robodyn.exchange.fmi import simulate_fmu, write_fmu

compiled = pytest.mark.skipif(not (shutil.which("cc") or find_spec("ziglang")), reason="no C compiler")


PLACE = Recording(signals=("rail.position",))
"""Two runs are compared in the signals that both have: thousands of rows of the others would take most of the time."""


def oscillator_force(position, velocity, *, mu):
    return {"force": mu * (1 - position**2) * velocity - position}


def van_der_pol(mu=100.0, duration=200.0):
    block = Block("oscillator", oscillator_force, on="rail", parameters={"mu": mu})
    return cart(block, duration=duration, mass=1.0, initial={"rail.position": 2.0})


def push(amplitude=10.0, frequency=0.5):
    reference = Block("push", "sine_reference", unit="N", parameters={"amplitude": amplitude, "frequency": frequency})
    return reference, Block("drive", "torque_source", on="rail", inputs={"command": "push.value"})


def bristles(duration=2.0, **fields):
    values = {"stiffness": 1e5, "damping": 300.0, "viscous": 0.4, "coulomb": 3.0, "static": 4.0}
    friction = Block("friction", "lugre_friction", on="rail", parameters=values | {"stribeck_velocity": 0.01})
    return cart(*push(), friction, duration=duration, **fields)


def dry(duration=2.0):
    values = {"coulomb": 3.0, "smoothing_velocity": 1e-4}
    # The push is a little stronger than the friction: the cart rests most of the time.
    return cart(*push(3.2), Block("friction", "coulomb_friction", on="rail", parameters=values), duration=duration)


def braked():
    """2 kg on 1e5 N s/m: what it does settles within 20 us."""
    return cart(*push(), Block("brake", "damper", on="rail", parameters={"damping": 1e5}))


def grip_force(velocity, level):
    return {"force": -level * velocity}


def gripped(duration=3.0):
    """A cart that a brake of 1e5 N s/m holds from 1 s to 2 s and nothing else."""
    points = {"times": (0.0, 1.0, 1.001, 2.0, 2.001, 3.0), "points": (0.0, 0.0, 1e5, 1e5, 0.0, 0.0)}
    level = Block("level", "table_reference", unit="N s/m", parameters=points)
    grip = Block("grip", grip_force, on="rail", inputs={"level": "level.value"})
    return cart(*push(), level, grip, duration=duration)


def stiff_share(run):
    """Part of the time that the stiff method covers, as the run reports it."""
    found = re.match(r"rodas4p for (\S+) of the time", run.statistics.extra["method"])
    return float(found.group(1)) if found else 0.0


def tried(run):
    return run.statistics.steps + run.statistics.rejected


def test_auto_is_the_default():
    assert Solver().method == "auto"
    assert simulate(find_scenario("pendulum"), Solver()).provenance.solver["method"] == "auto"


@pytest.mark.parametrize("make", [van_der_pol, bristles, dry])
def test_a_stiff_motion_takes_about_the_steps_of_a_stiff_method_and_is_as_accurate(make):
    scenario = make()
    run = simulate(scenario, Solver())
    by_hand = {method: simulate(scenario, Solver(method)) for method in ("dopri5", "rodas4p")}
    exact = simulate(scenario, Solver("rodas4p", rtol=1e-9, atol=1e-11), recording=PLACE)
    assert stiff_share(run) > 0.5
    assert tried(run) < 1.3 * tried(by_hand["rodas4p"])
    assert 3 * tried(run) < tried(by_hand["dopri5"])
    errors = {key: compare(r, exact)["rail.position"].max_abs for key, r in by_hand.items()}
    # The absolute tolerance is 1e-8 m.
    assert compare(run, exact)["rail.position"].max_abs < 3 * max(errors.values()) + 2e-8


def test_what_is_stiff_for_a_while_is_stiff_for_that_while():
    run = simulate(gripped(), Solver())
    # From 1 s to 2 s of 3 s; some steps pass before either change is seen.
    assert 0.25 < stiff_share(run) < 0.4
    exact = simulate(gripped(), Solver("rodas4p", rtol=1e-10, atol=1e-12), recording=PLACE)
    assert compare(run, exact)["rail.position"].max_abs < 1e-5
    assert run.statistics.steps < 0.05 * simulate(gripped(), Solver("dopri5")).statistics.steps


@pytest.mark.parametrize("what", ["double-pendulum", "bouncing-ball", "four-bar", cascade])
def test_where_nothing_is_stiff_it_is_dopri5_bit_by_bit(what):
    scenario = dataclasses.replace(find_scenario(what), duration=0.5) if isinstance(what, str) else what()
    run, same = (simulate(scenario, Solver(method)) for method in ("auto", "dopri5"))
    assert run.statistics.extra["method"].startswith("dopri5: ")
    assert np.array_equal(run.time, same.time)
    assert np.array_equal(run.values, same.values, equal_nan=True)
    assert run.events == same.events


def test_the_choice_and_its_reason_stay_with_the_run(tmp_path):
    run = simulate(bristles(), Solver())
    message = run.statistics.extra["method"]
    reason = r"a fast-decaying \(stiff\) part limited the explicit steps .*"
    assert re.fullmatch(rf"rodas4p for .* of the time.*, dopri5 otherwise: {reason}", message)
    save(run, tmp_path / "bristles.run")
    kept = load(tmp_path / "bristles.run")
    assert kept.statistics.extra["method"] == message
    assert f"method {message}" in " ".join(kept.summary(statistics=True).split())


def test_an_explicit_method_by_hand_names_stiffness():
    (warning,) = simulate(braked(), Solver("dopri5")).warnings
    since, step = re.match(r"stiff from t = (\S+) s: .* limited by stability \(h = (\S+) s\)", warning).groups()
    assert float(since) < 0.01
    # The method's stability ends at h = 3.3 m / d.
    assert 0.6 < float(step) / (3.3 * 2.0 / 1e5) < 1.2
    assert warning.endswith("use method auto or rodas4p")
    assert simulate(braked(), Solver("heun_euler", rtol=1e-4)).warnings[0].startswith("stiff from t = ")


@pytest.mark.parametrize("method", ["auto", "rodas4p"])
def test_there_is_no_such_warning_where_the_method_is_right(method):
    assert simulate(bristles(), Solver(method)).warnings == ()
    assert simulate(find_scenario("double-pendulum"), Solver("dopri5")).warnings == ()


def test_a_step_too_small_for_one_method_is_given_to_the_other():
    by_hand = simulate(braked(), Solver("dopri5", min_step=1e-4))
    assert by_hand.outcome.kind is OutcomeKind.STEP_TOO_SMALL
    run = simulate(braked(), Solver("auto", min_step=1e-4))
    assert run.outcome.kind is not OutcomeKind.STEP_TOO_SMALL
    assert run.outcome.time == 1.0
    assert "explicit steps became too small at" in run.statistics.extra["method"]


def blow_up(velocity):
    return {"force": velocity**3}


def test_where_no_method_goes_on_both_are_named():
    scenario = cart(Block("runaway", blow_up, on="rail"), initial={"rail.velocity": 1.0}, mass=1.0)
    run = simulate(scenario, Solver())
    assert run.outcome.failed
    # v_dot = v^3 reaches infinity at 0.5 s.
    assert run.outcome.time == pytest.approx(0.5, abs=1e-3)


def test_a_record_that_explicit_steps_would_fill_lasts(monkeypatch):
    monkeypatch.setattr(sys.modules["robodyn.computation.engine.integrate"], "LARGEST_RECORD", 2**20)
    assert simulate(bristles(), Solver("dopri5")).outcome.kind is OutcomeKind.RECORD_FULL
    assert simulate(bristles(), Solver()).outcome.ok


def test_an_interrupted_run_keeps_its_stiff_part():
    def interrupt(t, h, steps):
        if t > 60.0:
            raise KeyboardInterrupt

    # So long that the keyboard is looked at on the way.
    run = simulate(van_der_pol(1000.0, 1e6), Solver(rtol=1e-10), progress=interrupt)
    assert run.outcome.kind is OutcomeKind.INTERRUPTED
    assert 60.0 < run.outcome.time < 1e6
    assert stiff_share(run) > 0.5


def test_other_parameters_need_no_other_code():
    scenario = dataclasses.replace(bristles(), machine=dataclasses.replace(bristles().machine, tunable=("cart.mass",)))
    run = simulate(compile_system(assemble(scenario), Solver()), parameters={"cart.mass": 3.0})
    same = simulate(bristles(mass=3.0), Solver())
    assert stiff_share(run) > 0.5
    assert compare(run, same)["rail.position"].max_abs < 1e-6


@compiled
def test_an_exported_program_chooses_the_same_steps(tmp_path):
    scenario = dataclasses.replace(gripped(1.5), solver=Solver("auto"), recording=Recording(rate=50.0))
    assert stiff_share(simulate(scenario)) > 0.2
    assert write_c(scenario, tmp_path).agreement.equal


@compiled
def test_a_unit_chooses_the_same_steps(tmp_path):
    scenario = dataclasses.replace(gripped(1.5), solver=Solver("auto"), recording=Recording(rate=50.0))
    made = write_fmu(scenario, tmp_path / "grip.fmu", fmi=3)
    run, same = simulate_fmu(made.path, step=0.02), simulate(scenario)
    # The unit's steps meet its communication points.
    np.testing.assert_allclose(run["rail.position"].values, same["rail.position"](run.time), atol=1e-6)


def test_constraints_on_the_level_of_positions_have_no_method_to_choose():
    scenario = cartesian_pendulum()
    scenario = dataclasses.replace(
        scenario, constraint_method=dataclasses.replace(scenario.constraint_method, method="index3")
    )
    with pytest.raises(
        ModelError, match="auto cannot be combined with the constraint method 'index3'.*generalised_alpha"
    ):
        simulate(scenario, Solver())


FILE = """
name = "bristles"
duration = 1.0
gravity = [0.0, 0.0, 0.0]

[bodies.cart]
mass = 2.0

[joints.rail]
kind = "prismatic"
parent = "ground"
child = "cart"
axis = [1, 0, 0]

[blocks.friction]
law = "lugre_friction"
on = "rail"
parameters = { stiffness = 1e5, damping = 300.0, viscous = 0.4, coulomb = 3.0, static = 4.0, stribeck_velocity = 0.01 }

[blocks.push]
law = "constant_force"
on = "rail"
parameters = { value = 10.0 }
"""


def test_a_file_and_the_command_line_take_it_and_tell_it(tmp_path):
    path = tmp_path / "bristles.toml"
    path.write_text(FILE + '\n[solver]\nmethod = "auto"\n')
    assert read_scenario(path).solver == Solver("auto")
    done = CliRunner().invoke(app, ["run", str(path), "--json", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["statistics"]["extra"]["method"].startswith("rodas4p for ")
    path.write_text(FILE)
    shown = CliRunner().invoke(app, ["run", str(path), "--solver", "dopri5", "--out", str(tmp_path)])
    assert "stiff from t = " in shown.stdout


@pytest.mark.parametrize("method", ["auto", "rodas4p"])
def test_the_work_of_a_prescribed_motion_is_right_in_stiff_steps(method):
    """A quick pole makes steps stiff, and the motion is right in steps of any length: the work of its force must be."""
    arm = Mechanism(
        "arm",
        [Body("arm", 2.0, (0.3, 0, 0), (0.01, 0.05, 0.05))],
        [Joint("j", "revolute", GROUND, "arm", axis=(0, 1, 0))],
    )
    numbers = {"target": 1.0, "speed": 2.0, "top_acceleration": 10.0}
    reference = Block("ref", "trapezoid_reference", parameters=numbers)
    motion = PrescribedMotion("motion", "j", "ref.position", "ref.velocity", "ref.acceleration")
    machine = Machine("arm", arm, (reference,), constraints=(motion,))
    run = simulate(Scenario("arm", machine, 1.0, constraint_method=ConstraintMethod(pole=500.0)), Solver(method))
    # From rest to rest: what gravity did, with a minus.
    assert run["energy.work"].values[-1] == pytest.approx(-2.0 * 9.81 * 0.3 * np.sin(1.0), abs=1e-4)
    assert run.outcome.ok


def test_work_of_a_force_that_time_alone_gives_is_right_at_every_row_of_long_stiff_steps():
    """Its motion is a polynomial, exact in any step: between the ends of such steps its work must be right too."""
    disc = Mechanism("disc", [Body("disc", 1.0, inertia=(0.5, 0.5, 0.5))], [Joint("j", "revolute", GROUND, "disc")])
    ramp = Block("ramp", "table_reference", parameters={"times": (0.0, 1.0), "points": (-1.0, 3.0)})
    drive = Block("drive", "torque_source", on="j", inputs={"command": "ramp.value"}, parameters={"torque_limit": 9.0})
    run = simulate(Scenario("disc", Machine("disc", disc, (ramp, drive)), 1.0), Solver("rodas4"))
    # tau = 4 t - 1, omega = (2 t^2 - t) / J, W = J omega^2 / 2.
    t = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(run["energy.work"](t), (2 * t**2 - t) ** 2, atol=2e-5)
    assert run.outcome.ok
