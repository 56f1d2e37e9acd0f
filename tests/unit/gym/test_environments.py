"""Is a scenario as an environment what it is as a scenario, and what Gymnasium expects?"""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from robodyn.computation.assembly import assemble  # noqa: E402
from robodyn.computation.engine.pack import lanes_are_there  # noqa: E402
from robodyn.computation.simulation import compile_system  # noqa: E402
from robodyn.computation.simulation.stepping import SteppedBatch, SteppedRuns, why_not_together  # noqa: E402
from robodyn.exchange.gym import ScenarioEnv, ScenarioVectorEnv, Task  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "cart_pole.py"
# Steps of the solver end at those of the environment in one and at ticks in the other: its tolerance of 1e-6, magnified
# by a pole that falls.
ACCURACY = 1e-5


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("cart_pole", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def task(example):
    return example.make_task()


def play(env, actions, seed=1):
    seen, _ = env.reset(seed=seed)
    rows = [(seen, 0.0, False, False)]
    for action in actions:
        rows.append(env.step(action)[:4])
    return rows


@pytest.mark.filterwarnings("ignore:.*(symmetric and normalized|too low|too high|render modes)")
def test_gymnasiums_own_checker_finds_nothing_wrong(task):
    check_env(ScenarioEnv(task))


def test_without_a_push_the_pole_falls_as_in_a_simulation(example, task):
    env = ScenarioEnv(task)
    seen, _ = env.reset(seed=1)
    run = rd.simulate(replace(example.describe_cart_pole(), initial=dict(zip(example.SIGNALS, seen, strict=True))))
    while not (step := env.step([0.0]))[2]:
        assert not step[3]
    assert step[4]["time"] == pytest.approx(run.outcome.time, abs=ACCURACY)
    assert step[4]["outcome"] == run.outcome.sentence
    assert step[0] == pytest.approx([run[name].final for name in example.SIGNALS], abs=ACCURACY)
    assert step[1] == pytest.approx(0.0, abs=1e-9), "the reward where the pole leans by 0.2 rad"


def test_a_policy_does_what_a_sampled_block_with_its_gains_does(example, task):
    def policy(x, v, angle, rate):
        return {"force": sum(gain * value for gain, value in zip(example.GAINS, (x, v, angle, rate), strict=True))}

    env, start = ScenarioEnv(task), {"pole.position": 0.03, "cart.velocity": 0.1}
    scenario = example.describe_cart_pole()
    inputs = dict(zip(("x", "v", "angle", "rate"), example.SIGNALS, strict=True))
    block = rd.Block("policy", policy, inputs=inputs, period=example.STEP, hold={"force": 0.0}, acts={"force": "cart"})
    machine = replace(scenario.machine, blocks=(block,))
    run = rd.simulate(replace(scenario, machine=machine, initial=start, duration=1.0))
    env.reset(seed=0)
    seen, _ = env.reset(options={"changes": {f"initial.{name}": start.get(name, 0.0) for name in example.SIGNALS}})
    for k in range(50):
        seen = env.step([example.GAINS @ seen])[0]
        assert seen == pytest.approx([run[name](example.STEP * (k + 1)) for name in example.SIGNALS], abs=ACCURACY)


@pytest.mark.parametrize(("threads", "lanes"), [(3, False), (1, True), (2, True)])
def test_robots_of_a_vector_are_those_of_single_environments_to_the_last_bit(task, threads, lanes):
    actions = np.random.default_rng(2).uniform(-3, 3, (80, 4, 1)).astype(np.float32)
    many = ScenarioVectorEnv(task, 4, threads, lanes)
    rows = play(many, actions, seed=5)
    for k in range(4):
        single, ended = ScenarioEnv(task), False
        seen, _ = single.reset(seed=5 + k)
        assert seen.tolist() == rows[0][0][k].tolist()
        for action, row in zip(actions[:, k], rows[1:], strict=True):
            # An episode that has ended begins anew with the next step, whose action is not used.
            step = (single.reset()[0], 0.0, False, False) if ended else single.step(action)[:4]
            ended = step[2] or step[3]
            assert (step[0].tolist(), *step[1:]) == (row[0][k].tolist(), *(part[k] for part in row[1:]))
    assert any(row[2].any() for row in rows[1:]), "poles fall"
    packs = many.episodes.robots.packs
    assert [pack is not None and pack.filled > 1.5 for pack in packs] == [lanes and lanes_are_there()] * threads
    many.close()


def test_an_episode_is_truncated_at_the_end_of_the_duration_and_rewards_may_be_functions(example, task):
    short = replace(task, scenario=replace(task.scenario, duration=0.05), reward=lambda seen: -seen["pole.position"])
    rows = play(ScenarioEnv(short), [[0.0]] * 3)
    assert [row[3] for row in rows] == [False, False, False, True]
    assert [row[1] for row in rows[1:]] == [-row[0][2] for row in rows[1:]]


def test_every_problem_of_a_task_is_reported_at_once(task):
    wrong = Task(
        task.scenario,
        actions={"push.constnt": (-1.0, 1.0), "push.constant": (1.0, -1.0)},
        observations=["pole.angle"],
        reward="1 - (pole.position / 0.2)^2",
        step=20.0,
        random={"initial.pole.positon": (0.0, 1.0), "push.constant": (0.0, 1.0)},
    )
    with pytest.raises(rd.ModelError) as refused:
        ScenarioEnv(wrong)
    for words in ("'push.constant'", "lowest and a highest", "'pole.position'", "step: must be", "no such state"):
        assert words in str(refused.value)
    assert "random.push.constant: has no effect" in str(refused.value)
    with pytest.raises(rd.ModelError, match=r"num_envs: must be at least 1"):
        ScenarioVectorEnv(replace(task, reward=lambda seen: 0.0), 0, threads=2)
    env = ScenarioEnv(task)
    env.reset()
    for action in ([11.0], [np.nan], [0.0, 0.0]):
        with pytest.raises(ValueError, match=r"push.constant -10 to 10, is .*ClipAction"):
            env.step(action)


def test_a_number_that_decides_when_references_jump_is_no_action(task):
    step = rd.Block("step", "step_reference", parameters={"at": 0.1, "after": 1.0})
    machine = replace(task.scenario.machine, blocks=(*task.scenario.machine.blocks, step))
    with pytest.raises(rd.ModelError, match="step.at: decides when references jump"):
        ScenarioEnv(replace(task, scenario=replace(task.scenario, machine=machine), actions={"step.at": (0.0, 1.0)}))


# --------------------------------------------------------------------------------------------------
# Robots that go through fixed steps together are those that the engine carries.


def fixed(task, **changes):
    """The cart-pole in steps of 10 ms."""
    return replace(task, scenario=replace(task.scenario, solver=rd.Solver("rk4", step=0.01), **changes))


def both(scenario, changing, step, starts, actions):
    """Signals after each step and ends of the runs, together and by the engine."""
    compiled, count = compile_system(assemble(scenario)), len(starts)
    results = []
    for kind in (SteppedBatch, SteppedRuns):
        robots = kind(compiled, changing, step, count)
        robots.begin(list(range(count)), {}, {name: np.array([start[name] for start in starts]) for name in starts[0]})
        going, signals, ended = np.ones(count, bool), [robots.signals.copy()], {}
        for numbers in actions:
            robots.advance(np.tile(numbers, (count, 1)) if np.ndim(numbers) < 2 else numbers, going)
            ended |= {k: (end.kind, end.time) for k, end in robots.outcomes.items()}
            signals.append(np.where(going[:, None], robots.signals, 0.0))
            going[list(robots.outcomes)] = False
        results.append((np.array(signals), ended))
    return results


def test_robots_that_fall_together_fall_as_the_engine_lets_them(task):
    random = np.random.default_rng(0)
    starts = [{"pole.position": angle} for angle in random.uniform(-0.1, 0.1, 6)]
    actions = random.uniform(-3, 3, (60, 6, 1))
    (signals, ended), (others, others_ended) = both(fixed(task).scenario, ["push.constant"], 0.02, starts, actions)
    # The engine finds an event on the polynomial of a step, of order 3, here a shorter step ends there.
    assert signals == pytest.approx(others, abs=1e-6)
    assert ended.keys() == others_ended.keys() == set(range(6)), "all fall"
    for k, (kind, time) in ended.items():
        assert (kind, time) == (others_ended[k][0], pytest.approx(others_ended[k][1], abs=1e-7))


def test_a_zone_narrower_than_a_step_ends_an_episode_and_one_that_is_not_reached_does_not():
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "mass", axis=(1.0, 0.0, 0.0))
    push = rd.Block("push", "constant_reference", parameters={"constant": 0.0})
    drive = rd.Block("drive", "torque_source", on="slide", inputs={"command": "push.value"})
    machine = rd.Machine("slide", rd.Mechanism("slide", (rd.Body("mass", mass=1.0),), (slide,)), (push, drive))
    # 2 mm wide from 122.4 mm on, where the mass makes 10 mm in a step of the solver.
    inputs = {"x": "slide.position"}
    zone = rd.Event("zone", lambda x: 1e-6 - (x - 0.1234) ** 2, inputs, terminal=True, direction="rising")
    scenario = rd.Scenario("slide", machine, 2.0, events=(zone,), solver=rd.Solver("rk4", step=0.01))
    for speed, force, farthest in ((1.0, 0.0, 2.0), (0.4948, -1.0, 0.12241), (0.4947, -1.0, 0.12236)):
        start = {"slide.velocity": speed}
        (_, ended), (_, others) = both(scenario, ["push.constant"], 0.02, [start], [[force]] * 60)
        assert ended.keys() == others.keys() == ({0} if farthest > 0.1224 else set())
        if ended:
            # s = v t + F t^2 / 2
            arrival = 2 * 0.1224 / (speed + np.sqrt(speed**2 + 2 * force * 0.1224))
            assert ended[0][1] == pytest.approx(arrival, abs=1e-9)


def sampled_axis():
    """An axis under LuGre friction with a PID controller every millisecond."""
    rod = rd.Body("rod", mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.0, 0.1, 0.1))
    hinge = rd.Joint("hinge", "revolute", rd.GROUND, "rod", axis=(0.0, -1.0, 0.0))
    gains = {"proportional": 200.0, "integral": 100.0, "derivative": 15.0, "limit": 50.0}
    inputs = {"target": "goal.value", "position": "hinge.position", "velocity": "hinge.velocity"}
    friction = {"stiffness": 1e4, "damping": 10.0, "viscous": 0.1, "coulomb": 1.0, "static": 1.4}
    blocks = (
        rd.Block("goal", "constant_reference", parameters={"constant": 0.0}),
        rd.Block("servo", "sampled_pid", inputs=inputs, parameters=gains, period=1e-3),
        rd.Block("drive", "torque_source", on="hinge", inputs={"command": "servo.command"}),
        rd.Block("friction", "lugre_friction", on="hinge", parameters=friction | {"stribeck_velocity": 0.05}),
    )
    machine = rd.Machine("axis", rd.Mechanism("axis", (rod,), (hinge,)), blocks)
    return rd.Scenario("axis", machine, 2.0, solver=rd.Solver("rosw2", step=5e-4))


def test_sampled_control_and_stiff_steps_are_the_same_together():
    starts, goals = [{"hinge.position": angle} for angle in (0.0, 0.1, -0.2)], np.array([[0.3], [0.1], [-0.1]])
    (signals, ended), (others, _) = both(sampled_axis(), ["goal.constant"], 0.01, starts, [goals, -goals] * 10)
    assert not ended
    assert np.ptp(signals[:, 0, 0]) > 0.1, "it moves"
    assert signals == pytest.approx(others, rel=1e-9, abs=1e-9)


def test_robots_together_are_single_ones_to_the_last_bit_in_any_number_of_threads(task):
    quick = fixed(task)
    actions = np.random.default_rng(2).uniform(-3, 3, (50, 5, 1)).astype(np.float32)
    rows = play(ScenarioVectorEnv(quick, 5), actions, seed=5)
    again = play(ScenarioVectorEnv(quick, 5, threads=2), actions, seed=5)
    for row, other in zip(rows, again, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(row, other, strict=True))
    assert any(row[2].any() for row in rows[1:]), "poles fall"
    single, ended = ScenarioEnv(quick), False
    single.reset(seed=5 + 3)
    for action, row in zip(actions[:, 3], rows[1:], strict=True):
        step = (single.reset()[0], 0.0, False, False) if ended else single.step(action)[:4]
        ended = step[2] or step[3]
        assert (step[0].tolist(), *step[1:]) == (row[0][3].tolist(), *(part[3] for part in row[1:]))


def test_what_keeps_robots_from_going_together_is_said(task):
    scenario = task.scenario
    for changed, step, reason in (
        (scenario, 0.02, "auto chooses its steps"),
        (fixed(task).scenario, 0.03, "the duration is not a whole number of steps"),
        (fixed(task).scenario, 0.0125, "do not divide the step"),
        (replace(sampled_axis(), solver=rd.Solver("rk4", step=1e-5)), 0.0005, "do not divide the step"),
    ):
        compiled = compile_system(assemble(changed))
        assert reason in why_not_together(compiled, compiled.solver, step)


def test_a_state_that_grows_beyond_all_bounds_truncates_its_episode(task):
    wild = replace(fixed(task, events=()), actions={"push.constant": (-1e30, 1e30)})
    env = ScenarioVectorEnv(wild, 2)
    env.reset(seed=1)
    for _ in range(400):
        _, _, terminated, truncated, infos = env.step(np.array([[0.0], [1e30]], np.float32))
        if truncated.any():
            break
    assert (truncated.tolist(), terminated.any()) == ([False, True], False)
    assert "stopped being a finite number" in infos["outcome"][1]
