"""Dressing a robot: what does a mechanism become with drives, friction, encoders and control? And what was assumed?"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base import FlawList, ModelError, frozen, refuse_unknown
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model import Block, Joint, Machine, Mechanism, Scenario, with_elastic_joints
from robodyn.description.model.joint import SINGLE

from .drive_sizes import (
    COMPUTED_TORQUE,
    Control,
    Drive,
    DriveAxis,
    Gains,
    read_control,
    read_drives,
    supply_of,
)
from .efforts import check_unconstrained
from .library import NamedDrive, read_library
from .loop_design import (
    ErrorDynamics,
    Inertias,
    LoopMargins,
    design_error_dynamics,
    design_loops,
    find_inertias,
    rigid_gains,
    torque_signal,
    with_computed_torque,
)


@frozen
class DressedAxis:
    """One joint of a dressed robot: its drive, the inertias it sees, gains and the margins they keep."""

    JSON = """
    family = axis.sized.family
    size = axis.sized.size
    scale = axis.sized.scale
    inertia: least and largest over poses, rotor included
    gains
    phase_margin = margins.phase: [rad]
    gain_margin = margins.gain
    numbers = axis.sized.numbers: each with its source
    """
    axis: DriveAxis
    least_inertia: float
    most_inertia: float
    gains: Gains | ErrorDynamics
    margins: LoopMargins

    @property
    def inertia(self) -> tuple[float, float]:
        """Least and largest."""
        return self.least_inertia, self.most_inertia


@frozen
class Dressed:
    """A dressed robot.

    Attributes:
        scenario: the machine, held where it stands; axes: what each dressed joint has got, with sources.
        undressed: joints without a drive, and why; notes: what whoever runs it should know.
    """

    JSON = """
    joints
    undressed: why not
    notes
    """
    scenario: Scenario
    axes: tuple[DressedAxis, ...]
    undressed: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def joints(self) -> dict[str, DressedAxis]:
        """The dressed axes by the names of their joints."""
        return {part.axis.name: part for part in self.axes}

    @property
    def machine(self) -> Machine:
        """The dressed machine."""
        return self.scenario.machine

    def assumptions(self) -> list[tuple[str, str, float, str]]:
        """Every number that was chosen: joint, what, value, source."""
        return [
            (part.axis.name, key, number.value, number.source)
            for part in self.axes
            for key, number in part.axis.sized.numbers.items()
        ]


def dress(
    machine: Machine,
    drives: str | Path | Drive | Mapping[str, Any] = "strain-wave",
    control: str | Path | Control | Mapping[str, Any] = "cascade",
    joints: Iterable[str] | None = None,
    *,
    start: Mapping[str, float] | None = None,
    duration: float = 1.0,
    library: str | Path | None = None,
) -> Dressed:
    """Give each joint of a robot a drive, friction, an encoder and sampled control.

    Args:
        drives: a family ("strain-wave", "planetary", "ball-screw"), a `Drive`, a TOML file, or tables by joint, that
            under "all" for every joint: `{"all": {"friction": "stick"}, "elbow": {"ratio": 50}}`.
        control: "cascade", "computed-torque", a `Control`, a table or a TOML file.
        joints: to dress, names or patterns such as "finger*"; by default every joint with one position that nothing
            drives yet.
        start: joint positions [rad or m] it stands at; 0 by default, or the nearest that the limits allow.
        duration: of the scenario [s].
        library: TOML file with drives of one's own, whose names come before those of robodyn.

    Raises:
        ModelError: with every joint whose effort is not known or that is driven already, and where no gains keep the
            margins wanted.
    """
    chosen, undressed = _choose_joints(machine, joints)
    options, loops = read_drives(drives, [joint.name for joint in chosen]), read_control(control)
    axes = _size(chosen, options, loops, read_library(library))
    rigid = _with_joints(machine, axes)
    dynamics = MachineDynamics(rigid)
    places = _start(machine, start or {})
    flaws = FlawList()
    q = dynamics.positions_at({f"{name}.position": value for name, value in places.items()})
    check_unconstrained(flaws, dynamics, q, [axis.name for axis in axes])
    flaws.raise_if_any("dress")
    inertias = find_inertias(dynamics, axes, places)
    control_of = _compute_torques if loops.scheme == COMPUTED_TORQUE else _cascade
    try:
        dressed, gains, margins = control_of(rigid, axes, places, inertias)
    except ModelError:
        _refuse_falling_joints(rigid, dynamics, inertias.poses, [axis.name for axis in axes])
        raise
    rotors = {axis.gear.drive: places[axis.name] for axis in axes if axis.gear is not None}
    initial = {f"{name}.position": value for name, value in (places | rotors).items() if value}
    initial |= supply_of(axes)[2]
    # Of all joints: those without a drive are held too, at rest or not.
    holding = dict(zip(dynamics.velocities, dynamics.holding_forces(q), strict=True))
    for axis in axes:
        initial |= axis.initial_causes(float(holding[f"{axis.name}.velocity"]))
    scenario = Scenario(machine.name, dressed, duration, initial, nominal=_nominal(dressed, axes))
    scenario, notes = _stand(scenario)
    rows = []
    for axis in axes:
        seen = inertias.least[axis.name], inertias.most[axis.name]
        rows.append(DressedAxis(axis, *seen, gains[axis.name], margins[axis.name]))
    return Dressed(scenario, tuple(rows), undressed, notes)


def _refuse_falling_joints(
    machine: Machine, dynamics: MachineDynamics, poses: Iterable[Mapping[str, float]], dressed: list[str]
) -> None:
    """Refuse joints that nothing acts on and that fall at a pose: that, not the gains, makes the machine unstable.

    With all other joints held still, m a = -k (q - q0): a joint falls where k, the slope of the torque that holds it,
    is negative, e times as far in sqrt(m / -k).
    """
    driven = {*dressed, *(block.on for block in machine.blocks)}
    free = [joint.name for joint in machine.any_mechanism.joints if joint.kind in SINGLE and joint.name not in driven]
    flaws, step = FlawList(), 1e-6
    for name in free:
        times = []
        place = dynamics.velocities.index(f"{name}.velocity")
        for pose in poses:
            ends = []
            for moved in (pose[name] - step, pose[name] + step):
                q = dynamics.positions_at({f"{key}.position": value for key, value in {**pose, name: moved}.items()})
                ends.append(dynamics.holding_forces(q)[place])
            slope = (ends[1] - ends[0]) / (2 * step)
            if slope < -1e-6:
                times.append(float(np.sqrt(dynamics.mass_matrix(q)[place, place] / -slope)))
        if times:
            what = f"has no drive and falls within {min(times):.2g} s at a pose: no gains of the others hold it"
            flaws.add(f"joints.{name}", what, "dress it too, fix it, or keep the others where it hangs")
    flaws.raise_if_any(f"control of '{machine.name}'")


def _stand(scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario standing still under its load, where it can: what falls freely, or lies on a rigid floor, cannot."""
    standing = scenario.replaced(initialisation="at_rest")
    system = assemble(standing)
    try:
        search_start(system, np.array([number.value for number in system.parameters], float))
    except ModelError as error:
        return scenario, (f"starts as given, not at rest: {error.flaws[0].what}",)
    return standing, ()


def _choose_joints(machine: Machine, wanted: Iterable[str] | None) -> tuple[list[Joint], dict[str, str]]:
    flaws, mechanism = FlawList(), machine.any_mechanism
    if machine.mechanism is None:
        flaws.add("machine", "has no mechanism", "give it bodies and joints")
        flaws.raise_if_any("dress")
    single = {joint.name: joint for joint in mechanism.joints if joint.kind in SINGLE}
    names = list(single) if wanted is None else []
    for pattern in wanted or ():
        # A name, or a pattern that stands for all it fits.
        names += [name for name in fnmatch.filter(single, pattern) if name not in names] or [pattern]
    flaws.add_unknown(names, single, "is not a joint with one position", "joints")
    driven = {block.on: block.name for block in machine.blocks if block.on in single}
    undressed = {
        joint.name: f"a {joint.kind} joint has several motions"
        for joint in mechanism.joints
        if joint.name not in single and joint.kind != "fixed"
    }
    undressed |= {name: "not requested" for name in single if name not in names}
    for name in list(names):
        if name in driven and wanted is None:
            names.remove(name)
            undressed[name] = f"{driven[name]} acts on it already"
        elif name in driven:
            flaws.add(f"joints.{name}", f"'{driven[name]}' acts on it already", "leave the joint or the block out")
    if not names:
        flaws.add("joints", "there is none to dress", "joints with one position can be dressed")
    flaws.raise_if_any("dress")
    return [single[name] for name in names], undressed


def _size(
    joints: list[Joint], drives: Mapping[str, Drive], control: Control, library: Mapping[str, NamedDrive]
) -> list[DriveAxis]:
    flaws, axes = FlawList(), []
    for joint in joints:
        drive = drives[joint.name]
        if drive.stated("family") and (drive.family == "ball-screw") == joint.rotates:
            flaws.add(f"drives.{joint.name}.family", f"'{drive.family}' does not fit a {joint.kind} joint")
            continue
        try:
            sized = drive.size(joint, library)
        except ModelError as error:
            flaws.extend(error.flaws)
            continue
        if isinstance(sized, str):
            remedy = f'give it one, or drives = {{"{joint.name}": {{"effort": ...}}}}; joints=[...] leaves it out'
            flaws.add(f"joints.{joint.name}", sized, remedy if "effort" in sized else "choose another")
        else:
            axes.append(DriveAxis(joint, drive, sized, control))
    flaws.raise_if_any("dress")
    return axes


def _with_joints(machine: Machine, axes: Iterable[DriveAxis]) -> Machine:
    """The machine with rotors in its joints, their own friction gone."""
    bare = {axis.name: axis.bare_joint() for axis in axes}
    joints = tuple(bare.get(joint.name, joint) for joint in machine.any_mechanism.joints)
    mechanism: Mechanism = machine.any_mechanism.replaced(joints=joints)
    return machine.replaced(mechanism=mechanism)


Controlled = tuple[Machine, Mapping[str, Gains | ErrorDynamics], Mapping[str, LoopMargins]]


def _cascade(rigid: Machine, axes: list[DriveAxis], places: Mapping[str, float], inertias: Inertias) -> Controlled:
    """Loops on each joint that are designed in the linear model of the whole machine, without its hidden causes."""

    def dressed(axes: list[DriveAxis], gains: Mapping[str, Gains]) -> Machine:
        return _with_blocks(rigid, axes, [axis.blocks(places[axis.name], gains[axis.name]) for axis in axes])

    plain = [axis.without_causes() for axis in axes]
    first = {axis.name: rigid_gains(axis, inertias.least[axis.name], inertias.most[axis.name]) for axis in plain}
    gains, margins = design_loops(Scenario(rigid.name, dressed(plain, first), 1.0), plain, first, inertias)
    return dressed(axes, gains), gains, margins


def _compute_torques(
    rigid: Machine, axes: list[DriveAxis], places: Mapping[str, float], inertias: Inertias
) -> Controlled:
    """One law for all joints, from the robot's own model."""

    def controlled(axes: list[DriveAxis], gains: ErrorDynamics) -> Machine:
        parts = [axis.commanded_blocks(places[axis.name], torque_signal(k)) for k, axis in enumerate(axes)]
        return with_computed_torque(_with_blocks(rigid, axes, parts), axes, gains)

    plain = [axis.without_causes() for axis in axes]
    draft = controlled(plain, ErrorDynamics.at(1.0))
    gains, margins = design_error_dynamics(Scenario(rigid.name, draft, 1.0), plain, inertias.poses)
    return controlled(axes, gains), dict.fromkeys((axis.name for axis in axes), gains), margins


def _with_blocks(rigid: Machine, axes: list[DriveAxis], parts: Iterable[Iterable[Block]]) -> Machine:
    """The machine with the blocks of its axes, on elastic gears where they are, and their supply."""
    supply, power, _ = supply_of(axes)
    blocks = [block for part in parts for block in part] + [*supply]
    rigid = rigid.replaced(signals=(*rigid.signals, *power))
    gears = {axis.name: axis.gear for axis in axes if axis.gear is not None}
    # Blocks on the twist of a gear come once it is there.
    twists = {gear.twist for gear in gears.values()}
    before = [block for block in blocks if block.on not in twists]
    elastic = with_elastic_joints(rigid.replaced(blocks=(*rigid.blocks, *before)), gears)
    return elastic.replaced(blocks=(*elastic.blocks, *(block for block in blocks if block.on in twists)))


def _start(machine: Machine, given: Mapping[str, float]) -> dict[str, float]:
    """Positions of all joints with one: as given, else the one nearest to 0 within the limits."""
    joints = {joint.name: joint for joint in machine.any_mechanism.joints if joint.kind in SINGLE}
    refuse_unknown(given, joints, "there is no such joint", "dress", "start")
    places = {}
    for name, joint in joints.items():
        lower = -float("inf") if joint.lower_limit is None else joint.lower_limit
        upper = float("inf") if joint.upper_limit is None else joint.upper_limit
        places[name] = float(given.get(name, min(max(0.0, lower), upper)))
    return places


def _nominal(machine: Machine, axes: Iterable[DriveAxis]) -> dict[str, str]:
    """References as the nominal motion, where every joint of the machine has one."""
    signals = {}
    for axis in axes:
        reference = f"{axis.name}.reference.position"
        signals[axis.name] = reference
        if axis.gear is not None:
            signals[axis.gear.drive] = reference
    return signals if all(part.name in signals for part in machine.any_mechanism.axes) else {}


