"""What does a delta robot cost beside MuJoCo and Exudyn, and under control at 1 kHz?

The rival gets the cheapest of its settings whose motion is within the accuracy asked for. Ours gets the coarsest
tolerance of a ladder at which neither the motion nor the distance between the arms' tips is worse than the rival's.
All have the same nine joints, masses and torques; damping in the motors alone, since theirs acts on joints. MuJoCo
joins the arms' tips by `connect` constraints as stiff as it lets them be, Exudyn by spherical joints of index 3.
What constraint methods cost beside each other is measured by `constraint_methods`, long chains by `chain`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.findings import Disagreement, Findings, Row, Table, find_rival, require_agreement
from benchmarks.timing import Prepared, prepare, time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.description.model import ConstraintMethod, Scenario, Solver
from robodyn_studies.catalog import delta_pid, delta_tracking
from robodyn_studies.catalog.delta_parameters import FITTED, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, constant_torques, delta_fall, delta_machine, symmetric_pose

TIPS = tuple(f"arm{k}.tip.position.{axis}" for k in (1, 2, 3) for axis in "xyz")
PLATFORM = tuple(f"platform.position.{axis}" for axis in "xyz")
CONVERGED = Solver("dopri5", rtol=1e-12, atol=1e-14)
LADDER = 10.0 ** -np.arange(2, 13, 0.5)
MUJOCO = [(way, step) for step in (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4) for way in ("Euler", "RK4")]
EXUDYN = (1e-2, 5e-3, 2e-3, 1e-3)
REAL_TIME_GOAL = 10.0
"""Milliseconds a simulated second: 100 times real time."""
CONTROLLED = "rk4, 1 ms"
CONTROL_SOLVERS = {
    CONTROLLED: Solver("rk4", step=1e-3),
    "heun, 1 ms": Solver("heun", step=1e-3),
    "dopri5, 1e-3": Solver("dopri5", rtol=1e-3, atol=1e-5),
    "dopri5, 1e-7": Solver("dopri5", rtol=1e-7, atol=1e-9),
}
# Two constraint methods of ours, converged; and the platform under control with one step a sample [m].
SAME_MOTION, SAME_CONTROL = 1e-9, 1e-5


@dataclass(frozen=True)
class Size:
    """Accuracies asked of MuJoCo [m], solvers and loops of the robot under control."""

    accuracies: tuple[float, ...] = (1e-6, 1e-8)
    solvers: tuple[str, ...] = tuple(CONTROL_SOLVERS)
    loops: tuple[str, ...] = ("PID, geared dc motors", "tracking")
    rounds: int = 7


SIZES = {"smallest": Size((1e-6,), (CONTROLLED,), ("PID, geared dc motors",), 1), "usual": Size()}
LOOPS = {"PID, geared dc motors": delta_pid, "tracking": delta_tracking}


def measure(size: Size) -> Findings:
    """The robot beside each rival that is installed, then under control."""
    ours = prepare(assemble(delta_swing()), CONVERGED, TIPS)
    exact = read_tips(ours, CONVERGED)[:, 0]
    agreements, rows, missing = [check_projected(exact)], [], []
    for name, beside, accuracies in (
        ("mujoco", beside_mujoco, size.accuracies),
        ("exudyn", beside_exudyn, (1e-5,)),
    ):
        if find_rival(name) is None:
            missing.append(name)
            continue
        for accuracy in accuracies:
            rival, errors, rival_name = beside(exact, accuracy)
            agreements.append(require_agreement(f"motions of ours and of {rival_name}", errors.worst, accuracy, "m"))
            rows.append(compare(ours, exact, rival, errors, rival_name, size))

    for loop in size.loops:
        times = find_control_times(LOOPS[loop](), size)
        cost, error = times[CONTROLLED]
        what = f"places of the platform under control ({loop}) and converged ones"
        agreements.append(require_agreement(what, error, SAME_CONTROL, "m"))
        note = f"{1e3 / cost:.0f} times real time with {CONTROLLED}; the platform within {error:.1e} m"
        rows.append(Row(f"delta robot at 1 kHz, {loop}", cost, "ms/s", note, goal=REAL_TIME_GOAL))
        if loop == size.loops[0]:
            lines = tuple((name, *line, 1e3 / line[0]) for name, line in times.items())
            table = Table("delta robot under PID at 1 kHz", ("solver", "ms/s", "error m", "times real time"), lines)
    return Findings(tuple(rows), (table,), tuple(agreements), tuple(missing))


def read_tips(prepared: Prepared, solver: Solver) -> np.ndarray:
    """Places of the arms' tips at all instants, (n, 3, 3)."""
    outputs = prepared.run(solver, DURATION, INSTANTS).y
    columns = {info.name: outputs[:, k] for k, info in enumerate(prepared.recorded)}
    return np.stack([columns[name] for name in TIPS], axis=1).reshape(-1, 3, 3)


def check_projected(exact: np.ndarray) -> str:
    """The converged motion by another constraint method."""
    scenario = replace(delta_swing(), constraint_method=ConstraintMethod("projection"))
    projected = read_tips(prepare(assemble(scenario), CONVERGED, TIPS), CONVERGED)[:, 0]
    difference = float(np.abs(projected - exact).max())
    return require_agreement("converged motions by both constraint methods", difference, SAME_MOTION, "m")


def find_tolerance(ours: Prepared, exact: np.ndarray, rival: Errors) -> tuple[Solver, Errors]:
    """The coarsest tolerance that is no worse than a rival in motion and constraint."""
    for tolerance in LADDER:
        solver = Solver("dopri5", rtol=tolerance, atol=tolerance / 100)
        errors = find_errors(read_tips(ours, solver), exact)
        if errors.motion <= rival.motion and errors.constraint <= rival.constraint:
            return solver, errors
    raise Disagreement(f"no tolerance is as good as {rival}")


def beside_mujoco(exact: np.ndarray, accuracy: float) -> tuple[MuJoCoDelta, Errors, str]:
    """MuJoCo's cheapest integrator and step within the accuracy."""
    for way, step in sorted(MUJOCO, key=lambda setting: MuJoCoDelta(*setting).evaluations):
        rival = MuJoCoDelta(way, step)
        errors = rival.errors(exact)
        if errors.worst <= accuracy:
            return rival, errors, f"MuJoCo {rival.mujoco.__version__}, {way}, {1e3 * step:g} ms"
    raise Disagreement(f"MuJoCo's delta robot is never within {accuracy:g} m of ours")


def beside_exudyn(exact: np.ndarray, accuracy: float) -> tuple[ExudynDelta, Errors, str]:
    """Exudyn's longest step within the accuracy."""
    for step in EXUDYN:
        rival = ExudynDelta(step)
        errors = rival.errors(exact)
        if errors.worst <= accuracy:
            return rival, errors, f"Exudyn {version('exudyn')}, {1e3 * step:g} ms"
    raise Disagreement(f"Exudyn's delta robot is never within {accuracy:g} m of ours")


def compare(
    ours: Prepared,
    exact: np.ndarray,
    rival: MuJoCoDelta | ExudynDelta,
    errors: Errors,
    rival_name: str,
    size: Size,
) -> Row:
    """Both timed in turns."""
    solver, own = find_tolerance(ours, exact, errors)
    timings = time_interleaved({"ours": lambda: ours.run(solver, DURATION), "rival": rival.run}, size.rounds)
    return timings.row(
        f"swinging delta robot, {DURATION:g} s, no less accurate than {rival_name}",
        "ours",
        "ms/s",
        1e3 / DURATION,
        note=f"motion within {own.motion:.1e} m against {errors.motion:.1e} m of a converged run, tips apart "
        f"{own.constraint:.1e} m against {errors.constraint:.1e} m; ours dopri5 at {solver.rtol:.1e}",
        rival="rival",
        rival_name=rival_name,
        goal=1.0,
    )


def find_control_times(scenario: Scenario, size: Size) -> dict[str, tuple[float, float]]:
    """Solver -> milliseconds a simulated second, and largest error of the platform's place [m]."""
    duration = scenario.duration
    system, instants = assemble(scenario), np.linspace(0, duration, 301)
    best = Solver("dopri5", rtol=1e-10, atol=1e-12)
    exact = prepare(system, best, PLATFORM).run(best, duration, instants).y
    times = {}
    for name in size.solvers:
        solver = CONTROL_SOLVERS[name]
        ready = prepare(system, solver, PLATFORM)
        error = float(np.abs(ready.run(solver, duration, instants).y - exact).max())
        seconds = [ready.run(solver, duration).counters.wall_time for _ in range(size.rounds)]
        times[name] = 1e3 * float(np.median(seconds)) / duration, error
    return times


ROBOT = replace(FITTED, damping=(FITTED.damping[0], 0.0, 0.0))
ANGLE, DURATION = 0.5, 5.0
TORQUES = tuple(share * ROBOT.holding_torque(0.7) for share in (0.95, 1.0, 1.05))
"""Unequal, so that the robot swings sideways too."""
INSTANTS = np.linspace(0.0, DURATION, 501)
LEAST_INERTIA = 1e-9
"""About the links' own axes [kg m^2]: MuJoCo takes no thin rods."""


@dataclass(frozen=True)
class Errors:
    """Largest errors at all instants: of the platform's place, and between the arms' tips [m]."""

    motion: float
    constraint: float

    @property
    def worst(self) -> float:
        return max(self.motion, self.constraint)


def find_errors(tips: np.ndarray, exact: np.ndarray) -> Errors:
    """From places of the three tips (n, 3, 3) and of the platform (n, 3)."""
    if not np.isfinite(tips).all():
        return Errors(math.inf, math.inf)
    return Errors(float(np.abs(tips[:, 0] - exact).max()), float(np.abs(tips[:, 1:] - tips[:, :1]).max()))


def delta_swing() -> Scenario:
    """The robot under unequal constant torques, from rest."""
    machine = delta_machine(ROBOT, drives=constant_torques(TORQUES))
    return replace(delta_fall(ROBOT, angle=ANGLE), machine=machine, duration=DURATION)


def start_angles() -> list[float]:
    pose = symmetric_pose(ROBOT, ANGLE)
    return [pose.get(f"{arm}.q{k}.position", 0.0) for arm in ARMS for k in (1, 2, 3)]


def distal_with_share(robot: DeltaRobot) -> tuple[float, float, float]:
    """Mass, centre of mass and inertia of a distal link with a third of the platform at its tip."""
    third = robot.platform_mass / 3
    mass = robot.distal_mass + third
    centre = (robot.distal_mass * robot.distal_com + third * robot.distal_length) / mass
    inertia = robot.distal_inertia + robot.distal_mass * (robot.distal_com - centre) ** 2
    return mass, centre, inertia + third * (robot.distal_length - centre) ** 2


def write_mjcf(step: float, integrator: str) -> str:
    """The robot as MuJoCo reads it."""
    r, (mass, centre, inertia) = ROBOT, distal_with_share(ROBOT)
    arms = ""
    for k in range(3):
        turn = -2 * math.pi / 3 * k
        x, y, first = r.offset * math.cos(turn), r.offset * math.sin(turn), r.proximal_inertia
        arms += f"""
        <body pos="{x} {y} 0" euler="0 0 {turn}">
          <inertial pos="{r.proximal_com} 0 0" mass="{r.proximal_mass}"
                    diaginertia="{LEAST_INERTIA} {first} {first}"/>
          <joint axis="0 1 0" damping="{r.damping[0]}"/>
          <body pos="{r.proximal_length} 0 0">
            <inertial pos="{centre} 0 0" mass="{mass}" diaginertia="{LEAST_INERTIA} {inertia} {inertia}"/>
            <joint axis="0 1 0"/> <joint axis="0 0 1"/> <site name="tip{k}" pos="{r.distal_length} 0 0"/>
          </body>
        </body>"""
    # The stiffest that MuJoCo takes: a time constant of two steps, an impedance of 0.9999.
    hold = f'solref="{2 * step} 1" solimp="0.9999 0.9999 0.001"'
    loop_joints = "".join(f'<connect site1="tip0" site2="tip{k}" {hold}/>' for k in (1, 2))
    return f"""<mujoco><compiler angle="radian"/>
      <option timestep="{step}" integrator="{integrator}" gravity="0 0 -9.81"><flag contact="disable"/></option>
      <worldbody>{arms}</worldbody><equality>{loop_joints}</equality></mujoco>"""


class MuJoCoDelta:
    """MuJoCo's robot with one integrator and step [s]."""

    def __init__(self, integrator: str, step: float) -> None:
        import mujoco

        self.mujoco, self.step, self.integrator = mujoco, step, integrator
        self.model = mujoco.MjModel.from_xml_string(write_mjcf(step, integrator))
        self.data = mujoco.MjData(self.model)

    @property
    def evaluations(self) -> float:
        """Of the dynamics per simulated second."""
        return (4 if self.integrator == "RK4" else 1) / self.step

    def begin(self) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = start_angles()
        self.data.qfrc_applied[::3] = TORQUES

    def run(self) -> None:
        self.begin()
        self.mujoco.mj_step(self.model, self.data, round(DURATION / self.step))

    def errors(self, exact: np.ndarray) -> Errors:
        """With the tips looked up at all instants."""
        self.begin()
        tips = []
        for _ in INSTANTS:
            self.mujoco.mj_kinematics(self.model, self.data)
            tips.append(self.data.site_xpos.copy())
            self.mujoco.mj_step(self.model, self.data, round(INSTANTS[1] / self.step))
        return find_errors(np.array(tips), exact)


class ExudynDelta:
    """Exudyn's robot as a kinematic tree, by the generalised alpha method of index 3 with a step [s]."""

    def __init__(self, step: float) -> None:
        import exudyn

        self.exudyn, self.step = exudyn, step
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        self.sensors = self._describe()
        self.system.Assemble()

    def _describe(self) -> list[Any]:
        """Tree, spherical joints between the tips, sensors on them."""
        from exudyn import itemInterface as items

        system, place = self.system, [ROBOT.distal_length, 0.0, 0.0]
        node = system.AddNode(
            items.NodeGenericODE2(
                numberOfODE2Coordinates=9,
                referenceCoordinates=[0.0] * 9,
                initialCoordinates=start_angles(),
                initialCoordinates_t=[0.0] * 9,
            )
        )
        tree = system.AddObject(items.ObjectKinematicTree(nodeNumber=node, **self._tree()))
        markers = [
            system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=k, localPosition=place))
            for k in (2, 5, 8)
        ]
        for marker in markers[1:]:
            system.AddObject(items.SphericalJoint(markerNumbers=[markers[0], marker]))
        kind = self.exudyn.OutputVariableType.Position
        return [
            system.AddSensor(items.SensorMarker(markerNumber=marker, storeInternal=True, outputVariableType=kind))
            for marker in markers
        ]

    def _tree(self) -> dict[str, Any]:
        """Nine links one behind the other in each arm; the middle one of each arm has no mass."""
        exudyn, r, (mass, centre, inertia) = self.exudyn, ROBOT, distal_with_share(ROBOT)
        kinds, turns, places = [], [], []
        for k in range(3):
            c, s = math.cos(-2 * math.pi / 3 * k), math.sin(-2 * math.pi / 3 * k)
            kinds += [exudyn.JointType.RevoluteY, exudyn.JointType.RevoluteY, exudyn.JointType.RevoluteZ]
            turns += [np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.eye(3), np.eye(3)]
            places += [[r.offset * c, r.offset * s, 0.0], [r.proximal_length, 0.0, 0.0], [0.0, 0.0, 0.0]]
        moments = [np.diag([0.0, value, value]) for value in (r.proximal_inertia, 0.0, inertia)]
        idle = [0.0] * 9
        return {
            "jointTypes": kinds,
            "linkParents": [-1, 0, 1, -1, 3, 4, -1, 6, 7],
            "jointTransformations": exudyn.Matrix3DList(turns),
            "jointOffsets": exudyn.Vector3DList(places),
            "linkInertiasCOM": exudyn.Matrix3DList(moments * 3),
            "linkCOMs": exudyn.Vector3DList([[x, 0.0, 0.0] for x in (r.proximal_com, 0.0, centre)] * 3),
            "linkMasses": [r.proximal_mass, 0.0, mass] * 3,
            "gravity": [0.0, 0.0, -9.81],
            "jointForceVector": [force for torque in TORQUES for force in (torque, 0.0, 0.0)],
            "jointDControlVector": [r.damping[0], 0.0, 0.0] * 3,
            **dict.fromkeys(("jointPControlVector", "jointPositionOffsetVector", "jointVelocityOffsetVector"), idle),
        }

    def run(self, watched: float = 2 * DURATION) -> None:
        """Integrate; sensors are read every `watched` seconds."""
        with warnings.catch_warnings():
            # Older and newer versions name the same settings differently.
            warnings.simplefilter("ignore", DeprecationWarning)
            settings = self.exudyn.SimulationSettings()
            settings.timeIntegration.numberOfSteps = round(DURATION / self.step)
            settings.timeIntegration.endTime = DURATION
            settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
            settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
            settings.timeIntegration.newton.useModifiedNewton = True
            settings.timeIntegration.verboseMode = 0
            settings.solutionSettings.writeSolutionToFile = False
            settings.solutionSettings.sensorsWritePeriod = watched
            settings.linearSolverType = self.exudyn.LinearSolverType.EXUdense
            self.system.SolveDynamic(settings)

    def errors(self, exact: np.ndarray) -> Errors:
        self.run(float(INSTANTS[1]))
        tips = np.stack([self.system.GetSensorStoredData(sensor)[:, 1:] for sensor in self.sensors], axis=1)
        return find_errors(tips, exact)
