"""Where steps grow without bounds, nothing that lies in them is stepped over: zones, thin walls, events nearby."""

import numpy as np
import pytest
from soak.crossings import KINDS, passed_over

from robodyn import GROUND, Block, Body, Event, Joint, Machine, Mechanism, Scenario, Solver, assemble, simulate
from robodyn.base.symbolic import logical_and, maximum, table, where

UNSEEN = "no condition change was missed"


def sliding(*blocks, velocity=1.0, duration=10.0, events=()):
    """A mass of 1 kg that coasts along x."""
    slide = Joint("slide", "prismatic", GROUND, "mass", axis=(1, 0, 0))
    mechanism = Mechanism("sliding", (Body("mass", 1.0),), (slide,), gravity=(0, 0, 0))
    return Scenario("sliding", Machine("sliding", mechanism, blocks), duration, {"slide.velocity": velocity}, events)


@pytest.mark.parametrize("kind", KINDS)
def test_of_random_zones_walls_and_grazing_events_none_is_passed_over(kind):
    assert passed_over(kind, 12, seed=7) == []


@pytest.mark.parametrize("method", ["auto", "dopri5", "heun_euler", "rodas4", "trbdf2", "rkc"])
def test_a_brake_zone_stops_what_coasts_into_it(method):
    """v' = -c v in the zone: it stops 1/c behind its begin, however long steps are before."""

    def brake(x, v):
        return {"force": where(logical_and(x > 3.3, x < 3.6), -40.0 * v, 0.0)}

    zone = Block("zone", brake, on="slide", inputs={"x": "slide.position", "v": "slide.velocity"})
    run = simulate(sliding(zone), Solver(method))
    assert run.final["slide.position"] == pytest.approx(3.3 + 1 / 40, abs=1e-6)
    assert run.certificate[UNSEEN].ok
    assert run.certificate[UNSEEN].subject == f"proven on {run.statistics.steps} of {run.statistics.steps} steps"


@pytest.mark.parametrize("method", ["auto", "dopri5", "heun_euler", "rodas4", "rodas4p", "trbdf2"])
def test_a_narrow_range_of_speeds_is_felt(method):
    """v' = -10, and -100 in a range of 0.1 mm/s to 0.1 m/s, which no stage of a step has to fall into."""

    def kick(v, *, begin, end):
        return {"force": where(logical_and(v < begin, v > end), -90.0, 0.0) - 10.0}

    block = Block("kick", kick, "slide", {"v": "slide.velocity"}, {"begin": -1.0, "end": -2.0})
    system = assemble(sliding(block, velocity=0.0, duration=2.0))
    rng = np.random.default_rng(5)
    for begin, width in zip(rng.uniform(-18.0, -1.0, 12), 10 ** rng.uniform(-4, -1, 12), strict=True):
        run = simulate(system, Solver(method), parameters={"kick.begin": begin, "kick.end": begin - width})
        # In the range it gains width in width / 100 s, where it takes width / 10 s elsewhere.
        assert run.final["slide.velocity"] == pytest.approx(-20.0 - 0.9 * width, abs=2e-3 * width + 5e-5)
        # Explicit steps end at both edges; beside those an implicit step is too inexact to tell on which side it is.
        if method in ("auto", "dopri5", "heun_euler"):
            steps = run.statistics.steps
            assert run.certificate[UNSEEN].subject == f"proven on {steps} of {steps} steps"


def test_fixed_steps_over_a_narrow_range_of_speeds_are_suspect():
    """v = -10 t passes -3.3 and -3.31 between 0.30 and 0.35 s."""
    kick = Block(
        "kick",
        lambda v: {"force": where(logical_and(v < -3.3, v > -3.31), -90.0, 0.0) - 10.0},
        "slide",
        {"v": "slide.velocity"},
    )
    run = simulate(sliding(kick, velocity=0.0, duration=1.0), Solver("rk4", step=0.05))
    assert run.outcome.kind.name == "SUSPECT"
    assert run.certificate[UNSEEN].value == 1
    assert run.certificate[UNSEEN].time == pytest.approx(0.33, abs=1e-9)


def test_a_spike_of_a_table_is_met_by_implicit_steps():
    """Three corners within 3 mm/s: steps come to the first in ever smaller ones, whose equations cannot be solved."""
    at, width, height = -33.323841049043864, 0.0014347022245369582, 480.27428146160776
    knots, forces = (-1000.0, at - width, at, at + width, 1000.0), (-9.81, -9.81, -9.81 - height, -9.81, -9.81)
    spike = Block("spike", lambda v: {"force": table(v, knots, forces)}, "slide", {"v": "slide.velocity"})
    run = simulate(sliding(spike, velocity=0.0, duration=5.0), Solver("trbdf2"))
    inside = 2.0 * width / height * np.log((9.81 + height) / 9.81)
    assert run.final["slide.velocity"] == pytest.approx(-9.81 * (5.0 - inside) - 2.0 * width, abs=5e-5)
    assert run.certificate[UNSEEN].subject == f"proven on {run.statistics.steps} of {run.statistics.steps} steps"


@pytest.mark.parametrize("at_event", [False, True])
@pytest.mark.parametrize("method", ["dopri5", "trbdf2", "rodas4"])
def test_a_hump_that_begins_and_ends_at_kinks_is_felt(method, at_event):
    """A brake b u (2 w - u), u = x - begin, for 1 mm: a step that begins at the first kink sees nothing of it there.

    The step before has ended there because of the kink, or of an event.
    """
    width, lost = 5e-4, 0.2

    def hump(x, *, begin):
        return {"force": -0.375 * lost / width**3 * maximum(0.0, (x - begin) * (2.0 * width - (x - begin)))}

    block = Block("hump", hump, on="slide", inputs={"x": "slide.position"}, parameters={"begin": 1.0})
    signals = {"x": "slide.position", "v": "slide.velocity"}
    event = Event("in", lambda x, begin: x - begin, signals, {"begin": 1.0}, action=lambda v: {"slide.velocity": v})
    system = assemble(sliding(block, events=(event,) * at_event))
    begins = ["hump.begin", "in.begin"][: 1 + at_event]
    for begin in np.geomspace(0.03, 7.0, 12):
        run = simulate(system, Solver(method), parameters=dict.fromkeys(begins, float(begin)))
        assert run.final["slide.velocity"] == pytest.approx((1.0 - lost) ** 0.5, abs=5e-5)


def test_an_impulse_by_the_clock_is_felt_however_short_it_is():
    """10 N for 30 us, at a time that no look before the run can have hit: 0.3 mm/s."""
    kick = Block(
        "kick", lambda time: {"force": where(logical_and(time > 7.123451, time < 7.123481), 10.0, 0.0)}, on="slide"
    )
    run = simulate(sliding(kick, velocity=0.0))
    assert run.final["slide.velocity"] == pytest.approx(3e-4, rel=1e-3)


def test_an_event_that_fires_twice_within_a_step_fires_twice():
    """A mass passes a stretch of 1 mm: in and out."""
    inside = Event("inside", lambda x: 0.0005 - ((x - 5.0) ** 2) ** 0.5, {"x": "slide.position"})
    times = [event.time for event in simulate(sliding(events=(inside,))).events]
    assert times == pytest.approx([4.9995, 5.0005], abs=1e-9)


def test_where_the_proof_gives_up_it_is_said():
    """(x - 5)^2 comes to zero and does not pass it: no bound can tell that from a passage."""
    touch = Event("touch", lambda x: (x - 5.0) ** 2, {"x": "slide.position"}, direction="falling", terminal=True)
    run = simulate(sliding(events=(touch,)))
    assert run.time[-1] == pytest.approx(5.0, abs=1e-6)
    said = [line for line in run.certificate.unchecked if line.startswith(UNSEEN)]
    assert len(said) == 1
    assert "'touch'" in said[0]


def run_against_spring(stiffness, begins, method="dopri5"):
    """Runs of 10 s of a mass of 1 kg and 1 m/s that meets a spring, one for each place where the spring begins."""

    def spring(x, *, begin, stiffness):
        return {"force": -stiffness * maximum(0.0, x - begin)}

    parameters = {"begin": 1.0, "stiffness": stiffness}
    block = Block("spring", spring, on="slide", inputs={"x": "slide.position"}, parameters=parameters)
    system = assemble(sliding(block))
    solver = Solver(method, rtol=1e-6, atol=1e-6)
    return [simulate(system, solver, parameters={"spring.begin": float(begin)}) for begin in begins]


@pytest.mark.parametrize("method", ["dopri5", "heun_euler"])
def test_a_kink_is_as_exact_wherever_it_lies_in_a_step(method):
    """v = cos(w (t - begin)) in the spring. Stages of a step see some kinks so little that its error estimate is 0."""
    begins, w = np.linspace(0.5, 8.0, 60), 1e-3**0.5
    speeds = [run.final["slide.velocity"] for run in run_against_spring(1e-3, begins, method)]
    np.testing.assert_allclose(speeds, np.cos(w * (10.0 - begins)), rtol=0, atol=1e-6)


def test_a_kink_too_small_to_matter_costs_no_step():
    with_kink, without = (run_against_spring(stiffness, [4.3])[0] for stiffness in (1e-12, 0.0))
    steps = without.statistics.steps
    assert with_kink.statistics.steps == steps
    assert with_kink.certificate[UNSEEN].subject == f"proven on {steps} of {steps} steps"
