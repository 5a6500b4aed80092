"""The regular expressions of what runs in Lambda: none can be made to look for ever."""

import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import gazette
import pytest

LONG = 2_000
"""Characters. An expression that tries each pair of places of such a text takes a quarter of a
second at most; one that tries more takes minutes."""

_PATIENCE = 60.0
"""Seconds of CPU, whatever else the machine does. All of it takes two."""

_PARTS = ("a", ".", "-", "a.", "-a", "=", "@a", ":", "//", "\\", " ", "\n", "<a ", '"', "#", "=?")
_AROUND = (("", ""), ("a", "!"), ("https://a", "\x00"), ('<a href="', "\n"))

_OF_PROVIDERS = "gazette.adapters.mail.ses"
"""The words of SES itself, of which only the beginning is looked at."""


class TooLongError(AssertionError):
    """An expression looks on and on."""


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """The engine of expressions lets signals through."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def expressions() -> set[tuple[str, re.Pattern[str]]]:
    """All that modules of the package have compiled, with the module."""
    return {
        (module.name, value)
        for module in pkgutil.walk_packages(gazette.__path__, "gazette.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def look(expression: re.Pattern[str], *, everywhere: bool) -> None:
    """Look at every long text."""
    for part in _PARTS:
        for begin, end in _AROUND:
            text = begin + part * (LONG // len(part)) + end
            expression.fullmatch(text)
            expression.match(text)
            if everywhere:
                expression.sub("", text)


def test_attack_regular_expressions_do_not_backtrack_catastrophically() -> None:
    known = expressions()
    assert len(known) > 10
    with ends_within(_PATIENCE):
        for module, expression in known:
            look(expression, everywhere=module != _OF_PROVIDERS)


@pytest.mark.parametrize("evil", [r"(a+)+!?\x00", r"(?:a|aa)+\x00", r"a*a*a*\x00"])
def test_catastrophic_regular_expression_is_detected(evil: str) -> None:
    with pytest.raises(TooLongError), ends_within(0.5):
        look(re.compile(evil), everywhere=True)
