"""One event on moto, from PutEvents to the email, and to SES's delivery event."""

import json

import pytest
from gazette.bootstrap.parts.templates import renderer

from proofs.walk.record import Record, recorded
from tests.functions.conftest import account, an_hour_later, make_cold, tick_when_due
from tests.functions.messages import delivery_event, envelope, event, profile


class NotSettledError(Exception):
    """A walk that ended before its run was settled."""


def walk(*, cold: bool = False) -> Record:
    """Record the code that is executed while one event passes the handlers, as AWS calls them.

    Its subscriber gets a daily digest and is already registered. With `cold`, each function's first
    message builds it, and this counts. Otherwise it was built before. The templates must be on the
    path, as in a function.
    """
    record = Record()
    renderer.cache_clear()  # which has groups and languages of walks before
    with pytest.MonkeyPatch.context() as patch, account(patch) as cloud:
        cloud.send_quota.update(SentLast24Hours=0, Max24HourSend=50_000, MaxSendRate=14)
        cloud.say("subscriber.changed", profile())
        make_cold()
        if not cold:
            cloud.warm_up("ingest")
        with recorded(record):
            cloud.work("ingest", envelope("event.created", event(1)))
        an_hour_later(patch)
        if not cold:
            cloud.warm_up("fanout", "generate", "feedback")
        tick = tick_when_due(cloud)
        with recorded(record):
            cloud.invoke("fanout", tick)
        (shard,) = cloud.take("shard")
        with recorded(record):
            cloud.work("fanout", str(shard["Body"]))
        (run,) = cloud.take("generate")
        with recorded(record):
            cloud.work("generate", str(run["Body"]))
        (email,) = cloud.sent()
        tags = {tag["Name"]: str(tag["Value"]) for tag in email["EmailTags"]}
        for kind, part in (("Sent", "send"), ("Delivered", "delivery")):
            with recorded(record):
                cloud.work("feedback", delivery_event(kind, tags["run"], record=part))
        (row,) = cloud.rows("engagement")
        (stored,) = cloud.rows("runs")
        if stored["status"] != "sent" or "delivered" not in json.dumps(row, default=str):
            raise NotSettledError(f"run {stored}, delivery events {row}")
    return record
