"""Path segments: of which curves is a path made, and where is the point at arc length s of one of them?

Every piece gives, for an array of ways s [m], the place and its first two derivatives by s:

    p(s) [m],   p'(s) (unit tangent),   p''(s) (curvature vector) [1/m],   each (n, 3), world axes
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base.records import dataclass

Course = tuple[np.ndarray, np.ndarray, np.ndarray]
Triple = tuple[float, ...]

GAUSS = np.polynomial.legendre.leggauss(48)
"""Nodes and weights of the quadrature along a blend."""
BLEND_SHAPE = (1.0, 0.75, 0.4)
"""Distances of a blend's first three control points from its corner, in radii. This project's own choice: the largest
curvature is 1.1 to 1.5 times that of the arc between the same two ends for turns of 30 to 120 degrees."""


@dataclass(frozen=True)
class Line:
    """Straight from one place to another [m]."""

    start: Triple
    end: Triple

    @property
    def length(self) -> float:
        """Of the piece [m]."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        way = np.asarray(s, float)[:, None]
        tangent = np.subtract(self.end, self.start) / self.length
        return self.start + way * tangent, np.broadcast_to(tangent, (len(way), 3)), np.zeros((len(way), 3))


@dataclass(frozen=True)
class Arc:
    """Part of a circle, from `start` [m] about `center` [m] by an angle [rad], right-handed about the unit `normal`."""

    center: Triple
    normal: Triple
    start: Triple
    angle: float

    @property
    def radius(self) -> float:
        """Of the circle [m]."""
        return float(np.linalg.norm(np.subtract(self.start, self.center)))

    @property
    def length(self) -> float:
        """Of the piece [m]."""
        return self.radius * self.angle

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        phi = np.asarray(s, float)[:, None] / self.radius
        outward = np.subtract(self.start, self.center) / self.radius
        forward = np.cross(self.normal, outward)
        radial = np.cos(phi) * outward + np.sin(phi) * forward
        tangent = -np.sin(phi) * outward + np.cos(phi) * forward
        return self.center + self.radius * radial, tangent, -radial / self.radius


@dataclass(frozen=True)
class Blend:
    """Round corner between two straight lines: leaves the first one `radius` [m] before the corner, meets the second
    one as far behind it, with continuous tangent and curvature.

    Bezier curve of degree 5 in u = 0..1, three of its control points on each line: no curvature at its ends. The way

        s(u) = int |p_u| du

    is integrated by Gauss-Legendre and inverted by Newton's method; p' = p_u / |p_u|,
    p'' = (p_uu - p' (p' . p_uu)) / |p_u|^2.

    Attributes:
        corner: [m]; before, after: unit directions of the two lines.
    """

    corner: Triple
    before: Triple
    after: Triple
    radius: float

    @cached_property
    def _controls(self) -> np.ndarray:
        shape = self.radius * np.array(BLEND_SHAPE)[:, None]
        return self.corner + np.concatenate([-shape * self.before, shape[::-1] * self.after])

    @cached_property
    def length(self) -> float:
        """Of the piece [m]."""
        return 2.0 * float(self._way(np.array([0.5]))[0])

    def _derivatives(self, u: np.ndarray) -> Course:
        """p, p_u, p_uu at the curve's parameter."""
        first = 5 * np.diff(self._controls, axis=0)
        second = 4 * np.diff(first, axis=0)
        return _bezier(self._controls, u), _bezier(first, u), _bezier(second, u)

    def _way(self, u: np.ndarray) -> np.ndarray:
        """s(u) for u up to one half; the other half mirrors it."""
        nodes, weights = GAUSS
        inner = 0.5 * u[:, None] * (nodes + 1.0)
        speed = np.linalg.norm(self._derivatives(inner.ravel())[1], axis=1).reshape(inner.shape)
        return 0.5 * u * (speed @ weights)

    def _parameter(self, s: np.ndarray) -> np.ndarray:
        """u(s), by Newton's method in the half that s lies in."""
        mirrored = s > 0.5 * self.length
        way = np.where(mirrored, self.length - s, s)
        u = 0.5 * way / (0.5 * self.length)
        for _ in range(12):
            u = u - (self._way(u) - way) / np.linalg.norm(self._derivatives(u)[1], axis=1)
        return np.where(mirrored, 1.0 - u, u)

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        p, p_u, p_uu = self._derivatives(self._parameter(np.asarray(s, float)))
        speed = np.linalg.norm(p_u, axis=1)[:, None]
        tangent = p_u / speed
        along = np.sum(tangent * p_uu, axis=1)[:, None]
        return p, tangent, (p_uu - along * tangent) / speed**2


Piece = Line | Arc | Blend


def _bezier(controls: np.ndarray, u: np.ndarray) -> np.ndarray:
    """De Casteljau's scheme: repeated linear interpolation of the control points (k, 3) at u (n,)."""
    u = u[:, None]
    points = [np.broadcast_to(control, (len(u), 3)) for control in controls]
    while len(points) > 1:
        points = [(1 - u) * a + u * b for a, b in zip(points[:-1], points[1:], strict=True)]
    return points[0]
