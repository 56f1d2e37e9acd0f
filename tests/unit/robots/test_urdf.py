"""URDF files become machines; everything wrong with one is reported at once, by line."""

import numpy as np
import pytest
from support.robot_files import OWN, example_robot, walk_xml

import robodyn as rd
from robodyn.description.robots.building import Robot

UNIT = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{0}}"><inertial>{UNIT}</inertial></link>'


def read(tmp_path, text, **options) -> Robot:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return rd.import_robot(path, **options)


def flaws(tmp_path, text, **options):
    with pytest.raises(rd.ModelError) as error:
        read(tmp_path, text, **options)
    return str(error.value)


@pytest.fixture(scope="module")
def arm():
    return rd.import_robot(OWN / "arm.urdf")


def test_joints_have_their_kinds_limits_and_losses(arm):
    mechanism = arm.machine.mechanism
    kinds = {joint.name: joint.kind for joint in mechanism.joints}
    assert kinds == {
        "base_base": "fixed", "turn": "revolute", "lift": "revolute", "reach": "prismatic", "left": "revolute",
        "right": "revolute", "tool_mount": "fixed", "wheel": "fixed",
    }  # fmt: skip
    lift, turn, reach = (mechanism.joint(name) for name in ("lift", "turn", "reach"))
    assert lift.limits == {"lower_limit": 0.2, "upper_limit": 1.4, "speed_limit": 3.0, "effort_limit": 60.0}
    assert (turn.limits, turn.damping, turn.friction) == ({"speed_limit": 2.0, "effort_limit": 80.0}, 0.5, None)
    assert (turn.axis, reach.axis) == ((0.0, 0.0, 1.0), (0.0, 0.6, 0.8))
    assert reach.limits == {"lower_limit": -0.1, "upper_limit": 0.3}


def test_looks_are_the_visual_and_the_collision_shapes(arm):
    bodies = arm.machine.mechanism.bodies
    looks = {body.name: [look for look in body.looks if not look.collision] for body in bodies}
    assert [type(look).__name__ for look in looks["base"]] == ["BoxLook"]
    assert [look.colour for name in ("base", "column") for look in looks[name]] == ["#ff8033", "#0000ff"]
    assert looks["boom"][0].scale == (0.1, 0.1, 0.1)
    assert not looks["hand"]
    assert [type(look).__name__ for body in bodies for look in body.looks if look.collision] == ["SphereLook"]


def test_a_joint_that_mimics_follows_its_leader(arm):
    assert arm.machine.mechanism.joint("right").mimic == rd.Mimic("left", -1.0, 0.1)


def test_the_start_is_zero_or_between_the_limits_and_keeps_what_follows(arm):
    assert arm.initial == {"lift.position": pytest.approx(0.8)}


def test_links_without_others_have_a_point(arm):
    assert [point.name for point in arm.machine.mechanism.points] == ["left_finger", "right_finger", "tool", "empty"]


def test_the_base_is_as_asked():
    for base, count in (("fixed", 5), ("planar", 8), ("free", 11)):
        machine = rd.read_robot(OWN / "arm.urdf", base=base)
        assert sum(len(freedom.velocities) for freedom in machine.mechanism.freedoms) == count


def test_what_has_no_joint_flies():
    robot = rd.import_robot(example_robot("quadrotor_base.urdf"))
    run = rd.simulate(robot.scenario(1.0))
    assert run["base_link_base.z.position"].final == pytest.approx(-0.5 * 9.81)


def test_joints_that_move_nothing_are_kept_when_asked():
    machine = rd.read_robot(OWN / "arm.urdf", keep_massless=True)
    assert machine.mechanism.joint("wheel").kind == "revolute"
    with pytest.raises(rd.ModelError, match="wheel: feels no inertia"):
        rd.assemble(rd.Scenario("a", machine, 1.0))


def test_locked_joints_stand_where_they_start_and_take_their_followers_with_them(arm):
    """Of the locked robot every body stands where the same one of the free robot does."""
    locked = rd.import_robot(OWN / "arm.urdf", lock={"lift": None, "left": 0.03})
    free = arm.machine.mechanism
    assert [locked.machine.mechanism.joint(name).kind for name in ("lift", "left", "right")] == ["fixed"] * 3
    assert locked.initial == {}
    moving, standing = (rd.MachineDynamics(machine) for machine in (arm.machine, locked.machine))
    places = {"lift.position": 0.8, "left.position": 0.03, "right.position": 0.1 - 0.03}
    q = moving.positions_at({name: value for name, value in places.items() if name in moving.positions})
    for point in free.points:
        here, there = moving.position(point.name, q), standing.position(point.name, standing.positions_at({}))
        np.testing.assert_allclose(here, there, atol=1e-12)
    assert any("'lift' is locked at 0.8 rad" in choice for choice in map(str, locked.sheet.choices))
    with pytest.raises(rd.ModelError, match=r"lock\.lft: fits no joint.*'lift'"):
        rd.import_robot(OWN / "arm.urdf", lock=["lft"])


def test_all_problems_are_reported_at_once_with_their_lines():
    with pytest.raises(rd.ModelError) as error:
        rd.read_robot(OWN / "bad.urdf")
    text = str(error.value)
    for part in (
        "line 3: robot[bad]/link[base]: there is another link 'base'",
        "line 5: robot[bad]/link[arm]/inertial/inertia@izz: 'x' is not a finite number",
        "line 7: robot[bad]/joint[one]@type: 'hinge' is unknown",
        "line 8: robot[bad]/joint[two]: there is no child link 'nobody'",
        "line 8: robot[bad]/joint[two]/axis: the axis must not be zero",
        "line 9: robot[bad]/joint[three]/axis@xyz: must be 3 numbers, is '1 0'",
    ):
        assert part in text


def test_impossible_masses_are_refused_and_inertias_kept_as_published(tmp_path):
    assert "mass: must not be negative" in flaws(
        tmp_path, '<robot><link name="a"><inertial><mass value="-1"/></inertial></link></robot>'
    )
    text = f"<robot>{LINK.format('a')}</robot>".replace('ixx="1"', 'ixx="3"')
    robot = read(tmp_path, text)
    assert not robot.machine.mechanism.body("a").physical
    assert any("triangle inequality" in choice and "physical = false" in choice for choice in robot.sheet.choices)


def joint(name, parent, child, kind="revolute"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 0 1"/></joint>'


def test_rings_and_islands_are_reported(tmp_path):
    links = "".join(LINK.format(name) for name in "abcd")
    ring = flaws(tmp_path, f"<robot>{links}{joint('1', 'b', 'c')}{joint('2', 'c', 'b')}{joint('3', 'a', 'd')}</robot>")
    assert "link[b]: is part of a loop of joints" in ring
    assert "link[c]: is part of a loop of joints" in ring
    island = flaws(tmp_path, f"<robot>{links}{joint('1', 'a', 'b')}{joint('2', 'a', 'c')}</robot>")
    assert "link[d]: is connected to nothing" in island
    twice = flaws(tmp_path, f"<robot>{LINK.format('a')}{LINK.format('b')}{joint('1', 'a', 'b') * 2}</robot>")
    assert "there is another joint '1'" in twice
    assert "'b' is the child of 2 joints" in twice
    itself = flaws(tmp_path, f"<robot>{LINK.format('a')}{joint('1', 'a', 'a')}</robot>")
    assert "joins 'a' to itself" in itself


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<robot/>", "has no <link>"),
        ("<html/>", "has the root element <html>"),
        ("no robot", "is not XML"),
        ('<robot><link name="a"/><joint name="b" type="fixed"/></robot>', "has no parent link"),
        ("<robot><link/></robot>", "has no name"),
    ],
)
def test_what_is_no_robot_is_refused(tmp_path, text, what):
    assert what in flaws(tmp_path, text)


def test_options_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(rd.ModelError, match="base: 'freee' is unknown .did you mean 'free'"):
        rd.read_robot(OWN / "arm.urdf", base="freee")
    with pytest.raises(rd.ModelError, match="cannot be read: No such file"):
        rd.read_robot(tmp_path / "nothing.urdf")


def test_names_that_a_machine_cannot_have_are_changed_and_said(tmp_path):
    links = "".join(LINK.format(name) for name in ("ground", "1/a b", "_1_a_b"))
    robot = read(
        tmp_path, f"<robot name='7'>{links}{joint('time', 'ground', '1/a b')}{joint('x', '1/a b', '_1_a_b')}</robot>"
    )
    assert [body.name for body in robot.machine.mechanism.bodies] == ["ground_link", "_1_a_b_2", "_1_a_b"]
    assert "time_joint" in [part.name for part in robot.machine.mechanism.joints]
    assert sum("the name is written" in entry.note for entry in robot.sheet.entries) == 4


def test_a_leader_that_is_not_there_leaves_the_joint_to_itself(tmp_path):
    mimic = joint("2", "a", "c").replace("</joint>", '<mimic joint="nobody"/></joint>')
    links = "".join(LINK.format(name) for name in "abc")
    robot = read(tmp_path, f"<robot>{links}{joint('_1', 'a', 'b')}{mimic}</robot>")
    assert robot.machine.mechanism.joint("_2").mimic is None
    assert any("moves by itself" in choice for choice in robot.sheet.choices)


def test_a_joint_that_follows_by_nothing_stands_at_its_offset(tmp_path):
    mimic = joint("k", "a", "c").replace("</joint>", '<mimic joint="j" multiplier="0" offset="0.3"/></joint>')
    links = "".join(LINK.format(name) for name in "abc")
    robot = read(tmp_path, f"<robot>{links}{joint('j', 'a', 'b')}{mimic}</robot>")
    run = rd.simulate(robot.scenario(0.1))
    assert np.allclose(run["k.position"].values, 0.3, atol=1e-9)


def test_a_robot_left_to_itself_runs(arm):
    run = rd.simulate(arm.scenario(0.2))
    assert run.outcome.ok
    assert np.allclose(run["right.position"].values + run["left.position"].values, 0.1, atol=1e-6)


def test_xacro_files_are_expanded(tmp_path):
    pytest.importorskip("xacro", reason="comes with the extra test")
    path = tmp_path / "robot.xacro"
    link = LINK.format("${prefix}base")
    space = 'xmlns:xacro="http://wiki.ros.org/xacro"'
    path.write_text(f'<robot name="x" {space}><xacro:property name="prefix" value="my_"/>{link}</robot>')
    assert [body.name for body in rd.read_robot(path).mechanism.bodies] == ["my_base"]
    path.write_text(f"<robot {space}><xacro:nothing/>{link}</robot>")
    with pytest.raises(rd.ModelError, match="xacro cannot expand it"):
        rd.read_robot(path)


def test_a_published_humanoid_is_read_with_all_its_joints():
    path = example_robot("g1_29dof_rev_1_0.urdf")
    machine = rd.read_robot(path)
    assert len(machine.mechanism.freedoms) == 29
    masses = [float(value) for key, value in walk_xml(path) if key == "mass@value"]
    assert sum(body.mass for body in machine.mechanism.bodies) == pytest.approx(sum(masses), rel=1e-12)


def test_problems_of_every_kind_are_told_at_once(tmp_path):
    """A joint to no link, a link on no joint, a negative mass: none hides the others."""
    body = '<link name="{}"><inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" {}/></inertial></link>'
    none = 'ixy="0" ixz="0" iyz="0"'
    parts = ['<link name="base"/>', body.format("loose", 1, none), body.format("light", -1, none)]
    joint = '\n<joint name="{0}" type="continuous"><parent link="base"/><child link="{1}"/></joint>'
    path = tmp_path / "robot.urdf"
    path.write_text("<robot name='r'>\n" + "\n".join(parts) + joint.format("a", "light") + joint.format("b", "zz"))
    path.write_text(path.read_text() + "</robot>")
    with pytest.raises(rd.ModelError) as error:
        rd.import_robot(path)
    told = str(error.value)
    assert "line 3: robot[r]/link[loose]: is connected to nothing" in told
    assert "line 4: robot[r]/link[light]/inertial/inertia: mass: must not be negative, is -1 kg" in told
    assert "line 6: robot[r]/joint[b]: there is no child link 'zz'" in told
    path.write_text(f'<robot name="r">{parts[0]}{body.format("light", 0, none)}{joint.format("a", "light")}</robot>')
    choices = " ".join(str(choice) for choice in rd.import_robot(path).sheet.choices)
    assert "link[light]/inertial/inertia: has inertia without mass" in choices
    assert "link[base]: the root link stands on the ground" in choices


def test_numbers_of_an_inertia_that_are_not_there_are_said(tmp_path):
    lacking = '<robot name="r"><link name="a"><inertial><mass/><inertia ixx="1" iyy="1"/></inertial></link></robot>'
    choices = " ".join(read(tmp_path, lacking).sheet.choices)
    assert "has no value and no ixy and no ixz and no iyz and no izz: taken as 0" in choices
