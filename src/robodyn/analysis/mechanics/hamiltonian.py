"""Hamiltonian form: what is a mechanism in positions and momenta, and how does it move symplectically?

    E(q, p) = p^T M(q)^-1 p / 2 + V(q),    q' = dE/dp = M^-1 p,    p' = -dE/dq + tau + H^T lam

Without outer torques E is kept, and a symplectic method keeps it without drift however long it runs.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from robodyn.base import FlawList, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.declarations import StateInfo
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.dynamics import kinetic_energy, potential_energy, solve_symmetric
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model import ConstraintMethod, Scenario, Solver

MOMENTUM_UNITS = {"rad/s": "kg m^2/s", "m/s": "kg m/s"}


def hamiltonian_system(system: System) -> System:
    """The hybrid system with momenta `<joint>.momentum`, p = M v, as states in place of the velocities.

    All signals are kept; momenta are signals too. Constraints are kept as the system's constraint method says. Where
    the run does not start at a given rest, tunable numbers are fixed at their values, since the momenta depend on them.

    Raises:
        ModelError: where there is no mechanism, where it is in minimal coordinates, or where an action written in
            Python sets velocities.
    """
    flaws = FlawList()
    if system.motion.mechanics is None:
        refuse("machine", "has no mechanism, and so no momenta", source=system.scenario.name)
    if system.motion.momenta:
        refuse("system", "is in momenta already", source=system.scenario.name)
    if system.motion.constraint_forces and system.scenario.constraint_method.method == "minimal":
        what = "minimal coordinates cannot be written in momenta of all joints"
        flaws.add("constraint_method.method", what, "use baumgarte")
    for port in (port for port in system.motion.ports if port.inertia is not None):
        flaws.add(f"interfaces.{port.interface.name}", "attaches an inertia that is not in momenta", "leave it out")
    velocities = system.state_names[system.n_q : 2 * system.n_q]
    for guard in system.discrete.guards:
        if guard.call and any(target in velocities for target in guard.call.targets.values()):
            flaws.add(f"events.{guard.name}", "its action sets velocities in Python", "make it native")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
    # Momenta depend on tunable numbers, unless the run starts at a given rest: then these are fixed.
    scenario = system.scenario
    starts_moving = any(state.start for state in system.states[system.n_q : 2 * system.n_q])
    if system.parameters and (scenario.initialisation != "given" or starts_moving):
        system = assemble(replace(scenario, machine=replace(scenario.machine, tunable=())))

    # Velocities are replaced everywhere by M^-1 p; after an action its new velocities are made new momenta.
    n, x = system.n_q, system.symbols.x
    names = [state.name.replace(".velocity", ".momentum") for state in system.states[n : 2 * n]]
    p = ca.vertcat(*(ca.SX.sym(name) for name in names))
    v = ca.SX(solve_symmetric(system.mass_matrix, ca.vertsplit(p)))

    def in_momenta(expression: ca.SX) -> ca.SX:
        return ca.substitute(expression, system.v, v)

    def act(column: ca.SX) -> ca.SX:
        M = ca.substitute(system.mass_matrix, system.q, column[:n])
        return ca.vertcat(column[:n], M @ column[n : 2 * n], column[2 * n :])

    # p' = -dE/dq + tau, where -dE/dq at fixed p is d(T - V)/dq at fixed v, and tau has the torques of constraints.
    assert system.motion.mechanics is not None
    tree, (q, rates) = system.motion.mechanics.tree, (list(ca.vertsplit(column)) for column in (system.q, system.v))
    kinetic = ca.SX(kinetic_energy(tree, q, rates))
    for inertia, gradient in system.motion.rotors:
        kinetic = kinetic + 0.5 * inertia * (gradient @ system.v) ** 2
    momentum_rate = in_momenta(ca.gradient(kinetic - ca.SX(potential_energy(tree, q)), system.q))
    torques = []
    for state in system.states[:n]:
        joint = state.name.removesuffix(".position")
        torques.append(system.signal_expressions[f"{joint}.torque" if state.unit == "rad" else f"{joint}.force"])

    # Start values: M v where the run would start.
    start = search_start(system, system.described_values).x
    M = np.array(system.function(system.mass_matrix)(0.0, start, 0.0, 0.0, system.described_values))
    momenta = [
        StateInfo(name, MOMENTUM_UNITS[state.unit], *values)
        for name, state, *values in zip(
            names, system.states[n:], (M @ start[n : 2 * n]).tolist(), np.diag(M).tolist(), strict=False
        )
    ]
    states = [replace(state, start=value) for state, value in zip(system.states, start.tolist(), strict=True)]
    own = system.expressions.in_terms_of(in_momenta)
    expressions = replace(
        own,
        rhs=ca.vertcat(own.rhs[:n], momentum_rate + in_momenta(ca.vertcat(*torques)), own.rhs[2 * n :]),
        momentum_rate=momentum_rate,
        outputs=ca.vertcat(own.outputs, p),
        actions={name: act(column) for name, column in own.actions.items()},
        projection=None if own.projection is None else act(own.projection),
    )
    return replace(
        system,
        scenario=replace(system.scenario, initialisation="given"),
        states=(*states[:n], *momenta, *states[2 * n :]),
        signals=(*system.signals, *(SignalInfo(state.name, state.unit) for state in momenta)),
        symbols=system.symbols._replace(x=ca.vertcat(x[:n], p, x[2 * n :])),
        expressions=expressions,
        motion=replace(system.motion, momenta=True),
    )


def simulate_symplectic(scenario: Scenario, step: float) -> Run:
    """A run in momenta by RATTLE, with the constraints on the levels of positions and velocities in every step [s]."""
    if scenario.machine.all_constraints:
        scenario = replace(scenario, constraint_method=ConstraintMethod("index3"))
    return simulate(hamiltonian_system(assemble(scenario)), Solver("rattle", step=step))
