"""What a history is made of: what people and services do, and which calls are struck. By number."""

from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.provider import Answer, Evidence
from proofs.prove.strikes import How

READERS = ("ann", "bo")
DAYS = 6
"""Of a history; after that everybody comes back, and everything settles."""

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
"""Each history has some of them, so that those it has meet: all of them at once seldom do."""

_BEGINNINGS = (
    (Frequency.DAILY, Frequency.DAILY),
    (Frequency.IMMEDIATE, Frequency.IMMEDIATE),
    (Frequency.IMMEDIATE, Frequency.IMMEDIATE),
    (Frequency.IMMEDIATE, Frequency.DAILY),
    (Frequency.DAILY, Frequency.WEEKLY),
)
_MOMENTS = (-3600, -20, -5, 0, 1, 5, 20, 60, 300, 900, 3600, 6 * 3600, 10 * 3600)
"""Seconds from when digests are due at eight in Berlin."""

_DAYS = (-1, 0, 0, 1, 2, 3, 4)
"""The first one is a Monday, on which weekly digests are due too."""

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
"""The calls between which something may come, by function; a strike is aimed at one of them."""

_AIMS_OF_CONTENT = {
    "content": ("schedules.get", "source.ask", "events.store", "schedules.put", "message.delete"),
    "generate": ("schedules.get", "fetch_queue.send", "runs.swap"),
    "fanout": ("fetch_queue.send", "runs.create", "schedules.put"),
}
"""Where something may come between, besides, in a history that asks a content source."""

_AIMS_OF_LAPSES = ("deferred_events.expire", "deferred_events.expire", "runs.swap")
"""Where something may come between, besides, in a history in which an event lapses."""

_HOWS = (*(How.OVERTAKEN,) * 5, *How)
_HOWS_AT = {
    "events.write": (*(How.HELD_UP,) * 4, How.KILLED_AFTER, How.OVERTAKEN, How.FROZEN),
    "events.store": (How.KILLED_AFTER, How.KILLED_AFTER, How.UNANSWERED, How.OVERTAKEN),
    "runs.create": (How.HELD_UP, How.HELD_UP, How.KILLED_BEFORE, How.KILLED_AFTER, How.OVERTAKEN),
    "message.delete": (How.KILLED_BEFORE, How.REFUSED, How.HELD_UP),
}
"""What hurts most at a call; what is stamped before a write may be written much later."""

_SKIPPED = (0, 0, 0, 0, 0, 1, 1, 2, 4)


@dataclass(frozen=True)
class Deed:
    """Somebody does something, so long after the first digest is due."""

    at: timedelta
    what: str
    who: str
    which: int
    how: int


@dataclass(frozen=True)
class Strike:
    """What happens to a function at a call of that name: the first `since` then, after so many.

    Before it, `meanwhile` is done. Where the worker is `overtaken`, everybody else goes on for a
    `pause`, after `is_copied` with another worker that got the same message.
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
    """`begins`: how often the readers want comments and likes at first.

    `delays` are those of messages on their way to ingest, one after the other, round.
    `ends_daily`: in the end everybody wants a digest a day, so everything that waits moves.
    `asks`: digests ask a content source, which fails `source_down` times first.
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


_ASKS = 4
"""One history in so many asks a content source."""

_LAPSES = 6
"""In one history in so many an event lapses, is given more time, and lapses again, while nobody
knows what became of any email."""


def history(number: int) -> History:
    """The history of that number, always the same."""
    drawn = _Drawn(Random(number)).history()
    if number % _LAPSES == 1:
        drawn = _with_lapses(drawn, Random(-number - 1))
    if number % _ASKS:
        return drawn
    asking = Random(-number - 1)
    return replace(
        drawn,
        asks=True,
        source_down=asking.choice((0, 0, 0, 3, 9)),
        strikes=(*drawn.strikes, *(_strike_of_content(asking) for _ in range(2))),
    )


def _with_lapses(drawn: History, random: Random) -> History:
    """Each day an event is given more time, and something else happens so that there is an email.

    It lapses between the attempts of a digest, or of an immediate email.
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


def _strike_of_lapses(random: Random) -> Strike:
    """Where what has lapsed is taken out, or where a worker claims what another one takes out."""
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
    """At a call of whoever asks, or of who waits for the items."""
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
    """One history, drawn. What happens, happens around few moments, to few things."""

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
        """All of it."""
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
        """After something was done, or digests came due on that day: there it hurts."""
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
        """Who sends has read what it sends; a new event comes too late for that."""
        number = self._random.randint(is_sending, 2)
        return tuple(self._deed(puts=not is_sending) for _ in range(number))


def _seconds(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
