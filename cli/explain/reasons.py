"""What each status and reason means, and what to do about it.

Each member of the enums has a line here; a test walks the enums.
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
    """`why` completes a sentence that begins with the status; `todo` is a sentence of its own."""

    why: str
    todo: str = "Nothing to do."


_ARRIVED = (
    "If it did not arrive, search for the message id at the provider, and check the spam folder."
)
_LOOK = "Search the provider's messages for the run id (tag `run`)."
_NEXT = (
    "Its events go with the next digest; those of an immediate email with the next one about "
    "the same entity, if any."
)
_SETTLE = (
    "A delivery event settles it; without one, the sweep applies `unknown_policy`. Later runs of "
    f"the schedule wait until then. {_LOOK}"
)

STANDING: Mapping[SubscriberStatus, Words] = {
    SubscriberStatus.ACTIVE: Words("active: email goes out"),
    SubscriberStatus.UNSUBSCRIBED: Words(
        "unsubscribed: no email goes out, and new events are not stored",
        "They left by a link in an email; a new profile does not subscribe them again.",
    ),
    SubscriberStatus.SUPPRESSED: Words(
        "suppressed: no email may go to their address, and new events are not stored",
        "Put subscriber.changed with another address.",
    ),
    SubscriberStatus.DORMANT: Words(
        "dormant: no sign of life for a long time, so no email goes out; new events are stored",
        "Their next sign of life (subscriber.active) resumes the digests.",
    ),
}

SUPPRESSED_FOR: Mapping[Cause, str] = {
    Cause.UNSUBSCRIBED: "its reader left by a link in an email",
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
        "no worker has claimed it yet: its message is queued, or it waits for a permit, an "
        "older run, for what its content sources answer, or for sending to resume",
        "If this lasts for more than a few minutes, check `gazette sending status`, the log of"
        " generate (what it waits for) and `gazette dlq show`. The sweep queues it again after"
        " an hour.",
    ),
    Reason.CLAIMED: Words(
        "a worker has claimed it and is sending it",
        "If this lasts for more than a few minutes, that worker has died: the sweep settles it.",
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
        "its outcome stayed unknown, and the policy of this installation is to assume that it "
        "was sent",
        f"It may not have arrived. {_LOOK}",
    ),
    Reason.REFUSED_FOR_NOW: Words(
        "the provider refused it for now",
        f"Nothing to do: it is retried after 1, 5 and 30 minutes, 2 and 8 hours, {MAX_REFUSALS}"
        " attempts in all.",
    ),
    Reason.REFUSED_FOR_GOOD: Words(
        "the provider refused this message for good",
        "Look up the provider's code. Usually the address is wrong: put subscriber.changed "
        f"with the right one. {_NEXT}",
    ),
    Reason.REFUSED_ACCOUNT: Words(
        "the provider refuses everything from this account",
        "Every reader waits. Look up the provider's code, and check the account's sending "
        "status, identities and limits. `gazette sending status` says when the next attempt "
        "is.",
    ),
    Reason.ATTEMPTS_EXHAUSTED: Words(
        f"the provider refused it {MAX_REFUSALS} times",
        f"Look up the provider's code. {_NEXT} Once the provider accepts email again, `gazette "
        "dlq redrive failed --run RUN` sends the waiting events.",
    ),
    Reason.NOT_ATTEMPTED: Words(
        "a worker claimed it and ran out of time before it called the provider",
        "Nothing to do: it is retried.",
    ),
    Reason.UNCERTAIN: Words(
        "the provider was called, and no answer says whether it accepted the message",
        _SETTLE,
    ),
    Reason.DEADLINE_PASSED: Words(
        "the worker that had claimed it died, perhaps after it had called the provider",
        _SETTLE,
    ),
    Reason.POLICY_RESEND: Words(
        "its outcome stayed unknown, and the policy of this installation is to send it again",
        "Nothing to do: it is retried, and may arrive twice.",
    ),
    Reason.CARRIED: Words(
        "its outcome stayed unknown, and its events go with the next run",
        "Nothing to do: its events may arrive twice.",
    ),
    Reason.CARRIED_INTO: Words(
        "its outcome stayed unknown, and the next run took over its events",
        "Nothing to do: its events may have arrived twice.",
    ),
    Reason.GIVEN_UP: Words(
        "its events may have been sent twice, and no delivery event came for either email: "
        "they are not sent a third time",
        "Ask the reader whether it arrived. Late delivery events still settle it; if they never "
        "come, look at the alarm given-up.",
    ),
    Reason.SUPERSEDED: Words(
        "the next run came before it was sent, and took over its events",
        "If this happens often, generate does not keep up: check the age of its queue.",
    ),
    Reason.EMPTY: Words(
        "no event waited",
        "If you expected one: was it put on the right bus, does `gazette quarantine list` show"
        " it, is its category or follow muted?",
    ),
    Reason.NOTHING_NEW: Words(
        "no event waited, and its content sources had nothing new",
        "If you expected an item: what does your recommendation service answer for this reader? "
        "What it offered before does not come again.",
    ),
    Reason.NO_CONTENT: Words(
        "no event waited, and its content sources did not answer in time",
        "Nothing to do for this reader: the next digest asks again. `gazette sources status` says "
        "whether the service answers.",
    ),
    Reason.NOTHING_WAITED: Words(
        "nothing was waiting, so its schedule left the due index until the next event",
        "If you expected one: was it put on the right bus, does `gazette quarantine list` show"
        " it, is its category or follow muted?",
    ),
    Reason.EXPIRED: Words(
        "every waiting event expired before an email could show it",
        "The reader never sees these events. Check the runs before it for what delayed the "
        "emails so long, and fix that; services may put the events again.",
    ),
    Reason.LAPSED: Words(
        "every waiting event lapsed (`expires_at`) before an email could show it",
        "Nothing to do: their service no longer wanted them shown. Readers who should see such "
        "events need them sooner: a frequency of `immediate`, or a later `expires_at`.",
    ),
    Reason.CATEGORY_HELD: Words(
        "every waiting event belongs to a held category",
        "Its events go with the next digest after the category is resumed. `gazette sending "
        "status` says which it is, and why.",
    ),
    Reason.TOO_LATE: Words(
        "it was later than this installation allows (max_lateness)",
        "Its events go with the next digest. Find out why fan-out was late.",
    ),
    Reason.BATCH_CANCELLED: Words(
        "an operator cancelled the batch of its slot (gazette batch cancel)",
        "Nothing to do: its events go with the next digest.",
    ),
    Reason.PREFERENCES_CHANGED: Words(
        "the hour, days or time zone changed while it waited",
        "Nothing to do: its events go with the digest at the new hour.",
    ),
    Reason.DAILY_CAP: Words(
        "the daily limit of a new sending domain (warmup_daily) or the account's 24-hour quota"
        " was used up",
        "Its events go with the next digest, a day later; weekly and custom digests wait for "
        "the next day instead. `gazette batch show` shows both limits.",
    ),
    Reason.DORMANT: Words(
        "there had been no sign of life for a long time",
        "Their next sign of life (subscriber.active) resumes the digests, with these events.",
    ),
    Reason.UNSUBSCRIBED: Words("they had unsubscribed"),
    Reason.SUPPRESSED: Words(
        "no email may go to their address",
        "Put subscriber.changed with another address; `gazette suppression list` shows the old"
        " one.",
    ),
    Reason.ERASED: Words("they had been erased"),
    Reason.UNKNOWN_SUBSCRIBER: Words(
        "they had no profile", "Put subscriber.changed; its events go with the next digest."
    ),
}

_GIVEN_UP = Words("the hour, days or time zone changed before it was sent")
"""For a sequence that a change spent: it is skipped, while a superseded run is cancelled."""

DUE: Mapping[Due, str] = {
    Due.PLANNED: "to come",
    Due.OVERDUE: "overdue: fan-out has not started it",
    Due.IDLE: "if an event comes before: nothing waits now",
    Due.UNLISTED: "not in the due index, although it should be",
    Due.OFF: "off: no email goes to this reader",
}

OFTEN: Mapping[Frequency, str] = {
    Frequency.NEVER: "never (muted)",
    Frequency.IMMEDIATE: "immediate",
    Frequency.DAILY: "daily",
    Frequency.WEEKLY: "weekly",
    Frequency.CUSTOM: "on custom days",
}


def standing(status: SubscriberStatus) -> Words:
    """Whether email goes out to a reader, and why not."""
    return STANDING.get(status, Words(f"{status}, {_OTHER_VERSION}", _DEPLOY_IT))


def became(run: Run) -> str:
    """What became of a run."""
    return STATUS.get(run.status, f"is {run.status}, {_OTHER_VERSION}")


def often(frequency: Frequency) -> str:
    """How often a reader gets something; an unknown frequency is the daily digest."""
    return OFTEN.get(frequency, f"{frequency} ({_OTHER_VERSION}: daily)")


_OTHER_VERSION = "which only another version of Gazette knows"
_DEPLOY_IT = "Nothing goes out until that version is deployed."


def words_for(run: Run) -> Words:
    """Why a run has its status."""
    if (run.status, run.reason) == (Status.SKIPPED, Reason.SUPERSEDED):
        return _GIVEN_UP
    if run.reason is Reason.NOTHING_WAITED and run.sources:
        return _PASSED
    if run.asked_at and (run.status, run.reason) == (Status.PENDING, Reason.DUE):
        return _asked(run.asked_at)
    words = REASON.get(run.reason, Words(f"{run.reason}, as another version of Gazette says"))
    if run.status is Status.SENT and run.without:
        missing = ", ".join(run.without)
        why = f"{words.why}; it went without new items of {missing}, which did not answer in time"
        return replace(words, why=why)
    return words


_PASSED = Words(
    "nothing was waiting, and its content sources had nothing new",
    REASON[Reason.NOTHING_NEW].todo,
)
"""For a schedule that asks content sources: it stays in the due index."""


def _asked(at: datetime) -> Words:
    """Why a run waits that asks content sources: for them, or as any other."""
    return Words(
        f"its content sources were asked at {utc(at)} because their items were not there: it waits "
        "for them, as long as recommendations_policy lets it, then for a permit",
        "`gazette sources status` says whether the service answers, and the log of generate what "
        "the digest waits for.",
    )
