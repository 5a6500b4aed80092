"""Limits on the text that one template operation may create, checked before the operation.

Jinja limits only `range`, and its maintainers consider it impossible to limit all resource use from
within a process (https://github.com/pallets/jinja/pull/2149). So these limits apply to single
operations and to the rendered text. A template that keeps too many values or never ends is stopped
together with its process.
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
"""The maximum length in characters of an operation's result and of the rendered text. Gmail clips
emails at 102,400 bytes.
"""

WIDEST = 99_999
"""The maximum width, precision and number of repetitions. Jinja's `range` has the same limit."""

WORST = 10 * LONGEST
"""The maximum length that an operation's result may have in the worst case, computed from the sizes
of the arguments."""

_BITS = 4096
"""The maximum size of a product in bits. Such a number has about 1,200 digits."""

_LONGEST_NUMBER = 40
"""The maximum length in characters of a numeric text."""

_SENTENCE = 10_000
"""The maximum length in characters of a sentence to translate, and of a value in the sentence."""

OF_JINJA = frozenset({"_loop_vars", "_block_vars"})
"""The names of the arguments that Jinja itself adds to a call."""

_WIDTH = re.compile(r"[%)][-#0 +]*(?:\*|\d{6,}|\d*\.(?:\*|\d{6,}))")
"""A pattern that finds `%` placeholders with a forbidden width or precision, such as `%9999999d` or
`%*d`. The pattern begins at the closing parenthesis of `%(name)`, because the name may be any text.
"""

_WIDTHS = re.compile(r"[%)][-#0 +]*(\d*)(?:\.(\d+))?")
"""The pattern of the width and precision in a `%` placeholder."""

_DAYS_AND_TIMES = 1_000
"""The maximum length in characters of a `strftime` format, and of a text that contains an instant.
The C library may write 256 times as many characters:
https://docs.python.org/3/library/time.html#time.strftime"""

_WIDE_FIELD = re.compile(r"%[-_0^#+]*\d{3}")
"""The pattern of a width in a `strftime` format, which is an extension of the Linux C library."""

_MOST_PARTS = 1_000
"""The maximum number of parts in a list that is formatted as text."""

_LONG_NUMBER = re.compile(r"\d{6}")


def size(value: Any, *, objects: Callable[[Any], int] = lambda value: len(str(value))) -> int:
    """Return the approximate length of a value as text. Above LONGEST, the result is inexact.

    Lists count with all of their content, each time it occurs. `objects` is the size of one of
    Gazette's own objects.
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
        # Its text shows its content.
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
    """Return the nesting depth of lists and dictionaries in a value whose size is limited.

    When the content is printed, each line is indented once per level.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, _HOLDING):
        return 0
    return 1 + max(map(depth, value), default=0)


_HOLDING = (list, tuple, set, frozenset, KeysView, ValuesView, ItemsView)
_SEVERAL = (*_HOLDING, Mapping, Namespace)


_holds_others: Callable[[type], bool] = lru_cache(maxsize=256)(lambda of: issubclass(of, _SEVERAL))
"""A function that returns True if values of a type can contain other values, such as lists. The
results are cached, because the check is slow."""


def refuse(what: str) -> SecurityError:
    """Return the error for an operation whose result would be too long."""
    return SecurityError(f"{what}: the result would exceed the limit of {LONGEST} characters")


def check_made(result: Any) -> Any:
    """Return the result of an operation. Raise SecurityError if the result is too long.

    The parts of an iterator are counted when they are read.
    """
    if isinstance(result, str | bytes):
        check_length(len(result))
    elif isinstance(result, int):
        if result.bit_length() > _BITS:
            raise SecurityError(f"a number has more than {_BITS} bits")
    elif isinstance(result, Iterator):
        return count_while_reading(result)
    return result


def check_length(length: int) -> None:
    """Raise SecurityError if a text is too long."""
    if length > LONGEST:
        raise refuse("a long text")


def check_shown(value: Any) -> Any:
    """Check a value that a template prints, and return the value.

    Raises SecurityError for a list with too much content.
    """
    if isinstance(value, str):
        return value
    if _holds_others(type(value)) and size(value) > LONGEST:
        raise refuse("a long list")
    return value


def check_given(args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise SecurityError if a list that is passed to a function has too much content.

    The function might convert the list into text.
    """
    for each in args:
        if type(each) is not str and _holds_others(type(each)) and content_size(each) > LONGEST:
            raise refuse("a long list")
    for name, each in kwargs.items():
        if name not in OF_JINJA and _holds_others(type(each)) and content_size(each) > LONGEST:
            raise refuse("a long list")


def check_compared(value: Any) -> None:
    """Raise SecurityError for a list whose texts are too long to be copied and compared."""
    if content_size(value) > LONGEST:
        raise refuse("a long list")


def check_filled(text: str, values: Any) -> None:
    """Raise SecurityError if formatting `text` with `%` and `values` would exceed the limits."""
    if wide := _WIDTH.search(text.replace("%%", "")):
        raise refuse(f"the width {wide[0]!r}")
    length = size(values)
    if length > LONGEST or len(text) * length > WORST or _width(text) > LONGEST:
        raise refuse("the operator %")


def _width(text: str) -> int:
    """Return the sum of all widths and precisions in a text with `%` placeholders."""
    fields = _WIDTHS.finditer(text.replace("%%", ""))
    return sum(int(each[1] or 0) + int(each[2] or 0) for each in fields)


def check_spec(spec: str) -> None:
    """Raise SecurityError if the width in a format specification is too large. `>20` is allowed."""
    if _LONG_NUMBER.search(spec):
        raise refuse(f"the width {spec!r}")


def check_instant(value: Any) -> None:
    """Raise SecurityError for a `strftime` format that is too long or specifies a width."""
    if isinstance(value, str) and (len(value) > _DAYS_AND_TIMES or _WIDE_FIELD.search(value)):
        raise refuse("a format of days and times that is long or has a width")


def check_parts(args: Iterable[Any]) -> None:
    """Raise SecurityError for a list with too many parts to be formatted as text."""
    parts = list(args)
    if any(isinstance(each, Sequence) and len(each) > _MOST_PARTS for each in (parts, *parts)):
        raise refuse("a list in words")


def check_number(value: Any) -> None:
    """Raise SecurityError for a numeric text with potentially very many digits, such as
    `1e999999`.
    """
    if isinstance(value, str) and (len(value) > _LONGEST_NUMBER or "e" in value.lower()):
        raise refuse("a number as a text")


@lru_cache(maxsize=1024)
def _has_no_widths(text: str) -> bool:
    return not _WIDTH.search(text.replace("%%", "")) and _width(text) <= _SENTENCE


def _is_sentence(text: str) -> bool:
    # Long texts are not cached, because a thousand of them would exhaust the memory.
    return len(text) <= _SENTENCE and _has_no_widths(text)


def check_sentence(texts: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Raise SecurityError if a sentence to translate, or a value in the sentence, is too long."""
    for text in texts:
        if isinstance(text, str) and not _is_sentence(text):
            raise refuse("a sentence that is long or has a width")
    for name, value in values.items():
        if (
            name not in OF_JINJA
            and (len(value) if isinstance(value, str) else size(value)) > _SENTENCE
        ):
            raise refuse("a long value in a sentence")


def content_size(value: Any) -> int:
    return size(value, objects=lambda _: 1)


def count_while_reading(values: Iterable[Any]) -> Iterator[Any]:
    total = 0
    for each in values:
        total += 1 + content_size(each)
        if total > LONGEST:
            raise refuse("a long list")
        yield each
