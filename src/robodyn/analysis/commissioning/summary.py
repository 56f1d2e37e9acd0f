"""Table of a dressing: what did each joint get, which margins does it keep, and where do the numbers come from?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple

from robodyn.analysis.commissioning.axis import Gains
from robodyn.analysis.commissioning.dressing import Dressed, DressedAxis

CASCADE = ("position gain", "P", "I", "by friction"), ("1/s", "N m s/rad", "N m/rad", "mrad or mm")
COMPUTED = ("kp", "kd"), ("1/s^2", "1/s")
OF_PRISMATIC = "P and I are N s/m and N/m of prismatic joints; "
LEFT = (
    "by friction: how far dry friction moves a joint off when it starts or turns back, F / (P position gain + I).",
    "Rotors that are light beside their links allow no more gain. Weight twists elastic gears beside that, which",
    "encoders on the motors do not see.",
)


def dressing_table(dressed: Dressed) -> list[str]:
    """Lines of the table: drives, gains and margins, then every number with its source."""
    rows = [_row(part) for part in dressed.axes]
    cascade = isinstance(dressed.axes[0].gains, Gains)
    names, units = CASCADE if cascade else COMPUTED
    head = ("joint", "drive", "ratio", "inertia", *names, "phase margin", "gain margin")
    lines = align([head, ("", "", "", "kg m^2 or kg", *units, "deg", ""), *rows])
    lines += ["", f"{OF_PRISMATIC if cascade else ''}inertia: least ... largest over poses, rotor included."]
    lines += LEFT if cascade else ()
    lines += [f"{name}: not dressed, {why}" for name, why in dressed.undressed.items()]
    lines += dressed.notes
    return [*lines, "", *source_lines(dressed)]


def source_lines(dressed: Dressed) -> list[str]:
    """Every number that was assumed, with its source; joints that share a number share a line."""
    shared: dict[tuple[str, str, str], list[str]] = {}
    for joint, key, value, source in dressed.assumptions():
        shared.setdefault((key, f"{value:.4g}", source), []).append(joint)
    rows = [(key, value, ", ".join(joints), source) for (key, value, source), joints in shared.items()]
    return align([("number", "value", "joints", "source"), *sorted(rows, key=lambda row: row[0])])


def _row(part: DressedAxis) -> tuple[str, ...]:
    sized, gains = part.axis.sized, part.gains
    drive = f"{sized.family} {sized.size} x {sized.scale:.3g}" + ("" if sized.elastic else ", rigid")
    inertia = f"{part.least_inertia:.3g} ... {part.most_inertia:.3g}"
    numbers: tuple[float, ...] = astuple(gains)
    if isinstance(gains, Gains):
        friction = 0.0 if part.axis.drive.friction == "none" else sized["coulomb"]
        numbers += (1e3 * friction / (gains.proportional * gains.position + gains.integral),)
    numbers += (math.degrees(part.margins.phase), part.margins.gain)
    return (part.axis.name, drive, f"{sized['ratio']:.4g}", inertia, *(f"{value:.3g}" for value in numbers))


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, texts to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows]
