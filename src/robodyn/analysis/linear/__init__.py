"""Linear models of systems: made, reduced, drawn, judged."""
