"""The side-by-side view of an email on the page of a replay."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from gazette.domain.identity import run_id
from gazette.domain.scheduling.instants import moment

from gazette_cli.replay import summary
from gazette_cli.replay.comparison import Problem, Seen, Whole
from gazette_cli.templates.stage import named
from gazette_support.domain.replay import BlockShown, Rendition

_LINES, _WIDTH = 60, 300
"""The maximum number of lines in the diff of text parts, and the maximum length of a line."""

_ANCHOR = re.compile(r"<(?:a|area)\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_HREF = re.compile(r"(\shref\s*=\s*)(?:\"[^\"]*\"|'[^']*'|[^\s>\"']+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """A row that compares a value before and after the change."""

    name: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """True if the two values differ."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A row in the list of an email's blocks."""

    title: str
    lines: str

    # The difference from the block on the other side.
    note: str


@dataclass(frozen=True, slots=True)
class HalfShown:
    """The email before or after the change."""

    name: str

    # The HTML, or None if there is no email.
    html: str | None

    blocks: Sequence[BlockRow]
    problems: Sequence[Problem]

    # The text to show if there is no email.
    nothing: str


@dataclass(frozen=True, slots=True)
class EmailShown:
    """An email before and after the change, side by side."""

    run: str
    about: str
    changes: Sequence[str]
    same_categories: bool
    facts: Sequence[Fact]
    halves: Sequence[HalfShown]

    # The diff of the text parts, as a mark and a line each.
    text: Sequence[tuple[str, str]]

    # The number of lines that `text` omits.
    more_text: int


def side_by_side(whole: Whole, *, names_version: bool) -> EmailShown:
    """Return the side-by-side view of an email. If `names_version` is True, include the version
    before the change.
    """
    each, run = whole.compared, whole.compared.run
    sent = f"sent {moment(run.sent_at)}" if run.sent_at else "sent at an unknown time"
    version = f", before with {named(each.version)}" if names_version else ""
    text = [*_difference(_text(whole.was), _text(whole.now))]
    return EmailShown(
        run=run_id(run.key),
        about=(
            f"{run.key.schedule}, due {moment(run.due_at)}, {sent}, variation {each.variation}"
            f"{version}"
        ),
        changes=summary.names(each),
        same_categories=each.same_categories,
        facts=[*_facts(whole)],
        halves=(
            _half("before", whole.was, each.before, other=whole.now, missing="removed"),
            _half("after", whole.now, each.after, other=whole.was, missing="new"),
        ),
        text=text[:_LINES],
        more_text=max(0, len(text) - _LINES),
    )


def _facts(whole: Whole) -> Iterator[Fact]:
    was, now = whole.compared.before, whole.compared.after
    yield Fact("subject", was.subject, now.subject)
    yield Fact("preheader", was.preheader, now.preheader)
    yield Fact("HTML", f"{was.html_bytes:,} bytes", f"{now.html_bytes:,} bytes")
    yield Fact("text", f"{was.text_bytes:,} bytes", f"{now.text_bytes:,} bytes")
    yield Fact("blocks shown", str(len(was.blocks)), str(len(now.blocks)))
    yield Fact("blocks not shown", str(was.left_out), str(now.left_out))
    yield Fact("not shown because of size", str(whole.was.cut), str(whole.now.cut))
    yield Fact("events excluded", str(len(whole.was.excluded)), str(len(whole.now.excluded)))


def _half(name: str, own: Rendition, seen: Seen, *, other: Rendition, missing: str) -> HalfShown:
    return HalfShown(
        name=name,
        html=without_links(own.edition.html) if own.edition else None,
        blocks=[*_blocks(own.blocks, other.blocks, missing, name)],
        problems=seen.problems,
        nothing=(
            "The email fails."
            if own.failed
            else "The email is skipped because it has no events to show."
        ),
    )


def _blocks(
    own: Sequence[BlockShown], other: Sequence[BlockShown], missing: str, side: str
) -> Iterator[BlockRow]:
    """Yield the blocks of an email before or after the change. After the change, blocks that moved
    or changed have a note.
    """
    places = {each.key: place for place, each in enumerate(other, start=1)}
    lines = {each.key: each.lines for each in other}
    for place, each in enumerate(own, start=1):
        notes = []
        if each.key not in places:
            notes.append(missing)
        elif side == "after":
            if places[each.key] != place:
                notes.append(f"was number {places[each.key]}")
            if lines[each.key] != each.lines:
                notes.append("different lines")
        yield BlockRow(each.title or each.key, ", ".join(each.lines), ", ".join(notes))


def without_links(html: str) -> str:
    """Replace the links of an email with placeholders, which do not identify the reader.

    The frame and the policy of the page also block links, except links that open in a new tab.
    """
    return _ANCHOR.sub(lambda tag: _HREF.sub(r'\1"#"', tag[0]), html)


def _text(rendition: Rendition) -> list[str]:
    return rendition.edition.text.splitlines() if rendition.edition else []


def _difference(was: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the differing lines of two text parts, with one line of context. Yield no lines if
    there is no email before or after the change.
    """
    if was and now:
        for line in [*unified_diff(was, now, n=1, lineterm="")][2:]:
            mark, text = line[:1], line[1:]
            if mark != "@":
                yield mark, text[:_WIDTH]
