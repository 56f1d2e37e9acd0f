"""Do programs that share pieces of code compute what each computes alone?"""

import ctypes

import casadi as ca
import numpy as np
import pytest

from robodyn.native import read_program
from robodyn.native.emit import emit_module
from robodyn.native.kernel import improve_program
from robodyn.native.machine import Machine, compile_objects
from robodyn.native.sharing import lay_out_together


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
    frame = np.concatenate([*inputs[: len(program.in_sizes)], np.zeros(sum(program.out_sizes))])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(machine.address_of(f"k{k}.frame"))(frame.ctypes.data)
    return frame[sum(program.in_sizes) :]


@pytest.mark.parametrize("rare", [(), (1, 2), (0, 1, 2)])
def test_programs_that_share_code_compute_the_bits_of_each_alone(rare):
    programs = make_programs()
    inputs = np.random.default_rng(3).normal(size=(3, 6))
    together = Machine(*compile_objects(emit_module(programs, 50, rare=rare)))
    for k, program in enumerate(programs):
        alone = run(Machine(*compile_objects(emit_module([program]))), 0, program, inputs)
        assert np.isfinite(alone).all()
        assert np.array_equal(run(together, k, program, inputs), alone)


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
