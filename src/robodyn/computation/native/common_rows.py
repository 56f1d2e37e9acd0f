"""Vector code of a run's table: what is computed once for all lanes, where all of them stand at the same time?

Robots that take the same steps read the same row. What follows from it alone is then a number for all lanes instead of
one in each, read and computed once; a copy in each lane is made where it meets what differs. A function that reads rows
is written twice, for lanes at the same place and for others, and looks first where they are.
"""

from collections.abc import Iterable, Sequence

from robodyn.computation.native.instructions import Writer
from robodyn.computation.native.lanes import LaneWriter
from robodyn.computation.native.pieces import emit_function, pointers_of
from robodyn.computation.native.program import Program, operands


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
        own = node[0] == "const" or (node[0] == "input" and node[1:] in inputs)
        if own or (node[0] != "input" and all(operand in common for operand in operands(node))):
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
            self.lines.append(f"  {name}.0 = insertelement {self.real} poison, double {single}, i64 0")
            mask = f"<{self.lanes} x i32> zeroinitializer"
            self.lines.append(f"  {name} = shufflevector {self.real} {name}.0, {self.real} poison, {mask}")
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
