"""Methods with steps of their own: which take their equations from the system, and which systems can they move?"""

from __future__ import annotations

from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System
from robodyn.computation.assembly.reaction_modes import ACTION
from robodyn.computation.simulation.fused_step import FUSED_STEPS, FusedStep
from robodyn.computation.simulation.generalised_alpha import trace_generalised_alpha
from robodyn.computation.simulation.implicit_step import ImplicitStep
from robodyn.computation.simulation.rattle import trace_rattle
from robodyn.description.model import Solver, Wheel

STEPS = {"generalised_alpha": trace_generalised_alpha, "rattle": trace_rattle}


def build_step(system: System, solver: Solver) -> ImplicitStep | None:
    """The equations of a step by the solver's method, or None where the engine has the method itself."""
    return STEPS[solver.method](system) if solver.implicit_step else None


def build_fused_step(system: System, solver: Solver) -> FusedStep | None:
    """The whole step by the solver's method, or None where the engine composes it."""
    return FUSED_STEPS[solver.method](system) if solver.fused_step else None


def check_method(system: System, solver: Solver) -> None:
    """Refuse a method that does not fit the constraint method, or the kind of states."""
    flaws = FlawList()
    constraint_method, method = system.scenario.constraint_method.method, solver.method
    if system.motion.constraint_forces and solver.implicit_step and constraint_method != "index3":
        what = f"'{constraint_method}' does not go with the method {method}, which has the constraints in its steps"
        flaws.add("constraint_method.method", what, "say index3, or choose another method")
    if system.motion.constraint_forces and constraint_method == "index3" and not solver.implicit_step:
        what = f"{method} does not go with the constraint method 'index3'"
        flaws.add("solver.method", what, f"say {'rattle' if system.motion.momenta else 'generalised_alpha'}")
    if system.has_balls and (solver.implicit_step or solver.fused_step):
        what = f"{method} moves joints of one position each, and here are balls"
        flaws.add("solver.method", what, "say rodas4p, or auto with another constraint method")
    if solver.implicit_step and any(isinstance(c, Wheel) for c in system.scenario.machine.all_constraints):
        what = f"{method} keeps constraints of positions, and wheels roll by velocities"
        flaws.add("solver.method", what, "say another method, and baumgarte or projection")
    if solver.implicit_step:
        _check_states(flaws, system, method)
    if solver.fused_step:
        _check_mechanism(flaws, system, method)
    system.scenario.raise_if_any(flaws)


def _check_mechanism(flaws: FlawList, system: System, method: str) -> None:
    """A step taken whole moves a mechanism M a + c = tau; what else acts on its joints is not in it."""
    if system.motion.mechanics is None or system.motion.momenta:
        flaws.add("solver.method", f"{method} moves mechanisms in positions and velocities", "choose another method")
    if system.motion.constraint_forces:
        flaws.add("solver.method", f"{method} does not go with constraints", "say rodas4p")
    if ACTION in system.expressions.actions:
        flaws.add("solver.method", f"{method} does not go with friction that sticks or rigid contacts", "say rodas4p")


def _check_states(flaws: FlawList, system: System, method: str) -> None:
    if system.motion.mechanics is None:
        flaws.add("solver.method", f"{method} moves mechanisms, and there is none", "choose another method")
    elif method == "rattle" and not system.motion.momenta:
        flaws.add("solver.method", "rattle moves systems in momenta", "make one by hamiltonian_system")
    elif method == "generalised_alpha" and system.motion.momenta:
        flaws.add("solver.method", "generalised_alpha moves systems in velocities", "say rattle")
    other = system.states[system.n_q + system.n_v : len(system.states) - system.n_quadratures]
    if method == "rattle" and other:
        names = ", ".join(state.name for state in other)
        flaws.add("solver.method", f"rattle moves positions and momenta only, and there are {names}")
