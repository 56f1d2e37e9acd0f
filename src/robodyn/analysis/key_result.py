"""Key results of a run: what does its engineer ask first? How far it misses, why, how sure that is.

Four answers, each a number with its unit, what it is compared with, and a verdict. A machine on a path is asked for its
largest miss and the main cause of it; one that follows references for its errors or how it settles; any other for its
efforts, its energy and its constraints. The last answer says how far the others can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from robodyn.base import Array, frozen, show_quantity
from robodyn.computation.results import Run
from robodyn.computation.results.signal import settled_after

if TYPE_CHECKING:
    from .budget import Budget, BudgetPart
    from .linear.loop_table import LoopFigures, LoopTable

Verdict = Literal["good", "fair", "bad", "none"]
Plain = Mapping[str, Any]

DISTANCE = "deviation.distance"
ACROSS = ("deviation.horizontal", "deviation.vertical")
"""Components of a miss; what lies along the path is a matter of time, not of place."""
CLOSE = 0.9
"""Share of a limit from which on it is nearly reached."""
PHASE, GAIN = 30.0, 2.0
"""Margins that a loop should have: phase [deg] and factor of its gain (6 dB), as is customary."""
SETTLED = 0.02
"""Part of a step within which a signal counts as settled."""
AT_REST = 1e-9
"""Part of its size by which a reference may move and still be constant: rounding."""
SMALL, OTHERS = 1e-3, "all others"
"""Part of the largest miss below which a cause is not told by its name."""
NOTHING = 1e-3
"""Part of what is allowed below which an error is only said to be below it."""
MOST, DIGITS = 4, 3


@frozen
class KeyResult:
    """One answer.

    Attributes:
        label: what is asked; value: the answer in its SI unit, None where the answer is a name.
        name: of the cause, loop, joint or signal that it is about, in words.
        limit, error: what the value is compared with and how far it may be off, in the same unit.
        time: when [s]; share: of the whole; note: what else there is to say.
    """

    label: str
    value: float | None = None
    unit: str = ""
    name: str = ""
    limit: float | None = None
    error: float | None = None
    time: float | None = None
    share: float | None = None
    note: str = ""
    verdict: Verdict = "none"
    headline: str = ""

    @property
    def answer(self) -> str:
        """The answer in a few words, for people."""
        if self.headline:
            return self.headline
        return capitalise(self.name) if self.value is None else show_quantity(self.value, self.unit, DIGITS)

    @property
    def heading(self) -> str:
        """The question, with the limit."""
        return (
            self.label if self.limit is None else f"{self.label} · limit {show_quantity(self.limit, self.unit, DIGITS)}"
        )

    @property
    def detail(self) -> str:
        """The note beside the answer: which part, when, how sure."""
        named = self.name if self.value is not None or self.headline else ""
        when = "" if self.time is None else f"at {show_quantity(self.time, 's', DIGITS)}"
        sure = "" if self.error is None else f"± {show_quantity(self.error, self.unit, 2)}"
        return ", ".join(part for part in (named, when, sure, self.note) if part)


@frozen
class CauseShares:
    """The parts of a miss, in the direction of the miss: at every time the parts add up to it, but for a remainder.

        part_j = e_j . e / |e|

    Attributes:
        names: of m kinds of causes; members: parts of the budget that each adds up;
            values: (m, n_times) [m]; total: the miss (n_times,); time: (n_times,).
    """

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    time: Array
    values: Array
    total: Array
    unit: str

    @property
    def worst(self) -> int:
        """Row of the largest miss."""
        return int(np.argmax(self.total))


def key_results(
    run: Run,
    *,
    limit: float | None = None,
    budget: Budget | None = None,
    loops: LoopTable | None = None,
) -> tuple[KeyResult, ...]:
    """The four answers of a run, the most important first, what it is worth last.

    Args:
        limit: largest miss that is allowed [m]; of the scenario where it names one and none is given.
        budget, loops: of the same scenario, where they have been computed: causes and margins are told then.
    """
    limit = path_limit(run) if limit is None else limit
    answers = [*_misses(run, limit, budget), *_passed_limits(run)]
    answers += [weakest_loop(loops)] if loops is not None and loops.rows else []
    if len(answers) < MOST - 1:
        answers += [*_following(run), *_efforts(run), *_kept_laws(run)]
    return (*answers[: MOST - 1], _trust(run))


def path_limit(run: Run) -> float | None:
    """The largest miss [m] that the scenario itself allows."""
    limit = run.provenance.description.get("path_limit")
    return None if limit is None else float(limit)


def judge(value: float, limit: float | None) -> Verdict:
    """Whether a value keeps its limit: fair where it nearly reaches it."""
    if limit is None:
        return "none"
    if not value <= limit:
        return "bad"
    return "good" if value <= CLOSE * limit else "fair"


# Misses of a path, and their causes.


def _misses(run: Run, limit: float | None, budget: Budget | None) -> Iterator[KeyResult]:
    """How far the tool is from its path, and the main cause of it."""
    if DISTANCE not in run or not run.time.size:
        return
    distance = run[DISTANCE]
    worst = int(np.nanargmax(distance.values))
    value, time = float(distance.values[worst]), float(run.time[worst])
    error = run.errors.bars[DISTANCE].error if run.errors and DISTANCE in run.errors.bars else None
    sides = {name: float(run[name].values[worst]) for name in ACROSS if name in run}
    side = max(sides, key=lambda name: abs(sides[name]), default="")
    yield KeyResult(
        "Largest path deviation",
        value,
        "m",
        name=side.rpartition(".")[2],
        limit=limit,
        error=error,
        time=time,
        verdict=judge(value, limit),
    )
    yield main_cause(budget)


def main_cause(budget: Budget | None) -> KeyResult:
    """The cause that contributes most to the largest miss, and the next one."""
    if budget is None or not (shares := share_causes(budget)):
        note = "not computed; run with --causes" if budget is None else "not in the budget"
        return KeyResult("Main cause", name="unknown", note=note)
    parts, total = shares.values[:, shares.worst], float(shares.total[shares.worst])
    main = int(np.argmax(parts))
    rest = [k for k in np.argsort(-np.abs(parts)) if k != main][:1]
    second = [f"then {shares.names[k]} {100 * parts[k] / total:.0f} %" for k in rest if total and parts[k]]
    share = float(parts[main] / total) if total else 0.0
    headline = f"{capitalise(shares.names[main])} {100 * share:.0f} %"
    return KeyResult(
        "Main cause",
        float(parts[main]),
        shares.unit,
        share=share,
        note="".join(second),
        headline=headline,
    )


def capitalise(text: str) -> str:
    """A text with a capital at its start and all others left alone."""
    return text[:1].upper() + text[1:]


def share_causes(budget: Budget) -> CauseShares | None:
    """The causes of a miss, those of a kind together; None where the budget does not split deviations from a path."""
    if not set(ACROSS) <= set(budget.signals):
        return None
    rows = [budget.signals.index(name) for name in ACROSS]
    miss = budget.total[rows]
    total = np.sqrt(np.sum(miss**2, axis=0))
    direction = miss / np.where(total > 0, total, 1.0)
    parts = np.einsum("kt,kmt->mt", direction, budget.values[rows])
    groups: dict[str, list[int]] = {}
    for j, part in enumerate(budget.parts):
        groups.setdefault(_kind_of(part, budget.parts), []).append(j)
    # Causes of hardly any effect are one line, those without any are none.
    largest = float(np.max(total, initial=0.0))
    for name in [name for name, own in groups.items() if np.abs(parts[own].sum(axis=0)).max() < SMALL * largest]:
        own = groups.pop(name)
        if np.any(parts[own]):
            groups[OTHERS] = [*groups.get(OTHERS, []), *own]
    values = np.array([parts[own].sum(axis=0) for own in groups.values()]).reshape(len(groups), total.size)
    members = tuple(tuple(budget.parts[j].name for j in own) for own in groups.values())
    return CauseShares(tuple(groups), members, budget.run.time, values, total, budget.run[ACROSS[0]].unit)


def _kind_of(part: BudgetPart, parts: Sequence[BudgetPart]) -> str:
    """Name of the kind of cause that a part is.

    Friction and what a controller feeds forward against it are large and nearly cancel: the tool feels their sum.
    """
    if part.kind != "cause":
        return part.name.replace(".", " ")
    compensated = any(_compensates(other) for other in parts)
    if part.what == "force" or _compensates(part):
        return "friction not compensated" if compensated else "friction and losses"
    if "resolution" in part.what or "encoder" in part.name:
        return "encoders"
    return f"{part.what} of {part.name}"


def _compensates(part: BudgetPart) -> bool:
    return part.kind == "cause" and bool({"coulomb", "viscous"} & set(part.what.split(", ")))


# Loops.


def weakest_loop(loops: LoopTable) -> KeyResult:
    """The loop with the least margins, as parts of those that it should have."""
    row = min(loops.rows, key=_slack)
    margins, slack = row.margins, _slack(row)
    name = row.name.replace("_", " ").replace(".", " ").removesuffix(" command")
    if not margins.stable:
        return KeyResult("Weakest loop", name=name, headline="unstable", verdict="bad")
    parts = [f"{margins.phase:.0f}°"] if math.isfinite(margins.phase) else []
    parts += [f"×{margins.gain_to:.3g}"] if math.isfinite(margins.gain_to) else []
    headline = " · ".join(parts) or "no limit"
    verdict: Verdict = "good" if slack >= 1 else "fair"
    note = "phase and gain margin" if len(parts) == 2 else ""
    return KeyResult("Weakest loop", margins.phase, "deg", name, note=note, verdict=verdict, headline=headline)


def _slack(row: LoopFigures) -> float:
    """Margins as parts of those that a loop should have, the least of them; below 0 where it is unstable."""
    margins = row.margins
    if not margins.stable:
        return -1.0
    falling = -math.log(margins.gain_from) / math.log(GAIN) if margins.gain_from > 0 else math.inf
    rising = math.log(margins.gain_to) / math.log(GAIN) if margins.gain_to > 0 else math.inf
    return min(margins.phase / PHASE, rising, falling)


# Machines without a path.


def _passed_limits(run: Run) -> Iterator[KeyResult]:
    """The limit of a joint that is passed furthest."""
    if not run.passed_limits:
        return
    passed = max(run.passed_limits, key=lambda one: abs(one.worst - one.value) / (abs(one.value) or 1.0))
    label = f"{capitalise(passed.limit.replace('_', ' '))} passed"
    yield KeyResult(label, passed.worst, passed.unit, passed.joint, limit=passed.value, time=passed.time, verdict="bad")


def find_followed(description: Plain) -> dict[str, str]:
    """Signals that should follow others: `elbow.position` -> `elbow.reference.position`."""
    pairs = {f"{joint}.position": str(signal) for joint, signal in (description.get("nominal") or {}).items()}
    for block in (description.get("machine") or {}).get("blocks") or ():
        inputs = block.get("inputs") or {}
        target, position = inputs.get("target"), inputs.get("position")
        # A controller of a joint follows there, one of a task in the coordinates of its task.
        if position is None and isinstance(target, str) and block.get("on"):
            position = f"{block['on']}.position"
        elif position is None and isinstance(target, list | tuple):
            position = (block.get("model") or {}).get("task")
        if isinstance(target, str) and isinstance(position, str):
            pairs.setdefault(position, target)
        elif isinstance(target, list | tuple) and isinstance(position, list | tuple):
            pairs |= {str(one): str(wanted) for one, wanted in zip(position, target, strict=False)}
    return pairs


def _following(run: Run) -> Iterator[KeyResult]:
    """How well references are followed: how a step settles and overshoots, else the largest error."""
    pairs = {
        name: target
        for name, target in find_followed(run.provenance.description).items()
        if name in run and target in run and run[name].unit == run[target].unit
    }
    if not pairs or run.time.size < 2:
        return
    steps = {}
    for name, target in pairs.items():
        reference, actual = run[target].values, run[name].values
        height = float(reference[-1] - actual[0])
        size = float(np.max(np.abs(reference)))
        if np.ptp(reference) <= AT_REST * size and abs(height) > AT_REST * size:
            steps[name] = ((reference - actual) / height, height)
    if len(steps) == len(pairs):
        yield from _settling(run, steps)
        return
    errors = {name: run[name].values - run[target].values for name, target in pairs.items()}
    # Angles and distances are not compared with each other: those of which there are most.
    units = [run[name].unit for name in errors]
    common = max(units, key=units.count)
    name = max((one for one in errors if run[one].unit == common), key=lambda one: np.nanmax(np.abs(errors[one])))
    worst = int(np.nanargmax(np.abs(errors[name])))
    value = float(np.abs(errors[name][worst]))
    yield KeyResult("Largest following error", value, run[name].unit, plain_name(name), time=float(run.time[worst]))


def _settling(run: Run, steps: Mapping[str, tuple[Array, float]]) -> Iterator[KeyResult]:
    """The slowest of all steps, and the one that overshoots most."""
    times = {name: settled_after(run.time - run.time[0], left, SETTLED) for name, (left, _) in steps.items()}
    open_steps = [name for name, time in times.items() if not math.isfinite(time)]
    if open_steps:
        name = open_steps[0]
        left = abs(float(steps[name][0][-1]))
        note = f"{100 * left:.2g} % left at the end"
        yield KeyResult("Settling to 2 %", name=plain_name(name), note=note, verdict="bad", headline="not settled")
    else:
        name = max(times, key=lambda one: times[one])
        yield KeyResult("Settling to 2 %", times[name], "s", plain_name(name))
    over = {name: max(0.0, -float(np.nanmin(left))) for name, (left, _) in steps.items()}
    name = max(over, key=lambda one: over[one])
    yield KeyResult("Overshoot", over[name], "1", plain_name(name), headline=f"{100 * over[name]:.3g} %")


def _efforts(run: Run) -> Iterator[KeyResult]:
    """The effort of the joint that is nearest to its limit; without limits the largest torque, or force."""
    mechanism = (run.provenance.description.get("machine") or {}).get("mechanism") or {}
    joints = [str(joint["name"]) for joint in mechanism.get("joints") or ()]
    limits = {str(joint["name"]): joint.get("effort_limit") for joint in mechanism.get("joints") or ()}
    limited = {name: float(limits[name]) for name in joints if limits[name] and f"{name}.effort" in run}
    peaks = {name: run[f"{name}.effort"].peak for name in limited if run.time.size}
    if peaks:
        name = max(peaks, key=lambda one: peaks[one] / limited[one])
        yield _peak(run, f"{name}.effort", "Peak effort", limited[name])
        return
    driven = [name for name in run if name.endswith((".motor.torque", ".drive.torque", "_motor.torque"))]
    for unit, label in (("N m", "Peak torque"), ("N", "Peak force")):
        efforts = [name for name in driven if run[name].unit == unit and run.time.size and run[name].peak > 0]
        if efforts:
            yield _peak(run, max(efforts, key=lambda one: run[one].peak), label, None)
            return


def _peak(run: Run, name: str, label: str, limit: float | None) -> KeyResult:
    signal = run[name]
    worst = int(np.nanargmax(np.abs(signal.values)))
    time, part = float(run.time[worst]), plain_name(name)
    return KeyResult(label, signal.peak, signal.unit, part, limit, time=time, verdict=judge(signal.peak, limit))


def _kept_laws(run: Run) -> Iterator[KeyResult]:
    """How well constraints and energy are kept, from the certificate, and how fast the machine moves."""
    named = {check.name: check for check in run.certificate}
    if check := named.get("constraints, positions"):
        verdict: Verdict = "good" if check.ok else "bad"
        small = (
            f"below {show_quantity(NOTHING * check.limit, check.unit, 1)}"
            if check.value < NOTHING * check.limit
            else ""
        )
        name = plain_name(check.subject)
        yield KeyResult("Constraint error", check.value, check.unit, name, check.limit, verdict=verdict, headline=small)
    speeds = [name for name in run if name.count(".") == 1 and name.endswith(".velocity")]
    for unit in ("rad/s", "m/s"):
        own = [name for name in speeds if run[name].unit == unit and run.time.size]
        if own:
            yield _peak(run, max(own, key=lambda name: run[name].peak), "Peak speed", None)
            break
    if check := named.get("energy balance"):
        verdict = "good" if check.ok else "bad"
        least = 100 * NOTHING * check.limit
        headline = f"below {least:.1g} %" if 100 * check.value < least else f"{100 * check.value:.2g} %"
        note = f"of the energy exchanged, allowed {100 * check.limit:.2g} %"
        yield KeyResult("Energy balance", check.value, "1", note=note, verdict=verdict, headline=headline)
    if run.time.size:
        yield KeyResult("Duration", float(run.time[-1] - run.time[0]), "s", note=f"{len(run.events)} events")


def plain_name(signal: str) -> str:
    """A signal's name as one would say it: `elbow.velocity` as `elbow velocity`, positions by their joint alone."""
    return signal.removesuffix(".position").replace("_", " ").replace(".", " ")


# Trust.


def _trust(run: Run) -> KeyResult:
    """How many checks were passed, what was not checked, and how far the answers may be off."""
    count, broken = len(run.certificate), len(run.certificate.violated)
    notes = ["checks passed"] if count else []
    if left := len(run.certificate.unchecked):
        notes.append(f"{left} not checked")
    if run.errors is None:
        notes.append("no error bar")
    elif DISTANCE in run.errors.bars:
        notes.append(f"± {show_quantity(run.errors.bars[DISTANCE].error, 'm', 2)}")
    if not run.outcome.ok:
        notes.insert(0, run.outcome.kind.name.lower().replace("_", " "))
    headline = f"{count - broken} of {count}" if count else "no checks"
    verdict: Verdict = "bad" if broken or not run.outcome.ok else "good" if count else "fair"
    note = " · ".join(notes)
    return KeyResult("Can you trust it?", float(count - broken), "1", note=note, verdict=verdict, headline=headline)
