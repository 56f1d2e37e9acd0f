"""Controllers' models: which model of the machine does a block's law get, and what else of its axes?

The model is assembled on its own; numbers that are tunable in the machine are so in the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.model_checks import check_axes, check_numbers, check_task
from robodyn.assembly.model_dynamics import ModelDynamics
from robodyn.assembly.model_friction import friction_laws, friction_numbers
from robodyn.assembly.model_functions import PROBE, trace_functions
from robodyn.assembly.model_machine import all_joints, bare_machine, own_numbers
from robodyn.assembly.model_state import Known, StateFinder
from robodyn.assembly.system import System
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.errors import FlawList, ModelError
from robodyn.laws import arguments_of
from robodyn.model import Block, ConstraintMethod, Machine, Scenario
from robodyn.model.control_model import ControlModel

Measured = Mapping[str, tuple[Any, ...]]


def bind_model(builder: Builder, block: Block, arguments: dict[str, Any], bindings: Bindings) -> None:
    """Give a law its model, None where it cannot be made, and motions of its axes that nothing else gives."""
    flaws, path = FlawList(), f"blocks.{block.name}"
    axes = block.axes or all_joints(builder.scenario.machine, flaws)
    measured = {
        name: tuple(placeholder(f"{path}.{name}.{axis}", f"{axis}.{name}", bindings) for axis in axes)
        for name in ("position", "velocity")
    }
    for name in (argument.name for argument in arguments_of(block.function) if block.source_of(argument) == "axes"):
        if name not in measured:
            flaws.add(f"inputs.{name}", "is missing", "that of the axes depends on what the law returns")
        arguments[name] = measured.get(name)
    arguments["model"] = None if flaws.found else _build(builder, block, axes, measured, flaws)
    builder.flaws.extend(flaws.found, under=path)


def _build(
    builder: Builder, block: Block, axes: tuple[str, ...], measured: Measured, flaws: FlawList
) -> ModelDynamics | None:
    described, machine = block.model or ControlModel(), builder.scenario.machine
    frictions = [part for part in machine.all_blocks if part.info.disturbance and part.on]
    own = own_numbers(machine, described, flaws)
    places = (*axes, *(str(part.on) for part in frictions))
    bare = None if flaws.found else bare_machine(machine, described, places, own, flaws)
    if bare is not None:
        names = {number.name for number in bare.numbers()} | set(friction_numbers(frictions))
        check_numbers(names, described, flaws)
    system = None if bare is None else _assemble(builder.scenario, bare, flaws)
    if system is None or not check_task(system, described, flaws):
        return None
    functions = trace_functions(system, axes, described.task)
    check_axes(builder, block, (axes, described.task), system, functions, flaws)
    laws = friction_laws(builder, frictions, own, flaws) if described.friction or not flaws.found else {}
    if flaws.found:
        return None
    known = _look(builder, system, measured, described)
    exact = not (own or described.rigid)
    return ModelDynamics(axes, described.task, StateFinder(functions, known, exact), laws, described.friction)


def _assemble(scenario: Scenario, bare: Machine, flaws: FlawList) -> System | None:
    """The model as a system of its own."""
    from robodyn.assembly.assembler import assemble

    assert bare.mechanism is not None
    states = [name for freedom in bare.mechanism.freedoms for name in freedom.states]
    start = {name: value for name, value in scenario.start_values.items() if name in states}
    method = ConstraintMethod("projection") if bare.all_constraints else ConstraintMethod()
    try:
        return assemble(Scenario(bare.name, bare, 1.0, start, constraint_method=method))
    except ModelError as error:
        flaws.extend(error.flaws, under="model")
        return None


def _look(builder: Builder, system: System, measured: Measured, described: ControlModel) -> Known:
    """What the law sees of the machine; its numbers follow those of the machine, by a factor or not at all."""
    numbers = []
    for number in system.parameters:
        if not number.name.startswith(f"{PROBE}."):
            machine = described.factor_of(number.name) * builder.values.table[number.name]
            numbers.append(described.changes.get(number.name, machine))
    names = [info.name for info in system.states]
    positions, velocities = names[: system.n_q], names[system.n_q : system.n_q + system.n_v]
    q, v, p = (
        ca.vertcat(ca.SX(0, 1), *part)
        for part in (map(builder.symbol_of, positions), map(builder.symbol_of, velocities), numbers)
    )
    return Known(builder.time, q, v, measured["position"], measured["velocity"], p)
