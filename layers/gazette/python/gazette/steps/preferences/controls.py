"""The reader's own controls in the list of a run's updates: mute a thing, and unfollow."""

from collections.abc import Callable, Mapping, Sequence

from gazette.domain.delivery.compose import Block
from gazette.domain.links import Scope, ScopeKind, entity_mark, thing_scope
from gazette.domain.muting.mutes import in_force, short_title
from gazette.domain.ports.rendering import BlockControls
from gazette.domain.ports.stores import Follows
from gazette.domain.scheduling.kinds import is_critical
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.subscriber import Subscriber

_MOST_FOLLOWED = 2
"""The maximum number of entities that one button unfollows, like a link in an email."""

_Followed = Mapping[tuple[str, str], Follow]


def controls_of(
    blocks: Sequence[Block],
    reader: Subscriber,
    schedule: str,
    *,
    leave: Callable[[Scope], str] | None,
    follows: Follows,
) -> Sequence[BlockControls]:
    """Return the controls for each block of a run of `schedule`.

    `leave` returns the link to leave a scope. It is None if readers may share the page. The page
    then has no controls, and neither has the page of a reader who has unsubscribed. Critical email
    cannot be muted.
    """
    if leave is None or reader.has_left:
        return [BlockControls() for _ in blocks]
    keys = {(entity, reader.user_id) for block in blocks for entity in _via(block)}
    followed = follows.get_many(keys) if keys else {}
    muted = {mute.entity for mute in in_force(reader.mutes)}
    may_mute = not is_critical(schedule)
    return [_controls(block, reader, muted, followed, leave, may_mute) for block in blocks]


def _controls(
    block: Block,
    reader: Subscriber,
    muted: set[str],
    followed: _Followed,
    leave: Callable[[Scope], str],
    may_mute: bool,
) -> BlockControls:
    entity = block.latest.entity
    thing = thing_scope(entity.key, short_title(entity.title)) if may_mute else None
    follows = (followed.get((each, reader.user_id)) for each in _via(block))
    ends = [each for each in follows if each and each.latest.following]
    marks = tuple(entity_mark(each.entity) for each in ends)
    is_own = [each.entity for each in ends] == [entity.key]
    return BlockControls(
        mute=leave(thing) if thing else "",
        is_muted=entity.key in muted,
        unfollow=leave(Scope(ScopeKind.ENTITY, marks)) if marks else "",
        followed=() if is_own else tuple(each.title or each.entity for each in ends),
    )


def _via(block: Block) -> tuple[str, ...]:
    """Return the first entities whose follows caused the block to be included, if any."""
    return next((each.latest.via for each in block.groups if each.latest.via), ())[:_MOST_FOLLOWED]
