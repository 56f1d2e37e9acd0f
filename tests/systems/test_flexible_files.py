"""Does a flexible body of a file take part in a co-simulation through an interface at its node?"""

import math

import pytest

from robodyn.computation.cosimulation import read_cosimulation

BOOM = """
duration = "0.4 s"
gravity = [0, -9.81, 0]
[bodies.boom]
damping = 2.0
[bodies.boom.beam]
length = 1.0
modes = 0
elements = 2
directions = ["y", "rz"]
section = { kind = "tube", radius = "20 mm", thickness = "2 mm", young = 7e10, shear = 2.7e10, density = 2700 }
[joints.wall]
kind = "fixed"
parent = "ground"
child = "boom"
[points.end]
body = "boom"
node = "tip"
[interfaces.port]
takes = "force"
point = "end"
[solver]
method = "rosw2"
step = "1 ms"
"""
WEIGHT = """
duration = "0.4 s"
gravity = [0, -9.81, 0]
[bodies.weight]
mass = 2
[joints.drop]
kind = "prismatic"
parent = "ground"
child = "weight"
origin = [1, 0, 0]
axis = [0, 1, 0]
[points.ring]
body = "weight"
"""
PAIR = """
[subsystems.boom]
scenario = "boom.toml"
set = { "boom.stiffness" = 0.5 }
[subsystems.weight]
scenario = "weight.toml"
interfaces.port = { point = "ring", takes = "model", stiffness = "20000 N/m", damping = 200 }
[[connections]]
between = ["boom.port", "weight.port"]
[settings]
step = "1 ms"
scheme = "sequential"
"""


def test_a_boom_carries_a_weight_that_is_simulated_apart(tmp_path):
    for name, text in (("boom", BOOM), ("weight", WEIGHT), ("pair", PAIR)):
        (tmp_path / f"{name}.toml").write_text(text)
    run = read_cosimulation(tmp_path / "pair.toml").simulate()

    rigidity = 0.5 * 7e10 * math.pi / 4 * (0.02**4 - 0.018**4)
    own = 2700 * math.pi * (0.02**2 - 0.018**2) * 9.81 / (8 * rigidity)
    assert run.outcome.ok
    # Cubic elements bend exactly at their nodes; the swing of 45 rad/s has decayed by exp(-10).
    assert run["boom"]["end.position.y"].final == pytest.approx(-(2 * 9.81 / (3 * rigidity) + own), rel=1e-3)
