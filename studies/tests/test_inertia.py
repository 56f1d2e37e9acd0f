"""The figures are those of the published modelling study of the EPAAS robot, start-up position, gripper vertical."""

import numpy as np
import pytest
from support.epaas_arm import ACTUATORS, START, epaas_system

from robodyn.base.errors import ModelError
from robodyn_studies.force_components import coupling_factors, effective_inertia, effective_inertia_along
from robodyn_studies.kinetics import Kinetics

# Centres of mass are printed with three digits.
PRINTED = 0.012
JOINT_FIGURES = {
    (0, 0): 0.214180,
    (1, 1): 0.297523,
    (2, 2): 0.076586,
    (3, 3): 0.006667,
    (4, 4): 0.001118,
    (1, 2): 0.062126,
    (1, 3): -0.008105,
    (2, 3): 0.008015,
    (0, 4): 0.002474,
}
ACTUATOR_FIGURES = {
    (0, 0): 1.347150,
    (1, 1): 0.225879,
    (2, 2): 21.804420,
    (3, 3): 13.808524,
    (4, 4): 0.214180,
    (0, 2): 2.140560,
    (0, 3): 0.317589,
}


@pytest.fixture(scope="module")
def system():
    return epaas_system()


@pytest.mark.parametrize(("entry", "figure"), JOINT_FIGURES.items())
def test_joint_inertia_is_the_published_one(system, entry, figure):
    assert effective_inertia(system).matrix[entry] == pytest.approx(figure, rel=PRINTED)


@pytest.mark.parametrize(("entry", "figure"), ACTUATOR_FIGURES.items())
def test_actuator_inertia_is_the_published_one(system, entry, figure):
    found = effective_inertia(system, coordinates=ACTUATORS)

    assert found.matrix[entry] == pytest.approx(figure, rel=PRINTED)


def test_joint_coupling_is_the_published_one(system):
    found = list(effective_inertia(system).coupling.values())

    # Printed in whole percent; the last contains J25, which three-digit data do not give.
    np.testing.assert_allclose(found[:4], [0.01, 0.21, 0.82, 1.71], atol=0.01)
    assert found[4] == pytest.approx(2.25, rel=0.05)


def test_coupling_among_the_cylinders_is_the_published_one(system):
    found = effective_inertia(system, coordinates=ACTUATORS).among("L4", "L3", "L1", "L2").coupling

    # Printed in whole percent, in this order.
    np.testing.assert_allclose(list(found.values()), [0.03, 0.10, 1.61, 1.07], atol=0.015)


def test_coupling_factor_of_published_matrix_is_its_formula():
    matrix = [[2.0, 3.0, -4.0], [3.0, 10.0, 0.0], [-4.0, 0.0, 8.0]]

    np.testing.assert_allclose(coupling_factors(matrix), [2.5, 0.3, 0.5])


def test_actuator_inertia_feels_the_same_kinetic_energy(system):
    v = np.array([0.3, -1.0, 0.5, 2.0, -0.7])
    speed = Kinetics(system, ACTUATORS).map_at(START).gradient @ v

    joints = v @ effective_inertia(system).matrix @ v
    actuators = speed @ effective_inertia(system, coordinates=ACTUATORS).matrix @ speed

    assert actuators == pytest.approx(joints, rel=1e-10)


def test_inertia_along_a_path_is_the_diagonal_at_each_position(system):
    path = START + np.linspace(0.0, 0.3, 3)[:, None]

    found = effective_inertia_along(system, path, ACTUATORS)

    for row, q in zip(found, path, strict=True):
        np.testing.assert_array_equal(row, list(effective_inertia(system, q, ACTUATORS).effective.values()))


def test_unknown_name_in_a_part_of_the_matrix_is_told_with_the_nearest(system):
    with pytest.raises(ModelError, match="axis9: is not in this matrix.*did you mean 'axis"):
        effective_inertia(system).among("axis9")
