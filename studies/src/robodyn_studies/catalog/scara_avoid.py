"""SCARA collision avoidance as a single model: a decision with hysteresis, by located events or sampled once a step.

The library's `scara-phases` has the same motion as three phases in sequence.
"""

from __future__ import annotations

from robodyn import symbolic as sym
from robodyn.description.catalog.scara import (
    ARM,
    AXES,
    BOX,
    LIMITS,
    NEAR,
    SAFE,
    SOLVER,
    Axis,
    arrivals,
    blocked,
    clearance,
    cleared,
    safe_height,
    scara_mechanism,
    servo_blocks,
    target_block,
)
from robodyn.description.model import Block, Event, Machine, Scenario, Solver


def steer(mode, shoulder_place, elbow_place, shoulder_target, elbow_target, regular, emergency):
    """Targets and voltage limits as the mode wants them: 0 regular, 1 avoiding."""
    avoiding = mode > 0.5
    limits = [sym.where(avoiding, high, low) for low, high in zip(regular, emergency, strict=True)]
    return {
        "shoulder_target": sym.where(avoiding, shoulder_place, shoulder_target),
        "elbow_target": sym.where(avoiding, elbow_place, elbow_target),
        "limit": tuple(limits),
    }


TARGETS = {"shoulder_target": "shoulder.target.value", "elbow_target": "elbow.target.value"}
VOLTAGES = {
    "regular": tuple(axis.voltage_limit for axis in AXES),
    "emergency": tuple(axis.emergency_voltage for axis in AXES),
}


def steered(axis: Axis, k: int) -> tuple[Block, ...]:
    """Servo blocks of an axis whose target and limit come from the steering; the lift always goes to its own target."""
    target = f"steering.{axis.joint}_target" if axis in ARM else ""
    return servo_blocks(axis, target, f"steering.limit.{k}")


def avoiding_scenario(name: str, steering: Block, events: tuple[Event, ...], solver: Solver, title: str) -> Scenario:
    """The robot with targets, a steering block and steered axes."""
    servos = tuple(block for k, axis in enumerate(AXES) for block in steered(axis, k))
    targets = tuple(target_block(axis) for axis in AXES)
    machine = Machine("scara", scara_mechanism(), (*targets, steering, *servos))
    return Scenario(name, machine, 6.0, events=(*events, *arrivals()), solver=solver, title=title, obstacles=(BOX,))


def stop_here(shoulder, elbow):
    """Avoid: hold the arm where it is."""
    return {"steering.mode": 1.0, "steering.shoulder_place": shoulder, "steering.elbow_place": elbow}


def resume():
    """Go on to the old targets."""
    return {"steering.mode": 0.0}


def scara_avoid() -> Scenario:
    """A SCARA robot avoids an obstacle by a mode that two located events switch, with hysteresis between them."""
    memory = {"mode": 0.0, "shoulder_place": 0.0, "elbow_place": 0.0}
    steering = Block("steering", steer, inputs=TARGETS, parameters=VOLTAGES, memory=memory)
    events = (blocked(action=stop_here), cleared(action=resume))
    title = "SCARA robot, collision avoidance by conditions with hysteresis, events located (ARGESIM C11, task c)"
    return avoiding_scenario("scara-avoid", steering, events, SOLVER, title)


def sampled_steer(
    mode, shoulder_place, elbow_place, tip, height, shoulder, elbow, shoulder_target, elbow_target, regular, emergency,
    x_obstacle, critical, obstacle_height, safe,
):  # fmt: skip
    """The decision made anew each sample: freeze the place when blocked, release it when cleared."""
    was_avoiding = mode > 0.5
    is_blocked = clearance(tip, height, x_obstacle, critical, obstacle_height) <= 0
    is_low = safe_height(height, obstacle_height, safe) <= 0
    starts = sym.logical_and(sym.logical_not(was_avoiding), is_blocked)
    goes_on = sym.logical_and(was_avoiding, is_low)
    mode_next = sym.where(sym.logical_or(starts, goes_on), 1.0, 0.0)
    places = sym.where(starts, shoulder, shoulder_place), sym.where(starts, elbow, elbow_place)
    outputs = steer(mode_next, *places, shoulder_target, elbow_target, regular, emergency)
    return outputs | {"mode_next": mode_next, "shoulder_place_next": places[0], "elbow_place_next": places[1]}


def scara_avoid_sampled(step: float = 4e-4, method: str = "euler", safe: float = SAFE) -> Scenario:
    """A SCARA robot avoids an obstacle as in a spreadsheet: the decision is sampled once a step.

    Args:
        safe: height above the obstacle at which the arm goes on [m].
    """
    inputs = TARGETS | NEAR | {"shoulder": "shoulder.position", "elbow": "elbow.position"}
    steering = Block(
        "steering",
        sampled_steer,
        inputs=inputs,
        parameters={**VOLTAGES, **LIMITS, "safe": safe},
        memory={"mode": 0.0, "shoulder_place": 0.0, "elbow_place": 0.0},
        period=step,
    )
    title = "SCARA robot, collision avoidance decided once a step, as a spreadsheet does (ARGESIM C11, task c)"
    return avoiding_scenario("scara-avoid-sampled", steering, (), Solver(method, step=step), title)
