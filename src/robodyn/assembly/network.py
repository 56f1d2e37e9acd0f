"""In which order do signals depend on each other? Definitions are resolved into global symbols, loops are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import casadi as ca

from robodyn.errors import FlawList, nearest


@dataclass(frozen=True)
class SignalInfo:
    """Name, unit, kind ("continuous" or "held") of a signal, and the signal that is its time derivative."""

    name: str
    unit: str
    kind: str = "continuous"
    rate: str | None = None


@dataclass(frozen=True)
class Definition:
    """Signals defined together by expressions in global symbols and in placeholders for other signals.

    Attributes:
        outputs: signal -> expression.
        bindings: placeholder symbol's name -> (placeholder, signal it stands for, path for messages).
    """

    outputs: Mapping[str, ca.SX]
    bindings: Mapping[str, tuple[ca.SX, str, str]]

    @property
    def needs(self) -> list[tuple[ca.SX, str, str]]:
        """The placeholders the outputs truly depend on."""
        used = {symbol.name() for symbol in ca.symvar(ca.vertcat(*self.outputs.values()))}
        return [binding for name, binding in self.bindings.items() if name in used]


@dataclass(frozen=True)
class Visit:
    """A definition being resolved: what it needs, and what of that has not been looked at yet."""

    name: str
    definition: Definition
    needs: list[tuple[ca.SX, str, str]]
    waiting: Iterator[str]


@dataclass
class Network:
    """All signals of a system while it is being assembled."""

    expressions: dict[str, ca.SX] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    infos: dict[str, SignalInfo] = field(default_factory=dict)
    referred: list[Mapping[str, tuple[ca.SX, str, str]]] = field(default_factory=list)

    def add_symbol(self, info: SignalInfo, symbol: ca.SX) -> None:
        """A signal that is itself a global symbol: time, a state, memory, a delayed value."""
        self.infos[info.name] = info
        self.expressions[info.name] = symbol

    def define(self, infos: list[SignalInfo], definition: Definition) -> None:
        for info in infos:
            self.infos[info.name] = info
            self.definitions[info.name] = definition

    def refer(self, bindings: Mapping[str, tuple[ca.SX, str, str]]) -> None:
        """Note signals that something reads, so that unknown names are told."""
        self.referred.append(bindings)

    def resolve_all(self, flaws: FlawList) -> None:
        """Replace every placeholder by what it stands for, in order of dependence."""
        self._check_names(flaws)
        if flaws.found:
            return
        done: set[int] = set()
        for name in list(self.definitions):
            self._resolve(name, done, flaws)

    def _check_names(self, flaws: FlawList) -> None:
        for bindings in self.referred:
            for _, signal, path in bindings.values():
                if signal not in self.infos:
                    flaws.add(path, f"there is no signal '{signal}'", nearest(str(signal), self.infos))

    def _resolve(self, root: str, done: set[int], flaws: FlawList) -> None:
        """What a signal needs first, then the signal; without recursion, since chains of signals may be long."""
        trail: list[Visit] = []
        self._enter(root, trail, done, flaws)
        while trail:
            visit = trail[-1]
            following = next(visit.waiting, None)
            if following is not None:
                self._enter(following, trail, done, flaws)
                continue
            trail.pop()
            if id(visit.definition) not in done:
                done.add(id(visit.definition))
                self._substitute(visit.definition, visit.needs)

    def _enter(self, name: str, trail: list[Visit], done: set[int], flaws: FlawList) -> None:
        """Go into a signal's definition, unless it is done, defined elsewhere, or being resolved already: a loop."""
        definition = self.definitions.get(name)
        if definition is None or id(definition) in done:
            return
        for at, earlier in enumerate(trail):
            if earlier.definition is definition:
                cycle = " <- ".join([*(visit.name for visit in trail[at:]), name])
                flaws.add(earlier.name, f"algebraic loop: {cycle}", "break it with a state, a sampled block or a Delay")
                done.add(id(definition))
                return
        needs = definition.needs
        trail.append(Visit(name, definition, needs, iter([signal for _, signal, _ in needs])))

    def _substitute(self, definition: Definition, needs: list[tuple[ca.SX, str, str]]) -> None:
        if any(signal not in self.expressions for _, signal, _ in needs):
            return  # behind a loop that has been reported
        names, expressions = list(definition.outputs), list(definition.outputs.values())
        if needs:
            placeholders = [symbol for symbol, _, _ in needs]
            values = [self.expressions[signal] for _, signal, _ in needs]
            expressions = ca.substitute(expressions, [ca.vertcat(*placeholders)], [ca.vertcat(*values)])
        self.expressions.update(zip(names, expressions, strict=True))

    def express(self, expression: ca.SX, bindings: Mapping[str, tuple[ca.SX, str, str]]) -> ca.SX:
        """Any expression with placeholders, written in global symbols; all signals must be resolved."""
        if not bindings:
            return expression
        placeholders = ca.vertcat(*(symbol for symbol, _, _ in bindings.values()))
        values = ca.vertcat(*(self.expressions[signal] for _, signal, _ in bindings.values()))
        return ca.substitute([expression], [placeholders], [values])[0]
