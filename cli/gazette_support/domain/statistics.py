"""The numbers of delivery and engagement events, as totals and by dimension. Pure."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import Variant
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

IMMEDIATE = "immediate"
NOT_KNOWN = "not known"
NO_EXPERIMENT = "no experiment"
DEPLOYED = "deployed"


class Measure(StrEnum):
    """A measure in the statistics. Each measure counts emails."""

    SENT = "sent"
    """A delivery event proves that the provider accepted the email."""

    DELIVERED = "delivered"
    """The email was reported as delivered, or the reader acted on the email."""

    BOUNCED = "bounced"
    COMPLAINED = "complained"
    OPENED = "opened"
    CLICKED = "clicked"
    UNSUBSCRIBED = "unsubscribed"
    REJECTED = "rejected"
    DELAYED = "delayed"
    """The email was delayed, and no later event was reported."""

    UNCONFIRMED = "unconfirmed"
    """The email was not reported as delivered, bounced, rejected or delayed."""


class Dimension(StrEnum):
    """A dimension by which emails are grouped."""

    TOTAL = "total"
    FREQUENCY = "frequency"
    """The name of the schedule, or `IMMEDIATE`."""

    CATEGORY = "category"
    """Each category that the email showed. The sum over categories may exceed the total."""

    LOCALE = "locale"
    VARIATION = "variation"
    TEMPLATES = "templates"
    """The template version that rendered the email, or `DEPLOYED`."""


ACTS = (Measure.COMPLAINED, Measure.OPENED, Measure.CLICKED, Measure.UNSUBSCRIBED)
"""The actions of readers, or of their mail programs, on a delivered email."""

TRACKED = (Measure.OPENED, Measure.CLICKED)
"""The measures that the provider reports only if tracking is enabled for the stage."""

_ARRIVED = (Measure.DELIVERED, Measure.UNCONFIRMED)
_SENT = (Measure.SENT,)
_EVENT_OF = {act: EngagementEvent(act.value) for act in ACTS}

Counts = Counter[tuple[Dimension, str, Measure]]
"""The number of emails for each dimension, value and measure. Counts can be added together."""


def kinds(email: Engagement) -> Iterator[tuple[Dimension, str, Measure]]:
    """Return the keys of all counts that one email increments."""
    measures = measures_of(email)
    return ((*place, measure) for place in _places(email) for measure in measures)


def measures_of(email: Engagement) -> list[Measure]:
    """Return the measures in which this email is counted."""
    events = email.first
    acts = [act for act, event in _EVENT_OF.items() if event in events]
    fate: list[Measure] = []
    if acts or EngagementEvent.DELIVERED in events:
        fate.append(Measure.DELIVERED)
    if EngagementEvent.BOUNCED in events:
        fate.append(Measure.BOUNCED)
    if EngagementEvent.REJECTED in events:
        fate.append(Measure.REJECTED)
    if not fate:
        fate.append(Measure.DELAYED if EngagementEvent.DELAYED in events else Measure.UNCONFIRMED)
    return [Measure.SENT, *fate, *acts]


def values(counts: Counts, dimension: Dimension) -> list[str]:
    """Return the values of a dimension. The value with the most emails is first."""
    sent = {
        value: number
        for (of, value, measure), number in counts.items()
        if of is dimension and measure is Measure.SENT
    }
    return sorted(sent, key=lambda value: (-sent[value], value))


def is_tracked(counts: Counts, measure: Measure) -> bool:
    """Return True if the measure is known to be tracked. Only then is a count of zero meaningful.

    The stage configures whether tracking is on today, but not since when. A measure that was never
    reported for any of the emails therefore counts as not tracked.
    """
    return measure not in TRACKED or counts[Dimension.TOTAL, "", measure] > 0


def rate(counts: Counts, dimension: Dimension, value: str, measure: Measure) -> float | None:
    """Return the rate of a measure.

    Actions are divided by the number of emails that may have arrived, and other measures by the
    number of sent emails.

    Returns None if there are no such emails. Unconfirmed emails may have arrived, because a stage
    need not enable delivery reports.
    """
    of = sum(counts[dimension, value, each] for each in (_ARRIVED if measure in ACTS else _SENT))
    return counts[dimension, value, measure] / of if of else None


def _places(email: Engagement) -> Iterator[tuple[Dimension, str]]:
    schedule = email.key.schedule
    yield Dimension.TOTAL, ""
    yield (
        Dimension.FREQUENCY,
        IMMEDIATE if kind_of(schedule) is ScheduleKind.IMMEDIATE else schedule,
    )
    for category in email.categories or (NOT_KNOWN,):
        yield Dimension.CATEGORY, category
    yield Dimension.LOCALE, email.locale or NOT_KNOWN
    yield Dimension.VARIATION, _named(email.variant)
    yield Dimension.TEMPLATES, f"version {email.templates}" if email.templates else DEPLOYED


def _named(variant: Variant) -> str:
    if not variant.experiment:
        return NO_EXPERIMENT
    return f"{variant.experiment} {variant.variation}"
