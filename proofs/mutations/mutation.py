"""What a mutation is."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A rule that is taken out, and the test that must then fail.

    `rule` in words; `path` within the package `gazette`, or `cli/…` for a module of the command;
    `old` occurs there exactly once; `test` is a pytest node without its parameters; `trace` is a
    letter of docs/protocol.md.
    """

    rule: str
    path: str
    old: str
    new: str
    test: str
    trace: str = ""
