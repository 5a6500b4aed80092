"""Strict JSON. Text that two parsers could understand differently is rejected."""

import json
from collections.abc import Sequence
from typing import Any

from gazette.adapters.contract.wording import quoted

_MOST_NAMES = 200
"""The limit of names in one object: twice as many as the largest one needs, the frequencies by
category."""

_DIGITS = 100


class UnreadableError(ValueError):
    """The text is not unambiguous JSON. The message completes a sentence that ends in `is `."""


def read_json(text: str) -> Any:
    """Parse `text` as JSON (RFC 8259). Raise UnreadableError.

    The following are rejected too: NaN and Infinity, which are not JSON; duplicate names in an
    object and names that UTF-8 cannot encode, because parsers differ about them (RFC 8259, sections
    4 and 8.2); an object with more names than any of ours may have, because each would be a problem
    of its own; and JSON that is nested too deeply for this process.
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
