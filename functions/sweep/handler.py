"""The sweep function, which recovers lost runs and resolves unknown outcomes every five minutes."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.bootstrap.sweep import build_audit, build_begin, build_standing, build_sweep
from gazette.domain.errors import NotYet
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed
from gazette.run_metrics import record_audit, record_standing, record_swept


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Handle a tick, such as `{"time": …}`, or records from the sweep queue."""
    with observed(context):
        if "Records" not in event:
            late = build_begin()(datetime.fromisoformat(event["time"]))
            count("late_shards", late)
            logger().info("sweep begun", time=event["time"], late_shards=late)
            return {"late_shards": late}
        return each_message(event, context, _sweep, come_back=come_back)


def _sweep(message: Message, time_left: TimeLeft) -> None:
    partition = message.body
    swept = record_swept(build_sweep()(partition, time_left))
    record_standing(build_standing()(partition, time_left), partition)
    count("partitions_swept")
    logger().info("partition swept", partition=partition, swept=swept)
    audited = build_audit()(partition, time_left)
    record_audit(audited)
    if audited.is_cut_off:
        raise NotYet("There was too little time to audit every idle schedule of this turn.")


during_init(build_begin, build_sweep, build_standing, build_audit)
