"""How is a loop of joints closed? A crank moves a slider through a rod; geometry says where it is.

x = r cos(q) + sqrt(l^2 - r^2 sin(q)^2)
"""

import math

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

CRANK, ROD, SPEED = 0.1, 0.3, 20.0
UP = (0, -1, 0)  # an axis about which a positive angle leads from x to z


def describe_engine() -> rd.Scenario:
    """Crank and rod are a chain, the slider a second one; a pin joins them. The crank is driven at constant speed."""
    bodies = (
        rd.Body("crank", 0.5, (CRANK / 2, 0, 0), (0, 5e-4, 5e-4)),
        rd.Body("rod", 0.4, (ROD / 2, 0, 0), (0, 3e-3, 3e-3)),
        rd.Body("piston", 0.6),
    )
    joints = (
        rd.Joint("crank", "revolute", rd.GROUND, "crank", axis=UP),
        rd.Joint("pin", "revolute", "crank", "rod", origin=(CRANK, 0, 0), axis=UP),
        rd.Joint("slide", "prismatic", rd.GROUND, "piston", axis=(1, 0, 0)),
    )
    points = (rd.Point("rod_end", "rod", (ROD, 0, 0)), rd.Point("eye", "piston"))
    loop = rd.LoopJoint("loop", "rod_end", "eye", kind="revolute", axis=UP)
    turn = rd.Block("turn", "ramp_reference", parameters={"rate": SPEED, "start": 0.0, "end": 100.0}, unit="rad")
    drive = rd.PrescribedMotion("drive", "crank", "turn.value", velocity=SPEED, acceleration=0.0)
    mechanism = rd.Mechanism("engine", bodies, joints, points)
    start = {"crank.velocity": SPEED, "slide.position": CRANK + ROD}
    machine = rd.Machine("engine", mechanism, (turn,), constraints=(loop, drive))
    how = {"initialisation": "assembled", "solver": rd.Solver("dopri5", rtol=1e-9, atol=1e-11)}
    return rd.Scenario("slider-crank", machine, 2 * math.pi / SPEED, start, **how)


def main() -> dict[str, float]:
    """Largest distance of the slider from where it should be [m], and the largest torque at the crank [N m]."""
    run = rd.simulate(describe_engine())
    times = np.linspace(0, run.time[-1], 500)
    angle = run["crank.position"](times)
    exact = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    error = np.max(np.abs(run["slide.position"](times) - exact))
    return {"error": float(error), "torque": float(np.max(np.abs(run["drive.force"](times))))}


def draw(path: str) -> None:
    """One turn: the slider's place, and the torque at the crank."""
    plot_signals(rd.simulate(describe_engine()), ["slide.position", "slide.acceleration", "drive.force"], path)


if __name__ == "__main__":
    found = main()
    print(f"place of the slider right to {found['error']:.1e} m, at most {found['torque']:.2f} N m at the crank")
