"""Exchange of reduced interface models: what is each unit as the other side feels it, and how far are they apart?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.computation.cosimulation.asking import ask
from robodyn.computation.cosimulation.capabilities import GivesModels, TakesModels
from robodyn.computation.cosimulation.certificate import motion_of
from robodyn.computation.cosimulation.connection import InterfacePair, Side
from robodyn.computation.cosimulation.energy import Outputs
from robodyn.computation.cosimulation.extrapolation import Trend
from robodyn.computation.cosimulation.interface_merge import join_motions
from robodyn.computation.cosimulation.record import gap_between
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import InterfaceMotion, ReducedModel, Unit

Warn = Callable[[str, str], None]


class IllConditioned(ValueError):
    """A reduced interface model that does not exist."""

    def __init__(self, side: Side, condition: float, time: float) -> None:
        super().__init__(
            f"the reduced interface model of '{side.unit}.{side.interface.name}' broke down at {time:.6g} s: the "
            f"condition number of its mobility is {condition:.3g}, so that it has no inertia; the mechanism is in or "
            "near a singular position there: couple fewer rows, attach it through a stiffness, or make it flexible; "
            "where it is implicit, shorten the macro step"
        )


class ModelExchange:
    """The models that pass between the units.

    Attributes:
        told: of each interface pair, the gap between its sides at the last exchange and the largest condition number.
        trends: accelerations of the models sent so far, for orders above 0.
    """

    def __init__(
        self, units: Mapping[str, Unit], pairs: Sequence[InterfacePair], settings: CosimSettings, warn: Warn
    ) -> None:
        self.pairs, self.settings, self.warn = tuple(pairs), settings, warn
        self.givers = {name: unit for name, unit in units.items() if isinstance(unit, GivesModels)}
        self.takers = {name: unit for name, unit in units.items() if isinstance(unit, TakesModels)}
        self.message: dict[str, tuple[float, float]] = {pair.name: (0.0, 1.0) for pair in pairs}
        self.trends = {(pair.name, sender): Trend(pair.order) for pair in pairs for sender, _ in pair.models}
        self.speeds: dict[str, float] = {}

    def send(self, time: float, step: float, outputs: Outputs) -> None:
        """Take all reduced models first, then attach them for a macro step [s]: in parallel, as the state was."""
        for pair in self.pairs:
            if not pair.models:
                continue
            taken = {sender: self._take(pair, sender, time, step) for sender, _ in pair.models}
            motions = {k: model.motion for k, model in taken.items()}
            self.message[pair.name] = (
                _gap(pair, motions, outputs),
                max(model.condition for model in taken.values()),
            )
            # Where both sides are rigid neither leads: they go on with one motion that both models agree on, or each
            # with its own.
            merged, apart = pair.merged, pair.join == "none"
            joined = join_motions(taken[0], taken[1], pair.join) if merged and not apart else None
            for sender, receiver in pair.models:
                side = pair.sides[receiver]
                motion = joined if merged else taken[sender].motion
                trend = self.trends[pair.name, sender]
                trend.add((time, time), taken[sender].acceleration)
                further: dict[str, Any] = {"trend": trend.fit(time)[1:]} if pair.order else {}
                taker = self.takers[side.unit]
                ask(side.unit, taker.attach_model, side.interface.name, taken[sender], motion, **further)

    def _take(self, pair: InterfacePair, sender: int, time: float, step: float) -> ReducedModel:
        side = pair.sides[sender]
        further = {"step": step} if pair.implicit else {}
        model = ask(side.unit, self.givers[side.unit].reduced_model, side.interface.name, **further)
        # A receiver behind a stiffness needs the mobility alone, which always exists; a rigid one needs its inverse.
        needed = not pair.sides[1 - sender].elastic
        if needed and not model.condition <= self.settings.condition_limit:
            raise IllConditioned(side, model.condition, time)
        if needed and model.condition > self.settings.condition_warning:
            self.warn_of(side, model.condition, time)
        return model

    def warn_of(self, side: Side, condition: float, time: float) -> None:
        """A warning of a model's condition number."""
        place = f"{side.unit}.{side.interface.name}"
        self.warn(
            f"'{place}'",
            f"the mobility of '{place}' is ill-conditioned, {condition:.3g} at {time:.6g} s: what a reduced "
            "interface model gives there may be wrong",
        )

    def misses(self, outputs: Outputs, least: float) -> list[float]:
        """How far each receiver's idea of the sender's velocity is from the truth, in units of the largest so far."""
        return [self._miss(pair, way, outputs, least) for pair in self.pairs for way in pair.models]

    def _miss(self, pair: InterfacePair, way: tuple[int, int], outputs: Outputs, least: float) -> float:
        sender, receiver = (pair.sides[k] for k in way)
        true = np.array([outputs[sender.unit][name] for name in sender.interface.names("velocity")])
        expected = _expected(receiver, outputs[receiver.unit]).velocity
        largest = self.speeds[pair.name] = max(self.speeds.get(pair.name, least), float(np.max(np.abs(true))))
        return float(np.max(np.abs(true - expected))) / largest

    def save(self) -> tuple[Any, ...]:
        """All that changes and is not the largest so far."""
        return {key: trend.copy() for key, trend in self.trends.items()}, dict(self.message)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back to where `save` was called."""
        self.trends, self.message = saved


def _gap(pair: InterfacePair, motions: Mapping[int, InterfaceMotion], outputs: Outputs) -> float:
    """How far the two sides have moved apart since the last exchange."""
    gaps = []
    for sender, receiver in pair.models:
        side = pair.sides[receiver]
        gaps.append(gap_between(motions[sender], _expected(side, outputs[side.unit])))
    return max(gaps)


def _expected(side: Side, outputs: Mapping[str, float]) -> InterfaceMotion:
    """What a receiver of a model takes the motion of the other side for."""
    return motion_of(side, outputs, "far_" if side.elastic else "")
