"""Between its rows a run is as good as its solver, for every signal, whatever is recorded and after it was saved."""

import dataclasses

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintFunction,
    ConstraintMethod,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Recording,
    Scenario,
    Solver,
    load,
    save,
    simulate,
)
from robodyn.base.symbolic import cos
from robodyn.computation.simulation import interpolation_errors
from robodyn.computation.simulation.certificate import BETWEEN, BETWEEN_LIMIT, BETWEEN_SHARE
from robodyn.description.catalog import bouncing_ball, pendulum, two_link_loop

SPEED, TORQUE, G = 3.0, 5.0, 9.81
TIMES = np.linspace(0.0, 10.0, 2003)


def pull(position):
    return {"torque": TORQUE * cos(position)}


def hold(position):
    return {"torque": -TORQUE * cos(position)}


def tip_acceleration(position, velocity):
    return {"x": -(velocity**2) * cos(position)}


def crank(**recording) -> Scenario:
    """A crank that turns at constant speed under two torques that cancel: steps may be of any length."""
    body = Body("crank", mass=1.0, inertia=(1, 1, 1))
    hinge, tip = Joint("hinge", "revolute", GROUND, "crank"), Point("tip", "crank", (1, 0, 0))
    laws = {"pull": pull, "hold": hold, "acceleration": tip_acceleration}
    blocks = tuple(Block(name, law, "hinge") for name, law in laws.items())
    machine = Machine("crank", Mechanism("crank", (body,), (hinge,), (tip,)), blocks)
    return Scenario("crank", machine, 10.0, {"hinge.velocity": SPEED}, recording=Recording(**recording))


def exact_crank(t: np.ndarray) -> dict[str, np.ndarray]:
    angle = SPEED * t
    return {
        "hinge.position": angle,
        "tip.position.x": np.cos(angle),
        "tip.position.y": np.sin(angle),
        "tip.velocity.x": -SPEED * np.sin(angle),
        "acceleration.x": -(SPEED**2) * np.cos(angle),
        "pull.torque": TORQUE * np.cos(angle),
    }


def errors(run, exact) -> dict[str, float]:
    return {name: np.max(np.abs(run[name](TIMES) - y)) / np.max(np.abs(y)) for name, y in exact.items()}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_crank_goes_round_in_long_steps_and_its_tip_in_a_circle(rtol):
    run = simulate(crank(), Solver("dopri5", rtol=rtol, atol=1e-2 * rtol))
    assert run.statistics.steps < 30
    for name, error in errors(run, exact_crank(TIMES)).items():
        assert error < 10 * rtol, name


def test_rows_are_added_for_signals_that_need_them_and_for_no_others():
    run = simulate(crank(signals=("hinge.position", "hinge.velocity")))
    assert run.time.size == 4 * run.statistics.steps + 1
    assert simulate(crank()).time.size > 200


def test_accelerations_follow_the_positions_between_rows():
    run = simulate(pendulum(), Solver("dopri5", rtol=1e-6, atol=1e-8))
    expected = -G * np.sin(run["hinge.position"](TIMES))
    assert np.max(np.abs(run["hinge.acceleration"](TIMES) - expected)) < 1e-5 * G


@pytest.mark.parametrize("constraint_method", ["baumgarte", "projection"])
def test_a_slider_crank_is_right_between_rows(constraint_method):
    short, long = 0.15, 0.3
    bodies = Body("crank", 0.4, (short / 2, 0, 0)), Body("rod", 0.2, (long / 2, 0, 0)), Body("block", 0.1)
    joints = (
        Joint("drive", "revolute", GROUND, "crank"),
        Joint("pin", "revolute", "crank", "rod", origin=(short, 0, 0)),
        Joint("slide", "prismatic", GROUND, "block", axis=(1, 0, 0)),
    )
    mechanism = Mechanism("slider", bodies, joints, (Point("end", "rod", (long, 0, 0)), Point("eye", "block")))
    turn = ConstraintFunction("turn", ("drive",), lambda angle, time: angle - 20 * time)
    machine = Machine("slider", mechanism, constraints=(LoopJoint("ball", "end", "eye"), turn))
    start = {"drive.velocity": 20.0, "slide.position": short + long}
    run = simulate(
        Scenario(
            "s", machine, 1.0, start, initialisation="assembled", constraint_method=ConstraintMethod(constraint_method)
        )
    )
    t = np.linspace(0.0, 1.0, 1501)
    y = short * np.sin(20 * t)
    exact = short * np.cos(20 * t) + np.sqrt(long**2 - y**2)
    # Of two lengths of some 0.3 m, to about the relative tolerance 1e-6.
    assert np.max(np.abs(run["slide.position"](t) - exact)) < 5e-6
    assert np.max(np.abs(run["end.position.x"](t) - exact)) < 5e-6
    assert max(error for name, error in interpolation_errors(run).items() if name != "energy.balance") < 1e-4


def test_nothing_is_interpolated_across_a_bounce():
    run = simulate(bouncing_ball(duration=2.0))
    bounces = sorted({event.time for event in run.events})
    assert len(bounces) >= 2
    position, velocity = run["height.position"], run["height.velocity"]
    for bounce, following in zip(bounces, [*bounces[1:], 2.0], strict=True):
        t = bounce + np.linspace(0.0, 0.999, 50) * (following - bounce)
        flown = t - bounce
        v = velocity(bounce) - G * flown
        assert np.max(np.abs(velocity(t) - v)) < 1e-9
        assert np.max(np.abs(position(t) - position(bounce) - velocity(bounce) * flown + G / 2 * flown**2)) < 1e-9


def test_a_run_that_was_saved_is_the_same_between_its_rows(tmp_path):
    run = simulate(crank())
    again = load(save(run, tmp_path / "crank.run"))
    for name in run.names:
        assert np.array_equal(again[name](TIMES), run[name](TIMES)), name
    assert interpolation_errors(again) == interpolation_errors(run)


def test_samples_at_a_rate_are_joined_by_smooth_curves():
    run = simulate(crank(rate=20.0))
    assert run.time.size == 201
    # Six points 0.15 rad apart: 0.005 0.15^6 = 6e-8 in the middle, ten times that at the ends.
    for name, error in errors(run, exact_crank(TIMES)).items():
        assert error < 3e-6, name


def test_probes_tell_that_samples_are_too_far_apart():
    run = simulate(crank(rate=0.7))
    true = errors(run, exact_crank(TIMES))
    message = interpolation_errors(run)
    for name in ("tip.position.x", "tip.velocity.x", "pull.torque"):
        assert true[name] > 0.3
        assert 0.1 * true[name] < message[name] <= 1.01 * true[name]
    assert message["hinge.position"] < 1e-9


def test_probes_are_of_the_solution():
    run = simulate(crank())
    exact = exact_crank(run.probes.time)
    assert run.probes.time.size > 5
    assert not np.isin(run.probes.time, run.time).any()
    for name, y in exact.items():
        assert run.probes.values[:, run.names.index(name)] == pytest.approx(y, abs=1e-9 * np.max(np.abs(y))), name


def test_a_tick_is_not_interpolated_across_in_samples():
    """Torques jump at ticks: between samples that a tick lies between, they do not overshoot."""
    scenario = dataclasses.replace(two_link_loop(), duration=0.2, recording=Recording(rate=700.0))
    run = simulate(scenario)
    t = np.linspace(0.0, run.time[-1], 5001)
    row = np.minimum(np.searchsorted(run.time, t, side="right") - 1, run.time.size - 2)
    for name in ("shoulder.acceleration", "elbow.acceleration"):
        signal = run[name]
        ends = np.stack([signal.values[row], signal.values[row + 1]])
        slack = 1e-9 * np.max(np.abs(signal.values))
        assert np.all(signal(t) <= ends.max(axis=0) + slack)
        assert np.all(signal(t) >= ends.min(axis=0) - slack)


SOLVERS = Solver("dopri5"), Solver("rk4", step=1e-2), Solver("rodas4p")


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.method)
def test_what_is_recorded_does_not_change_the_motion(solver):
    ends = [
        simulate(pendulum(), solver, recording=recording).end
        for recording in (Recording(), Recording(rate=30.0), Recording(refine=3), Recording(times=(10.0,)))
    ]
    assert all(end == ends[0] for end in ends)


def test_rounding_of_the_acceleration_of_a_locked_joint_raises_no_alarm():
    """A slide that a pin locks against a spring of 2 MN: its acceleration is what rounding leaves of huge forces."""
    bodies = [
        Body("arm", 2.0, (0.1, 0, 0.05), (0.01, 0.02, 0.02)),
        Body("shoe", 1.0, (0.05, 0, 0.02), (0.01, 0.01, 0.01)),
    ]
    joints = [Joint("turn", "revolute", GROUND, "arm", axis=(0, 1, 0))]
    joints.append(Joint("slide", "prismatic", "arm", "shoe", (0.1, 0, 0.05), axis=(-0.8, 0, -0.6)))
    points = [Point("eye", "shoe", (0.1, 0, 0.1)), Point("nail", "arm", (0, 0, 0))]
    spring = Block("spring", "spring", on="slide", parameters={"stiffness": 8e6, "damping": 3.0})
    machine = Machine(
        "locked", Mechanism("locked", bodies, joints, points), (spring,), constraints=(LoopJoint("pin", "eye", "nail"),)
    )
    start = {"turn.velocity": 2.0, "slide.position": 0.25}
    run = simulate(Scenario("locked", machine, 0.25, start, solver=Solver("rodas4p", rtol=1e-8, atol=1e-9)))
    assert np.max(np.abs(run["slide.acceleration"].values)) < 1e-8
    assert run.outcome.ok
    # What rounding shakes is judged by the check that would raise the alarm.
    assert interpolation_errors(run, BETWEEN_SHARE)["slide.acceleration"] < BETWEEN_LIMIT


@pytest.mark.filterwarnings("ignore:the run needs")
def test_the_briefest_run_can_be_read_between_its_rows():
    """Steps as short as settings may be."""
    run = simulate(pendulum(), Solver("rk4", step=1e-99, max_steps=5))
    assert 0.0 < run.time[-1] < 1e-97
    assert np.isfinite(interpolation_errors(run)["hinge.acceleration"])


@pytest.mark.parametrize("make", [bouncing_ball, pendulum, two_link_loop, crank])
def test_the_engine_judges_reading_between_rows_as_a_stored_run_is_judged(make):
    """Knots, rates, few rows, sampled signals; the last digits of quotients may differ."""
    run = simulate(dataclasses.replace(make(), duration=0.5), Solver("rodas4", rtol=1e-3, atol=1e-3))
    errors = interpolation_errors(run, BETWEEN_SHARE)
    (check,) = (check for check in run.certificate.checks if check.name == BETWEEN)
    assert check.value == pytest.approx(max(errors.values()), rel=1e-9, abs=1e-13)
    assert check.value == pytest.approx(errors[check.subject], rel=1e-9, abs=1e-13)
