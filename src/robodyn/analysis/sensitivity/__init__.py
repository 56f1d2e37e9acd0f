"""Sensitivity analysis: how do runs change with parameters, by exact derivatives and by finite changes?"""
