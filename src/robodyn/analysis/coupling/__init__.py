"""How good is a coupling? Errors and stability of co-simulated oscillators."""
