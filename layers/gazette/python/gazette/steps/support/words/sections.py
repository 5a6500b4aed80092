"""The tables of an explanation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gazette.domain.delivery.run import BEGINNING
from gazette.domain.explanation import Choice, ExplainedRun, Explanation, Waiting
from gazette.domain.identity import run_id
from gazette.domain.model import Schedule
from gazette.domain.scheduling.kinds import is_critical
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.support.reasons import DUE, often, standing
from gazette.steps.support.words.phrases import (
    bare_utc,
    counted,
    local,
    made_with,
    name_of,
    named,
    recurring,
    times,
    utc,
)
from gazette.steps.support.words.runs import words_in
from gazette.steps.support.words.summary import verdict


@dataclass(frozen=True, slots=True)
class Section:
    """A table of an explanation."""

    name: str
    columns: tuple[str, ...]

    # The cells of each row, one per column. A cell may be empty.
    rows: Sequence[tuple[str, ...]]

    # The text to show if there are no rows.
    nothing: str = ""


def sections(found: Explanation) -> list[Section]:
    """Return the summary, followed by the tables on which the summary is based."""
    return [
        Section("answer", ("answer",), [(each,) for each in verdict(found)]),
        Section("reader", ("field", "value"), list(_reader(found))),
        Section(
            "schedule",
            ("schedule", "when", "state", "local time", "UTC"),
            list(_schedules(found)),
            "No schedule.",
        ),
        Section(
            "choice",
            ("category or follow", "how often", "source of the choice"),
            list(_choices(found)),
            "No choices. Every category is daily.",
        ),
        Section(
            "waiting",
            WAITING,
            list(_waiting(found)),
            "No waiting events.",
        ),
        Section("given up", WAITING, list(_rows(found.given_up, "not sent again"))),
        Section("run", RUN, [_run(entry, found) for entry in found.runs], "No runs."),
    ]


WAITING = ("email", "category", "events", "oldest (UTC)", "newest (UTC)")

RUN = (
    "local time",
    "UTC",
    "email",
    "run",
    "status",
    "reason",
    "meaning",
    "what to do",
    "attempts",
    "provider's code",
    "message id",
    "templates",
    "times",
    "window",
    "covers",
)


def _reader(found: Explanation) -> Iterator[tuple[str, str]]:
    yield "user id", found.user_id
    yield "status", _status(found)
    if found.time_zone and found.zone.key != found.time_zone:
        yield "time zone", f"{found.time_zone}, which is not a known time zone, so times are in UTC"
    else:
        yield "time zone", found.zone.key
    yield "local time now", f"{local(found.now, found.zone)} ({utc(found.now)})"
    if found.changed_at:
        yield "profile changed", utc(found.changed_at)
    if found.paused_until:
        yield "paused until", f"{found.paused_until}"
    if found.quiet_hours:
        yield "quiet hours", f"{found.quiet_hours}"
    if found.registered_on:
        yield "registered", f"{found.registered_on}"
    yield "last activity", f"{found.active_on}" if found.active_on else "none"
    if found.dormant_at:
        yield "dormant without activity", utc(found.dormant_at)
    yield "follows", f"{found.follows}"


def _status(found: Explanation) -> str:
    if found.status is None:
        return f"erased at {utc(found.erased_at)}" if found.erased_at else "unknown"
    back = f"; erased at {utc(found.erased_at)}, and registered again" if found.erased_at else ""
    return f"{standing(found.status).why}{back}"


def _schedules(found: Explanation) -> Iterator[tuple[str, ...]]:
    for each in found.outlooks:
        schedule = each.schedule
        label = (schedule.name, recurring(schedule.recurrence))
        states = [DUE[each.due], *["then"] * (len(each.next) - 1)]
        if not each.next:
            yield (*label, states[0], "", "")
        for state, at in zip(states, each.next, strict=False):
            yield (*label, state, local(at, found.zone), bare_utc(at))
        if schedule.sources:
            yield (*label, _fetched(schedule), "", "")


def _fetched(schedule: Schedule) -> str:
    """Describe the content sources of a schedule and the last fetch."""
    sources = f"shows {', '.join(schedule.sources)}"
    if schedule.fetched_at is None:
        return f"{sources}; never fetched"
    due = f", for {utc(schedule.fetched_for)}" if schedule.fetched_for else ""
    return f"{sources}; last fetched at {utc(schedule.fetched_at)}{due}"


def _choices(found: Explanation) -> Iterator[tuple[str, ...]]:
    chosen = f"chosen at {utc(found.chosen_at)}" if found.chosen_at else "chosen"
    for each in found.choices:
        whose = _whose(each, chosen)
        if each.category in found.critical:
            whose = f"critical, so choices have no effect; {whose}"
        yield named(each.category), often(each.frequency), whose
    for override in found.overrides:
        yield override.entity, often(override.frequency), f"this follow, at {utc(override.since)}"
    for mute in found.mutes:
        yield mute.entity, "never", f"muted at {utc(mute.at)}"


def _whose(choice: Choice, chosen: str) -> str:
    default = f"the default is {often(choice.default)}" if choice.default else "there is no default"
    return f"{chosen}; {default}" if choice.chosen else default


def _waiting(found: Explanation) -> Iterator[tuple[str, ...]]:
    is_stopped = found.status in {SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED}
    for each in found.waiting:
        is_sent = not is_stopped or (is_critical(each.schedule) and found.gets_critical)
        yield from _rows([each], "" if is_sent else "not sent")
    yield from _rows(found.muted, "muted, not sent")
    yield from _rows(found.expired, "expired")
    yield from _rows(found.lapsed, "lapsed")
    yield from _rows(found.seen, "seen")
    yield from _rows(found.withdrawn, "withdrawn")
    yield from _rows(found.merged, "shown as another event")


def _rows(waiting: Iterable[Waiting], note: str) -> Iterator[tuple[str, ...]]:
    for each in waiting:
        place = name_of(each.schedule, each.about) + (f" ({note})" if note else "")
        yield place, each.category, f"{each.count}", bare_utc(each.oldest), bare_utc(each.newest)


def _run(entry: ExplainedRun, found: Explanation) -> tuple[str, ...]:
    run, words = entry.run, words_in(entry, found)
    window = ""
    if run.window:
        since = "the beginning" if run.window.since <= BEGINNING else bare_utc(run.window.since)
        window = f"{since} to {utc(run.window.until)}"
    return (
        local(run.due_at, found.zone),
        bare_utc(run.due_at),
        name_of(run.key.schedule, entry.about),
        run_id(run.key),
        run.status.value,
        run.reason.value,
        words.why,
        words.todo,
        f"{run.attempt}",
        run.detail,
        run.message_id,
        made_with(run),
        times(run),
        window,
        ", ".join(f"{category}: {counted(events)}" for category, events in entry.covers),
    )
