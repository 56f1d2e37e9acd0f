"""Machines to couple: an arm, a load that it carries, and a controlled pendulum."""

import dataclasses

from robodyn import GROUND, Block, Body, Delay, Interface, Joint, Machine, Mechanism, Point, Recording, Scenario, Solver
from robodyn.base.spatial import quaternion_from_matrix
from robodyn.description.catalog.six_axis import FLANGE, six_axis_mechanism

ANGLES = (0.3, 0.8, 0.4, 0.2, 1.4, 0.1)
LOAD = Body("load", 20.0, (0.0, 0.0, 0.0), (0.5, 0.4, 0.3))
SOLVER = Solver("dopri5", rtol=1e-8, atol=1e-9)
START = {f"joint{k + 1}.position": angle for k, angle in enumerate(ANGLES)}


def arm(takes, duration, start=START, **elastic):
    """The six-axis arm, falling, with an interface at its tool."""
    grip = Interface("grip", takes, point="tool", rotates=True, **elastic)
    return scenario("arm", Machine("arm", six_axis_mechanism(), interfaces=(grip,)), duration, start)


def loaded_arm(duration):
    """Arm and load in one mechanism."""
    mechanism = six_axis_mechanism().with_payload(LOAD, "link6", (0.0, 0.0, FLANGE))
    return scenario("loaded", Machine("loaded", mechanism), duration, START)


def load(takes, duration, motion, **elastic):
    """The load alone, where the arm holds it at the start."""
    mechanism = Mechanism("load", (LOAD,), (Joint("base", "free", GROUND, "load"),), (Point("handle", "load"),))
    grip = Interface("grip", takes, point="handle", rotates=True, **elastic)
    names = [f"base.{axis}.position" for axis in "xyz"] + [f"base.orientation.{part}" for part in "wxyz"]
    values = [*motion.position, *quaternion_from_matrix(motion.rotation)]
    start = dict(zip(names, map(float, values), strict=True))
    return scenario("load", Machine("load", mechanism, interfaces=(grip,)), duration, start)


def scenario(name, machine, duration, start):
    return Scenario(name, machine, duration, start, solver=SOLVER, recording=Recording(rate=100.0))


def held_pendulum(takes=None):
    """A pendulum held up by a sampled loop that hears its speed late; 3 ms fit into no macro step of the tests."""
    rod = Body("rod", 1.0, (0.0, 0.0, -0.5), (0.1, 0.1, 0.0))
    mechanism = Mechanism("rod", (rod,), (Joint("hinge", "revolute", GROUND, "rod", axis=(0.0, 1.0, 0.0)),))
    hold = Block(
        "hold", hold_up, on="hinge", inputs={"late": "heard.output"}, period=0.003, delay=0.001, memory={"total": 0.0}
    )
    machine = Machine(
        "held",
        mechanism,
        blocks=(hold,),
        delays=(Delay("heard", "hinge.velocity", 0.0017),),
        interfaces=(Interface("tip", takes, on="hinge"),) if takes else (),
    )
    return dataclasses.replace(scenario("held", machine, 0.2, {"hinge.position": 1.0}), recording=Recording())


def hold_up(position, total, late):
    """Proportional, integral and late differential action on the angle."""
    return {"torque": -20.0 * position - 5.0 * total - 2.0 * late, "total_next": total + 0.003 * position}
