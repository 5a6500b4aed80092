"""Dependencies of `gazette replay`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.web.links import SignedLinks
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Run
from gazette.domain.identity import address_hash
from gazette.domain.links import LinkKeys, LinkToken
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.rendering import LinkMaker, Links
from gazette.settings.delivery import SendingSettings

from gazette_support.adapters.sent_runs import DynamoSentRuns
from gazette_support.domain.replay import Missing, SentEmail, SentRuns
from gazette_support.steps.replay import read_email

_PLACEHOLDER = address_hash("nobody@example.invalid")


class PlaceholderLinks:
    """An implementation of the `LinkMaker` port.

    Its links have the usual length, but no stage accepts them. They are signed with an empty key
    and contain the hash of a placeholder address, so they reveal no address and cannot change a
    reader's settings.
    """

    def __init__(self, base_url: str) -> None:
        self._made = SignedLinks(base_url=base_url, keys=lambda: LinkKeys({"k1": b""}))

    def links(self, link: LinkToken) -> Links:
        """Return an email's links, whose tokens contain a placeholder address."""
        return self._made.links(replace(link, address=_PLACEHOLDER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The dependencies for reading sent emails in a replay."""

    sent: SentRuns
    runs: Runs
    read_email: Callable[[Run], SentEmail | Missing]
    """A function that reads the input of an email. It may be called from several threads."""

    link_maker: LinkMaker


def build_replay(settings: SendingSettings) -> Replay:
    """Return the context of `gazette replay`, from the settings of generate.

    Makes no writes and needs no secret.
    """
    sent = DynamoSentRuns(settings.runs_table)
    return Replay(
        sent=sent,
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        read_email=partial(
            read_email,
            subscribers=DynamoSubscribers(settings.subscribers_table),
            events=DynamoEventReader(settings.events_table, clock=now),
        ),
        link_maker=PlaceholderLinks(settings.base_url),
    )
