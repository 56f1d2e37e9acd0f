"""Does native code of several lanes give the bits of one robot's code in each of them?"""

import ctypes
from functools import partial

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic.tables import gather, locate, row, seek
from robodyn.computation.native import Options, compile_kernels, compile_lanes
from robodyn.computation.native.emit import emit_lanes
from robodyn.computation.native.rows import pack_rows

SIZE = 9
DATA = pack_rows(np.array([[0.0, 3.0], [0.4, -2.0], [0.7, 5.0]]))


def addresses(arrays):
    return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])


def call_lanes(address, inputs, p, outputs):
    """inputs: lanes of each input; p side by side."""
    tables = [addresses(lanes) for lanes in inputs]
    out = tables[-1] if outputs is inputs[-1] else addresses(outputs)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(inputs) + 2))(address)
    function(*tables[:-1], tables[-1], p.ctypes.data, out)


def everything():
    """Of x and memory m: all kinds of operations, tables, and memory of which most stays."""
    x, m, p = ca.SX.sym("x", 3), ca.SX.sym("m", SIZE), ca.SX.sym("p", 2)
    place = seek(2, x[0])
    entries = [ca.sin(x[0]), ca.cos(x[0]), ca.exp(-x[1]), ca.sqrt(ca.fabs(x[2])), ca.atan2(x[0], x[1]), ca.sign(x[1])]
    entries += [ca.fmod(x[0], x[1]), ca.fmin(x[0], x[1]), ca.copysign(x[0], x[2]), ca.floor(x[2]), x[1] ** p[0]]
    entries += [ca.if_else(x[0] > x[1], x[2], -x[0]), ca.logic_not(x[0] > 0.1), p[1] * row(1, place) * p[0]]
    entries += [gather(np.array([1.0, 3.0, -1.0]), locate(np.array([0.0, 0.5, 2.0]), x[0]))]
    total = sum(entries, ca.SX(0.0))
    changed = [entries[0] * entries[8], m[5] + m[6] * x[1], entries[2], ca.SX(0.5)]
    return ca.Function("f", [x, m, p], [ca.vertcat(m[0], total, m[2], m[3], *changed, m[8])])


@pytest.fixture(params=["whole", "inexact", "in pieces", "eight"])
def compiled(request, monkeypatch):
    """The function for one robot and for several, the second perhaps cut where it is not long."""
    inexact = ("f",) if request.param == "inexact" else ()
    functions, lanes = {"f": everything()}, 8 if request.param == "eight" else 4
    if request.param == "in pieces":
        monkeypatch.setattr("robodyn.computation.native.compiling.emit_lanes", partial(emit_lanes, chunk_size=9))
        monkeypatch.setattr("robodyn.computation.native.compiling.load_code", lambda key: None)
        monkeypatch.setattr("robodyn.computation.native.compiling.save_code", lambda key, code: None)
    module = compile_kernels(functions, 2, data=DATA, options=Options(inexact=inexact))
    return module, compile_lanes(functions, 2, lanes, Options(inexact=inexact))


def bits(values):
    """All bits of numbers; what is not a number has no sign that could be kept."""
    return np.where(np.isnan(values), np.nan, values).tobytes()


@pytest.mark.parametrize("place", [None, 0.5, -0.0, np.nan], ids=["apart", "together", "before the table", "nowhere"])
def test_every_lane_has_the_bits_of_its_own_robot(compiled, place):
    """Lanes read rows of the table at places of their own, or all of them at one."""
    module, together = compiled
    vector, lanes = together.addresses["f"], range(together.lanes)
    random = np.random.default_rng(1)
    x = [random.uniform(-1.5, 1.5, 3) for _ in lanes]
    x[2][:] = [0.0, -0.0, np.nan]
    for each in x if place is not None else ():
        each[0] = place
    x[1][1:] = np.abs(x[1][1:])
    m = [random.uniform(size=SIZE) for _ in lanes]
    prepared = [module.prepare(random.uniform(0.5, 2.0, 2)) for _ in lanes]
    own = module.n_parameters + module.n_prelude
    side_by_side = np.concatenate([np.array([p[:own] for p in prepared]).T.ravel(), DATA])
    alone = [module.kernels["f"](*each) for each in zip(x, m, prepared, strict=True)]
    outputs = [np.zeros(SIZE) for _ in lanes]
    call_lanes(vector, [x, m], side_by_side, outputs)
    assert list(map(bits, outputs)) == list(map(bits, alone))
    assert not np.array_equal(outputs[0], outputs[1])
    # The new memory in place of the old.
    call_lanes(vector, [x, m], side_by_side, m)
    assert list(map(bits, m)) == list(map(bits, alone))
