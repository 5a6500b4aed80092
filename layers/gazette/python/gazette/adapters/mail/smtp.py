"""Sending through any SMTP server (RFC 5321), one message per connection."""

import re
import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.errors import MessageError
from email.utils import parseaddr

from gazette.adapters.mail.mime import mime
from gazette.adapters.mail.smtp_exchange import Exchange, SmtpServer, SmtpTimes
from gazette.adapters.mail.smtp_replies import Stage, refusal
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

_END = b".\r\n"
"""The bytes that end a message. A server must not accept a message without them. If the connection
is lost earlier, the server cancels the transaction (RFC 5321, section 4.1.1.10).
"""


_SENDER = re.compile(r"[!-;=?-~]+@[!-;=?-~]+")
"""The pattern of an address that MAIL accepts: ASCII without spaces and angle brackets."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class SmtpMailer:
    """Implementation of the `Mailer` port with SMTP. `clock` returns monotonic seconds.

    `refer` returns the reference of an email and attempt, by which delivery events name the email.
    Without it, emails have no reference.
    """

    def __init__(
        self,
        server: SmtpServer,
        *,
        sender: str,
        times: SmtpTimes,
        clock: Callable[[], float],
        refer: Callable[[Mail, int], str] | None = None,
    ) -> None:
        self._server = server
        self._refer = refer
        self._sender = sender
        self._times = times
        self._clock = clock

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send one message over one connection.

        If there is no reply after the final dot, the outcome is unknown. Any failure before the
        final dot is a certain refusal. So the earlier stages have shorter time-outs than the last
        stage, in which the server may scan the message before it replies. The envelope has the
        stored address, because suppressions refer to that address.
        """
        if not ADDRESS.fullmatch(mail.to):
            return RefusedForGood(attempt, "not an address")
        sender = parseaddr(self._sender)[1]
        if not _SENDER.fullmatch(sender) or _CONTROL.search(self._sender):
            return RefusedAccount(attempt, "sender: must be an address in ASCII")
        try:
            reference = self._refer(mail, attempt) if self._refer else ""
            message = mime(mail, sender=self._sender, reference=reference)
            data = _dotted(message.as_bytes())
            connection = Exchange(clock=self._clock)
        except (ValueError, LookupError, MessageError) as err:
            return RefusedForGood(attempt, type(err).__name__)
        except Exception as err:  # noqa: BLE001 -- any type, because no message was sent
            return RefusedForNow(attempt, type(err).__name__)
        exchange = _Attempt(attempt, connection, self._server, self._times, sender)
        try:
            return (
                exchange.connect()
                or exchange.log_in()
                or exchange.announce(mail.to)
                or exchange.hand_over(data)
                or exchange.finish()
            )
        finally:
            with suppress(Exception):  # the outcome is already known, so an error does not matter
                connection.close()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt to send a message.

    Each step returns the outcome if the attempt ends there, or None to continue.
    """

    number: int
    connection: Exchange
    server: SmtpServer
    times: SmtpTimes
    sender: str

    def connect(self) -> SendOutcome | None:
        """Connect to the server, with TLS if configured, and send EHLO."""
        connection, server, command = self.connection, self.server, self.times.command
        try:
            tls = None if server.security == "none" else ssl.create_default_context()
            connection.begin(self.times.connect)
            connection.dial(server.host, server.port, tls=tls if server.security == "tls" else None)
            connection.begin(command)
            connection.ehlo_or_helo_if_needed()
            if tls and server.security == "starttls":
                connection.begin(command)
                connection.upgrade(server.host, tls)
                connection.begin(command)
                connection.ehlo_or_helo_if_needed()
        except Exception as err:  # noqa: BLE001 -- any type, because no message was sent
            return self._failed(Stage.CONNECTION, err)
        return None

    def log_in(self) -> SendOutcome | None:
        """Log in to the server if a login is configured. smtplib supports only ASCII."""
        if not self.server.username:
            return None
        if not f"{self.server.username}{self.server.password}".isascii():
            detail = f"{Stage.LOGIN}: user name and password must be ASCII"
            return RefusedAccount(self.number, detail, every_stream=True)
        try:
            self.connection.begin(self.times.command)
            self.connection.login(self.server.username, self.server.password)
        except Exception as err:  # noqa: BLE001 -- any type, because no message was sent
            return self._failed(Stage.LOGIN, err)
        return None

    def announce(self, recipient: str) -> SendOutcome | None:
        """Send the MAIL, RCPT and DATA commands."""
        for stage, argument, expected in (
            (Stage.MAIL, f"FROM:<{self.sender}>", (250,)),
            (Stage.RCPT, f"TO:<{recipient}>", (250, 251, 252)),
            (Stage.DATA, "", (354,)),
        ):
            try:
                self.connection.begin(self.times.command)
                code, text = self.connection.docmd(stage, argument)
            except Exception as err:  # noqa: BLE001 -- any type, because no message was sent
                return RefusedForNow(self.number, f"{stage}: {_name(err)}")
            if code not in expected:
                return refusal(stage, code, text, self.number, sender=self.sender)
        return None

    def hand_over(self, data: bytes) -> SendOutcome | None:
        """Send the message without the final dot."""
        try:
            self.connection.begin(self.times.data)
            self.connection.send(data)
        except Exception as err:  # noqa: BLE001 -- any type, because the message is incomplete
            return RefusedForNow(self.number, f"{Stage.MESSAGE}: {_name(err)}")
        return None

    def finish(self) -> SendOutcome:
        """Send the final dot. From here on, the server may have accepted the message."""
        try:
            self.connection.begin(self.times.reply)
            self.connection.send(_END)
            code, text = self.connection.getreply()
        except Exception as err:  # noqa: BLE001 -- any type, because the outcome is unknown
            return Uncertain(self.number, _name(err))
        match code // 100:
            case 2:
                return Accepted(self.number, text.decode(errors="replace"))
            case 4 | 5:
                return refusal(Stage.MESSAGE, code, text, self.number, sender=self.sender)
            case _:
                return Uncertain(self.number, str(code))

    def _failed(self, stage: Stage, err: Exception) -> SendOutcome:
        """Return the outcome of an attempt that failed before MAIL.

        A lost connection may be a single incident. But invalid settings, and a server without
        STARTTLS or a supported login, fail for every email. In these cases the streams stop, and
        runs do not use up attempts.
        """
        detail = f"{stage}: {_name(err)}"
        if isinstance(err, smtplib.SMTPResponseException) and isinstance(err.smtp_error, bytes):
            return refusal(stage, err.smtp_code, err.smtp_error, self.number, sender=self.sender)
        if isinstance(err, smtplib.SMTPServerDisconnected | smtplib.SMTPResponseException):
            return RefusedForNow(self.number, detail)
        if isinstance(err, smtplib.SMTPException) or (
            isinstance(err, ValueError | TypeError | OverflowError)
            and not isinstance(err, OSError)  # an untrusted certificate is a ValueError too
        ):
            return RefusedAccount(self.number, detail, every_stream=True)
        return RefusedForNow(self.number, detail)


def _name(err: Exception) -> str:
    """Return the class name of the original error, because smtplib reports a time-out as a
    disconnected server.
    """
    return type(err.__cause__ or err.__context__ or err).__name__


def _dotted(message: bytes) -> bytes:
    """Escape lines that begin with a dot (RFC 5321, section 4.5.2)."""
    lines = message.removesuffix(b"\r\n").split(b"\r\n")
    dotted = (b"." + line if line.startswith(b".") else line for line in lines)
    return b"\r\n".join(dotted) + b"\r\n"
