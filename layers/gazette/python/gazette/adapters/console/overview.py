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

ALL_ERRORS = (
    'fields @timestamp, message_id, correlation_id, exception | filter message = "message failed" '
    "| sort @timestamp desc"
)
"""The query of CloudWatch Logs Insights for the errors of all messages."""

_SHORT = 8
"""The number of characters of a message id to show."""

FIRST = 10
"""The number of messages that the first page shows of each queue."""

MORE = 50
"""The number of messages that the page of one queue shows."""

_EMPTY = "All queues are empty"
SAFE = "Safe: sent once, if the cause is fixed"
"""The heading of the effects after which an email follows."""

AGAIN = "again"
"""The effect of messages that their function processes like new ones."""

_DONE = "Sent already"
_NO_EMAIL = "No email"
EFFECTS: Mapping[str, str] = {
    **dict.fromkeys(("sends", "waits", "starts_next", "goes_with"), SAFE),
    AGAIN: "Safe: processed again",
    **dict.fromkeys(("already_sent", "sent_since"), _DONE),
    "unknown": "Unknown outcome",
    "being_sent": "Being sent",
    **dict.fromkeys(("not_wanted", "too_late", "paused", "no_schedule", "no_such_run"), _NO_EMAIL),
    **dict.fromkeys(("unreadable", "fails_again"), "Fails again"),
    "stays": "Stays",
}
"""The heading of each effect of a redrive."""


def who(stage: str) -> Html:
    """Return the text about the records of redrives."""
    return paragraph(
        f"The log /aws/lambda/gazette-{stage}-support_redrive has a line for each redrive of this "
        "page, with its queue, selection, number of messages and time. It has no line for redrives "
        "of the command line and of the SQS console. CloudWatch does not tell this page who you "
        "are. AWS records who called a function or SQS in the data events of CloudTrail, if your "
        "account logs them.",
        class_="gz-hint",
    )


def first_page(overview: Overview, buttons: Buttons, *, theme: str) -> Html:
    """Return the page of all queues. Its first line is the verdict."""
    first = verdict(overview)
    parts = [
        heading(first, tone=Tone.GOOD if first == _EMPTY else Tone.BAD),
        paragraph(f"Stage {overview.stage}, at {moment(overview.at)}.", class_="gz-hint"),
        _questions(buttons),
        _queues(overview, buttons),
    ]
    parts += [_letters(state, buttons) for state in overview.queues if state.letters]
    parts += [
        _quarantine(overview.quarantine),
        selections(buttons),
        who(overview.stage),
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
    every = joined(
        buttons.plan("Redrive all queues…", queue=EVERY_QUEUE),
        paragraph("This does not include the quarantine.", class_="gz-hint"),
    )
    return joined(
        table("Queues that must be empty", columns, rows), every if everything else Html()
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
    state_of = "State of the run" if state.dead.names_runs else "What happened"
    columns = ("Message", "Arrived", state_of, "A redrive", "Query for the log", "Action")
    rows = [_letter(each, buttons) for each in state.letters]
    return joined(element("h3", name), _how_to_search(state), table(f"{name}: {of}", columns, rows))


def _how_to_search(state: QueueState) -> Html:
    """Return how to find the errors of a queue's messages in the log of the function."""
    if not state.log:
        return Html()
    of_message = " or the query of a message" if any(each.query for each in state.letters) else ""
    return paragraph(
        "The log of the function has the error of each message. In CloudWatch, choose Logs "
        "Insights and the log group ",
        element("code", state.log),
        ", and run ",
        element("code", ALL_ERRORS),
        f"{of_message}.",
    )


def _letter(assessed: Assessed, buttons: Buttons) -> tuple[Cell, ...]:
    letter = assessed.letter
    about = letter.about if letter.key else without_addresses(letter.about)
    action = Html()
    if letter.key:
        run = run_id(letter.key)
        action = buttons.plan("Redrive…", about=f"run {run}", queue=EVERY_QUEUE, run=run)
    elif letter.dead.source and letter.is_ours:
        action = buttons.plan("Redrive…", about=about, queue=letter.dead.name, message=letter.id)
    effect = joined(element("strong", EFFECTS[assessed.effect]), f": {assessed.why}")
    query = element("code", assessed.query) if assessed.query else ""
    message = joined(about, element("span", f"message {short(letter.id)}", class_="gz-hint"))
    return message, moment(letter.since), assessed.state, effect, query, action


def short(message_id: str) -> str:
    """Return the first characters of the id of a message."""
    return message_id if len(message_id) <= _SHORT else f"{message_id[:_SHORT]}…"


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


def selections(
    buttons: Buttons, given: Mapping[str, str] | None = None, *, heading: str = "h3"
) -> Html:
    """Return the form that selects runs, with the values that were given before."""
    before = given or {}
    fields = (
        ("selected-run", "Run", "ann-daily-17"),
        ("selected-slot", "Slot in UTC", "2026-11-22T06:10Z"),
        ("selected-date", "Due date in UTC", "2026-11-22"),
    )
    return joined(
        element(heading, "Redrive selected runs"),
        form(
            *(
                field(name, label, example=example, value=before.get(name, ""))
                for name, label, example in fields
            ),
            label="Select runs",
        ),
        buttons.plan("Show what a redrive would do…", queue=EVERY_QUEUE, by="form"),
    )


def _questions(buttons: Buttons) -> Html:
    explain = buttons.ask("Explain the reader", "explain")
    receipt = buttons.ask("Receipt of the event", "receipt")
    return joined(
        element("h3", "Find out what happened"),
        form(
            field("user", "User id", example="ann", pressed=explain),
            field(
                "event",
                "Event id",
                example="comment-4711. Enter the user id too",
                pressed=receipt,
            ),
            field("run", "Run", example="ann-daily-17", pressed=buttons.ask("Find the run", "run")),
            label="Ask about a reader, an event or a run",
        ),
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
