"""A strict JSON parser that rejects text which two parsers could interpret differently."""

import json
from collections.abc import Sequence
from typing import Any

from gazette.adapters.contract.wording import quoted

_MOST_NAMES = 200
"""The maximum number of names in one object. The largest object, the frequencies by category, needs
half as many.
"""

_DIGITS = 100


class UnreadableError(ValueError):
    """An error for text that is invalid or ambiguous JSON.

    The error message completes the sentence "The message is …".
    """


def read_json(text: str) -> Any:
    """Parse `text` as JSON (RFC 8259). Raises UnreadableError.

    Also rejects text that many parsers accept:

    - NaN and Infinity, which are not JSON.
    - Duplicate names and names that UTF-8 cannot encode, because parsers differ in how they handle
      them (RFC 8259, sections 4 and 8.2).
    - Objects with more names than any valid object, because each name would be reported as a
      problem.
    - JSON that is nested too deeply for this process.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer
        )
    except UnreadableError:
        raise
    except ValueError as err:
        raise UnreadableError(f"not JSON: {err}") from err
    except RecursionError as err:
        raise UnreadableError("nested too deeply") from err


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > _MOST_NAMES:
        raise UnreadableError(f"too large: one object has {len(pairs):,} names")
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise UnreadableError(f"ambiguous: one object has the name {quoted(name)} twice")
        if not name.isascii() and any("\ud800" <= each <= "\udfff" for each in name):
            raise UnreadableError(f"not valid UTF-8: the name {quoted(name)} cannot be encoded")
        fields[name] = value
    return fields


def _constant(name: str) -> Any:
    raise UnreadableError(f"not JSON: JSON has no {name}")


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise UnreadableError(f"not JSON: a number of {len(digits)} digits is too long")
    return int(digits)
