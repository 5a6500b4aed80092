"""What every mailer promises, held against the fake, SES on loopback, and SMTP on loopback."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from types import SimpleNamespace
from typing import cast

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from gazette.adapters.mail.canary import SesCanary
from gazette.adapters.mail.header_words import ascii_sender
from gazette.adapters.mail.mime import mime
from gazette.adapters.mail.references import reference_in
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.mail.smtp_exchange import SmtpServer, SmtpTimes
from gazette.bootstrap.parts.sending import mailers
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.domain.feedback.reports import REFERENCE_HEADER, Prover, read_reference
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, Mail, RunKey
from gazette.domain.ports.mail import Mailer
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.addresses import ADDRESS, EVERYONE
from gazette.settings.delivery import SendingSettings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demo.ses import Answer, StandIn
from tests.builders import SUPPRESSION_KEY, a_mail
from tests.fakes import FakeMailer

SENDER = "Gazette <digest@example.com>"
TIMEOUT = timedelta(seconds=30)

pytestmark = pytest.mark.enable_socket


@dataclass
class SmtpInbox:
    """An SMTP server that keeps what it took and answers as the script says."""

    taken: list[EmailMessage] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    drops_after_data: bool = False
    recipients: list[str] = field(default_factory=list)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        answer = self.answers.get("RCPT", "250 OK")
        if answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        message = message_from_bytes(cast("bytes", envelope.content), policy=SMTP_POLICY)
        self.taken.append(message)
        self.recipients += envelope.rcpt_tos
        if self.drops_after_data:
            cast("asyncio.Transport", server.transport).abort()
            await asyncio.sleep(0)
        return self.answers.get("DATA", "250 taken")


@pytest.fixture
def smtp() -> Iterator[tuple[SmtpInbox, SmtpServer]]:
    inbox = SmtpInbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(
        inbox,
        hostname="127.0.0.1",
        port=port,
        authenticator=lambda *_: AuthResult(success=False, handled=False),
        auth_require_tls=False,
    )
    controller.start()
    yield inbox, SmtpServer("127.0.0.1", port, "none", "", "")
    controller.stop()


def smtp_mailer(server: SmtpServer, *, sender: str = SENDER) -> SmtpMailer:
    times = SmtpTimes(connect=TIMEOUT, command=TIMEOUT, data=TIMEOUT, reply=TIMEOUT)
    return SmtpMailer(server, sender=sender, times=times, clock=time.monotonic)


def ses_mailer() -> SesMailer:
    return SesMailer(ses_client(TIMEOUT), sender=SENDER, configuration_set="digest")


@pytest.fixture(params=["fake", "ses", "smtp"])
def mailer(request: pytest.FixtureRequest) -> Mailer:
    if request.param == "fake":
        return FakeMailer()
    if request.param == "ses":
        request.getfixturevalue("ses")
        return ses_mailer()
    _, server = request.getfixturevalue("smtp")
    return smtp_mailer(server)


def test_accepted_message_has_an_id_and_its_attempt(mailer: Mailer) -> None:
    outcome = mailer.send(a_mail(), 3)
    assert isinstance(outcome, Accepted)
    assert outcome.attempt == 3
    assert outcome.message_id


def test_long_unsubscribe_link_header_is_not_encoded() -> None:
    """Encoded words are not allowed in List-Unsubscribe, and folding would make them."""
    link = f"<https://{'a' * 60}.lambda-url.us-east-1.on.aws/unsubscribe/{'b' * 100}>"
    mail = replace(a_mail(), headers=(("List-Unsubscribe", link),))
    assert f"\r\nList-Unsubscribe: {link}\r\n".encode() in mime(mail, sender=SENDER).as_bytes()


def arrived(message: EmailMessage) -> None:
    mail = a_mail()
    assert message["From"] == SENDER
    assert message["To"] == mail.to
    assert message["Subject"] == mail.edition.subject
    for name, value in mail.headers:
        assert message.get_all(name) == [value]
    assert message["X-SES-MESSAGE-TAGS"] == "run=ann-daily-1, attempt=1"
    plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert plain.get_content().replace("\r\n", "\n") == mail.edition.text
    assert html.get_content().strip() == mail.edition.html


def test_ses_receives_both_parts_all_headers_and_tags(ses: StandIn) -> None:
    ses_mailer().send(a_mail(), 1)
    (taken,) = ses.accepted
    assert taken.tags == {"run": "ann-daily-1", "attempt": "1"}
    arrived(taken.message)


@pytest.mark.parametrize("name", ["Käse & Wein", '"Müller, Söhne"', "猫の手帖" * 20])
def test_display_name_for_ses_is_split_into_encoded_words(ses: StandIn, name: str) -> None:
    """SES takes ASCII only; a word of RFC 2047 has 75 characters at most."""
    sender = f"{name} <digest@example.com>"
    mailer = SesMailer(ses_client(TIMEOUT), sender=sender, configuration_set="digest")
    assert isinstance(mailer.send(a_mail(), 1), Accepted)
    SesCanary(
        ses_client(TIMEOUT), sender=sender, configuration_set="digest", installation="i"
    ).send()
    for taken in ses.accepted:
        words = str(taken.message["From"].addresses[0].display_name)
        assert words.replace(" ", "") == name.strip('"').replace(" ", "")
    sent = ascii_sender(sender)
    assert str(make_header(decode_header(sent))) == f"{name.strip(chr(34))} <digest@example.com>"
    assert max(map(len, sent.split())) <= 75


NAMES = [
    "Bo Berg (Gazette)",
    "Zoë Marsh (Gazette)",
    "נועה לוי (Gazette)",
    'Bo "B" Berg, Jr. \\ (Gazette)',
    "=?utf-8?q?evil?= (Gazette)",
    f"{'猫' * 40} (Gazette)",
]


def named(name: str) -> Mail:
    return replace(a_mail(), edition=replace(a_mail().edition, from_name=name))


@pytest.mark.parametrize("name", NAMES)
def test_from_name_arrives_unchanged_by_each_provider(
    ses: StandIn, smtp: tuple[SmtpInbox, SmtpServer], name: str
) -> None:
    inbox, server = smtp
    for sending in (ses_mailer(), smtp_mailer(server)):
        assert isinstance(sending.send(named(name), 1), Accepted)
    (by_ses,), (by_smtp,) = ses.accepted, inbox.taken
    for message in (by_ses.message, by_smtp):
        [address] = message["From"].addresses
        assert address.addr_spec == "digest@example.com"
        assert address.display_name.replace(" ", "") == name.replace(" ", "")
    assert max(map(len, ascii_sender(SENDER, name).split())) <= 75


@pytest.mark.parametrize(
    "name",
    ["Bo\r\nBcc: eve@example.com", "Bo\n", "Bo\u202e(Gazette)", "Bo\x00", "Bo\u2028", "Bo\ud800"],
)
def test_attack_from_name_with_control_characters_is_ignored(
    ses: StandIn, smtp: tuple[SmtpInbox, SmtpServer], name: str
) -> None:
    inbox, server = smtp
    for sending in (ses_mailer(), smtp_mailer(server)):
        assert isinstance(sending.send(named(name), 1), Accepted)
    (by_ses,), (by_smtp,) = ses.accepted, inbox.taken
    for message in (by_ses.message, by_smtp):
        assert message["From"] == SENDER
        assert message["Bcc"] is None


@pytest.mark.parametrize("address", ["", "help@example.com"])
def test_reply_to_arrives_by_each_provider(
    ses: StandIn, smtp: tuple[SmtpInbox, SmtpServer], address: str
) -> None:
    inbox, server = smtp
    mail = replace(a_mail(), edition=replace(a_mail().edition, reply_to=address))
    for sending in (ses_mailer(), smtp_mailer(server)):
        assert isinstance(sending.send(mail, 1), Accepted)
    (by_ses,), (by_smtp,) = ses.accepted, inbox.taken
    assert [by_ses.message["Reply-To"], by_smtp["Reply-To"]] == [address or None] * 2


def test_smtp_receives_both_parts_all_headers_and_tags(
    smtp: tuple[SmtpInbox, SmtpServer],
) -> None:
    """The text has a line of one dot, which SMTP would take for the end."""
    inbox, server = smtp
    smtp_mailer(server).send(a_mail(), 1)
    (message,) = inbox.taken
    arrived(message)
    assert message["Date"]
    assert message["Message-ID"].endswith("@example.com>")


def test_each_stream_has_a_separate_smtp_sender(smtp: tuple[SmtpInbox, SmtpServer]) -> None:
    inbox, server = smtp
    settings = SimpleNamespace(
        mail_provider="smtp",
        smtp_secret="",
        smtp_host=server.host,
        smtp_port=server.port,
        smtp_security=server.security,
        smtp_reply_timeout=timedelta(seconds=5),
        sender=SENDER,
        allowed=EVERYONE,
        immediate_sender="now@example.com",
        installation="i1",
    )
    streams = mailers(cast("SendingSettings", settings), SUPPRESSION_KEY)
    for schedule in (immediate_schedule("post#p1"), DAILY):
        streams.of(schedule).send(a_mail(), 3)
    assert [message["From"] for message in inbox.taken] == ["now@example.com", SENDER]
    prover = Prover(key=SUPPRESSION_KEY, installation="i1")
    for message in inbox.taken:
        reference = read_reference(message[REFERENCE_HEADER])
        assert message["Message-ID"] == f"<{reference}@example.com>"
        assert (reference.run, reference.attempt) == (RunKey("ann", DAILY, 1), 3)
        assert abs(reference.sent_at - datetime.now(UTC)) < timedelta(minutes=1)
        assert prover.is_proven(reference, address_hash("ann@example.com"))
    assert "ann@example.com" not in inbox.taken[0][REFERENCE_HEADER]


def test_email_without_a_run_or_a_key_has_no_reference(
    smtp: tuple[SmtpInbox, SmtpServer],
) -> None:
    """As the email of `gazette send-test` has none."""
    inbox, server = smtp
    smtp_mailer(server).send(a_mail(), 1)
    (message,) = inbox.taken
    assert REFERENCE_HEADER not in message
    prover = Prover(key=SUPPRESSION_KEY, installation="i1")
    test_mail = replace(a_mail(), tags=(("run", "test"),))
    assert reference_in(test_mail, 1, prover=prover, sent_at=datetime.now(UTC)) == ""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(429, "TooManyRequestsException"), RefusedForNow),
        (Answer(400, "ThrottlingException"), RefusedForNow),
        (Answer(400, "MessageRejected"), RefusedForGood),
        (Answer(400, "BadRequestException"), RefusedForGood),
        (Answer(400, "AccountSuspendedException"), RefusedAccount),
        (Answer(400, "SendingPausedException"), RefusedAccount),
        (Answer(400, "LimitExceededException"), RefusedAccount),
        (Answer(404, "NotFoundException"), RefusedAccount),
        (Answer(403, "AccessDeniedException"), RefusedAccount),
        (Answer(403, "SignatureDoesNotMatch"), RefusedAccount),
        (Answer(401, "UnknownCode"), RefusedAccount),
        (Answer(302, "Found", taken=True), Uncertain),
        (Answer(400, "UnknownCode", taken=True), Uncertain),
        (Answer(408, "RequestTimeout", taken=True), Uncertain),
        (Answer(200, "", taken=True), Uncertain),
        (Answer(500, "InternalFailure"), Uncertain),
        (Answer(503, "ServiceUnavailable"), Uncertain),
        (Answer(500, "InternalFailure", taken=True), Uncertain),
    ],
)
def test_each_ses_response_is_classified_after_a_single_request(
    ses: StandIn, answer: Answer, expected: type[SendOutcome]
) -> None:
    """botocore by itself would make three requests of most of these."""
    ses.script.append(answer)
    outcome = ses_mailer().send(a_mail(), 1)
    assert isinstance(outcome, expected)
    assert ses.requests == 1
    assert len(ses.accepted) == int(answer.taken)


def test_unreachable_provider_is_a_certain_refusal(
    ses: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")
    assert isinstance(ses_mailer().send(a_mail(), 1), RefusedForNow)
    nobody = SmtpServer("127.0.0.1", 9, "none", "", "")
    outcome = smtp_mailer(nobody).send(a_mail(), 1)
    assert isinstance(outcome, RefusedForNow)


@pytest.mark.parametrize("command", ["RCPT", "DATA"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [("451 try later", RefusedForNow), ("550 no such mailbox", RefusedForGood)],
)
def test_each_smtp_refusal_is_classified(
    smtp: tuple[SmtpInbox, SmtpServer],
    command: str,
    answer: str,
    expected: Callable[..., SendOutcome],
) -> None:
    inbox, server = smtp
    inbox.answers[command] = answer
    outcome = smtp_mailer(server).send(a_mail(), 1)
    assert outcome == expected(1, answer[:3])


@pytest.mark.parametrize("answer", ["354 go on", "199 hello"])
def test_invalid_smtp_reply_is_uncertain(smtp: tuple[SmtpInbox, SmtpServer], answer: str) -> None:
    inbox, server = smtp
    inbox.answers["DATA"] = answer
    outcome = smtp_mailer(server).send(a_mail(), 1)
    assert isinstance(outcome, Uncertain)


@pytest.mark.parametrize(
    "address",
    ["änn@example.com", "=?utf-8?q?victim?=@example.com", "=?x?b?dmljdGltAA==?=@example.com"],
    ids=["not ASCII", "encoded word", "encoded word with a NUL"],
)
def test_attack_address_with_encoded_words_is_rejected_before_sending(
    smtp: tuple[SmtpInbox, SmtpServer], ses: StandIn, address: str
) -> None:
    """It was decoded on its way, and went to an address that suppressions do not know."""
    inbox, server = smtp
    for mailer in (smtp_mailer(server), ses_mailer()):
        assert isinstance(mailer.send(a_mail(address), 1), RefusedForGood)
    assert not inbox.taken
    assert not ses.accepted


atoms = st.text("=?'`{}|!#$%&*+/^_~-aZ9", min_size=1, max_size=12)
local_parts = st.lists(atoms, min_size=1, max_size=3).map(".".join)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(local_parts.map("{}@mail.example".format).filter(ADDRESS.fullmatch))
def test_every_address_reaches_the_server_unchanged(
    smtp: tuple[SmtpInbox, SmtpServer], address: str
) -> None:
    inbox, server = smtp
    assert isinstance(smtp_mailer(server).send(a_mail(address), 1), Accepted)
    assert inbox.recipients[-1] == address
    assert inbox.taken[-1]["To"].addresses[0].addr_spec == address


def test_connection_lost_after_the_message_is_uncertain(
    smtp: tuple[SmtpInbox, SmtpServer],
) -> None:
    inbox, server = smtp
    inbox.drops_after_data = True
    outcome = smtp_mailer(server).send(a_mail(), 1)
    assert isinstance(outcome, Uncertain)
    assert len(inbox.taken) == 1


def test_rejected_login_refuses_the_whole_account(
    smtp: tuple[SmtpInbox, SmtpServer],
) -> None:
    _, server = smtp
    wrong = SmtpServer(server.host, server.port, "none", "user", "wrong")
    outcome = smtp_mailer(wrong).send(a_mail(), 1)
    assert outcome == RefusedAccount(1, "login: 535", every_stream=True)
