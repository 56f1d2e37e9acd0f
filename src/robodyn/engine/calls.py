"""How does compiled code reach arrays and kernels that it knows only by their machine addresses?"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from robodyn.engine.caching import inlined

intrinsic: Any = extending.intrinsic
FLOATS = types.CPointer(types.float64)
INTEGERS = types.CPointer(types.int64)


def _pointer_to(context, builder, signature, arguments):
    return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))


@intrinsic
def floats(typing_context, address):
    """The float64 values at an address."""
    return FLOATS(types.int64), _pointer_to


@intrinsic
def integers(typing_context, address):
    """The int64 values at an address."""
    return INTEGERS(types.int64), _pointer_to


@intrinsic
def call(typing_context, address, t, x, d, m, p, out):
    """Call `void f(const double* t, x, d, m, p, double* out)` at an address; t is given by value."""
    signature = types.void(types.int64, types.float64, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS)

    def generate(context, builder, signature, arguments):
        pointer = ir.DoubleType().as_pointer()
        kernel_type = ir.FunctionType(ir.VoidType(), [pointer] * 6)
        kernel = builder.inttoptr(arguments[0], kernel_type.as_pointer())
        time = cgutils.alloca_once_value(builder, arguments[1])
        builder.call(kernel, [time, *(builder.bitcast(a, pointer) for a in arguments[2:])])
        return context.get_dummy_value()

    return signature, generate


@inlined
def row(address, width, index):
    """A row of a matrix of float64 values that is stored row by row."""
    return floats(address + 8 * width * index)


@inlined
def state(run, index):
    """One of the run's rows of length n_x."""
    return floats(run.x + 8 * run.n_x * index)


@inlined
def ask(run, kernel, t, x, out):
    """Evaluate a kernel of the model with the present memory, parameters and delayed signals as last read."""
    call(kernel, t, x, floats(run.d), floats(run.m), floats(run.p), out)
