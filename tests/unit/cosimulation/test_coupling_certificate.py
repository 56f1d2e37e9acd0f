"""Does a co-simulation notice that its coupling made energy, moved its start, drifted apart or is unstable?"""

import dataclasses
import math

import numpy as np
import pytest

import robodyn as rd
from robodyn import Connection, CosimSettings, Interface, ScenarioUnit, SignalConnection, cosimulate, simulate
from robodyn.computation.cosimulation.certificate import ENERGY, GROWTH, MEETS, MOVES_ALIKE, STAYS, growth_of_jumps
from robodyn.description.catalog import find_scenario, oscillator_sides

NAMES = ("first", "second")


def sliding(name, mass, speed, port, position=0.0):
    """A mass that slides freely, cut at its joint."""
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "body", axis=(1, 0, 0))
    mechanism = rd.Mechanism(name, (rd.Body("body", mass),), (slide,), gravity=(0, 0, 0))
    machine = rd.Machine(name, mechanism, interfaces=(port,))
    initial = {"slide.velocity": speed, "slide.position": position}
    return ScenarioUnit(rd.Scenario(name, machine, 2.0, initial), name=name)


def braked(step, duration=0.39):
    """1 kg at 1 m/s, whose damper of 100 N s/m is in the other unit: the macro map is 1 - 100 H."""
    first = sliding("first", 1.0, 1.0, Interface("port", on="slide", takes="force"))
    second = sliding("second", 1e6, 0.0, Interface("port", on="slide", takes="motion", stiffness=1e-3, damping=100.0))
    settings = CosimSettings(step=step)
    return cosimulate([first, second], [Connection("first.port", "second.port")], settings=settings, duration=duration)


@pytest.mark.parametrize("step", [0.03, 0.021, 0.019, 0.012])
def test_a_held_damper_that_shakes_its_mass_is_suspect(step):
    run = braked(step)
    assert run.outcome.suspect
    assert not run.certificate[ENERGY].ok
    assert not run.coupling.outcome.ok
    assert "'energy is conserved by the coupling' of 'first.port-second.port' failed" in run.outcome.sentence


def test_a_held_damper_that_is_resolved_is_not():
    run = braked(0.0005)
    assert run.outcome.ok
    assert run["first"]["slide.velocity"].final == pytest.approx(0.0, abs=1e-5)
    assert 0 < run.certificate[ENERGY].value < 0.1


def test_energy_made_by_a_coupling_is_as_large_as_its_error():
    """On the oscillator, all couplings and orders: what is off by a tenth is suspect, but for one at the border."""
    reference = simulate(find_scenario("oscillator"))
    truth = next(reference[name] for name in reference.names if name.endswith(".position"))
    size = np.abs(truth.values).max()
    wrong, right = [], []
    for coupling in ("force-displacement", "displacement-displacement", "model-force", "model-model"):
        units = [ScenarioUnit(side, name=n) for n, side in zip(NAMES, oscillator_sides(coupling), strict=True)]
        for order in (0, 1):
            for step in (0.001, 0.005, 0.02):
                link = Connection("first.port", "second.port", order)
                renewed = [unit.renew() for unit in units]
                run = cosimulate(renewed, [link], settings=CosimSettings(step), duration=5.0)
                first = run["first"]
                error = np.abs(first["slide.position"].values - truth(first.time)).max() / size
                (wrong if error > 0.1 else right).append((error, run.outcome.suspect, run.certificate[ENERGY].value))
    assert len(wrong) >= 5
    assert all(suspect for _, suspect, _ in wrong)
    assert all(not suspect for error, suspect, _ in right if error < 0.02)
    assert all(value < 10 * error + 1e-6 for error, suspect, value in right if not suspect)


def test_sides_that_lie_apart_are_reported_with_the_start_values_that_moved():
    rigid = Interface("port", on="slide", takes="model")
    units = [sliding("first", 1.0, 0.2, rigid), sliding("second", 3.0, 0.2, rigid, position=0.4)]
    run = cosimulate(units, [Connection("first.port", "second.port")], settings=CosimSettings(0.01), duration=0.2)
    assert run.outcome.suspect
    check = run.certificate[MEETS]
    assert check.value == pytest.approx(0.4)
    assert not check.ok
    assert run["first"].found["slide.position"] == pytest.approx((0.0, 0.3))
    assert run["second"].found["slide.position"] == pytest.approx((0.4, 0.3))
    assert "first: start slide.position: 0 described, 0.3 found" in run.summary()
    assert run.certificate[MOVES_ALIKE].ok


def test_sides_that_move_differently_at_the_start_are_reported():
    rigid = Interface("port", on="slide", takes="model")
    units = [sliding("first", 1.0, 1.0, rigid), sliding("second", 3.0, 0.0, rigid)]
    run = cosimulate(units, [Connection("first.port", "second.port")], settings=CosimSettings(0.01), duration=0.2)
    assert run.certificate[MOVES_ALIKE].value == pytest.approx(1.0)
    assert run.outcome.suspect
    assert run["second"].found["slide.velocity"] == pytest.approx((0.0, 0.25))
    allowed = CosimSettings(0.01, start_limit=math.inf)
    run = cosimulate(
        [unit.renew() for unit in units], [Connection("first.port", "second.port")], settings=allowed, duration=0.2
    )
    assert run.outcome.ok


def test_a_start_written_with_six_digits_meets():
    rigid = Interface("port", on="slide", takes="model")
    units = [sliding("first", 1.0, 0.0, rigid, 0.333333), sliding("second", 3.0, 0.0, rigid, 1 / 3)]
    run = cosimulate(units, [Connection("first.port", "second.port")], settings=CosimSettings(0.01), duration=0.2)
    assert run.outcome.ok
    assert run.certificate[MEETS].value == pytest.approx(1 / 3e6)


def sprung(name, mass, stiffness):
    """A mass on a spring, which takes the other's model rigidly."""
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "body", axis=(1, 0, 0))
    mechanism = rd.Mechanism(name, (rd.Body("body", mass),), (slide,), gravity=(0, 0, 0))
    spring = rd.Block("spring", "spring", on="slide", parameters={"stiffness": stiffness})
    machine = rd.Machine(name, mechanism, (spring,), interfaces=(Interface("port", on="slide", takes="model"),))
    return ScenarioUnit(rd.Scenario(name, machine, 2.0, {"slide.velocity": 1.0}), name=name)


def test_sides_that_keep_their_own_motion_and_drift_apart_are_suspect():
    units = [sprung("first", 1.0, 10.0), sprung("second", 2.0, 200.0)]
    outcomes = {}
    for step in (0.0005, 0.02):
        link = Connection("first.port", "second.port", join="none")
        run = cosimulate([unit.renew() for unit in units], [link], settings=CosimSettings(step), duration=2.0)
        outcomes[step] = run.certificate[STAYS]
    assert outcomes[0.0005].ok
    assert not outcomes[0.02].ok
    assert outcomes[0.02].value > 0.01


class Amplifier:
    """y = -gain u of the macro step before, and some noise: unstable beyond a gain of 1."""

    inputs, outputs = ("u",), {"y": ""}

    def __init__(self, name, gain, noise=0.0):
        self.name, self.gain, self.y, self.noise = name, gain, 1.0, noise
        self.random = np.random.default_rng(1)

    def start(self, time):
        pass

    def read(self):
        return {"y": self.y}

    def write(self, inputs):
        self.u = inputs["u"][0]

    def advance(self, time, step):
        self.y = -self.gain * self.u + self.noise * self.random.normal()


@pytest.mark.parametrize(("gain", "noise", "suspect"), [(1.03, 0.0, True), (0.97, 0.0, False), (0.2, 1.0, False)])
def test_a_loop_of_signals_that_grows_is_suspect_and_noise_is_not(gain, noise, suspect):
    units = [Amplifier("a", gain, noise), Amplifier("b", -1.0)]
    links = [SignalConnection("a.y", "b.u"), SignalConnection("b.y", "a.u")]
    run = cosimulate(units, signal_connections=links, settings=CosimSettings(0.01), duration=4.0)
    assert run.outcome.suspect is suspect
    assert run.certificate[GROWTH].ok is not suspect
    assert any("single signals carry none" in sentence for sentence in run.certificate.unchecked)


def test_smooth_growth_is_not_a_jump():
    time = np.linspace(0.0, 1.0, 101)
    values = np.column_stack([np.exp(9 * time), np.where(time < 0.9, 0.0, 5.0), np.sin(70 * time), 0 * time])
    assert growth_of_jumps(values).tolist() == [0.0, 0.0, 0.0, 0.0]
    growing = (-1.2) ** np.arange(40.0)
    assert growth_of_jumps(growing[:, None])[0] == pytest.approx(1.2**9, rel=1e-6)


def alternating(factor, begin, n=200):
    """Something that is hit at one of n exchanges, and turns round at each from then on."""
    k = np.arange(n)
    return np.where(k < begin, 0.0, (-factor) ** np.maximum(k - begin, 0.0)) + 1e-3 * np.sin(0.05 * k)


@pytest.mark.parametrize("begin", [0, 60, 110, 155, 170, 195])
def test_a_hit_is_no_growth_whenever_it_comes_and_whether_it_fades_or_goes_on(begin):
    hits = np.column_stack([alternating(factor, begin) for factor in (0.5, 0.9, 0.99, 1.0)])
    assert np.all(growth_of_jumps(hits) < CosimSettings(0.1).growth_limit)


@pytest.mark.parametrize(("begin", "factor"), [(0, 1.02), (60, 1.02), (110, 1.1), (150, 1.1)])
def test_growth_is_seen_whenever_it_begins(begin, factor):
    assert growth_of_jumps(alternating(factor, begin)[:, None])[0] > 2


def test_the_largest_value_of_a_summary_is_by_magnitude():
    first, second = (ScenarioUnit(side, name=n) for n, side in zip(NAMES, oscillator_sides("model-model"), strict=True))
    run = cosimulate(
        [first, second], [Connection("first.port", "second.port", 1)], settings=CosimSettings(0.05), duration=2.0
    )
    signal = run.coupling["first.port-second.port.energy_error"]
    assert abs(signal.values.min()) > signal.values.max()
    row = next(line.split() for line in run.summary().splitlines() if line.startswith(signal.name))
    assert row[2] == f"{np.abs(signal.values).max():.4g}"


def test_a_suspect_unit_makes_the_whole_suspect_and_a_suspect_coupling_is_kept():
    run = braked(0.03)
    assert dataclasses.replace(run, warnings=()).certificate is run.coupling.certificate
    assert run["first"].certificate.ok
