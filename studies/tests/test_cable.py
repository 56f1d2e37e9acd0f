"""Does a long chain of links hang, vibrate and sway as a travelling cable does, and can the car calm it?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import ModelError, assemble, simulate
from robodyn.analysis import find_modes, linearise
from robodyn.computation.native import read_program
from robodyn.computation.simulation import find_equilibrium
from robodyn_studies.catalog import Cable, CableControl, cable_hang, cable_probe, cable_sway
from robodyn_studies.catalog.cable import STANDARD
from robodyn_studies.catalog.cable_control import CONTROL, steady_sway
from robodyn_studies.lead_compensator import design_lead

SMALL = Cable(links=24, length=12.0, drop=2.0)
ALIKE = Cable(links=100)
COMMAND, SWAY = "command.constant", "sensor.displacement"
GRAVITY = 9.81


@pytest.fixture(scope="module")
def standard():
    """100 links alike, from the car's command to its sway and the forces at the wall."""
    return linearise(assemble(cable_probe(ALIKE)), inputs=[COMMAND], outputs=[SWAY, "wall_x.force", "wall_z.force"])


@pytest.fixture(scope="module")
def small():
    control = replace(CONTROL, centring=0.45)
    return control, linearise(assemble(cable_probe(SMALL, control)), inputs=[COMMAND], outputs=[SWAY])


def hang_statically(cable: Cable) -> tuple[np.ndarray, np.ndarray]:
    """Absolute angles and forces at the wall of a hanging chain, from the balance of moments on every link.

    (F - (mass beyond the link and half its own) g) across the link + moments of both springs = 0
    """
    (pitch,) = set(cable.pitches.tolist())
    mass, spring = cable.density * pitch, cable.stiffness / pitch
    carried = mass * GRAVITY * (cable.links - np.arange(cable.links) - 0.5)
    # The wall bears its own leg, up to the lowest point.
    borne = cable.density * GRAVITY * (cable.length - cable.drop) / 2
    x = np.concatenate([np.cumsum(list(cable.hanging_angles().values())), [0.0, borne]])
    laplacian = np.diag([1.0, *[2.0] * (cable.links - 2), 1.0])
    laplacian -= np.eye(cable.links, k=1) + np.eye(cable.links, k=-1)
    for _ in range(60):
        angles, (force_x, force_z) = x[:-2], x[-2:]
        by_x, by_z = pitch * np.cos(angles), pitch * np.sin(angles)
        moments = force_x * by_x + (force_z - carried) * by_z - spring * laplacian @ angles
        ends = np.sum(by_z) - cable.across, cable.drop - np.sum(by_x)
        slopes = np.diag((force_z - carried) * by_x - force_x * by_z) - spring * laplacian
        matrix = np.block([[slopes, np.c_[by_x, by_z]], [np.array([by_x, by_z]), np.zeros((2, 2))]])
        step = -np.linalg.solve(matrix, np.concatenate([moments, ends]))
        x = x + min(1.0, 0.2 / np.max(np.abs(step[:-2]))) * step
    assert np.max(np.abs(step)) < 1e-9
    return x[:-2], x[-2:]


def test_the_cable_at_rest_balances_the_moments_on_every_link():
    system = assemble(cable_hang(SMALL))
    rest = find_equilibrium(system)
    angles, _ = hang_statically(SMALL)
    found = np.cumsum(rest.x[2 : 2 + SMALL.links])
    # Both are solved to rounding; the softest angle gives way by some 1e3 rad/(N m).
    np.testing.assert_allclose(found, angles, atol=1e-9)


def test_the_standard_cable_hangs_as_computed_independently(standard):
    angles, forces = hang_statically(ALIKE)
    values = {variable.name: variable.value for variable in standard.outputs}
    assert values["wall_x.force"] == pytest.approx(forces[0], rel=1e-6)
    assert values["wall_z.force"] == pytest.approx(forces[1], rel=1e-9)
    # Figures of an earlier program of this project, rounded.
    assert abs(forces[0]) == pytest.approx(0.125, abs=5e-4)
    assert forces[1] == pytest.approx(268.84, abs=5e-3)
    assert np.max(np.cumsum(np.cos(angles))) * ALIKE.pitches[0] == pytest.approx(34.80, abs=5e-3)


def test_the_lowest_modes_of_the_standard_cable_are_those_computed_independently(standard):
    swinging = [mode for mode in find_modes(standard).oscillating if mode.damping < 0.5][:5]
    # Damped frequencies [Hz] of an earlier program of this project, of which all digits given must agree.
    published = [0.10818, 0.15625, 0.24964, 0.31991, 0.3996]
    np.testing.assert_allclose([mode.pole.imag / (2 * np.pi) for mode in swinging], published, atol=1e-5)
    assert swinging[0].damping == pytest.approx(0.014, abs=5e-4)


def test_links_of_two_lengths_make_up_the_cable_fine_at_its_lowest_point():
    pitches = STANDARD.pitches
    assert len(pitches) == STANDARD.links
    assert pitches.sum() == pytest.approx(STANDARD.length)
    middles = np.cumsum(pitches) - pitches / 2
    fine = pitches < 0.3
    assert fine.sum() == STANDARD.bend
    assert np.abs(middles[fine] - STANDARD.lowest).max() < STANDARD.reach
    assert abs(middles[STANDARD.link_at(0.5) - 1] - 30.0) < 1.0
    with pytest.raises(ModelError, match="bend: must be 0 or a whole number up to 8"):
        Cable(links=10, bend=9)


def test_each_constraint_adds_two_poles_at_that_of_baumgartes_method(small):
    _, model = small
    # Double poles split by the root of the rounding.
    assert np.sum(np.abs(model.poles() + 5.0) < 1e-3) == 8


def test_work_grows_linearly_with_the_number_of_links():
    systems = [assemble(cable_hang(Cable(links=n, length=0.61 * n, drop=2.0))) for n in (20, 40, 60)]
    counts = [read_program(system.function(system.expressions.rhs)).n_operations for system in systems]
    # Every further link costs the same.
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.001)


def test_a_car_that_follows_the_compensator_takes_three_quarters_of_the_sway(small):
    control, model = small
    lead = design_lead(model, COMMAND, SWAY, frequency=0.246, damping=0.07)
    calm = replace(control, gain=lead.gain, pole=lead.pole, begin=20.0, end=140.0)
    shaking = steady_sway(0.002, lead.frequency)
    runs = [simulate(cable_sway(SMALL, shaking, chosen, 140.0)) for chosen in (None, calm)]
    swings = [float(np.ptp(run[SWAY](np.linspace(110, 140, 600)))) / 2 for run in runs]
    assert swings[1] < 0.25 * swings[0]
    check_limits(runs[1], calm)
    for run in runs:
        assert run.outcome.ok
        # The tolerance of the solver, 1e-5.
        assert run.statistics.energy_error < 1e-5
        assert run.statistics.extra["constraint_position_error"] < 1e-5


def test_the_car_keeps_its_limits_when_the_sway_asks_for_more(small):
    control, model = small
    lead = design_lead(model, COMMAND, SWAY, frequency=0.246, damping=0.07)
    eager = replace(control, gain=10 * lead.gain, pole=lead.pole, begin=10.0, end=60.0)
    run = simulate(cable_sway(SMALL, steady_sway(0.05, lead.frequency), eager, 60.0))
    check_limits(run, eager)
    # They are reached: the test is none where the car has nothing to do.
    assert np.max(np.abs(run["drive.velocity"].values)) > 0.3 * eager.speed


def check_limits(run, control: CableControl) -> None:
    for quantity, limit in (("position", control.reach), ("velocity", control.speed), ("acceleration", control.push)):
        # The integration's own tolerance.
        assert np.max(np.abs(run[f"drive.{quantity}"].values)) <= limit + 1e-5


def test_impossible_cables_are_refused_with_all_their_flaws():
    with pytest.raises(ModelError) as error:
        Cable(links=1, density=-1.0)
    assert [flaw.path for flaw in error.value.flaws] == ["links", "density"]
    with pytest.raises(ModelError, match="too short"):
        Cable(length=10.0)
