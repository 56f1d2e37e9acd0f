"""Run: what happened? All recorded signals with events, outcome, statistics and provenance."""

from collections.abc import Iterator
from dataclasses import field, replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base.errors import near_names
from robodyn.base.lazy import Displayed, later
from robodyn.base.records import dataclass
from robodyn.base.signals import SignalInfo as SignalInfo

from .certificate import Certificate
from .errors import Errors
from .limits import PassedLimit
from .outcome import Outcome
from .provenance import Provenance
from .signal import Booleans, Floats, Probes, Signal, check_time, frozen_array
from .statistics import Statistics

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
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


@dataclass(frozen=True, eq=False)
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
    time: Floats
    values: Floats
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
        for part in ("time", "values"):
            object.__setattr__(self, part, frozen_array(getattr(self, part)))
        for part in ("infos", "warnings"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        object.__setattr__(self, "events", EventList(self.events))
        check_time(self.time)
        self._check_columns()

    def judged(self, outcome: Outcome, certificate: Certificate, passed_limits: tuple[PassedLimit, ...]) -> "Run":
        """The same run, whose columns have been checked, with what was found of it afterwards."""
        found = {"outcome": outcome, "certificate": certificate, "passed_limits": passed_limits}
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | found)
        return other

    def __getitem__(self, name: str) -> Signal:
        """The signal of that name, or a KeyError with the nearest names."""
        info = self.infos[self._column(name)]
        rate = None if info.rate is None else self.values[:, self._column(info.rate)]
        values = self.values[:, self._column(name)]
        return Signal(name, info.unit, self.time, values, info.kind, rate, self.knots, info.note)

    def __repr__(self) -> str:
        counts = f"{self.time.size} rows of {len(self)} signals"
        return f"<Run of {self.provenance.scenario}: {counts}, {self.outcome.sentence}>"

    plot = later("robodyn.presentation.reporting.runs:draw_run")
    summary = later("robodyn.presentation.reporting.summaries:summary_of")
    show = later("robodyn.presentation.pages.page:show_run")

    def select(self, *patterns: str) -> "Run":
        """The same run with the signals alone that fit one of the patterns, such as "elbow.*"."""
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in self.names):
                raise KeyError(self._unknown(pattern))
        columns = [k for k, name in enumerate(self.names) if any(fnmatchcase(name, one) for one in patterns)]
        names = {self.names[k] for k in columns}
        # A rate that is not kept is no rate to interpolate by.
        infos = [info if info.rate in names else replace(info, rate=None) for info in (self.infos[k] for k in columns)]
        probes = self.probes
        if probes is not None:
            probes = Probes(probes.time, probes.values[:, columns], probes.errors[:, columns])
        return replace(self, values=self.values[:, columns], infos=tuple(infos), probes=probes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over time, one column a signal."""
        pandas = import_module("pandas")

        return pandas.DataFrame(self.values, index=pandas.Index(self.time, name="time"), columns=list(self.names))

    def save(self, path: str | Path) -> Path:
        """Write the run to one file, all or nothing, which `load` and every command read."""
        from .store import save

        return save(self, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write a table with one row a sample and headings 'name [unit]'; numbers keep every bit."""
        from .exports import to_csv

        return to_csv(self, path)

    def to_xarray(self) -> "xarray.Dataset":
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
        if self.time.size == 0:
            raise ValueError("the run recorded no samples")
        return dict(zip(self.names, self.values[-1].tolist(), strict=True))

    def _column(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(self._unknown(name))
        return self.names.index(name)

    def _unknown(self, name: str) -> str:
        near = near_names(str(name), self.names)
        hint = f"did you mean {', '.join(near)}?" if near else f"see the run's {len(self)} names in run.names"
        return f"no signal {name!r}; {hint}"

    def _check_columns(self) -> None:
        expected = (self.time.size, len(self.infos))
        if self.values.shape != expected:
            raise ValueError(f"values have shape {self.values.shape}, times and infos ask for {expected}")
        if self.probes is not None and self.probes.values.shape[1:] != (len(self.infos),):
            raise ValueError(f"probes have {self.probes.values.shape[1:]} columns, there are {len(self.infos)} signals")
        if self.knots is not None and self.knots.shape != self.time.shape:
            raise ValueError(f"knots have shape {self.knots.shape}, times {self.time.shape}")
        names = self.names
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"signal names must differ, twice: {', '.join(twice)}")
        known = set(names)
        for info in self.infos:
            if info.rate is not None and info.rate not in known:
                raise ValueError(f"{info.name}: its rate {info.rate!r} is not recorded")
