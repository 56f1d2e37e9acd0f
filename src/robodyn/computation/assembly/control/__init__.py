"""Control: models that controllers have of a machine, and state feedback designed for it."""
