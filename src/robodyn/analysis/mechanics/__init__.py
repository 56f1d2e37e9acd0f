"""Mechanics of mechanisms: inertia, forces, workspace and kinematics."""
