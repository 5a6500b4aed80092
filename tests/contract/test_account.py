"""What the port `Account` promises, held against our fake and against SES on loopback."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from gazette.adapters.ses import SesAccount, ses_client
from gazette.domain.errors import Unavailable

from demo.ses import Answer, StandIn
from tests.fakes import FakeAccount

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def ses(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as stand_in:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", stand_in.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield stand_in


def real() -> SesAccount:
    return SesAccount(ses_client(timedelta(seconds=5)))


def test_an_account_says_how_many_emails_a_second_it_may_send(ses: StandIn) -> None:
    ses.max_send_rate = 37.5
    for account in (real(), FakeAccount(37.5)):
        assert account.send_rate() == 37.5
    assert ses.requests == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(429, "TooManyRequestsException"),
        Answer(403, "AccessDeniedException"),
        Answer(500, "InternalFailure"),
    ],
)
def test_an_account_that_does_not_answer_is_unavailable(ses: StandIn, answer: Answer) -> None:
    ses.script.append(answer)
    for account in (real(), FakeAccount(None)):
        with pytest.raises(Unavailable):
            account.send_rate()


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_an_account_that_names_no_rate_is_unavailable(ses: StandIn, rate: float) -> None:
    ses.max_send_rate = rate
    with pytest.raises(Unavailable, match="named no rate"):
        real().send_rate()
