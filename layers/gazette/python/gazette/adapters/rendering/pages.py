"""The pages that readers see in a browser, by the same brand and in the same languages."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader

from gazette.adapters.rendering.brand import read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.lines import line_of
from gazette.adapters.rendering.showing import show
from gazette.domain.compose import Digest
from gazette.domain.subscriber import Subscriber
from gazette.domain.zone import zone_of


class JinjaPages:
    """The port `Pages` on a folder of built templates."""

    def __init__(self, templates: Path) -> None:
        self._templates = templates
        self._brand = read_brand(templates / "brand.json")
        self._languages = Languages(templates)
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
        language = self._languages.of(subscriber.locale)
        zone = zone_of(subscriber.time_zone)
        groups = [(group, show(group, language, zone)) for group in digest.groups]
        return self._page(
            "updates.html",
            locale=subscriber.locale,
            digest=digest,
            groups=[
                (shown, line_of(shown, self._environment, language), group.latest.occurred_at)
                for group, shown in groups
            ],
        )

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

    def _page(self, name: str, *, locale: str = "en", **values: Any) -> str:
        language = self._languages.of(locale)
        template = self._environment.get_template(f"preferences/{name}")
        return template.render({**language.values(), "brand": self._brand, **values})
