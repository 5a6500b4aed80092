"""A message that failed is received again within a minute, by the clock of the engine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic, sleep

import pytest

from demo.written import written
from tests.e2e.test_comes_back import row
from tests.stage import Deployed, a_comment, a_profile, next_due

pytestmark = pytest.mark.long

_NOBODY = "http://127.0.0.1:9"
"""Port 9 discards; no server listens there."""

_SOONEST, _LATEST = timedelta(seconds=10), timedelta(seconds=75)
"""It is hidden for 10 to 60 s; then it has to be polled, and the email to be made."""


def failures(deployed: Deployed) -> Sequence[datetime]:
    """When messages failed in generate, by its own clock, the first one first."""
    found = written(deployed.service, "generate")
    return sorted(each.at for each in found if each.name == "failed")


@contextmanager
def without_tables(deployed: Deployed) -> Iterator[None]:
    """Generate cannot reach DynamoDB meanwhile."""
    settings = deployed.service.settings("generate")
    function = f"{deployed.service.prefix}-generate"
    broken = {**settings, "AWS_ENDPOINT_URL_DYNAMODB": _NOBODY}
    deployed.service.change(function, Environment={"Variables": broken})
    try:
        yield
    finally:
        deployed.service.change(function, Environment={"Variables": settings})


def test_digest_is_sent_within_a_minute_after_a_table_failure(
    deployed: Deployed,
) -> None:
    """Without ChangeMessageVisibility it would come back after twelve."""
    deployed.service.put("subscriber.changed", [a_profile("max")])
    deployed.service.put("event.created", [a_comment("max", 1)])
    deployed.settle()
    before = len(failures(deployed))
    with without_tables(deployed):
        deployed.service.tick(next_due())
        until = monotonic() + 60
        while len(failures(deployed)) == before:
            assert monotonic() < until, "nothing has failed"
            sleep(0.2)
    deployed.service.wait_until_drained("generate", within=_LATEST.total_seconds())
    assert len(deployed.inbox("max")) == 1
    sent_at = row(deployed, "runs", user_id="max", run="daily#0000000001")["sent_at"]
    waited = datetime.fromisoformat(sent_at) - failures(deployed)[before]
    assert _SOONEST <= waited <= _LATEST
