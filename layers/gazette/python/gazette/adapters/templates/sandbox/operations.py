"""The operators, filters and string methods that templates may use, with their limits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any

from gazette.adapters.templates.sandbox.sizes import (
    LONGEST,
    OF_JINJA,
    WIDEST,
    WORST,
    check_compared,
    check_filled,
    check_given,
    check_made,
    content_size,
    count_while_reading,
    depth,
    refuse,
    size,
)

_READING = frozenset(
    """abs attr count d default first float int items last length list max min
    random reverse""".split()
)
"""Filters that create no text. They return values from their arguments, or numbers."""

_CHOOSING = frozenset({"map", "reject", "rejectattr", "select", "selectattr"})
"""Filters whose error messages contain the full name of an unknown filter, test or attribute."""

_COMPARING = frozenset({"dictsort", "groupby", "sort", "unique"})
"""Filters that keep a lower-case copy of each text that they compare."""

_EACH_LINE = frozenset({"expandtabs", "indent", "tojson"})
"""Filters and methods that may insert padding of a given width many times."""

_SHOWING_NUMBERS = frozenset({"format", "join", "sum"})
"""Filters and methods whose numeric arguments are not widths."""


def add(left: Any, right: Any) -> Any:
    """Add numbers, or concatenate texts or lists up to a limit. Raises SecurityError."""
    if not isinstance(left, int | float) and content_size(left) + content_size(right) > LONGEST:
        raise refuse("the operator +")
    return check_made(left + right)


def multiply(left: Any, right: Any) -> Any:
    """Multiply numbers, or repeat a value up to a limit. Raises SecurityError."""
    for repeated, times in ((left, right), (right, left)):
        is_number = isinstance(repeated, int | float)
        if isinstance(times, int) and not is_number and content_size(repeated) * times > WIDEST:
            raise refuse("the operator *")
    return check_made(left * right)


def fill(left: Any, right: Any) -> Any:
    """Apply the `%` operator, which formats a text or returns a remainder. Raises SecurityError."""
    if isinstance(left, str | bytes):
        check_filled(left if isinstance(left, str) else left.decode("latin-1"), right)
    return check_made(left % right)


def concatenate(join: Callable[[Iterable[Any]], str], parts: Sequence[Any]) -> str:
    """Join texts like the `~` operator. Raises SecurityError if the result would be too long."""
    if sum(len(each) if isinstance(each, str) else size(each) for each in parts) > LONGEST:
        raise refuse("the operator ~")
    return join(parts)


def bounded(
    name: str,
    called: Callable[..., Any],
    on: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Call a filter or string method, unless the result might be too long.

    Raises SecurityError. `on` is the value to which the filter or method is applied.
    """
    longest = worst = max(1, len(on) if isinstance(on, str) else size(on))
    if name == "pprint":
        # Each line is preceded by a margin as long as the names above it.
        worst *= longest
    elif name == "tojson" and (args or kwargs) and longest <= LONGEST:
        # With `indent`, each line is preceded by one margin per level of nesting.
        worst *= max(1, depth(on))
    for value in (*args, *kwargs.values()):
        if isinstance(value, str):
            length = len(value)
        elif isinstance(value, int):
            if name not in _SHOWING_NUMBERS and abs(value) > WIDEST:
                raise refuse(f"{name} with {value}")
            length = value if name in _EACH_LINE else 1
        else:
            length = size(value)
        longest = max(longest, length)
        worst *= max(1, length)
    if longest > LONGEST or worst > WORST:
        raise refuse(name)
    return check_made(called(*args, **kwargs))


def bounded_method(called: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a method of a string, bytes or number. Raises SecurityError."""
    if args:
        args = [_read(each) for each in args]
    if kwargs:
        kwargs = {name: each for name, each in kwargs.items() if name not in OF_JINJA}
    return bounded(called.__name__, called, called.__self__, args, kwargs)


def bounded_filters(filters: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the filters. Filters whose results may be longer than their arguments get limits."""
    return {
        name: each if name in _READING else _bounded_filter(name, each)
        for name, each in filters.items()
    }


def _bounded_filter(name: str, called: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter with limits. If Jinja passes a context, the context is the first argument."""
    passed = 1 if hasattr(called, "jinja_pass_arg") else 0

    def call(*args: Any, **kwargs: Any) -> Any:
        if name in _CHOOSING:
            check_given(args[passed + 1 :], kwargs)
            return check_made(called(*args, **kwargs))
        value, arguments = _read(args[passed]), args[passed + 1 :]
        if name in _COMPARING:
            check_compared(value)
            return check_made(called(*args[:passed], value, *arguments, **kwargs))
        if name == "format":
            check_filled(str(value), kwargs or arguments)
        return bounded(name, partial(called, *args[:passed], value), value, arguments, kwargs)

    return update_wrapper(call, called)


def _read(value: Any) -> Any:
    return list(count_while_reading(value)) if isinstance(value, Iterator) else value
