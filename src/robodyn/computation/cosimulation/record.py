"""Record of a co-simulation: what is kept at its communication points?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from robodyn.base import Array, Displayed, frozen, view
from robodyn.computation.results import Certificate, EventRecord, Outcome, Provenance, Run, SignalInfo, Statistics, save
from robodyn.computation.simulation.certificate import judge

from .certificate import Outputs, PairBook, certify_coupling, find_start_gaps
from .connection import Channel, InterfacePair
from .settings import CosimSettings
from .unit import Unit, UnitEvent, abilities_of


class CouplingRecord:
    """Rows of exchanged signals and of what the connections give about themselves.

    A row is [time, step; gap and condition of each connection; `kept` after the exchange; `booked` when the units begin
    the macro step; `booked` at its end]. What is booked is not a number in a row without a macro step.
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        channels: Sequence[Channel],
        pairs: Sequence[InterfacePair],
        outputs: Outputs,
    ) -> None:
        self.pairs = tuple(pairs)
        names = [(channel.source, name) for channel in channels for name in channel.outputs]
        for pair in pairs:
            for side in pair.sides:
                quantities = ("position", "velocity", "force")
                names += [(side.unit, name) for key in quantities for name in side.interface.names(key)]
        self.kept = tuple(dict.fromkeys(names))
        self.infos = []
        for unit, signal in self.kept:
            kind = abilities_of(units[unit]).kinds.get(signal, "continuous")
            self.infos.append(SignalInfo(f"{unit}.{signal}", units[unit].outputs.get(signal, ""), kind))
        for pair in pairs:
            self.infos += [SignalInfo(f"{pair.name}.{key}", unit) for key, unit in _OWN.items()]
        self.infos.append(SignalInfo("macro_step", "s", "held"))
        self._books = [PairBook(pair, outputs) for pair in pairs]
        self.booked = tuple(signal for book in self._books for signal in book.signals)
        self.start = np.full(len(self.booked), np.nan)
        self.start_gaps = find_start_gaps(pairs, outputs)
        self.last_time: float | None = None
        self._blocks = [np.zeros((0, self.width))]

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return 2 + 2 * len(self.pairs) + len(self.kept) + 2 * len(self.booked)

    def begin(self, outputs: Outputs) -> None:
        """The units as they are at the start."""
        self.start = np.array([outputs[unit][name] for unit, name in self.booked])

    def extend(self, rows: Array) -> None:
        """Rows from the engine, (n, width)."""
        if len(rows):
            self._blocks.append(rows)
            self.last_time = float(rows[-1, 0])

    def run(self, name: str, outcome: Outcome, statistics: Statistics, settings: CosimSettings) -> Run:
        """The record as a run, judged by its certificate."""
        rows = np.vstack(self._blocks)
        n, n_own = len(self.booked), 2 * len(self.pairs)
        pair_columns, exchanged = rows[:, 2 : 2 + n_own], rows[:, 2 + n_own : self.width - 2 * n]
        begun, ended = rows[:, self.width - 2 * n : self.width - n], rows[:, self.width - n :]
        columns, balances, first = [exchanged], {}, 0
        for k, book in enumerate(self._books):
            part = slice(first, first := first + len(book.signals))
            balance = book.balance(self.start[part], begun[:, part], ended[:, part])
            balances[self.pairs[k].name] = balance
            columns += [balance.created, *pair_columns[:, 2 * k : 2 * k + 2].T]
        provenance = Provenance(f"{name}-coupling", solver=asdict(settings))
        run = Run(
            rows[:, 0].copy(),
            np.column_stack([*columns, rows[:, 1]]),
            tuple(self.infos),
            outcome,
            provenance,
            statistics,
        )
        certificate = certify_coupling(run, self.pairs, self.start_gaps, balances, settings)
        return run.judged(outcome=judge(outcome, certificate), certificate=certificate, passed_limits=())


_OWN = {"energy_error": "J", "gap": "", "condition": ""}


class UnitRecord:
    """The outputs of a unit without a record of its own, at the communication points and at its events.

    Where an event or an exchange makes the outputs jump, there are rows of both sides at the same time.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.times: list[float] = []
        self.rows: list[dict[str, float]] = []
        self.events: list[EventRecord] = []

    def add(self, time: float, outputs: Mapping[str, float]) -> None:
        """A row, but for one that is there already."""
        if not (self.times and self.times[-1] == time and self.rows[-1] == outputs):
            self.times.append(time)
            self.rows.append(dict(outputs))

    def add_events(self, events: Iterable[UnitEvent]) -> None:
        for event in events:
            for outputs in (event.before, event.after):
                if outputs is not None:
                    self.add(event.time, outputs)
            self.events.append(EventRecord(event.name, event.time, event.terminal))

    def run(self, outcome: Outcome, provenance: Provenance | None = None, statistics: Statistics | None = None) -> Run:
        names = list(self.rows[0]) if self.rows else []
        values = np.array([[row[name] for name in names] for row in self.rows], float)
        abilities, units = abilities_of(self.unit), self.unit.outputs
        return Run(
            np.array(self.times),
            values.reshape(len(self.times), len(names)),
            tuple(SignalInfo(name, units.get(name, ""), abilities.kinds.get(name, "continuous")) for name in names),
            outcome,
            provenance or Provenance(self.unit.name),
            statistics or Statistics(events=len(self.events)),
            tuple(self.events),
            tuple(abilities.warnings),
        )


# --------------------------------------------------------------------------------------------------
# Co-simulation run, as a result: a run of each unit, a record of the coupling, and how it ended.


@frozen(eq=False)
class CosimulationRun(Displayed):
    """The runs of all units, the record of their coupling, and how they ended.

    Attributes:
        runs: unit -> its run.
        coupling: at each communication point, the signals exchanged (`unit.signal`, right after the exchange), and for
            each connection `<first>-<second>.energy_error` [J] so far, `.gap` (largest distance or angle between the
            sides before the exchange), `.condition` of the worst reduced model.
        statistics: steps and rejected ones are macro steps.
    """

    name: str
    runs: Mapping[str, Run]
    coupling: Run
    outcome: Outcome
    statistics: Statistics
    warnings: tuple[str, ...] = ()

    summary = view("describe")

    def __getitem__(self, unit: str) -> Run:
        """The run of a unit."""
        if unit not in self.runs:
            raise KeyError(f"no unit {unit!r}; there are {', '.join(self.runs)}")
        return self.runs[unit]

    @property
    def certificate(self) -> Certificate:
        """The checks of the coupling; each unit's run has its own."""
        return self.coupling.certificate

    def energy_error(self) -> float:
        """Energy created at all connections together by the end [J]."""
        return sum(value for name, value in self.coupling.final.items() if name.endswith(".energy_error"))

    def describe_steps(self) -> str:
        """How many macro steps there were, and how long they really were: events cut them, and the end the last one."""
        steps = self.coupling["macro_step"].values
        taken = steps[steps > 0]
        if not taken.size:
            return f"{self.statistics.steps} macro steps"
        shortest, longest = float(taken.min()), float(taken.max())
        alike = longest - shortest <= 1e-9 * longest
        lengths = f"{longest:.6g} s" if alike else f"{shortest:.6g} to {longest:.6g} s"
        return f"{self.statistics.steps} macro steps of {lengths}"


def save_cosimulation(run: CosimulationRun, folder: str | Path) -> dict[str, Path]:
    """Write the runs of all units and the record of the coupling into a folder; unit -> file."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = dict(run.runs) | {"coupling": run.coupling}
    return {name: save(part, folder / f"{run.name}-{name}.run") for name, part in parts.items()}
