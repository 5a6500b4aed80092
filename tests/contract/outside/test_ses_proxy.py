"""SES behind a proxy, which a function has where its network lets it out in no other way."""

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.domain.delivery.signals import RefusedForNow, SendOutcome, Uncertain

from tests.builders import a_mail
from tests.contract.outside.test_smtp_times import tls as tls  # a fixture

pytestmark = [pytest.mark.enable_socket, pytest.mark.usefixtures("ses")]

RESET = struct.pack("ii", 1, 0)
"""Of SO_LINGER: closing resets the connection."""


class Proxy:
    """Tunnels to a stand-in for SES that reads a request, and loses the connection."""

    def __init__(self, tls: ssl.SSLContext, *, resets: bool) -> None:
        self.requests = 0
        self._tls = tls
        self._resets = resets

    @contextmanager
    def served(self) -> Iterator[int]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=self._serve, args=(listening,), daemon=True)
            thread.start()
            yield listening.getsockname()[1]
            thread.join(5)

    def _serve(self, listening: socket.socket) -> None:
        plain = listening.accept()[0]
        with plain, suppress(OSError):
            _head(plain)
            plain.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            with self._tls.wrap_socket(plain, server_side=True) as secured:
                head, body = _head(secured)
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                while len(body) < length:
                    body += secured.recv(65536)
                self.requests += 1
                if self._resets:
                    secured.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def _head(connection: socket.socket) -> tuple[bytes, bytes]:
    said = b""
    while b"\r\n\r\n" not in said:
        said += connection.recv(65536)
    head, _, body = said.partition(b"\r\n\r\n")
    return head, body


def send(monkeypatch: pytest.MonkeyPatch, port: int) -> SendOutcome:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "https://127.0.0.1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    mailer = SesMailer(
        ses_client(timedelta(seconds=5)), sender="digest@example.com", configuration_set="digest"
    )
    return mailer.send(a_mail(), 1)


@pytest.mark.parametrize("resets", [False, True])
def test_connection_lost_behind_a_proxy_is_uncertain_after_the_request(
    monkeypatch: pytest.MonkeyPatch, tls: ssl.SSLContext, tmp_path: object, resets: bool
) -> None:
    """botocore reports it as a proxy that cannot be reached."""
    monkeypatch.setenv("AWS_CA_BUNDLE", f"{tmp_path}/certificate.pem")
    proxy = Proxy(tls, resets=resets)
    with proxy.served() as port:
        outcome = send(monkeypatch, port)
    assert proxy.requests == 1
    assert isinstance(outcome, Uncertain)


def test_unreachable_proxy_is_a_certain_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # bound, so that nobody else is there, and not listening
        assert isinstance(send(monkeypatch, deaf.getsockname()[1]), RefusedForNow)
