"""One exchange with an SMTP server (RFC 5321), of which each stage has an end."""

import io
import smtplib
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.mail import SMTP_COMMANDS

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where to deliver. `security`: `tls` (RFC 8314), `starttls` or `none`."""

    host: str
    port: int
    security: str
    username: str
    password: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpTimes:
    """How long each stage may take from beginning to end, however slowly bytes come or go.

    `connect`: to reach the server, and for its greeting; `command`: for each command and its
    reply, where TLS belongs to STARTTLS, and AUTH is one; `data`: to hand over the message, but
    for the final dot; `reply`: for that and the reply to it. RFC 5321, section 4.5.3.2, asks for
    5, 5 (DATA: 2), 3 (each chunk) and 10 minutes at least.
    """

    connect: timedelta
    command: timedelta
    data: timedelta
    reply: timedelta

    @property
    def whole(self) -> timedelta:
        """The longest that one message takes."""
        return self.connect + SMTP_COMMANDS * self.command + self.data + self.reply


class Exchange(smtplib.SMTP):
    """A connection that ends with the time of its stage. `clock` returns seconds.

    The time-out of a socket is for each call, and smtplib makes as many calls as it takes: a
    server that says a byte, or one more line of its reply, now and then would hold it for ever.
    Only names are looked up for as long as the system's resolver does.
    """

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._ends_at = clock()

    def begin(self, time: timedelta) -> None:
        """A stage that takes so long at most."""
        self._ends_at = self._clock() + time.total_seconds()

    def dial(self, host: str, port: int, *, tls: ssl.SSLContext | None) -> None:
        """Reach the server and let it greet. Raises OSError and SMTPException."""
        self.sock = self._reach(host, port)
        if tls:
            self._secure(host, tls)
        code, text = self.getreply()
        if code != 220:
            raise smtplib.SMTPConnectError(code, text)

    def upgrade(self, host: str, tls: ssl.SSLContext) -> None:
        """STARTTLS. What the server said before must be forgotten (RFC 3207, section 4.2)."""
        if not self.has_extn("starttls"):
            raise smtplib.SMTPNotSupportedError("The server does not offer STARTTLS.")
        code, text = self.docmd("STARTTLS")
        if code != 220:
            raise smtplib.SMTPResponseException(code, text)
        self._secure(host, tls)
        self.ehlo_resp = self.helo_resp = None
        self.esmtp_features = {}
        self.does_esmtp = False

    def send(self, s: "ReadableBuffer | str") -> None:
        """As in smtplib, which gives each record of TLS a time-out of its own."""
        data = memoryview(s.encode(self.command_encoding) if isinstance(s, str) else s)
        try:
            while data:
                data = data[self._bounded().send(data) :]
        except OSError as err:
            self.close()
            raise smtplib.SMTPServerDisconnected("The message could not be sent.") from err

    def getreply(self) -> tuple[int, bytes]:
        """As in smtplib, but for the end."""
        if self.file is None:
            self.file = io.BufferedReader(_Incoming(self._bounded))
        return super().getreply()

    def _reach(self, host: str, port: int) -> socket.socket:
        """Each of the addresses gets the same share of what is left, so that all have a turn."""
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        failure = OSError("The server has no address.")
        for number, (*_, address) in enumerate(addresses):
            share = self._left() / (len(addresses) - number)
            try:
                return socket.create_connection((str(address[0]), port), timeout=share)
            except OSError as err:
                failure = err
        raise failure

    def _secure(self, host: str, tls: ssl.SSLContext) -> None:
        self.sock = tls.wrap_socket(self._bounded(), server_hostname=host)
        self.file = None

    def _bounded(self) -> socket.socket:
        """The socket, whose next call ends with the stage."""
        if self.sock is None:
            raise smtplib.SMTPServerDisconnected("There is no connection.")
        self.sock.settimeout(self._left())
        return self.sock

    def _left(self) -> float:
        left = self._ends_at - self._clock()
        if left <= 0:
            raise TimeoutError("The time of this stage is over.")
        return left


class _Incoming(io.RawIOBase):
    """What the server says. `bounded` returns the socket, whose next call ends in time."""

    def __init__(self, bounded: Callable[[], socket.socket]) -> None:
        self._bounded = bounded

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        return self._bounded().recv_into(buffer)
