"""Worlds in which a promise breaks without each condition."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from proofs.happening.state import Message, Rule, Setup

BOTH = (Message.COMMENT, Message.MENTION)

_SOON = Setup(BOTH, mention="now", comment="daily", ticks=1)
_LATE = Setup(BOTH, mention="daily", comment="now", ticks=1)
_SAME = Setup(BOTH, mention="daily", comment="daily", ticks=1)


def _with(stop: Message, *setups: Setup) -> tuple[Setup, ...]:
    return tuple(setup._replace(messages=(*BOTH, stop)) for setup in setups)


_MENTION_RETRACTED = _with(Message.RETRACT_MENTION, _SOON, _LATE, _SAME)
_COMMENT_RETRACTED = _with(Message.RETRACT_COMMENT, _SOON, _LATE, _SAME)
_MUTED = _with(Message.MUTE, _SOON, _LATE)
_UNFOLLOWED = _with(Message.UNFOLLOW, _SOON)
_DEATHS = (_SOON._replace(deaths=1), _LATE._replace(deaths=1), _SAME._replace(deaths=1))

WORLDS: Mapping[Rule, Sequence[Setup]] = MappingProxyType(
    {
        Rule.ARM_AFTER_STOP: (_MENTION_RETRACTED[0], _COMMENT_RETRACTED[1]),
        Rule.BODIES_CHECKED: (*_MUTED, *_UNFOLLOWED),
        Rule.EVERY_BODY_KEPT: _DEATHS,
        Rule.SENT_STAYS: (_MENTION_RETRACTED[0], *_DEATHS[:2]),
        Rule.ONLY_ITS_BODY: _COMMENT_RETRACTED,
        Rule.CRITICAL_ALONE: (Setup(BOTH, critical=True, ticks=1),),
        Rule.WITH_POINTER: _MENTION_RETRACTED,
        Rule.REMOVED_AGAIN: tuple(each._replace(deaths=1) for each in _MENTION_RETRACTED[:2]),
        Rule.MARK_GUARDED: _COMMENT_RETRACTED,
        Rule.EPOCHS_RAISED: _DEATHS,
        Rule.READ_AGAIN: (*_with(Message.MUTE, _SAME), *_with(Message.UNFOLLOW, _SAME)),
        Rule.ARM_AGAIN: tuple(
            each._replace(deaths=1, ticks=0) for each in (_MENTION_RETRACTED[0], _UNFOLLOWED[0])
        ),
        Rule.FOLLOWS_AT_DELIVERY: (*_MUTED, *_UNFOLLOWED),
    }
)
"""The worlds to search without each condition. A promise breaks in at least one of them."""
