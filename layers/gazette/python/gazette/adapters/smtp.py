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


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where to deliver. `security`: `tls` (RFC 8314), `starttls` or `none`."""

    host: str
    port: int
    security: str
    username: str
    password: str


class SmtpMailer:
    """The port `Mailer` on SMTP. `timeout` bounds the whole exchange."""

    def __init__(self, server: SmtpServer, *, sender: str, timeout: timedelta) -> None:
        self._server = server
        self._sender = sender
        self._timeout = timeout.total_seconds()

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """One connection, one message. After the end of DATA no answer means uncertain."""
        message = mime(mail, sender=self._sender)
        ends_at = time.monotonic() + self._timeout
        try:
            connection = self._connect(ends_at)
        except smtplib.SMTPAuthenticationError as err:
            return RefusedAccount(attempt, f"login: {err.smtp_code}")
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, f"connection: {err!r}")
        try:
            return _hand_over(connection, message, attempt, ends_at)
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
    message = EmailMessage(policy=SMTP)
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


def _hand_over(
    connection: smtplib.SMTP, message: EmailMessage, attempt: int, ends_at: float
) -> SendOutcome:
    """MAIL, RCPT and DATA one by one, because only what follows DATA can be uncertain."""
    sender = message["From"].addresses[0].addr_spec
    recipient = message["To"].addresses[0].addr_spec
    for command in (f"MAIL FROM:<{sender}>", f"RCPT TO:<{recipient}>", "DATA"):
        try:
            _bound(connection, ends_at)
            refused = _refusal(*connection.docmd(command), attempt)
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, f"{command.split()[0]}: {err!r}")
        if refused:
            return refused
    try:
        _bound(connection, ends_at)
        connection.send(_dotted(message.as_bytes()))
        code, text = connection.getreply()
    except (smtplib.SMTPException, OSError) as err:
        return Uncertain(attempt, repr(err))
    return _refusal(code, text, attempt) or Accepted(attempt, text.decode(errors="replace"))


def _refusal(code: int, text: bytes, attempt: int) -> SendOutcome | None:
    """RFC 5321 section 4.2.1: 4yz may be repeated, 5yz not."""
    answer = f"{code} {text.decode(errors='replace')}"
    if code >= 500:
        return RefusedForGood(attempt, answer)
    if code >= 400:
        return RefusedForNow(attempt, answer)
    return None


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
