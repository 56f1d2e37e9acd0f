"""Numbers of a model: what can be moved, in which unit, and how far does its slider go?"""

from __future__ import annotations

import math
from typing import Any

from .model import Model, start_numbers

REACHES = {"rad": (-math.pi, math.pi), "m": (-0.1, 0.1), "kg": (0.0, 1.0), "s": (0.0, 0.1)}
"""Of a slider whose number is 0, by unit."""


def describe_numbers(model: Model) -> dict[str, Any]:
    """Every number: name, value, unit, range of its slider, and whether it can be moved without other code."""
    what, tunable = model.what, model.tunable
    # Units that follow from the joints that blocks act on are known once it is assembled.
    numbers = model.compiled.system.numbers if model.compiled else what.numbers()
    rows = [(name, number.value, number.unit) for name, number in numbers.items()]
    rows += [(name, *entry) for name, entry in start_numbers(what).items()]
    entries = [
        {"name": name, "value": value, "unit": unit, "range": slider_range(value, unit), "tunable": name in tunable}
        for name, value, unit in rows
    ]
    return {"name": what.name, "title": what.title, "duration": what.duration, "numbers": entries}


def slider_range(value: float, unit: str) -> list[float]:
    """From nothing to twice the value; about zero as far as numbers of its unit are moved."""
    if not math.isfinite(value):
        return [0.0, 1.0]
    if value == 0:
        return list(REACHES.get(unit, (-1.0, 1.0)))
    return [min(0.0, 2 * value), max(0.0, 2 * value)]
