"""Do `robodyn report` and `robodyn view` write and serve the page, to this computer only, and refuse bad input?"""

import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from functools import partial

import pytest
from typer.testing import CliRunner

from robodyn import save
from robodyn.cli import app
from robodyn.cli.look import name_runs
from robodyn.presentation.pages.page import LOOPBACK, PageServer


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Callable arguments -> result of the command, in a folder with the run crane.run."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.fixture
def run_file(tmp_path, make_crane):
    return save(make_crane(), tmp_path / "crane.run")


@pytest.fixture
def address(run_file):
    """Where a viewing process serves the run, and the process."""
    command = [sys.executable, "-c", "from robodyn.cli import main; main()", "view", str(run_file), "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Where the tests run in the background, interrupts are ignored, and children inherit that.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, env=os.environ | {"NO_COLOR": "1"}, preexec_fn=listen, **pipes)
    try:
        yield process.stdout.readline().split()[0], process
    finally:
        process.kill()
        process.communicate()


def get(address, path="/", host=None):
    """Status and text of an answer."""
    place = address.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.request("GET", path, headers={"Host": host or place})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_report_writes_the_page_and_says_where(invoke, run_file, tmp_path):
    result = invoke("report", "crane.run", "--out", "pages/crane.html")
    assert (result.exit_code, result.stdout) == (0, "pages/crane.html\n")
    assert "crane · robodyn report" in (tmp_path / "pages" / "crane.html").read_text(encoding="utf-8")
    assert invoke("report", "crane.run").stdout == "report.html\n"


@pytest.mark.parametrize("command", ["report", "view"])
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("none.run",), "no run file 'none.run'"),
        (("damaged.run",), "damaged.run: not a run file, or damaged"),
        (("crane.run",) * 7, "from 1 to 6 runs"),
        (("crane.run", "--exaggerate", "20"), "no body that is drawn is flexible"),
    ],
)
def test_bad_runs_are_told_with_code_2(invoke, run_file, tmp_path, command, arguments, complaint):
    (tmp_path / "damaged.run").write_bytes(run_file.read_bytes()[:-200])
    result = invoke(command, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("out", "complaint"), [("crane.run/a.html", "cannot be written"), (".", "is a folder")])
def test_a_page_that_cannot_be_written_is_told_with_code_2(invoke, run_file, out, complaint):
    result = invoke("report", "crane.run", "--out", out)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_a_run_is_never_overwritten_by_its_page(invoke, run_file):
    before = run_file.read_bytes()
    result = invoke("report", "crane.run", "--out", str(run_file))
    assert result.exit_code == 2
    assert "would be overwritten" in result.stderr
    assert run_file.read_bytes() == before


def test_runs_are_called_by_what_tells_them_apart():
    assert name_runs(["a/x.run", "a/y.run"]) == ["x", "y"]
    assert name_runs(["a/x.run", "b/x.run"]) == ["a/x.run", "b/x.run"]
    assert name_runs(["x.run", "x.run"]) == ["x.run (1)", "x.run (2)"]


ROBOT = """
<robot name="arm"><link name="base"><visual><geometry><mesh filename="gone.dae"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="1" effort="1" velocity="1"/></joint>
<link name="tip"><visual><geometry><mesh filename="broken.obj"/></geometry></visual></link></robot>"""


def test_view_writes_the_page_of_a_machine_and_tells_what_is_not_drawn(invoke, tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "broken.obj").write_text("v 1\nf 1 2 3\n")
    result = invoke("view", "arm.urdf", "--out", "arm.html", "--no-browser")
    assert (result.exit_code, result.stdout) == (0, "arm.html\n")
    page = (tmp_path / "arm.html").read_text(encoding="utf-8")
    # A joint that moves nothing with inertia is there to be looked at.
    assert '"limits":[-2.0,1.0],"range":[-2.0,1.0]' in page
    assert "there is no such file; name a folder that has it" in page
    assert "the visual 'visual' of 'tip' cannot be drawn" in page
    assert "broken.obj: it cannot be read" in page
    assert invoke("view", "pendulum", "--out", "pendulum.html", "--no-browser").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("arm.urdf", "pendulum"), "only one machine can be shown"),
        (("pendulum", "--base", "free"), "are only for robot files"),
        (("pendulum", "--exaggerate", "2"), "is only for runs"),
        (("pendulum", "--mesh-budget", "0"), "the budget of meshes is above 0"),
        (("crane.run", "--out", "a.html"), "`robodyn report` writes the page of runs"),
        (("arm.urdf", "--out", "arm.urdf"), "the machine's own file"),
        (("pendulums",), "did you mean 'pendulum'"),
        (("signal.toml",), "nothing to draw in 3-D"),
    ],
)
def test_machines_that_cannot_be_shown_are_told_with_code_2(invoke, run_file, tmp_path, arguments, complaint):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    block = '[blocks.goal]\nlaw = "step_reference"\nparameters = { after = 1 }\n'
    (tmp_path / "signal.toml").write_text(f"duration = 1\n{block}")
    result = invoke("view", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert (tmp_path / "arm.urdf").read_text() == ROBOT


def test_view_serves_the_page_on_the_loopback_address_until_interrupted(address):
    place, process = address
    assert place.startswith("http://127.0.0.1:")
    status, text = get(place)
    assert status == 200
    assert "crane · robodyn report" in text
    assert get(place, "/etc/passwd")[0] == 404
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended\n", "")


def test_a_foreign_host_name_is_refused(address):
    place, _ = address
    status, text = get(place, host="evil.example")
    assert status == 403
    assert "crane" not in text


def test_a_browser_that_is_closed_in_the_middle_of_a_page_says_nothing(capfd):
    page = "x" * 30_000_000
    with PageServer(page) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        for _ in range(3):
            with socket.create_connection((LOOPBACK, server.server_port)) as browser:
                # Closed with data unread, a connection is reset, as a browser's is.
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                browser.sendall(f"GET / HTTP/1.1\r\nHost: {LOOPBACK}:{server.server_port}\r\n\r\n".encode())
                browser.recv(10)
        status, text = get(server.address)
        server.shutdown()
        serving.join()
    assert (status, len(text)) == (200, len(page))
    assert capfd.readouterr().err == ""


def test_other_errors_of_the_server_are_told(capfd):
    class Broken(PageServer):
        def finish_request(self, request, client_address):
            raise ZeroDivisionError("by the server")

    with Broken("page") as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        with pytest.raises(ConnectionError):
            get(server.address)
        server.shutdown()
        serving.join()
    assert "ZeroDivisionError: by the server" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("pendulum", "--with", "loops,mods"), "choose among loops, modes, sweep, budget, forces, sheet"),
        (("pendulum", "--with", "modes", "--vary", "bob.mass=1:2:3"), "--vary has no effect without --with sweep"),
        (("pendulum", "--with", "sweep"), "name what to vary"),
        (("crane.run", "--with", "modes"), "runs hold no equations to analyse"),
        (("crane.run", "--live"), "name its scenario"),
        (("crane.run", "--set", "a=1"), "crane.run is a run, not a scenario"),
        (("pendulum", "--slider", "bob.mass"), "add --live"),
        (("pendulum", "--note", "nowhere.md"), "--note nowhere.md: cannot be read"),
    ],
)
def test_report_refuses_what_would_have_no_effect(invoke, run_file, options, message):
    result = invoke("report", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_report_of_a_scenario_has_its_analyses_and_notes(invoke, tmp_path):
    (tmp_path / "note.md").write_text("# What I saw\n")
    given = ("--with", "modes", "--note", "note.md", "--signal", "hinge.velocity")
    assert invoke("report", "pendulum", *given).exit_code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What I saw" in page
    assert ' modes","sentences"' in page
    assert "data:image/png" in page
