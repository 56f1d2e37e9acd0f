"""Catalogue of the studies: which machines and scenarios do they need beyond the library's own?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from robodyn import Scenario, ScenarioSequence
from robodyn.description.catalog import cartesian_pendulum, four_bars, oscillator
from robodyn_studies.catalog.andrews import andrews, andrews_max_error
from robodyn_studies.catalog.cable import Cable, cable_hang, cable_machine
from robodyn_studies.catalog.cable_control import CableControl, cable_controlled, cable_probe, cable_steady, cable_sway
from robodyn_studies.catalog.cable_wall import cable_controlled_wall
from robodyn_studies.catalog.delta_pair import delta_pair, delta_pair_machine
from robodyn_studies.catalog.delta_parameters import DeltaRobot
from robodyn_studies.catalog.delta_pick import delta_rods_pick, delta_stack
from robodyn_studies.catalog.delta_robot import delta_fall, delta_hold, delta_machine, delta_mechanism
from robodyn_studies.catalog.delta_rods import delta_rods, delta_rods_machine
from robodyn_studies.catalog.delta_tasks import delta_linearised, delta_pid, delta_stand, delta_tracking
from robodyn_studies.catalog.epaas import epaas_hold, epaas_machine, epaas_step, epaas_trajectory
from robodyn_studies.catalog.epaas_arm import epaas_cylinders, epaas_mechanism
from robodyn_studies.catalog.epaas_cartesian import epaas_wrist_path
from robodyn_studies.catalog.epaas_elastic import epaas_elastic
from robodyn_studies.catalog.epaas_rig import STEP_VOLTS, epaas_rig
from robodyn_studies.catalog.rx90 import rx90_hold, rx90_machine, rx90_weld, rx90_weld_stiction
from robodyn_studies.catalog.rx90_arm import rx90_mechanism
from robodyn_studies.catalog.rx90_links import rx90_flexible_mechanism
from robodyn_studies.catalog.scara_avoid import scara_avoid, scara_avoid_sampled
from robodyn_studies.catalog.space_arm import space_arm_machine, space_arm_mechanism, space_arm_swing
from robodyn_studies.catalog.space_case import (
    PITCH,
    Manoeuvre,
    read_manoeuvre,
    space_case,
    space_case_arm,
    space_case_payload,
    space_case_sides,
)

SCENARIOS: Mapping[str, Callable[[], Scenario | ScenarioSequence]] = {
    "cartesian-pendulum": cartesian_pendulum,
    "four-bars-10": partial(four_bars, 10),
    "andrews": andrews,
    "scara-avoid": scara_avoid,
    "scara-avoid-sampled": scara_avoid_sampled,
    "oscillator": oscillator,
    "epaas-rig-extend": epaas_rig,
    "epaas-rig-retract": partial(epaas_rig, amplitude=-STEP_VOLTS),
    "epaas-hold": epaas_hold,
    **{f"epaas-step-{axis}": partial(epaas_step, axis) for axis in ("vane", "l3", "l4", "l1", "l2")},
    "epaas-trajectory": epaas_trajectory,
    "epaas-wrist": epaas_wrist_path,
    "epaas-elastic": epaas_elastic,
    "space-arm-rigid": partial(space_arm_swing, flexible=False),
    "space-arm-flexible": space_arm_swing,
    "space-case-rigid": partial(space_case, flexible=False),
    "space-case-flexible": space_case,
    "space-case-arm-rigid": partial(space_case_arm, flexible=False),
    "space-case-arm-flexible": space_case_arm,
    "space-case-payload": space_case_payload,
    "space-case-pitch-flexible": partial(space_case, manoeuvre=PITCH),
    "rx90-weld": rx90_weld,
    "rx90-weld-elastic": partial(rx90_weld, elastic=True),
    "rx90-weld-flexible": partial(rx90_weld, flexible=True),
    "rx90-weld-stiction": rx90_weld_stiction,
    "rx90-hold": rx90_hold,
    "cable-hang": cable_hang,
    "cable-sway": cable_sway,
    "cable-controlled": cable_controlled,
    "cable-steady": cable_steady,
    "delta-fall": delta_fall,
    "delta-hold": delta_hold,
    "delta-rods": delta_rods,
    "delta-rods-pick": delta_rods_pick,
    "delta-pair": delta_pair,
    "delta-stack": delta_stack,
    "delta-pid": delta_pid,
    "delta-stand": delta_stand,
    "delta-linearised": delta_linearised,
    "delta-tracking": delta_tracking,
}

__all__ = [
    "SCENARIOS",
    "Cable",
    "CableControl",
    "DeltaRobot",
    "Manoeuvre",
    "andrews",
    "andrews_max_error",
    "cable_controlled",
    "cable_controlled_wall",
    "cable_hang",
    "cable_machine",
    "cable_probe",
    "cable_steady",
    "cable_sway",
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
    "delta_rods_pick",
    "delta_stack",
    "delta_stand",
    "delta_tracking",
    "epaas_cylinders",
    "epaas_elastic",
    "epaas_hold",
    "epaas_machine",
    "epaas_mechanism",
    "epaas_rig",
    "epaas_step",
    "epaas_trajectory",
    "epaas_wrist_path",
    "read_manoeuvre",
    "rx90_flexible_mechanism",
    "rx90_hold",
    "rx90_machine",
    "rx90_mechanism",
    "rx90_weld",
    "rx90_weld_stiction",
    "space_arm_machine",
    "space_arm_mechanism",
    "space_arm_swing",
    "space_case",
    "space_case_arm",
    "space_case_payload",
    "space_case_sides",
]
