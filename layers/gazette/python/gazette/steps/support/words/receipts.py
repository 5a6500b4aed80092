"""Sentences about what became of an event."""

from collections.abc import Iterator, Mapping

from gazette.domain.delivery.run import Certainty
from gazette.domain.receipts.receipt import (
    ActivityReceipt,
    Because,
    FollowerOutcomes,
    Receipt,
    ReceiptEmail,
    State,
)
from gazette.domain.scheduling.instants import moment
from gazette.steps.support.words.phrases import counted, listed, name_of

_PROOF: Mapping[Certainty, str] = {
    Certainty.ACCEPTED: "was accepted by the provider",
    Certainty.EVIDENCE: "was sent, as a delivery event proves",
    Certainty.ASSUMED: "is assumed to be sent, because its outcome remained unknown",
    Certainty.UNKNOWN: "may have been sent",
}

OUTCOMES: Mapping[State, str] = {
    State.EMAILED: "emailed",
    State.ASSUMED_EMAILED: "assumed to be emailed",
    State.MAY_HAVE_BEEN_EMAILED: "may have been emailed",
    State.WAITING: "waiting for a digest or an immediate email",
    State.COLLECTING: "waiting for an immediate email that has been started",
    State.WAITS_FOR_PROFILE: "waiting for the profile",
    State.GIVEN_UP: "given up after an unknown outcome",
    State.EXCLUDED: "excluded by the templates",
    State.EXPIRED: "expired before an email was sent",
    State.LAPSED: "lapsed before an email was sent",
    State.SEEN: "seen by the reader before an email was sent",
    State.WITHDRAWN: "withdrawn by an operator before an email was sent",
    State.RETRACTED: "retracted",
    State.NOT_STORED: "not stored: muted, not followed at the time, opted out, or not arrived",
}
"""The meaning of each state in a count of followers, in the order of the output."""


def sentences(receipt: Receipt) -> Iterator[str]:
    """Yield the sentences that state what became of an event. The first one names the state."""
    yield from _LEADS[receipt.state](receipt)
    if receipt.shown_as:
        yield (
            f"Emails show the event {receipt.shown_as} instead of it, because both are about the "
            "same happening (part_of)."
        )
    for email in receipt.emails:
        yield _described(email)
    if receipt.is_held:
        yield (
            f"The category {receipt.category} is on hold, so the event waits until the hold ends. "
            "Run `gazette sending status`."
        )


def _waits_for_profile(_: Receipt) -> Iterator[str]:
    yield (
        "The event waits for the reader's profile. Publish subscriber.changed, and the next email "
        "includes the event."
    )


def _waiting(receipt: Receipt) -> Iterator[str]:
    email = name_of(receipt.schedule)
    match receipt.because:
        case Because.WITHDRAWN:
            yield (
                "No email will contain the event, because an operator withdrew its actor or "
                f"entity. The next run of {email} leaves it out. If the withdrawal is removed "
                "before, an email includes the event. Run `gazette withdraw list`."
            )
        case Because.ENTITY_MUTED:
            yield (
                "No email will contain the event, because the reader muted its entity. The next "
                f"run of {email} removes it. If the reader unmutes the entity before, an email "
                "includes the event."
            )
        case None | Because.LATE | Because.OVER_LIMIT if receipt.next_digest:
            yield f"The event waits for {email}, which is due at {moment(receipt.next_digest)}."
            if receipt.because is Because.LATE:
                yield (
                    "It is not sent immediately, because it occurred more than a day before it "
                    "could be sent."
                )
            if receipt.because is Because.OVER_LIMIT:
                yield (
                    "It is not sent immediately, because the reader had reached the limit of "
                    "immediate emails when it arrived (immediate_limit)."
                )
        case Because.NO_EMAIL_STARTED:
            yield (
                f"The event waits for {email}. The last email about its entity ended without being "
                "sent, so the next event about the entity starts the next email."
            )
        case Because.READER_GETS_NO_EMAIL:
            yield (
                f"The event waits for {email}, but none is scheduled, because the reader gets no "
                f"email at present. Run `gazette explain {receipt.user_id}`."
            )
        case _:
            yield (
                f"The event waits for {email}, which is not scheduled yet. If this lasts for more "
                "than a few minutes, run `gazette dlq list`."
            )


def _collecting(receipt: Receipt) -> Iterator[str]:
    if receipt.because in {Because.ENTITY_MUTED, Because.WITHDRAWN}:
        yield from _waiting(receipt)
        return
    due = f" at {moment(receipt.next_digest)}" if receipt.next_digest else ""
    yield f"The event waits for {name_of(receipt.schedule)}, which is sent{due}."


def _emailed(receipt: Receipt) -> Iterator[str]:
    yield f"The event was emailed{_at(receipt)}."


def _assumed(_: Receipt) -> Iterator[str]:
    yield (
        "The event is assumed to be emailed. The setting `unknown_policy` determines what happens "
        "if the outcome of an email remains unknown."
    )


def _may_have_been_emailed(_: Receipt) -> Iterator[str]:
    yield (
        "The event may have been emailed. A delivery event determines the outcome. If none "
        "arrives, the sweep applies `unknown_policy`."
    )


def _given_up(_: Receipt) -> Iterator[str]:
    yield (
        "The event may have been emailed, and is not sent again, because no delivery event has "
        "arrived. See the runbook page of the alarm given-up."
    )


def _excluded(receipt: Receipt) -> Iterator[str]:
    why = f": {receipt.why}" if receipt.why else ""
    yield (
        f"No email contains the event, because the templates could not show it{why}. Fix the "
        "templates, and publish the event again."
    )


def _expired(receipt: Receipt) -> Iterator[str]:
    yield (
        f"No email contains the event. It expired{_at(receipt)}, because it had waited longer than "
        "events are kept. Find out why it waited, and publish it again."
    )


def _lapsed(receipt: Receipt) -> Iterator[str]:
    at = f" ({moment(receipt.at)})" if receipt.at else ""
    yield (
        f"No email contains the event. Its expires_at{at} passed before an email was sent. No "
        "action is required."
    )


def _seen(receipt: Receipt) -> Iterator[str]:
    at = f" at {moment(receipt.at)}" if receipt.at else ""
    yield (
        f"No email contains the event, because the reader saw its entity{at}, before an email was "
        "sent (entity.seen). No action is required."
    )


def _withdrawn(receipt: Receipt) -> Iterator[str]:
    yield (
        "No email contains the event, because an operator withdrew its actor or entity"
        f"{_at(receipt)}. Run `gazette withdraw list`. If the withdrawal was wrong, remove it, and "
        "publish the event again."
    )


def _retracted(receipt: Receipt) -> Iterator[str]:
    lead = f"A service retracted the event{_at(receipt)}."
    if receipt.because is Because.WAS_NOT_STORED:
        yield (
            f"{lead} The event was not stored then. If it had not arrived, no email contains it. "
            "If its row had been deleted, earlier emails are unknown."
        )
    elif receipt.because is Because.EMAILS_UNKNOWN:
        yield f"{lead} It is not known whether an email contains it."
    elif not receipt.emails:
        yield f"{lead} No email contains it."
    elif any(each.certainty is not Certainty.UNKNOWN for each in receipt.emails):
        yield f"{lead} An email contains it."
    else:
        yield f"{lead} An email may contain it."


def _not_stored(receipt: Receipt) -> Iterator[str]:
    match receipt.because:
        case Because.ERASED:
            yield f"The event is not stored, because the reader was erased{_at(receipt)}."
        case Because.MUTED:
            yield "The event is not stored, because the reader had muted its category."
        case _:
            yield (
                "The event is not stored. It never arrived, it is in quarantine, the reader had "
                "muted or not followed it, the reader had opted out, or its row was deleted. "
                f"Events that arrived after {moment(receipt.known_since)} are not deleted yet. "
                f"Run `gazette quarantine list` and `gazette explain {receipt.user_id}`."
            )


_LEADS = {
    State.WAITS_FOR_PROFILE: _waits_for_profile,
    State.WAITING: _waiting,
    State.COLLECTING: _collecting,
    State.EMAILED: _emailed,
    State.ASSUMED_EMAILED: _assumed,
    State.MAY_HAVE_BEEN_EMAILED: _may_have_been_emailed,
    State.GIVEN_UP: _given_up,
    State.EXCLUDED: _excluded,
    State.EXPIRED: _expired,
    State.LAPSED: _lapsed,
    State.SEEN: _seen,
    State.WITHDRAWN: _withdrawn,
    State.RETRACTED: _retracted,
    State.NOT_STORED: _not_stored,
}


def _at(receipt: Receipt) -> str:
    """Return the time of the state, for the end of a phrase; empty if it is unknown."""
    return f" at {moment(receipt.at)}" if receipt.at else ""


def _described(email: ReceiptEmail) -> str:
    """Describe an email: its run, the proof that it was sent, and its delivery events."""
    sent = f" of {moment(email.sent_at)}" if email.sent_at else ""
    size = f" with {counted(email.events)}" if email.events else ""
    text = f"The email {email.email}{sent}{size} {_PROOF[email.certainty]}."
    if not email.outcomes:
        return text
    times = sorted(email.outcomes.items(), key=lambda each: each[1])
    return f"{text} Delivery events: {listed([f'{name} {moment(at)}' for name, at in times])}."


def of_activity(receipt: ActivityReceipt) -> str:
    """Return a sentence about the row of an activity."""
    if receipt.retracted:
        return "A service retracted the activity."
    if not receipt.stored:
        return (
            "The activity is not stored. It never arrived, it is in quarantine, or its row was "
            "deleted. Run `gazette quarantine list`."
        )
    if not receipt.distributed:
        return "The activity is stored, and is being delivered to its followers."
    return "The activity is stored, and was delivered to its followers."


def of_followers(found: FollowerOutcomes) -> Iterator[tuple[str, int]]:
    """Yield the number of followers with each outcome, for outcomes that have a follower."""
    for state, words in OUTCOMES.items():
        if number := found.outcomes.get(state, 0):
            yield words, number
    if found.others:
        yield "no follower at the time, the actor, or counted already", found.others
    if found.unreadable:
        yield "unreadable row", found.unreadable
