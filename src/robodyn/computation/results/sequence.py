"""Concatenation of runs: how do runs that follow each other become one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .certificate import join_certificates
from .limits import join_limits
from .outcome import Outcome
from .provenance import Provenance
from .run import EventRecord, Run, SignalInfo
from .signal import Booleans, Floats, Probes
from .statistics import Statistics

_ADDED = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "events", "ticks", "wall_time")


def join(runs: Sequence[Run], provenance: Provenance) -> Run:
    """One run of several, each starting when the one before it ended; where one begins, two rows have the same time.

    A signal that a run does not have is not a number there. Events mark where each run but the first begins.
    """
    if not runs:
        raise ValueError("there must be at least one run to join")
    known: dict[str, SignalInfo] = {}
    for run in runs:
        for info in run.infos:
            known.setdefault(info.name, info)
    infos = tuple(known.values())
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


def _columns(run: Run, infos: Sequence[SignalInfo], values: Floats | None = None) -> Floats:
    """The columns of a run in another order, of its values by default."""
    values = run.values if values is None else values
    place = {name: k for k, name in enumerate(run.names)}
    found = np.full((len(values), len(infos)), np.nan)
    for k, info in enumerate(infos):
        if info.name in place:
            found[:, k] = values[:, place[info.name]]
    return found


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
