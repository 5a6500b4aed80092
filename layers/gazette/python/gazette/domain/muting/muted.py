"""The events that a reader's mutes apply to. Pure."""

from collections.abc import Collection

from gazette.domain.links import NEW_LINK
from gazette.domain.model import Event
from gazette.domain.muting.mutes import Mutes


def is_muted(event: Event, mutes: Mutes, critical: Collection[str]) -> bool:
    """Return True if the event concerns a muted entity.

    An event concerns its entity, and the entities whose follows led to the event. A mute does not
    apply to events of `critical` categories, or to a link that the reader requested. The schedule
    does not decide, because the settings may have changed since the event was stored.
    """
    if event.category == NEW_LINK or event.category in critical:
        return False
    return any(
        mute.is_muted and (mute.entity == event.entity.key or mute.entity in event.via)
        for mute in mutes
    )
