"""Time-stepping with rigid contacts: which impulses act in a step, for a method that locates no events?

Symbols: k rows of speeds K v along normals and then along tangents, W = M^-1 K^T with the constraints kept; gaps g; f
impulses of a step of the length h; a accelerations under all other forces tau:

    v1 = v0 + h a + W f,    q1 = q0 + h N v1
    K_n v1 + g / h >= 0  beside  f_n >= 0,    K_t v1 = 0 where |f_t| < mu f_n,  else  f_t = -mu f_n e along the slip

Stewart and Trinkle (1996), Anitescu and Potra (1997): a complementarity problem of the speeds at the end of the step,
in which any number of contacts lands, slips, stops and parts at once. The engine solves it (`engine/contact_step.c`).
Memory holds the mean forces f / h of the last step: all else that asks for forces of contacts is told these.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from robodyn.base.symbolic import to_column
from robodyn.computation.assembly.contribution import (
    Contribution,
    Deferred,
    declare_memory,
    merge,
    watch,
)
from robodyn.computation.assembly.declarations import Guard, Invariant, MemoryInfo, ProblemInfo
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings
from robodyn.description.model import RigidContact

from .compliant import ContactForce, define_contact_signals
from .geometry import ContactPoint, EndStop
from .modes import Solve
from .rigid import check_rest, define_stop_forces, find_rigid_points, move_point, used_tangents

STEP = "contact_step"
"""Name of the problem, and of the function that gives its data."""
TOUCHES, PARTS = "touches", "parts"


def step_contacts(
    motion: Motion, accelerate: Solve, a: SX, tau: SX, bindings: Bindings
) -> tuple[SX, Contribution]:
    """Torques of the rigid contacts by their mean forces in the last step; and the problem of a step.

    Args:
        accelerate: M^-1, constraints kept, as a function of a column; a: accelerations without contacts under the
            torques tau; bindings: of these.
    """
    points = find_rigid_points(motion)
    if not points or not check_rest(motion, points):
        return SX.zeros(motion.v.numel()), Contribution()
    _check_friction(motion)
    context, rough = motion.context, list[tuple[int, ContactPoint, list[int]]]()
    for i, point in enumerate(points):
        if isinstance(point, ContactPoint) and point.contact.friction is not None:
            rough.append((i, point, used_tangents(motion, point)))
    rows = [move_point(motion, point)[0] for point in points]
    rows += [move_point(motion, point, used)[0] for _, point, used in rough]
    names = [f"{point.name}.push" for point in points]
    names += [f"{point.name}.rub{axis + 1}" for _, point, used in rough for axis in used]
    declared = merge(declare_memory(MemoryInfo(name, "", 0.0, hidden=True)) for name in names)
    forces = to_column(declared.symbols.values())

    K, k = ca.vertcat(*rows), len(points)
    columns = [accelerate(K[i, :].T) for i in range(K.shape[0])]
    partners = [i for i, _, used in rough for _ in used]
    mu = [context.values[f"{point.contact.name}.friction.coefficient"] for _, point, used in rough for _ in used]
    n_rub = len(partners)
    vectors = [
        [point.gap for point in points] + [0.0] * n_rub,
        [point.restitution(context.values) for point in points] + [0.0] * n_rub,
        [point.rest_speed(context.values, context.size) for point in points] + [0.0] * n_rub,
        [0.0] * k + mu,
        [-1.0] * k + [float(i) for i in partners],
    ]
    data = [SX(value) for vector in vectors for value in vector]
    data += [ca.densify(column) for column in (ca.vec(K.T), *columns, a, tau)]
    problem = ProblemInfo(STEP, *K.shape, names[0], f"{points[0].name}.{TOUCHES}")
    parts = [declared, Contribution(problems={STEP: (problem, Deferred(ca.vertcat(*data), bindings))})]
    return K.T @ forces, merge((*parts, *_describe(motion, points, rough, forces)))


def _check_friction(motion: Motion) -> None:
    scenario = motion.context.scenario
    for contact in motion.machine.contacts:
        if isinstance(contact, RigidContact) and contact.friction is not None and not contact.sticks:
            what = f"{scenario.solver.method} takes dry_friction or none, not {contact.friction}"
            motion.context.flaws.add(f"contacts.{contact.name}.friction", what, "use another method, or dry_friction")


def _describe(
    motion: Motion,
    points: list[ContactPoint | EndStop],
    rough: list[tuple[int, ContactPoint, list[int]]],
    forces: SX,
) -> list[Contribution]:
    """Signals of the contacts, what a run watches of them, and the events that the engine notes."""
    k = len(points)
    pushed = {i: forces[i] * p.normal for i, p in enumerate(points) if isinstance(p, ContactPoint)}
    row = k
    for i, point, used in rough:
        for axis in used:
            pushed[i] += forces[row] * point.tangents[axis]
            row += 1
    parts = []
    for contact in dict.fromkeys(p.contact for p in points if isinstance(p, ContactPoint)):
        touching = [(i, p) for i, p in enumerate(points) if isinstance(p, ContactPoint) and p.contact is contact]
        push = [ContactForce(p, forces[i], pushed[i], forces[i] > 0) for i, p in touching]
        parts.append(define_contact_signals(contact, push))
    stops = [(point, forces[i]) for i, point in enumerate(points) if isinstance(point, EndStop)]
    parts.append(define_stop_forces(stops, {}))
    for each in points:
        parts.append(watch(Invariant.APART, each.name, "m", [-each.gap, 0.0], {}))
        # The engine notes these events itself: to the engine's search for crossings they are far from zero.
        guards = (Guard(f"{each.name}.{event}", -1, contact=each.contact.name) for event in (TOUCHES, PARTS))
        parts.append(Contribution(guards=tuple((guard, Deferred(SX(1.0), {})) for guard in guards)))
    return parts
