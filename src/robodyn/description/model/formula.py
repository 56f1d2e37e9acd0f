"""Formulas: what does `hypot(x.position, y.position) - 0.05` say? Parsed into a tree here, never run as Python.

    condition   = comparison { ("and" | "or") comparison },  with "not" before a comparison
    comparison  = sum [ ("<" | "<=" | ">" | ">=") sum ]
    sum         = product { ("+" | "-") product }
    product     = sign { ("*" | "/") sign }
    sign        = ["-" | "+"] sign | power
    power       = atom [ ("^" | "**") sign ]
    atom        = number | name | "'" name "'" | function "(" condition { "," condition } ")" | "(" condition ")"

Names are signals or parameters; one with a hyphen stands in single quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.errors import nearest
from robodyn.base.records import dataclass

LONGEST, DEEPEST, MOST_PARTS = 1000, 40, 300
"""Letters of a formula, operations within operations, and numbers, names and operations together."""
HIGHEST_POWER = 100
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*(?:\.\w+)*)|'(?P<quoted>[^']*)'"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^(),<>]))"
)
# How strongly operators between two operands bind.
BINDS = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "^": 8}
NOT, SIGN, COMPARED = 3, 7, 4
CONSTANTS = {"pi": math.pi}


class FormulaError(ValueError):
    """A formula that cannot be used: what is wrong, at which letter, and how to mend it."""

    def __init__(self, what: str, at: int, remedy: str = "") -> None:
        super().__init__(what)
        self.at = at
        self.remedy = remedy

    def tell(self, formula: str) -> str:
        """The sentence with the place in the formula."""
        rest = formula[self.at : self.at + 20]
        place = f"at letter {self.at + 1}, '{rest}'" if rest.strip() else "at its end"
        return f"{self} ({place})"


@dataclass(frozen=True)
class Constant:
    value: float
    at: int


@dataclass(frozen=True)
class Name:
    name: str
    at: int
    quoted: bool = False


@dataclass(frozen=True)
class Operation:
    """A function or an operator with its operands."""

    function: str
    operands: tuple[Node, ...]
    at: int


Node = Constant | Name | Operation


def _power(base: Any, exponent: Any) -> Any:
    return sym.power(base, exponent) if sym.is_symbolic(exponent) else base**exponent


OPERATIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "or": (2, sym.logical_or),
    "and": (2, sym.logical_and),
    "not": (1, sym.logical_not),
    "<": (2, lambda a, b: a < b),
    "<=": (2, lambda a, b: a <= b),
    ">": (2, lambda a, b: a > b),
    ">=": (2, lambda a, b: a >= b),
    "+": (2, lambda a, b: a + b),
    "-": (2, lambda a, b: a - b),
    "*": (2, lambda a, b: a * b),
    "/": (2, lambda a, b: a / b),
    "^": (2, _power),
    "negative": (1, lambda a: -a),
}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, getattr(sym, name)) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
    **{name: (1, getattr(sym, name)) for name in ("exp", "log", "sqrt", "sign", "floor", "ceil")},
    **{name: (2, getattr(sym, name)) for name in ("atan2", "hypot", "fmod")},
    "abs": (1, sym.absolute),
    "min": (2, sym.minimum),
    "max": (2, sym.maximum),
    "clip": (3, sym.clip),
    "where": (3, sym.where),
}
KNOWN = OPERATIONS | FUNCTIONS


def parse_formula(text: str) -> Node:
    """The tree of a formula.

    Raises:
        FormulaError: with the place of the first mistake.
    """
    if len(text) > LONGEST:
        raise FormulaError(f"has {len(text)} letters, at most {LONGEST} are read", 0, "part it into several signals")
    parser = _Parser(text)
    tree = parser.read(0, 0)
    if parser.kind != "end":
        raise FormulaError(f"'{parser.word}' is not expected here", parser.at)
    return tree


class _Parser:
    """Reads a formula from left to right, one word ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0
        self.n_parts = 0
        self.advance()

    def advance(self) -> None:
        """Look at the next word: its kind, the word itself and where it begins."""
        begin = len(self.text) - len(self.text[self.end :].lstrip())
        match = TOKEN.match(self.text, self.end)
        if match is None:
            if begin < len(self.text):
                raise FormulaError(f"'{self.text[begin]}' is not understood", begin)
            self.kind, self.word, self.at = "end", "", begin
            return
        self.kind, self.at, self.end = str(match.lastgroup), begin, match.end()
        self.word = match[self.kind].replace("**", "^")
        if self.kind == "name" and self.word in ("and", "or", "not"):
            self.kind = "sign"

    def take(self) -> tuple[str, int]:
        word, at = self.word, self.at
        self.advance()
        return word, at

    def expect(self, word: str, why: str) -> None:
        if self.kind != "sign" or self.word != word:
            raise FormulaError(f"'{word}' is missing {why}", self.at)
        self.advance()

    def read(self, binding: int, depth: int) -> Node:
        """What is left of the first operator that binds no stronger."""
        left = self.read_operand(depth)
        while self.kind == "sign" and BINDS.get(self.word, 0) > binding:
            word, at = self.take()
            # Powers are taken from the right, everything else from the left; comparisons are not chained.
            right = self.read(SIGN - 1 if word == "^" else BINDS[word], depth + 1)
            left = self.operation(word, (left, right), at)
            if BINDS[word] == COMPARED and BINDS.get(self.word) == COMPARED and self.kind == "sign":
                raise FormulaError("compares three values", self.at, "say a < b and b < c")
        return left

    def read_operand(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise FormulaError(f"is nested more than {DEEPEST} deep", self.at, "part it into several signals")
        if self.kind == "sign" and self.word in ("-", "+", "not"):
            word, at = self.take()
            operand = self.read(NOT if word == "not" else SIGN, depth + 1)
            names = {"-": "negative", "not": "not"}
            return operand if word == "+" else self.operation(names[word], (operand,), at)
        if self.kind == "sign" and self.word == "(":
            self.advance()
            inner = self.read(0, depth + 1)
            self.expect(")", "here")
            return inner
        return self.read_atom(depth)

    def read_atom(self, depth: int) -> Node:
        kind = self.kind
        word, at = self.take()
        self.count(at)
        if kind == "number":
            return _finite(Constant(float(word), at))
        if kind == "quoted":
            return Name(word, at, quoted=True)
        if kind != "name":
            what = f"a number, a signal or a function is expected, not '{word}'" if word else "ends here"
            raise FormulaError(what, at)
        if self.kind == "sign" and self.word == "(":
            return self.read_call(word, at, depth)
        return Constant(CONSTANTS[word], at) if word in CONSTANTS else Name(word, at)

    def read_call(self, function: str, at: int, depth: int) -> Node:
        if function not in FUNCTIONS:
            raise FormulaError(f"there is no function '{function}'", at, nearest(function, FUNCTIONS))
        self.advance()
        operands = [self.read(0, depth + 1)]
        while self.kind == "sign" and self.word == ",":
            self.advance()
            operands.append(self.read(0, depth + 1))
        self.expect(")", f"behind the arguments of {function}")
        if len(operands) != FUNCTIONS[function][0]:
            raise FormulaError(f"{function} takes {FUNCTIONS[function][0]} arguments, not {len(operands)}", at)
        return self.operation(function, tuple(operands), at)

    def operation(self, function: str, operands: tuple[Node, ...], at: int) -> Node:
        """An operation; one on numbers alone is carried out."""
        self.count(at)
        if function == "^" and isinstance(operands[1], Constant) and abs(operands[1].value) > HIGHEST_POWER:
            raise FormulaError(f"has a power above {HIGHEST_POWER}", operands[1].at)
        values = [operand.value for operand in operands if isinstance(operand, Constant)]
        if len(values) < len(operands):
            return Operation(function, operands, at)
        with np.errstate(all="ignore"):
            return _finite(Constant(float(KNOWN[function][1](*(np.float64(value) for value in values))), at))

    def count(self, at: int) -> None:
        self.n_parts += 1
        if self.n_parts > MOST_PARTS:
            raise FormulaError(f"has more than {MOST_PARTS} parts", at, "part it into several signals")


def _finite(constant: Constant) -> Constant:
    if not math.isfinite(constant.value):
        raise FormulaError("is no finite number", constant.at)
    return constant


def names_in(tree: Node) -> Iterator[Name]:
    """Every name of a formula, as often as it stands there."""
    if isinstance(tree, Name):
        yield tree
    elif isinstance(tree, Operation):
        for operand in tree.operands:
            yield from names_in(operand)


def evaluate(tree: Node, values: Mapping[str, Any]) -> Any:
    """The value of a formula, of numbers or symbols by name."""
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Name):
        return values[tree.name]
    return KNOWN[tree.function][1](*(evaluate(operand, values) for operand in tree.operands))


def rename_signals(formula: str, rename: Callable[[str], str]) -> str:
    """The same formula on signals of other names."""
    for name in sorted(names_in(parse_formula(formula)), key=lambda found: -found.at):
        fresh = rename(name.name)
        length = len(name.name) + 2 * name.quoted
        formula = formula[: name.at] + (f"'{fresh}'" if "-" in fresh else fresh) + formula[name.at + length :]
    return formula
