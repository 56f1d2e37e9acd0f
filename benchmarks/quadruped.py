"""How fast does a quadruped stand and trot, beside MuJoCo with its own contacts, and how true are its feet?

Speed is one thing, contact another: the table has how deep feet sink into the floor and how far they slip while the
robot stands, which is nothing for feet that are rigid and stick.

MuJoCo has the same bodies, joints, gains and gait, written as MJCF from the mechanism; feet are spheres with elliptic
friction cones on a plane, all else of the contacts is MuJoCo's own: soft constraints with its default time constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from benchmarks.findings import Findings, Table, find_rival, largest_difference, require_agreement
from benchmarks.timing import Prepared, prepare, time_interleaved
from robodyn import MachineDynamics, assemble
from robodyn.description.catalog import quadruped
from robodyn.description.catalog.quadruped import (
    DIAGONAL,
    FOOT,
    FRICTION,
    GAINS,
    GAIT,
    HEIGHT,
    LEGS,
    quadruped_mechanism,
)
from robodyn.description.laws.references import walking_leg
from robodyn.description.model import GROUND, Body, Joint, Mechanism, Solver

GAITS = {"stands": (0.0, 0.0), "trots": (0.1, 0.06)}
STEPS = (1e-3, 2e-3)
"""Of MuJoCo [s]: small enough for its contacts, and its default."""
RIGID, COMPLIANT, LOCATED = "rigid feet", "compliant feet", "rigid feet, all events located"
SOLVERS = {
    RIGID: Solver("stewart_trinkle", step=1e-3),
    COMPLIANT: Solver("rkc", rtol=1e-2, atol=1e-4),
    LOCATED: Solver("dopri5", rtol=1e-4, atol=1e-6),
}
GOALS = {RIGID: 1.0, COMPLIANT: 1.0}
"""Time over that of MuJoCo at its smaller step."""
FEET_SIGNALS = tuple(f"{leg}_touch.{quantity}" for quantity in ("gap", "slip") for leg in LEGS)
REAL_TIME_GOAL = 100.0
"""Computing time [ms] for a second: ten times real time."""
SAME_ROBOT = 1e-12
# Rigid feet keep to the floor [m], in any gait; heights of the trunk at the end differ by what soft contacts yield [m].
ON_FLOOR, SAME_HEIGHT = 1e-6, {"stands": 3e-3, "trots": 1e-2}


@dataclass(frozen=True)
class Size:
    duration: float = 3.0
    gaits: tuple[str, ...] = tuple(GAITS)
    feet: tuple[str, ...] = tuple(SOLVERS)
    steps: tuple[float, ...] = STEPS
    rounds: int = 5


SIZES = {"smallest": Size(0.1, ("stands",), (RIGID,), STEPS[:1], 1), "usual": Size()}


@dataclass(frozen=True)
class Truth:
    """How far feet sink in [m], how far they slip in the last two thirds [m], the trunk's way and height [m], steps."""

    sunk: float
    slipped: float
    way: float
    height: float
    steps: int


def measure(size: Size) -> Findings:
    """Rigid and compliant feet, standing and trotting."""
    mujoco = find_rival("mujoco")
    agreements = [check_robot()] if mujoco else []
    rows, lines = [], []
    for gait in size.gaits:
        ours = {feet: prepare_ours(gait, feet, size) for feet in size.feet}
        rivals = {f"MuJoCo at {1e3 * step:g} ms": Rival(step, gait, size.duration) for step in size.steps if mujoco}
        runs: dict[str, Callable[[], object]] = {
            feet: partial(prepared.run, SOLVERS[feet], size.duration) for feet, prepared in ours.items()
        }
        timings = time_interleaved(runs | {name: rival.run for name, rival in rivals.items()}, size.rounds)
        truths = {feet: judge_ours(prepared, SOLVERS[feet], size) for feet, prepared in ours.items()}
        truths |= {name: judge_rival(rival) for name, rival in rivals.items()}
        agreements += compare_truths(gait, truths, rivals)

        rival = next(iter(rivals), "MuJoCo")
        scale = 1e3 / size.duration
        for feet in ours:
            name = f"{gait}, {feet}: computing time of a second"
            note = "; ".join(f"{each} sink in by {1e3 * truths[each].sunk:.2g} mm" for each in (feet, *rivals))
            goal = GOALS.get(feet)
            rows.append(timings.row(name, feet, "ms", scale, note=note, goal=goal, rival=rival, rival_name=rival))
        for feet in ours:
            name, note = f"{gait}, {feet}: beside the clock", "of a simulated second"
            rows.append(timings.row(name, feet, "ms", scale, note=note, goal=REAL_TIME_GOAL))
        for name, truth in truths.items():
            speed, step = size.duration / timings.median(name), size.duration / truth.steps * 1e3
            slipped = f"{truth.slipped * 1e6:.2g}" if gait == "stands" else "-"
            lines.append((gait, name, speed, step, truth.sunk * 1e3, slipped, truth.way))
    columns = ("gait", "feet", "x real time", "mean step, ms", "sunk in, mm", "slipped, um", "way, m")
    table = Table("the quadruped and its feet", columns, tuple(lines))
    return Findings(tuple(rows), (table,), tuple(agreements), () if mujoco else ("mujoco",))


def check_robot() -> str:
    """Both simulate the same robot: mass matrices at random angles, the trunk upright."""
    angles = np.random.default_rng(1).uniform(-1, 1, 12)
    ours = MachineDynamics(quadruped().machine).mass_matrix(np.concatenate([(0, 0, 0, 1, 0, 0, 0), angles]))
    theirs = Rival(STEPS[0], "stands", 1.0).mass_matrix(angles)
    return require_agreement("mass matrices of ours and MuJoCo's", largest_difference([(ours, theirs)]), SAME_ROBOT)


def compare_truths(gait: str, truths: dict[str, Truth], rivals: dict[str, Rival]) -> list[str]:
    """Rigid feet are on the floor and not below it, and trunks are as high as MuJoCo's."""
    sentences = []
    for feet in (RIGID, LOCATED):
        if feet in truths:
            sentences.append(require_agreement(f"{gait}: {feet} and the floor", truths[feet].sunk, ON_FLOOR, "m"))
    for rival in rivals:
        for name in (name for name in truths if name not in rivals):
            what = f"{gait}: heights of the trunk on {name} and with {rival}"
            apart = abs(truths[name].height - truths[rival].height)
            sentences.append(require_agreement(what, apart, SAME_HEIGHT[gait], "m"))
    return sentences


def prepare_ours(gait: str, feet: str, size: Size) -> Prepared:
    stride, lift = GAITS[gait]
    scenario = quadruped(stride, lift, feet != COMPLIANT, duration=size.duration)
    system = assemble(replace(scenario, solver=SOLVERS[feet]))
    return prepare(system, SOLVERS[feet], (*FEET_SIGNALS, "base.x.position", "base.z.position"))


def judge_ours(prepared: Prepared, solver: Solver, size: Size) -> Truth:
    trajectory = prepared.run(solver, size.duration, np.arange(0.0, size.duration, 2e-3))
    named = {info.name: trajectory.y[:, k] for k, info in enumerate(prepared.recorded)}
    both = np.stack([named[name] for name in FEET_SIGNALS], axis=1).reshape(-1, 2, len(LEGS))
    places = named["base.x.position"][-1], named["base.z.position"][-1]
    return judge(both[:, 0], both[:, 1], places, size.duration, trajectory.counters.steps)


def judge_rival(rival: Rival) -> Truth:
    states = rival.run()
    return judge(*rival.feet(states), (states[-1, 1], states[-1, 3]), rival.duration, len(states))


def judge(gaps: np.ndarray, slips: np.ndarray, places: tuple[float, float], duration: float, steps: int) -> Truth:
    """Args: gaps, slips: of equally spaced rows, (n_rows, 4); places: x and z of the trunk at the end."""
    late = slips[len(slips) // 3 :]
    slipped = np.max(np.sum(late, axis=0)) * duration / len(slips)
    return Truth(max(0.0, -float(np.min(gaps))), float(slipped), float(places[0]), float(places[1]), steps)


JOINTS = ("abduction", "hip", "knee")


@dataclass(frozen=True)
class Rival:
    """MuJoCo's quadruped at a time step [s] with a gait."""

    step: float
    gait: str
    duration: float

    @cached_property
    def model(self) -> Any:
        import mujoco

        return mujoco.MjModel.from_xml_string(write_mjcf(quadruped_mechanism(), self.step))

    @cached_property
    def controls(self) -> np.ndarray:
        """Targets of the twelve joints at each step, known before: (1, n_steps, 12)."""
        times = np.arange(round(self.duration / self.step)) * self.step
        stride, lift = GAITS[self.gait]
        gait = GAIT | {"stride": stride, "lift": lift}
        rounds = [walking_leg(times, **gait, phase=0.5 * k) for k in range(2)]
        columns = []
        for leg in LEGS:
            angles = rounds[int(leg not in DIAGONAL)]
            columns += [np.zeros_like(times), angles["hip_angle"], angles["knee_angle"]]
        return np.stack(columns, axis=1)[None]

    @cached_property
    def start(self) -> np.ndarray:
        """Time, positions, velocities as MuJoCo counts them."""
        import mujoco

        data = mujoco.MjData(self.model)
        data.qpos[:7] = (0, 0, HEIGHT + FOOT, 1, 0, 0, 0)
        data.qpos[7:] = self.controls[0, 0]
        state = np.zeros(mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        return state

    def run(self) -> np.ndarray:
        """All states, (n_steps, n_state); in MuJoCo's own loop."""
        import mujoco
        from mujoco import rollout

        states, _ = rollout.rollout(self.model, mujoco.MjData(self.model), self.start, self.controls)
        return np.asarray(states)[0]

    def feet(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps below the feet [m], and how fast each slips there [m/s], both (n_rows, 4)."""
        import mujoco

        data, velocity, found = mujoco.MjData(self.model), np.zeros(6), []
        for state in states:
            mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_fwdPosition(self.model, data)
            mujoco.mj_fwdVelocity(self.model, data)
            for leg in LEGS:
                geom = data.geom(f"{leg}_foot")
                mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_GEOM, geom.id, velocity, 0)
                # Of the middle, and what its rotation adds at the lowest place.
                slip = velocity[3:] + np.cross(velocity[:3], (0.0, 0.0, -FOOT))
                found.append((geom.xpos[2] - FOOT, np.hypot(slip[0], slip[1])))
        gaps, slips = np.array(found).T.reshape(2, -1, len(LEGS))
        return gaps, slips

    def mass_matrix(self, angles: np.ndarray) -> np.ndarray:
        """With the trunk upright, (18, 18)."""
        import mujoco

        data, M = mujoco.MjData(self.model), np.zeros((18, 18))
        data.qpos[3:7], data.qpos[7:] = (1, 0, 0, 0), angles
        mujoco.mj_forward(self.model, data)
        mujoco.mj_fullM(self.model, data, M)
        return M


def write_mjcf(mechanism: Mechanism, step: float) -> str:
    """A mechanism of free and revolute joints as MJCF, with feet and position servos."""
    trunk = "".join(_write_body(mechanism, joint) for joint in mechanism.joints if joint.parent == GROUND)
    gains = f'kp="{GAINS["proportional"]}" kv="{GAINS["derivative"]}"'
    names = [f"{leg}_{joint}" for leg in LEGS for joint in JOINTS]
    limit = f'forcerange="{-GAINS["limit"]} {GAINS["limit"]}"'
    servos = "".join(f'<position joint="{name}" {gains} {limit}/>' for name in names)
    return (
        f'<mujoco><compiler angle="radian" autolimits="true"/>'
        f'<option timestep="{step}" integrator="implicitfast" cone="elliptic"/>'
        f'<worldbody><geom type="plane" size="20 20 1" friction="{FRICTION["coefficient"]} 0 0"/>{trunk}</worldbody>'
        f"<actuator>{servos}</actuator></mujoco>"
    )


def _write_body(mechanism: Mechanism, joint: Joint) -> str:
    body = next(body for body in mechanism.bodies if body.name == joint.child)
    assert isinstance(body, Body)
    inner = "".join(_write_body(mechanism, other) for other in mechanism.joints if other.parent == body.name)
    moved = "<freejoint/>" if joint.kind == "free" else _write_hinge(joint)
    return f'<body name="{body.name}" pos="{_text(joint.origin)}">{moved}{"".join(_own(mechanism, body))}{inner}</body>'


def _write_hinge(joint: Joint) -> str:
    return f'<joint name="{joint.name}" axis="{_text(joint.axis)}" armature="{joint.armature}"/>'


def _own(mechanism: Mechanism, body: Body) -> Iterator[str]:
    yield f'<inertial pos="{_text(body.com)}" mass="{body.mass}" diaginertia="{_text(body.inertia[:3])}"/>'
    for point in mechanism.points:
        if point.body == body.name and point.name.endswith("_foot"):
            place = f'name="{point.name}" pos="{_text(point.origin)}" size="{FOOT}"'
            yield f'<geom type="sphere" {place} friction="{FRICTION["coefficient"]} 0 0" condim="3"/>'


def _text(values: Any) -> str:
    return " ".join(str(float(value)) for value in values)
