"""Random machines under a law made from their model, and what they do in a state: no run is needed for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import null_space, qr
from support.random_machines.mechanisms import Frame, finish, random_constraints, random_frame

from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Block, Machine, Scenario


@dataclass(frozen=True)
class Posed:
    """A machine without blocks, a state in which it meets its constraints, and as many independent axes as it has.

    Attributes:
        q, v: by name; free: independent motions, some of which may have no axis.
    """

    machine: Machine
    q: dict[str, float]
    v: dict[str, float]
    axes: tuple[str, ...]
    free: int

    @property
    def rest(self) -> dict[str, float]:
        """The state without velocities."""
        return self.q | dict.fromkeys(self.v, 0.0)

    def scenario(self, *blocks: Block, **parts: Any) -> Scenario:
        machine = self.machine.replaced(blocks=(*self.machine.blocks, *blocks), **parts)
        return Scenario("m", machine, 1.0, self.q | self.v)


def random_posed(seed: int, looped: bool, plain: bool = True) -> Posed:
    """Bodies that do not bend, with loops or without."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, int(rng.integers(3, 6)), plain=plain, bending=0.0)
    constraints = random_constraints(frame, frame.n_v) if looped else []
    machine = Machine("m", finish(frame), constraints=tuple(constraints))
    q = _positions(frame)
    dynamics = MachineDynamics(machine)
    Z = null_space(dynamics.constraint_gradients([q[name] for name in dynamics.positions])) if looped else None
    n = len(dynamics.velocities)
    Z = np.eye(n) if Z is None else Z
    v = Z @ rng.uniform(-1.0, 1.0, Z.shape[1])
    singles = [k for k, name in enumerate(dynamics.velocities) if name.endswith(".velocity")]
    # Axes that determine the motion best, one after the other.
    _, R, order = qr(Z[singles].T, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > 0.05 * abs(R[0, 0])))
    chosen = [dynamics.velocities[singles[k]].removesuffix(".velocity") for k in order[:rank]]
    return Posed(machine, q, dict(zip(dynamics.velocities, v, strict=True)), tuple(chosen), Z.shape[1])


def _positions(frame: Frame) -> dict[str, float]:
    found = {f"{name}.position": value for name, value in frame.q.items()}
    for name, quaternion in frame.orientations.items():
        found |= {f"{name}.orientation.{part}": float(one) for part, one in zip("wxyz", quaternion, strict=True)}
    return found


def evaluate_signals(scenario: Scenario | System, names: tuple[str, ...], values: Mapping[str, float]) -> np.ndarray:
    """Signals of a scenario in a state, without a run."""
    system = scenario if isinstance(scenario, System) else assemble(scenario)
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    x = [values.get(info.name, info.start) for info in system.states]
    memory, numbers = [info.start for info in system.memory], [number.value for number in system.parameters]
    column = ca.vertcat(*(outputs[name] for name in names))
    return np.array(spell_out(system.function(column))(0.0, x, [], memory, numbers)).ravel()
