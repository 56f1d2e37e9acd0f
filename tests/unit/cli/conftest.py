"""How do tests use the command line?"""

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from robodyn.cli import app

QUICK = """
    duration = 0.2
    [bodies.bob]
    mass = 1
    com = [0, 0, -1]
    [joints.hinge]
    kind = "revolute"
    parent = "ground"
    child = "bob"
    axis = [0, 1, 0]
    [initial]
    hinge.position = "30 deg"
    [solver]
    method = "rk4"
    step = "10 ms"
"""


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Callable arguments -> result of the command, run in this process in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


@pytest.fixture
def start(tmp_path):
    """Callable arguments -> the command as a process of its own in an empty folder, ended with the test."""
    started = []

    def run(*arguments):
        command = [sys.executable, "-c", "from robodyn.cli import main; main()", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        # A supervisor may have started us with interrupts ignored; the command must see them.
        heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
        process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"NO_COLOR": "1"}, **pipes, **heard)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()


@pytest.fixture
def quick(tmp_path):
    """A file that is simulated in no time."""
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return path


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


@pytest.fixture
def read_json():
    """Callable text -> value; NaN and Infinity, which are not JSON, are refused."""
    return lambda text: json.loads(text, parse_constant=refuse_constant)
