"""Do the studio's jobs answer what the analyses answer, and say what is wrong?"""

import time
from importlib.resources import files
from io import StringIO

import numpy as np
import pytest
from support.studios import CART

from robodyn import read_scenario, save, simulate
from robodyn.analysis.linear.loop_table import loop_table
from robodyn.presentation.reporting import display, to_studio
from robodyn.presentation.studio import work
from robodyn.presentation.studio.session import Job
from robodyn.presentation.studio.work import TASKS, carry_out


@pytest.fixture
def cart(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    return path


def silent(*_):
    """Nobody listens."""


def spec(cart, kind, **options):
    return {"source": str(cart), "text": None, "values": {}, "kind": kind, "options": options}


def test_modes_are_those_of_the_oscillator_with_the_numbers_as_they_are(cart):
    [table] = carry_out(spec(cart, "modes") | {"values": {"spring.stiffness": 800.0}}, silent)["result"]["tables"]
    [[frequency, damping, *_]] = table["rows"]
    # m = 2 kg, k = 800 N/m, d = 4 N s/m.
    assert frequency == pytest.approx(20.0 / (2 * np.pi))
    assert damping == pytest.approx(4 / (2 * 2 * 20))


def test_a_fit_finds_the_numbers_that_made_the_data(cart):
    save(simulate(read_scenario(cart).with_numbers({"spring.stiffness": 620.0})), cart.with_name("data.run"))
    found = carry_out(spec(cart, "fit", data="data.run", free="spring.stiffness"), silent)
    assert found["result"]["values"]["spring.stiffness"] == pytest.approx(620.0, rel=1e-5)
    missing = carry_out(spec(cart, "fit", data="none.csv", free="spring.stiffness"), silent)
    assert "there is no file" in missing["flaws"][0]["what"]


@pytest.fixture
def sampled(tmp_path):
    """A cart with sampled loops."""
    path = tmp_path / "sampled.toml"
    path.write_text(files("robodyn.description.files.starters").joinpath("cart.toml").read_text())
    return read_scenario(path).with_numbers({"duration": 0.3})


def test_a_tuning_lowers_what_it_minimises_and_gives_the_gains(sampled):
    said = []
    options = {"minimise": "rms:following_error", "free": "position_loop.proportional", "limits": ""}
    result = to_studio(display(TASKS["tune"](sampled, options, said.append)))
    before, after = (float(part.split()[0]) for part in result["notes"][0].split(": ")[1].split(" -> "))
    assert after < 0.5 * before
    assert set(result["values"]) == {"position_loop.proportional"}
    assert "evaluations" in said[-1]


def test_loops_have_the_margins_of_the_loop_table(sampled):
    result = to_studio(display(TASKS["loops"](sampled, {}, silent)))
    first = loop_table(sampled).rows[0]
    name, crossover, _, _, _, phase, delay, verdict = result["tables"][0]["rows"][0]
    assert (name, verdict) == (first.name, "" if first.margins.stable else "unstable")
    assert (crossover, phase, delay) == pytest.approx((first.crossover, first.margins.phase, 1e3 * first.margins.delay))
    assert result["picture"]["curves"][0]["name"] == first.name


def test_errors_of_all_signals_come_from_a_second_solution(cart):
    result = carry_out(spec(cart, "certify"), silent)["result"]
    errors = {row[0]: row[1] for row in result["tables"][0]["rows"]}
    assert 0 < errors["rail.position"] < 1e-4


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("dance", {}, "there is no job 'dance'"),
        ("sweep", {"number": "spring.stifness", "from": 1, "to": 2, "count": 3}, "stiffness"),
        ("sweep", {"number": "spring.stiffness", "from": "far", "to": 2, "count": 3}, "far"),
        ("sweep", {}, "number"),
        ("tune", {"minimise": "rms:nothing", "free": "spring.stiffness"}, "nothing"),
    ],
)
def test_what_is_wrong_with_a_job_is_told(cart, kind, options, told):
    flaws = carry_out(spec(cart, kind, **options), silent)["flaws"]
    assert any(told in f"{flaw['path']} {flaw['what']} {flaw['remedy']}" for flaw in flaws)


def test_a_job_is_stopped_at_once(cart):
    told = []
    job = Job(spec(cart, "sweep", number="spring.stiffness", **{"from": 1, "to": 9}, count=3000), told.append)
    until = time.monotonic() + 60
    while not any(message.get("share") for message in told):
        assert time.monotonic() < until
        time.sleep(0.02)
    job.stop()
    job.follower.join(60)
    assert told[-1] == {"stopped": True}
    assert job.process.returncode != 0


def test_a_job_whose_studio_has_died_ends(monkeypatch):
    """Its standard input is then at its end."""
    ended = []
    monkeypatch.setattr(work.os, "_exit", ended.append)
    monkeypatch.setattr(work.sys, "stdin", StringIO(""))
    work._watch()
    assert ended == [1]
