"""Inverse-dynamics identification: which inertias, frictions and stiffnesses do measured motions and efforts tell?"""
