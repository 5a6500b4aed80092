"""Jinja2 templates, already inlined at build time, become an edition."""

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from jinja2 import Environment
from markupsafe import Markup

from gazette.adapters.rendering.brand import Brand, read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.fragments import Fragment, Fragments
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.untracked import without_tracking
from gazette.adapters.rendering.variations import read_rankings
from gazette.adapters.rendering.view_models import one_line, show, subject_line
from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.errors import RenderingFailed
from gazette.domain.identity import is_immediate
from gazette.domain.model import Edition
from gazette.domain.ports.outside import CacheCount, Links
from gazette.domain.scheduling.zones import zone_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

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

    def tracking_clicks(self) -> Self:
        """The same, and counted with it, where the provider leads links by its own server.

        Not those of the reader's own.
        """
        other = copy(self)
        other._tracks_clicks = True
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
        email = Frequency.IMMEDIATE.value if is_immediate(schedule) else "digest"
        try:
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
        except RenderingFailed:
            raise
        except Exception as err:  # templates run whatever expressions they hold
            raise RenderingFailed(f"{type(err).__name__}: {err}") from err

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
