"""Design of state controllers: which gains do weights, noises and poles give for the machine as it is described?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, ModelError
from robodyn.computation.assembly.sampled_machine import sample_machine
from robodyn.computation.assembly.system import System
from robodyn.computation.feedback.gains import (
    Observer,
    Regulator,
    design_kalman_filter,
    design_observer,
    design_regulator,
)
from robodyn.computation.feedback.sampled_plant import SampledPlant
from robodyn.computation.feedback.state_law import state_controller, state_observer
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block, Scenario
from robodyn.description.model.state_controller import StateController


@dataclass(frozen=True)
class _Held:
    """Law: outputs that stand in for those of a controller which is not there yet."""

    outputs: tuple[tuple[str, int], ...]

    __name__ = "held_commands"
    law_info = LawInfo()

    def __call__(self) -> dict[str, Any]:
        return {name: (0.0,) * count for name, count in self.outputs}


@dataclass(frozen=True, eq=False)
class StateDesign:
    """What was designed for a controller: the sampled machine, the regulator and the observer, where asked for."""

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
    """The same scenario with blocks in place of its state controllers."""
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
    found = [_design(flaws, systems[one.name], one) for one in machine.controllers]
    scenario.raise_if_any(flaws)
    return tuple(design for design in found if design is not None)


@contextmanager
def _noted(flaws: FlawList, under: str = "") -> Iterator[None]:
    """What is raised is noted, each flaw once."""
    try:
        yield
    except ModelError as error:
        known = FlawList()
        known.extend(error.flaws, under=under)
        flaws.extend(flaw for flaw in known.found if flaw not in flaws.found)


def _stand_in(scenario: Scenario, controller: StateController) -> Block:
    """A block with the controller's commands, and as many estimates as anything reads."""
    own = re.compile(rf"{re.escape(controller.name)}\.estimate\.(\d+)$")
    parts = (*scenario.machine.blocks, *scenario.machine.signals, *scenario.machine.delays)
    names = [name for part in parts for _, to, name in part.references() if to == "signal"]
    read = [int(found[1]) for name in names if (found := own.match(name))]
    outputs = (("command", len(controller.commands)), ("estimate", max(read, default=-1) + 1))
    acts = {"command": controller.acts} if controller.acts else {}
    return Block(controller.name, _Held(tuple((name, count) for name, count in outputs if count)), acts=acts)


def _open(scenario: Scenario, controller: StateController) -> System:
    """A scenario in which the controller stands still, as a system whose inputs are its commands."""
    from robodyn.computation.assembly.assembler import assemble

    return assemble(scenario, inputs=dict.fromkeys(_commands(controller), 0.0))


def _commands(controller: StateController) -> list[str]:
    own = [f"{controller.name}.command.{k}" for k in range(len(controller.commands))]
    return own or list(controller.applied)


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
            observer = _observe(plant, controller)
    if plant is not None and controller.states:
        with _noted(flaws, under):
            regulator = design_regulator(plant, controller.states, np.diag(controller.commands))
    return StateDesign(controller, plant, regulator, observer) if plant and len(flaws.found) == before else None


def _observe(plant: SampledPlant, controller: StateController) -> Observer:
    if controller.poles:
        return design_observer(plant, controller.poles)
    return design_kalman_filter(plant, controller.noise, np.diag(controller.measured_noise))
