"""Lookups of a stage's senders, configuration sets and account in SES and in DNS."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3
from gazette.settings.delivery import GenerateSettings

from gazette_cli.doctor.findings import Unseen
from gazette_cli.doctor.questions import asked

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

Answer = Mapping[str, Any]
"""The response of an SES operation."""

LookUp = Callable[[str], list[str] | Unseen]
"""A function that returns the TXT records of a DNS name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The sender address of a stream."""

    address: str

    # The name of the identity.
    name: str = ""

    # The most specific identity in SES, or None. Its settings apply to the sender.
    identity: Answer | Unseen | None

    # The DMARC records of the domain, or of the nearest parent domain with a record.
    dmarc: list[str] | Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class MailFacts:
    """The state of a stage in SES and in DNS.

    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailIdentity.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetConfigurationSetEventDestinations.html
    """

    stage: str

    # The sending rate set for the stage, in emails per second, or 0 to use the rate of the account.
    rate: int

    account: Answer | Unseen | None
    senders: tuple[Sender, ...]

    # The event destinations by configuration set.
    destinations: Mapping[str, Answer | Unseen | None]


def mail_facts(settings: GenerateSettings, *, stage: str, look_up: LookUp) -> MailFacts:
    """Look up the mail facts in SES and in DNS. No email is sent."""
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
    """Return the DMARC records that receivers use.

    Receivers look up the domain, then its parent domains (RFC 9989, section 4.10). Under RFC 7489,
    they look up the organizational domain, which is one of the parent domains.
    """
    for each in _upwards(domain):
        records = look_up(f"_dmarc.{each}")
        if isinstance(records, Unseen):
            return records
        if policies := [text for text in records if text.lower().startswith("v=dmarc1")]:
            return policies
    return []


def _upwards(domain: str) -> Iterator[str]:
    """Yield a domain, and the parent domains that have at least two labels."""
    labels = domain.split(".")
    yield from (".".join(labels[first:]) for first in range(max(1, len(labels) - 1)))
