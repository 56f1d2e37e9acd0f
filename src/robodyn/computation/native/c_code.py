"""C code generation: what is the C text of a program?

Every program becomes `void f(const double *i0, ..., double *o0, ...)`, straight-line C99 that needs the C library's
mathematics and nothing else. Outputs are written after everything has been read, so an output may share memory with an
input. Compile it without contraction and without fast mathematics: then results follow IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from robodyn.base.symbolic import tables

from .instructions import ROOT_OF_HALF
from .pieces import lay_out
from .program import Node, Program
from .rows import HEADER

CHUNK_SIZE = 400
"""Statements in a C function: compilers take more than proportionally long for long ones."""

_FUNCTIONS = (
    *("sqrt", "exp", "log", "log1p", "expm1", "erf", "fabs", "floor", "ceil"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("pow", "fmod", "remainder", "copysign", "fmin", "fmax", "hypot", "atan2"),
)
_TEMPLATES = {
    **{name: f"{name}({{0}})" for name in _FUNCTIONS},
    **{op: f"{{0}} {sign} {{1}}" for op, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items()},
    **{op: f"{{0}} {sign} {{1}}" for op, sign in {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}.items()},
    **{name: f"{name}({{0}}, {{1}})" for name in _FUNCTIONS[-8:]},
    "neg": "-{0}",
    "inv": "1.0 / {0}",
    "sq": "{0} * {0}",
    "twice": "{0} + {0}",
    "sign": "sign_of({0})",
    "muladd": "MULADD({0}, {1}, {2})",
    **{name: f"{name}({{0}})" for name in ("power_of_two", "exponent", "mantissa")},
    "not": "!({0} != 0.0)",
    "and": "({0} != 0.0) && ({1} != 0.0)",
    "or": "({0} != 0.0) || ({1} != 0.0)",
    "if_else_zero": "({0} != 0.0) ? {1} : 0.0",
    "select": "({0} != 0.0) ? {1} : {2}",
}

PREAMBLE = f"""#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* a b + c rounded once, as machine code does it; with PLAIN rounded twice, for processors that cannot do it. */
#ifdef PLAIN
#define MULADD(a, b, c) ((a) * (b) + (c))
#else
#define MULADD(a, b, c) fma(a, b, c)
#endif

/* Parts of a long function stay apart: put together they take compilers long. */
#ifdef __GNUC__
#define PART static __attribute__((noinline)) void
#else
#define PART static void
#endif

/* -1 below 0, 1 above 0, else x itself: a zero keeps its sign, a NaN stays. */
static inline double sign_of(double x) {{ return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }}

/* Index of the last of n knots at or below x, 0 before the first one. */
static inline size_t locate(const double *knots, size_t n, double x) {{
  size_t first = 0;
  while (n > 1) {{
    size_t half = n / 2;
    if (knots[first + half] <= x) first += half;
    n -= half;
  }}
  return first;
}}

/* Number of the last row whose knot is at or below x, in a table given behind the parameters. */
static inline size_t seek(const double *table, size_t width, double x) {{
  size_t last = (size_t)table[0] - 1, k;
  double place = (x - table[1]) * table[2];
  k = place > 0.0 ? (place > (double)last ? last : (size_t)place) : 0;
  while (k > 0 && table[{HEADER} + k * width] > x) k--;
  while (k < last && table[{HEADER} + (k + 1) * width] <= x) k++;
  return k;
}}
"""


BITS = f"""
/* Doubles by their bits: 2^n, and e and m with x = 2^e m, sqrt(1/2) <= m < sqrt(2). */
static inline double from_bits(int64_t bits) {{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}}
static inline int64_t to_bits(double x) {{
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}}
static inline int64_t split(double x) {{ return (to_bits(x) - INT64_C({ROOT_OF_HALF})) >> 52; }}
static inline double power_of_two(double n) {{ return from_bits((int64_t)((uint64_t)((int64_t)n + 1023) << 52)); }}
static inline double exponent(double x) {{ return (double)split(x); }}
static inline double mantissa(double x) {{ return from_bits(to_bits(x) - (int64_t)((uint64_t)split(x) << 52)); }}
"""
PREAMBLE += BITS


def literal(value: float) -> str:
    """A double in C, all its bits."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    if value.is_integer() and abs(value) < 1e15 and math.copysign(1.0, value) > 0:
        return f"{int(value)}.0"
    return value.hex() if value > 0 else f"({value.hex()})"


def emit_array(name: str, values: Iterable[float], linkage: str = "static ") -> str:
    """A constant array of doubles, never empty: C knows no arrays of no length."""
    entries = [literal(float(value)) for value in values] or ["0.0"]
    return f"{linkage}const double {name}[{len(entries)}] = {{{', '.join(entries)}}};\n"


def emit_tables(programs: Iterable[Program]) -> str:
    """The constant tables that programs look things up in."""
    looked_up = (tables.LOCATE, tables.GATHER)
    numbers = sorted({node[1] for program in programs for node in program.nodes if node[0] in looked_up})
    return "".join(emit_array(f"table_{number}", tables.lookup(number).values) for number in numbers)


def emit_program(symbol: str, program: Program, row_input: int = 0, chunk_size: int = CHUNK_SIZE) -> str:
    """The C functions of a program, the last of them `static void symbol(...)`.

    Args:
        row_input: number of the input behind which the run's table stands, if it is read.
    """
    layout = lay_out(program, chunk_size)
    names = [f"const double *i{k}" for k in range(len(program.in_sizes))]
    names += [f"double *o{k}" for k in range(len(program.outputs))]
    arguments = ", ".join(names)
    if len(layout.chunks) == 1:
        writer = _Writer(program, {}, row_input)
        return _function(symbol, arguments, writer.compute(layout.chunks[0]) + writer.store_outputs())
    passed = ", ".join([name.rpartition("*")[2] for name in names] + ["w"])
    bodies = [_Writer(program, layout.slots, row_input).compute(chunk) for chunk in layout.chunks]
    bodies.append(_Writer(program, layout.slots, row_input).store_outputs())
    parts = [_function(f"{symbol}_{c}", f"{arguments}, double *w", body, "PART") for c, body in enumerate(bodies)]
    calls = [f"double w[{max(layout.n_slots, 1)}];", *(f"{symbol}_{c}({passed});" for c in range(len(bodies)))]
    return "".join([*parts, _function(symbol, arguments, calls)])


def emit_sweep(symbol: str, program: Program, row_input: int = 0) -> str:
    """The C function of a whole matrix: the program, whose last input is a seed, called with each unit vector."""
    *_, n_columns = program.in_sizes
    (n_rows,) = program.out_sizes
    inputs = range(len(program.in_sizes) - 1)
    arguments = ", ".join([*(f"const double *i{k}" for k in inputs), "double *o0"])
    passed = ", ".join([*(f"i{k}" for k in inputs), "seed", f"o0 + k * {n_rows}"])
    body = [
        f"double seed[{max(n_columns, 1)}] = {{0.0}};",
        f"for (int k = 0; k < {n_columns}; k++) {{",
        f"  seed[k] = 1.0; {symbol}_column({passed}); seed[k] = 0.0;",
        "}",
    ]
    return emit_program(f"{symbol}_column", program, row_input) + _function(symbol, arguments, body)


def _function(symbol: str, arguments: str, lines: Sequence[str], kind: str = "static void") -> str:
    return f"{kind} {symbol}({arguments}) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


class _Writer:
    """The statements of one C function."""

    def __init__(self, program: Program, slots: dict[int, int], row_input: int) -> None:
        self._program, self._slots, self._row_input = program, slots, row_input
        self._known: set[int] = set()

    def compute(self, chunk: Iterable[int]) -> list[str]:
        """Statements for some nodes, each kept in the workspace if a later chunk reads it."""
        lines = []
        for number in chunk:
            lines.append(f"const double v{number} = {self._expression(self._program.nodes[number])};")
            self._known.add(number)
            if number in self._slots:
                lines.append(f"w[{self._slots[number]}] = v{number};")
        return lines

    def store_outputs(self) -> list[str]:
        """All are read before the first is written."""
        entries = [(i, k, n) for i, output in enumerate(self._program.outputs) for k, n in enumerate(output)]
        loads, stores = [], []
        for i, k, number in entries:
            value = self._value(number)
            if number not in self._known and self._program.nodes[number][0] != "const":
                loads.append(f"const double r{i}_{k} = {value};")
                value = f"r{i}_{k}"
            stores.append(f"o{i}[{k}] = {value};")
        return loads + stores

    def _value(self, number: int) -> str:
        node = self._program.nodes[number]
        if number in self._known:
            return f"v{number}"
        if node[0] == "const":
            return literal(node[1])
        if node[0] == "input":
            return f"i{node[1]}[{node[2]}]"
        return f"w[{self._slots[number]}]"

    def _expression(self, node: Node) -> str:
        op = node[0]
        if op in _TEMPLATES:
            return _TEMPLATES[op].format(*(self._value(i) for i in node[1:]))
        operand = self._value(node[2])
        if op == tables.LOCATE:
            return f"(double)locate(table_{node[1]}, {len(tables.lookup(node[1]).values)}, {operand})"
        if op == tables.GATHER:
            return f"table_{node[1]}[(size_t){operand}]"
        table = f"i{self._row_input} + {self._program.in_sizes[self._row_input]}"
        if op == tables.SEEK:
            return f"(double)seek({table}, {node[1]}, {operand})"
        width = self._program.nodes[node[2]][1]
        return f"({table})[{HEADER} + (size_t){operand} * {width} + {node[1]}]"
