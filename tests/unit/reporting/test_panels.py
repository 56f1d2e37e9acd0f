"""Signals stand in the panels of their unit, under names that say no more than needed."""

import pytest

from robodyn.presentation.reporting.runs import Panel, arrange, signal_looks


def test_a_first_look_shows_positions_and_velocities_in_one_panel_a_unit(make_run):
    panels = arrange([make_run()], None)
    assert [panel.unit for panel in panels] == ["m", "rad", "m/s", "rad/s"]
    assert panels[1].names == ("elbow.position", "wrist.position")


def test_a_first_look_at_what_does_not_move_has_a_panel_a_unit(make_run):
    assert [panel.unit for panel in arrange([make_run({"torque": "N m", "current": "A"})], None)] == ["N m", "A"]


def test_patterns_choose_signals_in_their_order(make_run):
    torque, velocity = arrange([make_run()], ["*.torque", "wrist.velocity", "*.velocity"])[:2]
    assert torque.names == ("elbow.torque",)
    assert velocity.names == ("wrist.velocity", "elbow.velocity")


def test_a_name_that_fits_nothing_is_an_error_with_a_suggestion(make_run):
    with pytest.raises(KeyError, match=r"elbow\.torque"):
        arrange([make_run()], ["elbow.torqe"])


def test_several_runs_have_a_panel_a_signal(make_run):
    panels = arrange([make_run(), make_run()], ["*.position"])
    assert [panel.names for panel in panels] == [("slide.position",), ("elbow.position",), ("wrist.position",)]


def test_runs_that_disagree_on_a_unit_are_refused(make_run):
    with pytest.raises(ValueError, match="'m' and 'mm' cannot share an axis"):
        arrange([make_run({"slide.position": "m"}), make_run({"slide.position": "mm"})], None)


def test_a_panel_never_holds_more_than_four_curves_nor_a_colour_twice(make_run):
    panels = arrange([make_run({f"joint{k}.torque": "N m" for k in range(11)})], ["*"])
    assert [len(panel.names) for panel in panels] == [4, 4, 3]
    for panel in panels:
        assert len({look["color"] for look in signal_looks(panel, panels)}) == len(panel.names)


@pytest.mark.parametrize(
    ("names", "subject", "legends"),
    [
        (("elbow.motor_torque",), "elbow motor torque", ["elbow.motor_torque"]),
        (("elbow.position", "wrist.position"), "position", ["elbow", "wrist"]),
        (("tool.position.x", "tool.position.z"), "tool position", ["x", "z"]),
        (("elbow.torque", "elbow.motor.torque"), "torque", ["elbow", "elbow.motor"]),
        (("arm.a.torque", "arm.b.torque"), "arm torque", ["a", "b"]),
        (("lift.force", "load.weight"), "value", ["lift.force", "load.weight"]),
    ],
)
def test_the_axis_names_what_all_share_and_the_legend_the_rest(names, subject, legends):
    panel = Panel("N", names)
    assert panel.subject == subject
    assert [panel.legend(name) for name in names] == legends


def test_a_reference_has_the_colour_of_its_joint_and_is_dashed():
    panel = Panel("rad", ("elbow.position", "wrist.position", "elbow.reference.position"))
    elbow, wrist, reference = signal_looks(panel, [panel])
    assert elbow["color"] == reference["color"] != wrist["color"]
    assert [look["linestyle"] for look in (elbow, wrist, reference)] == ["-", "-", "--"]
