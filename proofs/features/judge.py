"""The verdict on a history, from its emails, its rows and the record of wanted events."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from datetime import date, datetime, timedelta
from itertools import combinations, combinations_with_replacement
from zoneinfo import ZoneInfo

from gazette.domain.content.items import source_of
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.scheduling.cap import DAY, HOUR, ImmediateLimit
from gazette.domain.scheduling.kinds import Unsent

from proofs.features.town import Ban, Town, Wanted
from proofs.invariants import (
    accepted_too_often,
    ended_badly,
    excused,
    in_too_many_emails,
    missing,
    unknown_for_ever,
    waits_for,
    why_unsent,
)
from proofs.prove.life import Life
from proofs.prove.provider import Taken
from proofs.prove.verdict import why_not_twice

_NEEDS_A_REASON = {"gone", "retracted", "seen", "waits for a reader who left", "withdrawn"}
_LET_GO = {"unsubscribed", "suppressed", "erased", "unknown_subscriber"}
"""The reasons of runs that ended without sending their immediate events, and the actions that each
requires.
"""


_STALLED = timedelta(hours=1)
"""The longest time between a worker's check for expired events and its claim."""


@dataclass
class Outcome:
    """The verdict on one history.

    `ends` counts events by outcome. `copies` counts events by the number of emails that contained
    them. `receipts` is the number of receipts that were compared with the emails.
    """

    violations: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    copies: Counter[int] = field(default_factory=Counter)
    receipts: int = 0


def judge(life: Life, town: Town) -> Outcome:
    """Return the verdict on a history in which no work remains."""
    outcome = Outcome()
    runs, taken, policy = life.runs(), life.provider.taken, life.scenario.policy
    shown = [(one.key.user_id, event) for one in taken for event in one.shows]
    items = [each for each in shown if source_of(each[1])]
    shown = [each for each in shown if not source_of(each[1])]
    outcome.violations += in_too_many_emails(
        [(user_id, happening) for one in taken for user_id, happening in happenings(town, one)],
        policy,
    )
    outcome.violations += in_too_many_emails(
        [each for each in items if not town.people[each[0]].erased[0]], policy
    )
    outcome.violations += accepted_too_often((one.key for one in taken), policy)
    outcome.violations += ended_badly(runs, policy)
    outcome.violations += unknown_for_ever(runs)
    schedules = [
        one for who in life.scenario.readers for one in life.onlooker.schedules.of_user(who)
    ]
    outcome.violations += missing(schedules, runs)
    outcome.violations += (
        f"unwanted: {event} of {user_id}"
        for user_id, event in shown
        if (user_id, event) not in town.wanted
    )
    together: dict[tuple[str, str], list[Wanted]] = {}
    for wanted in town.wanted.values():
        together.setdefault((wanted.user_id, wanted.happening), []).append(wanted)
    for bodies in together.values():
        outcome.violations += _of_happening(life, town, bodies, outcome)
    by_key = {run.key: run for run in runs}
    outcome.violations += _unproven(life, by_key)
    outcome.violations += _twice_a_day(life, town, by_key)
    for ban in town.bans:
        outcome.violations += _of_ban(life, town, ban, by_key)
    return outcome


def happenings(town: Town, taken: Taken) -> set[tuple[str, str]]:
    """Return the happenings that an email shows, by reader."""
    user_id = taken.key.user_id
    return {
        (user_id, town.wanted[user_id, each].happening)
        for each in taken.shows
        if (user_id, each) in town.wanted
    }


def _of_happening(life: Life, town: Town, bodies: list[Wanted], outcome: Outcome) -> Iterable[str]:
    """Yield the broken promises of the events about one happening, often of one event.

    One email shows one of them. A visit or a withdrawal concerns each by itself. An erasure ends
    what was known about the happening.
    """
    user_id, ids = bodies[0].user_id, {one.event_id for one in bodies}
    name = f"{' and '.join(sorted(ids))} of {user_id}"
    emails = [one for one in life.provider.taken if one.key.user_id == user_id and ids & one.shows]
    outcome.copies.update(sum(one.event_id in each.shows for each in emails) for one in bodies)
    is_new = bool(town.people[user_id].erased[0])
    for earlier, later in combinations(emails, 2):
        is_same = bool(ids & earlier.shows & later.shows)
        if (is_same or not is_new) and (why := why_not_twice(life, earlier, later)):
            yield f"G2: {name} is in {earlier.key} and in {later.key}: {why}"
    for each in emails:
        if len(ids & each.shows) > 1 and not is_new:
            yield f"rule 30: {each.key} shows {name}"
    for one in bodies:
        for each in emails:
            ended = one.lapses_at if one.event_id in each.shows else None
            if ended and town.time_of(each.claim_call) > ended + _STALLED:
                yield f"rule 21: {name} lapsed at {ended}, and {each.key} was claimed later"
    if emails:
        outcome.ends["sent"] += len(bodies)
        yield from _not_strongest(life, town, bodies, emails[0])
        return
    for one in bodies:
        yield from _of_unsent(life, town, one, outcome)


def _not_strongest(life: Life, town: Town, bodies: list[Wanted], first: Taken) -> Iterable[str]:
    """Yield a first email that shows a followed event, although an event for the reader was stored
    before the claim.

    An event whose reader may not want it is not considered, nor a row that may have been sent.
    """
    run = next((run for run in life.runs() if run.key == first.key), None)
    followed = {one.event_id for one in bodies if one.is_followed}
    if run is None or not followed & first.shows or town.is_doubtful(first, run):
        return
    for one in bodies:
        since = life.acknowledged.get(one.key)
        is_early = since is not None and since <= first.claim_call
        if is_early and not one.forgone and town.row_of(one) == one.happening:
            yield f"rule 30: {first.key} shows {sorted(followed)} instead of {one.event_id}"


def _of_unsent(life: Life, town: Town, wanted: Wanted, outcome: Outcome) -> Iterable[str]:
    """Yield the broken promise of an event that is in no email, unless there is a reason."""
    name, forgone = f"{wanted.event_id} of {wanted.user_id}", wanted.forgone
    end = _end_of(life, wanted.user_id, town.row_of(wanted))
    outcome.ends[end] += 1
    reason = end.partition("(")[2].rstrip(")")
    is_stuck = reason == Reason.ATTEMPTS_EXHAUSTED and not town.people[wanted.user_id].has_paused
    if end == "LOST":
        yield f"G1: {name} is LOST {sorted(forgone)}"
    elif (end in _NEEDS_A_REASON or reason in _LET_GO or is_stuck) and not forgone:
        yield f"G1: {name} was wanted, and is in no email: {end}"


def _end_of(life: Life, user_id: str, row_id: str) -> str:
    """Return the outcome of an event, also if a policy gave it up and its row was deleted since."""
    end = why_unsent(life.onlooker, user_id, row_id)
    row = life.onlooker.events.rows.get((user_id, row_id))
    if end != "gone" or not isinstance(row, StoredEvent):
        return end
    if row.schedule == Unsent.EXPIRED:
        return "expired"
    if row.schedule in {Unsent.EXCLUDED, Unsent.GIVEN_UP}:
        return "set aside"
    return excused(row, life.runs()) or waits_for(life.onlooker, row) or "LOST"


def _unproven(life: Life, runs: Mapping[RunKey, Run]) -> Iterable[str]:
    """Return the runs with a delivery event that are not marked as sent (rule 8)."""
    for event in life.delivery_events:
        run = runs.get(event.run) if event.run else None
        if run and run.knows(event.attempt) and run.status is not Status.SENT:
            yield f"rule 8: {run.key} is {run.status} after its delivery event"


def _twice_a_day(life: Life, town: Town, runs: Mapping[RunKey, Run]) -> Iterable[str]:
    """Return dates on which a reader got two daily digests (rule 1). A redrive counts for its own
    date.
    """
    redriven = {key.user_id for key, run in runs.items() if run.refusals}
    keys = {taken.key for taken in life.provider.taken if taken.key.schedule == DAILY}
    dates: dict[tuple[str, date], RunKey] = {}
    for key in sorted(keys, key=astuple):
        if key.user_id in redriven:
            continue
        person = town.people[key.user_id]
        on = runs[key].due_at.astimezone(ZoneInfo(person.zone)).date()
        first = dates.setdefault((key.user_id, on), key)
        if first != key and not person.has_moved and not person.erased[0]:
            yield f"rule 1: {first} and {key} are digests of {on}"


def _of_ban(life: Life, town: Town, ban: Ban, runs: Mapping[RunKey, Run]) -> Iterable[str]:
    since = life.acknowledged.get(ban.key)
    if since is None:
        return
    for taken in life.provider.taken:
        run = runs.get(taken.key)
        if run is None or not _holds(life, town, ban, since, taken):
            continue
        if ban.hits(taken, run):
            yield f"rule 11: {taken.key}, attempt {taken.attempt}, was claimed although {ban.key}"


def _holds(life: Life, town: Town, ban: Ban, since: int, taken: Taken) -> bool:
    """Return True if the ban was in force when the email was claimed."""
    if ban.after is None:
        return since <= taken.claim_call and (ban.until is None or taken.claim_call < ban.until)
    at = town.time_of(taken.claim_call)
    is_over = ban.until is not None and at >= town.time_of(ban.until)
    return at >= town.time_of(since) + ban.after and not (is_over and ban.what != "paused")


def too_often(life: Life, town: Town, limit: ImmediateLimit, *, slack: int) -> Iterable[str]:
    """Return the periods in which a reader got more immediate emails than the limit allows (rule
    28).

    Each struck worker may exceed the limit by one email. Emails without a new event, which follow
    an unknown outcome or a redrive, do not count. Neither do critical emails and requested links.
    An erasure ends the usage of a reader.
    """
    runs = {run.key: run for run in life.runs()}
    for user_id, person in town.people.items():
        begun, known = set[datetime](), set[tuple[str, str]]()
        for one in life.provider.taken:
            run = runs.get(one.key)
            if one.key.user_id != user_id or run is None or not _is_limited(run):
                continue
            if new := happenings(town, one) - known:
                begun.add(run.created_at or run.due_at)
                known |= new
        if person.erased[0]:
            continue
        for first, last in combinations_with_replacement(sorted(begun), 2):
            number = sum(first <= at <= last for at in begun)
            for most, period in ((limit.per_hour, HOUR), (limit.per_day, DAY)):
                if number > most + (last - first) // (period // most) + slack:
                    yield f"rule 28: {user_id} got {number} immediate emails within {last - first}"


def _is_limited(run: Run) -> bool:
    is_link = set(run.categories) == {NEW_LINK}
    return run.key.is_immediate and not run.key.is_critical and not is_link


def rested(life: Life, naps: Iterable[tuple[str, object, object]]) -> Iterable[str]:
    """Return digests that came due for dormant readers: the reader, and the start and end of the
    time.
    """
    due = {run.key: run.due_at for run in life.runs()}
    exhausted = {(run.key.user_id, run.key.schedule) for run in life.runs() if run.refusals}
    for user_id, since, until in naps:
        for taken in life.provider.taken:
            key = taken.key
            if key.user_id != user_id or key.is_immediate or key not in due:
                continue
            if (key.user_id, key.schedule) not in exhausted and since < due[key] < until:  # type: ignore[operator]
                yield f"dormant: {key} came due while {user_id} was dormant"
