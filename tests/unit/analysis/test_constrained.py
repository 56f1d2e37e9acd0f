"""Is a linear model in free coordinates the one in all coordinates, less what decays by itself?"""

import numpy as np
import pytest
from support.rod_pendulum import GRAVITY, LENGTH, MASS, POLE, pushed_pendulum

from robodyn import ConstraintMethod, assemble
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.linearisation import linearise, reduce_constraints
from robodyn.analysis.linear.poles import find_cancelled_pairs, find_hidden_poles, find_minimal, truncate
from robodyn.base.errors import ModelError
from robodyn.description.catalog import pendulum

OMEGA = np.logspace(-1, 2, 50)
CHANNEL = {"inputs": ["push.value"], "outputs": ["x.position"]}
DRAG = 0.8


def linear(drag=DRAG, **fields):
    system = assemble(pushed_pendulum(drag, **fields))
    return linearise(system, **CHANNEL), system


def closed_form(s, drag=DRAG):
    """x / force of a hanging pendulum: 1 / (m s^2 + d s + m g / L)."""
    return 1 / (MASS * s**2 + drag * s + MASS * GRAVITY / LENGTH)


@pytest.mark.parametrize("reduce", [truncate, find_minimal, reduce_constraints])
def test_each_way_to_reduce_gives_the_pendulum_of_the_textbook(reduce):
    full, system = linear()
    found = reduce(full, system) if reduce is reduce_constraints else reduce(full)
    model = found if isinstance(found, LinearModel) else found.model
    assert (full.order, model.order) == (4, 2)
    # The compliance of constraints, 1e-12 of their mobility, is what they differ by.
    np.testing.assert_allclose(model.frequency_response(OMEGA)[:, 0, 0], closed_form(1j * OMEGA), rtol=1e-9)


def test_the_added_modes_sit_at_the_roots_of_baumgartes_polynomial():
    full, _ = linear(drag=0.0)
    poles = full.poles()
    swinging = 1j * np.sqrt(GRAVITY / LENGTH)
    for expected in (swinging, -swinging, -POLE, -POLE):
        near = np.argmin(np.abs(poles - expected))
        # A double root is known to half the digits.
        assert abs(poles[near] - expected) < 1e-6
        poles = np.delete(poles, near)
    assert len(find_cancelled_pairs(full)) == 2
    assert find_hidden_poles(full).uncontrollable.size == 2


def test_a_swinging_pendulum_without_stable_modes_is_reduced_too():
    full, system = linear(drag=0.0)
    balanced, reduced = truncate(full), reduce_constraints(full, system)
    assert (balanced.unstable, balanced.kept, reduced.order) == (2, 0, 2)
    np.testing.assert_allclose(balanced.model.transfer(1.0), closed_form(1.0, 0.0), rtol=1e-8)
    np.testing.assert_allclose(reduced.transfer(1.0), closed_form(1.0, 0.0), rtol=1e-12)


def test_minimal_coordinates_swing_as_the_rod_does():
    """The same pendulum on a hinge needs no constraint."""
    hinged = linearise(assemble(pendulum()), {"hinge.position": 0.0})
    scale = np.sqrt(GRAVITY / LENGTH) / np.sqrt(9.81)
    full, system = linear(drag=0.0)
    expected, found = np.sort_complex(scale * hinged.poles()), np.sort_complex(reduce_constraints(full, system).poles())
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_reduced_model_does_not_know_the_constraint_method():
    models = [
        reduce_constraints(*linear(constraint_method=t))
        for t in (ConstraintMethod(pole=50.0), ConstraintMethod("projection"))
    ]
    np.testing.assert_allclose(models[0].A, models[1].A, atol=1e-12)


def test_states_are_the_joints_that_move_most_or_those_named():
    full, system = linear()
    assert [state.name for state in reduce_constraints(full, system).states] == ["x.position", "x.velocity"]
    assert [state.name for state in reduce_constraints(full, system, ["x"]).states] == ["x.position", "x.velocity"]
    with pytest.raises(ModelError, match="do not move independently"):
        reduce_constraints(full, system, ["z"])
    with pytest.raises(ModelError, match="is not a moving joint"):
        reduce_constraints(full, system, ["y"])


def test_an_input_that_moves_a_constraint_is_refused():
    system = assemble(pushed_pendulum())
    full = linearise(system, inputs=["rod.length"], outputs=["x.position"])
    with pytest.raises(ModelError, match=r"inputs\.rod\.length: moves the constraints"):
        reduce_constraints(full, system)


def test_a_system_without_constraints_and_a_foreign_model_are_refused():
    free = assemble(pendulum())
    with pytest.raises(ModelError, match="has no constraints"):
        reduce_constraints(linearise(free, {"hinge.position": 0.0}), free)
    _, system = linear()
    with pytest.raises(ModelError, match="operating point"):
        reduce_constraints(LinearModel(np.zeros((4, 4))), system)
