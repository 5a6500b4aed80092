"""The metrics of a stage, read from moto."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.aws.stage_metrics import NAMESPACE, StageMetrics
from gazette.domain.errors import Unavailable
from moto import mock_aws

from tests.credentials import set_credentials

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
PERIOD = timedelta(minutes=5)


def put(name: str, value: float, at: datetime, *, stage: str = "prod") -> None:
    boto3.client("cloudwatch").put_metric_data(
        Namespace=NAMESPACE,
        MetricData=[
            {
                "MetricName": name,
                "Dimensions": [{"Name": "service", "Value": f"gazette-{stage}"}],
                "Timestamp": at,
                "Value": value,
            }
        ],
    )


def read() -> dict[str, list[float]]:
    points = StageMetrics("prod").read(
        {"due": "Sum", "oldest_due_age": "Maximum"},
        since=NOW - timedelta(days=1),
        until=NOW,
        period=PERIOD,
    )
    return {name: [value for _, value in each] for name, each in points.items()}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    set_credentials(monkeypatch)
    forget()
    with mock_aws():
        yield
    forget()


def test_points_of_a_period_are_combined_and_oldest_first() -> None:
    for minutes, value in ((60, 3.0), (59, 4.0), (10, 1.0)):
        put("due", value, NOW - timedelta(minutes=minutes))
        put("oldest_due_age", value, NOW - timedelta(minutes=minutes))
    put("due", 100, NOW - timedelta(minutes=10), stage="test")
    put("due", 100, NOW - timedelta(days=2))
    assert read() == {"due": [7, 1], "oldest_due_age": [4, 1]}


def test_metric_without_a_value_has_no_points() -> None:
    assert read() == {"due": [], "oldest_due_age": []}


def test_metrics_that_cannot_be_read_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH", "no address")
    with pytest.raises(Unavailable, match="The metrics cannot be read"):
        read()
