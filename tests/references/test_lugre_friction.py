"""LuGre friction with the numbers of its first publication: steady curve, presliding, stick-slip.

C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky: A new model for control of systems with friction, IEEE
Transactions on Automatic Control 40 (1995), table of parameters; a unit mass is pulled by a spring of 2 N/m whose end
moves at 0.1 m/s.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robodyn import (
    Block,
    Body,
    Joint,
    Machine,
    Mechanism,
    Recording,
    Scenario,
    Solver,
    assemble,
    simulate,
    simulate_many,
)

STIFFNESS, DAMPING, VISCOUS = 1e5, 1e5**0.5, 0.4
COULOMB, STATIC, STRIBECK = 1.0, 1.5, 1e-3
LUGRE = {"stiffness": STIFFNESS, "damping": DAMPING, "viscous": VISCOUS}
LUGRE |= {"coulomb": COULOMB, "static": STATIC, "stribeck_velocity": STRIBECK}
SOURCE = "Canudas de Wit, Olsson, Astrom, Lischinsky (1995)"


def sliding(duration, velocity=0.0, mass=1.0, blocks=()):
    rail = Joint("rail", "prismatic", "ground", "block", axis=(1.0, 0.0, 0.0))
    mechanism = Mechanism("sliding", (Body("block", mass),), (rail,), gravity=(0.0, 0.0, 0.0))
    friction = Block("friction", "lugre_friction", "rail", parameters=LUGRE)
    machine = Machine("sliding", mechanism, (friction, *blocks))
    solver = Solver("rodas4p", rtol=1e-9, atol=1e-12)
    return Scenario("sliding", machine, duration, {"rail.velocity": velocity}, solver=solver)


def test_steady_friction_is_the_curve_of_the_model(proof):
    """A mass that friction cannot slow down: g(v) + c2 v, speeds from a tenth to a thousand times Stribeck's."""
    speeds = STRIBECK * np.logspace(-1, 3, 5)
    # Bristles are bent in full after some millimetres of way.
    system = assemble(sliding(20.0, mass=1e15))
    runs = simulate_many(system, initial={"rail.velocity": speeds}, measures=["final:friction.torque"])
    forces = -runs["final:friction.torque"]
    level = COULOMB + (STATIC - COULOMB) * np.exp(-((speeds / STRIBECK) ** 2))
    known = {"ours": forces, "reference": level + VISCOUS * speeds, "relative": True, "within": 1e-7}
    proof("steady friction of the LuGre model at five speeds", kind="closed form", source=SOURCE, **known)


def test_bristles_are_a_spring_and_a_damper_before_they_slide(proof):
    """m x'' + (c1 + c2) x' + c0 x = 0 from 1 um/s: the bend is 2e-4 of that of sliding, and so is what is left out."""
    times = np.linspace(0, 0.05, 101)
    run = simulate(sliding(0.05, 1e-6), recording=Recording(times=tuple(times), signals=("rail.position",)))
    decay = 0.5 * (DAMPING + VISCOUS)
    omega = np.sqrt(STIFFNESS - decay**2)
    reference = 1e-6 / omega * np.exp(-decay * times) * np.sin(omega * times)
    known = {"ours": run["rail.position"].values, "reference": reference, "relative": True, "within": 1e-3}
    proof("presliding oscillation on LuGre bristles", kind="closed form", source="damped oscillator", **known)


@pytest.fixture(scope="module")
def stick_slip():
    """12 s of the experiment, 50 Hz: the first slip, and the sticking after it."""
    pull = Block("end", "ramp_reference", parameters={"rate": 0.1}, unit="m")
    loop = {"target": "end.value", "position": "rail.position", "velocity": "rail.velocity"}
    spring = Block("spring", "pd_control", inputs=loop, parameters={"proportional": 2.0, "derivative": 0.0}, unit="N")
    drive = Block("pull", "torque_source", "rail", {"command": "spring.command"})
    times = tuple(np.linspace(0, 12, 601).tolist())
    recording = Recording(times=times, signals=("rail.position", "rail.velocity"))
    return simulate(sliding(12.0, blocks=(pull, spring, drive)), recording=recording)


def printed_equations(t, y):
    """The equations as printed, written down a second time."""
    x, v, z = y
    level = COULOMB + (STATIC - COULOMB) * np.exp(-((v / STRIBECK) ** 2))
    z_dot = v - STIFFNESS * abs(v) / level * z
    return [v, 2.0 * (0.1 * t - x) - (STIFFNESS * z + DAMPING * z_dot + VISCOUS * v), z_dot]


def test_stick_slip_is_that_of_the_printed_equations(stick_slip, proof):
    solved = solve_ivp(printed_equations, (0, 12), [0, 0, 0], "Radau", t_eval=stick_slip.time, rtol=1e-8, atol=1e-11)
    known = {"ours": stick_slip["rail.position"].values, "reference": solved.y[0], "unit": "m", "within": 1e-5}
    source = f"{SOURCE}, its equations by SciPy's Radau"
    proof("stick-slip of a mass pulled by a spring, 12 s", kind="published", source=source, **known)


def test_the_first_slip_comes_when_the_spring_pulls_as_much_as_holds(stick_slip, proof):
    """2 N/m 0.1 m/s t = 1.5 N; a bent bristle gives way somewhat before, at a rate of 0.2 N/s by parts of a hundred."""
    begins = stick_slip.time[np.argmax(stick_slip["rail.velocity"].values > STRIBECK)]
    known = {"ours": begins, "reference": STATIC / (2.0 * 0.1), "unit": "s", "within": 0.1}
    proof(
        "first slip of a mass pulled by a spring",
        kind="closed form",
        source="static level by stiffness and rate",
        **known,
    )
