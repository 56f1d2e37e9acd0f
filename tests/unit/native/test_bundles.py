"""Are like operations computed at once, with the bits they have one by one?"""

from functools import cache

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import read_program
from robodyn.computation.native.bundles import Bundles
from robodyn.computation.native.compiling import improve_program
from robodyn.computation.native.pieces import order_operations
from robodyn.computation.native.program import operands

JOINTS = 7


def bundles_of(program, longest=8):
    return Bundles(program, order_operations(program.nodes), longest)


def rub(w, z, level, swing):
    """Friction of a joint, with a choice, a comparison as a number and elementary functions."""
    curve = ca.exp(-((ca.fabs(w) / 0.1) ** 1.7))
    strength = ca.if_else(w < 0, 1.3 * level, level) * (1 + 0.5 * curve) + 0.1 * (z > w)
    return -(strength * z + 0.02 * (w - ca.fabs(w) * z / strength)) + ca.cos(swing) * ca.floor(z)


@cache
def seven_joints():
    w, z, level = (ca.SX.sym(name, JOINTS) for name in ("w", "z", "level"))
    torques = [rub(w[k], z[k], level[k], w[0] + k) for k in range(JOINTS)]
    # What leaves the lanes: sums across them, and a comparison of one lane with another.
    others = [sum(torques, ca.SX(0)), ca.if_else(torques[1] > torques[2], torques[3], z[4]), torques[5] < torques[6]]
    function = ca.Function("seven", [w, z, level], [ca.vertcat(*torques), ca.vertcat(*others)])
    return improve_program(read_program(function), inexact=True)


@pytest.mark.parametrize("longest", [2, 3, 4, 8])
def test_bundles_have_the_bits_of_single_operations(longest, run_program):
    program = seven_joints()
    random = np.random.default_rng(longest)
    for _ in range(20):
        inputs = [random.normal(size=JOINTS), random.normal(size=JOINTS), random.uniform(1, 2, JOINTS)]
        inputs[0][random.integers(1, JOINTS)] = random.choice([0.0, -0.0, 1e-200, 1e12, np.inf, np.nan])
        alone, together = (run_program(program, inputs, longest=n) for n in (1, longest))
        assert np.nan_to_num(together, nan=0.5).tobytes() == np.nan_to_num(alone, nan=0.5).tobytes()
        assert np.isfinite(together[:JOINTS]).sum() >= JOINTS - 1


def test_chains_that_do_not_need_each_other_go_on_in_turns():
    program = seven_joints()
    plain, abreast = (order_operations(program.nodes, abreast=abreast) for abreast in (False, True))
    assert sorted(plain) == sorted(abreast)
    place = {number: k for k, number in enumerate(abreast)}
    read = {number: [i for i in operands(program.nodes[number]) if i in place] for number in abreast}
    assert all(place[i] < place[number] for number in abreast for i in read[number])
    # How many operations follow one that they need at once: chains one by one, or seven of them side by side.
    waits = [sum(order[k] in read[order[k + 1]] for k in range(len(order) - 1)) for order in (plain, abreast)]
    assert waits[1] < waits[0] / 4


def test_joints_that_are_alike_are_computed_at_once():
    program = seven_joints()
    bundles = bundles_of(program)
    units = bundles.order()
    assert sorted(number for unit in units for number in unit) == sorted(order_operations(program.nodes))
    assert len(units) < 0.35 * program.n_operations
    assert {len(unit) for unit in units} >= {1, JOINTS}
    assert max(len(unit) for unit in bundles_of(program, 4).order()) == 4


def polynomial(x, seed):
    """Of an argument that looks alike wherever it comes from."""
    x, total = ca.sqrt(ca.sqrt(ca.sqrt(ca.fabs(x)))), ca.SX(0.0)
    for number in np.random.default_rng(seed).normal(size=8):
        total = total * x + float(number)
    return total


def test_a_chain_has_no_bundles():
    x = ca.SX.sym("x")
    value = x
    for _ in range(6):
        value = polynomial(value, 3)
    program = read_program(ca.Function("chain", [x], [value]))
    assert bundles_of(program).of == {}


def test_bundles_that_wait_for_one_another_are_dissolved(run_program):
    """f(g(x)) and g(f(y)): both f are independent, both g are, but not the two pairs."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    one, other = polynomial(polynomial(x, 1), 2), polynomial(polynomial(y, 2), 1)
    program = read_program(ca.Function("crossed", [x, y], [one, other]))
    bundles = bundles_of(program)
    found = len(set(bundles.of.values()))
    done = set()
    for unit in bundles.order():
        for number in unit:
            assert all(i in done or program.nodes[i][0] in ("const", "input") for i in program.nodes[number][1:])
        done.update(unit)
    assert 0 < len(set(bundles.of.values())) < found
    inputs = [np.array([0.3]), np.array([-0.7])]
    np.testing.assert_array_equal(run_program(program, inputs, longest=8), run_program(program, inputs))
