"""JSON, read strictly: what two readers would understand differently is refused."""

import json
from collections.abc import Iterable
from typing import Any

_DIGITS = 100


class UnreadableError(ValueError):
    """Not a JSON text that everybody reads alike. The text says why, and goes after `is `."""


def read_json(text: str) -> Any:
    """What `text` says (RFC 8259). Raises UnreadableError.

    Refused are also NaN and Infinity, which are not JSON; a name that stands twice in an object,
    and names that UTF-8 cannot write, as readers differ about them (RFC 8259, sections 4 and
    8.2); and what is nested too deeply for this process.
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


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableError(f"not clear: {quoted(name)} stands twice in one object")
        if not name.isascii() and any("\ud800" <= each <= "\udfff" for each in name):
            raise UnreadableError(f"not text that UTF-8 can write: the name {quoted(name)}")
        found[name] = value
    return found


def quoted(name: str) -> str:
    """`name` in ASCII, between quotes, and not too long: safe in any log and terminal."""
    return ascii(name[:40])


def _constant(name: str) -> Any:
    raise UnreadableError(f"not JSON: it has no {name}")


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise UnreadableError(f"not JSON: a number of {len(digits)} digits is too long")
    return int(digits)
