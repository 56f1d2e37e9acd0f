"""Are runs in lanes those one by one, to the last bit, whatever happens on the way?"""

from dataclasses import replace

import numpy as np
import pytest
from support.random_machines import random_scenario

import robodyn as rd
from robodyn.computation.engine.pack import lanes_are_there
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.simulation.batch import Worker, find_runner, make_pack
from robodyn.description.catalog import box_on_slope, breaking_pendulum, two_link_loop

pytestmark = pytest.mark.skipif(not lanes_are_there(), reason="this processor has no lanes")


def follow_exactly(scenario):
    """Steps at the same times in all runs, which then read one row of the table together."""
    stepped = replace(scenario, solver=rd.Solver("rosw2", step=2e-4))
    return Perturbed(stepped).compiled({})


def follow(scenario):
    return rd.compile_system(rd.assemble(scenario))


MACHINES = {
    "sampled loops": (two_link_loop, 0.02, follow),
    "stick and slip": (box_on_slope, 0.08, follow),
    "constraints that break": (breaking_pendulum, 0.6, follow),
    "a random machine": (lambda: random_scenario(4), 0.4, follow),
    "near a nominal motion": (two_link_loop, 0.02, follow_exactly),
}


def bits(trajectory):
    """Everything that a run left but the time it took, and what was proven of it, which is nothing in a convoy."""
    found = trajectory._asdict()
    del found["proof"]
    found["counters"] = found["counters"]._replace(wall_time=0.0)
    found["probes"] = [each.tobytes() for each in found["probes"]]
    return {name: each.tobytes() if isinstance(each, np.ndarray) else each for name, each in found.items()}


@pytest.mark.parametrize("name", MACHINES)
def test_runs_in_lanes_are_those_one_by_one(name):
    make, duration, compile_scenario = MACHINES[name]
    compiled = compile_scenario(replace(make(), duration=duration))
    runner, described = find_runner(compiled, compiled.solver, None, 0.0, duration), compiled.system.described_values
    factors = np.exp(0.03 * np.random.default_rng(3).standard_normal((7, described.size)))
    names = [number.name for number in compiled.system.parameters]
    inputs = [runner.read(dict(zip(names, (described * each).tolist(), strict=True))) for each in factors]
    worker = Worker(runner)
    alone = [bits(trajectory) for trajectory, _ in worker.carry_out(inputs)]
    worker.pack = make_pack(compiled)
    for _ in range(2):
        assert [bits(trajectory) for trajectory, _ in worker.carry_out(inputs)] == alone
    assert worker.pack.filled > 1.2
    assert len({each["y"] for each in alone}) == len(inputs)


def check_convoy(runner, inputs, least):
    worker = Worker(runner)
    alone = worker.carry_out(inputs)
    worker.pack = make_pack(runner.compiled)
    together = worker.carry_out(inputs)
    assert [bits(trajectory) for trajectory, _ in together] == [bits(trajectory) for trajectory, _ in alone]
    assert worker.pack.joined > least
    return [trajectory for trajectory, _ in alone]


@pytest.fixture(scope="module")
def stepped_arm():
    return follow(replace(two_link_loop(), duration=0.2, solver=rd.Solver("rosw2", step=1.25e-4)))


@pytest.mark.parametrize(
    ("recording", "least"),
    [
        (rd.Recording(rate=1000.0), 0.9),
        # Most of these rows lie within steps, which each run takes by itself.
        (rd.Recording(times=(0.0, 0.03001, 0.03002, 0.1, 0.1501)), 0.9),
        (rd.Recording(rate=3001.0), 0.1),
    ],
)
def test_runs_in_a_convoy_are_those_one_by_one(stepped_arm, recording, least):
    runner = find_runner(stepped_arm, stepped_arm.solver, recording, 0.0, 0.2)
    coulomb = np.linspace(2.0, 9.0, 6).tolist()
    inputs = [runner.read({"shoulder.friction.coulomb": each}) for each in coulomb]
    alone = check_convoy(runner, inputs, least)
    assert len({each.y.tobytes() for each in alone}) == len(inputs)


def test_a_run_that_cannot_go_on_leaves_its_convoy(stepped_arm):
    runner = find_runner(stepped_arm, stepped_arm.solver, rd.Recording(rate=1000.0), 0.0, 0.2)
    inputs = [runner.read({"shoulder.friction.coulomb": each}) for each in (3.0, 4.0, 5.0, 6.0)]
    for robot, viscous in ((0, -6e4), (2, -9e4)):
        # No description has such a friction: it makes the motion grow without bounds.
        inputs[robot].values[runner.compiled.system.places["shoulder.friction.viscous"]] = viscous
    alone = check_convoy(runner, inputs, 0.5)
    assert [each.status.name for each in alone] == ["NOT_A_NUMBER", "FINISHED"] * 2
    assert alone[0].at_time != alone[2].at_time


def test_where_no_lanes_can_be_a_warning_says_why(monkeypatch):
    arm = rd.assemble(replace(two_link_loop(), duration=1e-3))
    values = {"shoulder.friction.coulomb": [5.0, 6.0]}
    hurried = replace(arm.scenario.solver, max_wall_time=9.0)
    with pytest.warns(
        UserWarning, match=r"no lanes: a limit of wall time \(solver.max_wall_time\) is that of single runs"
    ):
        rd.simulate_many(arm, values, solver=hurried, lanes=True)
    monkeypatch.setattr("robodyn.computation.engine.pack.lanes_are_there", lambda: False)
    monkeypatch.setattr("robodyn.computation.simulation.batch.lanes_are_there", lambda: False)
    for system, machine, words in (("linux", "aarch64", "of the kind aarch64"), ("win32", "AMD64", "on Windows")):
        monkeypatch.setattr("sys.platform", system)
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        with pytest.warns(UserWarning, match=f"no lanes: .* {words}.*; runs are carried out one by one"):
            rd.simulate_many(arm, values, lanes=True)


def test_a_batch_is_the_same_with_and_without_lanes():
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=0.02)))
    values = {"shoulder.friction.coulomb": [5.0, -1.0, *np.linspace(2.0, 9.0, 9)]}
    tables = [
        rd.simulate_many(arm, values, measures=["rms:elbow.velocity"], lanes=lanes, threads=threads)
        for lanes, threads in ((False, 1), (True, 1), (True, 3))
    ]
    for table in tables:
        assert table["rms:elbow.velocity"].tobytes() == tables[0]["rms:elbow.velocity"].tobytes()
        assert (table.sentences, table.outcomes[1]) == (tables[0].sentences, "failed")


def many_terms(position, velocity, *, gain):
    """A law whose values are all needed at the end: on the stack, for eight robots, hundreds of kilobytes."""
    terms = [position * (0.5 + k / 400) + velocity for k in range(400)]
    total = sum(one * other for one, other in zip(terms, reversed(terms), strict=True))
    return {"torque": -gain * total / 400}


def test_runs_that_lead_others_have_room_for_large_functions():
    arm = rd.Body("arm", 1.0, (0.2, 0.0, 0.0), (0.1, 0.1, 0.1))
    mechanism = rd.Mechanism("arm", (arm,), (rd.Joint("hinge", "revolute", rd.GROUND, "arm", axis=(0, 1, 0)),))
    inputs = {"position": "hinge.position", "velocity": "hinge.velocity"}
    blocks = (
        rd.Block("resist", many_terms, inputs=inputs, parameters={"gain": 1.0}, acts={"torque": "hinge"}),
        rd.Block("hold", "sample_and_hold", inputs={"value": "hinge.position"}, period=1e-3),
    )
    scenario = rd.Scenario("arm", rd.Machine("arm", mechanism, blocks), 0.02, solver=rd.Solver("rosw2", step=1e-3))
    record = rd.Recording(rate=500.0, signals=("hinge.position",))
    compiled = rd.compile_system(rd.assemble(scenario), signals=record.signals)
    gains = np.linspace(0.0, 1e4, 9)
    many = rd.simulate_many(compiled, {"resist.gain": gains}, record=record, lanes=True, threads=1)
    alone = [rd.simulate(compiled, parameters={"resist.gain": gain}, recording=record) for gain in gains.tolist()]
    curves = many.curves.values["hinge.position"]
    assert np.array_equal(curves, [run["hinge.position"].values for run in alone])
    assert len(set(curves[:, -1])) == len(gains)
