"""Units of formulas: in which unit is the result, and are only like quantities added and compared?

A number without a name takes the unit of what it is added to, and has none in a product. The radian of a product with
other units (`radius * angle`, `torque * speed`) may be left out, as engineers do; rad/s stays no frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from robodyn.base.records import dataclass
from robodyn.base.units import COHERENT, Unit, known_unit
from robodyn.description.model.formula import Constant, FormulaError, Name, Node, Operation

PLAIN, RADIAN = Unit(), Unit({"rad": Fraction(1)})
ALIKE = ("+", "-", "min", "max", "clip", "hypot", "fmod", "<", "<=", ">", ">=", "atan2", "where")
KEEPS = ("negative", "abs", "floor", "ceil")
ANGLES = ("sin", "cos", "tan")
TO_ANGLES = ("asin", "acos", "atan", "atan2")
TRUTHS = ("<", "<=", ">", ">=", "and", "or", "not", "sign")
SHORT = ("N", "W", "Pa", "V")
"""Units whose names stand for longer products of the same dimension."""


@dataclass(frozen=True)
class Measure:
    """What is known of the unit of a part: None is unknown.

    Attributes:
        free: whether it is a plain number, which takes the unit of its neighbour; composed: whether it is a product.
    """

    unit: Unit | None
    free: bool = False
    composed: bool = False


def infer_unit(tree: Node, units: Mapping[str, str]) -> Unit | None:
    """Unit of a formula's result, None where it is not known.

    Args:
        units: of signals and parameters; an empty one is unknown.

    Raises:
        FormulaError: where unlike quantities meet.
    """
    found = _measure(tree, units)
    return None if found.free or found.unit is None else _simplify(found)


def may_be_in(unit: Unit, declared: Unit) -> bool:
    """Whether a result of a unit may be said to be in another one."""
    return _alike(Measure(unit, composed=True), Measure(declared))


def _measure(tree: Node, units: Mapping[str, str]) -> Measure:
    if isinstance(tree, Constant):
        return Measure(PLAIN, free=True)
    if isinstance(tree, Name):
        text = units.get(tree.name, "")
        return Measure(known_unit(text) if text else None)
    operands = [_measure(operand, units) for operand in tree.operands]
    function = tree.function
    if function in ALIKE:
        values = operands[1:] if function == "where" else operands
        return _result(function, _common(tree, values, units))
    if function == "^" or function == "sqrt":
        return _power(tree, operands)
    if function == "*" or function == "/":
        return _product(function, *operands)
    if function in KEEPS:
        return operands[0]
    if function != "sign":
        _check_plain(tree, operands)
    return _result(function, Measure(PLAIN))


def _result(function: str, common: Measure) -> Measure:
    if function in TO_ANGLES:
        return Measure(RADIAN)
    return Measure(PLAIN) if function in TRUTHS else common


def _common(tree: Operation, operands: list[Measure], units: Mapping[str, str]) -> Measure:
    """The unit that all operands share."""
    bound = [operand for operand in operands if not operand.free]
    known = [operand for operand in bound if operand.unit is not None]
    for other in known[1:]:
        if not _alike(known[0], other):
            names = " and ".join(_told(operand) for operand in (known[0], other))
            raise FormulaError(f"'{tree.function}' brings together {names}", tree.at, "only like quantities fit")
    if not bound:
        return operands[0]
    # A plain signal gives the unit better than a product in which a radian may be left out.
    return min(known, key=lambda operand: operand.composed) if known else Measure(None)


def _alike(first: Measure, second: Measure) -> bool:
    if first.unit is None or second.unit is None or first.unit.measures_like(second.unit):
        return True
    if not (first.composed or second.composed):
        return False
    left, right = (
        {base: power for base, power in unit.dimension.items() if base != "rad"} for unit in (first.unit, second.unit)
    )
    return left == right and bool(set(left) - {"s"})


def _product(function: str, first: Measure, second: Measure) -> Measure:
    free = first.free and second.free
    if first.unit is None or second.unit is None:
        return Measure(None)
    unit = first.unit * second.unit if function == "*" else first.unit / second.unit
    return Measure(unit, free, first.composed or second.composed or not (first.free or second.free))


def _power(tree: Operation, operands: list[Measure]) -> Measure:
    base = operands[0]
    exponent = Constant(0.5, tree.at) if tree.function == "sqrt" else tree.operands[1]
    if isinstance(exponent, Constant) and base.unit is not None:
        return replace(base, unit=base.unit ** Fraction(exponent.value).limit_denominator(100))
    _check_plain(tree, operands)
    return replace(base, free=False)


def _check_plain(tree: Operation, operands: list[Measure]) -> None:
    for measure, operand in zip(operands, tree.operands, strict=True):
        angle = tree.function in ANGLES and measure.unit is not None and measure.unit.measures_like(RADIAN)
        if measure.unit is not None and measure.unit.dimension and not angle:
            takes = "an angle" if tree.function in ANGLES else "plain numbers"
            raise FormulaError(f"'{tree.function}' takes {takes}, not {_told(measure)}", operand.at)


def _simplify(found: Measure) -> Unit:
    """A product's unit without radians that other units make needless, under a short name where there is one."""
    assert found.unit is not None
    if not found.composed:
        return found.unit
    unit = found.unit
    if set(unit.dimension) - {"rad", "s"}:
        unit = Unit({name: power for name, power in unit.powers.items() if name != "rad"})
    short = next((name for name in SHORT if COHERENT[name] == unit.dimension), None)
    return Unit({short: Fraction(1)}) if short and len(unit.powers) > 1 else unit


def _told(measure: Measure) -> str:
    return (measure.unit.name or "a plain number") if measure.unit else "an unknown unit"
