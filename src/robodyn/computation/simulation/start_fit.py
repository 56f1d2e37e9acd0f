"""Start and controllers: does a given start fit what controllers assume, and references ask for?

A start fits where samples that are taken again and again at the same place do not change what acts (an encoder knows
its last reading, what a delay holds back is what it lets through), and where forces balance while references stand
still. What a reference asks for, such as a step, is no misfit. One that was found at rest fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.known_references import RATES, find_motions, path_starts
from robodyn.computation.simulation.problem import history_start
from robodyn.computation.simulation.reference_limits import find_references
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.computation.simulation.starting import Start, find_start

UNFIT = 0.1
"""Part of a rate that samples leave once they have settled, and of a load that is not balanced, that may pass."""
OFF_PATH = 0.01
"""Distance of a joint from where its path begins that may pass [rad or m]: gears sag by less."""
NOTICED = 0.01
"""Part of its size and nominal magnitude by which a state changes until then."""
REST = "initialisation = 'at_rest' finds one that does"
PASSES = 5
"""Rounds of samples at the start after which they have settled: encoders, what is made of them, what waits."""


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
    """Sentences on a start that does not fit.

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
        *_describe_path_starts(compiled, numbers, start.x),
        *_describe_jumps(compiled, first, at, p),
        *_describe_unbalance(compiled, numbers, at, first, values),
    ]


def _describe_path_starts(compiled: CompiledSystem, numbers: Mapping[str, float], x: np.ndarray) -> list[str]:
    """The joint that is farthest from where a planned path begins: controllers would jump there at once."""
    starts = {state.name: value for state, value in zip(compiled.system.states, x.tolist(), strict=True)}
    units = {state.name: state.unit for state in compiled.system.states}
    sentences = []
    for path, wanted in path_starts(compiled.system, numbers).items():
        gaps = {name: abs(value - starts[name]) for name, value in wanted.items() if name in starts}
        worst = max(gaps, key=lambda name: gaps[name], default="")
        if worst and gaps[worst] > OFF_PATH:
            joint, size = worst.removesuffix(".position"), f"{gaps[worst]:.4g} {units[worst]}"
            what = f"the path '{path}' begins {size} from where joint '{joint}' starts"
            remedy = "leave its joints out of `initial` and say initialisation = 'at_rest'"
            sentences.append(f"{what}: {remedy}")
    return sentences


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
    pairs = dict(find_references(system, joints[:n]))
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
