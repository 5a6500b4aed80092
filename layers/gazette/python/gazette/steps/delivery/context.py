"""What a delivery reads, and what it sends and stores with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gazette.domain.delivery.streams import Streams
from gazette.domain.model import RunKey, Window
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.control import HeldCategories
from gazette.domain.ports.ledgers import Batches, Runs
from gazette.domain.ports.mail import Mailer
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.ports.stores import EventReader, LastLook, Subscribers, Suppressions
from gazette.steps.delivery.edition import EditionContext
from gazette.steps.delivery.pacing import Pacing
from gazette.steps.delivery.types import DeliveryLimits

if TYPE_CHECKING:
    from gazette.steps.delivery.content import ContentContext


RouteAgain = Callable[[RunKey, Window, TimeLeft], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareContext:
    """What `prepare` reads; it writes nothing. `random` returns a number from 0 to 1.

    `content`: None if no run waits for the items of content sources.
    """

    runs: Runs
    subscribers: Subscribers
    suppressions: Suppressions
    events: EventReader
    held_categories: HeldCategories
    batches: Batches
    clock: Clock
    random: Callable[[], float]
    limits: DeliveryLimits
    content: "ContentContext | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryContext(PrepareContext):
    """Besides, the templates and the provider that turn runs into emails.

    `last_look`: at the reader, between claim and call. `route_again` brings what was stored in
    a window of a run where its reader wants it now, and returns whether any has left; raises NotYet
    if time is short.
    `draw_nonce` returns a unique value. `installation` names these tables, so that delivery events
    of another installation are told apart. `leaves_all`: a mail program's unsubscribe button ends
    all email, also beside an immediate email.
    """

    last_look: LastLook
    route_again: RouteAgain
    editing: EditionContext
    link_maker: LinkMaker
    mailers: Streams[Mailer]
    pacing: Pacing
    draw_nonce: Callable[[], str]
    list_id: str
    installation: str
    leaves_all: bool = False
