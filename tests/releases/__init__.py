"""Recorded releases, and what this version and a recorded one read of each other's rows.

A folder named for a version contains the release: its wheel, checksums, settings and rows, and the
module that reads rows with the code of the wheel. `make release RECORD=1` writes the folder.
"""
