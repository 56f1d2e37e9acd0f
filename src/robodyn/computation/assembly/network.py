"""Signal network: in which order do signals depend on each other? Algebraic loops are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import FlawList, frozen, nearest
from robodyn.base import SignalInfo as SignalInfo
from robodyn.base.symbolic import to_column
from robodyn.base.symbolic.tables import substitute

Binding = tuple[SX, str, str]
Bindings = dict[str, Binding]
"""Placeholder's name -> the placeholder, the signal it stands for, and the path for messages."""


@frozen
class Definition:
    """Signals defined together by expressions in global symbols and in placeholders for other signals.

    Attributes:
        outputs: signal -> expression.
        bindings: placeholder symbol's name -> (placeholder, signal it stands for, path for messages).
    """

    outputs: Mapping[str, SX]
    bindings: Bindings


@frozen
class Deferred:
    """An expression that waits for its placeholders to be resolved."""

    expression: SX
    bindings: Bindings


@frozen
class Visit:
    """A definition being resolved: the signals it needs, and which of them have not been looked at yet."""

    name: str
    definition: Definition
    signals: list[str]
    waiting: Iterator[str]


Needs = dict[int, list[Binding]]


@frozen
class Network:
    """All signals of a system: what each means, and what it is made of.

    Attributes:
        symbols: of those that are themselves inputs of the system's functions; definitions: of the others.
        read: placeholders of signals that are read, so that unknown names are reported.
    """

    infos: Mapping[str, SignalInfo]
    symbols: Mapping[str, SX]
    definitions: Mapping[str, Definition]
    read: Sequence[Bindings]

    def resolve(self, flaws: FlawList) -> Resolved:
        """Replace every placeholder by what it stands for, in order of dependence."""
        for bindings in self.read:
            for _, signal, path in bindings.values():
                if signal not in self.infos:
                    flaws.add(path, f"there is no signal '{signal}'", suggest_signal(str(signal), self.infos))
        if flaws.found:
            return Resolved(self.symbols)
        # What each definition truly reads, by the sparsity of its expressions; then a topological order by stages.
        needs = _find_needs(list({id(d): d for d in self.definitions.values()}.values()))
        levels: dict[int, int] = {}
        stages: list[list[Definition]] = []
        for name in self.definitions:
            self._order(name, needs, levels, stages, flaws)
        expressions = dict(self.symbols)
        for stage in stages:
            expressions |= _substitute(stage, needs, expressions)
        return Resolved(expressions)

    def _order(
        self, root: str, needs: Needs, levels: dict[int, int], stages: list[list[Definition]], flaws: FlawList
    ) -> None:
        """The signals that a signal needs, then itself; without recursion, since chains of signals may be long.

        Args:
            levels: stage of each definition met so far; stages: definitions that need only those of stages before.
        """
        # Depth first, with a trail instead of a stack of calls: a definition is placed once all that it needs is, one
        # stage behind the last of these.
        trail: list[Visit] = []
        self._enter(root, trail, needs, levels, flaws)
        while trail:
            visit = trail[-1]
            following = next(visit.waiting, None)
            if following is not None:
                self._enter(following, trail, needs, levels, flaws)
                continue
            trail.pop()
            if id(visit.definition) not in levels:
                definitions = [self.definitions[signal] for signal in visit.signals if signal in self.definitions]
                level = max((levels[id(definition)] + 1 for definition in definitions), default=0)
                levels[id(visit.definition)] = level
                stages.extend([] for _ in range(len(stages), level + 1))
                stages[level].append(visit.definition)

    def _enter(self, name: str, trail: list[Visit], needs: Needs, levels: dict[int, int], flaws: FlawList) -> None:
        """Go into a signal's definition, unless it is done, defined elsewhere, or being resolved already: a loop."""
        definition = self.definitions.get(name)
        if definition is None or id(definition) in levels:
            return
        # A definition met again on its own trail needs itself: an algebraic loop.
        for at, earlier in enumerate(trail):
            if earlier.definition is definition:
                cycle = " <- ".join([*(visit.name for visit in trail[at:]), name])
                flaws.add(earlier.name, f"algebraic loop: {cycle}", "break it with a state, a sampled block or a Delay")
                levels[id(definition)] = 0
                return
        signals = [signal for _, signal, _ in needs[id(definition)]]
        trail.append(Visit(name, definition, signals, iter(signals)))


@frozen
class Resolved:
    """Signals as expressions in global symbols."""

    expressions: Mapping[str, SX]

    def express(self, waiting: Iterable[Deferred]) -> list[SX]:
        """Expressions in global symbols; what they share stays shared."""
        waiting = list(waiting)
        bindings = _all_of([one.bindings for one in waiting])
        return _replace([one.expression for one in waiting], bindings, self.expressions)


def _substitute(stage: list[Definition], needs: Needs, signals: Mapping[str, SX]) -> dict[str, SX]:
    """All definitions of a stage at once: what they share stays shared."""
    # One substitution a stage: CasADi copies what it substitutes into, and once is enough.
    ready = [d for d in stage if all(signal in signals for _, signal, _ in needs[id(d)])]
    outputs = {name: value for definition in ready for name, value in definition.outputs.items()}
    used = {binding[0].element_hash(): binding for definition in ready for binding in needs[id(definition)]}
    return dict(zip(outputs, _replace(list(outputs.values()), list(used.values()), signals), strict=True))


def _replace(expressions: list[SX], bindings: list[Binding], signals: Mapping[str, SX]) -> list[SX]:
    if not bindings or not expressions:
        return expressions
    placeholders = to_column(symbol for symbol, _, _ in bindings)
    return substitute(expressions, placeholders, to_column(signals[signal] for _, signal, _ in bindings))


def suggest_signal(name: str, signals: Iterable[str]) -> str:
    """A remedy for an unknown signal of a part that exists: the nearest one and all that the part has; else the
    nearest."""
    signals, part = list(signals), name
    while part:
        siblings = [signal for signal in signals if signal.startswith(f"{part}.")]
        if siblings:
            close = nearest(name[len(part) + 1 :], [signal[len(part) + 1 :] for signal in siblings])
            suggestion = f"did you mean '{part}.{close.split(chr(39))[1]}'? " if close.startswith("did") else ""
            return f"{suggestion}'{part}' has {', '.join(siblings[:12])}{', ...' if len(siblings) > 12 else ''}"
        part = part.rpartition(".")[0]
    return nearest(name, signals)


def _find_needs(definitions: list[Definition]) -> Needs:
    """The placeholders that the outputs of each definition truly depend on, by the definition's id."""
    bindings = _all_of([definition.bindings for definition in definitions])
    needs: Needs = {id(definition): [] for definition in definitions}
    if not bindings:
        return needs
    owners = np.repeat(np.arange(len(definitions)), [len(definition.outputs) for definition in definitions])
    outputs = to_column(value for definition in definitions for value in definition.outputs.values())
    # A placeholder that cancels out is no dependence, and closes no loop.
    pattern = ca.jacobian_sparsity(outputs, to_column(symbol for symbol, _, _ in bindings))
    # In long chains each signal reads all placeholders before it: there may be millions of pairs.
    columns = np.repeat(np.arange(len(bindings)), np.diff(pattern.colind()))
    pairs = np.unique(columns * len(definitions) + owners[np.array(pattern.row(), dtype=np.int64)])
    for column, owner in zip(*(pairs // len(definitions), pairs % len(definitions)), strict=True):
        needs[id(definitions[owner])].append(bindings[column])
    return needs


def _all_of(groups: list[Bindings]) -> list[Binding]:
    """Every placeholder once; the same bindings may serve many definitions."""
    distinct = {id(bindings): bindings for bindings in groups}.values()
    return list({binding[0].element_hash(): binding for bindings in distinct for binding in bindings.values()}.values())
