"""How do many sampled tasks cost little? Those due at the same tick become one function, which writes memory once.

The ticks repeat after the least common multiple of all periods. For each set of tasks that is due at some of them there
is one function: the tasks' own in their order, each reading what those before it wrote.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from robodyn.assembly.system import INPUTS, System, Task
from robodyn.native import Pipeline

LONGEST = 64
"""Ticks after which they must repeat: beyond it there would be too many functions."""


@dataclass(frozen=True)
class Tasks:
    """What a run does at ticks: tasks, and the functions that were made for them."""

    tasks: tuple[Task, ...]
    functions: dict[str, Pipeline]


def fuse_tasks(system: System) -> Tasks:
    """One task for each set that is due together; the system's own where some are Python or they do not repeat soon."""
    cycle = math.lcm(*(task.period for task in system.tasks)) if system.tasks else 0
    late = any(task.offset >= task.period for task in system.tasks)
    if len(system.tasks) < 2 or cycle > LONGEST or late or any(task.function is None for task in system.tasks):
        return Tasks(system.tasks, {})
    due = [tuple(task for task in system.tasks if tick % task.period == task.offset) for tick in range(cycle)]
    names = {tasks: f"tasks:{k}" for k, tasks in enumerate(dict.fromkeys(filter(None, due)))}
    fused = [
        Task(", ".join(task.name for task in tasks), cycle, tick, names[tasks])
        for tick, tasks in enumerate(due)
        if tasks
    ]
    return Tasks(tuple(fused), {name: _join(system, tasks) for tasks, name in names.items()})


def _join(system: System, tasks: tuple[Task, ...]) -> Pipeline:
    return Pipeline(tuple(system.function(str(task.function)) for task in tasks), INPUTS.index("m"))
