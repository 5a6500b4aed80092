"""A reusable connection to an HTTP service, with a deadline for each request.

It uses only standard library modules that botocore has already imported. It does not retry
requests, follow redirects or wait beyond the deadline. One connection is enough for a function that
sends one request at a time.
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
"""The maximum time for connecting, in seconds. A running service accepts a connection within
milliseconds.
"""

_LEAST = 0.05
"""The remaining time in seconds below which the deadline counts as passed."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The status, the headers by lower-case name, and the whole body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """A connection to the host of `url`. It opens at the first request and reopens after a failure.

    `deadline` is the time for a request in seconds, from connecting to the last byte of the
    response. `largest` is the maximum size of a body in bytes. `clock` returns monotonic seconds.
    `tls` verifies the certificate. A connection is not thread-safe.
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
        """Send one GET request for `target`, which is a path with a query. Raises SourceFailed.

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
                    f"The service did not answer completely within {self._deadline:g} s."
                ) from err
            detail = str(err) if isinstance(err, OSError) else ""
            raise SourceFailed(f"The connection failed: {detail or type(err).__name__}.") from err
        except BaseException:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """Close the connection, so that the next request opens a new one. Safe to repeat."""
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
            raise SourceFailed(f"The response is larger than {self._largest:,} bytes.")
        if not response.isclosed():  # the body's length is unknown, or part of the body is missing
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
        """Open the socket directly, so that the deadline also covers the TLS handshake."""
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
        """Connect to the first of the host's addresses that accepts a connection before `until`.

        `create_connection` with a host name would apply its time-out to each address separately.
        Raises OSError.
        """
        refused = OSError("no address of the host responded in time")
        for *_, address in socket.getaddrinfo(self._host, port, type=socket.SOCK_STREAM):
            seconds = until - self._clock()
            if seconds < _LEAST:
                break
            try:
                return socket.create_connection(
                    (str(address[0]), port), timeout=min(_CONNECT, seconds)
                )
            except OSError as err:
                refused = err
        raise refused

    @contextmanager
    def _at_most(self, until: float, sock: socket.socket) -> Iterator[None]:
        """Close the connection if the `with` block is still running at `until`.

        A socket's time-out restarts with each byte, so a slow response could take hours.
        """
        watch = Timer(max(until - self._clock(), 0), _cut_off, [sock])
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()


def _cut_off(sock: socket.socket) -> None:
    """End the connection of the raw socket, so that the thread that reads from the socket stops
    waiting. Leave the TLS state unchanged, because that thread still uses the TLS state.
    """
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _was_dropped(sock: socket.socket) -> bool:
    """Return True if the service has closed the idle connection."""
    try:
        ready, _, _ = select.select([sock], [], [], 0)
    except (OSError, ValueError):
        return True
    return bool(ready)
