"""Classification of SMTP refusals by cause: the recipient, the message, the stream or the account.

Before RCPT, the server does not know the recipient (RFC 5321, section 3.3). So a permanent refusal
is caused by the account, or by the sender that a whole stream uses. From RCPT on, a refusal applies
to this email unless the reply states a different cause, because many servers refuse a sender or
client only at RCPT. docs/decisions/0094-a-refusal-before-rcpt-is-not-about-the-reader.md has the
sources.
"""

import re
from enum import StrEnum

from gazette.adapters.mail.ses import names_only_others
from gazette.domain.delivery.signals import RefusedAccount, RefusedForGood, RefusedForNow


class Stage(StrEnum):
    """A stage of an SMTP exchange. The details of a refusal contain its name."""

    CONNECTION = "connection"
    LOGIN = "login"
    MAIL = "MAIL"
    RCPT = "RCPT"
    DATA = "DATA"
    MESSAGE = "message"


_BEFORE_RCPT = frozenset({Stage.CONNECTION, Stage.LOGIN, Stage.MAIL})

_CLOSING = 421
"""The reply code of a server that closes the connection for its own reasons (RFC 5321, section
3.8).
"""

_OF_THE_LOGIN = frozenset({432, 523, 524, 525, 530, 534, 535, 538})
"""The codes for login problems (RFC 3207, RFC 4954 and the IANA registry of enhanced codes, X.7.8
to X.7.14)."""

_START = (
    r"(?:[45]\.\d{1,3}\.\d{1,3} )?(?:<[^<>]*>:? )?"
    r"(?:(?:message|transaction|throttling|recipient address) (?:rejected|failed|failure): )?"
)
"""The pattern of words that may precede a known text in a server's reply. A text that appears later
may be a quotation, because relays forward the reply of the recipient's server, which the recipient
controls."""

_LOGIN = re.compile(r"[45]\.7\.(?:8|9|1[0-4])(?!\d)")
_SENDER = re.compile(r"[45]\.1\.[78](?!\d)")
"""The codes for a sender's mailbox or system address with invalid syntax (RFC 3463, section
3.2)."""

_ACCOUNT_TEXT = re.compile(
    _START + r"(your (?:\w+ ){0,3}account (?:has been|is|was) (?:\w+ )?"
    r"(?:suspended|paused|disabled|blocked|locked|closed|deactivated)"
    r"|sending (?:is )?(?:suspended|paused) for (?:this|the|your) account"
    r"|daily (?:\w+ ){1,3}(?:quota|limit) (?:has been )?exceeded"
    r"|(?:smtp )?auth(?:entication)? (?:is )?required)",
    re.IGNORECASE,
)
_STREAM_TEXT = re.compile(
    _START + r"(sender address rejected|client host rejected|helo command rejected"
    r"|relay access denied|relaying denied|relay(?:ing)? not (?:permitted|allowed)"
    r"|(?:smtp; )?unable to relay"
    r"|mail relay denied|sender verify failed"
    r"|(?:smtp; )?client does not have permissions? to send as this sender|sendasdenied"
    r"|the from address does not match a verified sender identity"
    r"|service unavailable(?=; client (?:host )?\[)"
    r"|access denied(?=: user \S+ is not authorized to perform)"
    r"|email address is not verified|outgoing mail from)",
    re.IGNORECASE,
)
"""The texts with which common mail servers and services refuse a sender or client. Lookaheads match
words that may contain a name, so that names are not stored.

The sources in order: Postfix, Sendmail, Exim, Exchange, Gmail, Exim, Exchange, SendGrid, block
lists, SES and cPanel."""


def refusal(
    stage: Stage, code: int, text: bytes, attempt: int, *, sender: str
) -> RefusedForNow | RefusedForGood | RefusedAccount:
    """Return the outcome of an attempt that the server refused at a stage.

    A code that SMTP does not define counts as a temporary refusal, because the server does not have
    the message.
    """
    reply, is_permanent = text.decode(errors="replace"), 500 <= code <= 599
    detail = f"{stage}: {code}" if stage in _BEFORE_RCPT else str(code)
    if code in _OF_THE_LOGIN or _LOGIN.match(reply):
        return RefusedAccount(attempt, f"{stage}: {code}", every_stream=True)
    if known := _ACCOUNT_TEXT.match(reply):
        return RefusedAccount(attempt, f"{stage}: {code} {known[1].lower()}", every_stream=True)
    known = _STREAM_TEXT.match(reply)
    if known and not names_only_others(reply, sender):
        return RefusedAccount(attempt, f"{stage}: {code} {known[1].lower()}")
    if _SENDER.match(reply):
        return RefusedAccount(attempt, f"{stage}: {code}")
    if code != _CLOSING and (stage is Stage.LOGIN or (is_permanent and stage in _BEFORE_RCPT)):
        return RefusedAccount(attempt, detail, every_stream=stage is not Stage.MAIL)
    return RefusedForGood(attempt, detail) if is_permanent else RefusedForNow(attempt, detail)
