"""Laws in their place: which function does a law's name stand for, and do parameters obey the rules it states?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, nearest
from robodyn.description.laws import RULES, Argument, LawInfo, arguments_of, info_of, known_laws

from .numbers import LEAST


def find_law(law: Any) -> Callable[..., Any] | None:
    """The function a law's name stands for, or the function itself."""
    return law if callable(law) else known_laws().get(str(law))


def units_of(law: Any) -> Mapping[str, str]:
    """Units of a law's arguments and outputs, none where there is no such law."""
    function = find_law(law) if law is not None else None
    return info_of(function).units if function else {}


def check_law(flaws: FlawList, path: str, law: Any) -> list[Argument] | None:
    """The arguments of a law, None where there is no such law, or its function cannot be one."""
    function = find_law(law)
    if function is None:
        flaws.add(path, f"'{law}' is unknown", nearest(str(law), known_laws()))
        return None
    try:
        return list(arguments_of(function))
    except (TypeError, ValueError) as error:
        flaws.add(path, str(error), "write the law as a plain function with named arguments")
        return None


BELOW = {"below one": 1.0, "below two": 2.0, "below 2^31 - 1": 2.0**31 - 1}


def check_parameters(flaws: FlawList, group: str, info: LawInfo, parameters: Mapping[str, Any]) -> None:
    """Parameters obey the rules of their law, where nothing else is wrong with them."""
    good = {key: np.atleast_1d(one) for key, one in parameters.items() if not flaws.concern(f"{group}.{key}")}
    for key, rule in info.checks.items():
        if key in good:
            check_rule(flaws, f"{group}.{key}", rule, good[key], good)


def check_rule(flaws: FlawList, path: str, rule: str, values: Array, others: Mapping[str, Array]) -> None:
    """The rule of one parameter, or several separated by ", "."""
    for one in rule.split(", "):
        if one == "positive" and not np.all(values >= LEAST):
            what = "positive" if values.min() <= 0 else f"at least {LEAST:g}"
            flaws.add(path, f"must be {what}, is {values.min():g}")
        elif one == "non-negative" and not np.all(values >= 0):
            flaws.add(path, f"must not be negative, is {values.min():g}")
        elif one in BELOW and not np.all(values < BELOW[one]):
            flaws.add(path, f"must be below {BELOW[one]:.10g}, is {values.max():.10g}")
        elif one == "within 90 deg" and not np.all(np.abs(values) < np.pi / 2):
            flaws.add(path, f"must be between -90 and 90 deg, is {np.rad2deg(values[0]):g} deg")
        elif one == "below Nyquist" and "period" in others and not np.all(values < 0.5 / others["period"]):
            half = 0.5 / float(others["period"][0])
            flaws.add(path, f"must be below half the sample rate, {half:g} Hz, is {values.max():g} Hz", "sample faster")
        elif one == "whole" and not np.all(values == np.round(values)):
            flaws.add(path, f"must be a whole number, is {values.max():g}")
        elif one == "increasing" and (values.size < 2 or not np.all(np.diff(values) > 0)):
            flaws.add(path, "must have at least two values, each larger than the one before")
        elif one == "non-decreasing" and np.any(np.diff(values) < 0):
            k = int(np.flatnonzero(np.diff(values) < 0)[0])
            what = f"must not decrease, but falls from {values[k]:g} to {values[k + 1]:g}: the table is not monotonic"
            flaws.add(f"{path}[{k + 1}]", what, "sort or smooth the values")
        elif one not in RULES and one.rpartition(" ")[2] in others:
            _check_pair(flaws, path, one, values, others)


def _check_pair(flaws: FlawList, path: str, rule: str, values: Array, others: Mapping[str, Array]) -> None:
    """Rules that compare two parameters: "above lower", "as many as times"."""
    relation, _, name = rule.rpartition(" ")
    other = others[name]
    if relation == "above" and values.min() <= other.max():
        flaws.add(path, f"must be above {name} ({other[0]:g}), is {values[0]:g}")
    elif relation == "as many as" and values.size != other.size:
        flaws.add(path, f"must be as many as {name} ({other.size}), are {values.size}")
