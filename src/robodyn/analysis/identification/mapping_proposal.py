"""Mapping of a log proposed: which column is which signal of a model, in which unit, sign, offset and gear?

Symbols: s_p position of a place on which a drive acts, a joint or a motor of coupled axes, x_c columns, tau_p what the
model needs there by its inverse dynamics, e_c columns of efforts, g > 0 a gain, h(w) a step smoothed.

    s_p = sign scale x_c + shift,   e_c ~ +-(g tau_p(q, v, a) + C h(v_p) + B v_p) + constant,   g, C, B >= 0

What is looked for are the discrete choices (columns, signs, units, quarter turns) by which most of the efforts follows
from the motion: sum_p log(1 - R_p^2) is least. Where choices hardly differ the log cannot tell them, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.measurement.data_sheet import estimate_noise
from robodyn.analysis.measurement.measured import correlate, find_delay, stands_still, window_delays
from robodyn.analysis.measurement.responses import LowPass, differentiate
from robodyn.base import Array, frozen, known_unit, parse_unit, refuse, report_progress, same_quantity
from robodyn.computation.assembly import System, assemble
from robodyn.description.files.samples.headings import Heading, number_joints, read_heading
from robodyn.description.files.samples.reading import DataMapping, SignalMapping
from robodyn.description.files.samples.writing import mapping_text
from robodyn.description.model import Scenario

from .log_clock import Finding, LogTable, read_log
from .mapping_readings import (
    ANGLES,
    LENGTHS,
    MIRRORED,
    NEAR,
    ODD_ANGLE,
    QUARTER,
    SAME,
    TOLD,
    ComparedColumns,
    DrivenPlaces,
    Explained,
    Reading,
    ReadingSearch,
    driven_places,
    wrapped,
)

ROWS = 300
"""At which choices are compared."""
BAND = 8.0
"""Highest frequency of the comparison [Hz]: weight and inertia of machines are below it, noise is above."""
FOREIGN, DOUBTFUL, LEFT = 0.55, 0.75, 0.5
"""Correlations of the model's second and middle axis below which a log is another robot's, the latter where more than
that share of an effort is left."""
HUGE = 10.0
"""An effort by the model's beyond which it is strange, unless it follows well."""
SLOW, MOVES = 0.02, 3.0
"""Share of its largest speed below which an axis rests, and for how long [s] a log moves that tells something."""
EVIDENCE = 0.3
"""Loss of the sum of logarithms of efforts that follow by which a reading is told."""
NEARBY = np.radians(20.0)
"""An offset by which others are asked whether they would do as well."""
OTHER_GEARS = 1.4
"""A ratio of gears by which others are asked whether they would do as well."""
UNSURE = 0.3
"""Correlation below which an effort hardly tells how its axis is read."""
SPEEDS = {unit: parse_unit(unit).factor for unit in ("rad/s", "deg/s", "rpm", "rev/s", "mrad/s")}
SLIDES = {unit: parse_unit(unit).factor for unit in ("m/s", "mm/s", "m/min", "mm/min", "cm/s")}
TORQUES = {unit: parse_unit(unit).factor for unit in ("N m", "mN m", "N cm", "kN m")}
PULLS = {unit: parse_unit(unit).factor for unit in ("N", "mN", "kN")}


@frozen
class Match:
    """How well an effort follows from the motion by the model: correlation beside friction, and share that is left."""

    place: str
    column: str
    effort: str
    correlation: float | None
    left: float | None


@frozen
class MappingProposal:
    """What a log's columns mean to a model.

    Attributes:
        findings: what is not as names and units say; open: what the log cannot tell; foreign: of another robot.
    """

    JSON = """
    source
    foreign
    findings
    matches
    open
    """
    source: str
    mapping: DataMapping
    findings: tuple[Finding, ...]
    matches: tuple[Match, ...]
    open: tuple[str, ...]
    foreign: str
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The mapping as TOML."""
        head = [f"Columns of {self.source}, by comparison with the model: check it, and correct what is wrong."]
        head += [f"WARNING: {self.foreign}"] if self.foreign else []
        return mapping_text(
            self.mapping, [*head, *(f"not determined by the log: {one}" for one in self.open)], self.remarks
        )


@report_progress("comparing a log with")
def propose_mapping(
    scenario: Scenario | System, file: str | Path, mapping: DataMapping | None = None
) -> MappingProposal:
    """The mapping of a log to a model.

    Args:
        file: the log; mapping: what is known of its form (`[file]`, `[time]`), and names of columns that are right.
    """
    system = scenario if isinstance(scenario, System) else assemble(scenario)
    model = driven_places(system)
    log = read_log(Path(file), mapping)
    return _Proposer(model, log).propose()


@frozen(eq=False)
class _Proposer:
    """A log and a model, and what is found on the way."""

    model: DrivenPlaces
    log: LogTable
    findings: list[Finding] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    def tell(self, column: Heading | SignalMapping, kind: str, what: str, remedy: str, signal: str) -> None:
        """What is found of a column."""
        self.findings.append(Finding(f"column '{column.column}'", kind, what, remedy, signal))

    def tell_unit(self, heading: Heading, unit: str, size: float, signal: str) -> None:
        """That a column is in another unit than its heading says, or than SI where that says none."""
        written = _size(heading.unit) if heading.unit else 1.0
        if written != size:
            said = f"is said to be in {heading.unit}" if heading.unit else "has no unit in its heading"
            self.tell(heading, "unit", f"{said}, and is in {unit}", f'unit = "{unit}"', signal)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """What the columns' names say; nothing, where they name fewer positions than there are axes.

        An axis that stays where it is is named as well as one that moves.
        """
        read = [read_heading(name, self.log.units.get(name, "")) for name in self.log.names]
        named = sum(h.kind == "position" and not h.command for h in read)
        if named < len(self.model.places):
            read = [Heading(h.column, "", None, self.log.units.get(h.column, "")) for h in read]
        return tuple(read)

    @cached_property
    def least_delay(self) -> float:
        """A delay below a row is none that a log tells: friction that is modelled a little wrong looks as much [s]."""
        return max(1.2e-3, float(np.median(np.diff(self.log.time))))

    @cached_property
    def numbers(self) -> list[int | None]:
        """Place of the joint that each column's name means, those of one quantity counted together."""
        found: list[int | None] = [None] * len(self.headings)
        groups: dict[tuple[str, bool], list[int]] = {}
        for k, heading in enumerate(self.headings):
            groups.setdefault((heading.kind, heading.command), []).append(k)
        joints, fixed, counted = self.model.regressor.joints, self.model.fixed, self.moving_numbers
        for own in groups.values():
            named = [self.headings[k] for k in own]
            if counted:
                # Joints that the model has fixed are counted too: numbers without them.
                places = {number: place for place, number in enumerate(counted)}
                named = [replace(h, number=None if h.number is None else places.get(h.number)) for h in named]
            of_joints = number_joints(named, joints, fixed)
            of_places = number_joints(named, self.model.places, fixed)
            for k, joint, place in zip(own, of_joints, of_places, strict=True):
                found[k] = joint if joint is not None else place
            missing = [k for k in own if found[k] is None]
            if len(missing) == len(own) == len(joints):
                for place, k in enumerate(own):
                    found[k] = place
        return found

    @cached_property
    def moving_numbers(self) -> list[int]:
        """Numbers of positions that move, where the log has others for joints that the model has fixed."""
        columns = [k for k, h in enumerate(self.headings) if h.kind == "position" and not h.command]
        numbers = {self.headings[k].number: k for k in columns}
        if len(numbers) <= len(self.model.places) or len(numbers) < len(columns) or None in numbers:
            return []
        moves = {number: not stands_still(self.log.values[:, k]) for number, k in numbers.items()}
        moving = sorted(number for number in moves if number is not None and moves[number])
        return moving if len(moving) == len(self.model.places) else []

    def describe_fixed(self) -> None:
        """Positions of joints that the model has fixed."""
        for k, h in enumerate(self.headings):
            if h.kind == "position" and not h.command and self.numbers[k] is None and k not in self.positions:
                where = f"stands at {np.nanmean(self.log.values[:, k]):.4g} {h.unit}".rstrip()
                how = where if stands_still(self.log.values[:, k]) else "moves: the model must not fix it"
                what = f"is of no axis of the model, and {how}"
                self.tell(h, "fixed joint", what, "it is left out; fix the joint where it stood", "")

    def pick(self, *kinds: str, command: bool = False) -> list[int]:
        """Columns of these quantities that move."""
        return [
            k for k, h in enumerate(self.headings) if h.kind in kinds and h.command == command and self.log.moves[k]
        ]

    @cached_property
    def filtered(self) -> tuple[Array, Array, Array, float]:
        """Columns at even times, low-passed, with two derivatives, and their rate."""
        x, rate = self.log.even()
        moving = [k for k in self.positions if self.log.moves[k]]
        cutoff = min(BAND, rate / 6)
        # Noise of positions must not drown their accelerations.
        for _ in range(12):
            smooth = LowPass(cutoff)(x, rate)
            v = differentiate(smooth, rate)
            a = differentiate(v, rate)
            noise = np.array([np.nan_to_num(estimate_noise(x[np.isfinite(x[:, k]), k])[0]) for k in moving])
            power = noise**2 * (2 / rate) * (2 * np.pi) ** 4 * cutoff**5 / 5
            if np.all(power < 0.01 * np.nanvar(a[:, moving], axis=0) + 1e-300):
                break
            cutoff *= 0.75
        return smooth, v, a, rate

    @cached_property
    def positions(self) -> list[int]:
        """Columns that positions may be."""
        found = [k for k, h in enumerate(self.headings) if h.kind == "position" and not h.command]
        if found:
            numbered = [k for k in found if self.numbers[k] is not None]
            # Axes with names of their own, such as Z, have no numbers among those that do.
            return numbered if len(numbered) >= len(self.model.places) else found
        # Without names: what others are derivatives of.
        free = [k for k in range(len(self.headings)) if self.log.moves[k]]
        return [k for k in free if k in self.derived]

    @cached_property
    def derived(self) -> dict[int, int]:
        """Columns without names -> the column that is their derivative."""
        x, rate = self.log.even()
        smooth = LowPass(min(BAND, rate / 6))(x, rate)
        v = differentiate(smooth, rate)
        free = [k for k, h in enumerate(self.headings) if h.kind == "" and self.log.moves[k]]
        there = np.isfinite(smooth[:, free]).all(axis=1) & np.isfinite(v[:, free]).all(axis=1)
        return {i: j for i, j in product(free, free) if i != j and correlate(v[there, i], smooth[there, j]) > 0.97}

    def propose(self) -> MappingProposal:
        findings, model = self.findings, self.model
        findings += self.log.findings
        n = len(model.places)
        candidates = self.positions
        if len(candidates) < n:
            names = ", ".join(self.log.names)
            what = f"{len(candidates)} columns may be positions, the model has {n} axes"
            refuse("columns", f"{what}: {names}", "name columns like q1, q2 ... or joint names", self.log.source)
        self.describe_fixed()
        smooth, v, a, rate = self.filtered
        still = False
        there = np.isfinite(np.hstack([smooth, v, a])).all(axis=1)
        if there.sum() < 30:
            refuse("rows", f"{there.sum()} are without gaps nearby", "record longer", self.log.source)
        # A robot at rest tells its weight alone, and always the same: where nothing moves nothing is compared.
        speed = np.abs(v[:, candidates])
        moving = np.any(speed > SLOW * np.nanmax(speed[there], axis=0), axis=1)
        good = np.flatnonzero(there & moving)
        if good.size < MOVES * rate:
            good = np.flatnonzero(there)
            seconds = f"{np.sum(there & moving) / rate:.3g} s"
            self.open.append(f"signs, units, offsets and order: the log moves for {seconds} only, record {MOVES:g} s")
            still = True
        rows = good[np.linspace(0, good.size - 1, min(ROWS, good.size)).astype(int)]
        efforts = (
            []
            if still
            else self.pick("effort", "current")
            or [
                k
                for k, h in enumerate(self.headings)
                if h.kind == "" and self.log.moves[k] and k not in candidates and k not in self.derived.values()
            ]
        )
        compared = ComparedColumns(
            model, smooth[np.ix_(rows, candidates)], v[np.ix_(rows, candidates)], a[np.ix_(rows, candidates)],
            smooth[np.ix_(rows, efforts)] - smooth[np.ix_(rows, efforts)].mean(axis=0),
            smooth[np.ix_(rows, efforts)].mean(axis=0),
            tuple(self.numbers[k] for k in efforts),
        )  # fmt: skip
        search = ReadingSearch(compared)
        found = list[tuple[float, Reading, Reading]]()
        for start in self.starts(compared, candidates):
            found.append((*search.run(start), start))
            if compared.fit(found[-1][1]).clear:
                break
        cost, choice, start = min(found, key=lambda one: one[0])
        choice = search.finish(cost, choice)
        foreign = self.judge(choice, compared.fit(choice), candidates, efforts)
        choice = self.without_doubts(choice, start, compared)
        odd = np.abs(wrapped(choice.shift) / QUARTER - np.round(wrapped(choice.shift) / QUARTER)) * QUARTER > ODD_ANGLE
        if np.sum(odd & model.angular) > 1:
            # So many angles may be found that a similar robot's motion does as well.
            several = f"{int(np.sum(odd & model.angular))} axes follow only from offsets that are no quarter turns"
            self.open.append(f"whether this is the robot: {several}; compare them with its drawing")
        fit = compared.fit(choice)
        signals = self.describe_positions(choice, start, candidates, compared, fit)
        matches, more = self.describe_efforts(choice, fit, candidates, efforts, compared)
        signals += more
        if still:
            for column in self.pick("effort", "current"):
                place = self.numbers[column]
                signals += [] if place is None else self.as_named(place, self.headings[column])
        signals += self.describe_rates(choice, candidates)
        signals += self.describe_commands(choice, candidates)
        if foreign:
            findings[:] = [*self.log.findings, Finding("log", "another robot", foreign, _OTHER)]
        turns = {name: turn * (_size(self.log.units.get(name) or read_heading(name).unit) or 1.0)
                 for name, turn in self.log.turns.items()}  # fmt: skip
        signals = [replace(one, wrap=turns.get(one.column, 0.0) * (_size(one.unit or "") or 1.0)) for one in signals]
        mapping = replace(self.log.mapping, signals=tuple(signals))
        remarks = {key: tuple(texts) for key, texts in self.remarks.items()}
        remarks["time"] = tuple(f"{f.kind}: {f.what}" for f in self.log.findings)
        for finding in findings:
            if finding.signal:
                remarks[finding.signal] = (*remarks.get(finding.signal, ()), f"{finding.kind}: {finding.what}")
        return MappingProposal(
            self.log.source, mapping, _merge(findings), tuple(matches), tuple(self.open), foreign, remarks
        )

    def without_doubts(self, choice: Reading, start: Reading, compared: ComparedColumns) -> Reading:
        """The choice as it is written at places that no effort tells of, which is said.

        An effort that hardly follows the model's bodies, but friction, goes with many readings of its axis a little
        better by chance. What efforts that do follow lose by the reading as written is evidence, all else is none.
        """
        if not compared.e.shape[1]:
            return choice
        fit = compared.fit(choice)
        clear = fit.correlations() >= UNSURE
        names = self.model.places if choice.motor else self.model.regressor.joints
        if choice.motor:
            of_joints = replace(choice, motor=False)
            if (compared.fit(of_joints).scores()[clear] - fit.scores()[clear]).sum() < EVIDENCE:
                choice, fit = of_joints, compared.fit(of_joints)
                self.open.append("whether positions are those of joints, as assumed, or of motors of coupled axes")
                names = self.model.regressor.joints
        for p in np.flatnonzero(~clear).tolist():
            columns = start.columns if choice.columns[p] != start.columns[p] else choice.columns
            written = replace(choice, columns=columns)
            written = written.changed(p, sign=1.0, shift=0.0, scale=start.scale[p])
            if written.reads(p) == choice.reads(p):
                continue
            loss = compared.fit(written).scores()[clear] - fit.scores()[clear]
            if loss.sum() < EVIDENCE:
                self.open.append(f"reading of {names[p]}: another fits a little better, but is doubtful, because "
                                 "its effort hardly depends on the model's bodies; it is left as written")  # fmt: skip
                choice, fit = written, compared.fit(written)
        return choice

    def starts(self, compared: ComparedColumns, candidates: Sequence[int]) -> list[Reading]:
        """Readings by names and units; those without a unit in the two that fit best as they stand."""
        model, n = self.model, len(self.model.places)
        free = list(range(len(candidates)))
        columns: list[int] = [-1] * n
        for place in range(n):
            own = [c for c in free if self.numbers[candidates[c]] == place]
            if own:
                columns[place] = own[0]
                free.remove(own[0])
        for place in (p for p in range(n) if columns[p] < 0):
            columns[place] = free.pop(0)
        written = [_size(self.headings[candidates[c]].unit) for c in columns]
        found = dict[tuple[Any, ...], tuple[float, Reading]]()
        for k, motor in product(range(3), (False, True) if model.coupled else (False,)):
            sizes = [list(ANGLES.values())[k] if angular else list(LENGTHS.values())[k] for angular in model.angular]
            scale = np.array([own or size for own, size in zip(written, sizes, strict=True)])
            choice = Reading(tuple(columns), scale, np.ones(n), np.zeros(n), motor)
            cost = compared.fit(choice).cost + (0.0, 0.2, 1.0)[k]
            found.setdefault((motor, *scale.tolist()), (cost, choice))
        best = sorted(found.values(), key=lambda one: one[0])
        return [choice for _, choice in best[:2]]

    def describe_positions(
        self, choice: Reading, start: Reading, candidates: Sequence[int], compared: ComparedColumns, fit: Explained
    ) -> list[SignalMapping]:
        """Signals of positions, and what is found of them."""
        model, signals = self.model, []
        names = model.places if choice.motor else model.regressor.joints
        # Where other columns are a motor's, a ratio near that of two units is a gear too.
        readings = [(choice.scale[p], ANGLES if model.angular[p] else LENGTHS) for p in range(len(names))]
        fit_here = float(fit.scores().sum())
        geared = any(_unit_of(size, sizes, "")[1] != 1.0 for size, sizes in readings)
        if choice.motor:
            what = "positions are those of the motors of coupled axes, and are used as such"
            self.findings.append(Finding("positions", "coupled axes", what, "", ""))
        for p, name in enumerate(names):
            column = candidates[choice.columns[p]]
            heading, signal = self.headings[column], f"{name}.position"
            sizes = ANGLES if model.angular[p] else LENGTHS
            unit, gear = _unit_of(choice.scale[p], sizes, heading.unit)
            if geared and heading.unit in sizes and unit != heading.unit:
                unit, gear = heading.unit, float(f"{sizes[heading.unit] / choice.scale[p]:.4g}")
            size = sizes[unit]
            # signal = sign (column - offset) / gear
            offset = -choice.sign[p] * choice.shift[p] * gear
            signals.append(SignalMapping(signal, heading.column, unit, choice.sign[p], float(offset), gear=gear))
            if choice.columns[p] != start.columns[p]:
                what = f"moves as {name} does, not as its name says: columns are swapped"
                self.tell(heading, "swapped joints", what, _EXCHANGED, signal)
            self.tell_unit(heading, unit, size, signal)
            if choice.sign[p] < 0:
                what = f"runs against the model's {name}"
                self.tell(heading, "wrong sign", what, "sign = -1", signal)
            if choice.shift[p]:
                shown = f"{np.degrees(choice.shift[p]):.4g} deg" if model.angular[p] else f"{choice.shift[p]:.4g} m"
                what = f"is {shown} less than the model's {name}" if choice.shift[p] > 0 else (
                    f"is {shown.removeprefix('-')} more than the model's {name}")  # fmt: skip
                self.tell(heading, "offset", what, f"offset = {offset / size:.6g}", signal)
            if gear != 1.0:
                what = f"turns {gear:.4g} times as far as {name}: it is the motor's, or counts of an encoder"
                self.tell(heading, "gear ratio", what, f"gear = {gear:.4g}", signal)
                near = _near_counts(gear * (2 * np.pi / size if model.angular[p] else 1.0))
                what = f"{gear:.4g} is as accurate as the model's masses{near}"
                others = [choice.changed(p, scale=size * choice.scale[p]) for size in (1 / OTHER_GEARS, OTHER_GEARS)]
                if not compared.e.shape[1] or min(compared.fit(o).scores().sum() for o in others) < fit_here + TOLD:
                    what = f"not only {gear:.4g} explains the efforts, but much larger or smaller ones as well"
                self.open.append(f"gear of '{heading.column}': {what}, write the one that is known")
        self.describe_open(choice, compared, fit, names)
        return signals

    def describe_open(self, choice: Reading, compared: ComparedColumns, fit: Explained, names: Sequence[str]) -> None:
        """What other choices would explain as well."""
        flips = list[tuple[int, ...]]()
        if not compared.e.shape[1]:
            if not self.open:
                self.open.append("signs, offsets and order of the axes: there is no effort to compare with")
            return

        def loses(other: Reading) -> float:
            """How much less another reading explains, whatever it costs to be not as written."""
            explained = compared.fit(other)
            return explained.cost - explained.trust - (fit.cost - fit.trust)

        angular = np.flatnonzero(self.model.angular)
        for p in angular.tolist():
            turned = [choice.changed(p, shift=choice.shift[p] + turn) for turn in (QUARTER, np.pi)]
            nearby = [choice.changed(p, shift=choice.shift[p] + turn) for turn in (-NEARBY, NEARBY)]
            if max(map(loses, turned)) < TOLD:
                self.open.append(f"offset of {names[p]}: any quarter turn explains the efforts equally well")
            elif min(map(loses, nearby)) < TOLD:
                what = f"{np.degrees(NEARBY):.0f} deg more or less explain the efforts about as well"
                self.open.append(f"offset of {names[p]}: {what}")
            elif abs(wrapped(choice.shift[p]) / QUARTER % 1 - 0.5) < 0.5 - ODD_ANGLE / QUARTER:
                what = f"{np.degrees(choice.shift[p]):.3g} deg are as accurate as the model's masses"
                self.open.append(f"offset of {names[p]}: {what}, write the angle that is known")
        # Mirrored motions: of a planar arm without weight all axes may be the other way round together.
        for count in range(1, angular.size + 1 if angular.size <= MIRRORED else 2):
            for group in combinations(angular.tolist(), count):
                flip = np.where(np.isin(range(len(names)), group), -1.0, 1.0)
                mirrored = replace(choice, sign=choice.sign * flip, shift=choice.shift * flip)
                if loses(mirrored) < TOLD and not any(set(group) > set(one) for one in flips):
                    flips.append(group)
        for group in flips:
            who = " and ".join(names[p] for p in group)
            self.open.append(f"sense of {who}: positions and efforts may both be reversed")

    def describe_efforts(
        self,
        choice: Reading,
        fit: Explained,
        candidates: Sequence[int],
        efforts: Sequence[int],
        compared: ComparedColumns,
    ) -> tuple[list[Match], list[SignalMapping]]:
        """Signals of efforts, and how well they are explained."""
        model, matches, signals = self.model, list[Match](), list[SignalMapping]()
        needed = self.needed(choice, candidates) if efforts else None
        delays, correlations = dict[int, float](), fit.correlations()
        for p, place in enumerate(model.places):
            c = int(fit.assigned[p])
            if c < 0:
                matches.append(Match(place, "", "", None, None))
                continue
            column = efforts[c]
            heading = self.headings[column]
            if self.rests(choice, p, candidates):
                # Friction of an axis at rest may be anything: its effort tells nothing.
                matches.append(Match(place, heading.column, model.efforts[p], None, None))
                signals += self.as_named(p, heading)
                continue
            correlation = float(correlations[p])
            matches.append(Match(place, heading.column, model.efforts[p], correlation, float(np.sqrt(fit.left[p, c]))))
            named = compared.named[c]
            if named is not None and named != p:
                what = f"follows the load of {place}, not of {model.places[named]}: columns are swapped"
                self.tell(heading, "swapped efforts", what, _EXCHANGED, model.efforts[p])
            signal = self.describe_effort(p, heading, float(fit.gains[p, c]), float(fit.signs[p, c]), correlation)
            signals.append(signal)
            written = self.headings[candidates[choice.columns[p]]]
            larger = compared.fit(choice.changed(p, scale=1.5 * choice.scale[p])).scores()[p]
            sized = signal.factor == 1.0 and signal.gear == 1.0
            if not written.unit and not sized and larger < fit.scores()[p] + TOLD:
                what = f"another explains '{heading.column}' equally well, in another size; write its unit or gear"
                self.open.append(f"size of '{written.column}': {what}")
            late = None
            if needed is not None and correlation > 0.5:
                late = self.effort_delay(column, needed, p, fit.signs[p, c])
            if late is not None:
                delays[len(signals) - 1] = late
        scaled = [f"'{signal.column}'" for signal in signals if signal.factor != 1.0 or signal.gear != 1.0]
        if scaled:
            what = f"size of {', '.join(scaled)}: as accurate as the model's masses, some per cent at best"
            self.open.append(f"{what}; write what is known, or record with a known load too (identify --gains)")
        # One logger makes all efforts late by as much. What a few of many show may be a law that the model lacks, and
        # what comes before its cause is one.
        common = float(np.median([*delays.values()])) if delays else 0.0
        if len(delays) * 2 >= len(signals) and all(abs(one - common) < 0.4 * abs(common) for one in delays.values()):
            delays = dict.fromkeys(range(len(signals)), common)
        elif delays and (len(delays) * 3 < len(signals) or (len(delays) * 2 < len(signals) and common < 0)):
            few = ", ".join(f"'{signals[k].column}' {1e3 * one:.3g} ms" for k, one in delays.items())
            self.open.append(f"whether efforts come late: {few}, others not clearly; `robodyn identify` tells more")
            delays = {}
        for k, late in delays.items():
            signals[k] = self.with_delay(signals[k], late, "the effort", "what the motion needs")
        return matches, signals

    def as_named(self, p: int, heading: Heading) -> list[SignalMapping]:
        """The signal of an effort by its heading alone; none of a current of which no drive is known."""
        if heading.kind != "current":
            return [SignalMapping(self.model.efforts[p], heading.column, heading.unit)]
        drive = self.model.currents[p]
        return [] if drive is None else [SignalMapping(drive[0], heading.column, heading.unit or "A")]

    def rests(self, choice: Reading, p: int, candidates: Sequence[int]) -> bool:
        """Whether a place does not move: no joint does by which it goes."""
        own = [candidates[choice.columns[p]]] if choice.motor else [
            candidates[c] for c, lever in zip(choice.columns, self.model.A[p], strict=True) if lever]  # fmt: skip
        return not any(self.log.moves[k] for k in own)

    def judge(self, choice: Reading, fit: Explained, candidates: Sequence[int], efforts: Sequence[int]) -> str:
        """A sentence if the log is another robot's, "" if it is this one's or that is open."""
        places = np.flatnonzero(fit.assigned >= 0)
        moving = [p for p in places.tolist() if not self.rests(choice, p, candidates)]
        if not moving:
            return ""
        told = np.sort(fit.correlations()[moving])[::-1]
        columns = fit.assigned[moving]
        left = np.sqrt(fit.left[moving, columns])
        # Efforts in whatever unit are rarely larger than the model's numbers, and then follow it closely.
        sizes = np.array([_size(self.headings[efforts[c]].unit) or 1.0 for c in columns])
        strange = (left > LEFT / 3) & (fit.gains[moving, columns] * sizes > HUGE)
        strange |= (left > LEFT) & (fit.correlations()[moving] < FOREIGN)
        # One axis alone may follow by chance, as all weights and inertias are alike.
        second, middle = told[min(1, told.size - 1)], np.median(told)
        said = f"efforts have correlations of {', '.join(f'{one:.2f}' for one in told)} with what the model needs"
        weak = second < FOREIGN or (middle < DOUBTFUL and left.max() > LEFT)
        if strange.any():
            said = f"{int(strange.sum())} of {len(moving)} efforts do not follow, or have a strange size; {said}"
        if weak or strange.mean() > 0.3:
            return f"{said} beside friction: the log is another robot's, or the model has other bodies"
        if middle < FOREIGN and left.max() > LEFT / 2:
            self.open.append(f"whether this is the robot: {said} beside friction")
        return ""

    def describe_effort(self, p: int, heading: Heading, gain: float, sign: float, correlation: float) -> SignalMapping:
        """The signal of one place's effort: unit, sign, gear or torque constant by the gain of the model's force."""
        model, place = self.model, self.model.places[p]
        signal, sizes = model.efforts[p], TORQUES if model.angular[p] else PULLS
        si = "N m" if model.angular[p] else "N"
        if sign < 0 and correlation < UNSURE:
            self.open.append(f"sign of '{heading.column}': it may act against the model's drive on {place}, which is "
                             "doubtful, as it hardly depends on the model's bodies")  # fmt: skip
            sign = 1.0
        elif sign < 0:
            what = f"acts against the model's drive on {place}"
            self.tell(heading, "wrong sign", what, "sign = -1", signal)
        ratio = 1 / gain if gain > 0 else 1.0
        if correlation < UNSURE:
            self.open.append(f"size of '{heading.column}': it hardly depends on the model's bodies")
            ratio = _size(heading.unit) or 1.0 if heading.kind == "effort" else 1.0
        if heading.kind == "current":
            unit = heading.unit or "A"
            own = model.currents[p]
            ratio /= _size(unit) or 1.0
            if own is not None and correlation >= UNSURE and 1 / NEAR < ratio / own[1] < NEAR:
                return SignalMapping(own[0], heading.column, unit, sign)
            what = f"is a current, {ratio:.4g} {si} of the model's {place} to the ampere"
            self.tell(heading, "current", what, f'factor = "{ratio:.4g} {si}/A"', signal)
            return SignalMapping(signal, heading.column, unit, sign, factor=ratio, factor_unit=f"{si}/A")
        written = _size(heading.unit) if heading.unit else None
        if written is not None and not any(same_quantity(heading.unit, name) for name in ("N m", "N")):
            what = f"is in {heading.unit}, with {ratio:.4g} {si} of the model's {place} to the number"
            self.tell(heading, "size", what, f'unit = "{si}", factor = {ratio:.4g}', signal)
            return SignalMapping(signal, heading.column, si, sign, factor=ratio)
        ratio = ratio / (written or 1.0)
        unit = heading.unit or si
        # The gain of an effort that hardly follows is hardly known.
        near = NEAR if correlation > DOUBTFUL else NEAR**3
        if 1 / near < ratio < near:
            return SignalMapping(signal, heading.column, unit, sign)
        if not heading.unit:
            close = [name for name, size in sizes.items() if 1 / 1.3 < ratio / size < 1.3]
            if close:
                self.tell_unit(heading, close[0], sizes[close[0]], signal)
                return SignalMapping(signal, heading.column, close[0], sign)
        if ratio > 1 and (heading.unit or heading.kind == "effort"):
            own = model.currents[p]
            what = f"is {ratio:.4g} times less than the model's {place} needs: before a gear, or a current"
            if own is not None and 1 / 1.3 < ratio / own[1] < 1.3:
                what = f"is the drive's current: {ratio:.4g} {si} of {place} to the ampere, {own[1]:.4g} by the model"
                self.tell(heading, "current", what, 'unit = "A"', own[0])
                return SignalMapping(own[0], heading.column, "A", sign)
            kind, remedy = "gear ratio", f"gear = {ratio:.4g}"
            if not heading.unit:
                kind, remedy = "current or gear ratio", f'{remedy}, or unit = "A", factor = "{ratio:.4g} {si}/A"'
            self.tell(heading, kind, what, remedy, signal)
            return SignalMapping(signal, heading.column, unit, sign, gear=ratio)
        what = f"is {1 / ratio:.4g} times what the model's {place} needs: another unit, per cent, or a current"
        self.tell(heading, "size", what, f"factor = {ratio:.4g}", signal)
        return SignalMapping(signal, heading.column, unit, sign, factor=ratio)

    def needed(self, choice: Reading, candidates: Sequence[int]) -> Array:
        """What the model needs at all places, over the whole log, nan where that is not known."""
        smooth, v, a, _ = self.filtered
        there = np.isfinite(np.hstack([smooth[:, candidates], v[:, candidates], a[:, candidates]])).all(axis=1)
        x, dx, ddx = (m[there][:, candidates] for m in (smooth, v, a))
        whole = ComparedColumns(self.model, x, dx, ddx, x[:, :0], np.zeros(0), ())
        found = np.full((len(smooth), 2 * len(self.model.places)), np.nan)
        q, speed, acceleration = whole.motion(choice)
        found[there] = np.hstack([self.model.forces(q, speed, acceleration), speed @ self.model.A.T])
        return found

    def effort_delay(self, column: int, needed: Array, p: int, sign: float) -> float | None:
        """The time by which an effort comes later than what the motion needs [s]."""
        smooth, _, _, rate = self.filtered
        n = len(self.model.places)
        force, speed = needed[:, p], needed[:, n + p]
        row = np.arange(len(smooth)) / rate
        own = np.isfinite(smooth[:, column])
        X = np.column_stack([force, np.tanh(speed / (0.02 * np.nanmax(np.abs(speed)))), speed, np.ones(len(row))])
        total: float | None = None
        for _ in range(4):
            # What the model explains of the effort as it would be without the delay found so far.
            y = np.interp(row + (total or 0.0), row[own], sign * smooth[own, column], np.nan, np.nan)
            there = np.isfinite(force) & np.isfinite(y)
            fitted = np.where(there, X @ np.linalg.lstsq(X[there], y[there])[0], np.nan)
            found = _late(fitted, np.where(own, sign * smooth[:, column], np.nan), rate, self.least_delay)
            if found is None:
                return None
            if total is not None and abs(found - total) < 1e-4:
                break
            total = found
        return total

    def with_delay(self, signal: SignalMapping, delay: float, what: str, than: str) -> SignalMapping:
        late = f"comes {1e3 * abs(delay):.3g} ms {'later' if delay > 0 else 'earlier'} than {than}"
        self.tell(signal, "delay", late, f'delay = "{1e3 * delay:.3g} ms"', signal.name)
        return replace(signal, delay=round(delay, 6))

    def describe_rates(self, choice: Reading, candidates: Sequence[int]) -> Iterator[SignalMapping]:
        """Signals of speeds and accelerations, by the derivatives of the positions."""
        from scipy.optimize import linear_sum_assignment

        smooth, v, a, rate = self.filtered
        model = self.model
        names = model.places if choice.motor else model.regressor.joints
        size = choice.sign * choice.scale
        for kind, derived in (("velocity", v), ("acceleration", a)):
            columns = self.pick(kind)
            if kind == "velocity" and not columns:
                columns = [self.derived[k] for k in candidates if self.headings[k].kind == "" and k in self.derived]
            own = derived[:, [candidates[c] for c in choice.columns]] * size
            there = np.isfinite(np.hstack([smooth[:, columns], own])).all(axis=1)
            if not columns or there.sum() < 30:
                continue
            x, y = own[there], smooth[there][:, columns]
            alike = np.array([[correlate(x[:, p], y[:, c]) for c in range(len(columns))] for p in range(len(names))])
            wanted = np.array([[0.02 * (self.numbers[k] == p) for k in columns] for p in range(len(names))])
            places, chosen = linear_sum_assignment(-np.abs(alike) - wanted)
            for p, c in zip(places.tolist(), chosen.tolist(), strict=True):
                heading = self.headings[columns[c]]
                signal = f"{names[p]}.{kind}"
                if abs(alike[p, c]) < 0.8:
                    self.open.append(f"'{heading.column}': it is no {kind} of any axis (correlation {alike[p, c]:.2f})")
                    continue
                named = self.numbers[columns[c]]
                if named is not None and named != p:
                    what = f"is the {kind} of {names[p]}, not as its name says: columns are swapped"
                    self.tell(heading, "swapped joints", what, _EXCHANGED, signal)
                gain = float(y[:, c] @ x[:, p] / (x[:, p] @ x[:, p]))
                sizes = SPEEDS if model.angular[p] else SLIDES
                if kind == "acceleration":
                    sizes = {f"{name}/s": value for name, value in sizes.items() if name.endswith("/s")}
                    sizes = {name.replace("/s/s", "/s^2"): value for name, value in sizes.items()}
                unit, gear = _unit_of(1 / abs(gain), sizes, heading.unit)
                if alike[p, c] < 0:
                    what = f"runs against the derivative of {names[p]}.position"
                    self.tell(heading, "wrong sign", what, "sign = -1", signal)
                self.tell_unit(heading, unit, sizes[unit], signal)
                if gear != 1.0:
                    what = f"is {gear:.4g} times the derivative of the position: a motor's"
                    self.tell(heading, "gear ratio", what, f"gear = {gear:.4g}", signal)
                mapped = SignalMapping(signal, heading.column, unit, float(np.sign(alike[p, c])), gear=gear)
                delay = _late(own[:, p] * np.sign(alike[p, c]), smooth[:, columns[c]], rate, self.least_delay)
                yield mapped if delay is None else self.with_delay(mapped, delay, kind, "the position's derivative")

    def describe_commands(self, choice: Reading, candidates: Sequence[int]) -> Iterator[SignalMapping]:
        """Signals of commanded positions: the references that controllers of the model follow."""
        smooth, _, _, rate = self.filtered
        model = self.model
        targets = _targets(model)
        names = model.places if choice.motor else model.regressor.joints
        for column in self.pick("position", command=True):
            p, heading = self.numbers[column], self.headings[column]
            if p is None:
                continue
            own = smooth[:, candidates[choice.columns[p]]]
            there = np.isfinite(own) & np.isfinite(smooth[:, column])
            alike = [correlate(smooth[there, candidates[c]], smooth[there, column]) for c in choice.columns]
            best = int(np.argmax(np.abs(alike)))
            if abs(alike[best]) > abs(alike[p]) + 0.1:
                what = f"commands {names[best]}, not {names[p]}: columns are swapped"
                self.tell(heading, "swapped joints", what, "exchange them", targets.get(best, ""))
                p = best
                own = smooth[:, candidates[choice.columns[p]]]
            if abs(alike[p]) < 0.5:
                self.open.append(f"'{heading.column}': {names[p]} does not follow it (correlation {alike[p]:.2f})")
                continue
            if p not in targets:
                continue
            x = own[there] * choice.scale[p]
            y = smooth[there, column]
            gain = float(np.cov(x, y)[0, 1] / np.var(x))
            sizes = ANGLES if model.angular[p] else LENGTHS
            unit, gear = _unit_of(1 / abs(gain), sizes, heading.unit)
            sign = float(np.sign(gain)) * choice.sign[p]
            middle = choice.sign[p] * np.mean(x) + choice.shift[p] - sign * np.mean(y) * sizes[unit] / gear
            shift = float(np.round(middle / QUARTER) * QUARTER) if model.angular[p] else 0.0
            if abs(middle) > 0.3 and shift:
                shown = f"is {np.degrees(shift):.4g} deg off the position that it commands"
                self.tell(heading, "offset", shown, f"offset = {-sign * shift / sizes[unit]:.6g}", targets[p])
            if sign < 0:
                self.tell(heading, "wrong sign", f"runs against {names[p]}", "sign = -1", targets[p])
            yield SignalMapping(targets[p], heading.column, unit, sign, -sign * shift * gear, gear=gear)


_EXCHANGED = "the mapping has them exchanged"
_OTHER = (
    "choose the scenario of this robot, correct the bodies, or write the gears of motor positions; signs and offsets "
    "cannot be determined this way"
)


def _merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Sentences that several columns share said once."""
    merged: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        merged.setdefault((finding.kind, finding.what), []).append(finding)
    said = []
    for same in merged.values():
        places = [f.where.removeprefix("column ") for f in same]
        where = same[0].where if len(same) == 1 else f"columns {', '.join(places)}"
        said.append(replace(same[0], where=where))
    return tuple(said)


def _near_counts(counts: float) -> str:
    """Counts of a turn or a metre that encoders have, near to those of a fit."""
    usual = [2.0**k for k in range(8, 25)] + [first * 10.0**k for k in range(2, 9) for first in (1.0, 2.0, 3.6, 5.0)]
    near = [f"{own:,.0f}" for own in sorted(usual) if 0.85 < counts / own < 1.18]
    return f" (near {' or '.join(near)} counts)" if near else ""


def _size(unit: str) -> float | None:
    known = known_unit(unit) if unit else None
    return known.factor if known else None


def _unit_of(scale: float, sizes: dict[str, float], written: str) -> tuple[str, float]:
    """The unit of a column whose numbers are `scale` in SI, and a gear that is left."""
    for unit in [written, *sizes] if written in sizes else list(sizes):
        if 1 / SAME < scale / sizes[unit] < SAME:
            return unit, 1.0
    unit = written if written in sizes else next(iter(sizes))
    return unit, float(f"{sizes[unit] / scale:.4g}")


def _late(x: Array, y: Array, rate: float, least: float) -> float | None:
    """The time by which y comes later than x [s], None where that is less than `least` or not clear."""
    there = np.isfinite(x) & np.isfinite(y)
    if there.sum() < 200:
        return None
    time = np.arange(x.size) / rate
    x, y = (np.interp(time, time[there], column[there]) for column in (x, y))
    first, last = np.flatnonzero(there)[[0, -1]]
    time, x, y = (column[first : last + 1] for column in (time, x, y))
    whole, alike = find_delay(x, y, rate, 0.25)
    if alike < 0.5:
        return None
    # Windows tell how sure the delay is.
    _, lags = window_delays(time, x, time - whole, y, rate)
    if lags.size < 3:
        return None
    delay, scatter = whole + float(np.median(lags)), float(np.std(lags))
    clear = max(3 * scatter / np.sqrt(lags.size), scatter, least)
    return delay if abs(delay) > clear else None


def _targets(model: DrivenPlaces) -> dict[int, str]:
    """Signal of the reference that a controller of each place follows."""
    units = {info.name: info.unit for info in model.system.signals}
    found: dict[int, str] = {}
    for p, place in enumerate(model.places):
        unit = units.get(f"{place}.position", "rad")
        for block in model.system.scenario.machine.all_blocks:
            for key, signal in block.inputs.items():
                wanted = key in ("target", "reference", "setpoint", "command", "position_ref", "position_command")
                about = block.on == place or block.inputs.get("position") == f"{place}.position"
                if wanted and about and isinstance(signal, str) and units.get(signal) in (unit, ""):
                    found.setdefault(p, signal)
    return found
