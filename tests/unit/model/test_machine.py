"""Do the parts of a machine refer to things that are there, under names of their own?"""

import dataclasses

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    Delay,
    Distance,
    FunctionCoordinate,
    Joint,
    LinearCombination,
    Load,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PointCoordinate,
    Solver,
    simulate,
)
from robodyn.description.model import ElasticGear, Scenario, with_elastic_joints

ARM = Mechanism(
    "arm",
    (Body("upper", 1.0, inertia=(1.0, 1.0, 1.0)), Body("plate", 1.0)),
    (Joint("elbow", "revolute", GROUND, "upper"), Joint("mount", "fixed", "upper", "plate")),
    (Point("tip", "upper"), Point("wall", GROUND)),
)


def flaws_of(**parts):
    with pytest.raises(ModelError) as error:
        Machine("m", ARM, **parts)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


def force(name="push", **more):
    return Block(name, "constant_force", parameters={"value": 1.0}, **more)


def test_every_dangling_reference_is_told_with_the_nearest_name():
    message = flaws_of(
        blocks=(force(on="elbw"), force("pull", acts={"force": "strutt"})),
        coordinates=(
            Distance("strut", "tip", "wal"),
            PointCoordinate("height", "tp", (0, 0, 1)),
            LinearCombination("sum", {"mount": 1.0}),
        ),
        loads=(Load("weight", "tipp"),),
    )
    assert "'elbow'" in message["blocks.push.on"]
    assert "'strut'" in message["blocks.pull.acts.force"]
    assert "'wall'" in message["coordinates.strut.end"]
    assert "'tip'" in message["coordinates.height.point"]
    assert "moving joint 'mount'" in message["coordinates.sum.of"]
    assert "'tip'" in message["loads.weight.point"]


def test_a_force_on_the_ground_is_told_to_have_no_effect():
    assert "no effect" in flaws_of(blocks=(force(on=GROUND),))["blocks.push.on"]


def test_parts_share_one_name_space():
    assert "2 parts" in flaws_of(blocks=(force("elbow", on="elbow"),))["elbow"]
    assert "2 parts" in flaws_of(delays=(Delay("tip", "elbow.position", 0.1),))["tip"]
    assert "signal of every machine" in flaws_of(blocks=(force("time", on="elbow"),))["time"]


def test_a_block_cannot_take_the_name_of_a_bodys_number():
    def lift(*, mass):
        return 9.81 * mass

    message = flaws_of(blocks=(Block("upper", lift, on="elbow", parameters={"mass": 2.0}),))
    assert "2 numbers" in message["upper.mass"]


def test_a_tunable_pattern_that_matches_nothing_is_told():
    assert "'upper.mass'" in flaws_of(tunable=("uper.mass",))["tunable"]
    assert "list of patterns" in flaws_of(tunable="upper.mass")["tunable"]
    assert Machine("m", ARM, tunable=("*.mass", "gravity.*")).tunable == ("*.mass", "gravity.*")


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: LinearCombination("c", {}), "of"),
        (lambda: LinearCombination("c", {"elbow": float("nan")}), "of.elbow"),
        (lambda: LinearCombination("c", {"elbow": 1.0}, inertia=-1.0), "inertia"),
        (lambda: LinearCombination("c", ["elbow"]), "of"),
        (lambda: Distance("c", "tip", "tip"), "end"),
        (lambda: PointCoordinate("c", "tip", (0.0, 0.0, 0.0)), "direction"),
        (lambda: FunctionCoordinate("c", "elbow", lambda q: q), "of"),
        (lambda: FunctionCoordinate("c", ("elbow",), 3.0), "function"),
        (lambda: FunctionCoordinate("c", ("elbow",), lambda q: q, unit="kg"), "unit"),
        (lambda: Load("c", "tip", (0.0, 0.0)), "force"),
        (lambda: Load("c", 3), "point"),
    ],
)
def test_a_flawed_part_is_told_by_its_path(make, path):
    with pytest.raises(ModelError) as error:
        make()
    assert [flaw.path for flaw in error.value.flaws] == [path]


# --------------------------------------------------------------------------------------------------
# Does a machine with elastic gears twist as its stiffness says, and is it the rigid one where that is large?


ROTOR, GEAR = 2e-4, 50.0
LINKS = ((1.5, 0.2), (0.8, 0.15))


def coupled_arm():
    """A double pendulum whose second motor turns with both joints; friction on a joint, a motor's torque on each."""
    bodies = tuple(Body(f"link{k + 1}", m, (c, 0, 0), (1e-3, m * c * c, m * c * c)) for k, (m, c) in enumerate(LINKS))
    joints = (
        Joint("joint1", "revolute", GROUND, "link1", axis=(0, 1, 0)),
        Joint("joint2", "revolute", "link1", "link2", origin=(0.4, 0, 0), axis=(0, 1, 0)),
    )
    motors = (
        LinearCombination("motor1", {"joint1": GEAR}, ROTOR),
        LinearCombination("motor2", {"joint1": GEAR, "joint2": GEAR}, ROTOR),
    )
    blocks = (
        Block("joint1.friction", "viscous_friction", on="joint1", parameters={"viscous": 2.0}),
        Block("sensor", "measuring_circuit", inputs={"position": "joint2.position"}, parameters={"gain": 1.0}),
        *(Block(f"push{k}", "constant_force", on=f"motor{k}", parameters={"value": 0.05 * k}) for k in (1, 2)),
    )
    return Machine("arm", Mechanism("arm", bodies, joints), blocks, motors)


def gears(stiffness, damping=0.0):
    return {f"joint{k}": ElasticGear(f"drive{k}", stiffness, damping) for k in (1, 2)}


def test_motors_friction_and_sensors_go_to_the_drives_and_keep_their_names():
    machine = with_elastic_joints(coupled_arm(), gears(1e4))
    of = {c.name: dict(c.of) for c in machine.coordinates}
    assert of["motor2"] == {"drive1": GEAR, "drive2": GEAR}
    assert of["drive1_twist"] == {"joint1": 1.0, "drive1": -1.0}
    blocks = {block.name: block for block in machine.blocks}
    assert blocks["joint1.friction"].on == "drive1"
    assert blocks["sensor"].inputs["position"] == "drive2.position"
    assert blocks["push2"].on == "motor2"


def test_what_is_named_stays_with_the_joints():
    machine = with_elastic_joints(coupled_arm(), gears(1e4), link_side=("sensor", "joint1.friction"))
    blocks = {block.name: block for block in machine.blocks}
    assert blocks["joint1.friction"].on == "joint1"
    assert blocks["sensor"].inputs["position"] == "joint2.position"


def test_delays_read_what_the_blocks_read():
    late = (Delay("late", "joint1.position", 1e-3), Delay("seen", "joint1.position", 1e-3))
    machine = with_elastic_joints(dataclasses.replace(coupled_arm(), delays=late), gears(1e4), link_side=("seen",))
    assert [delay.signal for delay in machine.delays] == ["drive1.position", "joint1.position"]


def fall(machine, duration=0.3):
    return simulate(Scenario("fall", machine, duration), Solver("rodas4p", rtol=1e-8, atol=1e-10))


def test_the_rigid_machine_is_the_limit_of_large_stiffness():
    """Joint motion under M + T^T J T against elastic gears: the difference falls as 1/k, a quarter for four times k."""
    rigid = fall(coupled_arm())
    differences = []
    for stiffness in (2e4, 8e4):
        # Damped above half critical, so that the gears do not ring.
        run = fall(with_elastic_joints(coupled_arm(), gears(stiffness, damping=0.02 * stiffness**0.5 * 10)))
        ends = [run[f"joint{k}.position"].values[-1] - rigid[f"joint{k}.position"].values[-1] for k in (1, 2)]
        differences.append(np.linalg.norm(ends))
    assert differences[0] < 2e-3
    assert differences[0] / differences[1] == pytest.approx(4.0, rel=0.35)


def test_a_gear_with_a_gap_has_teeth_with_play():
    machine = with_elastic_joints(coupled_arm(), {"joint1": ElasticGear("drive1", 1e4, gap=1e-3)})
    blocks = {block.name: block for block in machine.blocks}
    assert blocks["drive1.gear"].law == "backlash_gear"
    assert blocks["drive1.gear"].parameters["gap"] == 1e-3


def test_unknown_joints_and_parts_are_told_with_the_nearest():
    with pytest.raises(ModelError) as caught:
        with_elastic_joints(coupled_arm(), {"joint3": ElasticGear("drive3", 1e4)}, link_side=("sensors",))
    assert "joint3" in str(caught.value)
    assert "joint2" in str(caught.value)
    assert "link_side.sensors" in str(caught.value)
