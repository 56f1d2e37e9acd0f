"""Forces of a run: what do drives give, and what for? Which loads do the joints carry?

    drive = M_ii a_i + sum_{j != i} M_ij a_j + (c - g) + g - friction - springs - rest

with M, c and g of the mechanism without its payload. What the payload adds to the first four is a part of its own.
Springs are a part like friction. The rest are end stops, contacts, loads and the forces of constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.identification.regressor import passive_blocks
from robodyn.analysis.sensitivity.variation import make_tunable
from robodyn.base import Array, Displayed, frozen, refuse, refuse_unknown, report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.units import FORCE
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Mechanism, Scenario
from robodyn.description.model.numbers import XYZ

from .machine_dynamics import joint_names

PARTS = ("inertia", "coupling", "Coriolis", "gravity", "payload", "friction", "springs", "rest")


@frozen(eq=False)
class ForceComponents:
    """Components of the force on each joint or coordinate, over time.

    Attributes:
        time: [s], (n_time,); names, units: of the n joints or coordinates ("N m" or "N").
        components: (n_time, n) each, by name; their sum is `total`.
    """

    time: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    components: Mapping[str, Array]

    @property
    def total(self) -> Array:
        """Force on each joint or coordinate, (n_time, n)."""
        return np.sum(list(self.components.values()), axis=0)


@frozen
class ForceRange:
    """Largest magnitude of a force, its root mean square over time, and when it is largest [s]."""

    largest: float
    rms: float
    time: float


@frozen
class JointForces:
    """The forces that the drives of one joint give, and what they are for, in N m or N."""

    unit: str
    drive: ForceRange
    parts: dict[str, ForceRange]


@frozen
class JointLoads:
    """Largest force [N] and torque [N m] that a joint carries: bearing, drive and friction together.

    Attributes:
        axial, radial: of the force, along the joint's axis and across; bending: of the torque, across the axis; None of
            joints that are fixed.
    """

    force: ForceRange
    torque: ForceRange
    axial: ForceRange | None = None
    radial: ForceRange | None = None
    bending: ForceRange | None = None


@frozen(eq=False)
class ForceSplit(Displayed):
    """Forces of the drives of a run, split, and the loads that the joints carry.

    Attributes:
        forces: of the drives over time, `components` being the parts in the order of `PARTS`.
        drives: what the drives give, (n_time, n); the components' sum.
        payload: name of the body that is the payload, empty where there is none.
    """

    JSON = """
    scenario = run.provenance.scenario
    payload: the body whose part stands by itself, or empty
    joints
    loads: what each joint carries
    notes
    """
    run: Run
    forces: ForceComponents
    drives: Array
    payload: str
    loads: dict[str, JointLoads]
    notes: tuple[str, ...] = ()

    @property
    def joints(self) -> dict[str, JointForces]:
        """Ranges of all parts, by joint."""
        joints = {}
        for k, (name, unit) in enumerate(zip(self.forces.names, self.forces.units, strict=True)):
            parts = {part: self._range(values[:, k]) for part, values in self.forces.components.items()}
            joints[name] = JointForces(unit, self._range(self.drives[:, k]), parts)
        return joints

    def _range(self, values: Array) -> ForceRange:
        return force_range(self.forces.time, values)


def force_range(time: Array, values: Array) -> ForceRange:
    """Largest magnitude, root mean square over time, and the time of the largest."""
    k = int(np.argmax(np.abs(values)))
    span = float(time[-1] - time[0])
    rms = float(np.sqrt(np.trapezoid(values**2, time) / span)) if span > 0 else float(abs(values[k]))
    return ForceRange(float(abs(values[k])), rms, float(time[k]))


@report_progress("splitting the forces of")
def split_forces(scenario: Scenario, payload: str | None = None) -> ForceSplit:
    """Simulate a scenario and split what its drives give; see the formula at the head.

    Args:
        payload: body whose weight and inertia are a part of their own; by default one of the name `payload`.

    Raises:
        ModelError: without a mechanism, for joints that turn freely in space, and where there is no such body.
    """
    bodies = [body.name for body in scenario.machine.any_mechanism.bodies]
    if payload is not None:
        refuse_unknown([payload], bodies, "there is no such body", under="payload")
    carried = payload or ("payload" if "payload" in bodies else "")
    # The numbers that make the payload are inputs, so that one trace serves with it and without.
    inertial = [f"{carried}.mass", *(f"{carried}.inertia.{key}" for key in ("xx", "yy", "zz", "xy", "xz", "yz"))]
    recorded = replace(scenario, recording=replace(scenario.recording, signals=("*", "*.reaction.*")))
    system = assemble(make_tunable(recorded, inertial) if carried else recorded)
    names = joint_names(system)
    if system.n_q != system.n_v:
        what = "a joint turns freely in space, and its forces are not torques about axes"
        refuse("machine.mechanism", what, "give it three revolute joints", scenario.name)
    run = simulate(system)

    # The terms of the equations of motion at every row, with the payload and without.
    motion = [np.column_stack([run[f"{name}.{part}"].values for name in names]) for part in MOTION]
    numbers = system.described_values
    empty = system.parameter_values({name: 0.0 for name in inertial if name in system.places})
    whole = _inertial_terms(system, motion, numbers)
    own = _inertial_terms(system, motion, empty) if carried else whole

    # Forces of blocks on joints; those on coordinates reach the joints by the coordinates' slopes.
    blocks = _block_forces(system, run, names)
    drives = blocks["drive"]
    parts: dict[str, Any] = dict(own)
    parts["payload"] = sum(whole.values()) - sum(own.values())
    parts |= {"friction": -blocks["friction"], "springs": -blocks["springs"]}
    # What is neither of the mechanism nor of a block: end stops, contacts, loads, constraints.
    parts["rest"] = drives - sum(parts.values())
    units = tuple(FORCE[state.unit] for state in system.states[: system.n_q])
    components = {part: parts[part] for part in PARTS if part != "payload" or carried}
    forces = ForceComponents(run.time, names, units, MappingProxyType(components))
    return ForceSplit(run, forces, drives, carried, _joint_loads(run, scenario.machine.any_mechanism))


MOTION = ("position", "velocity", "acceleration")


def _inertial_terms(system: System, motion: Sequence[Array], numbers: Array) -> dict[str, Array]:
    """Inertia, coupling, Coriolis and gravity at each row, (n_time, n)."""
    a = ca.SX.sym("a", system.n_v)
    own = ca.diag(system.mass_matrix) * a
    gravity = ca.densify(system.gravity)
    terms = [own, system.mass_matrix @ a - own, system.bias - gravity, gravity]
    function = ca.Function("terms", [system.q, system.v, a, system.symbols.p], [ca.densify(term) for term in terms])
    rows = function.map(len(motion[0]))(*(part.T for part in motion), ca.repmat(numbers, 1, len(motion[0])))
    names = ("inertia", "coupling", "Coriolis", "gravity")
    return {name: np.array(values).T for name, values in zip(names, rows, strict=True)}


def _block_forces(system: System, run: Run, names: Sequence[str]) -> dict[str, Array]:
    """Forces on the joints by friction, by springs, and by all other blocks, the drives, (n_time, n) each."""
    passive = {block.name: block for block in passive_blocks(system.scenario)}
    block_forces = {kind: np.zeros((run.time.size, len(names))) for kind in ("friction", "springs", "drive")}
    q = np.column_stack([run[f"{name}.position"].values for name in names])
    numbers = ca.repmat(system.described_values, 1, len(q))
    for place, signal in system.motion.forces:
        s = system.motion.coordinates[place]
        slope = ca.Function("slope", [system.q, system.symbols.p], [ca.densify(ca.jacobian(s, system.q).T)])
        slopes = np.array(slope.map(len(q))(q.T, numbers)).T
        block = passive.get(signal.rpartition(".")[0])
        kind = "drive" if block is None else "springs" if "spring" in block.law_name else "friction"
        block_forces[kind] += slopes * run[signal].values[:, None]
    return block_forces


def _joint_loads(run: Run, mechanism: Mechanism) -> dict[str, JointLoads]:
    """Ranges of what each joint carries; the axis is one of the child's too."""
    loads = {}
    for joint in mechanism.joints:
        names = [f"{joint.name}.reaction.{kind}.{axis}" for kind in ("force", "torque") for axis in XYZ]
        if not all(name in run for name in names):
            continue
        force, torque = np.split(np.column_stack([run[name].values for name in names]), 2, axis=1)
        parts = [np.linalg.norm(force, axis=1), np.linalg.norm(torque, axis=1)]
        if joint.kind != "fixed":
            axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
            along, about = force @ axis, torque @ axis
            across, bending = force - along[:, None] * axis, torque - about[:, None] * axis
            parts += [along, np.linalg.norm(across, axis=1), np.linalg.norm(bending, axis=1)]
        loads[joint.name] = JointLoads(*(force_range(run.time, part) for part in parts))
    return loads
