"""Ready machines and scenarios, built only from descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from robodyn.catalog.cable import Cable, cable_hang, cable_machine
from robodyn.catalog.cable_control import CableControl, cable_controlled, cable_probe, cable_sway
from robodyn.catalog.contacts import bouncing_ball, box_on_slope, tumbling_box
from robodyn.catalog.delta_pair import delta_pair, delta_pair_machine
from robodyn.catalog.delta_parameters import DeltaRobot
from robodyn.catalog.delta_robot import delta_fall, delta_hold, delta_machine, delta_mechanism
from robodyn.catalog.delta_rods import delta_rods, delta_rods_machine
from robodyn.catalog.delta_tasks import delta_linearised, delta_pid, delta_stand, delta_tracking
from robodyn.catalog.epaas import epaas_hold, epaas_machine, epaas_step, epaas_trajectory
from robodyn.catalog.epaas_arm import epaas_cylinders, epaas_mechanism
from robodyn.catalog.epaas_rig import epaas_rig, epaas_rig_extend, epaas_rig_retract
from robodyn.catalog.linkages import andrews, andrews_max_error, breaking_pendulum, cartesian_pendulum, four_bars
from robodyn.catalog.oscillator import Oscillator, oscillator, oscillator_side, oscillator_sides
from robodyn.catalog.pendulums import double_pendulum, pendulum
from robodyn.catalog.rx90 import rx90_hold, rx90_machine, rx90_weld
from robodyn.catalog.rx90_arm import rx90_mechanism
from robodyn.catalog.rx90_links import rx90_flexible_mechanism
from robodyn.catalog.scara import scara_mechanism, scara_ptp
from robodyn.catalog.scara_avoidance import scara_avoid, scara_avoid_sampled, scara_phases
from robodyn.catalog.six_axis import six_axis_mechanism, swinging_arm
from robodyn.catalog.space_arm import space_arm_machine, space_arm_mechanism, space_arm_swing
from robodyn.catalog.space_case import space_case, space_case_arm, space_case_payload, space_case_sides
from robodyn.catalog.two_link import two_link_loop, two_link_mechanism
from robodyn.errors import Flaw, ModelError, nearest
from robodyn.model import Chain, Scenario

SCENARIOS: Mapping[str, Callable[[], Scenario | Chain]] = {
    "pendulum": pendulum,
    "double-pendulum": double_pendulum,
    "cartesian-pendulum": cartesian_pendulum,
    "breaking-pendulum": breaking_pendulum,
    "four-bar": four_bars,
    "four-bars-10": partial(four_bars, 10),
    "andrews": andrews,
    "bouncing-ball": bouncing_ball,
    "box-on-slope": box_on_slope,
    "tumbling-box": tumbling_box,
    "swinging-arm": swinging_arm,
    "oscillator": oscillator,
    "oscillator-first": partial(oscillator_side, 0),
    "oscillator-second": partial(oscillator_side, 1),
    "scara-ptp": scara_ptp,
    "scara-avoid": scara_avoid,
    "scara-avoid-sampled": scara_avoid_sampled,
    "scara-phases": scara_phases,
    "two-link-loop": two_link_loop,
    "epaas-rig-extend": epaas_rig_extend,
    "epaas-rig-retract": epaas_rig_retract,
    "epaas-hold": epaas_hold,
    **{f"epaas-step-{axis}": partial(epaas_step, axis) for axis in ("vane", "l3", "l4", "l1", "l2")},
    "epaas-trajectory": epaas_trajectory,
    "space-arm-rigid": partial(space_arm_swing, flexible=False),
    "space-arm-flexible": space_arm_swing,
    "space-case-rigid": partial(space_case, flexible=False),
    "space-case-flexible": space_case,
    "rx90-weld": rx90_weld,
    "rx90-weld-elastic": partial(rx90_weld, elastic=True),
    "rx90-weld-flexible": partial(rx90_weld, flexible=True),
    "rx90-hold": rx90_hold,
    "cable-hang": cable_hang,
    "cable-sway": cable_sway,
    "cable-controlled": cable_controlled,
    "delta-fall": delta_fall,
    "delta-hold": delta_hold,
    "delta-rods": delta_rods,
    "delta-pair": delta_pair,
    "delta-pid": delta_pid,
    "delta-stand": delta_stand,
    "delta-linearised": delta_linearised,
    "delta-tracking": delta_tracking,
}


def find_scenario(name: str) -> Scenario | Chain:
    """A scenario of the catalogue by name."""
    if name not in SCENARIOS:
        raise ModelError([Flaw("", f"there is no scenario '{name}'", nearest(name, SCENARIOS))], "catalogue")
    return SCENARIOS[name]()


__all__ = [
    "SCENARIOS",
    "Cable",
    "CableControl",
    "cable_controlled",
    "cable_hang",
    "cable_machine",
    "cable_probe",
    "cable_sway",
    "andrews",
    "andrews_max_error",
    "bouncing_ball",
    "box_on_slope",
    "breaking_pendulum",
    "cartesian_pendulum",
    "DeltaRobot",
    "delta_fall",
    "delta_hold",
    "delta_linearised",
    "delta_machine",
    "delta_mechanism",
    "delta_pair",
    "delta_pair_machine",
    "delta_pid",
    "delta_rods",
    "delta_rods_machine",
    "delta_stand",
    "delta_tracking",
    "double_pendulum",
    "epaas_cylinders",
    "epaas_hold",
    "epaas_machine",
    "epaas_mechanism",
    "epaas_rig",
    "epaas_rig_extend",
    "epaas_rig_retract",
    "epaas_step",
    "epaas_trajectory",
    "find_scenario",
    "four_bars",
    "Oscillator",
    "oscillator",
    "oscillator_side",
    "oscillator_sides",
    "pendulum",
    "rx90_flexible_mechanism",
    "rx90_hold",
    "rx90_machine",
    "rx90_mechanism",
    "rx90_weld",
    "scara_avoid",
    "scara_avoid_sampled",
    "scara_mechanism",
    "scara_phases",
    "scara_ptp",
    "six_axis_mechanism",
    "space_arm_machine",
    "space_arm_mechanism",
    "space_arm_swing",
    "space_case",
    "space_case_arm",
    "space_case_payload",
    "space_case_sides",
    "swinging_arm",
    "tumbling_box",
    "two_link_loop",
    "two_link_mechanism",
]
