"""The meaning of each status and reason, and what to do.

A test checks that this module explains each member of the enums.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gazette.domain.delivery.lifecycle import MAX_REFUSALS
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import Due
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause


@dataclass(frozen=True, slots=True)
class Words:
    """The meaning of a status or reason, and what to do."""

    # The end of a sentence that begins with the status of a run or reader.
    why: str

    # One or more sentences.
    todo: str = "No action is required."


_ARRIVED = (
    "If the email did not arrive, search for the message id at the provider, and check the spam "
    "folder."
)
_LOOK = "Search the provider's messages for the run id (tag `run`)."
_NEXT = (
    "The next digest includes the events. Events of an immediate email are included in the next "
    "email about the same entity, if any."
)
_SETTLE = (
    "A delivery event determines the outcome. If no event arrives, the sweep applies "
    f"`unknown_policy`. Later runs of the schedule wait until then. {_LOOK}"
)

STANDING: Mapping[SubscriberStatus, Words] = {
    SubscriberStatus.ACTIVE: Words("active; email is sent"),
    SubscriberStatus.UNSUBSCRIBED: Words(
        "unsubscribed; email is not sent, and new events are not stored",
        "The reader unsubscribed with a link in an email. A new profile does not subscribe them "
        "again.",
    ),
    SubscriberStatus.SUPPRESSED: Words(
        "suppressed; email is not sent to their address, and new events are not stored",
        "Publish subscriber.changed with a different address.",
    ),
    SubscriberStatus.DORMANT: Words(
        "dormant after a long time without activity; email is not sent, but new events are stored",
        "The reader's next activity (subscriber.active) resumes the digests.",
    ),
}

SUPPRESSED_FOR: Mapping[Cause, str] = {
    Cause.UNSUBSCRIBED: "a reader with this address unsubscribed with a link in an email",
    Cause.BOUNCED: "an email to this address bounced",
    Cause.COMPLAINED: "a reader with this address marked an email as spam",
    Cause.MANUAL: "an operator added the address with `gazette suppression add`",
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
        "no worker has claimed the run yet; its message is queued, its message failed and is in a "
        "dead-letter queue, or the run is waiting for a permit, an older run, content sources, or "
        "sending to resume",
        "If this lasts for more than a few minutes, check `gazette sending status`, `gazette "
        "dlq show`, and the log of generate, which states the cause of the wait. The sweep "
        "queues the run again after an hour.",
    ),
    Reason.QUIET_HOURS: Words("the reader has quiet hours, so the email waits until their end"),
    Reason.CLAIMED: Words(
        "a worker has claimed the run and is sending the email",
        "If this lasts for more than a few minutes, the worker died. The sweep then ends the run.",
    ),
    Reason.ACCEPTED: Words(
        "the provider accepted the email",
        _ARRIVED,
    ),
    Reason.EVIDENCE: Words(
        "a delivery event proves that the provider accepted the email",
        _ARRIVED,
    ),
    Reason.ASSUMED: Words(
        "the outcome remained unknown, and the stage's policy is to assume that the email was sent",
        f"The email may not have arrived. {_LOOK}",
    ),
    Reason.REFUSED_FOR_NOW: Words(
        "the provider temporarily rejected the email",
        "No action is required. The email is retried after 1, 5 and 30 minutes, 2 and 8 hours, "
        f"for a total of {MAX_REFUSALS} attempts.",
    ),
    Reason.REFUSED_FOR_GOOD: Words(
        "the provider permanently rejected the email",
        "Look up the provider's code. If the address is wrong, publish subscriber.changed with "
        f"the correct address. {_NEXT}",
    ),
    Reason.REFUSED_ACCOUNT: Words(
        "the provider rejects all email from this account",
        "Email to all readers is waiting. Look up the provider's code, and check the account's "
        "sending status, identities and limits. To see the time of the next attempt, run `gazette "
        "sending status`.",
    ),
    Reason.ATTEMPTS_EXHAUSTED: Words(
        f"the provider rejected the email {MAX_REFUSALS} times",
        f"Look up the provider's code. {_NEXT} Once the provider accepts email again, `gazette "
        "dlq redrive failed --run RUN` sends the waiting events.",
    ),
    Reason.NOT_ATTEMPTED: Words(
        "a worker claimed the run, and ran out of time before calling the provider",
        "No action is required. The run is retried.",
    ),
    Reason.UNCERTAIN: Words(
        "the provider was called, but did not confirm that it accepted the email",
        _SETTLE,
    ),
    Reason.DEADLINE_PASSED: Words(
        "the worker that had claimed the run died, possibly after calling the provider",
        _SETTLE,
    ),
    Reason.POLICY_RESEND: Words(
        "the outcome remained unknown, and the stage's policy is to send the email again",
        "No action is required. The email is retried, and may arrive twice.",
    ),
    Reason.CARRIED: Words(
        "the outcome remained unknown, and the next run includes the events",
        "No action is required. The events may arrive twice.",
    ),
    Reason.CARRIED_INTO: Words(
        "the outcome remained unknown, and the next run took over the events",
        "No action is required. The events may have arrived twice.",
    ),
    Reason.GIVEN_UP: Words(
        "the events may have been sent twice without a delivery event for either email, so they "
        "are not sent a third time",
        "Ask the reader whether the email arrived. A late delivery event still determines the "
        "outcome. If no delivery event arrives, follow the runbook page of the alarm given-up.",
    ),
    Reason.SUPERSEDED: Words(
        "the run had not been sent when the next run became due and took over the events",
        "If this happens often, generate does not keep up. Check the age of the messages in its "
        "queue.",
    ),
    Reason.EMPTY: Words(
        "no event was waiting",
        "If you expected an event, check that it was published to the correct bus, that it is "
        "not in `gazette quarantine list`, and that its category or follow is not muted.",
    ),
    Reason.NOTHING_NEW: Words(
        "no event was waiting, and the content sources had no new items",
        "If you expected an item, check the response of your recommendation service for this "
        "reader. Items that the service offered before are not sent again.",
    ),
    Reason.NO_CONTENT: Words(
        "no event was waiting, and the content sources did not respond in time",
        "No action is required for this reader. The next digest queries the sources again. To "
        "check the service, run `gazette sources status`.",
    ),
    Reason.NOTHING_WAITED: Words(
        "no event was waiting, so the schedule is not in the due index until the next event",
        "If you expected an event, check that it was published to the correct bus, that it is "
        "not in `gazette quarantine list`, and that its category or follow is not muted.",
    ),
    Reason.EXPIRED: Words(
        "every waiting event expired before it was included in an email",
        "The reader never sees these events. Check the earlier runs for the cause of the delay, "
        "and fix it. Services can publish the events again.",
    ),
    Reason.LAPSED: Words(
        "every waiting event lapsed (`expires_at`) before it was included in an email",
        "No action is required. The service set an expiry time for these events. If readers "
        "should see such events, use the frequency `immediate` or a later `expires_at`.",
    ),
    Reason.SEEN: Words(
        "the reader had already seen everything that was waiting (`entity.seen`)",
        "No action is required. Later events about the same entities are sent.",
    ),
    Reason.WITHDRAWN: Words(
        "an operator withdrew the actor or the entity of everything that was waiting (`gazette "
        "withdraw`)",
        "To see the withdrawals, run `gazette withdraw list`. If one was wrong, remove it, and "
        "publish the events again.",
    ),
    Reason.CATEGORY_HELD: Words(
        "every waiting event belongs to a category that is on hold",
        "The next digest after the category is resumed includes the events. To see the category "
        "and the reason, run `gazette sending status`.",
    ),
    Reason.WAITS_FOR_MORE: Words(
        "the scores of the waiting events were too low together for a daily digest (digest_worth)",
        "No action is required. The next digest includes the events. It is sent when their scores "
        "add up to the minimum, or when the oldest event is as old as digest_worth allows.",
    ),
    Reason.TOO_LATE: Words(
        "the digest was later than the stage allows (max_lateness)",
        "The next digest includes the events. Find out why fan-out was late.",
    ),
    Reason.BATCH_CANCELLED: Words(
        "an operator cancelled the batch (gazette batch cancel)",
        "No action is required. The next digest includes the events.",
    ),
    Reason.PREFERENCES_CHANGED: Words(
        "the hour, days or time zone changed while the run was waiting",
        "No action is required. The digest at the new hour includes the events.",
    ),
    Reason.DAILY_CAP: Words(
        "the daily limit of a new sending domain (warmup_daily) or the account's 24-hour quota"
        " was used up",
        "The next digest, a day later, includes the events. Weekly and custom digests wait for "
        "the next day instead. To see both limits, run `gazette batch show`.",
    ),
    Reason.DORMANT: Words(
        "the reader had been inactive for a long time",
        "The reader's next activity (subscriber.active) resumes the digests, including these "
        "events.",
    ),
    Reason.UNSUBSCRIBED: Words("the reader had unsubscribed"),
    Reason.SUPPRESSED: Words(
        "the reader's address was suppressed",
        "Publish subscriber.changed with a different address. To see the suppression, run "
        "`gazette suppression list`.",
    ),
    Reason.ERASED: Words("the reader had been erased"),
    Reason.UNKNOWN_SUBSCRIBER: Words(
        "the reader had no profile",
        "Publish subscriber.changed. The next digest includes the events.",
    ),
    Reason.NOT_ALLOWED: Words(
        "the stage sends only to the recipients in its setting allowed_recipients",
        "If the reader should get email from this stage, add the address or its domain to "
        "allowed_recipients and deploy. The next digest includes the events.",
    ),
}

_GIVEN_UP = Words("the hour, days or time zone changed before the run was sent")
"""The meaning of a run that was skipped because its schedule changed."""

DUE: Mapping[Due, str] = {
    Due.PLANNED: "planned",
    Due.OVERDUE: "overdue; fan-out has not started the run",
    Due.IDLE: "only if an event arrives before the due time; no event is waiting",
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
    """Return the words for the status of a run, such as `was sent`."""
    if run.waits_after_others or run.waits_in_quiet_hours:
        return "has not been sent yet"
    return STATUS.get(run.status, f"is {run.status}, {_OTHER_VERSION}")


def often(frequency: Frequency) -> str:
    """Return a frequency in words. An unknown frequency is treated as daily."""
    return OFTEN.get(frequency, f"{frequency} ({_OTHER_VERSION}: daily)")


_OTHER_VERSION = "a value from a different version of Gazette"
_DEPLOY_IT = "Email is not sent until the other version is deployed."


def words_for(run: Run) -> Words:
    """Return the meaning of a run's status and reason."""
    if (run.status, run.reason) == (Status.SKIPPED, Reason.SUPERSEDED):
        return _GIVEN_UP
    if run.reason is Reason.NOTHING_WAITED and run.sources:
        return _PASSED
    if run.asked_at and (run.status, run.reason) == (Status.PENDING, Reason.DUE):
        return _queried(run.asked_at)
    if run.waits_in_quiet_hours:
        return _held(run.due_at)
    if run.waits_after_others:
        return _collecting(run.due_at)
    words = REASON.get(run.reason, Words(f"{run.reason}, {_OTHER_VERSION}"))
    if run.status is Status.RETRYING and run.retry_at:
        at = f"{run.retry_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return replace(words, why=f"{words.why}; the next attempt is due at {at}")
    if run.status is Status.SENT and run.without:
        missing = ", ".join(run.without)
        why = (
            f"{words.why}; the email has no new items from {missing}, which did not respond in time"
        )
        return replace(words, why=why)
    return words


_PASSED = Words(
    "no event was waiting, and the content sources had no new items",
    REASON[Reason.NOTHING_NEW].todo,
)
"""The meaning of a run without events and without new items. After such a run, a schedule with
content sources remains in the due index.
"""


def _collecting(until: datetime) -> Words:
    """Return the meaning of an immediate run that collects events because of earlier emails."""
    return Words(
        f"the email collects events until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC, because "
        "other emails about the same entity were sent shortly before",
        "No action is required before that time. If the email is not sent within a few minutes "
        "after it, check `gazette sending status`, `gazette dlq show`, and whether the alarm "
        "sweep-silent fires.",
    )


def _held(until: datetime) -> Words:
    """Return the meaning of an immediate run that waits for the end of the reader's quiet hours."""
    return Words(
        f"{REASON[Reason.QUIET_HOURS].why}; it collects events until "
        f"{until.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "No action is required before that time. Critical emails do not wait.",
    )


def _queried(at: datetime) -> Words:
    """Return the meaning of a run that is waiting for its content sources."""
    return Words(
        f"the content sources were queried at {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC because "
        "items were missing; the run waits for the items for as long as recommendations_policy "
        "allows, and then for a permit",
        "To check the service, run `gazette sources status`. The log of generate states the "
        "cause of the wait.",
    )
