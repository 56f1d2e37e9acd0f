"""Start search in exported code: how does a model initialise anew with other parameters or inputs?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.assembly import System
from robodyn.computation.native import Sweep
from robodyn.computation.simulation.equilibrium import RestEquations, guess_rest, trace_rest
from robodyn.computation.simulation.loop_assembly import find_kept, mark_joints, trace_closing

NO_REST = RestEquations((), 0, np.zeros(0), (), (), {}, (), (), (), {})


@dataclass(frozen=True)
class Search:
    """Functions of t, x, d, m and p, and sizes, tables, places and names by those of the runtime."""

    functions: Mapping[str, ca.Function | Sweep]
    sizes: Mapping[str, int]
    tables: Mapping[str, Iterable[float]]
    places: Mapping[str, Sequence[int]]
    names: Mapping[str, Sequence[str]]


def trace_search(system: System) -> Search:
    """The search that the scenario's start asks for; none where the start is given."""
    kind = system.scenario.initialisation
    rest = trace_rest(system) if kind == "at_rest" else NO_REST
    closing = trace_closing(system) if kind == "assembled" else {}
    if "slopes" in closing:
        what = "an assembled start of a machine with ball joints or wheels is not searched for in exported code"
        raise ModelError([Flaw("initialisation", what, "give start values that meet the constraints")])
    n_equations = len(system.motion.constraint_forces) if closing else 0
    ranged = [c for c in system.scenario.machine.coordinates if c.range is not None] if kind != "given" else []
    lower, upper = zip(*(c.range or (-np.inf, np.inf) for c in ranged), strict=True) if ranged else ((), ())
    x, m = guess_rest(system, {}) if kind == "at_rest" else _described(system)
    n = len(rest.names)
    return Search(
        functions=_name_functions(system, rest, closing, [c.name for c in ranged]),
        sizes={
            "N_REST": n,
            "N_REST_RATES": rest.rates,
            "N_FIXED": len(rest.fixed),
            "N_IDEAL": len(rest.ideal),
            "N_MOVING": len(rest.moving),
            "N_APART": len(rest.apart),
            "N_EQUATIONS": n_equations,
            "N_RANGED": len(ranged),
            "START_ROWS": max(n, n_equations),
            "START_COLUMNS": max(n, system.n_q if closing else 0),
        },
        tables={
            "STATE_GUESS": x,
            "MEMORY_GUESS": m,
            "DELAY_GUESS": [delay.before or 0.0 for delay in system.delays],
            "REST_SCALE": rest.scale,
            "IDEAL_VALUE": rest.ideal.values(),
            "RANGE_LOWER": lower,
            "RANGE_UPPER": upper,
        },
        places={
            "REST_MEMORY": rest.memory,
            "REST_FIXED": rest.fixed,
            "IDEAL_PLACE": tuple(rest.ideal),
            **_closing_places(system, find_kept(system) if closing else ()),
        },
        names={
            "REST_NAME": rest.names,
            "CONDITION_NAME": (*rest.moving, *rest.apart),
            "RANGED_NAME": [c.name for c in ranged],
        },
    )


def _closing_places(system: System, kept: Sequence[str]) -> dict[str, list[int]]:
    """Which positions are those of joints, not of modes, and which positions and velocities stay as they are given."""
    n = system.n_q
    stays = [int(state.name in kept) for state in system.states[: n + system.n_v]]
    joints = [int(joint) for joint in mark_joints(system)[:n]]
    return {"IS_JOINT": joints, "KEEPS_POSITION": stays[:n], "KEEPS_VELOCITY": stays[n:]}


def _described(system: System) -> tuple[np.ndarray, np.ndarray]:
    x, m = ([info.start for info in infos] for infos in (system.states, system.memory))
    return np.array(x, float), np.array(m, float)


def _name_functions(
    system: System, rest: RestEquations, closing: Mapping[str, ca.Function], ranged: Sequence[str]
) -> dict[str, ca.Function | Sweep]:
    """The functions by the names that the runtime calls them."""
    kernels = {"residual": "rest", "jacobian": "rest_jacobian", "conditions": "rest_conditions"}
    kernels |= {"values": "closing", "gradients": "closing_gradients"}
    functions = {**rest.functions, **closing}
    found = {kernels[name]: function for name, function in functions.items() if name in kernels}
    if ranged:
        column = ca.densify(ca.vertcat(*(system.motion.coordinates[name] for name in ranged)))
        found["ranged"] = ca.Function("ranged", [*system.symbols], [column])
    return found
