"""Units go on across communication points as if there were none, go back exactly, and fail with a sentence."""

import numpy as np
import pytest
from support.coupled import held_pendulum

from robodyn import ModelError, simulate
from robodyn.computation.cosimulation import (
    Connection,
    CosimSettings,
    ScenarioUnit,
    SignalConnection,
    cosimulate,
    read_cosimulation,
)
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.description.catalog.oscillator import oscillator_sides


class Follower:
    """x' = rate (u - x), solved exactly for a held input."""

    name, inputs, outputs = "follower", ("u",), {"x": "m"}

    def __init__(self, rate=1.0, fails_at=np.inf):
        self.rate, self.fails_at, self.x, self.u = rate, fails_at, 0.0, 0.0

    def start(self, time):
        pass

    def read(self):
        return {"x": self.x}

    def write(self, inputs):
        self.u = inputs["u"][0]

    def advance(self, time, step):
        if time >= self.fails_at:
            raise RuntimeError("out of order")
        self.x = self.u + (self.x - self.u) * np.exp(-self.rate * step)


def spring_unit(**changes):
    return ScenarioUnit(oscillator_sides("force-displacement")[0], name="mass", **changes)


def test_clocks_delays_and_memory_go_on_across_communication_points():
    whole = simulate(held_pendulum())
    unit = ScenarioUnit(held_pendulum("force"))
    run = cosimulate(
        [unit, Follower()],
        signal_connections=[SignalConnection("held.hinge.position", "follower.u")],
        settings=CosimSettings(0.0041),
    )
    times = np.linspace(0.0, 0.2, 40)
    # Steps end at other places: what is left are the solver's errors at a tolerance of 1e-8.
    for name in ("hinge.position", "hold.torque", "hold.total"):
        np.testing.assert_allclose(run["held"][name](times), whole[name](times), atol=1e-5)
    assert run["held"].statistics.ticks == whole.statistics.ticks


def test_going_back_repeats_a_step_bit_by_bit():
    unit = ScenarioUnit(held_pendulum("force"))
    unit.write({"tip.force": (1.0,)})
    unit.start(0.0)
    unit.advance(0.0, 0.01)
    saved = unit.save()
    ends = []
    for _ in range(2):
        unit.write({"tip.force": (2.0, 3.0, 4.0)})
        unit.advance(0.01, 0.0234)
        ends.append(unit.read())
        unit.restore(saved)
    assert ends[0] == ends[1]


def test_code_for_outputs_is_made_again_only_for_other_outputs():
    unit = ScenarioUnit(oscillator_sides("model-model")[0], name="first")
    made = unit.functions
    unit.choose(("port.force", "port.mean_force"))
    assert unit.functions is made
    unit.choose(("slide.acceleration",))
    assert unit.functions is not made
    assert {"slide.acceleration", "port.force"} < set(unit.read())


def test_inputs_are_polynomials_of_time():
    # A free mass under 6 s^2 N: x = s^4 / 2, exactly for a method of order 5.
    unit = ScenarioUnit(oscillator_sides("force-displacement")[1], parameters={"spring.stiffness": 0.0})
    unit.write({"port.force": (0.0, 0.0, 6.0)})
    unit.start(0.0)
    unit.advance(0.0, 0.5)
    assert unit.read()["port.position"] + 100.0 * 0.5 == pytest.approx(0.5**4 / 2, abs=1e-9)


def test_a_unit_of_ones_own_is_coupled_by_links():
    signal_connection = SignalConnection("mass.slide.position", "follower.u", gain=2.0)
    run = cosimulate(
        [spring_unit(), Follower(10.0)],
        signal_connections=[signal_connection],
        settings=CosimSettings(0.01),
        duration=0.1,
    )
    x = u = 0.0
    for time in run.coupling.time[:-1]:
        u = 2.0 * run["mass"]["slide.position"](time)
        x = u + (x - u) * np.exp(-0.1)
    # The record at 100 Hz has every communication point.
    assert run["follower"]["x"].final == pytest.approx(x, rel=1e-12)


def test_a_unit_that_raises_an_error_ends_the_run_with_a_sentence():
    signal_connections = [SignalConnection("mass.slide.position", "follower.u")]
    run = cosimulate(
        [spring_unit(), Follower(fails_at=0.05)], signal_connections=signal_connections, settings=CosimSettings(0.01)
    )
    assert run.outcome.kind is OutcomeKind.FAILED
    assert "unit 'follower' raised RuntimeError at 0.05 s: out of order" in run.outcome.sentence
    assert run["mass"].time[-1] >= 0.05


def test_a_unit_that_cannot_go_on_ends_the_run_with_its_outcome():
    unit = Follower()
    unit.advance = lambda time, step: Outcome(OutcomeKind.STOPPED, "stopped here", time)
    run = cosimulate(
        [spring_unit(), unit],
        signal_connections=[SignalConnection("mass.slide.position", "follower.u")],
        settings=CosimSettings(0.01),
    )
    assert run.outcome == Outcome(OutcomeKind.STOPPED, "unit 'follower': stopped here", 0.0)


def test_a_coupling_that_diverges_is_an_outcome():
    units = [ScenarioUnit(side) for side in oscillator_sides("force-displacement")]
    connection = Connection("oscillator-first.port", "oscillator-second.port")
    run = cosimulate(units, [connection], settings=CosimSettings(0.12, largest_value=1e4))
    assert run.outcome.kind is OutcomeKind.DIVERGED
    assert "shorten it, or couple by reduced interface models" in run.outcome.sentence


def test_an_adapted_macro_step_keeps_its_tolerance_and_goes_back():
    errors = []
    for tolerance in (3e-2, 3e-3):
        units = [ScenarioUnit(side) for side in oscillator_sides("model-model")]
        connection = Connection("oscillator-first.port", "oscillator-second.port")
        run = cosimulate(units, [connection], settings=CosimSettings(0.02, tolerance=tolerance), duration=1.0)
        exact = simulate_whole(1.0)
        errors.append(abs(run["oscillator-first"]["slide.position"].final - exact))
        assert run.outcome.ok
        assert run.statistics.rejected > 0
    assert errors[1] < errors[0] / 10


def simulate_whole(time):
    from robodyn.description.catalog import Oscillator
    from robodyn_studies.oscillator_exact import solve_exactly

    return solve_exactly(Oscillator(), time)[0]


def test_all_flaws_of_a_co_simulation_are_told_at_once():
    first, second = oscillator_sides("force-displacement")
    connections = [Connection("a.port", "b.prt"), Connection("a.port", "b.port", order=2)]
    signal_connections = [
        SignalConnection("a.slide.positon", "b.port.force", order=1),
        SignalConnection("a.slide.position", "b.nothing"),
    ]
    units = [ScenarioUnit(first, name="a"), ScenarioUnit(second, name="b")]
    with pytest.raises(ModelError) as caught:
        cosimulate(
            units, connections, signal_connections=signal_connections, settings=CosimSettings(0.01), duration=20.0
        )
    message = "\n".join(str(flaw) for flaw in caught.value.flaws)
    for part in ("no interface 'b.prt'", "positon", "b.nothing", "20 s is more than the 10 s"):
        assert part in message


def test_all_flaws_of_a_connection_are_told_at_once():
    with pytest.raises(ModelError) as caught:
        Connection("a.port", "b.port", order=3, mean=1, join="inertias")
    assert [flaw.path for flaw in caught.value.flaws] == ["order", "mean", "join"]
    with pytest.raises(ModelError, match="order: must be a whole number from 0 to 2, is -1"):
        SignalConnection("a.x", "b.y", order=-1)


FLAWED = """
[subsystems.a]
scenario = "oscillator-first"
[[connections]]
between = ["a.port"]
order = 3
[[connections]]
betwen = ["a.port", "b.port"]
[[signal_connections]]
source = "a.slide.position"
target = 4
[settings]
scheme = "paralel"
smallest_step = "1 m"
"""


def test_all_flaws_of_a_file_of_a_co_simulation_are_told_at_once(tmp_path):
    (tmp_path / "flawed.toml").write_text(FLAWED)
    with pytest.raises(ModelError) as caught:
        read_cosimulation(tmp_path / "flawed.toml")
    told = {flaw.path: str(flaw) for flaw in caught.value.flaws}
    expected = {
        "connections[0].between": "must name two interfaces, names 1",
        "connections[0].order": "from 0 to 2",
        "connections[1].between": "is missing",
        "connections[1].betwen": "did you mean 'between'",
        "signal_connections[0].target": "must be text",
        "settings.step": "is missing",
        "settings.scheme": "did you mean 'parallel'",
        "settings.smallest_step": "must be in s",
    }
    assert told.keys() == expected.keys()
    assert all(part in told[path] for path, part in expected.items())


def test_interfaces_that_do_not_fit_are_told():
    first, second = oscillator_sides("force-displacement")
    with pytest.raises(ModelError, match="both sides receive a force"):
        cosimulate(
            [ScenarioUnit(second, name="a"), ScenarioUnit(second, name="b")],
            [Connection("a.port", "b.port")],
            settings=CosimSettings(0.01),
        )
    with pytest.raises(ModelError, match="not a tunable number"):
        ScenarioUnit(first, inputs=("slide.mass",))
    with pytest.raises(ModelError, match="cannot go back"):
        cosimulate(
            [ScenarioUnit(second, name="a"), Follower()],
            signal_connections=[SignalConnection("a.slide.position", "follower.u")],
            settings=CosimSettings(0.01, tolerance=1e-3),
        )
