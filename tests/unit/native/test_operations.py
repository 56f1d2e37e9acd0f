"""Does every operation in machine code mean what it means in CasADi's own evaluation?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import compile_kernels
from robodyn.computation.native.program import BINARY, UNARY

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 2.5, 1e-300, 5e-324, -2e-310, 1e-20, 1e6, -1e15, 1e22]
    + [1e308, -1e308, np.pi / 2, np.inf, -np.inf, np.nan]
)
# The C library and LLVM's expansions are good to about 1 unit in the last place; CasADi's may be another.
ULPS = 4


def _ordered(values: np.ndarray) -> np.ndarray:
    """Integers in the order of the doubles, neighbours differing by 1; both zeros are 0."""
    bits = values.view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _assert_same(ours: np.ndarray, theirs: np.ndarray, signed_zero: bool = True) -> None:
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    finite = np.isfinite(theirs)
    assert np.array_equal(np.isfinite(ours), finite)
    infinite = np.isinf(theirs)
    assert np.array_equal(ours[infinite], theirs[infinite])
    distance = np.abs(_ordered(ours[finite]).astype(float) - _ordered(theirs[finite]).astype(float))
    assert distance.max(initial=0) <= ULPS
    if signed_zero:
        zero = finite & (theirs == 0) & (ours == 0)
        assert np.array_equal(np.signbit(ours[zero]), np.signbit(theirs[zero]))


def _samples() -> np.ndarray:
    generator = np.random.default_rng(7)
    scale = 10.0 ** generator.uniform(-12, 6, 60)
    return np.concatenate([SPECIAL, generator.normal(size=60), generator.normal(size=60) * scale])


def _compare(operation: str, *arguments: np.ndarray) -> None:
    symbols = [ca.SX.sym(f"x{i}") for i in range(len(arguments))]
    code = getattr(ca, "OP_" + operation.upper())
    expression = ca.SX.unary(code, *symbols) if len(symbols) == 1 else ca.SX.binary(code, *symbols)
    function = ca.Function("f", symbols, [expression])
    kernel = compile_kernels({"f": function}, cache=False).kernels["f"]
    ours = np.concatenate([kernel(*numbers) for numbers in zip(*arguments, strict=True)])
    theirs = np.array([float(function(*numbers)) for numbers in zip(*arguments, strict=True)])
    # IEEE 754 leaves the sign open where the smaller or larger of 0 and -0 is asked for.
    _assert_same(ours, theirs, signed_zero=operation not in ("fmin", "fmax"))


@pytest.mark.parametrize("operation", UNARY)
def test_unary_operation_equals_casadi_on_ordinary_and_special_values(operation):
    _compare(operation, _samples())


@pytest.mark.parametrize("operation", BINARY)
def test_binary_operation_equals_casadi_on_all_pairs_of_values(operation):
    samples = _samples()[:40]
    x, y = np.meshgrid(samples, samples)
    _compare(operation, x.ravel(), y.ravel())


@pytest.mark.parametrize("exponent", [0.5, -0.5, 3.0, -2.0, 1.5, 0.0, 7.0])
def test_power_with_constant_exponent_equals_casadi(exponent):
    x = ca.SX.sym("x", SPECIAL.size)
    function = ca.Function("f", [x], [x**exponent])
    kernel = compile_kernels({"f": function}, cache=False).kernels["f"]
    _assert_same(kernel(SPECIAL), np.array(function(SPECIAL)).ravel())


def test_choice_takes_only_the_chosen_branch_even_if_the_other_is_not_a_number():
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [ca.if_else(x > 0, ca.sqrt(x), -1.0), ca.if_else(x > 0, x, ca.log(x))])
    kernel = compile_kernels({"f": function}, cache=False).kernels["f"]
    assert kernel([-4.0])[0] == -1.0
    assert kernel([4.0])[1] == 4.0
    assert np.isnan(kernel([-4.0])[1])


def test_sine_and_cosine_of_one_angle_are_exact_for_large_angles():
    angles = np.array([1e5, -1e10, 1e22, 3.0, 0.0, -0.0])
    x = ca.SX.sym("x", angles.size)
    function = ca.Function("f", [x], [ca.sin(x), ca.cos(x)])
    sine, cosine = compile_kernels({"f": function}, cache=False).kernels["f"](angles)
    _assert_same(sine, np.sin(angles))
    _assert_same(cosine, np.cos(angles))
