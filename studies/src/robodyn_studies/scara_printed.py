"""SCARA study, its printed formulas: what do the spreadsheet's Euler and Heun steps compute as they stand?

Symbols as in the paper: q, v positions and speeds, I currents before and Ia after the limit, K1 and K2 the slopes of v.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.scara_forms import accelerations, axis_values, current_rates, voltages
from robodyn_studies.scara_runs import ELBOW, METHODS, OWN, PAPER, POSITIONS, largest_difference, motion

FLAWS: Mapping[str, str] = {
    "square": "(q2dot + h K1,1)^2 has the slope of the first joint in place of the second",
    "mass": "K2 has the mass matrix of the beginning of the step, not of its predicted end",
    "voltage": "U pred has q + h K1, an acceleration in place of the speed",
    "current": "Ia pred has I + h K1, an acceleration of a joint in place of the current's rate",
}
SECTION = f"{PAPER}, section 2.3"
SPAN = 2.7
"""Of the compared motions [s]."""
ULP = 1e-15
"""Of the size of rounding [rad]."""


@cache
def printed_heun(step: float, flaws: Collection[str] = tuple(FLAWS)) -> np.ndarray:
    """Positions row by row, (n, 3); without flaws Heun's method for motors whose output is limited."""
    limit = axis_values("current_limit")
    q, v, current = np.zeros((3, 3))
    rows = [q]
    for _ in range(round(SPAN / step)):
        used = np.clip(current, -limit, limit)
        K1, rate = accelerations(q, v, used), current_rates(v, used, voltages(q, v))
        ahead_q, ahead_v = q + step * v, v + step * K1
        ahead = np.clip(
            (used if "current" in flaws else current) + step * (K1 if "current" in flaws else rate), -limit, limit
        )
        volts = voltages(q + step * K1 if "voltage" in flaws else ahead_q, ahead_v)
        K2 = accelerations(
            ahead_q,
            ahead_v,
            ahead,
            mass_at=q if "mass" in flaws else None,
            squared=v[1] + step * K1[0] if "square" in flaws else None,
        )
        rate_ahead = current_rates(ahead_v, ahead, volts)
        q, v, current = q + step * (v + ahead_v) / 2, v + step * (K1 + K2) / 2, current + step * (rate + rate_ahead) / 2
        rows.append(q)
    return np.array(rows)


def off_by(positions: np.ndarray, step: float, reference: Run, joints: Collection[str] = POSITIONS) -> float:
    """Largest distance of such rows from a run [rad or m]."""
    times = step * np.arange(len(positions))
    apart = [np.abs(positions[:, POSITIONS.index(name)] - reference[name](times)).max() for name in joints]
    return float(max(apart))


def printed_figures() -> Iterator[PublishedValue]:
    """Heun's formulas as printed, flaw by flaw."""
    right = off_by(printed_heun(1e-3, ()), 1e-3, motion("b, output limited", "heun", 1e-3))
    reason = "without its four flaws the printed scheme is Heun's method with the output limited, row by row: rounding"
    yield below("heun_formulas_repaired", right, 1e-10, "rad", reason, OWN)
    wrong = {step: off_by(printed_heun(step), step, motion("b")) for step in (1e-3, 2e-3)}
    exact = largest_difference(motion("b, output limited", "heun", 1e-3), motion("b"))
    reason = f"error of the formulas as printed over that of Heun's method itself, {exact:.1e} rad, at 1 ms"
    yield above("heun_formulas_as_printed_0.001", wrong[1e-3] / exact, 10.0, "", reason, OWN)
    for flaw, what in FLAWS.items():
        alone = off_by(printed_heun(1e-3, (flaw,)), 1e-3, motion("b"))
        reason = f"{what}; largest error at 1 ms with this flaw alone"
        yield PublishedValue(f"heun_flaw_{flaw}", None, alone, "rad", None, reason, SECTION)
    elbow = off_by(printed_heun(2e-3), 2e-3, motion("b"), (ELBOW,))
    euler = largest_difference(motion("b, output limited", "euler", 2e-3), motion("b"), (ELBOW,))
    reason = (
        f"the spreadsheet's Heun at 2 ms is worse than its Euler, above all in q2 (ours {elbow:.2g} against "
        f"{euler:.2g} rad): the printed formulas suffice to explain it, rounding is not needed"
    )
    where = f"{PAPER}, section 4.1"
    yield above("spreadsheet_heun_over_euler_0.002", elbow / euler, 1.0, "", reason, where, Kind.RESULT)


def limiting_figures() -> Iterator[PublishedValue]:
    """Currents limited where they are integrated (MATLAB's way) or where they are used (the printed spreadsheet's)."""
    where = f"{PAPER}, figures 3 and 4"
    for task, stem in (("b", "b"), ("c, sampled", "c")):
        for method in METHODS:
            fine, coarse = (
                largest_difference(motion(f"{task}, output limited", method, h), motion(task, method, h))
                for h in (1e-3, 2e-3)
            )
            reason = "the two ways to limit coincide to the eye at 1 ms, as MATLAB and EXCEL do"
            yield below(f"{stem}_two_limits_{method}_0.001", fine, 0.02, "rad", reason, where, Kind.RESULT)
            reason = (
                "and differ significantly at 2 ms, beyond the critical step: a hypothesis of why MATLAB and EXCEL do"
            )
            yield above(f"{stem}_two_limits_{method}_0.002", coarse, 0.2, "rad", reason, OWN)
    used, integrated = (
        largest_difference(motion(task, "euler", 2e-3), motion("b")) for task in ("b, output limited", "b")
    )
    reason = (
        "error at 2 ms of limiting where it is used (EXCEL's way) over that where it is integrated (MATLAB's). In the "
        "paper EXCEL goes more astray, here less: the opposite sign, so that this is not shown to be what parted them"
    )
    yield PublishedValue("b_two_limits_worse_way_0.002", None, used / integrated, "", None, reason, where, Kind.RESULT)
    yield from _rounding_figures()


def _rounding_figures() -> Iterator[PublishedValue]:
    """What becomes of rounding beyond the critical step, by where the current is limited; and of a printed index."""
    where = f"{PAPER}, section 4.1, which suspects rounding"
    for output, name, what in ((False, "state", "integrated"), (True, "output", "used")):
        plain, moved = (euler_rows(2e-3, output, start) for start in (0.0, ULP))
        apart = np.abs(moved - plain).max(axis=1)
        second = float(apart[round(1.0 / 2e-3)] / ULP)
        reason = f"growth in 1 s of 1e-15 rad at the start, Euler at 2 ms, currents limited where they are {what}"
        if output:
            reason += ": two programs that round differently part, whatever their equations, as the paper suspects"
            yield above(f"b_rounding_growth_{name}_limited", second, 1e9, "", reason, where)
        else:
            reason += ": their sheets would agree"
            yield below(f"b_rounding_growth_{name}_limited", second, 1e9, "", reason, where)
    printed, ours = (euler_rows(1e-3, True, mass_new=new) for new in (True, False))
    apart = float(np.abs(printed - ours).max())
    reason = "Euler's formula has the mass matrix of the new row (ma,i) as it is printed: largest change at 1 ms"
    yield PublishedValue("euler_mass_of_new_row", None, apart, "rad", None, reason, f"{PAPER}, section 2.2")


def euler_rows(step: float, output: bool, start: float = 0.0, mass_new: bool = False) -> np.ndarray:
    """Positions of task b row by row by Euler's method, (n, 3), written out as a sheet has it.

    Args:
        output: whether currents are limited where they are used, else where they are integrated.
        start: of the second joint [rad]; mass_new: whether the mass matrix is that of the new row.
    """
    limit = axis_values("current_limit")
    q, v, current = np.zeros((3, 3))
    q = q + np.array([0.0, start, 0.0])
    rows = [q]
    for _ in range(round(SPAN / step)):
        used = np.clip(current, -limit, limit) if output else current
        a = accelerations(q, v, used, mass_at=q + step * v if mass_new else None)
        rate = current_rates(v, used, voltages(q, v))
        q, v, current = q + step * v, v + step * a, current + step * rate
        current = current if output else np.clip(current, -limit, limit)
        rows.append(q)
    return np.array(rows)
