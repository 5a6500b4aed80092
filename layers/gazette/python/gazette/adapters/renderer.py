"""Jinja2 templates, already inlined at build time, become an edition."""

import json
import re
from base64 import b64encode
from datetime import datetime, tzinfo
from functools import partial
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from gazette.adapters.words import Words
from gazette.domain.compose import Digest
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import Edition
from gazette.domain.ports import Links
from gazette.domain.subscriber import Subscriber
from gazette.domain.zone import zone_of

_EMAIL = "digest"


class JinjaRenderer:
    """The port `Renderer` on a folder of built templates (see infra/assets/inline.py)."""

    def __init__(self, templates: Path) -> None:
        self._brand = json.loads((templates / "brand.json").read_text())
        self._words = _words(templates)
        self._environment = environment(templates)

    def render(
        self, digest: Digest, subscriber: Subscriber, links: Links, schedule: str
    ) -> Edition:
        """Subject on one line, HTML and text of the same content."""
        values = {
            "brand": self._brand,
            "digest": digest,
            "links": links,
            "local": partial(_local, zone=zone_of(subscriber.time_zone)),
            "schedule": schedule,
            "subscriber": subscriber,
            "words": self._words,
        }
        try:
            subject, html, text = (
                self._environment.get_template(f"{_EMAIL}/{name}").render(values)
                for name in ("subject.txt", "body.html", "body.txt")
            )
            for part in (subject, html, text):
                part.encode()  # half a surrogate would fail only when it is sent
        except Exception as err:  # templates run whatever expressions they hold
            raise RenderingFailed(f"{type(err).__name__}: {err}") from err
        return Edition(subject=" ".join(subject.split()), html=html, text=text)


def environment(templates: Path) -> Environment:
    """How templates are read: undefined names are errors, HTML is escaped."""
    return Environment(
        loader=FileSystemLoader(templates),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


class JinjaPages:
    """The port `Pages` on the same folder."""

    def __init__(self, templates: Path) -> None:
        self._templates = templates
        self._brand = json.loads((templates / "brand.json").read_text())
        self._words = _words(templates)
        self._environment = environment(templates)

    def confirm_unsubscribe(self) -> str:
        """Asks before anything happens."""
        return self._page("confirm.html")

    def unsubscribed(self) -> str:
        """Says that it is done."""
        return self._page("done.html")

    def invalid_link(self) -> str:
        """Says that a link does not work, the same whatever the cause."""
        return self._page("invalid.html")

    def not_sent(self) -> str:
        """Says that there is nothing to see before an email is sent."""
        return self._page("not_sent.html")

    def nothing_left(self) -> str:
        """Says that nothing of what an email showed is still there."""
        return self._page("nothing_left.html")

    def updates(self, digest: Digest, subscriber: Subscriber) -> str:
        """Each group of the digest, with the times of the reader's zone."""
        local = partial(_local, zone=zone_of(subscriber.time_zone))
        return self._page("updates.html", digest=digest, words=self._words, local=local)

    @property
    def styles(self) -> str:
        """What the pages' own style is called in a Content-Security-Policy: by its hash.

        Of the template, not of a page: what somebody smuggled into a page has no part in it.
        https://www.w3.org/TR/CSP3/#match-element-to-source-list
        """
        source, _, _ = FileSystemLoader(self._templates).get_source(
            self._environment, "preferences/page.html"
        )
        (style,) = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
        return f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"

    def _page(self, name: str, **values: object) -> str:
        template = self._environment.get_template(f"preferences/{name}")
        return template.render(brand=self._brand, **values)


def _words(templates: Path) -> Words:
    nouns = json.loads((templates / "nouns.json").read_text())
    return Words({category: (one, many) for category, (one, many) in nouns.items()})


def _local(instant: datetime, *, zone: tzinfo) -> str:
    shown = instant.astimezone(zone)
    return f"{shown.day} {shown:%B, %H:%M}"
