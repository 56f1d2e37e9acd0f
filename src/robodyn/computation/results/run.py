"""Run: what happened? All recorded signals with events, outcome, statistics and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, Displayed, find_unmatched, fits, frozen, near_names, view
from robodyn.base import SignalInfo as SignalInfo

from .errors import Errors
from .outcome import Certificate, Outcome, PassedLimit, join_certificates, join_limits
from .provenance import Provenance, Statistics
from .rows import StoredRows
from .signal import Booleans, Probes, Signal, check_time, frozen_array

if TYPE_CHECKING:
    import xarray


ROW_ARRAYS = ("time", "values", "knots")
"""Fields that have an entry for each row."""


@frozen
class EventRecord:
    """One event that happened.

    Args:
        time: when [s].
        terminal: whether it ended the run.
    """

    name: str
    time: float
    terminal: bool = False


class EventList(Displayed, tuple[EventRecord, ...]):
    """Events in the order in which they happened; notebooks show a table."""


@frozen(eq=False)
class Run(Displayed):
    """The record of one simulation or measurement; `run["elbow.velocity"](0.731)` is a value at a time.

    Args:
        time: sample times [s], (n,); two rows at the same time are the left and right limits at a jump.
        values: one column a signal, (n, n_signals).
        infos: what the columns mean, in their order.
        warnings: sentences for whoever uses the numbers.
        certificate: what the run checked of itself; empty for measurements.
        passed_limits: limits of joints that were passed.
        errors: how far a second solution says the numbers are off, where there is one.
        knots: rows across which signals are not smooth, or may not be, (n,): nothing is interpolated across them. By
            default all of them: signals are then straight between rows, or cubic where their rates are known.
        probes: what the signals were at a few times between the rows.
        end: every state and memory at the end by name, recorded or not: from here another run can go on.
        found: start values that were found, not given: as described and as found, by name.
    """

    JSON = """
    signals = infos
    events
    outcome
    statistics
    provenance
    warnings
    end: every state and memory at the end
    found: start values, as described and as found
    *certificate
    passed_limits
    errors? = errors.bars: how far each signal may be off
    second_solution? = errors: how that was found
    """
    time: Array
    values: Array
    infos: tuple[SignalInfo, ...]
    outcome: Outcome
    provenance: Provenance
    statistics: Statistics = field(default_factory=Statistics)
    events: tuple[EventRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    end: dict[str, float] = field(default_factory=dict)
    knots: Booleans | None = None
    probes: Probes | None = None
    found: dict[str, tuple[float, float]] = field(default_factory=dict)
    certificate: Certificate = field(default_factory=Certificate)
    errors: Errors | None = None
    passed_limits: tuple[PassedLimit, ...] = ()

    def __post_init__(self) -> None:
        for part in ("infos", "warnings"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        object.__setattr__(self, "events", EventList(self.events))
        stored = self.values
        if isinstance(stored, StoredRows):
            # What is in a file is read when it is asked for: see __getattr__.
            for part in ROW_ARRAYS:
                self.__dict__.pop(part, None)
            self.__dict__.update(stored=stored, columns={})
        else:
            for part in ("time", "values"):
                object.__setattr__(self, part, frozen_array(getattr(self, part)))
            check_time(self.time)
        self._check_columns()

    def __getattr__(self, name: str) -> Any:
        stored: StoredRows | None = self.__dict__.get("stored")
        if name not in ROW_ARRAYS or stored is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "knots":
            value: Any = stored.knots()
        else:
            value = frozen_array(stored.time() if name == "time" else stored.signals())
        self.__dict__[name] = value
        return value

    def judged(self, **findings: Any) -> Run:
        """This run, whose columns have been checked, with what was found of it afterwards, field by field."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | findings)
        return other

    @property
    def n_rows(self) -> int:
        """Rows of every signal."""
        stored: StoredRows | None = self.__dict__.get("stored")
        return self.time.size if stored is None else len(stored)

    @property
    def rows_are_apart(self) -> bool:
        """Whether nothing is known of what lies between the rows."""
        return not self.stored.has_knots if "stored" in self.__dict__ else self.knots is None

    def __getitem__(self, name: str) -> Signal:
        """The signal of that name, or a KeyError with the nearest names."""
        info = self.infos[self._column(name)]
        rate = None if info.rate is None else self._values(self._column(info.rate))
        values = self._values(self._column(name))
        return Signal(name, info.unit, self.time, values, info.kind, rate, self.knots, info.note)

    def __repr__(self) -> str:
        counts = f"{self.n_rows} rows of {len(self)} signals"
        return f"<Run of {self.provenance.scenario}: {counts}, {self.outcome.sentence}>"

    plot = view("draw_run")
    summary = view("summary_of")
    show = view("show_run")

    def select(self, *patterns: str) -> Run:
        """This run with the signals alone that fit one of the patterns, such as "elbow.*"."""
        for pattern in find_unmatched(patterns, self.names):
            raise KeyError(self._unknown(pattern))
        columns = [k for k, name in enumerate(self.names) if fits(name, patterns)]
        infos = [self.infos[k] for k in columns]
        # A rate that is not kept is no rate to interpolate by.
        names = {info.name for info in infos}
        infos = [info if info.rate in names else replace(info, rate=None) for info in infos]
        probes = self.probes
        if probes is not None:
            probes = Probes(probes.time, probes.values[:, columns], probes.errors[:, columns])
        values = self.values[:, columns] if "values" in self.__dict__ else self.stored.signals(columns)
        return replace(self, values=values, infos=tuple(infos), probes=probes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over time, one column a signal."""
        pandas = import_module("pandas")

        return pandas.DataFrame(self.values, index=pandas.Index(self.time, name="time"), columns=list(self.names))

    def save(self, path: str | Path, tolerance: float = 0.0) -> Path:
        """Write the run to one file, all or nothing, which `load` and every command read.

        Args:
            tolerance: error that signals may have there, as part of their largest magnitude: files are many times
                smaller then. By default nothing is lost.
        """
        from .store import save

        return save(self, path, tolerance)

    def to_csv(self, path: str | Path) -> Path:
        """Write a table with one row a sample and headings 'name [unit]'; numbers keep every bit."""
        from .exports import to_csv

        return to_csv(self, path)

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset over time, one variable a signal, with units."""
        from .exports import to_xarray

        return to_xarray(self)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.infos)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all signals in the order of recording."""
        return tuple(info.name for info in self.infos)

    @property
    def final(self) -> dict[str, float]:
        """The last recorded value of every signal, by name."""
        if self.n_rows == 0:
            raise ValueError("the run recorded no samples")
        values = self.values if "values" in self.__dict__ else self.stored.part(-1)[1]
        return dict(zip(self.names, values[-1].tolist(), strict=True))

    def _column(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(self._unknown(name))
        return self.names.index(name)

    def _values(self, k: int) -> Array:
        """A column."""
        if "values" in self.__dict__:
            return self.values[:, k]
        if k not in self.columns:
            self.columns[k] = self.stored.signals([k])[:, 0]
        values: Array = self.columns[k]
        return values

    def _unknown(self, name: str) -> str:
        near = near_names(str(name), self.names)
        hint = f"did you mean {', '.join(near)}?" if near else f"see the run's {len(self)} names in run.names"
        return f"no signal {name!r}; {hint}"

    def _check_columns(self) -> None:
        if "values" in self.__dict__ and self.values.shape != (expected := (self.time.size, len(self.infos))):
            raise ValueError(f"values have shape {self.values.shape}, times and infos ask for {expected}")
        if self.probes is not None and self.probes.values.shape[1:] != (len(self.infos),):
            raise ValueError(f"probes have {self.probes.values.shape[1:]} columns, there are {len(self.infos)} signals")
        knots: Booleans | None = self.__dict__.get("knots")
        if knots is not None and knots.shape != self.time.shape:
            raise ValueError(f"knots have shape {knots.shape}, times {self.time.shape}")
        names = self.names
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"signal names must differ, twice: {', '.join(twice)}")
        distinct = set(names)
        for info in self.infos:
            if info.rate is not None and info.rate not in distinct:
                raise ValueError(f"{info.name}: its rate {info.rate!r} is not recorded")


# Its default would be found before what is in a file.
del Run.knots


# --------------------------------------------------------------------------------------------------
# Concatenation of runs: how do runs that follow each other become one?


_ADDED = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks", "wall_time")


def join(runs: Sequence[Run], provenance: Provenance) -> Run:
    """One run of several, each starting when the one before it ended; where one begins, two rows have the same time.

    A signal that a run does not have is not a number there. Events mark where each run but the first begins.
    """
    if not runs:
        raise ValueError("there must be at least one run to join")
    by_name: dict[str, SignalInfo] = {}
    for run in runs:
        for info in run.infos:
            by_name.setdefault(info.name, info)
    infos = tuple(by_name.values())
    return Run(
        time=np.concatenate([run.time for run in runs]),
        values=np.concatenate([_columns(run, infos) for run in runs]),
        infos=_with_rates_everywhere(infos, runs),
        outcome=_outcome(runs),
        provenance=provenance,
        statistics=_added([run.statistics for run in runs]),
        events=tuple(event for k, run in enumerate(runs) for event in _events(run, k, last=k == len(runs) - 1)),
        warnings=tuple(dict.fromkeys(sentence for run in runs for sentence in run.warnings)),
        end=runs[-1].end,
        knots=np.concatenate([_knots(run) for run in runs]),
        probes=_probes(runs, infos),
        found=runs[0].found,
        certificate=join_certificates(run.certificate for run in runs),
        passed_limits=join_limits(run.passed_limits for run in runs),
    )


def _outcome(runs: Sequence[Run]) -> Outcome:
    """The last one's; but what went on from a run that is suspect is so too."""
    suspect = next((run.outcome for run in runs if run.outcome.suspect), None)
    last = runs[-1].outcome
    return Outcome(suspect.kind, suspect.sentence, last.time) if suspect and last.ok else last


def _columns(run: Run, infos: Sequence[SignalInfo], values: Array | None = None) -> Array:
    """The columns of a run in another order, of its values by default."""
    values = run.values if values is None else values
    place = {name: k for k, name in enumerate(run.names)}
    columns = np.full((len(values), len(infos)), np.nan)
    for k, info in enumerate(infos):
        if info.name in place:
            columns[:, k] = values[:, place[info.name]]
    return columns


def _knots(run: Run) -> Booleans:
    """A run's own knots, its ends among them."""
    knots = np.ones(run.time.shape, bool) if run.knots is None else run.knots.copy()
    knots[[0, -1] if knots.size else []] = True
    return knots


def _probes(runs: Sequence[Run], infos: Sequence[SignalInfo]) -> Probes:
    probed = [(run, run.probes) for run in runs if run.probes is not None]
    return Probes(
        np.concatenate([np.zeros(0), *(probes.time for _, probes in probed)]),
        np.concatenate([np.zeros((0, len(infos))), *(_columns(run, infos, probes.values) for run, probes in probed)]),
        np.concatenate([np.zeros((0, len(infos))), *(_columns(run, infos, probes.errors) for run, probes in probed)]),
    )


def _with_rates_everywhere(infos: Sequence[SignalInfo], runs: Sequence[Run]) -> tuple[SignalInfo, ...]:
    """A rate is kept only where every run that has the signal has its rate too."""
    without = {info.name for run in runs for info in run.infos if info.rate is None}
    return tuple(replace(i, rate=None if i.name in without else i.rate) for i in infos)


def _events(run: Run, k: int, last: bool) -> list[EventRecord]:
    """A run's events, after one that marks its beginning; only the last run's can end the whole."""
    begin = [EventRecord(f"phase {run.provenance.scenario}", float(run.time[0]))] if k and run.time.size else []
    return begin + [EventRecord(event.name, event.time, event.terminal and last) for event in run.events]


def _added(parts: Sequence[Statistics]) -> Statistics:
    errors = [part.energy_error for part in parts if part.energy_error is not None]
    steps = [part.extra for part in parts if part.extra]
    extra: dict[str, Any] = {}
    if steps and all({"smallest_step", "largest_step"} <= step.keys() for step in steps):
        extra = {
            "smallest_step": min(step["smallest_step"] for step in steps),
            "largest_step": max(step["largest_step"] for step in steps),
        }
    methods = [part.extra["method"] for part in parts if "method" in part.extra]
    if methods:
        extra["method"] = "; then ".join(methods)
    return Statistics(
        **{name: sum(getattr(part, name) for part in parts) for name in _ADDED},
        simulated_time=sum(part.simulated_time for part in parts),
        energy_error=max(errors) if len(errors) == len(parts) else None,
        extra=extra,
    )
