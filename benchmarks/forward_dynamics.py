"""How long does one call of the arm's forward dynamics take from Python, beside Pinocchio's?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.arm import AGREEMENT, arm_kernel, check_kernel, pinocchio_arm, random_states
from benchmarks.findings import Findings, find_rival, largest_difference, require_agreement
from benchmarks.timing import time_interleaved

GOAL = 0.5


@dataclass(frozen=True)
class Size:
    states: int = 64
    passes: int = 40
    rounds: int = 31


SIZES = {"smallest": Size(states=4, passes=1, rounds=1), "usual": Size()}


def measure(size: Size) -> Findings:
    """One call (q, v, tau) -> a with arrays in and a new array out, on both sides."""
    pin, kernel, states = find_rival("pinocchio"), arm_kernel(), random_states(size.states)

    def call_robodyn() -> None:
        for _ in range(size.passes):
            for q, v, tau in states:
                kernel(q, v, tau)

    contenders: dict[str, Callable[[], None]] = {"robodyn": call_robodyn}
    agreements = [check_kernel(size.states)]
    if pin:
        model, data = pinocchio_arm()
        aba = pin.aba
        difference = largest_difference((kernel(*state), aba(model, data, *state)) for state in states)
        agreements.append(require_agreement("accelerations and Pinocchio's there", difference, AGREEMENT))

        def call_pinocchio() -> None:
            for _ in range(size.passes):
                for q, v, tau in states:
                    aba(model, data, q, v, tau)

        contenders["pinocchio"] = call_pinocchio
    row = time_interleaved(contenders, size.rounds).row(
        "forward dynamics, six-axis arm, one call from Python",
        "robodyn",
        "ns",
        1e9 / (size.passes * size.states),
        rival="pinocchio",
        rival_name=f"pinocchio.aba {pin.__version__}" if pin else "",
        goal=GOAL,
    )
    return Findings((row,), agreements=tuple(agreements), missing=() if pin else ("pinocchio",))
