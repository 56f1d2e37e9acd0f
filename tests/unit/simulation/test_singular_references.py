"""Singular positions on the way are known before a run: where, by how much, in which direction."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq
from support.linkages import crank_rocker

from robodyn.computation.assembly import assemble
from robodyn.computation.simulation.reference_paths import decay
from robodyn.computation.simulation.references import find_reference_warnings
from robodyn.computation.simulation.starting import search_start
from robodyn.description.catalog.two_link import LENGTHS, two_link_mechanism
from robodyn.description.model import Block, ControlModel, Machine, Scenario

START = {"shoulder.position": -0.6, "elbow.position": 1.2}
RAMP = Block("ramp", "ramp_reference", parameters={"rate": 0.6, "start": 0.9}, unit="m")


def reaching(*blocks, **inputs):
    """A two-link arm whose tool is to follow a target."""
    control = Block(
        "control",
        "operational_space_control",
        inputs=inputs,
        parameters={"stiffness": (100.0, 64.0), "damping": (14.0, 16.0)},
        acts={"torque": ("shoulder", "elbow")},
        model=ControlModel(task=("tool.position.x", "tool.position.z")),
    )
    return Scenario("arm", Machine("arm", two_link_mechanism(), (control, *blocks)), 2.0, START)


def warnings_of(scenario):
    system = assemble(scenario)
    start = search_start(system, np.array([number.value for number in system.parameters], float))
    states = dict(zip((state.name for state in system.states), start.x, strict=True))
    return find_reference_warnings(system, states=states)


def test_an_arm_that_is_to_stretch_is_told_when_it_will():
    """By geometry and the solutions of e'' + kd e' + kp e = 0: 1 / sqrt(trace((J J^T)^-1)) comes to 0.01."""
    (sentence,) = warnings_of(reaching(RAMP, target=("ramp.value", 0.1), target_velocity=(0.6, 0.0)))
    found = float(re.search(r"singular at ([\d.]+) s", sentence)[1])
    a, b = LENGTHS["shoulder"], LENGTHS["elbow"]
    elbow = np.array([a * np.cos(-0.6), a * np.sin(-0.6)])
    tool = elbow + [b * np.cos(0.6), b * np.sin(0.6)]
    size = np.linalg.norm(np.ptp([[0, 0], elbow, tool], axis=0))

    def margin(t):
        x, z = (
            target + (expm(t * np.array([[0, 1], [-kp, -kd]])) @ [away, -rate])[0]
            for target, away, rate, kp, kd in (
                (0.9 + 0.6 * t, tool[0] - 0.9, 0.6, 100, 14),
                (0.1, tool[1] - 0.1, 0.0, 64, 16),
            )
        )
        cosine = (x * x + z * z - a * a - b * b) / (2 * a * b)
        if cosine >= 1:
            return -0.01
        J = np.array([[a + b * cosine, b * cosine], [b * np.sqrt(1 - cosine**2)] * 2]) / size
        return np.trace(np.linalg.inv(J @ J.T)) ** -0.5 - 0.01

    assert found == pytest.approx(brentq(margin, 0.01, found + 1e-3), abs=1e-4)
    assert "smallest singular value 0.01 along" in sentence
    assert "tool.position.x" in sentence


def test_what_stays_away_or_is_not_known_is_not_told():
    assert warnings_of(reaching(target=(0.6, 0.2))) == []
    # Without the target's velocity the tool lags behind, by as much as the machine says.
    assert warnings_of(reaching(RAMP, target=("ramp.value", 0.1))) == []


def test_a_rocker_cannot_drive_its_linkage_through_a_dead_centre():
    control = Block("control", "computed_torque", None, {"target": (2.4,)}, {"stiffness": 40.0, "damping": 13.0})
    driven = replace(control, acts={"torque": ("rocker_joint",)})
    (sentence,) = warnings_of(crank_rocker(blocks=(driven,)))
    assert "the axes will be close to singular" in sentence
    crank = replace(control, acts={"torque": ("crank_joint",)})
    assert warnings_of(crank_rocker(blocks=(crank,))) == []


@pytest.mark.parametrize("damping", [0.0, 0.3, 2.0 - 1e-9, 2.0, 2.0 + 1e-9, 2.0 + 1e-4, 50.0])
@pytest.mark.parametrize("stiffness", [1e-4, 1.0, 1e4])
def test_errors_decay_as_the_exponential_of_their_matrix(stiffness, damping):
    kd = damping * stiffness**0.5
    for t in (1e-3, 0.1, 2.0):
        by_matrix = (expm(t * np.array([[0.0, 1.0], [-stiffness, -kd]])) @ [0.3, -1.1])[0]
        # Where roots are close, digits cancel: rounding over 1e-4, the distance from which a series takes over.
        assert decay(t, *map(np.array, (stiffness, kd, 0.3, -1.1))) == pytest.approx(by_matrix, abs=1e-11)
