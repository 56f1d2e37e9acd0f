"""Digest of a sweep: is this the same one? All that decides its results, and a readable account of it."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.sweeps.plan import SweepPlan
from robodyn.analysis.sweeps.versions import PACKAGES
from robodyn.description.model import describe

FORMAT = "robodyn sweep 1"


def describe_plan(plan: SweepPlan, method: str) -> dict[str, Any]:
    """A plan as plain data, with a digest of it and of the scenario's equations."""
    message: dict[str, Any] = {
        "format": FORMAT,
        "scenario": plan.scenario.name,
        "method": method,
        "runs": plan.n_runs,
        "axes": [
            {"label": axis.label, "unit": axis.unit, "names": axis.names, "places": axis.places} for axis in plan.axes
        ],
        "draws": [
            {
                "names": draw.names,
                "kind": draw.distribution.kind,
                "arguments": list(map(float, draw.distribution.arguments)),
            }
            for draw in plan.draws
        ],
        "draws_a_point": plan.runs,
        "seed": plan.seed,
        "sampling": plan.sampling,
        "measures": [measure.name for measure in plan.measures],
        "keep": plan.keep,
        "along": plan.along or "time",
        "points": len(plan.places),
        "rate": None if plan.rate is None else float(plan.rate),
        "structural": plan.structural,
        "versions": {package: version(package) for package in PACKAGES},
        "description": describe(plan.scenario),
    }
    exact = [_hash_inputs(plan), plan.places, hash_equations(plan)]
    text = json.dumps([message, exact], sort_keys=True, default=str)
    return {"digest": hashlib.sha256(text.encode()).hexdigest()[:32], **message}


def _hash_inputs(plan: SweepPlan) -> str:
    return hashlib.sha256(np.ascontiguousarray(plan.inputs).tobytes()).hexdigest()


def hash_equations(plan: SweepPlan) -> str:
    """A digest of the traced equations: laws edited under the same name are other laws."""
    system = plan.system
    columns = [*system.symbols]
    content = hashlib.sha256()
    for name, expression in sorted(system.expressions.columns().items()):
        content.update(name.encode() + ca.Function("f", columns, [expression]).serialize().encode())
    return content.hexdigest()
