"""What a history is made of: what people and services do, and which calls are struck. Generated."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from hypothesis import strategies as st

from proofs.prove.provider import Answer, Evidence
from proofs.prove.strikes import How

READERS = ("ann", "bo")
DAYS = 12
"""Of a history; after that everybody comes back, and everything settles."""

_DEEDS = (
    *("put",) * 9,
    *("happen",) * 5,
    *("follow",) * 4,
    *("often",) * 4,
    *("hour", "zone", "days", "everything") * 2,
    *("pause", "resume") * 2,
    *("retract", "amend", "again", "retract_activity", "unfollow"),
    *("leave", "bounce", "complain", "erase"),
    *("come_back",) * 4,
    *("hold", "release") * 2,
    *("stop_stream", "resume_stream"),
    *("cancel", "sign_of_life", "click", "bury", "lose"),
    *("copy",) * 4,
)
_MOMENTS = tuple(
    timedelta(seconds=seconds)
    for seconds in (-3600, -20, -5, 0, 1, 5, 20, 60, 300, 900, 3600, 6 * 3600, 10 * 3600)
)
"""From when digests are due at eight in Berlin."""

_ANSWERS = (*(Answer.ACCEPTS,) * 6, *Answer)
_HOWS = (*(How.OVERTAKEN,) * 3, *How)
_SKEWED = ("ingest", "followers", "fanout", "generate", "resend", "feedback", "sweep")
_SKEWS = tuple(timedelta(seconds=seconds) for seconds in (-2.5, 0, 2.5))
_DELAYS = tuple(timedelta(seconds=seconds) for seconds in (0, 0, 0, 7, 90, 2400))
_SUNSETS = (None, timedelta(days=4))


@dataclass(frozen=True)
class Deed:
    """Somebody does something, so long after the first digest is due."""

    at: timedelta
    what: str
    who: str
    which: int
    how: int


@dataclass(frozen=True)
class History:
    """`strikes`: after so many calls more, one is struck. `meanwhile`: for those that overtake.

    `delays` are those of messages on their way to ingest, one after the other, round.
    `ends_daily`: in the end everybody wants a digest a day, so everything that waits moves.
    """

    policy: Policy
    evidence: Evidence
    answers: tuple[Answer, ...]
    delays: tuple[timedelta, ...]
    skews: tuple[tuple[str, timedelta], ...]
    sunset: timedelta | None
    ends_daily: bool
    deeds: tuple[Deed, ...]
    meanwhile: tuple[Deed, ...]
    strikes: tuple[tuple[int, How], ...]


def _deeds(*, most: int) -> st.SearchStrategy[tuple[Deed, ...]]:
    day = st.integers(-1, DAYS - 1).map(lambda number: timedelta(days=number))
    at = st.builds(lambda day, moment: day + moment, day, st.sampled_from(_MOMENTS))
    deed = st.builds(
        Deed,
        at,
        st.sampled_from(_DEEDS),
        st.sampled_from((*READERS[:1] * 3, *READERS)),
        st.integers(0, 5),
        st.integers(0, 5),
    )
    return st.lists(deed, min_size=most // 3, max_size=most).map(tuple)


def _clocks() -> st.SearchStrategy[tuple[tuple[str, timedelta], ...]]:
    skew = st.sampled_from(_SKEWS)
    return st.tuples(*(st.tuples(st.just(name), skew) for name in _SKEWED))


def _strikes() -> st.SearchStrategy[tuple[tuple[int, How], ...]]:
    strike = st.tuples(st.integers(0, 200), st.sampled_from(_HOWS))
    return st.lists(strike, max_size=8).map(tuple)


HISTORIES = st.builds(
    History,
    policy=st.sampled_from((Policy.RESEND, *Policy)),
    evidence=st.sampled_from((Evidence.SOON, *Evidence)),
    answers=st.lists(st.sampled_from(_ANSWERS), max_size=20).map(tuple),
    delays=st.lists(st.sampled_from(_DELAYS), max_size=6).map(tuple),
    skews=_clocks(),
    sunset=st.sampled_from(_SUNSETS),
    ends_daily=st.booleans(),
    deeds=_deeds(most=45),
    meanwhile=_deeds(most=9),
    strikes=_strikes(),
)
