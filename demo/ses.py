"""A stand-in for Amazon SES on loopback, with SESv2's SendEmail and GetAccount.

It stores the accepted messages, responds according to a script or by chance, and can publish SES
events to a bus.

It is also the readers' mailbox. It shows the messages, and forwards requests for the links in
emails to the deployed function, so that readers can follow the links.

The embedded engine's own SES drops headers and tags. Requests to SES are therefore redirected to
the stand-in with AWS_ENDPOINT_URL_SESV2, which botocore reads. Gazette's code does not change.
"""

import json
import re
import socket
import threading
import urllib.error
import urllib.request
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import formatdate
from functools import partial
from http.server import ThreadingHTTPServer
from typing import Any

from gazette.adapters.mail.header_words import header_words

from demo.mailbox import inbox, with_pictures
from demo.ses_events import Channel, Postman, Publish, Taken, chance
from demo.ses_http import Forward, Loss, Reply, handler


class _Subject(UnstructuredHeader, BaseHeader):
    """A subject header that is kept unchanged.

    The standard library would decode its encoded words.
    """

    @classmethod
    def parse(cls, value: str, kwds: dict[str, Any]) -> None:
        """Parse the value, as HeaderRegistry requires."""
        kwds["decoded"], kwds["parse_tree"] = value, None

    def fold(self, *, policy: Policy) -> str:
        """Return the header folded to one line, with encoded words where needed."""
        return f"{self.name}: {header_words(self, self.name)}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("subject", _Subject)
_POLICY = SMTP.clone(  # never fold a long link, because folding would encode it
    max_line_length=998, header_factory=_HEADERS
)
_SIGNED = {"authorization", "x-amz-date"}
_TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
_HEADER_NAME = re.compile(r"[!-9;-~]{1,126}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted message, exactly as it arrived."""

    message_id: str
    to: str
    tags: dict[str, str]
    message: EmailMessage
    configuration_set: str = ""

    def part(self, subtype: str) -> str:
        """Return the `plain` or `html` alternative of the message."""
        part = self.message.get_body((subtype,))
        return part.get_content() if part else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted response: an error, or any response to an accepted message (`taken`).

    A response with `taken` is not used for GetAccount. With `loss`, the response does not arrive
    completely. `body` replaces the `message`.
    """

    status: int
    code: str
    taken: bool = False
    message: str = ""
    loss: Loss | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Chances:
    """The shares (0 to 1) of messages that are accepted but whose response is lost, unless
    scripted.

    The outcome depends only on `seed`, the recipient and the tags, not on the order of messages.
    """

    hang: float = 0.0
    close: float = 0.0
    seed: int = 0

    def loss(self, taken: "Accepted") -> Loss | None:
        """Return the way in which the response to this message is lost, or None."""
        drawn = chance("answer", self.seed, taken.to, taken.tags).random()
        if drawn < self.hang:
            return Loss.HANG
        return Loss.CLOSE if drawn < self.hang + self.close else None


class BadRequest(Exception):
    """An error for a request that SES would reject."""


class _Server(ThreadingHTTPServer):
    """A server that accepts as many simultaneous connections as all workers open.

    Each worker has ten threads. With the default backlog of five, Linux drops further connections.
    Their clients connect again a second later, or mistake a reset for a lost response.
    """

    daemon_threads = True
    request_queue_size = 128


class StandIn:
    """The stand-in server, a context manager. `url` is its SESv2 endpoint.

    Other operations are forwarded to the SES at the URL `behind`, if set. While `publish` is set,
    each accepted message causes SES events, even if its response was lost. `channel` describes how
    these events are delivered, and `clock` returns the time in them. `on_first` is called after the
    first message. `refuses` returns the response to a message that must be rejected, unless
    scripted.
    """

    def __init__(
        self, port: int = 0, *, chances: Chances | None = None, channel: Channel | None = None
    ) -> None:
        self.accepted: list[Accepted] = []
        self.requests = 0
        self.max_send_rate = 14.0
        self.max_24_hour_send = 50_000.0
        self.script: deque[Answer] = deque()
        self.refuses: Callable[[Accepted], Answer | None] = lambda _: None
        self.forward: Forward | None = None
        self.behind = ""
        self.publish: Publish | None = None
        self.clock: Callable[[], datetime] = partial(datetime.now, UTC)
        self.on_first: Callable[[], None] | None = None
        self.postman = Postman(lambda: self.publish, channel or Channel())
        self._chances = chances or Chances()
        self._hanging: set[socket.socket] = set()
        self._ended = False
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(0.05,),  # the seconds until the server ends
            daemon=True,
        )

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "StandIn":
        self._thread.start()
        self.postman.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        with self._lock:
            self._ended = True
            for connection in self._hanging:
                with suppress(OSError):  # the client closed the connection first
                    connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        self.postman.__exit__()

    def hang(self, connection: socket.socket) -> None:
        """Block until the client disconnects or the stand-in ends."""
        with self._lock:
            if self._ended:
                return
            self._hanging.add(connection)
        try:
            connection.recv(1)
        except OSError:
            return
        finally:
            with self._lock:
                self._hanging.discard(connection)

    def page(self, path: str) -> str | None:
        """Return the HTML of the inbox, or of one message."""
        if path == "/":
            return inbox([(mail.to, str(mail.message["Subject"])) for mail in self.accepted])
        number = path.removeprefix("/messages/")
        if number.isdigit() and int(number) < len(self.accepted):
            return with_pictures(self.accepted[int(number)].part("html"))
        return None

    def elsewhere(self, method: str, path: str, headers: Mapping[str, str]) -> Reply | None:
        """Return the response of the SES at `behind`.

        An emulator selects the service by the signature.
        """
        if not self.behind:
            return None
        signed = {name: value for name, value in headers.items() if name.lower() in _SIGNED}
        request = urllib.request.Request(self.behind + path, headers=signed, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return Reply(answer.status, "", answer.read())
        except urllib.error.HTTPError as err:
            return Reply(err.code, err.headers.get("x-amzn-errortype", ""), err.read())

    def send_email(self, request: dict[str, Any]) -> Reply:
        """Accept or reject a message, and return the response."""
        with self._lock:
            self.requests += 1
            answer = self.script.popleft() if self.script else None
        if answer and not answer.taken:
            return _scripted(answer)
        try:
            accepted = _accepted(request)
        except (BadRequest, KeyError, ValueError) as err:
            return Reply(400, "BadRequestException", _json({"message": str(err)}))
        with self._lock:
            rejection = self.refuses(accepted)
            if rejection:
                return _scripted(rejection)
            self.accepted.append(accepted)
            is_first = len(self.accepted) == 1
        if is_first and self.on_first:
            self.on_first()
        self.report(accepted)
        body = _json({"MessageId": accepted.message_id})
        if answer and answer.loss and not answer.code and answer.body is None:
            return Reply(answer.status, "", body, answer.loss)
        return _scripted(answer) if answer else Reply(200, "", body, self._chances.loss(accepted))

    def report(self, accepted: Accepted) -> None:
        """Schedule the SES events of an accepted message, if `publish` is set."""
        if self.publish is None:
            return
        self.postman.carry(
            Taken(
                accepted.message_id,
                str(accepted.message["From"]),
                accepted.to,
                accepted.tags,
                accepted.configuration_set,
                self.clock(),
            )
        )

    def account(self) -> Reply:
        """Return the response to GetAccount, as documented by SES.

        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html
        """
        with self._lock:
            self.requests += 1
            is_for_messages = bool(self.script) and self.script[0].taken
            answer = self.script.popleft() if self.script and not is_for_messages else None
            sent = float(len(self.accepted))
        if answer:
            return _scripted(answer)
        content = {
            "DedicatedIpAutoWarmupEnabled": False,
            "EnforcementStatus": "HEALTHY",
            "ProductionAccessEnabled": True,
            "SendingEnabled": True,
            "SendQuota": {
                "Max24HourSend": self.max_24_hour_send,
                "MaxSendRate": self.max_send_rate,
                "SentLast24Hours": sent,
            },
        }
        return Reply(200, "", _json(content))


def _scripted(answer: Answer) -> Reply:
    body = answer.body
    if body is None:
        body = _json({"message": answer.message or f"scripted {answer.code}"})
    return Reply(answer.status, answer.code, body, answer.loss)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode()


def _accepted(request: dict[str, Any]) -> Accepted:
    """Return the message as MIME. Raise BadRequest for a request that SES rejects."""
    content = request["Content"]["Simple"]
    tags = {tag["Name"]: tag["Value"] for tag in request.get("EmailTags", [])}
    for text in (*tags, *tags.values()):
        if not _TAG.fullmatch(text):
            raise BadRequest(f"Invalid tag: {text!r}")
    if not request["FromEmailAddress"].isascii():
        raise BadRequest("Non ASCII characters are not supported in the sender")
    message_id = f"{uuid.uuid4().hex}-000000"
    message = EmailMessage(policy=_POLICY)
    message["From"] = request["FromEmailAddress"]
    if request.get("ReplyToAddresses"):
        message["Reply-To"] = ", ".join(request["ReplyToAddresses"])
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
    if "Html" in content["Body"]:
        message.add_alternative(content["Body"]["Html"]["Data"], subtype="html")
    name = request.get("ConfigurationSetName", "")
    return Accepted(message_id, recipient, tags, message, name)
