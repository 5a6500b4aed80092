"""Rules removed from the code one at a time, each of which must make its test fail: `make
mutations`.
"""
