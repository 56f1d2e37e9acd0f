"""Control: models that controllers have of a machine, and state controllers designed for it."""
