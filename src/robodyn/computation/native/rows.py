"""Run-time tables: how does machine code read numbers that come with each run, so that it need not be made anew?

The table stands after the parameters, in the same array:

    [parameters, prelude, number of rows, first knot, rows per unit, 0, row 0, row 1, ...]

Each row holds `width` numbers, the first of them its knot: where it begins. A row is found from its place among evenly
spaced ones; knots that are not evenly spaced cost a few steps to the side.
"""

from __future__ import annotations

import numpy as np

from robodyn.base import Array

HEADER = 4
"""Numbers before the first row."""

# The last row whose knot is at or below x; the first row for a NaN and for what lies before it.
SEEK = f"""
define internal i64 @seek(ptr %table, i64 %width, double %x) noinline nounwind memory(argmem: read) {{
entry:
  %count = load double, ptr %table
  %p1 = getelementptr double, ptr %table, i64 1
  %origin = load double, ptr %p1
  %p2 = getelementptr double, ptr %table, i64 2
  %density = load double, ptr %p2
  %rows = getelementptr double, ptr %table, i64 {HEADER}
  %end = fsub double %count, 1.0
  %along = fsub double %x, %origin
  %place = fmul double %along, %density
  %inside = fcmp ogt double %place, 0.0
  %clipped = select i1 %inside, double %place, double 0.0
  %beyond = fcmp ogt double %clipped, %end
  %kept = select i1 %beyond, double %end, double %clipped
  %guess = fptosi double %kept to i64
  %last = fptosi double %end to i64
  br label %down
down:
  %k = phi i64 [%guess, %entry], [%before, %lower]
  %positive = icmp sgt i64 %k, 0
  br i1 %positive, label %look, label %up
look:
  %at = mul i64 %k, %width
  %here = getelementptr double, ptr %rows, i64 %at
  %knot = load double, ptr %here
  %above = fcmp ogt double %knot, %x
  br i1 %above, label %lower, label %up
lower:
  %before = sub i64 %k, 1
  br label %down
up:
  %j = phi i64 [%k, %down], [%k, %look], [%next, %higher]
  %more = icmp slt i64 %j, %last
  br i1 %more, label %peek, label %done
peek:
  %next = add i64 %j, 1
  %ahead = mul i64 %next, %width
  %there = getelementptr double, ptr %rows, i64 %ahead
  %following = load double, ptr %there
  %reached = fcmp ole double %following, %x
  br i1 %reached, label %higher, label %done
higher:
  br label %up
done:
  ret i64 %j
}}
"""


def pack_rows(rows: Array) -> Array:
    """The numbers of a table as they stand behind the parameters.

    Args:
        rows: (n, width), ascending in the first column, the knots.
    """
    # Width and order are what the code relies on: checked here, never there.
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"a table needs rows of numbers, not the shape {rows.shape}")
    knots = rows[:, 0]
    if np.any(np.diff(knots) <= 0) or not np.all(np.isfinite(rows)):
        raise ValueError("a table needs strictly increasing knots and finite numbers")
    density = (len(knots) - 1) / (knots[-1] - knots[0]) if len(knots) > 1 else 0.0
    return np.concatenate([[len(knots), knots[0], density, 0.0], rows.ravel()])


def check_rows(data: Array, width: int) -> None:
    """Refuse numbers that are not those of a table of this width: machine code would read beyond them."""
    if width and (data.size <= HEADER or data[0] != np.floor(data[0]) or data.size != HEADER + int(data[0]) * width):
        raise ValueError(f"the table of this run must have rows of {width} numbers; give the data of `pack_rows`")
