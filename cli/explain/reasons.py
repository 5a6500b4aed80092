"""Every status and reason in plain words: what it means, and what to do.

A new one is one more line here; a test walks the enums.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gazette.domain.delivery.lifecycle import MAX_REFUSALS
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import Due
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause


@dataclass(frozen=True, slots=True)
class Words:
    """`why` ends a sentence that begins with what became of it; `todo` is one of its own."""

    why: str
    todo: str = "Nothing to do."


_ARRIVED = (
    "If it did not arrive, look for the message id at the provider, and into the spam folder."
)
_LOOK = "Look for the run id among the provider's messages (the tag `run`)."
_NEXT = (
    "Its events go with the next digest; those of an email at once with the next about the same "
    "thing, if any."
)
_SETTLE = (
    "A delivery event settles it; without one, the sweep applies `unknown_policy`. Later runs of "
    f"the schedule wait until then. {_LOOK}"
)

STANDING: Mapping[SubscriberStatus, Words] = {
    SubscriberStatus.ACTIVE: Words("active: email goes out"),
    SubscriberStatus.UNSUBSCRIBED: Words(
        "unsubscribed: no email goes out, and what happens since is not kept",
        "They left by the link of an email; a new profile does not bring them back.",
    ),
    SubscriberStatus.SUPPRESSED: Words(
        "suppressed: their address must not be written to, and what happens since is not kept",
        "Put subscriber.changed with another address.",
    ),
    SubscriberStatus.DORMANT: Words(
        "dormant: nothing was seen of them for long, so no email goes out; what happens is kept",
        "Their next sign of life (subscriber.active) brings the digests back.",
    ),
}

SUPPRESSED_FOR: Mapping[Cause, str] = {
    Cause.UNSUBSCRIBED: "whoever reads there left by the link of an email",
    Cause.BOUNCED: "an email to it bounced",
    Cause.COMPLAINED: "whoever reads there marked an email as spam",
    Cause.MANUAL: "somebody said so by `gazette suppression`",
}

STATUS: Mapping[Status, str] = {
    Status.PENDING: "is due and was not sent yet",
    Status.SENDING: "is being sent",
    Status.RETRYING: "was not sent yet and will be tried again",
    Status.UNKNOWN: "may or may not have been sent",
    Status.SENT: "was sent",
    Status.FAILED: "was not sent",
    Status.SKIPPED: "was skipped",
    Status.CANCELLED: "was cancelled",
}

REASON: Mapping[Reason, Words] = {
    Reason.DUE: Words(
        "its message is queued, and no worker has claimed it, or it waits for a send permit, an "
        "older run, or for sending to resume",
        "If it stays so for some minutes, look at `gazette sending status`, the log of generate "
        "(what it awaits) and `gazette dlq show`. The sweep queues it again after an hour.",
    ),
    Reason.CLAIMED: Words(
        "a worker has claimed it to hand it to the provider",
        "If it stays so for some minutes, that worker died: the sweep settles it.",
    ),
    Reason.ACCEPTED: Words(
        "the provider accepted it",
        _ARRIVED,
    ),
    Reason.EVIDENCE: Words(
        "the provider reported an event for it, so it has it",
        _ARRIVED,
    ),
    Reason.ASSUMED: Words(
        "its outcome stayed unknown, and this installation takes that for sent",
        f"It may not have arrived. {_LOOK}",
    ),
    Reason.REFUSED_FOR_NOW: Words(
        "the provider refused it for the moment",
        f"Nothing: it is tried again after 1, 5 and 30 minutes, 2 and 8 hours, {MAX_REFUSALS} "
        "times in all.",
    ),
    Reason.REFUSED_FOR_GOOD: Words(
        "the provider refused this message and would refuse it again",
        "Look the provider's code up; mostly the address is wrong: put subscriber.changed with "
        f"the right one. {_NEXT}",
    ),
    Reason.REFUSED_ACCOUNT: Words(
        "the provider refuses everything from this account",
        "Every reader waits: look the provider's code up, and the account's sending status, "
        "identities and limits. `gazette sending status` says when it is tried next.",
    ),
    Reason.ATTEMPTS_EXHAUSTED: Words(
        f"the provider refused it {MAX_REFUSALS} times",
        f"Look the provider's code up. {_NEXT} Once the provider takes email again, `gazette dlq "
        "redrive failed --run RUN` sends what waits at once.",
    ),
    Reason.NOT_ATTEMPTED: Words(
        "a worker claimed it and ran out of time before the provider was called",
        "Nothing: it is tried again.",
    ),
    Reason.UNCERTAIN: Words(
        "the provider was called and gave no answer that says whether it has the message",
        _SETTLE,
    ),
    Reason.DEADLINE_PASSED: Words(
        "the worker that had claimed it is gone, maybe after the provider was called",
        _SETTLE,
    ),
    Reason.POLICY_RESEND: Words(
        "its outcome stayed unknown, and this installation then sends once more",
        "Nothing: it is tried again, and may arrive twice.",
    ),
    Reason.CARRIED: Words(
        "its outcome stayed unknown, and its events go with the next",
        "Nothing: what was in it may arrive twice.",
    ),
    Reason.CARRIED_INTO: Words(
        "its outcome stayed unknown, and the next one took its events over",
        "Nothing: what was in it may have arrived twice.",
    ),
    Reason.GIVEN_UP: Words(
        "what was in it may have gone out twice, and no delivery event of either "
        "email came: it is not sent a third time",
        "Ask the reader whether it arrived. Late delivery events still settle it; if they never "
        "come, look at the alarm given-up.",
    ),
    Reason.SUPERSEDED: Words(
        "the next one came before anybody had sent it, and took its events over",
        "If that happens often, generate does not keep up: look at the age of its queue.",
    ),
    Reason.EMPTY: Words(
        "nothing waited",
        "If something should have: was it put on the right bus, does `gazette quarantine list` "
        "show it, is its category or follow muted?",
    ),
    Reason.EXPIRED: Words(
        "everything that had waited expired before an email could show it",
        "It is lost to them. Look at the runs before it for what held their emails up so long, and "
        "see that it is over; services may put the events again.",
    ),
    Reason.CATEGORY_HELD: Words(
        "everything that waited is of categories that are held",
        "Its events go with the next digest after they are resumed: `gazette sending status` says "
        "which, and why.",
    ),
    Reason.TOO_LATE: Words(
        "its turn came later than this installation allows (max_lateness)",
        "Its events go with the next. Find out why fan-out was late.",
    ),
    Reason.BATCH_CANCELLED: Words(
        "somebody cancelled the batch of its slot (gazette batch cancel)",
        "Nothing: its events go with the next.",
    ),
    Reason.PREFERENCES_CHANGED: Words(
        "hour, days or time zone were changed while it waited to be sent",
        "Nothing: its events go with the digest of the new hour.",
    ),
    Reason.DAILY_CAP: Words(
        "the cap of a new sending domain (warmup_daily), or what the account may send in 24 hours, "
        "was used up",
        "Its events go with the next, a day later; weekly and custom digests wait for the next day "
        "instead. `gazette batch show` shows both.",
    ),
    Reason.DORMANT: Words(
        "nothing had been seen of them for long",
        "Their next sign of life (subscriber.active) brings the digests back, with its events.",
    ),
    Reason.UNSUBSCRIBED: Words("they had unsubscribed"),
    Reason.SUPPRESSED: Words(
        "their address must not be written to",
        "Put subscriber.changed with another address; `gazette suppression` knows the old one.",
    ),
    Reason.ERASED: Words("they had been erased"),
    Reason.UNKNOWN_SUBSCRIBER: Words(
        "there was no profile of them", "Put subscriber.changed; its events go with the next."
    ),
}

_GIVEN_UP = Words("hour, days or time zone were changed before it went out")
"""A number that a change spent: skipped, where a run that a later one overtook is cancelled."""

DUE: Mapping[Due, str] = {
    Due.PLANNED: "to come",
    Due.OVERDUE: "overdue: fan-out has not started it",
    Due.UNLISTED: "not in the due index, although it should be",
    Due.OFF: "off: nothing goes out to them",
}

OFTEN: Mapping[Frequency, str] = {
    Frequency.NEVER: "never (muted)",
    Frequency.IMMEDIATE: "at once",
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
    """How often something is wanted; what is not known goes with the daily digest."""
    return OFTEN.get(frequency, f"{frequency} ({_OTHER_VERSION}: daily)")


_OTHER_VERSION = "which only another version of Gazette knows"
_DEPLOY_IT = "Nothing goes out until that version is deployed."


def words_for(run: Run) -> Words:
    """Why a run stands where it stands."""
    if (run.status, run.reason) == (Status.SKIPPED, Reason.SUPERSEDED):
        return _GIVEN_UP
    return REASON.get(run.reason, Words(f"{run.reason}, as another version of Gazette says"))
