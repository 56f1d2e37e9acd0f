"""References before a run: do they leave the limits of joints, and does the start fit what they ask for?

What is doubtful is reported before a run. A reference is a signal that is a function of time and numbers alone: of a
nominal motion, a prescribed motion, a planned path, or what a controller of a joint takes as its target. What depends
on the motion is not known before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly import System
from robodyn.model import Block, PrescribedMotion
from robodyn.model.limits import BOUNDED, excess
from robodyn.paths.reference import PathReference
from robodyn.simulation.compiled import CompiledSystem, compile_system
from robodyn.simulation.known_references import RATES, find_motions
from robodyn.simulation.problem import history_start
from robodyn.simulation.singular_references import find_singular_warnings
from robodyn.simulation.starting import Start, find_start
from robodyn.symbolic.tables import spell_out

TARGETS = ("target", "targets", "position_ref")
"""Arguments of controllers that are wanted positions."""
UNFIT = 0.1
"""Part of a rate that samples leave once they have settled, and of a load that is not balanced, that may pass."""
NOTICED = 0.01
"""Part of its size and nominal magnitude by which a state changes until then."""
REST = "initialisation = 'at_rest' finds one that does"
PASSES = 5
"""Rounds of samples at the start after which they have settled: encoders, what is made of them, what waits."""


def find_reference_warnings(
    system: System, numbers: Mapping[str, float] | None = None, states: Mapping[str, float] | None = None
) -> list[str]:
    """A sentence for each limit of a joint that one of its references leaves, and each singular position on the way.

    Args:
        numbers: of the scenario, where they are not those described; states: at the start, those
            that are not as described; None where they are not known, and so no way to anywhere.
    """
    values = {name: number.value for name, number in system.numbers.items()} | dict(numbers or {})
    limits = _find_limit_warnings(system, values)
    return limits if states is None else [*limits, *find_singular_warnings(system, values, states)]


def check_starts(system: System, cases: Sequence[Mapping[str, float]] = ({},)) -> list[str]:
    """Sentences on starts that do not fit, with some tunable numbers changed; one for each number alone is enough."""
    if system.scenario.initialisation == "at_rest" or not system.scenario.machine.blocks:
        return []
    compiled = compile_system(system)
    found: dict[str, None] = {}
    for changes in cases:
        values = compiled.parameter_values(dict(changes))
        shown = ", ".join(f"{name} = {value:g}" for name, value in changes.items())
        sentences = find_start_warnings(compiled, find_start(compiled, values), values)
        found |= dict.fromkeys(f"with {shown}: {sentence}" if shown else sentence for sentence in sentences)
    return list(found)


def find_start_warnings(compiled: CompiledSystem, start: Start, values: np.ndarray) -> list[str]:
    """Sentences on a start that is not what the controllers assume; none on one that was found at rest.

    A start fits where samples that are taken again and again at the same place do not change what acts (an encoder
    knows its last reading, what a delay holds back is what it lets through), and where forces balance while references
    stand still. What a reference asks for, such as a step, is no misfit.

    Args:
        values: of the tunable parameters.
    """
    system = compiled.system
    searched = system.scenario.initialisation == "at_rest" or start.time != 0.0
    if searched or any(tick.function is None for tick in compiled.ticks):
        return []
    numbers = compiled.number_values(values)
    p = compiled.module.prepare(values)
    at = np.array([start.time]), start.x, history_start(compiled, start, p, numbers)
    first = start.m
    for tick in compiled.ticks:
        first = np.array(compiled.module.kernels[str(tick.function)](*at, first, p)) if tick.offset == 0 else first
    return [
        *_describe_jumps(compiled, first, at, p),
        *_describe_unbalance(compiled, numbers, at, first, values),
    ]


def _describe_jumps(
    compiled: CompiledSystem, first: np.ndarray, at: tuple[np.ndarray, ...], p: np.ndarray
) -> list[str]:
    """Rates that are there with the memory of the first tick, and gone once samples have settled where all stands."""
    system, kernels = compiled.system, compiled.module.kernels
    if not compiled.ticks or not system.states:
        return []
    names = [info.name for info in system.memory]
    places = {name: k for k, name in enumerate(names)}
    waiting = {places[name]: places[f"{name}.pending.0"] for name in names if f"{name}.pending.0" in places}
    settled = first
    for _ in range(PASSES):
        for tick in compiled.ticks:
            settled = np.array(kernels[str(tick.function)](*at, settled, p))
        settled[list(waiting)] = settled[list(waiting.values())]
    now, then = (np.abs(np.array(kernels["rhs"](*at, m, p))) for m in (first, settled))
    # How long it takes: a sample, and the delay of what it commands.
    blocks = {block.name: block for block in system.scenario.machine.blocks if block.sampled}
    changed = np.flatnonzero(np.abs(first - settled) > UNFIT * np.abs(settled))
    shown, wait = [], 0.0
    for k in sorted(changed, key=lambda k: -abs(settled[k] - first[k])):
        owner = max((name for name in blocks if names[k].startswith(f"{name}.")), key=len, default="")
        if owner and not system.memory[k].hidden:
            shown.append(f"'{names[k]}' {first[k]:.4g} instead of {settled[k]:.4g}")
            wait = max(wait, blocks[owner].delay or blocks[owner].period or 0.0)
    sizes = np.array([state.nominal for state in system.states]) + np.abs(at[1])
    jumping = np.flatnonzero((then < UNFIT * now) & (now * wait > NOTICED * sizes))
    if not jumping.size:
        return []
    moved = system.states[jumping[np.argmax(now[jumping] / sizes[jumping])]].name
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    what = f"the start does not fit the controllers: for {1e3 * wait:g} ms {', '.join(shown[:3])}{more}"
    return [f"{what}, which moves '{moved}': {REST}"]


def _describe_unbalance(
    compiled: CompiledSystem,
    numbers: Mapping[str, float],
    at: tuple[np.ndarray, ...],
    m: np.ndarray,
    values: np.ndarray,
) -> list[str]:
    """Joints that references leave where they are, with forces that do not."""
    system = compiled.system
    machine, joints = system.scenario.machine, [state.name.removesuffix(".position") for state in system.states]
    carried = machine.all_constraints or machine.contacts or machine.interfaces or machine.rigid_parts
    if machine.mechanism is None or carried or system.has_balls or system.motion.terms or system.motion.momenta:
        return []
    n = system.n_q
    pairs = dict(_references(system, joints[:n]))
    driven = {block.on for block in machine.all_blocks if block.inputs and not block.info.disturbance} & pairs.keys()
    if not driven or at[1][n : 2 * n].any():
        return []
    motions = dict(zip(pairs, find_motions(system, list(pairs.values()), numbers)[1], strict=True))
    for joint, motion in motions.items():
        position, *rates = (float(motion[key][0]) if key in motion else np.nan for key in RATES)
        gap = position - at[1][joints.index(joint)] if joint in driven else 0.0
        # A step is asked for, or a motion that is under way; or what is asked for depends on more than time.
        if not (np.abs(rates).max() <= 1e-9 and abs(gap) <= 1e-6 * (1 + abs(position))):
            return []
    function: Any = spell_out(system.function(ca.vertcat(system.expressions.applied, system.gravity), "balance"))
    applied, load = np.split(np.array(function(*at, m, values)).ravel(), 2)
    for block in machine.all_blocks:
        # Friction that sticks takes up as much as it can hold; of brakes and clutches that depends on their forces.
        if block.info.sticks and block.on in joints[:n]:
            k, keys = joints.index(block.on), {"coulomb", "static", "coulomb_back", "static_back"} & {*block.parameters}
            level = max((numbers.get(f"{block.name}.{key}", block.parameters[key]) for key in keys), default=np.inf)
            applied[k] -= np.clip(applied[k] - load[k], -level, level)
    sizes = np.abs(load) + NOTICED * np.max(np.abs(load), initial=0.0)
    share = np.abs(applied - load) / np.where(sizes > 0, sizes, np.inf)
    share[[k for k in range(n) if joints[k] not in pairs]] = 0.0
    worst = int(np.argmax(np.where(share > UNFIT, np.abs(applied - load), 0.0)))
    if share[worst] <= UNFIT:
        return []
    unit = "N m" if system.states[worst].unit == "rad" else "N"
    what = f"forces on '{joints[worst]}' are {applied[worst]:.4g} {unit}, its load is {load[worst]:.4g} {unit}"
    return [f"the start does not balance, though references stand still: {what}: {REST}"]


def _find_limit_warnings(system: System, values: Mapping[str, float]) -> list[str]:
    mechanism = system.scenario.machine.mechanism
    limits = {joint.name: joint.limits for joint in (mechanism.joints if mechanism else ())}
    if not any(limits.values()):
        return []
    units = {info.name: info.unit for info in system.signals}
    wanted = [pair for pair in dict.fromkeys(_references(system, list(limits))) if limits[pair[0]]]
    times, motions = find_motions(system, [signal for _, signal in wanted], values)
    found: dict[str, None] = {}
    for (joint, signal), motion in zip(wanted, motions, strict=True):
        for field in limits[joint]:
            unit = units.get(f"{joint}.{BOUNDED[field][0]}", "")
            found |= dict.fromkeys(_compare((joint, signal, field), values[f"{joint}.{field}"], unit, times, motion))
    return list(found)


def _references(system: System, joints: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every joint with a signal that it is to follow."""
    machine = system.scenario.machine
    yield from system.scenario.nominal.items()
    for constraint in machine.constraints:
        if isinstance(constraint, PrescribedMotion) and constraint.of in joints:
            yield constraint.of, constraint.position
    blocks = {block.name: block for block in machine.all_blocks}
    delays = {delay.name: delay.signal for delay in machine.delays}
    for block in machine.all_blocks:
        # A planned path knows its joints.
        for k, joint in enumerate(block.law.joints if isinstance(block.law, PathReference) else ()):
            if joint in joints:
                yield joint, f"{block.name}.position{k + 1}"
        wanted = next((block.inputs[key] for key in TARGETS if isinstance(block.inputs.get(key), str)), None)
        measured = _measured(f"{block.name}.", blocks, joints, set()) if wanted else None
        if wanted and measured:
            yield measured, _source(wanted, blocks, delays)


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


def _source(signal: str, blocks: Mapping[str, Block], delays: Mapping[str, str]) -> str:
    """What a signal comes from through delays and sampled blocks that read nothing else."""
    for _ in range(len(blocks) + len(delays)):
        owner = signal.rpartition(".")[0]
        block = blocks.get(owner)
        read = list(block.inputs.values()) if block is not None and block.sampled and not block.on else []
        if owner in delays:
            signal = delays[owner]
        elif len(read) == 1 and isinstance(read[0], str):
            signal = read[0]
        else:
            break
    return signal


def _compare(
    which: tuple[str, Any, str], limit: float, unit: str, times: np.ndarray, motion: Mapping[str, np.ndarray]
) -> Iterator[str]:
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
    begin, when, value = times[first], times[worst], motion[quantity][worst]
    name = f"'{signal}'" if isinstance(signal, str) else f"{signal:g}"
    yield (
        f"the reference {name} of joint '{joint}' passes its {field.replace('_', ' ')} of {limit:.6g} {unit} at "
        f"{begin:.4g} s: {quantity} {value:.6g} {unit} at {when:.4g} s"
    )
