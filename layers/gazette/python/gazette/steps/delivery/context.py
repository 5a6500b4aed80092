"""The dependencies of a delivery: its reads, its writes and the provider."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.streams import Streams
from gazette.domain.happening.bodies import LeftOut
from gazette.domain.model import RunKey, StageHeaders, Window
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.control import HeldCategories
from gazette.domain.ports.ledgers import Batches, Runs
from gazette.domain.ports.mail import Mailer
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.ports.stores import (
    DeferredEvents,
    EventReader,
    LastLook,
    SeenReader,
    Subscribers,
)
from gazette.domain.scheduling.limits import DeliveryLimits
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.addresses import EVERYONE, AllowedRecipients
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.templates.ports import CurrentDecisions
from gazette.domain.window.worth import Worth
from gazette.steps.delivery.pacing import Pacing
from gazette.steps.delivery.versions import Chosen, Unusable

if TYPE_CHECKING:
    from gazette.steps.delivery.content import ContentContext


RouteAgain = Callable[[RunKey, Window, TimeLeft], bool]

LeaveOutBodies = Callable[[Sequence[LeftOut]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareContext:
    """The dependencies of `prepare`, which makes no writes."""

    subscribers: Subscribers
    events: EventReader
    seen: SeenReader
    held_categories: HeldCategories
    decisions: CurrentDecisions
    """A function that returns the decisions of operators, such as withdrawals."""

    clock: Clock
    random: Callable[[], float]
    """A function that returns a random number from 0 to 1."""

    limits: DeliveryLimits
    allowed: AllowedRecipients = EVERYONE
    """The recipients to whom the stage sends email."""

    content: "ContentContext | None" = None
    """The content sources. None if runs do not wait for items."""

    quiet_hours: QuietHours | None = None
    """The quiet hours of readers without their own choice. None if there are none."""

    worth: Worth | None = None
    """The minimum for daily digests. None if each digest with an event is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionContext:
    """The dependencies for turning events into an email.

    A template version may override `max_blocks` and `arrangement`.
    """

    templates: Callable[[Run], Chosen]
    """A function that returns the template version of a run."""

    unusable: Unusable
    """A function to call with the number of a pushed version that fails on events.

    It is called only if the deployed version can show these events.
    """

    decisions: CurrentDecisions
    link_maker: LinkMaker
    deferred_events: DeferredEvents
    leave_out_bodies: LeaveOutBodies
    """A function that removes bodies from the row of their happening, so that an email shows
    another.

    Returns False if the row has no other body, or has changed.
    """

    max_blocks: int
    """The maximum number of blocks in an email."""

    arrangement: Arrangement
    """The stage's ranking and sections of digests."""

    sunset: timedelta | None = None
    """The period of inactivity after which a reader becomes dormant. None means never."""

    defaults: Frequencies = ()
    """The frequencies of categories for readers who have not chosen one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryContext(PrepareContext):
    """The dependencies for delivering runs, such as the tables, the templates and the provider."""

    runs: Runs
    batches: Batches
    last_look: LastLook
    """A function that re-reads the reader and the suppression between claiming and sending."""

    route_again: RouteAgain
    """A function that moves a run's waiting events to the schedules that the reader now wants.

    Returns True if any event left the run. Raises NotYet if too little time is left.
    """

    editing: EditionContext
    mailers: Streams[Mailer]
    pacing: Pacing
    draw_nonce: Callable[[], str]
    """A function that returns a unique value for each claim."""

    headers: StageHeaders
    """The stage's values in the headers and tags of each email."""
