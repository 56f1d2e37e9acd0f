"""Which of a browser's wishes does a session carry out, and what does it answer?"""

import json
import threading
import time

import pytest
from support.studios import CART

from robodyn.presentation.studio.model import ModelStore
from robodyn.presentation.studio.session import Session
from robodyn.presentation.studio.source import Source

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
    session = Session(ModelStore(Source(str(path))), listener)
    yield lambda **request: session.handle(json.dumps(request)), listener
    session.close()
    session.worker.join(PATIENCE)
    assert not session.worker.is_alive()


def wish(run, text=None, **values):
    return {"do": "run", "run": run, "text": text, "values": values, "signals": ["rail.velocity"]}


def test_a_newer_wish_takes_the_place_of_a_run_that_lasts(talk):
    ask, told = talk
    ask(**wish(1, ENDLESS + "\n[recording]\nrate = 0.01\n"))
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
