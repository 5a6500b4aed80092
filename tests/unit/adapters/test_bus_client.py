"""The client of the bus has short time-outs."""

from datetime import timedelta

from gazette.adapters.aws.bus import PATIENCE

from gazette_cdk.topology import FEEDBACK, PREFERENCES


def test_event_bus_timeout_leaves_time_for_other_delivery_events() -> None:
    """An invocation that runs out of time gives all of its messages back, those done with them."""
    longest = timedelta(seconds=PATIENCE.longest)
    assert longest * 4 < timedelta(seconds=min(FEEDBACK.timeout, PREFERENCES.timeout))
