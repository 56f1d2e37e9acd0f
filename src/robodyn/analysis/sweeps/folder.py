"""Folder of a sweep: is it the same one, and how are finished runs kept so that a kill at any moment loses none?

Each call appends to a file of its own: one line a run, written at once when the run is done. A line that a kill cut off
has no end and counts for nothing; a sweep that goes on never writes behind it. A digest of all that decides the results
says whether it is the same sweep.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from robodyn.base import Array, Flaw, ModelError, frozen, refuse, write_file
from robodyn.computation.engine.building import source_digest
from robodyn.description.model import describe

if TYPE_CHECKING:
    from .plan import SweepPlan

FORMAT = "robodyn sweep 1"


def describe_plan(plan: SweepPlan, method: str) -> dict[str, Any]:
    """A plan as plain data, with a digest of it and of the scenario's equations."""
    message: dict[str, Any] = {
        "format": FORMAT,
        "scenario": plan.scenario.name,
        "method": method,
        "runs": plan.n_runs,
        "axes": [
            {"label": axis.label, "unit": axis.unit, "names": axis.names, "places": axis.places} for axis in plan.axes
        ],
        "draws": [
            {
                "names": draw.names,
                "kind": draw.distribution.kind,
                "arguments": list(map(float, draw.distribution.arguments)),
            }
            for draw in plan.draws
        ],
        "draws_a_point": plan.runs,
        "seed": plan.seed,
        "sampling": plan.sampling,
        "measures": [measure.name for measure in plan.measures],
        "keep": plan.keep,
        "along": plan.along or "time",
        "points": len(plan.places),
        "rate": None if plan.rate is None else float(plan.rate),
        "structural": plan.structural,
        "versions": {package: version(package) for package in PACKAGES},
        "description": describe(plan.scenario),
    }
    inputs = hashlib.sha256(np.ascontiguousarray(plan.inputs).tobytes()).hexdigest()
    exact = [inputs, plan.places, hash_equations(plan)]
    text = json.dumps([message, exact], sort_keys=True, default=str)
    return {"digest": hashlib.sha256(text.encode()).hexdigest()[:32], **message}


def hash_equations(plan: SweepPlan) -> str:
    """A digest of the traced equations: laws edited under the same name are other laws."""
    system = plan.system
    columns = [*system.symbols]
    content = hashlib.sha256()
    for name, expression in sorted(system.expressions.columns().items()):
        content.update(name.encode() + ca.Function("f", columns, [expression]).serialize().encode())
    return content.hexdigest()


PACKAGES = ("robodyn", "numpy", "scipy", "casadi", "llvmlite")
PARTS, PLAN, LOCK = "parts", "plan.json", "lock"
RESULTS = ("table.parquet", "curves.parquet")
FLUSH_SECONDS = 1.0
"""Longest time after which finished runs are on the disk itself: a power cut can lose no more."""


@frozen(eq=False)
class SweepRow:
    """A run as it is kept in a folder.

    Attributes:
        outcome: kind in lower case; sentence: its reason; time: simulated [s]; wall_time: spent [s].
        measures: in the plan's order; curves: signal -> values at the plan's places.
    """

    run: int
    outcome: str
    sentence: str
    time: float
    wall_time: float
    measures: tuple[float, ...]
    curves: Mapping[str, Array]


class PartWriter:
    """Appends finished runs to a new file in a sweep's folder."""

    def __init__(self, folder: Path) -> None:
        path = folder / PARTS / f"{uuid.uuid4().hex[:12]}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.flushed = time.monotonic()

    def add(self, row: SweepRow) -> None:
        fields = [row.run, row.outcome, row.sentence, row.time, row.wall_time, list(row.measures)]
        bits = {name: np.ascontiguousarray(values, "<f8").tobytes() for name, values in row.curves.items()}
        curves = {name: base64.b64encode(data).decode() for name, data in bits.items()}
        remaining = (json.dumps([*fields, curves]) + "\n").encode()
        while remaining:
            remaining = remaining[os.write(self.file, remaining) :]
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            os.fsync(self.file)
            self.flushed = time.monotonic()

    def close(self) -> None:
        os.fsync(self.file)
        os.close(self.file)


def read_parts(folder: Path) -> Iterator[SweepRow]:
    """All finished runs of a folder; what a kill or a power cut left of a line is no finished run."""
    for path in sorted((folder / PARTS).glob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                with suppress(ValueError):
                    run, outcome, sentence, at, wall_time, measures, curves = json.loads(line)
                    decoded = {name: np.frombuffer(base64.b64decode(text), "<f8") for name, text in curves.items()}
                    yield SweepRow(run, outcome, sentence, at, wall_time, tuple(measures), decoded)


def open_folder(folder: Path, plan: Mapping[str, Any], fresh: bool) -> None:
    """Make a folder ready for a plan; that of another plan is refused unless it is to begin anew."""
    if fresh:
        # Remove what a sweep has left in its folder, and nothing else.
        for path in [*(folder / PARTS).glob("*.jsonl"), *(folder / name for name in (PLAN, *RESULTS))]:
            path.unlink(missing_ok=True)
    plan_file = folder / PLAN
    if not plan_file.exists():
        write_file(plan_file, json.dumps(plan, indent=1, default=str))
        return
    try:
        before = json.loads(plan_file.read_text(encoding="utf-8"))
        digest = before["digest"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError([Flaw("", "is not the plan of a sweep", "name another folder")], str(plan_file)) from error
    if digest != plan["digest"]:
        now = json.loads(json.dumps(plan, default=str))
        keys = [key for key in now if key != "digest" and before.get(key) != now[key]]
        difference = f"{', '.join(keys)} differ" if keys else "the equations of the scenario differ"
        what = f"holds another sweep: {difference}"
        refuse("", what, "name another folder, or start over: --fresh, fresh=True", str(folder))


@contextmanager
def locking(folder: Path) -> Iterator[None]:
    """Keep a second sweep out of a folder; the system opens the lock when its holder ends, however it does."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "w", encoding="utf-8") as file:
        try:
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # no such locks on this system: nothing but care keeps two sweeps apart
        except OSError as error:
            what = "another sweep is running in this folder"
            raise ModelError([Flaw("", what, "wait for it, or name another folder")], str(folder)) from error
        yield


def find_versions() -> dict[str, str]:
    """Packages, engine, interpreter and system by name."""
    return {package: version(package) for package in PACKAGES} | {
        "engine": source_digest()[:12],
        "Python": platform.python_version(),
        "system": " ".join([platform.system(), platform.machine(), *platform.libc_ver()]).strip(),
    }
