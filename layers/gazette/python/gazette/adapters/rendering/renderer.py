"""Renders an email from Jinja2 templates, whose CSS was inlined at build time."""

import re
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Self

from jinja2 import Environment
from markupsafe import Markup, escape

from gazette.adapters.rendering.brand import Brand, read_brand
from gazette.adapters.rendering.environment import Press, environment, read_rankings
from gazette.adapters.rendering.fragments import Fragment, Fragments
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.view_models import person, subject_line
from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import NEW_LINK
from gazette.domain.model import Edition
from gazette.domain.ports.rendering import CacheCount, Links
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

Measure = Callable[[], AbstractContextManager[None]]
"""Returns a context manager around each rendering, to measure it."""

LONGEST_HTML = 90_000
"""Bytes. Gmail cuts emails off at 102 KB, and with them the link to unsubscribe."""

_LONGEST_SUBJECT = 200
_LONGEST_NAME = 80


class JinjaRenderer:
    """The port `Renderer` on a folder of built templates (see infra/assets/templates.py)."""

    def __init__(self, templates: Path) -> None:
        self._templates = templates
        self._brand: Brand = read_brand(templates / "brand.json")
        self._languages = Languages(templates)
        self._rankings = read_rankings(templates)
        self._environments: dict[int, Environment] = {}
        self._lock = Lock()
        self._fragments = Fragments(self._brand)
        self._tracks_clicks = False
        self._measured: Measure = nullcontext

    def for_sending(self, *, tracks_clicks: bool, measured: Measure) -> Self:
        """A renderer for emails that are sent, with the same cache.

        `tracks_clicks`: the provider routes links through its own server, except the reader's
        own links. `measured`: the context of each rendering.
        """
        other = copy(self)
        other._tracks_clicks = tracks_clicks
        other._measured = measured
        return other

    def take_count(self) -> CacheCount:
        """How many groups came from the cache, and how many were rendered, since the last call."""
        return self._fragments.take_count()

    def ranking(self, variation: int) -> Ranking:
        """The ranking of the variation. By default the most active group comes first."""
        return self._rankings.get(variation, Ranking.MOST_ACTIVE)

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
    ) -> Edition:
        """A subject of one line, and the same content as HTML and text.

        If the HTML is too long, groups are dropped from the end and counted as not shown.
        """
        email = _kind(digest, schedule)
        try:
            with self._measured():
                return self._fitting(email, digest, subscriber, links, schedule, variation)
        except RenderingFailed:
            raise
        except Exception as err:  # templates can raise anything
            raise RenderingFailed(f"{type(err).__name__}: {err}") from err

    def _fitting(
        self,
        email: str,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        variation: int,
    ) -> Edition:
        templates = self._environment(variation)
        language = self._languages.of(subscriber.locale)
        zone = zone_of(subscriber.time_zone)
        fragments = self._fragments.of(email, digest.groups, templates, language, zone)
        values = {
            **language.values(),
            "brand": self._brand,
            "links": links,
            "often": schedule if email == "digest" else email,
            "reader": language.isolated(person(subscriber.name, _LONGEST_NAME)),
            "zone": zone,
        }
        while True:
            edition = _edition(templates, email, digest, fragments, values)
            if self._tracks_clicks:
                edition = replace(edition, html=without_tracking(edition.html, links))
            excess = _html_bytes(edition) - LONGEST_HTML
            if excess <= 0:
                return edition
            fragments = _without(excess, fragments)
            digest = digest.shortened(len(fragments))

    def _environment(self, variation: int) -> Environment:
        with self._lock:
            if variation not in self._environments:
                self._environments[variation] = environment(self._templates, variation)
            return self._environments[variation]


def _kind(digest: Digest, schedule: str) -> str:
    """The folder of the templates of an email."""
    if digest.categories == (NEW_LINK,):
        return NEW_LINK
    immediate = kind_of(schedule) is ScheduleKind.IMMEDIATE
    return Frequency.IMMEDIATE.value if immediate else "digest"


def _edition(
    templates: Environment,
    email: str,
    digest: Digest,
    fragments: list[Fragment],
    values: dict[str, Any],
) -> Edition:
    press = Press(templates, {**values, "digest": digest, "groups": fragments})

    def part(name: str, shown: str) -> str:
        press.values["shown"] = shown
        return press.render(templates.get_template(f"{email}/{name}"))

    texts = "".join([each.text for each in fragments])
    pieces = Markup("".join([each.html for each in fragments]))  # noqa: S704 -- escaped by its template
    subject = part("subject.txt", texts)
    html, text = part("body.html", pieces), part("body.txt", texts)
    return Edition(
        subject=subject_line(subject, _LONGEST_SUBJECT),
        html=html,
        text=text,
        categories=digest.categories,
    )


def _html_bytes(edition: Edition) -> int:
    """Raises UnicodeEncodeError for a lone surrogate, which else fails only when it is sent."""
    size = [len(part.encode()) for part in (edition.subject, edition.html, edition.text)]
    return size[1]


def _without(excess: int, fragments: list[Fragment]) -> list[Fragment]:
    """Drop fragments worth `excess` bytes from the end. Raises RenderingFailed if none is left."""
    kept = list(fragments)
    while excess > 0:
        excess -= len(kept.pop().html.encode())
        if not kept:
            raise RenderingFailed(f"one group alone has more than {LONGEST_HTML} bytes of HTML")
    return kept


_LINK = re.compile(r"<a(?=\s((?:[^>\"']|\"[^\"]*\"|'[^']*')*))", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)
_MARKED = " ses:no-track"


def without_tracking(html: str, links: Links) -> str:
    """`html` with the attribute `ses:no-track` on each of the reader's own links.

    SES neither counts nor changes such links, and removes the attribute before it sends the
    email. https://docs.aws.amazon.com/ses/latest/dg/faqs-metrics.html, "Click Tracking"

    Added here and not in the templates, so that no custom template can forget it: unsubscribing
    must not depend on a tracking server, and no tracking server may see the signed links.
    """
    own = (links.unsubscribe, links.preferences, links.email, links.updates)
    addresses = tuple(str(escape(link)).lower() for link in own if link)

    def marked(link: re.Match[str]) -> str:
        is_own = any(_leads_to(href.lower(), addresses) for _, href in _HREF.findall(link[1]))
        return link[0] + _MARKED if is_own else link[0]

    return _LINK.sub(marked, html)


def _leads_to(href: str, addresses: Collection[str]) -> bool:
    return any(
        href.startswith(address) and href[len(address) :][:1] in {"", "#", "?"}
        for address in addresses
    )
