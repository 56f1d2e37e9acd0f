"""Session: what is done for one browser? It asks for runs, signals, comparisons, files and jobs, and is answered.

Requests are JSON with what is to be done as `do`; answers are JSON with their `type`, or a frame of samples. Runs are
made by a thread of their own: of the wishes that come while it works only the last counts, so that a slider can be
dragged.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.key_result import key_results, path_limit
from robodyn.base import Flaw, ModelError, choose_first, frozen, refuse
from robodyn.computation.results import OutcomeKind, Run, compare
from robodyn.description.catalog import list_scenarios
from robodyn.description.files.starters import write_starter
from robodyn.description.model import Scenario, ScenarioSequence
from robodyn.description.model.description import describe
from robodyn.presentation.pages.contents import choose_kind, describe_briefly, describe_tile, make_finite, thin_rows
from robodyn.presentation.pages.machine import drawn_positions, read_geometry, read_machine, read_path
from robodyn.presentation.pages.meshes import MeshStore
from robodyn.presentation.pages.page import make_page, make_still, plotted_infos

from .model import Found, Model, ModelStore, describe_numbers
from .source import NO_FILE, Source, keep_dropped, keep_recent, mark_text, starting_points

# Frames: how do the samples of a run reach the browser in a few milliseconds? A header, then bare floats.
#
#     4 bytes: length of the header, 4 bytes nothing | header, JSON in UTF-8, filled up to a multiple of 8 | columns
#
# Each column begins at a multiple of 8 bytes and is of single precision where that blurs it by less than a pixel.

MOST_ROWS = 8000
"""Of a column: some rows to a pixel of the widest plot."""

Plain = dict[str, Any]


def encode_frame(header: Plain, run: Run, names: Sequence[str]) -> bytes:
    """A message with some signals of a run; what it has not is left out."""
    places = {info.name: k for k, info in enumerate(run.infos)}
    signals = [name for name in dict.fromkeys(names) if name in places]
    time, values = thin_rows(run.time, run.values[:, [places[name] for name in signals]], MOST_ROWS)
    all_rows = time.size == run.time.size
    arrays = [np.ascontiguousarray(time, "<f8")]
    columns = []
    for name, column in zip(signals, values.T, strict=True):
        info, kind = run.infos[places[name]], choose_kind(column)
        arrays.append(np.ascontiguousarray(column).astype(f"<{kind}"))
        held, rate = info.kind == "held", info.rate if info.rate in signals else None
        columns.append({"name": name, "unit": info.unit, "held": held, "rate": rate, "type": kind})
    knots = run.knots is not None and all_rows
    if knots:
        arrays.append(np.asarray(run.knots).astype("u1"))
    header = header | {"rows": int(run.time.size), "kept": int(time.size), "knots": knots, "columns": columns}
    text = json.dumps(make_finite(header), allow_nan=False).encode()
    parts = [text, *(array.tobytes() for array in arrays)]
    return struct.pack("<II", len(text), 0) + b"".join(part + b"\0" * (-len(part) % 8) for part in parts)


# Jobs: what takes longer than a slider's motion runs in a process of its own, tells how far it is, can be stopped.

ENDING = 5.0
"""Seconds that a process is given to end."""


class Job:
    """A job under way; `tell` gets its messages: `progress` (with a `share` where that is known), then an end.

    The end is `result`, `flaws`, or `stopped`.
    """

    def __init__(self, program: Sequence[str], spec: Plain, tell: Callable[[Plain], None]) -> None:
        self.tell, self.stopped = tell, False
        streams: Plain = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # Ctrl-C in the terminal is the studio's; it ends its jobs itself.
        self.process = subprocess.Popen(
            [sys.executable, *program], **streams, text=True, encoding="utf-8", start_new_session=True
        )
        self.follower = threading.Thread(target=self._follow, args=(json.dumps(spec),), daemon=True)
        self.follower.start()

    def stop(self) -> None:
        """End it at once; what it has not told is lost."""
        self.stopped = True
        if self.process.poll() is None:
            self.process.kill()

    def _follow(self, spec: str) -> None:
        """Pass on what the process says; its standard input stays open, so that it ends where this process does."""
        assert self.process.stdin
        assert self.process.stdout
        complaints: list[str] = []
        listener = threading.Thread(target=self._listen, args=(complaints,), daemon=True)
        listener.start()
        ended = False
        try:
            self.process.stdin.write(spec + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                message = json.loads(line)
                ended = ended or "progress" not in message
                self.tell(message)
        except OSError:
            pass  # it ended before it listened: said below
        self.process.wait()
        listener.join(ENDING)
        if self.stopped and not ended:
            self.tell({"stopped": True})
        elif not ended:
            last = complaints[-1:] or [f"exit code {self.process.returncode}"]
            self.tell({"flaws": [{"path": "", "what": f"the process ended: {last[0]}", "remedy": ""}]})

    def _listen(self, complaints: list[str]) -> None:
        """Take what a command says on standard error while it works as its progress."""
        for line in self.process.stderr or ():
            # A line that is written over ends in a carriage return.
            text = line.strip().rpartition("\r")[2].removeprefix("robodyn: ")
            if text:
                complaints.append(text)
                self.tell({"progress": text})


# Library: what is shared by all browsers of a studio? The models of each scenario, and the commands that it can call.


@frozen
class JobTable:
    """The program and the commands that run in a process of their own.

    Attributes:
        program: arguments of the interpreter; the process reads a line of JSON and answers with lines of JSON.
        commands: of the command line that can be called, each with its name, what it is about and its fields.
    """

    program: Sequence[str]
    commands: Sequence[Plain] = ()


class Library:
    """Models of scenarios by the name that they are opened by."""

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self.stores: dict[str, ModelStore] = {}
        self.lock = threading.Lock()

    def open(self, name: str) -> ModelStore:
        with self.lock:
            return self.stores.setdefault(name, ModelStore(Source(name)))


# Session: what is done for one browser?


MOST_RUNS, MOST_PINNED = 8, 6
PATIENCE = 0.5
"""Seconds for which a run goes on although a newer one is wished for."""
BETWEEN, BETWEEN_LOOKS = 0.1, 1.0
"""Seconds between two words of progress, and between two looks at the file."""
Send = Callable[[str | bytes], None]


@frozen
class Wish:
    """A run that a browser asks for: a text with other values of some numbers; text is None where there is none.

    Attributes:
        write: whether the numbers shall be written into the text.
    """

    number: int
    text: str | None
    values: Mapping[str, float]
    signals: tuple[str, ...]
    write: bool


class Session:
    """One browser's side of the studio; `close` ends what it has under way."""

    def __init__(self, library: Library, name: str | None, send: Send) -> None:
        self.library, self._send = library, send
        self.models = library.open(name) if name else None
        self.runs: OrderedDict[int, Run] = OrderedDict()
        self.pinned: set[int] = set()
        self.jobs: dict[int, Job] = {}
        self.pictures: list[str] = []
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

    @property
    def source(self) -> Source:
        """Where the scenario comes from that is open."""
        if self.models is None:
            refuse("", "no scenario is open")
        return self.models.source

    def open(self, request: Plain) -> None:
        """Send the text to edit, of another scenario where one is named; without any, those that could be opened."""
        if name := request.get("name"):
            name = str(name)
            if Path(name).suffix and not Path(name).is_file() and name not in list_scenarios():
                refuse("", f"there is no file '{name}'")
            with self.ready:
                self.wish, self.stopped = None, True
                self.models = self.library.open(name)
                self.shown = (None, None, None)
        if self.models is None:
            return self.say("start", **starting_points())
        source = self.source
        text, why = source.text()
        own = source.is_text and source.file is not None
        file = source.file.name if own and source.file else ""
        mark = self.told = None if text is None else mark_text(text)
        if own:
            keep_recent(source.name)
        self.say("source", name=source.name, file=file, text=text, why=why, mark=mark)
        self.say("commands", commands=list(self.library.jobs.commands))

    def start(self, _: Plain) -> None:
        """Send the scenarios that could be opened."""
        self.say("start", **starting_points())

    def new(self, request: Plain) -> None:
        """A file to begin with, opened."""
        name = str(request["name"])
        if not name or Path(name).name != name:
            refuse("name", f"'{name}' cannot be written", NO_FILE)
        self.open({"name": str(write_starter(self.folder / name, str(request["kind"])))})

    def drop(self, request: Plain) -> None:
        """A robot file or scenario that was dropped on the page: kept in the folder of dropped files, and opened."""
        self.open({"name": str(keep_dropped(str(request["name"]), str(request["text"])))})

    @property
    def folder(self) -> Path:
        return self.source.folder if self.models else Path()

    def run(self, request: Plain) -> None:
        """Simulate with these numbers, as soon as it is possible."""
        values = {str(name): float(value) for name, value in request["values"].items()}
        text = None if request["text"] is None else str(request["text"])
        with self.ready:
            signals = tuple(map(str, request["signals"]))
            self.wish = Wish(int(request["run"]), text, values, signals, bool(request.get("write")))
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
            refuse("", f"at most {MOST_PINNED} runs can be pinned", "unpin one")
        self.pinned = set(pinned)
        self._forget()

    def compare(self, request: Plain) -> None:
        """How far other runs are from one, in some signals."""
        first, *others = (int(number) for number in request["runs"])
        rows = []
        for number in (number for number in others if number in self.runs and first in self.runs):
            one, other = self.runs[first], self.runs[number]
            shared = {name for name in map(str, request["signals"]) if name in one and name in other}
            differences = [asdict(part) for part in compare(one, other) if part.name in shared]
            rows.append({"run": number, "differences": differences})
        self.say("comparison", run=first, rows=rows)

    def save(self, request: Plain) -> None:
        """Write a file beside the scenario's, which is then the one that is open."""
        text = str(request["text"])
        path = self.source.save(str(request["name"]), text, request.get("replaces"))
        if not self.source.is_text or self.source.file is None or path.name != self.source.file.name:
            before, self.models = self.models, self.library.open(str(path))
            if before is not None:
                # The same texts have the same models.
                self.models.take_over(before)
            keep_recent(str(path))
        self.told = mark_text(text)
        self.say("saved", name=path.name, path=str(path), mark=self.told)

    def report(self, request: Plain) -> None:
        """Runs as a report page: the same components, in one file."""
        runs = [self.runs[number] for number in map(int, request["runs"]) if number in self.runs]
        if not runs:
            refuse("", "this run no longer exists", "change a number, or reload")
        chosen = [name for name in map(str, request["signals"]) if name in runs[0]]
        page = make_page(runs, signals=chosen)
        self.say("report", page=page, name=f"{runs[0].provenance.description.get('name') or 'run'}.html")

    def picture(self, request: Plain) -> None:
        """The machine of a scenario of the catalogue, to be drawn small; made when nothing else is to be done."""
        with self.ready:
            self.pictures.append(str(request["name"]))
            self.ready.notify()

    def _draw(self, name: str) -> None:
        """Say how a machine stands at its start; one that cannot be read has no picture."""
        still = None
        try:
            what = self.library.open(name).source.read() if name in list_scenarios() else None
            first = what.phases[0] if isinstance(what, ScenarioSequence) else what
            if first is not None:
                machine, _ = read_geometry(describe(first), {}, MeshStore())
                still = make_still(machine, first.start_values) if machine else None
        except ModelError:
            pass
        self.say("picture", name=name, run=still)

    def schema(self, _: Plain) -> None:
        """Send the schema by which an editor completes."""
        from robodyn.description.files import make_schema

        self.say("schema", schema=make_schema())

    def start_job(self, request: Plain) -> None:
        """A command, or the influence of the numbers: a process of its own, which can be stopped."""
        number = int(request["job"])
        spec = {key: request[key] for key in ("kind", "text", "values", "options")}
        spec |= {"source": self.source.name}

        def tell(message: Plain) -> None:
            self.say("job", job=number, kind=spec["kind"], **message)

        if before := self.jobs.get(number):
            before.stop()
        self.jobs[number] = Job(self.library.jobs.program, spec, tell)

    def _work(self) -> None:
        while True:
            with self.ready:
                self.ready.wait_for(lambda: self.wish or self.pictures or self.closed, BETWEEN_LOOKS)
                if self.closed:
                    return
                wish, self.wish = self.wish, None
                picture = self.pictures.pop(0) if self.pictures and wish is None else None
            self._look()
            if picture is not None:
                self._draw(picture)
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
        if self.models is None or self.told is None or not self.source.is_text:
            return
        source = self.source
        text, _ = source.text()
        if text is not None and mark_text(text) != self.told:
            self.open({})

    def _simulate(self, wish: Wish) -> None:
        models = self.models
        if models is None:
            refuse("", "no scenario is open")
        found = models.find(wish.text, wish.values, lambda doing: self.say("busy", doing=doing), self._preview)
        if self.stopped:
            return self.say("busy", doing="")
        start_time = time.perf_counter()
        run = found.model.simulate(found.changes, self._follow(found.model.what.duration, start_time))
        took = time.perf_counter() - start_time
        if run.outcome.kind is OutcomeKind.INTERRUPTED and not self.stopped:
            return  # for a newer one
        self.runs[wish.number] = run
        self._forget()
        self._show(found, run, wish, took)
        if not wish.write or self.wish is not None:
            return
        try:
            self.say("written", run=wish.number, text=models.edit(found))
        except ModelError as error:
            self.say("flaws", about="write", run=wish.number, flaws=[asdict(flaw) for flaw in error.flaws])

    def _preview(self, what: Any) -> None:
        """Draw the machine where it starts, before its equations are made."""
        if self.shown[0] is not None or not isinstance(what, Scenario):
            return
        meshes = MeshStore()
        machine, _ = read_geometry(describe(what), {}, meshes)
        if machine is not None:
            still = make_still(machine, what.start_values)
            self.say("preview", title=what.title, name=what.name, run=still, **meshes.encode(2.0))

    def _follow(self, duration: float, start_time: float) -> Callable[[float, float, int], None]:
        told = start_time

        def progress(now: float, step: float, steps: int) -> None:
            nonlocal told
            clock = time.perf_counter()
            if self.stopped or (self.wish is not None and clock - start_time > PATIENCE):
                # As from the keyboard: the run so far is kept, with that outcome.
                raise KeyboardInterrupt
            if clock - told > BETWEEN:
                told = clock
                self.say("busy", doing=f"simulating: {now:.3g} of {duration:g} s", share=now / duration)

        return progress

    def _show(self, answer: Found, run: Run, wish: Wish, took: float) -> None:
        """The run, with what the browser does not have yet of its scenario, its signals and its machine."""
        base, model = answer.base, answer.model
        header: Plain = {"type": "run", "run": wish.number, "took": took, "values": answer.values}
        if answer.text != wish.text:
            header["anchor"] = answer.text
        header |= describe_briefly(run) | {"opened": sorted(model.tunable - base.tunable)}
        header["warnings"] = [*header["warnings"], *model.warnings]
        described, before, geometry = self.shown
        machine, note = read_machine(run, model.meshes)
        path = read_path(run, machine)
        header |= {"tiles": [describe_tile(result) for result in key_results(run)], "limit": path_limit(run)}
        header["path"] = path
        if model is not before:
            names = [(info.name, info.unit) for info in run.infos]
            chosen = choose_first(plotted_infos(run))
            header["model"] = {"signals": names, "selected": chosen} | model.meshes.encode(2.0)
        if base is not described:
            header["numbers"] = describe_numbers(base, self.source.units(base.what, answer.text))
        if model is not before or machine != geometry:
            header |= {"machine": machine, "machine_note": note}
        self.shown = base, model, machine
        drawn = [*drawn_positions(machine)] if machine else []
        if path:
            drawn += [path["way"], path["distance"], *(f"{path['point']}.position.{axis}" for axis in "xyz")]
        # Those of a new model are what a browser plots that has not chosen yet.
        first = header["model"]["selected"] if "model" in header else []
        self._send(encode_frame(header, run, (*drawn, *wish.signals, *first)))

    def _forget(self) -> None:
        loose = [number for number in self.runs if number not in self.pinned]
        for number in loose[:-MOST_RUNS]:
            del self.runs[number]


ACTS: dict[str, Callable[[Session, Plain], None]] = {
    "open": Session.open,
    "start": Session.start,
    "new": Session.new,
    "drop": Session.drop,
    "run": Session.run,
    "stop": Session.stop,
    "fetch": Session.fetch,
    "pin": Session.pin,
    "compare": Session.compare,
    "save": Session.save,
    "report": Session.report,
    "picture": Session.picture,
    "schema": Session.schema,
    "job": Session.start_job,
}
