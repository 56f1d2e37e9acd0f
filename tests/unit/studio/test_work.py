"""Do the studio's jobs answer what the analyses answer, and say what is wrong?"""

import json
import re
import time
from importlib.resources import files
from io import StringIO

import numpy as np
import pytest
from support.studios import CART, JOBS

from robodyn import read_scenario, simulate
from robodyn.analysis.linear.loop_table import loop_table
from robodyn.cli.studio import CALLED, call_command
from robodyn.computation.results import to_csv
from robodyn.presentation.reporting import Display
from robodyn.presentation.studio import work
from robodyn.presentation.studio.session import Job
from robodyn.presentation.studio.work import carry_out


@pytest.fixture
def cart(tmp_path, monkeypatch):
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    # A process of its own goes into the scenario's folder.
    monkeypatch.chdir(tmp_path)
    return path


def silent(*_):
    """Nobody listens."""


def spec(cart, kind, **options):
    return {"source": str(cart), "text": None, "values": {}, "kind": kind, "options": options}


def answer(asked, tell=silent):
    return carry_out(asked, call_command, tell)


def test_modes_are_those_of_the_oscillator_with_the_text_as_it_is(cart):
    asked = spec(cart, "modes") | {"text": CART.replace("stiffness = 500", "stiffness = 800")}
    [table] = answer(asked)["result"]["tables"]
    [[frequency, damping, *_]] = table["rows"]
    # m = 2 kg, k = 800 N/m, d = 4 N s/m.
    assert frequency == pytest.approx(20.0 / (2 * np.pi))
    assert damping == pytest.approx(4 / (2 * 2 * 20))


def test_a_fit_finds_the_numbers_that_made_the_data(cart):
    simulated = simulate(read_scenario(cart).with_numbers({"spring.stiffness": 620.0}))
    to_csv(simulated, cart.with_name("data.csv"))
    found = answer(spec(cart, "fit", data="data.csv", free="spring.stiffness"))
    assert found["result"]["values"]["spring.stiffness"] == pytest.approx(620.0, rel=1e-4)
    missing = answer(spec(cart, "fit", data="none.csv", free="spring.stiffness"))
    assert "none.csv" in str(missing["flaws"])


@pytest.fixture
def sampled(cart):
    """A cart with sampled loops."""
    text = files("robodyn.description.files.starters").joinpath("cart.toml").read_text()
    cart.write_text(re.sub(r"duration = .*", "duration = 0.3", text))
    return cart


def test_a_tuning_lowers_what_it_minimises_and_gives_the_gains(sampled):
    options = {"minimise": "rms:following_error", "free": "position_loop.proportional"}
    result = answer(spec(sampled, "tune", **options))["result"]
    before, after = (float(part.split()[0]) for part in result["notes"][0].split(": ")[1].split(" -> "))
    assert after < 0.5 * before
    assert set(result["values"]) == {"position_loop.proportional"}


def test_loops_have_the_margins_of_the_loop_table(sampled):
    result = answer(spec(sampled, "loops"))["result"]
    first = loop_table(read_scenario(sampled)).rows[0]
    name, crossover, _, _, _, phase, delay, verdict = result["tables"][0]["rows"][0]
    assert (name, verdict) == (first.name, "" if first.margins.stable else "unstable")
    assert (crossover, phase, delay) == pytest.approx((first.crossover, first.margins.phase, 1e3 * first.margins.delay))
    assert result["picture"]["curves"][0]["name"] == first.name


def test_influences_are_the_changes_of_a_run_with_a_number_a_percent_larger(cart):
    result = answer(spec(cart, "influence"))["result"]
    assert (result["kind"], result["of"]) == ("final", "rail.position")
    ends = [simulate(read_scenario(cart).with_numbers({"carriage.mass": mass})) for mass in (2.0, 2.02)]
    change = abs(np.diff([end["rail.position"](0.5) for end in ends])[0])
    # The runs of a batch take other steps.
    assert result["effects"]["carriage.mass"] == pytest.approx(change, rel=1e-3)
    assert result["effects"]["gravity.z"] == 0.0


def test_every_command_of_the_studio_has_a_form_made_of_its_options():
    commands = {command["name"]: command for command in JOBS.commands}
    assert set(commands) == set(CALLED)
    assert {field["name"] for field in commands["tune"]["fields"] if field["required"]} == {"minimise"}
    assert all(field["about"] for command in JOBS.commands for field in command["fields"])


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("dance", {}, "there is no command 'dance'"),
        ("sweep", {"vary": "spring.stifness=1:2:3"}, "stiffness"),
        ("sweep", {"vary": "spring.stiffness=far:2:3"}, "far"),
        ("tune", {}, "minimise"),
        ("tune", {"minimise": "rms:nothing", "free": "spring.stiffness"}, "nothing"),
        ("modes", {"at": "noon"}, "noon"),
        ("modes", {"pade": "many"}, "many"),
    ],
)
def test_what_is_wrong_with_a_job_is_reported(cart, kind, options, told):
    flaws = answer(spec(cart, kind, **options))["flaws"]
    assert any(told in f"{flaw['path']} {flaw['what']} {flaw['remedy']}" for flaw in flaws)


def test_a_job_is_stopped_at_once(cart):
    told = []
    job = Job(JOBS.program, spec(cart, "sweep", vary="spring.stiffness=1:9:30000"), told.append)
    until = time.monotonic() + 60
    while not any(message.get("share") for message in told):
        assert time.monotonic() < until
        time.sleep(0.02)
    job.stop()
    job.follower.join(60)
    assert told[-1] == {"stopped": True}
    assert job.process.returncode != 0


def test_every_message_of_a_job_but_its_last_says_how_far_it_is(cart, monkeypatch):
    def call(kind, asked, options, tell):
        tell("assembling")
        # So ends a step within a job.
        tell("")
        return None, Display("done")

    said = StringIO()
    monkeypatch.setattr(work.sys, "stdin", StringIO(json.dumps(spec(cart, "modes")) + "\n"))
    monkeypatch.setattr(work.sys, "stdout", said)
    monkeypatch.setattr(work, "_watch", silent)
    monkeypatch.setattr(work.os, "nice", silent)
    work.answer_job(call)
    *progress, end = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [message["progress"] for message in progress] == ["reading the scenario", "assembling"]
    assert "result" in end


def test_a_job_whose_studio_has_died_ends(monkeypatch):
    """Its standard input is then at its end."""
    ended = []
    monkeypatch.setattr(work.os, "_exit", ended.append)
    monkeypatch.setattr(work.sys, "stdin", StringIO(""))
    work._watch()
    assert ended == [1]
