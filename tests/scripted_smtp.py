"""An SMTP server on loopback that answers each stage as a script says, and keeps what it heard."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import BinaryIO

from gazette.adapters.mail.smtp_exchange import SmtpServer, SmtpTimes

TIMES = SmtpTimes(
    connect=timedelta(seconds=5),
    command=timedelta(seconds=5),
    data=timedelta(seconds=5),
    reply=timedelta(seconds=5),
)

STAGES = ("greeting", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "end")
"""In their order; `end` is the reply to the final dot."""

_REPLIES = {
    "greeting": "220 mail.example.com",
    "EHLO": "250-mail.example.com\r\n250 AUTH PLAIN",
    "HELO": "250 mail.example.com",
    "STARTTLS": "220 go on",
    "AUTH": "235 welcome",
    "response": "235 welcome",
    "MAIL": "250 OK",
    "RCPT": "250 OK",
    "DATA": "354 go on",
    "end": "250 taken",
}

CLOSES = "closes"
"""The reply of a stage at which the server closes the connection without a word."""


@dataclass
class ScriptedSmtp:
    """A server that offers neither 8BITMIME nor SMTPUTF8 (RFC 6152, RFC 6531).

    `replies` overrides the reply of a stage; `response` is the reply to a line that answers a
    challenge of AUTH.
    """

    replies: Mapping[str, str] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    connections: int = 0

    @contextmanager
    def served(self, *, login: tuple[str, str] = ("", "")) -> Iterator[SmtpServer]:
        """Serve on a free port; yield how a client reaches the server."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=self._accept, args=(listening,), daemon=True)
            thread.start()
            yield SmtpServer("127.0.0.1", listening.getsockname()[1], "none", *login)
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join(5)

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection = listening.accept()[0]
            except OSError:
                return
            self.connections += 1
            with suppress(OSError), ExitStack() as opened:
                opened.enter_context(connection)
                self._serve(connection, opened.enter_context(connection.makefile("rb")))

    def _serve(self, connection: socket.socket, lines: BinaryIO) -> None:
        answered = self._answer(connection, "greeting")
        while answered and (line := lines.readline()):
            stage = "response" if answered.startswith("334") else _verb(line)
            self.heard.append(stage)
            self.lines.append(line.decode(errors="replace").strip())
            answered = self._answer(connection, stage)
            if answered.startswith("354"):
                self.messages.append(_message(lines))
                answered = self._answer(connection, "end")

    def _answer(self, connection: socket.socket, stage: str) -> str:
        """Send the reply of a stage and return it; empty if the server closes instead."""
        reply = {**_REPLIES, **self.replies}.get(stage, "500 unknown command")
        if reply == CLOSES:
            return ""
        connection.sendall(f"{reply}\r\n".encode())
        return reply


def _verb(line: bytes) -> str:
    return line.split()[0].decode(errors="replace").upper() if line.split() else ""


def _message(lines: BinaryIO) -> bytes:
    """The message as it was on the wire, dot-stuffed, without its final dot."""
    message = b""
    while line := lines.readline():
        if line == b".\r\n":
            return message
        message += line
    raise ConnectionError("The client closed before the end of the message.")
