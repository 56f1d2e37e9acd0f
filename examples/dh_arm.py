"""How is an arm made from a Denavit-Hartenberg table? A vertical two-link arm held still by PID control.

At rest the drives carry the weights alone (x forward, angles from the horizontal):

    tau_2 = m2 g c2 cos(q1 + q2),   tau_1 = g (m1 c1 + m2 l1) cos(q1) + tau_2
"""

import math

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

LENGTHS, MASSES, GRAVITY = (0.5, 0.4), (4.0, 2.5), 9.81
TARGETS = {"shoulder": math.radians(40), "elbow": math.radians(-25)}


def describe_arm() -> rd.Mechanism:
    """Standard Denavit-Hartenberg: one row a joint; gravity makes frame 0's y axis point up."""
    rows, bodies = [], []
    for joint, length, mass in zip(TARGETS, LENGTHS, MASSES, strict=True):
        moment = mass * length**2 / 12
        rows.append(rd.DHRow(joint, a=length, armature=0.1))
        # Frame i of the standard convention stands at the far end of its link: the centre lies behind it.
        bodies.append(rd.Body(f"{joint}_link", mass, (-length / 2, 0.0, 0.0), (0.0, moment, moment)))
    return rd.mechanism_from_dh("dh-arm", rows, bodies, "standard", gravity=(0.0, -GRAVITY, 0.0))


def hold(joint: str) -> tuple[rd.Block, ...]:
    """PID control whose output is taken as torque."""
    gains = {"proportional": 400.0, "integral": 600.0, "derivative": 60.0}
    wanted, command = {"target": f"{joint}.target.value"}, {"command": f"{joint}.control.command"}
    return (
        rd.Block(f"{joint}.target", "constant_reference", parameters={"constant": TARGETS[joint]}),
        rd.Block(f"{joint}.control", "pid_control", on=joint, inputs=wanted, parameters=gains),
        rd.Block(f"{joint}.drive", "torque_source", on=joint, inputs=command),
    )


def describe_scenario() -> rd.Scenario:
    """The arm is let go, and its controllers catch it."""
    blocks = tuple(block for joint in TARGETS for block in hold(joint))
    return rd.Scenario("dh-arm", rd.Machine("dh-arm", describe_arm(), blocks), duration=20.0)


def main() -> dict[str, float]:
    """Torques that hold the arm once it has come to rest [N m]."""
    run = rd.simulate(describe_scenario())
    return {f"{joint}_torque": run.final[f"{joint}.torque"] for joint in TARGETS}


def draw(path: str) -> None:
    """Angles and torques until the arm is at rest."""
    plot_signals(rd.simulate(describe_scenario()), ["*.position", "*.torque"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<16} {value:.6f} N m")
