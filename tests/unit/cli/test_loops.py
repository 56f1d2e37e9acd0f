"""Does robodyn loops print bandwidth and margins, and do run and check warn of loops that are unstable?"""

import pytest

from robodyn.analysis.linear.loop_table import Loop, loop_table
from robodyn.description.catalog.two_link import two_link_loop

TOO_MUCH = "shoulder.velocity_loop.proportional=40000"
SIGNAL = "shoulder.velocity_loop.torque_command"
FASTER = "shoulder.position_loop.velocity_command"


def test_the_table_tells_the_margins_of_each_loop(invoke):
    result = invoke("loops", "two-link-loop", "--loop", SIGNAL)
    assert result.exit_code == 0
    head, row = result.stdout.splitlines()
    assert head.split()[0] == "loop"
    name, crossover, _, low, high, phase, delay = row.split()
    (expected,) = loop_table(two_link_loop(), {SIGNAL: Loop(SIGNAL)}).rows
    margins = expected.margins
    assert name == SIGNAL
    message = [float(value) for value in (crossover, low, high, phase, delay)]
    wanted = [expected.crossover, margins.gain_from, margins.gain_to, margins.phase, 1e3 * margins.delay]
    # Three digits are printed.
    assert message == pytest.approx(wanted, rel=5e-3)
    assert "friction is left out" in result.stderr


def test_json_tells_an_unstable_loop(invoke, read_json):
    message = read_json(invoke("loops", "two-link-loop", "--set", TOO_MUCH, "--loop", SIGNAL, "--json").stdout)
    assert [row["stable"] for row in message["loops"]] == [False]
    (warning,) = message["warnings"]
    assert "the loop of shoulder.velocity_loop is unstable" in warning


def test_the_gains_are_drawn(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    loop = f"{SIGNAL}:{FASTER}:shoulder.velocity"
    pictures = ("--plot", "bode.png", "--nyquist", "nyquist.svg")
    result = invoke("loops", "two-link-loop", "--loop", loop, "--cut", FASTER, *pictures)
    assert result.exit_code == 0
    assert (tmp_path / "bode.png").read_bytes().startswith(b"\x89PNG")
    assert "svg" in (tmp_path / "nyquist.svg").read_text()


def test_a_run_is_warned_of_beforehand(invoke, read_json):
    short = ("run", "two-link-loop", "--duration", "0.004", "--set", TOO_MUCH)
    assert "warning: the loop of shoulder.velocity_loop is unstable" in invoke(*short).stderr
    assert "unstable" not in invoke(*short, "--no-loop-check").stderr
    assert any("unstable" in sentence for sentence in read_json(invoke(*short, "--json").stdout)["warnings"])


def test_stable_loops_are_run_without_a_word(invoke):
    assert "unstable" not in invoke("run", "two-link-loop", "--duration", "0.004").stderr


SAMPLED = """
    duration = 0.2
    [bodies.cart]
    mass = 2
    [joints.rail]
    kind = "prismatic"
    parent = "ground"
    child = "cart"
    axis = [1, 0, 0]
    [blocks.goal]
    law = "constant_reference"
    parameters = {{ constant = 0 }}
    unit = "m"
    [blocks.control]
    law = "pd_control"
    inputs = {{ target = "goal.value", position = "rail.position", velocity = "rail.velocity" }}
    parameters = {{ proportional = 40, derivative = {derivative} }}
    period = "10 ms"
    [blocks.drive]
    law = "torque_source"
    on = "rail"
    inputs = {{ command = "control.command" }}
"""


def test_check_warns_of_the_loop_of_a_file(invoke, tmp_path, read_json):
    """A mass of 2 kg bears D T / m < 2: with D = 500 the gain is to be reduced below 80 %."""
    file = tmp_path / "cart.toml"
    file.write_text(SAMPLED.format(derivative=500))
    message = read_json(invoke("check", file, "--json").stdout)
    (warning,) = message["warnings"]
    assert "reduce control.proportional and control.derivative below 80 %" in warning
    assert "warning: the loop of control is unstable" in invoke("check", file).stderr
    file.write_text(SAMPLED.format(derivative=12))
    assert read_json(invoke("check", file, "--json").stdout)["warnings"] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nothing",), "there is no scenario 'nothing'"),
        (("scara-phases",), "is a sequence of"),
        (("pendulum",), "none is a controller"),
        (("two-link-loop", "--at", "end"), "must be start or equilibrium"),
        (("two-link-loop", "--friction", "slide"), "did you mean 'sliding'"),
        (("two-link-loop", "--loop", "a:b"), "SIGNAL:TARGET:ANSWER"),
        (("two-link-loop", "--loop", "shoulder.velocity"), "is not held by a sampled block"),
        (("two-link-loop", "--cut", SIGNAL), "has no effect without --loop"),
        (("two-link-loop", "--loop", SIGNAL, "--plot", "a.xyz"), "pictures end in .png, .svg or .pdf"),
    ],
)
def test_what_cannot_be_done_is_told(invoke, arguments, complaint):
    result = invoke("loops", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""
