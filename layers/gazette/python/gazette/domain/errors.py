"""Gazette's exceptions: one class for each way to handle an error, all derived from one base
class."""

from datetime import timedelta


class GazetteError(Exception):
    """The base class of Gazette's own errors. Error texts are written for operators."""


class InvalidEvent(GazetteError):
    """A message that violates the event contract. The error text names the field."""


class ForeignEvent(InvalidEvent):
    """A message from a source that may not publish messages of this type. The error text names the
    source."""


class TooOld(InvalidEvent):
    """An event or activity that is older than the records of earlier arrivals. The error text
    states the limit."""


class InvalidReport(InvalidEvent):
    """A service's report about an email that cannot be processed. The error text names the field
    and the remedy, and contains no address."""


class InvalidToken(GazetteError):
    """A link whose token was altered or was not signed by this installation.

    Readers see the same page in both cases.
    """


class EndedLink(InvalidToken):
    """A link that this installation signed but that is no longer valid."""


class InvalidKeys(GazetteError):
    """Invalid keys for links or suppressions. The error text gives the reason but contains no
    key."""


class UnreadableForm(GazetteError):
    """Form data from a browser that is invalid or too long. The error text gives the reason."""


class RenderingFailed(GazetteError):
    """A template that cannot be rendered with the given values. The error text gives the reason."""


class VersionUnusable(GazetteError):
    """A template version that differs from the pushed version, or that this process cannot load."""


class VersionGone(VersionUnusable):
    """A template version that definitely no longer exists."""


class NotYet(GazetteError):
    """A run that cannot continue yet. Its message must be kept and retried later."""


class Hidden(NotYet):
    """A `NotYet` error for a run whose SQS message is already hidden until the run can continue."""


class Overtaken(GazetteError):
    """A conflict with another process that changed the same row at the same time. No data was
    written."""


class Unavailable(GazetteError):
    """A service behind a port that did not respond, or reported that it is overloaded."""


class OutcomeUnknown(GazetteError):
    """A request whose effect is unknown, because a service behind a port did not respond."""


class SourceFailed(GazetteError):
    """A content source that returned no usable response. Another query may succeed.

    `refuses` means that the source rejects all queries, for at least `retry_after` if that is set.
    The circuit breaker then opens at once.
    """

    def __init__(
        self, why: str, *, refuses: bool = False, retry_after: timedelta = timedelta(0)
    ) -> None:
        super().__init__(why)
        self.refuses = refuses
        self.retry_after = retry_after


class UnreadableRow(GazetteError):
    """A row that this version cannot read because an attribute is missing, malformed or unknown.

    The error text names the table and the key, but contains no value of the row. A function that
    reads one row raises the error. A function that iterates over many rows yields the error in
    place of the row and continues (rule 20).
    """

    def __init__(self, table: str, key: tuple[str, ...], why: str) -> None:
        super().__init__(table, key, why)
        self.table = table
        self.key = key
        self.why = why

    def __str__(self) -> str:
        """Return the error text for the log and for the person who fixes the row."""
        return (
            f"The row {' / '.join(self.key)} of the table {self.table} cannot be read: {self.why}."
        )
