"""Constraints: loops, prescribed motions and couplings; which equations, which forces, which coordinates?"""
