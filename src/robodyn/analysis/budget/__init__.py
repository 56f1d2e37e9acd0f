"""Error budget: of what does a deviation from the wanted motion consist? Parts that add up, one for each cause."""
