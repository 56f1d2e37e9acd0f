"""Run or System -> numbers: equilibria, linear models, modes, forces, sensitivities, fits."""
