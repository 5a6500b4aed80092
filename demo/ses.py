"""A stand-in for Amazon SES on loopback: speaks SESv2 SendEmail and GetAccount.

It keeps what it accepted.

It is also the reader's mailbox: it shows what arrived, and passes the links in emails on to the
deployed function, so that they can be followed.

The embedded engine's own SES drops headers and tags, so SES alone is sent here, by way of
AWS_ENDPOINT_URL_SESV2, which botocore reads. No code of Gazette knows of it.
"""

import html
import json
import re
import threading
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_POLICY = SMTP.clone(max_line_length=998)  # never fold, and so encode, a long link
_TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
_READER_LINKS = "/unsubscribe/"
_ACCOUNT = "/v2/email/account"
_HEADER_NAME = re.compile(r"[!-9;-~]{1,126}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that was taken, as it arrived."""

    message_id: str
    to: str
    tags: dict[str, str]
    message: EmailMessage

    def part(self, subtype: str) -> str:
        """The `plain` or `html` alternative."""
        part = self.message.get_body((subtype,))
        return part.get_content() if part else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted answer: an error of SES, or (`taken`) any answer to a message that was taken."""

    status: int
    code: str
    taken: bool = False


Forward = Callable[[str, str, dict[str, str], bytes], tuple[int, str, bytes]]
"""Answers a reader's request: method, path, headers and body; status, content type and body."""


class BadRequest(Exception):
    """A request that SES would refuse."""


class StandIn:
    """The server. Start it as a context manager; `url` is where SESv2 is to be sent."""

    def __init__(self, port: int = 0) -> None:
        self.accepted: list[Accepted] = []
        self.requests = 0
        self.max_send_rate = 14.0
        self.max_24_hour_send = 50_000.0
        self.script: deque[Answer] = deque()
        self.forward: Forward | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "StandIn":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def send_email(self, request: dict[str, Any]) -> tuple[int, str, dict[str, Any]]:
        """Status, error code (or empty) and body of the answer."""
        with self._lock:
            self.requests += 1
            answer = self.script.popleft() if self.script else None
        if answer and not answer.taken:
            return answer.status, answer.code, {"message": f"scripted {answer.code}"}
        try:
            taken = _take(request)
        except (BadRequest, KeyError, ValueError) as err:
            return 400, "BadRequestException", {"message": str(err)}
        with self._lock:
            self.accepted.append(taken)
        if answer:
            return answer.status, answer.code, {"message": f"scripted {answer.code}"}
        return 200, "", {"MessageId": taken.message_id}

    def account(self) -> tuple[int, str, dict[str, Any]]:
        """The same for GetAccount, as SES documents it.

        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html
        """
        with self._lock:
            self.requests += 1
            answer = self.script.popleft() if self.script else None
            sent = float(len(self.accepted))
        if answer:
            return answer.status, answer.code, {"message": f"scripted {answer.code}"}
        return (
            200,
            "",
            {
                "DedicatedIpAutoWarmupEnabled": False,
                "EnforcementStatus": "HEALTHY",
                "ProductionAccessEnabled": True,
                "SendingEnabled": True,
                "SendQuota": {
                    "Max24HourSend": self.max_24_hour_send,
                    "MaxSendRate": self.max_send_rate,
                    "SentLast24Hours": sent,
                },
            },
        )


def _take(request: dict[str, Any]) -> Accepted:
    """The message as MIME. Raises BadRequest for what SES documents that it refuses."""
    content = request["Content"]["Simple"]
    tags = {tag["Name"]: tag["Value"] for tag in request.get("EmailTags", [])}
    for text in (*tags, *tags.values()):
        if not _TAG.fullmatch(text):
            raise BadRequest(f"Invalid tag: {text!r}")
    message_id = f"{uuid.uuid4().hex}-000000"
    message = EmailMessage(policy=_POLICY)
    message["From"] = request["FromEmailAddress"]
    (recipient,) = request["Destination"]["ToAddresses"]
    message["To"] = recipient
    message["Subject"] = content["Subject"]["Data"]
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{message_id}@email.amazonses.example>"
    for header in content.get("Headers", []):
        if not _HEADER_NAME.fullmatch(header["Name"]) or not header["Value"].isascii():
            raise BadRequest(f"Invalid header: {header['Name']!r}")
        message[header["Name"]] = header["Value"]
    message["X-SES-MESSAGE-TAGS"] = ", ".join(f"{name}={value}" for name, value in tags.items())
    message.set_content(content["Body"]["Text"]["Data"])
    message.add_alternative(content["Body"]["Html"]["Data"], subtype="html")
    return Accepted(message_id, recipient, tags, message)


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
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
            status, code, answer = stand_in.send_email(json.loads(body))
            self._answer(status, code, json.dumps(answer).encode(), "application/json")

        def do_GET(self) -> None:
            number = self.path.removeprefix("/messages/")
            if self.path.startswith(_READER_LINKS):
                self._forward("GET", b"")
                return
            if self.path == _ACCOUNT:
                status, code, answer = stand_in.account()
                self._answer(status, code, json.dumps(answer).encode(), "application/json")
                return
            if self.path == "/":
                page = _inbox(stand_in.accepted)
            elif number.isdigit() and int(number) < len(stand_in.accepted):
                page = stand_in.accepted[int(number)].part("html")
            else:
                self._answer(404, "NotFoundException", b"no such page", "text/plain")
                return
            self._answer(200, "", page.encode(), "text/html; charset=utf-8")

        def _forward(self, method: str, body: bytes) -> None:
            if stand_in.forward is None:
                self._answer(503, "", b"nothing is deployed yet", "text/plain")
                return
            headers = {"Content-Type": self.headers.get("Content-Type", "")}
            status, content_type, page = stand_in.forward(method, self.path, headers, body)
            self._answer(status, "", page, content_type)

        def _answer(self, status: int, code: str, body: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            if code:
                self.send_header("x-amzn-errortype", code)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet: the demo shows its own progress."""

    return Handler


def _inbox(accepted: list[Accepted]) -> str:
    rows = "".join(
        f'<tr><td>{html.escape(mail.to)}</td><td><a href="/messages/{number}">'
        f"{html.escape(str(mail.message['Subject']))}</a></td></tr>"
        for number, mail in enumerate(accepted)
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Inbox</title></head>'
        f"<body><h1>{len(accepted)} emails</h1><table>{rows}</table></body></html>"
    )
