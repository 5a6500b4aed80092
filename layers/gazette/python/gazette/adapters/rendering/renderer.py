"""Rendering of emails from Jinja2 templates, whose CSS was inlined at build time."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar

from jinja2 import Environment, TemplateNotFound
from markupsafe import Markup, escape

from gazette.adapters.rendering.brand import Brand, read_brand
from gazette.adapters.rendering.environment import (
    SAID,
    Press,
    SplitBlock,
    environment,
    insert_own_links,
)
from gazette.adapters.rendering.fragments import (
    ALONE,
    DIGEST,
    OTHER,
    Fragment,
    FragmentCount,
    Fragments,
    Lines,
    template_of,
)
from gazette.adapters.rendering.language import SOURCE, Language, Languages
from gazette.adapters.rendering.texts import from_name, greeted, one_line, subject_line
from gazette.adapters.rendering.variations import read_changes
from gazette.adapters.rendering.view_models import ShownBlock, ShownGroup, show
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import Block, Count, Digest, Group, Part
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import NEW_LINK, Scope, ScopeKind, entity_mark, immediate_of, thing_scope
from gazette.domain.model import Edition
from gazette.domain.muting.mutes import short_title
from gazette.domain.ports.rendering import CacheCount, Links
from gazette.domain.scheduling.calendar import begin_of_period, zone_of
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

Measure = Callable[[], AbstractContextManager[None]]
"""A function that returns a context manager for measuring a rendering."""

TextT = TypeVar("TextT")

_Show = Callable[[Group], ShownGroup]

LONGEST_HTML = 90_000
"""The maximum size of the HTML in bytes. Gmail clips emails at 102 KB, which would hide the
unsubscribe link."""

_COUNTED = 4
"""The maximum number of categories whose updates a headline counts separately."""

_LONGEST_SUBJECT = 200
_LONGEST_NAME = 80

_OFFERED = 2
"""The maximum number of categories that the footer of a digest offers to turn off."""

_MOST_LINKS = 7
"""The maximum number of links in the footer of an immediate email."""


class _Piece(NamedTuple):
    """A rendered block that includes the reader's personal links."""

    block: ShownBlock
    html: SplitBlock
    text: SplitBlock


class Period(NamedTuple):
    """The time between two digests."""

    is_week: bool
    """True for a week; False for a month."""

    dates: str
    """The first and the last date, such as `19–26 November`."""


class EmailReason(NamedTuple):
    """The reason why a reader gets an email, such as a follow.

    If both fields are False, all content of the email is from content sources.
    """

    involved: bool
    """True if part of the email is addressed to the reader."""

    followed: bool
    """True if at least one block is included because of a follow."""


class Fallback(NamedTuple):
    """The digest to which a reader can move the categories of an immediate email."""

    link: str
    """The link to the page with the button that moves the categories."""

    often: str
    """The frequency of the digest: `daily`, `weekly` or `custom`."""


class Controls(NamedTuple):
    """The links by which a reader gets fewer immediate emails. Missing links are empty."""

    unfollow: str = ""
    """The link that ends the follow through which the reader gets the email."""

    is_this: bool = False
    """True if the followed entity is the email's own entity."""

    mute: str = ""
    """The link that mutes the email's entity."""

    categories: tuple[tuple[str, str], ...] = ()
    """The categories that fit in the footer, the most relevant one first, each with the link that
    turns it off."""


class JinjaRenderer:
    """Implementation of the `Renderer` port backed by a folder of built templates.

    See infra/gazette_cdk/assets/templates/build.py for the build.

    `kind` is the class of the environment; None means the regular class without a sandbox. `brand`
    replaces the brand in the folder, so that all emails and pages of a stage have one brand. `held`
    is an object that must live as long as the renderer, such as a temporary folder. `count` counts
    the cache hits of several renderers together.
    """

    def __init__(
        self,
        templates: Path,
        *,
        kind: type[Environment] | None = None,
        brand: Brand | None = None,
        held: object = None,
        count: FragmentCount | None = None,
    ) -> None:
        self._templates = templates
        self._kind, self._held = kind, held
        self._count = count or FragmentCount()
        self._brand: Brand = brand or read_brand(templates / "brand.json")
        self._languages = Languages(templates)
        self._changes = read_changes(templates)
        # The first variation and the language of the templates are used most, and loading them
        # takes longer than an email. They are ready before the first email is.
        self._environments = {1: environment(templates, kind=kind)}
        self._languages.of(SOURCE)
        self._lock = Lock()
        self._fragments = Fragments(self._brand, self._count)
        self._tracks_clicks = False
        self._measured: Measure = nullcontext

    def for_sending(self, *, tracks_clicks: bool, measured: Measure) -> Self:
        """Return a renderer for emails that are sent, which shares this renderer's cache.

        `tracks_clicks` is True if the provider redirects links through its own server, except for
        the reader's personal links. `measured` is the context manager for each rendering.
        """
        other = copy(self)
        other._tracks_clicks = tracks_clicks
        other._measured = measured
        return other

    @property
    def brand(self) -> Brand:
        """The brand in this renderer's emails."""
        return self._brand

    def take_count(self) -> CacheCount:
        """Return the numbers of cached and rendered blocks since the last call."""
        return self._count.take()

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """Return the rules that arrange a digest: the stage's rules, changed by the variation."""
        change = self._changes.get(variation)
        return change(of_stage) if change else of_stage

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        """Return a one-line subject, and the content as HTML and as text.

        If the HTML is too long, blocks at the end are omitted and counted as not shown.
        """
        email = _kind(digest, schedule)
        try:
            with self._measured():
                return self._fitting(
                    email, digest, subscriber, links, schedule, variation, due_at, is_first
                )
        except RenderingFailed:
            raise
        except Exception as err:  # templates can raise any error
            raise RenderingFailed(f"{type(err).__name__}: {err}") from err

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """Return the lines of each block as plain text."""

        def lines_of(block: Block, lines: Lines, shown: _Show) -> Sequence[str]:
            return [lines.of(shown(group)) for group in block.groups]

        return self._for_each_block(digest, subscriber, variation, lines_of)

    def buttons(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[str]:
        """Return the text of each block's button as plain text."""

        def button_of(block: Block, lines: Lines, shown: _Show) -> str:
            return lines.button(shown(block.groups[0]))

        return self._for_each_block(digest, subscriber, variation, button_of)

    def _for_each_block(
        self,
        digest: Digest,
        subscriber: Subscriber,
        variation: int,
        describe: Callable[[Block, Lines, _Show], TextT],
    ) -> list[TextT]:
        """Return the result of `describe` for each block. Raises RenderingFailed."""
        templates = self._environment(variation)
        language = self._languages.of(subscriber.locale)
        zone = zone_of(subscriber.time_zone)
        lines = Lines(Press(templates, {**language.values(), "brand": self._brand}))

        def shown(group: Group) -> ShownGroup:
            return show(group, language, zone)

        try:
            return [describe(block, lines, shown) for block in digest.blocks]
        except Exception as err:  # templates can raise any error
            raise RenderingFailed(f"{type(err).__name__}: {err}") from err

    def _fitting(
        self,
        email: str,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        variation: int,
        due_at: datetime | None,
        is_first: bool,
    ) -> Edition:
        templates = self._environment(variation)
        language = self._languages.of(subscriber.locale)
        zone = zone_of(subscriber.time_zone)
        shape = ALONE if digest.events == 1 and email == DIGEST else email
        today = due_at.astimezone(zone).date() if due_at else None
        critical = is_critical(schedule)
        fragments = self._fragments.of(
            shape,
            digest.blocks,
            templates,
            language,
            zone,
            today,
            critical=critical,
            has_parts=digest.sections is Sections.NONE,
        )
        reason = _reason_of(digest)
        values = {
            **language.values(),
            "brand": self._brand,
            "links": links,
            "often": schedule if email == DIGEST else email,
            "critical": critical,
            "reader": language.isolated(greeted(subscriber.name, subscriber.locale, _LONGEST_NAME)),
            "zone": zone,
            "day": language.day(due_at, zone) if due_at else "",
            "today": language.weekday_and_day(today) if today else "",
            "period": _period(email, schedule, subscriber, language, today),
            "at": language.hour(subscriber.digest_time),
            "weekday": language.weekday(subscriber.times.weekly_on),
            "is_first": is_first,
            "reason": reason,
            "fallback": None,
            "controls": Controls(),
            "less": [],
        }
        differ = reason.involved and reason.followed
        own = _Own(
            links,
            partial(_follows, templates, values) if differ else None,
            critical=critical,
            is_immediate=kind_of(schedule) is ScheduleKind.IMMEDIATE,
        )
        if email == ALONE:
            fallback = None if critical else own.fallback(links, digest.categories)
            values["fallback"] = fallback
            others = (links.preferences, links.unsubscribe, self._brand.help, fallback)
            values["controls"] = own.controls(digest, _MOST_LINKS - sum(map(bool, others)))
        elif email == DIGEST:
            name_of = partial(self._fragments.name_of, templates, language)
            values["less"] = [(each, name_of(each), link) for each, link in own.less(digest)]
        pieces = own.put_into(digest.blocks, fragments)
        while True:
            edition = _edition(templates, email, digest, pieces, values)
            if self._tracks_clicks:
                html = without_tracking(edition.html, links, own.made)
                edition = replace(edition, html=html)
            excess = _html_bytes(edition) - LONGEST_HTML
            if excess <= 0:
                return edition
            pieces = _without(excess, pieces)
            digest = digest.shortened(len(pieces))

    def _environment(self, variation: int) -> Environment:
        with self._lock:
            if variation not in self._environments:
                self._environments[variation] = environment(
                    self._templates, variation, kind=self._kind
                )
            return self._environments[variation]


def _follows(templates: Environment, values: Mapping[str, Any], is_this: bool) -> str:
    """Return the sentence that explains which follow caused a block to be included.

    `is_this` is True if the followed entity is the block's own entity.
    """
    press = Press(templates, {**values, "is_this": is_this})
    return " ".join(press.render(templates.get_template("parts/follows.txt")).split())


def _kind(digest: Digest, schedule: str) -> str:
    """Return the name of the template folder for an email."""
    if digest.categories == (NEW_LINK,):
        return NEW_LINK
    immediate = kind_of(schedule) is ScheduleKind.IMMEDIATE
    return Frequency.IMMEDIATE.value if immediate else DIGEST


def _edition(
    templates: Environment,
    email: str,
    digest: Digest,
    pieces: list[_Piece],
    values: dict[str, Any],
) -> Edition:
    blocks = [each.block for each in pieces]
    groups = [line for block in blocks for line in block.lines]
    press = Press(
        templates,
        {**values, "digest": digest, "blocks": blocks, "groups": groups, "headline": "", SAID: {}},
    )
    if groups and email in {DIGEST, ALONE}:
        lines, language = Lines(Press(templates, values)), values["language"]
        if email == DIGEST:
            press.values["headline"] = lines.headline(*groups[0], language)
            press.values["counts"] = _counts(digest, lines, language)
        else:
            about = lines.in_a_thread(groups[0].shown, language)
            press.values["people"], press.values["thing"] = about

    def part(name: str, blocks: str) -> str:
        press.values["shown"] = blocks
        return press.render(templates.get_template(f"{email}/{name}"))

    groups_of: _Headed = [("", range(len(pieces)))]
    if email == DIGEST:
        has_parts = digest.sections is Sections.NONE
        groups_of = _parts(blocks, press) if has_parts else _sections(digest, press)
    texts = _under_headings([each.text for each in pieces], groups_of, press, "section.txt")
    page = _under_headings([each.html for each in pieces], groups_of, press, "section.html")
    markup = Markup(page)  # noqa: S704 -- escaped by its template
    press.values["subject"] = subject = " ".join(part("subject.txt", texts).split())
    html, text = part("body.html", markup), part("body.txt", texts)
    return Edition(
        subject=subject_line(subject, _LONGEST_SUBJECT),
        html=html,
        text=text,
        categories=digest.categories,
        blocks=len(pieces),
        from_name=""
        if email != ALONE or values["critical"]
        else _from_name(digest, values["brand"]),
        reply_to=_reply_to(digest, values["brand"]),
    )


class Counts(NamedTuple):
    """The numbers of updates of a digest, such as `2 messages and 3 replies`."""

    first: str
    """The numbers of updates for the reader, or of all updates if none is for the reader."""

    others: str
    """The remaining numbers; empty if there are none."""


def _counts(digest: Digest, lines: Lines, language: Language) -> Counts:
    mine = [each for each in digest.counts if each.is_for_reader]
    rest = [each for each in digest.counts if not each.is_for_reader]
    if not mine:
        return Counts(_counted(rest, lines, language), "")
    return Counts(_counted(mine, lines, language), _counted(rest, lines, language, others=True))


def _counted(
    counts: Sequence[Count], lines: Lines, language: Language, *, others: bool = False
) -> str:
    """Return the numbers as a list: those of the first categories, and the sum of all others."""
    texts = list[str]()
    remaining = 0
    for each in counts:
        text = lines.counted(each.category, each.updates) if len(texts) < _COUNTED else ""
        if text:
            texts.append(text)
        else:
            remaining += each.updates
    if remaining:
        texts.append(lines.counted(OTHER, remaining, others=others or bool(texts)))
    return language.listed([text for text in texts if text])


def _period(
    email: str, schedule: str, subscriber: Subscriber, language: Language, today: date | None
) -> Period | None:
    """Return the period of a weekly or monthly digest that is due on the date `today`."""
    if email != DIGEST or today is None:
        return None
    days = subscriber.days(Frequency(schedule))
    begin = begin_of_period(days, today)
    return Period(days.month_day is None, language.between(begin, today)) if begin else None


_Headed = Sequence[tuple[str, Sequence[int]]]
"""The groups of blocks in display order, each with its heading or an empty string, and with the
indexes of its blocks."""


def _parts(blocks: Sequence[ShownBlock], press: Press) -> _Headed:
    """Return the parts of a digest. The part with the highest-ranked block is first.

    A digest with one part has no heading, unless everything is recommended. A digest with one
    update, and templates without `parts/part.txt`, have no parts.
    """
    places: dict[Part | None, list[int]] = {}
    for place, block in enumerate(blocks):
        places.setdefault(block.part, []).append(place)
    try:
        heading = press.environment.get_template("parts/part.txt")
    except TemplateNotFound:
        return [("", range(len(blocks)))]

    def title(part: Part | None) -> str:
        if part is None or (len(places) == 1 and part is not Part.RECOMMENDED):
            return ""
        press.values["part"] = part.value
        return " ".join(press.render(heading).split())

    return [(title(part), of_part) for part, of_part in places.items()]


def _sections(digest: Digest, press: Press) -> _Headed:
    """Return the sections of a digest, which the stage chose."""

    def title(section: str) -> str:
        if digest.sections is not Sections.CATEGORY or not section:
            return one_line(section, _LONGEST_NAME)
        press.values["category"] = section
        name = press.render(template_of(section, "name.txt", press.environment))
        return " ".join(name.split())

    return [(title(section), places) for section, places in digest.by_section().items()]


def _under_headings(blocks: Sequence[SplitBlock], groups: _Headed, press: Press, name: str) -> str:
    """Return the rendered blocks in groups, each under its heading, if it has one."""
    texts = list[str]()
    for title, places in groups:
        if title:
            press.values["section"] = title
            texts.append(press.render(press.environment.get_template(f"digest/{name}")))
        for place in places:
            texts += blocks[place]
    return "".join(texts)


def _reply_to(digest: Digest, brand: Brand) -> str:
    """Return the address for replies to an email, or an empty text if the brand has none."""
    return brand.replies_to(digest.categories) if brand.reply_to else ""


def _from_name(digest: Digest, brand: Brand) -> str:
    """Return the display name of the sender if exactly one named person acted, or an empty text."""
    if not brand.person_in_from or digest.more_events:
        return ""
    if any(group.people != 1 for group in digest.groups):
        return ""
    people = {group.actors[0].id: group.actors[0].name for group in digest.groups}
    return from_name(people.popitem()[1], brand.name) if len(people) == 1 else ""


def _reason_of(digest: Digest) -> EmailReason:
    return EmailReason(
        involved=any(
            group.is_addressed and not group.latest.source
            for block in digest.blocks
            for group in block.groups
        ),
        followed=any(_via(block) for block in digest.blocks),
    )


def _via(block: Block) -> tuple[str, ...]:
    """Return the followed entities whose follows caused the block to be included, if any."""
    for group in block.groups:
        if group.latest.via:
            return group.latest.via
    return ()


class _Own:
    """A renderer of the reader's personal parts of an email's blocks, such as links to unsubscribe.

    `made` contains the inserted links. `follows` returns a block's sentence about a follow. It is
    None if the email's footer has this sentence.
    """

    def __init__(
        self,
        links: Links,
        follows: Callable[[bool], str] | None,
        *,
        critical: bool,
        is_immediate: bool,
    ) -> None:
        self._leave, self._follows, self._critical = links.leave, follows, critical
        self._is_immediate = is_immediate
        self._filled: dict[tuple[str, str, tuple[str, ...], bool, bool], tuple[str, str]] = {}
        self.made: set[str] = set()

    def fallback(self, links: Links, categories: tuple[str, ...]) -> Fallback | None:
        """Return the link that moves the email's categories from immediate email to a digest.

        Returns None if the reader has no such digest, and in the browser view.
        """
        link = self._link(immediate_of(categories)) if links.fallback else ""
        return Fallback(link, links.fallback) if link else None

    def controls(self, digest: Digest, most: int) -> Controls:
        """Return at most `most` links for the footer of an immediate email."""
        block = digest.blocks[0]
        via = _via(block)
        is_this = via == (block.groups[0].latest.entity.key,)
        link_of = partial(self._said, block, via, is_this, True)
        unfollow, mute = link_of("unfollow", ""), link_of("mutethis", "")
        room = most - bool(unfollow) - bool(mute)
        names = list(dict.fromkeys(group.category for group in digest.groups))[:room]
        categories = tuple((name, link) for name in names if (link := link_of("mute", name)))
        return Controls(unfollow, is_this, mute, categories)

    def put_into(self, blocks: Sequence[Block], fragments: Sequence[Fragment]) -> list[_Piece]:
        """Insert the reader's personal parts into the fragments of `blocks`."""
        pieces = []
        for block, each in zip(blocks, fragments, strict=True):
            via = _via(block)
            is_this = bool(via) and via == (block.groups[0].latest.entity.key,)
            is_for_them = bool(via) and True in [group.is_addressed for group in block.groups]
            (before, in_html, after), (above, in_text, below) = each.html, each.text
            key = (in_html, in_text, via, is_this, is_for_them)
            filled = self._filled.get(key)
            if filled is None or self._is_immediate:
                text_of = partial(self._said, block, via, is_this, is_for_them)
                filled = (
                    insert_own_links(in_html, partial(_escaped, text_of)),
                    insert_own_links(in_text, text_of),
                )
                self._filled[key] = filled
            pieces.append(_Piece(each.block, (before, filled[0], after), (above, filled[1], below)))
        return pieces

    def less(self, digest: Digest) -> list[tuple[str, str]]:
        """Return at most two categories that the footer offers to turn off, each with its link.

        Categories with updates for the reader come last. The least important category is first.
        """
        names = list(dict.fromkeys([each.category for each in reversed(digest.counts)]))[:_OFFERED]
        links = [(name, self._link(Scope(ScopeKind.CATEGORY, (name,)))) for name in names]
        return [(name, link) for name, link in links if link]

    def _link(self, scope: Scope) -> str:
        """Return the reader's link to leave a scope, or an empty string in the browser view."""
        link = self._leave(scope)
        if link:
            self.made.add(link)
        return link

    def _said(
        self,
        block: Block,
        via: tuple[str, ...],
        is_this: bool,
        is_for_them: bool,
        act: str,
        category: str,
    ) -> str:
        """Return the text that replaces a placeholder, or an empty string if the reader has no such
        link.

        Raises RenderingFailed for an unknown action.
        """
        if act == "why":
            says = via and (is_this or not is_for_them)
            return self._follows(is_this) if says and self._follows else ""
        scope: Scope | None
        if act in {"mute", "mutethis"} and self._critical:
            return ""
        if act == "mutethis" and not self._is_immediate:
            return ""
        if act == "mute":
            scope = Scope(ScopeKind.CATEGORY, (category,))
        elif act == "mutethis":
            entity = block.latest.entity
            scope = thing_scope(entity.key, short_title(entity.title))
            if scope is None:
                return ""
        elif act != "unfollow":
            raise RenderingFailed(f"there is no personal link for the action {act!r}")
        elif via:
            scope = Scope(ScopeKind.ENTITY, tuple(map(entity_mark, via[:2])))
        else:
            return ""
        return self._link(scope)


def _escaped(text_of: Callable[[str, str], str], act: str, category: str) -> str:
    return str(escape(text_of(act, category)))


def _html_bytes(edition: Edition) -> int:
    """Return the size of the HTML in bytes.

    Raise UnicodeEncodeError for a lone surrogate in any part. Without this check, the error would
    only occur when the email is sent.
    """
    size = [len(part.encode()) for part in (edition.subject, edition.html, edition.text)]
    return size[1]


def _without(excess: int, pieces: list[_Piece]) -> list[_Piece]:
    """Remove blocks from the end until at least `excess` bytes are removed. Raise RenderingFailed
    if no block remains.
    """
    remaining = list(pieces)
    while excess > 0:
        excess -= len("".join(remaining.pop().html).encode())
        if not remaining:
            raise RenderingFailed(f"one block alone has more than {LONGEST_HTML} bytes of HTML")
    return remaining


_LINK = re.compile(r"(<a)(\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*)", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)
_MARKED = " ses:no-track"


def without_tracking(html: str, links: Links, more: Collection[str] = ()) -> str:
    """Return `html` with the `ses:no-track` attribute on each of the reader's personal links.

    SES neither tracks nor rewrites links with this attribute, and removes the attribute before
    sending.
    https://docs.aws.amazon.com/ses/latest/dg/faqs-metrics.html, "Click Tracking"

    The attribute is added here instead of in the templates, so that custom templates cannot omit
    it. Unsubscribing must not depend on a tracking server, and no tracking server may see the
    signed links.
    """
    own = [links.unsubscribe, links.preferences, links.email, links.updates, *more]
    if links.sunset:
        own += [links.sunset.keep, links.sunset.weekly]
    addresses = tuple(str(escape(link)).lower() for link in own if link)

    def marked(link: re.Match[str]) -> str:
        is_own = any(_leads_to(href.lower(), addresses) for _, href in _HREF.findall(link[2]))
        return link[1] + _MARKED + link[2] if is_own else link[0]

    return _LINK.sub(marked, html)


def _leads_to(href: str, addresses: Collection[str]) -> bool:
    return any(
        href.startswith(address) and href[len(address) :][:1] in {"", "#", "?"}
        for address in addresses
    )
