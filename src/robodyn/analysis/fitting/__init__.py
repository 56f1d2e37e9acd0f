"""Which parameters do measurements tell?"""
