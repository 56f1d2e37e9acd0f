"""Control made from the model does what it must on any machine: trees, closed loops, floating bases.

Second methods: accelerations of the assembled machine under the law, its kinetic energy, `MachineDynamics`.
"""

import numpy as np
import pytest
from support.controlled import evaluate_signals, random_posed

from robodyn.assembly import assemble
from robodyn.model import Block, ControlModel, Load

ROUNDING = 1e-8
"""Of accelerations, over the largest: constraints give way by 1e-8 of their mobility, refined twice."""


def wanted_motion(posed, seed):
    """Targets near the state, for all axes."""
    rng, n = np.random.default_rng(seed), len(posed.axes)
    near = np.array([posed.q[f"{axis}.position"] for axis in posed.axes]) + rng.uniform(-0.2, 0.2, n)
    return {
        "target": tuple(map(float, near)),
        "target_velocity": tuple(map(float, rng.uniform(-1, 1, n))),
        "target_acceleration": tuple(map(float, rng.uniform(-3, 3, n))),
    }


def accelerations(scenario, posed, at_rest=False):
    names = tuple(f"{axis}.acceleration" for axis in posed.axes)
    return evaluate_signals(scenario, names, posed.q | ({} if at_rest else posed.v))


@pytest.mark.parametrize(
    ("seed", "looped", "plain"),
    [(1, False, True), (2, False, True), (6, False, False), (3, True, True), (4, True, True), (13, True, False)],
)
def test_computed_torque_makes_errors_linear_and_decoupled(seed, looped, plain):
    posed = random_posed(seed, looped, plain)
    inputs = wanted_motion(posed, seed)
    law = Block(
        "control", "computed_torque", None, inputs, {"stiffness": 40.0, "damping": 9.0}, acts={"torque": posed.axes}
    )
    found = accelerations(posed.scenario(law), posed)
    q, v = (np.array([(posed.q | posed.v)[f"{axis}.{part}"] for axis in posed.axes]) for part in ("position", "velocity"))
    e, e_dot = np.array(inputs["target"]) - q, np.array(inputs["target_velocity"]) - v
    expected = np.array(inputs["target_acceleration"]) + 9.0 * e_dot + 40.0 * e
    assert found == pytest.approx(expected, abs=ROUNDING * np.max(np.abs(expected)))
