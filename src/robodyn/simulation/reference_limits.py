"""References and limits: which joint's reference leaves its limits of position, speed or acceleration, and when?

Told before a run. A reference is a signal that is a function of time and numbers alone: of a nominal motion, a
prescribed motion, a planned path, or what a controller of a joint takes as its target. What depends on the motion is
not known before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly import System
from robodyn.laws import arguments_of
from robodyn.model import Block, PrescribedMotion
from robodyn.model.limits import BOUNDED, excess
from robodyn.model.outputs import name_results
from robodyn.simulation.problem import break_times
from robodyn.symbolic.tables import spell_out

TARGETS = ("target", "targets", "position_ref")
"""Arguments of controllers that are wanted positions."""
RATES = ("position", "velocity", "acceleration")
INSTANTS = 2001
"""Times at which references are looked at, beside those where they bend."""


def find_reference_warnings(system: System, numbers: Mapping[str, float] | None = None) -> list[str]:
    """A sentence for each limit of a joint that one of its references leaves.

    Args:
        numbers: of the scenario, where they are not those described.
    """
    mechanism = system.scenario.machine.mechanism
    limits = {joint.name: joint.limits for joint in (mechanism.moving_joints if mechanism else ())}
    if not any(limits.values()):
        return []
    values = {name: number.value for name, number in system.numbers.items()} | dict(numbers or {})
    units = {info.name: info.unit for info in system.signals}
    found: dict[str, None] = {}
    for joint, signal in dict.fromkeys(_references(system, list(limits))):
        motion = _motion(system, signal, values) if limits[joint] else None
        for field in limits[joint] if motion else ():
            unit = units.get(f"{joint}.{BOUNDED[field][0]}", "")
            found |= dict.fromkeys(_compare((joint, signal, field), values[f"{joint}.{field}"], unit, motion or {}))
    return list(found)


def _references(system: System, joints: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every joint with a signal that it is to follow."""
    machine = system.scenario.machine
    yield from system.scenario.nominal.items()
    for constraint in machine.constraints:
        if isinstance(constraint, PrescribedMotion) and constraint.of in joints:
            yield constraint.of, constraint.position
    blocks = {block.name: block for block in machine.all_blocks}
    for block in machine.all_blocks:
        # A planned path knows its joints.
        for k, joint in enumerate(getattr(block.function, "joints", ())):
            if joint in joints:
                yield joint, f"{block.name}.position{k + 1}"
        wanted = next((block.inputs[key] for key in TARGETS if isinstance(block.inputs.get(key), str)), None)
        joint = _measured(f"{block.name}.", blocks, joints, set()) if wanted else None
        if wanted and joint:
            yield joint, wanted


def _measured(signal: str, blocks: Mapping[str, Block], joints: Sequence[str], seen: set[str]) -> str | None:
    """The one joint whose position a block takes, by itself or through sensors and filters."""
    owner = signal.rpartition(".")[0]
    if owner in joints:
        return owner if signal == f"{owner}.position" else None
    block = blocks.get(owner)
    if block is None or owner in seen:
        return None
    if block.on in joints:
        return block.on
    read = [one for key, one in block.inputs.items() if key not in TARGETS and isinstance(one, str)]
    found = {_measured(one, blocks, joints, seen | {owner}) for one in read} - {None}
    return found.pop() if len(found) == 1 else None


def _motion(system: System, signal: Any, values: Mapping[str, float]) -> dict[str, np.ndarray] | None:
    """Times, and position, velocity and acceleration there; None where they depend on more than time."""
    end = system.scenario.duration
    times = np.linspace(0.0, end, INSTANTS)
    if not isinstance(signal, str):
        still = np.zeros(INSTANTS)
        return {"time": times, "position": still + float(signal), "velocity": still, "acceleration": still}
    column = _expressions(system, signal, values)
    if column is None:
        return None
    bends = break_times(system.breaks, dict(values), 0.0, end)
    times = np.unique(np.concatenate([times, bends, np.nextafter(bends, -np.inf)]))
    t, p = system.symbols.t, [values[number.name] for number in system.parameters]
    function: Any = spell_out(ca.Function("reference", [t, system.symbols.p], [ca.densify(ca.vertcat(*column))]))
    rows = np.array([np.array(function(time, p)).ravel() for time in times])
    return {"time": times} | dict(zip(RATES, rows.T, strict=True))


def _expressions(system: System, signal: str, values: Mapping[str, float]) -> list[ca.SX] | None:
    """Position and its rates, as they are given beside it or else by differentiation."""
    known = dict(zip((info.name for info in system.signals), ca.vertsplit(system.expressions.outputs), strict=True))
    known |= _sampled(system, signal, values)
    t, free = system.symbols.t, ca.vertcat(system.symbols.t, system.symbols.p)

    def depends_on_time(expression: ca.SX) -> bool:
        return all(ca.depends_on(free, symbol) for symbol in ca.symvar(expression))

    owner, _, output = signal.rpartition(".")
    if signal not in known or not depends_on_time(known[signal]):
        return None
    found = [known[signal]]
    for rate in RATES[1:]:
        beside = f"{owner}.{output.replace('position', rate)}" if "position" in output else ""
        given = beside in known and depends_on_time(known[beside])
        found.append(known[beside] if given else ca.jacobian(found[-1], t))
    return found


def _sampled(system: System, signal: str, values: Mapping[str, float]) -> dict[str, ca.SX]:
    """Outputs of the sampled block of a signal as functions of time, where it takes nothing else."""
    owner = signal.rpartition(".")[0]
    block = next((block for block in system.scenario.machine.blocks if block.name == owner and block.sampled), None)
    if block is None or not block.native or block.inputs or block.memory_names:
        return {}
    given = dict(block.parameters)
    given |= {key: values[f"{owner}.{key}"] for key in given if f"{owner}.{key}" in values}
    time = {"time": system.symbols.t} if any(a.name == "time" for a in arguments_of(block.function)) else {}
    results = name_results(block, block.function(**time, **given))
    return {f"{owner}.{key}": ca.SX(value) for key, value in results.items()}


def _compare(which: tuple[str, Any, str], limit: float, unit: str, motion: Mapping[str, np.ndarray]) -> Iterator[str]:
    """A sentence where a reference leaves a limit.

    Args:
        which: joint, signal and limit.
    """
    joint, signal, field = which
    quantity = BOUNDED[field][0]
    if quantity not in motion:
        return
    beyond = np.array(excess(field, motion[quantity], limit))
    if not np.any(beyond > 0):
        return
    first, worst = int(np.argmax(beyond > 0)), int(np.argmax(beyond))
    begin, when, value = motion["time"][first], motion["time"][worst], motion[quantity][worst]
    name = f"'{signal}'" if isinstance(signal, str) else f"{signal:g}"
    yield (
        f"the reference {name} of joint '{joint}' passes its {field.replace('_', ' ')} of {limit:.6g} {unit} at "
        f"{begin:.4g} s: {quantity} {value:.6g} {unit} at {when:.4g} s"
    )
