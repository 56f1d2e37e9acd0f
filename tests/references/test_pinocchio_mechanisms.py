"""Do joints of all kinds move their bodies as Pinocchio's own joints and composites of them do?"""

import numpy as np
import pytest
from support.random_machines.mechanisms import finish, random_frame

from robodyn.computation.assembly.tree import build_tree
from robodyn.computation.assembly.values import Values
from robodyn.computation.dynamics import bias, geometric_jacobian, mass_matrix
from robodyn.description.model.joint import KINDS

pin = pytest.importorskip("pinocchio")

from support.pinocchio_trees import build_mechanism_twin  # noqa: E402

# Both round about 1e-16 a step, in sums of some hundred terms.
TOLERANCE = 1e-9
SEEDS = range(30)
BODIES = 8


def random_mechanism(seed):
    """A tree of joints of all kinds; rigid bodies alone, since Pinocchio has no others."""
    frame = random_frame(np.random.default_rng(seed), BODIES, plain=False, bending=0.0)
    return finish(frame)


class Pair:
    """The same mechanism twice, in the same state."""

    def __init__(self, seed):
        self.mechanism = mechanism = random_mechanism(seed)
        values = Values((), (), {number.name: number.value for number in mechanism.numbers()})
        self.mechanics = build_tree(mechanism, values)
        self.tree = self.mechanics.tree
        self.model, self.places, order = build_mechanism_twin(mechanism)
        self.data = self.model.createData()
        rng = np.random.default_rng(1000 + seed)
        self.q, self.v = [], rng.normal(size=self.tree.n_v)
        # Joint by joint: Pinocchio's are depth first, and its quaternions have their real part last.
        q_parts, v_places = {}, {}
        for joint in mechanism.ordered_joints:
            own = [part for freedom in joint.freedoms for part in self.draw(rng, freedom)]
            q_parts[joint.name] = [entry for pair in own for entry in pair[1]]
            self.q += [entry for pair in own for entry in pair[0]]
            start = sum(len(places) for places in v_places.values())
            count = sum(len(freedom.velocities) for freedom in joint.freedoms)
            v_places[joint.name] = range(start, start + count)
        self.q_pin = np.array([entry for name in order for entry in q_parts[name]])
        self.order = [place for name in order for place in v_places[name]]

    @staticmethod
    def draw(rng, freedom):
        """Positions of a motion, in our order and in Pinocchio's."""
        if freedom.is_single:
            value = rng.uniform(-2, 2)
            return [([value], [value])]
        drawn = rng.normal(size=4)
        w, *xyz = drawn / np.linalg.norm(drawn)
        return [([w, *xyz], [*xyz, w])]

    def assert_close(self, ours, theirs):
        np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * np.abs(theirs).max())


@pytest.fixture(params=SEEDS)
def pair(request):
    return Pair(request.param)


def test_all_kinds_of_joints_take_part():
    assert {joint.kind for seed in SEEDS for joint in random_mechanism(seed).joints} == set(KINDS)


def test_mass_matrices_agree(pair):
    upper = pin.crba(pair.model, pair.data, pair.q_pin)
    theirs = np.triu(upper) + np.triu(upper, 1).T
    pair.assert_close(np.array(mass_matrix(pair.tree, pair.q))[np.ix_(pair.order, pair.order)], theirs)


@pytest.mark.parametrize("speed", [0.0, 1.0], ids=["gravity", "bias"])
def test_biases_agree(pair, speed):
    v = speed * pair.v
    theirs = pin.nonLinearEffects(pair.model, pair.data, pair.q_pin, v[pair.order])
    pair.assert_close(np.array(bias(pair.tree, pair.q, v))[pair.order], theirs)


def test_jacobians_of_points_agree(pair):
    pin.computeJointJacobians(pair.model, pair.data, pair.q_pin)
    pin.framesForwardKinematics(pair.model, pair.data, pair.q_pin)
    for point in (point for point in pair.mechanism.points if point.body in pair.places and point.body != "ground"):
        place = pair.mechanics.placements[point.body]
        if place.link < 0:
            continue
        joint, body = pair.places[point.body]
        spot = pin.SE3(np.eye(3), body.act(np.array(point.origin)))
        J = pin.getFrameJacobian(pair.model, pair.data, joint, spot, pin.LOCAL_WORLD_ALIGNED).reshape(6, -1)
        ours = geometric_jacobian(pair.tree, pair.q, place.link, place.pose.apply(np.array(point.origin)))
        pair.assert_close(np.array(ours)[:, pair.order], np.vstack([J[3:], J[:3]]))
