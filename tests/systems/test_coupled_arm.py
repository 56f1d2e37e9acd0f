"""An arm and the load that it carries, simulated apart, move as one."""

import numpy as np
import pytest
from support.coupled import arm, load, loaded_arm

from robodyn import assemble, simulate
from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, cosimulate, reduce_system

DURATION = 0.1
ELASTIC = {"stiffness": (2e4,) * 3 + (2e3,) * 3, "damping": (2e2,) * 3 + (20.0,) * 3}


@pytest.fixture(scope="module")
def motion():
    system = assemble(arm("force", DURATION))
    return reduce_system(system, "grip", np.array([state.start for state in system.states])).motion


def couple(motion, takes, step, elastic=None, order=0, **settings):
    """Arm and load, coupled as what they take says."""
    elastic = elastic or {}
    extra = [elastic if take != "force" else {} for take in takes]
    units = [
        ScenarioUnit(load(takes[1], DURATION, motion, **extra[1])),
        ScenarioUnit(arm(takes[0], DURATION, **extra[0])),
    ]
    return cosimulate(units, [Connection("arm.grip", "load.grip", order)], settings=CosimSettings(step, **settings))


def joints(run):
    return np.array([run[f"joint{k}.position"].final for k in range(1, 7)])


@pytest.mark.parametrize("takes", [("force", "model"), ("model", "model")], ids=["one way", "both ways"])
def test_a_load_attached_to_the_arms_reduced_model_moves_as_one_with_it(motion, takes):
    exact = joints(simulate(loaded_arm(DURATION)))
    errors = []
    for step in (4e-3, 2e-3):
        run = couple(motion, takes, step, scheme="sequential")
        assert run.outcome.ok
        errors.append(np.max(np.abs(joints(run["arm"]) - exact)))
        # What was joined at each exchange hardly moved apart in between.
        assert run.coupling["arm.grip-load.grip.gap"].max < 1e-5
    # Forces and inertia of the model are held over a step: an error of first order.
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 1e-3


def test_elastic_couplings_of_all_kinds_agree(motion):
    ends = [
        joints(couple(motion, takes, 1e-3, ELASTIC, scheme=scheme)["arm"])
        for takes, scheme in ((("model", "model"), "parallel"), (("force", "model"), "sequential"))
    ]
    # Both within the error of their macro steps, which is below 1e-6 when halved steps are compared.
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-6)
    signals = joints(couple(motion, ("force", "motion"), 1e-3, ELASTIC, order=1)["arm"])
    np.testing.assert_allclose(signals, ends[0], atol=1e-4)
