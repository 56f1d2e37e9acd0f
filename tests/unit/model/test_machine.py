"""Do the parts of a machine refer to things that are there, under names of their own?"""

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
)

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
