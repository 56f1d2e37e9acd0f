"""Measured data: which column is which signal, when was it sampled, and how does it drive a machine?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest, refuse, same_quantity
from robodyn.computation.assembly import System
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics
from robodyn.description.files.samples import DataMapping, Samples, read_mapping, read_samples
from robodyn.description.files.samples.reading import count_turns, even_times, repeats, unwrap
from robodyn.description.laws.recorded import AT_TICK, RecordedReference, place_on_ticks
from robodyn.description.model import Block, PrescribedMotion, Scenario
from robodyn.description.model.description import Description

from .data_sheet import assess_clock, estimate_noise, find_quantum
from .responses import are_even, resample, stale_rows

# --------------------------------------------------------------------------------------------------
# Clock synchronisation: how late is one recording behind another, and how much faster does its clock run?
#
# Symbols: t time of the first clock, u of the second.
#
#     u = t + offset + skew (t - t_0),   t_0 the middle of what both cover
#
# from a signal that both have recorded: the delay of largest correlation, refined in windows by least squares, and a
# straight line through these delays. A recording too short for windows gives an offset alone.


WINDOWS = 8
LEAST = 64
"""Samples of a window."""
STEPS = 4
"""Of Gauss-Newton, from a delay that is right to a sample."""
ALIKE = 0.5
"""Correlation below which two signals are not the same."""


@frozen
class ClockOffset:
    """How the second clock is set against the first.

    Attributes:
        offset: [s] at `middle`; skew: seconds per second.
        deviation, skew_deviation: standard deviations of both, nan where there are too few windows.
        correlation: of the signals once they are aligned.
    """

    offset: float
    skew: float
    middle: float
    deviation: float
    skew_deviation: float
    correlation: float

    def corrected(self, second: Run) -> Run:
        """The second recording on the first one's clock: t = t_0 + (u - t_0 - offset) / (1 + skew)."""
        time = self.middle + (second.time - self.middle - self.offset) / (1 + self.skew)
        return replace(second, time=time)


def find_delay(first: Array, second: Array, rate: float, longest: float) -> tuple[float, float]:
    """The time by which a second signal comes late [s] within +-longest, and the correlation there.

    The peak of the normalised cross-correlation, between samples by the parabola through its three highest points.
    """
    from scipy.signal import correlate

    x, y = (np.where(np.isfinite(s), s, np.nanmean(s)) - np.nanmean(s) for s in (first, second))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    if not size > 0:
        return 0.0, 0.0
    found = correlate(y, x, mode="full", method="fft") / size
    lags = np.arange(-(x.size - 1), y.size)
    near = np.flatnonzero(np.abs(lags) <= max(longest * rate, 1.0))
    k = int(near[np.argmax(found[near])])
    shift = 0.0
    if 0 < k < found.size - 1:
        below, top, above = found[k - 1 : k + 2]
        bend = below - 2 * top + above
        shift = float(0.5 * (below - above) / bend) if bend < 0 else 0.0
    return float((lags[k] + shift) / rate), float(found[k])


def synchronise(first: Run, second: Run, signal: str, other: str = "", longest: float | None = None) -> ClockOffset:
    """Offset and skew of the second recording's clock from a signal both have.

    Args:
        signal: of the first; other: its name in the second, the same by default.
        longest: largest offset looked for [s], a quarter of the shorter recording by default.
    """
    rate = 1 / max(float(np.median(np.diff(run.time))) for run in (first, second))
    a, b = (resample(run, rate)[name] for run, name in ((first, signal), (second, other or signal)))
    length = min(np.ptp(a.time), np.ptp(b.time))
    most = length / 4 if longest is None else longest
    lag, correlation = find_delay(a.values, b.values, rate, most + abs(b.time[0] - a.time[0]))
    offset = lag + b.time[0] - a.time[0]
    if correlation < ALIKE:
        what = f"have a correlation of {correlation:.2g} at best"
        remedy = "name a signal that both recorded, or allow a larger offset"
        refuse(f"{signal}, {other or signal}", what, remedy, "synchronisation")
    places, lags = window_delays(a.time, a.values, b.time - offset, b.values, rate)
    middle = float((max(a.time[0], b.time[0] - offset) + min(a.time[-1], b.time[-1] - offset)) / 2)
    if len(lags) < 4:
        rest = float(np.mean(lags)) if len(lags) else 0.0
        return ClockOffset(float(offset + rest), 0.0, middle, float("nan"), float("nan"), correlation)
    (skew, rest), covariance = np.polyfit(places - middle, lags, 1, cov=True)
    deviations = np.sqrt(np.diag(covariance))
    return ClockOffset(
        float(offset + rest), float(skew), middle, float(deviations[1]), float(deviations[0]), correlation
    )


def window_delays(t: Array, x: Array, u: Array, y: Array, rate: float) -> tuple[Array, Array]:
    """Delays in windows of what both cover, where the signals move and are alike."""
    from scipy.interpolate import CubicSpline

    start, end = max(t[0], u[0]), min(t[-1], u[-1])
    n = int((end - start) * rate)
    windows = max(min(WINDOWS, n // LEAST), 1)
    there, known = np.isfinite(y), np.isfinite(x)
    curve = CubicSpline(u[there], y[there])
    at = start + np.arange(n) / rate
    p = np.interp(at, t[known], x[known])
    found = []
    for part in np.array_split(np.arange(n), windows):
        lag = refine_delay(at[part], p[part], curve, rate)
        if lag is not None and np.std(p[part]) > 0.05 * np.std(p):
            # Where a signal moves fast it tells its delay: that is the place which the window's delay is of.
            told = np.gradient(p[part]) ** 2
            found.append((float(at[part] @ told / told.sum()), lag))
    return np.array([place for place, _ in found]), np.array([lag for _, lag in found])


def refine_delay(at: Array, x: Array, curve: Callable[[Array], Array], rate: float) -> float | None:
    """The delay d with x(t) = g y(t + d) + b best, by Gauss-Newton from 0; None where the signals are not alike.

    With y known as a curve: x = g y(t + d) + g y'(t + d) dd + b.
    """
    delay = 0.0
    for _ in range(STEPS):
        y, slope = curve(at + delay), (curve(at + delay + 0.1 / rate) - curve(at + delay - 0.1 / rate)) * rate / 0.2
        gain, shift, _ = np.linalg.lstsq(np.column_stack([y, slope, np.ones(at.size)]), x)[0]
        if not gain > 0 or abs(shift / gain) > at.size / rate / 4:
            return None
        delay += shift / gain
    y = curve(at + delay)
    alike = np.corrcoef(x, y)[0, 1] if np.ptp(x) > 0 and np.ptp(y) > 0 else 0.0
    return float(delay) if alike > ALIKE else None


# --------------------------------------------------------------------------------------------------
# Measured data as a run: signals of a file in SI, do they match those of a model, and how far is a run from them?


SURE = 0.95
"""Correlation of a position with the integral of its speed from which on the two belong together."""
SAME_RATE = 1e-3
"""Difference of two sample rates, by their ratio's next whole number, that is none."""


def read_measured(path: str | Path, mapping: DataMapping | str | Path | None = None) -> Run:
    """Measured signals of a file, named like the simulated ones, by a mapping or by the columns' own names.

    Rows at the time of the row before are left out, which the run's warnings say.

    Args:
        path: CSV, Parquet, MCAP, ROS bag, .npz, .npy or .mat.
        mapping: what the columns mean, or the TOML file that says so.
    """
    path = Path(path)
    known = mapping if isinstance(mapping, DataMapping) or mapping is None else read_mapping(mapping)
    run = leave_out_repeats(samples_as_run(read_samples(path, known), path), equal=True)
    if known is not None and known.signals:
        _refuse_contradictions(run, f"{path} by {known.source}" if known.source else str(path))
    return run


STILL = 3.0
"""Deviation of a position, by its noise, up to which it stands still."""
CLOSE = 1.5
"""Ratio of a speed to the derivative of its position from which on one of them is in another unit."""
JUDGED = 20_000
"""Rows by which a mapping is judged."""


def _refuse_contradictions(run: Run, source: str) -> None:
    """Refuse a mapping by which a speed is not the derivative of its position: one of their signs or units is wrong."""
    flaws = FlawList()
    for name in (name for name in run.names if name.endswith(".velocity")):
        place = f"{name.removesuffix('.velocity')}.position"
        if place not in run:
            continue
        columns = [run[one].values[:JUDGED] for one in (place, name)]
        there = (
            np.isfinite(columns[0]) & np.isfinite(columns[1]) & np.concatenate([[True], np.diff(run.time[:JUDGED]) > 0])
        )
        time, q, v = run.time[:JUDGED][there], columns[0][there], columns[1][there]
        if time.size < 100:
            continue
        # A position is the integral of its speed, in which noise counts little.
        way = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(time))])
        trend = np.column_stack([np.ones(time.size), time])
        way, q = (x - trend @ np.linalg.lstsq(trend, x)[0] for x in (way, q))
        size = np.linalg.norm(way) * np.linalg.norm(q)
        alike = float(way @ q / size) if size > 0 else 0.0
        ratio = float(np.linalg.norm(way)) / max(float(np.linalg.norm(q)), 1e-300)
        key = f"signals.{name}"
        if alike < -SURE:
            flaws.add(f"{key}.sign", f"runs against the derivative of {place}", "sign = -1 in one of the two")
        elif alike > SURE and not 1 / CLOSE < ratio < CLOSE:
            what = f"is {ratio:.4g} times the derivative of {place}"
            flaws.add(f"{key}.unit", what, "look at unit, gear and factor of both, and at the unit of the times")
    flaws.raise_if_any(source)


def samples_as_run(data: Samples, path: Path) -> Run:
    """Samples of a file as a run."""
    infos = [SignalInfo(name, unit) for name, unit in zip(data.names, data.units, strict=True)]
    for k, signal in enumerate(data.signals):
        infos[k] = replace(infos[k], kind="held" if signal.held else "continuous", rate=signal.rate)
    kept = [signal.name for signal in data.signals if signal.keep_saturated]
    return Run(
        data.time,
        data.values,
        tuple(infos),
        outcome=Outcome(OutcomeKind.FINISHED, f"measured data read from {path.name}", float(data.time[-1])),
        provenance=Provenance("measured", {"source": "measured", "file": path.name, "saturation_kept": kept}),
        statistics=Statistics(simulated_time=float(np.ptp(data.time))),
        warnings=data.notes,
    )


def without(data: Run, names: Collection[str]) -> Run:
    """The data without some signals, and without what they say of rates."""
    kept = [k for k, name in enumerate(data.names) if name not in names]
    infos = tuple(replace(data.infos[k], rate=None) for k in kept)
    return Run(data.time, data.values[:, kept], infos, data.outcome, data.provenance, warnings=data.warnings)


def leave_out_repeats(data: Run, equal: bool = False) -> Run:
    """The data without rows at the time of the row before: a logger has written these twice. It is noted.

    Args:
        equal: only those with the same numbers; others may be the two sides of a jump.
    """
    first = np.concatenate([[True], np.diff(data.time) > 0])
    if equal:
        first |= ~repeats(data.values)
    if first.all():
        return data
    note = f"{int((~first).sum())} rows at the time of the row before are left out"
    return replace(data, time=data.time[first], values=data.values[first], warnings=(*data.warnings, note), knots=None)


def tidy_rows(data: Run, smooth: Sequence[str]) -> Run:
    """Rows of a log as samples: those written twice left out, times even where samples are; what was done is noted.

    Args:
        smooth: signals that move smoothly, by which times are judged.
    """
    data = leave_out_repeats(data, equal=True)
    notes, time, values = list(data.warnings), data.time, data.values
    fresh = ~stale_rows(values)
    if not fresh.all():
        notes.append(f"{int((~fresh).sum())} rows that repeat all numbers of the row before are left out")
    values = values.copy()
    for k in (data.names.index(name) for name in smooth):
        # In SI an angle begins again after 2 pi; slides hardly move by as many metres within a row.
        if turns := count_turns(values[:, k], 2 * np.pi):
            values[:, k] = unwrap(values[:, k], 2 * np.pi)
            notes.append(f"{data.names[k]} wraps {turns} times: it is unwrapped here")
    moving = values[:, [data.names.index(name) for name in smooth]]
    if time.size > 2 and are_even(time[fresh], moving[fresh]):
        # Ticks are counted with the rows that repeat: they were written at ticks too.
        time = even_times(time)
        notes.append(
            "samples are evenly spaced, their times are not: positions are smoother at even times, which are used"
        )
    time, values = time[fresh], values[fresh]
    # Other numbers at the time of the row before are the next sample of an even clock, and none of another.
    return leave_out_repeats(replace(data, time=time, values=values, warnings=tuple(notes), knots=None))


def describe_fixed(scenario: Scenario, data: Run) -> list[str]:
    """Sentences on positions in the data of joints that the model has fixed."""
    mechanism, said = scenario.machine.any_mechanism, list[str]()
    for joint in mechanism.joints:
        name = f"{joint.name}.position"
        if joint.kind != "fixed" or name not in data:
            continue
        q, unit = data[name].values, data[name].unit
        if not stands_still(q):
            moved = np.nanmax(q) - np.nanmin(q)
            said.append(f"{joint.name} moves by {moved:.4g} {unit} in the data, and the model has it fixed")
        elif np.isfinite(q).any():
            said.append(f"{joint.name} stands at {np.nanmean(q):.4g} {unit} in the data: it must be fixed there")
    return said


def correlate(x: Array, y: Array) -> float:
    """Correlation of the samples that both have, 0 where one of them is constant."""
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there] - np.mean(x[there]), y[there] - np.mean(y[there])
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / size if size > 0 else 0.0


def stands_still(position: Array) -> bool:
    """Whether a position does nothing but scatter."""
    x = position[np.isfinite(position)]
    # An encoder at rest between two counts shows both of them.
    if np.unique(x).size <= 2:
        return True
    noise = float(np.nan_to_num(estimate_noise(x)[0]))
    return float(np.std(x)) <= STILL * max(noise, find_quantum(x))


def match_measured(data: Run, signals: dict[str, str]) -> None:
    """Refuse data that cannot be compared with a simulation: unknown signals, other units, times before its start.

    Args:
        signals: unit of every simulated signal.
    """
    flaws = FlawList()
    flaws.add_unknown(data.names, signals, "there is no such signal")
    for info in data.infos:
        if info.unit and signals.get(info.name) and not same_quantity(info.unit, signals[info.name]):
            flaws.add(info.name, f"is given in {info.unit}, the signal is in {signals[info.name]}")
        if not np.isfinite(data[info.name].values).any():
            flaws.add(info.name, "has no sample")
    if not data.infos:
        flaws.add("", "holds no signal")
    if data.time.size and data.time[0] < 0:
        flaws.add("time", f"begins at {data.time[0]:g} s, before the simulation does", "shift it to begin at the start")
    for row in np.flatnonzero(np.diff(data.time) <= 0)[:10] + 1:
        flaws.add("time", f"{data.time[row]:g} s appears twice, at row {row + 1} again", "leave one of these rows out")
    flaws.raise_if_any("measured data")


def at_ticks(system: System, data: Run) -> Run:
    """The data with rows that are next to a tick of the model's sampled blocks, or to the start, at it.

    A row that a logger stamps some nanoseconds before a tick would meet the sample before.
    """
    time, base = data.time.copy(), system.discrete.base_period
    if base is not None:
        time = place_on_ticks(time, base)
    if time.size > 1 and abs(time[0]) <= AT_TICK * (time[1] - time[0]):
        time[0] = 0.0
    return replace(data, time=time)


def last_as_long(scenario: Scenario, data: Run) -> Scenario:
    """The scenario for as long as data last, recorded as a run asks for."""
    if not data.time[-1] > 0:
        refuse("time", "has nothing after the start", source="measured data")
    recording = replace(scenario.recording, times=None, rate=None, refine=None)
    return replace(scenario, duration=float(data.time[-1]), recording=recording)


def describe_rates(scenario: Scenario, data: Run) -> list[str]:
    """Sentences on a model whose samples do not fall on those of the data."""
    rate = assess_clock(data.time).rate
    periods = sorted({float(b.period) for b in scenario.machine.all_blocks if b.sampled and b.period is not None})
    off = [period for period in periods if not _is_whole(rate * period) and not _is_whole(1 / (rate * period))]
    what = f"the data have {rate:.6g} Hz: held signals are compared between samples"
    remedy = "set the model's period to that of the real controller, or record at a multiple of its rate"
    return [f"the model samples at {1 / period:g} Hz, {what}; {remedy}" for period in off]


def _is_whole(ratio: float) -> bool:
    return abs(ratio - max(round(ratio), 1)) < SAME_RATE


@frozen
class SignalError:
    """Simulated minus measured.

    Attributes:
        percent: rms by the measured signal's own deviation; bias: mean; largest: of its size, at a time [s].
    """

    name: str
    unit: str
    rows: int
    rms: float
    percent: float
    bias: float
    largest: float
    at_time: float


def compare_signals(run: Run, data: Run) -> tuple[SignalError, ...]:
    """Errors of every signal that both have, at the times of the data up to the end of the run; nan is no sample."""
    found = []
    rows = data.time <= run.time[-1]
    for name in (name for name in data.names if name in run):
        measured = data[name].values[rows]
        apart = run[name](data.time[rows]) - measured
        there = np.isfinite(apart)
        if not there.any():
            continue
        rms = float(np.sqrt(np.mean(apart[there] ** 2)))
        worst = int(np.nanargmax(np.abs(apart)))
        spread = max(float(np.nanstd(measured)), 1e-300)
        numbers = (rms, 100 * rms / spread, float(np.mean(apart[there])), float(abs(apart[worst])))
        found.append(SignalError(name, run[name].unit, int(there.sum()), *numbers, float(data.time[rows][worst])))
    return tuple(found)


# --------------------------------------------------------------------------------------------------
# Measured inputs: a scenario in which recorded signals take the place of computed ones.
#
# Whatever reads such a signal reads the recording: blocks, formulas, delays, loads, prescribed motions, events, the
# nominal motion. A force that a block puts on a joint is the recorded force. What computed it before, such as a
# controller, goes on computing and has no effect.


SOURCE = "measured"
FORCES = ("torque", "force")


def drive_by_data(scenario: Scenario, data: Run, signals: Sequence[str]) -> Scenario:
    """The scenario driven by these signals of the data: held ones held, others in straight lines between samples, or
    as a cubic spline where a motion is prescribed by them."""
    machine = scenario.machine
    _check(scenario, data, signals)
    sources = {signal: f"{SOURCE}.{signal}.value" for signal in signals}

    def rename(to: str, name: str) -> str:
        return sources.get(name, name) if to == "signal" else name

    # A prescribed motion needs rates that belong to its position: those of the spline, unless they are measured too.
    prescribed = set[str]()
    constraints = list[Description]()
    for constraint in machine.constraints:
        if isinstance(constraint, PrescribedMotion) and constraint.position in sources:
            prescribed.add(constraint.position)
            rates = {"velocity": "rate", "acceleration": "acceleration"}
            own = {key: f"{SOURCE}.{constraint.position}.{rate}" for key, rate in rates.items()}
            own = {key: name for key, name in own.items() if getattr(constraint, key) not in sources}
            constraint = constraint.replaced(**own)
        constraints.append(constraint)

    blocks = list(machine.blocks)
    for signal in signals:
        owner, _, output = signal.rpartition(".")
        recorded = _recorded(data, signal)
        if signal in prescribed:
            recorded = replace(recorded, interpolation="cubic")
        for i, block in enumerate(blocks):
            if block.name == owner and block.on and output in FORCES:
                blocks[i] = Block(owner, "torque_source", block.on, {"command": sources[signal]})
        blocks.append(Block(f"{SOURCE}.{signal}", recorded))

    # State controllers are designed for what they read, and read nothing of this: see `_check`.
    fresh = machine.replaced(blocks=tuple(blocks), constraints=tuple(constraints), controllers=())
    driven = scenario.replaced(machine=fresh).renamed(rename)
    return driven.replaced(machine=driven.machine.replaced(controllers=machine.controllers))


def _check(scenario: Scenario, data: Run, signals: Sequence[str]) -> None:
    machine, flaws = scenario.machine, FlawList()
    owners = {block.name for block in machine.blocks}
    read = {name for _, to, name in scenario.references() if to == "signal"}
    designed = {name: one.name for one in machine.controllers for name in (*one.measured, *one.applied)}
    held = {c.position: c.name for c in machine.constraints if isinstance(c, PrescribedMotion)}
    for signal in signals:
        owner, _, output = signal.rpartition(".")
        if signal not in data:
            flaws.add(signal, "is not in the data", nearest(signal, data.names))
        elif owner not in owners:
            flaws.add(signal, "is not computed by a block", nearest(owner, owners))
        elif np.isnan(data[signal].values).any():
            row = int(np.flatnonzero(np.isnan(data[signal].values))[0])
            flaws.add(
                signal, f"is missing at row {row + 1}", "an input is needed at all times: fill it in, or resample"
            )
        elif signal in designed:
            what = f"is read by the controller '{designed[signal]}', which is designed for the computed one"
            flaws.add(signal, what, "put blocks in its place, or leave the signal computed")
        elif signal in held and data[signal].kind == "held":
            flaws.add(signal, f"is held: the prescribed motion '{held[signal]}' would jump", "leave `held` out")
        # A measured signal that nothing reads, and that is no force, would drive nothing.
        forces = [b.on for b in machine.blocks if b.name == owner and b.on and output in FORCES]
        if not forces and signal not in read and signal in data and owner in owners:
            flaws.add(signal, "is read by nothing: it would drive nothing", "name the force, or what the drive reads")
    flaws.raise_if_any("measured inputs")


def _recorded(data: Run, signal: str) -> RecordedReference:
    own = data[signal]
    rising = np.concatenate([np.diff(own.time) > 0, [True]])
    how = "held" if own.kind == "held" else "linear"
    times, points = (tuple(part[rising].tolist()) for part in (own.time, own.values))
    return RecordedReference(times, points, how, unit=own.unit or None, source=signal)
