"""Lifting of a multirate loop: what does a held signal do round its loop, over a whole cycle of all ticks?

The signal is cut: whoever reads it reads u_j instead, from the instant of its j-th writing on; w_j is what its block
wrote there. Over a cycle, with X what is remembered from cycle to cycle,

    X+ = M X + B u,   w = C X + D u,   y = P X + Q u

and w = L(z) u with L(z) = C (z I - M)^-1 B + D, a square matrix with a row for each writing. The loop closed with a
gain k, u = k w, has the multipliers of M + k B (I - k D)^-1 C. All of this is exact, whatever periods, offsets and
delays are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robodyn.analysis.linear.sampled_model import SampledModel, Update, remembered
from robodyn.base.errors import Flaw, ModelError, refuse_unknown

CHUNK = 64
"""Frequencies for which equations are solved at once."""
CHECKED, MODAL_ERROR = 16, 1e-4
"""Places at which a sum of modes is checked, and the relative error allowed there."""
MOST_WRITINGS = 128
"""How often cut signals may be written in a turn: a loop's gain is a matrix of that size at each frequency."""


@dataclass(frozen=True, eq=False)
class Lifted:
    """A loop cut open at held signals, over one cycle.

    Attributes:
        times: of the writings in the cycle [s], (r,); output_times: of the ticks at which P, Q give outputs.
        late: whole cycles that pass between a writing and its being read, (r,).
        turn_time: [s].
    """

    M: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    times: np.ndarray
    output_times: np.ndarray
    late: np.ndarray
    turn_time: float

    def gain(self, z: np.ndarray) -> np.ndarray:
        """L(z), (n, r, r) for n values of z."""
        return self._transfer(z, self.C, self.D)

    def answer(self, z: np.ndarray) -> np.ndarray:
        """From u to the outputs, (n, n_ticks n_outputs, r)."""
        return self._transfer(z, self.P, self.Q)

    def _transfer(self, z: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        found = np.empty((z.size, *D.shape), complex)
        eye = np.eye(len(self.M))
        for k in range(0, z.size, CHUNK):
            part = slice(k, k + CHUNK)
            found[part] = C @ self._resolve(z[part], eye) + D
        return found

    def estimate_gain(self, z: np.ndarray) -> np.ndarray:
        """L(z) by modes, sum_k (C v_k) (w_k B) / (z - lambda_k) + D: cheap at many z, to a few digits; exact where
        modes are almost the same, which is seen at some of the places."""
        values, V = np.linalg.eig(self.M)
        left = np.linalg.lstsq(V, self.B.astype(complex), rcond=None)[0]
        found: np.ndarray = (self.C @ V) @ (left[None] / (z[:, None] - values)[:, :, None]) + self.D
        some = np.linspace(0, z.size - 1, CHECKED).astype(int)
        exact = self.gain(z[some])
        near = np.abs(found[some] - exact).max(axis=(1, 2)) <= MODAL_ERROR * np.abs(exact).max(axis=(1, 2))
        return found if near.all() else self.gain(z)

    def _resolve(self, z: np.ndarray, eye: np.ndarray) -> np.ndarray:
        """(z - M)^-1 B."""
        try:
            return np.linalg.solve(z[:, None, None] * eye - self.M, self.B[None].astype(complex))
        except np.linalg.LinAlgError:
            # Beside entries of 1e16 the number z is lost.
            what = "its gains are too large for its poles to be seen"
            raise ModelError([Flaw("loop", what, "reduce them")]) from None

    def close(self, gain: complex = 1.0) -> np.ndarray:
        """The matrix of a cycle with u = gain w; writings that are read cycles later wait in further rows."""
        if self.late.any():
            return self._close_late(gain)
        inner = np.linalg.solve(np.eye(len(self.D)) - gain * self.D, gain * self.C)
        return self.M + self.B @ inner

    def _close_late(self, gain: complex) -> np.ndarray:
        """u_j = gain w_j of `late` cycles before: state [X, w 1 cycle ago, w 2 cycles ago, ...]."""
        r, n, depth = len(self.D), len(self.M), int(self.late.max())
        size = n + r * depth
        # u = S [X, past] + now w: rows of S choose from the past, `now` are those of this cycle.
        now = np.diag((self.late == 0).astype(float))
        S = np.zeros((r, size))
        for j in np.flatnonzero(self.late):
            S[j, n + r * (self.late[j] - 1) + j] = 1.0
        C = np.hstack([self.C, np.zeros((r, r * depth))])
        w = np.linalg.solve(np.eye(r) - gain * self.D @ now, C + gain * self.D @ S)
        whole = np.zeros((size, size), w.dtype)
        whole[:n, :n] = self.M
        whole[:n] += self.B @ (gain * (now @ w + S))
        whole[n : n + r] = w
        whole[n + r :, n:-r] = np.eye(size - n - r)
        return whole

    def multipliers(self, gain: complex = 1.0) -> np.ndarray:
        """Of a cycle with the loop closed by a gain, complex."""
        return np.linalg.eigvals(self.close(gain))

    def radius(self, gain: complex = 1.0) -> float:
        """Largest multiplier's magnitude with the loop closed by a gain."""
        return float(np.abs(self.multipliers(gain)).max(initial=0.0))

    @cached_property
    def closes(self) -> bool:
        """Whether what is written depends on what was: L is not zero."""
        return bool(self.D.any() or (self.C.any() and self.B.any() and self._reaches()))

    def _reaches(self) -> bool:
        reached = self.B.any(axis=1)
        for _ in range(len(self.M)):
            more = reached | (self.M[:, reached].any(axis=1))
            if (more == reached).all():
                break
            reached = more
        return bool(self.C[:, reached].any())


def lift(model: SampledModel, signals: Sequence[str], extra_delay: float = 0.0) -> Lifted:
    """Cut the loop at held signals.

    Args:
        signals: outputs of sampled blocks, by name.
        extra_delay: how much later than they are written they are read [s].
    """
    places = find_held(model, signals)
    if not can_lift(model, signals):
        what = f"is written more than {MOST_WRITINGS} times until all sample times meet again"
        remedy = "cut the loop at a slower block, or choose periods that meet sooner"
        raise ModelError([Flaw(f"signals.{signals[0]}", what, remedy)], "loop")
    return _Turn(model, places, extra_delay).lift()


def can_lift(model: SampledModel, signals: Sequence[str]) -> bool:
    """Whether signals are written seldom enough in a turn."""
    places = find_held(model, signals)
    due = (
        sum(map(update.is_due, range(model.turn))) * np.isin(places, update.places).sum() for update in model.updates
    )
    return bool(sum(due) <= MOST_WRITINGS)


def find_held(model: SampledModel, signals: Sequence[str]) -> np.ndarray:
    """Places of held signals in the memory."""
    names = [variable.name for variable in model.memory]
    refuse_unknown(signals, names, "is not held by a sampled block", "loop", "signals")
    return np.array([names.index(name) for name in signals], int)


def scale_held(model: SampledModel, signals: Sequence[str], gain: float) -> SampledModel:
    """The model with what is read of held signals multiplied by a gain."""
    factors = np.ones(len(model.memory))
    factors[find_held(model, signals)] = gain

    def scaled(update: Update) -> Update:
        return replace(update, by_memory=update.by_memory * factors)

    return replace(model, B=model.B * factors, D=model.D * factors, updates=tuple(map(scaled, model.updates)))


class _Turn:
    """One cycle from instant to instant.

    Rows are [x, m, s], s being what readers of the cut signals see; columns are [the same at the start, u].
    """

    def __init__(self, model: SampledModel, places: np.ndarray, extra_delay: float) -> None:
        self.model, self.places, self.extra_delay = model, places, extra_delay
        self.width = model.size + places.size
        written = [np.flatnonzero(np.isin(places, update.places)).tolist() for update in model.updates]
        # Tick, number of the task, place among the cut signals.
        self.writings = [
            (tick, number, k)
            for tick in range(model.turn)
            for number, update in enumerate(model.updates)
            if update.is_due(tick)
            for k in written[number]
        ]
        self.times = np.array([tick for tick, _, _ in self.writings]) * model.period
        self._flows = {1.0: model.glide}

    def lift(self) -> Lifted:
        model, r = self.model, len(self.writings)
        self.whole = np.hstack([np.eye(self.width), np.zeros((self.width, r))])
        self.written = np.zeros((r, self.width + r))
        late, arrivals = self._arrivals()
        ticks = [(tick * model.period, 1, tick) for tick in range(model.turn)]
        now, outputs = 0.0, []
        # What arrives at a tick is there before its tasks run.
        for time, kind, number in sorted([*ticks, *((time, 0, j) for j, time in arrivals.items())]):
            self._glide(time - now)
            now = time
            if kind == 0:
                self._arrive(number)
            else:
                self._run_tasks(number)
                outputs.append(model.C @ self.whole[: model.order] + model.D @ self._read())
        self._glide(model.turn_time - now)
        return self._pack(np.vstack(outputs), late)

    def _arrivals(self) -> tuple[np.ndarray, dict[int, float]]:
        """Cycles that pass before each writing is read, and when in the cycle it is; none where it is at once."""
        model = self.model
        if not self.extra_delay:
            return np.zeros(len(self.writings), int), {}
        # In base periods; what falls on a tick but for rounding is there.
        instants = (self.times + self.extra_delay) / model.period
        instants = np.where(np.abs(instants - np.round(instants)) < 1e-9, np.round(instants), instants)
        late = (instants // model.turn).astype(int)
        return late, dict(enumerate(((instants - late * model.turn) * model.period).tolist()))

    def _read(self) -> np.ndarray:
        """The memory as its readers see it."""
        seen = self.whole[self.model.order : self.model.size].copy()
        seen[self.places] = self.whole[self.model.size :]
        return seen

    def _glide(self, time: float) -> None:
        n = self.model.order
        if time <= 0 or not n:
            return
        # Gaps that differ by rounding are the same.
        key = round(time / self.model.period, 12)
        if key not in self._flows:
            self._flows[key] = self.model.flow(time)
        flow = self._flows[key]
        self.whole[:n] = flow[:, :n] @ self.whole[:n] + flow[:, n:] @ self._read()

    def _run_tasks(self, tick: int) -> None:
        n = self.model.order
        for number, update in enumerate(self.model.updates):
            if update.is_due(tick):
                self.whole[n + update.places] = update.by_state @ self.whole[:n] + update.by_memory @ self._read()
                self._note_writings(tick, number)

    def _note_writings(self, tick: int, number: int) -> None:
        for j, (due, task, k) in enumerate(self.writings):
            if (due, task) == (tick, number):
                self.written[j] = self.whole[self.model.order + self.places[k]]
                if not self.extra_delay:
                    self._arrive(j)

    def _arrive(self, j: int) -> None:
        """Readers see u_j from now on."""
        row = self.model.size + self.writings[j][2]
        self.whole[row] = 0.0
        self.whole[row, self.width + j] = 1.0

    def _pack(self, outputs: np.ndarray, late: np.ndarray) -> Lifted:
        (M, B), (C, D), (P, Q) = (np.split(part, [self.width], axis=1) for part in (self.whole, self.written, outputs))
        kept = remembered(M, C, P)
        parts = (M[np.ix_(kept, kept)], B[kept], C[:, kept], D, P[:, kept], Q)
        ticks = np.arange(self.model.turn) * self.model.period
        return Lifted(*parts, self.times, ticks, late, self.model.turn_time)
