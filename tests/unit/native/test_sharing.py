"""Do programs that share pieces of code compute what each computes alone?"""

import ctypes

import casadi as ca
import numpy as np
import pytest
from support.kernels import call_program

from robodyn.computation.native import pieces, read_program
from robodyn.computation.native.compiling import gather_families, improve_program
from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.fusion import forms_of
from robodyn.computation.native.machine import MachineCode, compile_objects
from robodyn.computation.native.pieces import lay_out_together


def make_programs():
    """Three that share a long chain; the last has an input more, and one of them another ending of it."""
    x, y, z = (ca.SX.sym(name, 6) for name in "xyz")
    chain = x
    for k in range(40):
        chain = ca.sin(chain) * y + ca.vertcat(chain[1:], chain[0]) * (k + 1) - y[k % 6]
    columns = [
        ([x, y], [chain * y - x]),
        ([x, y], [ca.cos(chain), chain[:2] * 3 + ca.fmax(x[0], y[1])]),
        ([x, y, z], [ca.jtimes(chain, x, z)]),
    ]
    functions = [ca.Function(f"f{k}", *arguments) for k, arguments in enumerate(columns)]
    return [improve_program(read_program(function), False) for function in functions]


def run(machine, k, program, inputs):
    return call_program(machine, k, program, inputs[: len(program.in_sizes)])


@pytest.mark.parametrize("rare", [(), (1, 2), (0, 1, 2)])
def test_programs_that_share_code_compute_the_bits_of_each_alone(rare):
    programs = make_programs()
    inputs = np.random.default_rng(3).normal(size=(3, 6))
    together = MachineCode(compile_objects(emit_module(programs, 50, rare=rare)), [f"k{k}" for k in range(3)])
    for k, program in enumerate(programs):
        alone = run(MachineCode(compile_objects(emit_module([program])), ["k0"]), 0, program, inputs)
        assert np.isfinite(alone).all()
        assert np.array_equal(run(together, k, program, inputs), alone)


def test_an_output_may_lie_on_an_input_that_it_passes_on_to_other_places():
    """What is passed on is read before anything is written, in whichever function the rest is stored."""
    x = ca.SX.sym("x", 400)
    moved = ca.vertcat(x[200:], ca.sin(x[:200]) * 3)
    program = improve_program(read_program(ca.Function("f", [x], [moved])), False)
    machine = MachineCode(compile_objects(emit_module([program], 50)), ["k0"])
    values = np.random.default_rng(4).normal(size=400)
    expected = call_program(machine, 0, program, [values])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(machine.address_of("k0"))(*[values.ctypes.data] * 2)
    assert np.array_equal(values, expected)


def test_outputs_from_the_workspace_are_stored_a_piece_at_a_time(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_SIZE", 7)
    x = ca.SX.sym("x", 60)
    function = ca.Function("f", [x], [ca.vertcat(ca.exp(x), x[::-1], 2.0), x * x])
    program = improve_program(read_program(function), False)
    text = emit_module([program], 50).often
    assert text.count("define internal void @k0.") == 1 + -(-120 // 7)
    machine = MachineCode(compile_objects(emit_module([program], 50)), ["k0"])
    values = np.random.default_rng(5).normal(size=60)
    expected = np.concatenate([np.exp(values), values[::-1], [2.0], values**2])
    assert call_program(machine, 0, program, [values]) == pytest.approx(expected, rel=1e-15)


def test_what_several_programs_compute_is_one_piece_of_code():
    programs = make_programs()
    layout = lay_out_together(programs, 50)
    assert sum(len(piece.nodes) for piece in layout.pieces) < 0.7 * sum(p.n_operations for p in programs)
    assert sum(len(piece.nodes) for piece in layout.pieces if len(piece.users) == 3) > 300


def test_a_piece_reads_only_what_its_programs_have_computed_before():
    layout = lay_out_together(make_programs(), 50)
    for place in range(3):
        done = set()
        for piece in layout.pieces:
            if place in piece.users:
                for number in piece.nodes:
                    read = [
                        i for i in layout.whole.nodes[number][1:] if layout.whole.nodes[number][0] not in ("const",)
                    ]
                    inner = [i for i in read if layout.whole.nodes[i][0] not in ("const", "input")]
                    assert set(inner) <= done
                    done.add(number)


def test_fusion_does_not_depend_on_what_else_is_read():
    """Of two products one is fused, by form: which one may not depend on the places that conditions have."""
    x = ca.SX.sym("x", 12)
    up = [x[k] > 0 for k in range(12)]
    terms = [ca.if_else(ca.logic_and(up[k], up[k - 1]), x[k], x[k - 2]) * x[k - 3] + x[k - 4] * x[k] for k in range(12)]
    functions = {
        "first": ca.Function("first", [x], [ca.vertcat(*up[::-1])]),
        "second": ca.Function("second", [x], [ca.vertcat(*terms)]),
    }
    (family,) = gather_families(functions).values()
    together = family.split(improve_program(family.read(), False), None)["second"]
    alone = improve_program(read_program(functions["second"]), False)
    assert list(family.members) == ["first", "second"]
    assert sorted(forms_of(together)) == sorted(forms_of(alone))


def test_functions_of_other_symbols_or_sizes_of_parameters_are_no_family():
    x, y, p = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("p", 2)
    more = ca.vertcat(p, ca.SX.sym("more"))
    functions = {
        "a": ca.Function("a", [x, p], [x * p[0]]),
        "b": ca.Function("b", [ca.vertcat(x, y), p], [x + y[0]]),
        "c": ca.Function("c", [y, p], [y * p[0]]),
        "d": ca.Function("d", [x, more], [x * more[2]]),
    }
    families = gather_families(functions, alike=1)
    assert {name: list(family.members) for name, family in families.items()} == {
        "a": ["a", "b"],
        "c": ["c"],
        "d": ["d"],
    }
    programs = families["a"].split(families["a"].read(), None)
    assert (programs["a"].in_sizes, programs["b"].in_sizes) == ((3, 2), (5, 2))
