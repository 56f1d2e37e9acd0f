"""Are points at rest found where signals are wanted, with the numbers that hold them?"""

import numpy as np
import pytest
from support.machines import cart
from support.rod_pendulum import GRAVITY, LENGTH, MASS, pushed_pendulum

from robodyn import ConstraintMethod, assemble
from robodyn.analysis.linear.trim import Trimmer, find_trim
from robodyn.base.errors import ModelError
from robodyn.description.model import Block


@pytest.mark.parametrize("constraint_method", [None, ConstraintMethod("projection")])
@pytest.mark.parametrize("angle", [0.3, -0.9])
def test_a_constrained_pendulum_is_held_by_the_force_of_its_weight(angle, constraint_method):
    system = assemble(pushed_pendulum(constraint_method=constraint_method))
    found = find_trim(system, {"x.position": LENGTH * np.sin(angle)}, ["push.value"])
    # Newton's method settles to 1e-10.
    assert found.inputs["push.value"] == pytest.approx(MASS * GRAVITY * np.tan(angle), rel=1e-9)
    assert found.point.x[1] == pytest.approx(-LENGTH * np.cos(angle), abs=1e-9)
    assert np.abs(found.point.x[2:4]).max() < 1e-9


def test_a_sampled_controller_comes_to_rest_with_its_memory():
    """An integrating loop holds a load: its memory is found too."""

    def integrate(position, error_sum, *, gain, target, period):
        error = target - position
        return {"force": gain * (error_sum + error), "error_sum_next": error_sum + period * error}

    loop = Block(
        "loop", integrate, "rail", memory={"error_sum": 0.0}, parameters={"gain": 5.0, "target": 0.2}, period=0.01
    )
    system = assemble(cart(loop, mass=2.0, gravity=3.0))
    found = find_trim(system, {"rail.position": 0.7}, ["loop.target"])
    memory = dict(zip((info.name for info in system.memory), found.point.m, strict=True))
    assert found.inputs["loop.target"] == pytest.approx(0.7, abs=1e-9)
    assert 5.0 * memory["loop.error_sum"] == pytest.approx(-6.0, abs=1e-8)
    assert memory["loop.force"] == pytest.approx(-6.0, abs=1e-8)


def test_points_are_found_one_from_the_other():
    trimmer = Trimmer(assemble(pushed_pendulum()), ["x.position"], ["push.value"])
    first = trimmer.find([0.2])
    near, far = trimmer.find([0.21], first.point), trimmer.find([0.21])
    assert near.iterations < far.iterations
    assert near.inputs["push.value"] == pytest.approx(far.inputs["push.value"], rel=1e-9)


def test_what_cannot_be_held_is_told():
    system = assemble(pushed_pendulum())
    with pytest.raises(ModelError, match="nothing at rest found with x.position = 0.9"):
        find_trim(system, {"x.position": 0.9}, ["push.value"])
    with pytest.raises(ModelError, match=r"held\.x\.place: there is no such signal"):
        find_trim(system, {"x.place": 0.1}, ["push.value"])
    with pytest.raises(ModelError, match=r"by\.pull\.value: is not tunable"):
        find_trim(system, {"x.position": 0.1}, ["pull.value"])
    with pytest.raises(ModelError, match="1 numbers cannot be found from 0 held"):
        find_trim(system, {}, ["push.value"])
