"""Formulas: how is a node of a `Program` written as text, as a spreadsheet formula or for people to read?

A notation gives every operation a template; parentheses follow from how tightly operators bind. Spreadsheets differ
from mathematics in that a sign binds tighter than a power (-2^2 is 4), so powers take atoms only. Sums and products
keep the order of the program, so that they round alike. Truths (a < b) and numbers (1 or 0) are converted where needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from robodyn.base import frozen

from .program import Node, Program, operands

COMPARISON, SUM, SIGN, PRODUCT, POWER, ATOM = range(6)

# Spreadsheets know no infinity; this is the largest number Excel takes.
LARGEST = "9.99999999999999E+307"


class WrittenTerm(NamedTuple):
    """A piece of text: how tightly its outermost operator binds, whether it is a truth, how deep it nests."""

    text: str
    strength: int = ATOM
    truth: bool = False
    depth: int = 0


class Form(NamedTuple):
    """How an operation is written: template, its own strength, the least strength of each operand.

    Operands whose need is None are truths; `truth` says whether the result is one.
    """

    template: str
    strength: int
    needs: tuple[int | None, ...]
    truth: bool = False

    @property
    def is_call(self) -> bool:
        """Whether the form is a function of its operands."""
        return self.strength == ATOM

    def repeats(self, k: int) -> int:
        """How often operand k is written."""
        return self.template.count(f"{{{k}}}")


@frozen
class Notation:
    """A form for every operation it can write, and how truths become numbers and numbers truths.

    Attributes:
        digits: of constants; None writes them all.
    """

    forms: Mapping[str, Form]
    number: Form
    truth: Form
    digits: int | None = None


def _call(template: str, *needs: int | None, truth: bool = False) -> Form:
    return Form(template, ATOM, needs or (COMPARISON,), truth)


def _operators(times: str, over: str, space: str) -> dict[str, Form]:
    return {
        "add": Form(f"{{0}}{space}+{space}{{1}}", SUM, (SUM, PRODUCT)),
        "sub": Form(f"{{0}}{space}-{space}{{1}}", SUM, (SUM, PRODUCT)),
        "mul": Form(f"{{0}}{times}{{1}}", PRODUCT, (PRODUCT, POWER)),
        "div": Form(f"{{0}}{over}{{1}}", PRODUCT, (PRODUCT, POWER)),
        "pow": Form("{0}^{1}", POWER, (ATOM, ATOM)),
        "neg": Form("-{0}", SIGN, (ATOM,)),
        "inv": Form(f"1{over}{{0}}", PRODUCT, (POWER,)),
        "sq": Form("{0}^2", POWER, (ATOM,)),
        "twice": Form(f"2{times}{{0}}", PRODUCT, (POWER,)),
        "muladd": Form(f"{{0}}{times}{{1}}{space}+{space}{{2}}", SUM, (PRODUCT, POWER, PRODUCT)),
    }


def _comparisons(unequal: str, space: str) -> dict[str, Form]:
    signs = {"lt": "<", "le": "<=", "eq": "=", "ne": unequal}
    return {op: Form(f"{{0}}{space}{s}{space}{{1}}", COMPARISON, (SUM, SUM), True) for op, s in signs.items()}


_PLAIN = ("sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")

SPREADSHEET = Notation(
    {
        **_operators("*", "/", ""),
        **_comparisons("<>", ""),
        **{op: _call(f"{op.upper()}({{0}})") for op in (*_PLAIN, "sign", "erf")},
        "log": _call("LN({0})"),
        # Both keep their digits near 0: log(1 + x) = 2 artanh(x / (2 + x)), exp(x) - 1 = 2 exp(x/2) sinh(x/2).
        "log1p": Form("2*ATANH({0}/(2+{0}))", PRODUCT, (POWER,)),
        "expm1": Form("2*EXP({0}/2)*SINH({0}/2)", PRODUCT, (POWER,)),
        "fabs": _call("ABS({0})"),
        "floor": _call("INT({0})"),
        "ceil": Form("-INT(-{0})", SIGN, (ATOM,)),
        "fmin": _call("MIN({0},{1})", COMPARISON, COMPARISON),
        "fmax": _call("MAX({0},{1})", COMPARISON, COMPARISON),
        # MOD has the sign of the divisor, the remainder wanted here that of the dividend.
        "fmod": Form("SIGN({0})*MOD(ABS({0}),ABS({1}))", PRODUCT, (COMPARISON, COMPARISON)),
        "copysign": _call("IF({1}<0,-ABS({0}),ABS({0}))", COMPARISON, SUM),
        "hypot": _call("SQRT({0}^2+{1}^2)", ATOM, ATOM),
        # ATAN2 takes x before y and fails at the origin.
        "atan2": _call("IF(AND({0}=0,{1}=0),0,ATAN2({1},{0}))", SUM, SUM),
        "and": _call("AND({0},{1})", None, None, truth=True),
        "or": _call("OR({0},{1})", None, None, truth=True),
        "not": _call("NOT({0})", None, truth=True),
        "if_else_zero": _call("IF({0},{1},0)", None, COMPARISON),
        "select": _call("IF({0},{1},{2})", None, COMPARISON, COMPARISON),
        "locate": _call("IFERROR(MATCH({0},{table},1)-1,0)"),
        "gather": _call("INDEX({table},{0}+1)", SUM),
    },
    number=_call("IF({0},1,0)"),
    truth=Form("{0}<>0", COMPARISON, (SUM,), True),
)

READABLE = Notation(
    {
        **_operators(" * ", " / ", " "),
        **_comparisons("!=", " "),
        **{op: _call(f"{op}({{0}})") for op in (*_PLAIN, "sign", "erf", "log", "log1p", "expm1", "floor", "ceil")},
        "fabs": _call("|{0}|"),
        **{
            op: _call(f"{name}({{0}}, {{1}})", COMPARISON, COMPARISON)
            for op, name in {"fmin": "min", "fmax": "max", "fmod": "fmod"}.items()
        },
        **{op: _call(f"{op}({{0}}, {{1}})", COMPARISON, COMPARISON) for op in ("copysign", "hypot", "atan2")},
        "and": _call("({0} and {1})", None, None, truth=True),
        "or": _call("({0} or {1})", None, None, truth=True),
        "not": _call("not ({0})", None, truth=True),
        "if_else_zero": _call("({1} if {0} else 0)", None, COMPARISON),
        "select": _call("({1} if {0} else {2})", None, COMPARISON, COMPARISON),
        "locate": _call("interval({0} in {table})"),
        "gather": _call("{table}[{0}]"),
        "seek": _call("row at {0}"),
        "row": _call("column {table} of ({0})"),
    },
    number=_call("(1 if {0} else 0)"),
    truth=Form("{0} != 0", COMPARISON, (SUM,), True),
    digits=6,
)


def write_number(value: float, digits: int | None = None) -> WrittenTerm:
    """A number, by default with all its digits; an infinite one as the largest that spreadsheets know."""
    if digits is not None:
        text = f"{value:.{digits}g}"
    elif math.isinf(value):
        text = LARGEST if value > 0 else f"-{LARGEST}"
    elif value.is_integer() and abs(value) < 1e15:
        text = str(int(value))
    else:
        text = repr(value).upper()
    return WrittenTerm(text, SIGN if text.startswith("-") else ATOM)


def compose(notation: Notation, node: Node, terms: Sequence[WrittenTerm], table: str = "") -> WrittenTerm:
    """The text of an operation from those of its operands.

    Args:
        terms: of the operands; their texts hold no braces.
        table: text that stands for the table of a look-up.
    """
    return _fill(notation, notation.forms[node[0]], terms, table)


def _fill(notation: Notation, form: Form, terms: Sequence[WrittenTerm], table: str = "") -> WrittenTerm:
    fitted = [_fit(notation, term, need) for term, need in zip(terms, form.needs, strict=True)]
    text = form.template
    for k, term in enumerate(fitted):
        text = text.replace(f"{{{k}}}", term.text)
    depth = max((term.depth for term in fitted), default=0) + ("(" in form.template)
    return WrittenTerm(text.replace("{table}", table), form.strength, form.truth, depth)


def _fit(notation: Notation, term: WrittenTerm, need: int | None) -> WrittenTerm:
    """An operand as the truth or number its place wants, in parentheses where it would fall apart."""
    if need is None:
        return term if term.truth else _fill(notation, notation.truth, [term])
    if term.truth:
        term = _fill(notation, notation.number, [term._replace(truth=False)])
    return term if term.strength >= need else WrittenTerm(f"({term.text})", depth=term.depth + 1)


def as_number(notation: Notation, term: WrittenTerm) -> WrittenTerm:
    """The term as a number, ready to stand alone in a cell."""
    return _fit(notation, term, COMPARISON)


def find_unwritable(program: Program) -> Iterator[tuple[int, str]]:
    """Nodes that no spreadsheet can compute, with the reason."""
    for number, node in enumerate(program.nodes):
        if node[0] == "const" and math.isnan(node[1]):
            yield number, "holds a constant that is not a number"
        elif node[0] not in ("const", "input") and node[0] not in SPREADSHEET.forms:
            yield number, f"uses '{node[0]}', which spreadsheets do not have"
        elif any(is_infinite(program.nodes[i]) for i in operands(node)):
            yield number, f"computes '{node[0]}' of an infinite number, which spreadsheets do not have"


def is_infinite(node: Node) -> bool:
    """Whether a node is an infinite constant."""
    return node[0] == "const" and math.isinf(node[1])
