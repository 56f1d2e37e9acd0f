"""Sampled tasks of a tick: which function does all of them at once?

The tasks due at a tick run one after another, each on the memory that the one before it left. Their composition is one
function; there are as many of them as there are different sets of tasks due together.
"""

from __future__ import annotations

import math

from robodyn.base.lazy import ca
from robodyn.base.records import dataclass
from robodyn.computation.assembly.declarations import Task
from robodyn.computation.assembly.system import System

MOST_TICKS = 1000
"""Ticks of a common period up to which it is worth while."""
MOST_FUNCTIONS = 16
ONCE = 2**62
"""Period of a tick that does not come again."""


@dataclass(frozen=True)
class Tick:
    """Sampled work due at ticks `offset + k period` of the base period: a function, or a task in Python."""

    function: str | None
    period: int
    offset: int


def plan_ticks(system: System) -> tuple[tuple[Tick, ...], dict[str, ca.Function]]:
    """The ticks of a run in the order in which they run, and the functions that are not yet the system's own."""
    single = tuple(Tick(task.function, task.period, task.offset) for task in system.discrete.tasks)
    if len(system.discrete.tasks) < 2 or any(task.function is None for task in system.discrete.tasks):
        return single, {}
    common = math.lcm(*(task.period for task in system.discrete.tasks))
    begin = math.ceil(max(task.offset for task in system.discrete.tasks) / common) * common
    if begin + common > MOST_TICKS:
        return single, {}
    due = {tick: tuple(task for task in system.discrete.tasks if is_due(task, tick)) for tick in range(begin + common)}
    names = {tasks: f"tick_{k}" for k, tasks in enumerate(dict.fromkeys(due.values())) if tasks}
    if len(names) > MOST_FUNCTIONS:
        return single, {}
    ticks = [Tick(names[tasks], ONCE if tick < begin else common, tick) for tick, tasks in due.items() if tasks]
    return tuple(ticks), {name: _compose(system, name, tasks) for tasks, name in names.items()}


def is_due(task: Task, tick: int) -> bool:
    return tick >= task.offset and (tick - task.offset) % task.period == 0


def _compose(system: System, name: str, tasks: tuple[Task, ...]) -> ca.Function:
    memory = m = system.symbols.m
    for task in tasks:
        m = ca.substitute(system.memory_after(task), memory, m)
    return system.function(m, name)
