"""Functions of a hybrid system: which columns does it compute, all from the same five inputs?

x_dot = rhs(t, x, d, m, p),    y = outputs(t, x, d, m, p),    m+ = update(t, x, d, m, p),    ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from typing import NamedTuple

from robodyn.base.lazy import ca
from robodyn.base.records import dataclass


class Symbols(NamedTuple):
    """The input columns of every function: time (1), continuous states, delayed signals, discrete memory and tunable
    parameters."""

    t: ca.SX
    x: ca.SX
    d: ca.SX
    m: ca.SX
    p: ca.SX


INPUTS = Symbols._fields


def _empty() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True)
class Expressions:
    """The output column of every function of a system, in its symbols; empty where there is nothing of a kind.

    Attributes:
        rhs: rates of the states; position_rate: the first n_q of them, for symplectic Euler.
        outputs: all signals; watched: what a run watches of itself.
        guards: one entry a guard; delayed: what is delayed; limits: all lower limits of states, then all upper ones.
        applied: joint torques without those of constraints.
        constraints: residuals h of all equations, then their rates; constraint_drift: h'' while the joints do not
            accelerate; active: which equations hold, 1 or 0.
        momentum_rate: -dE/dq, of a system in momenta.
        projection: [x, m] put back on the constraints after a step, where the constraint method does so.
        problems: data of complementarity problems that are solved before actions.
        updates: new memory m after a sampled task; actions: [x, m] after an event's action; arguments: of a call in
            Python. Several tasks or guards may share a column, so that they refer to it by its key.
    """

    rhs: ca.SX = field(default_factory=_empty)
    position_rate: ca.SX = field(default_factory=_empty)
    outputs: ca.SX = field(default_factory=_empty)
    limits: ca.SX = field(default_factory=_empty)
    watched: ca.SX = field(default_factory=_empty)
    delayed: ca.SX = field(default_factory=_empty)
    guards: ca.SX = field(default_factory=_empty)
    applied: ca.SX = field(default_factory=_empty)
    constraints: ca.SX = field(default_factory=_empty)
    constraint_drift: ca.SX = field(default_factory=_empty)
    active: ca.SX = field(default_factory=_empty)
    momentum_rate: ca.SX = field(default_factory=_empty)
    projection: ca.SX | None = None
    arguments: Mapping[str, ca.SX] = field(default_factory=dict)
    updates: Mapping[str, ca.SX] = field(default_factory=dict)
    actions: Mapping[str, ca.SX] = field(default_factory=dict)
    problems: Mapping[str, ca.SX] = field(default_factory=dict)

    def columns(self) -> dict[str, ca.SX]:
        """All columns by the names of their functions: those of single ones, then those of tasks and events."""
        single = {name: column for name, column in vars(self).items() if isinstance(column, ca.SX)}
        return {**single, **self.arguments, **self.updates, **self.problems, **self.actions}

    def with_columns(self, fresh: Mapping[str, ca.SX]) -> Expressions:
        """The same functions, some of them with other columns."""
        return self._rebuild(lambda name, column: fresh.get(name, column))

    def in_terms_of(self, change: Callable[[ca.SX], ca.SX]) -> Expressions:
        """Every column rewritten."""
        return self._rebuild(lambda name, column: change(column))

    def _rebuild(self, change: Callable[[str, ca.SX], ca.SX]) -> Expressions:
        # A field is one column, or several by key, or not there.
        new: dict[str, ca.SX | dict[str, ca.SX]] = {}
        for part in fields(self):
            old: ca.SX | Mapping[str, ca.SX] | None = vars(self)[part.name]
            if isinstance(old, Mapping):
                new[part.name] = {name: change(name, column) for name, column in old.items()}
            elif old is not None:
                new[part.name] = change(part.name, old)
        return replace(self, **new)  # type: ignore[arg-type]
