"""Is the gantry made of one template, used twice, the machine that is written out in full?"""

import re
from pathlib import Path

import numpy as np

import robodyn as rd

GANTRY = Path(__file__).parents[2] / "examples" / "gantry.toml"
HEAD = """
duration = "0.3 s"
[points.tool]
body = "y_carriage"
origin = [0, 0, "-200 mm"]
[solver]
method = "rodas4"
"""
AXIS = """
[bodies.{a}_rotor]
inertia = [{rotor}, {rotor}, {rotor}]
[bodies.{a}_carriage]
mass = {mass}
[joints.{a}_motor]
kind = "revolute"
parent = "{parent}"
child = "{a}_rotor"
axis = {axis}
[joints.{a}_slide]
kind = "prismatic"
parent = "{parent}"
child = "{a}_carriage"
axis = {axis}
[coordinates.{a}_stretch]
of = {{ {a}_slide = 1, {a}_motor = {lead} }}
[blocks.{a}_drive_spring]
law = "spring"
on = "{a}_stretch"
parameters = {{ stiffness = {stiffness}, damping = {damping} }}
[blocks.{a}_friction]
law = "stick_friction"
on = "{a}_slide"
parameters = {{ coulomb = {coulomb}, static = {static}, viscous = {viscous} }}
[blocks.{a}_reference]
law = "sine_reference"
unit = "m"
parameters = {{ amplitude = "50 mm", frequency = 0.5, phase = "{phase} deg" }}
[blocks.{a}_position_loop]
law = "position_loop"
on = "{a}_slide"
period = "1 ms"
inputs = {{ target = "{a}_reference.value", feed_forward = "{a}_reference.rate" }}
parameters = {{ proportional = {position_gain} }}
[blocks.{a}_gear]
law = "amplifier"
period = "1 ms"
unit = "rad/s"
inputs = {{ value = "{a}_position_loop.velocity_command" }}
parameters = {{ gain = {gear} }}
[blocks.{a}_velocity_loop]
law = "sampled_velocity_loop"
on = "{a}_motor"
period = "0.125 ms"
delay = "0.125 ms"
inputs = {{ velocity_command = "{a}_gear.output" }}
parameters = {{ proportional = {gain}, integral = {integral}, limit = {limit} }}
[blocks.{a}_drive]
law = "torque_source"
on = "{a}_motor"
inputs = {{ command = "{a}_velocity_loop.torque_command" }}
[initial.{a}_slide]
position = "{start} mm"
velocity = "{speed} mm/s"
[initial.{a}_motor]
position = {angle}
velocity = {rate}
"""
X = {
    "a": "x", "parent": "ground", "axis": [1, 0, 0], "rotor": '"500 kg mm^2"', "mass": 40, "lead": -1.5915494309e-3,
    "stiffness": 80e6, "damping": 4000, "coulomb": 60, "static": 80, "viscous": 100, "phase": 90, "position_gain": 40,
    "gear": 628.318530718, "gain": 0.5, "integral": 50, "limit": 15, "start": 50, "speed": 0,
    "angle": 31.4159265, "rate": 0,
}  # fmt: skip
Y = {
    "a": "y", "parent": "x_carriage", "axis": [0, 1, 0], "rotor": '"300 kg mm^2"', "mass": 12, "lead": -0.03,
    "stiffness": 1e6, "damping": 300, "coulomb": 25, "static": 30, "viscous": 40, "phase": 0, "position_gain": 30,
    "gear": 33.3333333333, "gain": 2, "integral": 200, "limit": 30, "start": 0, "speed": 157.0796,
    "angle": 0, "rate": 5.23598,
}  # fmt: skip


def test_the_gantry_of_a_template_is_bit_equal_to_the_one_written_out(tmp_path):
    path = tmp_path / "written_out.toml"
    path.write_text(HEAD + AXIS.format(**X) + AXIS.format(**Y), encoding="utf-8")
    full = rd.simulate(rd.read_scenario(path))
    short = rd.simulate(rd.read_scenario(GANTRY).with_numbers({"duration": 0.3}))
    assert full.outcome.ok
    np.testing.assert_array_equal(short.time, full.time)
    same = {info.name: re.sub(r"^([xy])_", r"\1.", info.name) for info in full.infos}
    assert len(same) > 50
    for name, other in same.items():
        np.testing.assert_array_equal(short[other].values, full[name].values, err_msg=name)


def test_the_gantry_is_short_and_stays_round():
    assert len(GANTRY.read_text(encoding="utf-8").splitlines()) <= 90
    run = rd.simulate(rd.read_scenario(GANTRY))
    # The drives give way under friction and inertia: 60 N on 80 N/um, 25 N on 1 N/um, and what the loops leave.
    assert np.max(np.abs(run["roundness"].values)) < 0.5e-3
    assert np.max(np.abs(run["roundness"].values)) > 1e-5


def test_friction_fed_forward_as_tuned_leaves_a_tenth_of_the_quadrant_peaks():
    """Numbers as `robodyn tune` found them, rounded: see docs/tuning.md."""
    example = rd.read_scenario(GANTRY.with_name("gantry_feed_forward.toml")).with_numbers({"duration": 0.7})
    tuned = example.with_numbers({"y.push.torque_limit": 1.015, "y.push_slope.gain": 5000.0})
    before, after = (np.max(np.abs(rd.simulate(one)["roundness"].values)) for one in (example, tuned))
    assert 200e-6 < before < 230e-6
    assert after < before / 10
