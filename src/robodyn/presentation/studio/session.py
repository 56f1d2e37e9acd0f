"""Session: what is done for one browser? It asks for runs, signals, comparisons, files and jobs, and is answered.

Requests are JSON with what is to be done as `do`; answers are JSON with their `type`, or a frame of samples. Runs are
made by a thread of their own: of the wishes that come while it works only the last counts, so that a slider can be
dragged.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.base.waiting import QUIET
from robodyn.computation.results import OutcomeKind, Run, compare
from robodyn.presentation.pages.contents import choose_kind, choose_signals, describe_briefly, make_finite, thin_rows
from robodyn.presentation.pages.machine import read_machine

from .model import Found, Model, ModelStore, describe_numbers
from .source import mark_text

# First signals: what is plotted of a run before anybody has chosen? What it should keep small, then how it moves.

ERRORS = ("deviation.", "error", "following_error")
MOST_OF_A_UNIT, MOST_UNITS = 4, 3


def choose_first(run: Run) -> list[str]:
    """Deviations and errors first, then positions and velocities: a few of a unit, in few units."""
    units = {info.name: info.unit for info in run.infos}
    errors = [name for name in units if name.startswith(ERRORS)]
    told = {units[name] for name in errors}
    groups: dict[str, list[str]] = {}
    for name in (*errors, *(name for name in choose_signals([run]) if units[name] not in told)):
        groups.setdefault(units[name], []).append(name)
    return [name for group in list(groups.values())[:MOST_UNITS] for name in group[:MOST_OF_A_UNIT]]


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
    found = [name for name in dict.fromkeys(names) if name in places]
    time, values = thin_rows(run.time, run.values[:, [places[name] for name in found]], MOST_ROWS)
    kept = time.size == run.time.size
    arrays = [np.ascontiguousarray(time, "<f8")]
    columns = []
    for name, column in zip(found, values.T, strict=True):
        info, kind = run.infos[places[name]], choose_kind(column)
        arrays.append(np.ascontiguousarray(column).astype(f"<{kind}"))
        held, rate = info.kind == "held", info.rate if info.rate in found else None
        columns.append({"name": name, "unit": info.unit, "held": held, "rate": rate, "type": kind})
    knots = run.knots is not None and kept
    if knots:
        arrays.append(np.asarray(run.knots).astype("u1"))
    header = header | {"rows": int(run.time.size), "kept": int(time.size), "knots": knots, "columns": columns}
    return _join(json.dumps(make_finite(header), allow_nan=False).encode(), arrays)


def _join(header: bytes, arrays: Sequence[np.ndarray]) -> bytes:
    parts = [struct.pack("<II", len(header), 0), _filled(header)]
    return b"".join([*parts, *(_filled(array.tobytes()) for array in arrays)])


def _filled(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)


# Jobs: what takes longer than a slider's motion runs in a process of its own, tells how far it is, can be stopped.

ENDING = 5.0
"""Seconds that a process is given to end."""


class Job:
    """A job under way; `tell` gets its messages: `progress` (with a `share` where that is known), then an end.

    The end is `result`, `flaws`, or `stopped`.
    """

    def __init__(self, spec: Plain, tell: Callable[[Plain], None]) -> None:
        self.tell, self.stopped = tell, False
        command = [sys.executable, "-m", "robodyn.presentation.studio.work"]
        streams: Plain = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # Ctrl-C in the terminal is the studio's; it ends its jobs itself.
        self.process = subprocess.Popen(
            command, **streams, text=True, encoding="utf-8", env=os.environ | {QUIET: "1"}, start_new_session=True
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
        listener = threading.Thread(target=lambda: complaints.extend(self.process.stderr or ()), daemon=True)
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
            last = "".join(complaints).strip().splitlines()[-1:] or [f"exit code {self.process.returncode}"]
            self.tell({"flaws": [{"path": "", "what": f"the process ended: {last[0]}", "remedy": ""}]})


# Session: what is done for one browser? It asks for runs, signals, comparisons, files and jobs, and is answered.
#
# Requests are JSON with what is to be done as `do`; answers are JSON with their `type`, or a frame of samples. Runs are
# made by a thread of their own: of the wishes that come while it works only the last counts, so that a slider can be
# dragged.

MOST_RUNS, MOST_PINNED = 8, 6
PATIENCE = 0.5
"""Seconds for which a run goes on although a newer one is wished for."""
BETWEEN, BETWEEN_LOOKS = 0.1, 1.0
"""Seconds between two words of progress, and between two looks at the file."""
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
