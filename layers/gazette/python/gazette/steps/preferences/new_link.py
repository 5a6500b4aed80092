"""Mail a reader a new link to their preferences, because they came with one that has ended."""

from gazette.domain.links import NEW_LINK, LinkToken
from gazette.domain.model import Actor, Entity, Event, StoredEvent
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.context import RoutingContext
from gazette.steps.routing.route import route


def mail_new_link(link: LinkToken, *, base_url: str, context: RoutingContext) -> bool:
    """Send an immediate email to the address on file, whose links are new; one a day for each.

    False, and nothing is sent, if the reader is not known, was erased since the link was made, or
    has left. The email is a run like any other: an event of a category of its own starts it, so
    that it comes once, is paced, and is tried again. It comes to readers who paused, too. Safe to
    repeat: an event that is there already is routed again, because its run may not have started.
    """
    reader = context.subscribers.get(link.run.user_id)
    if not isinstance(reader, Subscriber) or reader.has_left:
        return False
    if not link.is_for_registration_of(reader):
        return False
    now = context.clock()
    event = Event(
        user_id=reader.user_id,
        id=f"{NEW_LINK} {now.date().isoformat()} {reader.addressed_after or ''}",
        category=NEW_LINK,
        entity=Entity(NEW_LINK, "preferences", "", base_url),
        actor=Actor(reader.user_id, reader.name),
        occurred_at=now,
    )
    found = context.events.get(reader.user_id, event.id)
    route([found.event if isinstance(found, StoredEvent) else event], context=context)
    return True
