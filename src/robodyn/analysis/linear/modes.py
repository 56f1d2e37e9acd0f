"""Modes: how does a machine vibrate, with which frequency, damping and shape?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import casadi as ca
import numpy as np
from scipy.optimize import linear_sum_assignment

from robodyn.base import Array, Displayed, ModelError, frozen, refuse_word, report_progress
from robodyn.computation.assembly import System
from robodyn.computation.assembly.tree import Mechanics, build_node
from robodyn.computation.dynamics import link_poses
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.model import FlexibleBody, Scenario, describe
from robodyn.description.model.numbers import XYZ

from .linear_model import LinearModel
from .linearisation import (
    OperatingPoint,
    Place,
    hold_outputs,
    linearise,
    positions_by,
    reduce_constraints,
)
from .poles import PADE_ORDER, Root, find_poles

# --------------------------------------------------------------------------------------------------
# Idealised loops: what of a machine counts when they are judged? Friction in or out, limits and quantisers ideal.
#
# Limits and resolutions (`LawInfo.ideal`) are taken at the values at which they do nothing: inside its limits a loop is
# as if it had none, and the slope of a staircase is zero or infinite but its mean is one. Friction
# (`LawInfo.disturbance`) is left out (`System.without_friction`) unless it is wanted: without what it damps a loop is
# judged on the safe side.


FRICTION = ("none", "stuck", "sliding")


def ideal_numbers(scenario: Scenario) -> dict[str, float]:
    """Numbers at which limits and quantisers do nothing: `axis1.encoder.resolution` -> 0."""
    return {
        f"{block.name}.{parameter}": value
        for block in scenario.machine.all_blocks
        for parameter, value in block.info.ideal.items()
        if parameter in block.parameters
    }


def friction_states(scenario: Scenario) -> frozenset[str]:
    """Names of the states of all friction: bristles."""
    frictions = [block for block in scenario.machine.all_blocks if block.info.disturbance]
    return frozenset(f"{block.name}.{state}" for block in frictions for state in block.state_names)


# --------------------------------------------------------------------------------------------------
# Skeleton of a mechanism: where are joints, points and beams in a pose, as lines that can be drawn?


@frozen(eq=False)
class Skeleton:
    """A mechanism as points and the lines between them.

    Attributes:
        names: of the points: the ground's origin, joints, named points, nodes of flexible bodies.
        edges: pairs of points that a line joins, (n_edges, 2).
        coordinates: names of the joints and modes whose positions place the points.
    """

    names: tuple[str, ...]
    edges: Array
    coordinates: tuple[str, ...]
    _positions: ca.Function

    def place(self, x: Array, p: Array) -> Array:
        """World positions of the points [m], (n_points, 3), at states x with parameters p."""
        return np.array(self._positions(x, p)).T


def build_skeleton(system: System) -> Skeleton | None:
    """The skeleton of a system's mechanism; None where it has none.

    Joints stand at the origins of their links' frames; each is joined to the joint before it, a named point to the
    joint that carries its body. A flexible body is drawn along the beams between its nodes.
    """
    mechanism, mechanics = system.scenario.machine.mechanism, system.motion.mechanics
    if mechanism is None or mechanics is None:
        return None
    x, p = system.symbols.x, system.symbols.p
    links = mechanics.tree.links
    joints = [ca.SX(pose.p) for pose in link_poses(mechanics.tree, ca.vertsplit(x[: system.n_q]))]
    signals = system.signal_expressions
    points = [ca.vertcat(*(signals[f"{point.name}.position.{axis}"] for axis in XYZ)) for point in mechanism.points]
    names = ["ground", *(link.joint for link in links), *(point.name for point in mechanism.points)]
    nodes = _place_nodes(mechanism.flexible_bodies, mechanics, ca.vertsplit(x[: system.n_q]))
    # The ground is -1 among the links and 0 among the points; what is no link yet comes last.
    numbers = {node: link + 1 for node, link in mechanics.nodes.items()}
    numbers |= {node: len(names) + k for k, node in enumerate(nodes)}
    carriers = [mechanics.locate(point, mechanism, np.array(point.origin)).link for point in mechanism.points]
    edges = [(link.parent + 1, k + 1) for k, link in enumerate(links) if link.node is None]
    edges += [(carrier + 1, len(links) + 1 + k) for k, carrier in enumerate(carriers)]
    # Lines along the beams of each body, and from its joint to where it is clamped; without beams to each node.
    for body in mechanism.flexible_bodies:
        joint = mechanics.placements[body.name].link + 1
        clamped = [node for node in body.nodes if not body.edges or not (np.any(node.shift) or np.any(node.turn))]
        edges += [(joint, numbers[body.name, node.name]) for node in clamped]
        edges += [(numbers[body.name, start], numbers[body.name, end]) for start, end in body.edges]
    positions = ca.densify(ca.horzcat(ca.SX.zeros(3), *joints, *points, *nodes.values()))
    return Skeleton(
        (*names, *(f"{body}.{node}" for body, node in nodes)),
        np.array(edges, int).reshape(-1, 2),
        tuple(freedom.name for freedom in mechanism.freedoms),
        ca.Function("positions", [x, p], [positions]),
    )


def _place_nodes(
    bodies: tuple[FlexibleBody, ...], mechanics: Mechanics, q: list[ca.SX]
) -> dict[tuple[str, str], ca.SX]:
    """(body, node) -> place in the world, of nodes that carry nothing and so are no links."""
    poses, modes = link_poses(mechanics.tree, q), mechanics.tree.deformations(q)
    places: dict[tuple[str, str], ca.SX] = {}
    for body in bodies:
        link = mechanics.placements[body.name].link
        for node in body.nodes:
            if (body.name, node.name) not in mechanics.nodes:
                places[body.name, node.name] = ca.SX((poses[link] @ build_node(node).pose(modes[link])).p)
    return places


# --------------------------------------------------------------------------------------------------
# Modal analysis: how does a machine vibrate? Frequencies, damping, which states take part, and mode shapes.


KEPT = ("kept", "none")
# Of the skeleton's size: how far a point of a drawn shape moves at most; how far joints, and nodes of flexible bodies,
# rotate at most [rad].
DRAWN_DEFLECTION, DRAWN_ANGLE, DRAWN_BEND = 0.15, 0.5, 0.5
# Share of all joints from which on a mode is one of the mechanism.
MOVING_SHARE = 0.25
# Of the fastest pole: what is slower is a free motion, whose pole is zero but for rounding.
STILL = 1e-8
MOVES = ("position", "velocity", *(f"{part}.{axis}" for part in ("rotation", "angular_velocity") for axis in XYZ))
"""States of a joint or mode, by their names after its own."""


@frozen(eq=False)
class Displaced:
    """A mode as displacements of a skeleton's points.

    Attributes:
        there, back: positions [m] in the two opposite phases, (n_points, 3).
        amplitude: factor of the mode's shape that makes it well seen.
    """

    there: Array
    back: Array
    amplitude: float


@frozen(eq=False)
class Mode:
    """A pole, or a pair of conjugate ones, and what moves with it.

    Attributes:
        pole: s = -decay + j angular frequency [rad/s], of a pair the upper one.
        shape: complex amplitude and phase of every state, the largest joint position (or state) being 1.
        participation: part of each state and delay in the mode, largest first; they add up to 1.
        displaced: the shape in space, where there is a mechanism and it moves in this mode.
        of_method: whether it is none of the machine's own but of the method that keeps its constraints.
        free: whether it is a rigid motion, with a pole at zero, so that nothing brings it back.
    """

    JSON = """
    free: a rigid motion
    of_method: of the method that keeps constraints
    frequency: [Hz]
    damping: ratio
    time_constant: [s]
    pole
    participation
    """
    pole: complex
    shape: Mapping[str, complex]
    participation: Mapping[str, float]
    displaced: Displaced | None = None
    of_method: bool = False
    free: bool = False

    @property
    def frequency(self) -> float:
        """Natural frequency |s| / 2 pi [Hz]; of a pole that does not oscillate its corner frequency."""
        return abs(self.pole) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio -Re s / |s|: 0 undamped, 1 without oscillation, negative unstable; at s = 0 not a number."""
        return -self.pole.real / abs(self.pole) if self.pole else np.nan

    @property
    def time_constant(self) -> float:
        """Time in which the amplitude changes by a factor e [s]: -1 / Re s, negative where it grows."""
        return -1 / self.pole.real if self.pole.real else np.inf

    @property
    def oscillates(self) -> bool:
        """Whether its pole is one of a complex pair."""
        return self.pole.imag != 0

    def dominant(self, count: int = 3) -> tuple[str, ...]:
        """Names of the dominant states, each at least by a share of 5 %."""
        return tuple(name for name, share in list(self.participation.items())[:count] if share >= 0.05)


@frozen(eq=False)
class ModeSet(Displayed):
    """The modes of a linear model, by frequency.

    Attributes:
        mean: positions of the skeleton's points at the operating point [m], (n_points, 3).
    """

    JSON = """
    notes
    modes
    """
    model: LinearModel
    modes: tuple[Mode, ...]
    skeleton: Skeleton | None = None
    mean: Array | None = None

    def __repr__(self) -> str:
        shown = ", ".join(f"{mode.frequency:.4g} Hz" for mode in self.oscillating[:4])
        return f"<ModeSet of {len(self)}{f', oscillating at {shown}' if shown else ''}>"

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.modes)

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, k: int) -> Mode:
        return self.modes[k]

    @property
    def oscillating(self) -> tuple[Mode, ...]:
        """Those that come as conjugate pairs."""
        return tuple(mode for mode in self.modes if mode.oscillates)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the linear model leaves out."""
        return self.model.notes

    @property
    def free(self) -> tuple[Mode, ...]:
        """The rigid motions."""
        return tuple(mode for mode in self.modes if mode.free)

    @property
    def moving(self) -> tuple[Mode, ...]:
        """Oscillating ones in which joints or flexible bodies take part, not only valves, currents or filters."""
        joints = () if self.skeleton is None else self.skeleton.coordinates
        states = [f"{joint}.{quantity}" for joint in joints for quantity in MOVES]
        swinging = [mode for mode in self.oscillating if not mode.free and not mode.of_method]
        return tuple(
            mode for mode in swinging if sum(mode.participation.get(name, 0) for name in states) > MOVING_SHARE
        )

    def nearest(self, frequency: float) -> Mode:
        """The oscillating mode nearest to a frequency [Hz]."""
        if not self.oscillating:
            raise ValueError("no mode oscillates")
        return min(self.oscillating, key=lambda mode: abs(mode.frequency - frequency))


@report_progress("finding the modes of")
def find_modes(
    what: LinearModel | System,
    *,
    at: Place = "equilibrium",
    parameters: Mapping[str, float] | None = None,
    pade: int = PADE_ORDER,
    friction: str = "kept",
    hold: Sequence[str] = (),
) -> ModeSet:
    """The modes of a linear model, or of a system linearised at a point: then with shapes in space.

    Args:
        at, parameters: as for `linearise`; only for a system.
        pade: order of the Pade approximations that find the poles of delays, which are then made exact; a higher
            one finds more of the fast ones.
        friction: "kept" as it is at the point, bristles being springs, or "none": all that only loses energy left out.
        hold: patterns of outputs of blocks that stay as they are at the point, such as `*.control.current`.
    """
    if isinstance(what, LinearModel):
        return ModeSet(what, _modes_of(what, pade))
    refuse_word("friction", friction, KEPT, "modes")
    system = what.without_friction if friction == "none" else what
    if hold:
        system, at = hold_outputs(system, hold, at)
    model = linearise(system, at, parameters=parameters)
    modes = _mark_method(_modes_of(model, pade), model, system, pade)
    return draw_shapes(ModeSet(model, modes), system)


def _mark_method(modes: tuple[Mode, ...], model: LinearModel, system: System, pade: int) -> tuple[Mode, ...]:
    """The modes; those that the constraints leave free are the machine's own, the others the method's.

    Under Baumgarte's method errors of constraints decay at its own poles, under projection they stay. The model in free
    coordinates has none of these poles: each of its own is matched with the nearest one.
    """
    if not system.motion.constraint_forces:
        return modes
    try:
        own = _modes_of(reduce_constraints(model, system), pade)
    except ModelError:  # off the constraints, or where they are singular, nothing is free
        return modes
    distances = [[abs(mode.pole - free.pole) for mode in modes] for free in own]
    matched = set(linear_sum_assignment(np.array(distances).reshape(len(own), len(modes)))[1].tolist())
    return tuple(replace(mode, of_method=k not in matched) for k, mode in enumerate(modes))


def draw_shapes(found: ModeSet, system: System) -> ModeSet:
    """The modes with shapes in space, on the mechanism of the system that was linearised."""

    skeleton, point = build_skeleton(system), found.model.point
    if skeleton is None or point is None:
        return found
    mean = skeleton.place(point.x, point.p)
    into, positions = positions_by(system, point.x)
    # From changes of the states to angles by their limits: of joints, and of flexible bodies' nodes by each axis.
    names = system.state_names
    joints = np.eye(len(names)) / DRAWN_ANGLE
    rows = [row for row, state in zip(joints, system.states, strict=True) if state.unit == "rad"]
    for body in system.scenario.machine.any_mechanism.flexible_bodies:
        places = [names.index(f"{mode.name}.position") for mode in body.modes]
        turns = np.zeros((3 * len(body.nodes), len(names)))
        turns[:, places] = np.concatenate([np.transpose(node.turn) for node in body.nodes]) / DRAWN_BEND
        rows += list(turns)
    turning = np.array(rows).reshape(-1, len(names))
    modes = []
    for mode in found:
        # The instant at which the leading joint is out furthest.
        direction = np.zeros(point.x.size)
        direction[: system.n_q] = into @ [mode.shape[name].real for name in positions]
        amplitude = _drawn_amplitude(skeleton, point, direction, turning @ direction, mean)
        there, back = (skeleton.place(point.x + sign * amplitude * direction, point.p) for sign in (1, -1))
        modes.append(replace(mode, displaced=Displaced(there, back, amplitude) if direction.any() else None))
    return replace(found, modes=tuple(modes), skeleton=skeleton, mean=mean)


def _drawn_amplitude(skeleton: Skeleton, point: OperatingPoint, direction: Array, turns: Array, mean: Array) -> float:
    """A factor that makes a shape well seen: by the slopes of its points and the limits of angles."""
    if not direction.any():
        return 0.0
    small = 1e-6 / np.abs(direction).max()
    slope = np.linalg.norm(skeleton.place(point.x + small * direction, point.p) - mean, axis=1).max() / small
    size = np.ptp(mean, axis=0).max() or 1.0
    turn = np.abs(turns).max(initial=0.0)
    limits = [DRAWN_DEFLECTION * size / slope] if slope else []
    limits += [1 / turn] if turn else []
    return float(min(limits, default=0.0))


def _modes_of(model: LinearModel, pade: int) -> tuple[Mode, ...]:
    roots = [root for root in find_poles(model, pade) if root.pole.imag >= 0]
    least = STILL * max((abs(root.pole) for root in roots), default=0.0)
    return tuple(_mode(model, root, abs(root.pole) <= least) for root in roots)


def _mode(model: LinearModel, root: Root, free: bool) -> Mode:
    states = [state.name for state in model.states]
    names = [*states, *(delay.name for delay in model.delays)]
    shares = np.abs(root.shares)
    shares = shares / shares.sum()
    order = np.argsort(-shares, kind="stable")
    shape = root.right[: len(states)]
    joints = np.array([name.endswith(".position") for name in states]) & (np.abs(shape) > 0)
    leading = np.argmax(np.where(joints, np.abs(shape), 0.0)) if joints.any() else np.argmax(np.abs(shape))
    shape = shape / shape[leading] if shape[leading] else shape
    return Mode(
        root.pole,
        MappingProxyType(dict(zip(states, shape.tolist(), strict=True))),
        MappingProxyType({names[k]: float(shares[k]) for k in order}),
        free=free,
    )


# --------------------------------------------------------------------------------------------------
# Mode animation: how does a mode look in motion? A period of it as a run, large enough to be seen.
#
#     q = q0 + a Re(phi exp(j omega t))
#
# The amplitude a is chosen for the eye and stays: neither damping nor large motions are in it. Joints and modes that
# lag behind each other do so here.


# Rows of a period: between them, motions drawn as straight lines are off by a thousandth of their size.
ROWS = 73
MOST_MODES, PERIOD = 12, 2.0
"""How many modes are drawn, and how long a period of each is made to take [s]."""


@frozen(eq=False)
class Vibration:
    """Modes in motion.

    Attributes:
        found: all modes; modes: those that are drawn, runs: a period of each; rest: the operating point.
        period: of every run [s], whatever the mode's own.
    """

    found: ModeSet
    modes: tuple[Mode, ...]
    runs: tuple[Run, ...]
    rest: Run
    period: float


def animate_modes(found: ModeSet, system: System) -> Vibration:
    """A period of the slowest modes that oscillate, as positions of all joints and modal coordinates.

    Args:
        found: modes of the system, with shapes in space.
    """
    modes = [mode for mode in found.moving[:MOST_MODES] if mode.displaced is not None]
    if not modes:
        raise ValueError("no mode oscillates and moves the mechanism")
    runs = tuple(_draw_period(system, found, mode) for mode in modes)
    return Vibration(found, tuple(modes), runs, _draw_period(system, found, None), PERIOD)


def _draw_period(system: System, modes: ModeSet, mode: Mode | None) -> Run:
    """A period of a mode, or of the operating point, as a run."""
    point = modes.model.point
    assert point is not None
    time = np.linspace(0.0, PERIOD, ROWS)
    swing, sentence = np.zeros((ROWS, system.n_q)), "the operating point"
    if mode is not None and mode.displaced is not None:
        into, positions = positions_by(system, point.x)
        shape = mode.displaced.amplitude * (into @ [mode.shape[name] for name in positions])
        swing = np.real(np.exp(2j * np.pi * time / PERIOD)[:, None] * shape)
        sentence = f"a period of {1 / mode.frequency:.4g} s, drawn in {PERIOD:g} s"
    infos = tuple(SignalInfo(state.name, state.unit) for state in system.states[: system.n_q])
    values = system.number_values | dict(zip(system.places, point.p.tolist(), strict=True))
    used = {name: {"value": values[name], "unit": number.unit} for name, number in system.numbers.items()}
    provenance = Provenance(system.scenario.name, describe(system.scenario), used)
    outcome = Outcome(OutcomeKind.FINISHED, sentence, PERIOD)
    return Run(time, point.x[: system.n_q] + swing, infos, outcome, provenance)
