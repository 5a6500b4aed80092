"""What the port `Account` promises, held against our fake and against SES on loopback."""

from datetime import timedelta

import pytest
from gazette.adapters.mail.ses import SesAccount, ses_client
from gazette.domain.delivery.pace import Quota
from gazette.domain.errors import Unavailable

from demo.ses import Answer, StandIn
from tests.fakes import FakeAccount

pytestmark = pytest.mark.enable_socket

_MESSAGE = {
    "FromEmailAddress": "digest@example.com",
    "Destination": {"ToAddresses": ["ann@example.com"]},
    "Content": {
        "Simple": {
            "Subject": {"Data": "News"},
            "Body": {"Text": {"Data": "News"}, "Html": {"Data": "<p>News</p>"}},
        }
    },
}


def real() -> SesAccount:
    return SesAccount(ses_client(timedelta(seconds=5)))


@pytest.mark.parametrize(
    ("daily", "sent", "told"),
    [
        (50_000.0, 0, Quota(rate=37.5, daily=50_000, left=50_000)),
        (50_000.0, 3, Quota(rate=37.5, daily=50_000, left=49_997)),
        (2.0, 3, Quota(rate=37.5, daily=2, left=0)),
        (-1.0, 3, Quota(rate=37.5)),
    ],
)
def test_account_reports_its_sending_rate_and_remaining_quota(
    ses: StandIn, daily: float, sent: int, told: Quota
) -> None:
    ses.max_send_rate, ses.max_24_hour_send = 37.5, daily
    for _ in range(sent):
        ses.send_email(_MESSAGE)
    before = ses.requests
    for account in (real(), FakeAccount(told)):
        assert account.quota() == told
    assert ses.requests == before + 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(429, "TooManyRequestsException"),
        Answer(403, "AccessDeniedException"),
        Answer(500, "InternalFailure"),
    ],
)
def test_account_without_a_response_is_unavailable(ses: StandIn, answer: Answer) -> None:
    ses.script.append(answer)
    for account in (real(), FakeAccount(None)):
        with pytest.raises(Unavailable):
            account.quota()


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_account_without_a_rate_is_unavailable(ses: StandIn, rate: float) -> None:
    ses.max_send_rate = rate
    with pytest.raises(Unavailable, match="reported no maximum send rate"):
        real().quota()
