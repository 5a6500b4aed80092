"""How much text one operation of a template may make, decided before it makes any.

Jinja bounds only `range`, and its maintainers hold that a process cannot bound all of what it uses
(https://github.com/pallets/jinja/pull/2149). So these are bounds of single operations and of what
is rendered: a template that keeps very many values, or never ends, is ended with its process.
"""

import re
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from functools import lru_cache
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.utils import Namespace

LONGEST = 1_000_000
"""Characters of a text that an operation makes, or of what is rendered. Gmail clips 102,400."""

WIDEST = 99_999
"""A width, a precision, how often something is repeated: as Jinja bounds `range`."""

WORST = 10 * LONGEST
"""What an operation may make at the worst, by the sizes of what it is given."""

_BITS = 4096
"""Of a whole number that is multiplied. A text of it has some 1,200 digits."""

_LONGEST_NUMBER = 40
"""Characters of a number that is given as a text."""

_SENTENCE = 10_000
"""Characters of a sentence to translate, and of a value that is put into it."""

OF_JINJA = frozenset({"_loop_vars", "_block_vars"})
"""What Jinja hands to a call beside the arguments."""

_WIDTH = re.compile(r"[%)][-#0 +]*(?:\*|\d{6,}|\d*\.(?:\*|\d{6,}))")
"""In a text that `%` fills: a width or precision beyond WIDEST, or one that a value gives. What is
filled begins with `%`, or with `%(name)`, whose name may be anything."""

_WIDTHS = re.compile(r"[%)][-#0 +]*(\d*)(?:\.(\d+))?")
"""In such a text, each width and precision."""

_DAYS_AND_TIMES = 1_000
"""Characters of a text that says how an instant is written, or that one is read from. The C library
writes up to 256 times as many: https://docs.python.org/3/library/time.html#time.strftime"""

_WIDE_FIELD = re.compile(r"%[-_0^#+]*\d{3}")
"""In a text for `strftime`: a width, an extension of the C library of Linux."""

_MOST_PARTS = 1_000
"""Of a list in words."""

_LONG_NUMBER = re.compile(r"\d{6}")


def size(value: Any, *, objects: Callable[[Any], int] = lambda value: len(str(value))) -> int:
    """About how many characters a value has as text; more than LONGEST stands for anything more.

    Lists count with all that they hold, however often they hold it. `objects`: of a value of ours.
    """
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int):
        return 1 + value.bit_length() // 3
    if isinstance(value, range):
        return len(value) * (2 + len(str(max(value[0], value[-1], key=abs)))) if value else 0
    if isinstance(value, Mapping):
        value = [each for item in value.items() for each in item]
    elif isinstance(value, Namespace):
        # Its text shows what it holds.
        return size(object.__getattribute__(value, "_Namespace__attrs"), objects=objects)
    if not isinstance(value, _HOLDING):
        return objects(value) if type(value).__module__.startswith("gazette.") else 1
    total = 0
    for each in value:
        total += 1 + (len(each) if type(each) is str else size(each, objects=objects))
        if total > LONGEST:
            break
    return total


def depth(value: Any) -> int:
    """Return how deeply lists and tables are nested in a value whose size is known to be bounded.

    Each line that is printed of their content is indented once for each of them.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, _HOLDING):
        return 0
    return 1 + max(map(depth, value), default=0)


_HOLDING = (list, tuple, set, frozenset, KeysView, ValuesView, ItemsView)
_SEVERAL = (*_HOLDING, Mapping, Namespace)


_holds_others: Callable[[type], bool] = lru_cache(maxsize=256)(lambda of: issubclass(of, _SEVERAL))
"""Whether a value of a type may hold many. To look at a type takes long, and most hold none."""


def refuse(what: str) -> SecurityError:
    """The error for an operation that would make too much."""
    return SecurityError(f"{what}: a template makes no text of more than {LONGEST} characters")


def check_made(made: Any) -> Any:
    """What an operation has made, unless that is too long. Raises SecurityError.

    What it makes one after the other is counted while that is read.
    """
    if isinstance(made, str | bytes):
        check_length(len(made))
    elif isinstance(made, int):
        if made.bit_length() > _BITS:
            raise SecurityError(f"a number has more than {_BITS} bits")
    elif isinstance(made, Iterator):
        return counted(made)
    return made


def check_length(length: int) -> None:
    """Raise SecurityError if a text is too long."""
    if length > LONGEST:
        raise refuse("a long text")


def check_shown(value: Any) -> Any:
    """A value that a template shows. Raises SecurityError for a list that holds too much."""
    if isinstance(value, str):
        return value
    if _holds_others(type(value)) and size(value) > LONGEST:
        raise refuse("a long list")
    return value


def check_given(args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise SecurityError for a list that holds too much: what gets it may write its text."""
    for each in args:
        if type(each) is not str and _holds_others(type(each)) and held(each) > LONGEST:
            raise refuse("a long list")
    for name, each in kwargs.items():
        if name not in OF_JINJA and _holds_others(type(each)) and held(each) > LONGEST:
            raise refuse("a long list")


def check_compared(value: Any) -> None:
    """Raise SecurityError for a list whose texts may not be copied to compare them."""
    if held(value) > LONGEST:
        raise refuse("a long list")


def check_filled(text: str, values: Any) -> None:
    """Raise SecurityError if `%` may not fill `values` into `text`."""
    if wide := _WIDTH.search(text.replace("%%", "")):
        raise refuse(f"the width {wide[0]!r}")
    found = size(values)
    if found > LONGEST or len(text) * found > WORST or _width(text) > LONGEST:
        raise refuse("the operator %")


def _width(text: str) -> int:
    """The sum of the widths and precisions in a text that `%` fills, each below WIDEST."""
    fields = _WIDTHS.finditer(text.replace("%%", ""))
    return sum(int(each[1] or 0) + int(each[2] or 0) for each in fields)


def check_spec(spec: str) -> None:
    """Raise SecurityError if a value may not be written as `spec` says, such as `>20`."""
    if _LONG_NUMBER.search(spec):
        raise refuse(f"the width {spec!r}")


def check_instant(value: Any) -> None:
    """Raise SecurityError for a text by which no instant may be written or read."""
    if isinstance(value, str) and (len(value) > _DAYS_AND_TIMES or _WIDE_FIELD.search(value)):
        raise refuse("a format of days and times that is long or has a width")


def check_parts(args: Iterable[Any]) -> None:
    """Raise SecurityError for more parts than a list in words has."""
    given = list(args)
    if any(isinstance(each, Sequence) and len(each) > _MOST_PARTS for each in (given, *given)):
        raise refuse("a list in words")


def check_number(value: Any) -> None:
    """Raise SecurityError for a text of a number that may have very many digits, as `1e999999`."""
    if isinstance(value, str) and (len(value) > _LONGEST_NUMBER or "e" in value.lower()):
        raise refuse("a number as a text")


@lru_cache(maxsize=1024)
def _has_no_widths(text: str) -> bool:
    return not _WIDTH.search(text.replace("%%", "")) and _width(text) <= _SENTENCE


def _is_sentence(text: str) -> bool:
    # Long texts are not cached: a thousand of them would take all memory.
    return len(text) <= _SENTENCE and _has_no_widths(text)


def check_sentence(texts: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Raise SecurityError for what no sentence is that is translated."""
    for text in texts:
        if isinstance(text, str) and not _is_sentence(text):
            raise refuse("a sentence that is long or has a width")
    for name, value in values.items():
        if (
            name not in OF_JINJA
            and (len(value) if isinstance(value, str) else size(value)) > _SENTENCE
        ):
            raise refuse("a long value in a sentence")


def held(value: Any) -> int:
    return size(value, objects=lambda _: 1)


def counted(values: Iterable[Any]) -> Iterator[Any]:
    total = 0
    for each in values:
        total += 1 + held(each)
        if total > LONGEST:
            raise refuse("a long list")
        yield each
