"""Are the nominal motion and the linear equations along it exact?"""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support.followers import sprung_six_axis, strut_points, two_link

from robodyn import Block, Distance, ModelError, assemble
from robodyn.computation.dynamics import inverse_dynamics
from robodyn.computation.perturbation import compute_nominal
from robodyn.computation.perturbation.nominal import derive_equations, find_scope, place_knots
from robodyn.description.laws.references import spline_coefficients


@pytest.fixture(scope="module")
def equations():
    return derive_equations(find_scope(assemble(sprung_six_axis())))


@pytest.fixture(scope="module")
def nominal(equations):
    return compute_nominal(equations, 12)


def test_velocities_and_accelerations_are_the_slopes_of_the_reference(nominal):
    h = 1e-4
    before, now, after = (reference_at(nominal, shift) for shift in (-h, 0.0, h))
    smooth = [k for k, time in enumerate(nominal.times) if np.min(np.abs(time - np.array([0.1, 0.6, 1.0]))) > h]
    assert nominal.position == pytest.approx(now, abs=1e-9)
    # Central differences of cubics with q''' up to 130 rad/s^3: h^2 q'''/6, and rounding of 1e-16 / h^2.
    assert nominal.velocity[smooth] == pytest.approx((after - before)[smooth] / (2 * h), abs=3e-7)
    assert nominal.acceleration[smooth] == pytest.approx((after - 2 * now + before)[smooth] / h**2, abs=1e-6)


def reference_at(nominal, shift):
    """The reference a little earlier or later, by numpy, from the spline's own formula."""
    starts, fars = (0.3, 0.8, 0.4, 0.2, 0.5, 0.1), (0.9, 0.3, 0.9, -0.5, 0.8, 0.9)
    times = np.array([0.1, 0.6, 1.0])
    columns = []
    for start, far in zip(starts, fars, strict=True):
        c = spline_coefficients(times, (start, far, start))
        t = np.clip(nominal.times + shift, times[0], times[-1])
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, 1)
        s = t - times[k]
        columns.append(c[0, k] + s * (c[1, k] + s * (c[2, k] + s * c[3, k])))
    return np.array(columns).T


def torque_needed(equations, nominal, row, q, v):
    """Inverse dynamics in numbers, with spring and load by their virtual work (central differences of lengths)."""
    system = equations.scope.system
    p = [number.value for number in system.parameters]
    symbols = [system.q, system.v, system.symbols.p, equations.a]
    lists = [list(ca.vertsplit(column)) for column in (system.q, system.v, equations.a)]
    needed = ca.Function("needed", symbols, [ca.SX(inverse_dynamics(system.motion.mechanics.tree, *lists))])
    lengths = ca.Function("lengths", symbols, [system.motion.coordinates["balancer"]])
    position = [equations.scope.expressions[f"tool.position.{axis}"] for axis in "xyz"]
    tool = ca.Function("tool", symbols, [ca.vertcat(*position)])
    a = nominal.acceleration[row]

    def value(function, q, v=v):
        return np.array(function(q, v, p, a)).ravel()

    h, n = 1e-6, len(q)
    slope = np.array([(value(lengths, q + h * e) - value(lengths, q - h * e))[0] / (2 * h) for e in np.eye(n)])
    J = np.array([(value(tool, q + h * e) - value(tool, q - h * e)) / (2 * h) for e in np.eye(n)])
    force = -100.0 - 8e3 * (value(lengths, q)[0] - 0.2) - 20.0 * slope @ v
    return value(needed, q, v) - slope * force - J @ np.array([5.0, -3.0, -20.0])


def test_the_torque_is_that_of_inverse_dynamics_with_spring_and_load(equations, nominal):
    for row in (2, 5):
        needed = torque_needed(equations, nominal, row, nominal.position[row], nominal.velocity[row])
        # Central differences of lengths: 1e-16 / 1e-6 of a force of 2 kN.
        assert nominal.torque[row] == pytest.approx(needed, abs=1e-5)


def test_stiffness_and_damping_are_the_slopes_of_inverse_dynamics(equations, nominal):
    row, h = 5, 1e-4
    q, v = nominal.position[row], nominal.velocity[row]
    for column, e in enumerate(np.eye(6)):
        by_q, by_v = (
            torque_needed(equations, nominal, row, q + x, v + y) - torque_needed(equations, nominal, row, q - x, v - y)
            for x, y in ((h * e, 0.0), (0.0, h * e))
        )
        # Differences of differences: 1e-6 N m over 2e-4, of stiffnesses up to 700 N m.
        assert nominal.stiffness[row][:, column] == pytest.approx(by_q / (2 * h), abs=2e-2)
        assert nominal.damping[row][:, column] == pytest.approx(by_v / (2 * h), abs=2e-2)


def test_structural_and_geometric_stiffness_are_symmetric_and_the_dynamic_one_is_not(nominal):
    def skew(K):
        return np.max(np.abs(K - K.transpose(0, 2, 1))) / np.max(np.abs(K))

    # A spring, gravity and constant forces have potentials; the rest is rounding.
    assert skew(nominal.stiffness_structural) < 1e-14
    assert skew(nominal.stiffness_geometric) < 1e-12
    assert skew(nominal.stiffness_dynamic) > 1e-2


def test_a_break_is_a_point_with_values_before_and_after_it(nominal):
    twice = nominal.times[1:][np.diff(nominal.times) == 0]
    assert twice == pytest.approx([0.1, 0.6, 1.0], abs=0)
    (k,) = np.flatnonzero((np.diff(nominal.times) == 0) & (nominal.times[1:] == 1.0))
    # The spline stops with an acceleration, and rests after it.
    assert np.min(np.abs(nominal.acceleration[k])) > 0.1
    assert nominal.acceleration[k + 1] == pytest.approx(np.zeros(6), abs=0)


def test_the_knots_nearest_to_breaks_move_onto_them():
    knots, broken = place_knots(1.0, 4, [0.26, 0.27, 0.9, 0.0, 1.5])
    assert knots == pytest.approx([0.0, 0.26, 0.27, 0.9, 1.0])
    assert broken.tolist() == [True, True, True, True, True]


def test_too_few_points_for_the_breaks_are_refused():
    with pytest.raises(ModelError, match="use at least 3"):
        place_knots(1.0, 2, [0.2, 0.4])


def test_forces_that_positions_alone_decide_are_folded_and_others_kept(equations):
    assert equations.scope.folded == (("balancer", "balance.force"),)
    assert equations.scope.curved == ()
    assert "tool.position.x" in equations.scope.signals
    assert "post.position.x" not in equations.scope.signals


def test_only_numbers_of_the_motion_and_its_torques_count(equations):
    assert "link6.mass" in equations.parameters
    assert "balance.stiffness" in equations.parameters
    assert not any("friction" in name or "control" in name for name in equations.parameters)


def test_what_has_no_nominal_motion_or_sticks_to_a_strut_is_refused():
    with pytest.raises(ModelError, match="nominal: is missing"):
        compute_nominal(assemble(replace(two_link(), nominal={})))
    friction = Block("strut.friction", "stick_friction", on="strut", parameters={"coulomb": 1.0})
    stuck = two_link(blocks=(friction,), coordinates=(Distance("strut", "post", "lug"),), points=strut_points())
    with pytest.raises(ModelError, match="blocks.strut.friction: sticks on 'strut'"):
        compute_nominal(assemble(stuck))
