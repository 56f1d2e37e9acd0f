"""Is the delta robot the published one, and are its forms (lumped, of all bodies, two with a beam) the same robot?

Published: the study of Baumgarte's method in Modelica (Bortoff 2019) prints four poles at about -2 +- j, one at -6.5,
one at +5.2, twelve at -5 from the method itself, and a crossing of the unstable one at about 22 deg. Its parameters are
not printed; ours are fitted, and their exact poles are those asserted here.
"""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from robodyn import LoopJoint, ModelError, assemble, simulate
from robodyn.analysis.linear.linearisation import linearise
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED
from robodyn_studies.catalog.delta_robot import (
    ARMS,
    constant_torques,
    delta_fall,
    delta_hold,
    delta_machine,
    symmetric_pose,
)
from robodyn_studies.catalog.delta_rods import delta_rods, delta_rods_machine

TIMES = np.linspace(0.0, 0.5, 51)


def poles_of(model):
    """Sorted by real part, then imaginary; what differs by rounding counts as equal."""
    return np.array(sorted(np.linalg.eigvals(model.A), key=lambda pole: (round(pole.real, 6), pole.imag)))


def split_poles(poles, pole=5.0):
    """Poles of the robot, and those at the pole of Baumgarte's method; a sixfold double root is found to 1e-3."""
    near = np.abs(poles + pole) < 1e-2
    return poles[~near], poles[near]


@pytest.fixture(scope="module")
def held():
    return assemble(delta_hold())


def test_the_poles_at_horizontal_proximal_links_are_the_fitted_ones(held):
    own, added = split_poles(poles_of(linearise(held)))
    expected = [-6.4734, -1.9903 - 1.1362j, -1.9903 - 1.1362j, -1.9903 + 1.1362j, -1.9903 + 1.1362j, 5.1759]
    # Printed to four digits.
    assert own == pytest.approx(expected, abs=6e-5)
    assert len(added) == 12


def test_the_poles_are_those_of_the_study_as_far_as_it_prints_them(held):
    own, _ = split_poles(poles_of(linearise(held)))
    published = [-6.5, -2 - 1j, -2 - 1j, -2 + 1j, -2 + 1j, 5.2]
    # Read off a plot and rounded; the fit of rounded parameters leaves 0.14.
    assert own == pytest.approx(published, abs=0.15)


def test_only_the_added_poles_move_with_the_pole_of_the_method(held):
    own, added = split_poles(poles_of(linearise(held, parameters={"constraint_method.pole": 30.0})), 30.0)
    assert own == pytest.approx(split_poles(poles_of(linearise(held)))[0], abs=1e-6)
    assert len(added) == 12


def test_the_unstable_pole_crosses_where_the_holding_torque_is_greatest(held):
    """Two ways to one angle: exact linear models along the path, and statics alone by a closed form."""

    def fastest(angle):
        torque = {f"{arm}.motor.value": FITTED.holding_torque(angle) for arm in ARMS}
        return np.max(poles_of(linearise(held, at=symmetric_pose(FITTED, angle), parameters=torque)).real)

    # A change of sign: unstable below, stable above.
    crossing = brentq(fastest, 0.37, 0.40, xtol=1e-7)
    heaviest = minimize_scalar(FITTED.holding_torque, bounds=(0.1, 0.8), method="bounded", options={"xatol": 1e-9}).x
    # A minimum is found to the root of rounding, about 1e-8.
    assert crossing == pytest.approx(heaviest, abs=1e-6)
    assert np.degrees(crossing) == pytest.approx(21.998, abs=1e-3)


def test_the_industrial_robot_has_the_poles_and_torque_found_for_it():
    own, added = split_poles(poles_of(linearise(assemble(delta_hold(AUTONOX)))))
    # Undamped; known to four digits from an independent calculation.
    expected = [-1.888, -2.311j, -2.311j, 2.311j, 2.311j, 1.888]
    assert np.sort(own.real) == pytest.approx(np.sort(np.real(expected)), abs=6e-4)
    assert np.sort(own.imag) == pytest.approx(np.sort(np.imag(expected)), abs=6e-4)
    assert len(added) == 12
    assert AUTONOX.holding_torque(0.0) == pytest.approx(-17.26, abs=5e-3)


def test_statics_at_horizontal_links_are_those_of_the_fit():
    assert FITTED.holding_torque(0.0) == pytest.approx(-1.961, abs=5e-4)
    assert np.degrees(FITTED.distal_angle(0.0)) == pytest.approx(154.1, abs=0.05)


@pytest.mark.parametrize(("angle", "payload"), [(0.0, 0.0), (0.5, 1.0)])
def test_the_robot_rests_under_its_holding_torque(angle, payload):
    run = simulate(delta_hold(angle=angle, payload=payload))
    # Horizontal links are unstable: rounding of 1e-16 grows by exp(2 * 5.2) in the run.
    assert np.ptp(run["platform.position.z"].values) < 1e-10
    depth = run["platform.position.z"].values[0]
    assert depth == pytest.approx(-0.282 * np.sin(angle) - 0.418 * np.sin(FITTED.distal_angle(angle)), abs=1e-9)


def test_a_falling_robot_loses_what_its_damping_takes():
    run = simulate(delta_fall())
    assert run.statistics.energy_error < 1e-6
    # Of the order of the tolerance, 1e-8.
    assert run.statistics.extra["constraint_position_error"] < 1e-8
    energy = run["energy.kinetic"].values + run["energy.potential"].values
    assert np.max(np.diff(energy)) < 1e-7


def test_payload_is_mass_of_the_platform():
    heavier = dataclasses.replace(FITTED, platform_mass=FITTED.platform_mass + 0.3)
    first, second = simulate(delta_fall(payload=0.3)), simulate(delta_fall(heavier))
    assert np.array_equal(first["platform.position.z"].values, second["platform.position.z"].values)


def pushed(machine, scenario):
    return dataclasses.replace(scenario, machine=machine, duration=0.5)


@pytest.fixture(scope="module")
def lumped_run():
    torques = FITTED.holding_torque(0.0) * np.array([0.9, 1.0, 0.7])
    return simulate(pushed(delta_machine(drives=constant_torques(torques)), delta_fall()))


@pytest.fixture(scope="module")
def rods_run():
    return simulate(delta_rods())


def test_the_robot_of_all_bodies_moves_as_the_lumped_one(lumped_run, rods_run):
    for axis in "xyz":
        lumped, bodies = (run[f"platform.position.{axis}"](TIMES) for run in (lumped_run, rods_run))
        # Two solvers' errors at tolerance 1e-8 over moves of 0.1 to 0.2 m.
        assert bodies == pytest.approx(lumped, abs=2e-9)
    for arm in ARMS:
        assert rods_run[f"{arm}.q1.position"](TIMES) == pytest.approx(lumped_run[f"{arm}.q1.position"](TIMES), abs=2e-8)
    assert np.max(np.abs(lumped_run["platform.position.y"].values)) > 0.1


def test_the_parallelograms_keep_the_platform_upright(rods_run):
    for axis in "xyz":
        # Nothing turns it but rounding.
        assert np.max(np.abs(rods_run[f"platform.turn_{axis}.position"].values)) < 1e-12


def test_balls_at_the_platform_leave_no_equation_to_spare():
    assert not assemble(delta_rods()).warnings


def test_universal_joints_at_both_ends_are_six_equations_too_many(rods_run):
    """A rod between two universal joints cannot spin either: what forbids it twice is reported, and does not matter."""
    scenario = delta_rods()
    turns = {point.name: np.array(point.origin) for point in scenario.machine.mechanism.points}

    def universal(loop_joint):
        arm = loop_joint.name.split(".")[0]
        across = turns[f"{arm}.left.ball"] - turns[f"{arm}.right.ball"]
        return LoopJoint(loop_joint.name, loop_joint.first, loop_joint.second, "universal", second_axis=tuple(across))

    loop_joints = tuple(universal(loop_joint) for loop_joint in scenario.machine.constraints)
    machine = dataclasses.replace(scenario.machine, constraints=loop_joints)
    system = assemble(dataclasses.replace(scenario, machine=machine))
    (warning,) = system.warnings
    assert "6 of 24 constraint equations follow from the others, 6 of them in a way that changes" in warning
    assert (len(system.motion.constraint_forces), system.motion.spare) == (24, 6)
    run = simulate(system)
    for axis in "xyz":
        # Equal but for the solver's tolerance of 1e-8.
        name = f"platform.position.{axis}"
        assert run[name](TIMES) == pytest.approx(rods_run[name](TIMES), abs=2e-9)


def test_impossible_robots_are_refused_with_every_reason():
    with pytest.raises(ModelError, match="2 problems"):
        dataclasses.replace(FITTED, distal_mass=-1.0, damping=(0.0, -1.0, 0.0))
    with pytest.raises(ModelError, match="payload"):
        delta_fall(payload=-1.0)
    with pytest.raises(ModelError, match="payload"):
        delta_rods(payload=-0.1)
    with pytest.raises(ModelError, match="width"):
        delta_rods_machine(width=0.0)
    with pytest.raises(ModelError, match="choose an angle"):
        dataclasses.replace(FITTED, distal_length=0.3).distal_angle(0.0)
