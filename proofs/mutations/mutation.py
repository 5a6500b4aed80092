"""The removal of one rule."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """The removal of one rule, and the test that must then fail."""

    rule: str
    """The rule in words."""

    path: str
    """The module within the package `gazette`, or `cli/…` for a module of the command."""

    old: str
    """The text to replace, which occurs exactly once in the module."""

    new: str
    """The text without the rule."""

    test: str
    """The pytest node, without its parameters."""

    trace: str = ""
    """The letter of the trace in docs/protocol.md."""
