"""The errors of Gazette: one tree, with one type for each way to handle an error."""

from datetime import timedelta


class GazetteError(Exception):
    """An error that Gazette itself reports. The text is written for people."""


class InvalidEvent(GazetteError):
    """A message from a service that does not fit the contract. The text names the field."""


class ForeignEvent(InvalidEvent):
    """A message whose source may not publish it to this queue. The text names the source."""


class InvalidToken(GazetteError):
    """A link whose token was not signed by this installation, or was altered on the way.

    Readers get the same answer in both cases.
    """


class EndedLink(InvalidToken):
    """A link that this installation signed and that is no longer valid."""


class InvalidKeys(GazetteError):
    """Invalid keys of links or suppressions. The text gives the reason and contains no key."""


class UnreadableForm(GazetteError):
    """Form data from a browser that is invalid or too long. The text gives the reason."""


class RenderingFailed(GazetteError):
    """A template that cannot render its values. The text gives the reason."""


class VersionUnusable(GazetteError):
    """A template version that differs from the pushed one, or that this process cannot load."""


class VersionGone(VersionUnusable):
    """A template version that certainly no longer exists."""


class NotYet(GazetteError):
    """A run that cannot continue now. Its message must be kept and retried later."""


class Hidden(NotYet):
    """A NotYet whose message is already hidden in SQS until the run can continue."""


class Overtaken(GazetteError):
    """Another process changed the same row at the same moment, so no write was made."""


class Unavailable(GazetteError):
    """A service behind a port did not answer, or reported that it is overloaded."""


class SourceFailed(GazetteError):
    """A content source returned no usable answer; another query may succeed.

    `refuses`: the source rejects all queries, for at least `retry_after` if it says so. The circuit
    breaker opens at once.
    """

    def __init__(
        self, why: str, *, refuses: bool = False, retry_after: timedelta = timedelta(0)
    ) -> None:
        super().__init__(why)
        self.refuses = refuses
        self.retry_after = retry_after


class UnreadableRow(GazetteError):
    """A row that this version cannot read because an attribute is missing, malformed or unknown.

    Its text names the table and the key, but no value of the row. A function that reads one row
    raises it; a function that iterates over many rows yields it among them and continues (rule 20).
    """

    def __init__(self, table: str, key: tuple[str, ...], why: str) -> None:
        super().__init__(table, key, why)
        self.table = table
        self.key = key
        self.why = why

    def __str__(self) -> str:
        """Return the text for the log and for the person who fixes the row."""
        return (
            f"The row {' / '.join(self.key)} of the table {self.table} cannot be read: {self.why}."
        )
