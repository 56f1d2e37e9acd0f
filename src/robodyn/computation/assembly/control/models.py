"""Control models: which laws get a model of the machine?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from robodyn.base.errors import FlawList, ModelError
from robodyn.computation.assembly.contribution import Context, Contribution
from robodyn.computation.assembly.control.model_dynamics import (
    PROBE,
    ModelDynamics,
    ModelInfo,
    ModelInputs,
    StateFinder,
    all_joints,
    bare_machine,
    check_axes,
    check_numbers,
    check_task,
    express_task,
    find_scales,
    friction_laws,
    friction_numbers,
    own_numbers,
    point_places,
    trace_functions,
    with_held,
)
from robodyn.computation.assembly.system import System
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block, ConstraintMethod, Machine, Scenario
from robodyn.description.model.control_model import ControlModel


@dataclass(frozen=True)
class MachineSeen:
    """What a law can see of the machine: symbols of the states of all joints, and what is measured of its axes."""

    context: Context
    joints: Mapping[str, ca.SX]
    axes: tuple[str, ...]
    measured: Mapping[str, tuple[Any, ...]]


def bind_model(
    context: Context, block: Block, joints: Mapping[str, ca.SX]
) -> tuple[dict[str, Any], Bindings, Contribution]:
    """A law's model, None where it cannot be made, and motions of its axes that nothing else gives; what it adds.

    Args:
        joints: symbols of the mechanism's states.
    """
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    flaws, path = FlawList(), f"blocks.{block.name}"
    axes = block.axes or all_joints(context.scenario.machine, flaws)
    measured = {
        name: tuple(placeholder(f"{path}.{name}.{axis}", f"{axis}.{name}", bindings) for axis in axes)
        for name in ("position", "velocity")
    }
    for name in (argument.name for argument in arguments_of(block.function) if block.source_of(argument) == "axes"):
        if name not in measured:
            flaws.add(f"inputs.{name}", "is missing", "that of the axes depends on what the law returns")
        arguments[name] = measured.get(name)
    seen = MachineSeen(context, joints, axes, measured)
    arguments["model"], added = (None, Contribution()) if flaws.found else _build(seen, block, flaws)
    context.flaws.extend(flaws.found, under=path)
    return arguments, bindings, added


def _build(seen: MachineSeen, block: Block, flaws: FlawList) -> tuple[ModelDynamics | None, Contribution]:
    described, machine, axes = block.model or ControlModel(), seen.context.scenario.machine, seen.axes
    frictions = [part for part in machine.all_blocks if part.info.disturbance and part.on]
    own = own_numbers(machine, described, flaws)
    places = (*axes, *(str(part.on) for part in frictions))
    bare = None if flaws.found else bare_machine(machine, described, places, own, flaws)
    if bare is not None:
        names = {number.name for number in bare.numbers()} | set(friction_numbers(frictions))
        check_numbers(names, described, flaws)
    system = None if bare is None else _assemble(seen.context.scenario, bare, flaws)
    if system is not None and described.held:
        stands = {name: point_places(system)[name] for name in described.held}
        system = _assemble(seen.context.scenario, with_held(system.scenario.machine, stands), flaws)
    if system is None or not check_task(system, described, flaws):
        return None, Contribution()
    functions = trace_functions(system, axes, express_task(system, described.rows))
    given = seen.context.scenario.initialisation == "given"
    warnings = check_axes(block, (axes, described.rows.names), system, functions, flaws, given)
    if flaws.found:
        return None, Contribution(warnings=warnings)
    laws = friction_laws(seen.context.values, frictions, own)
    finder = StateFinder(functions, _look(seen, system, described), not (own or described.rigid))
    scales = find_scales(system, axes, described.rows, functions)
    starts = [(info.name, info.start) for info in system.states]
    q, v = dict(starts[: system.n_q]), dict(starts[system.n_q : system.n_q + system.n_v])
    info = ModelInfo(block.name, axes, described.rows, functions, scales, q, v, functions.free == len(axes))
    dynamics = ModelDynamics(axes, described.rows, finder, laws, described.friction, scales)
    return dynamics, Contribution(warnings=warnings, models=(info,))


def _assemble(scenario: Scenario, bare: Machine, flaws: FlawList) -> System | None:
    """The model as a system of its own."""
    from robodyn.computation.assembly.assembler import assemble

    assert bare.mechanism is not None
    states = [name for freedom in bare.mechanism.freedoms for name in freedom.states]
    start = {name: value for name, value in scenario.start_values.items() if name in states}
    method = ConstraintMethod("projection") if bare.all_constraints else ConstraintMethod()
    try:
        return assemble(Scenario(bare.name, bare, 1.0, start, constraint_method=method))
    except ModelError as error:
        flaws.extend(error.flaws, under="model")
        return None


def _look(seen: MachineSeen, system: System, described: ControlModel) -> ModelInputs:
    """What the law sees of the machine; its numbers follow those of the machine, by a factor or not at all."""
    numbers = []
    for number in system.parameters:
        if not number.name.startswith(f"{PROBE}."):
            # Constraints that hold what is rigid are none of the machine.
            machine = described.factor_of(number.name) * seen.context.values.table.get(number.name, number.value)
            numbers.append(described.changes.get(number.name, machine))
    names = [info.name for info in system.states]
    positions, velocities = names[: system.n_q], names[system.n_q : system.n_q + system.n_v]
    states = ([seen.joints[name] for name in group] for group in (positions, velocities))
    q, v, p = (ca.vertcat(ca.SX(0, 1), *part) for part in (*states, numbers))
    return ModelInputs(seen.context.time, q, v, seen.measured["position"], seen.measured["velocity"], p)
