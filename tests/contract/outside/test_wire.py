"""An email on the wire, at an SMTP server that offers neither 8BITMIME nor SMTPUTF8."""

import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from typing import cast

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from gazette.adapters.mail.header_words import ascii_sender
from gazette.adapters.mail.mime import mime
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.mail.smtp_exchange import SmtpServer
from gazette.adapters.rendering.texts import subject_line
from gazette.domain.delivery.signals import Accepted
from gazette.domain.model import Mail
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from demo.ses import StandIn
from tests.builders import a_mail
from tests.scripted_smtp import TIMES, ScriptedSmtp

pytestmark = pytest.mark.enable_socket

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SENDER = "Gazette <digest@example.com>"
ENCODED_WORD = re.compile(r"=\?[^\s?]+\?[bq]\?[^\s?]*\?=", re.IGNORECASE)


@dataclass
class Inbox:
    """Keeps messages as they arrived."""

    raw: list[bytes] = field(default_factory=list)

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, name: str, offered: list[str]
    ) -> list[str]:
        session.host_name = name
        return [each for each in offered if "8BITMIME" not in each]

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.raw.append(cast("bytes", envelope.original_content))
        return "250 taken"


@pytest.fixture
def smtp() -> Iterator[tuple[Inbox, SmtpServer]]:
    inbox = Inbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(inbox, hostname="127.0.0.1", port=port, enable_SMTPUTF8=False)
    controller.start()
    yield inbox, SmtpServer("127.0.0.1", port, "none", "", "")
    controller.stop()


def with_content(subject: str = "Hi", html: str = "<p>x</p>", text: str = "x") -> Mail:
    mail = a_mail()
    return replace(mail, edition=replace(mail.edition, subject=subject, html=html, text=text))


def sent(server: SmtpServer, mail: Mail, sender: str = SENDER) -> None:
    mailer = SmtpMailer(server, sender=sender, times=TIMES, clock=time.monotonic)
    assert isinstance(mailer.send(mail, 1), Accepted)


def parsed(raw: bytes) -> EmailMessage:
    return message_from_bytes(raw, policy=policy.default)


def plainly(raw: bytes, name: str) -> str:
    """The header as a plain decoder of RFC 2047 reads it."""
    return str(make_header(decode_header(str(message_from_bytes(raw)[name]).replace("\r\n", ""))))


def check_wire(raw: bytes) -> None:
    """Seven bits, CRLF alone, lines and encoded words no longer than they may be."""
    assert max(raw) < 128
    assert b"\0" not in raw
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", raw)
    lines = raw.decode().split("\r\n")
    assert max(map(len, lines)) <= 998
    head = raw.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    for line in head:
        assert len(line) <= 78 or " " not in line.strip().partition(": ")[2], line
        words = [] if line.startswith("List-") else ENCODED_WORD.findall(line)
        assert all(len(word) <= 75 for word in words), line
        assert not words or len(line) <= 76
        assert line.strip()
    body = lines[len(head) :]
    assert max(map(len, body)) <= 76


TEXTS = {
    "ascii": "three new comments\n" * 40,
    "long line": "x" * 5000,
    "german": "Größe und Übermut\n" * 100,
    "chinese": "三条新评论，来自小明。\n" * 100,
    "emoji": f"{FAMILY}\U0001f600" * 200,
    "one byte over": "é" * 501,
    "dots": ".\n..\n.x\nfrom here\nFrom there\n",
    "equals": "=" * 900,
    "tabs and spaces": "a \t\n  b  \n \n",
    "controls": "a\0b\x0bc\x0cd\x1ce\x85f\u2028g\u2029h",
    "returns": "a\rb\r\nc\nd\r\r\ne",
    "empty": "",
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_body_is_encoded_in_seven_bits_without_loss(
    smtp: tuple[Inbox, SmtpServer], name: str
) -> None:
    inbox, server = smtp
    text = TEXTS[name]
    sent(server, with_content(text=text, html=f"<p>{text}</p>"))
    raw = inbox.raw[-1]
    check_wire(raw)
    message = parsed(raw)
    for kind, expected in (("plain", text), ("html", f"<p>{text}</p>")):
        part = message.get_body((kind,))
        assert part is not None
        assert part["Content-Transfer-Encoding"] in {"quoted-printable", "base64"}
        content = part.get_content().replace("\r\n", "\n").rstrip("\n")
        lines = expected.replace("\r\n", "\n").replace("\r", "\n")
        assert content == lines.rstrip("\n")


def test_shorter_encoding_is_chosen() -> None:
    def encoding(text: str) -> str:
        (part, _) = mime(with_content(text=text), sender=SENDER).iter_parts()
        return str(part["Content-Transfer-Encoding"])

    assert encoding(TEXTS["ascii"]) == "quoted-printable"
    assert encoding("Drei neue Kommentare zu Ihrem Beitrag über Farben.\n") == "quoted-printable"
    assert encoding(TEXTS["chinese"]) == "base64"
    assert encoding(TEXTS["emoji"]) == "base64"


def test_no_smtp_extension_is_used_unless_offered(smtp: tuple[Inbox, SmtpServer]) -> None:
    server = ScriptedSmtp()
    with server.served() as where:
        sent(where, with_content(subject=FAMILY, text="ü"))
    assert server.lines[1] == "MAIL FROM:<digest@example.com>"
    assert max(server.messages[0]) < 128


SUBJECTS = [
    "3 new comments from Bo",
    "",
    "=?utf-8?q?=0D=0AX-A:_b?=",
    "a =?UTF-8?B?4oCuAA==?= b",
    "=?utf-8?q?broken",
    "=?x?q?y?= =?utf-8?q?z?=",
    "1+1=?",
    f"{FAMILY * 10} liked “a”",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f" * 8,
    "\U0001f1e9\U0001f1ea" * 50,
    "三条新评论" * 40,
    "x" * 200,
    "https://example.com/" + "y" * 170,
    ("word " * 40).strip(),
    "Größe: “x”, (y) <z@example.com>; a_b=c",
    "می\u200cخواهم",
    "\u2068Bo\u2069 wrote “x”",
    "tab\tand  two spaces ",
    " leading",
    "From: x",
    "é" * 33 + "x" * 30,
]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject_arrives_as_written(smtp: tuple[Inbox, SmtpServer], subject: str) -> None:
    inbox, server = smtp
    sent(server, with_content(subject=subject))
    raw = inbox.raw[-1]
    check_wire(raw)
    assert parsed(raw)["Subject"] == subject
    assert plainly(raw, "Subject") == subject
    assert not parsed(raw)["X-A"]


@pytest.mark.parametrize(
    "subject",
    ["a\r\nX-A: b", "a\nX-A: b", "a\rX-A: b", "a\r\n\r\nbody", "a\0b", "a\x0b\x85\u2028b"],
)
def test_attack_control_character_in_a_subject_adds_no_header(subject: str) -> None:
    """None gets so far: `subject_line` removes them. If one does, it is encoded or refused."""
    raw = mime(with_content(subject=subject), sender=SENDER).as_bytes()
    check_wire(raw)
    message = parsed(raw)
    assert not message["X-A"]
    assert message.get_content_type() == "multipart/alternative"
    assert raw.count(b"\r\nSubject:") == 1


TURNING = ["\u202e", "\u2066", "\u2069", "\0", "\r\n", "\x85", "\u2060", "\ufeff"]
JOINING = ["\u200d", "\u200c", "\U000e0067", "\U000e007f", FAMILY, " ", "\t"]
WORDS = ["=?utf-8?q?=0D=0AX-A:_b?=", "=?", "?=", "=?utf-8?b?AA==?="]
odd = st.sampled_from([*TURNING, *JOINING, *WORDS])
any_text = st.lists(st.text(max_size=12) | odd, max_size=12).map("".join)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(any_text)
@example("=?utf-8?q?=0D=0AX-A:_b?=")
@example("=?utf-8?b?4oCuAA==?=")
@example(f"{'x' * 180}=?utf-8?q?{'y' * 40}?=")
def test_any_subject_is_identical_by_smtp_and_ses(title: str) -> None:
    """And what is in it is neither a control character nor one that turns text round."""
    subject = subject_line(title, 200)
    raw = mime(with_content(subject=subject), sender=SENDER).as_bytes()
    check_wire(raw)
    assert parsed(raw)["Subject"] == subject
    assert plainly(raw, "Subject") == subject
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", subject)
    assert not ENCODED_WORD.search(subject)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(any_text)
def test_ses_and_smtp_receive_the_same_subject(
    smtp: tuple[Inbox, SmtpServer], ses: StandIn, title: str
) -> None:
    inbox, server = smtp
    mail = with_content(subject=subject_line(title, 200))
    sent(server, mail)
    mailer = SesMailer(ses_client(TIMES.reply), sender=SENDER, configuration_set="digest")
    assert isinstance(mailer.send(mail, 1), Accepted)
    assert parsed(inbox.raw[-1])["Subject"] == ses.accepted[-1].message["Subject"]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_unsanitized_subject_is_identical_by_smtp_and_ses(
    smtp: tuple[Inbox, SmtpServer], ses: StandIn, subject: str
) -> None:
    inbox, server = smtp
    mail = with_content(subject=subject)
    sent(server, mail)
    mailer = SesMailer(ses_client(TIMES.reply), sender=SENDER, configuration_set="digest")
    assert isinstance(mailer.send(mail, 1), Accepted)
    assert parsed(inbox.raw[-1])["Subject"] == ses.accepted[-1].message["Subject"] == subject
    assert parsed(ses.accepted[-1].message.as_bytes())["Subject"] == subject


NAMES = ["Käse & Wein", '"Müller, Söhne"', "猫の手帖" * 20, FAMILY * 12, "Ünïcode " * 20, "x" * 70]


@pytest.mark.parametrize("name", NAMES)
def test_display_name_arrives_as_written(smtp: tuple[Inbox, SmtpServer], name: str) -> None:
    inbox, server = smtp
    sender = f"{name} <digest@example.com>"
    sent(server, a_mail(), sender)
    raw = inbox.raw[-1]
    check_wire(raw)
    written = name.strip('"').strip()
    (found,) = parsed(raw)["From"].addresses
    assert found.addr_spec == "digest@example.com"
    # The standard library keeps the spaces between the encoded words of a display name.
    assert found.display_name.replace(" ", "") == written.replace(" ", "")
    assert plainly(raw, "From") == f"{written} <digest@example.com>"
    assert make_header(decode_header(ascii_sender(sender))) == plainly(raw, "From")


def test_custom_header_is_sent_unchanged(smtp: tuple[Inbox, SmtpServer]) -> None:
    """A long link stays on a line of its own, and nothing in it is encoded or decoded."""
    inbox, server = smtp
    link = f"<https://{'a' * 60}.example/unsubscribe/{'b' * 300}?x=?utf-8?q?y?=>"
    headers = (("List-Unsubscribe", link), ("List-Id", f"<{'c' * 60}.{'d' * 60}.example>"))
    tags = (("run", "r" * 200), ("attempt", "1"), ("installation", "i" * 30))
    sent(server, replace(a_mail(), headers=headers, tags=tags))
    raw = inbox.raw[-1]
    check_wire(raw)
    for name, value in headers:
        assert f"\r\n{name}: {value}\r\n".encode() in raw
    told = message_from_bytes(raw, policy=policy.compat32)["X-SES-MESSAGE-TAGS"]
    assert told.replace("\r\n", "") == ", ".join(f"{name}={value}" for name, value in tags)
