"""The mailers of stages that send through an SMTP server instead of SES."""

import json
import time
from functools import partial

from gazette.adapters.aws.secrets import read_secret
from gazette.adapters.mail.references import reference_in
from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.mail.smtp_exchange import SmtpServer, SmtpTimes
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.streams import Streams
from gazette.domain.feedback.reports import Prover
from gazette.domain.model import Mail
from gazette.domain.ports.mail import Mailer
from gazette.settings.budgets import SMTP_COMMAND_TIMEOUT
from gazette.settings.delivery import SendingSettings


def smtp_mailers(settings: SendingSettings, suppression_key: bytes) -> Streams[Mailer]:
    """Return each stream's mailer, with the stream's own sender.

    Without a key, emails have no reference.
    """
    login = _smtp_login(settings.smtp_secret) if settings.smtp_secret else {}
    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        username=login.get("username", ""),
        password=login.get("password", ""),
    )
    refer = None
    if suppression_key:
        prover = Prover(key=suppression_key, installation=settings.installation)
        refer = partial(_refer, prover=prover)
    by_smtp = partial(
        SmtpMailer, server, times=smtp_times(settings), clock=time.monotonic, refer=refer
    )
    return Streams(
        digest=by_smtp(sender=settings.sender),
        immediate=by_smtp(sender=settings.immediate_sender),
    )


def _refer(mail: Mail, attempt: int, *, prover: Prover) -> str:
    """Return the reference of an email that is about to be sent."""
    return reference_in(mail, attempt, prover=prover, sent_at=now())


def _smtp_login(secret: str) -> dict[str, str]:
    """Return `username` and `password` from the JSON object in a secret."""
    login: dict[str, str] = json.loads(read_secret(secret, "The SMTP login")["SecretString"])
    return login


def smtp_times(settings: SendingSettings) -> SmtpTimes:
    """Return the time-outs of the steps of an SMTP exchange.

    If a time-out other than the last is exceeded, the email was not sent.
    """
    command = SMTP_COMMAND_TIMEOUT
    return SmtpTimes(
        connect=command, command=command, data=command, reply=settings.smtp_reply_timeout
    )
