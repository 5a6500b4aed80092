"""One connection to an HTTP service, kept open between requests, and a deadline for each answer.

On the standard library alone, whose modules botocore has imported already: nothing repeats a
request, follows a redirect, or waits longer than the deadline, and a pool of one connection is what
a function needs that asks one thing after the other.
"""

import http.client
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from urllib.parse import urlsplit

from gazette.domain.errors import SourceFailed

_CONNECT = 1.0
"""Seconds for a connection, of the deadline. A service that is up accepts within milliseconds."""

_LEAST = 0.05
"""Seconds. With less the deadline is over."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The status, the headers by lower-case name, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """A connection to the host of `url`, made at the first request and after each failure.

    `deadline`: seconds for a request, from connecting to the last byte of the answer. `largest`:
    bytes of a body. Not for several threads. `clock` returns seconds that only grow. `tls`: what
    checks the certificate.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float,
        largest: int,
        clock: Callable[[], float] = time.monotonic,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port
        self._context = tls() if parts.scheme == "https" else None
        self._deadline = deadline
        self._largest = largest
        self._clock = clock
        self._open: http.client.HTTPConnection | None = None

    def get(self, target: str, headers: Mapping[str, str]) -> HttpAnswer:
        """One GET of `target`, a path with its query. Raises SourceFailed.

        The connection is reused if the service has kept it open.
        """
        until = self._clock() + self._deadline
        try:
            connection = self._connected(until)
            with self._at_most(until, connection.sock):
                answer = self._exchange(connection, target, headers)
        except (OSError, http.client.HTTPException, ValueError) as err:
            self.close()
            if self._clock() >= until - _LEAST:
                raise SourceFailed(
                    f"There was no whole answer within {self._deadline:g} s."
                ) from err
            said = str(err) if isinstance(err, OSError) else ""
            raise SourceFailed(f"The connection failed: {said or type(err).__name__}.") from err
        except BaseException:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """Let the next request make a new connection. Can be repeated."""
        if self._open:
            with suppress(OSError):
                self._open.close()
        self._open = None

    def _exchange(
        self, connection: http.client.HTTPConnection, target: str, headers: Mapping[str, str]
    ) -> HttpAnswer:
        connection.request("GET", target, headers=dict(headers))
        response = connection.getresponse()
        body = response.read(self._largest + 1)
        if len(body) > self._largest:
            self.close()
            raise SourceFailed(f"The answer has more than {self._largest:,} bytes.")
        if not response.isclosed():  # its length was not said, or the rest of it is missing
            self.close()
            if response.length:
                raise http.client.IncompleteRead(body)
        named = {name.lower(): value for name, value in response.getheaders()}
        return HttpAnswer(response.status, named, body)

    def _connected(self, until: float) -> http.client.HTTPConnection:
        if self._open and (self._open.sock is None or _was_dropped(self._open.sock)):
            self.close()
        if self._open is None:
            self._open = self._connect(until)
        self._open.sock.settimeout(max(until - self._clock(), _LEAST))
        return self._open

    def _connect(self, until: float) -> http.client.HTTPConnection:
        """Connect by hand, so that the deadline holds for the TLS handshake too."""
        connection: http.client.HTTPConnection
        port = self._port or (443 if self._context else 80)
        plain = self._reached(port, until)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is None:
                connection = http.client.HTTPConnection(self._host, port)
                connection.sock = plain
                return connection
            secure = self._context.wrap_socket(
                plain, server_hostname=self._host, do_handshake_on_connect=False
            )
        except BaseException:
            plain.close()
            raise
        try:
            with self._at_most(until, secure):
                secure.do_handshake()
        except BaseException:
            secure.close()
            raise
        connection = http.client.HTTPSConnection(self._host, port, context=self._context)
        connection.sock = secure
        return connection

    def _reached(self, port: int, until: float) -> socket.socket:
        """The first address of the host that accepts, all of them tried before `until`.

        `create_connection` with the name would take its time-out for each address. Raises OSError.
        """
        refused = OSError("no address of the host answered in time")
        for *_, address in socket.getaddrinfo(self._host, port, type=socket.SOCK_STREAM):
            left = until - self._clock()
            if left < _LEAST:
                break
            try:
                return socket.create_connection(
                    (str(address[0]), port), timeout=min(_CONNECT, left)
                )
            except OSError as err:
                refused = err
        raise refused

    @contextmanager
    def _at_most(self, until: float, sock: socket.socket) -> Iterator[None]:
        """Cut the connection off at `until`.

        A time-out of the socket begins anew with each byte: an answer that drips would take hours.
        """
        watch = Timer(max(until - self._clock(), 0), _cut_off, [sock])
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()


def _cut_off(sock: socket.socket) -> None:
    """Whoever waits for this socket finds that it has ended. Not by TLS, whose state others use."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _was_dropped(sock: socket.socket) -> bool:
    """Whether the service has closed a connection on which nothing is under way."""
    try:
        ready, _, _ = select.select([sock], [], [], 0)
    except (OSError, ValueError):
        return True
    return bool(ready)
