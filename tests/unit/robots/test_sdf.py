"""SDF files: models, worlds, frames, loops; what has no counterpart is said."""

import numpy as np
import pytest
from support.robot_files import OWN, example_robot

import robodyn as rd

INERTIA = "<ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>"
LINK = f'<link name="{{0}}">{{1}}<inertial><mass>1</mass><inertia>{INERTIA}</inertia></inertial></link>'


def joint(name, parent, child, inner="", kind="revolute"):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{ends}<axis><xyz>0 0 1</xyz>{inner}</axis></joint>'


def read(tmp_path, *parts, **options):
    path = tmp_path / "robot.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{"".join(parts)}</model></sdf>')
    return rd.import_robot(path, **options)


def flaws(tmp_path, *parts):
    with pytest.raises(rd.ModelError) as error:
        read(tmp_path, *parts)
    return str(error.value)


def test_a_world_has_all_its_models_under_their_names():
    machine = rd.read_robot(OWN / "crane.sdf")
    kinds = {joint.name: joint.kind for joint in machine.mechanism.joints}
    assert machine.name == "yard"
    assert machine.mechanism.gravity == (0.0, 0.0, -9.8)
    assert (kinds["slab.top_base"], kinds["crate.box_base"], kinds["crane.slew"]) == ("fixed", "free", "revolute")
    assert (kinds["crane.swivel"], kinds["crane.thread"]) == ("universal", "screw")
    assert machine.mechanism.joint("crane.thread").pitch == pytest.approx(0.01 / (2 * np.pi))
    (spring,) = machine.blocks
    assert dict(spring.parameters) | {"stiffness": 4.0, "rest": 0.1} == dict(spring.parameters)
    assert machine.mechanism.joint("crane.slew").limits == {"lower_limit": -2.0, "upper_limit": 2.0}


def test_a_model_without_a_joint_to_the_world_is_free_unless_asked_otherwise(tmp_path):
    for base, kind in ((None, "free"), ("fixed", "fixed"), ("planar", "planar")):
        robot = read(tmp_path, LINK.format("a", ""), base=base)
        assert [part.kind for part in robot.machine.mechanism.joints] == [kind]
    assert any("base = " in choice for choice in robot.sheet.choices)


def test_models_stand_in_frames_of_the_world_by_a_frame_of_their_own(tmp_path):
    """X_model = X_<pose> X_frame^-1: the link at (0, 0, 1) of its model stands where the pose says."""
    frame = '<frame name="f"><pose>1 0 0 0 0 0</pose></frame>'
    link = LINK.format("a", "<pose>0 0 1 0 0 0</pose>")
    first = f'<model name="m" placement_frame="a"><pose relative_to="f">0 2 0 0 0 0</pose>{link}</model>'
    second = f'<model name="n"><pose relative_to="m">5 0 0 0 0 0</pose>{link}</model>'
    path = tmp_path / "world.sdf"
    path.write_text(f'<sdf version="1.12"><world name="w">{frame}{first}{second}</world></sdf>')
    mechanism = rd.read_robot(path, base="fixed").mechanism
    assert np.allclose(mechanism.joint("m.a_base").origin, (1, 2, 0))
    assert np.allclose(mechanism.joint("n.a_base").origin, (6, 2, 0))
    inner = f'<model name="i" placement_frame="a">{link}</model>'
    path.write_text(
        f'<sdf version="1.12"><world name="w"><model name="m">{inner}</model>{joint("j", "a", "b")}</world></sdf>'
    )
    with pytest.raises(rd.ModelError, match="placement_frame within another model") as error:
        rd.read_robot(path)
    assert "joins models of a world" in str(error.value)


def test_negative_losses_are_refused(tmp_path):
    losses = "<damping>-1</damping><friction>-2</friction><spring_stiffness>-3</spring_stiffness>"
    losses = f"<dynamics>{losses}</dynamics>"
    said = flaws(tmp_path, LINK.format("a", ""), LINK.format("b", ""), joint("j", "a", "b", losses))
    assert "damping: must not be negative, is -1" in said
    assert "friction: must not be negative, is -2" in said
    assert "has a spring_stiffness of -3" in said


def test_losses_and_limits_of_a_universal_joint_are_said_to_be_lost(tmp_path):
    axes = "<limit><lower>-1</lower><upper>1</upper></limit></axis>"
    axes += "<axis2><xyz>1 0 0</xyz><dynamics><damping>2</damping></dynamics>"
    turned = joint("j", "a", "b", axes, kind="universal").replace("</axis></joint>", "</axis2></joint>")
    robot = read(tmp_path, LINK.format("a", ""), LINK.format("b", ""), turned)
    lost = {entry.kind: entry.note for entry in robot.sheet.of("not used")}
    assert lost["axis/limit"] == lost["axis2/dynamics"] == "only joints along or about one axis have it in robodyn"


def test_poses_are_relative_to_models_links_joints_and_frames(tmp_path):
    frame = '<frame name="f" attached_to="a"><pose degrees="true">1 0 0 0 0 90</pose></frame>'
    b = LINK.format("b", '<pose relative_to="f">0 1 0 0 0 0</pose>')
    c = LINK.format("c", '<pose relative_to="b" rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose>')
    robot = read(
        tmp_path, LINK.format("a", "<pose>0 0 1 0 0 0</pose>"), frame, b, c, joint("j", "a", "b"), joint("k", "b", "c")
    )
    mechanism = robot.machine.mechanism
    assert np.allclose(mechanism.joint("a_base").origin, (0, 0, 1))
    assert np.allclose(mechanism.joint("j").origin, (0, 0, 0))
    assert np.allclose(mechanism.joint("j").rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(mechanism.joint("k").origin, (0, 0, 1))


def test_models_in_models_have_their_names_before_their_parts(tmp_path):
    inner = f'<model name="hand"><pose>0 0 2 0 0 0</pose>{LINK.format("palm", "")}</model>'
    robot = read(tmp_path, LINK.format("a", ""), inner, joint("wrist", "a", "hand::palm"))
    assert [body.name for body in robot.machine.mechanism.bodies] == ["a", "hand.palm"]
    assert np.allclose(robot.machine.mechanism.joint("wrist").origin, (0, 0, 2))


def test_a_joint_that_follows_another_does_so_from_its_reference(tmp_path):
    mimic = '<mimic joint="j"><multiplier>2</multiplier><offset>1</offset><reference>0.5</reference></mimic>'
    links = [LINK.format(name, "") for name in "abc"]
    robot = read(tmp_path, *links, joint("j", "a", "b"), joint("k", "a", "c", mimic))
    assert robot.machine.mechanism.joint("k").mimic == rd.Mimic("j", 2.0, 0.0)


def test_what_is_wrong_is_reported_at_once(tmp_path):
    ring = LINK.format("c", '<pose relative_to="c">0 0 0 0 0 0</pose>')
    links = [LINK.format("a", "<pose>0 0</pose>"), LINK.format("a", ""), LINK.format("b", ""), ring]
    text = flaws(tmp_path, *links, joint("j", "a", "nobody"), joint("k", "a", "b", kind="hinge"))
    for part in (
        "must be 6 numbers",
        "another part 'a'",
        "no child link 'nobody'",
        "'hinge' is unknown",
        "relative to itself",
    ):
        assert part in text


def test_a_file_without_a_model_is_refused(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text('<sdf version="1.9"><world name="w"/></sdf>')
    with pytest.raises(rd.ModelError, match="has no <model>"):
        rd.read_robot(path)


def test_a_model_of_nothing_but_other_files_is_refused(tmp_path):
    assert "has no links" in flaws(tmp_path, "<include><uri>model://arm</uri></include>")


def test_gearboxes_of_a_published_robot_are_not_used_and_said():
    sheet = rd.import_robot(example_robot("cassie.sdf")).sheet
    lost = [entry for entry in sheet.entries if entry.column == "not used" and "gearbox joints" in entry.note]
    assert lost


@pytest.mark.parametrize("frame", ["__model__", "base"])
def test_the_models_own_frame_is_one_to_be_named(tmp_path, frame):
    """A turned link, its joint placed and its axis given in the model's frame, where the base stands."""
    turned = LINK.format("arm", "<pose>0.1 0.2 0.3 0.5 0.4 0.3</pose>")
    axis = f'<axis><xyz expressed_in="{frame}">0 0 1</xyz></axis>'
    place = f'<pose relative_to="{frame}">0.4 0 0 0.2 0 0</pose>'
    carried = f'<joint name="j" type="revolute">{place}<parent>base</parent><child>arm</child>{axis}</joint>'
    base = joint("w", "world", "base", kind="fixed")
    mechanism = read(tmp_path, LINK.format("base", ""), base, turned, carried).machine.mechanism
    hinge = mechanism.joint("j")
    assert np.allclose(np.array(hinge.rotation) @ hinge.axis, (0, 0, 1), atol=1e-15)
    # 1 kg at (0.1, 0.2) turns about an axis through (0.4, 0), with 1 kg m^2 of its own.
    inertia = rd.MachineDynamics(rd.Machine("m", mechanism)).mass_matrix([0.7])[0, 0]
    assert inertia == pytest.approx(1 + 0.3**2 + 0.2**2, rel=1e-12)


def test_frames_in_a_ring_are_told(tmp_path):
    a, b = LINK.format("a", '<pose relative_to="b"/>'), LINK.format("b", '<pose relative_to="a"/>')
    assert "is given relative to itself (break the loop of relative_to)" in flaws(tmp_path, a, b)


def test_inertia_that_gazebo_would_make_of_collisions_is_a_choice(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text('<sdf version="1.12"><model name="m"><link name="a"><inertial auto="true"/></link></model></sdf>')
    assert any("from collisions" in choice for choice in rd.import_robot(path).sheet.choices)


def test_looks_and_inertias_stand_in_the_frames_that_they_name(tmp_path):
    frame = '<frame name="f"><pose>0 0 1 0 0 1.5707963267948966</pose></frame>'
    box = "<geometry><box><size>1 1 1</size></box></geometry>"
    visual = f'<visual name="v"><pose relative_to="f">1 0 0 0 0 0</pose>{box}</visual>'
    link = LINK.format("b", f"<pose>5 0 0 0 0 0</pose>{visual}")
    link = link.replace("<inertial>", '<inertial><pose relative_to="f">2 0 0 0 0 0</pose>')
    robot = read(tmp_path, frame, link, LINK.format("a", ""), joint("j", "a", "b"), base="fixed")
    body = robot.machine.mechanism.body("b")
    assert np.allclose(body.looks[0].origin, (-5, 1, 1))
    assert np.allclose(body.com, (-5, 2, 1))


def test_a_static_model_stands_still_whatever_its_joints_are(tmp_path):
    static = "<static>True</static>"
    robot = read(tmp_path, static, LINK.format("a", ""), LINK.format("b", ""), joint("j", "a", "b"))
    assert robot.machine.mechanism.joint("j").kind == "fixed"
    assert any("its model is static" in choice for choice in robot.sheet.choices)


def test_words_and_versions_that_sdf_has_not_are_refused(tmp_path):
    """Degrees in capitals are degrees; rotations of another format, and versions of another kind, are no guess."""
    pose = "<pose {}>0 0 0 0 0 90</pose>"
    parts = [LINK.format("a", ""), joint("j", "a", "b"), joint("k", "world", "a", kind="fixed")]
    turned = read(tmp_path, LINK.format("b", pose.format('degrees="True"')), *parts).machine.mechanism.joint("j")
    assert np.allclose(turned.rotation, ((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    assert "'yes' is neither true nor false" in flaws(tmp_path, LINK.format("b", pose.format('degrees="yes"')), *parts)
    wrong = LINK.format("b", pose.format('rotation_format="quat_wxyz"'))
    assert "'quat_wxyz' is unknown (known: euler_rpy, quat_xyzw)" in flaws(tmp_path, wrong, *parts)
    path = tmp_path / "new.sdf"
    path.write_text(f'<sdf version="2.0"><model name="m">{LINK.format("a", "")}</model></sdf>')
    with pytest.raises(rd.ModelError, match="'2.0' is unknown"):
        rd.import_robot(path)


def test_a_screw_of_earlier_versions_has_turns_a_metre(tmp_path):
    """thread_pitch = -2 pi / screw_thread_pitch."""
    thread = joint("j", "a", "b", kind="screw").replace("<axis>", "<thread_pitch>-200</thread_pitch><axis>")
    robot = read(tmp_path, LINK.format("a", ""), LINK.format("b", ""), thread, base="fixed")
    assert robot.machine.mechanism.joint("j").pitch == pytest.approx(0.005)
