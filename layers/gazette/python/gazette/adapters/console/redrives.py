"""The pages of a redrive: what it would do, and what it did."""

from collections.abc import Sequence

from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.markup import (
    Cell,
    Html,
    element,
    joined,
    paragraph,
    table,
    without_addresses,
)
from gazette.adapters.console.overview import AGAIN, EFFECTS, MORE, SAFE, short, who
from gazette.adapters.console.style import page
from gazette.adapters.console.values import Assessed, Moved, MovedQueue, PlannedQueue
from gazette.domain.console.orders import EVERY_QUEUE
from gazette.domain.dead_letters import QUARANTINE, Selection
from gazette.domain.identity import run_id
from gazette.domain.scheduling.calendar import slot_id

_UNTIL = "The button works for 10 minutes. It does not move messages that arrive from now on."


_HIDDEN = "another page or an interrupted redrive may read them. Try again in two minutes."


def in_words(queue: str, selection: Selection) -> str:
    """Describe the messages that an order selects."""
    place = {EVERY_QUEUE: "all queues", QUARANTINE: "the quarantine"}.get(queue, queue)
    conditions = (
        f"run {run_id(selection.run)}" if selection.run else "",
        f"slot {slot_id(selection.batch)}" if selection.batch else "",
        f"date {selection.on}" if selection.on else "",
        f"message {short(selection.message)}" if selection.message else "",
    )
    return ", ".join(filter(None, (*conditions, place)))


def plan_page(
    what: str,
    planned: Sequence[PlannedQueue],
    *,
    order: str,
    stage: str,
    buttons: Buttons,
    theme: str,
    note: str = "",
) -> Html:
    """Return the page that shows what a redrive would do, with the button that redrives."""
    parts = [element("h2", f"Redrive: {what}")]
    if note:
        parts.append(element("p", note, role="alert"))
    waiting = sum(each.waiting for each in planned)
    is_quarantine = [each.name for each in planned] == [QUARANTINE]
    if not waiting:
        return page(*parts, paragraph("There are no messages."), buttons.back(), theme=theme)
    if is_quarantine:
        effects, confirmation = _of_quarantine(waiting)
    elif not any(each.selected or each.unread for each in planned):
        return page(*parts, paragraph("Nothing matches."), buttons.back(), theme=theme)
    else:
        effects, confirmation = _effects_of(planned), _question(planned)
    return page(
        *parts,
        effects,
        paragraph(_UNTIL),
        buttons.redrive("Redrive now", order, confirmation=confirmation),
        buttons.back(),
        who(stage),
        theme=theme,
    )


def _of_quarantine(waiting: int) -> tuple[Html, str]:
    number = _count(waiting, "event")
    content = paragraph(
        f"{number}. They return if their service is not fixed. The effect on each event is not "
        "known before the redrive."
    )
    return content, f"Move {number}? They return if their service is not fixed."


def _effects_of(planned: Sequence[PlannedQueue]) -> Html:
    columns = ("Queue", "Messages", "Looked at", "Selected of these", "A redrive")
    unread = sum(each.unread for each in planned)
    verb = "was" if unread == 1 else "were"
    rest = paragraph(
        f"{_count(unread, 'message')} {verb} not looked at. More messages may be selected, and the "
        "redrive moves them too."
    )
    return joined(
        table("Effects of a redrive now", columns, [*map(_planned, planned)]),
        rest if unread else Html(),
        _selected(planned),
    )


def _selected(planned: Sequence[PlannedQueue]) -> Html:
    """Return the table of selected messages, up to MORE."""
    letters = [each for queue in planned for each in queue.letters]
    if not letters:
        return Html()
    first = f"the first {MORE} of {len(letters):,}" if len(letters) > MORE else f"{len(letters)}"
    columns = ("Message", "Queue", "A redrive", "Reason")
    rows = [_selected_row(each) for each in letters[:MORE]]
    return table(f"Selected messages: {first}", columns, rows)


def _selected_row(assessed: Assessed) -> tuple[Cell, ...]:
    letter = assessed.letter
    about = letter.about if letter.key else without_addresses(letter.about)
    return about, letter.dead.name, EFFECTS[assessed.effect], assessed.why


def _question(planned: Sequence[PlannedQueue]) -> str:
    """Return the question before a redrive: the number of messages, and of emails that follow."""
    selected = sum(each.selected for each in planned)
    unread = sum(each.unread for each in planned)
    runs = {
        each.letter.key
        for queue in planned
        for each in queue.letters
        if EFFECTS[each.effect] == SAFE
    }
    again = sum(each.effects.get(AGAIN, 0) for each in planned)
    outcomes = (
        f"up to {_count(len(runs), 'email')} {_verb(len(runs), 'follows', 'follow')}"
        if runs or not again
        else "",
        f"{_count(again, 'message')} {_verb(again, 'is', 'are')} processed again" if again else "",
    )
    follows = " and ".join(filter(None, outcomes)).capitalize()
    if not unread:
        return f"Move {_count(selected, 'message')}? {follows}. No email is sent twice."
    return (
        f"Move {_count(selected, 'message')}, and those that match of {unread:,} others? {follows} "
        "from the first ones. No email is sent twice."
    )


def _verb(number: int, one: str, many: str) -> str:
    return one if number == 1 else many


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _planned(queue: PlannedQueue) -> tuple[str, ...]:
    numbers = (queue.waiting, queue.looked_at, queue.selected)
    return queue.name, *(f"{number:,}" for number in numbers), _effects(queue)


def _effects(queue: PlannedQueue) -> str:
    """Describe the effects of a redrive, and the messages whose effects are not known."""
    by_heading = dict.fromkeys(EFFECTS.values(), 0)
    for word, number in queue.effects.items():
        by_heading[EFFECTS[word]] += number
    known = "; ".join(f"{number} {heading}" for heading, number in by_heading.items() if number)
    if not queue.unread:
        return known or "None is selected"
    return f"{known or 'Not known'}; not looked at: {queue.unread:,}"


def moved_page(
    what: str, moved: Moved, *, is_everything: bool, again: str, buttons: Buttons, theme: str
) -> Html:
    """Return the page that shows what a redrive did. `again` is the order for the rest.

    `is_everything` is True if the order selected all messages of its queues.
    """
    columns = ("Queue", "Moved", "Remaining", "Returned")
    touched = [each for each in moved.queues if each.moved or each.remaining]
    on = (
        buttons.redrive("Continue", again, confirmation=f"Continue to redrive {what}?")
        if again
        else Html()
    )
    return page(
        element("h2", f"Redriven: {what}"),
        element("p", _outcome(moved, is_everything=is_everything), role="status"),
        table("Messages", columns, [*map(_moved, touched)]) if touched else Html(),
        on,
        buttons.back(),
        theme=theme,
    )


def _moved(queue: MovedQueue) -> tuple[str, ...]:
    numbers = (queue.moved, queue.remaining, queue.came_back)
    return queue.name, *(f"{number:,}" for number in numbers)


def _outcome(moved: Moved, *, is_everything: bool) -> str:
    of_all = f" of {moved.moved + moved.remaining:,}" if is_everything else ""
    count = f"{moved.moved:,}{of_all} moved"
    if moved.failed_at:
        return (
            f"{count}. The queue {moved.failed_at} then could not be used. Its other messages are "
            "still there. Go back, and redrive them again."
        )
    if not moved.is_complete:
        if is_everything:
            return f"{count}; press Continue to move the others."
        return f"{count} before the time ended; press Continue to check the other messages."
    came_back = sum(each.came_back for each in moved.queues)
    failed = (
        f" {came_back:,} failed again and returned; read the log of the function."
        if came_back
        else ""
    )
    unseen = sum(each.unseen for each in moved.queues)
    hidden = f" {unseen:,} not visible now; {_HIDDEN}" if unseen else ""
    return f"{count}.{failed}{hidden}"
