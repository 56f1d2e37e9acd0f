"""Are numbers and counts that no computer can work with refused at their place in the file, before any work?"""

import pytest

from robodyn import ModelError, simulate
from robodyn.computation.assembly import assemble
from robodyn.description.files import read_scenario

ARM = """
duration = 0.1
[bodies.arm]
mass = 1
com = [0.5, 0, 0]
inertia = [0, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "arm"
axis = {axis}
[blocks.hold]
law = "sample_and_hold"
inputs = {{ value = "hinge.position" }}
period = {period}
delay = {delay}
offset = {offset}
"""
GOOD = {"axis": "[0, 1, 0]", "period": "0.01", "delay": "0", "offset": "0"}
BEAM = """
duration = 0.1
[sections.tube]
kind = "tube"
radius = {radius}
thickness = "1 mm"
young = {young}
shear = "27 GPa"
density = {density}
[bodies.arm.frame]
modes = 0
nodes = {{ root = [0, 0, 0], tip = {tip} }}
elements = [{{ start = "root", end = "tip", section = "tube", parts = {parts} }}]
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "arm"
"""
FINE = {"radius": "0.02", "young": "7e10", "density": "2700", "tip": "[1, 0, 0]", "parts": "3"}
SLIDER = """
duration = 0.1
[bodies.ball]
mass = 1
[joints.x]
kind = "prismatic"
parent = "ground"
child = "ball"
axis = [1, 0, 0]
[points]
nail = {{ body = "ball" }}
eye = {{ body = "ball", origin = [0.5, 0, 0] }}
[constraints.line]
rod = ["nail", "eye"]
length = {length}
"""


def write(tmp_path, text):
    path = tmp_path / "machine.toml"
    path.write_text(text)
    return path


def refusal(tmp_path, text):
    with pytest.raises(ModelError) as error:
        assemble(read_scenario(write(tmp_path, text)))
    return str(error.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"axis": "[1, -1.7e308, 1e300]"}, "joints.hinge.axis[1]: must be at most 1e+30 in magnitude, is -1.7e+308"),
        ({"axis": "[1e-200, 0, 0]"}, "joints.hinge.axis: must not be zero"),
        ({"axis": '["1e400", 0, 0]'}, 'joints.hinge.axis[0]: "1e400" is too large for a number'),
        ({"axis": "[0, 0x" + "f" * 300 + ", 1]"}, "joints.hinge.axis: has a whole number that is too large"),
        ({"period": "2e-12"}, "blocks.hold.period: must be 1e-09 to 1e+09 s, is 2e-12 s"),
        ({"period": '"2e300 ms"'}, "blocks.hold.period: must be at most 1e+30"),
        ({"offset": "1e12"}, "blocks.hold.offset: must be 0 or 1e-09 to 1e+09 s, is 1e+12 s"),
        ({"delay": "1e-12"}, "blocks.hold.delay: must be 0 or 1e-09 to 1e+09 s"),
        ({"delay": "500"}, "blocks.hold.delay: 500 s are 5e+04 periods, at most 10000 samples can wait"),
    ],
)
def test_numbers_beyond_all_use_are_refused_at_their_place(tmp_path, changed, message):
    assert message in refusal(tmp_path, ARM.format(**(GOOD | changed)))


@pytest.mark.parametrize("tiny", ["1e-120", "-1e-300", "5e-324"])
def test_a_start_next_to_zero_is_a_start_at_zero(tmp_path, tiny):
    """Sums of rounded sines give such numbers, to chains of links for example; they must not be refused."""
    ends = []
    for start in ("0", tiny):
        scenario = read_scenario(write(tmp_path, ARM.format(**GOOD) + f"[initial]\n'hinge.position' = {start}\n"))
        ends.append(simulate(scenario)["hinge.position"].final)
    assert ends[0] > 0.01
    assert ends[1] == pytest.approx(ends[0], rel=1e-12)


@pytest.mark.parametrize(("value", "what"), [("0", "positive"), ("1e-120", "at least 1e-100")])
def test_a_number_that_is_divided_by_must_not_be_next_to_zero(tmp_path, value, what):
    lag = "[blocks.lag]\nlaw = 'low_pass'\ninputs = { value = 'hinge.position' }\n"
    message = f"blocks.lag.parameters.time_constant: must be {what}, is {float(value):g}"
    assert message in refusal(tmp_path, ARM.format(**GOOD) + lag + f"parameters.time_constant = {value}\n")
    section = f"sections.tube.young: must be {what}, is {float(value):g} Pa"
    assert section in refusal(tmp_path, BEAM.format(**(FINE | {"young": value})))


def test_numbers_up_to_the_bounds_are_used(tmp_path):
    text = ARM.format(**(GOOD | {"axis": "[0, 1e30, 1e-100]", "delay": "100"}))
    assert len(assemble(read_scenario(write(tmp_path, text))).memory) == 10_001


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"radius": "2e298"}, "sections.tube.radius: must be at most 1e+30"),
        ({"tip": "[0, 1e300, 0]"}, "bodies.arm.frame.nodes.tip[1]: must be at most 1e+30"),
        ({"parts": "2147483648"}, "elements: have 2147483648 parts in all (at most 200 are allowed"),
        ({"parts": "2", "young": "1e30", "density": "1e-99"}, "differ too much in size to find modes (check the units"),
    ],
)
def test_beams_that_have_no_modes_or_too_many_parts_are_refused(tmp_path, changed, message):
    assert message in refusal(tmp_path, BEAM.format(**(FINE | changed)))


def test_more_modes_or_particles_than_there_is_room_for_are_refused_before_the_work(tmp_path):
    from robodyn.description.structures import Particles, Reduction, Section, beam

    tube = Section.tube(0.02, 0.002, 7e10, 2.7e10, 2700)
    with pytest.raises(ModelError, match="are 96 modes, at most 60 are taken"):
        beam("boom", 1.0, tube, Reduction(modes=90), elements=20)
    with pytest.raises(ModelError, match="50000 particles in 20 modes are too many"):
        Particles.lumped([1.0] * 50_000, [[0, 0, 0]] * 50_000, [[[0, 0, 1]] * 20] * 50_000)


def test_a_rod_between_points_of_one_body_is_refused(tmp_path):
    assert "constraints.line: cannot be met: " in refusal(tmp_path, SLIDER.format(length=0.4))
    assert "constraints.line: has no effect: it holds whatever" in refusal(tmp_path, SLIDER.format(length=0.5))


def test_a_file_wrong_in_very_many_places_tells_the_first_hundred(tmp_path):
    text = ARM.format(**GOOD) + "[initial]\n" + "".join(f"wrong{k} = true\n" for k in range(5000))
    message = refusal(tmp_path, text)
    assert "10000 problems" in message
    assert message.endswith("  ... and 9900 more")
    assert len(message) < 20_000


@pytest.mark.parametrize(
    "text", ['include = "a\\u0000"', 'robot = "a\\u0000"', 'tunable = ["x", "a\\u0000"]', '"a\\u0000" = 1']
)
def test_a_null_character_is_refused_wherever_it_stands(tmp_path, text):
    file = tmp_path / "spoiled.toml"
    file.write_text(f"{text}\nduration = 1\n")
    with pytest.raises(ModelError, match="null character"):
        read_scenario(file)
