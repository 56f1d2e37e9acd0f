"""Is the growth of a disturbance, found on the units themselves, that of the exact macro step?"""

import pytest

from robodyn.analysis.coupling.growth import MacroSteps
from robodyn.analysis.coupling.limits import Limit, find_limit
from robodyn.analysis.coupling.macro_step import spectral_radius
from robodyn.catalog import Oscillator, oscillator_sides
from robodyn.cosimulation import Connection, Master, ScenarioUnit

DAMPED = Oscillator(damping=(0.01, 0.01, 0.01))


def macro_steps(coupling, scheme, order, time=0.0):
    pair = zip(oscillator_sides(coupling, DAMPED), ("first", "second"), strict=True)
    units = [ScenarioUnit(side, name=name) for side, name in pair]
    return MacroSteps(units, [Connection("first.port", "second.port", order)], master=Master(0.01, scheme), time=time)


@pytest.mark.parametrize(
    ("coupling", "scheme", "order"),
    [
        ("force-displacement", "parallel", 2),
        ("force-displacement", "sequential", 0),
        ("displacement-displacement", "sequential", 1),
        ("model-model", "parallel", 0),
    ],
)
def test_growth_is_the_spectral_radius_of_the_exact_macro_step(coupling, scheme, order):
    steps = macro_steps(coupling, scheme, order, time=0.05)
    for step in (0.02, 0.1):
        exact = spectral_radius(DAMPED, coupling, step, scheme=scheme, order=order)
        # The units' tolerances are 1e-9 and less of their values.
        assert steps.growth(step) == pytest.approx(exact, abs=1e-6)


def test_the_limit_by_growth_is_that_of_the_exact_macro_step():
    steps = macro_steps("model-model", "parallel", 0)
    limits = [
        find_limit(check, 0.05, shortest=1e-3, longest=0.2)
        for check in (
            lambda step: steps.growth(step) <= 1.0,
            lambda step: spectral_radius(DAMPED, "model-model", step) <= 1.0,
        )
    ]
    assert limits[0] == limits[1]
    assert 0 < limits[0].holds < limits[0].fails <= 1.05 * limits[0].holds


def test_a_limit_that_is_not_reached_is_open():
    assert find_limit(lambda _: True, 0.1, shortest=0.01, longest=0.5) == Limit(0.5, float("inf"))
    assert find_limit(lambda _: False, 0.1, shortest=0.01, longest=0.5) == Limit(0.0, 0.01)


def test_strides_find_the_first_of_two_limits():
    def holds(step):
        return step < 0.03 or 0.05 < step < 0.2

    limit = find_limit(holds, 0.01, shortest=1e-3, longest=1.0, stride=1.25)
    assert limit.holds < 0.03 <= limit.fails
