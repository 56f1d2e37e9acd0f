"""Linear systems: models of small deviations made, reduced, drawn, judged."""
