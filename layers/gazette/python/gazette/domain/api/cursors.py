"""The text form of cursors: a list of strings as JSON in base64url, which fits into a URL.

A cursor is not signed, because its caller may read every page anyway.
"""

import base64
import json
from collections.abc import Sequence


def encode(fields: Sequence[str]) -> str:
    """Return the fields as the text of a cursor."""
    content = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode(text: str) -> object:
    """Return the JSON value in the text of a cursor. Raises ValueError."""
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    try:
        content: object = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except RecursionError as err:
        raise ValueError("nested too deeply") from err
    return content
