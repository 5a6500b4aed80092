"""The fan-out function, which queues the shards at each clock tick and processes queued shards."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.fanout import build_fan_out, build_is_beat, build_learn_quota, build_tick
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.domain.errors import Unavailable
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed
from gazette.run_metrics import record_skipped, record_unreadable_rows


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Handle a tick, such as `{"time": …}`, or records from the shard queue."""
    with observed(context):
        if "Records" not in event:
            shards = build_tick()(datetime.fromisoformat(event["time"]))
            logger().info("tick queued", time=event["time"], shards=shards)
            _learn_quota()
            count("ticks_done")
            return {"shards": shards}
        return each_message(event, context, _fan_out, come_back=come_back)


def _learn_quota() -> None:
    """Store the account's sending quota. The tick continues if this fails."""
    try:
        quota = build_learn_quota()()
    except Unavailable as why:
        count("quota_not_learned")
        logger().warning("quota not stored", why=str(why))
    else:
        if quota:
            logger().info("quota learned", **asdict(quota))


def _fan_out(message: Message, time_left: TimeLeft) -> None:
    result = build_fan_out()(message.body, time_left)
    count("due", result.due)
    record_skipped("too_late", result.late)
    record_skipped("dormant", result.dormant)
    if result.cancelled:
        count("run_cancelled", result.cancelled)
    record_unreadable_rows(result.unreadable)
    if not result.handed_on and build_is_beat()(message.body):
        count("shards_done")
    logger().info("shard fanned out", shard=message.body, **asdict(result))


during_init(build_tick, build_fan_out)
