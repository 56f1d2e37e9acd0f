"""Mass matrices and inverse dynamics of robots from URDF files against Drake.

Drake is no part of the installation of the tests, for its size and its many dependencies: these are skipped without it.
`pip install drake` into an environment of its own that also sees this one's packages, and `pytest tests/references/
test_drake.py --verification FILE` there, makes the row. Differences are of rounding.
"""

import xml.etree.ElementTree as ET
from importlib.metadata import version

import numpy as np
import pytest
from support.robot_files import example_robot

import robodyn as rd

pytest.importorskip("pydrake")
NEAR = 1e-9


def bare_copy(path, folder):
    """The file without shapes and losses: Drake looks for meshes, and takes losses for forces of its own."""
    tree = ET.parse(path)
    for link in tree.getroot().iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in tree.getroot().iter("joint"):
        for part in [*joint.findall("dynamics"), *joint.findall("mimic")]:
            joint.remove(part)
    copy = folder / path.name
    tree.write(copy)
    return copy


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "panda.urdf"])
def test_mass_matrix_and_inverse_dynamics_are_those_of_drake(name, tmp_path, proof):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    path = bare_copy(example_robot(name), tmp_path)
    plant = MultibodyPlant(0.0)
    (robot,) = Parser(plant).AddModels(str(path))
    # A root that is called "world" is Drake's own.
    if 'link name="world"' not in path.read_text(encoding="utf-8"):
        base = plant.get_body(plant.GetBodyIndices(robot)[0])
        plant.WeldFrames(plant.world_frame(), base.body_frame())
    plant.Finalize()
    context = plant.CreateDefaultContext()
    dynamics = rd.MachineDynamics(rd.read_robot(path))
    joints = [name.removesuffix(".position") for name in dynamics.positions]
    places = [plant.GetJointByName(joint).velocity_start() for joint in joints]
    rng = np.random.default_rng(3)
    apart = 0.0
    for _ in range(50):
        q, v, a = rng.normal(0, 1, (3, len(joints)))
        theirs = np.zeros((3, plant.num_velocities()))
        theirs[:, places] = q, v, a
        plant.SetPositions(context, theirs[0])
        plant.SetVelocities(context, theirs[1])
        M = plant.CalcMassMatrix(context)[np.ix_(places, places)]
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        tau = plant.CalcInverseDynamics(context, theirs[2], forces)[places]
        pairs = ((dynamics.mass_matrix(q), M), (dynamics.inverse_dynamics(q, v, a), tau))
        apart = max(apart, *(np.abs(ours - other).max() / np.abs(other).max() for ours, other in pairs))
    what = "mass matrix and inverse dynamics of URDF robots (UR5, Panda), 50 random states each"
    proof(what, kind="program", source=f"Drake {version('drake')}", deviation=apart, within=NEAR, relative=True)
