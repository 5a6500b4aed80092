"""The pages that readers see in a browser, by the same brand and in the same languages."""

from pathlib import Path
from typing import Any

from gazette.adapters.rendering.brand import read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.language import Languages


class JinjaPages:
    """The port `Pages` on a folder of built templates."""

    def __init__(self, templates: Path) -> None:
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

    def _page(self, name: str, *, locale: str = "en", **values: Any) -> str:
        language = self._languages.of(locale)
        template = self._environment.get_template(f"preferences/{name}")
        return template.render({**language.values(), "brand": self._brand, **values})
