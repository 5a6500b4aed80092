"""The usage from which the cost of a stage is estimated."""

import math
from dataclasses import dataclass

from gazette.domain.delivery.batching import COLLECTING, are_sent_together
from gazette.domain.delivery.pace import ASSUMED_QUOTA, QUOTA_SHARE

from gazette_cdk.concurrency import MOST_REPORTS, Size, sending, sending_memory
from gazette_cli.cost.assumptions import (
    AN_EMAIL_ALONE,
    AROUND_AN_EVENT,
    MONTH,
    POLLERS,
    REQUEUED_ALONE,
    REQUEUED_FAST,
)

_CHUNK = 65_536
"""The number of bytes that EventBridge and SQS bill as one unit.
https://aws.amazon.com/eventbridge/pricing/
"""

_AROUND_AN_ENTRY = 400
"""The number of bytes that EventBridge adds to the detail of an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """The averages of sending the emails of a stream."""

    # Emails per invocation.
    together: float

    # Lambda seconds per email.
    seconds: float

    # Requeues per email.
    requeues: float

    # Emails that share the reads after their permits.
    share_reads: float = 1


def digests_at(rate: float, size: Size) -> Sending:
    """Return how digests are sent in a full slot.

    `rate` is the rate of the stream in emails per second, and `size` the size of generate. If an
    invocation sends several emails, all workers are busy during a full slot, because they wait for
    their permits.
    """
    if size.batch == 1:
        return Sending(together=1, seconds=AN_EMAIL_ALONE, requeues=REQUEUED_ALONE)
    are_near = are_sent_together(rate)
    return Sending(
        together=size.batch,
        seconds=size.concurrency / rate,
        requeues=REQUEUED_FAST if are_near else 0,
        share_reads=size.batch if are_near else 1,
    )


def default_rate(quota: float) -> float:
    """Return the rate of digests with the default settings, in emails per second. `quota` is the
    account's maximum number of emails per second.
    """
    return QUOTA_SHARE * quota * 80 / 100


def reports_together(rate: float) -> int:
    """Return the number of delivery events per invocation of feedback in a full slot.

    `rate` is the number of emails per second. Each email has two delivery events, and each of
    Lambda's pollers collects them for 20 seconds (the default of `feedback_window`).
    """
    collected = 2 * rate * COLLECTING.total_seconds() / POLLERS
    return min(MOST_REPORTS, max(1, int(collected)))


_DEFAULT_RATE = default_rate(ASSUMED_QUOTA)

DEFAULT_SENDING = digests_at(_DEFAULT_RATE, sending(_DEFAULT_RATE))
"""The averages of digests with the default settings."""

ALONE_SENDING = Sending(together=1, seconds=AN_EMAIL_ALONE, requeues=0)
"""The averages of immediate emails, which arrive one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage of a stage. A field that has the name of a setting also has the meaning of that
    setting.
    """

    readers: float

    # Events per reader per day.
    events: float = 10

    # Digests per reader per day.
    digests: float = 1

    # The share of digests whose schedule had no events at the previous occurrence.
    quiet: float = 0

    # The share of events that are sent as immediate email.
    immediate: float = 0

    # Events per PutEvents entry.
    listed: int = 100

    # The size of an event as JSON, in bytes.
    size: int = 400

    # New items of a content source per digest, or 0 without a source.
    items: float = 0

    # Categories per email.
    categories: float = 1

    # Activity events per reader per month.
    signs: float = 4

    # Visits (entity.seen) and mutes per reader per month, each published individually.
    visits: float = 0
    mutes: float = 0

    # The share of events that readers see before their email.
    seen: float = 0

    # The share of immediate emails that wait for the end of quiet hours.
    quiet_share: float = 0

    # True if the stage limits the immediate emails of a reader.
    limited: bool = False

    # Events out per email: those that it was sent and delivered. Few emails cause others.
    events_out: float = 0

    # Changes of rows per email that the outbox function gets.
    changes_out: float = 0

    # Requests to the API for services per reader per month, by operation id and number.
    requests: tuple[tuple[str, float], ...] = ()

    # The number of days to estimate the cost for.
    days: float = 30

    # Messages per invocation of ingest.
    together: int = 10

    # Delivery events per invocation of feedback.
    reports_together: int = reports_together(_DEFAULT_RATE)

    # The averages of sending digests and immediate emails. They depend on the rate.
    digests_sent: Sending = DEFAULT_SENDING
    immediate_sent: Sending = ALONE_SENDING

    # The memory of generate in MB. It also depends on the rate.
    generate_memory: int = sending_memory(_DEFAULT_RATE)

    # The price plan of SES.
    plan: str = "none"

    # True if SES is the mail provider.
    by_ses: bool = True

    report_deliveries: bool = True
    category_hold: bool = True
    dashboard: bool = True

    # The number of other dashboards in the account.
    other_dashboards: int = 0

    # The number of times per day that people look at the dashboards.
    looks: float = 20
    restorable: tuple[str, ...] = ("runs",)
    run_retention_days: int = 200

    @property
    def all_events(self) -> float:
        """The number of published events."""
        return self.readers * self.events * self.days

    @property
    def at_once(self) -> float:
        """The number of immediate emails, one per event."""
        return self.all_events * self.immediate

    @property
    def quiet_waits(self) -> float:
        """The number of immediate emails that wait for the end of quiet hours."""
        return self.at_once * self.quiet_share

    @property
    def sent_digests(self) -> float:
        """The number of digests sent."""
        return self.readers * self.digests * self.days

    @property
    def fetches(self) -> float:
        """The number of requests to a content source, one per digest."""
        return self.sent_digests if self.items else 0

    @property
    def emails(self) -> float:
        """The number of emails in both streams (digests and immediate emails)."""
        return self.sent_digests + self.at_once

    @property
    def sending(self) -> float:
        """The number of generate invocations that send email."""
        return (
            self.sent_digests / self.digests_sent.together
            + self.at_once / self.immediate_sent.together
        )

    @property
    def requeued(self) -> float:
        """The number of times that generate requeues a run."""
        return (
            self.sent_digests * self.digests_sent.requeues
            + self.at_once * self.immediate_sent.requeues
        )

    @property
    def signals(self) -> float:
        """The number of messages about activity, visits and mutes, each published individually."""
        return self.per_month(self.signs + self.visits + self.mutes)

    def per_month(self, each: float) -> float:
        """Return the total number, if each reader has `each` in a month."""
        return self.readers * each * self.days / MONTH

    @property
    def published(self) -> float:
        """The number of events out."""
        return self.emails * self.events_out

    @property
    def changes(self) -> float:
        """The number of changes that the outbox function gets."""
        return self.emails * self.changes_out

    @property
    def in_a_digest(self) -> float:
        """The number of events in a digest, including items from content sources."""
        later = self.all_events - self.at_once
        return later / self.sent_digests + self.items if self.sent_digests else 0

    @property
    def row(self) -> int:
        """The size of an event's row, in bytes."""
        return self.size + AROUND_AN_EVENT

    @property
    def entry(self) -> int:
        """The size in bytes of a PutEvents entry after delivery by EventBridge."""
        return self.listed * (self.size + 1) + _AROUND_AN_ENTRY

    @property
    def entries(self) -> float:
        """The number of PutEvents entries."""
        return self.all_events / self.listed

    @property
    def reports(self) -> float:
        """The number of delivery events, excluding the few bounces and complaints."""
        return self.emails * (1 + self.report_deliveries) if self.by_ses else 0


def chunks(size: float) -> int:
    """Return the number of units that EventBridge and SQS bill for a message of `size` bytes."""
    return max(1, math.ceil(size / _CHUNK))
