"""Parameter sweeps: many runs of one scenario on a grid or by Monte Carlo, on all cores, resumable."""
