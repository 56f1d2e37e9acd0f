"""Propagation: how is a product of a matrix and the states of one or several robots computed?

    void propagate(affine, s, A, unused, unused, out)         y = affine + A s
    void interpolate(weight, pair, unused, unused, unused, A)   A = P + w D

s holds n states and m inputs; A, and P and D one behind the other in `pair`, (n, n + m), stand column by column, each
column filled up to a multiple of eight; so does the affine part. out may be s. With several robots, entry j of all of
them stands side by side in s. Sums are made in the same order, so that one robot gets the same bits alone as among
others.
"""

from __future__ import annotations

import functools

from .machine import MachineCode, compile_objects
from .pieces import WIDE_REGISTERS, ModuleText, emit_function

WIDTH = 8
"""Numbers of a vector of rows, whatever the processor's own vectors are."""
ABREAST = 12
"""Rows, or vectors of rows, that are summed up at once: with the even and odd columns apart, 24 registers."""
_kept: list[MachineCode] = []


def padded(n: int) -> int:
    """Numbers of a column of n rows."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


def count_columns(n: int, m: int) -> int:
    """Columns that are stored: an even number."""
    return (n + m + 1) // 2 * 2


@functools.cache
def propagation_addresses(n: int, m: int, lanes: int) -> tuple[int, int]:
    """Machine addresses of both functions for n states and m inputs of so many robots."""
    names = ("propagate", "interpolate")
    _kept.append(MachineCode(compile_objects(ModuleText(emit_propagation(n, m, lanes), "")), names))
    return _kept[-1].address_of(names[0]), _kept[-1].address_of(names[1])


def emit_propagation(n: int, m: int, lanes: int) -> str:
    """LLVM text of both."""
    columns = count_columns(n, m)
    product, mean = _Lines(n, columns), _Lines(n, columns)
    if lanes == 1:
        product.propagate_one()
    else:
        product.propagate_lanes(lanes)
    mean.interpolate()
    declarations = []
    for size in {WIDTH, lanes if lanes > 1 else WIDTH}:
        vector = f"<{size} x double>"
        declarations.append(f"declare {vector} @llvm.fmuladd.v{size}f64({vector}, {vector}, {vector})")
    text = list(declarations)
    for name, body in (("propagate", product), ("interpolate", mean)):
        arguments = "ptr %i0, ptr %i1, ptr %i2, ptr %i3, ptr %i4, ptr %out"
        text.append(emit_function(name, arguments, ["entry:", *body.lines], attributes=WIDE_REGISTERS))
    return "\n".join(text)


class _Lines:
    """The lines of the function for n rows and so many columns."""

    def __init__(self, n: int, columns: int) -> None:
        self.n, self.columns, self.rows = n, columns, padded(n)
        self.lines: list[str] = []
        self._count = 0

    def add(self, instruction: str) -> str:
        """A register with what an instruction gives."""
        self._count += 1
        self.lines.append(f"  %r{self._count} = {instruction}")
        return f"%r{self._count}"

    def place(self, array: str, index: str | int) -> str:
        return self.add(f"getelementptr double, ptr {array}, i64 {index}")

    def load(self, kind: str, array: str, index: str | int) -> str:
        return self.add(f"load {kind}, ptr {self.place(array, index)}, align 8")

    def splat(self, size: int, value: str) -> str:
        """A vector of one number."""
        kind = f"<{size} x double>"
        first = self.add(f"insertelement {kind} poison, double {value}, i64 0")
        return self.add(f"shufflevector {kind} {first}, {kind} poison, <{size} x i32> zeroinitializer")

    def muladd(self, size: int, a: str, b: str, c: str) -> str:
        kind = f"<{size} x double>"
        return self.add(f"call {kind} @llvm.fmuladd.v{size}f64({kind} {a}, {kind} {b}, {kind} {c})")

    def begin_loop(self, name: str, kind: str, starts: list[str]) -> list[str]:
        """Begin a loop with a counter %name.j from 0 on; registers of what it carries, which start as given."""
        before = f"{name}.before"
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{name}", f"{name}:"]
        self.lines.append(f"  %{name}.j = phi i64 [0, %{before}], [%{name}.next, %{name}]")
        carried = [f"%{name}.c{k}" for k in range(len(starts))]
        for k, (register, start) in enumerate(zip(carried, starts, strict=True)):
            self.lines.append(f"  {register} = phi {kind} [{start}, %{before}], [%{name}.e{k}, %{name}]")
        return carried

    def end_loop(self, name: str, kind: str, ends: list[str], step: int, count: int) -> list[str]:
        """End it after so many counts; registers of what is left."""
        # Named registers: the loop's head refers to them.
        self.lines += [f"  %{name}.e{k} = select i1 true, {kind} {end}, {kind} {end}" for k, end in enumerate(ends)]
        self.lines.append(f"  %{name}.next = add i64 %{name}.j, {step}")
        self.lines.append(f"  %{name}.more = icmp ult i64 %{name}.next, {count}")
        self.lines += [f"  br i1 %{name}.more, label %{name}, label %{name}.done", f"{name}.done:"]
        return [f"%{name}.e{k}" for k in range(len(ends))]

    def interpolate(self) -> None:
        """The matrix on a piece."""
        kind, size = f"<{WIDTH} x double>", self.rows * self.columns
        weight = self.splat(WIDTH, self.load("double", "%i0", 0))
        slopes = self.place("%i1", size)
        self.begin_loop("matrix", kind, [])
        value, rate = self.load(kind, "%i1", "%matrix.j"), self.load(kind, slopes, "%matrix.j")
        entries = self.muladd(WIDTH, weight, rate, value)
        self.lines.append(f"  store {kind} {entries}, ptr {self.place('%out', '%matrix.j')}, align 8")
        self.end_loop("matrix", kind, [], WIDTH, size)

    def propagate_one(self) -> None:
        """Vectors of rows: each column times one number."""
        kind = f"<{WIDTH} x double>"
        sums: list[str] = []
        for first in range(0, self.rows, WIDTH * ABREAST):
            heads = range(first, min(first + WIDTH * ABREAST, self.rows), WIDTH)
            starts = [self.load(kind, "%i0", head) for head in heads] + ["zeroinitializer"] * len(heads)
            name = f"rows{first}"
            carried, ends = self.begin_loop(name, kind, starts), list[str]()
            for odd in (0, 1):
                j = self.add(f"add i64 %{name}.j, {odd}")
                x = self.splat(WIDTH, self.load("double", "%i1", j))
                column = self.place("%i2", self.add(f"mul i64 {j}, {self.rows}"))
                for k, head in enumerate(heads):
                    entries = self.load(kind, column, head)
                    ends.append(self.muladd(WIDTH, entries, x, carried[odd * len(heads) + k]))
            left = self.end_loop(name, kind, ends, 2, self.columns)
            even, uneven = left[: len(heads)], left[len(heads) :]
            sums += [self.add(f"fadd {kind} {a}, {b}") for a, b in zip(even, uneven, strict=True)]
        # Written after all has been read.
        for k, total in enumerate(sums):
            whole = (k + 1) * WIDTH <= self.n
            if whole:
                self.lines.append(f"  store {kind} {total}, ptr {self.place('%out', k * WIDTH)}, align 8")
            for row in range(0 if whole else self.n - k * WIDTH):
                entry = self.add(f"extractelement {kind} {total}, i64 {row}")
                self.lines.append(f"  store double {entry}, ptr {self.place('%out', k * WIDTH + row)}")

    def propagate_lanes(self, lanes: int) -> None:
        """Vectors of robots: each row is summed up, several of them at once."""
        kind, results = f"<{lanes} x double>", list[tuple[int, str]]()
        for first in range(0, self.n, ABREAST):
            rows = range(first, min(first + ABREAST, self.n))
            starts = [self.splat(lanes, self.load("double", "%i0", row)) for row in rows]
            name = f"rows{first}"
            carried, sums = self.begin_loop(name, kind, starts + ["zeroinitializer"] * len(rows)), list[str]()
            for odd in (0, 1):
                j = self.add(f"add i64 %{name}.j, {odd}")
                x = self.load(kind, "%i1", self.add(f"mul i64 {j}, {lanes}"))
                column = self.place("%i2", self.add(f"mul i64 {j}, {self.rows}"))
                for k, row in enumerate(rows):
                    entry = self.splat(lanes, self.load("double", column, row))
                    sums.append(self.muladd(lanes, entry, x, carried[odd * len(rows) + k]))
            left = self.end_loop(name, kind, sums, 2, self.columns)
            for k, row in enumerate(rows):
                total = self.add(f"fadd {kind} {left[k]}, {left[len(rows) + k]}")
                results.append((row, total))
        # Written after all has been read.
        for row, total in results:
            self.lines.append(f"  store {kind} {total}, ptr {self.place('%out', row * lanes)}, align 8")
