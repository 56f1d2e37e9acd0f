"""Singular positions on the way are known before a run: where, by how much, in which direction."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from support.linkages import crank_rocker

from robodyn.assembly import assemble
from robodyn.catalog.two_link import LENGTHS, two_link_mechanism
from robodyn.model import Block, ControlModel, Machine, Scenario
from robodyn.simulation.reference_limits import find_reference_warnings
from robodyn.simulation.starting import search_start

START = {"shoulder.position": -0.6, "elbow.position": 1.2}


def reaching(target, **blocks):
    """A two-link arm whose tool is to come to a place."""
    control = Block(
        "control",
        "operational_space_control",
        inputs={"target": target},
        parameters={"stiffness": (100.0, 64.0), "damping": (14.0, 16.0)},
        acts={"torque": ("shoulder", "elbow")},
        model=ControlModel(task=("tool.position.x", "tool.position.z")),
    )
    machine = Machine("arm", two_link_mechanism(), (control, *(Block(name, **how) for name, how in blocks.items())))
    return Scenario("arm", machine, 2.0, START)


def warnings_of(scenario):
    system = assemble(scenario)
    start = search_start(system, np.array([number.value for number in system.parameters], float))
    states = dict(zip((state.name for state in system.states), start.x, strict=True))
    return find_reference_warnings(system, states=states)


def test_an_arm_that_is_to_stretch_is_told_when_it_will():
    """By geometry and the two solutions of e'' + kd e' + kp e = 0: 1 / sqrt(trace((J J^T)^-1)) comes to 0.01."""
    (sentence,) = warnings_of(reaching((1.2, 0.0)))
    found = float(re.search(r"singular at ([\d.]+) s", sentence)[1])
    a, b = LENGTHS["shoulder"], LENGTHS["elbow"]

    def place(q1, q2):
        return np.array([a * np.cos(q1) + b * np.cos(q1 + q2), a * np.sin(q1) + b * np.sin(q1 + q2)])

    away = place(*START.values()) - [1.2, 0.0]
    # All joints and points at the start, in the plane.
    box = np.ptp([[0, 0], [a * np.cos(-0.6), a * np.sin(-0.6)], place(*START.values())], axis=0)

    def margin(t):
        w = np.sqrt(100 - 49)
        left = np.exp(-7 * t) * (np.cos(w * t) + 7 / w * np.sin(w * t)), np.exp(-8 * t) * (1 + 8 * t)
        x, z = np.array([1.2, 0.0]) + away * left
        cosine = (x * x + z * z - a * a - b * b) / (2 * a * b)
        if cosine >= 1:
            return -0.01
        J = np.array([[a + b * cosine, b * cosine], [b * np.sqrt(1 - cosine**2)] * 2]) / np.linalg.norm(box)
        return np.trace(np.linalg.inv(J @ J.T)) ** -0.5 - 0.01

    assert found == pytest.approx(brentq(margin, 0.01, found + 1e-3), abs=1e-4)
    assert "smallest singular value 0.01 along" in sentence
    assert "tool.position.x" in sentence


def test_what_stays_away_or_is_not_known_is_not_told():
    assert warnings_of(reaching((0.6, 0.2))) == []
    feed = {"law": "sample_and_hold", "inputs": {"value": "elbow.position"}}
    assert warnings_of(reaching(("feed.output", 0.0), feed=feed)) == []


def test_a_target_that_moves_there_is_told_too():
    """Reached after a second, followed beyond."""
    ramp = {"law": "ramp_reference", "parameters": {"rate": 0.6, "start": 0.6}, "unit": "m"}
    (sentence,) = warnings_of(reaching(("ramp.value", 0.0), ramp=ramp))
    assert float(re.search(r"singular at ([\d.]+) s", sentence)[1]) > 0.5


def test_a_rocker_cannot_drive_its_linkage_through_a_dead_centre():
    control = Block("control", "computed_torque", None, {"target": (2.4,)}, {"stiffness": 40.0, "damping": 13.0})
    driven = replace(control, acts={"torque": ("rocker_joint",)})
    (sentence,) = warnings_of(crank_rocker(blocks=(driven,)))
    assert "the axes will be close to singular" in sentence
    crank = replace(control, acts={"torque": ("crank_joint",)})
    assert warnings_of(crank_rocker(blocks=(crank,))) == []
