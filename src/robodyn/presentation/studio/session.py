"""Session: what is done for one browser? It asks for runs, signals, comparisons, files and jobs, and is answered.

Requests are JSON with what is to be done as `do`; answers are JSON with their `type`, or a frame of samples. Runs are
made by a thread of their own: of the wishes that come while it works only the last counts, so that a slider can be
dragged.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.results import OutcomeKind, Run, compare
from robodyn.presentation.pages.contents import describe_briefly, make_finite
from robodyn.presentation.pages.machine import read_machine

from .first_signals import choose_first
from .frames import encode_frame
from .jobs import Job
from .model import Found, Model, ModelStore
from .numbers import describe_numbers
from .source import mark_text

MOST_RUNS, MOST_PINNED = 8, 6
PATIENCE = 0.5
"""Seconds for which a run goes on although a newer one is wished for."""
BETWEEN, BETWEEN_LOOKS = 0.1, 1.0
"""Seconds between two words of progress, and between two looks at the file."""
Plain = dict[str, Any]
Send = Callable[[str | bytes], None]


@dataclass(frozen=True)
class Wish:
    """A run that a browser asks for; text is None where the file is as it is kept."""

    number: int
    text: str | None
    values: Mapping[str, float]
    signals: tuple[str, ...]


class Session:
    """One browser's side of the studio; `close` ends what it has under way."""

    def __init__(self, models: ModelStore, send: Send) -> None:
        self.models, self._send = models, send
        self.runs: OrderedDict[int, Run] = OrderedDict()
        self.pinned: set[int] = set()
        self.jobs: dict[int, Job] = {}
        self.shown: tuple[Model | None, Model | None, Plain | None] = (None, None, None)
        self.told: str | None = None
        self.wish: Wish | None = None
        self.stopped = self.closed = False
        self.ready = threading.Condition()
        self.worker = threading.Thread(target=self._work, name="robodyn studio", daemon=True)
        self.worker.start()

    def close(self) -> None:
        """End the thread and all jobs."""
        with self.ready:
            self.closed = self.stopped = True
            self.ready.notify()
        for job in list(self.jobs.values()):
            job.stop()

    def say(self, kind: str, /, **contents: Any) -> None:
        """Send an answer."""
        self._send(json.dumps(make_finite({"type": kind, **contents}), allow_nan=False))

    def handle(self, text: str) -> None:
        """Do what a request asks for; what is wrong with it is answered."""
        try:
            request = json.loads(text)
            act = ACTS[request["do"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return self.say("flaws", about="request", flaws=[asdict(Flaw("", "cannot be understood"))])
        try:
            act(self, request)
        except ModelError as error:
            self.say("flaws", about=request["do"], flaws=[asdict(flaw) for flaw in error.flaws])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{request['do']}: cannot be understood ({type(error).__name__}: {error})"
            self.say("flaws", about=request["do"], flaws=[asdict(Flaw("", what))])

    def open(self, _: Plain) -> None:
        """What there is to edit."""
        source = self.models.source
        text, why = source.text()
        own = source.is_text and source.file is not None
        file = source.file.name if own and source.file else ""
        mark = self.told = None if text is None else mark_text(text)
        self.say("source", name=source.name, file=file, text=text, why=why, mark=mark)

    def run(self, request: Plain) -> None:
        """Simulate with these numbers, as soon as it is possible."""
        values = {str(name): float(value) for name, value in request["values"].items()}
        text = None if request["text"] is None else str(request["text"])
        with self.ready:
            self.wish = Wish(int(request["run"]), text, values, tuple(map(str, request["signals"])))
            self.stopped = False
            self.ready.notify()

    def stop(self, request: Plain) -> None:
        """End what is under way: the run, or a job."""
        if "job" in request:
            if job := self.jobs.get(int(request["job"])):
                job.stop()
            return
        with self.ready:
            waiting, self.wish, self.stopped = self.wish, None, True
        if waiting:
            self.say("busy", doing="")

    def fetch(self, request: Plain) -> None:
        """More signals of a run."""
        number = int(request["run"])
        if number in self.runs:
            names = tuple(map(str, request["signals"]))
            self._send(encode_frame({"type": "columns", "run": number}, self.runs[number], names))

    def pin(self, request: Plain) -> None:
        """Keep these runs."""
        pinned = [int(number) for number in request["runs"]]
        if len(pinned) > MOST_PINNED:
            raise ModelError([Flaw("", f"at most {MOST_PINNED} runs are pinned", "let go of one")])
        self.pinned = set(pinned)
        self._forget()

    def compare(self, request: Plain) -> None:
        """How far other runs are from one, in some signals."""
        first, *others = (int(number) for number in request["runs"])
        rows = []
        for number in (number for number in others if number in self.runs and first in self.runs):
            one, other = self.runs[first], self.runs[number]
            shared = {name for name in map(str, request["signals"]) if name in one and name in other}
            found = [asdict(part) for part in compare(one, other) if part.name in shared]
            rows.append({"run": number, "differences": found})
        self.say("comparison", run=first, rows=rows)

    def patch(self, request: Plain) -> None:
        """The changed numbers as a TOML patch."""
        values = {str(name): float(value) for name, value in request["values"].items()}
        self.say("patch", text=self.models.source.patch(values))

    def save(self, request: Plain) -> None:
        """Write a file beside the scenario's."""
        text = str(request["text"])
        path = self.models.source.save(str(request["name"]), text, request.get("replaces"))
        self.say("saved", name=path.name, path=str(path), mark=mark_text(text))

    def schema(self, _: Plain) -> None:
        """What an editor completes by."""
        from robodyn.description.files import make_schema

        self.say("schema", schema=make_schema())

    def start_job(self, request: Plain) -> None:
        """Sweep, tune, fit, loops, modes or certify: a process of its own, which can be stopped."""
        number = int(request["job"])
        spec = {key: request[key] for key in ("kind", "text", "values", "options")}
        spec |= {"source": self.models.source.name}

        def tell(message: Plain) -> None:
            self.say("job", job=number, kind=spec["kind"], **message)

        if before := self.jobs.get(number):
            before.stop()
        self.jobs[number] = Job(spec, tell)

    def _work(self) -> None:
        while True:
            with self.ready:
                self.ready.wait_for(lambda: self.wish is not None or self.closed, BETWEEN_LOOKS)
                if self.closed:
                    return
                wish, self.wish = self.wish, None
            self._look()
            if wish is None:
                continue
            try:
                self._simulate(wish)
            except ModelError as error:
                self.say("flaws", about="run", run=wish.number, flaws=[asdict(flaw) for flaw in error.flaws])
            except Exception as error:  # noqa: BLE001
                # A law of the user's may raise anything; the studio goes on.
                what = f"{type(error).__name__}: {error}"
                self.say("flaws", about="run", run=wish.number, flaws=[asdict(Flaw("", what))])

    def _look(self) -> None:
        """Tell of a file that somebody else has changed."""
        source = self.models.source
        if self.told is None or not source.is_text:
            return
        text, _ = source.text()
        if text is not None and mark_text(text) != self.told:
            self.open({})

    def _simulate(self, wish: Wish) -> None:
        found = self.models.find(wish.text, wish.values, lambda doing: self.say("busy", doing=doing))
        if self.stopped:
            return self.say("busy", doing="")
        begun = time.perf_counter()
        run = found.model.simulate(found.changes, self._follow(found.model.what.duration, begun))
        took = time.perf_counter() - begun
        if run.outcome.kind is OutcomeKind.INTERRUPTED and not self.stopped:
            return  # for a newer one
        self.runs[wish.number] = run
        self._forget()
        self._show(found, run, wish, took)

    def _follow(self, duration: float, begun: float) -> Callable[[float, float, int], None]:
        told = begun

        def progress(now: float, step: float, steps: int) -> None:
            nonlocal told
            clock = time.perf_counter()
            if self.stopped or (self.wish is not None and clock - begun > PATIENCE):
                # As from the keyboard: the run so far is kept, with that outcome.
                raise KeyboardInterrupt
            if clock - told > BETWEEN:
                told = clock
                self.say("busy", doing=f"simulating: {now:.3g} of {duration:g} s", share=now / duration)

        return progress

    def _show(self, found: Found, run: Run, wish: Wish, took: float) -> None:
        """The run, with what the browser does not have yet of its scenario, its signals and its machine."""
        base, model = found.base, found.model
        header: Plain = {"type": "run", "run": wish.number, "took": took, "values": dict(wish.values)}
        header |= describe_briefly(run) | {"opened": sorted(model.tunable - base.tunable)}
        header["warnings"] = [*header["warnings"], *model.warnings]
        described, before, drawn = self.shown
        machine, note = read_machine(run, model.meshes)
        if model is not before:
            names = [(info.name, info.unit) for info in run.infos]
            header["model"] = {"signals": names, "selected": choose_first(run)} | model.meshes.encode(2.0)
        if base is not described:
            header["numbers"] = describe_numbers(base)
        if model is not before or machine != drawn:
            header |= {"machine": machine, "machine_note": note}
        self.shown = base, model, machine
        self._send(encode_frame(header, run, (*_positions(machine), *wish.signals, *self._first(header))))

    def _first(self, header: Plain) -> list[str]:
        """What a browser plots that has not chosen yet."""
        return header["model"]["selected"] if "model" in header else []

    def _forget(self) -> None:
        loose = [number for number in self.runs if number not in self.pinned]
        for number in loose[:-MOST_RUNS]:
            del self.runs[number]


def _positions(machine: Plain | None) -> list[str]:
    """Signals by which the machine is drawn."""
    if machine is None:
        return []
    found = []
    for joint in machine["joints"]:
        name = joint["name"]
        found += [f"{name}.orientation.{part}" for part in "wxyz"] if joint["kind"] == "ball" else [f"{name}.position"]
    return found + [mode for body in machine["bodies"] for mode in body.get("shape", {}).get("modes", ())]


ACTS: dict[str, Callable[[Session, Plain], None]] = {
    "open": Session.open,
    "run": Session.run,
    "stop": Session.stop,
    "fetch": Session.fetch,
    "pin": Session.pin,
    "compare": Session.compare,
    "patch": Session.patch,
    "save": Session.save,
    "schema": Session.schema,
    "job": Session.start_job,
}
