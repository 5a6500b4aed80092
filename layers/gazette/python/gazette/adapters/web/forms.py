"""Decoding of URL-encoded HTML forms of at most 32 KB.

Other encodings are rejected by their content type, without parsing. A parser of multipart/form-data
takes seconds for a hostile body, and anyone with a valid link can send such a body.
"""

from base64 import b64decode
from urllib.parse import parse_qs

from gazette.domain.errors import UnreadableForm

LONGEST_FORM = 32 * 1024
"""The maximum size of a form in bytes. The longest form, with a hundred follows and a hundred
categories, takes 18 KB."""

_MOST_FIELDS = 1000
_URLENCODED = "application/x-www-form-urlencoded"
_LONGEST_BASE64 = LONGEST_FORM * 4 // 3 + 4


def read_request(body: str | None, content_type: str, *, is_base64: bool) -> dict[str, list[str]]:
    """Return the form fields in a request body from API Gateway.

    Raises UnreadableForm.
    """
    if len(body or "") > _LONGEST_BASE64:
        raise UnreadableForm(f"A form must have at most {LONGEST_FORM} bytes.")
    try:
        sent = b64decode(body or "", validate=True) if is_base64 else (body or "").encode()
    except ValueError:
        sent = b""
    return read_form(sent, content_type)


def read_form(body: bytes, content_type: str) -> dict[str, list[str]]:
    """Parse a URL-encoded form into values by field name.

    Raises UnreadableForm. Field names are ASCII, as in Gazette's pages.
    """
    if len(body) > LONGEST_FORM:
        raise UnreadableForm(f"A form must have at most {LONGEST_FORM} bytes.")
    if body and content_type.partition(";")[0].strip().lower() != _URLENCODED:
        raise UnreadableForm("A form must be urlencoded.")
    try:
        text = body.decode("utf-8", "replace")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as err:
        raise UnreadableForm(f"A form must have at most {_MOST_FIELDS} fields.") from err
