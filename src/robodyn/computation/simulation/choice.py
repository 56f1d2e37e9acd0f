"""Automatic choice of method: which did a run choose, and why, in a sentence?"""

from __future__ import annotations

import math

from robodyn.computation.engine import Trajectory
from robodyn.computation.engine.trajectory import Stiffness
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.model import Solver

LIMITED_STEPS = 3000
LIMITED_PART = 0.5
"""Steps limited by stability, and part of all steps, from which on a method chosen by hand is doubtful; own choice:
fewer steps take milliseconds, and a stiff method is hardly faster."""


def describe_march(compiled: CompiledSystem, trajectory: Trajectory) -> dict[str, str]:
    """How many steps of a run near its nominal motion propagators took, or why none; nothing for other runs."""
    if compiled.system.motion.terms is None:
        return {}
    counters, reason = trajectory.counters, compiled.propagation.reason or trajectory.no_march
    if counters.marched:
        return {"propagators": f"{counters.marched} of {counters.steps} steps"}
    return {"propagators": f"none: {reason or 'numbers that they depend on have other values in this run'}"}


def describe_choice(solver: Solver, trajectory: Trajectory, simulated_time: float) -> dict[str, str]:
    """The method of a run whose solver chose it, with the reason; nothing where the user chose it."""
    if solver.pair is None:
        return {}
    explicit, stiff = solver.pair
    found = trajectory.stiffness
    if found.stiff_phases:
        share = min(found.stiff_time / simulated_time, 1.0) if simulated_time > 0 else 1.0
        phases = f" in {found.stiff_phases} phases" if found.stiff_phases > 1 else ""
        return {"method": f"{stiff} for {share:.3g} of the time{phases}, {explicit} else: {_reason(found)}"}
    if found.trials:
        return {"method": f"{explicit}: steps of {stiff} that would pay, tried {found.trials} times, were not accurate"}
    if math.isinf(found.since):
        return {"method": f"{explicit}: accuracy limited its steps"}
    limited = f"from {found.since:.6g} s stability limited its steps (to {found.step:.3g} s)"
    return {"method": f"{explicit}: {limited}, but none of {stiff} that would pay fits between two instants"}


def _reason(found: Stiffness) -> str:
    if not found.replaced_step:
        return f"explicit steps became too small at {found.replaced_at:.6g} s"
    return f"what settles fast limited explicit steps (to {found.replaced_step:.3g} s at {found.replaced_at:.6g} s)"


def report_stiffness(solver: Solver, trajectory: Trajectory) -> list[str]:
    """A sentence where an explicit method that the user chose was limited by stability."""
    found, steps = trajectory.stiffness, trajectory.counters.steps
    if solver.pair or math.isinf(found.since) or found.limited_steps < max(LIMITED_STEPS, LIMITED_PART * steps):
        return []
    return [f"{describe_stiffness(trajectory)}; use method auto or rodas4p"]


def describe_stiffness(trajectory: Trajectory) -> str:
    found = trajectory.stiffness
    limited = f"explicit steps are limited by stability (h = {found.step:.3g} s), not accuracy"
    return f"stiff from t = {found.since:.6g} s: {limited}"
