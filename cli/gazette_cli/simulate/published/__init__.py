"""A simulation of a published case, in which a digest exceeded the capacity of its queue.

Around 2020, Medium Engineering described how its daily digest reached the limit of its queue, and
which changes it made. This package compares the published figures with a simulation of the same
designs. docs/forecast.md has the results and the assumptions.
"""
