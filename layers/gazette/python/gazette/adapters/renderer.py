"""Jinja2 templates, already inlined at build time, become an edition."""

import json
from datetime import datetime
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
        nouns = json.loads((templates / "nouns.json").read_text())
        self._words = Words({category: (one, many) for category, (one, many) in nouns.items()})
        self._environment = environment(templates)

    def render(
        self, digest: Digest, subscriber: Subscriber, links: Links, schedule: str
    ) -> Edition:
        """Subject on one line, HTML and text of the same content."""
        zone = zone_of(subscriber.time_zone)

        def local(instant: datetime) -> str:
            shown = instant.astimezone(zone)
            return f"{shown.day} {shown:%B, %H:%M}"

        values = {
            "brand": self._brand,
            "digest": digest,
            "links": links,
            "local": local,
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
        self._brand = json.loads((templates / "brand.json").read_text())
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

    def _page(self, name: str, **values: object) -> str:
        template = self._environment.get_template(f"preferences/{name}")
        return template.render(brand=self._brand, **values)
