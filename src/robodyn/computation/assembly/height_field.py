"""Height fields: how far is a ball from uneven ground that is given as a table, and along which normal?

Symbols: h height over x and y, in the axes of the field; u, v = 0..1 the place in a cell of the grid; n the normal, s
the point of the surface below a ball of radius r about c. It touches where

    c = s + r n(s),    n = (-h_x, -h_y, 1) / |...|
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from robodyn.base.symbolic import clip
from robodyn.base.symbolic.tables import gather, locate
from robodyn.description.model import HeightField

APPROACHES = 3
"""How often the point below a ball is found anew from the normal there: each time better by r times the curvature."""
HERMITE = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-3.0, 3.0, -2.0, -1.0], [2.0, -2.0, 1.0, 1.0]])
"""Coefficients of 1, u, u^2, u^3 by the values at both ends of a cell and the slopes there."""


def look_at_height_field(field: HeightField, place: ca.SX, radius: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Distance of a place and normal (3,), in the axes of the field."""
    below = place[:2]
    for _ in range(APPROACHES if not radius.is_zero() else 0):
        below = place[:2] - radius * _normal_at(field, below)[1][:2]
    height, normal = _normal_at(field, below)
    return ca.dot(normal, place - ca.vertcat(below, height)), normal


def _normal_at(field: HeightField, below: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Height and normal of the surface."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    height = _height(field, x, y)
    slopes = ca.gradient(height, ca.vertcat(x, y))
    height, slopes = ca.substitute([height, slopes], [ca.vertcat(x, y)], [below])
    upright = ca.vertcat(-slopes, 1)
    return height, upright / ca.sqrt(ca.sumsqr(upright))


def _height(field: HeightField, x: ca.SX, y: ca.SX) -> ca.SX:
    """h = sum over i, j of c_ij u^i v^j, with the coefficients of the cell."""
    xs, ys = np.array(field.x), np.array(field.y)
    coefficients = _coefficients(xs, ys, np.array(field.heights))
    row, column = locate(xs[:-1], x), locate(ys[:-1], y)
    u = (clip(x, xs[0], xs[-1]) - gather(xs[:-1], row)) * gather(1 / np.diff(xs), row)
    v = (clip(y, ys[0], ys[-1]) - gather(ys[:-1], column)) * gather(1 / np.diff(ys), column)
    # The number of a cell is located too, so that it is known to stay within the table.
    n_columns = ys.size - 1
    cell = locate(np.arange(float((xs.size - 1) * n_columns)), row * n_columns + column)
    total = ca.SX(0)
    for i in reversed(range(4)):
        inner = ca.SX(0)
        for j in reversed(range(4)):
            inner = inner * v + gather(coefficients[i, j].ravel(), cell)
        total = total * u + inner
    return total


def _coefficients(xs: np.ndarray, ys: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Of each cell, (4, 4, n_x - 1, n_y - 1): Hermite's polynomials along x, then along y."""
    along_x = _cells(xs, heights)
    return np.stack([np.moveaxis(_cells(ys, part.T), 2, 1) for part in along_x])


def _cells(knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients (4, n - 1, m) of u = 0..1 in each cell along the first axis of the values (n, m)."""
    h = np.diff(knots)[:, None]
    slopes = _slopes(knots, values)
    ends = np.stack([values[:-1], values[1:], h * slopes[:-1], h * slopes[1:]])
    return np.einsum("ij,jkm->ikm", HERMITE, ends)


def _slopes(knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Those of the parabolas through each place and its neighbours, at the ends of those beside them, (n, m)."""
    return np.gradient(values, knots, axis=0, edge_order=2 if len(knots) > 2 else 1)
