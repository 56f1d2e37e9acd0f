"""Robots from SDF against Pinocchio, which reads no SDF as it is on PyPI: its models are made by a reader of the tests.

That one puts all frames parallel to the model's; both compute the same matrices but for rounding.
"""

import numpy as np
import pinocchio as pin
import pytest
from support.robot_files import OWN, example_robots
from support.sdf_trees import SdfTree

import robodyn as rd

FILES = [path for path in example_robots(".sdf") if path.stem in ("cassie", "cassie_simple")]
"""Two of five that differ little."""


def columns(model, dynamics, turns, prefix):
    """Our velocities in Pinocchio's order, and the rotations between the axes in which those of balls are given."""
    names, T = [], np.eye(model.nv)
    for k, name in enumerate(model.names):
        own = f"{prefix}{name}"
        v = model.idx_vs[k]
        if model.nvs[k] == 3:
            names += [f"{own}.angular_velocity.{axis}" for axis in "xyz"]
            T[v : v + 3, v : v + 3] = turns[name].T
        elif model.nvs[k] == 2:
            names += [f"{own}.first.velocity", f"{own}.second.velocity"]
        elif model.nvs[k] == 1:
            names.append(f"{own}.velocity")
    return [dynamics.velocities.index(name) for name in names], T


def positions(model, there, dynamics, turns, prefix):
    """Our positions where Pinocchio's are given; an orientation R of ours is that of theirs seen in the link's axes."""
    q = {}
    for k, name in enumerate(model.names):
        at, own = model.idx_qs[k], f"{prefix}{name}"
        if model.nvs[k] == 3:
            R = turns[name].T @ pin.Quaternion(there[at : at + 4].copy()).matrix() @ turns[name]
            turned = pin.Quaternion(R)
            q |= {f"{own}.orientation.{part}": getattr(turned, part) for part in "wxyz"}
        elif model.nvs[k] == 2:
            q |= {f"{own}.first.position": there[at], f"{own}.second.position": there[at + 1]}
        elif model.nvs[k] == 1:
            q[f"{own}.position"] = there[at]
    return dynamics.positions_at(q)


@pytest.mark.parametrize(
    ("path", "name", "prefix"), [*((path, None, "") for path in FILES), (OWN / "crane.sdf", "crane", "crane.")],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_a_robot_has_the_mass_matrix_and_bias_that_pinocchio_finds(path, name, prefix):
    stands = not any("base = " in choice for choice in rd.import_robot(path).sheet.choices)
    machine = rd.read_robot(path) if stands else rd.read_robot(path, base="fixed")
    dynamics = rd.MachineDynamics(machine.replaced(constraints=(), blocks=()))
    tree = SdfTree(path, name)
    model, data = tree.model, tree.model.createData()
    if prefix:
        model.gravity.linear = model.gravity.linear * (9.8 / 9.81)
    order, T = columns(model, dynamics, tree.turns, prefix)
    rng = np.random.default_rng(4)
    for _ in range(20):
        there = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
        w = rng.uniform(-1, 1, model.nv)
        q = positions(model, there, dynamics, tree.turns, prefix)
        v = np.zeros(len(dynamics.velocities))
        v[order] = T @ w
        theirs = np.triu(pin.crba(model, data, there))
        theirs += np.triu(theirs, 1).T
        ours = T.T @ dynamics.mass_matrix(q)[np.ix_(order, order)] @ T
        assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()
        bias = pin.rnea(model, data, there, w, np.zeros(model.nv))
        assert np.abs(T.T @ dynamics.bias(q, v)[order] - bias).max() <= 1e-9 * np.abs(bias).max()


def test_joints_that_close_loops_hold_where_the_model_stands():
    run = rd.simulate(rd.import_robot(OWN / "crane.sdf").scenario(0.3))
    assert run.outcome.ok
    (loop,) = rd.read_robot(OWN / "crane.sdf").constraints
    assert (loop.name, loop.kind) == ("crane.head", "revolute")
    start, end = (np.array([run[f"crane.head_{side}.position.{axis}"].values for axis in "xyz"]) for side in "ab")
    assert np.abs(start - end).max() < 1e-7
    assert np.abs(start[:, -1] - start[:, 0]).max() > 1e-3
