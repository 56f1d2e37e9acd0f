"""Does the command behave as a process: quiet in a pipe, interruptible, with its codes?"""

import signal
import time

import pytest

from robodyn import load

# A law that tells by a file that it has been called; the run would take hours.
MARKING = """
from pathlib import Path

def mark(time):
    Path("started").touch()
    return {"seen": time}
"""
ENDLESS = """
    duration = 1e7
    [blocks.marker]
    law = "marking.py:mark"
    period = 1
    native = false
    hold = { seen = 0 }
    [blocks.swing]
    law = "low_pass"
    inputs = { value = "marker.seen" }
    parameters = { time_constant = 1 }
    [recording]
    rate = 1
    [solver]
    method = "rk4"
    step = 1e-4
    max_steps = 0
"""
SLOW_TO_LOAD = """
import time
from pathlib import Path

Path("started").touch()
time.sleep(120)
"""


@pytest.fixture
def endless(tmp_path):
    """A file that would be simulated for hours."""
    (tmp_path / "marking.py").write_text(MARKING)
    path = tmp_path / "endless.toml"
    path.write_text(ENDLESS)
    return path


def interrupt(process, marker, patience=120):
    """Ctrl-C as soon as the process has left its mark; what it printed until it ended."""
    until = time.monotonic() + patience
    while not marker.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=patience)


def test_the_command_in_a_pipe_prints_only_its_result(start, quick, read_json):
    process = start("run", quick, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    # A first compilation is reported; nothing else.
    assert all(line.startswith("robodyn: compiling") for line in err.splitlines())
    assert read_json(out)["outcome"]["ok"]


def test_bad_input_ends_the_process_with_code_2(start):
    process = start("run", "scara-pt")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "did you mean 'scara-ptp'?" in err


def test_an_interrupted_run_is_kept_and_ends_with_code_130(start, endless, tmp_path, read_json):
    process = start("run", endless, "--json")
    out, err = interrupt(process, tmp_path / "started")
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert read_json(out)["outcome"]["kind"] == "interrupted"
    partial = load(tmp_path / "out" / "endless.run")
    assert partial.outcome.cut_short
    assert partial.outcome.time < 1e7


def test_an_interrupt_before_the_run_ends_with_code_130_and_no_trace(start, endless, tmp_path):
    (tmp_path / "marking.py").write_text(SLOW_TO_LOAD)
    process = start("run", endless)
    out, err = interrupt(process, tmp_path / "started")
    assert (process.returncode, out) == (130, "")
    assert err == "robodyn: interrupted\n"
    assert not (tmp_path / "out").exists()
