"""Is the growth of a disturbance, found on the units themselves, that of the exact macro step?"""

import numpy as np
import pytest

from robodyn import Solver
from robodyn.analysis.coupling import MacroSteps, StepLimit, find_limit
from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, SignalConnection, cosimulate
from robodyn.description.catalog import Oscillator
from robodyn.description.model import GROUND, Block, Body, Delay, Interface, Joint, Machine, Mechanism, Scenario

DAMPED = Oscillator(damping=(0.01, 0.01, 0.01))


def test_a_limit_that_is_not_reached_is_open():
    assert find_limit(lambda _: True, 0.1, shortest=0.01, longest=0.5) == StepLimit(0.5, float("inf"))
    assert find_limit(lambda _: False, 0.1, shortest=0.01, longest=0.5) == StepLimit(0.0, 0.01)


def test_strides_find_the_first_of_two_limits():
    def holds(step):
        return step < 0.03 or 0.05 < step < 0.2

    limit = find_limit(holds, 0.01, shortest=1e-3, longest=1.0, stride=1.25)
    assert limit.holds < 0.03 <= limit.fails


def linear_unit(rng, name, *, period=None):
    """Two states and one signal in, one out: z' = A z + B u, y = C z + D u, or once a period y = D u + y_before / 4."""
    A = rng.normal(size=(2, 2)) - 1.5 * np.eye(2)
    B, C, D = rng.normal(size=2), rng.normal(size=2), float(rng.uniform(-1.2, 1.2))

    def plant(z1, z2, u):
        rates = [A[k, 0] * z1 + A[k, 1] * z2 + B[k] * u for k in (0, 1)]
        return {"z1_dot": rates[0], "z2_dot": rates[1], "y": C[0] * z1 + C[1] * z2 + D * u}

    def sampled(u, before):
        return {"y": D * u + before / 4, "before_next": D * u + before / 4}

    fed = Block("fed", "constant_reference", parameters={"constant": 0.0})
    if period is None:
        start = {"z1": float(rng.normal()), "z2": float(rng.normal())}
        block = Block("plant", plant, inputs={"u": "fed.value"}, states=start)
    else:
        block = Block("plant", sampled, inputs={"u": "fed.value"}, memory={"before": 1.0}, period=period)
    machine = Machine(name, blocks=(fed, block))
    scenario = Scenario(name, machine, 50.0, solver=Solver("rk4", step=0.025))
    return ScenarioUnit(scenario, name=name, inputs=("fed.constant",))


def ring(seed, order, sampled=False):
    """Three units, each of which feeds the next one, all with a direct path from input to output."""
    rng = np.random.default_rng(seed)
    units = [linear_unit(rng, name, period=0.05 if sampled and name == "b" else None) for name in "abc"]
    pairs = zip("abc", "bca", strict=True)
    return units, [SignalConnection(f"{one}.plant.y", f"{other}.fed.constant", order) for one, other in pairs]


@pytest.mark.parametrize(
    ("seed", "scheme", "order", "sampled"),
    [
        (1, "parallel", 0, False),
        (2, "parallel", 1, False),
        (3, "parallel", 2, False),
        (4, "sequential", 0, False),
        (5, "sequential", 1, False),
        (6, "parallel", 0, True),
        (7, "sequential", 1, True),
    ],
)
def test_growth_is_what_runs_of_random_linear_units_with_direct_paths_show(seed, scheme, order, sampled):
    step, count, last = 0.1, 300, 200
    units, signal_connections = ring(seed, order, sampled)
    settings = CosimSettings(step, scheme, largest_value=np.inf)
    growth = MacroSteps(units, signal_connections=signal_connections, settings=settings, time=0.2).growth(step)
    run = cosimulate(
        [unit.renew() for unit in units],
        signal_connections=signal_connections,
        settings=settings,
        duration=count * step,
    )
    assert run.outcome.carried_through, run.outcome.sentence
    assert growth > 1 or run.outcome.ok
    # The logarithm of the size of a motion that has become that of one eigenvalue, or of one pair, rises by a straight
    # line, and swings about it with the pair.
    k = np.arange(count - last, count)
    values = np.column_stack([run[unit.name]["plant.y"](k * step) for unit in units])
    size = np.log(np.linalg.norm(values, axis=1))
    assert np.log(growth) == pytest.approx(np.polyfit(k, size, 1)[0], abs=2e-3)


def sliding_mass(name, mass, ports):
    """A mass on a spring and a damper, rigidly joined to others at its ports."""
    slide = Joint("slide", "prismatic", GROUND, "body", axis=(1, 0, 0))
    spring = Block("spring", "spring", on="slide", parameters={"stiffness": 30.0 * mass, "damping": 0.3})
    faces = tuple(Interface(port, "model", on="slide") for port in ports)
    mechanism = Mechanism(name, (Body("body", mass),), (slide,), gravity=(0, 0, 0))
    machine = Machine(name, mechanism, (spring,), interfaces=faces)
    scenario = Scenario(name, machine, 50.0, {"slide.velocity": mass}, solver=Solver("rk4", step=0.01))
    return ScenarioUnit(scenario, name=name)


def test_growth_counts_a_model_that_passes_on_what_came_in_at_another_interface():
    ports = {"a": ("right",), "b": ("left", "right"), "c": ("left",)}
    units = [sliding_mass(name, mass, ports[name]) for name, mass in (("a", 1.0), ("b", 0.5), ("c", 2.0))]
    connections = [Connection("a.right", "b.left"), Connection("b.right", "c.left")]
    step, count = 0.3, 160
    settings = CosimSettings(step, largest_value=np.inf)
    growth = MacroSteps([unit.renew() for unit in units], connections, settings=settings, time=step).growth(step)
    run = cosimulate([unit.renew() for unit in units], connections, settings=settings, duration=count * step)
    k = np.arange(count // 2, count)
    speeds = np.column_stack([run[unit.name]["slide.velocity"](k * step) for unit in units])
    # Without what passes through the middle one, the growth would be 4 % less.
    assert np.log(growth) == pytest.approx(np.polyfit(k, np.log(np.linalg.norm(speeds, axis=1)), 1)[0], abs=5e-3)


def test_what_growth_cannot_follow_is_refused():
    rng = np.random.default_rng(0)
    units = [linear_unit(rng, "a"), linear_unit(rng, "b", period=0.04)]
    signal_connections = [
        SignalConnection("a.plant.y", "b.fed.constant"),
        SignalConnection("b.plant.y", "a.fed.constant"),
    ]
    with pytest.raises(ModelError, match=r"0.1 s is no multiple of the period 0.04 s of 'plant'"):
        MacroSteps(units, signal_connections=signal_connections, settings=CosimSettings(0.1)).growth(0.1)
    fed = Block("fed", "constant_reference", parameters={"constant": 0.0})
    late = Scenario("late", Machine("late", blocks=(fed,), delays=(Delay("late", "fed.value", 0.1),)), 1.0)
    with pytest.raises(ModelError, match="has delays, whose history cannot be disturbed"):
        MacroSteps([ScenarioUnit(late, inputs=("fed.constant",))], settings=CosimSettings(0.1))
