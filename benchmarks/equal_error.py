"""How long does the swinging six-axis arm take at equal error, beside Drake's, MuJoCo's and Newton's integrators?

Two seconds without friction and control, from the same start, in the same model: accelerations agree to rounding. Each
contender takes the loosest of its settings (tolerance or step) at which all joints end within ERROR of the reference,
ours at a tolerance of 1e-12. Drake's CENIC is made for contact, and Newton computes in single precision for graphics
cards: neither is in its element here.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import robodyn as rd
from benchmarks.arm import AGREEMENT, N_JOINTS, arm_kernel, arm_system, arm_tree, mjcf, mujoco_arm, random_states
from benchmarks.findings import Findings, Row, find_rival, largest_difference, require_agreement
from benchmarks.timing import time_interleaved
from robodyn.computation.simulation import compile_system

ERROR = 1e-5
"""Largest error of a joint's angle at the end [rad]."""
PATIENCE = 2.0
"""A contender that takes longer than this [s] is not requested more."""
TOLERANCES = tuple(10.0**-k for k in range(3, 13))
STEPS = tuple(0.01 / 2**k for k in range(12))
DRAKE = ("runge_kutta3", "runge_kutta5", "cenic")
JOINTS = [f"joint{k + 1}.position" for k in range(N_JOINTS)]

Motion = Callable[[], np.ndarray]
"""Simulates, and returns the angles at the end."""


@dataclass(frozen=True)
class Size:
    duration: float = 2.0
    rounds: int = 5
    newton: bool = True


SIZES = {"smallest": Size(0.1, 1, newton=False), "usual": Size()}


def measure(size: Size) -> Findings:
    """Of each contender the fastest setting that is accurate enough, timed in turns with ours."""
    reference = ours(1e-12, size.duration)()
    contenders: dict[str, Motion] = {"ours": choose("ours", candidates("ours", size.duration), reference)}
    rivals, missing, agreements, notes = {}, [], [], []
    for label, package, settings in list_rivals(size):
        if find_rival(package) is None:
            missing += [package] if package not in missing else []
            continue
        try:
            contenders[label], rivals[label] = choose(label, settings(), reference), package
        except TooCoarse as coarse:
            notes.append(str(coarse))
    if find_rival("pydrake") is not None:
        agreements.append(compare_accelerations())
    error = float(np.max(np.abs(contenders["ours"]() - reference)))
    agreements.append(require_agreement("ends of ours and of its reference", error, ERROR, "rad"))
    timings = time_interleaved(contenders, size.rounds)
    rows: list[Row] = [
        timings.row(
            f"{size.duration:g} s of the swinging arm within {ERROR:g} rad" + (f", {label}" if label else ""),
            "ours",
            "ms",
            1e3,
            rival=label if label in contenders else "",
            rival_name=label,
        )
        for label in rivals or {"": ""}
    ]
    return Findings(tuple(rows), agreements=(*agreements, *notes), missing=tuple(missing))


class TooCoarse(Exception):
    """No setting of a contender is accurate enough."""


def choose(label: str, settings: Iterator[Motion], reference: np.ndarray) -> Motion:
    """The loosest setting that ends near enough to the reference."""
    best, took = np.inf, 0.0
    for motion in settings:
        begun = time.perf_counter()
        error = float(np.max(np.abs(motion() - reference)))
        took = time.perf_counter() - begun
        if error <= ERROR:
            return motion
        best = min(best, error)
        if took > PATIENCE:
            break
    raise TooCoarse(f"{label} ends within {best:.1e} rad at best in {took:.2g} s: it has no time at {ERROR:g} rad")


def list_rivals(size: Size) -> Iterator[tuple[str, str, Callable[[], Iterator[Motion]]]]:
    """Label, package and settings of each, the loosest first."""
    for scheme in DRAKE:
        yield f"Drake {scheme}", "pydrake", lambda s=scheme: candidates(s, size.duration)  # type: ignore[misc]
    yield "MuJoCo RK4", "mujoco", lambda: candidates("mujoco", size.duration)
    if size.newton:
        yield "Newton Featherstone", "newton", lambda: candidates("newton", size.duration)


def candidates(kind: str, duration: float) -> Iterator[Motion]:
    """A contender with one setting after the other."""
    if kind == "ours":
        yield from (ours(tolerance, duration) for tolerance in TOLERANCES)
    elif kind == "mujoco":
        yield from (mujoco_motion(step, duration) for step in STEPS)
    elif kind == "newton":
        yield from (newton_motion(step, duration) for step in STEPS[3:7])
    else:
        yield from (drake_motion(kind, tolerance, duration) for tolerance in TOLERANCES)


def start() -> np.ndarray:
    return arm_system().described.x[: 2 * N_JOINTS]


def ours(tolerance: float, duration: float) -> Motion:
    """By dopri5, checked and recorded as any run."""
    solver = rd.Solver("dopri5", rtol=tolerance, atol=1e-2 * tolerance)
    compiled = _compiled(duration)

    def move() -> np.ndarray:
        run = rd.simulate(compiled, solver)
        return np.array([run[name].final for name in JOINTS])

    return move


@cache
def _compiled(duration: float) -> Any:
    scenario = replace(arm_system().scenario, duration=duration)
    return compile_system(rd.assemble(scenario), rd.Solver("dopri5"), signals=tuple(JOINTS))


def drake_plant() -> Any:
    """The arm, in a diagram as CENIC wants one, and its plant."""
    drake = importlib.import_module("pydrake.all")
    builder, tree, bodies = drake.DiagramBuilder(), arm_tree(), {}
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.mutable_gravity_field().set_gravity_vector(tree.gravity)
    for k, link in enumerate(tree.links):
        T = link.inertia.tensor
        about_com = drake.RotationalInertia(T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2])
        inertia = drake.SpatialInertia.MakeFromCentralInertia(link.inertia.mass, link.inertia.com, about_com)
        bodies[k] = plant.AddRigidBody(link.name, inertia)
        parent = bodies[link.parent] if link.parent >= 0 else plant.world_body()
        pose = drake.RigidTransform(drake.RotationMatrix(link.frame.R), link.frame.p)
        frame = plant.AddFrame(drake.FixedOffsetFrame(f"{link.joint}_before", parent.body_frame(), pose))
        joint = plant.AddJoint(drake.RevoluteJoint(link.joint, frame, bodies[k].body_frame(), np.array(link.axis)))
        if link.armature:
            actuator = plant.AddJointActuator(f"{link.joint}_drive", joint)
            actuator.set_default_rotor_inertia(link.armature)
            actuator.set_default_gear_ratio(1.0)
    plant.Finalize()
    return builder.Build(), plant


def compare_accelerations() -> str:
    """Drake's accelerations M^-1 (tau + g - C v) at random states, and ours."""
    diagram, plant = drake_plant()
    context, kernel, pairs = plant.GetMyMutableContextFromRoot(diagram.CreateDefaultContext()), arm_kernel(), []
    for q, v, tau in random_states(5):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        forces = tau + plant.CalcGravityGeneralizedForces(context) - plant.CalcBiasTerm(context)
        pairs.append((kernel(q, v, tau), np.linalg.solve(plant.CalcMassMatrix(context), forces)))
    return require_agreement("accelerations and Drake's there", largest_difference(pairs), AGREEMENT)


def drake_motion(scheme: str, tolerance: float, duration: float) -> Motion:
    drake = importlib.import_module("pydrake.all")
    diagram, plant = drake_plant()
    simulator = drake.Simulator(diagram)
    drake.ResetIntegratorFromFlags(simulator, scheme, 0.1)
    simulator.get_mutable_integrator().set_target_accuracy(tolerance)
    root = simulator.get_mutable_context()
    context, x = plant.GetMyMutableContextFromRoot(root), start()
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))

    def move() -> np.ndarray:
        root.SetTime(0.0)
        plant.SetPositions(context, x[:N_JOINTS])
        plant.SetVelocities(context, x[N_JOINTS:])
        simulator.Initialize()
        simulator.AdvanceTo(duration)
        return np.array(plant.GetPositions(context))

    return move


def mujoco_motion(step: float, duration: float) -> Motion:
    import mujoco

    model = mujoco_arm(step)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data, x = mujoco.MjData(model), start()

    def move() -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = x[:N_JOINTS], x[N_JOINTS:]
        mujoco.mj_step(model, data, nstep=round(duration / step))
        return data.qpos.copy()

    return move


def newton_motion(step: float, duration: float) -> Motion:
    """On the processor, by its reduced-coordinate solver, in single precision."""
    newton = importlib.import_module("newton")
    builder = newton.ModelBuilder()
    builder.add_mjcf(mjcf(step))
    x, model = start(), builder.finalize(device="cpu")
    solver, control = newton.solvers.SolverFeatherstone(model, angular_damping=0.0), model.control()

    def move() -> np.ndarray:
        now, after = model.state(), model.state()
        now.joint_q.assign(x[:N_JOINTS].astype(np.float32))
        now.joint_qd.assign(x[N_JOINTS:].astype(np.float32))
        newton.eval_fk(model, now.joint_q, now.joint_qd, now)
        for _ in range(round(duration / step)):
            now.clear_forces()
            solver.step(now, after, control, None, step)
            now, after = after, now
        return np.array(now.joint_q.numpy(), float)

    return move
