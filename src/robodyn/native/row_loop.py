"""Row loop: how is a kernel called for every row of tables without coming back to Python between two rows?"""

import ctypes
import functools
from collections.abc import Callable

from robodyn.native.machine import Machine, compile_objects
from robodyn.native.pieces import Text

_kept: list[Machine] = []


@functools.cache
def row_loop(count: int) -> Callable[..., None]:
    """void (f, n_rows, table 0, bytes from row to row of it, table 1, ...) for kernels of so many arguments."""
    tables = range(count)
    given = ", ".join(f"ptr %a{k}, i64 %s{k}" for k in tables)
    lines = [
        f"define void @rows(ptr %f, i64 %n, {given}) {{",
        "entry:",
        "  br label %head",
        "head:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %body ]",
        *(f"  %p{k} = phi ptr [ %a{k}, %entry ], [ %q{k}, %body ]" for k in tables),
        "  %more = icmp ult i64 %i, %n",
        "  br i1 %more, label %body, label %done",
        "body:",
        f"  call void %f({', '.join(f'ptr %p{k}' for k in tables)})",
        *(f"  %q{k} = getelementptr i8, ptr %p{k}, i64 %s{k}" for k in tables),
        "  %next = add i64 %i, 1",
        "  br label %head",
        "done:",
        "  ret void",
        "}",
    ]
    _kept.append(Machine(compile_objects(Text("\n".join(lines), "")), ["rows"]))
    arguments = [ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * count]
    return ctypes.CFUNCTYPE(None, *arguments)(_kept[-1].address_of("rows"))
