"""The published case: a digest that outgrew its queue, with the engine of `gazette simulate`.

Medium Engineering told about 2020 how its daily digest met the limit of its queue, and what it
changed. Its figures are held against what the engine makes of the same designs; docs/forecast.md
has the table, and what had to be assumed.
"""
