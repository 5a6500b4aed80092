"""The outbox function, which publishes events out about changed rows."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.outbox import build
from gazette.bootstrap.parts.init import during_init
from gazette.observability import logger, observed
from gazette.run_metrics import record_unreadable_rows


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Publish the events of a batch of a stream.

    If an event cannot be published, the error makes Lambda repeat or halve the whole batch.
    """
    with observed(context):
        records = event["Records"]
        published = build()(records)
        record_unreadable_rows(published.unreadable)
        logger().info("changes published", records=len(records), events=published.events)


during_init(build)
