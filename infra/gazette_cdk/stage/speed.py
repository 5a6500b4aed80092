"""Settings of rates, concurrency and batching."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.settings.ranges import Range

from gazette_cdk.concurrency import LEAST, MOST
from gazette_cdk.stage.checks.wrong import Wrong, out_of_range
from gazette_cdk.topology import CONTENT, STEPS

_RANGES = {"account_concurrency": Range(10, because="no account has less")}


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Rates and concurrency."""

    emails_per_second: int = 0
    """[emails a second] The maximum sending rate of all workers combined. 0: nine tenths of the SES
    quota.

    0 to 5000, because all workers write to the same DynamoDB row, once for every ten emails. With
    `smtp`, the setting is required and must be at most 500.
    """

    immediate_share: int = 20
    """[per cent] The share of immediate emails in the sending rate, the ramp and the daily quota.

    1 to 99. Digests and immediate emails never use each other's unused share.
    """

    ramp_from: int = 10
    """[emails a second] The initial sending rate after a pause. The rate doubles every 30 seconds
    while emails are waiting. 0: no ramp.

    0 to 10,000.
    """

    warmup_from: str = ""
    """The first day (in UTC) on which a new domain sends email, such as `2026-11-21`. Empty: no
    warm-up.

    Must be a date.
    """

    warmup_daily: int = 200
    """[emails] The maximum number of emails on the first day of the warm-up. The limit doubles each
    day for a month.

    1 to 1,000,000. Too many: mailbox providers may reject email of the new domain.
    """

    spread: timedelta = timedelta(minutes=10)
    """The maximum random delay of a digest, which spreads the work of a slot.

    0 to 900, which is the maximum delay in SQS.
    """

    concurrency: dict[str, int] = field(default_factory=dict)
    """The maximum concurrency of functions, such as `{"generate": 40}`. `immediate` is the part of
    generate that sends immediate emails. `content` is also the maximum number of concurrent
    requests to the recommendation service, which is 10 by default. By default, Gazette derives the
    concurrency of each other function from the sending rate.

    2 to 1,000 for each of `ingest`, `followers`, `fanout`, `generate`, `immediate`, `resend`,
    `feedback`, `sweep` and `content`. Too low: email goes out more slowly than `emails_per_second`,
    or Gazette cannot reach `recommendations_per_second`. For example, 10 requests a second that
    take 2 seconds each need 20. Too high: workers request permits that they do not get.
    """

    account_concurrency: int = 1000
    """[invocations] The concurrency limit of the AWS account, for all stages and services. A new
    account may have a limit of only 10.

    10 or more. If the setting is higher than the real limit, functions are throttled. Synthesis
    warns if the functions of the stage may exceed the limit, and names the settings to lower. An
    alarm fires when more than 90 % is in use."""

    ingest_window: timedelta = timedelta(0)
    """The batching window of ingest: the time for which Lambda collects events for one invocation.

    0 to 60. Any value except 0 reduces invocations, but delays events and immediate emails. In a
    quiet stage the delay is up to 20 seconds, even with a shorter window.
    """

    feedback_window: timedelta = timedelta(seconds=20)
    """The batching window of feedback: the time for which Lambda collects delivery events for one
    invocation.

    0 to 60, and at most half of `evidence_grace`. With a longer window, bounces, complaints and
    evidence are processed later. In a quiet stage Lambda may collect for 20 seconds, even with a
    shorter window. With 0, Lambda does not wait, and invokes the function more often, with at most
    10 instead of 25 delivery events.
    """

    shards: int = 16
    """[shards] The number of shards into which readers are divided. Fan-out reads the shards in
    parallel. You may change the number at any time.

    1 to 256. A shard handles about 20,000 readers per slot. Too few: fan-out is late (alarm
    `shards-late`).
    """


def wrong_with_speed(speed: Speed) -> Iterator[Wrong]:
    """Yield the problems with the settings of rates and concurrency."""
    yield from out_of_range(speed, _RANGES)
    steps = (*STEPS, CONTENT)
    known = [each for step in steps if step.queue for each in (step.name, *step.beside)]
    for name, number in speed.concurrency.items():
        if name not in known or type(number) is not int or not LEAST <= number <= MOST:
            yield Wrong(
                f"concurrency must give functions ({', '.join(known)}) a number from {LEAST} to "
                f"{MOST}, not {name!r} {number!r}.",
                of=("concurrency",),
            )
