"""The client of the bus has short time-outs."""

from datetime import timedelta

from gazette.adapters.aws.bus import PATIENCE

from infra.topology import FEEDBACK, PREFERENCES


def test_a_bus_that_does_not_answer_leaves_time_for_the_delivery_events_of_other_emails() -> None:
    """An invocation that runs out of time gives all of its messages back, those done with them."""
    longest = timedelta(seconds=PATIENCE.longest)
    assert longest * 4 < timedelta(seconds=min(FEEDBACK.timeout, PREFERENCES.timeout))
