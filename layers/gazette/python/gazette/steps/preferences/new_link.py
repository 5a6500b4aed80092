"""Email readers a new link to their preferences after they opened an expired link."""

from gazette.domain.links import NEW_LINK, LinkToken
from gazette.domain.model import Actor, Entity, Event, StoredEvent
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.context import RoutingContext
from gazette.steps.routing.route import route


def mail_new_link(link: LinkToken, *, base_url: str, context: RoutingContext) -> bool:
    """Send an immediate email with new links to the address on file, at most once a day per
    address.

    Returns False without sending an email if the reader is unknown, has unsubscribed, or was erased
    after the link was made. An event of a special category starts an ordinary run, so that the
    email is sent once, paced and retried. Paused readers receive it too. Safe to repeat. An
    existing event is routed again, because its run may not have started.
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
    stored = context.events.get(reader.user_id, event.id)
    route([stored.event if isinstance(stored, StoredEvent) else event], context=context)
    return True
