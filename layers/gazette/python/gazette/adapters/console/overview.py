"""The page that CloudWatch shows: the state of the queues, their messages, and two forms."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.markup import (
    Cell,
    Html,
    element,
    field,
    form,
    joined,
    paragraph,
    table,
    without_addresses,
)
from gazette.adapters.console.style import Tone, heading, page
from gazette.adapters.console.values import Assessed, Overview, QuarantineState, QueueState
from gazette.domain.console.orders import EVERY_QUEUE
from gazette.domain.dead_letters import QUARANTINE
from gazette.domain.identity import run_id
from gazette.domain.scheduling.instants import in_units, moment

FIRST = 10
"""The number of messages that the first page shows of each queue."""

MORE = 50
"""The number of messages that the page of one queue shows."""

_EMPTY = "All queues are empty"
_SAFE = "Safe: an email follows"
_DONE = "Sent already"
_UNKNOWN = "Unknown outcome"
_UNWANTED = "Not wanted"
EFFECTS: Mapping[str, str] = {
    **dict.fromkeys(("sends", "waits", "starts_next", "goes_with"), _SAFE),
    "again": "Safe: processed again",
    **dict.fromkeys(("already_sent", "sent_since"), _DONE),
    **dict.fromkeys(("unknown", "being_sent"), _UNKNOWN),
    **dict.fromkeys(("not_wanted", "too_late", "paused", "no_schedule", "no_such_run"), _UNWANTED),
    **dict.fromkeys(("unreadable", "fails_again"), "Fails again"),
    "stays": "Stays",
}
"""The heading of each effect of a redrive."""

WHO = (
    "CloudWatch does not tell this page who you are. The log of the function records each redrive "
    "with its messages and its time, but not a person. AWS records who invoked the function, in "
    "the data events of CloudTrail, if your account logs data events of Lambda."
)
"""The text about records of persons."""


def first_page(overview: Overview, buttons: Buttons, *, theme: str) -> Html:
    """Return the page of all queues. Its first line is the verdict."""
    first = verdict(overview)
    parts = [
        heading(first, tone=Tone.GOOD if first == _EMPTY else Tone.BAD),
        paragraph(f"Stage {overview.stage}, at {moment(overview.at)}.", class_="gz-hint"),
        _queues(overview, buttons),
    ]
    parts += [_letters(state, buttons) for state in overview.queues if state.letters]
    parts += [
        _quarantine(overview.quarantine),
        _selections(buttons),
        _questions(buttons),
        paragraph(WHO, class_="gz-hint"),
    ]
    return page(*parts, theme=theme)


def queue_page(overview: Overview, buttons: Buttons, *, theme: str) -> Html:
    """Return the page of the messages of one queue."""
    (state,) = overview.queues
    messages = (
        _letters(state, buttons)
        if state.letters
        else paragraph(f"The queue {state.dead.name} is empty.")
    )
    return page(buttons.back(), messages, theme=theme)


def verdict(overview: Overview) -> str:
    """Return the number of queues that need attention."""
    numbers = [*(state.waiting for state in overview.queues), overview.quarantine.waiting]
    unread = numbers.count(None)
    waiting = sum(bool(number) for number in numbers)
    cannot = f"{unread} queue{'s' * (unread > 1)} cannot be read" if unread else ""
    if waiting:
        need = "queue needs" if waiting == 1 else "queues need"
        return "; ".join(filter(None, (f"{waiting} {need} attention", cannot)))
    return cannot or _EMPTY


def _queues(overview: Overview, buttons: Buttons) -> Html:
    rows = [_queue(state, buttons, overview.at) for state in overview.queues]
    quarantine = overview.quarantine
    oldest = quarantine.events[0].since if quarantine.events else None
    age = _age(oldest, overview.at, more=len(quarantine.events) < (quarantine.waiting or 0))
    rows.append((QUARANTINE, _number(quarantine.waiting), age, _of_quarantine(quarantine, buttons)))
    columns = ("Queue", "Messages", "Oldest message", "Actions")
    everything = any(state.waiting and state.dead.source for state in overview.queues)
    return joined(
        table("Queues that must be empty", columns, rows),
        buttons.plan("Redrive all queues…", queue=EVERY_QUEUE) if everything else Html(),
    )


def _queue(state: QueueState, buttons: Buttons, now: datetime) -> tuple[Cell, ...]:
    name = state.dead.name
    oldest = state.letters[0].letter.since if state.letters else None
    age = _age(oldest, now, more=len(state.letters) < (state.waiting or 0))
    actions = Html()
    if state.waiting:
        redrive = buttons.plan("Redrive…", about=name, queue=name) if state.dead.source else Html()
        actions = joined(buttons.messages(name), redrive)
    return name, _number(state.waiting), age, actions


def _of_quarantine(quarantine: QuarantineState, buttons: Buttons) -> Html:
    if not quarantine.waiting:
        return Html()
    return buttons.plan("Redrive…", about="the quarantine", queue=QUARANTINE)


def _letters(state: QueueState, buttons: Buttons) -> Html:
    name, waiting = state.dead.name, state.waiting or 0
    number = len(state.letters)
    of = _of(number, waiting, "message")
    columns = ("Message", "Arrived", "Received", "Why it failed", "A redrive", "Action")
    rows = [_letter(each, buttons) for each in state.letters]
    return joined(element("h3", name), table(f"{name}: {of}", columns, rows))


def _letter(assessed: Assessed, buttons: Buttons) -> tuple[Cell, ...]:
    letter = assessed.letter
    about = letter.about if letter.key else without_addresses(letter.about)
    action = Html()
    if letter.dead.source and letter.is_ours:
        action = buttons.plan("Redrive…", about=about, queue=letter.dead.name, message=letter.id)
    if letter.key:
        run = run_id(letter.key)
        of_run = buttons.plan("Redrive run…", about=run, queue=EVERY_QUEUE, run=run)
        action = joined(action, of_run)
    effect = joined(element("strong", EFFECTS[assessed.effect]), f": {assessed.why}")
    received = f"{letter.received} time{'s' * (letter.received != 1)}"
    return about, moment(letter.since), received, assessed.cause, effect, action


def _quarantine(quarantine: QuarantineState) -> Html:
    if not quarantine.events:
        return Html()
    number, waiting = len(quarantine.events), quarantine.waiting or 0
    of = _of(number, waiting, "event")
    rows = [
        (moment(each.since), without_addresses(each.detail_type), without_addresses(each.reason))
        for each in quarantine.events
    ]
    return joined(
        element("h3", "Quarantine"),
        paragraph("These events do not match their schema. Fix their service before a redrive."),
        table(f"quarantine: {of}", ("Arrived", "Detail type", "Wrong field and reason"), rows),
    )


def _selections(buttons: Buttons) -> Html:
    return joined(
        element("h3", "Redrive selected runs"),
        form(
            field("selected-run", "Run", example="ann-daily-17"),
            field("selected-slot", "Slot in UTC", example="2026-11-22T06:10Z"),
            field("selected-date", "Date in UTC", example="2026-11-22"),
            label="Select runs",
        ),
        buttons.plan("Show what a redrive would do…", queue=EVERY_QUEUE, by="form"),
    )


def _questions(buttons: Buttons) -> Html:
    return joined(
        element("h3", "Find out what happened"),
        form(
            field("user", "User id", example="ann"),
            field("event", "Event id", example="comment-4711"),
            field("run", "Run", example="ann-daily-17"),
            label="Ask about a reader, an event or a run",
        ),
        buttons.ask("Explain the reader", "explain"),
        buttons.ask("Receipt of the event", "receipt"),
        buttons.ask("Find the run", "run"),
    )


def _of(number: int, waiting: int, noun: str) -> str:
    total = f"{max(number, waiting):,} {noun}{'s' * (max(number, waiting) != 1)}"
    return f"{number} of {total}" if waiting > number else total


def _number(waiting: int | None) -> str:
    return "cannot be read" if waiting is None else f"{waiting:,}"


def _age(oldest: datetime | None, now: datetime, *, more: bool) -> str:
    """Describe the age of the oldest message that was read. `more` means that others exist."""
    if oldest is None:
        return ""
    minutes = max(now - oldest, timedelta(0)) // timedelta(minutes=1)
    words = next(in_units(60 * minutes), "less than a minute")
    return f"{words} or older" if more else words
