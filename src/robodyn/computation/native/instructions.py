"""Instruction selection: which LLVM instructions compute a node?

The meaning of every operation is that of CasADi's own evaluation: C library functions, and truths as 1.0
or 0.0, where anything but zero counts as true.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby

from robodyn.base.symbolic import tables

from .program import BINARY, Node, Program
from .rows import HEADER

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_LOGIC = {"and": "and", "or": "or"}
_INTRINSICS = ("sqrt", "exp", "log", "sin", "cos", "fabs", "floor", "ceil", "pow", "copysign")
_LIBRARY = (
    *("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("log1p", "expm1", "erf", "remainder", "hypot"),
)
LONG_RUN = 8
"""Numbers side by side that are copied by one instruction."""
ROOT_OF_HALF = struct.unpack("<q", struct.pack("<d", 0.5**0.5))[0]
"""Bits of sqrt(1/2)."""
CALLS = {
    **{name: f"llvm.{name}.f64" for name in _INTRINSICS},
    **{name: name for name in _LIBRARY},
    "fmin": "llvm.minnum.f64",
    "fmax": "llvm.maxnum.f64",
    "muladd": "llvm.fmuladd.f64",
}


def declare(operation: str) -> str:
    """Declaration of the function that an operation calls."""
    n_arguments = 3 if operation == "muladd" else 2 if operation in BINARY else 1
    arguments = ", ".join(["double"] * n_arguments)
    return f"declare double @{CALLS[operation]}({arguments}) nounwind willreturn memory(none)"


def literal(value: float) -> str:
    """A double by its bits."""
    return "0x" + struct.pack(">d", value).hex().upper()


def library_functions() -> tuple[str, ...]:
    """Names of the C library's functions that machine code may call."""
    return (*_LIBRARY, *_INTRINSICS, "sincos", "fmod", "fmin", "fmax", "fma", "memcpy")


class Writer:
    """The lines of one function, and the registers that hold nodes: as numbers, truths or indices."""

    real, bit, whole, true = "double", "i1", "i64", "true"
    """Types of what registers hold, vectors in `robodyn.computation.native.lanes`, and the true one."""

    def __init__(self, program: Program, slots: dict[int, int], row_input: int = 0) -> None:
        self.lines: list[str] = []
        self._row_input = row_input
        self._in_sizes = program.in_sizes
        self._table = ""
        self._rows: dict[int, str] = {}
        self._nodes = program.nodes
        self._slots = slots
        self.values: dict[int, str] = {}
        self.truths: dict[int, str] = {}
        self.indices: dict[int, str] = {}

    def compute(self, chunk: Iterable[int]) -> None:
        """Lines for some nodes, each saved in the workspace if a later chunk reads it."""
        nodes, slots, write = self._nodes, self._slots, self.write
        for number in chunk:
            write(number, nodes[number])
            if number in slots:
                self.store(self.value(number), "%w", slots[number], f"%s{number}")

    def store_outputs(
        self, entries: Sequence[tuple[int, int, int]], alike: int | None = None, apart: Collection[int] = ()
    ) -> None:
        """Lines that write entry k of output i from a node, for all (i, k, node).

        Args:
            alike: an input some of whose entries are at the same place in the only output.
            apart: inputs that no output may lie on.
        """

        def origin(numbered: tuple[int, tuple[int, int, int]]) -> tuple[int, int, int, int] | None:
            """The same of all entries of a run: numbers side by side in an input, and so in an output."""
            place, (i, k, number) = numbered
            node = self._nodes[number]
            stands = node[0] == "input" and (node[1] in apart or node == ("input", alike, k))
            return (i, node[1], k - place, node[2] - place) if stands else None

        values, copied, stay = [], [], []
        for source, group in groupby(enumerate(entries), origin):
            run = [entry for _, entry in group]
            if source is not None and source[1] == alike:
                stay.append(run)
            elif source is not None and self._is_long(run):
                copied.append(run)
            else:
                values += run
        # All are read before the first is written: an output may be one of the inputs.
        registers = [(i, k, self.value(number)) for i, k, number in values]
        for run in copied:
            self._copy(run)
        self.store_values(registers)
        if stay:
            # Nothing is copied onto itself.
            self.lines += [f"  %same = icmp eq ptr %o0, %i{alike}", "  br i1 %same, label %done, label %copy", "copy:"]
            for run in stay:
                if self._is_long(run):
                    self._copy(run)
                else:
                    self.store_values([(i, k, self.value(number)) for i, k, number in run])
            self.lines += ["  br label %done", "done:"]

    def _is_long(self, run: Sequence[tuple[int, int, int]]) -> bool:
        """Whether numbers side by side are copied at once: those of one robot."""
        return len(run) >= LONG_RUN and self.real == "double"

    def _copy(self, run: Sequence[tuple[int, int, int]]) -> None:
        (i, k, number), n = run[0], len(run)
        _, source, first = self._nodes[number]
        self.lines += [
            f"  %to{i}.{k} = getelementptr double, ptr %o{i}, i64 {k}",
            f"  %from{i}.{k} = getelementptr double, ptr %i{source}, i64 {first}",
            f"  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to{i}.{k}, ptr align 8 %from{i}.{k}, i64 {8 * n}, i1 0)",
        ]

    def store_values(self, values: Sequence[tuple[int, int, str]]) -> None:
        """Lines that write entry k of output i, for all (i, k, register)."""
        for i, k, value in values:
            self.store_output(value, i, k)

    def value(self, number: int) -> str:
        """A node as a double; loaded or converted at its first use in this function."""
        name = self.values.get(number)
        if name is None:
            name = self.values[number] = self._fetch(number)
        return name

    def truth(self, number: int) -> str:
        """A node as i1: whether it is not 0 (a NaN is not)."""
        # Computed at most once in a function, at its first use.
        name = self.truths.get(number)
        if name is None:
            value = self.value(number)
            name = self.truths[number] = f"%b{number}"
            self.lines.append(f"  {name} = fcmp une {self.real} {value}, {self.constant(0.0)}")
        return name

    def index(self, number: int) -> str:
        """A "locate" or "seek" node as i64."""
        name = self.indices.get(number)
        if name is None:
            value = self.value(number)
            name = self.indices[number] = f"%n{number}"
            self.lines.append(f"  {name} = fptosi {self.real} {value} to {self.whole}")
        return name

    def table(self) -> str:
        """The run's table, which stands after the parameters."""
        if not self._table:
            self._table = "%table"
            self.lines.append(f"  %table = getelementptr double, ptr %i{self._row_input}, i64 {self.table_place()}")
        return self._table

    def table_place(self) -> int:
        """How many numbers stand before the run's table."""
        return self._in_sizes[self._row_input]

    def row(self, number: int) -> str:
        """Where in that table the row begins which a "seek" node names."""
        name = self._rows.get(number)
        if name is None:
            index, width = self.index(number), self._nodes[number][1]
            name = self._rows[number] = f"%r{number}"
            self.lines.append(f"  {name}.a = mul {self.whole} {index}, {self.integer(width)}")
            self.lines.append(f"  {name} = add {self.whole} {name}.a, {self.integer(HEADER)}")
        return name

    def _fetch(self, number: int) -> str:
        node, name = self._nodes[number], f"%v{number}"
        if node[0] == "const":
            return self.constant(node[1])
        if number in self.truths:
            self.lines.append(f"  {name} = uitofp {self.bit} {self.truths[number]} to {self.real}")
        elif number in self.indices:
            self.lines.append(f"  {name} = sitofp {self.whole} {self.indices[number]} to {self.real}")
        elif node[0] == "input":
            self.load_input(name, node[1], node[2])
        else:
            self.load(name, "%w", self._slots[number])
        return name

    def constant(self, value: float) -> str:
        """A number that stands in the code."""
        return literal(value)

    def integer(self, value: int) -> str:
        """A whole number that stands in the code."""
        return str(value)

    def load_input(self, name: str, i: int, k: int) -> None:
        """Lines that read entry k of input i."""
        self.load(name, f"%i{i}", k)

    def load(self, name: str, array: str, k: int) -> None:
        self.lines.append(f"  {name}.p = getelementptr {self.real}, ptr {array}, i64 {k}")
        self.lines.append(f"  {name} = load {self.real}, ptr {name}.p, align 8")

    def store(self, value: str, array: str, k: int, place: str) -> None:
        self.lines.append(f"  {place} = getelementptr {self.real}, ptr {array}, i64 {k}")
        self.lines.append(f"  store {self.real} {value}, ptr {place}, align 8")

    def store_output(self, value: str, i: int, k: int) -> None:
        """Lines that write entry k of output i."""
        self.store(value, f"%o{i}", k, f"%o{i}.{k}")

    def call(self, name: str, op: str, arguments: list[str]) -> None:
        """The line that calls the function of an operation."""
        typed = ", ".join(f"double {value}" for value in arguments)
        self.lines.append(f"  {name} = call double @{CALLS[op]}({typed})")

    def remainder(self, name: str, a: str, b: str) -> None:
        """The line of a modulo b, as of fmod."""
        self.lines.append(f"  {name} = frem double {a}, {b}")

    def find(self, name: str, function: str, x: str) -> None:
        """The line that finds the place of x in a table; function: its name and first arguments."""
        self.lines.append(f"  {name} = call i64 {function}, double {x})")

    def read_at(self, name: str, array: str, index: str) -> None:
        """Lines that read the number of a table at an index."""
        self.lines.append(f"  {name}.p = getelementptr double, ptr {array}, i64 {index}")
        self.lines.append(f"  {name} = load double, ptr {name}.p")

    def write(self, number: int, node: Node) -> None:
        """Lines for one node."""
        op, name, known = node[0], f"%v{number}", self.values
        # One instruction, one call, or a rule of its own; truths stay i1 and indices i64 until a double is asked for.
        if op in _ARITHMETIC:
            a, b = known.get(node[1]) or self.value(node[1]), known.get(node[2]) or self.value(node[2])
            self.lines.append(f"  {name} = {_ARITHMETIC[op]} {self.real} {a}, {b}")
        elif op in CALLS:
            self.call(name, op, [known.get(i) or self.value(i) for i in node[1:]])
        else:
            _RULES[op](self, number, node)
            if number in self.truths or number in self.indices:
                return
        known[number] = name


Rule = Callable[[Writer, int, Node], None]


def _simple(template: str) -> Rule:
    def rule(writer: Writer, number: int, node: Node) -> None:
        writer.lines.append(
            template.format(r=f"%v{number}", a=writer.value(node[1]), real=writer.real, one=writer.constant(1.0))
        )

    return rule


def _fmod(writer: Writer, number: int, node: Node) -> None:
    writer.remainder(f"%v{number}", writer.value(node[1]), writer.value(node[2]))


def _sign(writer: Writer, number: int, node: Node) -> None:
    """-1 below 0, 1 above 0, else x itself: a zero keeps its sign, a NaN stays."""
    r, a, real, bit = f"%v{number}", writer.value(node[1]), writer.real, writer.bit
    writer.lines += [
        f"  {r}.p = fcmp ogt {real} {a}, {writer.constant(0.0)}",
        f"  {r}.n = fcmp olt {real} {a}, {writer.constant(0.0)}",
        f"  {r}.u = select {bit} {r}.p, {real} {writer.constant(1.0)}, {real} {a}",
        f"  {r} = select {bit} {r}.n, {real} {writer.constant(-1.0)}, {real} {r}.u",
    ]


def _comparison(writer: Writer, number: int, node: Node) -> None:
    # Ordered comparisons: with a NaN all are false but "ne".
    a, b = writer.value(node[1]), writer.value(node[2])
    writer.truths[number] = f"%b{number}"
    writer.lines.append(f"  %b{number} = fcmp {_COMPARISONS[node[0]]} {writer.real} {a}, {b}")


def _logic(writer: Writer, number: int, node: Node) -> None:
    a, b = writer.truth(node[1]), writer.truth(node[2])
    writer.truths[number] = f"%b{number}"
    writer.lines.append(f"  %b{number} = {_LOGIC[node[0]]} {writer.bit} {a}, {b}")


def _not(writer: Writer, number: int, node: Node) -> None:
    a = writer.truth(node[1])
    writer.truths[number] = f"%b{number}"
    writer.lines.append(f"  %b{number} = xor {writer.bit} {a}, {writer.true}")


def _select(writer: Writer, number: int, node: Node) -> None:
    c, a = writer.truth(node[1]), writer.value(node[2])
    b = writer.value(node[3]) if node[0] == "select" else writer.constant(0.0)
    writer.lines.append(f"  %v{number} = select {writer.bit} {c}, {writer.real} {a}, {writer.real} {b}")


def _locate(writer: Writer, number: int, node: Node) -> None:
    x, n = writer.value(node[2]), len(tables.lookup(node[1]).values)
    writer.indices[number] = f"%n{number}"
    writer.find(f"%n{number}", f"@locate(ptr @t{node[1]}, i64 {n}", x)


def _gather(writer: Writer, number: int, node: Node) -> None:
    writer.read_at(f"%v{number}", f"@t{node[1]}", writer.index(node[2]))


def _seek(writer: Writer, number: int, node: Node) -> None:
    table, x = writer.table(), writer.value(node[2])
    writer.indices[number] = f"%n{number}"
    writer.find(f"%n{number}", f"@seek(ptr {table}, i64 {node[1]}", x)


def _row(writer: Writer, number: int, node: Node) -> None:
    table, row = writer.table(), writer.row(node[2])
    writer.lines.append(f"  %v{number}.i = add {writer.whole} {row}, {writer.integer(node[1])}")
    writer.read_at(f"%v{number}", table, f"%v{number}.i")


def _power_of_two(writer: Writer, number: int, node: Node) -> None:
    """2^n for a whole number n, by its bits."""
    r, real, whole = f"%v{number}", writer.real, writer.whole
    writer.lines += [
        f"  {r}.i = fptosi {real} {writer.value(node[1])} to {whole}",
        f"  {r}.e = add {whole} {r}.i, {writer.integer(1023)}",
        f"  {r}.b = shl {whole} {r}.e, {writer.integer(52)}",
        f"  {r} = bitcast {whole} {r}.b to {real}",
    ]


def _split_bits(writer: Writer, number: int, node: Node) -> str:
    """Register of e, where x = 2^e m with sqrt(1/2) <= m < sqrt(2)."""
    r, whole = f"%v{number}", writer.whole
    writer.lines += [
        # Subtracting the bits of sqrt(1/2) rounds the exponent to the nearest: m is about 1.
        f"  {r}.x = bitcast {writer.real} {writer.value(node[1])} to {whole}",
        f"  {r}.d = sub {whole} {r}.x, {writer.integer(ROOT_OF_HALF)}",
        f"  {r}.e = ashr {whole} {r}.d, {writer.integer(52)}",
    ]
    return r


def _exponent(writer: Writer, number: int, node: Node) -> None:
    r = _split_bits(writer, number, node)
    writer.lines.append(f"  {r} = sitofp {writer.whole} {r}.e to {writer.real}")


def _mantissa(writer: Writer, number: int, node: Node) -> None:
    r = _split_bits(writer, number, node)
    writer.lines += [
        f"  {r}.s = shl {writer.whole} {r}.e, {writer.integer(52)}",
        f"  {r}.m = sub {writer.whole} {r}.x, {r}.s",
        f"  {r} = bitcast {writer.whole} {r}.m to {writer.real}",
    ]


_RULES: dict[str, Rule] = {
    "neg": _simple("  {r} = fneg {real} {a}"),
    "inv": _simple("  {r} = fdiv {real} {one}, {a}"),
    "sq": _simple("  {r} = fmul {real} {a}, {a}"),
    "twice": _simple("  {r} = fadd {real} {a}, {a}"),
    "fmod": _fmod,
    "power_of_two": _power_of_two,
    "exponent": _exponent,
    "mantissa": _mantissa,
    "sign": _sign,
    "not": _not,
    "if_else_zero": _select,
    "select": _select,
    "locate": _locate,
    "gather": _gather,
    "seek": _seek,
    "row": _row,
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(_LOGIC, _logic),
}
