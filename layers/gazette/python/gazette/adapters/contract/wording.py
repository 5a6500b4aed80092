"""Conversion of pydantic's errors into messages that name the field and the rule, but never the
value.

The only exception is the host of a link to a forbidden host, which the stage's operators need to
know.
"""

import re

from pydantic import ValidationError
from pydantic_core import ErrorDetails

REASONS = 3
"""The maximum number of problems that one error message describes. Further problems are only
counted."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SUBJECT = re.compile(r"^(?:Input|String|List|Tuple|Dictionary|Data) should ")
_BY_TYPE = {
    "dict_type": "must be an object",
    "extra_forbidden": "unknown field; check the spelling or remove the field",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be text",
    "string_unicode": "must be text that UTF-8 can encode",
    "tuple_type": "must be a list",
}


def in_words(err: ValidationError, *path: str) -> tuple[str, ...]:
    """Return every problem in the form `detail.entity.url: must be …`, preceded by `path`."""
    return tuple(
        f"{place(path, problem['loc'])}: {plain(problem)}"
        for problem in err.errors(include_url=False, include_input=False)
    )


def place(path: tuple[str, ...], inner: tuple[str | int, ...]) -> str:
    """Return the path of a field, such as `detail.events.3.entity.url`, including object keys."""
    return ".".join((*path, *(_named(part) for part in inner if part != "[key]")))


def sentence(subject: str, problems: tuple[str, ...], *, reasons: int, besides: int = 0) -> str:
    """Return one sentence with up to `reasons` problems of `subject`, and the number of further
    problems.

    `besides` is the number of further problems that `problems` does not contain.
    """
    more = len(problems) - reasons + besides
    listed = "; ".join(problems[:reasons]) + (f"; and {more:,} more" if more > 0 else "")
    return f"{subject} does not match its schema: {listed}."


def accepted(number: int, noun: str) -> str:
    """Return the number of valid items in a list that also has invalid items, such as `events`."""
    if number == 1:
        return f"The other {noun.removesuffix('s')} of the list was accepted."
    return f"The other {number} {noun} of the list were accepted."


def _named(part: str | int) -> str:
    name = str(part)
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


def plain(problem: ErrorDetails) -> str:
    """Return the rule that a field violates, such as `must be a whole number`."""
    message = _BY_TYPE.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    return _SUBJECT.sub("must ", message)


def quoted(name: str) -> str:
    """Return `name` in ASCII, quoted and cut to 40 characters, so that logs and terminals can show
    it.
    """
    return ascii(name[:40])
