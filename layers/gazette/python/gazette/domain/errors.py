"""The errors of Gazette: one tree, and one type for each way to act on it."""

from datetime import timedelta


class GazetteError(Exception):
    """Anything that Gazette itself reports. The text is written for a person."""


class InvalidEvent(GazetteError):
    """A message from a service that does not fit the contract. The text names the field."""


class ForeignEvent(InvalidEvent):
    """A message whose source may not put it on this queue. The text names the source."""


class InvalidToken(GazetteError):
    """A link whose token was not signed by this installation, or was altered on the way.

    Readers are never told which: each such link is answered alike.
    """


class EndedLink(InvalidToken):
    """A link that this installation has signed, and that opens nothing any more."""


class InvalidKeys(GazetteError):
    """Keys that cannot be used, of links or suppressions. The text says why, and holds no key."""


class UnreadableForm(GazetteError):
    """What a browser sent is no form, or too long. The text says why."""


class RenderingFailed(GazetteError):
    """A template that cannot show what it was given. The text says why."""


class VersionUnusable(GazetteError):
    """A version of the templates that is not what was pushed, or that this process cannot load."""


class VersionGone(VersionUnusable):
    """A version of the templates that surely exists no more."""


class NotYet(GazetteError):
    """A run that cannot go on now: its message must be kept and tried again later."""


class Hidden(NotYet):
    """As NotYet, of a message that SQS hides already until the run may go on."""


class Overtaken(GazetteError):
    """Somebody else changed the same thing at the same moment: nothing was done."""


class Unavailable(GazetteError):
    """A service behind a port did not answer, or answered that it is overloaded."""


class SourceFailed(GazetteError):
    """A content source gave no answer that can be used; another question may get one.

    `refuses`: it refuses whatever we ask it, for at least `retry_after` if it says so: the circuit
    breaker opens at once.
    """

    def __init__(
        self, why: str, *, refuses: bool = False, retry_after: timedelta = timedelta(0)
    ) -> None:
        super().__init__(why)
        self.refuses = refuses
        self.retry_after = retry_after


class UnreadableRow(GazetteError):
    """A row that this version cannot read: an attribute is missing, malformed, or not known.

    Its text names the table and the key, and nothing of what the row holds. Whoever asks for one
    row gets it raised; whoever goes through many gets it among them, and goes on (rule 20).
    """

    def __init__(self, table: str, key: tuple[str, ...], why: str) -> None:
        super().__init__(table, key, why)
        self.table = table
        self.key = key
        self.why = why

    def __str__(self) -> str:
        """For the log, and for whoever mends it."""
        return (
            f"The row {' / '.join(self.key)} of the table {self.table} cannot be read: {self.why}."
        )
