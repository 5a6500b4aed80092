"""Each stage of an exchange with an SMTP server has its own time, and an end.

The server is a thread on loopback. Where it is slow, it moves the clock that the mailer looks at;
only where it says nothing at all, a stage of the mailer is short by the real clock.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.mail.smtp_exchange import SmtpServer, SmtpTimes
from gazette.domain.delivery.signals import Accepted, RefusedForNow, SendOutcome, Uncertain
from gazette.domain.model import Mail

from tests.builders import a_mail

TIMES = SmtpTimes(
    connect=timedelta(seconds=20),
    command=timedelta(seconds=20),
    data=timedelta(seconds=20),
    reply=timedelta(seconds=600),
)
BRIEF = timedelta(milliseconds=100)
COMMANDS = ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"]
REPLIES = {
    "greeting": b"220 mail.example.com\r\n",
    "EHLO": b"250-mail.example.com\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n",
    "STARTTLS": b"220 go on\r\n",
    "AUTH": b"235 welcome\r\n",
    "MAIL": b"250 OK\r\n",
    "RCPT": b"250 OK\r\n",
    "DATA": b"354 go on\r\n",
    "end": b"250 taken\r\n",
}

pytestmark = pytest.mark.enable_socket


@dataclass
class Clock:
    """Seconds, which pass where somebody says so; `looked` counts who looks at it."""

    now: float = 0.0
    looked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self) -> float:
        self.looked.release()
        return self.now


@dataclass
class Server:
    """What it is slow with, in seconds of the clock, and where it says nothing, or trickles."""

    clock: Clock = field(default_factory=Clock)
    security: str = "none"
    takes: Mapping[str, float] = field(default_factory=dict)
    silent_at: str = ""
    trickles_at: str = ""
    trickle: bytes = b"250-wait\r\n"
    tls: ssl.SSLContext | None = None
    heard: list[str] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    may_go: threading.Event = field(default_factory=threading.Event)

    def serve(self, listening: socket.socket) -> None:
        """One connection, until its client goes."""
        with ExitStack() as opened:
            try:
                self._serve(listening.accept()[0], opened)
            except OSError:
                return

    def _serve(self, connection: socket.socket, opened: ExitStack) -> None:
        opened.callback(connection.close)
        if self.security == "tls":
            connection = self._secured(connection, opened)
        self._answer(connection, "greeting")
        lines = opened.enter_context(connection.makefile("rb"))
        while line := lines.readline():
            verb = line.split()[0].decode().upper()
            self.heard.append(verb)
            self._answer(connection, verb)
            if verb == "STARTTLS":
                connection = self._secured(connection, opened)
                lines = opened.enter_context(connection.makefile("rb"))
            if verb == "DATA":
                if self.silent_at == "message":
                    self.may_go.wait(30)
                    return
                self.taken.append(_message(lines))
                self._answer(connection, "end")

    def _secured(self, connection: socket.socket, opened: ExitStack) -> socket.socket:
        assert self.tls
        secured = self.tls.wrap_socket(connection, server_side=True)
        opened.callback(secured.close)
        return secured

    def _answer(self, connection: socket.socket, stage: str) -> None:
        self.clock.now += self.takes.get(stage, 0)
        if stage == self.trickles_at:
            self._trickle(connection)
        if stage == self.silent_at:
            while connection.recv(1024):
                pass
        connection.sendall(REPLIES[stage])

    def _trickle(self, connection: socket.socket) -> None:
        """A second for each, and the next once the client has looked whether it goes on."""
        for _ in range(200):
            self.clock.now += 10 if self.trickles_at == "end" else 1
            connection.sendall(self.trickle)
            self.clock.looked.acquire(timeout=0.2)


def _message(lines: BinaryIO) -> bytes:
    found = b""
    while line := lines.readline():
        if line == b".\r\n":
            return found
        found += line
    raise ConnectionError("The client went before the end of the message.")


@contextmanager
def served(server: Server) -> Iterator[SmtpServer]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        thread = threading.Thread(target=server.serve, args=(listening,))
        thread.start()
        has_login = server.security != "none"
        port = listening.getsockname()[1]
        yield SmtpServer("127.0.0.1", port, server.security, "ann" if has_login else "", "secret")
        server.may_go.set()
        thread.join()


def send(server: Server, mail: Mail | None = None) -> SendOutcome:
    """By the clock that the server moves."""
    with served(server) as where:
        mailer = SmtpMailer(where, sender="a@example.com", times=TIMES, clock=server.clock)
        return mailer.send(mail or a_mail(), 1)


def send_briefly(server: Server, times: SmtpTimes, mail: Mail | None = None) -> SendOutcome:
    """By the real clock."""
    with served(server) as where:
        mailer = SmtpMailer(where, sender="a@example.com", times=times, clock=time.monotonic)
        return mailer.send(mail or a_mail(), 1)


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Of a server whose certificate this machine trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    trusted, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    trusted.write_bytes(certificate.public_bytes(pem))
    private.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(trusted, private)
    return context


def test_slow_reply_after_the_message_is_awaited() -> None:
    """A server that scans what it was sent before it takes it."""
    server = Server(takes={"end": 590})
    assert send(server) == Accepted(1, "taken")
    assert len(server.taken) == 1


def test_each_smtp_stage_has_a_separate_timeout() -> None:
    """Together they took far longer than any of them may."""
    server = Server(takes=dict.fromkeys(REPLIES, 15) | {"end": 590})
    assert send(server) == Accepted(1, "taken")
    assert server.clock() > 600


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_maximum_number_of_stages_fits_the_total_timeout(
    security: str, tls: ssl.SSLContext
) -> None:
    server = Server(security=security, tls=tls, takes=dict.fromkeys(REPLIES, 15))
    assert isinstance(send(server), Accepted)
    expected = COMMANDS if security == "starttls" else COMMANDS[2:]
    assert server.heard == expected
    before = TIMES.connect + TIMES.data + TIMES.reply
    assert before + len(server.heard) * TIMES.command <= TIMES.whole
    if security == "starttls":
        assert before + len(server.heard) * TIMES.command == TIMES.whole


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("trickle", [b"250-wait\r\n", b"2"])
def test_trickling_reply_before_the_message_is_a_temporary_refusal(
    stage: str, trickle: bytes
) -> None:
    """Each line, and each byte, comes in time; the end of the reply does not."""
    server = Server(trickles_at=stage, trickle=trickle)
    outcome = send(server)
    at = stage if stage in {"MAIL", "RCPT", "DATA"} else "connection"
    assert outcome == RefusedForNow(1, f"{at}: TimeoutError")
    assert not server.taken


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "STARTTLS", "AUTH", "RCPT"])
@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_trickling_reply_over_tls_is_a_temporary_refusal(
    stage: str, security: str, tls: ssl.SSLContext
) -> None:
    server = Server(trickles_at=stage, security=security, tls=tls)
    if stage == "STARTTLS" and security == "tls":
        assert isinstance(send(server), Accepted)
        return
    assert isinstance(send(server), RefusedForNow)
    assert not server.taken


@pytest.mark.parametrize("trickle", [b"250-scanning\r\n", b"2"])
def test_trickling_reply_after_the_message_is_uncertain(trickle: bytes) -> None:
    server = Server(trickles_at="end", trickle=trickle)
    assert send(server) == Uncertain(1, "TimeoutError")
    assert len(server.taken) == 1


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
def test_silent_server_before_the_message_is_a_temporary_refusal(stage: str) -> None:
    server = Server(silent_at=stage)
    short = {"connect": BRIEF} if stage == "greeting" else {"command": BRIEF}
    assert isinstance(send_briefly(server, replace(TIMES, **short)), RefusedForNow)
    assert not server.taken


@pytest.mark.long
def test_server_that_stops_reading_the_message_is_a_temporary_refusal() -> None:
    """Without its end no server may take it, however much of it has gone out."""
    server = Server(silent_at="message")
    mail = a_mail()
    long = replace(mail, edition=replace(mail.edition, text="ten bytes\n" * 800_000))
    outcome = send_briefly(server, replace(TIMES, data=BRIEF), long)
    assert outcome == RefusedForNow(1, "message: TimeoutError")


def test_silent_server_after_the_message_is_uncertain() -> None:
    server = Server(silent_at="end")
    assert send_briefly(server, replace(TIMES, reply=BRIEF)) == Uncertain(1, "TimeoutError")
    assert len(server.taken) == 1


def test_unresponsive_address_leaves_time_for_the_next_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where a name has an address of IPv6 that nothing leads to."""
    shares: list[float] = []
    connect = socket.create_connection

    def reach(address: tuple[str, int], timeout: float) -> socket.socket:
        shares.append(timeout)
        if len(shares) == 1:
            server.clock.now += timeout
            raise TimeoutError
        return connect(address, timeout=timeout)

    server = Server()
    looked_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: looked_up(*a, **k)[:1] * 2)
    monkeypatch.setattr(socket, "create_connection", reach)
    assert isinstance(send(server), Accepted)
    assert shares == [10, 10]


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_attack_server_with_a_self_signed_certificate_receives_no_login_or_email(
    security: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    server = Server(security=security, tls=tls)
    assert isinstance(send(server), RefusedForNow)
    assert server.heard == (["EHLO", "STARTTLS"] if security == "starttls" else [])


def test_attack_starttls_stripping_exposes_no_login_or_email(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPLIES, "EHLO", b"250-mail.example.com\r\n250 AUTH PLAIN\r\n")
    server = Server(security="starttls", tls=tls)
    assert not isinstance(send(server), Accepted)
    assert not {"AUTH", "MAIL", "DATA"} & set(server.heard)
