"""Accuracy and stability of co-simulation couplings: how good is one?"""
