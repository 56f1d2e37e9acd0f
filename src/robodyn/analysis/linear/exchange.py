"""Exchange with python-control and other tools of control: linear models, and plants that are not linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Scenario

from .linear_model import LinearModel, Variable
from .linearisation import find_point
from .margins import find_output
from .sampling import SampledModel, lift

# --------------------------------------------------------------------------------------------------
# Exchange with python-control: how do linear models go there and come from there?


def to_control(model: LinearModel, pade: int | None = None) -> Any:
    """A `control.StateSpace` with the model's names, dots as underscores: `elbow.position` is `elbow_position` there.

    Args:
        pade: order of the approximation of each delay; needed where there are delays.
    """
    if model.delays and pade is None:
        what = f"the model has {len(model.delays)} delays, which python-control's state space does not support"
        refuse("pade", what, "give the order of their Pade approximations", "linear model")
    control = import_control()
    finite = model if pade is None else model.with_pade(pade)
    names = _underscored(states=finite.states, inputs=finite.inputs, outputs=finite.outputs)
    return control.StateSpace(finite.A, finite.B, finite.C, finite.D, remove_useless_states=False, **names)


def _underscored(**parts: Sequence[Variable]) -> dict[str, list[str]]:
    return {part: [variable.name.replace(".", "_") for variable in variables] for part, variables in parts.items()}


def loop_to_control(model: SampledModel, signal: str, output: str | None = None) -> Any:
    """A discrete `control.StateSpace` of a sampled loop cut at a held signal, with a sample time of a cycle.

    Without an output it is the gain once round the loop, its sign turned: `control.margin` and `control.feedback` take
    it as it is. With one it is how the output follows the signal, as `respond_held` says. Where the signal is written
    several times in a cycle of all ticks there are as many inputs and outputs, one for each writing or tick (lifting).
    """
    control = import_control()
    lifted = lift(model, [signal])
    settings = {"dt": lifted.turn_time, "remove_useless_states": False}
    if output is None:
        return control.StateSpace(lifted.M, lifted.B, -lifted.C, -lifted.D, **settings)
    rows = slice(find_output(model, output), None, len(model.outputs))
    return control.StateSpace(lifted.M, lifted.B, lifted.P[rows], lifted.Q[rows], **settings)


def from_control(system: Any) -> LinearModel:
    """A linear model without delays from a continuous system of python-control (transfer functions are realised)."""
    control = import_control()
    if system.isdtime(strict=True):
        what = f"is sampled every {system.dt} s, a LinearModel is continuous"
        refuse("system", what, "give the continuous system", "linear model")
    space = control.ss(system)
    labels = (space.state_labels, space.input_labels, space.output_labels)
    states, inputs, outputs = (tuple(map(Variable, names)) for names in labels)
    return LinearModel(space.A, space.B, space.C, space.D, states=states, inputs=inputs, outputs=outputs)


def import_control() -> Any:
    """The package, or how to get it."""
    try:
        import control
    except ImportError as error:
        remedy = "pip install 'robodyn[control]'"
        raise ModelError([Flaw("", "exchange with python-control needs the package control", remedy)]) from error
    return control


# --------------------------------------------------------------------------------------------------
# State-space model with inputs, not linearised: how do tools of control take a scenario as a plant?
#
#     x' = f(t, x, u),   y = h(t, x, u)
#
# u are numbers or held signals of the scenario that the outside now decides; everything else stays as the scenario
# starts. What sampled blocks hold otherwise is held, friction that sticks is left out: it is a plant, not its
# controller.


@frozen(eq=False)
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
    start: Array
    held: Array

    def to_control(self) -> Any:
        """A `control.NonlinearIOSystem`; dots in names become underscores."""
        control = import_control()

        def call(function: ca.Function) -> Callable[..., Array]:
            return lambda t, x, u, params: np.array(function(t, x, u)).ravel()

        names = _underscored(states=self.states, inputs=self.inputs, outputs=self.output_variables)
        return control.NonlinearIOSystem(call(self.rates), call(self.outputs), name="plant", dt=0, **names)


def make_plant_model(
    what: System | Scenario,
    inputs: Sequence[str],
    outputs: Sequence[str] = (),
) -> PlantModel:
    """A scenario as a plant, everything else as it starts.

    Args:
        inputs: tunable numbers (`drive.value`), or what sampled blocks hold (`loop.torque_command`).
        outputs: signals; all states by default.
    """
    system = what if isinstance(what, System) else assemble(what)
    point = find_point(system, "start")
    memory = [info.name for info in system.memory if not info.hidden]
    chosen = tuple(outputs) or tuple(name for name in system.state_names if name in system.signal_units)
    flaws = FlawList()
    if system.delays:
        flaws.add("delays", "a state-space model has none", "leave them out, or give them to the tool")
    flaws.add_unknown(inputs, [*system.places, *memory], "is neither a tunable number nor a held signal", "inputs")
    if len(set(inputs)) < len(inputs):
        flaws.add("inputs", "one is named twice")
    flaws.add_unknown(chosen, system.signal_names, "there is no such signal", "outputs")
    flaws.raise_if_any(f"plant of '{system.scenario.name}'")
    # x' = f(t, x, u), y = g(t, x, u): inputs take the place of numbers and held signals, the rest is at the start.
    n = system.n_moving
    u, x, t = ca.SX.sym("u", len(inputs)), ca.SX.sym("x", n), ca.SX.sym("t")
    m, p = ca.SX(point.m), ca.SX(point.p)
    places = {info.name: k for k, info in enumerate(system.memory)}
    held = []
    for k, name in enumerate(inputs):
        column, place = (p, system.places[name]) if name in system.places else (m, places[name])
        held.append(float(column[place]))
        column[place] = u[k]
    at_point = (t, ca.vertcat(x, ca.SX(point.x[n:])), ca.SX(point.d), m, p)
    rates = system.casadi("rates")(*at_point)[:n]
    signals = system.casadi("outputs")(*at_point)
    rows = [system.signal_names.index(name) for name in chosen]
    units = system.signal_units | {number.name: number.unit for number in system.parameters}
    return PlantModel(
        tuple(Variable(info.name, info.unit) for info in system.states[:n]),
        tuple(Variable(name, units.get(name, "")) for name in inputs),
        tuple(Variable(name, units[name]) for name in chosen),
        ca.Function("rates", [t, x, u], [ca.densify(rates)], ["t", "x", "u"], ["rates"]),
        ca.Function("outputs", [t, x, u], [ca.densify(signals[rows])], ["t", "x", "u"], ["outputs"]),
        point.x[:n].copy(),
        np.array(held),
    )
