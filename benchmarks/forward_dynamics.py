"""How long does one call of the arm's forward dynamics take from Python, beside Pinocchio's?"""

from __future__ import annotations

from benchmarks.agreement import largest_difference, require_agreement
from benchmarks.arm import arm_kernel, pinocchio_arm, random_states
from benchmarks.rows import Findings, Row
from benchmarks.timing import time_interleaved

STATES = 64
PASSES = 40
ROUNDS = 31
GOAL = 0.5
# Both sum some hundred products in different orders, and the solution with M magnifies the rounding.
AGREEMENT = 1e-9


def measure() -> Findings:
    """One call (q, v, tau) -> a with arrays in and a new array out, on both sides."""
    import pinocchio as pin

    kernel, (model, data), states = arm_kernel(), pinocchio_arm(), random_states(STATES)
    difference = largest_difference((kernel(*state), pin.aba(model, data, *state)) for state in states)
    accuracy = require_agreement(f"accelerations at {STATES} random states", difference, AGREEMENT)
    aba = pin.aba

    def call_robodyn() -> None:
        for _ in range(PASSES):
            for q, v, tau in states:
                kernel(q, v, tau)

    def call_pinocchio() -> None:
        for _ in range(PASSES):
            for q, v, tau in states:
                aba(model, data, q, v, tau)

    timings = time_interleaved({"robodyn": call_robodyn, "pinocchio": call_pinocchio}, ROUNDS)
    per_call = 1e9 / (PASSES * STATES)
    row = Row(
        "forward dynamics, six-axis arm, one call from Python",
        timings.median("robodyn") * per_call,
        "ns",
        accuracy,
        timings.median("pinocchio") * per_call,
        f"pinocchio.aba {pin.__version__}",
        timings.ratio("robodyn", "pinocchio"),
        GOAL,
    )
    return Findings((row,))
