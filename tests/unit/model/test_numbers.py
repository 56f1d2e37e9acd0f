"""Can every named number of a description be changed, and does the change reach the equations?"""

import math

import casadi as ca
import numpy as np
import pytest
from support.catalogue import changed_value

from robodyn import (
    GROUND,
    Block,
    Body,
    Delay,
    Distance,
    Event,
    Joint,
    LinearCombination,
    Load,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PointCoordinate,
    Scenario,
    assemble,
)
from robodyn.base.spatial import from_rpy


def skewed_mechanism():
    """Joints at odd angles, so that every component of every number matters."""
    bodies = (
        Body("upper", 3.0, (0.1, 0.02, -0.05), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03)),
        Body("lower", 2.0, (0.2, -0.03, 0.04), (0.2, 0.3, 0.25, 0.02, -0.01, 0.01)),
        Body("box", 1.0, (0.01, 0.02, 0.03), (0.01, 0.02, 0.02, 0.001, 0.002, -0.001)),
    )
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper", (0.1, 0.2, 0.3), from_rpy(0.3, 0.4, 0.5), (1.0, 2.0, 3.0), 0.1),
        Joint("slide", "prismatic", "upper", "lower", (0.3, 0.1, 0.2), from_rpy(0.6, 0.2, 0.1), (2.0, 1.0, 1.0), 0.2),
        Joint("mount", "fixed", "lower", "box", (0.1, 0.1, 0.1), from_rpy(0.1, 0.6, 0.3)),
    )
    points = (Point("tool", "box", (0.1, 0.2, 0.3)), Point("anchor", GROUND, (1.0, 1.0, 1.0)))
    return Mechanism("skewed", bodies, joints, points, (0.5, 1.0, -9.81))


def busy_scenario():
    """One of every part that holds numbers."""
    motor = {"resistance": 2.0, "inductance": 0.01, "torque_constant": 0.1, "gear": 3.0, "current_limit": 5.0}
    loop = {"proportional": 3.0, "integral": 2.0, "limit": 7.0}
    machine = Machine(
        "busy",
        skewed_mechanism(),
        (
            Block("motor", "dc_motor", on="shoulder", inputs={"voltage": "loop.torque_command"}, parameters=motor),
            Block(
                "loop",
                "sampled_velocity_loop",
                on="shoulder",
                inputs={"velocity_command": "late.output"},
                parameters=loop,
                period=1e-3,
            ),
            Block("strut.spring", "spring", on="strut", parameters={"stiffness": 50.0, "damping": 3.0}),
            Block("hold", "sample_and_hold", inputs={"value": "slide.position"}, period=2e-3),
        ),
        (LinearCombination("both", {"shoulder": 1.0, "slide": 2.0}, 0.3), Distance("strut", "anchor", "tool")),
        (Delay("late", "slide.velocity", 0.1, before=0.2),),
        (Load("wind", "tool", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)),),
    )
    event = Event("far", lambda x, level: x - level, {"x": "slide.position"}, {"level": 0.7})
    return Scenario("busy", machine, 1.0, {"shoulder.position": 0.3, "motor.current": 1.0}, (event,))


def signature(scenario):
    """All a run depends on: every function of the system at odd points, starts, delays, clocks, duration."""
    system = assemble(scenario)
    generator = np.random.default_rng(5)
    columns = [*system.symbols]
    function = ca.Function("all", columns, [ca.vertcat(*system.expressions.columns().values())])
    parameters = ca.DM([number.value for number in system.parameters])
    values = []
    # Small values, and large ones that meet the limits.
    for scale in (1.0, 30.0, -300.0):
        point = [ca.DM(scale * generator.uniform(0.2, 0.9, column.numel())) for column in columns[:-1]]
        values.append(np.array(function(*point, parameters)).ravel())
    facts = [state.start for state in system.states] + [scenario.duration, float(system.discrete.base_period)]
    facts += [fact for delay in system.delays for fact in (delay.time, delay.before)]
    facts += [task.period * float(system.discrete.base_period) for task in system.discrete.tasks]
    return np.concatenate([*values, facts])


BUSY = busy_scenario()


@pytest.fixture(scope="module")
def before():
    return signature(BUSY)


@pytest.mark.parametrize("name", BUSY.numbers())
def test_every_number_changes_the_system_or_is_refused(name, before):
    after = signature(BUSY.with_numbers({name: changed_value(BUSY.numbers()[name].value)}))
    assert after.shape == before.shape
    assert not np.array_equal(after, before)


def test_infinite_numbers_can_be_changed_too():
    gains = {"proportional": 1.0, "derivative": 0.0}
    endless = Block("b", "pd_control", on="shoulder", inputs={"target": 1.0}, parameters=gains)
    machine = Machine("m", skewed_mechanism(), (endless,))
    limited = Scenario("s", machine, 1.0).with_numbers({"b.limit": 3.0})
    assert limited.machine.blocks[0].parameters["limit"] == 3.0


@pytest.mark.parametrize("value", [math.nan, "3", None])
def test_a_number_can_only_become_a_number(value):
    for name in BUSY.numbers():
        with pytest.raises(ModelError):
            BUSY.with_numbers({name: value})


def test_unknown_numbers_are_told_together_with_the_nearest():
    with pytest.raises(ModelError) as error:
        BUSY.with_numbers({"uper.mass": 1.0, "mount.armature": 1.0})
    assert [flaw.path for flaw in error.value.flaws] == ["uper.mass", "mount.armature"]
    assert "'upper.mass'" in error.value.flaws[0].remedy


def test_every_number_has_a_unit_or_is_a_pure_number():
    pure = {"motor.gear", "motor.torque_factor", "far.level", "late.before"}
    unnamed = {name for name, number in BUSY.numbers().items() if not number.unit and "initial" not in name}
    assert unnamed == pure


def test_a_coordinate_along_a_direction_is_normalised():
    assert PointCoordinate("height", "tool", (0.0, 3.0, 4.0)).direction == (0.0, 0.6, 0.8)
