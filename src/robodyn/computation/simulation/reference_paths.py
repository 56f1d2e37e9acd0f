"""Followed path: where does a law that makes errors linear move a machine, by its reference and its start alone?

    y(q(t), r(t)) = -e(t)   of a task,   s(q(t)) - s_ref(t) = -e(t)   of axes,   h(q(t)) = 0,   e'' + kd e' + kp e = 0

which Newton's method solves from instant to instant.

Singular positions on the way: where do a controller's axes or task lose a direction, and by how much? Before a run.

Along the path that a machine follows, the smallest singular value is that of J, the task by the axes, or the inverse of
the largest of T, the joints by the axes; lengths over the machine's size. Spare axes and floating bases move as forces
say, and references may depend on the motion: nothing is said of these before a run.

Start and controllers: does a given start fit what controllers assume, and references ask for?

A start fits where samples that are taken again and again at the same place do not change what acts (an encoder knows
its last reading, what a delay holds back is what it lets through), and where forces balance while references stand
still. What a reference asks for, such as a step, is no misfit. One that was found at rest fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, bisect, frozen
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.computation.assembly.control.model_dynamics import list_target
from robodyn.computation.assembly.control.models import ModelInfo, name_direction
from robodyn.description.model import Block

from .compiled import CompiledSystem
from .problem import history_start
from .references import RATES, find_motions, find_references, path_starts
from .run_functions import compile_system
from .starting import Start, find_start

MOVING = ("target", "target_velocity", "target_acceleration")
TURNING = ("target_orientation", "target_angular_velocity", "target_angular_acceleration")
NEWTON_STEPS, CLOSE = 20, 1e-8
LEAST = 0.01
"""Smallest singular value that is not reported, where the law does not say it."""
ALIKE = 1e-4
"""Size of w t up to which roots count as one: then (w t)^4 / 120 is rounding."""
Motions = Sequence[tuple[Array, Array]]
"""Times and values of each of several signals."""


def decay(t: float, kp: Array, kd: Array, e: Array, rate: Array) -> Array:
    """What is left at t of errors e with e'' + kd e' + kp e = 0, by the roots s + w and s - w, s = -kd/2.

    e(t) = c e(0) + b (e'(0) - s e(0)),   c = (E1 + E2) / 2,   b = (E1 - E2) / 2w,   E1, E2 = exp((s +- w) t)
    """
    s = -kd / 2
    w = np.sqrt(s**2 - kp + 0j)
    first, second = np.exp((s + w) * t), np.exp((s - w) * t)
    # Roots that are nearly one: exp(s t) sinh(w t) / w, whose series has more digits.
    alike = np.abs(w * t) < ALIKE
    spread = np.where(alike, t * np.exp(s * t) * (1 + (w * t) ** 2 / 6), (first - second) / np.where(alike, 1.0, 2 * w))
    return ((first + second) / 2 * e + spread * (rate - s * e)).real


@frozen
class Following:
    """A machine that follows what is wanted.

    Attributes:
        given: inputs of the law, by name: times and values of each signal; states: at the start, where they are other
            than described.
    """

    info: ModelInfo
    block: Block
    values: Mapping[str, float]
    given: Mapping[str, Motions]
    states: Mapping[str, float]

    @property
    def q(self) -> Array:
        """Positions at the start."""
        return np.array([self.states.get(name, value) for name, value in self.info.positions.items()])

    @property
    def v(self) -> Array:
        """Velocities at the start."""
        return np.array([self.states.get(name, value) for name, value in self.info.velocities.items()])

    @property
    def n(self) -> int:
        """Axes, and directions of the task where there is one."""
        return len(self.info.axes)

    @property
    def least(self) -> float:
        return self.values.get(f"{self.block.name}.least_independence", LEAST)

    def wanted(self, name: str, t: float) -> tuple[float, ...]:
        return tuple(float(np.interp(t, *motion)) for motion in self.given.get(name, ()))

    def call(self, name: str, q: Array, t: float, v: Array | None = None) -> Array:
        """A function of the model, with what is wanted at a time."""
        functions, rows = self.info.functions, self.info.rows
        moving, turning = ([self.wanted(name, t) for name in names] for names in (MOVING, TURNING))
        target = np.array(list(list_target(rows, moving, turning))) if rows.all else np.zeros(0)
        arguments: list[Any] = [0.0, q, np.zeros(functions.n_v) if v is None else v, functions.numbers, target]
        return np.array(self._spelled[name](*arguments))

    @cached_property
    def _spelled(self) -> dict[str, Any]:
        """Functions that CasADi itself evaluates."""
        names = ("positions", "position_slopes", "position_rates", "rates", "slopes", "deviation", "deviation_rate")
        return {name: spell_out(self.info.functions.named[name]) for name in names}

    def deviation(self, q: Array, t: float) -> Array:
        """y, or s - s_ref; then h."""
        positions = self.call("positions", q, t).ravel()
        if self.info.rows.all:
            return np.concatenate([self.call("deviation", q, t).ravel(), positions[self.n :]])
        return np.concatenate([positions[: self.n] - self.wanted("target", t), positions[self.n :]])

    @cached_property
    def start(self) -> Array:
        """Deviation and its rate, (n, 2)."""
        q, v = self.q, self.v
        away = self.deviation(q, 0.0)[: self.n]
        if self.info.rows.all:
            return np.array([away, self.call("deviation_rate", q, 0.0, v).ravel()]).T
        rate = self.call("rates", q, 0.0, v).ravel()[: self.n]
        return np.array([away, rate - np.array(self.wanted("target_velocity", 0.0) or 0.0)]).T

    def error(self, t: float) -> Array:
        """-e."""
        return decay(t, self._stiffness, self._damping, *self.start.T)

    @cached_property
    def _stiffness(self) -> Array:
        return np.array(self._gains("stiffness"))

    @cached_property
    def _damping(self) -> Array:
        return np.array(self._gains("damping"))

    def _gains(self, name: str) -> list[float]:
        gain, path = self.block.parameters[name], f"{self.block.name}.{name}"
        return [self.values[f"{path}.{k}" if isinstance(gain, tuple) else path] for k in range(self.n)]

    def slopes(self, q: Array, t: float) -> tuple[Array, Array]:
        """The slopes by the joints: of axes and constraints, and of what is followed and constraints."""
        held, followed = self.call("position_slopes", q, t), self.call("slopes", q, t)
        return held, np.vstack([followed[self.n :], held[self.n :]]) if self.info.rows.all else held

    def solve(self, q: Array, t: float) -> Array | None:
        """Positions in which the deviation is as it will be; None where there are none near."""
        goal = self.error(t)
        for _ in range(NEWTON_STEPS):
            missed = self.deviation(q, t)
            missed[: self.n] -= goal
            if np.max(np.abs(missed)) < CLOSE:
                return q
            step = np.linalg.lstsq(self.slopes(q, t)[1], missed, rcond=None)[0]
            q = q - self.call("position_rates", q, t) @ step
        return None

    def jacobian(self, q: Array, t: float) -> Array:
        """J, or the axes by the joints that follow them."""
        held, _ = self.slopes(q, t)
        T = np.linalg.lstsq(held, np.eye(len(held))[:, : self.n], rcond=None)[0]
        scales = self.info.scales
        return scales.apply(self.call("slopes", q, t)[self.n :] @ T) if self.info.rows.all else np.linalg.pinv(T)


LINEAR = ("computed_torque", "operational_space_control")
"""Laws under which errors are linear."""
STEPS, HALVINGS = 100, 20
RATE_ERROR = 1e-6
"""Of given rates of a target, over the largest."""


def find_singular_warnings(system: System, values: Mapping[str, float], states: Mapping[str, float]) -> list[str]:
    """A sentence for each law that comes to a singular position from the states at the start."""
    blocks = {block.name: block for block in system.scenario.machine.blocks if block.law in LINEAR}
    sentences = []
    for info in system.models if blocks else ():
        block = blocks.get(info.block)
        if block is not None and _is_determined(info):
            inputs = _known_inputs(system, block, values)
            path = Following(info, block, values, inputs, states)
            sentences += _look(path, system.scenario.duration) if inputs else []
    return sentences


def _is_determined(info: ModelInfo) -> bool:
    """Whether the law says where all joints are, and there may be positions in which it cannot."""
    functions, n, m = info.functions, len(info.axes), len(info.rows.all)
    positions_alone = len(functions.positional) == functions.named["positions"].size1_out(0) - n
    return info.determined and positions_alone and (m == n or (m == 0 and n < functions.n_v))


def _known_inputs(system: System, block: Block, values: Mapping[str, float]) -> dict[str, Motions]:
    """What is wanted, by argument; nothing where any of it depends on more than time, or its rates are not given."""
    signals = {name: source if isinstance(source, tuple) else (source,) for name, source in block.inputs.items()}
    if not signals.keys() <= {*MOVING, *TURNING}:
        return {}
    times, motions = find_motions(system, [signal for several in signals.values() for signal in several], values)
    if not all("velocity" in motion for motion in motions):
        return {}
    shaped = [{rate: np.broadcast_to(row, times.shape) for rate, row in motion.items()} for motion in motions]
    rows = iter(shaped)
    motions_by_input = {name: [next(rows) for _ in several] for name, several in signals.items()}
    if not _knows_rates(motions_by_input):
        return {}
    return {name: [(times, motion["position"]) for motion in several] for name, several in motions_by_input.items()}


def _knows_rates(motions: Mapping[str, list[dict[str, Array]]]) -> bool:
    """Whether the law is given the velocities and accelerations that its targets have: else the machine lags behind."""

    def values(name: str, rate: str) -> Array:
        return np.array([motion[rate] for motion in motions.get(name, ())])

    def agree(true: Array, inputs: Array) -> bool:
        left = true - inputs if len(inputs) else true
        return bool(np.max(np.abs(left), initial=0.0) <= RATE_ERROR * (1 + np.max(np.abs(true), initial=0.0)))

    pairs = (MOVING[:2], MOVING[1:], TURNING[1:])
    turning = np.linalg.norm(values(TURNING[0], "velocity"), axis=0)
    return all(agree(values(name, "velocity"), values(rate, "position")) for name, rate in pairs) and agree(
        # |q'| = |omega| / 2
        turning,
        0.5 * np.linalg.norm(values(TURNING[1], "position"), axis=0) if TURNING[1] in motions else np.zeros(0),
    )


@frozen
class Place:
    """Where a machine is, and how far from singular.

    Attributes:
        margin: what the law compares with its least; smallest: singular value; lost: its direction; side: of a
            singular position, the sign of the determinant.
    """

    q: Array
    margin: float
    smallest: float
    lost: str
    side: float


def _find(path: Following, near: Array, t: float) -> Place | None:
    q = path.solve(near, t)
    if q is None:
        return None
    J = path.jacobian(q, t)
    left, values, _ = np.linalg.svd(J)
    smallest = float(values[-1])
    margin = float(np.sum(values**-2.0)) ** -0.5 if smallest > 0 else 0.0
    side = float(np.sign(np.linalg.det(J))) if path.info.rows.all else 1.0
    return Place(q, margin, smallest, name_direction(left[:, -1], path.info.rows.names or path.info.axes), side)


def _look(path: Following, duration: float) -> list[str]:
    """Where the machine comes to, instant by instant, until it is singular."""
    place, good = _find(path, path.q, 0.0), 0.0
    for t in np.linspace(0.0, duration, STEPS + 1)[1:]:
        if place is None:  # the start is off its constraints, which is reported elsewhere
            return []
        ahead = _find(path, place.q, t)
        if _is_lost(path, place, ahead):
            return [_describe(path, *_narrow(path, place, good, t))]
        place, good = ahead, t
    return []


def _is_lost(path: Following, before: Place, now: Place | None) -> bool:
    return now is None or now.margin < path.least or now.side != before.side


def _narrow(path: Following, place: Place, good: float, bad: float) -> tuple[Place, float]:
    """The last place that is not singular, and when that is, by bisection."""

    def is_lost(time: float) -> bool:
        nonlocal place
        ahead = _find(path, place.q, time)
        if ahead is None or _is_lost(path, place, ahead):
            return True
        place = ahead
        return False

    good, _ = bisect(is_lost, good, bad, HALVINGS)
    return place, good


def _describe(path: Following, place: Place, t: float) -> str:
    what = "task" if path.info.rows.all else "axes"
    begin = f"blocks.{path.block.name}: on the way to the target the {what}"
    if place.margin > 2 * path.least:
        return f"{begin} cannot follow from {t:.4g} s on: no motion of the machine comes close"
    size = f"smallest singular value {place.smallest:.2g} along {place.lost}"
    return f"{begin} will be close to singular at {t:.4g} s: {size}; keep away from there, or control fewer directions"


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
    warnings: dict[str, None] = {}
    for changes in cases:
        values = system.parameter_values(changes)
        shown = ", ".join(f"{name} = {value:g}" for name, value in changes.items())
        sentences = find_start_warnings(compiled, find_start(compiled, values), values)
        warnings |= dict.fromkeys(f"with {shown}: {sentence}" if shown else sentence for sentence in sentences)
    return list(warnings)


def find_start_warnings(compiled: CompiledSystem, start: Start, values: Array) -> list[str]:
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


def _describe_path_starts(compiled: CompiledSystem, numbers: Mapping[str, float], x: Array) -> list[str]:
    """The joint that is farthest from where a planned path begins: controllers would jump there at once."""
    starts = compiled.system.name_states(x)
    units = {state.name: state.unit for state in compiled.system.states}
    sentences = []
    for path, wanted in path_starts(compiled.system, numbers).items():
        gaps = {name: abs(value - starts[name]) for name, value in wanted.items() if name in starts}
        worst = max(gaps, key=lambda name: gaps[name], default="")
        if worst and gaps[worst] > OFF_PATH:
            joint, size = worst.removesuffix(".position"), f"{gaps[worst]:.4g} {units[worst]}"
            what = f"the path '{path}' begins {size} from where joint '{joint}' starts"
            remedy = "leave its joints out of `initial` and set initialisation = 'at_rest'"
            sentences.append(f"{what}: {remedy}")
    return sentences


def _describe_jumps(compiled: CompiledSystem, first: Array, at: tuple[Array, ...], p: Array) -> list[str]:
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
    at: tuple[Array, ...],
    m: Array,
    values: Array,
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
    balance, (t, x, d) = ca.vertcat(system.expressions.applied, system.gravity), at
    applied, load = np.split(system.evaluate(balance, t=t, x=x, d=d, m=m, p=values).ravel(), 2)
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
