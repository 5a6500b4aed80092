"""Extraction of a run id, message id or address from part of an email. No I/O.

Each link in an email contains a token that names the run, and so does the List-Unsubscribe header.
A lookup does not verify the token, so it does not need a key.
"""

import binascii
import email
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage

from gazette.domain.errors import InvalidToken
from gazette.domain.identity import parse_run_id
from gazette.domain.links import read_link
from gazette.domain.model import RunKey
from gazette.domain.subscribers.addresses import ADDRESS, canonical

_TOKEN = re.compile(r"\bk[1-9][0-9]{0,5}\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+")
_OF_SES = re.compile(r"@([a-z0-9-]+\.)?(email\.)?amazonses\.com$")
"""The suffix that SES adds to a message id: `@email.amazonses.com` in us-east-1, or a domain with
the region. https://docs.aws.amazon.com/ses/latest/dg/header-fields.html
"""

_MESSAGE_ID = re.compile(r"(?=.{20}|.*@)(?!.*\.eml$)[!-.0-~]{1,200}")
"""A pattern for text that may be a message id.

Message ids of SES have 60 characters, and those of SMTP servers contain an `@`. Paths and user ids
are usually shorter.
"""


@dataclass(frozen=True, slots=True)
class MessageId:
    """The message id that the provider returned when it accepted an email."""

    text: str


@dataclass(frozen=True, slots=True)
class Address:
    """An email address in any spelling."""

    text: str


Clue = RunKey | MessageId | Address


def clue_in(given: str) -> Clue | None:
    """Parse a run id, link, token, message id or address. Return None for any other text."""
    text = given.strip().removeprefix("<").removesuffix(">")
    try:
        return parse_run_id(text)
    except ValueError:
        pass
    if run := next(_runs(text), None):
        return run
    if _OF_SES.search(text):
        return MessageId(_OF_SES.sub("", text))
    if ADDRESS.fullmatch(canonical(text)):
        return Address(text)
    return MessageId(text) if _MESSAGE_ID.fullmatch(text) else None


def clue_in_email(raw: bytes) -> Clue | None:
    """Return the run that a link in an email names. If there is no such link, return the message
    id. The email may have been forwarded.
    """
    message = email.message_from_bytes(raw, policy=policy.default)
    for text in (*map(str, message.values()), *_bodies(message)):
        if run := next(_runs(text), None):
            return run
    message_id = message["Message-ID"]
    return clue_in(str(message_id)) if message_id else None


def _bodies(message: EmailMessage) -> Iterator[str]:
    for part in message.walk():
        if part.get_content_maintype() == "text":
            content = part.get_content()
            yield content if isinstance(content, str) else ""


def _runs(text: str) -> Iterator[RunKey]:
    for match in _TOKEN.finditer(text):
        try:
            payload = urlsafe_b64decode(match[1] + "=" * (-len(match[1]) % 4)).decode()
            yield read_link(payload).run
        except (InvalidToken, ValueError, binascii.Error):
            continue
