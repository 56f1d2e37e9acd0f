"""Mapping of a log proposed: which column is which signal of a model, in which unit, sign, offset and gear?

Symbols: s_p position of a place on which a drive acts, a joint or a motor of coupled axes, x_c columns, tau_p what the
model needs there by its inverse dynamics, e_c columns of efforts, g > 0 a gain, h(w) a step smoothed.

    s_p = sign scale x_c + shift,   e_c ~ +-(g tau_p(q, v, a) + C h(v_p) + B v_p) + constant,   g, C, B >= 0

What is looked for are the discrete choices (columns, signs, units, quarter turns) by which most of the efforts follows
from the motion: sum_p log(1 - R_p^2) is least. Where choices hardly differ the log cannot tell them, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.identification.identify import effort_levers
from robodyn.analysis.identification.log_clock import Finding, LogTable, read_log
from robodyn.analysis.identification.motion_rows import drives_of
from robodyn.analysis.identification.regressor import Regressor, make_regressor
from robodyn.analysis.measurement.data_sheet import estimate_noise
from robodyn.analysis.measurement.measured import find_delay, refine_delay
from robodyn.analysis.measurement.responses import LowPass, differentiate
from robodyn.base.errors import refuse
from robodyn.base.units import known_unit
from robodyn.base.waiting import report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.computation.native import compile_kernels
from robodyn.computation.results.signal import Floats
from robodyn.description.files.samples.headings import Heading, number_joints, read_heading
from robodyn.description.files.samples.reading import DataMapping, SignalMapping
from robodyn.description.files.samples.writing import mapping_text
from robodyn.description.model import Scenario

ROWS = 300
"""At which choices are compared."""
BAND = 8.0
"""Highest frequency of the comparison [Hz]: weight and inertia of machines are below it, noise is above."""
CLEAR = 0.02
"""Share that is left of efforts that clearly follow."""
FINE = 1e-3
"""Share of an effort that is left and not worth a choice: models are not better before they are identified."""
WORTH = 0.08
"""Least gain in the sum of logarithms that a choice other than the names' is worth."""
TOLD = 0.04
"""Gain below which a log does not tell two choices apart."""
FOREIGN, DOUBTFUL, LEFT = 0.55, 0.75, 0.5
"""Correlations of the model's second and middle axis below which a log is another robot's, the latter where more than
that share of an effort is left."""
HUGE = 10.0
"""An effort by the model's beyond which it is strange, unless it follows well."""
REACH = np.radians(10.0)
"""How far positions may lie beyond the limits of a joint."""
SLOW, MOVES = 0.02, 3.0
"""Share of its largest speed below which an axis rests, and for how long [s] a log moves that tells something."""
EVIDENCE = 0.3
"""Loss of the sum of logarithms of efforts that follow by which a reading is told."""
UNSURE = 0.3
"""Correlation below which an effort hardly tells how its axis is read."""
ANGLES = {"rad": 1.0, "deg": np.pi / 180, "rev": 2 * np.pi}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6}
SPEEDS = {"rad/s": 1.0, "deg/s": np.pi / 180, "rpm": np.pi / 30, "rev/s": 2 * np.pi, "mrad/s": 1e-3}
SLIDES = {"m/s": 1.0, "mm/s": 1e-3, "m/min": 1 / 60, "mm/min": 1e-3 / 60, "cm/s": 1e-2}
TORQUES = {"N m": 1.0, "mN m": 1e-3, "N cm": 1e-2, "kN m": 1e3}
PULLS = {"N": 1.0, "mN": 1e-3, "kN": 1e3}
MIRRORED = 7
"""Axes up to which all mirrored motions are looked at."""
SAME, NEAR = 1.12, 1.6
"""Ratios of two sizes up to which units of motions are the same, and of efforts, whose model is a guess."""
TOO_LARGE, TOO_SMALL = 0.3, 0.03
"""What an effort costs that is larger or smaller than the model's by more than that."""
TRUST = 0.03
"""What a sign or an offset costs that is not as written."""
MIXED = 0.1
"""What a column costs that is in another unit than those of its kind."""
COUPLED = 0.3
"""What it costs that columns are positions of motors of coupled axes and not of joints."""
LEAST_GAIN = 1 / 400
"""Gain below which no gear and no torque constant is."""
QUARTER = np.pi / 2


@dataclass(frozen=True)
class Match:
    """How well an effort follows from the motion by the model: correlation beside friction, and share that is left."""

    place: str
    column: str
    effort: str
    correlation: float | None
    left: float | None


@dataclass(frozen=True)
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
        head = [f"Columns of {self.source}, by comparison with the model: read it, and change what is not so."]
        head += [f"WARNING: {self.foreign}"] if self.foreign else []
        return mapping_text(self.mapping, [*head, *(f"not told by the log: {one}" for one in self.open)], self.remarks)


@dataclass(frozen=True, eq=False)
class _Model:
    """Places of drives, and what they need for a motion.

    Attributes:
        A: how places follow the joints, (n, n); limits (n, 2) of the joints; efforts: signal of each place's force.
        currents: signal of its current, and the force of an ampere, where the drive has one.
    """

    system: System
    regressor: Regressor
    places: tuple[str, ...]
    A: Floats
    limits: Floats
    angular: np.ndarray
    efforts: tuple[str, ...]
    currents: tuple[tuple[str, float] | None, ...]

    @cached_property
    def coupled(self) -> bool:
        return not np.array_equal(self.A, np.eye(len(self.A)))

    @cached_property
    def _kernel(self) -> Any:
        """Forces of joints by the scenario's numbers, friction that is linear in its numbers left out."""
        r = self.regressor
        state = ca.SX.sym("state", sum(r.function.size1_in(k) for k in range(3)))
        places = np.cumsum([0, *(r.function.size1_in(k) for k in range(3))]).tolist()
        Y, fixed = r.function(*ca.vertsplit(state, places))
        laws = {b.name for b in r.scenario.machine.all_blocks if b.info.disturbance}
        given = [0.0 if p.number.rpartition(".")[0] in laws else p.given for p in r.parameters]
        tau = ca.Function("needed", [state], [ca.densify(Y @ ca.DM(given) + fixed)])
        return compile_kernels({"needed": tau}, None).kernels["needed"]

    def forces(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Of the places, (n_rows, n)."""
        (tau,) = self._kernel.call_rows(np.hstack([self.regressor.complete(q), v, a]))
        return np.asarray(tau @ np.linalg.pinv(self.A))


def _model(system: System) -> _Model:
    regressor = make_regressor(system)
    drives = drives_of(system)
    joints = list(regressor.joints)
    places: list[str] = []
    A = np.zeros((0, len(joints)))
    # Joints first that have a drive of their own, then coordinates that drive the others.
    for place in [*(j for j in joints if j in drives), *(p for p in drives if p not in joints), *joints]:
        row = effort_levers(system, regressor, place)
        if row is None or len(places) == len(joints):
            continue
        if place not in places and np.linalg.matrix_rank(np.vstack([A, row])) > len(A):
            places.append(place)
            A = np.vstack([A, row])
    order = np.argsort([int(np.argmax(np.abs(row) * (1 + 1e-3 * np.arange(len(joints))))) for row in A], kind="stable")
    places, A = [places[k] for k in order], A[order]
    mechanism = system.scenario.machine.mechanism
    assert mechanism is not None
    owners = {joint.name: joint for joint in mechanism.joints}
    limits = np.tile([-np.inf, np.inf], (len(joints), 1))
    for k, name in enumerate(joints):
        if (joint := owners.get(name)) is not None:
            # None: there is no limit.
            ends = np.array([joint.lower_limit, joint.upper_limit], float)
            limits[k] = np.where(np.isnan(ends), limits[k], ends)
    units = {info.name: info.unit for info in system.signals}
    efforts, currents = [], list[tuple[str, float] | None]()
    blocks = {block.name: block for block in system.scenario.machine.all_blocks}
    for place in places:
        signal = next(iter(drives.get(place, [])), f"{place}.effort")
        owner = signal.rpartition(".")[0]
        block = blocks.get(owner)
        constant = block.parameters.get("torque_constant") if block is not None else None
        gear = block.parameters.get("gear", 1.0) if block is not None else 1.0
        known = f"{owner}.current" in units and isinstance(constant, (int, float)) and isinstance(gear, (int, float))
        efforts.append(signal)
        currents.append((f"{owner}.current", float(constant) * float(gear)) if known else None)  # type: ignore[arg-type]
    angular = np.array([unit == "N m" for unit in regressor.forces])[order]
    return _Model(system, regressor, tuple(places), A, limits, angular, tuple(efforts), tuple(currents))


@dataclass(frozen=True, eq=False)
class _Choice:
    """Which column each place's position is, and how it is read; motor: whether those of places, not of joints."""

    columns: tuple[int, ...]
    scale: Floats
    sign: Floats
    shift: Floats
    motor: bool = False

    def changed(self, place: int, **new: Any) -> _Choice:
        arrays = {}
        for name, value in new.items():
            arrays[name] = getattr(self, name).copy()
            arrays[name][place] = value
        return replace(self, **arrays)

    def reads(self, place: int) -> tuple[float, ...]:
        """Column, scale, sign and shift of a place."""
        return self.columns[place], self.scale[place], self.sign[place], self.shift[place]

    def swapped(self, i: int, j: int) -> _Choice:
        columns = list(self.columns)
        columns[i], columns[j] = columns[j], columns[i]
        return replace(self, columns=tuple(columns))


@dataclass(frozen=True, eq=False)
class _Fit:
    """What choices of a motion leave of the efforts: cost, columns of efforts by places, gains and their signs."""

    cost: float
    left: Floats
    assigned: np.ndarray
    gains: Floats
    signs: Floats
    beside: Floats

    def scores(self) -> Floats:
        """Logarithm of what is left of each place's effort, 0 where it has none."""
        rows = np.flatnonzero(self.assigned >= 0)
        found = np.zeros(len(self.assigned))
        found[rows] = np.log(self.left[rows, self.assigned[rows]] + FINE)
        return found

    def correlations(self) -> Floats:
        """Of each place's effort with the model's beside friction, 0 where it has none."""
        rows = np.flatnonzero(self.assigned >= 0)
        found = np.zeros(len(self.assigned))
        own = rows, self.assigned[rows]
        found[rows] = np.sqrt(np.maximum(self.beside[own], 0.0)) * (self.gains[own] > 0)
        return found

    @property
    def clear(self) -> bool:
        """Whether most efforts follow from the motion, in their size: no other unit would do."""
        if not self.left.size:
            return True
        places = np.flatnonzero(self.assigned >= 0)
        left, gains = (m[places, self.assigned[places]] for m in (self.left, self.gains))
        return bool(np.median(left) < CLEAR and np.all(gains[left < CLEAR] < NEAR))


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Filtered columns at the rows of the comparison.

    Attributes:
        x, v, a: positions and their rates, (n, columns); e: efforts (n, columns); named: place of each effort column.
    """

    model: _Model
    x: Floats
    v: Floats
    a: Floats
    e: Floats
    named: tuple[int | None, ...]

    def motion(self, choice: _Choice) -> tuple[Floats, Floats, Floats]:
        """q, v, a of the joints."""
        own = list(choice.columns)
        size = choice.sign * choice.scale
        s, v, a = self.x[:, own] * size + choice.shift, self.v[:, own] * size, self.a[:, own] * size
        if choice.motor:
            back = np.linalg.inv(self.model.A).T
            return s @ back, v @ back, a @ back
        return s, v, a

    def fit(self, choice: _Choice, named_only: bool = False) -> _Fit:
        """How much of the efforts follows."""
        from scipy.optimize import linear_sum_assignment

        q, v, a = self.motion(choice)
        beyond = np.maximum(q - self.model.limits[:, 1] - REACH, 0) + np.maximum(self.model.limits[:, 0] - REACH - q, 0)
        cost = 2.0 * float(np.mean(beyond > 0, axis=0).sum())
        cost += TRUST * float(np.sum(choice.sign < 0) + np.sum(choice.shift != 0))
        cost += COUPLED * choice.motor
        cost += MIXED * sum(
            int(own.sum()) - int(np.unique(np.round(np.log(choice.scale[own]), 3), return_counts=True)[1].max())
            for own in (self.model.angular, ~self.model.angular) if own.any()
        )  # fmt: skip
        n, c = len(self.model.places), self.e.shape[1]
        if not c:
            none = np.zeros((n, 0))
            return _Fit(cost, none, np.full(n, -1), none, none, none)
        with np.errstate(all="ignore"):
            try:
                force = self.model.forces(q, v, a)
            except ValueError:
                force = np.full(q.shape, np.nan)
        speed = v @ self.model.A.T
        soft = 0.02 * np.maximum(np.abs(speed).max(axis=0), 1e-12)
        X = np.stack([force, np.tanh(speed / soft), speed], axis=-1)
        left, gains, signs, friction = _explain(np.where(np.isfinite(X), X, 0.0), self.e)
        score = np.log(left + FINE)
        # Names are believed where the log does not contradict.
        wanted = np.array([[0.0 if k is None or k == p else WORTH for k in self.named] for p in range(n)])
        wanted = np.where(np.isin(np.arange(n), [k for k in self.named if k is not None])[:, None], wanted, 0.0)
        rows, columns = linear_sum_assignment(score + (50.0 if named_only else 1.0) * wanted)
        assigned = np.full(n, -1)
        assigned[rows] = columns
        cost += float((score + wanted)[rows, columns].sum())
        # Efforts are rarely larger than those needed, but smaller before a gear, or as a current.
        gain = gains[rows, columns]
        unlikely = (gain > NEAR) | (gain < LEAST_GAIN)
        cost += float(np.sum(np.where(unlikely, TOO_LARGE, np.where(gain < 1 / NEAR, TOO_SMALL, 0.0))))
        # Of mirrored motions the one is believed that changes least of what is written.
        cost += TRUST * float(np.sum(signs[rows, columns] < 0))
        beside = 1 - left / np.maximum(friction, 1e-12)
        return _Fit(cost, left, assigned, gains, signs, beside)


_SUBSETS = np.array([row for row in product((0.0, 1.0), repeat=3) if any(row)])
"""Of the three regressors, 1 where one is used."""


def _explain(X: Floats, e: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Least squares of every column by every place's three regressors with coefficients of one sign.

    Args:
        X: (n, places, 3); e: (n, columns), means taken off.

    Returns:
        share that is left (places, columns), gain of the first regressor, sign, and share left without the first.
    """
    rows, n, _ = X.shape
    flat = X.reshape(rows, -1)
    flat = flat - flat.mean(axis=0)
    sizes = np.maximum(np.sqrt(np.einsum("rk,rk->k", flat, flat)), 1e-300)
    flat = flat / sizes
    whole = np.maximum(np.einsum("rc,rc->c", e, e), 1e-300)
    G = (flat.T @ flat).reshape(n, 3, n, 3)[range(n), :, range(n)] + 1e-9 * np.eye(3)
    b = (flat.T @ e).reshape(n, 3, -1)
    # All subsets at once: what is not used has the equation y = 0.
    mask = _SUBSETS[:, None, :, None]
    used = G * mask * _SUBSETS[:, None, None, :] + np.eye(3) * (1 - mask)
    y = np.linalg.solve(used, b * mask)
    rest = whole - np.sum(y * b * mask, axis=2)
    alike = np.all(y >= 0, axis=2) | np.all(y <= 0, axis=2)
    rest = np.where(alike, np.clip(rest, 0.0, whole), whole)
    best = np.argmin(rest, axis=0)[None]
    left = np.take_along_axis(rest, best, 0)[0]
    signs = np.sign(np.take_along_axis(y.sum(axis=2), best, 0)[0])
    gains = np.abs(np.take_along_axis(y[:, :, 0], best, 0)[0]) / sizes.reshape(n, 3)[:, :1]
    plain = np.min(rest[_SUBSETS[:, 0] == 0], axis=0)
    explained = left < whole
    return left / whole, np.where(explained, gains, 0.0), np.where(explained & (signs < 0), -1.0, 1.0), plain / whole


@report_progress("comparing a log with")
def propose_mapping(
    scenario: Scenario | System, file: str | Path, mapping: DataMapping | None = None
) -> MappingProposal:
    """The mapping of a log to a model.

    Args:
        file: the log; mapping: what is known of its form (`[file]`, `[time]`), and names of columns that are right.
    """
    system = scenario if isinstance(scenario, System) else assemble(scenario)
    model = _model(system)
    log = read_log(Path(file), mapping)
    return _Proposer(model, log).propose()


@dataclass(frozen=True, eq=False)
class _Proposer:
    """A log and a model, and what is found on the way."""

    model: _Model
    log: LogTable
    findings: list[Finding] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)

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
        joints = self.model.regressor.joints
        for own in groups.values():
            of_joints = number_joints([self.headings[k] for k in own], joints)
            of_places = number_joints([self.headings[k] for k in own], self.model.places)
            for k, joint, place in zip(own, of_joints, of_places, strict=True):
                found[k] = joint if joint is not None else place
            missing = [k for k in own if found[k] is None]
            if len(missing) == len(own) == len(joints):
                for place, k in enumerate(own):
                    found[k] = place
        return found

    def pick(self, *kinds: str, command: bool = False) -> list[int]:
        """Columns of these quantities that move."""
        return [
            k for k, h in enumerate(self.headings) if h.kind in kinds and h.command == command and self.log.moves[k]
        ]

    @cached_property
    def filtered(self) -> tuple[Floats, Floats, Floats, float]:
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
            return numbered or found
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
        return {i: j for i, j in product(free, free) if i != j and _correlation(v[there, i], smooth[there, j]) > 0.97}

    def propose(self) -> MappingProposal:
        findings, model = self.findings, self.model
        findings += self.log.findings
        n = len(model.places)
        candidates = self.positions
        if len(candidates) < n:
            names = ", ".join(self.log.names)
            what = f"{len(candidates)} columns may be positions, the model has {n} axes"
            refuse("columns", f"{what}: {names}", "name columns like q1, q2 ... or joint names", self.log.source)
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
        compared = _Comparison(
            model, smooth[np.ix_(rows, candidates)], v[np.ix_(rows, candidates)], a[np.ix_(rows, candidates)],
            smooth[np.ix_(rows, efforts)] - smooth[np.ix_(rows, efforts)].mean(axis=0),
            tuple(self.numbers[k] for k in efforts),
        )  # fmt: skip
        search = _Search(compared)
        found = list[tuple[float, _Choice, _Choice]]()
        for start in self.starts(compared, candidates):
            found.append((*search.run(start), start))
            if compared.fit(found[-1][1]).clear:
                break
        cost, choice, start = min(found, key=lambda one: one[0])
        choice = search.finish(cost, choice)
        foreign = self.judge(choice, compared.fit(choice), candidates, efforts)
        choice = self.without_doubts(choice, start, compared)
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
            findings[:] = [f for f in findings if f.kind in _CLOCK] + [Finding("log", "another robot", foreign, _OTHER)]
        mapping = replace(self.log.mapping, signals=tuple(signals))
        remarks = {key: tuple(texts) for key, texts in self.remarks.items()}
        remarks["time"] = tuple(f"{f.kind}: {f.what}" for f in self.log.findings)
        for finding in findings:
            if finding.signal:
                remarks[finding.signal] = (*remarks.get(finding.signal, ()), f"{finding.kind}: {finding.what}")
        return MappingProposal(
            self.log.source, mapping, _merge(findings), tuple(matches), tuple(self.open), foreign, remarks
        )

    def without_doubts(self, choice: _Choice, start: _Choice, compared: _Comparison) -> _Choice:
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
                self.open.append("whether positions are those of joints, as is taken, or of motors of coupled axes")
                names = self.model.regressor.joints
        for p in np.flatnonzero(~clear).tolist():
            columns = start.columns if choice.columns[p] != start.columns[p] else choice.columns
            written = replace(choice, columns=columns)
            written = written.changed(p, sign=1.0, shift=0.0, scale=start.scale[p])
            if written.reads(p) == choice.reads(p):
                continue
            loss = compared.fit(written).scores()[clear] - fit.scores()[clear]
            if loss.sum() < EVIDENCE:
                self.open.append(f"reading of {names[p]}: another would do a little better, and is doubtful, as its "
                                 "effort hardly depends on the model's bodies; it is left as written")  # fmt: skip
                choice, fit = written, compared.fit(written)
        return choice

    def starts(self, compared: _Comparison, candidates: Sequence[int]) -> list[_Choice]:
        """By names and units; those without a unit in the two that fit best as they stand."""
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
        found = dict[tuple[Any, ...], tuple[float, _Choice]]()
        for k, motor in product(range(3), (False, True) if model.coupled else (False,)):
            sizes = [list(ANGLES.values())[k] if angular else list(LENGTHS.values())[k] for angular in model.angular]
            scale = np.array([own or size for own, size in zip(written, sizes, strict=True)])
            choice = _Choice(tuple(columns), scale, np.ones(n), np.zeros(n), motor)
            cost = compared.fit(choice).cost + (0.0, 0.2, 1.0)[k]
            found.setdefault((motor, *scale.tolist()), (cost, choice))
        best = sorted(found.values(), key=lambda one: one[0])
        return [choice for _, choice in best[:2]]

    def describe_positions(
        self, choice: _Choice, start: _Choice, candidates: Sequence[int], compared: _Comparison, fit: _Fit
    ) -> list[SignalMapping]:
        """Signals of positions, and what is found of them."""
        model, signals = self.model, []
        names = model.places if choice.motor else model.regressor.joints
        if choice.motor:
            what = "positions are those of the motors of coupled axes, and are taken as they are"
            self.findings.append(Finding("positions", "coupled axes", what, "", ""))
        for p, name in enumerate(names):
            column = candidates[choice.columns[p]]
            heading, signal = self.headings[column], f"{name}.position"
            sizes = ANGLES if model.angular[p] else LENGTHS
            unit, gear = _unit_of(choice.scale[p], sizes, heading.unit)
            size = sizes[unit]
            # signal = sign (column - offset) / gear
            offset = -choice.sign[p] * choice.shift[p] * gear
            signals.append(SignalMapping(signal, heading.column, unit, choice.sign[p], float(offset), gear=gear))
            where = f"column '{heading.column}'"
            if choice.columns[p] != start.columns[p]:
                what = f"moves as {name} does, not as its name says: columns are swapped"
                self.findings.append(Finding(where, "swapped joints", what, _EXCHANGED, signal))
            if not heading.unit and sizes[unit] != 1.0:
                what = f"has no unit in its heading, and is in {unit}"
                self.findings.append(Finding(where, "unit", what, f'unit = "{unit}"', signal))
            elif heading.unit and (_size(heading.unit) or size) != size:
                what = f"is said to be in {heading.unit}, and is in {unit}"
                self.findings.append(Finding(where, "unit", what, f'unit = "{unit}"', signal))
            if choice.sign[p] < 0:
                what = f"runs against the model's {name}"
                self.findings.append(Finding(where, "wrong sign", what, "sign = -1", signal))
            if choice.shift[p]:
                shown = f"{np.degrees(choice.shift[p]):.4g} deg" if model.angular[p] else f"{choice.shift[p]:.4g} m"
                what = f"is {shown} less than the model's {name}" if choice.shift[p] > 0 else (
                    f"is {shown.removeprefix('-')} more than the model's {name}")  # fmt: skip
                self.findings.append(Finding(where, "offset", what, f"offset = {offset / size:.6g}", signal))
            if gear != 1.0:
                what = f"turns {gear:.4g} times as far as {name}: it is the motor's"
                self.findings.append(Finding(where, "gear ratio", what, f"gear = {gear:.4g}", signal))
        self.describe_open(choice, compared, fit, names)
        return signals

    def describe_open(self, choice: _Choice, compared: _Comparison, fit: _Fit, names: Sequence[str]) -> None:
        """What other choices would explain as well."""
        if not compared.e.shape[1]:
            if not self.open:
                self.open.append("signs, offsets and order of the axes: there is no effort to compare with")
            return
        for p, name in enumerate(names):
            if self.model.angular[p]:
                turned = [compared.fit(choice.changed(p, shift=choice.shift[p] + k * QUARTER)).cost for k in (1, 2)]
                if max(turned) < fit.cost + TOLD:
                    self.open.append(f"offset of {name}: any quarter turn explains the efforts as well")
            flipped = choice.changed(p, sign=-choice.sign[p], shift=-choice.shift[p])
            if compared.fit(flipped).cost < fit.cost + TOLD:
                self.open.append(f"sense of {name}: its position and its effort together may be the other way round")

    def describe_efforts(
        self, choice: _Choice, fit: _Fit, candidates: Sequence[int], efforts: Sequence[int], compared: _Comparison
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
                where = f"column '{heading.column}'"
                self.findings.append(Finding(where, "swapped efforts", what, _EXCHANGED, model.efforts[p]))
            signal = self.describe_effort(p, heading, float(fit.gains[p, c]), float(fit.signs[p, c]), correlation)
            signals.append(signal)
            late = None
            if needed is not None and correlation > 0.5:
                late = self.effort_delay(column, needed, p, fit.signs[p, c])
            if late is not None:
                delays[len(signals) - 1] = late
        # One logger makes all efforts late by as much.
        common = float(np.median([*delays.values()])) if delays else 0.0
        if len(delays) * 2 > len(signals) and all(abs(one - common) < 0.4 * abs(common) for one in delays.values()):
            delays = dict.fromkeys(range(len(signals)), common)
        for k, late in delays.items():
            signals[k] = self.with_delay(signals[k], late, "the effort", "what the motion needs")
        return matches, signals

    def as_named(self, p: int, heading: Heading) -> list[SignalMapping]:
        """The signal of an effort by its heading alone; none of a current of which no drive is known."""
        if heading.kind != "current":
            return [SignalMapping(self.model.efforts[p], heading.column, heading.unit)]
        drive = self.model.currents[p]
        return [] if drive is None else [SignalMapping(drive[0], heading.column, heading.unit or "A")]

    def rests(self, choice: _Choice, p: int, candidates: Sequence[int]) -> bool:
        """Whether a place does not move: no joint does by which it goes."""
        own = [candidates[choice.columns[p]]] if choice.motor else [
            candidates[c] for c, lever in zip(choice.columns, self.model.A[p], strict=True) if lever]  # fmt: skip
        return not any(self.log.moves[k] for k in own)

    def judge(self, choice: _Choice, fit: _Fit, candidates: Sequence[int], efforts: Sequence[int]) -> str:
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
        model, place, where = self.model, self.model.places[p], f"column '{heading.column}'"
        signal, sizes = model.efforts[p], TORQUES if model.angular[p] else PULLS
        si = "N m" if model.angular[p] else "N"
        if sign < 0 and correlation < UNSURE:
            self.open.append(f"sign of '{heading.column}': it may act against the model's drive on {place}, which is "
                             "doubtful, as it hardly depends on the model's bodies")  # fmt: skip
            sign = 1.0
        elif sign < 0:
            what = f"acts against the model's drive on {place}"
            self.findings.append(Finding(where, "wrong sign", what, "sign = -1", signal))
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
            self.findings.append(Finding(where, "current", what, f'factor = "{ratio:.4g} {si}/A"', signal))
            return SignalMapping(signal, heading.column, unit, sign, factor=ratio, factor_unit=f"{si}/A")
        written = _size(heading.unit) if heading.unit else None
        ratio = ratio / (written or 1.0)
        unit = heading.unit or si
        # The gain of an effort that hardly follows is hardly known.
        near = NEAR if correlation > DOUBTFUL else NEAR**3
        if 1 / near < ratio < near:
            return SignalMapping(signal, heading.column, unit, sign)
        if not heading.unit:
            close = [name for name, size in sizes.items() if 1 / 1.3 < ratio / size < 1.3]
            if close:
                what = f"has no unit in its heading, and is in {close[0]}"
                self.findings.append(Finding(where, "unit", what, f'unit = "{close[0]}"', signal))
                return SignalMapping(signal, heading.column, close[0], sign)
        if ratio > 1 and (heading.unit or heading.kind == "effort"):
            own = model.currents[p]
            what = f"is {ratio:.4g} times less than the model's {place} needs: before a gear, or a current"
            if own is not None and 1 / 1.3 < ratio / own[1] < 1.3:
                what = f"is the drive's current: {ratio:.4g} {si} of {place} to the ampere, {own[1]:.4g} by the model"
                self.findings.append(Finding(where, "current", what, 'unit = "A"', own[0]))
                return SignalMapping(own[0], heading.column, "A", sign)
            kind, remedy = "gear ratio", f"gear = {ratio:.4g}"
            if not heading.unit:
                kind, remedy = "current or gear ratio", f'{remedy}, or unit = "A", factor = "{ratio:.4g} {si}/A"'
            self.findings.append(Finding(where, kind, what, remedy, signal))
            return SignalMapping(signal, heading.column, unit, sign, gear=ratio)
        what = f"is {1 / ratio:.4g} times what the model's {place} needs: another unit, per cent, or a current"
        self.findings.append(Finding(where, "size", what, f"factor = {ratio:.4g}", signal))
        return SignalMapping(signal, heading.column, unit, sign, factor=ratio)

    def needed(self, choice: _Choice, candidates: Sequence[int]) -> Floats:
        """What the model needs at all places, over the whole log, nan where that is not known."""
        smooth, v, a, _ = self.filtered
        there = np.isfinite(np.hstack([smooth[:, candidates], v[:, candidates], a[:, candidates]])).all(axis=1)
        x, dx, ddx = (m[there][:, candidates] for m in (smooth, v, a))
        whole = _Comparison(self.model, x, dx, ddx, x[:, :0], ())
        found = np.full((len(smooth), 2 * len(self.model.places)), np.nan)
        q, speed, acceleration = whole.motion(choice)
        found[there] = np.hstack([self.model.forces(q, speed, acceleration), speed @ self.model.A.T])
        return found

    def effort_delay(self, column: int, needed: Floats, p: int, sign: float) -> float | None:
        """By how much an effort comes later than what the motion needs [s]."""
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
        self.findings.append(
            Finding(f"column '{signal.column}'", "delay", late, f'delay = "{1e3 * delay:.3g} ms"', signal.name)
        )
        return replace(signal, delay=round(delay, 6))

    def describe_rates(self, choice: _Choice, candidates: Sequence[int]) -> Iterator[SignalMapping]:
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
            alike = np.array([[_correlation(x[:, p], y[:, c]) for c in range(len(columns))] for p in range(len(names))])
            wanted = np.array([[0.02 * (self.numbers[k] == p) for k in columns] for p in range(len(names))])
            places, chosen = linear_sum_assignment(-np.abs(alike) - wanted)
            for p, c in zip(places.tolist(), chosen.tolist(), strict=True):
                heading, where = self.headings[columns[c]], f"column '{self.headings[columns[c]].column}'"
                signal = f"{names[p]}.{kind}"
                if abs(alike[p, c]) < 0.8:
                    self.open.append(f"'{heading.column}': it is no {kind} of any axis (correlation {alike[p, c]:.2f})")
                    continue
                named = self.numbers[columns[c]]
                if named is not None and named != p:
                    what = f"is the {kind} of {names[p]}, not as its name says: columns are swapped"
                    self.findings.append(Finding(where, "swapped joints", what, _EXCHANGED, signal))
                gain = float(y[:, c] @ x[:, p] / (x[:, p] @ x[:, p]))
                sizes = SPEEDS if model.angular[p] else SLIDES
                if kind == "acceleration":
                    sizes = {f"{name}/s": value for name, value in sizes.items() if name.endswith("/s")}
                    sizes = {name.replace("/s/s", "/s^2"): value for name, value in sizes.items()}
                unit, gear = _unit_of(1 / abs(gain), sizes, heading.unit)
                if alike[p, c] < 0:
                    what = f"runs against the derivative of {names[p]}.position"
                    self.findings.append(Finding(where, "wrong sign", what, "sign = -1", signal))
                if heading.unit and _size(heading.unit) != sizes[unit]:
                    what = f"is said to be in {heading.unit}, and is in {unit}"
                    self.findings.append(Finding(where, "unit", what, f'unit = "{unit}"', signal))
                elif not heading.unit and sizes[unit] != 1.0:
                    what = f"has no unit in its heading, and is in {unit}"
                    self.findings.append(Finding(where, "unit", what, f'unit = "{unit}"', signal))
                if gear != 1.0:
                    what = f"is {gear:.4g} times the derivative of the position: a motor's"
                    self.findings.append(Finding(where, "gear ratio", what, f"gear = {gear:.4g}", signal))
                mapped = SignalMapping(signal, heading.column, unit, float(np.sign(alike[p, c])), gear=gear)
                delay = _late(own[:, p] * np.sign(alike[p, c]), smooth[:, columns[c]], rate, self.least_delay)
                yield mapped if delay is None else self.with_delay(mapped, delay, kind, "the position's derivative")

    def describe_commands(self, choice: _Choice, candidates: Sequence[int]) -> Iterator[SignalMapping]:
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
            alike = [_correlation(smooth[there, candidates[c]], smooth[there, column]) for c in choice.columns]
            best = int(np.argmax(np.abs(alike)))
            where = f"column '{heading.column}'"
            if abs(alike[best]) > abs(alike[p]) + 0.1:
                what = f"commands {names[best]}, not {names[p]}: columns are swapped"
                self.findings.append(Finding(where, "swapped joints", what, "exchange them", targets.get(best, "")))
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
                self.findings.append(Finding(where, "offset", shown, f"offset = {-sign * shift / sizes[unit]:.6g}",
                                             targets[p]))  # fmt: skip
            if sign < 0:
                self.findings.append(Finding(where, "wrong sign", f"runs against {names[p]}", "sign = -1", targets[p]))
            yield SignalMapping(targets[p], heading.column, unit, sign, -sign * shift * gear, gear=gear)


_CLOCK = frozenset(("jitter", "gaps", "start-up", "repeated rows", "missing samples", "time", "clock", "lines"))
_EXCHANGED = "the mapping has them exchanged"
_OTHER = "choose the scenario of this robot, or mend the bodies; signs, offsets and gears cannot be told so"


@dataclass(frozen=True, eq=False)
class _Search:
    """The choices that explain most, from those by names: steps at one place, then at two."""

    compared: _Comparison

    def run(self, start: _Choice) -> tuple[float, _Choice]:
        """The least cost, and the choice."""
        compared = self.compared
        if not compared.e.shape[1]:
            return compared.fit(start).cost, start
        best, cost = start, compared.fit(start).cost
        best, cost = self.find_gears(best, cost)
        best, cost = self.climb(best, cost, pairs=True)
        return cost, best

    def finish(self, cost: float, best: _Choice) -> _Choice:
        """As much as can be as it is written, and angles that are no quarter turns."""
        if not self.compared.e.shape[1]:
            return best
        best, cost = self.simplify(best, cost)
        return self.find_angles(best, cost)

    def climb(self, best: _Choice, cost: float, pairs: bool = False) -> tuple[_Choice, float]:
        """The best step of all, as long as one is worth it."""
        n = len(best.columns)
        for _ in range(4 * n):
            steps = [*self.steps(best)]
            found = [(self.compared.fit(step).cost, k) for k, step in enumerate(steps)]
            least, k = min(found)
            if least < cost - WORTH:
                best, cost = steps[k], least
                continue
            if not pairs or self.compared.fit(best).clear:
                break
            both = [
                self.turned(self.turned(best, i, *one), j, *other)
                for i, j in combinations(range(n), 2)
                for one, other in product(_TURNS[1:], _TURNS[1:])
            ]
            found = [(self.compared.fit(step).cost, k) for k, step in enumerate(both)]
            if not found or (pair := min(found))[0] >= cost - 2 * WORTH:
                break
            best, cost = both[pair[1]], pair[0]
        return best, cost

    def turned(self, choice: _Choice, p: int, sign: float, quarters: int) -> _Choice:
        shift = choice.shift[p] + quarters * QUARTER if self.compared.model.angular[p] else choice.shift[p]
        shift = float(_wrapped(np.array(shift))) if self.compared.model.angular[p] else shift
        return choice.changed(p, sign=sign * choice.sign[p], shift=shift)

    def steps(self, choice: _Choice) -> Iterator[_Choice]:
        """Other signs and quarter turns of one place, two columns exchanged, another unit."""
        n, model = len(choice.columns), self.compared.model
        for p in range(n):
            for sign, quarters in _TURNS[1:] if model.angular[p] else ((-1.0, 0),):
                yield self.turned(choice, p, sign, quarters)
            for size in ANGLES.values() if model.angular[p] else LENGTHS.values():
                if size != choice.scale[p]:
                    yield choice.changed(p, scale=size)
        for i, j in combinations(range(n), 2):
            yield choice.swapped(i, j)
            if np.any(choice.shift[[i, j]]) or np.any(choice.sign[[i, j]] < 0):
                order = list(range(n))
                order[i], order[j] = j, i
                taken = choice.swapped(i, j)
                yield replace(taken, scale=choice.scale[order], sign=choice.sign[order], shift=choice.shift[order])
        spare = [c for c in range(self.compared.x.shape[1]) if c not in choice.columns]
        for p, c in product(range(n), spare):
            yield replace(choice, columns=tuple(c if k == p else own for k, own in enumerate(choice.columns)))

    def find_gears(self, best: _Choice, cost: float) -> tuple[_Choice, float]:
        """Ratios of motors to joints, where positions reach farther than the joint."""
        model, x = self.compared.model, self.compared.x
        for p in np.argsort(-np.ptp(x[:, list(best.columns)], axis=0) * best.scale).tolist():
            span = min(float(np.ptp(model.limits[p])) + 2 * REACH, 2 * np.pi if model.angular[p] else np.inf)
            length = float(np.ptp(x[:, best.columns[p]]))
            if not length * best.scale[p] > 1.05 * span or not np.isfinite(span):
                continue
            # From one scale to the next the ends move by a quarter of a radian at most, and then by a hundredth.
            step = span / int(np.clip(4 * span, 20, 200)) / length
            scales = np.arange(1, round(span / length / step) + 1) * step
            tried = [self.turned(best.changed(p, scale=size), p, *turn) for size in scales for turn in _TURNS]
            for turn in range(4):
                least, k = min((self.compared.fit(one).cost, k) for k, one in enumerate(tried))
                within = tried[k].scale[p] * length <= span < best.scale[p] * length
                if within or least < cost - (0.0 if turn else TOLD):
                    cost, best = least, tried[k]
                step = step / 5
                fine = best.scale[p] + step * np.arange(-5, 6)
                tried = [best.changed(p, scale=size) for size in fine if size > 0]
        return best, cost

    def simplify(self, best: _Choice, cost: float) -> tuple[_Choice, float]:
        """Back to what is written wherever that costs nothing worth it, and the mirrored motion that does best."""
        n = len(best.columns)
        best, cost = self.mirror(best, cost)
        limit = cost + TOLD
        for p in range(n):
            options = [best.changed(p, sign=1.0, shift=0.0), best.changed(p, sign=1.0), best.changed(p, shift=0.0)]
            for option in options:
                if option.sign[p] == best.sign[p] and option.shift[p] == best.shift[p]:
                    continue
                if (less := self.compared.fit(option).cost) < limit:
                    best, cost = option, less
                    break
        return self.mirror(best, cost)

    def mirror(self, best: _Choice, cost: float) -> tuple[_Choice, float]:
        """The best of all motions with axes turned round, and one or two of them by half a turn."""
        n, fit = len(best.columns), self.compared.fit(best)
        places = np.flatnonzero(fit.assigned >= 0)
        changes = np.sum(best.sign < 0) + np.sum(best.shift != 0) + np.sum(fit.signs[places, fit.assigned[places]] < 0)
        if n > MIRRORED or changes < 2:
            return best, cost
        single = [np.pi * row for row in np.eye(n)[self.compared.model.angular]]
        turned = [np.zeros(n), *single]
        if changes > 3:
            # Seen from behind an arm bends the other way, which turns two axes by half a turn.
            turned += [one + other for one, other in combinations(single, 2)]
        first = best
        for pattern, half in product(product((1.0, -1.0), repeat=n), turned):
            for shift in {tuple(first.shift), tuple(first.shift * pattern)}:
                option = replace(first, sign=first.sign * pattern, shift=_wrapped(np.array(shift) + half))
                if (less := self.compared.fit(option).cost) < cost - TRUST / 2:
                    best, cost = option, less
        return best, cost

    def find_angles(self, best: _Choice, cost: float) -> _Choice:
        """Offsets that are no quarter turns, where the efforts clearly ask for one."""
        from scipy.optimize import minimize_scalar

        for p in range(len(best.columns)):
            if not self.compared.model.angular[p]:
                continue
            found = minimize_scalar(
                lambda shift, p=p, best=best: self.compared.fit(best.changed(p, shift=best.shift[p] + shift)).cost,
                bounds=(-0.9, 0.9), method="bounded", options={"xatol": 2e-3, "maxiter": 25},
            )  # fmt: skip
            if found.fun < cost - 0.7 and abs(found.x) > np.radians(4):
                best, cost = best.changed(p, shift=float(best.shift[p] + found.x)), float(found.fun)
        return best


_TURNS = tuple((sign, quarters) for sign in (1.0, -1.0) for quarters in (0, 1, 2, 3))
"""Signs and quarter turns of a place, none first."""


def _merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same of several columns said once."""
    merged: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        merged.setdefault((finding.kind, finding.what), []).append(finding)
    said = []
    for same in merged.values():
        places = [f.where.removeprefix("column ") for f in same]
        where = same[0].where if len(same) == 1 else f"columns {', '.join(places)}"
        said.append(replace(same[0], where=where))
    return tuple(said)


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


def _wrapped(shift: Floats) -> Floats:
    """Angles within half a turn; half a turn is positive."""
    shift = np.pi - (np.pi - shift) % (2 * np.pi)
    return np.where(np.abs(shift) < 1e-9, 0.0, np.where(np.abs(shift + np.pi) < 1e-9, np.pi, shift))


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - np.mean(x), y - np.mean(y)
    size = np.linalg.norm(x) * np.linalg.norm(y)
    return float(x @ y / size) if size > 0 else 0.0


def _late(x: Floats, y: Floats, rate: float, least: float) -> float | None:
    """By how much y comes later than x [s], None where that is less than `least` or not clear."""
    from scipy.interpolate import CubicSpline

    there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if there.size < 200:
        return None
    first, last = int(there[0]), int(there[-1])
    x, y = x[first : last + 1], y[first : last + 1]
    gaps = ~(np.isfinite(x) & np.isfinite(y))
    row = np.arange(x.size)
    x, y = (np.interp(row, row[~gaps], z[~gaps]) for z in (x, y))
    whole, alike = find_delay(x, y, rate, 0.25)
    if alike < 0.5:
        return None
    edge = int(abs(whole) * rate) + int(0.05 * rate) + 5
    curve = CubicSpline(row / rate, y)
    found = []
    for part in np.array_split(row[edge : row.size - edge], 6):
        if part.size > 30 and np.std(x[part]) > 0.05 * np.std(x):
            more = refine_delay(part / rate + whole, x[part], curve, rate)
            found += [] if more is None else [whole + more]
    if len(found) < 3:
        return None
    delay, scatter = float(np.median(found)), float(np.std(found))
    return delay if abs(delay) > max(3 * scatter / np.sqrt(len(found)), scatter, least) else None


def _targets(model: _Model) -> dict[int, str]:
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
