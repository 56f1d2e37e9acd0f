"""MJCF files: several joints of a body, equalities, tendons and drives; what MuJoCo has beyond is said."""

import numpy as np
import pytest
from support.robot_files import OWN

import robodyn as rd

pytest.importorskip("mujoco")

BODY = '<body name="b"><joint name="j"/><geom size="0.1"/>{}</body>'


def read(tmp_path, text, **options):
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{text}</mujoco>")
    return rd.import_robot(path, **options)


def refusal(tmp_path, text, **options):
    with pytest.raises(rd.ModelError) as error:
        read(tmp_path, text, **options)
    return str(error.value)


@pytest.fixture(scope="module")
def robot():
    return rd.import_robot(OWN / "arm.xml")


def notes(robot, end):
    return [entry.note for entry in robot.sheet.entries if entry.path.endswith(end)]


def test_several_joints_of_a_body_are_a_chain_of_massless_frames(robot):
    mechanism = robot.machine.mechanism
    assert mechanism.joint("yaw").child == mechanism.joint("pitch").parent == "yaw_frame"
    assert mechanism.body("yaw_frame").mass == 0.0
    assert mechanism.joint("pitch").child == "shoulder"


def test_a_free_joint_starts_where_the_model_stands(robot):
    assert {name: value for name, value in robot.initial.items() if value} == {
        "flight.x.position": 1.0, "flight.z.position": 2.0, "flight.orientation.w": 1.0,
    }  # fmt: skip


def test_equalities_are_constraints(robot):
    joint, rope = robot.machine.constraints
    assert (dict(joint.of), joint.offset, joint.active) == ({"slide": 1.0, "elbow": -0.02}, 0.01, False)
    assert (rope.name, rope.kind, rope.active) == ("rope", "spherical", False)


def test_a_weld_holds_two_bodies_as_they_stand(tmp_path):
    text = '<worldbody><body name="a" pos="1 0 0" euler="0 90 0"><freejoint/><geom size="0.1"/></body>{}</worldbody>'
    weld = '<equality><weld name="w" body1="a" body2="b"/></equality>'
    robot = read(tmp_path, text.format(BODY.format("")) + weld)
    run = rd.simulate(robot.scenario(0.2))
    (held,) = robot.machine.constraints
    ends = [[run[f"{point}.position.{axis}"].values for axis in "xyz"] for point in (held.first, held.second)]
    assert run.outcome.ok
    assert np.abs(np.array(ends[0]) - np.array(ends[1])).max() < 1e-6


def test_drives_are_blocks_with_a_command(robot):
    blocks = {block.name: block for block in robot.machine.blocks}
    assert blocks["hold_loop"].parameters["proportional"] == 20.0
    assert blocks["hold_loop"].parameters["derivative"] == pytest.approx(1.6)
    assert blocks["push_command"].parameters["constant"] == 2.0
    assert blocks["push"].parameters["torque_limit"] == 6.0
    assert blocks["pull"].on == "belt"
    assert dict(blocks["wind"].parameters) | {"inductance": 0.01, "gear": 4.0} == dict(blocks["wind"].parameters)
    assert blocks["wind_friction"].parameters["coulomb"] == pytest.approx(0.4)
    assert blocks["quick_command"].parameters["constant"] == pytest.approx(-3 * 0.04 * 2)
    assert blocks["slow_filter"].parameters["time_constant"] == 0.1


def test_what_has_no_part_in_robodyn_is_said(robot):
    assert "only joints along or about one axis" in notes(robot, "joint[hook]@damping")[0]
    assert any("counts for the inertia alone" in note for note in notes(robot, "body[fore]/geom"))
    assert "contacts are not imported" in notes(robot, "default/geom@contype")[0]


MOTOR = '<dcmotor name="m" joint="j" motorconst="0.1" resistance="2" gear="3" {}/>'
ACTUATORS = {
    "voltage": MOTOR.format(""),
    "inductance": MOTOR.format('inductance="0.02"'),
    "cogging": MOTOR.format('cogging="0.3 4 0.5"'),
    "turned cogging": MOTOR.format('cogging="-0.3 4 0.5"').replace('gear="3"', 'gear="-3"'),
    "saturation": MOTOR.format('saturation="0.06"'),
    "position": MOTOR.format('input="pos" controller="0.4 0 0.05"'),
    "integral": MOTOR.format('input="pos vel ff" controller="0.4 0.8 0.05"'),
    "low voltage": MOTOR.format('input="pos" controller="3 0 0.05 0 0 4"'),
    "lag": MOTOR.format('input="pos" controller="0.4 0 0.05" inductance="0.02"'),
    "shorted": MOTOR.format('input="none" cogging="0.1 2 1"'),
    "pid": '<pid name="m" joint="j" kp="2" ki="3" kv="0.4" gear="2" forcerange="-0.3 0.3"/>',
    "filter": '<position name="m" joint="j" kp="2" kv="0.2" timeconst="0.05"/>',
    "integrator": '<intvelocity name="m" joint="j" kp="5" kv="0.2" actrange="-0.05 0.05"/>',
    "delay": '<motor name="m" joint="j" nsample="3000" delay="0.02"/>',
}


@pytest.mark.parametrize("kind", ACTUATORS)
def test_actuators_move_a_joint_as_in_mujoco(kind, tmp_path):
    """Steps of 20 us of MuJoCo's Euler method are good for 1e-3 of the way in a tenth of a second."""
    import mujoco

    hinge = '<body><joint name="j" armature="0.02" ref="0.4"/><geom type="box" size="0.1 0.1 0.02" mass="0.5"/></body>'
    option = '<compiler angle="radian"/><option timestep="2e-5" gravity="0 0 0"/>'
    text = f"{option}<worldbody>{hinge}</worldbody><actuator>{ACTUATORS[kind]}</actuator>"
    robot = read(tmp_path, text)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    commands = [1.0, 0.2, 0.1][: model.nu]
    data.ctrl[:], data.qvel[0] = commands, 0.5
    mujoco.mj_step(model, data, 5000)
    scenario = robot.scenario(0.1)
    # Commands are constants of blocks, in the order of the actuator's inputs.
    gear, changes = float(model.actuator_gear[0][0]), {}
    names = [block.name for block in robot.machine.blocks if block.name.startswith("m_") and "command" in block.name]
    names = [name for name in names if f"{name}.constant" in scenario.numbers()]
    for name, u in zip(names, commands, strict=False):
        scale = {"m_target_command": 1 / gear, "m_target_velocity_command": 1 / gear, "m_feed_forward_command": gear}
        offset = -0.4 if name == "m_target_command" or kind == "filter" else 0.0
        line = {"voltage": gear * 0.1 / 2, "cogging": gear * 0.1 / 2, "turned cogging": gear * 0.1 / 2}
        changes[f"{name}.constant"] = scale.get(name, line.get(kind, 1.0)) * u + offset
    run = rd.simulate(scenario.with_numbers(changes | {"initial.j.velocity": 0.5}))
    assert run.outcome.ok
    moved = float(data.qpos[0]) - 0.4
    assert run.final["j.position"] == pytest.approx(moved, abs=1e-3 * max(abs(moved), 0.05))


def test_what_motors_have_beyond_our_laws_is_said(tmp_path):
    more = 'inductance="0.02" thermal="5 0 30 0.004 25 20" saturation="0 0 3"'
    body = BODY.format("").replace('name="j"', 'name="j" stiffness="3" springyield="2"')
    robot = read(tmp_path, f"<worldbody>{body}</worldbody><actuator>{MOTOR.format(more)}</actuator>")
    heat = next(block for block in robot.machine.blocks if block.name == "m_heat")
    assert heat.parameters["winding_time"] == 30.0
    assert heat.states["winding"] == pytest.approx(293.15)
    # 2 ohm at 25 deg C, whatever temperature the winding has.
    assert heat.parameters["resistance"] == pytest.approx(2.0)
    choices = " ".join(robot.sheet.choices)
    assert "current's rate, 3 A/s" in choices or "takes less current is not used" in choices
    assert "yields from 0.0349" in choices


def test_tendons_between_two_sites_are_distances_and_sums_can_be_tied(tmp_path):
    bodies = (
        '<site name="low" pos="0.1 0 0"/><body name="a"><joint name="one"/><geom size="0.1"/>'
        '<site name="high" pos="0 0 1"/></body><body name="b" pos="1 0 0"><joint name="two"/><geom size="0.1"/></body>'
    )
    tendons = (
        '<spatial name="rope" stiffness="5" springlength="0.5"><site site="low"/><site site="high"/></spatial>'
        '<fixed name="sum"><joint joint="one" coef="2"/><joint joint="two" coef="1"/></fixed>'
    )
    tie = '<equality><tendon tendon1="sum" polycoef="0.1 0 0 0 0"/></equality>'
    robot = read(tmp_path, f"<worldbody>{bodies}</worldbody><tendon>{tendons}</tendon>{tie}")
    rope, total = robot.machine.coordinates
    assert (rope.start, rope.end) == ("low", "high")
    (constraint,) = robot.machine.constraints
    assert (dict(constraint.of), constraint.offset) == ({total.name: 1.0}, 0.1)


def test_gravity_compensation_is_a_force_at_the_centre_of_mass(tmp_path):
    body = '<body gravcomp="1"><joint name="j" type="slide"/><geom size="0.1" pos="0.3 0 0"/></body>'
    robot = read(tmp_path, f"<worldbody>{body}</worldbody>")
    run = rd.simulate(robot.scenario(1.0))
    assert abs(run.final["j.position"]) < 1e-12


def test_gravity_compensation_of_a_body_that_is_fixed_moves_nothing_and_is_said(tmp_path):
    joint = '<body gravcomp="1"><joint name="j" type="slide" axis="0 0 1"/><geom size="0.1"/></body>'
    robot = read(tmp_path, f'<worldbody><body name="base" gravcomp="1"><geom size="0.1"/>{joint}</body></worldbody>')
    assert "moves nothing" in " ".join(notes(robot, "body[base]@gravcomp"))
    assert [load.name for load in robot.machine.loads] != []
    assert abs(rd.simulate(robot.scenario(1.0)).final["j.position"]) < 1e-12


def test_a_base_has_no_effect_and_is_refused(tmp_path):
    assert "base: 'free' has no effect" in refusal(tmp_path, f"<worldbody>{BODY.format('')}</worldbody>", base="free")


def test_gravity_can_be_off(tmp_path):
    off = '<option><flag gravity="disable"/></option>'
    machine = read(tmp_path, f"{off}<worldbody>{BODY.format('')}</worldbody>").machine
    assert machine.mechanism.gravity == (0.0, 0.0, 0.0)


def test_what_mujoco_refuses_is_refused_with_its_words(tmp_path):
    assert "MuJoCo's compiler refuses it: " in refusal(tmp_path, "<worldbody><body><joint/></body></worldbody>")


def test_all_that_mujoco_refuses_is_told_at_once_without_what_follows_from_it(tmp_path):
    """The joint without a type is named by an actuator, the body of the wrong sphere has no mass without it."""
    wrong = ['<body name="a"><joint name="j" type="hing"/>', '<geom size="0.1" foo="1"/></body>']
    wrong += ['<body name="b"><joint axis="0 0 0"/>', '<geom size="0.1"/></body>']
    bodies = "\n".join(wrong)
    drives = '<actuator>\n<motor joint="j"/>\n<motor joint="k"/>\n</actuator>'
    said = refusal(tmp_path, f"<worldbody>\n{bodies}\n</worldbody>\n{drives}")
    assert "4 problems" in said
    for words in ("invalid keyword: 'hing'", "unrecognized attribute: 'foo'", "axis too small", "target 'k'"):
        assert words in said


def test_what_the_compiler_makes_into_bodies_is_not_called_unused(tmp_path):
    body = BODY.format('name="a"')
    robot = read(tmp_path, f'<worldbody><replicate count="2" offset="1 0 0">{body}</replicate></worldbody>')
    assert len(robot.machine.mechanism.bodies) == 2
    assert not robot.sheet.of("not used")


def test_files_outside_of_the_folder_are_not_read(tmp_path):
    inner = tmp_path / "mine"
    inner.mkdir()
    (tmp_path / "secret.xml").write_text('<mujocoinclude><option timestep="1"/></mujocoinclude>')
    (tmp_path / "a.stl").write_bytes((OWN / "meshes/tetrahedron.stl").read_bytes())
    assert "from outside of the robot's folder" in refusal(inner, '<include file="../secret.xml"/>')
    mesh = '<asset><mesh name="a" file="../a.stl"/></asset>'
    assert "lies outside of the robot's folder" in refusal(inner, mesh)
    read(inner, f'<include file="../secret.xml"/><worldbody>{BODY.format("")}</worldbody>', search=[tmp_path])


def test_files_that_include_themselves_end(tmp_path):
    assert "or itself" in refusal(tmp_path, '<include file="robot.xml"/>')
    said = refusal(tmp_path, '<include file="nothing.xml"/><include file="neither.xml"/>')
    assert ("2 problems" in said, "'nothing.xml', which is not a file" in said, "neither" in said) == (True, True, True)


def test_document_types_of_included_files_are_refused(tmp_path):
    (tmp_path / "inner.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><mujocoinclude>&b;</mujocoinclude>')
    assert "document type" in refusal(tmp_path, '<include file="inner.xml"/>')


def test_meshes_are_drawn_in_their_own_frame(tmp_path):
    (tmp_path / "a.stl").write_bytes(tetrahedron())
    mesh = '<asset><mesh name="a" file="a.stl" scale="2 2 2"/></asset>'
    body = '<body><joint/><geom type="mesh" mesh="a" pos="1 2 3"/></body>'
    machine = read(tmp_path, f"{mesh}<worldbody>{body}</worldbody>").machine
    (look,) = machine.mechanism.bodies[0].looks
    assert look.origin == pytest.approx((1.0, 2.0, 3.0), abs=1e-6)
    assert look.scale == (2.0, 2.0, 2.0)


def tetrahedron():
    """The mesh as a binary file, which is all that MuJoCo reads."""
    import struct

    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    data = bytes(80) + struct.pack("<I", 4)
    for face in faces:
        data += struct.pack("<12fH", *(0, 0, 0), *(x for corner in face for x in corners[corner]), 0)
    return data


def test_a_missing_mesh_is_told_where_it_is_looks_and_refused_where_it_gives_inertia(tmp_path):
    inertial = '<inertial mass="2" pos="0 0 0.5" diaginertia="1 1 1"/>'
    path = tmp_path / "robot.xml"
    for ending in ("stl", "obj"):
        text = f"""<mujoco><asset><mesh name="m" file="gone.{ending}"/></asset><worldbody><body name="b">
            <joint name="j" axis="0 1 0"/>{inertial}<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
        path.write_text(text)
        robot = rd.import_robot(path)
        assert rd.MachineDynamics(robot.machine).mass_matrix([0.0])[0, 0] == pytest.approx(1 + 2 * 0.5**2, rel=1e-12)
        assert any("there is no such file" in str(entry) for entry in robot.sheet.not_drawn)
    path.write_text(text.replace(inertial, ""))
    with pytest.raises(rd.ModelError, match=r"inertias of meshes that are not there: 'gone.obj' \(line 1\)"):
        rd.import_robot(path)


@pytest.mark.parametrize("key", ["damping", "frictionloss", "armature", "stiffness"])
def test_numbers_that_no_joint_can_have_are_refused(key, tmp_path):
    """MuJoCo takes negative losses, rotors and springs, and no number for a number."""
    text = '<worldbody><body><joint name="j" {}="{}"/><geom size="0.1"/></body></worldbody>'
    assert "joint[j]: " in (said := refusal(tmp_path, text.format(key, -1.0)))
    assert "must not be negative, is -1" in said
    assert f"joint[j]@{key}: 'nan' is not a finite number" in refusal(tmp_path, text.format(key, "nan"))
    weightless = '<worldbody><body gravcomp="-1"><joint/><geom size="0.1"/></body></worldbody>'
    assert "@gravcomp: must not be negative" in refusal(tmp_path, weightless)


def test_what_the_file_disables_is_left_out(tmp_path):
    joint = '<joint name="j" stiffness="2" damping="3" frictionloss="1" range="-1 1"/>'
    body = f'<body name="b">{joint}<geom size="1"/></body>'
    rest = '<equality><joint joint1="j"/></equality><actuator><position joint="j" kp="4"/></actuator>'
    flags = 'spring="disable" damper="disable" constraint="disable" actuation="disable"'
    model = "<option><flag {}/></option><worldbody>{}</worldbody>{}"
    robot = read(tmp_path, model.format(flags, body, rest))
    joint = robot.machine.mechanism.joint("j")
    assert (joint.damping, joint.friction, joint.lower_limit, robot.machine.blocks) == (None, None, None, ())
    assert not robot.machine.constraints[0].active
    assert "is disabled in the file's <option>" in notes(robot, "actuator/position")
    assert len(read(tmp_path, model.format("", body, rest)).machine.blocks) > 1


def test_a_floor_that_stops_nothing_and_curved_tendons_are_said(tmp_path):
    floor = '<geom type="plane" size="1 1 1" {}/>'
    tendon = '<tendon><fixed name="t" stiffness="3 1 1" damping=".1 .3"><joint joint="j" coef="1"/></fixed></tendon>'
    model = f"<worldbody>{floor}{BODY.format('')}</worldbody>{tendon}"
    choices = " ".join(read(tmp_path, model.format("")).sheet.choices)
    assert "nothing stops a body at the world's shapes" in choices
    assert "stiffness and damping with a nonlinear part" in choices
    untouched = model.format('contype="0" conaffinity="0"')
    assert "nothing stops" not in " ".join(read(tmp_path, untouched).sheet.choices)
