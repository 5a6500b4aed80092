"""`gazette send-test`: the sample digest to an address of yours, as the stage sends it."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import mailers
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Accepted, SendOutcome, Uncertain
from gazette.domain.identity import address_hash
from gazette.domain.model import Mail, RunKey
from gazette.domain.subscribers.addresses import ADDRESS
from gazette.settings.delivery import LEAVES_ALL, GenerateSettings
from gazette.steps.delivery.edition import address

from cli.preview.content import EmailContent, Kind, sample
from cli.preview.rendering import LINKS, render
from cli.shared.answers import tell
from cli.shared.aws_errors import refusals_in_words, refusals_of_tables
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import StageName, settings_of
from cli.shared.suppression_key import suppression_key
from cli.templates.building import templates_of

_PROJECT = Path(__file__).parents[2]
_RUN = "test"
"""The tag `run` of the email. It names no run, so feedback settles nothing by its events."""


def send_test(
    to: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Who gets it: a mailbox that you can read.")
    ],
    kind: Annotated[Kind, typer.Option("--kind", help="As which kind of email.")] = Kind.DIGEST,
    stage: StageName = "prod",
) -> None:
    """Send the sample of `gazette preview` to an address, as the stage sends its emails.

    From the sender of the stage through its configuration set, with the headers of a real one;
    links lead nowhere. In the message's source, `Authentication-Results` says what your mailbox
    provider makes of DKIM, SPF and DMARC. A suppressed address is refused.
    """
    if not ADDRESS.fullmatch(to):
        raise NotPossible(f"{printable(to)!r} is no address: write one such as ann@example.com.")
    settings = settings_of(stage, "generate", GenerateSettings)
    _refuse_suppressed(to, stage, settings)
    letter = sample(kind)
    mail = _mail(replace(letter, reader=replace(letter.reader, email=to)), stage, settings)
    with refusals_in_words("the login of the SMTP server", service="secretsmanager"):
        mailer = mailers(settings).of(letter.schedule)
    outcome = mailer.send(mail, 1)
    if not isinstance(outcome, Accepted):
        raise NotPossible(_in_words(outcome, stage))
    tell(
        f"the provider took it: message {outcome.message_id}",
        address=to,
        subject=mail.edition.subject,
        message_id=outcome.message_id,
    )
    note(
        "Look into the message's source for Authentication-Results: dkim, spf and dmarc should "
        "pass there, for the domain of the sender."
    )


def _in_words(outcome: SendOutcome, stage: str) -> str:
    said = printable(getattr(outcome, "detail", ""))
    if isinstance(outcome, Uncertain):
        return f"Nobody knows whether it went out ({said}): look into the mailbox."
    return (
        f"The provider refused it ({said}): `gazette doctor --stage {stage}` says what is missing."
    )


def _refuse_suppressed(to: str, stage: str, settings: GenerateSettings) -> None:
    key = suppression_key(stage, settings.suppressions_secret)
    with refusals_of_tables(stage):
        suppressions = DynamoSuppressions(settings.suppressions_table, key=key, clock=now)
        found = suppressions.get(address_hash(to))
    if found:
        raise NotPossible(
            f"{to} is suppressed ({found.cause}): no email goes there. "
            f"`gazette suppression remove {to} --stage {stage}` says what that means."
        )


def _mail(letter: EmailContent, stage: str, settings: GenerateSettings) -> Mail:
    edition = render(letter, templates_of(stage, _PROJECT))
    at = now()
    mail = address(
        Run(
            key=RunKey(letter.reader.user_id, letter.schedule, 1), due_at=at, check_at=at, attempt=1
        ),
        edition,
        letter.reader,
        LINKS,
        list_id=settings.list_id,
        installation=settings.installation,
        leaves_all=settings.immediate_unsubscribe == LEAVES_ALL,
    )
    tags = {**dict(mail.tags), "run": _RUN}
    return replace(mail, tags=tuple(tags.items()))
