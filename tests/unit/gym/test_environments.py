"""Is a scenario as an environment what it is as a scenario, and what Gymnasium expects?"""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from robodyn.computation.engine.pack import lanes_are_there  # noqa: E402
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
    env.episode.run.begin({}, start)
    seen = env.episode.run.read()[task.columns]
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
    assert [pack is not None and pack.filled > 1.5 for pack in many.packs] == [lanes and lanes_are_there()] * threads
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
    with pytest.raises(rd.ModelError, match=r"(?s)num_envs: must be at least 1.*threads: laws or a reward in plain"):
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
