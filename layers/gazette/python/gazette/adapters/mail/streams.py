"""Two streams of email, so that what becomes of one does not harm the other."""

from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import Mail
from gazette.domain.ports.mail import Mailer


class StreamedMailer:
    """The port `Mailer`: what goes out at once by `immediate`, digests by `digest`."""

    def __init__(self, *, digest: Mailer, immediate: Mailer) -> None:
        self._digest = digest
        self._immediate = immediate

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """By one of the two, once."""
        mailer = self._immediate if mail.is_immediate else self._digest
        return mailer.send(mail, attempt)
