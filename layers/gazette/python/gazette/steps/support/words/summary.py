"""The summary of an explanation, in sentences."""

from collections.abc import Iterator, Sequence

from gazette.domain.delivery.run import BEGINNING, Reason, Status
from gazette.domain.explanation import ExplainedRun, Explanation, Waiting
from gazette.domain.model import Window
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.frequency import DIGESTS, Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression
from gazette.steps.support.reasons import REASON, SUPPRESSED_FOR, outcome, standing
from gazette.steps.support.words.phrases import (
    after,
    clock_time,
    counted,
    listed,
    local,
    name_of,
    named,
    sentence,
    utc,
)
from gazette.steps.support.words.runs import words_in
from gazette.steps.support.words.upcoming import ending, expected, following, late, quiet

_MOST = 3
"""The maximum number of runs in the summary. The table lists all runs."""

_MAYBE = {Status.SENDING, Status.UNKNOWN}


def verdict(found: Explanation) -> list[str]:
    """Return the paragraphs of the summary."""
    return [*(_now(found) if found.on is None else _on_date(found))]


def _now(found: Explanation) -> Iterator[str]:
    yield from _standing(found)
    yield from found.unreadable
    if found.status is None:
        return
    for each in found.outlooks:
        yield from late(each, found)
    for entry in found.runs[:1]:
        when = f"of {local(entry.run.due_at, found.zone)}"
        yield _described(entry, when, found, lead="the latest run was ")
    open_still = [entry for entry in found.runs[1:] if not entry.run.status.is_final]
    for entry in open_still[:_MOST]:
        yield _described(entry, f"of {local(entry.run.due_at, found.zone)}", found)
    if not found.runs:
        yield "No email has been due yet."
    yield from _muted(found, found.runs[:1])
    yield from following(found)
    yield from ending(found)
    if found.status is SubscriberStatus.ACTIVE and found.waiting:
        yield f"Waiting: {'; '.join(map(_waits, _by_place(found.waiting)))}."
    yield from _in_the_digest_instead(
        found.late, "{they} occurred more than a day before {they} could be sent"
    )
    yield from _in_the_digest_instead(
        found.over_limit,
        "the reader had reached the limit of immediate emails when {they} arrived "
        "(immediate_limit)",
    )
    if found.muted:
        yield (
            f"{counted(sum(each.count for each in found.muted))} about things that the reader "
            "muted will not be sent. The next run of their schedule removes them."
        )
    yield from _given_up(found.given_up)
    if found.expired:
        yield f"{_of_categories(found.expired)} expired before being included in an email."
    if found.lapsed:
        yield (
            f"{_of_categories(found.lapsed)} lapsed at the time that the service set (expires_at), "
            "before being included in an email."
        )
    if found.seen:
        yield (
            f"Left out: {_of_categories(found.seen)}, because the reader had already seen their "
            "entities in your product (entity.seen)."
        )
    if found.withdrawn:
        yield (
            f"Left out: {_of_categories(found.withdrawn)}, because an operator withdrew their "
            "actor or entity. To see the withdrawals, run `gazette withdraw list`."
        )
    if found.merged:
        yield (
            f"Not shown: {_of_categories(found.merged)}, because emails show another event of the "
            "same happening (part_of). To see which, run `gazette receipt`."
        )
    if found.held_categories:
        yield (
            f"On hold for all readers: {listed([*map(named, found.held_categories)])}. To see "
            "the reason, run `gazette sending status`. The events are sent once the category is "
            "resumed."
        )


def _on_date(found: Explanation) -> Iterator[str]:
    yield from _lead(found)
    sent_first = sorted(found.runs, key=lambda entry: entry.run.status is not Status.SENT)
    for entry in sent_first[:_MOST]:
        yield _described(entry, f"of {clock_time(entry.run.due_at, found.zone)}", found)
    if len(found.runs) > _MOST:
        more = len(found.runs) - _MOST
        yield f"The table below lists {more} more run{'s' * (more > 1)}."
    nothing_waited = [*quiet(found)]
    yield from nothing_waited
    yield from _muted(found, found.runs, nothing_waited=bool(nothing_waited))
    yield from _standing(found)
    if not found.runs and found.status is SubscriberStatus.ACTIVE:
        yield from expected(found)


def _standing(found: Explanation) -> Iterator[str]:
    """Explain why the reader gets no email at all, regardless of the outcomes of runs."""
    if found.status is not None:
        if found.status is not SubscriberStatus.ACTIVE:
            words = standing(found.status)
            yield f"{found.user_id} is {words.why}. {words.todo}"
        elif found.paused_until:
            yield f"{found.user_id} has paused email until {found.paused_until}."
        if not found.is_allowed:
            yield (
                "The stage does not send to their address, because its setting allowed_recipients "
                f"does not contain it. {REASON[Reason.NOT_ALLOWED].todo}"
            )
        if found.gets_critical and (
            found.status is not SubscriberStatus.ACTIVE or found.paused_until
        ):
            yield f"Critical categories are still sent: {listed([*found.critical])}."
        if found.suppression and found.suppression.cause.value != found.status:
            yield _suppressed(found.suppression)
        if found.status is SubscriberStatus.SUPPRESSED and not found.suppression:
            yield (
                "Their address is no longer suppressed. To resume email, publish "
                "subscriber.changed with a newer changed_at, even if the profile did not change."
            )
        return
    if found.erased_at:
        yield (
            f"{found.user_id} was erased at {utc(found.erased_at)}. Gazette does not send email to "
            "them or store events for them until a later subscriber.changed is published."
        )
        return
    if hint := _hint(found.user_id):
        yield hint
    yield (
        f"Gazette has no profile for {found.user_id}. Check that your services publish "
        "subscriber.changed to the event bus of the stage, that the id is the user_id of your "
        "events, and that `gazette quarantine list` shows no message of this reader."
    )
    if events := sum(each.count for each in found.waiting):
        verb, them = ("is", "it") if events == 1 else ("are", "them")
        yield (
            f"{counted(events)} {verb} waiting for this profile. Publish the profile to send "
            f"{them}."
        )


def _hint(user_id: str) -> str:
    """Return the likely mistake in a user id that has no profile, or ""."""
    if "@" in user_id:
        return (
            "Addresses are not accepted, because Gazette finds readers by the user_id of your "
            "events."
        )
    return "User ids are case-sensitive." if user_id != user_id.lower() else ""


def _suppressed(found: Suppression) -> str:
    why = SUPPRESSED_FOR.get(found.cause, found.cause.value)
    back = (
        "Only the reader can undo this, on the preference page."
        if found.cause is Cause.UNSUBSCRIBED
        else (
            f"To remove the suppression, run `gazette suppression remove {found.address}`. Then "
            "publish subscriber.changed with a newer changed_at."
        )
    )
    return f"Their address has been suppressed since {utc(found.since)} because {why}. {back}"


def _lead(found: Explanation) -> Iterator[str]:
    """State that no email was sent on the date, or that the outcome is not yet known."""
    today = found.now.astimezone(found.zone).date()
    if found.on is None or any(entry.run.status is Status.SENT for entry in found.runs):
        return
    if found.on > today:
        yield f"{found.on} is in the future."
    elif any(entry.run.status in _MAYBE or entry.run.uncertain for entry in found.runs):
        yield f"It is not yet known whether an email was sent on {found.on}."
    else:
        so_far = " so far" if found.on == today else ""
        none_due = "" if found.runs else ", because no run was due"
        yield f"No email was sent on {found.on}{so_far}{none_due}."


def _described(entry: ExplainedRun, when: str, found: Explanation, *, lead: str = "") -> str:
    """Describe the outcome of a run and the reason. If the run was sent, add the window of its
    events.
    """
    run, words = entry.run, words_in(entry, found)
    what = f"{lead}{name_of(run.key.schedule, entry.about)} {when}{', which' if lead else ''}"
    proof = f" (message id {run.message_id})" if run.message_id else ""
    if run.sent_at and run.status is Status.SENT:
        proof += f" at {utc(run.sent_at)}, {after(run.sent_at - run.due_at)}"
    code = f" ({run.detail})" if run.detail else ""
    text = f"{sentence(what)} {outcome(run)}: {words.why}{proof}{code}."
    if run.overtaken:
        text += (
            " Sending was stopped too late for this email, because a worker had already claimed it."
        )
    if run.status is Status.SENT and run.window:
        return f"{text} It covers {_window(run.window, found)}."
    ends_by = max(run.check_at, run.due_at)
    if entry.dead and not run.status.is_final:
        return f"{text} {words.todo}"
    if not run.status.is_final and found.now > ends_by:
        return f"{text} It should have ended by {utc(ends_by)}. {words.todo}"
    return text


def _of_categories(some: Sequence[Waiting]) -> str:
    """Return the number of events and the names of their categories."""
    categories = dict.fromkeys(named(each.category) for each in some)
    return f"{counted(sum(each.count for each in some))} of {listed([*categories])}"


def _in_the_digest_instead(events: tuple[Waiting, ...], because: str) -> Iterator[str]:
    """Count events that wait for the daily digest, with the reason, which names them as `they`."""
    if number := sum(each.count for each in events):
        verb, they = ("waits", "it") if number == 1 else ("wait", "they")
        yield (
            f"{counted(number)} {verb} for the daily digest instead of an immediate email, because "
            f"{because.format(they=they)}."
        )


def _given_up(given_up: tuple[Waiting, ...]) -> Iterator[str]:
    """List events that are not sent again because they may already have been sent."""
    places = _by_place(given_up)
    if twice := [place for place in places if place[0] != Unsent.GIVEN_UP]:
        yield (
            f"Not sent again: {'; '.join(map(_waits, twice))}. They may have been sent twice, "
            "without a delivery event for either email."
        )
    for _, _, events in (place for place in places if place[0] == Unsent.GIVEN_UP):
        yield (
            f"Not sent again: {counted(events)} that may have been sent in an email without a "
            f"delivery event. Since then, {'it has' if events == 1 else 'they have'} expired or "
            f"lapsed, or the templates can no longer show {'it' if events == 1 else 'them'}."
        )


def _window(window: Window, found: Explanation) -> str:
    until = local(window.until, found.zone)
    if window.since <= BEGINNING:
        return f"events stored up to {until}"
    return f"events stored after {local(window.since, found.zone)}, up to {until}"


def _muted(
    found: Explanation, runs: tuple[ExplainedRun, ...], *, nothing_waited: bool = False
) -> Iterator[str]:
    """List the categories, follows and things that the reader muted, if no event was waiting."""
    empty = any(entry.run.reason in {Reason.EMPTY, Reason.NOTHING_WAITED} for entry in runs)
    if not found.status or not (empty or nothing_waited):
        return
    categories = [
        named(each.category) for each in found.choices if each.frequency is Frequency.NEVER
    ]
    follows = [each.entity for each in found.overrides if each.frequency is Frequency.NEVER]
    things = [each.entity for each in found.mutes]
    if muted := [*categories, *follows, *things]:
        yield f"Muted by the reader: {listed(muted)}. Their events are not sent."


def _by_place(waiting: tuple[Waiting, ...]) -> list[tuple[str, str, int]]:
    """Count the waiting events by schedule and entity, across all categories."""
    places = dict.fromkeys((each.schedule, each.about) for each in waiting)
    ordered = sorted(places, key=lambda place: place[0] not in set(DIGESTS))
    return [
        (schedule, about, sum(each.count for each in waiting if each.schedule == schedule))
        for schedule, about in ordered
    ]


def _waits(place: tuple[str, str, int]) -> str:
    schedule, about, events = place
    if schedule == Unsent.EXCLUDED:
        return (
            f"{counted(events)} excluded because the templates could not show them; publish the "
            "events again"
        )
    return f"{counted(events)} for {name_of(schedule, about)}"
