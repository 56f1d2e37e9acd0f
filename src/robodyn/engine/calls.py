"""How does compiled code call a kernel that is known only by its machine address?"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

DOUBLES = types.CPointer(types.float64)


@intrinsic
def first(typing_context, array):
    """Pointer to the first value of an array."""

    def generate(context, builder, signature, arguments):
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data

    return DOUBLES(array), generate


@intrinsic
def row(typing_context, array, index):
    """Pointer to the first value of a row of a two-dimensional C-contiguous array."""

    def generate(context, builder, signature, arguments):
        matrix = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        width = cgutils.unpack_tuple(builder, matrix.shape, 2)[1]
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return builder.gep(matrix.data, [builder.mul(index, width)])

    return DOUBLES(array, index), generate


@intrinsic
def call(typing_context, address, t, x, d, m, p, out):
    """Call `void f(const double* t, x, d, m, p, double* out)` at an address; t is given by value."""
    signature = types.void(types.int64, types.float64, DOUBLES, DOUBLES, DOUBLES, DOUBLES, DOUBLES)

    def generate(context, builder, signature, arguments):
        pointer = ir.DoubleType().as_pointer()
        kernel_type = ir.FunctionType(ir.VoidType(), [pointer] * 6)
        kernel = builder.inttoptr(arguments[0], kernel_type.as_pointer())
        time = cgutils.alloca_once_value(builder, arguments[1])
        builder.call(kernel, [time, *(builder.bitcast(a, pointer) for a in arguments[2:])])
        return context.get_dummy_value()

    return signature, generate
