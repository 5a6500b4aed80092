"""The sweep function, which recovers lost runs and resolves unknown outcomes every five minutes."""

from collections import Counter
from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.bootstrap.sweep import build_audit, build_begin, build_standing, build_sweep
from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.identity import run_id
from gazette.observability import (
    Message,
    TimeLeft,
    count,
    each_message,
    logger,
    measure_seconds,
    observed,
)
from gazette.run_metrics import record_unreadable_rows


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
    swept: Counter[str] = Counter()
    unreadable: list[str] = []
    for key, what in build_sweep()(message.body, time_left):
        swept[what.value] += 1
        if isinstance(key, UnreadableRow):
            unreadable.append(str(key))
        elif what.is_decision:
            logger().warning("unknown outcome decided", correlation_id=run_id(key), decision=what)
    for name, number in swept.items():
        count(f"swept_{name}", number)
    record_unreadable_rows(unreadable)
    standing = build_standing()(message.body, time_left)
    measure_seconds("oldest_due_age", standing.age)
    count("held_by_day", standing.held_by_day)
    if standing.is_cut_off:
        logger().warning("too many open runs to read all", partition=message.body)
    count("partitions_swept")
    logger().info("partition swept", partition=message.body, swept=swept)
    _audit(message.body, time_left)


def _audit(body: str, time_left: TimeLeft) -> None:
    audited = build_audit()(body, time_left)
    count("audited", audited.idle)
    count("audit_armed", len(audited.armed))
    record_unreadable_rows(audited.unreadable)
    for schedule in audited.armed:
        logger().error(
            "events waited in an idle schedule",
            user_id=schedule.user_id,
            schedule=schedule.name,
            next_due_at=schedule.next_due_at.isoformat(),
        )
    if audited.is_cut_off:
        raise NotYet("There was too little time to audit every idle schedule of this turn.")


during_init(build_begin, build_sweep, build_standing, build_audit)
