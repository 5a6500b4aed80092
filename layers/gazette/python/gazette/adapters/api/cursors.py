"""Cursors of pages: the place at which the next page begins, and the user id that it belongs to."""

import re

from gazette.adapters.api.problems import ProblemError, invalid_parameter
from gazette.domain.api.cursors import decode, encode

_PLACE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")


def cursor_of(user_id: str, place: str) -> str | None:
    """Return the cursor of a page that begins at `place`; None if `place` is empty."""
    return encode([user_id, place]) if place else None


def place_in(cursor: str, user_id: str, *, parameter: str) -> str:
    """Return the place in a cursor, or an empty string if the cursor is empty.

    Raises ProblemError if the cursor is invalid or belongs to another user id.
    """
    if not cursor:
        return ""
    try:
        match decode(cursor):
            case [owner, str(place)] if _PLACE.fullmatch(place):
                if owner != user_id:
                    raise invalid_parameter(parameter, "belongs to a different user_id")
                return place
    except ValueError:
        pass
    raise _invalid(parameter)


def _invalid(parameter: str) -> ProblemError:
    return invalid_parameter(parameter, "must be a cursor from the previous page")
