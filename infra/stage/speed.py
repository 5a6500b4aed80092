"""How fast."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.settings.concurrency import LEAST, MOST
from gazette.settings.ranges import Range

from infra.stage.checks.wrong import Wrong, out_of_range
from infra.topology import STEPS

_WINDOW = Range(0, 60)
"""Seconds. SQS allows 300; more than a minute would delay what somebody waits for."""

_RANGES = {
    "ingest_window": _WINDOW,
    "feedback_window": _WINDOW,
    "account_concurrency": Range(10, because="no account has less"),
}


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast."""

    emails_per_second: int = 0
    """[emails a second] The rate of all workers together. 0: nine tenths of the SES quota.

    0 to 5000: every ten emails write one DynamoDB row. Required with `smtp`, at most 500 then."""

    immediate_share: int = 20
    """[per cent] The part of the rate, of the ramp and of each day that is for immediate emails.

    1 to 99. Neither stream uses what the other leaves."""

    ramp_from: int = 10
    """[emails a second] The rate after a pause; it doubles while there is work. 0: no ramp.

    0 to 10,000."""

    ramp_every: int = 30
    """[seconds] How long until the rate of the ramp doubles.

    15 to 3,600."""

    warmup_from: str = ""
    """The first day of a new sending domain, such as `2026-11-21`, in UTC. Empty: no warm-up.

    Anything but a date is refused."""

    warmup_daily: int = 200
    """[emails] How many may go out on the first day of the warm-up; doubled each day, for a month.

    1 to 1,000,000. Too many: mailbox providers may refuse email of the new domain."""

    spread: int = 600
    """[seconds] The longest random delay of a digest, so that a slot's emails are not made at once.

    0 to 900, the longest delay of SQS."""

    concurrency: dict[str, int] = field(default_factory=dict)
    """How many invocations may run at once, by function, such as `{"generate": 40}`; `immediate`
    are those of generate for immediate emails. A function that is not named: by the rate.

    2 to 1,000 of `ingest`, `followers`, `fanout`, `generate`, `immediate`, `resend`, `feedback` and
    `sweep`. Too few: email goes out more slowly than `emails_per_second`. Too many: runs ask for
    permits in vain."""

    account_concurrency: int = 1000
    """[invocations] How many functions may run at once in the account, of all stages and services.
    A new account may have as few as 10.

    10 or more. If it is more than the account has, functions are throttled; if the functions of the
    stage may take more than this, synthesis warns and says what to lower. An alarm fires when more
    than 90 % of it is taken."""

    ingest_window: int = 0
    """[seconds] How long Lambda gathers events for one invocation of ingest.

    0 to 60. Any but 0 makes fewer invocations of single events, and delays events and immediate
    emails: where little happens, by up to 20 seconds, however short it is."""

    feedback_window: int = 20
    """[seconds] How long Lambda gathers delivery events for one invocation of feedback.

    0 to 60, and half of `evidence_grace` at most. Longer: bounces, complaints and evidence are
    known later. Where little happens, Lambda may gather for 20 seconds, however short it is; with 0
    it does not wait, and makes more invocations."""

    shards: int = 16
    """[shards] Parts of the readers that fan-out reads side by side. You may change it at any time.

    1 to 256. Too few: one shard manages some 20,000 readers a slot, and fan-out is late
    (alarm `shards-late`)."""


def wrong_with_speed(speed: Speed) -> Iterator[Wrong]:
    """What no stage may say of how fast it goes."""
    yield from out_of_range(speed, _RANGES)
    known = [each for step in STEPS if step.queue for each in (step.name, *step.beside)]
    for name, number in speed.concurrency.items():
        if name not in known or type(number) is not int or not LEAST <= number <= MOST:
            yield Wrong(
                f"concurrency must give some of {', '.join(known)} a number of {LEAST} to {MOST}, "
                f"not {name!r} {number!r}.",
                of=("concurrency",),
            )
