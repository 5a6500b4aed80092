"""A recommendation service on loopback that can be slow, fail, reject, drip, lie and thrash.

It uses one thread a connection, and records the time, the sender and the connection of each
request. Its answers are a function that can be changed at any time.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

PUBLISHED = "2026-11-20T07:00:00Z"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, with its time in seconds, its connection and its contents.

    `in_progress` is the number of concurrent requests, including this one.
    """

    at: float
    connection: int
    query: Mapping[str, str]
    headers: Mapping[str, str]
    in_progress: int

    @property
    def user_id(self) -> str:
        """The reader of the digest."""
        return self.query.get("user_id", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer. `delay` is the seconds before it, and `drip` the seconds between two bytes of the
    body.

    `cut` closes the connection after so many bytes of the body, and `closes` after the answer.
    """

    status: int = 200
    body: bytes = b'{"items": []}'
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    closes: bool = False


Behaviour = Callable[[Asked], Reply]


def items(*item_ids: str, **fields: Any) -> bytes:
    """Return an answer with these items, each with the same further fields."""
    listed = [
        {
            "id": each,
            "title": f"Item {each}",
            "url": f"https://example.com/{each}",
            "published": PUBLISHED,
            **fields,
        }
        for each in item_ids
    ]
    return json.dumps({"items": listed}).encode()


@dataclass
class Service:
    """The service while it runs. `requests` has all requests in order."""

    url: str
    behaviour: Behaviour = lambda _: Reply()
    requests: list[Asked] = field(default_factory=list)
    in_progress: int = 0
    lock: Lock = field(default_factory=Lock)

    def answers(self, *replies: Reply) -> None:
        """Give these answers in turn, and repeat the last."""
        waiting = deque(replies)
        self.behaviour = lambda _: waiting.popleft() if len(waiting) > 1 else waiting[0]


def most_in(requests: Sequence[Asked], seconds: float) -> int:
    """Return the highest number of requests in any period of so many seconds."""
    most, recent = 0, deque[float]()
    for asked in sorted(requests, key=lambda each: each.at):
        recent.append(asked.at)
        while recent[0] <= asked.at - seconds:
            recent.popleft()
        most = max(most, len(recent))
    return most


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    service: Service


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        service = self.server.service
        named = parse_qs(urlsplit(self.path).query)
        with service.lock:
            service.in_progress += 1
            asked = Asked(
                time.monotonic(),
                self.client_address[1],
                {name: values[0] for name, values in named.items()},
                {name.lower(): value for name, value in self.headers.items()},
                service.in_progress,
            )
            service.requests.append(asked)
        try:
            with suppress(OSError):
                self._reply(service.behaviour(asked))
        finally:
            with service.lock:
                service.in_progress -= 1

    def _reply(self, reply: Reply) -> None:
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        body = reply.body[: reply.cut] if reply.cut is not None else reply.body
        if reply.drip:
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(reply.drip)
        else:
            self.wfile.write(body)
        self.close_connection = reply.closes or reply.cut is not None

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Suppress the log."""


@contextmanager
def serving() -> Iterator[Service]:
    """Run the service on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    service = Service(f"http://127.0.0.1:{server.server_address[1]}/v1/items?lang=all")
    server.service = service
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
