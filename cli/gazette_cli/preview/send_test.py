"""`gazette send-test`: send a sample email to an address."""

from dataclasses import replace
from typing import Annotated

import typer
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import mailers
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Accepted, SendOutcome, Uncertain
from gazette.domain.identity import address_hash
from gazette.domain.model import Mail, RunKey, StageHeaders
from gazette.domain.subscribers.addresses import ADDRESS
from gazette.settings.delivery import LEAVES_ALL, GenerateSettings
from gazette.steps.delivery.edition import address

from gazette_cli.preview.content import EmailContent, Kind, sample
from gazette_cli.preview.rendering import LINKS, render
from gazette_cli.shared.answers import tell
from gazette_cli.shared.aws_errors import refusals_in_words, refusals_of_tables
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.suppression_key import suppression_key
from gazette_cli.templates.building import templates_of

_RUN = "test"
"""The value of the `run` tag in test emails. The value is not a run id, so feedback ignores the
delivery events of test emails.
"""


def send_test(
    to: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="The address of a mailbox that you can read."),
    ],
    kind: Annotated[Kind, typer.Option("--kind", help="The kind of email to send.")] = Kind.DIGEST,
    stage: StageName = "prod",
) -> None:
    """Send the sample email of `gazette preview` to an address, with the stage's sender and
    configuration set.

    The email has the headers of a real email, but its links are placeholders. In the message
    source, `Authentication-Results` shows whether your mailbox provider accepts DKIM, SPF and
    DMARC. The command does not send to suppressed addresses.
    """
    if not ADDRESS.fullmatch(to):
        raise NotPossible(
            f"{printable(to)!r} is not an email address. Specify an address such as "
            "ann@example.com."
        )
    settings = settings_of(stage, "generate", GenerateSettings)
    if not settings.allowed.allow(to):
        raise NotPossible(
            f"The stage does not send to {to}, because the address is not in its setting "
            "allowed_recipients."
        )
    _refuse_suppressed(to, stage, settings)
    letter = sample(kind)
    mail = _mail(replace(letter, reader=replace(letter.reader, email=to)), stage, settings)
    with refusals_in_words("the login of the SMTP server", service="secretsmanager"):
        mailer = mailers(settings).of(letter.schedule)
    outcome = mailer.send(mail, 1)
    if not isinstance(outcome, Accepted):
        raise NotPossible(_in_words(outcome, stage))
    tell(
        f"the provider accepted the email: message {outcome.message_id}",
        address=to,
        subject=mail.edition.subject,
        message_id=outcome.message_id,
    )
    note(
        "In the message source, Authentication-Results should show that dkim, spf and dmarc pass "
        "for the domain of the sender."
    )


def _in_words(outcome: SendOutcome, stage: str) -> str:
    detail = printable(getattr(outcome, "detail", ""))
    if isinstance(outcome, Uncertain):
        return f"The email may or may not have been sent ({detail}). Check the mailbox."
    return (
        f"The provider rejected the email ({detail}). To find the cause, run `gazette doctor "
        f"--stage {stage}`."
    )


def _refuse_suppressed(to: str, stage: str, settings: GenerateSettings) -> None:
    key = suppression_key(stage, settings.suppressions_secret)
    with refusals_of_tables(stage):
        suppressions = DynamoSuppressions(settings.suppressions_table, key=key, clock=now)
        suppression = suppressions.get(address_hash(to))
    if suppression:
        raise NotPossible(
            f"{to} is suppressed ({suppression.cause}). To allow the address again, run `gazette "
            f"suppression remove {to} --stage {stage}`."
        )


def _mail(letter: EmailContent, stage: str, settings: GenerateSettings) -> Mail:
    edition = render(letter, templates_of(stage))
    at = now()
    mail = address(
        Run(
            key=RunKey(letter.reader.user_id, letter.schedule, 1), due_at=at, check_at=at, attempt=1
        ),
        edition,
        letter.reader,
        LINKS,
        StageHeaders(
            settings.list_id,
            settings.installation,
            leaves_all=settings.immediate_unsubscribe == LEAVES_ALL,
        ),
    )
    tags = {**dict(mail.tags), "run": _RUN}
    return replace(mail, tags=tuple(tags.items()))
