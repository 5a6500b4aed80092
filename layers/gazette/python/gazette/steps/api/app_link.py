"""Create links to the preference page for readers who are logged in to an app."""

from gazette.domain.api.answers import AppLink
from gazette.domain.links import APP_RUN, LinkToken, Purpose
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.rendering import AppLinkMaker
from gazette.domain.ports.stores import Subscribers
from gazette.domain.subscribers.subscriber import Subscriber


def app_link(
    user_id: str, *, subscribers: Subscribers, links: AppLinkMaker, clock: Clock
) -> AppLink | None:
    """Return a link to the reader's preference page, or None if there is no such reader.

    The link works only while the reader has the present address. Makes no
    writes. Costs one call.
    """
    reader = subscribers.get(user_id)
    if not isinstance(reader, Subscriber):
        return None
    token = LinkToken.of(RunKey(user_id, APP_RUN, 0), clock(), reader)
    return AppLink(links.app_link(token), token.expires_at(Purpose.APP))
