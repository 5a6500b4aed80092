"""Whether a stage works: the clock reaches it, it keeps up, and no stream is stopped."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.scheduling.calendar import SLOT

from cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from cli.doctor.work_facts import WorkFacts
from cli.shared.answers import moment
from cli.shared.next_commands import to_run
from cli.shared.pace import stopped_text

_LATE = 2 * SLOT + timedelta(minutes=5)
"""How long after the beginning of a slot a shard may take: the tick comes with the next slot."""


def check_work(facts: WorkFacts) -> Iterator[Finding]:
    """Ticks, sweeps and circuit breakers."""
    yield check_ticks(facts.checkpoints, shards=facts.shards, ticks=facts.ticks, now=facts.now)
    yield check_invoked("sweep", facts.sweeps, ticks=facts.ticks)
    yield from check_breakers(facts.streams, stage=facts.stage)


def check_ticks(
    checkpoints: Mapping[int, datetime] | Unseen | None, *, shards: int, ticks: bool, now: datetime
) -> Finding:
    """Whether fan-out keeps up with the clock, by what each shard has finished."""
    page = "docs/runbook/fanout-silent.md"
    if not ticks:
        return ok("last tick", "the clock is off, as `ticks` says")
    if checkpoints is None or isinstance(checkpoints, Unseen):
        return unseen("last tick", checkpoints or Unseen("there is no table `control`"))
    missing = [shard for shard in range(shards) if shard not in checkpoints]
    if missing:
        todo = "Wait for the next tick, at most ten minutes; then look at gazette's fan-out."
        seen = f"{len(missing)} of {shards} shards have finished no slot yet"
        return warning("last tick", seen, todo, page)
    last = min(checkpoints[shard] for shard in range(shards))
    if now - last > _LATE:
        todo = "Look at the schedule Tick, the log of fan-out and the queue shard."
        return problem("last tick", f"a shard has done nothing since {moment(last)}", todo, page)
    return ok("last tick", f"every shard has finished {moment(last)}")


def check_invoked(name: str, number: int | Unseen | None, *, ticks: bool) -> Finding:
    """Whether the clock reaches a function, by what Lambda counts in half an hour."""
    check = f"last {name}"
    if not ticks:
        return ok(check, "the clock is off, as `ticks` says")
    if number is None or isinstance(number, Unseen):
        return unseen(check, number or Unseen("CloudWatch has no such metric"))
    if number == 0:
        todo = "Look at the schedule SweepTick of EventBridge Scheduler and at the function's log."
        page = "docs/runbook/sweep-silent.md"
        return problem(check, "no invocation in half an hour", todo, page)
    return ok(check, f"{number} invocations in half an hour")


def check_breakers(found: Streams[PaceReading] | Unseen | None, *, stage: str) -> list[Finding]:
    """Whether a stream is stopped, by a person or by what the provider said."""
    if found is None or isinstance(found, Unseen):
        return [unseen("breakers", found or Unseen("there is no table `pace`"))]
    both = (("digest", found.digest), ("immediate", found.immediate))
    return [_breaker(f"breaker {name}", each.breaker, stage) for name, each in both]


def _breaker(check: str, breaker: OpenBreaker | None, stage: str) -> Finding:
    if breaker is None:
        return ok(check, "closed")
    resume, seen = to_run("sending resume", stage=stage), stopped_text(breaker)
    if breaker.by_hand:
        return warning(check, seen, f"`{resume}` resumes.", "docs/runbook/stop-all-email.md")
    todo = f"Mend the cause; `{resume}` resumes at once."
    return problem(check, seen, todo, "docs/runbook/breaker-opened.md")
