"""State-space model with inputs, not linearised: how do tools of control take a scenario as a plant?

    x' = f(t, x, u),   y = h(t, x, u)

u are numbers or held signals of the scenario that the outside now decides; everything else stays as the scenario
starts. What sampled blocks hold otherwise is held, friction that sticks is left out: it is a plant, not its controller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.linear.exchange import import_control
from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.linear.linearisation import Place, find_point
from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Scenario


@dataclass(frozen=True, eq=False)
class PlantModel:
    """A plant for controllers that others design.

    Attributes:
        rates: f, outputs: h, as CasADi functions of (t, x, u) by these names.
        start: x at first; held: u as the scenario has it.
    """

    states: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    output_variables: tuple[Variable, ...]
    rates: ca.Function
    outputs: ca.Function
    start: Floats
    held: Floats

    def to_control(self, name: str = "plant") -> Any:
        """A `control.NonlinearIOSystem`; dots in names become underscores."""
        control = import_control()

        def update(t: float, x: Floats, u: Floats, params: Mapping[str, Any]) -> Floats:
            return np.array(self.rates(t, x, u)).ravel()

        def output(t: float, x: Floats, u: Floats, params: Mapping[str, Any]) -> Floats:
            return np.array(self.outputs(t, x, u)).ravel()

        def names(variables: Sequence[Variable]) -> list[str]:
            return [variable.name.replace(".", "_") for variable in variables]

        parts = {"inputs": names(self.inputs), "outputs": names(self.output_variables), "states": names(self.states)}
        return control.NonlinearIOSystem(update, output, name=name, dt=0, **parts)


def make_plant_model(
    what: System | Scenario,
    inputs: Sequence[str],
    outputs: Sequence[str] = (),
    *,
    at: Place = "start",
    parameters: Mapping[str, float] | None = None,
) -> PlantModel:
    """A scenario as a plant.

    Args:
        inputs: tunable numbers (`drive.value`), or what sampled blocks hold (`loop.torque_command`).
        outputs: signals; all states by default.
        at: where everything else is taken from, as `linearise` takes it.
    """
    system = what if isinstance(what, System) else assemble(what)
    point = find_point(system, at, parameters)
    numbers = [number.name for number in system.parameters]
    memory = [info.name for info in system.memory if not info.hidden]
    chosen = tuple(outputs) or tuple(info.name for info in system.states if info.name in system.signal_names)
    _check(system, inputs, chosen, [*numbers, *memory])
    kept = len(system.states) - system.n_quadratures
    u, x, t = ca.SX.sym("u", len(inputs)), ca.SX.sym("x", kept), ca.SX.sym("t")
    m, p = ca.SX(point.m), ca.SX(point.p)
    places = {info.name: k for k, info in enumerate(system.memory)}
    held = []
    for k, name in enumerate(inputs):
        column, place = (p, numbers.index(name)) if name in numbers else (m, places[name])
        held.append(float(column[place]))
        column[place] = u[k]
    whole = ca.vertcat(x, ca.SX(point.x[kept:]))
    given = (t, whole, ca.SX(point.d), m, p)
    rates = system.casadi("rates")(*given)[:kept]
    signals = system.casadi("outputs")(*given)
    rows = [system.signal_names.index(name) for name in chosen]
    units = {info.name: info.unit for info in system.signals} | {n.name: n.unit for n in system.parameters}
    return PlantModel(
        tuple(Variable(info.name, info.unit) for info in system.states[:kept]),
        tuple(Variable(name, units.get(name, "")) for name in inputs),
        tuple(Variable(name, units[name]) for name in chosen),
        ca.Function("rates", [t, x, u], [ca.densify(rates)], ["t", "x", "u"], ["rates"]),
        ca.Function("outputs", [t, x, u], [ca.densify(signals[rows])], ["t", "x", "u"], ["outputs"]),
        point.x[:kept].copy(),
        np.array(held),
    )


def _check(system: System, inputs: Sequence[str], outputs: Sequence[str], known: Sequence[str]) -> None:
    flaws = FlawList()
    if system.delays:
        flaws.add("delays", "a state-space model has none", "leave them out, or give them to the tool")
    flaws.add_unknown(inputs, known, "is no tunable number and no held signal", "inputs")
    if len(set(inputs)) < len(inputs):
        flaws.add("inputs", "one is named twice")
    flaws.add_unknown(outputs, system.signal_names, "there is no such signal", "outputs")
    flaws.raise_if_any(f"plant of '{system.scenario.name}'")
