"""Live model: what does a page need to simulate a scenario by itself? The module, its loader, what may be changed.

The native run beside it is rounded as WebAssembly rounds, and its digest tells a page whether the browser computes the
same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.base.waiting import told_if_slow
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Number, Scenario, Solver
from robodyn.exchange.codegen.compilers import check_module_compiler
from robodyn.exchange.codegen.model import Model, prepare_model
from robodyn.exchange.codegen.names import shown_parameters
from robodyn.exchange.codegen.web_folder import compile_web, read_loader

INITIAL = "initial."
LEAST, MOST = 0.1, 2.0
"""Ends of a slider, as parts of the number as it is described."""


@dataclass(frozen=True)
class Slider:
    """A number that a page may change.

    Attributes:
        ends: where its slider ends.
        sign: which numbers are allowed at all: "any", "not negative" or "positive".
    """

    name: str
    value: float
    unit: str
    ends: tuple[float, float]
    sign: str


@dataclass(frozen=True)
class LiveModel:
    """A scenario that a page can simulate.

    Attributes:
        run: the native run, rounded alike.
        module: WebAssembly; loader: JavaScript, a module that exports `load`.
        digest: of time and all signals of the run, see `digest_rows`.
    """

    run: Run
    module: bytes
    loader: str
    sliders: tuple[Slider, ...]
    digest: int


@told_if_slow("compiling for browsers")
def make_live(scenario: Scenario, solver: Solver | None = None, *, sliders: Sequence[str] = ()) -> LiveModel:
    """A scenario with its engine for a page.

    Args:
        sliders: patterns of the numbers that may be changed (`"*.mass"`, `"initial.elbow.position"`); all tunable ones
            by default.

    Raises:
        ModelError: with every reason why it cannot be WebAssembly, or where nothing compiles it here.
    """
    check_module_compiler()
    if isinstance(scenario, Scenario):
        scenario = _make_tunable(scenario, sliders)
    model, compiled = prepare_model(scenario, solver, {}, plain=True)
    chosen = _choose_numbers(model, sliders)
    run = simulate(compiled, model.solver)
    names = [info.name for info in model.outputs]
    rows = np.column_stack([run.time, *(run[name].values for name in names)])
    found = tuple(_make_slider(scenario, number) for number in chosen)
    return LiveModel(run, compile_web(model), read_loader(), found, digest_rows(rows))


def digest_rows(rows: np.ndarray) -> int:
    """Sum of all 32-bit words, each times its odd number, modulo 2^32: quick in any language."""
    words = np.ascontiguousarray(rows, "<f8").view("<u4").ravel()
    weights = np.arange(1, 2 * words.size, 2, dtype=np.uint64).astype(np.uint32)
    return int(np.sum(words * weights, dtype=np.uint64) & 0xFFFFFFFF)


def _make_tunable(scenario: Scenario, patterns: Sequence[str]) -> Scenario:
    """The scenario with numbers of its mechanism that may change without compiling again."""
    _check_patterns(scenario, patterns)
    machine = scenario.machine
    parts = [*([machine.mechanism] if machine.mechanism else []), *machine.coordinates]
    names = [number.name for part in parts for number in part.numbers() if _matches(number.name, patterns)]
    return replace(scenario, machine=replace(machine, tunable=(*machine.tunable, *names))) if names else scenario


def _check_patterns(scenario: Scenario, patterns: Sequence[str]) -> None:
    flaws = FlawList()
    known = [*scenario.numbers(), *(f"{INITIAL}{name}" for name in scenario.state_units())]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            flaws.add("slider", f"'{pattern}' matches no number", nearest(pattern, known))
    flaws.raise_if_any(f"page of '{scenario.name}'")


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _choose_numbers(model: Model, patterns: Sequence[str]) -> list[Number]:
    """Parameters, and start values that are asked for where starts are given."""
    system = model.system
    numbers = [system.parameters[k] for k in shown_parameters(model)]
    found = [Number(number.name, number.value, number.unit) for number in numbers]
    if not patterns:
        return found
    if system.scenario.initialisation == "given":
        found += [Number(f"{INITIAL}{state.name}", state.start, state.unit) for state in system.states]
    chosen = [number for number in found if _matches(number.name, patterns)]
    flaws = FlawList()
    for pattern in patterns:
        if not any(fnmatchcase(number.name, pattern) for number in chosen):
            what = f"'{pattern}' matches no number that can change without compiling again"
            flaws.add("slider", what, "numbers of blocks, loads and the mechanism, and given start values, can")
    flaws.raise_if_any(f"page of '{system.scenario.name}'")
    return chosen


def _make_slider(scenario: Scenario, number: Number) -> Slider:
    """Ends and sign as the scenario allows them, tried one number at a time."""
    value = number.value
    sign = "any" if _allows(scenario, number.name, -abs(value) or -1.0) else "not negative"
    if sign != "any" and not _allows(scenario, number.name, 0.0):
        sign = "positive"
    ends = sorted((LEAST * value, MOST * value)) if value else [0.0 if sign != "any" else -1.0, 1.0]
    low, high = (end if _allows(scenario, number.name, end) else value for end in ends)
    return Slider(number.name, value, number.unit, (low, high), sign)


def _allows(scenario: Scenario, name: str, value: float) -> bool:
    try:
        scenario.with_numbers({name: value})
    except ModelError:
        return False
    return True
