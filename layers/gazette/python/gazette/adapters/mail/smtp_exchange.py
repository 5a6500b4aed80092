"""One exchange with an SMTP server (RFC 5321), with a deadline for each stage."""

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
    """The SMTP server through which email is sent."""

    host: str
    port: int
    security: str
    """`tls` (RFC 8314), `starttls` or `none`."""

    username: str
    password: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpTimes:
    """The total time-out of each stage, which does not restart when bytes arrive.

    RFC 5321, section 4.5.3.2, recommends at least 5 minutes to connect, 5 for a command (DATA: 2),
    3 for each chunk of the message and 10 for the last reply.
    """

    connect: timedelta
    """The time-out for connecting and receiving the server's greeting."""

    command: timedelta
    """The time-out for each command and its reply. STARTTLS includes the TLS handshake. AUTH counts
    as one command.
    """

    data: timedelta
    """The time-out for sending the message without the final dot."""

    reply: timedelta
    """The time-out for sending the final dot and receiving the server's reply."""

    @property
    def whole(self) -> timedelta:
        """The maximum time for sending one message."""
        return self.connect + SMTP_COMMANDS * self.command + self.data + self.reply


class Exchange(smtplib.SMTP):
    """An SMTP connection that closes when the current stage times out. `clock` returns seconds.

    A socket's time-out applies to each call, and smtplib makes as many calls as it needs. A server
    that sends a byte now and then could block smtplib forever. The DNS lookup is not covered. Only
    the system's resolver limits the duration of a lookup.
    """

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._ends_at = clock()

    def begin(self, time: timedelta) -> None:
        """Begin a stage of the exchange with the given time limit."""
        self._ends_at = self._clock() + time.total_seconds()

    def dial(self, host: str, port: int, *, tls: ssl.SSLContext | None) -> None:
        """Connect, and read the greeting. Raises OSError and SMTPException."""
        self.sock = self._reach(host, port)
        if tls:
            self._secure(host, tls)
        code, text = self.getreply()
        if code != 220:
            raise smtplib.SMTPConnectError(code, text)

    def upgrade(self, host: str, tls: ssl.SSLContext) -> None:
        """Send STARTTLS. Discard the server's earlier replies (RFC 3207, section 4.2)."""
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
        """Send bytes within the remaining time of the stage.

        In smtplib, the time-out would restart with each TLS record.
        """
        data = memoryview(s.encode(self.command_encoding) if isinstance(s, str) else s)
        try:
            while data:
                data = data[self._bounded().send(data) :]
        except OSError as err:
            self.close()
            raise smtplib.SMTPServerDisconnected("The message could not be sent.") from err

    def getreply(self) -> tuple[int, bytes]:
        """Read a reply within the remaining time of the stage."""
        if self.file is None:
            self.file = io.BufferedReader(_Incoming(self._bounded))
        return super().getreply()

    def _reach(self, host: str, port: int) -> socket.socket:
        """Connect to the first address that accepts a connection. Each address gets an equal share
        of the remaining time.
        """
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
        """Return the socket, with the remaining time of the stage as its time-out."""
        if self.sock is None:
            raise smtplib.SMTPServerDisconnected("There is no connection.")
        self.sock.settimeout(self._left())
        return self.sock

    def _left(self) -> float:
        seconds = self._ends_at - self._clock()
        if seconds <= 0:
            raise TimeoutError("This stage took too long.")
        return seconds


class _Incoming(io.RawIOBase):
    """A raw stream of the bytes that the server sends. `bounded` returns the socket with its
    time-out.
    """

    def __init__(self, bounded: Callable[[], socket.socket]) -> None:
        self._bounded = bounded

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        return self._bounded().recv_into(buffer)
