"""A mailer that sends only to the recipients that a stage allows."""

from gazette.domain.delivery.signals import RefusedForGood, SendOutcome
from gazette.domain.model import Mail
from gazette.domain.ports.mail import Mailer
from gazette.domain.subscribers.addresses import AllowedRecipients

NOT_ALLOWED = "not in allowed_recipients"
"""The detail of a refusal. It contains no address, because it is stored and logged."""


class AllowedMailer:
    """Implementation of the `Mailer` port that checks the recipient before it calls a mailer.

    `prepare` skips the runs of other recipients, so this check refuses email only if another part
    of the code fails to check.
    """

    def __init__(self, mailer: Mailer, allowed: AllowedRecipients) -> None:
        self._mailer = mailer
        self._allowed = allowed

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send one message to an allowed recipient. Refuse any other message for good."""
        if not self._allowed.allow(mail.to):
            return RefusedForGood(attempt, NOT_ALLOWED)
        return self._mailer.send(mail, attempt)
