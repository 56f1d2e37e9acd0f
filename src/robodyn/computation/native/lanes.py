"""Vector code generation: how does one call compute several robots at once? Every register holds a number of each.

    void f(double** in0, ..., double* p, ..., double** out0, ...)

An input or output is given by one address a lane, so that numbers are read where they are; only the parameters, which
hardly change, stand side by side: entry k of lane l at p[k lanes + l], and behind them once the run's table.

Arithmetic is that of one robot, to the last bit: vector instructions round each lane by itself, and functions of the C
library are called lane by lane.
"""

from collections.abc import Iterable, Sequence

from .instructions import CALLS, Writer, literal
from .pieces import emit_function, pointers_of
from .program import Program, operands

AT_ONCE = frozenset(["sqrt", "fabs", "floor", "ceil", "copysign", "fmin", "fmax", "muladd"])
"""Functions that processors have for vectors; all others are called lane by lane."""


SQUARE, QUAD = 4, "<4 x double>"
"""Lanes, and entries, that are read and written together: four loads and eight shuffles transpose sixteen numbers."""


class LaneWriter(Writer):
    """The lines of one function of several lanes.

    Attributes:
        lanes: how many; parts: registers of each lane of a vector, once something asked for them.
    """

    def __init__(self, lanes: int, program: Program, slots: dict[int, int], row_input: int = 0) -> None:
        super().__init__(program, slots, row_input)
        self.lanes = lanes
        self.real, self.bit, self.whole = (f"<{lanes} x {kind}>" for kind in ("double", "i1", "i64"))
        self.true = "splat (i1 true)"
        self._parts: dict[str, list[str]] = {}
        self._bases: dict[tuple[str, int], str] = {}
        # Groups of four lanes, where there are only such, and what is known of four entries in each.
        self._groups = lanes // SQUARE if lanes % SQUARE == 0 else 0
        self._squares: dict[tuple[int, int], list[list[str]]] = {}

    def constant(self, value: float) -> str:
        return f"splat (double {literal(value)})"

    def integer(self, value: int) -> str:
        return f"splat (i64 {value})"

    def table_place(self) -> int:
        return self.lanes * super().table_place()

    def load_input(self, name: str, i: int, k: int) -> None:
        if i == self._row_input:
            self.load(name, f"%i{i}", k)
            return
        first = k - k % SQUARE
        if self._groups and first + SQUARE <= self._in_sizes[i]:
            self._unite(name, [self._column(square, k - first) for square in self._read_squares(i, first)])
            return
        self._gather(name, [(base, str(k)) for base in self.lane_bases(f"%i{i}")])

    def store_output(self, value: str, i: int, k: int) -> None:
        for lane, (part, base) in enumerate(zip(self._split(value), self.lane_bases(f"%o{i}"), strict=True)):
            place = f"%o{i}.{k}.{lane}"
            self.lines.append(f"  {place} = getelementptr double, ptr {base}, i64 {k}")
            self.lines.append(f"  store double {part}, ptr {place}")

    def store_values(self, values: Sequence[tuple[int, int, str]]) -> None:
        """Four entries in a row are written at once in each lane."""
        place = {(i, k): value for i, k, value in values}
        for i, k in [(i, k) for i, k in place if self._groups and k % SQUARE == 0]:
            rows = [place.get((i, k + n)) for n in range(SQUARE)]
            if None in rows:
                continue
            for group in range(self._groups):
                self._write_square(i, k, group, [str(row) for row in rows])
            for n in range(SQUARE):
                del place[i, k + n]
        super().store_values([(i, k, value) for (i, k), value in place.items()])

    def _read_squares(self, i: int, first: int) -> list[list[str]]:
        """Four entries of an input in each group of lanes, read at once in each lane: see `_pair`."""
        if (i, first) not in self._squares:
            name = f"%s{i}.{first}"
            for lane, base in enumerate(self.lane_bases(f"%i{i}")):
                self.lines.append(f"  {name}.p{lane} = getelementptr double, ptr {base}, i64 {first}")
                self.lines.append(f"  {name}.r{lane} = load {QUAD}, ptr {name}.p{lane}, align 8")
            rows = [f"{name}.r{lane}" for lane in range(self.lanes)]
            self._squares[i, first] = [
                self._pair(f"{name}.g{group}", rows[group * SQUARE : (group + 1) * SQUARE])
                for group in range(self._groups)
            ]
        return self._squares[i, first]

    def _write_square(self, i: int, k: int, group: int, rows: list[str]) -> None:
        """Four entries of an output in a group of lanes, written at once in each lane."""
        name = f"%q{i}.{k}.g{group}"
        pairs = self._pair(name, [self._quad(f"{name}.r{n}", row, group) for n, row in enumerate(rows)])
        for lane, base in enumerate(self.lane_bases(f"%o{i}")[group * SQUARE : (group + 1) * SQUARE]):
            at = f"{name}.at{lane}"
            self.lines.append(f"  {at}.v = {self._column(pairs, lane)}")
            self.lines.append(f"  {at} = getelementptr double, ptr {base}, i64 {k}")
            self.lines.append(f"  store {QUAD} {at}.v, ptr {at}, align 8")

    def _quad(self, name: str, value: str, group: int) -> str:
        """A group of lanes of a vector."""
        if self._groups == 1:
            return value
        places = ", ".join(f"i32 {group * SQUARE + lane}" for lane in range(SQUARE))
        self.lines.append(
            f"  {name} = shufflevector {self.real} {value}, {self.real} poison, <{SQUARE} x i32> <{places}>"
        )
        return name

    def _unite(self, name: str, columns: list[str]) -> None:
        """A vector of what each group of lanes has."""
        if len(columns) == 1:
            self.lines.append(f"  {name} = {columns[0]}")
            return
        low, high = (f"{name}.g{group}" for group in range(len(columns)))
        self.lines += [f"  {low} = {columns[0]}", f"  {high} = {columns[1]}"]
        self.lines.append(f"  {name} = {self._shuffle(low, high, range(2 * SQUARE))}")

    def _pair(self, name: str, rows: list[str]) -> list[str]:
        """The first half of the transpose of four vectors: even and odd entries of the first two, of the last two."""
        halves = [f"{name}.{half}" for half in ("even01", "odd01", "even23", "odd23")]
        for k, half in enumerate(halves):
            a, b = rows[k - k % 2 : k - k % 2 + 2]
            self.lines.append(f"  {half} = {self._shuffle(a, b, (0, 4, 2, 6) if k % 2 == 0 else (1, 5, 3, 7))}")
        return halves

    def _column(self, halves: list[str], k: int) -> str:
        """The second half: column k of the four vectors."""
        return self._shuffle(halves[k % 2], halves[2 + k % 2], (0, 1, 4, 5) if k < 2 else (2, 3, 6, 7))

    def _shuffle(self, a: str, b: str, mask: Sequence[int]) -> str:
        places = ", ".join(f"i32 {k}" for k in mask)
        return f"shufflevector {QUAD} {a}, {QUAD} {b}, <{len(mask)} x i32> <{places}>"

    def call(self, name: str, op: str, arguments: list[str]) -> None:
        if op in AT_ONCE:
            typed = ", ".join(f"{self.real} {value}" for value in arguments)
            self.lines.append(f"  {name} = call {self.real} @{vector_name(op, self.lanes)}({typed})")
            return
        function = f"@{CALLS[op]}"
        self._join(name, "double", [f"{function}({_doubles(one)})" for one in self._transposed(arguments)])

    def find(self, name: str, function: str, x: str) -> None:
        self._join(name, "i64", [f"{function}, double {part})" for part in self._split(x)])

    def read_at(self, name: str, array: str, index: str) -> None:
        self._gather(name, [(array, part) for part in self._split(index, self.whole)])

    def remainder(self, name: str, a: str, b: str) -> None:
        parts = [f"{name}.{lane}" for lane in range(self.lanes)]
        for part, (one, other) in zip(parts, self._transposed([a, b]), strict=True):
            self.lines.append(f"  {part} = frem double {one}, {other}")
        self.insert(name, "double", parts)

    def lane_bases(self, array: str) -> list[str]:
        """Registers with the address of each lane's array, loaded when first used."""
        for lane in range(self.lanes):
            if (array, lane) not in self._bases:
                base = self._bases[array, lane] = f"{array}.base{lane}"
                self.lines.append(f"  {base}.p = getelementptr ptr, ptr {array}, i64 {lane}")
                self.lines.append(f"  {base} = load ptr, ptr {base}.p")
        return [self._bases[array, lane] for lane in range(self.lanes)]

    def _split(self, value: str, kind: str | None = None) -> list[str]:
        """Each lane of a vector by itself; once, so that sine and cosine of an angle are seen to belong together."""
        if value.startswith("splat"):
            return [value[len("splat (double ") : -1]] * self.lanes
        if value not in self._parts:
            self._parts[value] = [f"{value}.part{lane}" for lane in range(self.lanes)]
            for lane, part in enumerate(self._parts[value]):
                self.lines.append(f"  {part} = extractelement {kind or self.real} {value}, i64 {lane}")
        return self._parts[value]

    def _transposed(self, values: Sequence[str]) -> list[tuple[str, ...]]:
        return list(zip(*(self._split(value) for value in values), strict=True))

    def _join(self, name: str, kind: str, calls: Sequence[str]) -> None:
        """A vector of what calls give, one a lane."""
        parts = [f"{name}.{lane}" for lane in range(self.lanes)]
        self.lines += [f"  {part} = call {kind} {call}" for part, call in zip(parts, calls, strict=True)]
        self.insert(name, kind, parts)

    def _gather(self, name: str, places: Sequence[tuple[str, str]]) -> None:
        """A vector of numbers at (array, index), one a lane."""
        parts = [f"{name}.{lane}" for lane in range(self.lanes)]
        for part, (array, index) in zip(parts, places, strict=True):
            self.lines.append(f"  {part}.p = getelementptr double, ptr {array}, i64 {index}")
            self.lines.append(f"  {part} = load double, ptr {part}.p")
        self.insert(name, "double", parts)

    def spread(self, name: str, single: str) -> None:
        """A vector of one number."""
        self.lines.append(f"  {name}.0 = insertelement {self.real} poison, double {single}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        self.lines.append(f"  {name} = shufflevector {self.real} {name}.0, {self.real} poison, {mask}")

    def insert(self, name: str, kind: str, parts: Sequence[str]) -> None:
        vector, before = f"<{self.lanes} x {kind}>", "poison"
        for lane, part in enumerate(parts):
            after = name if lane == self.lanes - 1 else f"{name}.with{lane}"
            self.lines.append(f"  {after} = insertelement {vector} {before}, {kind} {part}, i64 {lane}")
            before = after


class SideWriter(LaneWriter):
    """The lines of a function of lanes whose inputs and outputs all stand side by side, as parameters do; input 0 is
    one row of numbers for all."""

    def load_input(self, name: str, i: int, k: int) -> None:
        if i != 0:
            self.load(name, f"%i{i}", k)
            return
        self.lines.append(f"  {name}.p = getelementptr double, ptr %i0, i64 {k}")
        self.lines.append(f"  {name}.s = load double, ptr {name}.p")
        self.spread(name, f"{name}.s")

    def store_output(self, value: str, i: int, k: int) -> None:
        self.store(value, f"%o{i}", k, f"%o{i}.{k}")

    def store_values(self, values: Sequence[tuple[int, int, str]]) -> None:
        Writer.store_values(self, values)


def vector_name(operation: str, lanes: int) -> str:
    """The function of an operation on vectors."""
    return CALLS[operation].replace(".f64", f".v{lanes}f64")


def declare_vectors(lanes: int) -> str:
    """Declarations of the functions that processors have for vectors."""
    counts = {"muladd": 3, "copysign": 2, "fmin": 2, "fmax": 2}
    vector = f"<{lanes} x double>"
    return "".join(
        f"declare {vector} @{vector_name(op, lanes)}({', '.join([vector] * counts.get(op, 1))})\n"
        for op in sorted(AT_ONCE)
    )


def _doubles(values: Sequence[str]) -> str:
    return ", ".join(f"double {value}" for value in values)


# --------------------------------------------------------------------------------------------------
# Vector code of a run's table: what is computed once for all lanes, where all of them stand at the same time?
#
# Robots that take the same steps read the same row. What follows from it alone is then a number for all lanes instead
# of one in each, read and computed once; a copy in each lane is made where it meets what differs. A function that reads
# rows is written twice, for lanes at the same place and for others, and looks first where they are.


def find_common(program: Program, row_input: int) -> tuple[tuple[tuple[int, int], ...], frozenset[int]]:
    """The inputs (i, k) that decide which rows are read, none of them a parameter, and the nodes that depend on these
    alone; nothing where rows depend on other numbers."""
    needed, inputs = bytearray(len(program.nodes)), []
    for number in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[number]
        if needed[number] or node[0] == "seek":
            for operand in operands(node):
                needed[operand] = 1
            if node[0] == "input":
                inputs.append((node[1], node[2]))
    if any(i == row_input for i, _ in inputs):
        return (), frozenset()
    common: set[int] = set()
    for number, node in enumerate(program.nodes):
        is_common = node[0] == "const" or (node[0] == "input" and node[1:] in inputs)
        if is_common or (node[0] != "input" and all(operand in common for operand in operands(node))):
            common.add(number)
    return tuple(inputs), frozenset(number for number in common if program.nodes[number][0] != "const")


class CommonWriter(LaneWriter):
    """The lines of a function of lanes that all stand at the same place.

    Attributes:
        common: nodes that are one number for all lanes.
    """

    def __init__(self, lanes: int, program: Program, row_input: int, common: frozenset[int]) -> None:
        super().__init__(lanes, program, {}, row_input)
        self.common = common
        self._single = _FirstLane(self, program, row_input)

    def compute(self, chunk: Iterable[int]) -> None:
        for number in chunk:
            if number in self.common:
                self._single.compute([number])
            else:
                super().compute([number])

    def value(self, number: int) -> str:
        if number in self.common and number not in self.values:
            single, name = self._single.value(number), f"%v{number}.all"
            self.spread(name, single)
            self.values[number] = name
        return super().value(number)


class _FirstLane(Writer):
    """The lines that compute one number for all lanes, from what the first of them is given."""

    def __init__(self, of: CommonWriter, program: Program, row_input: int) -> None:
        super().__init__(program, {}, row_input)
        self.of, self.lines = of, of.lines

    def load_input(self, name: str, i: int, k: int) -> None:
        self.load(name, self.of.lane_bases(f"%i{i}")[0], k)

    def table_place(self) -> int:
        return self.of.table_place()


def emit_dispatch(symbol: str, program: Program, lanes: int, inputs: Sequence[tuple[int, int]]) -> str:
    """The function that looks whether all lanes have the same inputs, bit by bit, and calls the one for that case."""
    writer = LaneWriter(lanes, program, {})
    lines, tests = writer.lines, []
    for i, k in inputs:
        words = []
        for lane, base in enumerate(writer.lane_bases(f"%i{i}")):
            words.append(f"%x{i}.{k}.{lane}")
            lines.append(f"  {words[-1]}.p = getelementptr i64, ptr {base}, i64 {k}")
            lines.append(f"  {words[-1]} = load i64, ptr {words[-1]}.p")
        for lane in range(1, lanes):
            tests.append(f"%d{i}.{k}.{lane}")
            lines.append(f"  {tests[-1]} = xor i64 {words[0]}, {words[lane]}")
    lines.append("  %all0 = add i64 0, 0")
    lines += [f"  %all{n + 1} = or i64 %all{n}, {test}" for n, test in enumerate(tests)]
    lines.append(f"  %same = icmp eq i64 %all{len(tests)}, 0")
    lines.append("  br i1 %same, label %together, label %apart")
    for label in ("together", "apart"):
        lines += [f"{label}:", f"  call void @{symbol}.{label}({pointers_of(program)})"]
        lines += ["  br label %done"]
    return emit_function(symbol, pointers_of(program), [*lines, "done:"])
