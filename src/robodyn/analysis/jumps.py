"""Discontinuities: which blocks jump when a signal changes a little, so that derivatives do not see where they lead?

Every law is traced by itself, and its graph is searched for functions that may jump. A staircase that climbs with its
argument, such as a quantiser, has a mean slope, which derivatives take (`symbolic.staircases`). Whether anything else
jumps is tried: along straight lines through the space of a law's arguments changes of outputs are bisected, and one
that does not shrink with the distance is a jump.

What events locate, time alone switches, or the friction of a joint at rest holds is no such jump: the engine ends a
step there, and sensitivities know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.base.symbolic import to_column
from robodyn.base.symbolic.staircases import STAIRCASES, find_jumps, smooth_staircases
from robodyn.computation.assembly import System
from robodyn.computation.assembly.system import Expressions
from robodyn.computation.assembly.tracing import trace_law
from robodyn.computation.native import compile_kernels, read_program
from robodyn.computation.native.program import RUN_TIME
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block, FormulaSignal, Scenario
from robodyn.description.model.formula import evaluate

from .model_stand_in import stand_in

LOOKS, LINES, PARTS, HALVINGS = 6, 10, 8, 32
"""Looks at straight lines, how many at a time, parts in which each is looked at, and halvings of each part."""
SHRUNK = 1e-3
"""Share of a change that remains after the halvings: a slope leaves 2^-32, a root 2^-16, a jump all of it."""
CHANGED = 1e-9
"""Share of an output's largest value that is more than rounding."""
POINTS = 8
"""Places at which slopes are compared."""


Values = Callable[[Array], Array]
Outputs = Callable[[Array, Array], Array]


@frozen
class Jump:
    """A block that jumps: by which functions, and whether as a staircase that has a mean slope."""

    block: str
    functions: tuple[str, ...]
    staircase: bool


def find_block_jumps(scenario: Scenario) -> tuple[Jump, ...]:
    """The blocks of a scenario that jump with a signal they read, a state or a memory of theirs."""
    laws = _traced_laws(scenario)
    return (*_find_staircases(laws), *(jump for law in laws for jump in law.leaps))


def find_staircases(scenario: Scenario, rubs: bool = True) -> tuple[Jump, ...]:
    """Those that have steps; friction is among them where it rubs."""
    return _find_staircases(_traced_laws(scenario, rubs))


def _find_staircases(laws: Sequence[_Traced]) -> tuple[Jump, ...]:
    """Where one of them wraps, none is taken with its mean: in the graph of a system they are not distinguished."""
    jumps = [jump for law in laws for jump in law.staircases]
    together = all(jump.staircase for jump in jumps)
    return tuple(replace(jump, staircase=together) for jump in jumps)


def _traced_laws(scenario: Scenario, rubs: bool = True) -> list[_Traced]:
    blocks = [block for block in scenario.machine.all_blocks if block.native and not block.info.sticks]
    blocks = [block for block in blocks if rubs or not block.info.disturbance]
    return [*map(_Traced.of, blocks), *map(_Traced.of_formula, scenario.machine.signals)]


def smooth_expressions(system: System, jumps: Sequence[Jump]) -> Expressions:
    """All expressions as they are differentiated, staircases with their means."""
    if not any(jump.staircase for jump in jumps):
        return system.expressions
    moving = ca.vertcat(system.symbols.x, system.symbols.d, system.symbols.m)
    steps = {*STAIRCASES.values()}
    climbing = {k: e for k, e in system.expressions.columns().items() if find_jumps([e], moving) & steps}
    fresh = smooth_staircases(list(climbing.values()), moving)
    return system.expressions.with_columns(dict(zip(climbing, fresh, strict=True)))


def describe_staircases(jumps: Sequence[Jump]) -> str:
    """Say how staircases were treated; an empty text where there are none."""
    climbing = [jump for jump in jumps if jump.staircase]
    return f"{list_jumps(climbing)}: taken with the mean slope over its steps" if climbing else ""


def describe_leaps(jumps: Sequence[Jump]) -> str:
    """Name the jumps that slopes do not see; an empty text where there are none."""
    leaping = [jump for jump in jumps if not jump.staircase]
    return f"{list_jumps(leaping)}: may jump, which slopes do not see" if leaping else ""


def list_jumps(jumps: Sequence[Jump]) -> str:
    """Functions with the blocks they are in: "floor() in 'axis1.encoder', 'axis2.encoder'"."""
    blocks: dict[str, list[str]] = {}
    for jump in jumps:
        blocks.setdefault(", ".join(f"{name}()" for name in jump.functions), []).append(f"'{jump.block}'")
    return "; ".join(f"{functions} in {', '.join(names)}" for functions, names in blocks.items())


@frozen
class _Traced:
    """A law in symbols of the arguments that may change a little at a time, with its parameters' values."""

    block: str
    moving: ca.SX
    results: list[ca.SX]
    sizes: tuple[float, ...]

    @staticmethod
    def of(block: Block) -> _Traced:
        moving: list[ca.SX] = []
        # Parameters are numbers; what the law reads, its states and memory are symbols.
        arguments = {argument.name: _value(block, argument, moving) for argument in arguments_of(block.function)}
        trace = trace_law(block.function, arguments, {}, block.name, FlawList())
        # Sizes of its parameters say over which distances it may change.
        numbers = np.abs(np.concatenate([np.ravel(value) for value in (1.0, *block.parameters.values())]).astype(float))
        sizes = numbers[np.isfinite(numbers) & (numbers > 0)]
        results = list(trace.results.values()) if trace else []
        return _Traced(block.name, to_column(moving), results, tuple(sizes.tolist()))

    @staticmethod
    def of_formula(signal: FormulaSignal) -> _Traced:
        symbols = {name: ca.SX.sym(name) for name in signal.signals}
        result = ca.SX(evaluate(signal.tree, symbols | dict(signal.parameters)))
        sizes = [abs(value) for value in (1.0, *signal.parameters.values()) if value]
        moving = [symbol for name, symbol in symbols.items() if name != "time"]
        return _Traced(signal.name, to_column(moving), [result], tuple(sizes))

    @cached_property
    def _functions(self) -> set[str]:
        """Names of what may jump; tables that are given with a run alone are references in time, without states."""
        looked_at = bool(self.results) and not self._operations & RUN_TIME
        return find_jumps(self.results, self.moving) if looked_at else set()

    @cached_property
    def _operations(self) -> set[str]:
        column = to_column(self.results)
        inputs = to_column(ca.symvar(column))
        return {node[0] for node in read_program(ca.Function("law", [inputs], [column])).nodes}

    @property
    def staircases(self) -> list[Jump]:
        steps = self._functions & {*STAIRCASES.values()}
        return [Jump(self.block, tuple(sorted(steps)), not self._wraps)] if steps else []

    @property
    def leaps(self) -> list[Jump]:
        others = self._functions - {*STAIRCASES.values()}
        return [Jump(self.block, tuple(sorted(others)), False)] if others and self._leaps else []

    @cached_property
    def _smooth(self) -> ca.SX:
        return ca.vertcat(*smooth_staircases(self.results, self.moving))

    def _evaluate(self, expression: ca.SX) -> Values:
        """As a function of the moving arguments, a column a place; time and what events change are 1."""
        own = {self.moving[k].element_hash() for k in range(self.moving.numel())}
        rest = [symbol for symbol in ca.symvar(expression) if symbol.element_hash() not in own]
        inputs = [self.moving, to_column(rest)]
        function = ca.Function("law", inputs, [ca.densify(expression)])
        if "locate" not in self._operations:
            return lambda places: function(places, np.ones((len(rest), places.shape[1]))).full()
        # CasADi does not know the meaning of tables.
        kernel = compile_kernels({"law": function}, quick=True).kernels["law"]
        return lambda places: np.column_stack([np.array(kernel(place, np.ones(len(rest)))) for place in places.T])

    @property
    def _wraps(self) -> bool:
        """Whether some output climbs between the steps and falls back at them: x - floor(x) has no mean slope."""
        # Slopes between the steps against those of the means: where the latter vanish, the steps undo the climb.
        ends = [ca.vec(ca.densify(ca.jacobian(e, self.moving))) for e in (ca.vertcat(*self.results), self._smooth)]
        rng = np.random.default_rng(0)
        places = np.column_stack([self._draw(rng) for _ in range(POINTS)])
        between, mean = np.split(np.abs(self._evaluate(ca.vertcat(*ends))(places)), 2)
        return bool(np.any((between > 0) & (mean <= 1e-9 * between)))

    def _draw(self, rng: np.random.Generator) -> Array:
        """A place, of about the sizes of the law's parameters or of 1."""
        n = self.moving.numel()
        return rng.choice(self.sizes, size=n) * rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1, size=n)

    @property
    def _leaps(self) -> bool:
        """Whether some output jumps along one of many lines, some of them looked at together."""
        values, rng = self._evaluate(self._smooth), np.random.default_rng(1)
        return any(_any_jumps(*self._look(values, rng)) for _ in range(LOOKS))

    def _look(self, values: Values, rng: np.random.Generator) -> tuple[Outputs, Array]:
        begin, end = (np.column_stack([self._draw(rng) for _ in range(LINES)]) for _ in range(2))

        def outputs(line: Array, share: Array) -> Array:
            return values(begin[:, line] + share * (end - begin)[:, line])

        lines = np.repeat(np.arange(LINES), PARTS + 1)
        shares = np.tile(np.linspace(0.0, 1.0, PARTS + 1), LINES)
        return outputs, outputs(lines, shares).reshape(-1, LINES, PARTS + 1)


def _any_jumps(outputs: Outputs, table: Array) -> bool:
    """Whether a change within a part of a line stays when the part is halved again and again.

    Args:
        outputs: all of them at places, each given by the number of its line and the share of the way along it.
        table: their values at equal parts, (n_outputs, n_lines, n_places).
    """
    with np.errstate(invalid="ignore"):
        change = np.abs(np.diff(table, axis=2))
    # Parts of lines in which an output changes by more than rounding ...
    output, line, part = np.nonzero(change > CHANGED * np.nanmax(np.abs(table), axis=(1, 2), keepdims=True))
    low, high = part / PARTS, (part + 1) / PARTS
    below, above = table[output, line, part], table[output, line, part + 1]
    each = np.arange(len(line))
    # ... are halved towards their larger change: at a jump all of it is left, on a slope nothing.
    for _ in range(HALVINGS if len(each) else 0):
        middle = (low + high) / 2
        value = outputs(line, middle)[output, each]
        from_left = np.abs(value - below) > np.abs(above - value)
        low, below = np.where(from_left, low, middle), np.where(from_left, below, value)
        high, above = np.where(from_left, middle, high), np.where(from_left, value, above)
    return bool(np.any(np.abs(above - below) > SHRUNK * change[output, line, part]))


def _value(block: Block, argument: Any, moving: list[ca.SX]) -> Any:
    """A parameter's value, or a symbol, which moves unless it is the time or set by events."""
    source = block.source_of(argument)
    if source == "parameter":
        return block.parameters[argument.name]
    if source is None:
        return argument.default
    if source == "model":
        return stand_in(block)
    still = source == "time" or (source == "memory" and not block.sampled)

    def symbol(entry: Any) -> Any:
        if isinstance(entry, tuple | list):
            return tuple(symbol(part) for part in entry)
        if isinstance(entry, int | float):
            return float(entry)
        fresh = ca.SX.sym(argument.name)
        if not still:
            moving.append(fresh)
        return fresh

    if source == "axes":
        return symbol(stand_in(block).axes)
    return symbol(block.inputs[argument.name] if source == "input" else argument.name)
