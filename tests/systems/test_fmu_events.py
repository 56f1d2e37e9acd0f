"""Are the events of imported units met where they happen, and kept? A ball's impacts against their closed form."""

import math

import numpy as np
import pytest
from support.c_units import build_unit

from robodyn.computation.cosimulation import CosimSettings, ScenarioUnit, SignalConnection, cosimulate
from robodyn.computation.results import OutcomeKind, load, save
from robodyn.description.catalog.oscillator import oscillator_sides
from robodyn.exchange.fmi import FmuUnit, simulate_fmu

G, RESTITUTION = 9.81, 0.7


def find_impacts(end, height=1.0):
    """Times at which a ball that falls from rest hits the ground: each flight is shorter by the restitution."""
    times, flight = [math.sqrt(2 * height / G)], 2 * math.sqrt(2 * height / G)
    while times[-1] <= end:
        flight *= RESTITUTION
        times.append(times[-1] + flight)
    return times[:-1]


def events_of(run, name):
    return [event.time for event in run.events if event.name == name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("balls")


@pytest.fixture(scope="module")
def ball(folder):
    return build_unit("ball", folder)


@pytest.fixture(scope="module", params=["ball", "exchange2", "exchange3"])
def any_ball(request, folder):
    """With event mode, and for model exchange in both versions."""
    return build_unit(request.param, folder)


class Clock:
    """x' = u for a held input, exactly."""

    name, inputs, outputs = "clock", ("u",), {"x": "s"}

    def __init__(self, can_restore=True):
        self.x, self.u, self.can_restore = 0.0, 0.0, can_restore

    def start(self, time):
        pass

    def read(self):
        return {"x": self.x}

    def write(self, inputs):
        self.u = inputs["u"][0]

    def advance(self, time, step):
        self.x += self.u * step

    def save(self):
        return self.x, self.u

    def restore(self, state):
        self.x, self.u = state


@pytest.mark.parametrize("step", [0.1, 0.037, 1.5])
def test_impacts_are_where_they_are_whatever_the_communication_step(any_ball, step):
    run = simulate_fmu(any_ball, step=step)
    np.testing.assert_allclose(events_of(run, "state_event"), find_impacts(1.5), rtol=0, atol=1e-9)
    assert events_of(run, "time_event") == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
    assert run.outcome.kind is OutcomeKind.FINISHED


def test_both_sides_of_an_impact_are_in_the_record(any_ball, tmp_path):
    run = load(save(simulate_fmu(any_ball), tmp_path / "ball.run"))
    (first, *_) = find_impacts(1.5)
    rows = np.flatnonzero(np.abs(run.time - first) < 1e-9)
    assert len(rows) == 2
    assert run.time[rows[0]] == run.time[rows[1]]
    np.testing.assert_allclose(run["speed"].values[rows], [-G * first, RESTITUTION * G * first], rtol=1e-9)
    # No interpolation reaches across the jump.
    assert run["speed"](first - 1e-6) < 0 < run["speed"](first + 1e-6)


def test_what_changes_at_events_only_is_held(any_ball):
    run = simulate_fmu(any_ball, step=0.4)
    assert [run["lamp"](time) for time in (0.2499, 0.25, 0.4999, 0.5, 0.75)] == [0.0, 1.0, 1.0, 0.0, 1.0]


def test_outputs_after_a_step_are_those_after_an_event_there(ball):
    with FmuUnit(ball) as unit:
        unit.start(0.0)
        assert unit.advance(0.0, 0.25) is None
        assert unit.read()["lamp"] == 1.0
        (event,) = unit.take_events()
    assert (event.before["lamp"], event.after["lamp"]) == (0.0, 1.0)


def test_a_unit_may_begin_at_another_time(ball):
    with FmuUnit(ball) as unit:
        unit.start(2.0)
        assert unit.advance(2.0, 0.6) is None
        times = [event.time for event in unit.take_events()]
    np.testing.assert_allclose(times, [2.25, 2.0 + find_impacts(1.0)[0], 2.5], atol=1e-12)


def test_an_event_that_ends_the_simulation_is_its_end(ball):
    run = simulate_fmu(ball, parameters={"end_after": 2})
    end = find_impacts(1.5)[1]
    assert run.outcome.kind is OutcomeKind.STOPPED
    assert run.outcome.time == pytest.approx(end, abs=1e-12)
    assert run.time[-1] == run.outcome.time
    assert (run.events[-1].name, run.events[-1].terminal) == ("state_event", True)
    assert run["bounces"].final == 2.0


def test_events_without_end_are_an_outcome(ball):
    # All flights together take flight / (1 - restitution): the ball then rests, with ever shorter bounces.
    run = simulate_fmu(ball, duration=5.0, parameters={"period": 100.0})
    rest = find_impacts(0.5)[0] * (1 + 2 * RESTITUTION / (1 - RESTITUTION))
    assert run.outcome.kind is OutcomeKind.CHATTERING
    assert run.outcome.time == pytest.approx(rest, abs=1e-8)


def test_a_macro_step_is_cut_at_an_event_so_that_others_are_told_then(ball):
    signal_connection = SignalConnection("ball.bounces", "clock.u")
    for scheme in ("parallel", "sequential"):
        units = [FmuUnit(ball, "ball", parameters={"period": 100.0}), Clock()]
        run = cosimulate(
            units, signal_connections=[signal_connection], settings=CosimSettings(0.1, scheme), duration=1.5
        )
        assert run.outcome.ok, run.outcome.sentence
        # One second for each second since an impact, exactly.
        assert run["clock"]["x"].final == pytest.approx(sum(1.5 - t for t in find_impacts(1.5)), abs=1e-12)
        assert events_of(run["ball"], "state_event") == pytest.approx(find_impacts(1.5), abs=1e-12)
        # The macro steps after it end where they would have ended without it.
        assert {round(t, 9) for t in np.arange(16) * 0.1} <= {round(t, 9) for t in run.coupling.time}
        assert run.statistics.extra["cut_at_events"] >= 2


def test_where_others_cannot_go_back_a_unit_goes_on_alone_and_they_are_told_late(ball):
    units = [FmuUnit(ball, "ball", parameters={"period": 100.0}), Clock(can_restore=False)]
    run = cosimulate(
        units,
        signal_connections=[SignalConnection("ball.bounces", "clock.u")],
        settings=CosimSettings(0.1),
        duration=1.5,
    )
    late = [0.1 * math.ceil(t / 0.1) for t in find_impacts(1.5)]
    assert run["clock"]["x"].final == pytest.approx(sum(1.5 - t for t in late), abs=1e-12)
    assert events_of(run["ball"], "state_event") == pytest.approx(find_impacts(1.5), abs=1e-12)
    rows = np.flatnonzero(np.abs(run["ball"].time - find_impacts(1.5)[0]) < 1e-12)
    assert len(rows) == 2


def test_a_jump_does_not_make_an_adapted_macro_step_small(ball):
    units = [FmuUnit(ball, "ball", parameters={"period": 100.0}), Clock()]
    settings = CosimSettings(0.05, tolerance=1e-2, largest_step=0.1)
    run = cosimulate(
        units, signal_connections=[SignalConnection("ball.bounces", "clock.u")], settings=settings, duration=1.5
    )
    assert run["clock"]["x"].final == pytest.approx(sum(1.5 - t for t in find_impacts(1.5)), abs=1e-12)
    assert run.statistics.rejected == 0
    assert run.statistics.steps < 25


def test_a_jump_is_not_extrapolated(ball):
    # Through the speeds before and after an impact a line would go on upwards by 7.5 m/s in 0.1 s.
    units = [FmuUnit(ball, "ball", parameters={"period": 100.0}), Clock()]
    run = cosimulate(
        units,
        signal_connections=[SignalConnection("ball.speed", "clock.u", order=1)],
        settings=CosimSettings(0.01),
        duration=0.5,
    )
    # The clock holds its inputs: its way is the ball's, but for half a macro step of falling, 9.81 * 0.01 / 2 * 0.5.
    assert run["clock"]["x"].final == pytest.approx(run["ball"]["height"].final - 1.0, abs=0.03)


def test_inputs_that_change_at_events_are_given_in_event_mode(ball):
    with FmuUnit(ball, parameters={"period": 100.0}) as unit:
        unit.write({"gust": (2.0,)})
        unit.start(0.0)
        assert unit.read()["speed"] == 2.0
        assert unit.advance(0.0, 0.1) is None
        unit.write({"gust": (2.0,), "wind": (0.5,)})
        assert unit.take_events() == []
        unit.write({"gust": (-1.0,), "wind": (0.5,)})
        assert unit.read()["speed"] == pytest.approx(2.0 - G * 0.1 - 1.0, abs=1e-12)
        assert [(event.name, event.time) for event in unit.take_events()] == [("input_event", 0.1)]


def test_going_back_forgets_events_and_repeats_them(ball):
    with FmuUnit(ball) as unit:
        unit.start(0.0)
        saved = unit.save()
        found = []
        for _ in range(2):
            unit.advance(0.0, 0.6)
            found.append([(event.name, event.time) for event in unit.take_events()])
            unit.restore(saved)
        unit.advance(0.0, 0.6)
        unit.restore(saved)
        assert unit.take_events() == []
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_a_scenario_feels_an_impact_when_it_happens(ball):
    # A free mass of 1 kg under as many newtons as there were impacts: v = sum (t - t_k).
    side = oscillator_sides("force-displacement")[1]
    finals = []
    for step in (0.1, 0.3):
        mass = ScenarioUnit(side, name="mass", parameters={"spring.stiffness": 0.0})
        units = [FmuUnit(ball, "ball", parameters={"period": 100.0}), mass]
        run = cosimulate(
            units,
            signal_connections=[SignalConnection("ball.bounces", "mass.port.force")],
            settings=CosimSettings(step),
            duration=1.5,
        )
        assert run.outcome.ok, run.outcome.sentence
        finals.append(run["mass"]["slide.velocity"].final - run["mass"]["slide.velocity"].values[0])
    # A hundred times the tolerance of the mass' solver at speeds of 100 m/s.
    np.testing.assert_allclose(finals, sum(1.5 - t for t in find_impacts(1.5)), atol=1e-4)


def test_all_units_end_where_one_ends_the_run(ball):
    for units in (["ball", "clock"], ["clock", "ball"]):
        made = {"ball": FmuUnit(ball, "ball", parameters={"end_after": 1, "period": 100.0}), "clock": Clock()}
        signal_connections = [SignalConnection("ball.height", "clock.u")]
        run = cosimulate(
            [made[name] for name in units],
            signal_connections=signal_connections,
            settings=CosimSettings(0.1),
            duration=1.5,
        )
        assert run.outcome.kind is OutcomeKind.STOPPED
        ends = [run.outcome.time, run.coupling.time[-1], run["clock"].time[-1], run["ball"].time[-1]]
        assert ends == pytest.approx([find_impacts(1.0)[0]] * 4, abs=1e-12)
        assert run["ball"].events[-1].terminal
