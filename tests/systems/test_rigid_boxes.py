"""Do boxes on a rigid floor with friction stick, slide, tip, tumble and come to rest as the closed forms say?"""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robodyn import (
    Ball,
    Body,
    Machine,
    Plane,
    Point,
    Recording,
    RigidContact,
    Scenario,
    Solver,
    assemble,
    compile_system,
    simulate,
)
from robodyn.computation.assembly import System
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.catalog import bouncing_ball, tumbling_box
from robodyn.description.catalog.contacts import BRISTLES, planar_mechanism

GRAVITY, HALF, MU = 9.81, 0.1, 0.5
SOLVER = Solver("rodas4", rtol=1e-7, atol=1e-10, max_steps=100_000)


@pytest.fixture(scope="module")
def compiled() -> CompiledSystem:
    return compile_system(assemble(tumbling_box(restitution=0.3, coefficient=MU)), SOLVER)


def put(compiled: CompiledSystem, duration: float, **start: float) -> CompiledSystem:
    """The same code from another start: the box flat on the floor unless said otherwise."""
    system = compiled.system
    values = {"up.position": HALF} | {name.replace("_", "."): value for name, value in start.items()}
    states = tuple(replace(state, start=values.get(state.name, 0.0)) for state in system.states)
    other: System = replace(system, states=states, scenario=replace(system.scenario, duration=duration))
    return replace(compiled, system=other)


def slope(tangent: float) -> dict[str, float]:
    angle = math.atan(tangent)
    return {"gravity.x": GRAVITY * math.sin(angle), "gravity.z": -GRAVITY * math.cos(angle)}


def energy(run):
    return run["energy.kinetic"].values + run["energy.potential"].values


@pytest.mark.parametrize("tangent", [0.45, 0.55])
def test_a_box_on_a_rigid_slope_stays_below_the_angle_of_friction_and_slides_above_it(compiled, tangent):
    run = simulate(put(compiled, 1.0), SOLVER, parameters=slope(tangent))
    pull = slope(tangent)
    left = max(0.0, pull["gravity.x"] + MU * pull["gravity.z"])
    along = run["along.velocity"]
    # The tolerance of 1e-7 a step; what is held does not move at all.
    assert along(1.0) - along(0.5) == pytest.approx(0.5 * left, rel=1e-7, abs=1e-12)
    if not left:
        assert abs(run["along.position"](1.0) - run["along.position"](0.5)) < 1e-12
    assert run["floor_contact.force.x"].final == pytest.approx(-2.0 * min(pull["gravity.x"], -MU * pull["gravity.z"]))
    assert run["floor_contact.active"].final == 4


def test_a_box_that_slides_stops_after_the_way_its_speed_allows(compiled):
    run = simulate(put(compiled, 1.0, along_velocity=2.0), SOLVER)
    # The bristles, bent by mu / stiffness = 5 um before they slip, take that off.
    expected = 2.0**2 / (2 * MU * GRAVITY) - MU / BRISTLES["stiffness"]
    assert run["along.position"].final == pytest.approx(expected, abs=2e-8)
    assert run["along.position"](0.7) == run["along.position"].final


@pytest.mark.parametrize("tangent", [0.49, 0.51])
def test_a_tall_box_tips_where_its_weight_passes_its_edge(compiled, tangent):
    """0.2 m wide and 0.4 m tall on a rough slope: it tips beyond tan = 0.2 / 0.4."""
    upright = put(compiled, 1.0, up_position=0.2, turn_position=math.pi / 2)
    run = simulate(upright, SOLVER, parameters=slope(tangent) | {"floor_contact.friction.coefficient": 0.9})
    turned = run["turn.position"].final - math.pi / 2
    assert turned == pytest.approx(0.0, abs=1e-8) if tangent < 0.5 else turned > 0.1


@pytest.mark.parametrize(("restitution", "coefficient"), [(0.3, 0.5), (0.6, 2.0), (0.9, 0.2)])
def test_a_thrown_box_never_gains_energy_never_sinks_in_and_comes_to_rest(compiled, restitution, coefficient):
    start = {"up_position": 0.6, "along_velocity": 2.0, "turn_position": 0.3, "turn_velocity": 8.0}
    given = {"floor_contact.restitution": restitution, "floor_contact.friction.coefficient": coefficient}
    run = simulate(put(compiled, 6.0, **start), SOLVER, parameters=given)
    assert run.outcome.ok
    # Bent bristles store energy as the normal force grows, and give it back: mu^2 N / (2 stiffness), N below 100 N.
    assert np.diff(energy(run)).max() < coefficient**2 * 100 / (2 * BRISTLES["stiffness"])
    assert run["floor_contact.gap"].values.min() > -1e-7
    # Flat on one of its sides, at rest.
    assert run["floor_contact.active"].final == 4
    assert run["energy.kinetic"].final < 1e-12
    assert abs(math.sin(2 * run["turn.position"].final)) < 1e-8
    assert run.statistics.energy_error < 1e-6


def slide_rod(angle: float, speed: float, coefficient: float = 3.0) -> Scenario:
    """A rod of 1 m and 1 kg whose lower end slides on a rough floor, leaning by an angle."""
    body = Body("rod", 1.0, inertia=(1 / 12, 1 / 12, 1 / 12))
    rough = {"coefficient": coefficient} | BRISTLES
    contact = RigidContact("tip", Ball("end"), Plane("floor"), friction="bristle_friction", friction_parameters=rough)
    mechanism = planar_mechanism(body, (Point("end", "rod", (0, 0, -0.5)),))
    start = {"up.position": 0.5 * math.cos(angle), "turn.position": angle, "along.velocity": speed}
    return Scenario("rod", Machine("rod", mechanism, contacts=(contact,)), 0.5, start)


def test_a_rod_that_no_force_can_hold_is_stopped_by_an_impact_without_collision():
    """Painleve: 1 + 3 sin^2 - 3 mu sin cos < 0, the friction of a push turns the rod into the floor."""
    run = simulate(slide_rod(0.6, -2.0), SOLVER)
    assert run.outcome.ok
    assert run.events[0].name == "tip.hits"
    assert run.events[0].time < 1e-5
    slip = run["tip.slip"]
    assert slip.values[0] == 2.0
    assert slip(run.events[0].time + 1e-3) < 1e-3


def test_bristles_bring_a_rod_through_the_paradox_by_large_forces():
    run = simulate(slide_rod(0.06, -6.0), SOLVER)
    assert run.outcome.ok
    assert run.events == ()
    # It stops within a millisecond, by forces of a hundred times its weight that bend bristles back.
    force, slip = run["tip.force.normal"], run["tip.slip"]
    jams = force.time[np.argmax(force.values)]
    assert force.max > 1000
    assert slip(jams - 1e-3) > 1
    assert slip(jams + 1e-3) < 1e-2
    assert np.diff(energy(run)).max() < 1e-5
    assert run["tip.gap"].values.min() > -1e-7


def rod_that_slides(mu: float, lean: float, spin: float, slip: float) -> Scenario:
    """A rod of 2 m and 1 kg, leaning by an angle from a floor on which its lower end slides with dry friction."""
    rod = Body("rod", 1.0, inertia=(1e-9, 1 / 3, 1 / 3), physical=False)
    friction = {"friction": "dry_friction", "friction_parameters": {"coefficient": mu}}
    touch = RigidContact("touch", Ball("end"), Plane("floor"), restitution=0.0, **friction)
    mechanism = planar_mechanism(rod, (Point("end", "rod", (-1.0, 0, 0)),))
    start = {"up.position": math.sin(lean), "turn.position": -lean, "turn.velocity": -spin}
    start |= {"up.velocity": math.cos(lean) * spin, "along.velocity": slip - math.sin(lean) * spin}
    solver = Solver("dopri5", rtol=1e-10, atol=1e-12)
    return Scenario("rod", Machine("rod", mechanism, contacts=(touch,)), 0.6, start, solver=solver)


def test_a_rod_that_slides_into_the_paradox_is_stopped_there_by_an_impulse():
    run = simulate(rod_that_slides(2.0, 0.2, 3.0, -20.0))
    assert run.outcome.ok
    assert [event.name for event in run.events][:4] == ["touch.locks", "touch.parts", "touch.stops", "touch.hits"]
    locked, slip = run.events[0].time, run["touch.slip"]
    # Nothing is left of the effect of a force along the normal, 1 + 3 cos^2 - 3 mu sin cos.
    lean = -run["turn.position"](locked)
    assert abs(1 + 3 * math.cos(lean) * (math.cos(lean) - 2.0 * math.sin(lean))) < 1e-5
    assert abs(slip(locked - 1e-6)) > 10
    assert abs(slip(run.events[3].time + 1e-6)) < 1e-4
    assert np.diff(energy(run)).max() < 1e-9
    assert run["touch.gap"].values.min() > -1e-7


def test_a_rod_that_comes_near_the_paradox_lifts_off_before_it_as_its_equation_says():
    """N (1 + 3 cos a (cos a - mu sin a)) = m (g - sin a w^2): both sides come to zero, the right one first."""
    mu, lean, spin = 1.5, 0.2, 2.0

    def push(a, w):
        return (GRAVITY - math.sin(a) * w**2) / (1 + 3 * math.cos(a) * (math.cos(a) - mu * math.sin(a)))

    def rate(_, y):
        return [y[1], -3 * push(*y) * (math.cos(y[0]) - mu * math.sin(y[0]))]

    def lifts(_, y):
        return push(*y)

    lifts.terminal = True
    exact = solve_ivp(rate, (0, 1), [lean, spin], "DOP853", rtol=1e-12, atol=1e-13, events=lifts)
    run = simulate(rod_that_slides(mu, lean, spin, -20.0))
    assert run.events[0].name == "touch.parts"
    assert run.events[0].time == pytest.approx(exact.t[-1], abs=1e-8)
    assert -run["turn.velocity"](run.events[0].time) == pytest.approx(exact.y[1, -1], abs=1e-7)


def test_a_record_as_large_as_allowed_ends_the_run_and_is_kept(monkeypatch):
    monkeypatch.setattr(sys.modules["robodyn.computation.engine.integrate"], "LARGEST_RECORD", 2**16)
    run = simulate(bouncing_ball(), Solver("dopri5", max_step=1e-3))
    assert run.outcome.kind.name == "RECORD_FULL"
    assert run.outcome.cut_short
    assert "record fewer signals" in run.outcome.sentence
    assert run["height.position"].values[0] == 1.1
    assert run["height.position"].time[-1] == pytest.approx(run.outcome.time)


def test_the_power_of_a_contact_that_slides_is_that_of_its_friction(compiled):
    run = simulate(put(compiled, 0.2, along_velocity=2.0), SOLVER)
    # Bristles are bent within microseconds; then it is -mu m g v.
    expected = -MU * 2.0 * GRAVITY * run["along.velocity"](0.1)
    assert run["floor_contact.power"](0.1) == pytest.approx(expected, rel=1e-6)


def test_a_corner_that_dips_in_and_out_between_two_looks_is_found(compiled):
    start = {"up_position": 0.6, "up_velocity": -3.0, "along_velocity": 1.0, "turn_position": 1.0}
    thrown, elastic = put(compiled, 2.0, turn_velocity=39.0, **start), {"floor_contact.restitution": 1.0}
    # Half a turn takes 80 ms; the error of the states alone would allow longer steps in flight.
    free, short = (simulate(thrown, replace(SOLVER, max_step=h), parameters=elastic) for h in (math.inf, 0.01))
    assert free["floor_contact.gap"].min > -1e-9
    assert free.certificate.ok
    assert [event.name for event in free.events] == [event.name for event in short.events]
    np.testing.assert_allclose([e.time for e in free.events], [e.time for e in short.events], atol=1e-6)
    # Fixed steps are the user's: what they miss is reported where the record shows it.
    fixed = simulate(thrown, Solver("rk4", step=0.2), parameters=elastic, recording=Recording(refine=8))
    assert fixed["floor_contact.gap"].min < -1e-3
    (missed, *_) = fixed.certificate.violated
    assert missed.name == "rigid bodies do not overlap"
    assert missed.value > 1e-3
    assert "an event was missed" in fixed.outcome.sentence
