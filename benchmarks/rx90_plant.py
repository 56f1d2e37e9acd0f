"""How does the welding robot move under given voltages? Right-hand side with Pinocchio, for SciPy.

    (M(q) + T' Jr T) a = T' kT i + B' friction(B v, z) + spring(q) - h(q, v)
    L i_dot = U - kT T v - R i,   z_dot = w - c0 |w| z / level(w),   w = B v

Mass matrix M and bias h are Pinocchio's; T are the gears, B the seven places of friction. Of the rest plain floats are
made, several times faster than small arrays. States are [q (6), v (6), z (7), i (6)].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import cos, exp

import numpy as np
from scipy.linalg.lapack import dposv

from benchmarks.arm import pinocchio_arm
from robodyn.assembly import assemble
from robodyn_studies.catalog import rx90_weld

AXES = range(1, 7)
PLACES = (*(f"joint{k}" for k in AXES), "wrist")
STATES = (
    *(f"joint{k}.position" for k in AXES),
    *(f"joint{k}.velocity" for k in AXES),
    *(f"{place}.friction.bristle" for place in PLACES),
    *(f"axis{k}.drive.current" for k in AXES),
)
# Magnitudes of the states, which scale the absolute tolerances as robodyn does; bristles bend by some 1e-5 rad.
MAGNITUDES = np.array([1.0] * 12 + [1e-5] * 7 + [1.0] * 6)
FRICTION = ("stiffness", "damping", "viscous", "coulomb", "static", "coulomb_back", "static_back")
STRIBECK = ("stribeck_velocity", "exponent")
MOTOR = ("torque_constant", "resistance", "inductance")


@cache
def numbers() -> dict[str, float]:
    """All numbers of the scenario by name."""
    return {name: number.value for name, number in rx90_weld().numbers().items()}


def gears_of(k: int) -> list[float]:
    """Gear ratios of the joints that turn a motor: joints 5 and 6 both turn motor 6."""
    name = f"axis{k}.position_loop.gears"
    return [numbers()[name]] if name in numbers() else [numbers()[f"{name}.{j}"] for j in range(2)]


class Plant:
    """Arm, gears, friction and motors."""

    def __init__(self) -> None:
        N = numbers()
        scenario = rx90_weld()
        mechanism = scenario.machine.mechanism
        mechanics = assemble(replace(scenario, machine=replace(scenario.machine, tunable=()))).motion.mechanics
        assert mechanism is not None
        assert mechanics is not None
        self.model, self.data = pinocchio_arm(mechanics.tree)
        gears = [gears_of(k)[0] for k in AXES]
        rotors = [N[f"motor{k}.inertia"] * gear**2 for k, gear in zip(AXES, gears, strict=True)]
        # Motor 6 turns with joints 5 and 6: its rotor couples them.
        self.coupling = rotors[5]
        self.model.armature = np.array([*rotors[:4], rotors[4] + rotors[5], rotors[5]])
        self.friction = [tuple(N[f"{place}.friction.{key}"] for key in (*FRICTION, *STRIBECK)) for place in PLACES]
        self.motors = [(gears[k - 1], *(N[f"axis{k}.drive.{key}"] for key in MOTOR)) for k in AXES]
        points = {point.name: point.origin for point in mechanism.points}
        self.spring = N["balance.spring.stiffness"] * points["spring_top"][2] * points["spring_foot"][0]
        self.tip = np.array(points["tool"])

    def rates(self, t: float, x: np.ndarray, voltages: Sequence[float]) -> list[float]:
        """x_dot under held voltages."""
        import pinocchio as pin

        q, v = x[:6], x[6:12]
        M = pin.crba(self.model, self.data, q)
        M[4, 5] += self.coupling
        h = pin.nonLinearEffects(self.model, self.data, q, v)
        speeds = v.tolist()
        tau, currents_dot = self.drive(speeds, x[19:].tolist(), voltages)
        friction, bristles_dot = self.rub([*speeds, speeds[4] + speeds[5]], x[12:19].tolist())
        for k in range(6):
            tau[k] += friction[k]
        tau[4] += friction[6]
        tau[5] += friction[6]
        tau[1] += self.spring * cos(q[1])
        # Cholesky's method on the upper triangle, the only one that Pinocchio computes.
        a = dposv(M, tau - h)[1]
        return [*speeds, *a.tolist(), *bristles_dot, *currents_dot]

    def drive(
        self, v: list[float], currents: list[float], voltages: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Torques of the motors on the joints, and rates of the currents."""
        tau, rates = [], []
        turns = (*v[:5], v[4] + v[5])
        for w, i, U, (gear, constant, resistance, inductance) in zip(
            turns, currents, voltages, self.motors, strict=True
        ):
            tau.append(gear * constant * i)
            rates.append((U - constant * gear * w - resistance * i) / inductance)
        tau[4] += tau[5]
        return tau, rates

    def rub(self, speeds: list[float], bristles: list[float]) -> tuple[list[float], list[float]]:
        """LuGre friction with levels for both directions: torques, and rates of the bristles."""
        torques, rates = [], []
        for w, z, (c0, c1, c2, forth, static, back, static_back, ws, exponent) in zip(
            speeds, bristles, self.friction, strict=True
        ):
            low, high = (back, static_back) if w < 0 else (forth, static)
            size = abs(w)
            z_dot = w - c0 * size * z / (low + (high - low) * exp(-((size / ws) ** exponent)))
            torques.append(-(c0 * z + c1 * z_dot + c2 * w))
            rates.append(z_dot)
        return torques, rates

    def find_tips(self, positions: np.ndarray) -> np.ndarray:
        """Where the tool's tip is [m], (n, 3), at joint positions (n, 6)."""
        import pinocchio as pin

        tips = []
        for q in positions:
            pin.forwardKinematics(self.model, self.data, np.array(q))
            tips.append(self.data.oMi[6].act(self.tip))
        return np.array(tips)
