"""The metrics that the functions of a stage have written to CloudWatch."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

NAMESPACE = "Gazette"

_PATIENCE = Patience(connect=1, read=5, attempts=2)
"""Less than the time-out of the function, so that the other parts of a page are shown."""


class StageMetrics:
    """A reader of the metrics of a stage."""

    def __init__(self, stage: str) -> None:
        self._service = f"gazette-{stage}"

    def read(
        self, statistics: Mapping[str, str], *, since: datetime, until: datetime, period: timedelta
    ) -> dict[str, list[tuple[datetime, float]]]:
        """Return the points of each metric by name, oldest first. Raises Unavailable.

        One GetMetricData for up to 100,800 points. AWS charges for each metric, not for each point.
        `statistics` has the statistic of each metric. A metric without a value has no points.
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
        """
        names = dict(enumerate(statistics))
        queries: list[Any] = [
            {
                "Id": f"m{number}",
                "MetricStat": {
                    "Metric": {
                        "Namespace": NAMESPACE,
                        "MetricName": name,
                        "Dimensions": [{"Name": "service", "Value": self._service}],
                    },
                    "Period": int(period.total_seconds()),
                    "Stat": statistics[name],
                },
            }
            for number, name in names.items()
        ]
        try:
            cloudwatch: CloudWatchClient = client("cloudwatch", _PATIENCE)
            answer = cloudwatch.get_metric_data(
                StartTime=since,
                EndTime=until,
                ScanBy="TimestampAscending",
                MetricDataQueries=queries,
            )
        except (BotoCoreError, ClientError, ValueError) as err:  # ValueError: an invalid endpoint
            raise Unavailable(f"The metrics cannot be read: {err}") from err
        return {
            names[int(result["Id"].removeprefix("m"))]: [
                *zip(result["Timestamps"], result["Values"], strict=True)
            ]
            for result in answer["MetricDataResults"]
        }
