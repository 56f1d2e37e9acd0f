"""Checks of controllers' models: do the axes move on their own, and can they move the task, at the start?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly.model_functions import ModelFunctions
from robodyn.computation.assembly.system import System
from robodyn.description.model import Block
from robodyn.description.model.control_model import ControlModel

SINGULAR = 1e-9
"""Part of a common mobility below which a direction counts as immobile."""
IMMOBILE = 1e-18
"""Part of the largest mobility that is rounding of a direction in which nothing moves."""
DEPENDENT = 1e-7
"""Part of the largest mobility below which it is that of constraints, which give way by 1e-7 of their own."""
SHOWN = 1e-3
"""Least part of a direction that is reported."""


def check_numbers(names: Collection[str], described: ControlModel, flaws: FlawList) -> None:
    """Numbers of its own must be numbers that the model has, not of drives and controllers."""
    for pattern in described.scale:
        if not any(described.matches(pattern, name) for name in names):
            flaws.add(f"model.scale.{pattern}", "has no effect: the model has no such number", "leave it out")
    for name in described.changes:
        if name not in names:
            flaws.add(f"model.changes.{name}", "has no effect: the model has no such number", "leave it out")


def check_task(system: System, described: ControlModel, flaws: FlawList) -> bool:
    """A task is made of positions that move, and of rotations of points."""
    known = [info.name for info in system.signals if info.rate and ".velocity" in info.rate]
    mechanism = system.scenario.machine.mechanism
    points = [point.name for point in mechanism.points] if mechanism else []
    for row in described.rows.all:
        if row.point and row.point not in points and (row.rotates or described.frame != "world"):
            flaws.add("model.task", f"'{row.name}': there is no point '{row.point}'", nearest(row.point, points))
        elif row.rotates or row.name in known:
            continue
        elif row.name in system.signal_names:
            flaws.add("model.task", f"'{row.name}' is no position that moves", nearest(row.name, known))
        else:
            flaws.add("model.task", f"there is no position '{row.name}'", nearest(row.name, known))
    return not flaws.found


def check_axes(
    block: Block,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    system: System,
    functions: ModelFunctions,
    flaws: FlawList,
    given: bool,
) -> tuple[str, ...]:
    """Axes, and the task by them, must be independent at the start; a warning where motions have no axis.

    Args:
        given: whether the machine starts as given; a start that is still to be found is looked at elsewhere.
    """
    axes, task = names
    free = functions.free
    if len(axes) > free and not task:
        remedy = f"name {free} of them, or a task that all of them control"
        flaws.add("model.axes", f"names {len(axes)} axes, but {free} motions are free", remedy)
        return ()
    if len(task) > min(len(axes), free):
        what = f"has {len(task)} positions, which {min(len(axes), free)} axes cannot control one by one"
        flaws.add("model.task", what, "name fewer positions, or more axes")
        return ()
    start = np.array([info.start for info in system.states[: system.n_q]])
    # Near the start, off every symmetry.
    elsewhere = start + 0.3 * np.sin(1.0 + np.arange(start.size))
    q, n = start if given else elsewhere, len(axes)
    scale = free_mobilities(functions, elsewhere)
    if not functions.is_overactuated:
        _check_mobile(flaws, "model.axes", functions.at_rest("mobility", q), scale[:n], axes)
    if task and not flaws.found and _can_move(flaws, scale[n:], task):
        _check_mobile(flaws, "model.task", _task_mobility(functions, q), scale[n:], task)
        if flaws.found and functions.free == functions.n_v:
            _say_nowhere(flaws, _task_mobility(functions, elsewhere), scale[n:])
    what = f"{free - n} of {free} motions have no axis: they move as they must, the model does not hold them"
    return (f"blocks.{block.name}: {what}",) if n < free else ()


def _task_mobility(functions: ModelFunctions, q: np.ndarray) -> np.ndarray:
    """J B J^T = B_y B^-1 B_y^T."""
    mobility, reach = functions.at_rest("mobility", q), functions.at_rest("task_mobility", q)
    strained = functions.is_overactuated
    inertia = np.linalg.pinv(mobility, DEPENDENT, hermitian=True) if strained else np.linalg.inv(mobility)
    return reach @ inertia @ reach.T


def _can_move(flaws: FlawList, scale: np.ndarray, task: Sequence[str]) -> bool:
    """A direction in which nothing moves cannot be controlled."""
    for name in (name for name, mobility in zip(task, scale, strict=True) if mobility <= IMMOBILE * np.max(scale)):
        flaws.add("model.task", f"'{name}' cannot be controlled: no joint moves it", "leave it out")
    return not flaws.found


def _say_nowhere(flaws: FlawList, mobility: np.ndarray, scale: np.ndarray) -> None:
    """What is singular elsewhere too is so not because of the start."""
    root = np.sqrt(scale)
    if np.linalg.eigvalsh((mobility + mobility.T) / 2 / np.outer(root, root))[0] <= SINGULAR:
        flaws.add("model.task", "its directions depend on each other elsewhere too", "leave one of them out")


def free_mobilities(functions: ModelFunctions, q: np.ndarray) -> np.ndarray:
    """What a common mobility is: that of each axis and position of the task without constraints."""
    M, S = (functions.at_rest(name, q) for name in ("free_mass_matrix", "slopes"))
    return np.einsum("ij,ij->i", S, np.linalg.solve(M, S.T).T)


def _check_mobile(flaws: FlawList, path: str, mobility: np.ndarray, scale: np.ndarray, names: Sequence[str]) -> None:
    """Forces must accelerate every direction."""
    root = np.sqrt(scale)
    if not np.isfinite(mobility).all():
        flaws.add(path, "the start is singular: constraints leave no motion determined", "start elsewhere")
        return
    values, vectors = np.linalg.eigh((mobility + mobility.T) / 2 / np.outer(root, root))
    if values[0] > SINGULAR:
        return
    named = name_direction(vectors[:, 0] / root, names)
    what = f"the start is singular: no force accelerates {named} (mobility {max(values[0], 0.0):.1g} of a common one)"
    flaws.add(path, what, "start elsewhere, or name others")


def name_direction(direction: np.ndarray, names: Sequence[str]) -> str:
    """Parts of a direction that count, of length 1: `+0.8 tool.position.x -0.6 tool.rotation.z`."""
    parts = zip(np.round(direction / np.linalg.norm(direction), 3), names, strict=True)
    return " ".join(f"{part:+g} {name}" for part, name in parts if abs(part) > SHOWN)
