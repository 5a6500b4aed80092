"""Jinja2 templates, already inlined at build time, become an edition."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from jinja2 import Environment
from markupsafe import Markup, escape

from gazette.adapters.rendering.brand import Brand, read_brand
from gazette.adapters.rendering.environment import environment, read_rankings
from gazette.adapters.rendering.fragments import Fragment, Fragments
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.view_models import one_line, show, subject_line
from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import Edition
from gazette.domain.ports.rendering import CacheCount, Links
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.scheduling.recurrence import zone_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

Measure = Callable[[], AbstractContextManager[None]]
"""What an email is rendered inside of, so that it can be measured."""

LONGEST_HTML = 90_000
"""Bytes. Gmail cuts off what is longer than 102 KB, and with it the link to unsubscribe."""

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
        self._fragments = Fragments(self._brand)
        self._tracks_clicks = False
        self._measured: Measure = nullcontext

    def for_sending(self, *, tracks_clicks: bool, measured: Measure) -> Self:
        """The same, with the same cache of groups, for emails that are sent.

        `tracks_clicks`: the provider leads links through its own server, but not the reader's own.
        Each rendering takes place inside `measured`.
        """
        other = copy(self)
        other._tracks_clicks = tracks_clicks
        other._measured = measured
        return other

    def take_count(self) -> CacheCount:
        """How many groups of emails were there already, and how many not, since asked last."""
        return self._fragments.take_count()

    def ranking(self, variation: int) -> Ranking:
        """What the variation's file says; else the most active group comes first."""
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
        """Subject on one line, HTML and text of the same content, the HTML never too long.

        Groups are dropped from the end until it fits, and counted with what is not shown.
        """
        email = (
            Frequency.IMMEDIATE.value if kind_of(schedule) is ScheduleKind.IMMEDIATE else "digest"
        )
        try:
            with self._measured():
                return self._fitting(email, digest, subscriber, links, schedule, variation)
        except RenderingFailed:
            raise
        except Exception as err:  # templates run whatever expressions they hold
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
        fragments = [
            self._fragments.of(email, show(group, language, zone), templates, language)
            for group in digest.groups
        ]
        values = {
            **language.values(),
            "brand": self._brand,
            "links": links,
            "often": schedule if email == "digest" else email,
            "reader": language.isolated(one_line(subscriber.name, _LONGEST_NAME)),
            "zone": zone,
        }
        while True:
            edition = _edition(templates, email, digest, fragments, values)
            if self._tracks_clicks:
                edition = replace(edition, html=without_tracking(edition.html, links))
            excess = len(edition.html.encode()) - LONGEST_HTML
            if excess <= 0:
                return edition
            fragments = _without(excess, fragments)
            digest = digest.shortened(len(fragments))

    def _environment(self, variation: int) -> Environment:
        if variation not in self._environments:
            self._environments[variation] = environment(self._templates, variation)
        return self._environments[variation]


def _edition(
    templates: Environment,
    email: str,
    digest: Digest,
    fragments: list[Fragment],
    values: dict[str, Any],
) -> Edition:
    given = {**values, "digest": digest, "groups": fragments}
    subject, html, text = (
        templates.get_template(f"{email}/{name}").render(
            given, shown=_joined(fragments, name == "body.html")
        )
        for name in ("subject.txt", "body.html", "body.txt")
    )
    for part in (subject, html, text):
        part.encode()  # half a surrogate would fail only when it is sent
    return Edition(
        subject=subject_line(subject, _LONGEST_SUBJECT),
        html=html,
        text=text,
        categories=digest.categories,
    )


def _joined(fragments: list[Fragment], is_html: bool) -> str:
    if is_html:
        return Markup("").join(Markup(each.html) for each in fragments)  # noqa: S704 -- escaped by its template
    return "".join(each.text for each in fragments)


def _without(excess: int, fragments: list[Fragment]) -> list[Fragment]:
    """As many fewer as make up for `excess` bytes. Raises RenderingFailed where none is left."""
    kept = list(fragments)
    while excess > 0:
        excess -= len(kept.pop().html.encode())
        if not kept:
            raise RenderingFailed(f"one group alone makes more than {LONGEST_HTML} bytes of HTML")
    return kept


_ATTRIBUTES = r"(?:[^>\"']|\"[^\"]*\"|'[^']*')*?"
_MARKED = r"\g<0> ses:no-track"


def without_tracking(html: str, links: Links) -> str:
    """`html`, with the attribute `ses:no-track` on each link that leads to one of `links`.

    SES neither counts nor changes a link that has it, and takes the attribute out before it sends
    the email. https://docs.aws.amazon.com/ses/latest/dg/faqs-metrics.html, "Click Tracking"

    Marked here and not in the templates, so that no template of an adopter's can forget it: what
    unsubscribes must not depend on a server that counts, nor what is signed be read by it.
    """
    own = (links.unsubscribe, links.preferences, links.email, links.updates)
    addresses = "|".join(re.escape(str(escape(link))) for link in own)
    link = rf"<a(?=\s{_ATTRIBUTES}\bhref\s*=\s*([\"'])(?:{addresses})(?:[#?][^\"']*)?\1)"
    return re.sub(link, _MARKED, html, flags=re.IGNORECASE)
