"""Parameter identification: which values make a simulation agree with measurements?"""
