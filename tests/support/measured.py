"""Data as if measured: a run at given times, with noise."""

import dataclasses

import numpy as np

from robodyn.computation.simulation import simulate
from robodyn.description.model import Recording

TIMES = tuple(np.linspace(0.0, 2.0, 101))


def measure(scenario, noise, signals=("rail.position",), seed=1, times=TIMES):
    """A run of the scenario at given times with normal noise of one deviation a signal."""
    run = simulate(scenario, recording=Recording(times=times, signals=tuple(signals)))
    generator = np.random.default_rng(seed)
    return dataclasses.replace(run, values=run.values + np.asarray(noise) * generator.standard_normal(run.values.shape))
