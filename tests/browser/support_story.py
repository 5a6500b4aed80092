"""A stage with dead letters, for the pictures of the support page: invented, and always the same.

The runs of ten weekly digests failed on a Tuesday. On Friday, three of the emails have been sent,
one has an unknown outcome, and one reader has unsubscribed.
"""

import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.dead_letters import queues
from gazette.bootstrap.parts import clock as system
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.observability import logger
from moto.sqs import models as moto_sqs

from demo.engine import ROOT
from gazette_cdk.assets.templates.build import build_templates
from tests.builders import SettableClock
from tests.functions import messages
from tests.functions.conftest import Cloud, Context, account, fan_out, make_cold
from tests.functions.messages import event, profile
from tests.functions.supporting import put, stage_queues
from tests.moto_tables import moto_backend
from tests.unit.console.pages import ARN

TUESDAY = datetime(2026, 11, 24, 18, 0, tzinfo=UTC)
FRIDAY = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
SENT, UNKNOWN, UNSUBSCRIBED = ("bo", "dee", "hal"), "cy", "fay"
READERS = ("ann", "bo", "cy", "dee", "eli", "fay", "gus", "hal", "ivy", "jo")

_WEEKLY = {
    "digest": {"hour": 19, "minute": 0, "weekly": {"day": "tuesday"}},
    "frequencies": {"comment": "weekly"},
}


@contextmanager
def stage_on_friday() -> Iterator[tuple[Cloud, SettableClock]]:
    """Yield the stage and its clock. Move the clock by three minutes before each page.

    The page hides the messages that it reads, and moto does not show them again, because it counts
    the longest visibility timeout from the time at which a message was sent.
    """
    clock = SettableClock(TUESDAY - timedelta(hours=3))
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        build_templates(ROOT / "templates", Path(folder) / "gazette_templates")
        patch.syspath_prepend(folder)
        patch.setattr(Context, "invoked_function_arn", ARN)
        patch.setattr(queues, "POLL", 0)
        _set_clocks(patch, clock)
        patch.setattr(logger().registered_handler, "stream", io.StringIO())
        with redirect_stdout(io.StringIO()), account(patch) as cloud:
            _tell(cloud, clock, patch)
            yield cloud, clock
        make_cold()


def _set_clocks(patch: pytest.MonkeyPatch, clock: SettableClock) -> None:
    """Give the clock to each module that reads the system's, to messages of services and to SQS."""
    by_system = system.now
    for module in [*sys.modules.values()]:
        if vars(module).get("now") is by_system:
            patch.setattr(module, "now", clock)
    patch.setattr(messages, "_NOW", clock())
    patch.setattr(moto_sqs, "unix_time", lambda: clock().timestamp())
    patch.setattr(moto_sqs, "unix_time_millis", lambda: clock().timestamp() * 1000)


def _tell(cloud: Cloud, clock: SettableClock, patch: pytest.MonkeyPatch) -> None:
    sqs = stage_queues(cloud)
    for url in sqs.urls.values():
        fourteen_days = {"MessageRetentionPeriod": "1209600"}
        sqs.client.set_queue_attributes(QueueUrl=url, Attributes=fourteen_days)
    patch.setenv("GAZETTE_QUARANTINE_QUEUE_URL", sqs.urls["quarantine"])
    cloud.answers["SendEmail"] = _send
    for number, reader in enumerate(READERS):
        cloud.say("subscriber.changed", profile(reader, name=reader.capitalize(), **_WEEKLY))
        cloud.say("event.created", event(number, user_id=reader))
    clock.now = TUESDAY
    runs = {body.split('"')[3]: body for body in fan_out(cloud, "ann", "weekly")}
    put(cloud, sqs, "generate-dead", *(runs[reader] for reader in READERS))
    for message in moto_backend("sqs").queues["gazette-prod-generate-dead"]._messages:
        message.approximate_receive_count = 16
    clock.pass_time(hours=2)
    for reader in (*SENT, UNKNOWN):
        cloud.work("generate", runs[reader])
    clock.pass_time(days=1)
    cloud.set_status(UNSUBSCRIBED, SubscriberStatus.UNSUBSCRIBED)
    cloud.say("event.created", {**event(91), "user_id": ""}, {**event(92), "stars": 5})
    for queue in moto_backend("sqs").queues.values():
        for number, message in enumerate(queue._messages):
            message.id = f"{number:08x}-{TUESDAY:%H%M}-4{TUESDAY:%j}-8000-0000000000{number:02x}"
    clock.now = FRIDAY


def _send(request: dict[str, Any]) -> dict[str, str]:
    (address,) = request["Destination"]["ToAddresses"]
    if address.startswith(UNKNOWN):
        raise ReadTimeoutError(endpoint_url="https://email.us-east-1.amazonaws.com")
    return {"MessageId": "0100019ab5c1d2e3"}
