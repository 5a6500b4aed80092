"""An adopter's own numbers, and what follows from them."""

import math
from dataclasses import dataclass

from cli.cost.assumptions import AROUND_AN_EVENT, REQUEUED, REQUEUED_ALONE

_CHUNK = 65_536
"""Bytes that EventBridge and SQS bill as one. https://aws.amazon.com/eventbridge/pricing/"""

_AROUND_AN_ENTRY = 400
"""Bytes that EventBridge puts around a detail on its way to the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What happens in `days`.

    `readers`; `events` and `digests` of each reader in a day; `quiet`: the share of digests whose
    schedule had nothing to send at the occurrence before; `immediate`: the share of events that are
    an email of their own; `listed`: events in an entry of PutEvents; `size`: bytes of an event as
    JSON; `items`: new ones of a content source for each digest, 0 where none is asked;
    `categories` that an email shows; `signs`: signs of life of each reader in a month;
    `together`: messages in an invocation of ingest and feedback; `digests_together` and
    `immediate_together`: emails in one of generate, which follow the rate
    (docs/decisions/0053-concurrency-follows-the-rate.md). `requeues`: how often an email is
    requeued, if that is known. The rest is as the settings of that name.
    """

    readers: float
    events: float = 10
    digests: float = 1
    quiet: float = 0
    immediate: float = 0
    listed: int = 100
    size: int = 400
    items: float = 0
    categories: float = 1
    signs: float = 4
    days: float = 30
    together: int = 10
    digests_together: int = 1
    immediate_together: int = 1
    plan: str = "none"
    by_ses: bool = True
    report_deliveries: bool = True
    category_hold: bool = True
    dashboard: bool = True
    restorable: tuple[str, ...] = ("runs",)
    run_retention_days: int = 200
    requeues: float | None = None

    @property
    def all_events(self) -> float:
        """Events that services put."""
        return self.readers * self.events * self.days

    @property
    def at_once(self) -> float:
        """Immediate emails, one for each of their events."""
        return self.all_events * self.immediate

    @property
    def sent_digests(self) -> float:
        """Digests that are sent."""
        return self.readers * self.digests * self.days

    @property
    def fetches(self) -> float:
        """Requests to a content source: one for each digest."""
        return self.sent_digests if self.items else 0

    @property
    def emails(self) -> float:
        """Emails of both kinds."""
        return self.sent_digests + self.at_once

    @property
    def sending(self) -> float:
        """Invocations of generate that send."""
        return self.sent_digests / self.digests_together + self.at_once / self.immediate_together

    @property
    def requeued(self) -> float:
        """Runs that come to generate and are requeued."""
        if self.requeues is not None:
            return self.emails * self.requeues
        return self.sent_digests * _requeued(self.digests_together) + self.at_once * _requeued(
            self.immediate_together
        )

    @property
    def in_a_digest(self) -> float:
        """Events that each digest shows, items included."""
        later = self.all_events - self.at_once
        return later / self.sent_digests + self.items if self.sent_digests else 0

    @property
    def row(self) -> int:
        """Bytes of an event's row."""
        return self.size + AROUND_AN_EVENT

    @property
    def entry(self) -> int:
        """Bytes of an entry of PutEvents on its way."""
        return self.listed * (self.size + 1) + _AROUND_AN_ENTRY

    @property
    def entries(self) -> float:
        """Entries of PutEvents that carry the events."""
        return self.all_events / self.listed

    @property
    def reports(self) -> float:
        """Delivery events, without the few of bounces and complaints."""
        return self.emails * (1 + self.report_deliveries) if self.by_ses else 0


def _requeued(together: int) -> float:
    """How often an email is requeued."""
    return REQUEUED_ALONE if together == 1 else REQUEUED


def chunks(size: float) -> int:
    """As how many events or requests a message of so many bytes is billed."""
    return max(1, math.ceil(size / _CHUNK))
