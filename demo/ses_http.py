"""The HTTP server of the stand-in for SES, whose responses can break off, reset or be lost."""

import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from demo.mailbox import picture

_READER_LINKS = ("/unsubscribe/", "/preferences/", "/keep/", "/email/", "/updates/")
_API = "/v2/email/"
_ACCOUNT = f"{_API}account"

Forward = Callable[[str, str, dict[str, str], bytes], tuple[int, str, bytes]]
"""A function that handles a reader's request.

It takes the method, path, headers and body, and returns the status, content type and body.
"""


class Loss(StrEnum):
    """The ways in which a response does not arrive completely."""

    HANG = "hang"
    """No response until the client disconnects or the stand-in ends."""

    CLOSE = "close"
    """A connection that is closed without a response."""

    RESET = "reset"
    """A connection that is reset."""

    HALF = "half"
    """A response that breaks off in the middle of its body."""

    HEAD = "head"
    """A response that breaks off in the middle of its headers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response to send or to lose: the status, the error code if any, and the body."""

    status: int
    code: str
    body: bytes
    loss: Loss | None = None


class Served(Protocol):
    """The methods of the stand-in that the server calls."""

    forward: Forward | None

    def send_email(self, request: dict[str, Any]) -> Reply:
        """Return the response to SendEmail."""

    def account(self) -> Reply:
        """Return the response to GetAccount."""

    def page(self, path: str) -> str | None:
        """Return the HTML of a page of the mailbox, or None if the page does not exist."""

    def elsewhere(self, method: str, path: str, headers: Mapping[str, str]) -> Reply | None:
        """Return the response to another SES operation, or None if the operation is unknown."""

    def hang(self, connection: socket.socket) -> None:
        """Block until the client disconnects or the server ends."""


def handler(stand_in: Served) -> type[BaseHTTPRequestHandler]:
    """Return a handler of HTTP requests for `stand_in`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.path.startswith(_READER_LINKS):
                self._forward("POST", body)
                return
            if self.path != "/v2/email/outbound-emails":
                self._answer(404, "NotFoundException", b"{}", "application/json")
                return
            self._reply(stand_in.send_email(json.loads(body)))

        def do_GET(self) -> None:
            if self.path.startswith(_READER_LINKS):
                self._forward("GET", b"")
                return
            if self.path == _ACCOUNT:
                self._reply(stand_in.account())
                return
            if self.path.startswith(_API) and self._reply_from_elsewhere("GET"):
                return
            if (content := picture(self.path)) is not None:
                self._answer(200, "", content, "image/jpeg")
                return
            page = stand_in.page(self.path)
            if page is None:
                self._answer(404, "NotFoundException", b"no such page", "text/plain")
                return
            self._answer(200, "", page.encode(), "text/html; charset=utf-8")

        def do_DELETE(self) -> None:
            if not self._reply_from_elsewhere("DELETE"):
                self._answer(404, "NotFoundException", b"{}", "application/json")

        def _reply_from_elsewhere(self, method: str) -> bool:
            reply = stand_in.elsewhere(method, self.path, dict(self.headers.items()))
            if reply:
                self._reply(reply)
            return reply is not None

        def _forward(self, method: str, body: bytes) -> None:
            if stand_in.forward is None:
                self._answer(503, "", b"nothing is deployed yet", "text/plain")
                return
            headers = {"Content-Type": self.headers.get("Content-Type", "")}
            status, content_type, page = stand_in.forward(method, self.path, headers, body)
            self._answer(status, "", page, content_type)

        def _reply(self, reply: Reply) -> None:
            if reply.loss is None:
                self._answer(reply.status, reply.code, reply.body, "application/json")
                return
            self.close_connection = True
            match reply.loss:
                case Loss.HANG:
                    stand_in.hang(self.connection)
                case Loss.RESET:
                    now = struct.pack("ii", 1, 0)  # linger for 0 s, so that closing resets
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
                    self.connection.close()
                case Loss.HALF:
                    half = reply.body[: len(reply.body) // 2]
                    self._answer(
                        reply.status, reply.code, half, "application/json", len(reply.body)
                    )
                case Loss.HEAD:
                    self.wfile.write(f"HTTP/1.1 {reply.status} \r\nContent-Ty".encode())

        def _answer(
            self, status: int, code: str, body: bytes, content_type: str, length: int | None = None
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            if code:
                self.send_header("x-amzn-errortype", code)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Discard the log message, because the demo shows its own progress."""

    return Handler
