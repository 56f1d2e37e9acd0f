"""Is what depends on parameters alone computed once, and are the results unchanged?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic import table
from robodyn.computation.native import compile_kernels, read_program
from robodyn.computation.native.prelude import separate_prelude

x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 3)
stiffness = ca.exp(p[0]) * ca.sin(p[1]) + ca.sqrt(p[2])
FUNCTIONS = {
    "force": ca.Function("force", [x, p], [stiffness * x + p[0]]),
    "energy": ca.Function("energy", [x, p], [stiffness * ca.sumsqr(x) / 2, stiffness]),
    "plain": ca.Function("plain", [x, p], [x * p[1]]),
    "looked_up": ca.Function("looked_up", [x, p], [x * table(p[0], [0.0, 1.0, 3.0], [1.0, 5.0, 2.0])]),
}


def test_results_are_equal_with_and_without_prelude():
    module = compile_kernels(FUNCTIONS, parameter_input=1, cache=False)
    whole = compile_kernels(FUNCTIONS, cache=False).kernels
    state, parameters = np.array([0.3, -2.0]), np.array([0.4, 1.1, 2.2])
    prepared = module.prepare(parameters)
    assert prepared.size == module.n_parameters + module.n_prelude
    np.testing.assert_array_equal(prepared[:3], parameters)
    for name, kernel in module.kernels.items():
        # The same operations in the same order, so exactly equal.
        np.testing.assert_array_equal(np.hstack(kernel(state, prepared)), np.hstack(whole[name](state, parameters)))


def test_work_on_parameters_leaves_the_kernels_and_is_shared():
    programs = {name: read_program(function) for name, function in FUNCTIONS.items()}
    separated = separate_prelude(programs, 1)
    assert separated.programs["force"].n_operations == 4
    assert separated.programs["looked_up"].n_operations == 2
    # exp, sin, product, sqrt and sum are there once though two functions need them; the rest is the table.
    operations = [node[0] for node in separated.prelude.nodes]
    assert [operations.count(name) for name in ("exp", "sin", "sqrt", "locate")] == [1, 1, 1, 1]
    assert separated.prelude.out_sizes == (2,)


def test_parameters_themselves_and_constants_are_not_copied():
    separated = separate_prelude({"plain": read_program(FUNCTIONS["plain"])}, 1)
    assert separated.prelude.out_sizes == (0,)
    assert separated.programs["plain"].in_sizes == (2, 3)


def test_module_without_such_work_needs_no_prelude():
    module = compile_kernels({"plain": FUNCTIONS["plain"]}, parameter_input=1, cache=False)
    assert (module.n_parameters, module.n_prelude) == (3, 0)
    np.testing.assert_array_equal(module.kernels["plain"]([1.0, 2.0], module.prepare([0, 3, 0])), [3.0, 6.0])


def test_wrong_number_of_parameters_is_an_error():
    module = compile_kernels(FUNCTIONS, parameter_input=1, cache=False)
    with pytest.raises(ValueError, match="3 parameters, not 2"):
        module.prepare([1.0, 2.0])


def test_functions_that_disagree_about_the_parameters_are_an_error():
    other = ca.Function("other", [x, ca.SX.sym("p", 2)], [x])
    with pytest.raises(ValueError, match="one size in all functions"):
        compile_kernels({**FUNCTIONS, "other": other}, parameter_input=1, cache=False)
    with pytest.raises(ValueError, match="force has no input 2"):
        compile_kernels(FUNCTIONS, parameter_input=2, cache=False)
