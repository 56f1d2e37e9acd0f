"""Tracing: what does a law say, as expressions? Each law is called once, with symbols for its arguments."""

from __future__ import annotations

import math
import os
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Mapping
from inspect import isroutine
from pathlib import Path
from typing import Any

import casadi as ca
from casadi import SX

from robodyn.base import Flaw, FlawList, frozen
from robodyn.base.symbolic import is_symbolic, to_column
from robodyn.base.symbolic.operators import speed_up_operators
from robodyn.description.laws import arguments_of

from .network import Bindings as Bindings

speed_up_operators()

INSTALLED = tuple(
    os.path.join(folder, "")
    for folder in (str(Path(__file__).parents[2]), *map(sysconfig.get_path, ("purelib", "platlib", "stdlib")))
)
"""Folders of this package and of libraries."""
FRICTION = "factor of friction"
FRICTION_FACTOR = SX.sym(f"@{FRICTION}")
"""Stands in every force of friction, for 1 or, where friction is left out, for 0: both are the same trace."""
REMEDY = "laws use robodyn.symbolic (where, minimum, ...) instead of if, max, math; or sample it with native = false"


@frozen
class LawTrace:
    """The named results of a law in terms of global symbols and placeholders for its input signals."""

    results: Mapping[str, SX]
    bindings: Bindings


def placeholder(path: str, signal: Any, bindings: Bindings) -> Any:
    """Fresh symbols that stand for a signal, or for several (a tuple)."""
    if isinstance(signal, (tuple, list)):
        return tuple(placeholder(f"{path}.{k}", entry, bindings) for k, entry in enumerate(signal))
    if isinstance(signal, (int, float)):
        return float(signal)
    # What the signal is will be known later: until then a symbol stands for it.
    symbol = SX.sym(f"@{path}")
    bindings[symbol.name()] = (symbol, signal, path)
    return symbol


def trace_law(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    bindings: Bindings,
    path: str,
    flaws: FlawList,
    single: str = "force",
) -> LawTrace | None:
    """Call a law with symbols; None and a flaw where it cannot be traced.

    Args:
        single: name of a value that is returned without one.
    """
    try:
        with warnings.catch_warnings():
            # CasADi explains at length that numpy functions work on its symbols; that they do is enough here.
            warnings.filterwarnings("ignore", category=FutureWarning, message=r"\s*casadi")
            returned = function(**arguments)
    except Exception as error:  # noqa: BLE001  whatever a user's law raises is reported as a flaw of that law
        place = _place(error)
        if isinstance(error, ValueError) and not place:  # what a law of this package has been given
            flaws.add(path, str(error))
        else:
            flaws.add(path, f"law '{_name(function)}' cannot be traced{place}: {_first_line(error)}", REMEDY)
        return None
    results: dict[str, SX] = {}
    for key, value in (returned if isinstance(returned, Mapping) else {single: returned}).items():
        flaw = _add_result(results, str(key), value)
        if flaw:
            flaws.add(path, f"law '{_name(function)}' returns {flaw}", "return numbers or expressions")
    # math.sin(symbol) gives nan without an error: it must not go unnoticed.
    if _has_nan(*results.values()):
        lost = [name for name, result in results.items() if _has_nan(result)]
        what = f"law '{_name(function)}' loses its arguments on the way to '{lost[0]}'"
        flaws.add(path, what, "functions of math turn symbols into nan: use those of robodyn.symbolic")
    return LawTrace(results, bindings)


def _has_nan(*expressions: SX) -> bool:
    """Whether expressions hold the constant nan, as `math.sin(symbol)` gives."""
    program = ca.Function("law", ca.symvar(to_column(expressions)), list(expressions))
    constants = (
        program.instruction_constant(k)
        for k in range(program.n_instructions())
        if program.instruction_id(k) == ca.OP_CONST
    )
    return any(math.isnan(constant) for constant in constants)


def _add_result(results: dict[str, SX], key: str, value: Any) -> str:
    if isinstance(value, (tuple, list)):
        flaws = [_add_result(results, f"{key}.{k}", entry) for k, entry in enumerate(value)]
        return next((flaw for flaw in flaws if flaw), "")
    if is_symbolic(value) and isinstance(value, SX) and value.shape == (1, 1):
        results[key] = ca.densify(value)
        return ""
    try:
        results[key] = SX(float(value))
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        return f"'{key}' = {value!r}, which is not a number"
    return ""


def check_arguments(function: Callable[..., Any], arguments: Mapping[str, Any], path: str) -> list[Flaw]:
    """Arguments of a guard or action that nothing supplies."""
    return [
        Flaw(f"{path}.inputs.{argument.name}", "is missing", f"the function '{_name(function)}' needs it")
        for argument in arguments_of(function)
        if argument.name not in arguments and not argument.has_default
    ]


def _name(function: Callable[..., Any]) -> str:
    return function.__name__ if isroutine(function) or isinstance(function, type) else type(function).__name__


def _place(error: Exception) -> str:
    """Line of the law, or of what it calls, at which tracing ended: the last one outside this package and libraries."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    user_frames = [frame for frame in frames if not frame.filename.startswith(INSTALLED)]
    if not user_frames:
        return ""
    line = f", `{user_frames[-1].line}`" if user_frames[-1].line else ""
    return f" ({Path(user_frames[-1].filename).name}, line {user_frames[-1].lineno}{line})"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines and "Error in" in lines[0] else (lines[0] if lines else "")
    return f"{type(error).__name__}: {text[:200]}"
