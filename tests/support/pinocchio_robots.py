"""Robots here and in Pinocchio: by how much do their dynamics and limits differ?"""

from dataclasses import replace

import numpy as np
import pinocchio as pin

import robodyn as rd


def difference(ours, theirs):
    """Largest difference, as a part of the largest entry."""
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30))


def symmetric(upper):
    """The whole matrix of which Pinocchio fills the upper half."""
    return np.triu(upper) + np.triu(upper, 1).T


class PinocchioPair:
    """A robot here and in Pinocchio, with the same order of joints; what is fixed here is locked there."""

    def __init__(self, path):
        robot = rd.import_robot(path, base="fixed")
        bodies = robot.machine.mechanism.bodies
        points = [rd.Point(f"point_{k}", body.name, (0.1, 0.02, -0.3)) for k, body in enumerate(bodies)]
        self.points = points[:: max(len(bodies) // 4, 1)]
        mechanism = replace(robot.machine.mechanism, points=tuple(self.points))
        self.dynamics = rd.MachineDynamics(robot.machine.replaced(mechanism=mechanism))
        names = [name.removesuffix(".position") for name in self.dynamics.positions]
        self.joints = [mechanism.joint(name) for name in names]
        self.model = pin.buildModelFromUrdf(str(path))
        # Names that were changed are written in the file as before.
        written = {entry.note: entry.value for entry in robot.sheet.entries if "/joint" in entry.kind}
        there = [written.get(f"the name is written '{name}'", name) for name in names]
        locked = [k for k in range(1, self.model.njoints) if self.model.names[k] not in there]
        if locked:
            self.model = pin.buildReducedModel(self.model, locked, pin.neutral(self.model))
        self.data = self.model.createData()
        self.ids = [self.model.getJointId(name) for name in there]
        self.order = [self.model.idx_vs[k] for k in self.ids]

    def configuration(self, q):
        """Positions in Pinocchio's order; a joint without limits has a cosine and a sine."""
        found = pin.neutral(self.model)
        for k, value in zip(self.ids, q, strict=True):
            at = self.model.idx_qs[k]
            found[at : at + self.model.nqs[k]] = [value] if self.model.nqs[k] == 1 else [np.cos(value), np.sin(value)]
        return found

    def compare(self, rng):
        """Differences at a random state: of mass matrix, bias, gravity, Jacobians."""
        n = len(self.ids)
        q, v = rng.uniform(-1.5, 1.5, n), rng.uniform(-1, 1, n)
        there, w = self.configuration(q), np.zeros(n)
        w[self.order] = v
        M = symmetric(pin.crba(self.model, self.data, there))[np.ix_(self.order, self.order)]
        bias = pin.rnea(self.model, self.data, there, w, 0 * w)[self.order]
        gravity = pin.rnea(self.model, self.data, there, 0 * w, 0 * w)[self.order]
        pin.computeJointJacobians(self.model, self.data, there)
        pin.updateFramePlacements(self.model, self.data)
        return (
            difference(self.dynamics.mass_matrix(q), M),
            difference(self.dynamics.bias(q, v), bias),
            # Of what holds still by itself nothing is left but rounding, small beside the weights.
            float(np.abs(self.dynamics.bias(q, 0 * v) - gravity).max() / max(np.abs(gravity).max(), 1e-3)),
            max(self.compare_jacobian(point, q) for point in self.points),
        )

    def compare_jacobian(self, point, q):
        frame = self.model.getFrameId(point.body, pin.FrameType.BODY)
        if frame >= self.model.nframes:
            return 0.0
        J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)[:, self.order]
        arm = self.data.oMf[frame].rotation @ np.array(point.origin)
        theirs = np.vstack([J[3:], J[:3] - pin.skew(arm) @ J[3:]])
        return float(np.abs(self.dynamics.jacobian(point.name, q) - theirs).max())

    def wrong_limits(self):
        """Names of joints whose limits differ; one that is not there is infinite in Pinocchio, or leaves no room."""
        found = []
        for joint, k in zip(self.joints, self.ids, strict=True):
            at, v = self.model.idx_qs[k], self.model.idx_vs[k]
            lower, upper = self.model.lowerPositionLimit[at], self.model.upperPositionLimit[at]
            if joint.lower_limit is None:
                good = self.model.nqs[k] == 2 or not lower < upper or np.isinf([lower, upper]).all()
            else:
                good = np.allclose((joint.lower_limit, joint.upper_limit), (lower, upper), rtol=1e-12, atol=0)
            for ours, theirs in (
                (joint.speed_limit, self.model.upperVelocityLimit[v]),
                (joint.effort_limit, self.model.upperEffortLimit[v]),
            ):
                good &= not 0.0 < theirs < 1e30 if ours is None else abs(ours - theirs) <= 1e-12 * ours
            found += [] if good else [joint.name]
        return found
