"""How fast is robodyn beside its rivals? Ratios measured in one run, never in tests: `python -m benchmarks`."""
