"""SCARA study, its tasks: the forms of the model (a), the point-to-point motion (b), the collision avoidance (c)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn.computation.simulation import simulate
from robodyn.description.catalog import scara_ptp
from robodyn.description.catalog.scara import CRITICAL, HEIGHT, SAFE, X_OBSTACLE
from robodyn.description.model import Solver
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.scara_forms import largest_disagreement, plain_euler
from robodyn_studies.scara_runs import (
    METHODS,
    OWN,
    PAPER,
    POSITIONS,
    STEPS,
    largest_difference,
    motion,
    times_of,
)

VOLTAGES = "the regular voltage limits, 60, 60 and 48 V"
CHOSEN = "the obstacle's place and height and the emergency voltages are this project's own choice"


def form_figures() -> Iterator[PublishedValue]:
    """Task a: three forms of one model."""
    reason = "rounding of accelerations up to some 1e2 in three orders of computation"
    yield below("a_forms_disagreement", largest_disagreement(), 1e-9, "relative", reason, OWN)


def motion_figures() -> Iterator[PublishedValue]:
    """Task b: how long it lasts, in which order the joints arrive, and whether four ways to compute it agree."""
    converged = times_of(motion("b"))
    rows = converged["arrived"] / 4e-4
    figure = ("b_rows_at_0.0004", 7000, rows, "rows", 500, "printed as about 7000 rows, in thousands", PAPER)
    yield PublishedValue(*figure, Kind.INPUT, fitted=VOLTAGES)
    late = converged["lift_settled"] - max(converged["elbow_settled"], converged["shoulder_settled"])
    what = "q1 and q2 arrive before q3; ours by this much"
    yield PublishedValue(
        *("b_joints_settle_in_order", None, late, "s", None, what, f"{PAPER}, section 2.2", Kind.INPUT),
        holds=late > 0,
        fitted=VOLTAGES,
    )
    stiff = simulate(scara_ptp(), Solver("rodas4p", rtol=1e-8, atol=1e-10))
    value = abs(stiff.outcome.time - converged["arrived"])
    yield below("b_end_time_stiff_against_explicit", value, 1e-6, "s", "two converged solvers, tolerance 1e-8", OWN)
    pair = simulate(scara_ptp(), Solver("heun_euler", rtol=1e-6, atol=1e-8))
    value = abs(pair.outcome.time - converged["arrived"])
    reason = "Euler and Heun as a pair with step size control, as the paper proposes: order 2 at tolerance 1e-6"
    yield below("b_end_time_embedded_pair", value, 1e-4, "s", reason, f"{PAPER}, section 4.3", Kind.RESULT)
    reason = "Euler at 1 ms in twenty lines of NumPy, the mass matrix inverted by hand: rounding of 2000 steps"
    run, plain = motion("b", "euler", 1e-3), plain_euler(1e-3, 2000)
    apart = max(np.abs(run[name](1e-3 * np.arange(2001)) - plain[:, k]).max() for k, name in enumerate(POSITIONS))
    yield below("b_plain_euler_against_native", float(apart), 1e-11, "rad", reason, OWN)
    yield from _accuracy_figures()


def _accuracy_figures() -> Iterator[PublishedValue]:
    """Deviations from the converged motion at the paper's steps."""
    for method in METHODS:
        for step in STEPS:
            error = largest_difference(motion("b", method, step), motion("b"))
            name = f"b_largest_deviation_{method}_{step:g}"
            if step < 2e-3:
                reason = "coincides to the eye: less than half a percent of the motion of 2 rad"
                yield below(name, error, 0.01, "rad", reason, f"{PAPER}, section 4.1", Kind.RESULT)
            else:
                reason = "clearly different: more than a tenth of the motion"
                yield above(name, error, 0.2, "rad", reason, f"{PAPER}, section 4.1", Kind.RESULT)


def avoidance_figures() -> Iterator[PublishedValue]:
    """Task c: the manoeuvre, and two ways to describe it."""
    run, chained = motion("c"), motion("c, phases")
    times = times_of(run)
    lift, tip = run["lift.position"], run["tool.position.x"]
    reason = f"where the decision is made, located to the solver's tolerance; {CHOSEN}"
    edge = X_OBSTACLE + CRITICAL
    yield PublishedValue("c_blocked_tip", edge, tip(times["blocked"]), "m", 1e-8, reason, OWN)
    yield PublishedValue("c_released_height", HEIGHT + SAFE, lift(times["cleared"]), "m", 1e-8, reason, OWN)
    window = np.linspace(times["blocked"], times["cleared"], 2001)
    overshoot = edge - float(tip(window).min())
    back = float(tip(times["cleared"]) - tip(window).min())
    what = f"the tip overshoots the critical distance a little, then moves back, ours by {1e3 * back:.1f} mm"
    holds = 0 < overshoot < CRITICAL / 2 and back > 0
    where = f"{PAPER}, figure 7"
    yield PublishedValue("c_tip_overshoot", None, overshoot, "m", None, what, where, Kind.RESULT, holds=holds)
    apart = abs(times_of(chained)["arrived"] - times["arrived"])
    reason = "conditions in one model (the spreadsheet's way) and three phases (MATLAB's), events located at 1e-9"
    yield below("c_two_ways_end_time", apart, 1e-6, "s", reason, f"{PAPER}, section 4.2", Kind.RESULT)
    apart = largest_difference(run, chained)
    yield below(
        "c_two_ways_motion", apart, 1e-5, "rad", "the same motion, interpolated between steps", PAPER, Kind.RESULT
    )
    yield from _sampled_figures()
    yield from _release_figures(times["arrived"])


def _sampled_figures() -> Iterator[PublishedValue]:
    """The decision made once a step, by Euler and Heun at each step size."""
    where = f"{PAPER}, section 4.2"
    for method in METHODS:
        for step in STEPS:
            error = largest_difference(motion("c, sampled", method, step), motion("c"))
            name = f"c_largest_deviation_{method}_{step:g}"
            if step < 2e-3:
                reason = "almost congruent: a percent of the motion; the decision waits for the next step"
                yield below(name, error, 0.02, "rad", reason, where, Kind.RESULT)
            else:
                reason = "differs from the first phase on: more than a tenth of the motion"
                yield above(name, error, 0.2, "rad", reason, where, Kind.RESULT)


def _release_figures(converged: float) -> Iterator[PublishedValue]:
    """The spreadsheet goes on at the obstacle's height, MATLAB a safe height above it."""
    run = motion("c, released at the obstacle's height", "euler", 4e-4)
    mode = run["steering.mode"].values
    (last,) = np.flatnonzero(np.diff(mode) < 0)
    height = float(run["lift.position"].values[last + 1])
    step = 4e-4 * float(run["lift.velocity"].max)
    reason = "the spreadsheet's condition is q3 - h_obs < 0 without the safe height of MATLAB; what it rises in a step"
    yield PublishedValue("c_released_height_spreadsheet", HEIGHT, height, "m", step, reason, OWN)
    earlier = converged - times_of(run)["arrived"]
    reason = "by so much the motion ends earlier than with a safe height of 5 mm, our own: one of the differences in "
    reason += "implementing the manoeuvre that the paper speaks of"
    yield above("c_release_rule_ends_earlier", earlier, 0.0, "s", reason, OWN)


def printed_target_figures() -> Iterator[PublishedValue]:
    """Task c with the targets of the printed sheet, which follow the arm and stay where it was released."""
    where = f"{PAPER}, section 3.1, figures 5 and 7"
    run, meant = motion("c, as printed", "euler", 1e-3), motion("c, sampled, output limited", "euler", 1e-3)
    tip = run["tool.position.x"].values
    begin, end = np.flatnonzero(np.diff(run["steering.limit.0"].values))
    overshoot = X_OBSTACLE + CRITICAL - float(tip[begin : end + 1].min())
    reason = "how far the tip goes on behind the critical distance, with targets that follow the arm"
    yield PublishedValue("c_printed_targets_overshoot", None, overshoot, "m", None, reason, OWN)
    back = float(tip[end] - tip[begin : end + 1].min())
    reason = (
        "the paper's tip returns to its new target; by the printed formulas that target is the row before, and nothing "
        "draws it back: its figures were not computed by them"
    )
    yield below("c_printed_targets_move_back", back, 1e-6, "m", reason, where)
    short = abs(tip[-1] - meant["tool.position.x"].values[-1])
    reason = (
        "the paper's robot goes on to its targets; by the printed formulas q1_t and q2_t keep what they had when the "
        "tool was clear, and the tip stays so far from its target along x"
    )
    yield above("c_printed_targets_never_return", float(short), 0.1, "m", reason, where)


def missing_figures() -> Iterator[PublishedValue]:
    """What the paper does not print."""
    reason = (
        "the comparison's table is not public; the values are those of a public Modelica library, whose second axis "
        "has 2 L/R = 1.000 ms, the paper's critical step: an inference"
    )
    where = "SNE 22, March 1998"
    yield PublishedValue("published_parameter_table", None, None, "", None, reason, where, Kind.RESULT)
