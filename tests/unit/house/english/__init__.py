"""A check for plain English in the project's docs, docstrings, comments, strings and names.

`habits.py` lists the habits to drop, `searches.py` finds them in the texts of `texts.py`, and
`check.py` counts the findings.
Print the findings of a file or folder with `python -m tests.unit.house.english PATH`.
"""
