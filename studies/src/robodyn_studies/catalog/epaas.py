"""EPAAS robot: five hydraulic axes under position control, order 25 with nine pure delays.

Steps of each axis from the piston-centred rest with the others holding, the rest itself, and a path through piston
positions. Values: the published modelling study of the EPAAS robot; amplitudes and path are this project's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypedDict, Unpack

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.description.model import Block, Machine, Scenario, Solver
from robodyn_studies.catalog.epaas_arm import CENTRES, STROKE, angles_at, epaas_cylinders, epaas_mechanism
from robodyn_studies.catalog.epaas_control import CONTROLS, ModelControl
from robodyn_studies.catalog.epaas_drives import (
    CYLINDER,
    ROBOT_FLOW,
    VANE,
    Circuit,
    hold_target,
    make_circuit,
    step_target,
)

LINEAR = CYLINDER | ROBOT_FLOW
PISTONS = (
    Circuit("l3", 0.144, 201.0, LINEAR, coulomb=150.0, centre=CENTRES["l3"]),
    Circuit("l4", 0.128, 208.0, LINEAR, centre=CENTRES["l4"]),
    Circuit("l1", 0.310, 200.0, LINEAR, coulomb=200.0, centre=CENTRES["l1"]),
    Circuit("l2", 0.415, 198.0, LINEAR, centre=CENTRES["l2"]),
)
CIRCUITS = (
    Circuit("vane", 0.319, 3.945, VANE, viscous=56.0, coulomb=15.0, measuring_delay=0.0, unit="rad", on="joint1"),
    *PISTONS,
)
# Heights are not printed: with these, positive ones extending, the responses are nearest to the study's.
STEP_VOLTS = {"vane": 0.3, "l3": 0.265, "l4": -0.22, "l1": -0.53, "l2": -0.53}
STEP_AT, REST = 0.01, 0.35
SOLVER = Solver("rodas4p", rtol=1e-5, atol=1e-7)
# Openings beside the valves' dead band [A], on the side of the load that a piston holds, and within it.
HOLDING, LETTING, SHUT = 0.009, 0.001, 0.005
# A path that lifts, reaches out, turns and comes back: piston positions from their centres [m and rad].
PATH_TIMES = (0.1, 0.5, 0.9, 1.3, 1.7)
PATH = {
    "vane": (0.0, 0.3, 0.5, 0.2, 0.0),
    "l3": (0.0, 0.015, 0.02, 0.01, 0.0),
    "l4": (0.0, -0.01, 0.005, 0.01, 0.0),
    "l1": (0.0, 0.005, 0.01, 0.005, 0.0),
    "l2": (0.0, 0.0, 0.005, 0.005, 0.0),
}


class Options(TypedDict, total=False):
    """Choices of the robot, as `epaas_machine` takes them."""

    gripper: str
    payload: float
    friction: str
    reduced: bool
    weight: bool
    control: str | ModelControl


def epaas_machine(
    targets: Mapping[str, Block] | None = None,
    *,
    gripper: str = "vertical",
    payload: float = 0.0,
    friction: str = "smooth",
    reduced: bool = False,
    weight: bool = True,
    control: str | ModelControl = "plain",
) -> Machine:
    """The robot with its five circuits.

    Args:
        targets: circuit -> block of the wanted position; circuits not named hold their centre.
        gripper: "vertical" or "horizontal"; payload: [kg], up to 4.
        friction: "smooth", "stick", "lugre" or "none" (viscous alone).
        reduced: order 15: a longer pure delay stands for each valve; weight: whether the arm has any.
        control: "plain" is the study's proportional controllers; "gravity", "scheduled" and "moving", or one's own,
            are made from the model.
    """
    if isinstance(control, str) and control not in CONTROLS:
        raise ModelError([Flaw("control", f"'{control}' is unknown", nearest(control, CONTROLS))], "EPAAS robot")
    known = CONTROLS[control] if isinstance(control, str) else control
    wanted = dict(targets or {})
    parts = []
    for place, circuit in enumerate(CIRCUITS):
        target = wanted.get(circuit.name, hold_target(circuit))
        own = partial(known.blocks, place) if known else None
        parts.append(make_circuit(circuit, target, friction, reduced, own))
    shared = known.shared_blocks(CIRCUITS) if known else ()
    return Machine(
        "epaas",
        epaas_mechanism(gripper, payload, weight),
        (*shared, *(block for blocks, _ in parts for block in blocks)),
        epaas_cylinders(),
        tuple(delay for _, delays in parts for delay in delays),
        tunable=("payload.mass",) if payload else (),
    )


def find_circuit(name: str) -> Circuit:
    """A circuit by name: vane, l3, l4, l1 or l2."""
    known = {circuit.name: circuit for circuit in CIRCUITS}
    if name not in known:
        raise ModelError([Flaw("axis", f"there is no circuit '{name}'", nearest(name, known))], "EPAAS robot")
    return known[name]


def guess_rest(options: Options, offsets: Mapping[str, float]) -> dict[str, float]:
    """Where the pistons about stand: so far from their targets that the controllers hold the valves at the load's side.

    A load opens its valve a little beyond the dead band; the gripper's roll is loaded one way or the other.
    """
    roll = HOLDING if options.get("gripper", "vertical") == "vertical" else LETTING
    openings = {piston.name: roll if piston.name == "l2" else HOLDING for piston in PISTONS}
    if not options.get("weight", True):
        openings = dict.fromkeys(openings, SHUT)
    lengths = {
        piston.name: piston.position_at(-openings[piston.name] / piston.gain) + offsets.get(piston.name, 0.0)
        for piston in PISTONS
    }
    guess = {f"{joint}.position": angle for joint, angle in angles_at(lengths).items()}
    valves = {f"{name}.valve.opening": opening for name, opening in openings.items()}
    return guess if options.get("reduced") else guess | valves


def _scenario(
    name: str,
    title: str,
    duration: float,
    targets: Mapping[str, Block],
    options: Options,
    offsets: Mapping[str, float] | None = None,
) -> Scenario:
    """A run from the rest with all pistons at their centres, or at offsets from them."""
    machine = epaas_machine(targets, **options)
    rest = guess_rest(options, offsets or {})
    return Scenario(name, machine, duration, rest, solver=SOLVER, initialisation="at_rest", title=title)


def epaas_hold(duration: float = 0.5, **options: Unpack[Options]) -> Scenario:
    """The EPAAS robot rests with all pistons at their centres, held against gravity."""
    return _scenario("epaas-hold", "EPAAS robot at rest, holding itself against gravity", duration, {}, options)


def epaas_step(
    axis: str,
    volts: float | None = None,
    duration: float = STEP_AT + REST,
    offsets: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Scenario:
    """One axis of the EPAAS robot answers to a step of its setpoint, while the others hold.

    Args:
        axis: vane, l3, l4, l1 or l2; volts: positive extends the piston.
        offsets: circuit -> where it rests, from its centre [m or rad].
    """
    circuit, offsets = find_circuit(axis), offsets or {}
    volts = STEP_VOLTS[axis] if volts is None else volts
    _check_stroke(axis, [circuit.position_at(volts) - circuit.centre + offsets.get(axis, 0.0)])
    title = f"EPAAS robot, step of {volts:g} V on {axis}"
    resting = [replace(find_circuit(name), centre=find_circuit(name).centre + off) for name, off in offsets.items()]
    targets = {moved.name: hold_target(moved) for moved in resting}
    begins = replace(circuit, centre=circuit.centre + offsets.get(axis, 0.0))
    targets[axis] = step_target(begins, volts, STEP_AT)
    return _scenario(f"epaas-step-{axis}", title, duration, targets, options, offsets)


def _check_stroke(name: str, offsets: Sequence[float]) -> None:
    """Positions of a piston must lie within its stroke."""
    beyond = [offset for offset in offsets if name != "vane" and abs(offset) > STROKE]
    if beyond:
        allowed = f"{CENTRES[name] - STROKE:g} to {CENTRES[name] + STROKE:g} m"
        what = f"a length of {CENTRES[name] + beyond[0]:g} m is out of reach, allowed is {allowed}"
        raise ModelError([Flaw(f"path.{name}", what, "stay within the stroke")], "EPAAS robot")


def epaas_trajectory(
    path: Mapping[str, Sequence[float]] = PATH, times: Sequence[float] = PATH_TIMES, **options: Unpack[Options]
) -> Scenario:
    """The EPAAS robot follows cubic splines through positions of its pistons, from rest to rest.

    Args:
        path: circuit -> positions from its centre [m or rad], one for each of the times; circuits not named hold.
        times: at which the positions are passed [s].
    """
    if not path or len(times) < 2:
        raise ModelError([Flaw("path", "must name circuits and at least two times")], "EPAAS robot")
    targets = {}
    for name, offsets in path.items():
        circuit = find_circuit(name)
        _check_stroke(name, offsets)
        parameters = {"times": tuple(times), "points": tuple(circuit.centre + offset for offset in offsets)}
        targets[name] = Block(f"{name}.target", "spline_reference", parameters=parameters, unit=circuit.unit)
    title = "EPAAS robot on splines through piston positions"
    return _scenario("epaas-trajectory", title, times[-1] + 0.3, targets, options)
