"""What the tables have of an address, and what happens to messages if its key cannot be read."""

import io
from collections.abc import Callable

import boto3
import pytest
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.subscriber import SubscriberStatus

from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.messages import bounce, complaint, envelope, event, http, profile, records

ANN = address_hash("ann@example.com")


def replace_key(content: str) -> None:
    """Change what the secret holds, and let every function begin anew."""
    boto3.client("secretsmanager").put_secret_value(SecretId="suppressions", SecretString=content)
    make_cold()


def delete_key() -> None:
    boto3.client("secretsmanager").delete_secret(
        SecretId="suppressions", ForceDeleteWithoutRecovery=True
    )
    make_cold()


@pytest.mark.parametrize("said", [bounce(), complaint()])
def test_attack_copy_of_the_tables_cannot_be_queried_for_an_address(
    cloud: Cloud, said: str
) -> None:
    """Of a suppressed address nothing is there that anybody could make of it without the key."""
    cloud.say("subscriber.changed", profile())
    cloud.work("feedback", bounce(kind="Transient"), said)
    kept = [*cloud.rows("suppressions"), *cloud.rows("bounces")]
    assert len(kept) == 2
    assert {row["address_hash"][0] for row in kept} == {"h"}
    assert len({row["address_hash"] for row in kept}) == 1
    assert ANN not in repr(kept)
    assert "ann@" not in repr(kept)
    assert ANN not in repr([cloud.rows(table) for table in ("subscribers", "runs", "engagement")])


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("spoil", [delete_key, lambda: replace_key("p4ssw0rd")])
def test_attack_missing_key_does_not_disable_suppressions(
    cloud: Cloud, spoil: Callable[[], None], logs: io.StringIO
) -> None:
    """Each message fails, and comes again; who follows a link is told that something went wrong."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (run,) = fan_out(cloud)
    left = cloud.link("unsubscribe")
    cloud.work("feedback", complaint())
    spoil()
    for step, body in (
        ("generate", run),
        ("resend", run),
        ("feedback", complaint()),
        ("ingest", envelope("subscriber.changed", profile("bo", email="ann@example.com"))),
    ):
        answer = cloud.invoke(step, records(body))
        assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}, step
    with pytest.raises(Exception, match="suppression key"):
        cloud.invoke("preferences", http("POST", left))
    assert not cloud.sent()
    assert cloud.reader().status is SubscriberStatus.SUPPRESSED
    assert len(cloud.rows("subscribers")) == 1
    assert "p4ssw0rd" not in logs.getvalue()


def test_suppression_key_is_read_once_per_process(cloud: Cloud) -> None:
    make_cold()
    cloud.meter.clear()
    cloud.say("subscriber.changed", profile(), profile("bo"), profile("cy"))
    assert cloud.meter.calls["secretsmanager.GetSecretValue"] == 1
    cloud.work("feedback", bounce(), complaint())
    assert cloud.meter.calls["secretsmanager.GetSecretValue"] == 2
