"""State controllers: regulators and observers designed for a sampled machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, ModelError, frozen, nearest
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.system import FREE, System
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block, Scenario, StateController

from .feedback import (
    Observer,
    Parts,
    Regulator,
    SampledPlant,
    Variable,
    close_lines,
    design_kalman_filter,
    design_observer,
    design_regulator,
    hold_plant,
    join_lines,
    state_controller,
    state_observer,
)

# --------------------------------------------------------------------------------------------------
# Sampled machine: which linear model do the states that a controller has to do with follow, from sample to sample?
#
# At the operating point, with the commands u that keep it best,
#
#     x' = A (x - x0) + B (u - u0),   y - y0 = C (x - x0)
#
# by exact derivatives of the machine without the controller, sampled with a hold and a delay. For each pure delay of
# the machine stand states of its Pade approximation, which an observer has to estimate: nothing measures what is on its
# way.


AT_REST = 1e-6
"""Rates left over at an operating point, by the largest without commands, that still count as none."""
ROUNDS = 8
SIZES = np.geomspace(1e-6, 1e6, 97)
"""Commands that are tried where a slope of zero, such as a valve's dead band, leaves no way to go on [SI]."""
PADE_ORDER = 2
"""Good to a tenth of a degree of phase up to one radian within a delay; even, so that nothing is answered reversed."""


def sample_machine(system: System, controller: StateController, commands: Sequence[str]) -> SampledPlant:
    """The machine at its operating point, from sample to sample."""
    flaws, signals = FlawList(), {info.name: info for info in system.signals}
    n = system.n_moving
    if system.delays and not controller.measured:
        what = f"the machine has the delay '{system.delays[0].name}', whose content cannot be measured"
        flaws.add("measured", what, "name what an observer sees")
    if system.has_balls:
        flaws.add("", "the machine has orientations among its states", "design in Python, with linearise")
    for name in controller.measured:
        if name not in signals:
            flaws.add("measured", f"there is no signal '{name}'", nearest(name, signals))
    own_states = [state.name for state in system.states[:n]]
    flaws.add_unknown(controller.at, own_states, "is not a state of the machine", "at")
    flaws.raise_if_any("state controller")
    # x' = A (x - x0) + B (u - u0), y - y0 = C (x - x0), where the commands u hold the machine at x0.
    point = _OperatingPoint(system, n, commands, controller.measured)
    x = np.array([controller.at.get(state.name, state.start) for state in system.states], float)
    u = point.hold(x)
    A, B, C, D = point.slopes(x, u)
    rates, y = point.values(x, u)
    if D.any():
        flaws.add("measured", "follows commands at once", "measure positions or velocities")
    # Only states that a command moves, or that are weighed or measured, are part of the design.
    late = [f"{delay.name}.pade{k + 1}" for delay in system.delays for k in range(PADE_ORDER)]
    names = [*own_states, *late]
    weighed = np.isin(names, [*controller.states, *controller.noise]) | (C != 0).any(axis=0)
    concerned = _concerned(A != 0, (B != 0).any(axis=1), weighed)
    A, B, C = A[np.ix_(concerned, concerned)], B[concerned], C[:, concerned]
    # At rest no state changes, compared with what its rates would be without the commands.
    size = np.abs(point.values(x, 0 * u)[0]).max(initial=0.0)
    moving = concerned[concerned < n]
    for k in moving:
        if abs(rates[k]) > AT_REST * max(size, 1.0):
            what = f"is not an equilibrium: {own_states[k]} changes by {rates[k]:.4g} a second, whatever is commanded"
            flaws.add("at", what, "name states at which the machine can rest")
    flaws.raise_if_any("state controller")
    states = (
        *(Variable(system.states[k].name, system.states[k].unit, float(x[k])) for k in moving),
        *(Variable(names[k]) for k in concerned[concerned >= n]),
    )
    inputs = tuple(Variable(name, signals[name].unit, float(value)) for name, value in zip(commands, u, strict=True))
    outputs = tuple(
        Variable(name, signals[name].unit, float(value)) for name, value in zip(controller.measured, y, strict=True)
    )
    return hold_plant(A, B, C, controller.period, controller.delay, states, inputs, outputs)


def _concerned(coupled: Array, driven: Array, weighed: Array) -> Array:
    """Places of the states that a controller has to do with: what its inputs move, what is weighed or measured, and
    all that acts on these. Another machine in the same room is none of it.

    Args:
        coupled: whether the rate of a state (row) depends on a state (column).
    """
    moved, concerned = driven.copy(), np.zeros_like(driven)
    for _ in range(len(driven)):
        moved = moved | coupled[:, moved].any(axis=1)
    concerned = moved | weighed
    for _ in range(len(driven)):
        concerned = concerned | coupled[concerned].any(axis=0)
    return np.flatnonzero(concerned)


class _OperatingPoint:
    """Rates of the first n states and outputs, as functions of states and commands, what is delayed having settled."""

    def __init__(self, system: System, n: int, commands: Sequence[str], outputs: Sequence[str]) -> None:
        memory = [info.name for info in system.memory]
        self.places, self.n, self.late = [memory.index(name) for name in commands], n, len(system.delays)
        self.times = tuple(delay.time for delay in system.delays)
        sticking = system.stick_directions
        self.m = np.array([FREE if info.name in sticking else info.start for info in system.memory], float)
        self.p = system.described_values
        rows = [system.signal_expressions[name] for name in outputs]
        delayed = system.expressions.delayed if system.delays else ca.SX(0, 1)
        # Tables are spelled out before they are differentiated: CasADi knows neither their values nor slopes otherwise.
        self.function = spell_out(system.function(ca.vertcat(system.expressions.rhs[:n], delayed, *rows), "values"))
        t, x, d, m, p = self.function.sx_in()
        by = ca.vertcat(x[:n], d, *(m[k] for k in self.places))
        slopes = ca.densify(ca.jacobian(self.function(t, x, d, m, p), by))
        self.jacobian = ca.Function("slopes", [t, x, d, m, p], [slopes])

    def _call(self, function: ca.Function, x: Array, u: Array) -> Array:
        m, d = self.m.copy(), np.zeros(self.late)
        m[self.places] = u
        # Delayed signals may depend on others: each round settles at least one more.
        for _ in range(self.late):
            d = np.array(self.function(0.0, x, d, m, self.p), float).ravel()[self.n : self.n + self.late]
        return np.array(function(0.0, x, d, m, self.p), float)

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Rates and outputs."""
        rates, _, outputs = np.split(self._call(self.function, x, u).ravel(), [self.n, self.n + self.late])
        return rates, outputs

    def _parts(self, x: Array, u: Array) -> list[Parts]:
        """(A, B, E) of the rates, (F, G, H) of what is delayed, (C, D, K) of the outputs."""
        ends = [self.n, self.n + self.late]
        rows = np.split(self._call(self.jacobian, x, u), ends)
        columns = (np.split(part, ends, axis=1) for part in rows)
        return [(of_x, of_u, of_d) for of_x, of_d, of_u in columns]

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array, Array, Array]:
        """A, B, C, D, with Pade approximations in the place of delays."""
        rates, delayed, outputs = self._parts(x, u)
        if not self.late:
            return rates[0], rates[1], outputs[0], outputs[1]
        return close_lines(rates, delayed, outputs, join_lines(self.times, PADE_ORDER))

    def hold(self, x: Array) -> Array:
        """Commands with which the states change least, by Gauss-Newton; each is looked for where nothing follows it."""
        u = np.zeros(len(self.places))
        for _ in range(ROUNDS):
            (_, B, E), (_, G, H), _ = self._parts(x, u)
            B = B + E @ np.linalg.solve(np.eye(self.late) - H, G)
            for k in np.flatnonzero(~B.any(axis=0)).tolist():
                u = self._search(x, u, k)
            u = u - np.linalg.lstsq(B, self.values(x, u)[0], rcond=None)[0]
        return u

    def _search(self, x: Array, u: Array, k: int) -> Array:
        """The command that, in the place of one, leaves the states most at rest, of commands of all sizes; the same
        if none does."""
        tried = np.concatenate([[0.0], SIZES, -SIZES])
        rows = [np.where(np.arange(len(u)) == k, size + u[k], u) for size in tried]
        return min(rows, key=lambda row: float(np.linalg.norm(self.values(x, row)[0])))


# --------------------------------------------------------------------------------------------------
# Design of state controllers: which gains do weights, noises and poles give for the machine as it is described?


@frozen
class _Held:
    """Law: outputs that stand in for those of a controller which is not there yet."""

    outputs: tuple[tuple[str, int], ...]

    __name__ = "held_commands"
    law_info = LawInfo()

    def __call__(self) -> dict[str, Any]:
        return {name: (0.0,) * count for name, count in self.outputs}


@frozen(eq=False)
class StateDesign:
    """The design of a controller: the sampled machine, the regulator and the observer, where asked for."""

    controller: StateController
    plant: SampledPlant
    regulator: Regulator | None
    observer: Observer | None

    @property
    def block(self) -> Block:
        """The block that does it."""
        if self.regulator is None:
            assert self.observer is not None  # the description says so
            return state_observer(self.controller.name, self.observer)
        acts = {"command": self.controller.acts} if self.controller.acts else {}
        return state_controller(self.controller.name, self.regulator, self.observer, acts)


def design_controllers(scenario: Scenario) -> Scenario:
    """The scenario with blocks in place of its state controllers."""
    machine = scenario.machine
    if not machine.controllers:
        return scenario
    designs = find_designs(scenario)
    commanding = [design.block for design in designs if design.regulator]
    # At an instant samples are taken in order: observers read what has been commanded.
    observing = [design.block for design in designs if not design.regulator]
    blocks = (*commanding, *machine.blocks, *observing)
    return scenario.replaced(machine=machine.replaced(controllers=(), blocks=blocks))


def find_designs(scenario: Scenario) -> tuple[StateDesign, ...]:
    """The designs of a scenario's state controllers, each with the commands of the others at 0.

    Raises:
        ModelError: for each a point that is no equilibrium, directions that cannot be controlled or seen, names that
            are not there.
    """
    machine = scenario.machine
    stubs = tuple(_stand_in(scenario, one) for one in machine.controllers)
    plant = scenario.replaced(machine=machine.replaced(controllers=(), blocks=(*stubs, *machine.blocks)))
    flaws, systems = FlawList(), {}
    for one in machine.controllers:
        with _noted(flaws):
            systems[one.name] = _open(plant, one)
    scenario.raise_if_any(flaws)
    designs = [_design(flaws, systems[one.name], one) for one in machine.controllers]
    scenario.raise_if_any(flaws)
    return tuple(design for design in designs if design is not None)


@contextmanager
def _noted(flaws: FlawList, under: str = "") -> Iterator[None]:
    """A block whose errors are noted, each flaw once."""
    try:
        yield
    except ModelError as error:
        raised = FlawList()
        raised.extend(error.flaws, under=under)
        flaws.extend(flaw for flaw in raised.found if flaw not in flaws.found)


def _stand_in(scenario: Scenario, controller: StateController) -> Block:
    """A block with the controller's commands, and as many estimates as anything reads."""
    estimate = re.compile(rf"{re.escape(controller.name)}\.estimate\.(\d+)$")
    parts = (*scenario.machine.blocks, *scenario.machine.signals, *scenario.machine.delays)
    names = [name for part in parts for _, to, name in part.references() if to == "signal"]
    read = [int(match[1]) for name in names if (match := estimate.match(name))]
    outputs = (("command", len(controller.commands)), ("estimate", max(read, default=-1) + 1))
    acts = {"command": controller.acts} if controller.acts else {}
    return Block(controller.name, _Held(tuple((name, count) for name, count in outputs if count)), acts=acts)


def _open(scenario: Scenario, controller: StateController) -> System:
    """A scenario in which the controller stands still, as a system whose inputs are its commands."""
    from robodyn.computation.assembly.assembler import assemble

    return assemble(scenario, inputs=dict.fromkeys(_commands(controller), 0.0))


def _commands(controller: StateController) -> list[str]:
    commands = [f"{controller.name}.command.{k}" for k in range(len(controller.commands))]
    return commands or list(controller.applied)


def _design(flaws: FlawList, system: System, controller: StateController) -> StateDesign | None:
    """Regulator and observer by the linear model of the open system; None where something is wrong with one of them."""
    under, before = f"controllers.{controller.name}", len(flaws.found)
    plant: SampledPlant | None = None
    regulator: Regulator | None = None
    observer: Observer | None = None
    with _noted(flaws, under):
        plant = sample_machine(system, controller, _commands(controller))
    if plant is not None and controller.measured:
        with _noted(flaws, under):
            noises = controller.noise, np.diag(controller.measured_noise)
            poles = controller.poles
            observer = design_observer(plant, poles) if poles else design_kalman_filter(plant, *noises)
    if plant is not None and controller.states:
        with _noted(flaws, under):
            regulator = design_regulator(plant, controller.states, np.diag(controller.commands))
    return StateDesign(controller, plant, regulator, observer) if plant and len(flaws.found) == before else None
