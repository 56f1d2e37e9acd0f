"""Do random expression graphs give CasADi's own values, whole or in chunks, fused or not?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import compile_kernels, read_program
from robodyn.computation.native.fusion import fuse

SEEDS = range(12)
UNARY = [
    ca.sqrt,
    ca.fabs,
    ca.floor,
    ca.ceil,
    ca.sign,
    lambda x: -x,
    lambda x: x * x,
    lambda x: 1 / x,
    ca.logic_not,
]
BINARY = [
    *(lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x < y),
    *(
        lambda x, y: x <= y,
        lambda x, y: x == y,
        ca.fmin,
        ca.fmax,
        ca.logic_and,
        ca.logic_or,
        ca.copysign,
        ca.fmod,
    ),
]


def _random_graph(seed, n_operations, unary=UNARY, binary=BINARY, choose=True, constant=-3):
    """Function of two columns of 4: the last 9 of its operations, all of them exact by IEEE 754."""
    random = np.random.default_rng(seed)
    x, y = ca.SX.sym("x", 4), ca.SX.sym("y", 4)
    values = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.75), ca.SX(constant)]
    for _ in range(n_operations):
        # Mostly recent values, so that graphs become deep.
        a, b, c = (values[-1 - int(random.exponential(8)) % len(values)] for _ in range(3))
        kind = random.uniform()
        if kind < 0.3 and unary:
            values.append(unary[random.integers(len(unary))](a))
        elif kind < 0.4 and choose:
            values.append(ca.if_else(a > b, b, c))
        else:
            values.append(binary[random.integers(len(binary))](a, b))
    return ca.Function(f"graph{seed}", [x, y], [ca.vertcat(*values[-6:]), ca.vertcat(*values[-9:-6])])


def _reference(function, inputs):
    return np.concatenate([np.array(output).ravel() for output in function.call(inputs)])


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_operations_give_exactly_casadis_values(seed, run_program):
    function = _random_graph(seed, 150)
    inputs = np.random.default_rng(seed).normal(size=(2, 4))
    # All operations round alike everywhere, so equality is exact (0 and -0 count as equal).
    np.testing.assert_array_equal(run_program(read_program(function), inputs), _reference(function, list(inputs)))


@pytest.mark.parametrize("chunk_size", [1, 2, 7, 50])
def test_chunks_give_the_same_values_as_the_whole(chunk_size, run_program):
    program = read_program(_random_graph(99, 400))
    inputs = np.random.default_rng(5).normal(size=(2, 4))
    whole = run_program(program, inputs)
    np.testing.assert_array_equal(run_program(program, inputs, chunk_size), whole)


@pytest.mark.parametrize("seed", SEEDS)
def test_fused_operations_stay_within_rounding_of_casadis_values(seed, run_program):
    sums = [lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y]
    positive = [lambda x, y: x + y, lambda x, y: x + y, lambda x, y: x * y]
    inputs = np.random.default_rng(seed).uniform(-1, 1, size=(2, 4))
    function = _random_graph(seed, 60, [], sums, choose=False)
    program = fuse(read_program(function))
    assert any(node[0] == "muladd" for node in program.nodes)
    # The same graph without cancellation bounds the error: each of 60 operations rounds once, here and there.
    positive_graph = _random_graph(seed, 60, [], positive, choose=False, constant=3)
    magnitude = _reference(positive_graph, list(np.abs(inputs)))
    error = np.abs(run_program(program, inputs) - _reference(function, list(inputs)))
    assert np.all(error <= 60 * np.finfo(float).eps * magnitude)


def test_library_functions_give_casadis_values_in_a_mixed_graph():
    x = ca.SX.sym("x", 3)
    y = ca.tanh(ca.sin(x) * ca.exp(-x)) + ca.atan2(x[0], ca.log1p(ca.fabs(x))) ** 2 + ca.hypot(x, ca.erf(x))
    function = ca.Function("mixed", [x], [y, ca.jacobian(y, x)])
    kernel = compile_kernels({"mixed": function}, cache=False).kernels["mixed"]
    point = np.array([0.3, -1.2, 2.5])
    # A few roundings each, no cancellation.
    for ours, theirs in zip(kernel(point), function(point), strict=True):
        np.testing.assert_allclose(ours, np.array(theirs.nonzeros()), rtol=1e-14)
