"""The findings of `gazette doctor` on an emulator."""

import pytest

from gazette_cli.doctor.findings import marked, ok, problem
from gazette_cli.doctor.questions import local_endpoint
from tests.credentials import set_credentials


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("", False),
        ("http://127.0.0.1:4566", True),
        ("http://localhost:4566", True),
        ("http://[::1]:4566", True),
        ("https://vpce-1.dynamodb.eu-central-1.vpce.amazonaws.com", False),
    ],
)
def test_endpoint_on_this_computer_is_an_emulator(
    monkeypatch: pytest.MonkeyPatch, url: str, *, is_local: bool
) -> None:
    set_credentials(monkeypatch)
    if url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    assert local_endpoint() == (url if is_local else "")


def test_findings_say_what_an_emulator_cannot_show() -> None:
    given = [
        ok("alarms", "none in alarm"),
        problem("dkim digest@campus.example", "no", "Fix it.", "page"),
        problem("queue generate", "gone", "Fix it.", "page"),
    ]
    first, alarms, dkim, queue = marked(given, "http://127.0.0.1:4566")
    assert (first.check, first.level) == ("emulator", "unseen")
    assert "http://127.0.0.1:4566 is an emulator, not AWS." in first.seen
    for word in ("DKIM", "alarms", "delivery", "recovery", "quotas"):
        assert word in first.seen
    assert alarms is given[0]
    assert (dkim.level, dkim.todo) == ("unseen", "")
    assert queue is given[2]
