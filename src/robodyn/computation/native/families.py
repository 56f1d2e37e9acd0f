"""Families of functions: which traced functions can be read and improved as one?

Functions of the same symbols share most of their graph. Read together, each shared operation is looked at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import casadi as ca

from robodyn.computation.native.program import Program, restrict
from robodyn.computation.native.reading import read_program

Inputs = list[ca.SX]


@dataclass(frozen=True)
class Family:
    """Functions of the same symbols as one.

    Attributes:
        function: with the outputs of all one after another; an input is the longest that one of them has.
        members: the functions, in order.
    """

    function: ca.Function
    members: Mapping[str, ca.Function]

    def read(self) -> Program:
        """The program of all; an error names the member."""
        try:
            return read_program(self.function)
        except ValueError:
            for member in self.members.values():
                read_program(member)
            raise

    def find_entries(self, first: Iterable[tuple[str, int]]) -> list[tuple[int, int]]:
        """Number of the first output of some functions, of those that are members, and what is said of each."""
        begins = accumulate([0, *(member.n_out() for member in self.members.values())])
        places = dict(zip(self.members, begins, strict=False))
        return [(places[name], entry) for name, entry in first if name in places]

    def split(self, whole: Program, parameter_input: int | None) -> dict[str, Program]:
        """The members' programs, from that of all, whose parameters may have become more."""
        programs, begin = {}, 0
        for name, member in self.members.items():
            end = begin + member.n_out()
            sizes = [member.nnz_in(i) if i != parameter_input else n for i, n in enumerate(whole.in_sizes)]
            programs[name] = restrict(whole, member.name(), sizes, whole.outputs[begin:end])
            begin = end
        return programs


def gather_families(
    functions: Mapping[str, ca.Function], apart: Collection[str] = (), alike: int | None = None
) -> dict[str, Family]:
    """Each function in one family, by the name of the first.

    Args:
        apart: functions with a family of their own; alike: number of the input that has the same size in all of one.
    """
    groups: dict[str, tuple[Inputs, dict[str, ca.Function]]] = {}
    for name, function in functions.items():
        own = function.sx_in() if function.is_a("SXFunction") and name not in apart else []
        for first, (shared, members) in groups.items():
            joined = _join(shared, own, alike)
            if joined:
                groups[first] = joined, members | {name: function}
                break
        else:
            groups[name] = own, {name: function}
    return {first: _make_family(*group) for first, group in groups.items()}


def _make_family(inputs: Inputs, members: dict[str, ca.Function]) -> Family:
    if len(members) == 1:
        return Family(next(iter(members.values())), members)
    # Called with its own symbols, a function gives its own expressions: what several share stays one.
    outputs = [output for member in members.values() for output in member.call(member.sx_in())]
    return Family(ca.Function("together", inputs, outputs), members)


def _join(shared: Inputs, own: Inputs, alike: int | None) -> Inputs | None:
    """The longer of each pair of inputs, where the shorter is the beginning of it; None where they differ."""
    if len(shared) != len(own) or not own:
        return None
    joined = []
    for i, pair in enumerate(zip(shared, own, strict=True)):
        short, long = sorted(pair, key=lambda column: column.numel())
        dense = short.is_dense() and long.is_dense() and short.is_column() and long.is_column()
        fits = long.numel() == short.numel() or i != alike
        # Nothing, of whatever shape, is the beginning of anything.
        begins = short.is_empty() or (dense and ca.is_equal(long[: short.numel()], short, 0))
        if not fits or not begins:
            return None
        joined.append(long)
    return joined
