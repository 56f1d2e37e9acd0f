"""Where does a unit start, and where the simulation of its scenario?"""

from dataclasses import replace

import numpy as np

from robodyn.computation.simulation import simulate

# Newton's method ends on the same root; what differs is how it solves linear equations.
ROUNDING = 1e-12


def begin(unit, scenario):
    """What the unit shows before and at the start, and the simulation at the start, of all states."""
    run = simulate(replace(scenario, duration=1e-3))
    names = [name.removeprefix("initial.") for name in unit.variables if name.startswith("initial.")]
    before = unit.read()
    unit.start(0.0)
    at = unit.read()
    return (np.array([values[name] for name in names]) for values in (before, at, {n: run[n].values[0] for n in names}))
