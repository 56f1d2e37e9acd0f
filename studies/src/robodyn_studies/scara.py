"""SCARA benchmark ARGESIM C11: implicit model, point-to-point motion, collision avoidance, Euler and Heun.

Published statements are those of the comparison by Rekova and others (SNE 29(3), 2019). Its table of values is not
public; reference numbers marked "own" were computed independently with the values used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np

from robodyn.catalog import scara_avoid, scara_avoid_sampled, scara_phases, scara_ptp
from robodyn.model import Scenario, ScenarioSequence, Solver
from robodyn.reporting import plot_difference, plot_path, plot_signals
from robodyn.results import Run, compare
from robodyn.simulation import simulate
from robodyn.studies import Kind, Picture, PublishedValue, Study, above, below
from robodyn_studies.scara_forms import largest_disagreement

PAPER = "SNE 29(3) 2019, ARGESIM C11"
OWN = "own reference, explicit Euler in plain code"
STEPS = (4e-4, 1e-3, 2e-3)
POSITIONS = ("shoulder.position", "elbow.position", "lift.position")
TASKS: Mapping[str, Callable[[], Scenario | ScenarioSequence]] = {
    "scara-ptp": scara_ptp,
    "scara-avoid": scara_avoid,
    "scara-phases": scara_phases,
}
CONVERGED = Solver("dopri5", rtol=1e-9, atol=1e-11)


@cache
def motion(name: str, method: str = "", step: float = 0.0) -> Run:
    """A run of a scenario of this study; without a method the converged one."""
    solver = Solver(method, step=step) if method else CONVERGED
    scenario = scara_avoid_sampled(step) if name == "scara-avoid-sampled" else TASKS[name]()
    return simulate(scenario, solver)


def times_of(run: Run) -> dict[str, float]:
    """When each event happened last."""
    return {event.name: event.time for event in run.events}


def largest_difference(run: Run, reference: Run, names: tuple[str, ...] = POSITIONS) -> float:
    """Largest difference of positions while both runs last [rad or m]."""
    found = compare(run, reference)
    return max(found[name].max_abs for name in names)


def parts() -> Mapping[str, Callable[[], Iterator[PublishedValue]]]:
    """Heading -> figures, in the order of the tasks."""
    return {
        "Task a: forms of the model": _forms,
        "Task b: end times": _end_times,
        "Task b: accuracy": _accuracy,
        "Task c: collision avoidance": _avoidance,
        "What cannot be reproduced": _not_reproducible,
    }


def _forms() -> Iterator[PublishedValue]:
    reason = "rounding of accelerations up to some 1e2 in three orders of computation"
    value = largest_disagreement()
    yield below("model_forms_disagreement", value, 1e-9, "relative", reason, f"{PAPER}, task a", Kind.RESULT)


def _end_times() -> Iterator[PublishedValue]:
    reference = {4e-4: 2.8116, 1e-3: 2.8110}
    for step, published in reference.items():
        value = times_of(motion("scara-ptp", "euler", step))["arrived"]
        reason = "the reference gives the end of the step, ours the instant within it"
        yield PublishedValue(f"b_end_time_euler_{step:g}", published, value, "s", max(step, 1e-3), reason, OWN)
    value = times_of(motion("scara-ptp", "euler", 2e-3))["arrived"]
    reason = "beyond the stability limit the end depends on the last digits: 3.00 to 3.19 s when they change"
    yield above("b_end_time_euler_0.002", value, 2.9, "s", reason, f"{PAPER}: clearly different at 0.002", Kind.RESULT)
    converged = times_of(motion("scara-ptp"))
    reason = "the reference's own step of 5e-5 s leaves errors of this size"
    yield PublishedValue("b_end_time_converged", 2.8124, converged["arrived"], "s", 5e-4, reason, OWN)
    stiff = simulate(scara_ptp(), Solver("rodas4p", rtol=1e-8, atol=1e-10))
    value = abs(stiff.outcome.time - converged["arrived"])
    yield below("b_end_time_stiff_against_explicit", value, 1e-6, "s", "two converged solvers, tolerance 1e-8")
    pair = simulate(scara_ptp(), Solver("heun_euler", rtol=1e-6, atol=1e-8))
    value = abs(pair.outcome.time - converged["arrived"])
    yield below(
        "b_end_time_embedded_pair", value, 1e-4, "s", "order 2 at tolerance 1e-6", f"{PAPER}: proposed", Kind.RESULT
    )
    order = converged["elbow_settled"] < converged["lift_settled"] > converged["shoulder_settled"]
    late = converged["lift_settled"] - max(converged["elbow_settled"], converged["shoulder_settled"])
    what = "q1 and q2 arrive before q3; ours by this much"
    yield PublishedValue("b_joints_settle_in_order", None, late, "s", None, what, PAPER, Kind.RESULT, holds=order)


def _accuracy() -> Iterator[PublishedValue]:
    reference = motion("scara-ptp")
    errors = {
        (method, step): largest_difference(motion("scara-ptp", method, step), reference)
        for method in ("euler", "heun")
        for step in STEPS
    }
    for (method, step), error in errors.items():
        name = f"b_largest_deviation_{method}_{step:g}"
        if step < 2e-3:
            reason = "agrees with the converged solution to the eye: 1 % of the motion of 2 rad"
            yield below(name, error, 0.02, "rad", reason, f"{PAPER}: reliable up to 0.001", Kind.RESULT)
        else:
            reason = "visibly wrong, more than at 0.001: the method is unstable there"
            yield above(
                name, error, errors[method, 1e-3], "rad", reason, f"{PAPER}: clearly different at 0.002", Kind.RESULT
            )
    ratio = errors["heun", 2e-3] / errors["euler", 2e-3]
    reason = "no better by an order: Heun's stability interval on the real axis is as long as Euler's"
    yield above(
        "b_heun_over_euler_at_0.002", ratio, 0.1, "", reason, f"{PAPER}: Heun is no better at 0.002", Kind.RESULT
    )


def _avoidance() -> Iterator[PublishedValue]:
    run, chained = motion("scara-avoid"), motion("scara-phases")
    times = times_of(run)
    lift, tip = run["lift.position"], run["tool.position.x"]
    step = "the reference's step of 1e-4 s and its decision at step ends"
    yield PublishedValue("c_blocked_time", 0.989, times["blocked"], "s", 5e-4, step, OWN)
    yield PublishedValue("c_blocked_height", 0.1144, lift(times["blocked"]), "m", 1e-4, step, OWN)
    yield PublishedValue("c_blocked_tip", -0.1000, tip(times["blocked"]), "m", 1e-4, step, OWN)
    yield PublishedValue("c_released_time", 1.228, times["cleared"], "s", 5e-4, step, OWN)
    yield PublishedValue("c_released_height", 0.2050, lift(times["cleared"]), "m", 1e-4, step, OWN)
    yield PublishedValue(
        "c_tip_at_release", -0.105, tip(times["cleared"]), "m", 5e-4, "the reference has three digits", OWN
    )
    yield PublishedValue("c_end_time", 3.031, times["arrived"], "s", 1e-3, step, OWN)
    window = np.linspace(times["blocked"], times["cleared"], 2001)
    overshoot = -0.1 - float(tip(window).min())
    moves_back = 0 < overshoot < 0.1 and tip(times["cleared"]) > tip(window).min()
    what = "the tip overshoots the critical distance a little, then moves back"
    yield PublishedValue(
        "c_tip_overshoot", None, overshoot, "m", None, what, PAPER, Kind.RESULT, holds=bool(moves_back)
    )
    apart = abs(times_of(chained)["arrived"] - times["arrived"])
    yield below("c_two_ways_end_time", apart, 1e-6, "s", "located events at tolerance 1e-9, both ways", PAPER)
    apart = largest_difference(run, chained)
    yield below("c_two_ways_motion", apart, 1e-5, "rad", "the same motion, interpolated between steps", PAPER)
    yield from _sampled_avoidance(times["arrived"])


def _sampled_avoidance(converged: float) -> Iterator[PublishedValue]:
    """Way one with the decision sampled once a step, by Euler and Heun at each step size."""
    for method in ("euler", "heun"):
        for step in STEPS:
            run = motion("scara-avoid-sampled", method, step)
            name = f"{method}_{step:g}"
            if step < 2e-3:
                reason = "the decision waits for the next step, and the method's own error"
                end = times_of(run)["arrived"]
                yield PublishedValue(
                    f"c_end_time_sampled_{name}", converged, end, "s", 3 * step, reason, "our converged run"
                )
            else:
                error = largest_difference(run, motion("scara-avoid"))
                reason = "visibly wrong, as in task b: beyond the stability limit"
                yield above(f"c_largest_deviation_sampled_{name}", error, 0.02, "rad", reason, PAPER, Kind.RESULT)


def _not_reproducible() -> Iterator[PublishedValue]:
    reason = "the comparison's table of parameters is not public; the values here are of our own choice"
    yield PublishedValue("published_parameter_table", None, None, "", None, reason, "SNE 22, March 1998", Kind.RESULT)
    reason = "the study has 7000 rows, 2.8 s; the exact end time is not printed"
    yield PublishedValue("published_end_time_b", None, None, "s", None, reason, PAPER, Kind.RESULT)


def pictures() -> tuple[Picture, ...]:
    """Pictures like the paper's figures 2 to 7."""
    b, c = motion("scara-ptp"), motion("scara-avoid")
    fine = motion("scara-ptp", "euler", 4e-4)
    compared = {step: [*(motion("scara-ptp", method, step) for method in ("euler", "heun")), b] for step in STEPS}
    labels = ["Euler", "Heun", "converged"]
    near = ("tool.position.x", "lift.position")

    def draw(function, *arguments, **named):
        return lambda path: function(*arguments, path, **named)

    return (
        Picture("b-path", "Tool path of the point-to-point motion, Euler at 0.4 ms", draw(plot_path, fine, "tool")),
        Picture("b-joints", "Joint positions over time", draw(plot_signals, b, POSITIONS)),
        *(
            Picture(
                f"b-methods-{1e3 * step:g}ms",
                f"Euler, Heun and the converged motion, step {1e3 * step:g} ms",
                draw(plot_signals, runs, POSITIONS, labels=labels),
            )
            for step, runs in compared.items()
        ),
        Picture(
            "b-errors",
            "Deviation from the converged motion, Euler and Heun at 1 ms",
            draw(plot_difference, compared[1e-3][:2], b, POSITIONS, labels=labels[:2]),
        ),
        Picture("c-path", "Tool path of the collision avoidance, with the obstacle", draw(plot_path, c, "tool")),
        Picture("c-joints", "Joint positions during the collision avoidance", draw(plot_signals, c, POSITIONS)),
        Picture(
            "c-distance", "Tip along x and height of the tool; the obstacle is 0.2 m high", draw(plot_signals, c, near)
        ),
    )


STUDY = Study(
    name="scara",
    title="SCARA benchmark ARGESIM C11",
    about=(
        "A three-axis SCARA arm (two vertical revolute joints and a vertical slide) is driven by servo motors under PD "
        "control with limited voltage and current. Task a handles the implicit model, task b moves from point to "
        "point, task c avoids an obstacle on the way."
    ),
    source="Rekova and others, SNE 29(3), 2019, 149-158",
    scenarios=("scara-ptp", "scara-avoid", "scara-avoid-sampled", "scara-phases"),
    parts=parts,
    pictures=pictures,
)
