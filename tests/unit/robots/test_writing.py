"""Robot files that are written move as the machine, say what they cannot hold, and refuse what would move else."""

import numpy as np
import pytest
from support.robot_files import OWN, example_robot

import robodyn as rd
from robodyn.analysis.mechanics.machine_dynamics import compare_mechanics

ENDINGS = {"urdf": "robot.urdf", "sdf": "robot.sdf", "mjcf": "robot.xml"}
ROUNDING = 1e-12


def scenario_of(path, **options):
    return rd.import_robot(path, **options).scenario()


def read_back(scenario, tmp_path, to, without=()):
    if to == "mjcf":
        pytest.importorskip("mujoco")
    path = tmp_path / ENDINGS[to]
    written = rd.export_robot(scenario, path, to, without)
    path.write_text(written.text)
    return rd.import_robot(path, search=["/"]), written.sheet


def joint_machine(**fields):
    bodies = (rd.Body("base", 1.0, inertia=(0.1, 0.1, 0.1)), rd.Body("arm", 2.0, (0.1, 0.2, 0.3), (0.2, 0.3, 0.4)))
    kind = fields.pop("kind", "revolute")
    mount = rd.Joint("mount", "fixed", "ground", "base", (0.0, 0.1, 0.0))
    turned = rd.Joint("turn", kind, "base", "arm", (0.3, 0.2, 0.1), ((0, -1, 0), (1, 0, 0), (0, 0, 1)), **fields)
    return rd.Machine("two", rd.Mechanism("two", bodies, (mount, turned)))


@pytest.mark.parametrize(("name", "to"), [("arm.urdf", "urdf"), ("crane.sdf", "sdf"), ("arm.xml", "mjcf")])
def test_a_file_that_is_read_and_written_moves_as_it_did(name, to, tmp_path):
    if to == "mjcf":
        pytest.importorskip("mujoco")
    scenario = scenario_of(OWN / name)
    again, _ = read_back(scenario, tmp_path, to)
    assert compare_mechanics(scenario.machine, again.machine) <= ROUNDING


def test_a_servo_with_a_negative_gain_is_written_as_a_motor_that_its_user_commands(tmp_path):
    inputs = {"target": "aim.value", "position": "turn.position", "velocity": "turn.velocity"}
    gains = {"proportional": -2.0, "derivative": 3.0}
    loop = rd.Block("loop", "pd_control", inputs=inputs, parameters=gains, unit="N m")
    aim = rd.Block("aim", "constant_reference", parameters={"constant": 1.0}, unit="rad")
    motor = rd.Block("motor", "torque_source", "turn", {"command": "loop.command"})
    machine = joint_machine(axis=(0.0, 0.0, 1.0)).replaced(blocks=(aim, loop, motor))
    again, sheet = read_back(rd.Scenario("two", machine, 1.0), tmp_path, "mjcf")
    assert [block.law for block in again.machine.blocks if block.on] == ["torque_source"]
    assert any("given as ctrl" in choice for choice in sheet.choices)


@pytest.mark.parametrize("to", ENDINGS)
def test_a_robot_moves_alike_in_each_format(to, tmp_path):
    """UR5 with its gripper: 16 links, massless ones among them, some of which followers move."""
    scenario = scenario_of(example_robot("ur5_gripper.urdf"))
    again, _ = read_back(scenario, tmp_path, to)
    assert compare_mechanics(scenario.machine, again.machine) <= ROUNDING


@pytest.mark.parametrize("to", ENDINGS)
def test_limits_and_losses_come_back(to, tmp_path):
    fields = {"lower_limit": -1.0, "upper_limit": 2.0, "effort_limit": 30.0, "damping": 0.1, "friction": 0.2}
    machine = joint_machine(axis=(0.6, 0.0, 0.8), **fields)
    again, _ = read_back(rd.Scenario("two", machine, 1.0), tmp_path, to)
    joint = again.machine.mechanism.joint("turn")
    assert {key: getattr(joint, key) for key in fields} == fields


def test_springs_and_rotors_come_back_in_mjcf(tmp_path):
    spring = {"stiffness": 5.0, "rest": 0.3, "preload": 1.0}
    machine = joint_machine(armature=0.7).replaced(blocks=(rd.Block("coil", "spring", "turn", parameters=spring),))
    again, sheet = read_back(rd.Scenario("two", machine, 1.0), tmp_path, "mjcf")
    (block,) = again.machine.blocks
    assert again.machine.mechanism.joint("turn").armature == 0.7
    # -1 - 5 (s - 0.3) = -5 (s - 0.1)
    assert (block.parameters["stiffness"], block.parameters["rest"]) == (5.0, pytest.approx(0.1))
    assert not any("coil" in sentence for sentence in sheet.lost)


def test_what_a_format_has_no_place_for_is_said(tmp_path):
    machine = joint_machine(armature=0.7, speed_limit=2.0)
    _, sheet = read_back(rd.Scenario("two", machine, 1.0), tmp_path, "urdf")
    assert [line for line in sheet.lost if "armature" in line and "URDF has no place for it" in line]
    assert not [line for line in sheet.lost if "speed_limit" in line]
    _, sheet = read_back(rd.Scenario("two", machine, 1.0), tmp_path, "mjcf")
    assert [line for line in sheet.lost if "speed_limit" in line]


@pytest.mark.parametrize("to", ["urdf", "sdf"])
@pytest.mark.parametrize("kind", ["universal", "cylindrical", "planar"])
def test_joints_of_several_motions_become_chains(kind, to, tmp_path):
    scenario = rd.Scenario("two", joint_machine(kind=kind), 1.0)
    again, _ = read_back(scenario, tmp_path, to)
    there, here = rd.MachineDynamics(again.machine), rd.MachineDynamics(scenario.machine)
    q = np.random.default_rng(2).uniform(-1, 1, len(here.positions))
    assert np.abs(here.mass_matrix(q) - there.mass_matrix(q)).max() <= ROUNDING


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-8, 1.2])
def test_rotations_are_kept_at_any_pitch(pitch):
    from robodyn.base.spatial import from_rpy, to_rpy

    R = from_rpy(0.4, pitch, -2.5)
    assert np.abs(from_rpy(*to_rpy(R)) - R).max() < 1e-15


def crank():
    """Two links of one length whose ends a spherical loop joint ties to one point where they stand."""
    bodies = (rd.Body("left", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)), rd.Body("right", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)))
    joints = tuple(rd.Joint(f"{body.name}_hinge", "revolute", "ground", body.name) for body in bodies)
    points = tuple(rd.Point(f"{body.name}_end", body.name, (0.2, 0.0, 0.0)) for body in bodies)
    tie = rd.LoopJoint("tie", "left_end", "right_end")
    return rd.Scenario(
        "crank", rd.Machine("crank", rd.Mechanism("crank", bodies, joints, points), constraints=(tie,)), 1
    )


@pytest.mark.parametrize("to", ["sdf", "mjcf"])
def test_loops_come_back(to, tmp_path):
    again, _ = read_back(crank(), tmp_path, to)
    (loop,) = again.machine.constraints
    ends = [again.machine.mechanism.points[[p.name for p in again.machine.mechanism.points].index(name)]
            for name in (loop.first, loop.second)]  # fmt: skip
    assert loop.kind == "spherical"
    assert [end.origin for end in ends] == [(0.2, 0.0, 0.0), (0.2, 0.0, 0.0)]


def test_a_loop_that_a_tree_cannot_hold_is_refused_with_the_way_out(tmp_path):
    with pytest.raises(rd.ModelError) as error:
        rd.export_robot(crank(), tmp_path / "crank.urdf", "urdf")
    assert "constraints.tie: URDF cannot hold it: its tree has no loops" in str(error.value)
    assert "--to mjcf" in str(error.value)
    sheet = rd.export_robot(crank(), tmp_path / "crank.urdf", "urdf", without=["t*"]).sheet
    assert any("left out as asked" in choice for choice in sheet.choices)
    with pytest.raises(rd.ModelError, match="fits no constraint"):
        rd.export_robot(crank(), tmp_path / "crank.urdf", "urdf", without=["nothing"])


def test_inertia_that_no_body_has_is_refused_by_mujoco_and_by_us(tmp_path):
    body = rd.Body("b", 1.0, inertia=(1.0, 1.0, 3.0), physical=False)
    machine = rd.Machine("m", rd.Mechanism("m", (body,), (rd.Joint("j", "revolute", "ground", "b"),)))
    with pytest.raises(rd.ModelError, match="is physically impossible"):
        rd.export_robot(rd.Scenario("m", machine, 1.0), tmp_path / "m.xml", "mjcf")


def test_urdf_of_later_versions_is_read(tmp_path):
    path = tmp_path / "robot.urdf"
    limit = '<limit lower="-1" upper="1" effort="5" velocity="2" acceleration="10" deceleration="5" jerk="200"/>'
    path.write_text(
        '<robot name="r" version="1.2"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry>'
        '<capsule radius="0.1" length="0.5"/></geometry></visual></link><joint name="j" type="revolute">'
        f'<origin xyz="0 0 1" quat_xyzw="0 0 2 2"/><parent link="a"/><child link="b"/>{limit}</joint></robot>'
    )
    robot = rd.import_robot(path)
    joint = robot.machine.mechanism.joint("j")
    assert np.abs(np.array(joint.rotation) - [[0, -1, 0], [1, 0, 0], [0, 0, 1]]).max() < 1e-15
    assert joint.acceleration_limit == 5.0
    assert robot.machine.mechanism.body("b").looks[0].kind == "capsule"
    notes = {entry.path.rpartition("@")[2]: entry for entry in robot.sheet.entries}
    assert "smaller of both" in notes["deceleration"].note
    assert notes["jerk"].column == "not used"
    text = path.read_text()
    path.write_text(text.replace(' version="1.2"', ""))
    assert any("quat_xyzw" in choice and "give version 1.1" in choice for choice in rd.import_robot(path).sheet.choices)
    path.write_text(text.replace("quat_xyzw=", 'rpy="0 0 0" quat_xyzw='))
    with pytest.raises(rd.ModelError, match="both rpy and quat_xyzw"):
        rd.import_robot(path)
    path.write_text(text.replace('"1.2"', '"2.0"'))
    with pytest.raises(rd.ModelError, match=r"'2.0' is unknown"):
        rd.import_robot(path)


def test_actuators_come_back_in_mjcf(tmp_path):
    """Servo, motor, DC motor and cogging: the blocks that are read back have the same laws and numbers."""
    pytest.importorskip("mujoco")
    text = (
        '<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><actuator>'
        '<position name="hold" joint="j" kp="5" kv="0.4" forcerange="-3 3" ctrlrange="0.2 1"/>'
        '<motor name="push" joint="j" ctrlrange="0.5 1"/>'
        '<dcmotor name="wind" joint="j" gear="4" motorconst="0.05" resistance="2" inductance="0.01" '
        'saturation="0.2" cogging="0.1 6 0.3"/></actuator></mujoco>'
    )
    (tmp_path / "first.xml").write_text(text)
    scenario = scenario_of(tmp_path / "first.xml")
    again, sheet = read_back(scenario, tmp_path, "mjcf")
    before = {block.name: block for block in scenario.machine.blocks}
    after = {block.name: block for block in again.machine.blocks}
    for name in ("hold_loop", "hold", "push", "wind"):
        assert after[name].law == before[name].law
        assert dict(after[name].parameters) == pytest.approx(dict(before[name].parameters), rel=1e-12)
    there = after["wind_cogging_cogging"].parameters
    here = before["wind_cogging"].parameters
    assert (there["amplitude"], there["order"]) == pytest.approx((here["amplitude"], here["order"]))
    assert np.cos(there["phase"] - here["phase"]) == pytest.approx(1.0)
    assert not [line for line in sheet.lost if "block" in line]
    assert "ctrl=" in (tmp_path / "robot.xml").read_text()


def test_rods_come_back_in_mjcf_and_mujoco_moves_the_ankle_by_them(tmp_path):
    """Foot and motors where one crank has turned: MuJoCo's soft rods give way by less than a hundredth."""
    mujoco = pytest.importorskip("mujoco")
    from robodyn.description.catalog import parallel_ankle

    again, _ = read_back(parallel_ankle(), tmp_path, "mjcf")
    lengths = {part.name: part.length for part in again.machine.constraints}
    assert lengths == pytest.approx({"left_rod": 0.18, "right_rod": 0.25}, rel=1e-12)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.1
    for _ in range(300):
        mujoco.mj_step(model, data)
    assert abs(data.qpos[model.joint("pitch").qposadr[0]]) > 0.02
    assert data.ten_length == pytest.approx([0.18, 0.25], rel=1e-2)


def test_a_free_body_starts_in_mujoco_where_it_does_here(tmp_path):
    """Its joint stands off the ground's origin, and a rod ties it: body, keyframe and rod agree on where it is."""
    mujoco = pytest.importorskip("mujoco")
    points = (rd.Point("hook", "ground"), rd.Point("eye", "drone", (0.2, 0.0, 0.0)))
    rod = rd.Rod("rod", "hook", "eye", length=float(np.linalg.norm([1.7, 2.0, 3.0])))
    mechanism = rd.Mechanism(
        "m",
        (rd.Body("drone", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1)),),
        (rd.Joint("fly", "free", "ground", "drone", (1.0, 2.0, 3.0)),),
        points,
    )
    scenario = rd.Scenario("m", rd.Machine("m", mechanism, constraints=(rod,)), 1.0, initial={"fly.x.position": 0.5})
    written = rd.export_robot(scenario, tmp_path / "m.xml", "mjcf")
    model = mujoco.MjModel.from_xml_string(written.text)
    data = mujoco.MjData(model)
    for reset in (mujoco.mj_resetData, lambda m, d: mujoco.mj_resetDataKeyframe(m, d, 0)):
        reset(model, data)
        mujoco.mj_forward(model, data)
        assert data.body("drone").xpos == pytest.approx([1.5, 2.0, 3.0], abs=1e-12)
        assert data.efc_pos == pytest.approx([0.0], abs=1e-12)


def test_springs_ranges_and_rotors_of_sums_come_back_in_mjcf(tmp_path):
    """A rest of -1 is what MuJoCo takes for its own choice; a damper is a spring without stiffness."""
    mujoco = pytest.importorskip("mujoco")
    gears = rd.LinearCombination("gears", {"mount": 1.0, "turn": -2.0}, inertia=0.3, range=(-1.5, 2.0))
    blocks = (
        rd.Block("coil", "spring", "gears", parameters={"stiffness": 5.0, "rest": -1.0}),
        rd.Block("oil", "spring", "turn", parameters={"stiffness": 0.0, "damping": 2.0}),
    )
    machine = joint_machine()
    mechanism = machine.mechanism
    mount = mechanism.joints[0].replaced(kind="revolute")
    machine = machine.replaced(
        mechanism=mechanism.replaced(joints=(mount, mechanism.joints[1])), coordinates=(gears,), blocks=blocks
    )
    again, _ = read_back(rd.Scenario("two", machine, 1.0), tmp_path, "mjcf")
    (there,) = again.machine.coordinates
    assert (there.inertia, there.range, again.machine.mechanism.joint("turn").damping) == (0.3, (-1.5, 2.0), 2.0)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).tendon_lengthspring == pytest.approx(-1.0)


def test_sdf_says_each_pose_and_mass_once(tmp_path):
    """Links of which SDF says nothing weigh 1 kg in Gazebo: massless ones are written as such, and others so read."""
    from xml.etree import ElementTree

    machine = joint_machine(kind="planar")
    massless = machine.mechanism.bodies[0].replaced(mass=0.0, inertia=(0.0, 0.0, 0.0))
    bodies = (massless, machine.mechanism.bodies[1])
    machine = machine.replaced(mechanism=machine.mechanism.replaced(bodies=bodies))
    text = rd.export_robot(rd.Scenario("two", machine, 1.0), tmp_path / "two.sdf", "sdf").text
    links = ElementTree.fromstring(text.partition("?>")[2]).findall(".//link")
    assert len(links) == 4
    for link in links:
        assert [len(link.findall(tag)) for tag in ("pose", "inertial/mass")] == [1, 1]
    (tmp_path / "some.sdf").write_text(
        '<sdf version="1.12"><model name="m"><link name="a"><inertial><mass>2</mass></inertial></link></model></sdf>'
    )
    robot = rd.import_robot(tmp_path / "some.sdf")
    assert robot.machine.mechanism.body("a").inertia[:3] == (1.0, 1.0, 1.0)
    assert any("SDF's own default" in choice for choice in robot.sheet.choices)


def test_long_chains_of_massless_links_are_several_bodies_of_mujoco():
    """MuJoCo refuses a body with more than 6 degrees of freedom."""
    mujoco = pytest.importorskip("mujoco")
    names = [f"link_{k}" for k in range(7)]
    bodies = [rd.Body(name, 0.0) for name in names[:-1]] + [rd.Body(names[-1], 1.0, inertia=(0.1, 0.1, 0.1))]
    joints = [
        rd.Joint(f"joint_{k}", "revolute", parent, child, (0.1, 0.0, 0.2), axis=np.eye(3)[k % 3], armature=0.1)
        for k, (parent, child) in enumerate(zip(["ground", *names], names, strict=False))
    ]
    machine = rd.Machine("chain", rd.Mechanism("chain", tuple(bodies), tuple(joints)))
    written = rd.export_robot(rd.Scenario("chain", machine, 1.0), "chain.xml", "mjcf")
    assert mujoco.MjModel.from_xml_string(written.text).nv == 7
    assert any("MuJoCo wants mass" in choice for choice in written.sheet.choices)
