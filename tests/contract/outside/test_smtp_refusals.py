"""Whatever fails before an SMTP server has the message is a certain refusal, of whatever type."""

import smtplib
import socket
import time
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.mail.smtp_exchange import Exchange, SmtpServer
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)

from tests.builders import a_mail
from tests.scripted_smtp import CLOSES, STAGES, TIMES, ScriptedSmtp

pytestmark = pytest.mark.enable_socket

CRAM = f"334 {b64encode(b'<1.2@mail.example.com>').decode()}"
REFUSED = (RefusedForNow, RefusedForGood, RefusedAccount)
TYPES = [
    OSError("no route"),
    TimeoutError("slow"),
    UnicodeEncodeError("ascii", "ü", 0, 1, "no"),
    UnicodeError("label too long"),
    ValueError("wrong"),
    TypeError("wrong"),
    OverflowError("port"),
    KeyError("key"),
    AttributeError("attribute"),
    IndexError("index"),
    RuntimeError("broken"),
    RecursionError("deep"),
    MemoryError("full"),
    smtplib.SMTPException("wrong"),
    smtplib.SMTPServerDisconnected("gone"),
    smtplib.SMTPNotSupportedError("not offered"),
]


def send(server: SmtpServer, *, sender: str = "a@example.com") -> SendOutcome:
    return SmtpMailer(server, sender=sender, times=TIMES, clock=time.monotonic).send(a_mail(), 1)


@pytest.mark.parametrize("login", [("ann", "pässword"), ("änn", "password"), ("ann", "密码")])
@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN", "CRAM-MD5", "XOAUTH2", ""])
def test_non_ascii_login_stops_all_streams_without_an_attempt(
    login: tuple[str, str], mechanism: str
) -> None:
    offered = f"250 AUTH {mechanism}" if mechanism else "250 HELP"
    server = ScriptedSmtp({"EHLO": f"250-mail.example.com\r\n{offered}", "AUTH": CRAM})
    with server.served(login=login) as where:
        outcome = send(where)
    assert isinstance(outcome, RefusedAccount)
    assert outcome.every_stream
    assert "login" in outcome.detail
    assert "ss" not in outcome.detail.replace("password", "")
    assert not server.messages


@pytest.mark.parametrize(
    "host",
    [
        "bücher..example",
        "a" * 64 + ".example",
        "exa mple",
        "-",
        ".",
        ".example",
        "",
        "a\0b",
        "\ud800",
    ],
)
def test_unresolvable_host_name_is_a_certain_refusal(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`socket` raises UnicodeError for labels that are too long, ValueError for a NUL."""
    looked_up = socket.getaddrinfo

    def look_up(name: str, *given: Any, **more: Any) -> Any:
        looked_up(name, 0, flags=socket.AI_NUMERICHOST) if name.isdigit() else name.encode("idna")
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    outcome = send(SmtpServer(host, 25, "none", "", ""))
    assert isinstance(outcome, REFUSED)
    assert outcome.attempt == 1


@pytest.mark.parametrize("port", [-1, 70_000])
def test_invalid_port_is_a_certain_refusal(port: int) -> None:
    assert isinstance(send(SmtpServer("127.0.0.1", port, "none", "", "")), REFUSED)


def test_non_ascii_local_host_name_is_a_certain_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It goes into EHLO."""
    monkeypatch.setattr(socket, "getfqdn", lambda *_: "büro.example")
    server = ScriptedSmtp()
    with server.served() as where:
        assert isinstance(send(where), REFUSED)
    assert not server.messages


@pytest.mark.parametrize(
    "sender", ["digést@example.com", "a@bücher.example", "", "nobody", "a@b\r\nc"]
)
def test_invalid_sender_stops_its_stream_without_an_attempt(sender: str) -> None:
    """It is wrong for every email of the stream, so no run may end for it."""
    server = ScriptedSmtp()
    with server.served() as where:
        outcome = send(where, sender=sender)
    assert isinstance(outcome, RefusedAccount)
    assert not outcome.every_stream
    assert not server.messages


@pytest.mark.parametrize("error", TYPES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "step", ["__init__", "dial", "ehlo_or_helo_if_needed", "login", "docmd", "send"]
)
def test_exception_before_the_final_dot_is_a_certain_refusal(
    step: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(Exchange, step, fail)
    server = ScriptedSmtp()
    with server.served(login=("ann", "secret")) as where:
        outcome = send(where)
    assert isinstance(outcome, REFUSED)
    assert outcome.attempt == 1
    assert not server.messages


@pytest.mark.parametrize("error", TYPES, ids=lambda error: type(error).__name__)
def test_exception_after_the_final_dot_is_uncertain(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Exchange.getreply

    def reply(exchange: Exchange) -> tuple[int, bytes]:
        if server.messages or ("DATA" in server.heard and dotted):
            raise error
        return reads(exchange)

    sends, dotted = Exchange.send, []

    def send_all(exchange: Exchange, data: Any) -> None:
        sends(exchange, data)
        dotted.extend([data] if data == b".\r\n" else [])

    monkeypatch.setattr(Exchange, "getreply", reply)
    monkeypatch.setattr(Exchange, "send", send_all)
    server = ScriptedSmtp()
    with server.served() as where:
        assert isinstance(send(where), Uncertain)


def test_failure_to_close_the_connection_changes_no_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closes = Exchange.close

    def close(exchange: Exchange) -> None:
        closes(exchange)
        raise ConnectionResetError

    monkeypatch.setattr(Exchange, "close", close)
    server = ScriptedSmtp()
    with server.served() as where:
        assert send(where) == Accepted(1, "taken")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("reply", [CLOSES, "rubbish", "25", "250x" * 9000, "\xff\xfe"])
def test_nonsense_reply_is_a_refusal_until_the_message_is_complete(stage: str, reply: str) -> None:
    server = ScriptedSmtp({stage: reply})
    with server.served(login=("ann", "secret")) as where:
        outcome = send(where)
    assert isinstance(outcome, (Uncertain,) if stage == "end" else REFUSED)


@pytest.mark.parametrize("challenge", ["334 !!!", "334 ", f"334 {'A' * 600}", "334 4pi6"])
def test_unanswerable_auth_challenge_is_a_certain_refusal(challenge: str) -> None:
    server = ScriptedSmtp(
        {
            "EHLO": "250-mail.example.com\r\n250 AUTH CRAM-MD5",
            "AUTH": challenge,
            "response": "535 no",
        }
    )
    with server.served(login=("ann", "secret")) as where:
        assert isinstance(send(where), REFUSED)


def test_non_ascii_recipient_fails_only_its_own_run() -> None:
    server = ScriptedSmtp()
    with server.served() as where:
        mailer = SmtpMailer(where, sender="a@example.com", times=TIMES, clock=time.monotonic)
        assert isinstance(mailer.send(replace(a_mail(), to="änn@example.com"), 1), RefusedForGood)
    assert not server.heard
