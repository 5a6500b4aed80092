"""The export of everything that is stored on a person, one table per page. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.api.cursors import decode, encode


class Part(StrEnum):
    """The pages of an export, in their order. Each has the name of its first table."""

    SUBSCRIBERS = "subscribers"
    """The profile, with the suppression and the bounces of its address."""

    SCHEDULES = "schedules"
    FOLLOWS = "follows"
    EVENTS = "events"
    RUNS = "runs"
    """The emails, with their delivery events."""


class NotIncluded(StrEnum):
    """Data of a person that an export cannot find, or that it leaves out."""

    EVENTS_OF_OTHERS = "events_of_others"
    FORMER_ADDRESSES = "former_addresses"
    BEFORE_ERASURE = "before_erasure"
    QUEUES = "queues"
    LOGS = "logs"
    ARCHIVE = "archive"
    STREAMS = "streams"
    UNPUBLISHED_EVENTS_OUT = "unpublished_events_out"
    BACKUPS = "backups"
    PROVIDER = "provider"
    CONSUMERS = "consumers"

    @property
    def meaning(self) -> str:
        """The data and its retention, as a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    NotIncluded.EVENTS_OF_OTHERS: "Activities, and events of other readers, that name the person "
    "as the actor. No index finds them. They expire after at most 196 days.",
    NotIncluded.FORMER_ADDRESSES: "Suppressions and bounces of addresses that the person no longer "
    "has. Only a keyed hash of each address is stored.",
    NotIncluded.BEFORE_ERASURE: "The time of an erasure of the user id, and the history of emails "
    "before the erasure, without their content. The history expires with run_retention_days.",
    NotIncluded.QUEUES: "Messages in queues, including the quarantine and the dead-letter queues. "
    "They expire after 14 days.",
    NotIncluded.LOGS: "Log lines, which contain user ids and no addresses. They expire after 30 "
    "days.",
    NotIncluded.ARCHIVE: "With archive_days, events of services in the archive of the event bus.",
    NotIncluded.STREAMS: "Images of changed rows in the streams of tables. They expire after 24 "
    "hours.",
    NotIncluded.UNPUBLISHED_EVENTS_OUT: "With events_out, changed rows in the bucket for events "
    "that could not be published. They expire after 14 days.",
    NotIncluded.BACKUPS: "Backups of the tables. They expire after 35 days.",
    NotIncluded.PROVIDER: "Data at the mail provider, such as the suppression list of the SES "
    "account, and emails in mailboxes.",
    NotIncluded.CONSUMERS: "Events that consumers of the event buses have stored.",
}


_KEY = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{0,200}")
"""The sort keys of all tables. DynamoDB rejects other texts, such as unpaired surrogates."""


class InvalidCursor(Exception):
    """The error for a cursor that was not returned for this reader."""

    def __init__(self) -> None:
        super().__init__(
            "The cursor is not from an export of this user_id. Use the value of `next` in the "
            "previous page, or no cursor to begin again."
        )


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row as it is stored, with JSON instead of attributes that contain JSON as text."""

    table: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place at which the next page of an export begins."""

    user_id: str
    part: Part = Part.SUBSCRIBERS
    after: str = ""
    """The sort key of the last row of the previous page; empty for the first row of the part."""

    def text(self) -> str:
        """Return the cursor as text that fits into a URL."""
        return encode([self.user_id, self.part, self.after])


def read_cursor(text: str, user_id: str) -> Cursor:
    """Return the cursor of an export of `user_id`; an empty text begins one. Raises InvalidCursor.

    A cursor of another reader is refused, although it would not show that reader's rows.
    """
    if not text:
        return Cursor(user_id)
    try:
        match decode(text):
            case [str(owner), str(part), str(after)] if owner == user_id and _KEY.fullmatch(after):
                return Cursor(user_id, Part(part), after)
    except ValueError:
        pass
    raise InvalidCursor


@dataclass(frozen=True, slots=True)
class ExportPage:
    """A page of an export. The last page has no `next`."""

    user_id: str
    rows: Sequence[StoredRow]
    next: Cursor | None
    not_included: Sequence[NotIncluded] = tuple(NotIncluded)
