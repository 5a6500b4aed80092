"""Parses HTML forms in both encodings: urlencoded and multipart/form-data.

Uses the standard library, because the layer has no parser for multipart/form-data; `email` can
read it, since RFC 7578 builds on MIME. No form has files. The size is checked before parsing.
"""

from base64 import b64decode
from email import message_from_bytes
from email.message import Message
from urllib.parse import parse_qs

from gazette.domain.errors import UnreadableForm

LONGEST_FORM = 256 * 1024
"""Bytes. A hundred follows with the longest names, percent-encoded, need less."""

_MOST_FIELDS = 1000
_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


def read_request(body: str | None, content_type: str, *, is_base64: bool) -> dict[str, list[str]]:
    """As `read_form`, from the body as API Gateway passes it on."""
    try:
        sent = b64decode(body or "", validate=True) if is_base64 else (body or "").encode()
    except ValueError:
        sent = b""
    return read_form(sent, content_type)


def read_form(body: bytes, content_type: str) -> dict[str, list[str]]:
    """The values by field name. Raises UnreadableForm. Field names are ASCII, as in our pages."""
    if len(body) > LONGEST_FORM:
        raise UnreadableForm(f"A form of {len(body)} bytes is too long.")
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _MULTIPART:
        return _read_multipart(body, content_type)
    if kind == _URLENCODED or not body:
        return _read_urlencoded(body)
    raise UnreadableForm("A form must be urlencoded or multipart/form-data.")


def _read_urlencoded(body: bytes) -> dict[str, list[str]]:
    try:
        text = body.decode("utf-8", "replace")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as err:
        raise UnreadableForm(f"A form must have at most {_MOST_FIELDS} fields.") from err


def _read_multipart(body: bytes, content_type: str) -> dict[str, list[str]]:
    header = " ".join(content_type.split()).encode("ascii", "replace")
    message = message_from_bytes(b"Content-Type: " + header + b"\r\n\r\n" + body)
    parts = message.get_payload()
    if not isinstance(parts, list) or len(parts) > _MOST_FIELDS:
        raise UnreadableForm(
            f"A multipart form must name its boundary and have at most {_MOST_FIELDS} parts."
        )
    fields: dict[str, list[str]] = {}
    for part in parts:
        if not isinstance(part, Message):
            continue
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str):
            fields.setdefault(name, []).append(_value(part))
    return fields


def _value(part: "Message[str, str]") -> str:
    value = part.get_payload(decode=True)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
