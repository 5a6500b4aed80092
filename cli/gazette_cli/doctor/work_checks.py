"""Checks of ticks, sweeps and circuit breakers."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.scheduling.instants import moment

from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from gazette_cli.doctor.work_facts import SPAN, WorkFacts
from gazette_cli.shared.next_commands import to_run
from gazette_cli.shared.pace import stopped_text

_LATE = 2 * SLOT + timedelta(minutes=5)
"""The maximum age of the last slot that a shard finished. If the slot is older, the shard is late.
"""


def check_work(facts: WorkFacts, *, schedule_changed_at: datetime | None) -> Iterator[Finding]:
    """Check ticks, sweeps and circuit breakers.

    `schedule_changed_at` is the last change of the sweep's schedule, or None if it is unknown.
    """
    yield check_ticks(facts.checkpoints, shards=facts.shards, ticks=facts.ticks, now=facts.now)
    is_new = schedule_changed_at is not None and facts.now - schedule_changed_at < SPAN
    yield check_invoked("sweep", facts.sweeps, ticks=facts.ticks, is_new=is_new)
    yield from check_breakers(facts.streams, stage=facts.stage)


def check_ticks(
    checkpoints: Mapping[int, datetime] | Unseen | None, *, shards: int, ticks: bool, now: datetime
) -> Finding:
    """Check that fan-out keeps up, based on the last slot that each shard has finished."""
    page = "docs/runbook/fanout-silent.md"
    if not ticks:
        return ok("last tick", "disabled by the `ticks` setting")
    if checkpoints is None or isinstance(checkpoints, Unseen):
        return unseen("last tick", checkpoints or Unseen("the `control` table does not exist"))
    missing = [shard for shard in range(shards) if shard not in checkpoints]
    if missing:
        todo = "Wait up to ten minutes for the next tick. Then check the log of fan-out."
        seen = f"{len(missing)} of {shards} shards have not finished a slot yet"
        return warning("last tick", seen, todo, page)
    last = min(checkpoints[shard] for shard in range(shards))
    if now - last > _LATE:
        todo = "Check the Tick schedule, the log of fan-out and the `shard` queue."
        return problem(
            "last tick",
            (f"a shard is late; the last slot that it finished is {moment(last)}"),
            todo,
            page,
        )
    return ok("last tick", f"every shard has finished the slot {moment(last)}")


def check_invoked(
    name: str, number: int | Unseen | None, *, ticks: bool, is_new: bool = False
) -> Finding:
    """Check that a function was invoked in the last half hour.

    `is_new` means that the schedule was deployed or enabled in the last half hour.
    """
    check = f"last {name}"
    if not ticks:
        return ok(check, "disabled by the `ticks` setting")
    if number is None or isinstance(number, Unseen):
        return unseen(check, number or Unseen("the metric does not exist in CloudWatch"))
    if number == 0:
        where = "the SweepTick schedule in EventBridge Scheduler, and the function's log"
        page = "docs/runbook/sweep-silent.md"
        if is_new:
            todo = f"Wait up to half an hour for the first invocation. Then check {where}."
            return warning(check, "no invocation yet", todo, page)
        return problem(check, "no invocation in half an hour", f"Check {where}.", page)
    return ok(check, f"{number} invocations in half an hour")


def check_breakers(paces: Streams[PaceReading] | Unseen | None, *, stage: str) -> list[Finding]:
    """Check that no stream was stopped, manually or automatically."""
    if paces is None or isinstance(paces, Unseen):
        return [unseen("breakers", paces or Unseen("the `pace` table does not exist"))]
    both = (("digest", paces.digest), ("immediate", paces.immediate))
    return [_breaker(f"breaker {name}", each.breaker, stage) for name, each in both]


def _breaker(check: str, breaker: OpenBreaker | None, stage: str) -> Finding:
    if breaker is None:
        return ok(check, "closed")
    resume, seen = to_run("sending resume", stage=stage), stopped_text(breaker)
    if breaker.by_hand:
        todo = f"To resume sending, run `{resume}`."
        return warning(check, seen, todo, "docs/runbook/stop-all-email.md")
    todo = f"Fix the cause. To resume sending immediately, run `{resume}`."
    return problem(check, seen, todo, "docs/runbook/breaker-opened.md")
