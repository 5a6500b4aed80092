"""What the steps need from the outside but for the tables, in the domain's words.

The tables are in stores.py and ledgers.py. Every port may raise `Unavailable`; the caller then
cannot know whether a write was made, and does the same again. All instants are timezone-aware
UTC.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.delivery.pace import NoPermit, PaceReading, Permit, Quota
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.feedback.experiment import Course, Experiment
from gazette.domain.links import LinkKeys
from gazette.domain.model import Edition, Mail, RunKey
from gazette.domain.subscribers.subscriber import Subscriber

MessageT_contra = TypeVar("MessageT_contra", contravariant=True)

MESSAGES_A_CALL = 10
"""What SQS takes in one SendMessageBatch."""

Clock = Callable[[], datetime]
"""Returns the instant now, timezone-aware."""

HeldCategories = Callable[[], Collection[str]]
"""Returns the categories that are on hold. A minute late after a change. Never raises."""

RunningExperiment = Callable[[], Experiment | None]
"""Returns the experiment that runs, or None. A minute late after a change. Never raises."""

Said = ChoosePreferences | ChangeFollow | MarkActive
"""What Gazette itself puts on the bus: what readers say on its pages, and signs of life."""

TimeLeft = Callable[[], timedelta]
"""Returns what remains of this invocation."""


LONGEST_DELAY = timedelta(seconds=900)
"""For which SQS hides a message that is sent."""

LONGEST_HIDING = timedelta(hours=12)
"""For which SQS hides a message that was received."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to put on a queue, hidden for `delay` (0 to 900 s)."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard's share of the slots from `since` to `until`, both of them with it."""

    number: int
    since: datetime
    until: datetime


class Queue(Protocol[MessageT_contra]):
    """A queue of messages to work off. Each is delivered at least once, in any order."""

    def send(self, messages: Iterable[MessageT_contra]) -> None:
        """Queue them, ten a call. Raises Unavailable unless all of them are queued.

        After an error, some may be queued.
        """


RunQueue = Queue[QueuedRun]
"""A queue of runs to deliver: generate's, or resend's."""

FailedRuns = Queue[RunKey]
"""Where runs that failed wait for a person. One that is brought back to resend changes nothing."""

ShardQueue = Queue[Shard]
"""The queue of shards to fan out."""

SweepQueue = Queue[int]
"""The queue of the partitions of open runs to sweep."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Queue every follower of `side` with a user id after `after` for an activity.

    The activity is named by the key of its entity and its id.
    """

    entity: str
    activity_id: str
    side: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class FollowerPage:
    """The followers of `side` with user ids in (`after`, `through`], for an activity."""

    entity: str
    activity_id: str
    side: str
    after: str
    through: str


FollowersQueue = Queue[Walk | FollowerPage]
"""The queue of activities on their way to followers."""


class Bus(Protocol):
    """The bus that services put events on."""

    def put(self, said: Sequence[Said]) -> bool:
        """Put what is said of a reader on it; False where none of it was taken.

        Raises Unavailable where some of it was not, or where that cannot be told.
        """


class Quarantine(Protocol):
    """Where messages that do not fit the contract wait for a person."""

    def keep(self, body: str, reason: str) -> None:
        """Keep the original `body` together with the reason in plain words."""


class Experiments(Protocol):
    """Where it is said which experiment runs: one at a time."""

    def running(self) -> Experiment | None:
        """The one that runs now, or None."""

    def start(self, wanted: Experiment) -> None:
        """Let this one run, in the place of any other. May be repeated."""

    def stop(self, at: datetime) -> None:
        """Let none run: everybody gets variation 1. May be repeated."""

    def courses(self) -> Mapping[str, Course]:
        """From when to when each experiment ran, by name."""


class Renderer(Protocol):
    """Permits a digest into an email."""

    def ranking(self, variation: int) -> Ranking:
        """What comes first in the digests of a variation."""

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: "Links",
        schedule: str,
        *,
        variation: int = 1,
    ) -> Edition:
        """The edition for this reader. Deterministic: the same input makes the same bytes.

        It may show fewer groups than `digest` has, the first ones, and counts the others as left
        out. `schedule` is the run's: the email says why, and how often, the reader gets it.
        Raises RenderingFailed for whatever a template cannot show.
        """


@dataclass(frozen=True, slots=True)
class CacheCount:
    """How often something was there already, and how often it had to be made."""

    found: int
    made: int


@dataclass(frozen=True, slots=True)
class Links:
    """The reader's own links, signed, https.

    `preferences`: the page of choices. `email`: this email in the browser. `updates`: everything
    of its run, also what the email leaves out.
    """

    unsubscribe: str
    preferences: str
    email: str
    updates: str


class LinkMaker(Protocol):
    """Makes the signed links of an email."""

    def links(self, key: RunKey) -> Links:
        """The links for the reader of this run. Raises Unavailable where no key is known."""


class KeyStore(Protocol):
    """Where the keys lie that sign the links."""

    def read(self) -> LinkKeys:
        """As they are stored now. Raises InvalidKeys, with what to do."""

    def replace(self, keys: LinkKeys) -> bool:
        """Store them if what is there is still what `read` returned last; else False."""


class Mailer(Protocol):
    """The provider that delivers email."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Hand over one message in exactly one request, never repeated, and say what came of it.

        Returns within the send time-out. Does not raise for anything that the provider or the
        network does: `Uncertain` is the answer for whatever cannot be told.
        """


class RateLimiter(Protocol):
    """Gives all workers together their permits in a stream, at no more than its rate."""

    def reserve(self, now: datetime, latest: datetime) -> Permit | NoPermit:
        """Take the next permit, if it is not after `latest`.

        Nobody else gets it, also where it is not used. It counts for the day of `now`. What is
        not taken costs no permit; a call whose answer is lost may. While the breaker is on there is
        none, but one for each of its steps, whose `is_probe` is set.
        """


class CircuitBreaker(Protocol):
    """Pulls and releases the breaker of a stream, which all workers see where they take permits in
    it.

    Permits that were taken before are used. After an error it may have been done.
    """

    def trip(self, why: str, now: datetime) -> OpenBreaker:
        """The provider refused all of the stream: on, or on for longer, as `tripped` says.

        Returns it as it is now. One that was pulled by hand stays as it is.
        """

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """The provider refused an email of another stream for what concerns this one too.

        On; one that is on already stays as it is. May be repeated.
        """

    def reset(self) -> None:
        """The provider takes email again: off, unless it was pulled by hand. May be repeated."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """A person stops the stream until `close_by_hand`. Returns it as it is now."""

    def close_by_hand(self) -> None:
        """Off, whoever pulled it. May be repeated."""


class EvidenceLog(Protocol):
    """Up to when the provider's own delivery events have come in."""

    def note(self, sent_at: datetime) -> None:
        """A delivery event of an email that was sent at this instant has been worked off."""

    def latest(self) -> datetime | None:
        """The latest such instant, give or take some seconds; None: there never was any."""


class EvidenceBacklog(Protocol):
    """The delivery events that wait to be worked off."""

    def is_clear(self, grace: timedelta) -> bool:
        """Whether none waits for longer than `grace`, and none has failed."""


class Canary(Protocol):
    """An email to nobody, whose delivery event proves that delivery events come in."""

    def send(self) -> None:
        """Send one. What becomes of it shows in the delivery events alone."""


class PaceGauge(Protocol):
    """Shows how fast the emails of a stream go out."""

    def read(self, now: datetime) -> PaceReading:
        """Emails a second now and at most; how many permits were taken today, of how many."""

    def foresee(self, now: datetime, latest: datetime) -> Permit | NoPermit:
        """What `RateLimiter.reserve` would answer. Nobody's permit is taken, and the breaker is not
        tried.
        """


class QuotaStore(Protocol):
    """Where all workers look up what the account lets a stream send."""

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """Its part at that instant: each permit from now on leaves one less of its day."""


class Account(Protocol):
    """The account with the mail provider."""

    def quota(self) -> Quota:
        """What it may send now. Raises Unavailable where that cannot be told."""


class Pages(Protocol):
    """The web pages that a reader sees. Each returns a whole HTML document.

    `accepted` is what the browser says it speaks (Accept-Language), where nobody asked who reads.
    """

    def confirm_unsubscribe(self, accepted: str) -> str:
        """Asks before anything happens; its button repeats the request as a POST."""

    def unsubscribed(self, accepted: str) -> str:
        """Says that it is done."""

    def invalid_link(self, accepted: str) -> str:
        """Says that a link does not work and what to do, the same whatever the cause."""

    def went_wrong(self, accepted: str) -> str:
        """Says that it is not the reader's fault, and what to do."""

    def not_sent(self, reader: Subscriber) -> str:
        """Says that there is nothing to see before an email is sent."""

    def nothing_left(self, reader: Subscriber) -> str:
        """Says that nothing of what an email showed is still there."""

    def updates(self, digest: Digest, reader: Subscriber) -> str:
        """Each group of the digest with its link, people, count and time."""
