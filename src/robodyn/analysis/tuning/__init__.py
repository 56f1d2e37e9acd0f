"""Tuning of controllers: which gains make a motion best, and which margins are left?"""
