"""Are the drives of the library plausible, is each number's source said, and is a bad library told why?"""

import math

import numpy as np
import pytest
from tests.unit.commissioning.test_dressing import START, arm

import robodyn as rd
from robodyn.analysis.commissioning import compare_drives, dress, endurance_of, find_drive, read_library
from robodyn.analysis.commissioning.library import FAMILIES, estimate, servo_models
from robodyn.description.laws.friction import servo_friction_level

LIBRARY = read_library()


def test_there_are_drives_of_every_family_and_every_number_has_a_source():
    assert len(LIBRARY) >= 50
    assert {drive.actuator.family for drive in LIBRARY.values()} == set(FAMILIES)
    for drive in LIBRARY.values():
        assert drive.actuator.source
        assert all(number.source for number in drive.numbers.values())
        assert {"rotor_inertia", "coulomb", "viscous", "stiffness", "resistance", "housing_time"} <= set(drive.numbers)


@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_torque_current_and_speed_of_a_drive_agree(name):
    drive = LIBRARY[name]
    output = drive["ratio"] * drive["torque_constant"]
    # Efficiency from the motor's torque to the output; estimated constants have the loss in them.
    assert 0.2 < drive["peak_torque"] / (output * drive["peak_current"]) < 1.1
    assert drive["rated_torque"] <= drive["peak_torque"]
    if "voltage" in drive.numbers:
        # No drive turns faster than its voltage lets it, but for field weakening and rounding.
        assert drive["no_load_speed"] * output < 1.3 * drive["voltage"]
        assert drive.torque_at(0.0) == drive["peak_torque"]
        assert drive.torque_at(1.01 * drive["no_load_speed"]) == 0.0
    if "mass" in drive.numbers:
        assert 5 < drive["peak_torque"] / drive["mass"] < 120
    assert drive["coulomb"] < 0.15 * drive["peak_torque"]
    assert math.radians(0.0) <= drive["play"] <= math.radians(1.0)


def test_rules_say_what_was_published_of_other_drives():
    """The fits that estimate inertia and resistance, on drives of which both are published."""
    ratios = {"rotor_inertia": [], "resistance": []}
    for name, drive in LIBRARY.items():
        if not name.startswith("DM-"):
            continue
        for key, found in ratios.items():
            rest = {other: number for other, number in drive.numbers.items() if other != key}
            found.append(estimate("planetary", rest)[key].value / drive[key])
    for found in ratios.values():
        assert len(found) == 9
        assert 0.5 < min(found) < 1 < max(found) < 2.0


def test_identified_friction_is_that_of_each_servo_and_grows_with_its_load():
    models = servo_models()
    assert sum(len(found) for found in models.values()) == 55
    for found in models.values():
        for model, numbers in found.items():
            level = {key: value for key, value in numbers.items() if key not in ("kt", "R", "armature", "viscous")}
            free = servo_friction_level(0.0, 0.0, 0.0, **level)
            loaded = servo_friction_level(0.0, 2.0, -2.0, **level)
            assert free == pytest.approx(numbers["coulomb"] + numbers.get("stribeck", 0.0), abs=1e-15)
            assert (loaded > free) == (model not in ("m1", "m2"))
    # One number by hand, M3 of the MX-64: 0.1022 + 0.0758 |e - u| at u = 1, e = -1.
    level = {key: models["mx64"]["m3"][key] for key in ("coulomb", "motor_loss", "load_loss")}
    expected = 0.10216727649779266 + 0.07580074806755707 * 2
    assert servo_friction_level(0.3, 1.0, -1.0, **level) == pytest.approx(expected, rel=1e-12)


def test_a_name_is_found_without_capitals_and_a_wrong_one_gets_the_nearest():
    assert find_drive("xm540w270").name == "XM540-W270"
    with pytest.raises(rd.ModelError, match="did you mean 'STS3215-C001' or 'STS3215-C018'"):
        find_drive("STS3215")
    with pytest.raises(rd.ModelError, match="there is no drive 'XM999'") as error:
        compare_drives(["XM*", "XM999", "zzz"])
    assert len(error.value.flaws) == 2


def test_a_library_of_ones_own_comes_first_and_all_its_flaws_are_told(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('["My-1"]\nfamily = "planetary"\nsource = "measured"\nratio = 9\npeak_torque = "20 N m"\nmass = 1\n')
    drive = read_library(own)["My-1"]
    assert drive["peak_torque"] == 20.0
    assert drive.numbers["rated_torque"].estimated
    found = dress(arm(), {"all": {"friction": "none"}, "elbow": {"name": "my-1"}}, start=START, library=own)
    assert found.axes[1].axis.sized.size == "My-1"
    assert found.axes[1].axis.sized.effort == 20.0
    own.write_text(
        '["A"]\nfamily = "planetary"\nsource = "s"\nratio = 9\npeak_torque = 20\nrated_torque = 30\n'
        "speeds = [0, 10, 10]\ntorques = [20, 15, 16]\n"
        '["B"]\nfamily = "spur"\nratio = "9 m"\npeak_torqe = 1\n'
    )
    with pytest.raises(rd.ModelError) as error:
        read_library(own)
    text = str(error.value)
    for part in ("A.rated_torque", "A.speeds[2]", "A.torques[2]", "sort the curve", "B.peak_torqe", "B.source"):
        assert part in text


def test_a_drive_that_does_not_fit_is_told_with_the_others():
    elbow = {"name": "XM540-W270", "friction": "m6"}
    with pytest.raises(rd.ModelError) as error:
        dress(arm(), {"shoulder": {"name": "20 mm lead"}, "elbow": elbow}, start=START)
    text = str(error.value)
    assert "does not fit a revolute joint" in text
    assert "m6 is not identified" in text


def test_the_sts3215_warms_up_as_measured():
    """TheRobotStudio/SO-ARM100 issue 134: 1.47 N m for an hour bring it to 48 deg C, within ten minutes."""
    (held,) = endurance_of([find_drive("STS3215-C018")], 1.47).drives
    assert math.isinf(held.load.time)
    # Its housing_resistance is that measurement, copper warmer than 25 deg C is not in it.
    assert held.load.housing - 273.15 == pytest.approx(48.0, abs=6.0)
    assert held.continuous > 1.47
    times = [one.time for one in held.curve]
    assert np.all(np.diff([time for time in times if math.isfinite(time)]) < 0)
    assert times[-1] < 120.0


def test_a_drive_that_is_too_hot_at_the_start_is_told_so():
    with pytest.raises(rd.ModelError, match="trips at 70 deg C of its housing, is 90 deg C"):
        endurance_of([find_drive("STS3215-C018")], start=363.15)


def test_servos_are_mounted_with_their_identified_friction():
    drives = {"all": {"name": "MX-106", "friction": "m6"}}
    light = arm().mechanism
    bodies = [body.replaced(mass=0.05 * body.mass, inertia=0.02 * np.asarray(body.inertia)) for body in light.bodies]
    machine = arm().replaced(mechanism=arm().mechanism.replaced(bodies=tuple(bodies)))
    found = dress(machine, drives, {"velocity_rate": 1000.0}, start=START)
    (block,) = [block for block in found.machine.blocks if block.name == "elbow.friction"]
    assert block.law_name == "servo_friction"
    assert block.parameters["motor_loss"] == servo_models()["mx106"]["m6"]["motor_loss"]
    assert found.axes[1].axis.sized.armature == pytest.approx(servo_models()["mx106"]["m6"]["armature"])
    assert rd.simulate(found.scenario.replaced(duration=0.2)).outcome.kind.name == "FINISHED"


def test_what_is_only_quoted_counts_as_estimated_and_the_rest_has_a_date():
    for drive in read_library().values():
        assert drive.actuator.date is not None, drive.name
        for number in drive.numbers.values():
            if "quoted, not read" in number.source:
                assert number.estimated, drive.name
    quoted = read_library()["A1-motor"].numbers
    assert quoted["ratio"].estimated
    assert quoted["peak_torque"].source.endswith("read 2026-11-18")


def test_all_that_is_wrong_in_a_library_is_told_units_too(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '["A"]\nfamily = "spur"\nsource = "x"\nratio = 9\npeak_torque = "20 kg"\n'
        '["B"]\nfamily = "spur"\nsource = "x"\nratio = 9\npeak_torque = 20\nrated_torque = 30\n'
        'foo = 1\ncounts = "3 m"\n'
        '["C"]\nsource = "x"\n'
    )
    with pytest.raises(rd.ModelError) as error:
        read_library(path)
    said = {(flaw.path, flaw.what) for flaw in error.value.flaws}
    assert ("A.peak_torque", '"20 kg" must be in N m or N') in said
    assert ("B.counts", '"3 m" must be a plain number, without a unit') in said
    assert {path for path, _ in said} == {
        "A.peak_torque", "B.foo", "B.counts", "B.rated_torque", "C.family", "C.ratio", "C.peak_torque",
    }  # fmt: skip


def test_a_misspelt_drive_gets_the_nearest_names_whatever_its_capitals():
    with pytest.raises(rd.ModelError, match="did you mean 'XM540-W150' or 'XM430-W350'"):
        find_drive("xm450")
    with pytest.raises(rd.ModelError, match="did you mean 'Avocado'"):
        find_drive("AVOCADOO")


@pytest.mark.parametrize(("ambient", "start", "keys"), [(-26.85, None, ["ambient"]), (298.15, 400.0, ["start"] * 2)])
def test_temperatures_out_of_reach_of_the_laws_are_refused(ambient, start, keys):
    """Below 44 K the line of copper would turn negative, and a drive would cool itself by its current."""
    with pytest.raises(rd.ModelError) as error:
        endurance_of([find_drive("STS3215-C018")], 2.0, ambient, start)
    assert [flaw.path for flaw in error.value.flaws] == keys


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("speeds = [0, nan]\ntorques = [20, -5]", ("speeds[1]: must be 0 or a positive", "torques[1]: must be 0 or a")),
        ("speeds = [0, 10]\ntorques = [40, 5]", ("torques: reach 40, above peak_torque of 20",)),
        ("winding_limit = 100", ("winding_limit: is 100 K, -173 deg C", "such as 373.15")),
    ],
)
def test_curves_and_limits_that_no_drive_has_are_refused(numbers, said, tmp_path):
    head = '["My-9"]\nfamily = "planetary"\nsource = "bench"\nratio = 9\npeak_torque = 20\n'
    (tmp_path / "own.toml").write_text(head + numbers)
    with pytest.raises(rd.ModelError) as error:
        read_library(tmp_path / "own.toml")
    assert all(words in str(error.value) for words in said)


def test_a_torque_that_a_drive_does_not_give_is_refused():
    with pytest.raises(rd.ModelError, match=r"torque: is 9, STS3215-C018 gives 2.94 at most"):
        endurance_of([find_drive("sts3215-c018"), find_drive("xm540-w270")], 9.0)
