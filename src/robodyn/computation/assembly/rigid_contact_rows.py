"""Rows of rigid contacts: what are the contacts of a machine made of, and what do they not go together with?"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from robodyn.base.symbolic import where
from robodyn.computation.assembly.contact import check_moves, own_name, trace_contact
from robodyn.computation.assembly.contact_friction import DryPoint
from robodyn.computation.assembly.contact_geometry import ContactPoint, find_contact_points, find_drifts
from robodyn.computation.assembly.contribution import Context, Contribution, declare_memory, merge
from robodyn.computation.assembly.declarations import MemoryInfo
from robodyn.computation.assembly.end_stops import RigidPoint, find_end_stops
from robodyn.computation.assembly.mobility import RETURN_RATE, Mobility, Solve, build_mobility, mean_compliance
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.rigid_contact import JAMS, NEAR, RESTING, SETTLING, SUNK, Contacts, Rub
from robodyn.description.model import RigidContact

IDLE = 1e-9
"""Gradient of a slip, lengths by that of the machine, that no joint makes."""


def build_contacts(motion: Motion, accelerate: Solve, answer: Solve) -> tuple[Contacts | None, Contribution]:
    """The rigid contacts of a machine, if it has any, with their memory and the states of their friction.

    Args:
        accelerate: M^-1, constraints kept, as a function of a column; answer: force of constraints on the joints,
            likewise.
    """
    contacts = [c for c in motion.context.scenario.machine.contacts if isinstance(c, RigidContact)]
    found = [find_contact_points(motion, contact) for contact in contacts]
    points: list[RigidPoint] = [point for group in found if check_moves(motion, group) for point in group]
    points += find_end_stops(motion)
    if not points or not _check_rest(motion, points):
        return None, Contribution()
    resting, declared = _remember([own_name(point, "rests") for point in points], 0.0)
    settling, after = _remember([SETTLING], 1.0)
    names = list(dict.fromkeys(point.contact.name for point in points))
    jams, noted = _remember([f"{name}.{JAMS}" for name in names], 0.0)
    rubs, dry = _trace_friction(motion, points, resting)
    plain, drift = _lay_rows(motion, points, rubs, accelerate)
    # What holds or slides by itself: all normals, and the slips of dry friction; friction leans on the normals.
    k, n, F = len(points), len(points) + sum(len(point.used) for point in dry), ca.SX.eye(drift.numel())
    E = F[:, :n]
    for rub in rubs:
        E[rub.rows, rub.number] = rub.force[rub.used]
    leaning = tuple(sorted(rub.number for rub in rubs))
    mobility = plain.combine(F[:n, :], E, plain.compliance[:n], leaning) if rubs else plain
    # g'' = H a + drift, and for what rests g'' + 2 r g' + r^2 g = 0 (Baumgarte). Whether a contact point pushes is
    # found from the same as how much: else one whose force has ended may go on resting.
    back = ca.vertcat(*(2 * RETURN_RATE * point.rate + RETURN_RATE**2 * point.gap for point in points))
    drift = drift[:n] + ca.vertcat(where(resting > 0.5, back, 0.0), ca.SX(n - k, 1))
    held = ca.vertcat(resting > 0.5, *(ca.repmat(point.held, len(point.used), 1) for point in dry))
    own = (tuple(points), plain, E, tuple(rubs), tuple(dry), resting, settling)
    own_jams = dict(zip(names, ca.vertsplit(jams), strict=True))
    rest_speed = ca.vertcat(*(point.rest_speed(motion.context.values, motion.context.size) for point in points))
    memory = merge((declared, after, noted, *(rub.declared for rub in rubs)))
    sizes = ca.SX([point.size(motion.context.size) for point in points])
    more = (own_jams, rest_speed, answer, sizes, motion.context.size.length)
    return Contacts(mobility, held, drift, *own, *more), memory


def _remember(names: list[str], start: float) -> tuple[ca.SX, Contribution]:
    """Hidden memory, as a column and as what declares it."""
    declared = merge(declare_memory(MemoryInfo(name, "", start, hidden=True)) for name in names)
    return ca.vertcat(*declared.symbols.values()), declared


def _lay_rows(motion: Motion, points: list[RigidPoint], rubs: list[Rub], accelerate: Solve) -> tuple[Mobility, ca.SX]:
    """Mobility and drifts of the speeds along all normals, then along all tangents, those of dry friction first."""
    moving = [*(_move(motion, point) for point in points), *(_move(motion, rub.point, rub.used) for rub in rubs)]
    rows, drift = (ca.vertcat(*column) for column in zip(*moving, strict=True))
    k = len(points)
    return build_mobility(accelerate, rows, lambda own: ca.vertcat(*map(mean_compliance, (own[:k], own[k:])))), drift


def _move(motion: Motion, point: RigidPoint, used: Sequence[int] | None = None) -> tuple[ca.SX, ca.SX]:
    """Speeds of a contact point by the joints' velocities, along its normal or the tangents named, and their drifts."""
    if not isinstance(point, ContactPoint):
        return ca.jacobian(point.rate, motion.v), ca.jtimes(point.rate, motion.q, motion.q_dot)
    directions = [point.normal] if used is None else [point.tangents[axis] for axis in used]
    rows = [ca.sparsify(direction.T @ point.gradient) for direction in directions]
    return ca.vertcat(ca.SX(0, motion.v.numel()), *rows), find_drifts(motion, point, directions)


def _trace_friction(motion: Motion, points: list[RigidPoint], resting: ca.SX) -> tuple[list[Rub], list[DryPoint]]:
    """Friction of all rough contact points, dry friction first; slips that no joint makes are left out."""
    rough = [(i, p) for i, p in enumerate(points) if isinstance(p, ContactPoint) and p.contact.friction is not None]
    rubs, dry, first = [], [], len(points)
    length = motion.context.size.length
    speeds = motion.speed_scales
    for i, point in sorted(rough, key=lambda one: not one[1].contact.sticks):
        slips, gradients = ca.vertcat(*point.slips), motion.value_somewhere(_move(motion, point, range(2))[0])
        used = [axis for axis in range(2) if np.linalg.norm(gradients[axis] * speeds) > IDLE * length]
        rows = slice(first, first + len(used))
        mu = ca.SX(motion.context.values[f"{point.contact.name}.friction.coefficient"])
        own, memory = None, Contribution()
        if used and point.contact.sticks:
            direction, memory = _remember([own_name(point, f"slides{axis + 1}") for axis in used], 0.0)
            rest_speed = point.rest_speed(motion.context.values, motion.context.size)
            own = DryPoint(point, i, rows, used, slips[used], direction, mu, rest_speed, resting[i] > 0.5, length)
            dry.append(own)
        share, traced = _rub(motion.context, point, resting[i], own)
        states = tuple(traced.symbols.values())
        rubs.append(Rub(point, i, rows, used, slips[used], share, mu, states, memory + traced))
        first = rows.stop
    return rubs, dry


def _rub(context: Context, point: ContactPoint, resting: ca.SX, dry: DryPoint | None) -> tuple[ca.SX, Contribution]:
    """Friction along both tangents for a normal force of 1 N, (2,)."""
    first, second = dry.direction if dry else point.slips
    given = {"slip1": first, "slip2": second, "normal": ca.SX(1), "travel": point.travel}
    if point.contact.sticks:
        given["direction"] = where(dry.slides, 1.0, 0.0) if dry else ca.SX(0)
    rubbed, traced = trace_contact(context, point, given, "friction", ("force1", "force2"), resting > 0.5)
    return ca.vertcat(rubbed["force1"], rubbed["force2"]) if rubbed else ca.SX.zeros(2), traced


def _check_rest(motion: Motion, points: list[RigidPoint]) -> bool:
    """Report what rigid contacts do not go together with."""
    scenario, flaws, path = motion.context.scenario, motion.context.flaws, points[0].path
    method = scenario.constraint_method.method
    before = len(flaws.found)
    if method in ("index3", "minimal"):
        what = f"rigid contacts and end stops do not go together with the constraint method '{method}'"
        flaws.add(path, what, "say baumgarte or projection")
    if scenario.initialisation == "given":
        _check_start(motion, points)
    return len(flaws.found) == before


def _check_start(motion: Motion, points: list[RigidPoint]) -> None:
    for point in points:
        gap, rate = motion.values_at_start(ca.vertcat(point.gap, point.rate))
        # A start inside a surface, or on its way into one, has no impulse that belongs to it.
        size = point.size(motion.context.size)
        if gap < -SUNK * size:
            motion.context.flaws.add(point.path, f"starts inside the surface, by {-gap:.3g} m", "change initial")
        elif gap <= NEAR * size and rate < -RESTING * size:
            what = f"starts in touch and moves into the surface, with {-rate:.3g} m/s"
            motion.context.flaws.add(point.path, what, "start a little above it")
