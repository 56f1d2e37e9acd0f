"""Six-axis arms of several kinds, for tests of inverse kinematics."""

import numpy as np

from robodyn import Body, DHRow, Point, mechanism_from_dh
from robodyn.description.paths import SerialArm

INERTIA = (0.1, 0.1, 0.1)


def offset_wrist():
    """An arm whose last three axes do not meet: the Denavit-Hartenberg table of Universal Robots' UR5 (published)."""
    d = (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823)
    a = (0.0, -0.425, -0.39225, 0.0, 0.0, 0.0)
    alpha = (np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0)
    rows = [DHRow(f"joint{k + 1}", a[k], alpha[k], d[k]) for k in range(6)]
    bodies = [Body(f"link{k + 1}", 1.0, inertia=INERTIA) for k in range(6)]
    return mechanism_from_dh("offset", rows, bodies, "standard", points=(Point("tool", "link6"),))


def random_arm(seed, first_two="skew"):
    """Axes anywhere, the last three through one point; the first two skew, intersecting or parallel."""
    generator = np.random.default_rng(seed)
    w, o = generator.normal(size=(6, 3)), generator.normal(size=(6, 3))
    w /= np.linalg.norm(w, axis=1)[:, None]
    o[4] = o[5] = o[3]
    if first_two == "intersecting":
        o[1] = o[0] + 0.3 * w[1]
    if first_two == "parallel":
        w[1] = w[0]
    # Points anywhere on the axes say the same.
    o += generator.normal(size=(6, 1)) * w
    free, names = np.full(6, np.inf), tuple(f"joint{k + 1}" for k in range(6))
    return SerialArm(names, w, o, np.ones(6), np.zeros(6), np.eye(3), generator.normal(size=3), -free, free)
