"""The row that a message leads to, by the domain's own functions. `c` and `m` name the bodies."""

from datetime import UTC, datetime
from functools import cache

from gazette.domain.happening.bodies import Wanted, settle, with_body, without_body
from gazette.domain.model import Actor, Entity, Event
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.kinds import immediate_schedule

from proofs.happening.state import Choices, Message, Row, Rule, Setup

COMMENT, MENTION = "c", "m"
NOW, DAILY = "now", "daily"

_POST = Entity("post", "p1", "On digests", "https://example.com/p1")
_EVENTS = {
    COMMENT: Event(
        id="comment-1",
        user_id="ann",
        category="comment",
        entity=_POST,
        actor=Actor("bo", "Bo"),
        occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
        via=(_POST.key,),
    ),
    MENTION: Event(
        id="comment-1",
        own_id="mention-1",
        user_id="ann",
        category="mention",
        entity=_POST,
        actor=Actor("bo", "Bo"),
        occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
    ),
}
_NAMES = {event.own_id: name for name, event in _EVENTS.items()}
_SCHEDULES = {
    NOW: (immediate_schedule(_POST.key), None),
    DAILY: (DAILY, Recurrence(8, 0, "UTC")),
}
_PLACES = {schedule: place for place, (schedule, _) in _SCHEDULES.items()}


def is_wanted(body: str, choices: Choices) -> bool:
    """Return True if the reader wants the body."""
    return not (choices.is_muted if body == MENTION else choices.is_unfollowed)


@cache
def settled(
    bodies: frozenset[str], choices: Choices, setup: Setup, before: Row | None, *, stays: bool
) -> Row | None:
    """Return the row with the wanted ones of these bodies, or None if there are none."""
    stored = tuple(_EVENTS[name] for name in sorted(bodies))
    wanted = [
        Wanted(event, *_SCHEDULES[_place_of(_NAMES[event.own_id], setup)])
        for event in stored
        if is_wanted(_NAMES[event.own_id], choices)
    ]
    result = settle(wanted)
    if result is None:
        return None
    place = _PLACES[result.schedule]
    others = tuple(_NAMES[event.own_id] for event in result.others)
    if not setup.holds(Rule.EVERY_BODY_KEPT):
        others = ()
    shown = _NAMES[result.shown.own_id]
    if before and (stays or (before.shown and before.place == place)):
        return before._replace(shown=shown, others=others, retracted="")
    stamp = before.stamp + 1 if before else 1
    return Row(place, shown, others, stamp)


def changed(bodies: frozenset[str], task: str, *, removes: bool) -> frozenset[str]:
    """Return the bodies after a message about one of them."""
    name = body_of(task)
    if not name:
        return bodies
    stored = tuple(_EVENTS[each] for each in sorted(bodies))
    event = _EVENTS[name]
    after = without_body(stored, event.own_id) if removes else with_body(stored, event)
    return frozenset(_NAMES[each.own_id] for each in after)


def body_of(task: str) -> str:
    """Return the body that a message is about; empty for a change of choices."""
    if task in {Message.COMMENT, Message.RETRACT_COMMENT}:
        return COMMENT
    return MENTION if task in {Message.MENTION, Message.RETRACT_MENTION} else ""


def _place_of(name: str, setup: Setup) -> str:
    return setup.mention if name == MENTION else setup.comment
