"""What SES and the DNS say of a stage's senders, configuration sets and account."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3
from gazette.settings.delivery import GenerateSettings

from cli.doctor.findings import Unseen
from cli.doctor.questions import asked

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

Answer = Mapping[str, Any]
"""What an operation of SES returns, as it documents it."""

LookUp = Callable[[str], list[str] | Unseen]
"""The TXT records of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """An address that a stream sends from.

    `identity`: the most specific identity that SES has for it, whose settings count; None: none.
    `dmarc`: the DMARC records of its domain, or of the nearest domain above it that has one.
    """

    address: str
    name: str = ""
    identity: Answer | Unseen | None
    dmarc: list[str] | Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class MailFacts:
    """`destinations` by configuration set. `rate`: emails a second, 0 for the quota's.

    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailIdentity.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetConfigurationSetEventDestinations.html
    """

    stage: str
    rate: int
    account: Answer | Unseen | None
    senders: tuple[Sender, ...]
    destinations: Mapping[str, Answer | Unseen | None]


def mail_facts(settings: GenerateSettings, *, stage: str, look_up: LookUp) -> MailFacts:
    """Ask SES and the DNS; nothing is sent."""
    client: SESV2Client = boto3.client("sesv2")
    addresses = dict.fromkeys(
        parseaddr(each)[1].lower() for each in (settings.sender, settings.immediate_sender)
    )
    sets = dict.fromkeys((settings.configuration_set, settings.immediate_configuration_set))
    return MailFacts(
        stage=stage,
        rate=settings.emails_per_second,
        account=asked("ses:GetAccount", client.get_account),
        senders=tuple(_sender(each, client, look_up) for each in addresses),
        destinations={
            name: asked(
                "ses:GetConfigurationSetEventDestinations",
                partial(client.get_configuration_set_event_destinations, ConfigurationSetName=name),
            )
            for name in sets
        },
    )


def _sender(address: str, client: "SESV2Client", look_up: LookUp) -> Sender:
    domain = address.rpartition("@")[2]
    identity: Answer | Unseen | None = None
    name = ""
    for name in (address, *_upwards(domain)):
        ask = partial(client.get_email_identity, EmailIdentity=name)
        identity = asked("ses:GetEmailIdentity", ask)
        if identity is not None:
            break
    return Sender(address=address, name=name, identity=identity, dmarc=_dmarc(domain, look_up))


def _dmarc(domain: str, look_up: LookUp) -> list[str] | Unseen:
    """Receivers look at the domain, then upwards (RFC 9989, section 4.10).

    RFC 7489 has them look at the organizational domain instead: for them, too, one of these.
    """
    for each in _upwards(domain):
        found = look_up(f"_dmarc.{each}")
        if isinstance(found, Unseen):
            return found
        if policies := [text for text in found if text.lower().startswith("v=dmarc1")]:
            return policies
    return []


def _upwards(domain: str) -> Iterator[str]:
    """The domain, and those above it down to two labels."""
    labels = domain.split(".")
    yield from (".".join(labels[first:]) for first in range(max(1, len(labels) - 1)))
