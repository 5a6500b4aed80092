"""The pages that links in emails open, except the preference page."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.rendering.texts import masked, one_line
from gazette.adapters.rendering.view_models import ShownGroup, ShownLine, show
from gazette.domain.delivery.compose import Block, Part
from gazette.domain.links import ScopeKind
from gazette.domain.ports.rendering import BlockControls, UpdateList
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.subscribers.leaving import Keeping, Leaving
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

_TITLE = 120

_LONGEST_PAGE = 5_000_000
"""The maximum size of a page as JSON, in bytes. A Lambda response has at most 6 MB.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


class _ListedBlock(NamedTuple):
    """A block in the list of updates."""

    latest: ShownGroup
    """The line with the latest event, which represents the block."""

    instant: datetime
    lines: tuple[ShownLine, ...]
    button: str
    """The text of the block's button; empty if no update is addressed to the reader."""

    controls: BlockControls
    followed: str
    """The names of the followed entities; empty if the reader follows the block's own entity."""

    part: Part | None
    """The part of the digest that the block is in; None if the list has no parts."""


def _by_part(blocks: Sequence[_ListedBlock]) -> list[_ListedBlock]:
    """Return the blocks of each part together. The part with the highest-ranked block is first."""
    parts = list(dict.fromkeys([each.part for each in blocks]))
    return sorted(blocks, key=lambda each: parts.index(each.part))


class JinjaPages:
    """Implementation of the `Pages` port with templates."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets = sheets

    def confirm_leaving(self, accepted: str, leaving: Leaving, *, settings: str) -> str:
        """Return the page that asks the reader to confirm the link's action."""
        return self._of_leaving("leave.html", accepted, leaving, settings=settings)

    def left(
        self,
        accepted: str,
        leaving: Leaving,
        *,
        undo: str,
        settings: str,
        updates: str = "",
        start: str = "",
    ) -> str:
        """Return the page that confirms an unsubscription and offers further choices."""
        return self._of_leaving(
            "left.html",
            accepted,
            leaving,
            undo=undo,
            settings=settings,
            updates=updates,
            start=start,
        )

    def keep(self, keeping: Keeping, *, settings: str) -> str:
        """Return the page on which an inactive reader keeps the digest."""
        reader = keeping.reader
        language = self._sheets.languages.of(reader.locale)
        zone = zone_of(reader.time_zone)
        return self._sheets.render(
            "keep.html",
            language,
            leaving=keeping,
            offer=keeping.offer.value,
            act=keeping.act.value if keeping.act else "",
            has_left=reader.has_left,
            is_dormant=reader.status is SubscriberStatus.DORMANT,
            address=language.isolated(masked(reader.email)),
            ends=language.date(keeping.ends_at.astimezone(zone).date()) if keeping.ends_at else "",
            settings=settings,
        )

    def invalid_link(self, accepted: str) -> str:
        """Return the page for an invalid link. The page is the same for every cause."""
        return self._for_a_browser("invalid.html", accepted)

    def ended_link(self, accepted: str, *, is_mailed: bool) -> str:
        """Return the page for an expired link. It offers to email a new link, or confirms that the
        email was sent.
        """
        return self._for_a_browser("ended.html", accepted, is_mailed=is_mailed)

    def went_wrong(self, accepted: str) -> str:
        """Return the page for an error that the reader did not cause."""
        return self._for_a_browser("went_wrong.html", accepted)

    def not_sent(self, reader: Subscriber) -> str:
        """Return the page for an email that has not been sent yet."""
        return self._for_a_reader("not_sent.html", reader)

    def nothing_left(self, reader: Subscriber) -> str:
        """Return the page for an email whose events are no longer stored."""
        return self._for_a_reader("nothing_left.html", reader)

    def updates(self, listed: UpdateList, reader: Subscriber) -> str:
        """Return a page of the list of updates, with times in the reader's time zone."""
        language = self._sheets.languages.of(reader.locale)
        zone = zone_of(reader.time_zone)

        def shown(
            block: Block, said: Sequence[str], button: str, own: BlockControls
        ) -> _ListedBlock:
            groups = [show(group, language, zone) for group in block.groups]
            is_theirs = any(each.is_addressed and not each.latest.source for each in block.groups)
            titles = [one_line(each, _TITLE) for each in own.followed]
            return _ListedBlock(
                latest=groups[block.latest_place],
                instant=block.latest.occurred_at,
                lines=tuple(map(ShownLine, groups, said)),
                button=button if is_theirs else "",
                controls=own,
                followed=language.named(titles) if titles else "",
                part=block.part if listed.has_parts else None,
            )

        columns = listed.digest.blocks, listed.lines, listed.buttons, listed.controls
        blocks = _by_part([shown(*each) for each in zip(*columns, strict=True)])
        while True:
            end = listed.start + len(blocks)
            html = self._sheets.render(
                "updates.html",
                language,
                digest=listed.digest,
                blocks=blocks,
                has_parts=listed.has_parts,
                date=language.long_day(listed.due_at, zone),
                has_controls=any(each.mute or each.unfollow for each in listed.controls),
                start=listed.start,
                later=end if end < listed.total else None,
                earlier=max(0, listed.start - listed.per_page) if listed.start else None,
            )
            if len(blocks) <= 1 or len(json.dumps(html)) <= _LONGEST_PAGE:
                return html
            blocks = blocks[: len(blocks) // 2]

    def _of_leaving(self, name: str, accepted: str, leaving: Leaving, **values: object) -> str:
        """Return a page of the unsubscribe process.

        `scope` is a ScopeKind, and `what` is the name of the category or entity. `about` is `what`
        in the form for the middle of a sentence. `address` is the reader's address, if known.
        `critical` contains the names of the categories that are still sent to a known reader.
        """
        scope, reader = leaving.scope, leaving.reader
        languages, names = self._sheets.languages, self._sheets.name_of
        language = languages.of(reader.locale) if reader else languages.accepted(accepted)
        if scope.kind is ScopeKind.ENTITY:
            what = [one_line(each, _TITLE) for each in leaving.follows]
        elif scope.kind is ScopeKind.THING:
            what = [one_line(leaving.thing, _TITLE)]
        elif scope.kind in {ScopeKind.CATEGORY, ScopeKind.IMMEDIATE}:
            what = [names(category, language) for category in scope.names]
        else:
            what = []
        is_title = scope.kind in {ScopeKind.ENTITY, ScopeKind.THING}
        about = what if is_title else [*map(language.inside, what)]
        return self._sheets.render(
            name,
            language,
            leaving=leaving,
            scope=scope.kind.value,
            act=leaving.act.value if leaving.act else "",
            what=language.named(what) if what else "",
            about=language.named(about) if about else "",
            address=language.isolated(masked(reader.email)) if reader else "",
            critical=language.named([names(each, language) for each in leaving.still])
            if reader and leaving.still
            else "",
            until=language.date(until) if reader and (until := reader.times.paused_until) else "",
            **values,
        )

    def _for_a_browser(self, name: str, accepted: str, **values: object) -> str:
        return self._sheets.render(name, self._sheets.languages.accepted(accepted), **values)

    def _for_a_reader(self, name: str, reader: Subscriber) -> str:
        return self._sheets.render(name, self._sheets.languages.of(reader.locale))
