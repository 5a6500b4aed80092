"""What a sent email becomes where it is rendered again, and how two such renditions differ. Pure.

None of the changes names what an email says; the renditions have all of it.
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
    """The sent runs of a part of the table, in no order. `read_units`: what reading it took."""

    runs: Sequence[Run | UnreadableRow]
    read_units: float


class SentRuns(Protocol):
    """The runs whose email was sent, read part by part. May raise `Unavailable`."""

    def sent_since(self, since: datetime, *, part: int, parts: int) -> Part:
        """Return the runs that were sent at `since` or later, of one of `parts` parts, from 0 on.

        A part has all runs of some readers, and always the same readers for the same `parts`.
        Eventually consistent.
        """


def sent_at(run: Run) -> datetime:
    """When it was sent, or as nearly as its row says: a run that evidence settled has no time."""
    return run.sent_at or run.claimed_at or run.due_at


def was_sent_since(run: Run, since: datetime) -> bool:
    """Whether its email was sent, at `since` or later."""
    return run.status is Status.SENT and sent_at(run) >= since


def place_in_sample(run: Run) -> str:
    """A text in hexadecimal that sorts runs as if at random, and always the same."""
    return hashlib.sha256(run_id(run.key).encode()).hexdigest()


class Missing(StrEnum):
    """Why a sent email cannot be rendered again.

    `READER`: there is no profile any more. `EVENTS`: none of its events is stored any more.
    `UNREADABLE`: a row of it cannot be read by this version. `TEMPLATES`: the version of the
    templates that it was sent with is no longer stored.
    """

    READER = "reader"
    EVENTS = "events"
    UNREADABLE = "unreadable"
    TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class SentEmail:
    """What a sent email was made of. `reader`: as now, but in the language of the email."""

    run: Run
    reader: Subscriber
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class BlockShown:
    """A block of an email: its entity, its title, and the category of each of its lines."""

    key: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rendition:
    """What came of rendering an email.

    `edition`: None where nothing could be rendered. `failed`: why not; empty if nothing was left
    to show. `blocks`: in the order in which the email shows them. `left_out`: how many blocks it
    does not show, `cut` of them because its HTML would be too long. `excluded`: the events that no
    template could show, and why.
    """

    edition: Edition | None
    blocks: tuple[BlockShown, ...] = ()
    left_out: int = 0
    cut: int = 0
    excluded: tuple[tuple[Event, str], ...] = ()
    failed: str = ""

    @property
    def html_bytes(self) -> int:
        """The size of the HTML part; 0 where there is no email."""
        return len(self.edition.html.encode()) if self.edition else 0


class Change(StrEnum):
    """What differs between two renditions of an email, the worst first.

    `FAILS`: it can no longer be rendered. `SKIPPED`: nothing is left that it could show.
    `EXCLUDED`: it leaves out an event that no template can show. `CUT`: it shows fewer blocks,
    because its HTML would be too long. `MENDED`: it could not be rendered before. `SUBJECT`,
    `PREHEADER`: the row in the inbox differs. `BLOCKS`: it shows other blocks. `ORDER`: those that
    both show are in another order. `LINES`: a block has other lines, or in another order. `TEXT`,
    `HTML`: the parts differ.
    """

    FAILS = "fails"
    SKIPPED = "skipped"
    EXCLUDED = "excluded"
    CUT = "cut"
    MENDED = "mended"
    SUBJECT = "subject"
    PREHEADER = "preheader"
    BLOCKS = "blocks"
    ORDER = "order"
    LINES = "lines"
    TEXT = "text"
    HTML = "html"


BREAKS = frozenset({Change.FAILS, Change.SKIPPED, Change.EXCLUDED, Change.CUT})
"""Changes by which a reader loses something that nobody decided to leave out."""

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
    """How much of an email has changed: lists begin with the greatest."""
    return sum(_WEIGHTS[change] for change in changes)


def changes_between(
    before: Rendition, after: Rendition, *, preheader_of: Callable[[str], str]
) -> frozenset[Change]:
    """What differs; nothing if the same bytes would be sent.

    `preheader_of` returns what an inbox shows of some HTML behind the subject.
    """
    found = set()
    gone = {event.id for event, _ in after.excluded} - {event.id for event, _ in before.excluded}
    if gone:
        found.add(Change.EXCLUDED)
    if after.cut > before.cut:
        found.add(Change.CUT)
    was, now = before.edition, after.edition
    if was and not now:
        found.add(Change.FAILS if after.failed else Change.SKIPPED)
    elif now and not was:
        found.add(Change.MENDED)
    elif was and now:
        if was.subject != now.subject:
            found.add(Change.SUBJECT)
        if was.text != now.text:
            found.add(Change.TEXT)
        if was.html != now.html:
            found.add(Change.HTML)
            if preheader_of(was.html) != preheader_of(now.html):
                found.add(Change.PREHEADER)
        found |= _changes_of_blocks(before.blocks, after.blocks)
    return frozenset(found)


def _changes_of_blocks(was: Sequence[BlockShown], now: Sequence[BlockShown]) -> set[Change]:
    found = set()
    lines_were, lines_are = ({each.key: each.lines for each in some} for some in (was, now))
    if lines_were.keys() != lines_are.keys():
        found.add(Change.BLOCKS)
    in_both = lines_were.keys() & lines_are.keys()
    if [key for key in lines_were if key in in_both] != [
        key for key in lines_are if key in in_both
    ]:
        found.add(Change.ORDER)
    if any(lines_were[key] != lines_are[key] for key in in_both):
        found.add(Change.LINES)
    return found
