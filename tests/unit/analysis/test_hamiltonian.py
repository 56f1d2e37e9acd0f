"""In momenta a mechanism moves as it does in velocities, and symplectic steps keep its energy."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support.constrained import cartesian_pendulum, four_bar, sampled_drive
from support.machines import cart

from robodyn.analysis.mechanics.hamiltonian import hamiltonian_system, simulate_symplectic
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.catalog.linkages import double_pendulum, pendulum
from robodyn.description.model import ConstraintMethod, Event, Recording, Solver

FINE = Solver("dopri5", rtol=1e-11, atol=1e-11)
SYSTEMS = {
    "double pendulum": (double_pendulum(2.0), "elbow"),
    "pendulum by a rod": (cartesian_pendulum(ConstraintMethod(pole=5.0), FINE), "x"),
    "four-bar": (four_bar(ConstraintMethod(pole=20.0), FINE), "rocker"),
    "four-bar with a sampled drive": (four_bar(ConstraintMethod(pole=20.0), FINE, blocks=sampled_drive()), "rocker"),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_motion_is_that_in_velocities(name):
    scenario, joint = SYSTEMS[name]
    times = tuple(np.linspace(0.1, scenario.duration, 7))
    scenario = replace(scenario, solver=FINE, recording=Recording(times=times))
    system = assemble(scenario)
    first, second = simulate(system), simulate(hamiltonian_system(system))
    assert second.outcome.ok
    for quantity in ("position", "velocity", "acceleration"):
        signal = f"{joint}.{quantity}"
        # Both runs keep about 1e-11 a step; in 2 s errors of falling rods grow by about 1e4.
        np.testing.assert_allclose(second[signal].values, first[signal].values, atol=1e-7)


def test_rates_are_the_derivatives_of_the_energy():
    """q' = dE/dp and p' = -dE/dq, by the derivatives of the energies that the system reports."""
    system = hamiltonian_system(assemble(double_pendulum()))
    names, n = system.signal_names, system.n_q
    outputs = system.expressions.outputs
    energy = outputs[names.index("energy.kinetic")] + outputs[names.index("energy.potential")]
    slopes = ca.gradient(energy, system.symbols.x[: 2 * n])
    evaluate = ca.Function("slopes", [*system.symbols], [slopes, system.expressions.rhs])
    found, rates = (np.array(value).ravel() for value in evaluate(0.0, [0.3, -0.8, 1.1, 0.4], [], [], []))
    np.testing.assert_allclose(rates[:n], found[n:], rtol=1e-12)
    np.testing.assert_allclose(rates[n : 2 * n], -found[:n], rtol=1e-12)


def test_momenta_are_signals_and_start_as_mass_times_velocity():
    scenario = cart(mass=2.0, initial={"rail.velocity": 3.0})
    run = simulate(hamiltonian_system(assemble(scenario)))
    assert run["rail.momentum"].unit == "kg m/s"
    np.testing.assert_allclose(run["rail.momentum"].values, 6.0, rtol=1e-15)
    np.testing.assert_allclose(run["rail.velocity"].values, 3.0, rtol=1e-15)


def test_actions_that_set_velocities_set_momenta():
    def bounce(speed):
        return {"rail.velocity": -0.5 * speed}

    wall = Event("wall", lambda place: place - 1.0, {"place": "rail.position", "speed": "rail.velocity"}, action=bounce)
    wall = replace(wall, guard=lambda place: place - 1.0, direction="rising")
    system = assemble(cart(initial={"rail.velocity": 2.0}, events=(wall,)))
    run = simulate(hamiltonian_system(system))
    assert run["rail.velocity"].values[-1] == pytest.approx(-1.0, rel=1e-12)
    assert run["rail.position"].values[-1] == pytest.approx(0.5, abs=1e-9)


def test_rattle_keeps_the_energy_where_an_adaptive_method_of_equal_cost_loses_it():
    scenario = cartesian_pendulum(ConstraintMethod(pole=10.0), Solver(rtol=1e-6, atol=1e-6), 1000.0)
    scenario = replace(scenario, recording=Recording(rate=20.0, signals=("energy.*", "constraints.*")))
    drifting, kept = simulate(scenario), simulate_symplectic(scenario, 0.01)
    # Equal cost: RATTLE solves for twice as many unknowns, with one matrix a step.
    assert kept.statistics.evaluations < 2 * drifting.statistics.evaluations
    late = {name: mean_energy(run, 900.0) - mean_energy(run, 0.0) for name, run in (("d", drifting), ("k", kept))}
    assert abs(late["k"]) < 1e-4
    assert abs(late["d"]) > 50 * abs(late["k"])
    # The energy swings by O(h^2) within a period, no wider after 300 of them.
    assert swing(kept, 900.0) == pytest.approx(swing(kept, 0.0), rel=1e-2)


def window(run, start):
    time = run["energy.balance"].time
    return run["energy.balance"].values[(time >= start) & (time <= start + 100.0)]


def mean_energy(run, start):
    return float(np.mean(window(run, start)))


def swing(run, start):
    return float(np.ptp(window(run, start)))


def test_a_step_of_rattle_is_symplectic():
    """A^T J A = J for the derivative A of a step by its start, here by central differences."""
    system = hamiltonian_system(assemble(double_pendulum(0.05)))
    solver, place, shift = Solver("rattle", step=0.05), np.array([0.3, -0.8, 1.1, 0.4]), 1e-4

    def move(x):
        states = tuple(replace(info, start=float(v)) for info, v in zip(system.states[:4], x, strict=True))
        end = simulate(replace(system, states=(*states, *system.states[4:])), solver).end
        return np.array(list(end.values())[:4])

    A = np.column_stack([(move(place + s) - move(place - s)) / (2 * shift) for s in shift * np.eye(4)])
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    # Differences leave shift^2 times third derivatives; a method of order 2 alone would leave h^3 = 1e-4.
    np.testing.assert_allclose(A.T @ J @ A, J, atol=3e-6)


def message(make):
    with pytest.raises(ModelError) as caught:
        make()
    return str(caught.value)


def test_what_cannot_be_written_in_momenta_is_refused():
    minimal = assemble(four_bar(ConstraintMethod("minimal"), FINE))
    assert "minimal" in message(lambda: hamiltonian_system(minimal))
    twice = hamiltonian_system(assemble(double_pendulum()))
    assert "already" in message(lambda: hamiltonian_system(twice))


def test_tunable_numbers_stay_tunable_only_where_the_start_does_not_depend_on_them():
    assert "bob.mass" in [number.name for number in hamiltonian_system(assemble(pendulum())).parameters]
    moving = assemble(replace(pendulum(), initial={"hinge.velocity": 1.0}))
    assert moving.parameters
    assert not hamiltonian_system(moving).parameters


def test_rattle_refuses_states_of_drives():
    driven = four_bar(ConstraintMethod(), FINE, blocks=sampled_drive())
    assert "motor.drive" in message(lambda: simulate_symplectic(driven, 0.01))
