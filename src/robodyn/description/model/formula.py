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
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from robodyn.base import FlawList, frozen, nearest
from robodyn.base import symbolic as sym
from robodyn.base.units import COHERENT, UnitError, UnitOfMeasure, known_unit, parse_unit

from .description import Description
from .fields import EMPTY, numbers, part_name, text, text_map
from .kinds import NameMap

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
        place = f"at character {self.at + 1}, '{rest}'" if rest.strip() else "at its end"
        return f"{self} ({place})"


@frozen
class Constant:
    value: float
    at: int


@frozen
class SignalName:
    name: str
    at: int
    quoted: bool = False


@frozen
class Operation:
    """A function or an operator with its operands."""

    function: str
    operands: tuple[Node, ...]
    at: int


Node = Constant | SignalName | Operation


def _power(base: Any, exponent: Any) -> Any:
    return sym.power(base, exponent) if sym.is_symbolic(exponent) else base**exponent


OPERATIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "or": (2, sym.logical_or),
    "and": (2, sym.logical_and),
    "not": (1, sym.logical_not),
    "<": (2, operator.lt),
    "<=": (2, operator.le),
    ">": (2, operator.gt),
    ">=": (2, operator.ge),
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "^": (2, _power),
    "negative": (1, operator.neg),
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
        raise FormulaError(
            f"has {len(text)} characters, at most {LONGEST} are read", 0, "split it into several signals"
        )
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
        """Read on to the first operator that binds no stronger."""
        left = self.read_operand(depth)
        while self.kind == "sign" and BINDS.get(self.word, 0) > binding:
            word, at = self.take()
            # Powers are taken from the right, everything else from the left; comparisons are not chained.
            right = self.read(SIGN - 1 if word == "^" else BINDS[word], depth + 1)
            left = self.operation(word, (left, right), at)
            if BINDS[word] == COMPARED and BINDS.get(self.word) == COMPARED and self.kind == "sign":
                raise FormulaError("compares three values", self.at, "write a < b and b < c")
        return left

    def read_operand(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise FormulaError(f"is nested more than {DEEPEST} deep", self.at, "split it into several signals")
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
            return SignalName(word, at, quoted=True)
        if kind != "name":
            what = f"a number, a signal or a function is expected, not '{word}'" if word else "ends here"
            raise FormulaError(what, at)
        if self.kind == "sign" and self.word == "(":
            return self.read_call(word, at, depth)
        return Constant(CONSTANTS[word], at) if word in CONSTANTS else SignalName(word, at)

    def read_call(self, function: str, at: int, depth: int) -> Node:
        if function not in FUNCTIONS:
            raise FormulaError(f"there is no function '{function}'", at, nearest(function, FUNCTIONS))
        self.advance()
        operands = [self.read(0, depth + 1)]
        while self.kind == "sign" and self.word == ",":
            self.advance()
            operands.append(self.read(0, depth + 1))
        self.expect(")", f"after the arguments of {function}")
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
            raise FormulaError(f"has more than {MOST_PARTS} parts", at, "split it into several signals")


def _finite(constant: Constant) -> Constant:
    if not math.isfinite(constant.value):
        raise FormulaError("is not a finite number", constant.at)
    return constant


def names_in(tree: Node) -> Iterator[SignalName]:
    """Every name of a formula, as often as it stands there."""
    if isinstance(tree, SignalName):
        yield tree
    elif isinstance(tree, Operation):
        for operand in tree.operands:
            yield from names_in(operand)


def evaluate(tree: Node, values: Mapping[str, Any]) -> Any:
    """The value of a formula, of numbers or symbols by name."""
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, SignalName):
        return values[tree.name]
    return KNOWN[tree.function][1](*(evaluate(operand, values) for operand in tree.operands))


def rename_signals(formula: str, rename: Callable[[str], str]) -> str:
    """The formula on signals of other names."""
    for name in sorted(names_in(parse_formula(formula)), key=lambda one: -one.at):
        fresh = rename(name.name)
        length = len(name.name) + 2 * name.quoted
        formula = formula[: name.at] + (f"'{fresh}'" if "-" in fresh else fresh) + formula[name.at + length :]
    return formula


# --------------------------------------------------------------------------------------------------
# Units of formulas: in which unit is the result, and are only like quantities added and compared?
#
# A number without a name takes the unit of what it is added to, and has none in a product. The radian of a product with
# other units (`radius * angle`, `torque * speed`) may be left out, as engineers do; rad/s stays no frequency.


PLAIN, RADIAN = UnitOfMeasure(), UnitOfMeasure({"rad": Fraction(1)})
ALIKE = ("+", "-", "min", "max", "clip", "hypot", "fmod", "<", "<=", ">", ">=", "atan2", "where")
KEEPS = ("negative", "abs", "floor", "ceil")
ANGLES = ("sin", "cos", "tan")
TO_ANGLES = ("asin", "acos", "atan", "atan2")
TRUTHS = ("<", "<=", ">", ">=", "and", "or", "not", "sign")
SHORT = ("N", "W", "Pa", "V")
"""Units whose names stand for longer products of the same dimension."""


@frozen
class OperandUnit:
    """The unit of a part as far as it is known: None is unknown.

    Attributes:
        free: whether it is a plain number, which takes the unit of its neighbour; composed: whether it is a product.
    """

    unit: UnitOfMeasure | None
    free: bool = False
    composed: bool = False


def infer_unit(tree: Node, units: Mapping[str, str]) -> UnitOfMeasure | None:
    """Unit of a formula's result, None where it is not known.

    Args:
        units: of signals and parameters; an empty one is unknown.

    Raises:
        FormulaError: where unlike quantities meet.
    """
    measure = _measure(tree, units)
    return None if measure.free or measure.unit is None else _simplify(measure)


def may_be_in(unit: UnitOfMeasure, declared: UnitOfMeasure) -> bool:
    """Whether a result of a unit may be said to be in another one."""
    return _alike(OperandUnit(unit, composed=True), OperandUnit(declared))


def _measure(tree: Node, units: Mapping[str, str]) -> OperandUnit:
    if isinstance(tree, Constant):
        return OperandUnit(PLAIN, free=True)
    if isinstance(tree, SignalName):
        text = units.get(tree.name, "")
        return OperandUnit(known_unit(text) if text else None)
    operands = [_measure(operand, units) for operand in tree.operands]
    function = tree.function
    if function in ALIKE:
        values = operands[1:] if function == "where" else operands
        return _result(function, _common(tree, values, units))
    if function == "^" or function == "sqrt":
        base = operands[0]
        exponent = Constant(0.5, tree.at) if tree.function == "sqrt" else tree.operands[1]
        if isinstance(exponent, Constant) and base.unit is not None:
            return replace(base, unit=base.unit ** Fraction(exponent.value).limit_denominator(100))
        _check_plain(tree, operands)
        return replace(base, free=False)
    if function == "*" or function == "/":
        return _product(function, *operands)
    if function in KEEPS:
        return operands[0]
    if function != "sign":
        _check_plain(tree, operands)
    return _result(function, OperandUnit(PLAIN))


def _result(function: str, common: OperandUnit) -> OperandUnit:
    if function in TO_ANGLES:
        return OperandUnit(RADIAN)
    return OperandUnit(PLAIN) if function in TRUTHS else common


def _common(tree: Operation, operands: list[OperandUnit], units: Mapping[str, str]) -> OperandUnit:
    """The unit that all operands share."""
    bound = [operand for operand in operands if not operand.free]
    definite = [operand for operand in bound if operand.unit is not None]
    for other in definite[1:]:
        if not _alike(definite[0], other):
            names = " and ".join(_describe_measure(operand) for operand in (definite[0], other))
            raise FormulaError(
                f"'{tree.function}' combines {names}", tree.at, "only quantities of the same kind can be combined"
            )
    if not bound:
        return operands[0]
    # A plain signal gives the unit better than a product in which a radian may be left out.
    return min(definite, key=lambda operand: operand.composed) if definite else OperandUnit(None)


def _alike(first: OperandUnit, second: OperandUnit) -> bool:
    if first.unit is None or second.unit is None or first.unit.measures_like(second.unit):
        return True
    if not (first.composed or second.composed):
        return False
    left, right = (
        {base: power for base, power in unit.dimension.items() if base != "rad"} for unit in (first.unit, second.unit)
    )
    return left == right and bool(set(left) - {"s"})


def _product(function: str, first: OperandUnit, second: OperandUnit) -> OperandUnit:
    free = first.free and second.free
    if first.unit is None or second.unit is None:
        return OperandUnit(None)
    unit = first.unit * second.unit if function == "*" else first.unit / second.unit
    return OperandUnit(unit, free, first.composed or second.composed or not (first.free or second.free))


def _check_plain(tree: Operation, operands: list[OperandUnit]) -> None:
    for measure, operand in zip(operands, tree.operands, strict=True):
        angle = tree.function in ANGLES and measure.unit is not None and measure.unit.measures_like(RADIAN)
        if measure.unit is not None and measure.unit.dimension and not angle:
            takes = "an angle" if tree.function in ANGLES else "plain numbers"
            raise FormulaError(f"'{tree.function}' takes {takes}, not {_describe_measure(measure)}", operand.at)


def _simplify(measure: OperandUnit) -> UnitOfMeasure:
    """A product's unit without radians that other units make needless, under a short name where there is one."""
    assert measure.unit is not None
    if not measure.composed:
        return measure.unit
    unit = measure.unit
    if set(unit.dimension) - {"rad", "s"}:
        unit = UnitOfMeasure({name: power for name, power in unit.powers.items() if name != "rad"})
    short = next((name for name in SHORT if COHERENT[name] == unit.dimension), None)
    return UnitOfMeasure({short: Fraction(1)}) if short and len(unit.powers) > 1 else unit


def _describe_measure(measure: OperandUnit) -> str:
    return (measure.unit.name or "a plain number") if measure.unit else "an unknown unit"


# --------------------------------------------------------------------------------------------------
# Signals by formula: a signal that is computed from others by an expression in text.


class FormulaSignal(Description):
    """A signal computed by a formula, such as `hypot(x.position, y.position) - radius`.

    Its name is the signal's: blocks, events, delays and measures read it like any other. It is continuous; a formula of
    sampled signals is held as they are. Its parameters are tunable as `<signal>.<parameter>`.
    """

    NOUN = "signal"

    name: str = part_name()
    formula: str = text(doc='of signals, parameters, `time` and `pi`: `"hypot(x.position, y.position) - radius"`')
    unit: str | None = text(
        default=None,
        doc="SI unit of the result, checked against the one that follows from the formula",
        absent="the one that follows",
    )
    parameters: Mapping[str, float] = numbers(
        "parameter_units", under="", default=EMPTY, doc="name = number, with its unit if it has one"
    )
    parameter_units: Mapping[str, str] = text_map(default=EMPTY, doc="SI units of parameters written as plain numbers")

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        names = self._check_formula(flaws)
        for key in self.parameters:
            if names and key not in names:
                flaws.add(f"parameters.{key}", "is not used in the formula", "leave it out")
            if key in FUNCTIONS or key in ("pi", "time"):
                flaws.add(f"parameters.{key}", "is the name of a function or constant", "choose another name")
        for key, unit in self.parameter_units.items():
            self._check_unit(flaws, f"parameter_units.{key}", unit)
            if key not in self.parameters:
                flaws.add(f"parameter_units.{key}", "there is no such parameter")
        if self.unit is not None:
            self._check_unit(flaws, "unit", self.unit)

    def _check_formula(self, flaws: FlawList) -> set[str]:
        try:
            names = {name.name for name in names_in(parse_formula(self.formula))}
        except FormulaError as error:
            flaws.add("formula", error.tell(self.formula), error.remedy)
            return set()
        if not names - set(self.parameters):
            flaws.add("formula", "reads no signal", "for a constant use a block with the law constant_reference")
        return names

    def _check_unit(self, flaws: FlawList, path: str, unit: str) -> None:
        try:
            measure = parse_unit(unit)
        except UnitError as error:
            flaws.add(path, str(error))
            return
        if measure.factor != 1:
            flaws.add(path, f"'{unit}' is not an SI unit; all signals are in SI", f"write '{measure.name}'")

    @cached_property
    def tree(self) -> Node:
        """The formula, parsed."""
        return parse_formula(self.formula)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals it reads."""
        names = dict.fromkeys(name.name for name in names_in(self.tree))
        return tuple(name for name in names if name not in self.parameters)

    def find_unit(self, units: Mapping[str, str]) -> str:
        """The unit that is said, or the one that follows from those of signals; empty where that is not known."""
        if self.unit is not None:
            return self.unit
        with suppress(FormulaError):
            unit = infer_unit(self.tree, {**units, **self.parameter_units})
            return unit.name or "1" if unit else ""
        return ""

    def map_names(self, change: NameMap, path: str = "") -> Self:
        """Names stand in its formula, too."""
        place = f"{path}.formula" if path else "formula"
        fresh = {signal: change(place, "signal", signal) for signal in self.signals}
        same = all(signal == name for signal, name in fresh.items())
        formula = self.formula if same else rename_signals(self.formula, lambda word: fresh.get(word, word))
        name = change(path, "part", self.name)
        return self if same and name == self.name else self.replaced(name=name, formula=formula)
