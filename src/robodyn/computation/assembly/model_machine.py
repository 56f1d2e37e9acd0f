"""Machine of a controller's model: which bodies, joints, loads and springs does it have, and with which numbers?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.computation.assembly.model_functions import PROBE
from robodyn.description.model import GROUND, Block, LinearConstraint, LoopJoint, Machine, Point, PrescribedMotion
from robodyn.description.model.control_model import ControlModel

HELD = "held_model"
"""Constraints that hold points where they start, and those places: `held_model.foot`, `held_model.foot.place`."""
RIGID = "rigid_model"
"""Constraints that hold joints at 0: `rigid_model.twist`."""
NAME_AXES = "name the axes that have motors, with acts or model.axes; the rest then moves as it must"


def all_joints(machine: Machine, flaws: FlawList) -> tuple[str, ...]:
    """Every joint of a machine in which each can have a motor."""
    mechanism = machine.mechanism
    if mechanism is None:
        flaws.add("model", "there are no bodies and joints to make it of")
        return ()
    joints = {joint.name for joint in mechanism.joints}
    loose = [joint.name for joint in mechanism.joints if len(joint.freedoms) > 1 or joint.kind == "ball"]
    if loose:
        flaws.add("model.axes", f"is missing: '{loose[0]}' moves freely and has no motors", NAME_AXES)
    elif machine.all_constraints:
        flaws.add("model.axes", "is missing: constraints leave fewer motions than there are joints", NAME_AXES)
    elif any(freedom.name not in joints for freedom in mechanism.freedoms):
        flaws.add("model.axes", "is missing: modes of flexible bodies have no motors", NAME_AXES)
    return tuple(freedom.name for freedom in mechanism.freedoms if freedom.is_single)


def own_numbers(machine: Machine, described: ControlModel, flaws: FlawList) -> dict[str, float]:
    """Numbers of the model that are not the machine's; a name that is none of the machine's is a flaw."""
    numbers = {number.name: number.value for number in machine.numbers()}
    for pattern in described.scale:
        if not any(described.matches(pattern, name) for name in numbers):
            flaws.add(f"model.scale.{pattern}", "is no number of the machine", nearest(pattern, numbers))
    for name in described.changes:
        if name not in numbers:
            flaws.add(f"model.changes.{name}", "is no number of the machine", nearest(name, numbers))
    scaled = {name: described.factor_of(name) * value for name, value in numbers.items() if described.scales(name)}
    return scaled | dict(described.changes)


def bare_machine(
    machine: Machine, described: ControlModel, places: Sequence[str], own: Mapping[str, float], flaws: FlawList
) -> Machine | None:
    """Bodies, joints, constraints, constant loads, springs and dampers, and an unknown force on each of the places."""
    for constraint in machine.all_constraints:
        if isinstance(constraint, PrescribedMotion):
            flaws.add("model", f"cannot be made: signals move '{constraint.of}'", "leave the prescribed motion out")
    try:
        changed = machine.with_numbers(own)
    except ModelError as error:
        flaws.extend(error.flaws, under="model.changes")
    if flaws.found:
        return None
    probes = [
        Block(f"{PROBE}.{name}", "constant_force", name, parameters={"value": 0.0}) for name in dict.fromkeys(places)
    ]
    rigid = [LinearConstraint(f"{RIGID}.{name}", {name: 1.0}) for name in described.rigid]
    return changed.with_all_blocks([*filter(_belongs, changed.blocks), *probes]).replaced(
        delays=(),
        signals=(),
        contacts=(),
        interfaces=(),
        loads=tuple(load for load in changed.loads if load.times is None),
        constraints=(*changed.constraints, *rigid),
    )


def with_held(machine: Machine, places: Mapping[str, Any]) -> Machine:
    """A machine whose points are held at places: at the level of accelerations, wherever they are by then."""
    mechanism = machine.mechanism
    assert mechanism is not None
    grounds = [Point(f"{HELD}.{name}.place", GROUND, tuple(place)) for name, place in places.items()]
    joints = [LoopJoint(f"{HELD}.{name}", name, f"{HELD}.{name}.place") for name in places]
    stood = mechanism.replaced(points=(*mechanism.points, *grounds))
    return machine.replaced(mechanism=stood, constraints=(*machine.constraints, *joints))


def _belongs(block: Block) -> bool:
    """Springs and dampers: forces of position and velocity alone that give no energy, and are no friction."""
    remembers = block.state_names or block.memory_names or block.inputs or block.sampled
    return bool(block.on) and block.info.passive and not block.info.disturbance and not remembers
