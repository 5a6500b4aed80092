"""Sends through any SMTP server (RFC 5321), one message per connection."""

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from gazette.adapters.mail.smtp_exchange import Exchange, SmtpServer, SmtpTimes
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.domain.model import Mail
from gazette.domain.subscribers.addresses import ADDRESS

_POLICY = SMTP.clone(max_line_length=998)
"""The longest line of RFC 5322. With shorter lines the standard library would encode a long link,
and List-Unsubscribe must not contain encoded words."""

_END = b".\r\n"
"""Ends the message. A server must not accept a message without it: if the connection is lost
before, it cancels the transaction (RFC 5321, section 4.1.1.10)."""


class SmtpMailer:
    """The port `Mailer` on SMTP. `clock` returns seconds and is monotonic.

    A refused login concerns every stream, because they share it.
    """

    def __init__(
        self, server: SmtpServer, *, sender: str, times: SmtpTimes, clock: Callable[[], float]
    ) -> None:
        self._server = server
        self._sender = sender
        self._times = times
        self._clock = clock

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """One connection, one message. No answer after the final dot means an unknown outcome.

        If the exchange ends before the final dot, the message was certainly not sent. So the
        earlier stages have shorter time-outs than the last one, in which the server may scan the
        message before it answers. The envelope has the address as it is stored: it is the one
        that suppressions know.
        """
        if not ADDRESS.fullmatch(mail.to):
            return RefusedForGood(attempt, "not an address")
        try:
            message = mime(mail, sender=self._sender)
            letter = _Letter(
                sender=_ascii(message["From"].addresses[0].addr_spec),
                recipient=mail.to,
                data=_dotted(message.as_bytes()),
            )
        except (ValueError, LookupError) as err:
            return RefusedForGood(attempt, type(err).__name__)
        try:
            connection = self._connect()
        except smtplib.SMTPAuthenticationError as err:
            return RefusedAccount(attempt, f"login: {err.smtp_code}", every_stream=True)
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, f"connection: {_name(err)}")
        try:
            return _hand_over(connection, letter, attempt, self._times)
        finally:
            connection.close()

    def _connect(self) -> Exchange:
        server, times, context = self._server, self._times, ssl.create_default_context()
        connection = Exchange(clock=self._clock)
        try:
            connection.begin(times.connect)
            connection.dial(
                server.host, server.port, tls=context if server.security == "tls" else None
            )
            connection.begin(times.command)
            connection.ehlo_or_helo_if_needed()
            if server.security == "starttls":
                connection.begin(times.command)
                connection.upgrade(server.host, context)
                connection.begin(times.command)
                connection.ehlo_or_helo_if_needed()
            if server.username:
                connection.begin(times.command)
                connection.login(server.username, server.password)
        except BaseException:
            connection.close()
            raise
        return connection


def mime(mail: Mail, *, sender: str) -> EmailMessage:
    """The message as MIME: text and HTML alternatives, and the tags for SES's SMTP endpoint.

    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-send-email.html
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
    """The envelope's addresses, and the encoded message without its final dot."""

    sender: str
    recipient: str
    data: bytes


def _hand_over(
    connection: Exchange, letter: _Letter, attempt: int, times: SmtpTimes
) -> SendOutcome:
    """Send MAIL, RCPT, DATA and the message. Only after its final dot is an outcome uncertain."""
    for command, argument, expected in (
        ("MAIL", f"FROM:<{letter.sender}>", (250,)),
        ("RCPT", f"TO:<{letter.recipient}>", (250, 251, 252)),
        ("DATA", "", (354,)),
    ):
        connection.begin(times.command)
        try:
            code, _ = connection.docmd(command, argument)
        except (smtplib.SMTPException, OSError) as err:
            return RefusedForNow(attempt, f"{command}: {_name(err)}")
        if 500 <= code <= 599:
            return RefusedForGood(attempt, str(code))
        if code not in expected:
            return RefusedForNow(attempt, str(code))
    connection.begin(times.data)
    try:
        connection.send(letter.data)
    except (smtplib.SMTPException, OSError) as err:
        return RefusedForNow(attempt, f"message: {_name(err)}")
    connection.begin(times.reply)
    try:
        connection.send(_END)
        code, text = connection.getreply()
    except (smtplib.SMTPException, OSError) as err:
        return Uncertain(attempt, _name(err))
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


def _name(err: Exception) -> str:
    """The class of the original error: smtplib reports a time-out as a disconnected server."""
    return type(err.__cause__ or err.__context__ or err).__name__


def _dotted(message: bytes) -> bytes:
    """Dot-stuffing (RFC 5321, section 4.5.2)."""
    lines = message.removesuffix(b"\r\n").split(b"\r\n")
    dotted = (b"." + line if line.startswith(b".") else line for line in lines)
    return b"\r\n".join(dotted) + b"\r\n"
