"""Does a fit find the masses and inertias of bodies, also where they are hardly possible ones, and from far off?"""

import dataclasses
import math

import numpy as np
import pytest

from robodyn import Solver
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.search_space import FreeInertia, make_scales, make_search_space
from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Joint,
    Machine,
    Mechanism,
    Number,
    PrescribedMotion,
    Recording,
    Scenario,
)  # fmt: skip
from robodyn.description.model.body import TENSOR

TIMES = np.linspace(0.0, 3.0, 61)
UPPER = Body("upper", mass=4.0, com=(0.25, 0, 0), inertia=(0.01, 0.085, 0.085))
# A plate, nearly: xx + yy is 1 % more than zz, and its axes are turned.
PLATE = dict(zip(TENSOR, (0.030, 0.045, 0.0742, -0.004, 0.0006, 0.0009), strict=True))
FORE = {"mass": 2.7, "com": (0.19, 0.03, -0.02), "inertia": tuple(PLATE.values())}
ALL = (
    "fore.mass",
    *(f"fore.com.{axis}" for axis in "xyz"),
    *(f"fore.inertia.{key}" for key in TENSOR),
)


def arm(**fore):
    """A shoulder that pans, an elbow that tilts and a wrist that rolls, all led along given motions."""
    joints = (
        Joint("pan", "revolute", GROUND, "upper", axis=(0, 0, 1)),
        Joint("tilt", "revolute", "upper", "fork", origin=(0.5, 0, 0), axis=(0, -1, 0)),
        Joint("roll", "revolute", "fork", "fore", axis=(1, 0, 0)),
    )
    bodies = (UPPER, Body("fork", mass=0.5, inertia=(1e-3, 1e-3, 1e-3)), Body("fore", **(FORE | fore)))
    waves = {"pan": (0.9, 0.7, 0.0), "tilt": (0.8, 1.1, 0.5), "roll": (1.3, 0.9, 1.1)}
    blocks, drives = [], []
    for name, (size, frequency, phase) in waves.items():
        angle = size * np.sin(2 * math.pi * frequency * TIMES + phase)
        course = {"times": tuple(TIMES.tolist()), "points": tuple(angle.tolist())}
        blocks.append(Block(f"{name}.wanted", "spline_reference", parameters=course))
        motion = {key: f"{name}.wanted.{key}" for key in ("position", "velocity", "acceleration")}
        drives.append(PrescribedMotion(f"{name}.drive", name, **motion))
    mechanism = Mechanism("arm", bodies, joints)
    machine = Machine("arm", mechanism, tuple(blocks), constraints=tuple(drives))
    return Scenario("arm", machine, 3.0, initialisation="assembled", solver=Solver("rk4", step=0.01))


def measure(scenario, noise, seed=0):
    signals = tuple(f"{name}.drive.force" for name in ("pan", "tilt", "roll"))
    run = simulate(scenario, recording=Recording(times=tuple(TIMES[2:-2].tolist()), signals=signals))
    assert run.outcome.ok
    error = np.random.default_rng(seed).standard_normal(run.values.shape) * noise
    return dataclasses.replace(run, values=run.values + error)


def numbers_of(scenario, names):
    known = scenario.numbers()
    return {name: known[name].value for name in names}


@pytest.mark.parametrize(
    "guess",
    [
        {"mass": 1.0, "com": (0.1, 0.01, 0.01), "inertia": (0.01, 0.01, 0.01)},
        {"mass": 8.0, "com": (0.4, -0.1, 0.1), "inertia": (1.0, 1.0, 1.0)},
        # A thin rod: there is no possible body to one side of it.
        {"mass": 2.0, "com": (0.2, 0.01, 0.01), "inertia": (0.0, 0.03, 0.03)},
    ],
    ids=["small ball", "large ball", "rod"],
)
def test_all_ten_numbers_of_a_body_near_the_limit_are_found_from_far_off(guess):
    fit = fit_parameters(arm(**guess), measure(arm(), 0.0), ALL)
    truth = numbers_of(arm(), ALL)
    # Runs of one fixed step: the data are met to rounding, and the search ends at changes of 1e-9.
    assert fit.values == pytest.approx(truth, rel=1e-4, abs=1e-7)
    assert not any("limit of what is physically possible" in warning for warning in fit.warnings)


def test_deviations_are_in_the_parameters_own_units():
    names, noise = ALL[:6], 0.05
    fit = fit_parameters(arm(), measure(arm(), noise), names, noise=noise)
    columns = []
    for name, value in fit.values.items():
        ends = [measure(arm().with_numbers(fit.values | {name: value + way}), 0.0) for way in (1e-4, -1e-4)]
        columns.append((ends[0].values - ends[1].values).ravel() / 2e-4)
    J = np.column_stack(columns) / noise
    expected = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    # Central differences of torques that are polynomials of second order in the parameters: exact but for rounding.
    assert [p.deviation for p in fit.parameters] == pytest.approx(expected.tolist(), rel=1e-5)


def test_a_body_that_the_data_make_impossible_ends_at_the_limit_and_is_told():
    data = measure(arm(inertia=(0.09, 0.03, 0.04), physical=False), 1e-4)
    names = ("fore.inertia.xx", "fore.inertia.yy", "fore.inertia.zz", "fore.com.x")
    fits = [
        fit_parameters(arm(inertia=inertia), data, names, noise=1e-3)
        for inertia in ((0.05, 0.05, 0.05), (0.001, 0.003, 0.003), (0.2, 0.3, 0.2))
    ]
    for fit in fits:
        xx, yy, zz, _ = fit.values.values()
        assert xx == pytest.approx(yy + zz, rel=1e-3)
        assert any("inertia of fore lies at the limit of what is physically possible" in w for w in fit.warnings)
        assert fit.values == pytest.approx(fits[0].values, rel=1e-3)
    # No possible body nearby does better: one moment changed, and the first one the sum of the two.
    others = [{"fore.inertia.yy": share * yy} for share in (0.9, 0.99, 1.01, 1.1)]
    others += [{"fore.inertia.zz": share * zz} for share in (0.9, 0.99, 1.01, 1.1)]
    assert fits[0].cost < min(_cost_at_the_limit(data, fits[0].values | other) for other in others)


def _cost_at_the_limit(data, values):
    values["fore.inertia.xx"] = (values["fore.inertia.yy"] + values["fore.inertia.zz"]) * (1 - 1e-9)
    run = measure(arm(inertia=(0.05, 0.05, 0.05)).with_numbers(values), 0.0)
    return 0.5 * float(np.sum(((run.values - data.values) / 1e-3) ** 2))


def test_one_moment_alone_is_fitted_between_its_physical_limits():
    rod = {"inertia": (0.005, 0.06, 0.06)}
    inside = fit_parameters(arm(**rod), measure(arm(inertia=(0.005, 0.0575, 0.06)), 0.0), ["fore.inertia.yy"])
    assert inside.values["fore.inertia.yy"] == pytest.approx(0.0575, rel=1e-5)
    assert inside.warnings == ()
    beyond = fit_parameters(arm(**rod), measure(arm(inertia=(0.02, 0.0775, 0.06)), 0.0), ["fore.inertia.yy"])
    assert beyond.values["fore.inertia.yy"] == pytest.approx(0.065, rel=1e-3)
    assert beyond.parameters[0].at_bound
    assert "limit of what is physically possible" in beyond.warnings[1 if "not met" in beyond.warnings[0] else 0]


def test_a_bound_of_a_moment_is_kept_and_told():
    data = measure(arm(inertia=(0.03, 0.045, 0.06)), 0.0)
    bounds = {"fore.inertia.xx": (0.01, 0.025)}
    free = ["fore.inertia.xx", "fore.inertia.yy", "fore.inertia.zz"]
    fit = fit_parameters(arm(inertia=(0.02, 0.03, 0.03)), data, free, bounds=bounds, noise=1e-3)
    assert fit.values["fore.inertia.xx"] == pytest.approx(0.025, rel=1e-3)
    assert [p.at_bound for p in fit.parameters] == [True, False, False]


def test_a_moment_without_room_is_refused():
    with pytest.raises(ModelError, match="fore.inertia: yy cannot change: with the other moments as they are"):
        fit_parameters(arm(inertia=(0.0, 0.06, 0.06)), measure(arm(), 0.0), ["fore.inertia.yy"])


def test_what_the_data_do_not_tell_is_named():
    # Of a body that rotates about the vertical alone, only its moment about that axis matters.
    with pytest.raises(ModelError, match=r"upper.inertia.xx: has no effect") as refused:
        fit_parameters(arm(), measure(arm(), 0.0), ["upper.inertia.xx", "upper.inertia.zz", "fore.mass"])
    assert "upper.inertia.zz" not in str(refused.value)


@pytest.mark.parametrize("keys", [("xx", "yy", "zz", "xz"), TENSOR, ("yy",), ("xx", "zz"), ("xy", "xz"), ("zz", "yz")])
def test_all_coordinates_are_possible_bodies_and_all_bodies_have_coordinates(keys):
    rng = np.random.default_rng(4)
    given = (0.05, 0.06, 0.08, 0.004, -0.003, 0.005)
    numbers = [Number(f"fore.inertia.{key}", given[TENSOR.index(key)], "kg m^2") for key in keys]
    space = make_search_space(arm(inertia=given), make_scales(numbers, {}))
    (free,) = space.inertias
    for _ in range(50):
        z = space.scaled(rng.normal(size=len(keys)) * rng.choice([0.1, 1.0, 5.0]))
        entries = dict(zip(TENSOR, given, strict=True)) | dict(zip(keys, space.scales.values(z).tolist(), strict=True))
        Body("possible", 1.0, inertia=tuple(entries.values()))
        if free.margin(space.scales.values(z)) > 0.02:
            np.testing.assert_allclose(space.scaled(space.coordinates(z)), z, rtol=1e-8, atol=1e-10)


def test_bounds_of_entries_hold_beside_the_physical_limit():
    free = FreeInertia("body", (0, 1, 2), TENSOR[:3], (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), ((0.9, 1.2),) * 3)
    chart = free.chart(np.ones(3))
    for y in np.random.default_rng(0).normal(size=(50, 3)) * 10:
        x = chart.entries(y)
        assert np.all((x >= 0.9) & (x <= 1.2))
        assert free.margin(x) > 0
