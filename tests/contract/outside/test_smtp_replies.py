"""What each reply of an SMTP server concerns: the recipient, the message, the stream, the account.

The sources are in docs/decisions/0094-a-refusal-before-rcpt-is-not-about-the-reader.md.
"""

import time

import pytest
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.domain.delivery.signals import (
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
)

from tests.builders import a_mail
from tests.scripted_smtp import TIMES, ScriptedSmtp

pytestmark = pytest.mark.enable_socket

NOW, EMAIL, STREAM, ACCOUNT = "for now", "this email", "stream", "account"

SUSPENDED = "552 Your account has been suspended. Please contact us to reactivate"
OWN_SENDER = "553 5.7.1 <a@example.com>: Sender address rejected: not owned by user"
UNVERIFIED = (
    "550 5.1.1 <ann@example.com>: Recipient address rejected: unverified address: "
    "host mx.x.example said: 550 Your account has been suspended"
)
SES_DENIED = (
    "554 Access denied: User `arn:aws:iam::123456789012:user/a@b' is not authorized to perform "
    "`ses:SendRawEmail' on resource `arn:aws:ses:eu-west-1:123456789012:identity/example.com'"
)
SES_SANDBOX = "554 Message rejected: Email address is not verified. The following identities failed"

REPLIES = [
    # Before MAIL: nothing is named yet
    ("greeting", "421 4.3.2 shutting down", NOW),
    ("greeting", "450 4.7.1 try again", NOW),
    ("greeting", "521 does not accept mail", ACCOUNT),
    ("greeting", "554 no SMTP service here", ACCOUNT),
    ("EHLO", "421 4.7.0 too many connections", NOW),
    ("EHLO", "550 5.7.1 access denied", ACCOUNT),
    ("EHLO", "554 5.7.1 blocked", ACCOUNT),
    ("EHLO", "250 mail.example.com", ACCOUNT),  # it offers no AUTH, and there is a login
    ("EHLO", "250-mail.example.com\r\n250 AUTH GSSAPI", ACCOUNT),
    ("AUTH", "421 4.7.0 too many logins", NOW),
    ("AUTH", "432 4.7.12 a password transition is needed", ACCOUNT),
    ("AUTH", "454 4.7.0 temporary authentication failure", ACCOUNT),
    ("AUTH", "500 5.5.6 line too long", ACCOUNT),
    ("AUTH", "525 5.7.13 user account disabled", ACCOUNT),
    ("AUTH", "534 5.7.9 mechanism too weak", ACCOUNT),
    ("AUTH", "535 5.7.8 credentials invalid", ACCOUNT),
    ("AUTH", "538 5.7.11 encryption required", ACCOUNT),
    # MAIL: no recipient is named yet
    ("MAIL", "421 4.3.2 shutting down", NOW),
    ("MAIL", "450 4.2.1 busy", NOW),
    ("MAIL", "451 4.3.0 local error", NOW),
    ("MAIL", "452 4.3.1 insufficient storage", NOW),
    ("MAIL", "452 4.4.5 messages per second limit exceeded", NOW),
    ("MAIL", "454 Throttling failure: Maximum sending rate exceeded", NOW),
    ("MAIL", "454 Throttling failure: Daily message quota exceeded", ACCOUNT),
    ("MAIL", "452 4.5.3 Daily message limit exceeded", ACCOUNT),
    ("MAIL", "450 4.1.8 <a@example.com>: Sender address rejected: Domain not found", STREAM),
    ("MAIL", "455 parameters", NOW),
    ("MAIL", "500 unknown", STREAM),
    ("MAIL", "501 5.1.7 bad sender address syntax", STREAM),
    ("MAIL", "503 5.5.1 bad sequence", STREAM),
    ("MAIL", "523 5.7.10 encryption needed", ACCOUNT),
    ("MAIL", "530 5.7.0 Authentication required", ACCOUNT),
    ("MAIL", "530 5.7.57 Client not authenticated to send mail", ACCOUNT),
    ("MAIL", "530 5.7.0 Must issue a STARTTLS command first", ACCOUNT),
    ("MAIL", "535 5.7.8 credentials invalid", ACCOUNT),
    ("MAIL", "550 5.7.1 sender not allowed", STREAM),
    ("MAIL", "550 Your account is disabled", ACCOUNT),
    ("MAIL", "552 5.2.2 exceeded storage allocation", STREAM),
    ("MAIL", SUSPENDED, ACCOUNT),
    ("MAIL", "552-Your account has been suspended.\r\n552 Contact us", ACCOUNT),
    ("MAIL", "553 5.1.8 not your address", STREAM),
    ("MAIL", "554 5.7.1 refused", STREAM),
    ("MAIL", "555 parameters", STREAM),
    ("MAIL", "556 domain does not accept mail", STREAM),
    ("MAIL", "354 go on", NOW),
    ("MAIL", "299 what", NOW),
    # RCPT: this recipient, unless the reply says otherwise
    ("RCPT", "421 4.3.2 shutting down", NOW),
    ("RCPT", "450 4.2.0 greylisted", NOW),
    ("RCPT", "451 4.3.0 local error", NOW),
    ("RCPT", "452 4.2.2 mailbox full", NOW),
    ("RCPT", "454 4.7.1 <ann@example.com>: Relay access denied", STREAM),
    ("RCPT", "501 5.1.3 bad address", EMAIL),
    ("RCPT", "530 5.7.0 Authentication required", ACCOUNT),
    ("RCPT", "550 5.7.1 Authentication required", ACCOUNT),
    ("RCPT", "503 5.5.4 AUTH required", ACCOUNT),
    ("RCPT", "550 5.1.1 no such mailbox", EMAIL),
    ("RCPT", "550 5.1.1 <ann@example.com>: Recipient address rejected: User unknown", EMAIL),
    ("RCPT", "550 5.1.8 <a@example.com>: Sender address rejected: Domain not found", STREAM),
    ("RCPT", "550 5.2.1 The email account that you tried to reach is disabled", EMAIL),
    ("RCPT", "550 5.2.1 account suspended", EMAIL),
    ("RCPT", "550 5.7.1 you are blocked by this recipient", EMAIL),
    ("RCPT", "550 relay not permitted", STREAM),
    ("RCPT", "550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain", STREAM),
    ("RCPT", '550 Outgoing mail from "shop.example" has been suspended.', STREAM),
    ("RCPT", "551 user not local", EMAIL),
    ("RCPT", "552 5.2.2 mailbox full", EMAIL),
    ("RCPT", SUSPENDED, ACCOUNT),
    ("RCPT", OWN_SENDER, STREAM),
    (
        "RCPT",
        "554 5.7.1 <mail.example.com[192.0.2.1]>: Client host rejected: Access denied",
        STREAM,
    ),
    (
        "RCPT",
        "554 5.7.1 <ann@example.com>: Recipient address rejected: Relay access denied",
        STREAM,
    ),
    ("RCPT", "556 5.1.10 the domain accepts no mail", EMAIL),
    ("RCPT", "550 5.7.134 not this one", EMAIL),
    ("RCPT", "550 5.1.80 not this one", EMAIL),
    (
        "RCPT",
        "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using x.example",
        STREAM,
    ),
    ("RCPT", "550 5.7.1 Service unavailable; client [192.0.2.1] blocked using x.example", STREAM),
    ("RCPT", "550 5.7.0 Mail relay denied", STREAM),
    ("RCPT", "550 Sender verify failed", STREAM),
    ("RCPT", "550 5.7.1 Service unavailable for this mailbox", EMAIL),
    # A text that a recipient or its server chose proves nothing
    ("RCPT", "550 5.1.1 <your account has been suspended@x.example>: unknown", EMAIL),
    ("RCPT", UNVERIFIED, EMAIL),
    ("RCPT", "550 host said: 5.1.8 bad sender", EMAIL),
    # DATA, and the message
    ("DATA", "421 4.3.2 shutting down", NOW),
    ("DATA", "451 4.3.0 local error", NOW),
    ("DATA", "503 5.5.1 bad sequence", EMAIL),
    ("DATA", "550 5.7.1 refused", EMAIL),
    ("DATA", "554 no valid recipients", EMAIL),
    ("DATA", "530 5.7.0 Authentication required", ACCOUNT),
    ("DATA", "250 OK", NOW),
    ("end", "421 4.3.2 shutting down", NOW),
    ("end", "451 4.7.0 try again", NOW),
    ("end", "452 4.3.1 insufficient storage", NOW),
    ("end", "454 Throttling failure: Maximum sending rate exceeded", NOW),
    ("end", "454 Throttling failure: Daily message quota exceeded", ACCOUNT),
    ("end", "550 5.4.5 Daily user sending limit exceeded.", ACCOUNT),
    ("end", "550 5.7.1 spam", EMAIL),
    ("end", "550 5.7.60 SMTP; Client does not have permissions to send as this sender", STREAM),
    ("end", "552 5.3.4 message too big", EMAIL),
    ("end", SUSPENDED, ACCOUNT),
    ("end", "554 5.6.0 content", EMAIL),
    ("end", "554 Message rejected: Sending suspended for this account.", ACCOUNT),
    ("end", "554 Message rejected: Sending paused for this account. See your inbox.", ACCOUNT),
    ("end", SES_DENIED, STREAM),
    ("end", "550 The from address does not match a verified Sender Identity.", STREAM),
    ("end", "554 5.2.252 SendAsDenied; b@example.com not allowed to send as a@example.com", STREAM),
    ("end", "554 Access denied", EMAIL),
    ("end", f"{SES_SANDBOX} the check in region EU-WEST-1: a@example.com", STREAM),
    ("end", f"{SES_SANDBOX} the check in region EU-WEST-1: ann@example.com", EMAIL),
    ("end", "554 Transaction failed: Expected MIME type", EMAIL),
]


def concerns(outcome: SendOutcome) -> str:
    match outcome:
        case RefusedForNow():
            return NOW
        case RefusedForGood():
            return EMAIL
        case RefusedAccount(every_stream=every):
            return ACCOUNT if every else STREAM
    raise AssertionError(outcome)


@pytest.mark.parametrize(("stage", "reply", "expected"), REPLIES)
def test_each_smtp_reply_is_attributed_to_its_cause(stage: str, reply: str, expected: str) -> None:
    replies = {stage: reply} | ({"HELO": reply} if stage == "EHLO" else {})
    server = ScriptedSmtp(replies)
    login = ("ann", "secret") if stage in {"EHLO", "AUTH"} else ("", "")
    with server.served(login=login) as where:
        mailer = SmtpMailer(where, sender="Shop <a@example.com>", times=TIMES, clock=time.monotonic)
        outcome = mailer.send(a_mail(), 1)
    assert concerns(outcome) == expected
    assert "@" not in str(outcome)
    assert len(server.messages) == (stage == "end")


def test_mail_command_declares_no_size() -> None:
    """A server refuses a size at MAIL only if the client declares it (RFC 1870, section 6.1)."""
    server = ScriptedSmtp({"EHLO": "250-mail.example.com\r\n250-8BITMIME\r\n250 SIZE 1000"})
    with server.served() as where:
        mailer = SmtpMailer(where, sender="a@example.com", times=TIMES, clock=time.monotonic)
        mailer.send(a_mail(), 1)
    assert server.lines[1:3] == ["MAIL FROM:<a@example.com>", "RCPT TO:<ann@example.com>"]
