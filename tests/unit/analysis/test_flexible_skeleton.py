"""Is a bent beam drawn along its nodes?"""

import numpy as np

from robodyn import Joint, Machine, Mechanism, Scenario, assemble
from robodyn.analysis.linear.modes import build_skeleton
from robodyn.description.structures import Reduction, Section, beam


def test_skeleton_follows_the_nodes_of_a_bent_beam():
    section = Section.tube(0.02, 0.002, 7e10, 2.7e10, 2700.0)
    body = beam("arm", 1.0, section, Reduction(modes=0, directions=("y", "rz")), elements=3)
    # Two of its four nodes are named points; the others are drawn all the same.
    named = [point for point in body.points() if point.name in ("arm.root", "arm.root_tip1")]
    arm = Mechanism("arm", (body,), (Joint("hinge", "revolute", "ground", "arm"),), named)
    system = assemble(Scenario("draw", Machine("arm", arm), 1.0))

    skeleton = build_skeleton(system)

    lines = {(skeleton.names[a], skeleton.names[b]) for a, b in skeleton.edges}
    beams = {("arm.root", "arm.root_tip1"), ("arm.root_tip1", "arm.root_tip2"), ("arm.root_tip2", "arm.tip")}
    assert {("ground", "hinge"), ("hinge", "arm.root")} | beams <= lines
    x = np.zeros(len(system.states))
    x[1] = 0.1
    places = dict(zip(skeleton.names, skeleton.place(x, np.zeros(0)), strict=True))
    assert places["arm.tip"][1] > places["arm.root_tip2"][1] > places["arm.root_tip1"][1] > 0
