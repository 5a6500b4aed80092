"""The client of the bus has short time-outs."""

from datetime import timedelta

import boto3
import pytest
from botocore.config import Config
from gazette.adapters.aws.bus import events_client

from infra.topology import FEEDBACK, PREFERENCES


def test_a_bus_that_does_not_answer_leaves_time_for_the_delivery_events_of_other_emails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An invocation that runs out of time gives all of its messages back, those done with them."""
    made: dict[str, Config] = {}
    monkeypatch.setattr(boto3, "client", lambda name, *, config: made.__setitem__(name, config))
    events_client()
    config = vars(made["events"])
    attempts = config["retries"]["total_max_attempts"]
    longest = timedelta(seconds=(config["connect_timeout"] + config["read_timeout"]) * attempts)
    assert longest * 4 < timedelta(seconds=min(FEEDBACK.timeout, PREFERENCES.timeout))
