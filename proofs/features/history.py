"""A history, drawn from its number: the actions of people and services, and the struck calls."""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random

from gazette.domain.delivery.arrangement import WEIGHTS
from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.window.worth import Worth

from proofs.prove.provider import Answer, Evidence
from proofs.prove.strikes import How

READERS = ("ann", "bo")
DAYS = 6
"""The days of a history. Afterwards every reader returns and all work settles."""

_FEATURES = (
    ("follow", "follow", "happen", "happen", "unfollow", "retract_activity"),
    ("often", "often", "everything"),
    ("hour", "zone", "days"),
    ("pause", "resume"),
    ("retract",),
    ("amend", "again"),
    ("leave", "come_back"),
    ("bounce", "complain", "come_back"),
    ("erase", "come_back"),
    ("hold", "hold", "release"),
    ("stop_stream", "resume_stream"),
    ("cancel",),
    ("sign_of_life", "click"),
    ("bury", "lose", "copy"),
)
"""The groups of features. Each history uses a few of them, because features rarely interact in a
history that uses all.
"""

_BEGINNINGS = (
    (Frequency.DAILY, Frequency.DAILY),
    (Frequency.IMMEDIATE, Frequency.IMMEDIATE),
    (Frequency.IMMEDIATE, Frequency.IMMEDIATE),
    (Frequency.IMMEDIATE, Frequency.DAILY),
    (Frequency.DAILY, Frequency.WEEKLY),
)
_MOMENTS = (-3600, -20, -5, 0, 1, 5, 20, 60, 300, 900, 3600, 6 * 3600, 10 * 3600)
"""Offsets in seconds from when digests are due, at eight in Berlin."""

_DAYS = (-1, 0, 0, 1, 2, 3, 4)
"""The days of actions. The first is a Monday, when weekly digests are also due."""

_APART = (0, 0, 0, 1, 4, 10, 18, 30, 60, 150, 600, 1500)
_ANSWERS = (
    (Answer.ACCEPTS,),
    (Answer.ACCEPTS,),
    (Answer.LOST,),
    (Answer.LOST, Answer.LOST, Answer.ACCEPTS),
    (Answer.LOST, Answer.NEITHER, Answer.ACCEPTS, Answer.ACCEPTS),
    (Answer.REFUSES_NOW,),
    (*(Answer.ACCEPTS,) * 6, *Answer),
)
_SKEWED = ("ingest", "followers", "fanout", "generate", "resend", "feedback", "sweep")
_SKEWS = (-2.5, 0, 2.5)
_DELAYS = (0, 0, 0, 0, 0, 7, 90, 2400)
_PAUSES = (0, 0, 2, 25, 50)

_SENDING = (
    *("runs.chain", "events.skim", "subscribers.get", "rate_limiter.reserve", "batches.get"),
    *("deferred_events.defer", "runs.swap_together", *("runs.swap",) * 6),
    *(
        "immediate_rate_limiter.reserve",
        "suppressions.holds",
        "mailer.send",
        "mailer.send",
        "message.delete",
        "resend_queue.send",
    ),
)
AIMS = {
    "ingest": (
        *("events.store", "events.write", "events.write", "events.amend", "events.retract"),
        *("events.move", "events.remove", "events.erase", "runs.chain", "runs.create"),
        *("runs.swap", "generate_queue.send", "schedules.get", "schedules.put"),
        *("subscribers.put", "subscribers.get_many", "subscribers.mark_routed", "message.delete"),
    ),
    "followers": ("follows.page", "events.write", "followers_queue.send", "message.delete"),
    "fanout": (
        *("schedules.due", "runs.create", "generate_queue.send", "schedules.put", "schedules.put"),
        *("events.holds", "subscribers.set_dormant", "schedules.withdraw", "message.delete"),
    ),
    "generate": _SENDING,
    "resend": _SENDING,
    "feedback": ("runs.get", "runs.swap", "suppressions.add", "subscribers.put", "message.delete"),
    "sweep": ("runs.overdue", "runs.swap", "runs.create", "resend_queue.send", "canary.send"),
    "unsubscribe": ("subscribers.put", "schedules.withdraw", "schedules.of_user"),
    "preferences": ("subscribers.put", "schedules.put", "suppressions.lift"),
    "cancel": ("batches.cancel", "runs.of_batch"),
}
"""The calls before which an action can run, by function. A strike is aimed at one of them."""

_AIMS_OF_CONTENT = {
    "content": ("schedules.get", "source.ask", "events.store", "schedules.put", "message.delete"),
    "generate": ("schedules.get", "fetch_queue.send", "runs.swap"),
    "fanout": ("fetch_queue.send", "runs.create", "schedules.put"),
}
"""Further calls before which an action can run, in a history with a content source."""

_AIMS_OF_LAPSES = ("deferred_events.expire", "deferred_events.expire", "runs.swap")
"""Further calls before which an action can run, in a history with an expiring event."""

_AIMS_OF_MARKS = {
    "ingest": ("seen_marks.put", "subscribers.mark_seen", "runs.swap", "message.delete"),
    "generate": ("seen_marks.of", "deferred_events.leave_out", "runs.swap", "mailer.send"),
}
"""Further calls before which an action can run, in a history with things that readers have seen."""

_HOWS = (*(How.OVERTAKEN,) * 5, *How)
_HOWS_AT = {
    "events.write": (*(How.HELD_UP,) * 4, How.KILLED_AFTER, How.OVERTAKEN, How.FROZEN),
    "events.store": (How.KILLED_AFTER, How.KILLED_AFTER, How.UNANSWERED, How.OVERTAKEN),
    "runs.create": (How.HELD_UP, How.HELD_UP, How.KILLED_BEFORE, How.KILLED_AFTER, How.OVERTAKEN),
    "message.delete": (How.KILLED_BEFORE, How.REFUSED, How.HELD_UP),
}
"""The strikes most likely to break a call. A value stamped before a write may be written much
later.
"""

_SKIPPED = (0, 0, 0, 0, 0, 1, 1, 2, 4)


@dataclass(frozen=True)
class Deed:
    """An action and its time after the first digest is due."""

    at: timedelta
    what: str
    who: str
    which: int
    how: int


@dataclass(frozen=True)
class Strike:
    """A strike on a call of a function.

    It hits a call of that name `after` others, counted from `since`. The actions in `meanwhile` run
    before the call. If the worker is overtaken, all others continue for a `pause`, and with
    `is_copied` another worker first receives the same message.
    """

    function: str
    call: str
    since: timedelta
    after: int
    how: How
    meanwhile: tuple[Deed, ...] = ()
    pause: timedelta = timedelta(0)
    is_copied: bool = False


@dataclass(frozen=True)
class History:
    """The settings and actions of one history.

    `begins` holds the initial frequencies of comments and likes. `delays` are the delays of
    successive messages to ingest, repeated in a cycle. With `ends_daily` every reader chooses daily
    digests at the end, so that all waiting events move. With `asks` digests query a content source,
    which fails `source_down` times first.
    """

    policy: Policy
    evidence: Evidence
    begins: tuple[Frequency, Frequency]
    answers: tuple[Answer, ...]
    delays: tuple[timedelta, ...]
    skews: tuple[tuple[str, timedelta], ...]
    sunset: timedelta | None
    ends_daily: bool
    deeds: tuple[Deed, ...]
    strikes: tuple[Strike, ...]
    asks: bool = False
    source_down: int = 0
    worth: Worth | None = None
    """The minimum for daily digests, which delays some of them."""

    limit: ImmediateLimit | None = None
    """The limit of immediate emails per reader."""


_ASKS = 4
"""One history in this many queries a content source."""

_AIMS_OF_CONSENTS = (
    *("suppressions.resubscribe", "suppressions.holds", "subscribers.mark_active"),
    *("subscribers.put", "subscribers.put", "schedules.put", "subscribers.get"),
)
"""Calls of a return, before which the reader can unsubscribe again."""

_MINIMUM = 5
"""One history in this many has a minimum for daily digests."""

_CONSENTS = 7
"""One history in this many has a reader who unsubscribes again and again, and a service that states
the reader's consents, old ones too.
"""

_LAPSES = 6
"""One history in this many has an event that expires and is extended again and again, while the
outcome of every email is unknown.
"""


_WAITS = 5
"""One history in this many has a busy thread, whose runs collect for up to an hour, with events
that lapse within this hour, and choices that change in it.
"""

_BUSY_AT = (0, 3, 15, 31, 55, 74, 90, 150)
"""The minutes of events of a busy thread."""

_AIMS_OF_WAITS = {
    "ingest": ("runs.create", "generate_queue.send", "events.write", "runs.chain"),
    "generate": ("runs.chain", "events.skim", "runs.swap"),
    "sweep": ("runs.overdue", "generate_queue.send", "runs.swap"),
}
"""Calls of a run that collects for long, before which an action can run."""

_SEES = 5
"""One history in this many has readers whose app reports what they see, new and old."""

_MUTES = 5
"""One history in this many has a reader who mutes and unmutes things again and again."""

_WITHDRAWS = 5
"""One history in this many has an operator who withdraws entities and actors."""

_AIMS_OF_WITHDRAWALS = (
    ("generate", "events.skim"),
    ("generate", "deferred_events.withdraw"),
    ("generate", "rate_limiter.reserve"),
    ("generate", "category_holds.active"),
    ("generate", "runs.swap"),
    ("generate", "mailer.send"),
    ("resend", "runs.swap"),
    ("ingest", "events.store"),
)
"""The calls before which an operator withdraws something, or another worker handles the run."""

_QUIET = 5
"""One history in this many has a reader who changes quiet hours."""

_AIMS_OF_QUIET = (
    ("generate", "events.skim"),
    ("generate", "subscribers.get"),
    ("generate", "immediate_rate_limiter.reserve"),
    ("generate", "runs.swap"),
    ("generate", "runs.create"),
    ("generate", "mailer.send"),
    ("resend", "runs.swap"),
    ("sweep", "generate_queue.send"),
    ("sweep", "runs.swap"),
    ("ingest", "events.store"),
    ("ingest", "runs.chain"),
    ("ingest", "subscribers.put"),
)
"""The calls before which a reader changes quiet hours, or something happens in them."""

_LIMITS = 5
"""One history in this many has a limit of immediate emails, bursts of events about different
entities, and a reader who changes to immediate email and back.
"""

_AIMS_OF_LIMITS = (
    ("ingest", "immediate_usage.get"),
    ("ingest", "immediate_usage.put"),
    ("ingest", "events.cap"),
    ("ingest", "events.store"),
    ("ingest", "events.move"),
    ("ingest", "runs.create"),
    ("generate", "events.stored_under"),
    ("generate", "immediate_usage.put"),
    ("generate", "events.move"),
)
"""The calls of a worker that takes a token, before which other workers take the next ones."""

_PAIRS = 6
"""One history in this many has events that are part of activities."""

_ACTOR = 4
"""The `which` of a withdrawal of the actor of an event."""

_SOON = (2, 2, 5, 15, 40, 200)
"""The seconds after which one event of a pair is left out."""

_LATER = (7_200, 20_000, 40_000)
"""The seconds from other pairs to the pairs with an event that is left out."""

_AIMS_OF_PAIRS = (
    ("ingest", "events.rewrite"),
    ("ingest", "events.rewrite"),
    ("ingest", "events.get_many"),
    ("ingest", "events.retract"),
    ("ingest", "follows.get_many"),
    ("ingest", "runs.chain"),
    ("ingest", "runs.swap"),
    ("followers", "events.rewrite"),
    ("generate", "events.skim"),
    ("generate", "events.rewrite"),
    ("generate", "runs.swap"),
    ("generate", "mailer.send"),
)
"""The calls before which another event of a happening arrives or leaves."""

_AIMS_OF_MUTES = (
    ("preferences", "subscribers.put"),
    ("preferences", "subscribers.put"),
    ("preferences", "subscribers.mark_active"),
    ("ingest", "events.store"),
    ("ingest", "subscribers.get_many"),
    ("ingest", "events.move"),
    ("generate", "events.skim"),
    ("generate", "subscribers.get"),
    ("generate", "runs.swap"),
    ("generate", "events.remove"),
    ("fanout", "runs.create"),
)
"""The calls before which a reader mutes or unmutes a thing."""


def history(number: int) -> History:
    """Return the history of that number, which is always the same."""
    drawn = _Drawn(Random(number)).history()
    if number % _LAPSES == 1:
        drawn = _with_lapses(drawn, Random(-number - 1))
    if number % _CONSENTS == 1:
        drawn = _with_consents(drawn, Random(-number - 1))
    if number % _MINIMUM == 1:
        drawn = replace(drawn, worth=_minimum(Random(-number - 1)))
    if number % _WAITS == 2:
        drawn = _with_waits(drawn, Random(-number - 1))
    if number % _SEES == 1:
        drawn = _with_marks(drawn, Random(-number - 2))
    if number % _WITHDRAWS == 3:
        drawn = _with_withdrawals(drawn, Random(-number - 4))
    if number % _QUIET == 0:
        drawn = _with_quiet_hours(drawn, Random(-number - 6))
    if number % _LIMITS == 4:
        drawn = _with_limit(drawn, Random(-number - 5))
    if number % _MUTES == 2:
        drawn = _with_mutes(drawn, Random(-number - 3))
    if number % _PAIRS == 5:
        drawn = _with_pairs(drawn, Random(-number - 7))
    if number % _ASKS:
        return drawn
    asking = Random(-number - 1)
    return replace(
        drawn,
        asks=True,
        source_down=asking.choice((0, 0, 0, 3, 9)),
        strikes=(*drawn.strikes, *(_strike_of_content(asking) for _ in range(2))),
    )


def _minimum(random: Random) -> Worth:
    """Return a minimum that some digests, most digests or all digests do not reach at once."""
    wait = timedelta(days=random.choice((1, 2)))
    return Worth(score=random.choice((2.0, 6.0, 100.0)), longest_wait=wait, weights=WEIGHTS)


def _with_lapses(drawn: History, random: Random) -> History:
    """Add an event that is extended each day, and an action each day that causes an email.

    The event expires between the attempts of a digest or of an immediate email.
    """
    who, how = random.choice(READERS), random.choice((0, 0, 1, 2))
    lapses = [
        Deed(timedelta(days=day, minutes=random.choice((-50, -20, 30))), what, who, 0, how)
        for day, what in enumerate(("lapse", *("prolong",) * 5), start=-1)
    ]
    others = [
        Deed(timedelta(days=day, hours=random.choice((2, 9, 20))), "put", who, 0, 0)
        for day in range(-1, 5)
    ]
    return replace(
        drawn,
        policy=random.choice((Policy.RESEND, Policy.CARRY_OVER)),
        evidence=random.choice((Evidence.NEVER, Evidence.NEXT_DAY)),
        answers=(Answer.LOST,) * 40,
        deeds=(*drawn.deeds, *lapses, *others),
        strikes=(*drawn.strikes, *(_strike_of_lapses(random) for _ in range(2))),
    )


def _with_waits(drawn: History, random: Random) -> History:
    """Add a thread with events for two and a half hours. The reader wants immediate email."""
    who, since = random.choice(READERS), timedelta(days=random.choice((-1, 0, 1)), hours=3)
    puts = [
        Deed(since + timedelta(minutes=minute + random.choice((0, 1, 2))), "put", who, 1, how)
        for minute in _BUSY_AT
        for how in (random.randrange(2),)
    ]
    others = [
        Deed(
            since + timedelta(minutes=random.choice(_BUSY_AT), seconds=random.choice(_APART)),
            random.choice(("lapse", "again", "amend", "retract", "often", "hold", "stop_stream")),
            who,
            0,
            random.randrange(3),
        )
        for _ in range(random.randint(0, 4))
    ]
    strikes = [
        Strike(
            function,
            random.choice(_AIMS_OF_WAITS[function]),
            since + timedelta(minutes=random.choice(_BUSY_AT)),
            random.choice(_SKIPPED),
            random.choice(_HOWS_AT.get(function, _HOWS)),
            pause=_seconds(random.choice(_PAUSES)),
            is_copied=random.random() < 0.3,
        )
        for function in random.choices(("ingest", "generate", "sweep"), k=3)
    ]
    return replace(
        drawn,
        begins=(Frequency.IMMEDIATE, Frequency.IMMEDIATE),
        deeds=(*drawn.deeds, *puts, *others),
        strikes=(*drawn.strikes, *strikes),
    )


def _with_consents(drawn: History, random: Random) -> History:
    """Add unsubscriptions, consents around them, and an event each day that causes an email."""
    who = random.choice(READERS)
    moments = sorted(
        timedelta(days=random.choice((-1, 0, 1, 2)), seconds=random.choice(_MOMENTS))
        for _ in range(4)
    )
    deeds = [
        Deed(at + _seconds(random.choice(_APART)), what, who, 0, random.randrange(6))
        for at in moments
        for what in random.sample(("leave", "leave", "consent", "consent", "come_back"), 3)
    ]
    puts = [
        Deed(timedelta(days=day, minutes=random.choice((-50, 20))), "put", who, 0, 0)
        for day in range(-1, 4)
    ]
    strikes = [
        Strike(
            "preferences",
            random.choice(_AIMS_OF_CONSENTS),
            random.choice(moments),
            random.choice((0, 0, 0, 1)),
            random.choice(_HOWS),
            (Deed(timedelta(0), random.choice(("leave", "leave", "consent")), who, 0, 0),),
            _seconds(random.choice(_PAUSES)),
        )
        for _ in range(2)
    ]
    return replace(drawn, deeds=(*drawn.deeds, *deeds, *puts), strikes=(*drawn.strikes, *strikes))


def _with_marks(drawn: History, random: Random) -> History:
    """Add visits of a reader around the times of events and emails, and events to see."""
    who = random.choice(READERS)
    moments = [
        timedelta(days=random.choice(_DAYS), seconds=random.choice(_MOMENTS)) for _ in range(4)
    ]
    deeds = [
        Deed(at + _seconds(random.choice(_APART)), what, who, random.choice((0, 0, 1, 3)), how)
        for at in moments
        for what in random.sample(("put", "put", "see", "see", "see", "again", "amend"), 4)
        for how in (random.randrange(3),)
    ]
    strikes = [
        Strike(
            function,
            random.choice(_AIMS_OF_MARKS[function]),
            random.choice(moments),
            random.choice((0, 0, 0, 1)),
            random.choice(_HOWS),
            (Deed(timedelta(0), random.choice(("see", "see", "amend", "again")), who, 0, 0),),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.3,
        )
        for function in ("ingest", "generate", "generate")
    ]
    race, strike = _visit_during_an_immediate_email(who, random)
    return replace(
        drawn, deeds=(*drawn.deeds, *deeds, *race), strikes=(*drawn.strikes, *strikes, strike)
    )


def _visit_during_an_immediate_email(who: str, random: Random) -> tuple[tuple[Deed, ...], Strike]:
    """Return an event for an immediate email, which may be urgent, and a visit before its claim.

    The worker has read the event and the visits, and waits for its permit.
    """
    at = timedelta(days=random.choice((0, 1, 2)), hours=3)
    deeds = (
        Deed(at - timedelta(hours=1), "often", who, 0, 1),
        Deed(at, random.choice(("put", "lapse")), who, 0, 0),
    )
    return deeds, Strike(
        "generate",
        "immediate_rate_limiter.reserve",
        at,
        0,
        How.OVERTAKEN,
        (Deed(timedelta(0), "see", who, 0, 0),),
        timedelta(seconds=random.choice((2, 25))),
    )


def _with_mutes(drawn: History, random: Random) -> History:
    """Add mutes and their ends, events around them, and strikes on calls that race with them."""
    who = random.choice(READERS)
    moments = sorted(
        timedelta(days=random.choice((-1, 0, 0, 1, 2)), seconds=random.choice(_MOMENTS))
        for _ in range(4)
    )

    def muting(at: timedelta) -> Deed:
        what = random.choice(("mute_thing", "mute_thing", "unmute_thing"))
        return Deed(at, what, who, random.choice((0, 0, 0, 1, 2, 3)), random.randrange(6))

    deeds = [
        deed
        for at in moments
        for deed in (
            Deed(at - _seconds(random.choice(_APART)), "put", who, 0, random.randrange(6)),
            muting(at),
            muting(at + _seconds(random.choice(_APART))),
            Deed(at + _seconds(random.choice(_APART)), "happen", who, random.choice((0, 3)), 0),
        )
    ]
    strikes = [
        Strike(
            function,
            call,
            random.choice(moments),
            random.choice(_SKIPPED),
            random.choice(_HOWS_AT.get(call, _HOWS)),
            (muting(timedelta(0)),),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.3,
        )
        for function, call in random.sample(_AIMS_OF_MUTES, 3)
    ]
    follow = Deed(timedelta(days=-2), "follow", who, random.choice((0, 2)), 0)
    return replace(drawn, deeds=(*drawn.deeds, follow, *deeds), strikes=(*drawn.strikes, *strikes))


def _with_pairs(drawn: History, random: Random) -> History:
    """Add activities with events that are part of them, and changes of both around their email.

    Some events come before their activity.
    """
    who = random.choice(READERS)
    moments = [
        timedelta(days=random.choice(_DAYS), seconds=random.choice(_MOMENTS)) for _ in range(3)
    ]
    changes = (
        *("retract", "retract", "retract_activity", "retract_activity", "again", "amend"),
        *("often", "often", "unfollow", "follow", "mute_thing", "see", "hold", "quiet", "mention"),
        *("see", "withdraw"),
    )

    def act(what: str, at: timedelta) -> Deed:
        which = random.choice((0, 0, 1, 2, 3, _ACTOR) if what == "withdraw" else (0, 0, 1, 2, 3))
        return Deed(at, what, who, which, random.randrange(6))

    deeds = [
        act(what, at + _seconds(apart))
        for at in moments
        for what, apart in (
            ("happen", -random.choice(_APART)),
            ("mention", random.choice(_APART)),
            (random.choice(changes), random.choice(_APART)),
            (random.choice(changes), random.choice(_APART)),
        )
    ]
    strikes = [
        Strike(
            function,
            call,
            random.choice(moments),
            random.choice((0, 0, 0, 1)),
            random.choice(_HOWS),
            (act(random.choice(("mention", *changes)), timedelta(0)),) * random.randrange(2),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.3,
        )
        for function, call in random.sample(_AIMS_OF_PAIRS, 3)
    ]
    follows = [Deed(timedelta(days=-2), "follow", who, which, 0) for which in (0, 1)]
    for at in moments:
        deeds += _left_out(who, at + _seconds(random.choice(_LATER)), random)
    return replace(
        drawn, deeds=(*drawn.deeds, *follows, *deeds), strikes=(*drawn.strikes, *strikes)
    )


def _left_out(who: str, at: timedelta, random: Random) -> list[Deed]:
    """Return two pairs. The actor of one mention is withdrawn. The reader sees the thing after the
    other mention, but before its activity.
    """
    soon, which = partial(random.choice, _SOON), random.randrange(2)
    withdrawn = at + _seconds(soon())
    before = at + timedelta(hours=1)
    return [
        Deed(at, "happen", who, which, random.randrange(6)),
        Deed(at + _seconds(1), "mention", who, which, random.choice((1, 3, 5))),
        Deed(withdrawn, "withdraw", who, _ACTOR, 0),
        Deed(before, "mention", who, which + 2, random.choice((0, 2, 4))),
        Deed(before + _seconds(soon()), "see", who, 0, 0),
    ]


def _with_withdrawals(drawn: History, random: Random) -> History:
    """Add withdrawals, events around them, and strikes on calls that race with them."""
    moments = [
        timedelta(days=random.choice(_DAYS), seconds=random.choice(_MOMENTS)) for _ in range(3)
    ]

    def act(what: str, at: timedelta) -> Deed:
        which = random.choice((0, 0, 1, 2, 3, 4, 4))
        return Deed(at, what, random.choice(READERS), which, random.randrange(3))

    deeds = [
        act(what, at + _seconds(sign * random.choice(_APART)))
        for at in moments
        for sign, what in (
            (-1, "put"),
            (-1, random.choice(("put", "happen"))),
            (1, "withdraw"),
            (1, random.choice(("put", "again", "amend", "retract", "happen"))),
        )
    ]
    strikes = [
        Strike(
            function,
            call,
            random.choice(moments),
            random.choice((0, 0, 0, 1)),
            random.choice(_HOWS),
            (act("withdraw", timedelta(0)),) * random.randrange(2),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.5,
        )
        for function, call in random.sample(_AIMS_OF_WITHDRAWALS, 3)
    ]
    follow = Deed(timedelta(days=-2), "follow", random.choice(READERS), 0, 0)
    return replace(drawn, deeds=(*drawn.deeds, follow, *deeds), strikes=(*drawn.strikes, *strikes))


def _with_quiet_hours(drawn: History, random: Random) -> History:
    """Add changes of quiet hours, immediate events around them, and strikes on calls that race."""
    who = random.choice(READERS)
    moments = sorted(
        timedelta(days=random.choice((-1, 0, 1, 2)), seconds=random.choice(_MOMENTS))
        for _ in range(3)
    )

    def act(what: str, at: timedelta) -> Deed:
        return Deed(at, what, who, random.choice((0, 0, 2)), random.randrange(6))

    deeds = [Deed(timedelta(days=-2), "often", who, which, 1) for which in (0, 1)]
    for at in moments:
        deeds += [
            act("put", at - _seconds(random.choice(_APART))),
            act(random.choice(("quiet", "quiet", "quiet", "zone")), at),
            act("put", at + _seconds(random.choice(_APART))),
            act(random.choice(("put", "retract", "quiet", "again")), at + timedelta(hours=1)),
        ]
    strikes = [
        Strike(
            function,
            call,
            random.choice(moments),
            random.choice(_SKIPPED),
            random.choice(_HOWS_AT.get(call, _HOWS)),
            (act(random.choice(("quiet", "put")), timedelta(0)),) * random.randrange(2),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.5,
        )
        for function, call in random.sample(_AIMS_OF_QUIET, 3)
    ]
    return replace(drawn, deeds=(*drawn.deeds, *deeds), strikes=(*drawn.strikes, *strikes))


def _with_limit(drawn: History, random: Random) -> History:
    """Add bursts of events about different entities, and changes of choices around them.

    There are few strikes, because each struck worker may exceed the limit by one email. A digest
    shows at most twenty entities, so there are also few events.
    """
    who = random.choice(READERS)
    moments = [
        timedelta(days=random.choice(_DAYS), seconds=random.choice(_MOMENTS)) for _ in range(3)
    ]
    puts = [
        Deed(at + _seconds(random.choice(_APART)), "put", who, 3, how)
        for at in moments
        for how in (random.randrange(3) for _ in range(random.choice((2, 3, 4))))
    ]
    others = [
        Deed(at + _seconds(random.choice(_APART)), what, who, random.choice((0, 1)), how)
        for at in moments
        for what in random.sample(("often", "often", "everything", "again", "amend"), 3)
        for how in (random.choice((0, 1, 1, 1, 2)),)
    ]
    strikes = [
        Strike(
            function,
            call,
            random.choice(moments),
            random.choice((0, 0, 1, 3)),
            random.choice((How.OVERTAKEN, How.KILLED_BEFORE, How.KILLED_AFTER, How.UNANSWERED)),
            (Deed(timedelta(0), "put", who, 3, 0),) * random.randrange(2),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.5,
        )
        for function, call in random.sample(_AIMS_OF_LIMITS, 2)
    ]
    per_hour = random.choice((1, 2))
    return replace(
        drawn,
        begins=random.choice(_BEGINNINGS),
        limit=ImmediateLimit(per_hour=per_hour, per_day=per_hour + random.choice((0, 2))),
        deeds=(*drawn.deeds[:6], *puts, *others),
        strikes=(*drawn.strikes[:1], *strikes),
    )


def _strike_of_lapses(random: Random) -> Strike:
    """Return a strike on the removal of an expired event, or on a claim of a worker during it."""
    return Strike(
        random.choice(("generate", "generate", "resend")),
        random.choice(_AIMS_OF_LAPSES),
        timedelta(days=random.choice(_DAYS)),
        random.choice(_SKIPPED),
        random.choice(_HOWS),
        pause=_seconds(random.choice(_PAUSES)),
        is_copied=random.random() < 0.5,
    )


def _strike_of_content(random: Random) -> Strike:
    """Return a strike on a call that fetches content, or on one of a run that waits for it."""
    function = random.choice(("content", "content", "generate", "fanout"))
    return Strike(
        function,
        random.choice(_AIMS_OF_CONTENT[function]),
        timedelta(days=random.choice(_DAYS)),
        random.choice(_SKIPPED),
        random.choice(_HOWS),
        pause=_seconds(random.choice(_PAUSES)),
        is_copied=random.random() < 0.3,
    )


class _Drawn:
    """One history, drawn from few times and few entities, so that actions interact."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._features = random.sample(_FEATURES, random.randint(1, 5))
        self._busy = [
            timedelta(days=random.choice(_DAYS), seconds=random.choice(_MOMENTS))
            for _ in range(random.randint(1, 4))
        ]
        self._readers = random.choice((READERS, READERS[:1], READERS[:1]))
        self._things = random.choice(((0,), (0, 1, 2), range(6)))

    def history(self) -> History:
        """Return the whole history."""
        random = self._random
        deeds = tuple(self._deed() for _ in range(random.randint(6, 24)))
        return History(
            policy=random.choice((Policy.RESEND, *Policy)),
            evidence=random.choice((Evidence.SOON, *Evidence)),
            begins=random.choice(_BEGINNINGS),
            answers=tuple(random.choices(random.choice(_ANSWERS), k=random.randint(1, 24))),
            delays=self._delays(),
            skews=tuple((name, _seconds(random.choice(_SKEWS))) for name in _SKEWED),
            sunset=timedelta(days=4) if self._has("sign_of_life") else None,
            ends_daily=random.random() < 0.3,
            deeds=deeds,
            strikes=tuple(self._strike(deeds) for _ in range(random.randint(0, 12))),
        )

    def _has(self, what: str) -> bool:
        return any(what in feature for feature in self._features)

    def _delays(self) -> tuple[timedelta, ...]:
        if self._random.random() < 0.6:
            return ()
        return tuple(map(_seconds, self._random.choices(_DELAYS, k=5)))

    def _deed(self, puts: int = 2) -> Deed:
        random = self._random
        feature = random.choice(self._features)
        return Deed(
            random.choice(self._busy) + _seconds(random.choice(_APART)),
            random.choice((*("put",) * puts, random.choice(feature), random.choice(feature))),
            random.choice(self._readers),
            random.choice(self._things),
            random.randrange(6),
        )

    def _strike(self, deeds: tuple[Deed, ...]) -> Strike:
        """Return a strike right after an action, or after digests came due on that day."""
        random = self._random
        at = random.choice(deeds).at
        function = random.choice((*AIMS, *("ingest", "generate") * 3, "fanout", "resend"))
        call = random.choice(AIMS[function])
        return Strike(
            function,
            call,
            random.choice((at, timedelta(days=at.days))),
            random.choice(_SKIPPED),
            random.choice(_HOWS_AT.get(call, _HOWS)),
            self._meanwhile(is_sending=AIMS[function] is _SENDING),
            _seconds(random.choice(_PAUSES)),
            random.random() < 0.3,
        )

    def _meanwhile(self, *, is_sending: bool) -> tuple[Deed, ...]:
        """Return the actions during a strike. A sender has already read its events, so it gets no
        new one.
        """
        number = self._random.randint(is_sending, 2)
        return tuple(self._deed(puts=not is_sending) for _ in range(number))


def _seconds(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
