"""Does a free body move, rest and vibrate as one on three slides and three hinges that are not in gimbal lock?"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn import (
    GROUND,
    Block,
    Body,
    Distance,
    Joint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.analysis.linear.linearisation import linearise
from robodyn.analysis.linear.modes import find_modes

EYES = {"a": (0.3, 0.1, 0.2), "b": (-0.3, 0.15, 0.2), "c": (0.0, -0.3, 0.2)}
SPRING = {"stiffness": 500.0, "damping": 1.0, "rest": 0.3}
BODY = Body("body", 2.0, com=(0.1, 0.0, -0.05), inertia=(0.1, 0.2, 0.25, 0.01, 0.0, 0.02))
SLIDES = tuple((f"slide_{axis}", "prismatic", unit) for axis, unit in zip("xyz", np.eye(3), strict=True))
HINGES = tuple((f"hinge_{axis}", "revolute", unit) for axis, unit in zip("zyx", np.eye(3)[::-1], strict=True))


def hung(free, **fields):
    """A body on three springs: on a free joint, or on slides and hinges one after another."""
    bodies, joints = [BODY], [Joint("base", "free", GROUND, "body")]
    if not free:
        chain = (*SLIDES, *HINGES)
        names = [GROUND, *(f"ring{k}" for k in range(len(chain) - 1)), "body"]
        bodies = [*(Body(name, 0.0) for name in names[1:-1]), BODY]
        joints = [Joint(name, kind, names[k], names[k + 1], axis=axis) for k, (name, kind, axis) in enumerate(chain)]
    points = [Point(name, "body", place) for name, place in EYES.items()]
    points += [Point(f"hook_{name}", GROUND, (x, y, 0.6)) for name, (x, y, _) in EYES.items()]
    coordinates = [Distance(f"cord_{name}", name, f"hook_{name}") for name in EYES]
    springs = [
        Block(
            f"spring_{name}", "spring", on=f"cord_{name}", parameters={"stiffness": 500.0, "damping": 1.0, "rest": 0.3}
        )
        for name in EYES
    ]
    machine = Machine("hung", Mechanism("hung", bodies, joints, points), coordinates=coordinates, blocks=springs)
    return Scenario("hung", machine, 1.0, solver=Solver("dopri5", rtol=1e-11, atol=1e-13), **fields)


def test_it_rests_and_vibrates_alike():
    free, chain = (find_modes(assemble(hung(free, initialisation="at_rest"))) for free in (True, False))
    assert len(free) == len(chain) == 6
    np.testing.assert_allclose([m.pole for m in free], [m.pole for m in chain], rtol=1e-9, atol=1e-9)
    assert {state.name for state in free.model.states} >= {"base.rotation.x", "base.z.velocity"}


def test_it_moves_alike():
    """Angular velocity in the body's axes, from the rates of roll, pitch and yaw at zero angles: their own."""
    spin = dict(zip("xyz", (1.0, -2.0, 0.5), strict=True))
    one = simulate(hung(True, initial={f"base.angular_velocity.{axis}": rate for axis, rate in spin.items()}))
    other = simulate(hung(False, initial={f"hinge_{axis}.velocity": rate for axis, rate in spin.items()}))
    times = np.linspace(0.0, 1.0, 11)
    for name in EYES:
        for axis in "xyz":
            signal = f"{name}.position.{axis}"
            np.testing.assert_allclose(one[signal](times), other[signal](times), atol=2e-10)
    angles = [other[f"hinge_{axis}.position"].values[-1] for axis in "zyx"]
    x, y, z, w = Rotation.from_euler("ZYX", angles).as_quat()
    end = [one[f"base.orientation.{part}"].values[-1] for part in "wxyz"]
    assert abs(np.dot(end, (w, x, y, z))) == pytest.approx(1.0, abs=1e-10)


def test_its_linear_model_follows_a_small_change_of_a_motion():
    """Along a motion too, where the axes of the small rotation turn with the body."""
    moving = hung(True, initial={"base.angular_velocity.x": 2.0, "base.angular_velocity.y": 1.0})
    model = linearise(assemble(moving), "start")
    names = [state.name for state in model.states]
    small, time = 1e-4, 1e-3
    # A rotation by a small angle about y, and its quaternion.
    changed = {"base.orientation.w": np.cos(small / 2), "base.orientation.y": np.sin(small / 2)}
    short = {"duration": time}
    plain, other = (
        simulate(hung(True, initial={**moving.initial, **start}).with_numbers(short)) for start in ({}, changed)
    )
    q, p = (
        Rotation.from_quat([run[f"base.orientation.{part}"].values[-1] for part in "xyzw"]) for run in (plain, other)
    )
    found = (q.inv() * p).as_rotvec() / small
    start = np.zeros(len(names))
    start[names.index("base.rotation.y")] = 1.0
    expected = start + time * model.A @ start + 0.5 * time**2 * model.A @ model.A @ start
    rows = [names.index(f"base.rotation.{axis}") for axis in "xyz"]
    np.testing.assert_allclose(found, expected[rows], atol=2e-5)
