"""An email of a replay side by side: what the page has of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from gazette.domain.identity import run_id
from gazette.domain.replay import BlockShown, Rendition

from cli.replay import summary
from cli.replay.comparison import Problem, Seen, Whole
from cli.shared.answers import moment
from cli.templates.stage import named

_LINES, _WIDTH = 60, 300
"""Lines of a difference of text parts, and characters of each."""

_ANCHOR = re.compile(r"<(?:a|area)\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_HREF = re.compile(r"(\shref\s*=\s*)(?:\"[^\"]*\"|'[^']*'|[^\s>\"']+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a table: the same thing on both sides."""

    name: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """Whether it differs."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block in the list of one side. `note`: what the other side makes of it."""

    title: str
    lines: str
    note: str


@dataclass(frozen=True, slots=True)
class HalfShown:
    """One side of an email. `html`: None where there is no email."""

    name: str
    html: str | None
    blocks: Sequence[BlockRow]
    problems: Sequence[Problem]
    nothing: str


@dataclass(frozen=True, slots=True)
class EmailShown:
    """An email side by side. `text`: lines of its text parts that differ, each with its mark."""

    run: str
    about: str
    changes: Sequence[str]
    same_categories: bool
    facts: Sequence[Fact]
    halves: Sequence[HalfShown]
    text: Sequence[tuple[str, str]]
    more_text: int


def side_by_side(whole: Whole, *, names_version: bool) -> EmailShown:
    """One of the most changed emails. `names_version`: says of which version it was before."""
    each, run = whole.compared, whole.compared.run
    sent = f"sent {moment(run.sent_at)}" if run.sent_at else "sent at an unknown time"
    version = f", before by {named(each.version)}" if names_version else ""
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
            _half("before", whole.was, each.before, other=whole.now, missing="gone after"),
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
    yield Fact("of these for its size", str(whole.was.cut), str(whole.now.cut))
    yield Fact("events excluded", str(len(whole.was.excluded)), str(len(whole.now.excluded)))


def _half(name: str, own: Rendition, seen: Seen, *, other: Rendition, missing: str) -> HalfShown:
    return HalfShown(
        name=name,
        html=without_links(own.edition.html) if own.edition else None,
        blocks=[*_blocks(own.blocks, other.blocks, missing, name)],
        problems=seen.problems,
        nothing="It fails." if own.failed else "Nothing is left to show: it is skipped.",
    )


def _blocks(
    own: Sequence[BlockShown], other: Sequence[BlockShown], missing: str, side: str
) -> Iterator[BlockRow]:
    """What moved is said once, in the list of the side after."""
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
                notes.append("other lines")
        yield BlockRow(each.title or each.key, ", ".join(each.lines), ", ".join(notes))


def without_links(html: str) -> str:
    """The email with links that lead nowhere: they look the same, and name nothing of the reader.

    The frame and the policy of the page stop a link as well; who opens it in a new tab passes both.
    """
    return _ANCHOR.sub(lambda tag: _HREF.sub(r'\1"#"', tag[0]), html)


def _text(rendition: Rendition) -> list[str]:
    return rendition.edition.text.splitlines() if rendition.edition else []


def _difference(was: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines that differ, with one around each; none where one side has no email."""
    if was and now:
        for line in [*unified_diff(was, now, n=1, lineterm="")][2:]:
            mark, text = line[:1], line[1:]
            if mark != "@":
                yield mark, text[:_WIDTH]
