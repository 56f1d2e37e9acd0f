"""Hamiltonian form: what is a mechanism in positions and momenta, and how does it move symplectically?

    E(q, p) = p^T M(q)^-1 p / 2 + V(q),    q' = dE/dp = M^-1 p,    p' = -dE/dq + tau + H^T lam

Without outer torques E is kept, and a symplectic method keeps it without drift however long it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList, refuse
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
    """The same hybrid system with momenta `<joint>.momentum`, p = M v, as states in place of the velocities.

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
        flaws.add(
            "constraint_method.method",
            "minimal coordinates cannot be written in momenta of all joints",
            "say baumgarte",
        )
    for port in (port for port in system.motion.ports if port.inertia is not None):
        flaws.add(f"interfaces.{port.interface.name}", "attaches an inertia that is not in momenta", "leave it out")
    velocities = [info.name for info in system.states[system.n_q : 2 * system.n_q]]
    for guard in system.discrete.guards:
        if guard.call and any(target in velocities for target in guard.call.targets.values()):
            flaws.add(f"events.{guard.name}", "its action sets velocities in Python", "make it native")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
    system = _fix_numbers(system)
    names = [state.name.replace(".velocity", ".momentum") for state in system.states[system.n_q : 2 * system.n_q]]
    momentum_symbols = ca.vertcat(*(ca.SX.sym(name) for name in names))
    form = _Form(system, momentum_symbols)
    # Velocities are replaced everywhere by M^-1 p; momenta change by -dE/dq and all torques.
    # The states with their start values: M v where the run would start.
    n = system.n_q
    start = search_start(system, system.described_values).x
    M = np.array(system.function(system.mass_matrix)(0.0, start, 0.0, 0.0, system.described_values))
    momenta = M @ start[n : 2 * n]
    states = []
    for k, state in enumerate(system.states):
        if n <= k < 2 * n:
            name = state.name.replace(".velocity", ".momentum")
            states.append(StateInfo(name, MOMENTUM_UNITS[state.unit], float(momenta[k - n]), float(M[k - n, k - n])))
        else:
            states.append(replace(state, start=float(start[k])))
    states = tuple(states)
    own = system.expressions.in_terms_of(form.in_momenta)
    momentum_rate = form.in_momenta(form.conservative_force())
    # Joint torques with those of constraints: the signals `<joint>.torque` or `<joint>.force`.
    torques = []
    for state in system.states[: system.n_q]:
        joint = state.name.removesuffix(".position")
        torques.append(system.signal_expressions[f"{joint}.torque" if state.unit == "rad" else f"{joint}.force"])
    totals = form.in_momenta(ca.vertcat(*torques))
    n = system.n_q
    expressions = replace(
        own,
        rhs=ca.vertcat(own.rhs[:n], momentum_rate + totals, own.rhs[2 * n :]),
        momentum_rate=momentum_rate,
        outputs=ca.vertcat(own.outputs, form.p),
        actions={name: form.act(column) for name, column in own.actions.items()},
        projection=None if own.projection is None else form.act(own.projection),
    )
    infos = tuple(SignalInfo(state.name, state.unit) for state in states[n : 2 * n])
    return replace(
        system,
        scenario=replace(system.scenario, initialisation="given"),
        states=states,
        signals=(*system.signals, *infos),
        symbols=system.symbols._replace(x=form.x),
        expressions=expressions,
        motion=replace(system.motion, momenta=True),
    )


def simulate_symplectic(scenario: Scenario, step: float) -> Run:
    """A run in momenta by RATTLE, with the constraints on the levels of positions and velocities in every step [s]."""
    if scenario.machine.all_constraints:
        scenario = replace(scenario, constraint_method=ConstraintMethod("index3"))
    return simulate(hamiltonian_system(assemble(scenario)), Solver("rattle", step=step))


@dataclass(frozen=True)
class _Form:
    """Expressions of a system, rewritten from velocities to momenta."""

    system: System
    p: ca.SX

    @property
    def x(self) -> ca.SX:
        """The states: positions, momenta, the rest."""
        n, x = self.system.n_q, self.system.symbols.x
        return ca.vertcat(x[:n], self.p, x[2 * n :])

    @cached_property
    def v(self) -> ca.SX:
        """M^-1 p."""
        return ca.SX(solve_symmetric(self.system.mass_matrix, [self.p[k] for k in range(self.p.numel())]))

    def in_momenta(self, expression: ca.SX) -> ca.SX:
        """The same value, with momenta in place of velocities."""
        return ca.substitute(expression, self.system.v, self.v)

    def conservative_force(self) -> ca.SX:
        """-dE/dq at fixed p, which is d(T - V)/dq at fixed v."""
        assert self.system.motion.mechanics is not None
        tree, system = self.system.motion.mechanics.tree, self.system
        q, v = (list(ca.vertsplit(column)) for column in (system.q, system.v))
        kinetic = ca.SX(kinetic_energy(tree, q, v))
        for inertia, gradient in system.motion.rotors:
            kinetic = kinetic + 0.5 * inertia * (gradient @ system.v) ** 2
        return ca.gradient(kinetic - ca.SX(potential_energy(tree, q)), system.q)

    def act(self, column: ca.SX) -> ca.SX:
        """[x, m] after an action, its new velocities made new momenta."""
        n = self.system.n_q
        M = ca.substitute(self.system.mass_matrix, self.system.q, column[:n])
        return ca.vertcat(column[:n], M @ column[n : 2 * n], column[2 * n :])


def _fix_numbers(system: System) -> System:
    """The system without tunable numbers, unless its start is given and at rest."""
    scenario, velocities = system.scenario, system.states[system.n_q : 2 * system.n_q]
    if not system.parameters or (scenario.initialisation == "given" and not any(state.start for state in velocities)):
        return system
    return assemble(replace(scenario, machine=replace(scenario.machine, tunable=())))
