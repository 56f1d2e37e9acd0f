"""Inertia, forces, reach and kinematics of mechanisms."""
