"""Certificate of a coupling: did the exchanges themselves keep what must hold in any right run?

Checks with limits of the settings, in the certificate of `run.coupling`:

- energy is conserved by the coupling: the energy that a connection created or lost by its worst instant, by the energy
  that went through it. A coupling that makes its own energy moves its units by it.
- joined sides coincide at the start, and move alike there: where they do not, the start values of the files are not
  those that the run began with. Sides that an elastic part connects may lie apart: that is its tension.
- joined sides stay together, where each keeps its own motion: nothing moves them back, and their errors add up.
- jumps at exchanges do not grow: an unstable coupling makes a signal turn round within a few exchanges, more and more.
  What does, and grows twofold from the second quarter of the run to the third, again to the last, and as fast within
  that, is unstable; or over three shorter spans at its end. Where something touches a wall, jumps of forces grow once,
  by any factor, and fade: they are what the macro step does not resolve, and no instability.

Signals that are connected one by one have no energy: of those only the last check tells.

The energy ledger. Each side of a connection gets the work W = integral of f dy, of the force f on it and of the
displacement y at which it acts: its own, or that of the far side where the elastic part of the coupling is on its own.
Jumps of y at an exchange count. What is coupled exactly gives W_1 + W_2 = 0, or the work W_e that the elastic part
takes where both have it;

    energy error = W_1 + W_2 - W_e

The work is integrated with the unit; where a motion comes in, by the trapezoidal rule between exchanges, from both
sides of each: exact for linear springs and held motions. So is that of the elastic part. All of it is found from what
was written down, for all macro steps at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.base import Array, frozen
from robodyn.computation.results import Certificate, Check, Run

from .connection import InterfacePair, Side
from .reduced import reach
from .settings import CosimSettings
from .unit import InterfaceMotion

Outputs = Mapping[str, Mapping[str, float]]
Signals = list[tuple[str, str]]
"""Unit and output."""


@frozen(eq=False)
class InterfacePlaces:
    """Positions (n, 1 or 3), and rotations (n, 3, 3) where these are coupled."""

    position: Array
    rotation: Array | None


@frozen(eq=False)
class EnergyBalance:
    """Energies at a connection.

    Attributes:
        created: the energy error up to each exchange (n,) [J]; passed: between the least and the most that either side
            had received of the other [J]; force: the largest of any row [N or N m].
    """

    created: Array
    passed: float
    force: float


class SideBook:
    """One side of a connection as columns of what is written down.

    Attributes:
        signals: what is written down of it.
    """

    def __init__(self, side: Side, outputs: Outputs) -> None:
        part, far = side.interface, "far_" if side.elastic else ""
        work = (f"{part.name}.work",) if f"{part.name}.work" in outputs[side.unit] else ()
        names = {"work": work, "force": part.names("force")}
        for key, prefix in (("acting", far), ("own", "")):
            names[key] = part.names(f"{prefix}position")
            names[f"{key}_turn"] = part.names(f"{prefix}orientation") if part.rotates else ()
        ends = np.cumsum([0, *map(len, names.values())]).tolist()
        self._columns = {key: slice(*ends[k : k + 2]) for k, key in enumerate(names)}
        self.signals: Signals = [(side.unit, name) for entry in names.values() for name in entry]

    def work(self, right: Array, left: Array) -> Array:
        """During macro steps, from rows at their beginnings and ends, (n,) [J]."""
        column = self._columns["work"]
        if column.stop > column.start:
            return (left - right)[:, column.start]
        return self.jump(right, left)

    def jump(self, left: Array, right: Array) -> Array:
        """The work of a force whose place jumps, by the trapezoidal rule, (n,) [J]."""
        displacement = reach(self.place(left, "acting"), self.place(right, "acting"))
        return np.sum((self.force(left) + self.force(right)) * displacement, axis=1) / 2

    def force(self, rows: Array) -> Array:
        return rows[:, self._columns["force"]]

    def place(self, rows: Array, key: str) -> InterfacePlaces:
        """Where the force acts ("acting"), or where this side is ("own")."""
        turned = rows[:, self._columns[f"{key}_turn"]]
        rotation = turned.reshape(-1, 3, 3) if turned.shape[1] else None
        return InterfacePlaces(rows[:, self._columns[key]], rotation)


class PairBook:
    """Both sides of a connection; signals: what is written down of them, at both ends of each macro step."""

    def __init__(self, pair: InterfacePair, outputs: Outputs) -> None:
        self.sides = [SideBook(side, outputs) for side in pair.sides]
        self.elastic = all(side.elastic for side in pair.sides)
        self.signals: Signals = [signal for side in self.sides for signal in side.signals]

    def balance(self, start: Array, begun: Array, ended: Array) -> EnergyBalance:
        """Energies so far in each row.

        Args:
            start: what was written down at the start (w,); begun, ended: at the beginning, after the exchange, and the
                end of each macro step (n, w), not a number where there was no such.
        """
        n = len(begun)
        before = np.vstack([start, ended])[:n]
        n_first = len(self.sides[0].signals)
        split = [[rows[:, :n_first], rows[:, n_first:]] for rows in (before, begun, ended)]
        met, gone = (~np.isnan(rows).all(axis=1) for rows in (begun, ended))
        # W_1 and W_2 of each row: the jump at the exchange, then the work of the macro step.
        jumps = [np.where(met, side.jump(split[0][k], split[1][k]), 0.0) for k, side in enumerate(self.sides)]
        works = [np.where(gone, side.work(split[1][k], split[2][k]), 0.0) for k, side in enumerate(self.sides)]
        elastic_work = np.where(met, self._taken(split[0], split[1])[:n], 0.0) if self.elastic else np.zeros(n)
        # A row is at the beginning of its macro step: the work in it belongs to the row after.
        earlier = [np.concatenate([[0.0], work])[:n] for work in works]
        received = [np.cumsum(before + jump) for before, jump in zip(earlier, jumps, strict=True)]
        created = received[0] + received[1] - np.cumsum(elastic_work)
        passed = max(float(np.ptp([0.0, *energy])) for energy in received)
        forces = np.hstack([side.force(rows) for side, rows in zip(self.sides, split[1], strict=True)])
        return EnergyBalance(created, passed, float(np.nanmax(np.abs(forces), initial=0.0)))

    def _taken(self, before: list[Array], now: list[Array]) -> Array:
        """Work of the elastic part since the last exchange, by how far the sides moved apart, (n,) [J]."""
        places = [self.sides[k].place(now[k], "own") for k in range(2)]
        # Force that pulls the sides together, from the side that knows best where the other one is, (n, k).
        sides_known = [(k, rows[k]) for rows in (now, before) for k in range(2)]
        missing = [reach(self.sides[k].place(rows, "acting"), places[1 - k]) for k, rows in sides_known]
        best = np.argmin([np.sum(entry**2, axis=1) for entry in missing], axis=0)
        forces = np.array([self.sides[k].force(rows) * (1 - 2 * k) for k, rows in sides_known])
        pull, apart = forces[best, np.arange(len(best))], reach(places[0], places[1])
        work = np.sum((pull[:-1] + pull[1:]) * np.diff(apart, axis=0), axis=1) / 2
        return np.concatenate([[0.0], work])


ENERGY = "energy is conserved by the coupling"
MEETS = "joined sides coincide at the start"
MOVES_ALIKE = "joined sides have equal velocities at the start"
STAYS = "joined sides stay together"
GROWTH = "jumps at exchanges do not grow"
SHORTER = "shorten the macro step, or couple by reduced interface models"
MODELS_BETTER = "shorten the macro step, or use models of order 1 or implicit models"
IDLE = 1e-6
"""Energy that counts as passed at least, as part of the largest force times the largest place; and the size of jumps
that count, as part of the largest value."""
FEWEST_ROWS = 12
"""Exchanges from which on growth can be told; and of a span shorter than a quarter of the run, where noise is."""
TURNING = 0.5
"""Correlation of consecutive jumps below which a signal turns round: fewer than six exchanges in a period."""
LARGE = 0.5
"""Jumps from one exchange to the next that count as large, as part of how far a signal is from its mean there."""


@frozen
class StartGap:
    """How far two joined sides are apart in the files, before anything moved them together.

    Attributes:
        distance, angle, speed, turning: [m, rad, m/s, rad/s], or those of a joint, where it is one.
        size: largest coordinate of the place on either side [m or rad].
    """

    distance: float
    angle: float
    speed: float
    turning: float
    size: float


def motion_of(side: Side, outputs: Mapping[str, float]) -> InterfaceMotion:
    """The motion of an interface by a unit's outputs."""
    part = side.interface
    position = np.array([outputs[name] for name in part.names("position")])
    velocity = np.array([outputs[name] for name in part.names("velocity")])
    if not part.rotates:
        return InterfaceMotion(position, velocity)
    rotation = np.array([outputs[name] for name in part.names("orientation")])
    return InterfaceMotion(position, velocity, rotation.reshape(3, 3))


def find_start_gaps(pairs: Sequence[InterfacePair], outputs: Outputs) -> dict[str, StartGap]:
    """Gaps of the connections that are joined rigidly, by name."""
    gaps = {}
    for pair in pairs:
        if not any(pair.sides[receiver].interface.rigid for _, receiver in pair.models):
            continue
        first, second = (motion_of(side, outputs[side.unit]) for side in pair.sides)
        apart, faster = reach(first, second), second.velocity - first.velocity
        n = len(first.position)
        gaps[pair.name] = StartGap(
            math.hypot(*apart[:n]),
            math.hypot(*apart[n:]),
            math.hypot(*faster[:n]),
            math.hypot(*faster[n:]),
            float(np.max(np.abs([first.position, second.position]))),
        )
    return gaps


def certify_coupling(
    run: Run,
    pairs: Sequence[InterfacePair],
    gaps: Mapping[str, StartGap],
    balances: Mapping[str, EnergyBalance],
    settings: CosimSettings,
) -> Certificate:
    """The checks of a coupling by its record."""
    if not run.time.size:
        return Certificate(unchecked=("the coupling recorded no rows",))
    checks = []
    for pair in pairs:
        places, speeds = (_largest_values(run, pair, key) for key in ("position", "velocity"))
        checks.append(_check_energy(run, pair, balances[pair.name], places, settings))
        if pair.name in gaps:
            checks += _check_start(pair, gaps[pair.name], max(places, gaps[pair.name].size), speeds, settings)
        if pair.merged and pair.join == "none":
            checks.append(_check_drift(run, pair, settings))
    growth = _check_growth(run, settings)
    unchecked = []
    if growth is None:
        unchecked.append(f"{GROWTH}: there are fewer than {FEWEST_ROWS} exchanges")
    if not pairs:
        unchecked.append(f"{ENERGY}: single signals carry none; certify says what their macro step costs")
    return Certificate((*checks, *([] if growth is None else [growth])), tuple(unchecked))


def _largest_values(run: Run, pair: InterfacePair, quantity: str) -> float:
    """Largest coordinate of an interface's place or velocity over the run."""
    names = [f"{side.unit}.{name}" for side in pair.sides for name in side.interface.names(quantity)]
    return max(float(np.nanmax(np.abs(run[name].values), initial=0.0)) for name in names)


def _check_energy(
    run: Run, pair: InterfacePair, balance: EnergyBalance, places: float, settings: CosimSettings
) -> Check:
    created = np.abs(balance.created)
    created = np.where(np.isfinite(created), created, np.inf)
    worst = int(np.argmax(created))
    passed = max(balance.passed, IDLE * balance.force * places)
    part = float(created[worst]) / passed if created[worst] > 0 else 0.0
    verb = "lost" if balance.created[worst] < 0 else "created"
    energies = f"it {verb} {created[worst]:.3g} J where {passed:.3g} J went through"
    remedy = f"{energies}; {MODELS_BETTER if pair.models else SHORTER}"
    time = float(run.time[worst])
    return Check(ENERGY, part, settings.energy_limit, pair.name, "of what passes", time, remedy)


def _check_start(
    pair: InterfacePair, gap: StartGap, places: float, speeds: float, settings: CosimSettings
) -> list[Check]:
    """Distances are compared with the largest coordinate of the interface, angles with 1 rad."""
    limit, speeds = settings.start_limit, max(speeds, gap.speed, gap.turning)
    rows = {
        MEETS: ((gap.distance, limit * places, "m"), (gap.angle, limit, "rad")),
        MOVES_ALIKE: ((gap.speed, limit * speeds, "m/s"), (gap.turning, limit * speeds, "rad/s")),
    }
    treatment = "each side kept its own motion" if pair.merged and pair.join == "none" else "they were moved together"
    remedy = f"{treatment}; correct the start values of one side"
    if pair.sides[0].interface.rotates:
        remedy = f"they lie {gap.distance:.3g} m and {gap.angle:.3g} rad apart; {remedy}"
    joint = pair.sides[0].interface.point is None
    checks = []
    for check, kinds in rows.items():
        value, allowed, unit = max(kinds, key=lambda kind: kind[0] / kind[1] if kind[1] > 0 else kind[0])
        checks.append(Check(check, value, allowed, pair.name, "" if joint else unit, 0.0, remedy))
    return checks


def _check_drift(run: Run, pair: InterfacePair, settings: CosimSettings) -> Check:
    """The distance of two sides is compared with how far either has moved from where it began."""
    first, second = (
        np.column_stack([run[f"{side.unit}.{name}"].values for name in side.interface.names("position")])
        for side in pair.sides
    )
    apart = np.linalg.norm(second - first, axis=1)
    apart = np.where(np.isfinite(apart), apart, np.inf)
    worst = int(np.argmax(apart))
    displacement = max(float(np.nanmax(np.linalg.norm(side - side[0], axis=1))) for side in (first, second))
    unit = "" if pair.sides[0].interface.point is None else "m"
    remedy = 'join them (join = "inertia"), or shorten the macro step'
    return Check(
        STAYS, float(apart[worst]), settings.drift_limit * displacement, pair.name, unit, float(run.time[worst]), remedy
    )


def _check_growth(run: Run, settings: CosimSettings) -> Check | None:
    """The worst of all exchanged signals that alternate; None where there are too few exchanges."""
    not_exchanged = (".energy_error", ".gap", ".condition", "macro_step")
    columns = [k for k, info in enumerate(run.infos) if not info.name.endswith(not_exchanged) and info.kind != "held"]
    if len(run.time) < FEWEST_ROWS or not columns:
        return None
    ratios = growth_of_jumps(run.values[:, columns])
    worst = int(np.argmax(ratios))
    return Check(
        GROWTH, float(ratios[worst]), settings.growth_limit, run.infos[columns[worst]].name, "times", remedy=SHORTER
    )


def growth_of_jumps(values: Array) -> Array:
    """The factor by which jumps from row to row keep growing to the end, where they alternate.

    A smooth signal goes on as it did: consecutive jumps are alike. What an unstable coupling does turns round within a
    few exchanges. Of signals that do not, or whose jumps are small, nothing is said: 0. What grows by itself grows from
    one span to the next, again to the one after, and within that one; the least factor counts. What an event makes
    larger grows once, and fades. Spans are a quarter of the rows; and an eighth, a sixteenth and so on, for what begins
    late, while they have rows enough.

    Args:
        values: (n, m); returns (m,).
    """
    jumps = np.diff(values, axis=0)
    growth, length = _growth_over(jumps, values, len(jumps) // 4), len(jumps) // 8
    while length >= FEWEST_ROWS:
        growth = np.maximum(growth, _growth_over(jumps, values, length))
        length //= 2
    return growth


def _growth_over(jumps: Array, values: Array, length: int) -> Array:
    """The least growth between the last three spans of a length, and within the last of them."""
    first, middle, last = np.split(jumps[-3 * length :], 3)
    half = length // 2
    sizes = [np.sqrt(np.mean(part**2, axis=0)) for part in (first, middle, last, last[:half], last[-half:])]
    turning_round = np.sum(last[1:] * last[:-1], axis=0) < TURNING * np.sum(last**2, axis=0)
    spread = np.std(values[-length - 1 :], axis=0)
    large = (sizes[2] > LARGE * spread) & (sizes[2] > IDLE * np.max(np.abs(values), axis=0))
    growths = [_ratio(sizes[1], sizes[0]), _ratio(sizes[2], sizes[1])]
    # What grows by a factor from one half to the next, length - half rows on, grows by a power of it in a span.
    growths.append(_ratio(sizes[4], sizes[3]) ** (length / (length - half)))
    return np.where(turning_round & large, np.min(growths, axis=0), 0.0)


def _ratio(now: Array, before: Array) -> Array:
    """0 where nothing is, infinite where nothing was."""
    ratios = now / np.where(before > 0, before, 1.0)
    return np.where(before > 0, ratios, np.where(now > 0, np.inf, 0.0))
