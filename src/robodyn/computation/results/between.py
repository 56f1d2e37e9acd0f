"""Interpolation between rows of a record: polynomials through the rows about a time, never across a knot."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST_ROWS = 6
"""Rows that a polynomial goes through."""
LEAST_ROWS = 5
"""Rows from which on their polynomial is better than the cubic of two rows and their rates."""


def find_windows(time: Floats, knots: NDArray[np.bool_] | None, row: Rows) -> tuple[Rows, Rows]:
    """First row, and number of rows, of the polynomial for the interval that begins at each row.

    These are the rows about the interval, as many on each side where the knots allow.
    """
    if knots is None:
        return row, np.full(row.shape, 2)
    ends = knots.copy()
    ends[[0, -1]] = True
    # Rows at the same time are the two sides of a jump, whatever else is known of them.
    same = (time[1:] == time[:-1]).nonzero()[0]
    ends[same] = ends[same + 1] = True
    places = ends.nonzero()[0]
    piece = places.searchsorted(row, side="right") - 1
    left, right = places[piece], places[piece + 1]
    count = np.minimum(right - left + 1, MOST_ROWS)
    return np.minimum(np.maximum(row + 1 - MOST_ROWS // 2, left), right + 1 - count), count


def interpolate(
    time: Floats, columns: Floats, rates: Floats | None, knots: NDArray[np.bool_] | None, row: Rows, t: Floats
) -> Floats:
    """Values of columns (n, k) at the times t, each in the interval that begins at its row.

    Args:
        rates: time derivatives of the columns, where they are known.
    """
    result = columns[row]
    # On a sample the sample itself, even where its neighbour is not a number.
    inside = np.flatnonzero(t != time[row])
    first, count = find_windows(time, knots, row[inside])
    result[inside] = polynomials(time, columns, first, count, t[inside])
    few = inside[count < LEAST_ROWS]
    if rates is not None and few.size:
        result[few] = cubics(time, columns, rates, row[few], t[few])
    return result


def polynomials(time: Floats, columns: Floats, first: Rows, count: Rows, t: Floats) -> Floats:
    """Values at the times t of polynomials through `count` rows each from `first` on (Neville's scheme).

    p_ij(t) = p_i(j-1)(t) + (t - t_i) / (t_j - t_i) (p_(i+1)j(t) - p_i(j-1)(t))
    """
    result = np.empty((t.size, columns.shape[1]))
    for n in sorted(set(count.tolist())):
        chosen = (count == n).nonzero()[0]
        rows = first[chosen, None] + np.arange(n)
        nodes, p = time[rows][..., None], columns[rows]
        ahead = t[chosen, None, None] - nodes
        for span in range(1, n):
            share = ahead[:, : n - span] / (nodes[:, span:] - nodes[:, : n - span])
            # In this form what is constant stays so to the last digit.
            share = share * (p[:, 1:] - p[:, :-1])
            share += p[:, :-1]
            p = share
        result[chosen] = p[:, 0]
    return result


def cubics(time: Floats, columns: Floats, rates: Floats, row: Rows, t: Floats) -> Floats:
    """Values at the times t of cubics through both ends of the intervals that begin at `row`, with the rates there.

        y(s) = left + s^2 (3 - 2 s) (right - left) + s (1 - s) ((1 - s) left_slope - s right_slope)

    Slopes are derivatives with respect to the share s of the interval: rate times interval length.
    """
    length, left, right = (time[row + 1] - time[row])[:, None], columns[row], columns[row + 1]
    s = (t - time[row])[:, None] / length
    rise = s * s * (3 - 2 * s) * (right - left)
    return left + rise + s * (1 - s) * length * ((1 - s) * rates[row] - s * rates[row + 1])
