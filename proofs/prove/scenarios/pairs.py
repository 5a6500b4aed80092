"""Scenarios of a comment on a post that the reader follows, and a mention that is part of it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import permutations, product

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    CreateActivity,
    CreateEvents,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    RETRACTED,
    STORED,
    UNFOLLOWED,
    UNWANTED,
    Act,
    at,
    copy,
    during,
    follow,
    withdraw,
)
from proofs.prove.life import Happening, Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How
from tests.builders import a_subscriber, an_activity, an_event

_POST, _COMMENT, _MENTION = "p1", "c1", "m1"
_POLICIES = (Policy.RESEND, Policy.CARRY_OVER)
_PAIR = Happening("ann", _COMMENT, _MENTION)
_OFTEN = tuple(product((Frequency.DAILY, Frequency.IMMEDIATE), repeat=2))
"""The frequencies of mentions and comments."""

_BOTH_WAYS = tuple(often for often in _OFTEN if len(set(often)) == 2)
"""The frequencies that differ, so that a body that joins or leaves moves the row."""

_LEAVING_SOON = (("retract/comment", "unfollow"), ("retract/mention", "mute"))
"""The actions that remove the body that would be sent sooner, for these frequencies."""

_STRIKES = (How.KILLED_AFTER, How.REFUSED, How.HELD_UP)
_PUBLISHED = timedelta(hours=-12)
_COUNTED = _PUBLISHED - timedelta(minutes=1)
_A_SECOND = timedelta(seconds=1)
_SOON = timedelta(seconds=30)
_FIVE_MINUTES = timedelta(minutes=5)


def comment(life: Life) -> None:
    """Publish a comment on the post for its followers."""
    life.happenings.add(_PAIR)
    activity = an_activity(_COMMENT, entity_id=_POST, actor=_COMMENT, occurred_at=life.clock())
    life.say(CreateActivity(activity), (STORED, _COMMENT))


def mention(life: Life) -> None:
    """Publish a mention in the comment."""
    life.happenings.add(_PAIR)
    event = an_event(
        _COMMENT,
        category="mention",
        entity_id=_POST,
        actor=_MENTION,
        occurred_at=life.clock(),
    )
    life.say(CreateEvents((replace(event, own_id=_MENTION),)), (STORED, _MENTION))


def retract_comment(life: Life) -> None:
    """Retract the comment, but not the mention."""
    life.say(RetractActivity(f"post#{_POST}", _COMMENT), (RETRACTED, _COMMENT))


def retract_mention(life: Life) -> None:
    """Retract the mention, but not the comment."""
    life.say(RetractEvent("ann", _MENTION), (RETRACTED, _MENTION))


def unfollow(life: Life) -> None:
    """End the reader's follow of the post."""
    state = FollowState(False, None)
    life.say(ChangeFollow("ann", f"post#{_POST}", state, life.clock()), (UNFOLLOWED, _COMMENT))


def choose(mentions: Frequency, comments: Frequency) -> Act:
    """Set the reader's frequencies of mentions and comments."""

    def act(life: Life) -> None:
        reader = a_subscriber(
            "ann",
            changed_at=life.clock(),
            email="ann@example.com",
            mention=mentions,
            comment=comments,
        )
        is_muted = mentions is Frequency.NEVER
        life.say(ChangeSubscriber(reader), (UNWANTED, _MENTION) if is_muted else None)

    return act


_PUBLISH = {"comment": comment, "mention": mention}


def _named(name: str, mentions: Frequency, comments: Frequency) -> Scenario[Life]:
    """Return a scenario in which the reader follows the post and has these frequencies."""
    return Scenario(
        name=f"pairs/{name}/{mentions}, {comments}",
        events=(),
        acts=(at(choose(mentions, comments), hours=-20), at(follow(_POST), hours=-20)),
        counted_from=_COUNTED,
        hows=_STRIKES,
    )


def _with(scenario: Scenario[Life], *acts: tuple[timedelta, Act]) -> Scenario[Life]:
    return replace(scenario, acts=(*scenario.acts, *acts))


def _both(scenario: Scenario[Life]) -> Scenario[Life]:
    """Return the scenario with the comment, and the mention a few seconds later."""
    later = _PUBLISHED + timedelta(seconds=5)
    return _with(scenario, (_PUBLISHED, comment), (later, mention))


def _orders() -> Iterator[Scenario[Life]]:
    """Yield scenarios with both orders of the bodies, before and after an immediate email."""
    for often, (first, second) in product(_OFTEN, permutations(_PUBLISH)):
        yield _with(
            _named(f"{first}, {second}/together", *often),
            (_PUBLISHED, _PUBLISH[first]),
            (_PUBLISHED + timedelta(seconds=2), _PUBLISH[second]),
        )
    for often, (first, second) in product(_BOTH_WAYS, permutations(_PUBLISH)):
        yield _with(
            _named(f"{first}, {second}/later", *often),
            (_PUBLISHED, _PUBLISH[first]),
            (_PUBLISHED + timedelta(minutes=20), _PUBLISH[second]),
        )


def _repeated() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which each message is published again, before and after the email."""
    for often in _BOTH_WAYS:
        again = [
            (_PUBLISHED + after + number * _A_SECOND, act)
            for after in (timedelta(seconds=15), timedelta(hours=1))
            for number, act in enumerate((comment, mention))
        ]
        yield _with(_both(_named("repeated", *often)), *again)


def _stopped(mentions: Frequency, comments: Frequency) -> dict[str, Act]:
    return {
        "retract/mention": retract_mention,
        "retract/comment": retract_comment,
        "mute": choose(Frequency.NEVER, comments),
        "unfollow": unfollow,
    }


def _stops() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which one body is retracted or unwanted before the email.

    This body is published again before the email.
    """
    again = _PUBLISHED + timedelta(seconds=40)
    for often in _BOTH_WAYS:
        for name, act in _stopped(*often).items():
            yield _with(
                _both(_named(name, *often)),
                (_PUBLISHED + _SOON, act),
                (again, mention if act is retract_mention or name == "mute" else comment),
            )


def _retracted_first() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which both bodies are retracted, one of them before it arrives."""
    for often in ((Frequency.DAILY, Frequency.DAILY), (Frequency.IMMEDIATE, Frequency.DAILY)):
        yield _with(
            _named("retract/both", *often),
            (_PUBLISHED, mention),
            (_PUBLISHED + timedelta(seconds=10), retract_mention),
            (_PUBLISHED + timedelta(seconds=20), retract_comment),
            (_PUBLISHED + timedelta(seconds=25), comment),
        )


def _in_the_middle() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the second body arrives, or a body leaves, between two calls of a
    worker.
    """
    for often, (first, second) in product(_BOTH_WAYS, permutations(_PUBLISH)):
        yield replace(
            _with(
                _named(f"in the middle/{first}, {second}", *often),
                (_PUBLISHED, _PUBLISH[first]),
            ),
            meanwhile=during(_PUBLISH[second]),
            hows=(),
        )
    for often, names in zip(_BOTH_WAYS, _LEAVING_SOON, strict=True):
        stops = _stopped(*often)
        for name in names:
            yield replace(
                _both(_named(f"in the middle/{name}", *often)),
                meanwhile=during(stops[name]),
                hows=(),
            )


def _left_out() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the actor of one body is withdrawn, and the other body is sent.

    The withdrawn body is published again. The withdrawal precedes the email, or comes between two
    calls of a worker. A second worker may have an outdated list of withdrawals.
    """
    for often, actor in product(_OFTEN, (_MENTION, _COMMENT)):
        both = _both(_named(f"withdrawn/{actor}", *often))
        again = mention if actor == _MENTION else comment
        then = (_PUBLISHED + timedelta(hours=1), again)
        yield _with(both, (_PUBLISHED + timedelta(seconds=20), withdraw(actor=actor)), then)
    for often in _OFTEN:
        base = _with(
            _both(_named("withdrawn/two workers", *often)),
            (_PUBLISHED + timedelta(seconds=20), withdraw(actor=_MENTION)),
        )
        two = replace(base, copies=2, meanwhile=copy, hows=())
        yield two
        outdated = frozenset({"generate"})
        yield replace(two, name=f"{two.name}/outdated", outdated=outdated)
        yield replace(
            _both(_named("withdrawn/in the middle", *often)),
            meanwhile=during(withdraw(actor=_MENTION)),
            hows=(),
        )


def _several_workers() -> Iterator[Scenario[Life]]:
    """Yield scenarios with two workers for each message."""
    for often in _BOTH_WAYS:
        yield replace(_both(_named("two workers", *often)), copies=2, meanwhile=copy, hows=())


def _may_have_been_sent() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which a body arrives, or leaves, between the attempts of an email.

    The first attempt was refused, or its outcome is unknown.
    """
    often = (Frequency.IMMEDIATE, Frequency.IMMEDIATE)
    then = _PUBLISHED + _FIVE_MINUTES
    attempts = (
        ("lost", (Answer.LOST,) * 20, Evidence.NEVER),
        ("neither", (Answer.NEITHER,) * 2, Evidence.NEVER),
    )
    for policy, (name, answers, evidence) in product(_POLICIES, attempts):
        base = replace(
            _named(f"{name}/{policy}", *often),
            policy=policy,
            answers=answers,
            evidence=evidence,
            days=2,
            hows=(How.KILLED_AFTER, How.UNANSWERED),
        )
        for first, second in permutations(_PUBLISH):
            yield _with(
                replace(base, name=f"{base.name}/{first}, {second}"),
                (_PUBLISHED, _PUBLISH[first]),
                (then, _PUBLISH[second]),
            )
        stops = {**_stopped(*often), "withdraw/mention": withdraw(actor=_MENTION)}
        for what, act in stops.items():
            yield _with(_both(replace(base, name=f"{base.name}/{what}")), (then, act))
    for first, second in permutations(_PUBLISH):
        yield replace(
            _with(
                _named(f"retry/{first}, {second}", *often),
                (_PUBLISHED, _PUBLISH[first]),
                (_PUBLISHED + timedelta(seconds=150), _PUBLISH[second]),
            ),
            answers=(Answer.REFUSES_NOW,) * 2,
        )


SCENARIOS = (
    *_orders(),
    *_repeated(),
    *_stops(),
    *_retracted_first(),
    *_in_the_middle(),
    *_left_out(),
    *_several_workers(),
    *_may_have_been_sent(),
)
