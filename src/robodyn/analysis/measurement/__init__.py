"""Measured data: what is in them, how are they made fit for a comparison with a model?"""
