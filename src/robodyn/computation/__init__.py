"""Computation: from a description to a run. Dynamics, assembly, native code, the engine, simulation, results."""
