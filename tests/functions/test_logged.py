"""How many bytes the functions log, which CloudWatch takes at $0.50 a gigabyte and more.

Of the log lines and the metrics, which are log lines as well. The ids of messages and of the
invocation are shorter here than in life: 36 characters each.
https://aws.amazon.com/cloudwatch/pricing/
"""

import io

import pytest

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import envelope, event, profile

_DIGEST = 410
"""Bytes a digest, in a batch of ten: one line, and a tenth of the metrics."""

_SINGLE = 50
_LISTED = 6
"""Bytes an event: one of ten messages of an invocation, which share a line, and one of a list of a
hundred."""

Captured = pytest.CaptureFixture[str]


def _logged(logs: io.StringIO, capsys: Captured) -> int:
    return len(logs.getvalue().encode()) + len(capsys.readouterr().out.encode())


def _forget(logs: io.StringIO, capsys: Captured) -> None:
    logs.truncate(0)
    logs.seek(0)
    capsys.readouterr()


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_digest_in_a_batch_of_ten_logs_a_single_line(
    cloud: Cloud, logs: io.StringIO, capsys: Captured
) -> None:
    runs: list[str] = []
    for user in (f"reader{number}" for number in range(10)):
        cloud.say("subscriber.changed", profile(user))
        cloud.say("event.created", {"events": [event(each, user_id=user) for each in range(10)]})
        runs += fan_out(cloud, user)
    _forget(logs, capsys)
    cloud.work("generate", *runs)
    assert len(cloud.sent()) == 10
    assert logs.getvalue().count("\n") == 10
    assert _logged(logs, capsys) <= 10 * _DIGEST


def test_log_volume_per_event_is_bounded(cloud: Cloud, logs: io.StringIO, capsys: Captured) -> None:
    cloud.say("subscriber.changed", profile())
    for events, bytes_each in (
        ([[event(number)] for number in range(10)], _SINGLE),
        ([[event(number) for number in range(100)]], _LISTED),
    ):
        _forget(logs, capsys)
        bodies = [envelope("event.created", {"events": each}) for each in events]
        cloud.work("ingest", *bodies)
        assert _logged(logs, capsys) <= bytes_each * sum(map(len, events))
