"""Which of a browser's wishes does a session carry out, and what does it answer?"""

import json
import threading
import time

import pytest
from support.studios import CART, JOBS

from robodyn import read_scenario
from robodyn.presentation.studio.session import Library, Session

ENDLESS = CART.replace("duration = 0.5", "duration = 1e6").replace("viscous = 4", "viscous = 0")
PATIENCE = 60


class Listener:
    """What a session has sent, runs by their headers."""

    def __init__(self):
        self.messages, self.arrived = [], threading.Condition()

    def __call__(self, message):
        text = message if isinstance(message, str) else message[8 : 8 + int.from_bytes(message[:4], "little")]
        with self.arrived:
            self.messages.append(json.loads(text))
            self.arrived.notify()

    def wait(self, condition):
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(map(condition, self.messages)), PATIENCE)
            return next(message for message in self.messages if condition(message))


@pytest.fixture
def talk(tmp_path):
    """Callable request -> nothing, and the listener to what is answered."""
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    listener = Listener()
    session = Session(Library(JOBS), str(path), listener)
    yield lambda **request: session.handle(json.dumps(request)), listener
    session.close()
    session.worker.join(PATIENCE)
    assert not session.worker.is_alive()


def wish(run, text=CART, write=False, **values):
    return {"do": "run", "run": run, "text": text, "values": values, "signals": ["rail.velocity"], "write": write}


def test_a_newer_wish_takes_the_place_of_a_run_that_lasts(talk):
    ask, told = talk
    ask(**wish(1, text=ENDLESS + "\n[recording]\nrate = 0.01\n"))
    told.wait(lambda message: message.get("doing", "").startswith("simulating"))
    ask(**wish(2))
    found = told.wait(lambda message: message["type"] == "run")
    assert (found["run"], found["outcome"]["state"]) == (2, "ok")
    assert [column["name"] for column in found["columns"]] == ["rail.position", "rail.velocity"]
    assert [message["run"] for message in told.messages if message["type"] == "run"] == [2]


def test_of_many_wishes_the_last_is_carried_out(talk):
    ask, told = talk
    for run in range(1, 30):
        ask(**wish(run, **{"spring.stiffness": 500.0 + run}))
    last = told.wait(lambda message: message.get("run") == 29)
    assert last["values"] == {"spring.stiffness": 529.0}
    # The first was begun before the others came; hardly any of them is carried out.
    assert sum(message["type"] == "run" for message in told.messages) < 29


def test_what_is_asked_for_and_not_there_is_told(talk):
    ask, told = talk
    ask(**wish(1, **{"spring.stifness": 3.0}))
    flaws = told.wait(lambda message: message["type"] == "flaws")["flaws"]
    assert flaws == [
        {"path": "spring.stifness", "what": "there is no such number", "remedy": "did you mean 'spring.stiffness'?"}
    ]
    ask(**wish(2, CART.replace("mass = 2", "mass = -2")))
    assert "must not be negative" in told.wait(lambda message: message.get("run") == 2)["flaws"][0]["what"]
    ask(do="stop")
    time.sleep(0.05)
    ask(**wish(3))
    assert told.wait(lambda message: message.get("run") == 3)["outcome"]["kind"] == "finished"
    ask(do="fetch", run=3, signals=["spring.force", "absent"])
    columns = told.wait(lambda message: message["type"] == "columns")["columns"]
    assert [(column["name"], column["unit"]) for column in columns] == [("spring.force", "N")]


def test_a_text_that_differs_in_numbers_alone_moves_them_and_needs_no_other_model(talk):
    ask, told = talk
    ask(**wish(1))
    numbers = told.wait(lambda message: message.get("run") == 1)["numbers"]["numbers"]
    groups = {number["name"]: number["group"] for number in numbers}
    names = ("carriage.mass", "spring.stiffness", "initial.rail.position", "duration")
    assert [groups[name] for name in names] == ["mechanism", "mechanism", "start", "solver"]
    told.messages.clear()
    ask(**wish(2, CART.replace("stiffness = 500", "stiffness = 640").replace("viscous = 4", "viscous = 5")))
    found = told.wait(lambda message: message["type"] == "run")
    assert found["anchor"] == CART
    assert found["values"] == {"spring.stiffness": 640.0, "friction.viscous": 5.0}
    assert "numbers" not in found
    assert not [message for message in told.messages if message.get("doing") in ("assembling", "compiling")]
    # Another part is another model.
    ask(**wish(3, CART + '\n[blocks.more]\nlaw = "spring"\non = "rail"\nparameters = { stiffness = 1 }\n'))
    assert "anchor" not in told.wait(lambda message: message.get("run") == 3)


def test_numbers_of_sliders_are_written_into_the_text_when_they_are_let_go(talk, tmp_path):
    ask, told = talk
    ask(**wish(1, **{"spring.stiffness": 640.0}))
    ask(**wish(2, write=True, **{"spring.stiffness": 650.0, "carriage.mass": 3.0}))
    text = told.wait(lambda message: message["type"] == "written")["text"]
    assert text == CART.replace("stiffness = 500", "stiffness = 650").replace("mass = 2", "mass = 3")
    assert (tmp_path / "cart.toml").read_text() == CART
    ask(do="save", name="other.toml", text=text, replaces=None)
    assert told.wait(lambda message: message["type"] == "saved")["name"] == "other.toml"
    assert read_scenario(tmp_path / "other.toml").numbers()["carriage.mass"].value == 3.0


def test_the_start_page_offers_the_catalogue_the_last_files_and_new_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    told = Listener()
    session = Session(Library(JOBS), None, told)
    ask = lambda **request: session.handle(json.dumps(request))  # noqa: E731
    ask(do="open")
    start = told.wait(lambda message: message["type"] == "start")
    assert "pendulum" in [scenario["name"] for scenario in start["scenarios"]]
    assert start["recent"] == []
    ask(do="picture", name="pendulum")
    picture = told.wait(lambda message: message["type"] == "picture")
    assert [joint["name"] for joint in picture["run"]["machine"]["joints"]] == ["hinge"]
    ask(do="new", kind="cart", name="mine.toml")
    assert told.wait(lambda message: message["type"] == "source")["file"] == "mine.toml"
    ask(do="start")
    again = told.wait(lambda message: message["type"] == "start" and message["recent"])
    assert again["recent"] == [str(tmp_path / "mine.toml")]
    for name in ("../evil.urdf", "robot.exe", ""):
        told.messages.clear()
        ask(do="drop", name=name, text="<robot/>")
        assert "is not a robot file" in told.wait(lambda message: message["type"] == "flaws")["flaws"][0]["what"]
    told.messages.clear()
    ask(do="open", name="absent.toml")
    assert "there is no file" in told.wait(lambda message: message["type"] == "flaws")["flaws"][0]["what"]
    session.close()
