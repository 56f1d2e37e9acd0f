"""Do regressors equal the machine's own dynamics, and do intervals hold the truth as often as they say?"""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.machines import cart
from typer.testing import CliRunner

from robodyn.analysis.coloured_noise import ResidualRows
from robodyn.analysis.fitting.law_comparison import STOPPED, LawContest, compare_friction_laws, prepare_contest
from robodyn.analysis.identification.identify import (
    IdentificationPlan,
    check_residuals,
    identify,
    plan_identification,
)
from robodyn.analysis.identification.least_squares import Estimate, coordinates_of, make_consistent
from robodyn.analysis.identification.regressor import body_numbers, find_base_parameters, make_regressor
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.analysis.validation import validate
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, to_csv
from robodyn.description.catalog import scara_ptp, two_link_mechanism
from robodyn.description.files import read_scenario, write_scenario
from robodyn.description.model import Block, Body, Joint, LinearCombination, Machine, Mechanism, Scenario
from robodyn.description.model.body import tensor_of
from robodyn.presentation.reporting import describe, display, to_page

AXES, RATE = ("shoulder", "motor"), 500.0
FRICTION = {"shoulder": (6.0, 4.0), "motor": (3.0, 2.0)}
LEVELS = np.array([0.5, 0.3])


@cache
def coupled_arm():
    """Two links in a vertical plane; the second motor rotates with both joints and has a rotor."""
    drives = [Block(f"{a}.push", "torque_source", a, {"command": "still.value"}) for a in AXES]
    still = Block("still", "constant_reference", parameters={"constant": 0.0})
    friction = [
        Block(
            f"{a}.friction", "coulomb_friction", a,
            parameters={"coulomb": c, "viscous": b, "smoothing_velocity": 1e-3},
        )
        for a, (c, b) in FRICTION.items()
    ]  # fmt: skip
    spring = Block("elbow.spring", "spring", "elbow", parameters={"stiffness": 20.0, "rest": 0.3})
    motor = LinearCombination("motor", {"shoulder": 1.0, "elbow": 2.0}, 0.05)
    blocks = (*drives, *friction, spring, still)
    return Scenario("coupled", Machine("coupled", two_link_mechanism(), blocks, (motor,)), 1.0)


def series(t):
    """Positions, velocities and accelerations of the joints: Fourier series of 0.3 Hz."""
    rng = np.random.default_rng(4)
    q, v, a = np.zeros((3, t.size, 2))
    for k in range(1, 6):
        w = 2 * np.pi * 0.3 * k
        # Real and imaginary parts of c exp(i w t).
        c = (rng.normal(0, 0.5, 2) + 1j * rng.normal(0, 0.5, 2)) / k
        turning = np.outer(np.exp(1j * w * t), c)
        q, v, a = q + turning.real, v + (1j * w * turning).real, a - w * w * turning.real
    return q, v, a


@cache
def truth():
    """Motion and efforts of the coupled arm by inverse dynamics of its own, friction and spring by their formulas."""
    scenario = coupled_arm()
    t = np.arange(int(10 * RATE)) / RATE
    q, v, a = series(t)
    dynamics = MachineDynamics(scenario.machine)
    tau = np.array([dynamics.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])
    tau[:, 1] += 20.0 * (q[:, 1] - 0.3)
    rates = np.column_stack([v[:, 0], v[:, 0] + 2 * v[:, 1]])
    (c, b), (d, e) = FRICTION.values()
    loss = np.tanh(rates / 1e-3) * [c, d] + rates * [b, e]
    # tau = A^T f with s' = A v: the elbow's torque is twice the motor's.
    second = tau[:, 1] / 2
    return t, q, np.column_stack([tau[:, 0] - second, second]) + loss


def _count(position, quantum, rng):
    return np.round(position / quantum + rng.random()) * quantum


def record(seed=0, noise=LEVELS, quantum=1e-5, **changed):
    rng = np.random.default_rng(seed)
    t, q, efforts = truth()
    columns = {
        **{f"{joint}.position": _count(q[:, k], quantum, rng) for k, joint in enumerate(("shoulder", "elbow"))},
        **{f"{axis}.push.torque": efforts[:, k] + noise[k] * rng.normal(size=t.size) for k, axis in enumerate(AXES)},
    } | changed
    infos = tuple(SignalInfo(name, "rad" if "position" in name else "N m") for name in columns)
    values = np.column_stack(list(columns.values()))
    return Run(t, values, infos, Outcome(OutcomeKind.FINISHED, "", t[-1]), Provenance("measured", {"file": "log"}))


@pytest.mark.parametrize("make", [coupled_arm, scara_ptp])
def test_forces_are_linear_in_the_parameters_as_the_machine_has_them(make):
    scenario = make()
    regressor, dynamics = make_regressor(scenario), MachineDynamics(scenario.machine)
    q, v, a = np.random.default_rng(1).normal(0, 1, (3, 4, len(regressor.joints)))
    Y, fixed = regressor(q, 0 * v, a)
    found = Y @ regressor.given + fixed
    expected = np.array([dynamics.inverse_dynamics(*state) for state in zip(q, 0 * v, a, strict=True)])
    if make is coupled_arm:
        expected[:, 1] += 20.0 * (q[:, 1] - 0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_base_parameters_of_a_planar_arm_are_the_known_ones():
    base = find_base_parameters(make_regressor(coupled_arm()))
    # What of the mass matrix does not change with the position has three entries: links, two rotors and the motor show
    # in these alone. First moments show in gravity, two of each link.
    inertial = [name for name in base.names if "friction" not in name and "spring" not in name]
    assert sum("L" in name or "armature" in name or "inertia" in name for name in inertial) == 3
    assert sum(name.split()[0].endswith(("hx", "hz")) for name in inertial) == 4
    assert any("0.5 forearm.mass" in name for name in inertial)
    assert base.gap > 1e6


@cache
def found_once():
    return identify(coupled_arm(), record(), cutoff=40.0)


def test_numbers_are_found_and_rows_that_were_held_out_are_predicted():
    found = found_once()
    for estimate in found.base:
        assert abs(estimate.value - estimate.given) < 4.5 * estimate.deviation, estimate
    held = {p.joint: p for p in found.predictions if p.held_out}
    # Low-passed noise is less than that of single samples, and the prediction leaves no more than it.
    assert held["shoulder"].rms < LEVELS.sum()
    assert held["elbow"].percent < 5
    friction = found.numbers["motor.friction.coulomb"]
    assert friction == pytest.approx(3.0, rel=0.02)


def test_intervals_hold_the_truth_as_often_as_they_say():
    plan = plan_identification(coupled_arm(), record())
    right = plan.base.G @ plan.regressor.given
    errors = []
    for seed in range(8):
        found = plan.estimate([plan.rows(record(seed + 10), found_once().cutoff)])
        errors.append((found.beta - right) / found.spread.deviations)
    # Of 8 times 14 numbers, some of them correlated: three deviations of as many independent ones.
    spread = 3 * np.sqrt(0.95 * 0.05 / np.size(errors))
    assert np.mean(np.abs(errors) < 1.96) > 0.95 - spread
    # Intervals that are too wide would hold it as well: errors by their deviation have the size 1.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(1.0, abs=0.25)


def test_intervals_of_counted_positions_never_collapse_and_a_lacking_law_is_told():
    """Noise of differentiated counts is blue: sums of its lags may come out negative, which is no variance."""
    slide = cart(Block("drag", "viscous_friction", "rail", parameters={"viscous": 1.0}))
    infos = (SignalInfo("rail.position", "m"), SignalInfo("rail.effort", "N"))
    t, widths, errors = np.arange(4000) * 2e-3, [], []
    place, speed = 0.3 * np.sin(3 * t) + 0.1 * np.sin(7 * t + 1), 0.9 * np.cos(3 * t) + 0.7 * np.cos(7 * t + 1)
    pull = -2.7 * np.sin(3 * t) - 4.9 * np.sin(7 * t + 1)

    def log(seed, dry=0.0):
        rng = np.random.default_rng(seed)
        counted = 3.8e-4 * np.round((place + 1e-4 * rng.normal(size=t.size)) / 3.8e-4)
        effort = 2.0 * pull + 3.0 * speed + dry * np.sign(speed) + 0.01 * rng.normal(size=t.size)
        outcome = Outcome(OutcomeKind.FINISHED, "", t[-1])
        return Run(t, np.column_stack([counted, effort]), infos, outcome, Provenance("measured"))

    plan = plan_identification(slide, log(0))
    for seed in range(30):
        found = plan.estimate([plan.rows(log(seed))])
        widths.append(found.spread.half_widths)
        errors.append(found.beta - [2.0, 3.0, 0.0])
    size = np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.all(np.min(widths, axis=0) > 0.5 * size)
    assert np.mean(np.abs(errors) < widths) > 0.9
    assert identify(slide, log(0)).doubt == ""
    lacking = identify(slide, log(0, dry=1.0))
    assert "follows the motion" in lacking.doubt
    assert lacking.base[1].lower > 3.0


def test_a_clock_that_stumbles_neither_cuts_a_log_nor_biases_friction():
    """400 steps of 5000 last 1.7 times as long, as whoever wrote the log was busy: its times are right all the same."""
    rng = np.random.default_rng(5)
    steps = np.full(5000, 1 / RATE)
    steps[rng.choice(5000, 400, replace=False)] *= 1.7
    t = np.cumsum(steps)
    place, speed, pull = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    efforts = 2.0 * pull + 3.0 * speed + 0.05 * rng.normal(size=t.size)
    values = np.column_stack([place + 2e-5 * rng.normal(size=t.size), efforts])
    infos = (SignalInfo("rail.position", "m"), SignalInfo("rail.effort", "N"))
    log = Run(t, values, infos, Outcome(OutcomeKind.FINISHED, "", t[-1]), Provenance("measured"))
    slide = cart(Block("drag", "viscous_friction", "rail", parameters={"viscous": 1.0}))
    found = identify(slide, log)
    assert [e.value for e in found.base[:2]] == pytest.approx([2.0, 3.0], rel=1e-3)
    # Rows near the ends alone are lost.
    assert sum(p.rows for p in found.predictions) > 0.9 * np.ptp(t) * found.rate
    with pytest.raises(ModelError, match="no rows are left"):
        identify(slide, replace(log, time=t + 3.0 * (np.arange(t.size) // 10)))


def _plain_least_squares(t, q, f, cutoff=5.0):
    """What anyone would write first: filter, differentiate over the times as they stand, solve."""
    from scipy.signal import butter, filtfilt

    b, a = butter(4, 2 * cutoff * np.median(np.diff(t)))
    place = filtfilt(b, a, q)
    speed = np.gradient(place, t)
    Y = np.column_stack([np.gradient(speed, t), speed, np.sign(speed), np.ones_like(t)])
    Y, f = filtfilt(b, a, Y, axis=0), filtfilt(b, a, f)
    kept = slice(300, -300)
    return np.linalg.lstsq(Y[kept], f[kept])[0]


@pytest.mark.parametrize("who", ["the robot", "the host"])
def test_an_ordinary_clock_costs_no_more_than_in_plain_least_squares(who):
    """504 steps of 20,544 rows are half a millisecond longer, because the robot was late or whoever wrote the times."""
    rng, n = np.random.default_rng(0), 20544
    steps = np.full(n - 1, 1e-3)
    late = rng.choice(np.arange(10, n - 10), 504, replace=False)
    steps[late] += 0.5e-3 if who == "the robot" else 0.0
    t = np.concatenate([[0.0], np.cumsum(steps)])
    place, speed = (
        0.3 * np.sin(1.5 * t) + 0.1 * np.sin(3.5 * t + 1),
        0.45 * np.cos(1.5 * t) + 0.35 * np.cos(3.5 * t + 1),
    )
    pull = -0.675 * np.sin(1.5 * t) - 1.225 * np.sin(3.5 * t + 1)
    efforts = 2.0 * pull + 3.0 * speed + 1.5 * np.tanh(speed / 1e-3) + 0.3 * rng.normal(size=n)
    columns = np.column_stack([place + 2e-5 * rng.normal(size=n), efforts])
    if who == "the host":
        t[late] += 0.5e-3
    # Rows written again at the next tick, before the robot had new numbers.
    again = rng.choice(np.arange(10, n - 10), 500, replace=False)
    columns[again] = columns[again - 1]
    infos = (SignalInfo("rail.position", "m"), SignalInfo("rail.effort", "N"))
    log = Run(t, columns, infos, Outcome(OutcomeKind.FINISHED, "", t[-1]), Provenance("measured"))
    losses = {"viscous": 1.0, "coulomb": 1.0, "smoothing_velocity": 1e-3}
    found = identify(cart(Block("drag", "coulomb_friction", "rail", parameters=losses)), log)
    values = {e.name: e.value for e in found.base}
    errors = np.abs([values["cart.mass"] / 2 - 1, values["drag.viscous"] / 3 - 1, values["drag.coulomb"] / 1.5 - 1])
    plain = np.abs(_plain_least_squares(t, *columns.T)[:3] / [2.0, 3.0, 1.5] - 1)
    assert np.all(errors < 0.01)
    assert np.linalg.norm(errors) < np.linalg.norm(plain)
    assert any("repeat all numbers" in warning for warning in found.warnings)
    assert any("samples are even" in warning for warning in found.warnings) == (who == "the host")


def test_positions_of_coupled_motors_are_taken_as_they_are():
    run = record()
    motor = run["shoulder.position"].values + 2 * run["elbow.position"].values
    motor[700] = np.nan
    infos = (run.infos[0], SignalInfo("motor.position", "rad"), *run.infos[2:])
    data = replace(run, values=np.column_stack([run.values[:, 0], motor, run.values[:, 2:]]), infos=infos)
    found = identify(coupled_arm(), data, cutoff=40.0)
    assert found.numbers["motor.friction.coulomb"] == pytest.approx(3.0, rel=0.02)
    # Laws are compared along the joints' motion, and predictions start from it.
    contest = prepare_contest(coupled_arm(), [data], 40.0, 0.25)
    plain = prepare_contest(coupled_arm(), [run], 40.0, 0.25)
    speeds = [one.motions[0].signals["velocity"] for one in (contest, plain)]
    assert np.nanmax(np.abs(speeds[0] - speeds[1])) < 0.02 * np.nanmax(np.abs(speeds[1]))
    predicted = validate(coupled_arm(), data, [f"{axis}.push.torque" for axis in AXES], method="simulation")
    assert "elbow.position follow from the positions of coupled motors" in predicted.notes
    elbow = next(p for p in predicted.predictions if p.signal == "elbow.position" and p.kind == "0.5 s ahead")
    assert elbow.rms < 0.1 * elbow.line


def test_a_robust_fit_takes_no_notice_of_spikes():
    spikes = np.where(np.random.default_rng(0).random(truth()[0].size) < 0.002, 300.0, 0.0)
    data = record(**{"shoulder.push.torque": truth()[2][:, 0] + spikes})
    plan = plan_identification(coupled_arm(), data)
    rows = [plan.rows(data, 15.0)]
    k = plan.base.names.index("shoulder.friction.coulomb")
    plain, robust = (abs(plan.estimate(rows, flag).beta[k] - 6.0) for flag in (False, True))
    assert robust < 0.5 * plain
    # Nobody needs to ask for it: outliers beyond doubt are seen, and what was done about them is said.
    found = identify(coupled_arm(), data, cutoff=15.0)
    assert any("outliers" in warning for warning in found.warnings)
    assert abs(found.numbers["shoulder.friction.coulomb"] - 6.0) < 0.5 * plain
    assert not any("outliers" in warning for warning in found_once().warnings)


def test_gains_of_drives_are_told_by_a_known_load_and_by_nothing_else():
    """Efforts in per cent, or by a wrong torque constant: the same motion without and with 2 kg more in the hand."""
    t, q, efforts = truth()
    arm = coupled_arm()
    load = {"forearm.mass": arm.numbers()["forearm.mass"].value + 2.0}
    _, v, a = series(t)
    heavy = [MachineDynamics(arm.with_numbers(load).machine), MachineDynamics(arm.machine)]
    more = np.array([heavy[0].inverse_dynamics(*s) - heavy[1].inverse_dynamics(*s) for s in zip(q, v, a, strict=True)])
    loaded = efforts + np.column_stack([more[:, 0] - more[:, 1] / 2, more[:, 1] / 2])
    rng, scale = np.random.default_rng(3), np.array([1 / 1.25, 1 / 0.8])
    logs = [
        record(seed, **{
            f"{axis}.push.torque": values[:, k] * scale[k] + LEVELS[k] * rng.normal(size=t.size)
            for k, axis in enumerate(AXES)
        })
        for seed, values in enumerate((efforts, loaded))
    ]  # fmt: skip
    found = identify(arm, logs, loads=[{}, load], gains=True, held_out=0, cutoff=15.0)
    for axis, right in zip(AXES, (1.25, 0.8), strict=True):
        gain, deviation = found.gains[axis]
        assert gain == pytest.approx(right, rel=0.01)
        assert abs(gain - right) < 4 * deviation
    assert found.numbers["motor.friction.coulomb"] == pytest.approx(3.0, rel=0.03)
    with pytest.raises(ModelError, match="cannot be determined without a known load"):
        identify(arm, logs, gains=True, cutoff=15.0)


def test_bodies_that_are_found_could_exist():
    regressor = make_regressor(coupled_arm())
    base = find_base_parameters(regressor)
    beta = base.G @ regressor.given
    k = next(i for i, name in enumerate(base.names) if "forearm.Lyy" in name)
    beta[k] = -0.2
    n = len(beta)
    rows = np.repeat(np.eye(n), 50, axis=0)[:, None]
    part = ResidualRows(rows, np.random.default_rng(0).normal(size=(50 * n, 1)), np.ones((50 * n, 1), bool))
    asked = Estimate(beta, np.ones(2), 100 * np.eye(n), np.eye(n), (part,), ())
    found = make_consistent(regressor.parameters, base.G, asked, asked.spread)
    assert found.lost > 1
    places = [i for i, p in enumerate(regressor.parameters) if p.body == "forearm"]
    numbers = body_numbers("forearm", found.theta[places])
    tensor = tensor_of([numbers[f"forearm.inertia.{key}"] for key in ("xx", "yy", "zz", "xy", "xz", "yz")])
    moments = np.linalg.eigvalsh(tensor)
    assert numbers["forearm.mass"] > 0
    assert moments[0] > 0
    assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
    coupled_arm().with_numbers(numbers)
    assert np.isfinite(coordinates_of(found.theta[places])).all()


def test_what_cannot_be_identified_is_refused_by_name():
    data = record()
    with pytest.raises(ModelError, match=r"elbow.position: is not in the data"):
        identify(coupled_arm(), replace(data, values=data.values[:, [0, 2, 3]], infos=(data.infos[0], *data.infos[2:])))
    with pytest.raises(ModelError, match="no force of a drive"):
        identify(coupled_arm(), replace(data, values=data.values[:, :2], infos=data.infos[:2]))


def test_currents_are_taken_by_the_drives_own_law():
    from robodyn.analysis.identification.motion_rows import find_efforts

    scenario = scara_ptp()
    names = ["shoulder.motor.current", "elbow.effort"]
    infos = (SignalInfo(names[0], "A"), SignalInfo(names[1], "N m"))
    data = Run(np.arange(3.0), np.ones((3, 2)), infos, Outcome(OutcomeKind.FINISHED, "", 2.0), Provenance("measured"))
    efforts = {effort.on: effort for effort in find_efforts(assemble(scenario), data)[0]}
    numbers = scenario.numbers()
    factor = np.prod([numbers[f"shoulder.motor.{key}"].value for key in ("torque_constant", "gear", "torque_factor")])
    np.testing.assert_allclose(efforts["shoulder"].of(data), factor)
    np.testing.assert_allclose(efforts["elbow"].of(data), 1.0)
    assert "lift" not in efforts


def test_the_command_writes_a_scenario_with_the_new_numbers(tmp_path):
    path, log, out = tmp_path / "arm.toml", tmp_path / "log.csv", tmp_path / "new.toml"
    write_scenario(coupled_arm(), path)
    to_csv(record(), log)
    told = CliRunner().invoke(app, ["identify", str(path), str(log), "--json", "--out", str(out)])
    assert told.exit_code == 0, told.output
    numbers = json.loads(told.stdout)["numbers"]
    again = {name: number.value for name, number in read_scenario(out).numbers().items()}
    for name, value in numbers.items():
        assert again[name] == pytest.approx(value, rel=1e-12, abs=1e-15)


def test_what_is_left_is_white_and_the_page_says_all():
    found = found_once()
    tests = check_residuals(found)
    assert [test.joint for test in tests] == ["shoulder", "elbow"]
    # Of 25 and 51 lags 95 % are expected within the band; the low-pass leaves neighbours a little alike.
    assert all(test.white > 0.75 and test.independent > 0.8 for test in tests)
    spoiled = replace(found, measured=found.measured + 0.3 * np.sin(found.time)[:, None])
    assert all(test.white < 0.5 for test in check_residuals(spoiled))
    page = to_page(display(found))
    assert all(estimate.name in page for estimate in found.base)
    assert page.count("data:image/png;base64,") == 2


def test_the_law_that_made_the_data_ranks_first():
    rows = compare_friction_laws(coupled_arm(), record(), ("viscous_friction", "coulomb_friction"), cutoff=15.0).rows
    assert [row.law for row in rows] == ["coulomb_friction", "viscous_friction"]
    assert rows[0].held_out < 0.5 * rows[1].held_out
    assert rows[1].bic - rows[0].bic > 100
    with pytest.raises(ModelError, match="cannot be compared"):
        compare_friction_laws(coupled_arm(), record(), ["lugre_friction"])


def test_an_interrupted_identification_goes_on_where_it_stopped(monkeypatch, tmp_path):
    state, fresh = tmp_path / "state.json", identify(coupled_arm(), record())

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("robodyn.analysis.identification.identify.make_consistent", stop)
        with pytest.raises(KeyboardInterrupt):
            identify(coupled_arm(), record(), state=state)
    # Neither cutoffs nor delays are looked for again.
    monkeypatch.setattr("robodyn.analysis.identification.motion_rows.choose_cutoff", stop)
    monkeypatch.setattr(IdentificationPlan, "find_delays", stop)
    again = identify(coupled_arm(), record(), state=state)
    assert describe(again) == describe(fresh)
    assert again.numbers == fresh.numbers
    with pytest.raises(ModelError, match="another identification"):
        identify(coupled_arm(), record(seed=1), state=state)
    with pytest.raises(ModelError, match="cannot be written"):
        identify(coupled_arm(), record(), state=state / "below.json")


def test_an_interrupted_comparison_of_laws_goes_on_where_it_stopped(monkeypatch, tmp_path):
    laws, searched = ("coulomb_friction", "viscous_friction", "stribeck_friction"), []
    search = LawContest.search

    def stop_at_third(*arguments):
        searched.append(arguments)
        if len(searched) == 3:
            raise KeyboardInterrupt
        return search(*arguments)

    monkeypatch.setattr(LawContest, "search", stop_at_third)
    state = tmp_path / "state.json"
    part = compare_friction_laws(coupled_arm(), record(), laws, cutoff=15.0, state=state)
    assert any(row.tried == STOPPED for row in part.rows)
    whole = compare_friction_laws(coupled_arm(), record(), laws, cutoff=15.0, state=state)
    assert len(searched) == 3 + 2
    assert whole.rows == compare_friction_laws(coupled_arm(), record(), laws, cutoff=15.0).rows


def warming(seconds, seed=0, warm=30.0):
    """A cart whose lubricant its own losses warm up, along two sines; nobody measured its temperature."""
    rng, rate = np.random.default_rng(seed), 50
    t = np.arange(int(seconds * rate)) / rate
    waves = ((0.5, 2.0, 0.0), (0.2, 1.4, 1.0))
    q, v, a = (sum(size * w**k * np.sin(w * t + phase + k * np.pi / 2) for size, w, phase in waves) for k in range(3))
    friction, p = np.zeros(t.size), 0.0
    for k in range(t.size):
        friction[k] = 3 * np.tanh(v[k] / 1e-3) + 12 * np.exp(-p / 8) * v[k]
        p += (friction[k] * v[k] - p) / warm / rate
    effort = 2 * a + friction + 0.05 * rng.normal(size=t.size)
    infos = (SignalInfo("rail.position", "m"), SignalInfo("rail.effort", "N"))
    values = np.column_stack([q + 1e-6 * rng.normal(size=t.size), effort])
    return Run(t, values, infos, Outcome(OutcomeKind.FINISHED, "", t[-1]), Provenance("measured"))


def test_friction_that_warms_up_is_found_with_its_time_constant():
    laws = ("coulomb_friction", "warm_friction")
    numbers = {"coulomb": 1.0, "viscous": 1.0, "smoothing_velocity": 1e-3}
    slide = cart(Block("drag", "coulomb_friction", "rail", parameters=numbers))
    best, other = compare_friction_laws(slide, warming(100.0), laws).rows
    assert (best.law, other.law) == ("warm_friction", "coulomb_friction")
    found = dict(part.rsplit(" ", 1) for part in best.tried.removeprefix("rail: ").split(", "))
    truth = {"coulomb": 3.0, "viscous": 12.0, "softening": 8.0, "time_constant": 30.0}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(truth, rel=0.02)
    # A log of a few seconds sees it begin, and not how long it takes.
    assert "which the log is too short to tell" in compare_friction_laws(slide, warming(8.0), laws).rows[0].tried
    # `identify` takes such a law as it stands, and says so.
    warm = Block("drag", "warm_friction", "rail", parameters=numbers | {"softening": 8.0, "time_constant": 30.0})
    assert any(note.startswith("drag: warm_friction") for note in plan_identification(cart(warm), warming(8.0)).notes)


def test_ripple_is_found_with_its_order_beside_the_best_law():
    """Cogging of 12 and 9 periods, a quarter of the friction; without it the simpler law wins."""
    t, q, efforts = truth()
    places = np.column_stack([q[:, 0], q[:, 0] + 2 * q[:, 1] + 0.05])
    waves = np.sin(places * [12.0, 9.0] + [0.7, -0.4]) * [1.5, 0.8]
    noise = np.random.default_rng(3).normal(0, LEVELS, efforts.shape)
    spoiled = {f"{axis}.push.torque": (efforts + waves + noise)[:, k] for k, axis in enumerate(AXES)}
    laws = ("coulomb_friction", "cogging_torque")
    found = compare_friction_laws(coupled_arm(), record(**spoiled), laws, cutoff=15.0)
    assert [row.law for row in found.rows] == ["coulomb_friction + cogging_torque", "coulomb_friction"]
    best, plain = found.rows
    assert (plain.than_best, found.as_good) == ("worse than", [])
    assert best.gain > 0.5
    numbers = {
        name: float(value) for name, value in (part.split(" ")[-2:] for part in best.tried.split(";")[0].split(","))
    }
    known = {"coulomb": 6.0, "viscous": 4.0, "amplitude": 1.5, "order": 12.0, "phase": 0.7}
    assert {name: numbers[name] for name in known} == pytest.approx(known, rel=0.03)
    assert set(found.axes.values()) == {best.law}
    without_waves = compare_friction_laws(coupled_arm(), record(), laws, cutoff=15.0)
    assert without_waves.rows[0].law == "coulomb_friction"
    assert without_waves.as_good == []
    with pytest.raises(ModelError, match="held_out: must be above 0 and below 1"):
        compare_friction_laws(coupled_arm(), record(), held_out=0.0)


def test_a_comparison_that_is_stopped_says_what_it_knows(monkeypatch):
    search, calls = LawContest.search, []

    def stop(contest, laws, begin):
        calls.append(laws)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return search(contest, laws, begin)

    monkeypatch.setattr(LawContest, "search", stop)
    laws = ("coulomb_friction", "stribeck_friction", "cogging_torque")
    found = compare_friction_laws(coupled_arm(), record(), laws, cutoff=15.0).rows
    assert [row.law for row in found] == ["coulomb_friction", "stribeck_friction", "cogging_torque"]
    assert [row.tried for row in found[1:]] == ["stopped before it was tried"] * 2
    assert np.isfinite(found[0].bic)


def test_a_wrong_sign_is_told_by_what_comes_out_negative():
    data = record()
    turned = identify(coupled_arm(), replace(data, values=data.values * [1.0, 1.0, -1.0, -1.0]), cutoff=15.0)
    assert any(w.startswith("shoulder.friction.coulomb comes out negative") for w in turned.warnings)
    assert not any("negative" in w for w in found_once().warnings)


def test_rows_at_the_limit_of_a_drive_are_left_out_and_said():
    """A clipped effort is less than the motion needs: with these rows friction and masses come out too small."""
    effort = record()["shoulder.push.torque"].values
    limit = float(np.quantile(np.abs(effort), 0.9))
    clipped = np.clip(effort, -limit, limit)
    found = identify(coupled_arm(), record(**{"shoulder.push.torque": clipped}), cutoff=15.0)
    said = next(w for w in found.warnings if w.startswith("shoulder.push.torque is saturated at"))
    assert f"{int(np.sum(np.abs(clipped) == limit))} rows are left out" in said
    off = [abs(e.value - t) / e.deviation for e, t in zip(found.base, _true_base(), strict=True) if e.identifiable]
    # Of a dozen numbers one is 3.5 deviations off once in 200 logs.
    assert max(off) < 3.5


def _true_base():
    regressor = plan_identification(coupled_arm(), record()).regressor
    return find_base_parameters(regressor).G @ regressor.given


def test_an_effort_that_comes_late_is_said_and_one_in_time_is_not():
    """A few milliseconds are taken for friction and inertia, and hardly show in what is left."""
    assert not any(w.startswith("efforts come") for w in found_once().warnings)
    data = record()
    t = data.time
    late = {name: np.interp(t - 5e-3, t, data[name].values) for name in data.names if "torque" in name}
    said = next(
        w for w in identify(coupled_arm(), record(**late), cutoff=15.0).warnings if w.startswith("efforts come")
    )
    delay, deviation = re.search(r"come ([\d.]+) \+- ([\d.]+) ms later", said).groups()
    assert float(delay) == pytest.approx(5.0, abs=0.3)
    assert float(deviation) < 0.3


def test_all_offsets_that_numbers_were_found_with_are_kept():
    """Also those that noise explains: without them the numbers would be wrong by as much as they are unsure."""
    found = found_once()
    # That of the motor cannot be told from a weight.
    assert found.offsets == pytest.approx({"shoulder.push.torque": found.parameters["shoulder.effort_offset"]})
    assert any(w.startswith("motor: a constant offset") for w in found.warnings)


def test_noise_of_efforts_does_not_hide_a_part_of_their_delay():
    """Slopes of noisy efforts are steeper than those that the delay works by: taken for them, it came out shorter."""
    noisy = record(noise=[20 * level for level in LEVELS])
    late = {name: np.roll(noisy[name].values, 8) for name in noisy.names if "torque" in name}
    plan = plan_identification(coupled_arm(), noisy)
    rows = [plan.rows(record(**late), 15.0)]
    for delay, deviation in plan.find_delays(rows, plan.estimate(rows).beta).values():
        assert delay == pytest.approx(8 / RATE, abs=3 * deviation)
        assert deviation < 4 / RATE


def test_spikes_are_left_out_before_a_filter_spreads_them():
    """One row in a hundred is off by twenty deviations of the effort: smeared, they would spoil every number."""
    rng, data = np.random.default_rng(3), record()
    clean = {name: data[name].values for name in data.names if "torque" in name}
    spoiled = {}
    for name, tau in clean.items():
        spoiled[name] = tau + 20 * tau.std() * rng.choice([-1, 1], tau.size) * (rng.random(tau.size) < 0.01)
    found = identify(coupled_arm(), record(**spoiled), cutoff=15.0)
    assert sum("spikes, which are left out" in w for w in found.warnings) == 2
    off = [abs(e.value - t) / e.deviation for e, t in zip(found.base, _true_base(), strict=True) if e.identifiable]
    assert max(off) < 4
    wide = [a.deviation / b.deviation for a, b in zip(found.base, found_once().base, strict=True) if a.identifiable]
    assert np.median(wide) < 1.5


def test_a_slow_log_is_differentiated_between_its_rows():
    """Ten rows a second of a motion up to 1.2 Hz: differences of rows alone would take 20 % off the mass."""
    log = carriage_log("cogging_torque")
    t = log.time[::50]
    x = log["x.position"].values[::50]
    plain = log["x.drive.torque"].values[::50] - 6.0 * np.sin(300.0 * x + 0.7)
    slow = replace(log, time=t, values=np.column_stack([x, plain, 0 * x]))
    arm = carriage("cogging_torque").with_numbers({"carriage.mass": 10.0, "x.more.amplitude": 0.0})
    found = identify(arm, slow)
    # Of 200 rows with friction that is sampled at ten places of a period: some percent.
    assert found.numbers["carriage.mass"] == pytest.approx(12.0, rel=0.04)


def test_each_recording_counts_by_its_own_noise():
    """A second log of 20 times the noise spoils little; counted alike it would make deviations 14 times as wide."""
    good, bad = record(1), record(2, noise=20 * LEVELS)
    alone = identify(coupled_arm(), good, cutoff=15.0, held_out=0.0)
    both = identify(coupled_arm(), [good, bad], cutoff=15.0, held_out=0.0)
    wider = [b.deviation / a.deviation for a, b in zip(alone.base, both.base, strict=True) if a.identifiable]
    assert max(wider) < 1.25


LINE = {"coulomb": 15.0, "viscous": 40.0, "smoothing_velocity": 1e-3}
MORE = {
    "gear_loss": {"load_loss": 0.12, "smoothing_velocity": 1e-3},
    "cogging_torque": {"amplitude": 6.0, "order": 300.0, "phase": 0.7},
    "torque_ripple": {"share": 0.04, "order": 120.0, "phase": -0.4},
    "thermal_friction": {
        **{"coulomb": 4.0, "viscous": 20.0, "coulomb_slope": -0.2, "viscous_slope": -1.0, "reference": 293.0},
        **{"smoothing_velocity": 1e-3},
    },
}
READ = {"gear_loss": {"load": "x.drive.torque"}, "torque_ripple": {"load": "x.drive.torque"},
        "thermal_friction": {"temperature": "x.sensor.value"}}  # fmt: skip


def carriage(law):
    """A mass of 12 kg on a rail with one law more."""
    blocks = [
        Block("x.push", "constant_reference", parameters={"constant": 0.0}),
        Block("x.sensor", "constant_reference", parameters={"constant": 293.0}),
        Block("x.drive", "torque_source", "x", {"command": "x.push.value"}),
        Block("x.more", law, "x", READ.get(law, {}), MORE[law]),
    ]
    if law != "thermal_friction":
        blocks.append(Block("x.friction", "coulomb_friction", "x", parameters=LINE))
    body, joint = Body("carriage", 12.0, inertia=(0.1, 0.1, 0.1)), Joint("x", "prismatic", "ground", "carriage")
    return Scenario("carriage", Machine("carriage", Mechanism("rail", (body,), (joint,)), tuple(blocks)), 20.0)


def carriage_log(law):
    """Effort of the carriage by the formulas of its laws along a multisine, with noise of 0.5 N."""
    t = np.arange(10_000) / 500
    w = 2 * np.pi * 0.4
    x = 0.15 * np.sin(w * t) + 0.06 * np.cos(2 * w * t) + 0.04 * np.sin(3 * w * t)
    v = w * (0.15 * np.cos(w * t) - 0.12 * np.sin(2 * w * t) + 0.12 * np.cos(3 * w * t))
    a = -(w**2) * (0.15 * np.sin(w * t) + 0.24 * np.cos(2 * w * t) + 0.36 * np.sin(3 * w * t))
    plain = 12.0 * a + 15.0 * np.tanh(v / 1e-3) + 40.0 * v
    warm = 20.0 * (1 - np.exp(-t / 8.0))
    # tau = plain + loss |tau| sign(v), and tau (1 + share sin) = plain.
    load = plain / (1 - 0.12 * np.sign(v) * np.sign(plain))
    effort = {
        "gear_loss": load,
        "cogging_torque": plain + 6.0 * np.sin(300.0 * x + 0.7),
        "torque_ripple": plain / (1 + 0.04 * np.sin(120.0 * x - 0.4)),
        "thermal_friction": 12.0 * a + (4.0 - 0.2 * warm) * np.tanh(v / 1e-3) + (20.0 - 1.0 * warm) * v,
    }[law]
    rng = np.random.default_rng(6)
    noisy = x + 1e-6 * rng.normal(size=t.size), effort + 0.5 * rng.normal(size=t.size), 293.0 + warm
    columns = dict(zip(("x.position", "x.drive.torque", "x.sensor.value"), noisy, strict=True))
    infos = tuple(SignalInfo(name, "") for name in columns)
    outcome = Outcome(OutcomeKind.FINISHED, "", t[-1])
    return Run(t, np.column_stack(list(columns.values())), infos, outcome, Provenance("measured", {"file": "log"}))


@pytest.mark.parametrize("law", MORE)
def test_losses_waves_and_temperature_are_columns_like_any_other(law):
    """From half the numbers and no phase; without the law held-out rows are predicted worse."""
    true = carriage(law)
    wrong = {"carriage.mass": 10.0}
    wrong |= {f"x.more.{key}": 0.5 * value for key, value in MORE[law].items() if key in FOUND}
    found = identify(true.with_numbers(wrong), carriage_log(law))
    assert found.numbers["carriage.mass"] == pytest.approx(12.0, rel=0.003)
    for key in FOUND & set(MORE[law]):
        assert found.numbers[f"x.more.{key}"] == pytest.approx(MORE[law][key], rel=0.03, abs=0.01), key
    held = next(p.percent for p in found.predictions if p.held_out)
    # The noise of 0.5 N by efforts of 20 to 40 N, low-passed.
    assert held < 2.0


FOUND = {"load_loss", "amplitude", "share", "phase", "coulomb", "viscous", "coulomb_slope", "viscous_slope"}


def test_a_measured_temperature_takes_part_in_the_comparison_of_laws():
    log = carriage_log("thermal_friction")
    warm = replace(log, infos=(*log.infos[:2], SignalInfo("x.temperature", "K")))
    laws = ("coulomb_friction", "thermal_friction")
    found = compare_friction_laws(carriage("gear_loss"), warm, laws).rows
    assert found[0].law == "thermal_friction"
    numbers = dict(part.split(" ") for part in found[0].tried.removeprefix("x: ").split(", "))
    assert float(numbers["viscous_slope"]) == pytest.approx(-1.0, rel=0.05)
    assert float(numbers["coulomb_slope"]) == pytest.approx(-0.2, rel=0.1)
    with pytest.raises(ModelError, match="thermal_friction: cannot be compared here"):
        compare_friction_laws(carriage("gear_loss"), log, laws)


def test_what_a_law_reads_must_be_in_the_data():
    log = carriage_log("thermal_friction")
    lacking = replace(log, values=log.values[:, :2], infos=log.infos[:2])
    found = identify(carriage("thermal_friction"), lacking)
    # The scenario's own sensor is constant: slopes cannot be told, which is said.
    assert any("slope" in w for w in found.warnings)
    loss = carriage("gear_loss")
    with pytest.raises(ModelError, match=r"no force of a drive"):
        identify(loss, replace(log, values=log.values[:, :1], infos=log.infos[:1]))
