"""The comparison of a sent email with a new rendering of the same email. Pure.

A `Change` contains no content of the email; a `Rendition` contains all of it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import run_id
from gazette.domain.model import Edition, Event
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True)
class Part:
    """The sent runs in one part of the table, in no particular order."""

    runs: Sequence[Run | UnreadableRow]
    read_units: float
    """The number of read units consumed."""


class SentRuns(Protocol):
    """A port that reads the runs whose emails were sent, one part of the table at a time. Methods
    may raise `Unavailable`."""

    def sent_since(self, since: datetime, *, part: int, parts: int) -> Part:
        """Return the runs that were sent at `since` or later, from one part of the table.

        `part` counts from 0 to `parts` - 1.

        All runs of a reader are in the same part as long as `parts` is the same. Eventually
        consistent.
        """


def sent_at(run: Run) -> datetime:
    """Return the time at which the run was sent, or the closest time that is stored.

    The sending time may be missing if only a delivery event proved that the email was sent.
    """
    return run.sent_at or run.claimed_at or run.due_at


def was_sent_since(run: Run, since: datetime) -> bool:
    """Return True if the run's email was sent at `since` or later."""
    return run.status is Status.SENT and sent_at(run) >= since


def place_in_sample(run: Run) -> str:
    """Return a hexadecimal sort key that puts runs into a random but stable order."""
    return hashlib.sha256(run_id(run.key).encode()).hexdigest()


class Missing(StrEnum):
    """The reason why a sent email cannot be rendered again."""

    READER = "reader"
    """The reader's profile no longer exists."""

    EVENTS = "events"
    """No events of the email are still stored."""

    UNREADABLE = "unreadable"
    """This version of Gazette cannot read one of the email's rows."""

    TEMPLATES = "templates"
    """The template version of the email is no longer stored."""


@dataclass(frozen=True, slots=True)
class SentEmail:
    """The data that a sent email was rendered from."""

    run: Run
    reader: Subscriber
    """The reader's current profile, in the language of the email."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class BlockShown:
    """A block of an email: the key of its entity, its title, and the category of each line."""

    key: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rendition:
    """The result of rendering an email."""

    edition: Edition | None
    """The rendered email; None if no email could be rendered."""

    blocks: tuple[BlockShown, ...] = ()
    """The blocks in display order."""

    left_out: int = 0
    """The number of blocks that the email omits."""

    cut: int = 0
    """The number of blocks omitted because the HTML would be too long."""

    excluded: tuple[tuple[Event, str], ...] = ()
    """The events that no template could show, with the error of each event."""

    failed: str = ""
    """The reason why rendering failed; empty if rendering did not fail."""

    @property
    def html_bytes(self) -> int:
        """The size of the HTML part in bytes; 0 if there is no email."""
        return len(self.edition.html.encode()) if self.edition else 0


class Change(StrEnum):
    """The kinds of differences between two renditions of an email, from most to least severe."""

    FAILS = "fails"
    """The email can no longer be rendered."""

    SKIPPED = "skipped"
    """The email has no content left to show."""

    EXCLUDED = "excluded"
    """The email omits an event that no template can show."""

    CUT = "cut"
    """The email shows fewer blocks, because its HTML would otherwise be too long."""

    MENDED = "mended"
    """The email can now be rendered, but could not be rendered before."""

    SUBJECT = "subject"
    """The subject differs."""

    PREHEADER = "preheader"
    """The preview text in the inbox differs."""

    BLOCKS = "blocks"
    """The email shows different blocks."""

    ORDER = "order"
    """The blocks that both renditions show are in a different order."""

    LINES = "lines"
    """A block has different lines, or its lines are in a different order."""

    TEXT = "text"
    """The text part differs."""

    HTML = "html"
    """The HTML part differs."""


BREAKS = frozenset({Change.FAILS, Change.SKIPPED, Change.EXCLUDED, Change.CUT})
"""The kinds of changes that remove content from an email although no rule requires it."""

_WEIGHTS = {
    **dict.fromkeys(BREAKS, 1000),
    Change.MENDED: 100,
    Change.BLOCKS: 20,
    Change.ORDER: 10,
    Change.SUBJECT: 10,
    Change.LINES: 5,
    Change.PREHEADER: 3,
    Change.TEXT: 2,
    Change.HTML: 1,
}


def weight(changes: frozenset[Change]) -> int:
    """Return the total weight of an email's changes. Reports list emails with the highest weight
    first."""
    return sum(_WEIGHTS[change] for change in changes)


def changes_between(
    before: Rendition, after: Rendition, *, preheader_of: Callable[[str], str]
) -> frozenset[Change]:
    """Return the differences between two renditions; empty if the same bytes would be sent.

    `preheader_of` returns the preview text that an inbox shows after the subject.
    """
    changes = set()
    newly_excluded = {event.id for event, _ in after.excluded} - {
        event.id for event, _ in before.excluded
    }
    if newly_excluded:
        changes.add(Change.EXCLUDED)
    if after.cut > before.cut:
        changes.add(Change.CUT)
    was, now = before.edition, after.edition
    if was and not now:
        changes.add(Change.FAILS if after.failed else Change.SKIPPED)
    elif now and not was:
        changes.add(Change.MENDED)
    elif was and now:
        if was.subject != now.subject:
            changes.add(Change.SUBJECT)
        if was.text != now.text:
            changes.add(Change.TEXT)
        if was.html != now.html:
            changes.add(Change.HTML)
            if preheader_of(was.html) != preheader_of(now.html):
                changes.add(Change.PREHEADER)
        changes |= _changes_of_blocks(before.blocks, after.blocks)
    return frozenset(changes)


def _changes_of_blocks(was: Sequence[BlockShown], now: Sequence[BlockShown]) -> set[Change]:
    changes = set()
    lines_were, lines_are = ({each.key: each.lines for each in some} for some in (was, now))
    if lines_were.keys() != lines_are.keys():
        changes.add(Change.BLOCKS)
    in_both = lines_were.keys() & lines_are.keys()
    if [key for key in lines_were if key in in_both] != [
        key for key in lines_are if key in in_both
    ]:
        changes.add(Change.ORDER)
    if any(lines_were[key] != lines_are[key] for key in in_both):
        changes.add(Change.LINES)
    return changes
