"""Does a program hold what its function computes, once each, and nothing else?"""

import math

import casadi as ca
import pytest

from robodyn.base.symbolic import hold_table
from robodyn.computation.native import UnsupportedOperation, read_program
from robodyn.computation.native.program import Builder


def _operations(program):
    return sorted(node[0] for node in program.nodes if node[0] not in ("const", "input"))


def test_common_subexpressions_are_computed_once_in_either_order():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    program = read_program(ca.Function("f", [x, y], [ca.sin(x * y) + 1, ca.sin(y * x) * 2]))
    assert _operations(program) == ["add", "mul", "sin", "twice"]


def test_differences_are_not_taken_for_commutative():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    program = read_program(ca.Function("f", [x, y], [x - y, y - x]))
    assert _operations(program) == ["sub", "sub"]


def test_nodes_that_no_output_needs_are_dropped():
    x = ca.SX.sym("x")
    program = read_program(ca.Function("f", [x], [ca.if_else(x > 0, ca.exp(x), ca.sin(x))]))
    # The halves of CasADi's choice are joined; nothing reads them or the negated condition any more.
    assert _operations(program) == ["exp", "lt", "select", "sin"]


def test_every_node_reads_only_nodes_before_it():
    x = ca.SX.sym("x", 5)
    program = read_program(ca.Function("f", [x], [ca.cumsum(ca.sin(x)) * ca.sum1(x)]))
    for number, node in enumerate(program.nodes):
        if node[0] not in ("const", "input"):
            assert all(operand < number for operand in node[1:])


def test_constants_are_one_node_only_if_their_bits_are_equal():
    builder = Builder()
    assert builder.add(("const", 0.0)) != builder.add(("const", -0.0))
    assert builder.add(("const", math.nan)) == builder.add(("const", float("nan")))
    assert builder.add(("const", 1.5)) == builder.add(("const", 1.5))


def test_outputs_are_nonzeros_by_columns():
    x = ca.SX.sym("x", 2)
    matrix = ca.SX(2, 2)
    matrix[1, 0] = x[0]
    matrix[0, 1] = x[1]
    program = read_program(ca.Function("f", [x], [matrix, ca.SX(3, 1), ca.SX([0, 7])]))
    assert program.in_sizes == (2,)
    assert program.out_sizes == (2, 0, 2)
    assert [program.nodes[i] for i in program.outputs[0]] == [("input", 0, 0), ("input", 0, 1)]
    assert [program.nodes[i] for i in program.outputs[2]] == [("const", 0.0), ("const", 7.0)]


def test_matrix_expressions_are_expanded():
    x = ca.MX.sym("x", 2)
    program = read_program(ca.Function("f", [x], [ca.dot(x, x)]))
    assert program.out_sizes == (1,)


def test_unsupported_operation_names_itself_its_function_and_the_outputs_it_feeds():
    x = ca.SX.sym("x", 2)
    function = ca.Function("law", [x], [x, ca.vertcat(x[0], 1 + ca.erfinv(x[1]))], ["x"], ["state", "torque"])
    with pytest.raises(UnsupportedOperation, match=r"OP_ERFINV in function law .* output torque\[1\]"):
        read_program(function)


def test_a_symbol_that_is_no_input_is_an_error_that_names_it():
    x, stray = ca.SX.sym("x"), ca.SX.sym("stray")
    with pytest.raises(ValueError, match="law .* stray"):
        read_program(ca.Function("law", [x], [x + stray], {"allow_free": True}))


def test_table_at_a_number_put_in_by_casadi_is_an_error():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    expression = ca.substitute(hold_table(x, [0.0, 1.0], [3.0, 4.0]), x, ca.SX(0.5))
    with pytest.raises(ValueError, match=r"law .* table; it feeds output torque\[0\]"):
        read_program(ca.Function("law", [y], [y * expression], ["y"], ["torque"]))
