"""Readings of a log compared: how much of its efforts follows, and which of all readings explains most?

A reading says which column each position is, in which unit, sign and offset. Symbols as in `mapping_proposal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, frozen
from robodyn.computation.assembly import System
from robodyn.computation.native import compile_kernels

from .identify import effort_levers
from .motion_rows import drives_of
from .regressor import Regressor, make_regressor

CLEAR = 0.02
"""Share that is left of efforts that clearly follow."""
FINE = 1e-3
"""Share of an effort that is left and not worth a choice: models are not better before they are identified."""
WORTH = 0.08
"""Least gain in the sum of logarithms that a choice other than the names' is worth."""
TOLD = 0.04
"""Gain below which a log does not tell two choices apart."""
REACH = np.radians(10.0)
"""How far positions may lie beyond the limits of a joint."""
ANGLES = {"rad": 1.0, "deg": np.pi / 180, "rev": 2 * np.pi}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6}
MIRRORED = 7
"""Axes up to which all mirrored motions are looked at."""
TOO_LARGE = 0.3
"""What an effort costs that is larger than the model's, or smaller than any gear makes it."""
TRUST = 0.03
"""What a sign or an offset costs that is not as written."""
LEVEL, MOST_LEVEL = 0.2, 2.0
"""What a constant costs that is left of an effort, by the effort's deviation, and the largest one that counts."""
MIXED = 0.1
"""What a column costs that is in another unit than those of its kind."""
COUPLED = 0.3
"""What it costs that columns are positions of motors of coupled axes and not of joints."""
STARTS, MOST_GEAR, COARSE = (3.0, 1.5, 6.0), 40.0, 30
"""Gears at first, by what reach asks for at least, the most that is tried, and how many on the way."""
WRONG_TOGETHER = 3.0
"""Ratio by which gears of coupled axes are tried together."""
OTHER_GEAR = 0.1
"""What an e-fold between the gear of a position and that of its effort costs: it may be a current's."""
LEAST_GAIN = 1 / 400
"""Gain below which no gear and no torque constant is."""
QUARTER = np.pi / 2
ODD_ANGLE, ODD_GAIN, ROUNDS = np.radians(4.0), 0.7, 3
"""Angle that is none of zero, gain that offsets which are no quarter turns are worth, and how often they are sought."""
SAME, NEAR = 1.12, 1.6
"""Ratios of two sizes up to which units of motions are the same, and of efforts, whose model is a guess."""


@frozen(eq=False)
class DrivenPlaces:
    """Places of drives, and what they need for a motion.

    Attributes:
        A: how places follow the joints, (n, n); limits (n, 2) of the joints; efforts: signal of each place's force.
        currents: signal of its current, and the force of an ampere, where the drive has one.
    """

    system: System
    regressor: Regressor
    places: tuple[str, ...]
    A: Array
    limits: Array
    angular: Array
    efforts: tuple[str, ...]
    currents: tuple[tuple[str, float] | None, ...]

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """Joints that do not move."""
        mechanism = self.system.scenario.machine.mechanism
        return tuple(joint.name for joint in (mechanism.joints if mechanism else ()) if joint.kind == "fixed")

    @cached_property
    def coupled(self) -> bool:
        return not np.array_equal(self.A, np.eye(len(self.A)))

    @cached_property
    def _kernel(self) -> Any:
        """Forces of joints by the scenario's numbers, friction that is linear in its numbers left out."""
        r = self.regressor
        state = ca.SX.sym("state", sum(r.function.size1_in(k) for k in range(3)))
        places = np.cumsum([0, *(r.function.size1_in(k) for k in range(3))]).tolist()
        Y, fixed = r.function(*ca.vertsplit(state, places), ca.SX(len(r.inputs), 1))
        laws = {b.name for b in r.scenario.machine.all_blocks if b.info.disturbance}
        given = [0.0 if p.number.rpartition(".")[0] in laws else p.given for p in r.parameters]
        tau = ca.Function("needed", [state], [ca.densify(Y @ ca.DM(given) + fixed)])
        return compile_kernels({"needed": tau}, None).kernels["needed"]

    def forces(self, q: Array, v: Array, a: Array) -> Array:
        """The forces of the places, (n_rows, n)."""
        (tau,) = self._kernel.call_rows(np.hstack([self.regressor.complete(q), v, a]))
        return np.asarray(tau @ np.linalg.pinv(self.A))


def driven_places(system: System) -> DrivenPlaces:
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
    return DrivenPlaces(system, regressor, tuple(places), A, limits, angular, tuple(efforts), tuple(currents))


@frozen(eq=False)
class Reading:
    """Which column each place's position is, and how it is read; motor: whether those of places, not of joints."""

    columns: tuple[int, ...]
    scale: Array
    sign: Array
    shift: Array
    motor: bool = False

    def changed(self, place: int, **new: Any) -> Reading:
        arrays = {}
        for name, value in new.items():
            arrays[name] = getattr(self, name).copy()
            arrays[name][place] = value
        return replace(self, **arrays)

    def reads(self, place: int) -> tuple[float, ...]:
        """Column, scale, sign and shift of a place."""
        return self.columns[place], self.scale[place], self.sign[place], self.shift[place]

    def swapped(self, i: int, j: int) -> Reading:
        columns = list(self.columns)
        columns[i], columns[j] = columns[j], columns[i]
        return replace(self, columns=tuple(columns))


@frozen(eq=False)
class Explained:
    """What choices of a motion leave of the efforts: cost, columns of efforts by places, gains and their signs.

    Attributes:
        trust: part of the cost for signs and offsets that are not as written.
    """

    cost: float
    trust: float
    left: Array
    assigned: Array
    gains: Array
    signs: Array
    beside: Array

    def scores(self) -> Array:
        """Logarithm of what is left of each place's effort, 0 where it has none."""
        rows = np.flatnonzero(self.assigned >= 0)
        found = np.zeros(len(self.assigned))
        found[rows] = np.log(self.left[rows, self.assigned[rows]] + FINE)
        return found

    def correlations(self) -> Array:
        """The correlation of each place's effort with the model's beside friction, 0 where it has none."""
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


@frozen(eq=False)
class ComparedColumns:
    """Filtered columns at the rows of the comparison.

    Attributes:
        x, v, a: positions and their rates, (n, columns); e: efforts (n, columns) less their means, which are `level`.
        named: place of each effort column.
    """

    model: DrivenPlaces
    x: Array
    v: Array
    a: Array
    e: Array
    level: Array
    named: tuple[int | None, ...]

    def motion(self, choice: Reading) -> tuple[Array, Array, Array]:
        """q, v, a of the joints."""
        own = list(choice.columns)
        size = choice.sign * choice.scale
        s, v, a = self.x[:, own] * size + choice.shift, self.v[:, own] * size, self.a[:, own] * size
        if choice.motor:
            back = np.linalg.inv(self.model.A).T
            return s @ back, v @ back, a @ back
        return s, v, a

    def fit(self, choice: Reading, named_only: bool = False) -> Explained:
        """How much of the efforts follows."""
        from scipy.optimize import linear_sum_assignment

        q, v, a = self.motion(choice)
        beyond = np.maximum(q - self.model.limits[:, 1] - REACH, 0) + np.maximum(self.model.limits[:, 0] - REACH - q, 0)
        cost = 2.0 * float(np.mean(beyond > 0, axis=0).sum())
        trust = TRUST * float(np.sum(choice.sign < 0) + np.sum(choice.shift != 0))
        cost += COUPLED * choice.motor
        cost += MIXED * sum(
            int(own.sum()) - int(np.unique(np.round(np.log(choice.scale[own]), 3), return_counts=True)[1].max())
            for own in (self.model.angular, ~self.model.angular) if own.any()
        )  # fmt: skip
        n, c = len(self.model.places), self.e.shape[1]
        if not c:
            none = np.zeros((n, 0))
            return Explained(cost + trust, trust, none, np.full(n, -1), none, none, none)
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
        cost += TOO_LARGE * float(np.sum((gain > NEAR) | (gain < LEAST_GAIN)))
        # A weight that is always the same, as of a vertical slide, tells which way up it is.
        constant = self.level[columns] - signs[rows, columns] * gain * np.nan_to_num(force.mean(axis=0))[rows]
        left_over = np.abs(constant) / np.maximum(self.e[:, columns].std(axis=0), 1e-300)
        cost += LEVEL * float(np.minimum(left_over, MOST_LEVEL).sum())
        # Of mirrored motions the one is believed that changes least of what is written.
        trust += TRUST * float(np.sum(signs[rows, columns] < 0))
        beside = 1 - left / np.maximum(friction, 1e-12)
        return Explained(cost + trust, trust, left, assigned, gains, signs, beside)


_SUBSETS = np.array([row for row in product((0.0, 1.0), repeat=3) if any(row)])
"""Of the three regressors, 1 where one is used."""


def _explain(X: Array, e: Array) -> tuple[Array, Array, Array, Array]:
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


@frozen(eq=False)
class ReadingSearch:
    """The choices that explain most, from those by names: steps at one place, then at two."""

    compared: ComparedColumns

    def run(self, start: Reading) -> tuple[float, Reading]:
        """The least cost, and the choice."""
        compared = self.compared
        if not compared.e.shape[1]:
            return compared.fit(start).cost, start
        best, cost = start, compared.fit(start).cost
        best, cost = self.find_gears(best, cost)
        best, cost = self.climb(best, cost, pairs=True)
        return cost, best

    def finish(self, cost: float, best: Reading) -> Reading:
        """As much as can be as it is written, and angles that are no quarter turns."""
        if not self.compared.e.shape[1]:
            return best
        best, _ = self.simplify(best, cost)
        return self.find_angles(best)

    def climb(self, best: Reading, cost: float, pairs: bool = False) -> tuple[Reading, float]:
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

    def turned(self, choice: Reading, p: int, sign: float, quarters: int) -> Reading:
        shift = choice.shift[p] + quarters * QUARTER if self.compared.model.angular[p] else choice.shift[p]
        shift = float(wrapped(np.array(shift))) if self.compared.model.angular[p] else shift
        return choice.changed(p, sign=sign * choice.sign[p], shift=shift)

    def steps(self, choice: Reading) -> Iterator[Reading]:
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

    def find_gears(self, best: Reading, cost: float) -> tuple[Reading, float]:
        """Ratios of motors to joints, where positions reach farther than the joint.

        Where several do, none can be found with the others as they stand: all begin with about as much as they need at
        least, and each is looked for in turn with the sense of its axis, until none changes. A motor's torque times its
        gear is the joint's, so that ratios by which efforts have another size than positions ask for cost something.
        """
        from scipy.optimize import minimize

        model, x = self.compared.model, self.compared.x
        length = np.ptp(x[:, list(best.columns)], axis=0) * best.scale
        span = np.minimum(np.ptp(model.limits, axis=1) + 2 * REACH, np.where(model.angular, 2 * np.pi, np.inf))
        least = np.maximum(length / span, 1.0)
        places = np.flatnonzero((length > 1.05 * span) & np.isfinite(span))
        coupled = np.isin(np.arange(len(least)), places) & (np.count_nonzero(model.A, axis=0) > 1)
        coupled |= np.isin(np.arange(len(least)), places) & (np.count_nonzero(model.A, axis=1) > 1)
        if not places.size:
            return best, cost

        def judge(ratio: Array, sign: Array) -> float:
            found = self.compared.fit(replace(best, scale=best.scale / ratio, sign=sign))
            rows = places[found.assigned[places] >= 0]
            other = np.abs(np.log(np.maximum(found.gains[rows, found.assigned[rows]] * ratio[rows], 1e-9)))
            return found.cost + OTHER_GEAR * float(np.minimum(other, np.log(MOST_GEAR)).sum())

        results = []
        for more in STARTS if places.size > 1 else STARTS[:1]:
            ratio = np.where(np.isin(np.arange(len(least)), places), least * more, 1.0)
            sign, lowest = best.sign.copy(), np.inf
            for sweep in range(2 * ROUNDS):
                before = lowest
                for p in places.tolist():
                    # From one to the next the ends move by a quarter of a radian at most, and then by much less.
                    grid = least[p] * np.geomspace(1.0, MOST_GEAR, COARSE)
                    if sweep >= ROUNDS:
                        grid = ratio[p] * np.geomspace(0.75, 1.33, COARSE)
                    for gear, way in product([ratio[p], *grid.tolist()], (1.0, -1.0)):
                        tried, turned = ratio.copy(), sign.copy()
                        tried[p], turned[p] = gear, way
                        if (less := judge(tried, turned)) < lowest:
                            lowest, ratio, sign = less, tried, turned
                # Gears of coupled axes are wrong together.
                for times in np.geomspace(1 / WRONG_TOGETHER, WRONG_TOGETHER, COARSE).tolist():
                    tried = np.where(coupled, np.maximum(ratio * times, least), ratio)
                    if coupled.any() and (less := judge(tried, sign)) < lowest:
                        lowest, ratio = less, tried
                if sweep >= ROUNDS and before - lowest < FINE:
                    break
            # All of them at once, on the floor of the valley.
            done = minimize(
                lambda logs, ratio=ratio, sign=sign: judge(ratio * np.exp(logs), sign),
                np.zeros(len(ratio)), method="L-BFGS-B", bounds=[(-0.4, 0.4) if p in places else (0.0, 0.0) for p in
                range(len(ratio))], options={"eps": 1e-3, "maxfun": 60 * (len(ratio) + 1), "ftol": 1e-6},
            )  # fmt: skip
            if done.fun < lowest:
                lowest, ratio = float(done.fun), ratio * np.exp(done.x)
            results.append((lowest, replace(best, scale=best.scale / ratio, sign=sign)))
            if np.median(np.exp(self.compared.fit(results[-1][1]).scores())) < CLEAR:
                break
        _, found = min(results, key=lambda one: one[0])
        return found, self.compared.fit(found).cost

    def simplify(self, best: Reading, cost: float) -> tuple[Reading, float]:
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

    def mirror(self, best: Reading, cost: float) -> tuple[Reading, float]:
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
                option = replace(first, sign=first.sign * pattern, shift=wrapped(np.array(shift) + half))
                if (less := self.compared.fit(option).cost) < cost - TRUST / 2:
                    best, cost = option, less
        return best, cost

    def find_angles(self, best: Reading) -> Reading:
        """Offsets that are no quarter turns, of one axis or several together, where the efforts clearly ask for them.

        Weights of an arm often tell the sum of two angles well and each of both less: all are moved at once.
        """
        from scipy.optimize import minimize

        angular, fit = self.compared.model.angular, self.compared.fit

        def lost(shifts: Array, start: Reading) -> float:
            reading = replace(start, shift=start.shift + np.where(angular, shifts, 0.0))
            # What an offset costs would be a step in the slopes.
            explained = fit(reading)
            return explained.cost - explained.trust

        none = np.zeros(len(angular))
        for _ in range(ROUNDS):
            starts = [none, *(turn * own for own in np.eye(len(angular))[angular] for turn in (-0.4, 0.4))]
            begin = min(starts, key=lambda shifts: lost(shifts, best))
            found = minimize(
                lost, begin, (best,), "L-BFGS-B", bounds=[(-1.5, 1.5)] * len(angular),
                options={"eps": 3e-3, "maxfun": 40 * (len(angular) + 1), "ftol": 1e-4},
            )  # fmt: skip
            if found.fun > lost(none, best) - ODD_GAIN or np.abs(found.x).max() < ODD_ANGLE:
                break
            # What is moved by little, or for nothing, stays as it was.
            x = np.where(angular, found.x, 0.0)
            for p in np.argsort(np.abs(x)).tolist():
                less = np.where(np.arange(x.size) == p, 0.0, x)
                if lost(less, best) < found.fun + TOLD:
                    x = less
            best = replace(best, shift=wrapped(best.shift + x))
        return best


_TURNS = tuple((sign, quarters) for sign in (1.0, -1.0) for quarters in (0, 1, 2, 3))
"""Signs and quarter turns of a place, none first."""


def wrapped(shift: Array) -> Array:
    """Angles within half a turn; half a turn is positive."""
    shift = np.pi - (np.pi - shift) % (2 * np.pi)
    return np.where(np.abs(shift) < 1e-9, 0.0, np.where(np.abs(shift + np.pi) < 1e-9, np.pi, shift))
