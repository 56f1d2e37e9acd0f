"""How fast is robodyn beside its rivals? Ratios from one run, never tests: `python -m benchmarks`."""
