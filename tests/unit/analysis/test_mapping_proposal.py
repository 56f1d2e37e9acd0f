"""Is what is spoiled in a log found, named and undone, on a six-axis arm and on a SCARA?"""

from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.analysis import identify, read_measured, validate
from robodyn.analysis.identification.identify import plan_identification
from robodyn.analysis.identification.mapping_proposal import propose_mapping
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.assembly import assemble
from robodyn.description.catalog import find_scenario
from robodyn.description.catalog.scara import scara_mechanism
from robodyn.description.files import read_scenario, write_scenario
from robodyn.description.files.samples.headings import number_joints, read_heading

WAVES = {"shoulder": (0.8, -0.3, 0.4), "elbow": (-0.5, 0.6, 0.5), "lift": (0.05, 0.03, -0.04)}
GAINS = {"shoulder": (4e3, 300.0), "elbow": (2e3, 150.0), "lift": (2e4, 1500.0)}


@cache
def scara():
    """The catalogue's SCARA on torques and forces, with friction, driven along Fourier series."""
    blocks = []
    for k, (joint, waves) in enumerate(WAVES.items()):
        unit = "m" if joint == "lift" else "rad"
        series = {"sines": waves, "cosines": waves[::-1], "frequency": 0.21 + 0.05 * k}
        stiffness, damping = GAINS[joint]
        losses = {"coulomb": 2.0, "viscous": 1.0, "smoothing_velocity": 0.01}
        control = {"proportional": stiffness, "derivative": damping}
        blocks += [
            rd.Block(f"{joint}.reference", "multisine_reference", parameters=series, unit=unit),
            rd.Block(f"{joint}.control", "pd_control", joint, {"target": f"{joint}.reference.value"}, control),
            rd.Block(f"{joint}.drive", "torque_source", joint, {"command": f"{joint}.control.command"}),
            rd.Block(f"{joint}.friction", "coulomb_friction", joint, parameters=losses),
        ]
    start = {f"{joint}.position": float(sum(waves)) for joint, waves in WAVES.items()}
    return rd.Scenario("scara", rd.Machine("scara", scara_mechanism(), tuple(blocks)), 10.0, start)


ROBOTS = {"six-axis": lambda: find_scenario("excited-arm"), "scara": scara}
JOINTS = {"six-axis": [f"joint{k}" for k in range(1, 7)], "scara": list(WAVES)}
DRIVES = {"six-axis": ["joint1", "joint2", "joint3", "joint4", "motor5", "motor6"], "scara": list(WAVES)}


@cache
def system(robot):
    return assemble(ROBOTS[robot]())


@cache
def clean(robot):
    """Times, and columns q1 .., dq1 .., tau1 .. with the noise of encoders and of torques."""
    rng, joints = np.random.default_rng(1), JOINTS[robot]
    signals = [f"{j}.{kind}" for kind in ("position", "velocity") for j in joints]
    signals += [next(n for n in system(robot).signal_names if n.startswith(f"{d}.drive.")) for d in DRIVES[robot]]
    recording = rd.Recording(rate=250, signals=tuple(signals))
    run = rd.simulate(system(robot).lasting(ROBOTS[robot]().replaced(duration=9.0)), recording=recording)
    noise = np.concatenate([np.full(len(joints), 2e-5), np.full(len(joints), 1e-3), 0.02 * run.values.std(axis=0)[
        2 * len(joints):]])  # fmt: skip
    names = [f"{kind}{k + 1}" for kind in ("q", "dq", "tau") for k in range(len(joints))]
    values = run.values + noise * rng.normal(size=run.values.shape)
    return run.time, dict(zip(names, values.T, strict=True)), dict(zip(names, signals, strict=True))


def write(path, time, columns, heading="time"):
    rows = np.column_stack([time, *columns.values()])
    head = ",".join([heading, *columns])
    np.savetxt(path, rows, delimiter=",", header=head, comments="", fmt=["%.7f"] + ["%.9g"] * len(columns))
    return path


def spoil(robot, **changed):
    """Columns of the clean log with some replaced by a function of what was there."""
    time, columns, _ = clean(robot)
    return time, {name: changed[name](values) if name in changed else values for name, values in columns.items()}


def propose(tmp_path, robot, time, columns, heading="time"):
    return propose_mapping(system(robot), write(tmp_path / "log.csv", time, columns, heading))


def restored(tmp_path, robot, found):
    """The log read by the proposed mapping is the clean one."""
    (tmp_path / "map.toml").write_text(found.text, encoding="utf-8")
    return read_measured(tmp_path / "log.csv", tmp_path / "map.toml")


def kinds(found):
    return {finding.kind for finding in found.findings}


@pytest.mark.parametrize("robot", ROBOTS)
def test_nothing_is_found_in_a_log_that_is_as_its_names_say(tmp_path, robot):
    found = propose(tmp_path, robot, *spoil(robot))
    assert found.findings == ()
    assert not found.foreign
    _, columns, signals = clean(robot)
    data = restored(tmp_path, robot, found)
    for name, signal in signals.items():
        np.testing.assert_allclose(data[signal].values, columns[name], rtol=1e-7, atol=1e-8)


SPOILED = [
    ("six-axis", "wrong sign", "q2", lambda x: -x),
    ("six-axis", "wrong sign", "tau3", lambda x: -x),
    ("six-axis", "offset", "q3", lambda x: x + np.pi / 2),
    ("six-axis", "current or gear ratio", "tau2", lambda x: x / 17),
    ("six-axis", "gear ratio", "q2", lambda x: 120 * x),
    ("scara", "wrong sign", "q2", lambda x: -x),
    ("scara", "wrong sign", "q3", lambda x: -x),
    ("scara", "wrong sign", "tau3", lambda x: -x),
    ("scara", "unit", "q3", lambda x: 1e3 * x),
    ("scara", "offset", "q2", lambda x: x + np.pi / 2),
    ("scara", "current or gear ratio", "tau1", lambda x: x / 52),
]


@pytest.mark.parametrize(("robot", "kind", "column", "how"), SPOILED)
def test_a_spoiled_column_is_found_named_and_undone(tmp_path, robot, kind, column, how):
    found = propose(tmp_path, robot, *spoil(robot, **{column: how}))
    assert {f.kind for f in found.findings if f"'{column}'" in f.where} == {kind}, found.findings
    # Of a sign on the way to a position its speed is told too, which is right as it stands.
    assert all(f.where == f"column '{column}'" or "dq" in f.where for f in found.findings)
    _, columns, signals = clean(robot)
    again = restored(tmp_path, robot, found)[signals[column]].values
    # Ratios are known as well as the model's masses and the noise allow.
    tolerance = 0.03 if "ratio" in kind else 1e-6
    np.testing.assert_allclose(again, columns[column], atol=tolerance * np.ptp(columns[column]))


@pytest.mark.parametrize(("robot", "first", "second"), [("six-axis", 2, 3), ("scara", 1, 2)])
def test_swapped_joints_are_found(tmp_path, robot, first, second):
    time, columns = spoil(robot)
    a, b = f"q{first}", f"q{second}"
    columns[a], columns[b] = columns[b], columns[a]
    found = propose(tmp_path, robot, time, columns)
    swapped = [f for f in found.findings if f.kind == "swapped joints"]
    assert {f.where for f in swapped} == {f"column '{a}'", f"column '{b}'"}
    mapped = {signal.name: signal.column for signal in found.mapping.signals}
    assert mapped[f"{JOINTS[robot][first - 1]}.position"] == b


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_clock_in_milliseconds_with_gaps_jitter_start_up_and_rows_twice_is_told(tmp_path, robot):
    rng = np.random.default_rng(2)
    time, columns = spoil(robot)
    stamped = time + np.abs(rng.normal(0, 3e-4, time.size))
    stamped[:6] = stamped[6] - 0.011 * np.arange(6, 0, -1)
    kept = np.sort(np.concatenate([np.delete(np.arange(time.size), np.r_[700:710, 1200]), [400, 1500, 1501]]))
    found = propose(tmp_path, robot, 1e3 * stamped[kept] + 1.7e12, {k: x[kept] for k, x in columns.items()})
    assert kinds(found) == {"time", "gaps", "jitter", "start-up", "repeated rows"}
    assert found.mapping.time.even
    data = restored(tmp_path, robot, found)
    assert data.time[0] == pytest.approx(0, abs=1e-3)
    # Of a true even clock, what whoever stamped the rows added is gone.
    steps = np.diff(data.time)
    assert np.std(steps[steps < 0.006]) < 1e-6


@pytest.mark.parametrize("robot", ROBOTS)
def test_all_at_once_is_found(tmp_path, robot):
    time, columns = spoil(
        robot,
        **{f"q{k}": np.degrees for k in range(1, 7)} if robot == "six-axis" else {},
    )
    columns["q2"] = -columns["q2"] + (90 if robot == "six-axis" else 0)
    columns["dq2"] = -columns["dq2"]
    columns["tau1"] = -columns["tau1"]
    late = 3
    columns = {k: np.roll(x, late) if k.startswith("tau") else x for k, x in columns.items()}
    found = propose(tmp_path, robot, time[late:], {k: x[late:] for k, x in columns.items()})
    expected = {"wrong sign", "delay"} | ({"unit", "offset"} if robot == "six-axis" else set())
    assert kinds(found) == expected
    delays = [s.delay for s in found.mapping.signals if s.delay]
    assert delays == pytest.approx([late / 250] * len(delays), abs=2.5e-3)


@pytest.mark.parametrize("axes", [(5, 6, 1), (1, 2, 3), (2, 3, 5)])
def test_a_log_of_another_robot_is_said_to_be_one(tmp_path, axes):
    time, columns, _ = clean("six-axis")
    kinds_of_columns = ("q", "dq", "tau")
    others = {f"{kind}{k + 1}": columns[f"{kind}{axis}"] for kind in kinds_of_columns for k, axis in enumerate(axes)}
    found = propose(tmp_path, "scara", time, others)
    assert "another robot's" in found.foreign
    assert "WARNING" in found.text


def test_efforts_that_are_mostly_friction_do_not_tell_how_their_axes_are_read(tmp_path):
    time, columns, _ = clean("six-axis")
    losses = {f"tau{k}": 3 * columns[f"tau{k}"].std() * np.sign(columns[f"dq{k}"]) for k in range(1, 7)}
    found = propose(tmp_path, "six-axis", time, {k: x + losses.get(k, 0.0) for k, x in columns.items()})
    assert found.findings == ()
    assert not found.foreign
    assert any("doubtful" in one and "joint6" in one for one in found.open)


@pytest.mark.parametrize("noise", [0.0, 2e-5])
def test_an_axis_that_never_moves_keeps_its_name_and_tells_nothing(tmp_path, noise):
    # Joint 1 turns about the vertical: that it stands changes the efforts of others little.
    still = 0.3 + noise * np.random.default_rng(0).normal(size=clean("six-axis")[0].size)
    time, columns = spoil("six-axis", q1=lambda x: still, dq1=lambda x: 0 * x, tau2=lambda x: -x)
    found = propose(tmp_path, "six-axis", time, columns)
    assert not found.foreign
    assert [(f.where, f.kind) for f in found.findings] == [("column 'tau2'", "wrong sign")]
    mapped = {signal.name: signal.column for signal in found.mapping.signals}
    assert mapped["joint1.position"] == "q1"
    assert mapped["joint1.drive.torque"] == "tau1"


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_log_that_hardly_moves_is_taken_as_its_names_say(tmp_path, robot):
    rng = np.random.default_rng(3)
    _, columns, signals = clean(robot)
    rows = np.r_[np.zeros(1500, int), np.arange(250), np.full(1500, 249)]
    noisy = {k: x[rows] + (k[0] != "q") * 0.01 * x.std() * rng.normal(size=rows.size) for k, x in columns.items()}
    found = propose(tmp_path, robot, np.arange(rows.size) / 250, noisy)
    assert found.findings == ()
    assert "moves for" in found.open[0]
    mapped = {signal.name: signal.column for signal in found.mapping.signals}
    assert all(mapped[signals[name]] == name for name in columns if name[0] != "d")


def test_what_is_proposed_identifies_the_machine(tmp_path):
    time, columns = spoil("scara", q2=lambda x: -x, q3=lambda x: 1e3 * x, tau1=lambda x: -x)
    found = propose(tmp_path, "scara", time, columns)
    masses = identify(scara(), restored(tmp_path, "scara", found))
    assert all(p.percent < 5 for p in masses.predictions)


def test_six_gears_are_found_together_or_said_not_to_be_told(tmp_path):
    """Weights and inertia tell those of the first axes to some per cent; efforts of the wrist are mostly friction."""
    gears = dict(zip(range(1, 7), (101.0, 121.0, 81.0, 50.0, 60.0, 51.0), strict=True))
    how = {f"q{k}": lambda x, n=n: n * x for k, n in gears.items()}
    how |= {f"tau{k}": lambda x, n=n: x / n for k, n in gears.items()}
    time, columns = spoil("six-axis", **how)
    columns = {f"{name} [rad]" if name[0] == "q" else name: x for name, x in columns.items() if name[0] != "d"}
    found = propose(tmp_path, "six-axis", time, columns)
    assert not found.foreign
    for signal in (s for s in found.mapping.signals if s.name.endswith(".position")):
        truth = gears[int(signal.column[1:])]
        unknown = any(f"'{signal.column}': not only" in one for one in found.open)
        assert signal.sign == 1.0
        assert unknown or signal.gear == pytest.approx(truth, rel=0.15)
        assert not (unknown and signal.column in ("q1", "q2", "q3"))


def test_an_offset_that_weights_hide_is_taken_as_none(tmp_path):
    """A slide that moves up and down: a constant of its force is a mass less in its rotor and more in its weight."""
    found = propose(tmp_path, "scara", *spoil("scara"))
    plan = plan_identification(scara(), restored(tmp_path, "scara", found))
    assert not any(name.startswith("lift.effort_offset") for name in plan.regressor.names)
    assert any(note.startswith("lift: a constant offset of its effort cannot be told") for note in plan.notes)


def test_offsets_of_efforts_are_written_with_the_mapping_and_known_to_validate(tmp_path):
    time, columns = spoil("scara", tau1=lambda x: (x + 7.0) / -50)
    found = propose(tmp_path, "scara", time, columns)
    (tmp_path / "map.toml").write_text(found.text, encoding="utf-8")
    write_scenario(scara(), tmp_path / "scara.toml")
    names = {"map": "map.toml", "map-out": "map2.toml", "out": "found.toml"}
    options = [part for option, name in names.items() for part in (f"--{option}", str(tmp_path / name))]
    log = str(tmp_path / "log.csv")
    told = CliRunner().invoke(app, ["identify", str(tmp_path / "scara.toml"), log, *options])
    assert told.exit_code == 0, told.output
    before, after = (
        validate(read_scenario(tmp_path / "found.toml"), read_measured(log, tmp_path / name), method="inverse")
        for name in ("map.toml", "map2.toml")
    )
    assert before.efforts[0].rms == pytest.approx(7.0, rel=0.1)
    assert after.efforts[0].rms < 0.5
    told = CliRunner().invoke(app, ["identify", str(tmp_path / "scara.toml"), log, "--out", f"{log}/x.toml"])
    assert told.exit_code == 2
    assert "cannot be written" in told.output


def test_rows_written_twice_are_left_out_for_all_commands_which_is_said(tmp_path):
    time, columns, signals = clean("scara")
    rows = np.sort(np.r_[np.arange(400), 200, 300, 301])
    path = write(tmp_path / "log.csv", time[rows], {signals[name]: x[rows] for name, x in columns.items()})
    write_scenario(scara(), tmp_path / "scara.toml")
    told = CliRunner().invoke(app, ["validate", str(tmp_path / "scara.toml"), str(path), "--method", "inverse"])
    assert told.exit_code == 0, told.output
    assert "3 rows at the time of the row before are left out" in told.output
    np.testing.assert_allclose(read_measured(path).time, time[:400], atol=1e-6)


@pytest.mark.parametrize(
    ("line", "message"),
    [("sign = -1", "runs against the derivative of elbow.position"), ('unit = "deg"', "57.3 times the derivative")],
)
def test_a_mapping_that_contradicts_itself_is_refused(tmp_path, line, message):
    time, columns, _ = clean("scara")
    path = write(tmp_path / "log.csv", time, columns)
    mapped = f'[signals."elbow.position"]\ncolumn = "q2"\n{line}\n[signals."elbow.velocity"]\ncolumn = "dq2"\n'
    (tmp_path / "map.toml").write_text(mapped, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        read_measured(path, tmp_path / "map.toml")
    twice = mapped.replace(line, "").replace('"dq2"', '"q2"')
    (tmp_path / "map.toml").write_text(twice, encoding="utf-8")
    with pytest.raises(ModelError, match="is made of column 'q2', and so is elbow.position"):
        read_measured(path, tmp_path / "map.toml")


def test_columns_that_cannot_be_positions_are_refused(tmp_path):
    time, columns, _ = clean("scara")
    path = write(tmp_path / "few.csv", time, {name: columns[name] for name in ("q1", "tau1", "tau2")})
    with pytest.raises(ModelError, match=r"may be positions, the model has 3 axes.*q1"):
        propose_mapping(system("scara"), path)


def test_two_axes_turned_and_shifted_by_odd_angles_are_found_together(tmp_path):
    """Weights tell the sum of two angles of an arm well: each alone is found only when both move."""
    ways = {"q2": lambda x: -x - np.radians(50), "q3": lambda x: -x + np.radians(33)}
    time, columns = spoil("six-axis", **ways)
    found = propose(tmp_path, "six-axis", time, {name: y for name, y in columns.items() if not name.startswith("dq")})
    _, true, signals = clean("six-axis")
    data = restored(tmp_path, "six-axis", found)
    for name in ("q2", "q3"):
        # Angles by the weights that noise and friction leave: about a degree.
        assert np.abs(np.median(data[signals[name]].values - true[name])) < np.radians(2.0)
        assert any(one.startswith(f"offset of {signals[name].split('.')[0]}:") for one in found.open)


def test_angles_that_begin_again_names_of_lists_and_epochs_are_read(tmp_path):
    """A log of ROS: `position[0]`, nanoseconds since 1970, the first angle within half a turn."""
    time, columns = spoil("scara", q1=lambda x: (x + 2.8 + np.pi) % (2 * np.pi) - np.pi)
    names = {"q": "position", "dq": "velocity", "tau": "effort"}
    listed = {f"/joints/{names[n[:-1]]}[{int(n[-1]) - 1}]": y for n, y in columns.items()}
    epoch = 1.7e18 + np.round(1e9 * time)
    found = propose(tmp_path, "scara", epoch, listed, "timestamp")
    assert {f.kind for f in found.findings} == {"time", "turn"}
    run = restored(tmp_path, "scara", found)
    true, signals = clean("scara")[1:]
    moved = run["shoulder.position"].values - true["q1"]
    assert np.ptp(moved) < 1e-6
    # Without a mapping angles in SI go on by themselves, which is said.
    direct = {signal: columns[name] for name, signal in signals.items()}
    write(tmp_path / "direct.csv", time, direct)
    notes = identify(scara(), read_measured(tmp_path / "direct.csv")).warnings
    assert any(note.startswith("shoulder.position wraps") for note in notes)


def test_what_a_log_cannot_tell_is_said(tmp_path):
    """Of a planar arm without weight both axes may be mirrored; counts are as sure as the masses."""
    found = propose(tmp_path, "scara", *spoil("scara", q1=lambda x: np.round(x / (2 * np.pi) * 2**17)))
    assert any(one.startswith("sense of shoulder and elbow:") for one in found.open)
    assert any("gear of 'q1':" in one and "near 131,072 counts" in one for one in found.open)


def test_two_recordings_in_one_file_are_told(tmp_path):
    time, columns = spoil("scara")
    half = time.size // 2
    found = propose(tmp_path, "scara", np.concatenate([time[:half], time[:half]]),
                    {name: y[: 2 * half] for name, y in columns.items()})  # fmt: skip
    (finding,) = (f for f in found.findings if f.kind == "two recordings")
    assert "split the file" in finding.remedy


def test_columns_of_joints_that_the_model_has_fixed_are_none_of_its_axes(tmp_path):
    """By their names, and by their numbers where they stand still, also between two that move."""
    wrist = [read_heading(f"wrist_{k}_joint.position") for k in (1, 3)]
    assert number_joints(wrist, ["lift", "elbow", "wrist_1_joint"], ["wrist_3_joint"]) == [2, None]
    time, columns, signals = clean("scara")
    rng = np.random.default_rng(0)
    log = {"q1": columns["q1"], "q2": columns["q2"], "q3": 0.3 + rng.normal(0, 2e-5, time.size), "q4": columns["q3"]}
    log |= {"tau1": columns["tau1"], "tau2": columns["tau2"], "tau3": 0 * time, "tau4": columns["tau3"]}
    found = propose(tmp_path, "scara", time, log)
    assert [finding.what for finding in found.findings] == ["is of no axis of the model, and stands at 0.3"]
    data = restored(tmp_path, "scara", found)
    assert np.allclose(data["lift.position"].values, columns["q3"], atol=1e-6)
    np.testing.assert_allclose(data[signals["tau3"]].values, columns["tau3"], rtol=1e-7, atol=1e-8)


def test_headings_as_a_controller_writes_them_are_read(tmp_path):
    """An axis called Z beside numbered ones, torques in per cent, rows stamped together by a busy host."""
    time, columns, signals = clean("scara")
    names = [
        "Achse1_Ist [deg]",
        "Achse2_Ist [deg]",
        "Z_Ist [mm]",
        "Achse1_Moment [%]",
        "Achse2_Moment [%]",
        "Kraft [N]",
    ]
    sizes = [180 / np.pi, 180 / np.pi, 1e3, 100 / 150, 100 / 80, 1.0]
    keys = ["q1", "q2", "q3", "tau1", "tau2", "tau3"]
    log = {name: size * columns[key] for name, size, key in zip(names, sizes, keys, strict=True)}
    rng = np.random.default_rng(2)
    late = np.abs(rng.normal(0, 8e-4, time.size)) + 1e-2 * (rng.random(time.size) < 3e-3)
    stamps = np.maximum.accumulate(time + late)
    found = propose(tmp_path, "scara", stamps, log)
    assert {finding.kind for finding in found.findings} == {"jitter", "repeated times", "size"}
    data = restored(tmp_path, "scara", found)
    assert data.time.size == time.size
    assert np.mean(np.abs(data["lift.position"].values - columns["q3"]) > 1e-6) < 0.01
    for key, signal in signals.items():
        if key.startswith("tau"):
            assert np.std(data[signal].values - columns[key]) < 0.03 * np.std(columns[key])


def test_a_slide_in_counts_under_a_current_without_unit_is_told_to_be_of_unknown_size(tmp_path):
    """Without weight the size of its motion and that of its current are known only together."""
    rail = rd.Joint("rail", "prismatic", rd.GROUND, "mass", axis=(1, 0, 0))
    push = rd.Block("rail.drive", "torque_source", "rail", {"command": "none.value"})
    none = rd.Block("none", "constant_reference", parameters={"constant": 0.0})
    slide = rd.Machine("slide", rd.Mechanism("slide", (rd.Body("mass", 40.0),), (rail,)), (push, none))
    time = np.arange(0, 10, 2e-3)
    q, a = (np.real(np.exp(2j * np.pi * 0.7 * time) * size) for size in (0.1, -0.1 * (2 * np.pi * 0.7) ** 2))
    log = {"pos_cnt": np.round(2e5 * q), "I_q": 40 * a / 30}
    found = propose_mapping(rd.Scenario("slide", slide, 1.0), write(tmp_path / "log.csv", time, log))
    assert {signal.column for signal in found.mapping.signals} == {"pos_cnt", "I_q"}
    assert any(one.startswith("size of 'pos_cnt'") for one in found.open)
