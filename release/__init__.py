"""`make release`: build a version of Gazette twice, compare the builds, and write checksums.

docs/releases.md describes a release. It does not publish the files.
"""
