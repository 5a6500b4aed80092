"""The meaning of each status and reason, with the remedy.

A test checks that each member of the enums is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gazette.domain.delivery.lifecycle import MAX_REFUSALS
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import Due
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause

from cli.explain.phrases import utc


@dataclass(frozen=True, slots=True)
class Words:
    """The meaning and the remedy."""

    # The end of a sentence that begins with the status.
    why: str

    # One or more sentences.
    todo: str = "Nothing to do."


_ARRIVED = (
    "If it did not arrive, search for the message id at the provider, and check the spam folder."
)
_LOOK = "Search the provider's messages for the run id (tag `run`)."
_NEXT = (
    "Its events go with the next digest. Events of an immediate email go with the next one about "
    "the same entity, if any."
)
_SETTLE = (
    "A delivery event determines the outcome. Without one, the sweep applies `unknown_policy`. "
    f"Later runs of the schedule wait until then. {_LOOK}"
)

STANDING: Mapping[SubscriberStatus, Words] = {
    SubscriberStatus.ACTIVE: Words("active; email is sent"),
    SubscriberStatus.UNSUBSCRIBED: Words(
        "unsubscribed; email is not sent, and new events are not stored",
        "They unsubscribed by a link in an email. A new profile does not subscribe them again.",
    ),
    SubscriberStatus.SUPPRESSED: Words(
        "suppressed; email is not sent to their address, and new events are not stored",
        "Publish subscriber.changed with a different address.",
    ),
    SubscriberStatus.DORMANT: Words(
        "dormant; they were inactive for a long time, so email is not sent; new events are stored",
        "Their next activity (subscriber.active) resumes the digests.",
    ),
}

SUPPRESSED_FOR: Mapping[Cause, str] = {
    Cause.UNSUBSCRIBED: "its reader unsubscribed by a link in an email",
    Cause.BOUNCED: "an email to it bounced",
    Cause.COMPLAINED: "its reader marked an email as spam",
    Cause.MANUAL: "an operator added it with `gazette suppression add`",
}

STATUS: Mapping[Status, str] = {
    Status.PENDING: "is due and has not been sent yet",
    Status.SENDING: "is being sent",
    Status.RETRYING: "has not been sent yet and will be retried",
    Status.UNKNOWN: "may or may not have been sent",
    Status.SENT: "was sent",
    Status.FAILED: "was not sent",
    Status.SKIPPED: "was skipped",
    Status.CANCELLED: "was cancelled",
}

REASON: Mapping[Reason, Words] = {
    Reason.DUE: Words(
        "no worker has claimed it yet; its message is queued, or it waits for a permit, an older "
        "run, its content sources, or for sending to resume",
        "If this lasts for more than a few minutes, check `gazette sending status`, the log of"
        " generate (for the cause of the wait) and `gazette dlq show`. The sweep queues it again"
        " after an hour.",
    ),
    Reason.CLAIMED: Words(
        "a worker has claimed it and is sending it",
        "If this lasts for more than a few minutes, the worker died. The sweep then ends the run.",
    ),
    Reason.ACCEPTED: Words(
        "the provider accepted it",
        _ARRIVED,
    ),
    Reason.EVIDENCE: Words(
        "a delivery event proves that the provider accepted it",
        _ARRIVED,
    ),
    Reason.ASSUMED: Words(
        "its outcome stayed unknown, and the stage's policy is to assume that it was sent",
        f"It may not have arrived. {_LOOK}",
    ),
    Reason.REFUSED_FOR_NOW: Words(
        "the provider rejected it temporarily",
        f"Nothing to do. It is retried after 1, 5 and 30 minutes, 2 and 8 hours, {MAX_REFUSALS}"
        " attempts in total.",
    ),
    Reason.REFUSED_FOR_GOOD: Words(
        "the provider rejected it permanently",
        "Look up the provider's code. If the address is wrong, publish subscriber.changed with "
        f"the correct one. {_NEXT}",
    ),
    Reason.REFUSED_ACCOUNT: Words(
        "the provider rejects all email from this account",
        "All readers wait. Look up the provider's code, and check the account's sending status, "
        "identities and limits. `gazette sending status` shows the time of the next attempt.",
    ),
    Reason.ATTEMPTS_EXHAUSTED: Words(
        f"the provider rejected it {MAX_REFUSALS} times",
        f"Look up the provider's code. {_NEXT} Once the provider accepts email again, `gazette "
        "dlq redrive failed --run RUN` sends the waiting events.",
    ),
    Reason.NOT_ATTEMPTED: Words(
        "a worker claimed it and ran out of time before it called the provider",
        "Nothing to do. It is retried.",
    ),
    Reason.UNCERTAIN: Words(
        "the provider was called, but did not confirm that it accepted the message",
        _SETTLE,
    ),
    Reason.DEADLINE_PASSED: Words(
        "the worker that had claimed it died, perhaps after it had called the provider",
        _SETTLE,
    ),
    Reason.POLICY_RESEND: Words(
        "its outcome stayed unknown, and the stage's policy is to send it again",
        "Nothing to do. It is retried, and may arrive twice.",
    ),
    Reason.CARRIED: Words(
        "its outcome stayed unknown, and its events go with the next run",
        "Nothing to do. Its events may arrive twice.",
    ),
    Reason.CARRIED_INTO: Words(
        "its outcome stayed unknown, and the next run took over its events",
        "Nothing to do. Its events may have arrived twice.",
    ),
    Reason.GIVEN_UP: Words(
        "its events may have been sent twice without a delivery event for either email, so they "
        "are not sent a third time",
        "Ask the reader whether it arrived. A late delivery event still determines the outcome. If "
        "none arrives, see the alarm given-up.",
    ),
    Reason.SUPERSEDED: Words(
        "it had not been sent when the next run became due, which took over its events",
        "If this happens often, generate does not keep up. Check the age of its queue.",
    ),
    Reason.EMPTY: Words(
        "no event was waiting",
        "If you expected an event, check that it was published to the correct bus, that `gazette"
        " quarantine list` does not show it, and that its category or follow is not muted.",
    ),
    Reason.NOTHING_NEW: Words(
        "no event was waiting, and its content sources had no new items",
        "If you expected an item, check the response of your recommendation service for this "
        "reader. Items that it offered before are not sent again.",
    ),
    Reason.NO_CONTENT: Words(
        "no event was waiting, and its content sources did not answer in time",
        "Nothing to do for this reader. The next digest queries the sources again. `gazette"
        " sources status` shows whether the service answers.",
    ),
    Reason.NOTHING_WAITED: Words(
        "no event was waiting, so its schedule left the due index until the next event",
        "If you expected an event, check that it was published to the correct bus, that `gazette"
        " quarantine list` does not show it, and that its category or follow is not muted.",
    ),
    Reason.EXPIRED: Words(
        "every waiting event expired before an email could show it",
        "The reader never sees these events. Check the earlier runs for the cause of the delay, "
        "and fix it. Services can publish the events again.",
    ),
    Reason.LAPSED: Words(
        "every waiting event lapsed (`expires_at`) before an email could show it",
        "Nothing to do. The service limited the time of these events. If readers should see such "
        "events, use the frequency `immediate` or a later `expires_at`.",
    ),
    Reason.CATEGORY_HELD: Words(
        "every waiting event belongs to a held category",
        "Its events go with the next digest after the category is resumed. `gazette sending "
        "status` shows the category and the reason.",
    ),
    Reason.TOO_LATE: Words(
        "it was later than the stage allows (max_lateness)",
        "Its events go with the next digest. Find out why fan-out was late.",
    ),
    Reason.BATCH_CANCELLED: Words(
        "an operator cancelled the batch of its slot (gazette batch cancel)",
        "Nothing to do. Its events go with the next digest.",
    ),
    Reason.PREFERENCES_CHANGED: Words(
        "the hour, days or time zone changed while it waited",
        "Nothing to do. Its events go with the digest at the new hour.",
    ),
    Reason.DAILY_CAP: Words(
        "the daily limit of a new sending domain (warmup_daily) or the account's 24-hour quota"
        " was used up",
        "Its events go with the next digest, a day later. Weekly and custom digests wait for the "
        "next day instead. `gazette batch show` shows both limits.",
    ),
    Reason.DORMANT: Words(
        "the reader had been inactive for a long time",
        "Their next activity (subscriber.active) resumes the digests, with these events.",
    ),
    Reason.UNSUBSCRIBED: Words("the reader had unsubscribed"),
    Reason.SUPPRESSED: Words(
        "their address was suppressed",
        "Publish subscriber.changed with a different address. `gazette suppression list` shows the"
        " suppressed one.",
    ),
    Reason.ERASED: Words("the reader had been erased"),
    Reason.UNKNOWN_SUBSCRIBER: Words(
        "the reader had no profile",
        "Publish subscriber.changed. Its events go with the next digest.",
    ),
}

_GIVEN_UP = Words("the hour, days or time zone changed before it was sent")
"""The meaning of a run that was skipped because its schedule changed. A superseded run is
cancelled."""

DUE: Mapping[Due, str] = {
    Due.PLANNED: "planned",
    Due.OVERDUE: "overdue, not started by fan-out",
    Due.IDLE: "if an event arrives before then; no event is waiting",
    Due.UNLISTED: "missing from the due index",
    Due.OFF: "off, because this reader gets no email",
}

OFTEN: Mapping[Frequency, str] = {
    Frequency.NEVER: "never (muted)",
    Frequency.IMMEDIATE: "immediate",
    Frequency.DAILY: "daily",
    Frequency.WEEKLY: "weekly",
    Frequency.CUSTOM: "on custom days",
}


def standing(status: SubscriberStatus) -> Words:
    """Return the meaning of a reader's status."""
    return STANDING.get(status, Words(f"{status}, {_OTHER_VERSION}", _DEPLOY_IT))


def outcome(run: Run) -> str:
    """Return the predicate for the status of a run."""
    return STATUS.get(run.status, f"is {run.status}, {_OTHER_VERSION}")


def often(frequency: Frequency) -> str:
    """Return a frequency in words. An unknown frequency means daily."""
    return OFTEN.get(frequency, f"{frequency} ({_OTHER_VERSION}: daily)")


_OTHER_VERSION = "a value of a different version of Gazette"
_DEPLOY_IT = "Email is not sent until that version is deployed."


def words_for(run: Run) -> Words:
    """Return the meaning of a run's status and reason."""
    if (run.status, run.reason) == (Status.SKIPPED, Reason.SUPERSEDED):
        return _GIVEN_UP
    if run.reason is Reason.NOTHING_WAITED and run.sources:
        return _PASSED
    if run.asked_at and (run.status, run.reason) == (Status.PENDING, Reason.DUE):
        return _queried(run.asked_at)
    words = REASON.get(run.reason, Words(f"{run.reason}, {_OTHER_VERSION}"))
    if run.status is Status.SENT and run.without:
        missing = ", ".join(run.without)
        why = f"{words.why}; it has no new items of {missing}, which did not answer in time"
        return replace(words, why=why)
    return words


_PASSED = Words(
    "no event was waiting, and its content sources had no new items",
    REASON[Reason.NOTHING_NEW].todo,
)
"""The meaning for a schedule with content sources, which stays in the due index."""


def _queried(at: datetime) -> Words:
    """Return the meaning of a run that waits for its content sources."""
    return Words(
        f"its content sources were queried at {utc(at)} because items were missing; it waits for "
        "them for the time in recommendations_policy, then for a permit",
        "`gazette sources status` shows whether the service answers. The log of generate shows the "
        "cause of the wait.",
    )
