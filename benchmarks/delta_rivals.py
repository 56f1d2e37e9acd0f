"""How do MuJoCo and Exudyn simulate the delta robot that robodyn does?

The same nine joints, masses and torques; damping in the motors alone, since theirs acts on joints. MuJoCo joins the
arms' tips by `connect` constraints as stiff as it lets them be, Exudyn by spherical joints of index 3.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.model import Scenario
from robodyn_studies.catalog.delta_parameters import FITTED, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, constant_torques, delta_fall, delta_machine, symmetric_pose

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
