"""An event that lapsed is counted apart from those that Gazette was too late for."""

import io

import pytest

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import ago, event, profile

pytestmark = pytest.mark.usefixtures("later")


@pytest.mark.parametrize("others", [0, 1])
def test_lapsed_events_are_in_metrics_and_logs_without_an_alarm(
    cloud: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str], others: int
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1) | {"expires_at": ago(minutes=1)})
    for number in range(others):
        cloud.say("event.created", event(2 + number))
    (message,) = fan_out(cloud)
    cloud.warm_up("generate")
    cloud.work("generate", message)
    counted = capsys.readouterr().out
    assert '"events_lapsed":[1.0]' in counted
    assert "events_expired" not in counted
    assert ('"skipped_lapsed":[1.0]' in counted) == (not others)
    assert '"lapsed":1' in logs.getvalue()
    assert len(cloud.sent()) == others


def test_lapsed_events_cost_a_single_transaction_with_their_run(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1) | {"expires_at": ago(minutes=1)})
    cloud.say("event.created", event(2))
    (message,) = fan_out(cloud)
    cloud.warm_up("generate")
    before = cloud.meter.write_units["runs"]
    cloud.work("generate", message)
    assert cloud.meter.write_units["events"] == 4
    assert cloud.meter.write_units["runs"] - before == 2 + 4, "the epoch; claim and commit"
