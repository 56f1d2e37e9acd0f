"""Metamorphic relations: how else can a machine be described, or run, without changing what it does?

Each relation takes a scenario and returns its twin: another description, and what each of its signals must be. Scaled
by powers of two, all numbers of a twin are those of the original but for their exponents: a threshold in metres that
does not follow the machine's size shows in the last bits.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.base.errors import ModelError
from robodyn.base.spatial import Pose, from_rpy
from robodyn.base.units import known_unit
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.units import units_of
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.laws import arguments_of
from robodyn.description.model import (
    GROUND,
    ConstraintFunction,
    FlexibleBody,
    FunctionCoordinate,
    Joint,
    LinearCombination,
    LinearConstraint,
    LoopJoint,
    Recording,
    Scenario,
    Solver,
)
from robodyn.description.model.body import Body, tensor_of
from robodyn.description.model.machine import PARTS
from robodyn.description.model.numbers import LARGEST, as_floats

OWN_UNITS = {"cubic": {"stiffness": "{F}/{x}^3", "loss": "{F} s^2/{x}^2"}, "pulse": {"height": "{F}"}}
"""Units of the parameters of random machines' own laws, by the law's name."""
FINE = Solver("dopri5", rtol=1e-8, atol=1e-9, max_steps=30_000, max_wall_time=60.0)
COARSE = FINE.replaced(rtol=1e-6, atol=1e-7)
SAMPLES = 40
CLOSE, SHARE, GROWN = 1e-6, 3.0, 1e-3
"""Difference of two runs, as part of the largest values, that is allowed at least, and as part of the error so far of a
coarser run; the error up to which they are compared: as in `random_machines.examination`."""
SCALED = 1e-9
"""The same of machines that differ in their size alone: rounding, grown in a quarter of a second."""
SMALL, TINY = 2.0**-10, 2.0**-20
"""Sizes by which machines are scaled: from millimetres to micrometres."""
HALF, HALVED = 0.12, 1e-5
"""Where a run is cut in two [s], and the difference that is allowed: other steps."""
LATER = 0.5
"""Time by which a run is shifted [s]."""


class NotComparable(Exception):
    """A machine that the relation says nothing about, and why."""


@dataclasses.dataclass(frozen=True)
class Twin:
    """Another description of a machine.

    Attributes:
        name: of a signal of the original -> its name in the twin.
        factor: of a signal of the original -> what its values are multiplied by in the twin.
        begin: when the run begins [s].
    """

    scenario: Scenario
    name: Callable[[str], str] = lambda name: name
    factor: Callable[[str], float] = lambda name: 1.0
    begin: float = 0.0


def scale(scenario: Scenario, length: float, mass: float = 1.0) -> Twin:
    """All lengths and masses times a factor, times as they are: forces, stiffnesses and voltages follow."""
    if any(isinstance(body, FlexibleBody) for body in scenario.machine.mechanism.bodies):
        raise NotComparable("matrices of flexible bodies have no units")
    if any(getattr(block.law, "__name__", "") == "counted" for block in scenario.machine.blocks):
        raise NotComparable("a law commands a force by a length")
    system = _system_of(scenario)
    if any("is in" in warning for warning in system.warnings):
        raise NotComparable("a law reads a signal of another unit than its own")
    signals = {info.name: info.unit for info in (*system.signals, *system.states)}
    _check_units(scenario, signals)

    def factor(unit: str) -> float:
        known = known_unit(unit) if unit else None
        if unit and known is None:
            raise NotComparable(f"the unit {unit} is not known")
        powers = known.dimension if known else {}
        return float(length ** powers.get("m", 0) * mass ** powers.get("kg", 0))

    numbers = {n.name: n.value * factor(_unit_of(system, n.name, n.unit)) for n in system.numbers.values()}
    if any(abs(value) > LARGEST for value in numbers.values() if np.isfinite(value)):
        raise NotComparable("a number is beyond what a description may hold")
    scenario = scenario.with_numbers(numbers)
    positions = {joint.name: factor(joint.unit) for joint in scenario.machine.mechanism.scalar_freedoms}
    parts: dict[str, Any] = {
        "blocks": [_scale_block(block, signals, factor) for block in scenario.machine.blocks],
        "coordinates": [
            _scale_function(part, positions, factor(signals[f"{part.name}.position"]))
            for part in scenario.machine.coordinates
        ],
        "constraints": [
            _scale_function(part, positions, factor(_common_unit(scenario, getattr(part, "of", ()))))
            for part in scenario.machine.constraints
        ],
        "delays": [
            delay if delay.before is None else delay.replaced(before=delay.before * factor(signals[delay.signal]))
            for delay in scenario.machine.delays
        ],
    }
    scenario = scenario.replaced(machine=scenario.machine.replaced(**parts))
    return Twin(scenario, factor=lambda name: factor(signals[name]))


def _check_units(scenario: Scenario, signals: Mapping[str, str]) -> None:
    """Laws that take numbers without units where they are given others, and those with pressures of their own."""
    for block in scenario.machine.blocks:
        if any("Pa" in unit for unit in block.info.units.values()):
            raise NotComparable("oil flows turbulently from a pressure on that no machine scales")
        along = block.on and signals[f"{block.on}.position"] == "m"
        if along and "N m/A" in block.info.units.values() and "gear" not in block.parameters:
            raise NotComparable("a motor without a gear pushes along")
        own = {signals[name] for key, name in block.inputs.items() if block.info.units.get(key) == "{u}"}
        if len(own | {block.unit} if own and block.unit else own) > 1:
            raise NotComparable("a law takes quantities of two units as one")
        plain = [signals[name] for key, name in block.inputs.items() if not block.info.units.get(key)]
        if any(plain) and block.law != "amplifier":
            raise NotComparable("a law takes a quantity as a number without a unit")


def _unit_of(system: System, name: str, unit: str) -> str:
    """Of a number, also where its own description does not say it."""
    scenario, states = system.scenario, {info.name: info.unit for info in (*system.states, *system.memory)}
    if name.startswith("initial."):
        return states[name.removeprefix("initial.")]
    owner, _, key = name.partition(".")
    positions = {info.name: info.unit for info in system.signals}
    for event in scenario.events:
        if event.name == owner and key == "level":
            return positions[event.inputs["position"]]
    for coordinate in scenario.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and name == f"{coordinate.name}.inertia":
            return "kg" if positions[f"{coordinate.name}.position"] == "m" else unit
    for constraint in scenario.machine.constraints:
        if isinstance(constraint, LinearConstraint) and name == f"{constraint.name}.offset":
            return _common_unit(scenario, constraint.of)
    for block in scenario.machine.blocks:
        if block.law == "amplifier" and name == f"{block.name}.gain":
            # It makes one unit of another, which its law does not say.
            before = positions[block.inputs["value"]]
            return f"({positions[f'{block.name}.output'] or '1'})/({before or '1'})"
        if owner == block.name and key == "gear" and units_of(block, positions).coordinate == "m":
            # A motor that moves along: its gear makes angles of lengths.
            return "1/m"
        own = OWN_UNITS.get(getattr(block.law, "__name__", ""), {}) if owner == block.name else {}
        if key in own:
            return units_of(block, positions).fill(own[key])
    return unit


def _common_unit(scenario: Scenario, joints: Any) -> str:
    """Of a sum of positions: of angles and lengths together, an angle."""
    units = {f.name: f.unit for f in scenario.machine.mechanism.scalar_freedoms}
    joints = (joints,) if isinstance(joints, str) else joints
    return "m" if {units[joint] for joint in joints} == {"m"} else ""


def _scale_block(block: Any, signals: Mapping[str, str], factor: Callable[[str], float]) -> Any:
    """Start values of what a block keeps, and the outputs it holds."""
    units = units_of(block, signals)

    def changed(values: Mapping[str, float]) -> dict[str, float]:
        own = {key: units.fill(block.info.units.get(key, "")) for key in values}
        return {key: value * factor(own[key]) for key, value in values.items()}

    return block.replaced(**{group: changed(getattr(block, group)) for group in ("states", "memory", "hold")})


def _scale_function(part: Any, positions: Mapping[str, float], whole: float) -> Any:
    """Functions of positions and weights of them.

    Args:
        positions: factors of the joints; whole: of what comes out.
    """
    if isinstance(part, (LinearCombination, LinearConstraint)):
        return part.replaced(of={joint: weight * whole / positions[joint] for joint, weight in part.of.items()})
    if not isinstance(part, (FunctionCoordinate, ConstraintFunction)):
        return part
    own, function = [positions[joint] for joint in part.of], part.function

    def scaled(*q: Any) -> Any:
        return whole * function(*(value / size for value, size in zip(q, own, strict=True)))

    # The arguments of a constraint must be named, and there are two of them in random machines.
    pair = isinstance(part, ConstraintFunction)
    return part.replaced(function=(lambda first, second: scaled(first, second)) if pair else scaled)


def rename(scenario: Scenario) -> Twin:
    """Every part has another name, in another alphabetical order."""
    events = [event for event in scenario.events if event.action is None]
    if len(events) < len(scenario.events):
        raise NotComparable("actions name states in their functions")
    machine = scenario.machine
    parts = [part.name for group in PARTS for part in getattr(machine, group)]
    mechanism = machine.mechanism
    parts += [part.name for group in ("bodies", "joints", "points") for part in getattr(mechanism, group)]
    fresh = {name: f"n{len(parts) - k}_{name[::-1]}" for k, name in enumerate(dict.fromkeys(parts))}

    def new(name: str) -> str:
        # A signal begins with the name of its part, which may have dots itself.
        owners = [old for old in fresh if name == old or name.startswith(f"{old}.")]
        return fresh[max(owners, key=len)] + name[len(max(owners, key=len)) :] if owners else name

    def by_name(to: str, name: str) -> str:
        return name if name == GROUND else new(name)

    groups = {group: tuple(part.renamed(by_name) for part in getattr(machine, group)) for group in PARTS}
    renamed = mechanism.renamed(by_name).replaced(name=mechanism.name)
    twin = scenario.replaced(
        machine=machine.replaced(mechanism=renamed, **groups),
        initial={new(name): value for name, value in scenario.initial.items()},
        events=[event.renamed(by_name).replaced(name=event.name) for event in events],
        keep=None if scenario.keep is None else tuple(new(name) for name in scenario.keep),
    )
    return Twin(twin, name=new)


def reorder(scenario: Scenario) -> Twin:
    """Bodies, joints, points and continuous parts in the opposite order; samples run in the order that they have."""
    machine, mechanism = scenario.machine, scenario.machine.mechanism
    turned = {group: getattr(mechanism, group)[::-1] for group in ("bodies", "joints", "points")}
    sampled = [block for block in machine.blocks if block.sampled]
    still = [block for block in machine.blocks if not block.sampled][::-1]
    groups = {group: getattr(machine, group)[::-1] for group in PARTS if group not in ("blocks", "controllers")}
    machine = machine.replaced(mechanism=mechanism.replaced(**turned), blocks=(*still, *sampled), **groups)
    return Twin(scenario.replaced(machine=machine))


def rotate(scenario: Scenario) -> Twin:
    """The whole world, gravity included, in another direction; tangents of contacts are others there."""
    place = Pose(np.array(from_rpy(0.3, -0.8, 1.1), float), np.zeros(3))
    machine, mechanism = scenario.machine, scenario.machine.mechanism
    grounded = {GROUND, *(point.name for point in mechanism.points if point.body == GROUND)}
    _check_world(scenario)
    groups = {group: tuple(part.moved(place, grounded) for part in getattr(machine, group)) for group in PARTS}
    moved = mechanism.moved(place, grounded)
    moved = moved.replaced(gravity=as_floats(place.R @ np.array(mechanism.gravity)))
    return Twin(scenario.replaced(machine=machine.replaced(mechanism=moved, **groups)))


def _check_world(scenario: Scenario) -> None:
    """What is measured along axes of the world is another number in another one."""
    points = [point.name for point in scenario.machine.mechanism.points]
    read = [name for group in PARTS for part in getattr(scenario.machine, group) for _, _, name in part.references()]
    if any(name.startswith(f"{point}.") for point in points for name in read):
        raise NotComparable("signals of points are read")


MIRROR = np.diag([-1.0, 1.0, 1.0])


def mirror(scenario: Scenario) -> Twin:
    """The machine in a mirror: places change their side, and what rotates goes the other way round."""
    machine, mechanism = scenario.machine, scenario.machine.mechanism
    _check_world(scenario)
    if any(joint.kind not in ("revolute", "prismatic", "fixed") for joint in mechanism.joints):
        raise NotComparable("joints of several motions")
    if any(isinstance(body, FlexibleBody) for body in mechanism.bodies) or machine.contacts:
        raise NotComparable("bodies that bend, or contacts")

    def place(vector: Any) -> Any:
        return as_floats(MIRROR @ np.array(vector))

    def rotation(matrix: Any) -> Any:
        return as_floats(MIRROR @ np.array(matrix) @ MIRROR)

    def joint(old: Joint) -> Joint:
        # An axis of rotation is a pseudo-vector: in a mirror it points the other way.
        axis = place(old.axis) if old.kind == "prismatic" else as_floats(-np.array(place(old.axis)))
        axes = {} if old.kind == "fixed" else {"axis": axis}
        return old.replaced(origin=place(old.origin), rotation=rotation(old.rotation), **axes)

    def body(old: Body) -> Body:
        return old.replaced(com=place(old.com), inertia=rotation(tensor_of(old.inertia)))

    turned = mechanism.replaced(
        bodies=tuple(body(old) for old in mechanism.bodies),
        joints=tuple(joint(old) for old in mechanism.joints),
        points=tuple(point.replaced(origin=place(point.origin)) for point in mechanism.points),
        gravity=place(mechanism.gravity),
    )
    parts: dict[str, Any] = {"mechanism": turned}
    parts["coordinates"] = [
        part.replaced(direction=place(part.direction)) if hasattr(part, "direction") else part
        for part in machine.coordinates
    ]
    parts["loads"] = [
        load.replaced(force=place(load.force), torque=as_floats(-np.array(place(load.torque))))
        for load in machine.loads
    ]
    constraints = []
    for part in machine.constraints:
        if isinstance(part, LoopJoint):
            used = {"universal": -1, "revolute": -1, "prismatic": 1}.get(part.kind)
            changed: dict[str, Any] = {}
            if used:
                changed["axis"] = as_floats(used * np.array(place(part.axis)))
            if part.kind in ("universal", "revolute"):
                changed["second_axis"] = as_floats(used * np.array(place(part.second_axis)))
            if part.kind in ("prismatic", "fixed"):
                changed |= {"rotation": rotation(part.rotation), "second_axis": None}
            part = part.replaced(**changed)
        constraints.append(part)
    parts["constraints"] = constraints
    return Twin(scenario.replaced(machine=machine.replaced(**parts)))


def split(scenario: Scenario) -> Twin:
    """Each rigid body as two, the second fixed to the first: together they have the same mass and inertia."""
    machine, mechanism = scenario.machine, scenario.machine.mechanism
    bodies: list[Body] = []
    joints = list(mechanism.joints)
    for body in mechanism.bodies:
        if isinstance(body, FlexibleBody) or body.mass == 0:
            bodies.append(body)
            continue
        share, tensor, c = 0.3, tensor_of(body.inertia), np.array(body.com)
        # Centres of mass apart by a third of the least radius of gyration, which leaves both halves possible.
        apart = np.array([0.2, -0.1, 0.15]) * np.sqrt(np.linalg.eigvalsh(tensor)[0] / body.mass)
        lost = share * (1 - share) * body.mass * (apart @ apart * np.eye(3) - np.outer(apart, apart))
        halves = [(1 - share, c - share * apart), (share, c + (1 - share) * apart)]
        origin = np.array([0.1, 0.2, -0.1]) * np.linalg.norm(apart)
        for part, name, at in zip(halves, (body.name, f"{body.name}_half"), (0.0 * origin, origin), strict=True):
            inertia = as_floats(part[0] * (tensor - lost))
            bodies.append(Body(name, part[0] * body.mass, tuple(part[1] - at), inertia, physical=False))
        joints.append(Joint(f"{body.name}_weld", "fixed", body.name, f"{body.name}_half", tuple(origin)))
    parts = mechanism.replaced(bodies=tuple(bodies), joints=tuple(joints))
    return Twin(scenario.replaced(machine=machine.replaced(mechanism=parts)))


def shift(scenario: Scenario) -> Twin:
    """All that depends on time sets in later, and the run with it."""
    if any(block.sampled for block in scenario.machine.blocks) or scenario.machine.delays:
        raise NotComparable("samples and delays begin anew")
    if scenario.machine.all_constraints:
        raise NotComparable("how fast constraints are kept depends on the duration")
    blocks = []
    for block in scenario.machine.blocks:
        # Instants are moved; of a sine its phase. What else reads the time is not known here.
        times = {key for key in ("begin", "end", "times", "at") if key in block.parameters}
        names = {argument.name for argument in arguments_of(block.function)}
        changed = {key: as_floats(np.array(block.parameters[key]) + LATER) for key in times if "time" in names}
        if block.law == "sine_reference":
            turned = 2 * np.pi * block.parameters["frequency"] * LATER
            changed = {"phase": block.parameters["phase"] - float(turned)}
        elif "time" in names and not changed:
            raise NotComparable(f"{block.law_name} begins at 0")
        blocks.append(block.replaced(parameters={**block.parameters, **changed}))
    return Twin(scenario.replaced(machine=scenario.machine.replaced(blocks=blocks)), begin=LATER)


DESCRIBED = {relation.__name__: relation for relation in (rename, reorder, rotate, mirror, split, shift)}
RELATIONS = ("scale", *DESCRIBED, "halves")


def compare_twin(scenario: Scenario, relation: str) -> str:
    """What is wrong with a twin of a machine, nothing where it does the same.

    Raises:
        NotComparable: where the relation says nothing about it.
    """
    if relation == "scale":
        small, tiny = (scale(scenario, size, size**3) for size in (SMALL, TINY))
        twin = Twin(tiny.scenario, factor=lambda name: tiny.factor(name) / small.factor(name))
        return _compare(small.scenario, twin, SCALED, unit=small.factor)
    if relation == "halves":
        return _compare_halves(scenario)
    return _compare(scenario, DESCRIBED[relation](scenario), CLOSE)


@functools.lru_cache(maxsize=40)
def _system_of(scenario: Scenario) -> System:
    """The original is compared with one twin after another: it is traced once."""
    return assemble(scenario)


def _run(scenario: Scenario, solver: Solver, begin: float = 0.0) -> Run | str:
    """A run at times that are no samples, or why there is none; from a later time on where that is asked for."""
    times = begin + (np.arange(SAMPLES) + 0.377) / SAMPLES * scenario.duration
    try:
        if not begin:
            return simulate(_system_of(scenario), solver, recording=Recording(times=tuple(times)))
        still = simulate(scenario.replaced(duration=1e-9), solver)
        later = dataclasses.replace(still, outcome=dataclasses.replace(still.outcome, time=begin))
        return simulate(scenario, solver, start=later, recording=Recording(times=tuple(times)))
    except ModelError as error:
        return str(error)


def _compare(scenario: Scenario, twin: Twin, allowed: float, unit: Callable[[str], float] = lambda name: 1.0) -> str:
    """Two runs, as long as errors stay small: what a coarser one is off by says how they grow.

    Args:
        unit: how large 1 of each signal's unit is here.
    """
    fine = _run(scenario, FINE)
    if allowed < CLOSE and isinstance(fine, Run) and any("changes with the position" in said for said in fine.warnings):
        # Of loops that close in several ways near each other rounding finds one, 1e-8 from the next.
        raise NotComparable("constraints that follow from each other in some positions alone")
    other = _run(twin.scenario, FINE, twin.begin)
    if isinstance(fine, str) or isinstance(other, str):
        return "" if isinstance(fine, str) and isinstance(other, str) else f"one is refused: {fine} / {other}"
    if fine.outcome.kind != other.outcome.kind:
        return f"one ends by {fine.outcome.kind.name}, the other by {other.outcome.kind.name}"
    names = [state.name for state in _system_of(scenario).states if np.isfinite(state.nominal) and state.name in fine]
    # Bristles of a contact bend along tangents, which are others in another world; work sums up rounding.
    names = [name for name in names if ".bristle" not in name or not scenario.machine.contacts]
    sizes = {name: max(np.max(np.abs(fine[name].values), initial=0.0), 0.1 * unit(name)) for name in names}
    n = min(len(fine.time), len(other.time))
    apart = np.zeros(n)
    for name in names:
        values = other[twin.name(name)].values[:n] / twin.factor(name)
        apart = np.maximum(apart, np.abs(fine[name].values[:n] - values) / sizes[name])
    if np.max(apart, initial=0.0) <= allowed:
        return ""
    coarse = _run(scenario, COARSE)
    assert isinstance(coarse, Run)
    n = min(n, len(coarse.time))
    error = np.zeros(n)
    for name in names:
        error = np.maximum(error, np.abs(fine[name].values[:n] - coarse[name].values[:n]) / sizes[name])
    error = np.maximum.accumulate(error)
    excess = (apart[:n] > allowed + SHARE * error) & (error < GROWN)
    if not np.any(excess):
        return ""
    k = int(np.argmax(excess))
    return f"differs by {apart[k]:.2g} at {fine.time[k]:.4g} s, where a coarser run is off by {error[k]:.2g}"


def _compare_halves(scenario: Scenario) -> str:
    """One run, or two, the second from where the first ended."""
    if scenario.machine.delays or any(block.sampled for block in scenario.machine.blocks):
        raise NotComparable("what is delayed is not kept with a run, and samples begin anew with one")
    whole = _run(scenario, FINE)
    first = simulate(scenario.replaced(duration=HALF), FINE) if isinstance(whole, Run) else None
    if isinstance(whole, str) or first is None or not (whole.outcome.ok and first.outcome.ok):
        raise NotComparable("one run is refused, or ends early")
    if first.outcome.time < HALF:
        raise NotComparable("it ends in its first half")
    times = tuple(time for time in whole.time if time > HALF)
    rest = scenario.replaced(duration=scenario.duration - HALF, initialisation="given", keep=None)
    second = simulate(rest, FINE, start=first, recording=Recording(times=times))
    if second.outcome.kind != whole.outcome.kind:
        return f"ends by {second.outcome.kind.name}, the whole by {whole.outcome.kind.name}"
    n, count = min(len(times), len(second.time)), len(whole.time) - len(times)
    for state in _system_of(scenario).states:
        if np.isfinite(state.nominal) and state.name in whole:
            values = whole[state.name].values
            size = max(np.max(np.abs(values), initial=0.0), 0.1)
            apart = np.max(np.abs(values[count : count + n] - second[state.name].values[:n]), initial=0.0) / size
            if apart > HALVED:
                return f"{state.name} differs by {apart:.2g} in the second half"
    return ""
