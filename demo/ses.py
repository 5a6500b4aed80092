"""A stand-in for Amazon SES on loopback: speaks SESv2 SendEmail and GetAccount.

It keeps what it accepted, answers as a script or chance will have it, and puts SES's events on the
bus of whoever asks for them.

It is also the reader's mailbox: it shows what arrived, and passes the links in emails on to the
deployed function, so that they can be followed.

The embedded engine's own SES drops headers and tags, so SES alone is sent here, by way of
AWS_ENDPOINT_URL_SESV2, which botocore reads. No code of Gazette knows of it.
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
from http.server import ThreadingHTTPServer
from typing import Any

from gazette.adapters.mail.header_words import header_words

from demo.mailbox import inbox, with_pictures
from demo.ses_events import Channel, Postman, Publish, Taken, chance
from demo.ses_http import Forward, Loss, Reply, handler


class _Subject(UnstructuredHeader, BaseHeader):
    """A subject as it was given: the standard library would decode what looks encoded."""

    @classmethod
    def parse(cls, value: str, kwds: dict[str, Any]) -> None:
        """As HeaderRegistry asks it of a class."""
        kwds["decoded"], kwds["parse_tree"] = value, None

    def fold(self, *, policy: Policy) -> str:
        """The header on one line, in encoded words where it needs them."""
        return f"{self.name}: {header_words(self, self.name)}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("subject", _Subject)
_POLICY = SMTP.clone(  # never fold, and so encode, a long link
    max_line_length=998, header_factory=_HEADERS
)
_SIGNED = {"authorization", "x-amz-date"}
_TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
_HEADER_NAME = re.compile(r"[!-9;-~]{1,126}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that was taken, as it arrived."""

    message_id: str
    to: str
    tags: dict[str, str]
    message: EmailMessage
    configuration_set: str = ""

    def part(self, subtype: str) -> str:
        """The `plain` or `html` alternative."""
        part = self.message.get_body((subtype,))
        return part.get_content() if part else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted answer: an error of SES, or (`taken`) any answer to a message that was taken.

    One of a message that was taken answers no GetAccount. With `loss` it does not arrive whole.
    `body` is sent as it is, instead of the `message`.
    """

    status: int
    code: str
    taken: bool = False
    message: str = ""
    loss: Loss | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Chances:
    """The shares, 0 to 1, of messages that are taken without an answer, where no script speaks.

    Drawn from `seed`, the recipient and the tags: the same messages in whatever order.
    """

    hang: float = 0.0
    close: float = 0.0
    seed: int = 0

    def loss(self, taken: "Accepted") -> Loss | None:
        """What becomes of the answer to this message."""
        drawn = chance("answer", self.seed, taken.to, taken.tags).random()
        if drawn < self.hang:
            return Loss.HANG
        return Loss.CLOSE if drawn < self.hang + self.close else None


class BadRequest(Exception):
    """A request that SES would refuse."""


class _Server(ThreadingHTTPServer):
    """Takes as many connections at once as all workers open, each with ten threads.

    Of five, the default, Linux drops the others: whoever is dropped connects a second later, or
    takes a reset for an answer that was lost.
    """

    daemon_threads = True
    request_queue_size = 128


class StandIn:
    """The server. Start it as a context manager; `url` is where SESv2 is to be sent.

    Operations that it does not speak go to the SES at the URL `behind`, if there is one.

    While `publish` is set, each message that is taken makes SES's events, whatever became of the
    answer; `channel` says how they travel. `on_first` is called when the first one is taken.
    `refuses` returns the answer to a message that is not taken, where no script speaks.
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
        self.on_first: Callable[[], None] | None = None
        self.postman = Postman(lambda: self.publish, channel or Channel())
        self._chances = chances or Chances()
        self._hanging: set[socket.socket] = set()
        self._ended = False
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(0.05,),  # seconds within which it ends
            daemon=True,
        )

    @property
    def url(self) -> str:
        """The address of the server."""
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
                with suppress(OSError):  # the client was quicker
                    connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        self.postman.__exit__()

    def hang(self, connection: socket.socket) -> None:
        """Returns when the client has gone away, or the stand-in ends."""
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
        """The inbox, or a message of it."""
        if path == "/":
            return inbox([(mail.to, str(mail.message["Subject"])) for mail in self.accepted])
        number = path.removeprefix("/messages/")
        if number.isdigit() and int(number) < len(self.accepted):
            return with_pictures(self.accepted[int(number)].part("html"))
        return None

    def elsewhere(self, method: str, path: str, headers: Mapping[str, str]) -> Reply | None:
        """What the SES behind answers; an emulator knows by the signature that SES is meant."""
        if not self.behind:
            return None
        signed = {name: value for name, value in headers.items() if name.lower() in _SIGNED}
        asked = urllib.request.Request(self.behind + path, headers=signed, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
                return Reply(answer.status, "", answer.read())
        except urllib.error.HTTPError as err:
            return Reply(err.code, err.headers.get("x-amzn-errortype", ""), err.read())

    def send_email(self, request: dict[str, Any]) -> Reply:
        """The answer to SendEmail."""
        with self._lock:
            self.requests += 1
            answer = self.script.popleft() if self.script else None
        if answer and not answer.taken:
            return _scripted(answer)
        try:
            taken = _take(request)
        except (BadRequest, KeyError, ValueError) as err:
            return Reply(400, "BadRequestException", _json({"message": str(err)}))
        with self._lock:
            refused = self.refuses(taken)
            if refused:
                return _scripted(refused)
            self.accepted.append(taken)
            is_first = len(self.accepted) == 1
        if is_first and self.on_first:
            self.on_first()
        self.postman.carry(
            Taken(
                taken.message_id,
                request["FromEmailAddress"],
                taken.to,
                taken.tags,
                taken.configuration_set,
                datetime.now(UTC),
            )
        )
        told = _json({"MessageId": taken.message_id})
        if answer and answer.loss and not answer.code and answer.body is None:
            return Reply(answer.status, "", told, answer.loss)
        return _scripted(answer) if answer else Reply(200, "", told, self._chances.loss(taken))

    def account(self) -> Reply:
        """The answer to GetAccount, as SES documents it.

        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html
        """
        with self._lock:
            self.requests += 1
            is_for_messages = bool(self.script) and self.script[0].taken
            answer = self.script.popleft() if self.script and not is_for_messages else None
            sent = float(len(self.accepted))
        if answer:
            return _scripted(answer)
        told = {
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
        return Reply(200, "", _json(told))


def _scripted(answer: Answer) -> Reply:
    body = answer.body
    if body is None:
        body = _json({"message": answer.message or f"scripted {answer.code}"})
    return Reply(answer.status, answer.code, body, answer.loss)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode()


def _take(request: dict[str, Any]) -> Accepted:
    """The message as MIME. Raises BadRequest for what SES documents that it refuses."""
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
