"""Cursors of pages: the place at which the next page begins, and the user id that it belongs to.

A cursor is not signed, because a caller may read every page anyway.
"""

import base64
import json
import re
from typing import Any

from gazette.adapters.api.problems import ProblemError, invalid_parameter

_PLACE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")


def cursor_of(user_id: str, place: str) -> str | None:
    """Return the cursor of a page that begins at `place`; None if `place` is empty."""
    if not place:
        return None
    text = json.dumps([user_id, place], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_in(cursor: str, user_id: str, *, parameter: str) -> str:
    """Return the place in a cursor, or an empty string if the cursor is empty.

    Raises ProblemError if the cursor is invalid or belongs to another user id.
    """
    if not cursor:
        return ""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        content: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        owner, place = content
    except (ValueError, TypeError, RecursionError):
        raise _invalid(parameter) from None
    if not isinstance(place, str) or not _PLACE.fullmatch(place):
        raise _invalid(parameter)
    if owner != user_id:
        raise invalid_parameter(parameter, "belongs to a different user_id")
    return place


def _invalid(parameter: str) -> ProblemError:
    return invalid_parameter(parameter, "must be a cursor from the previous page")
