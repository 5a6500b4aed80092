"""Chooses the mailer of an email's stream: digests or immediate emails."""

from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import Mail
from gazette.domain.ports.mail import Mailer


class StreamedMailer:
    """The port `Mailer`: immediate emails go through `immediate`, digests through `digest`."""

    def __init__(self, *, digest: Mailer, immediate: Mailer) -> None:
        self._digest = digest
        self._immediate = immediate

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send once, through the mailer of the email's stream."""
        mailer = self._immediate if mail.is_immediate else self._digest
        return mailer.send(mail, attempt)
