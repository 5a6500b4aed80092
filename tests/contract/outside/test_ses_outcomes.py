"""What each thing that SES, or the way to it, can do to a message is taken for.

All through the real client, against SES on loopback, which counts the requests: never two.
"""

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore import exceptions
from botocore.session import get_session
from gazette.adapters.aws import clients
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)

from demo.ses import Answer, StandIn
from demo.ses_http import Loss
from tests.builders import a_mail

SEND_TIMEOUT = timedelta(seconds=30)
SHORT = timedelta(seconds=2.2)
"""Of which 2 s are for the connection: so 0.2 s for the answer."""

CLASSES: Mapping[str, type[SendOutcome]] = {
    "AccountSuspendedException": RefusedAccount,
    "BadRequestException": RefusedForGood,
    "LimitExceededException": RefusedAccount,
    "MailFromDomainNotVerifiedException": RefusedAccount,
    "MessageRejected": RefusedForGood,
    "NotFoundException": RefusedAccount,
    "SendingPausedException": RefusedAccount,
    "TooManyRequestsException": RefusedForNow,
}
OF_ALL = {"AccountSuspendedException", "LimitExceededException", "SendingPausedException"}

pytestmark = pytest.mark.enable_socket

_UNVERIFIED = "Email address is not verified. The following identities"


def modelled() -> dict[str, int]:
    """The HTTP status of each error that botocore's model has for SendEmail, by its code."""
    client = boto3.client("sesv2", region_name="us-east-1")
    operation = client.meta.service_model.operation_model("SendEmail")
    return {
        shape.error_code: shape.metadata["error"]["httpStatusCode"]
        for shape in operation.error_shapes
    }


def send(timeout: timedelta = SEND_TIMEOUT) -> SendOutcome:
    mailer = SesMailer(ses_client(timeout), sender="digest@example.com", configuration_set="digest")
    return mailer.send(a_mail(), 1)


def test_every_modelled_send_email_error_is_known() -> None:
    assert set(modelled()) == set(CLASSES)


@pytest.mark.parametrize("code", sorted(CLASSES))
def test_each_modelled_error_has_its_class(ses: StandIn, code: str) -> None:
    ses.script.append(Answer(modelled()[code], code))
    expected = CLASSES[code](1, code)
    if code in OF_ALL:
        expected = RefusedAccount(1, code, every_stream=True)
    assert send() == expected
    assert ses.requests == 1


@pytest.mark.parametrize("code", sorted(CLASSES))
def test_known_error_with_an_unexpected_status_is_uncertain(ses: StandIn, code: str) -> None:
    strange = sorted({302, 400, 403, 404, 408, 409, 429, 500, 503} - {modelled()[code]})
    ses.script.extend(Answer(status, code, taken=True) for status in strange)
    for status in strange:
        assert send() == Uncertain(1, f"{status} {code}")
    assert ses.requests == len(strange)


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "AccessDeniedException", RefusedAccount),
        (403, "ExpiredTokenException", RefusedAccount),
        (403, "InvalidClientTokenId", RefusedAccount),
        (400, "IncompleteSignature", RefusedAccount),
        (400, "NotAuthorized", RefusedAccount),
        (403, "OptInRequired", RefusedAccount),
        (400, "RequestExpired", RefusedForNow),
        (400, "Throttling", RefusedForNow),
        (400, "ThrottlingException", RefusedForNow),
        (429, "ThrottlingException", RefusedForNow),
        (429, "SlowDown", RefusedForNow),
        (400, "ValidationError", RefusedForGood),
        (500, "InternalFailure", Uncertain),
        (503, "ServiceUnavailable", Uncertain),
        (503, "ThrottlingException", Uncertain),
        (409, "ConflictException", Uncertain),
    ],
)
def test_common_aws_errors_are_classified(
    ses: StandIn, status: int, code: str, expected: type[SendOutcome]
) -> None:
    ses.script.append(Answer(status, code))
    assert isinstance(send(), expected)
    assert ses.requests == 1


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        (400, "ThrottlingException", "Daily message quota exceeded", RefusedAccount),
        (400, "ThrottlingException", "Maximum sending rate exceeded", RefusedForNow),
        (429, "TooManyRequestsException", "Daily message quota exceeded.", RefusedAccount),
        (429, "TooManyRequestsException", "Daily sending quota exceeded", RefusedAccount),
        (429, "TooManyRequestsException", "Maximum sending rate exceeded.", RefusedForNow),
        (
            400,
            "MessageRejected",
            "Email address is not verified. The following identities failed: ann@example.com",
            RefusedAccount,
        ),
        *(
            (
                400,
                "MessageRejected",
                f"{_UNVERIFIED} failed the check in region US-EAST-1: {named}",
                expected,
            )
            for named, expected in (
                ("ann@example.com", RefusedForGood),
                ("digest@example.com", RefusedAccount),
                ("ann@example.org, digest@example.com", RefusedAccount),
                ("Example.com", RefusedAccount),
            )
        ),
        (400, "MessageRejected", "Sending paused for this account.", RefusedAccount),
        (400, "MessageRejected", "Email sending for the account is paused.", RefusedAccount),
        (400, "MessageRejected", "Sending suspended for this account.", RefusedAccount),
        (400, "MessageRejected", "Your account has been suspended.", RefusedAccount),
        (400, "BadRequestException", "Sending is suspended for this account", RefusedAccount),
        (400, "BadRequestException", "Configuration set <digest> does not exist.", RefusedAccount),
        (400, "MessageRejected", "Message contains a virus.", RefusedForGood),
        (400, "BadRequestException", "Missing final '@domain'", RefusedForGood),
        (400, "BadRequestException", 'Illegal address: "not verified"@example.com', RefusedForGood),
    ],
)
def test_error_message_identifies_account_level_errors(
    ses: StandIn, status: int, code: str, message: str, expected: type[SendOutcome]
) -> None:
    ses.script.append(Answer(status, code, message=message))
    outcome = send()
    assert isinstance(outcome, expected)
    assert "@" not in str(outcome)
    assert ses.requests == 1


@pytest.mark.parametrize(
    ("status", "code", "message", "every_stream"),
    [
        (400, "SendingPausedException", "Sending paused for this account.", True),
        (400, "SendingPausedException", "", True),
        (400, "SendingPausedException", "Sending is paused for configuration set now", False),
        (400, "MessageRejected", "Email sending for the account is paused.", True),
        (400, "MessageRejected", "Sending suspended for this account. See your inbox.", True),
        (400, "MessageRejected", "Sending is paused for configuration set <now>", False),
        (400, "ThrottlingException", "Daily message quota exceeded", True),
        (429, "TooManyRequestsException", "Daily sending quota exceeded", True),
        (400, "LimitExceededException", "Too many.", True),
        (403, "InvalidClientTokenId", "", True),
        (403, "ExpiredTokenException", "", True),
        (403, "SignatureDoesNotMatch", "", True),
        (400, "IncompleteSignature", "", True),
        (400, "MessageRejected", f"{_UNVERIFIED} failed: digest@example.com", False),
        (400, "MailFromDomainNotVerifiedException", "", False),
        (404, "NotFoundException", "", False),
        (400, "BadRequestException", "Configuration set <digest> does not exist.", False),
        (403, "AccessDeniedException", "not authorized to perform ses:SendEmail", False),
        (400, "NotAuthorized", "", False),
        (403, "NobodyKnowsThis", "", False),
    ],
)
def test_refusal_affects_every_stream_only_if_account_wide(
    ses: StandIn, status: int, code: str, message: str, every_stream: bool
) -> None:
    ses.script.append(Answer(status, code, message=message))
    outcome = send()
    assert isinstance(outcome, RefusedAccount)
    assert outcome.every_stream is every_stream


def outcome_of(loss: Loss) -> SendOutcome:
    """The outcome of a send whose response is lost.

    Only a response that hangs needs a short timeout. All others end by themselves, however slow the
    machine is.
    """
    return send(SHORT if loss is Loss.HANG else SEND_TIMEOUT)


def accepted_by(ses: StandIn, *, within: float = 10.0) -> int:
    """The number of accepted messages, after waiting for the first.

    The stand-in accepts a message in a thread of its own, which may be slower than a short timeout.
    """
    deadline = time.monotonic() + within
    while not ses.accepted and time.monotonic() < deadline:
        time.sleep(0.01)
    return len(ses.accepted)


@pytest.mark.parametrize("loss", list(Loss))
def test_lost_response_is_uncertain_after_a_single_request(ses: StandIn, loss: Loss) -> None:
    ses.script.append(Answer(200, "", taken=True, loss=loss))
    assert isinstance(outcome_of(loss), Uncertain)
    assert accepted_by(ses) == 1
    assert ses.requests == 1


@pytest.mark.parametrize("loss", [Loss.HANG, Loss.CLOSE, Loss.RESET, Loss.HEAD])
def test_lost_rejection_is_uncertain(ses: StandIn, loss: Loss) -> None:
    ses.script.append(Answer(400, "MessageRejected", loss=loss))
    assert isinstance(outcome_of(loss), Uncertain)
    assert ses.requests == 1
    assert not ses.accepted


@pytest.mark.parametrize("status", [200, 400, 403])
@pytest.mark.parametrize("body", [b"\xff", b"[]", b'"x"', b"7", b'{"__type": 7}'])
def test_unreadable_response_raises_no_exception(ses: StandIn, status: int, body: bytes) -> None:
    ses.script.append(Answer(status, "", taken=True, body=body))
    assert isinstance(send(), Uncertain | RefusedAccount)
    assert ses.requests == 1


@pytest.mark.parametrize("body", [b"", b"{}", b'{"MessageId": ""}', b"<html>", b"\xff", b"[]"])
def test_success_without_a_message_id_is_uncertain(ses: StandIn, body: bytes) -> None:
    ses.script.append(Answer(200, "", taken=True, body=body))
    assert isinstance(send(), Uncertain)
    assert ses.requests == 1


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_environment_settings_cause_no_second_request(
    ses: StandIn, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("AWS_RETRY_MODE", mode)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "5")
    ses.script.append(Answer(503, "ServiceUnavailable"))
    assert isinstance(send(), Uncertain)
    assert ses.requests == 1


def test_idle_connection_closed_by_ses_is_reopened(ses: StandIn) -> None:
    """A Lambda sleeps between its invocations, and SES does not keep a connection for ever."""
    mailer = SesMailer(
        ses_client(SEND_TIMEOUT), sender="digest@example.com", configuration_set="digest"
    )
    ses.script.append(Answer(200, "", taken=True, loss=Loss.HALF))
    assert isinstance(mailer.send(a_mail(), 1), Uncertain)
    assert isinstance(mailer.send(a_mail(), 2), Accepted)
    assert ses.requests == 2


def test_refused_connection_is_a_certain_refusal(
    ses: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # bound, so that nobody else is there, and not listening
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        assert isinstance(send(), RefusedForNow)
    assert not ses.requests


def test_missing_credentials_refuse_the_account_without_a_request(
    ses: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "_session", get_session)  # the other remembers those of tests
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    outcome = send()
    assert isinstance(outcome, RefusedAccount)
    assert outcome.every_stream
    assert not ses.requests


def test_parameters_rejected_by_botocore_are_never_sent(ses: StandIn) -> None:
    mail = a_mail()
    untitled = replace(mail, edition=replace(mail.edition, subject=None))  # type: ignore[arg-type]
    mailer = SesMailer(
        ses_client(SEND_TIMEOUT), sender="digest@example.com", configuration_set="digest"
    )
    assert isinstance(mailer.send(untitled, 1), RefusedForGood)
    assert not ses.requests


def _fails_with(error: Exception) -> Callable[..., None]:
    def fail(**_: object) -> None:
        raise error

    return fail


BEFORE = ["provide-client-params", "before-parameter-build", "before-call", "before-sign"]
"""Events of botocore at which nothing has been sent, in their order."""

ANY = [
    exceptions.NoRegionError(),
    exceptions.EndpointProviderError(msg="no endpoint"),
    exceptions.UnknownEndpointError(service_name="sesv2", region_name="nowhere"),
    exceptions.InvalidEndpointConfigurationError(msg="wrong"),
    exceptions.UnknownSignatureVersionError(signature_version="v0"),
    exceptions.MetadataRetrievalError(error_msg="slow"),
    exceptions.TokenRetrievalError(provider="sso", error_msg="ended"),
    exceptions.UnauthorizedSSOTokenError(),
    exceptions.ConnectionError(error=OSError("slow")),
    ValueError("wrong"),
    TypeError("wrong"),
    KeyError("key"),
    AttributeError("attribute"),
    UnicodeEncodeError("ascii", "\xfc", 0, 1, "no"),
    RuntimeError("the refreshed credentials are still expired"),
    RecursionError("deep"),
    OSError("disk"),
]


@pytest.mark.parametrize("error", ANY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("event", BEFORE)
def test_exception_before_the_request_is_a_certain_refusal(
    ses: StandIn, event: str, error: Exception
) -> None:
    client = ses_client(SEND_TIMEOUT)
    client.meta.events.register_last(f"{event}.sesv2.SendEmail", fail := _fails_with(error))
    try:
        outcome = send()
    finally:
        client.meta.events.unregister(f"{event}.sesv2.SendEmail", fail)
    assert isinstance(outcome, RefusedForNow | RefusedForGood | RefusedAccount)
    assert (outcome.attempt, ses.requests) == (1, 0)


@pytest.mark.parametrize("error", ANY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("event", ["before-parse", "response-received", "after-call"])
def test_exception_after_the_request_is_uncertain(
    ses: StandIn, event: str, error: Exception
) -> None:
    client = ses_client(SEND_TIMEOUT)
    client.meta.events.register_last(f"{event}.sesv2.SendEmail", fail := _fails_with(error))
    try:
        outcome = send()
    finally:
        client.meta.events.unregister(f"{event}.sesv2.SendEmail", fail)
    assert isinstance(outcome, Uncertain)
    assert ses.requests == 1


def test_failure_before_a_request_is_independent_of_earlier_requests(ses: StandIn) -> None:
    """What one call has sent says nothing about the next one of the same thread."""
    client = ses_client(SEND_TIMEOUT)
    assert isinstance(send(), Accepted)
    fail = _fails_with(RuntimeError("expired"))
    client.meta.events.register_last("before-sign.sesv2.SendEmail", fail)
    try:
        assert isinstance(send(), RefusedForNow)
    finally:
        client.meta.events.unregister("before-sign.sesv2.SendEmail", fail)
    assert ses.requests == 1


@pytest.mark.parametrize("field", ["subject", "html", "text"])
def test_text_that_utf8_cannot_encode_is_never_uncertain(ses: StandIn, field: str) -> None:
    mail = a_mail()
    changed: dict[str, Any] = {field: "a\ud800b"}
    odd = replace(mail, edition=replace(mail.edition, **changed))
    mailer = SesMailer(
        ses_client(SEND_TIMEOUT), sender="digest@example.com", configuration_set="digest"
    )
    assert not isinstance(mailer.send(odd, 1), Uncertain)
