"""Any provider that speaks SMTP (RFC 5321), as one message per connection."""

import smtplib
import ssl
import time
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from gazette.domain.model import Mail
from gazette.domain.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)

_POLICY = SMTP.clone(max_line_length=998)
"""The longest line of RFC 5322: where it folds, the standard library would encode a long link,
and encoded words are not allowed in List-Unsubscribe."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where to deliver. `security`: `tls` (RFC 8314), `starttls` or `none`."""

    host: str
    port: int
    security: str
    username: str
    password: str


class SmtpMailer:
    """The port `Mailer` on SMTP. `timeout` bounds the whole exchange.

    A login that is refused concerns every stream: they have it in common.
    """

    def __init__(self, server: SmtpServer, *, sender: str, timeout: timedelta) -> None:
        self._server = server
        self._sender = sender
        self._timeout = timeout.total_seconds()

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """One connection, one message. After the end of DATA no answer means uncertain."""
        try:
            message = mime(mail, sender=self._sender)
            letter = _Letter(
                sender=_ascii(message["From"].addresses[0].addr_spec),
                recipient=_ascii(message["To"].addresses[0].addr_spec),
                data=_dotted(message.as_bytes()),
            )
        except (ValueError, LookupError) as err:
            return RefusedForGood(attempt, type(err).__name__)
        ends_at = time.monotonic() + self._timeout
        try:
            connection = self._connect(ends_at)
        except smtplib.SMTPAuthenticationError as err:
            return RefusedAccount(attempt, f"login: {err.smtp_code}", every_stream=True)
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, f"connection: {type(err).__name__}")
        try:
            return _hand_over(connection, letter, attempt, ends_at)
        finally:
            connection.close()

    def _connect(self, ends_at: float) -> smtplib.SMTP:
        server, context = self._server, ssl.create_default_context()
        if server.security == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=_left(ends_at), context=context
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=_left(ends_at))
        try:
            if server.security == "starttls":
                connection.starttls(context=context)
            if server.username:
                _bound(connection, ends_at)
                connection.login(server.username, server.password)
            _bound(connection, ends_at)
            connection.ehlo_or_helo_if_needed()
        except BaseException:
            connection.close()
            raise
        return connection


def mime(mail: Mail, *, sender: str) -> EmailMessage:
    """The message as MIME: text and HTML alternatives, and the tags as SES's SMTP endpoint
    reads them. https://docs.aws.amazon.com/ses/latest/dg/event-publishing-send-email.html
    """
    message = EmailMessage(policy=_POLICY)
    message["From"] = sender
    message["To"] = mail.to
    message["Subject"] = mail.edition.subject
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=message["From"].addresses[0].domain)
    for name, value in mail.headers:
        message[name] = value
    message["X-SES-MESSAGE-TAGS"] = ", ".join(f"{name}={value}" for name, value in mail.tags)
    message.set_content(mail.edition.text)
    message.add_alternative(mail.edition.html, subtype="html")
    return message


@dataclass(frozen=True, slots=True)
class _Letter:
    """What goes over the wire: addresses of the envelope, and the message with its final dot."""

    sender: str
    recipient: str
    data: bytes


def _hand_over(
    connection: smtplib.SMTP, letter: _Letter, attempt: int, ends_at: float
) -> SendOutcome:
    """MAIL, RCPT and DATA one by one, because only what follows DATA can be uncertain."""
    for command, expected in (
        (f"MAIL FROM:<{letter.sender}>", (250,)),
        (f"RCPT TO:<{letter.recipient}>", (250, 251, 252)),
        ("DATA", (354,)),
    ):
        try:
            _bound(connection, ends_at)
            code, _ = connection.docmd(command)
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, type(err).__name__)
        if 500 <= code <= 599:
            return RefusedForGood(attempt, str(code))
        if code not in expected:
            return RefusedForNow(attempt, str(code))
    try:
        _bound(connection, ends_at)
        connection.send(letter.data)
        code, text = connection.getreply()
    except (smtplib.SMTPException, OSError) as err:
        return Uncertain(attempt, type(err).__name__)
    match code // 100:
        case 2:
            return Accepted(attempt, text.decode(errors="replace"))
        case 4:
            return RefusedForNow(attempt, str(code))
        case 5:
            return RefusedForGood(attempt, str(code))
        case _:
            return Uncertain(attempt, str(code))


def _ascii(address: str) -> str:
    address.encode("ascii")
    return address


def _bound(connection: smtplib.SMTP, ends_at: float) -> None:
    if connection.sock is not None:
        connection.sock.settimeout(_left(ends_at))


def _left(ends_at: float) -> float:
    return max(ends_at - time.monotonic(), 0.001)


def _dotted(message: bytes) -> bytes:
    """Transparency, RFC 5321 section 4.5.2, and the end of the message."""
    lines = message.removesuffix(b"\r\n").split(b"\r\n")
    return b"\r\n".join(b"." + line if line.startswith(b".") else line for line in lines) + (
        b"\r\n.\r\n"
    )
