"""Several connections: chains of rigidly joined units move as one body, and what cannot be is reported."""

import numpy as np
import pytest
from support.coupled import scenario

from robodyn import GROUND, Block, Body, Interface, Joint, Machine, Mechanism, ModelError, Point
from robodyn.computation.cosimulation import (
    Connection,
    CosimSettings,
    ScenarioUnit,
    SignalConnection,
    cosimulate,
)
from robodyn.computation.results import OutcomeKind
from robodyn.description.catalog import oscillator_sides

CHAIN = [Connection("left.b", "middle.a"), Connection("middle.b", "right.a")]


def mass(name, size, *ports, stiffness=0.0):
    """A mass on a slide, at 1 m/s, with rigid interfaces and a spring to the ground."""
    mechanism = Mechanism(
        name, (Body("mass", size),), (Joint("slide", "prismatic", GROUND, "mass"),), gravity=(0.0, 0.0, 0.0)
    )
    spring = Block("spring", "spring", on="slide", parameters={"stiffness": stiffness, "damping": 0.0})
    interfaces = tuple(Interface(port, "model", on="slide") for port in ports)
    machine = Machine(name, mechanism, blocks=(spring,), interfaces=interfaces)
    return ScenarioUnit(scenario(name, machine, 1.0, {"slide.velocity": 1.0}))


@pytest.fixture(scope="module")
def masses():
    return [mass("left", 1.0, "b", stiffness=10.0), mass("middle", 2.0, "a", "b"),
            mass("right", 3.0, "a", stiffness=40.0)]  # fmt: skip


def test_three_units_joined_rigidly_move_as_one_mass(masses):
    omega = np.sqrt(50.0 / 6.0)
    errors = []
    for step in (0.02, 0.01):
        run = cosimulate([unit.renew() for unit in masses], CHAIN, settings=CosimSettings(step))
        errors.append(abs(run["middle"]["slide.position"].final - np.sin(omega) / omega))
    # Forces of models attached rigidly are held: first order.
    assert errors[0] < 4e-3
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1)


class Foreign(ScenarioUnit):
    """A scenario that is called in Python."""


@pytest.mark.parametrize("natively", [True, False])
def test_implicit_models_are_of_second_order(masses, natively):
    left, _, right = masses
    omega, errors = np.sqrt(50.0 / 4.0), []
    for step in (0.04, 0.02):
        link = Connection("left.b", "right.a", implicit=True)
        units = [left.renew(), right.renew()]
        if not natively:
            units[0].__class__ = Foreign
        run = cosimulate(units, [link], settings=CosimSettings(step))
        errors.append(run["right"]["slide.position"].final - np.sin(omega) / omega)

    # Held models are 4.2 mm off at the longer step.
    assert errors == pytest.approx([5.2381e-4, 1.3283e-4], rel=1e-4)


def test_implicit_models_that_cannot_be_are_told(masses):
    class Explicit(ScenarioUnit):
        def reduced_model(self, interface):
            return super().reduced_model(interface)

    left, _, right = (unit.renew() for unit in masses)
    left.__class__ = Explicit
    with pytest.raises(ModelError, match="left: has no implicit models"):
        cosimulate([left, right], [Connection("left.b", "right.a", implicit=True)], settings=CosimSettings(0.01))
    with pytest.raises(ModelError, match="extrapolates forces already, as order does"):
        cosimulate([left, right], [Connection("left.b", "right.a", 1, implicit=True)], settings=CosimSettings(0.01))
    sides = [ScenarioUnit(part, name=name) for part, name in zip(oscillator_sides("model-model"), "ab", strict=True)]
    with pytest.raises(ModelError, match="only models that are attached rigidly can be implicit"):
        cosimulate(sides, [Connection("a.port", "b.port", implicit=True)], settings=CosimSettings(0.01))


def test_an_interface_meets_one_other_only(masses):
    twice = [*CHAIN, Connection("left.b", "right.a")]
    with pytest.raises(ModelError, match=r"left\.b: is in 2 connections"):
        cosimulate([unit.renew() for unit in masses], twice, settings=CosimSettings(0.01))


def test_models_that_would_hold_themselves_are_told(masses):
    pair = [mass("one", 1.0, "a", "b"), masses[1].renew()]
    connections = [Connection("one.a", "middle.a"), Connection("one.b", "middle.b")]
    with pytest.raises(ModelError, match="form a loop"):
        cosimulate(pair, connections, settings=CosimSettings(0.01))


def test_an_interface_that_waits_for_a_model_in_vain_is_free_and_told(masses):
    run = cosimulate([masses[0].renew(), masses[1].renew()], CHAIN[:1], settings=CosimSettings(0.01))
    assert "'middle.b' is not connected" in run.warnings[0]
    omega = np.sqrt(10.0 / 3.0)
    # Held forces, as above, 3 mm; a kilogram more would be 0.1 m off.
    assert run["middle"]["slide.position"].final == pytest.approx(np.sin(omega) / omega, abs=5e-3)


def test_a_used_unit_is_refused(masses):
    units = [masses[0].renew(), masses[1].renew()]
    cosimulate(units, CHAIN[:1], settings=CosimSettings(0.1))
    with pytest.raises(ModelError, match="has already been used"):
        cosimulate(units, CHAIN[:1], settings=CosimSettings(0.1))


class Listener:
    """A unit that fails where it is asked to."""

    name, inputs, outputs = "listener", ("u",), {"y": "m"}

    def __init__(self, fails=""):
        self.fails, self.time = fails, 0.0

    def _pass(self, method):
        if self.fails == method and self.time > 0.03:
            raise RuntimeError("out of order")

    def start(self, time):
        self._pass("start")

    def read(self):
        return {"y": 0.0} if self.fails != "nothing" else {}

    def write(self, inputs):
        self._pass("write")

    def advance(self, time, step):
        self.time = time + step
        return "stop" if self.fails == "answer" else None


def listen(masses, fails):
    signal_connection = SignalConnection("left.slide.position", "listener.u")
    back = SignalConnection("listener.y", "left.spring.stiffness")
    unit = masses[0].renew()
    signal_connections = [signal_connection, back] if fails == "nothing" else [signal_connection]
    unit.inputs = (*unit.inputs, "spring.stiffness")
    return cosimulate([unit, Listener(fails)], signal_connections=signal_connections, settings=CosimSettings(0.02))


def test_a_unit_that_fails_when_written_keeps_the_runs(masses):
    run = listen(masses, "write")
    assert run.outcome.kind is OutcomeKind.FAILED
    assert run.outcome.sentence == "unit 'listener' raised RuntimeError at 0.04 s: out of order"
    assert run["left"].time[-1] == pytest.approx(0.04)
    # The last point that was reached is there too, though nothing could be exchanged at it.
    assert run.coupling.time[-1] == pytest.approx(0.04)


class Forgetful(Listener):
    """A unit that cannot tell what happened."""

    def finish(self, outcome):
        raise OSError("disk full")


def test_a_unit_that_gives_no_run_takes_no_other_with_it(masses):
    signal_connections = [SignalConnection("left.slide.position", "listener.u")]
    run = cosimulate(
        [masses[0].renew(), Forgetful()],
        signal_connections=signal_connections,
        settings=CosimSettings(0.02),
        duration=0.1,
    )
    assert list(run.runs) == ["left"]
    assert any("'listener' gave no run: finish raised OSError: disk full" in sentence for sentence in run.warnings)


def test_an_answer_that_is_no_outcome_is_told(masses):
    assert "returned 'stop' from advance" in listen(masses, "answer").outcome.sentence


def test_outputs_that_are_not_read_are_told(masses):
    with pytest.raises(ModelError, match=r"listener\.y: read\(\) gives None"):
        listen(masses, "nothing")


def rotor(name, inertia, speed):
    """A body that turns, with the elastic part of a coupling of rotations."""
    mechanism = Mechanism(
        name,
        (Body("body", 1.0, (0.0, 0.0, 0.0), (inertia,) * 3),),
        (Joint("hinge", "revolute", GROUND, "body"),),
        (Point("place", "body"),),
    )
    port = Interface("port", "motion", point="place", rotates=True, stiffness=(0.0, 0.0, 0.0, 20.0, 20.0, 20.0))
    return ScenarioUnit(scenario(name, Machine(name, mechanism, interfaces=(port,)), 1.0, {"hinge.velocity": speed}))


def test_energy_made_by_a_coupling_of_rotations_is_recorded():
    units = [rotor("one", 1.0, 1.0), rotor("two", 2.0, -0.5)]
    found = {}
    for scheme in ("parallel", "sequential"):
        run = cosimulate(
            [unit.renew() for unit in units], [Connection("one.port", "two.port")], settings=CosimSettings(0.02, scheme)
        )
        velocity, angle = ([run[u][f"hinge.{key}"].final for u in ("one", "two")] for key in ("velocity", "position"))
        energy = velocity[0] ** 2 / 2 + velocity[1] ** 2 + 20.0 * (1 - np.cos(angle[0] - angle[1]))
        found[scheme] = energy - 0.75, run.energy_error()
    # The trapezoidal rule on a torque that is a sine of up to 0.3 rad.
    assert found["parallel"] == pytest.approx((0.0951, 0.0951), abs=1e-4)
    # One after the other moves in the field of the other at rest, which keeps the energy.
    assert found["sequential"] == pytest.approx((0.0, 0.0), abs=1e-4)
