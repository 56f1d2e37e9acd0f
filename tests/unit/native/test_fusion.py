"""Are products and sums fused alike wherever they stand?"""

import casadi as ca
import numpy as np

from robodyn.computation.native import compile_kernels, read_program
from robodyn.computation.native.fusion import fuse
from robodyn.computation.native.program import Builder


def _operations(*expressions, inputs):
    program = fuse(read_program(ca.Function("f", inputs, list(expressions))))
    return sorted(node[0] for node in program.nodes if node[0] not in ("const", "input"))


def test_a_product_and_a_sum_become_one_operation():
    a, b, c = (ca.SX.sym(name) for name in "abc")
    assert _operations(a * b + c, inputs=[a, b, c]) == ["muladd"]
    assert _operations(a * b - ca.sin(c), inputs=[a, b, c]) == ["muladd", "neg", "sin"]
    assert _operations(ca.sin(c) - a * b, inputs=[a, b, c]) == ["muladd", "neg", "sin"]


def test_fused_signs_are_right():
    a, b, c = (ca.SX.sym(name) for name in "abc")
    root = ca.sqrt(c)
    function = ca.Function("f", [a, b, c], [a * b + root, a * b - root, root - a * b, a * b - b * c])
    kernel = compile_kernels({"f": function}, cache=False).kernels["f"]
    assert [float(value[0]) for value in kernel(3.0, 5.0, 4.0)] == [17.0, 13.0, -13.0, -5.0]


def test_a_product_minus_its_stored_value_is_exactly_zero():
    gain, x, stored = (ca.SX.sym(name) for name in ("gain", "x", "stored"))
    functions = {
        "store": ca.Function("store", [gain, x, stored], [gain * x]),
        "compare": ca.Function("compare", [gain, x, stored], [gain * x - stored]),
    }
    kernels = compile_kernels(functions, cache=False).kernels
    for x_value in np.random.default_rng(0).normal(size=20):
        product = kernels["store"](0.1, x_value, 0.0)
        assert kernels["compare"](0.1, x_value, product)[0] == 0.0


def test_one_expression_has_one_value_whatever_else_its_kernel_computes():
    x = ca.SX.sym("x", 4)
    shared = x[0] * x[1] + x[2] * x[3]
    alone = ca.Function("alone", [x], [shared])
    crowd = ca.Function("crowd", [x], [x[2] * x[3], ca.sin(x[0] * x[1]), x[3] * x[2] + x[1] * x[0]])
    kernels = compile_kernels({"alone": alone, "crowd": crowd}, cache=False).kernels
    for point in np.random.default_rng(0).normal(size=(50, 4)):
        assert kernels["alone"](point)[0] == kernels["crowd"](point)[2][0]


def _products_with_nan(nan):
    """Many sums of two products, one of which a NaN is in."""
    builder = Builder()
    x = [builder.add(("input", 0, k)) for k in range(30)]
    hole = builder.add(("const", nan))
    sums = []
    for k in range(0, 30, 2):
        gap = builder.add(("mul", x[k], builder.add(("select", x[0], hole, x[k + 1]))))
        sums.append(builder.add(("add", gap, builder.add(("mul", x[k + 1], x[(k + 2) % 30])))))
    return builder.finish("sums", (30,), [sums])


def test_code_does_not_depend_on_which_nan_it_holds():
    """Python's hash of a NaN is that of the object: code would differ from process to process."""
    first, second = float("nan"), float("nan")
    assert hash(first) != hash(second)
    fused = [repr(fuse(_products_with_nan(nan)).nodes) for nan in (first, second)]
    assert fused[0] == fused[1]
