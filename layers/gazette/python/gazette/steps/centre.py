"""What a reader does on the preference page."""

from collections.abc import Sequence

from gazette.domain.choosing import NOTHING, Choice
from gazette.domain.commands import ChangeFollow, ChoosePreferences
from gazette.domain.following import FollowState
from gazette.domain.overview import Overview, next_digest
from gazette.domain.ports import Bus
from gazette.domain.subscriber import Subscriber
from gazette.steps.activity import remember_follow
from gazette.steps.choosing import choose_preferences
from gazette.steps.places import Places

SHOWN = 100
"""Follows on the page: one more would not make it easier to find the one."""


def look(user_id: str, *, places: Places) -> Overview | None:
    """The reader as they are stored now; None where nothing, or no longer anything, is known."""
    reader = places.subscribers.get(user_id)
    if not isinstance(reader, Subscriber):
        return None
    entities = set(places.follows.followed_by(user_id))
    found = places.follows.get_many([(entity, user_id) for entity in entities]) if entities else {}
    follows = sorted(
        (follow for follow in found.values() if follow.latest.following),
        key=lambda follow: (follow.title.casefold() or follow.entity, follow.entity),
    )
    return Overview(
        subscriber=reader,
        now=places.clock(),
        defaults=places.defaults,
        follows=tuple(follows[:SHOWN]),
        follow_count=len(follows),
        next_due_at=next_digest(
            reader,
            places.schedules.of_user(user_id),
            follows,
            defaults=places.defaults,
            now=places.clock(),
        ),
    )


def save(
    user_id: str,
    choice: Choice,
    follows: Sequence[tuple[str, FollowState]],
    *,
    bus: Bus,
    places: Places,
) -> bool:
    """Keep what a reader chose, and says of entities that they follow, by their keys.

    First on the bus: what is there is done by ingest, whatever becomes of this process. Then here,
    so that the page can say what comes next; what waits is moved by ingest. False: nothing was
    changed. Raises Unavailable where that cannot be told.
    """
    now = places.clock()
    said: list[ChoosePreferences | ChangeFollow] = []
    if choice != NOTHING:
        said.append(ChoosePreferences(user_id, choice, now))
    said += [ChangeFollow(user_id, entity, state, now) for entity, state in follows]
    if said and not bus.put(said):
        return False
    for command in said:
        if isinstance(command, ChangeFollow):
            remember_follow(command, places)
        else:
            choose_preferences(command, places=places, moves=False)
    return True
