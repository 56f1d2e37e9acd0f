"""Columns of a batch: which numbers and start values differ from run to run, and can they?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.assembly import System
from robodyn.errors import FlawList, nearest
from robodyn.results.signal import Floats

INITIAL = "initial."


@dataclass(frozen=True, eq=False)
class Columns:
    """Values of what differs, (n_runs,) each: tunable parameters, and start values of states and sampled outputs."""

    parameters: Mapping[str, Floats]
    initial: Mapping[str, Floats]
    count: int

    @property
    def inputs(self) -> dict[str, Floats]:
        """All of them, start values as `initial.<state>`."""
        return {**self.parameters, **{f"{INITIAL}{name}": values for name, values in self.initial.items()}}


def read_columns(flaws: FlawList, system: System, parameters: Mapping[str, Any], initial: Mapping[str, Any]) -> Columns:
    """Arrays by name, one number standing for all runs; every problem is noted."""
    _check_parameters(flaws, system, parameters)
    _check_initial(flaws, system, initial)
    given = {**parameters, **{f"{INITIAL}{name}": values for name, values in initial.items()}}
    arrays = {name: array for name, values in given.items() if (array := _read(flaws, name, values)) is not None}
    if not given:
        flaws.add("parameters", "nothing differs from run to run", "give an array for each number that does")
    lengths = {name: array.size for name, array in arrays.items() if array.ndim}
    count = max(lengths.values(), default=1)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"'{name}' has {size}" for name, size in lengths.items())
        flaws.add("parameters", f"arrays differ in length: {said}", "give all the same, or one number for all runs")
        return Columns({}, {}, 0)
    full = {name: np.broadcast_to(array, count) for name, array in arrays.items()}
    starts = {name.removeprefix(INITIAL): values for name, values in full.items() if name not in parameters}
    return Columns({name: values for name, values in full.items() if name in parameters}, starts, count)


def _read(flaws: FlawList, name: str, values: Any) -> Floats | None:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        flaws.add(name, f"must be an array of numbers, is {values!r}")
        return None
    if array.ndim > 1:
        flaws.add(name, f"must have one value a run, has the shape {array.shape}", "give an array of one dimension")
    elif array.size == 0:
        flaws.add(name, "has no value", "give at least one")
    elif np.isnan(array).any():
        where = int(np.flatnonzero(np.isnan(array.ravel()))[0])
        flaws.add(f"{name}[{where}]" if array.ndim else name, "must be a number, is nan", "leave this run out")
    else:
        return array
    return None


def _check_parameters(flaws: FlawList, system: System, names: Mapping[str, Any]) -> None:
    tunable = [number.name for number in system.parameters]
    mechanism = system.scenario.machine.mechanism
    declarable = {number.name for number in mechanism.numbers()} if mechanism else set()
    for name in names:
        if name in tunable:
            continue
        if name in system.numbers:
            remedy = "vary it in a sweep, which makes the code anew for each value"
            if name in declarable:
                remedy = f"declare it before it is compiled: Machine(..., tunable=['{name}'])"
            flaws.add(name, "is a constant of the native code, not tunable", remedy)
        elif name.startswith(INITIAL):
            flaws.add(name, "is a start value", f"give it as initial={{'{name.removeprefix(INITIAL)}': ...}}")
        else:
            flaws.add(name, "there is no such number", nearest(name, tunable))


def _check_initial(flaws: FlawList, system: System, names: Mapping[str, Any]) -> None:
    scenario = system.scenario
    known = [state.name for state in system.states] + [info.name for info in system.memory if not info.hidden]
    for name in names:
        if name not in known:
            flaws.add(f"{INITIAL}{name}", "there is no such state", nearest(name, known))
    if names and scenario.initialisation != "given":
        what = f"the start is searched for (initialisation = '{scenario.initialisation}')"
        flaws.add("initial", what, "let the scenario's initialisation be 'given'")
    elif names and scenario.machine.all_constraints:
        what = "constraints decide which start values go together, and are assembled for one start"
        flaws.add("initial", what, "vary them in a sweep, which assembles each")
