"""Merged contributions: which columns does the system compute, in which symbols, and which signals are held?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import casadi as ca

from robodyn.computation.assembly.accelerations import Dynamics
from robodyn.computation.assembly.constraints.solution import Residuals, express_residuals
from robodyn.computation.assembly.contribution import Context, Contribution, Deferred
from robodyn.computation.assembly.functions import Expressions, Symbols
from robodyn.computation.assembly.network import Resolved, SignalInfo


def collect_symbols(context: Context, whole: Contribution) -> Symbols:
    """The input columns of all functions."""
    named = (whole.states, whole.delays, whole.memory)
    x, d, m = (_column([whole.symbols[info.name] for info in infos]) for infos in named)
    return Symbols(context.time, x, d, m, _column(list(context.values.symbols)))


def express_columns(whole: Contribution, resolved: Resolved, dynamics: Dynamics | None) -> Expressions:
    """Every function's output column, in global symbols."""

    def express(waiting: Iterable[Deferred]) -> ca.SX:
        return _column(resolved.express(waiting))

    # Placeholders become global symbols here, everything of a kind in one substitution.
    rates = express(whole.rates[info.name] for info in whole.states)
    limits = [whole.limits[info.name] for info in whole.states if info.name in whole.limits]
    applied, of, n_q = list[Deferred](), Residuals(), 0
    if dynamics:
        applied, n_q = [Deferred(tau, dynamics.bindings) for tau in ca.vertsplit(dynamics.applied)], dynamics.n_q
        of = express_residuals(dynamics.equations, dynamics.bindings)
    return Expressions(
        rhs=rates,
        position_rate=rates[:n_q],
        outputs=_column([resolved.expressions[name] for name in whole.signals if name != "time"]),
        limits=_column([lower for lower, _ in limits] + [upper for _, upper in limits]),
        watched=express(value for _, values in whole.watched for value in values),
        delayed=express(whole.delayed),
        guards=express(value for _, value in whole.guards),
        applied=express(applied),
        constraints=express((*of.h, *of.h_dot)),
        constraint_drift=express(of.drift),
        active=express(of.active),
        projection=_act(whole, resolved, dynamics.projection) if dynamics and dynamics.projection else None,
        arguments={name: express(column) for name, column in whole.arguments.items()},
        updates={name: _update(whole, resolved, update) for name, update in whole.updates.items()},
        actions={name: _act(whole, resolved, update) for name, update in whole.actions.items()},
        problems={name: express([data]) for name, (_, data) in whole.problems.items()},
    )


def _update(whole: Contribution, resolved: Resolved, update: Mapping[str, Deferred]) -> ca.SX:
    """m after a task; what is not named stays."""
    fresh = dict(zip(update, resolved.express(update.values()), strict=True))
    return _column([fresh.get(info.name, whole.symbols[info.name]) for info in whole.memory])


def _act(whole: Contribution, resolved: Resolved, update: Mapping[str, Deferred]) -> ca.SX:
    """[x, m] after an action; what is not named stays."""
    fresh = dict(zip(update, resolved.express(update.values()), strict=True))
    return _column([fresh.get(name, whole.symbols[name]) for name in whole.targets])


def _column(entries: list[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *entries)


def describe_signals(whole: Contribution, resolved: Resolved, symbols: Symbols) -> tuple[SignalInfo, ...]:
    """All signals but the time, those that change only with memory marked as held."""
    moving = ca.vertcat(symbols.t, symbols.x, symbols.d)
    names = [name for name in whole.signals if name != "time"]
    column = _column([resolved.expressions[name] for name in names])
    changes = ca.which_depends(column, moving, 1, True) if names else []
    infos = [_with_rate(whole, whole.signals[name], resolved.expressions[name]) for name in names]
    return tuple(
        info if moves else replace(info, kind="held", rate=None) for info, moves in zip(infos, changes, strict=True)
    )


def _with_rate(whole: Contribution, info: SignalInfo, expression: ca.SX) -> SignalInfo:
    """A signal that is just a state under another name has the state's rate."""
    if info.rate is None and expression.is_symbolic() and expression.name() in whole.rates:
        return replace(info, rate=whole.signals[expression.name()].rate)
    return info
