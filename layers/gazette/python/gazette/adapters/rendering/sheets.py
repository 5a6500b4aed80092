"""The parts that all pages share: brand, style sheet and languages."""

import base64
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from gazette.adapters.rendering.brand import read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.fragments import template_of
from gazette.adapters.rendering.language import Language, Languages
from gazette.adapters.rendering.view_models import COLOURS


class Sheets:
    """A renderer of pages from a folder of built templates.

    `styles` and `images` are the sources that a Content-Security-Policy must allow: the hash of the
    style sheet, and the origins of the logos, if any.
    https://www.w3.org/TR/CSP3/#grammardef-hash-source
    """

    def __init__(self, templates: Path) -> None:
        self.brand = read_brand(templates / "brand.json")
        self.languages = Languages(templates)
        self.environment = environment(templates)
        style = self.environment.get_template("preferences/page.css").render(
            brand=self.brand, colours=COLOURS
        )
        self._style = Markup(style)  # noqa: S704 -- our own CSS, with checked colours
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.styles = f"'sha256-{digest}'"
        logos = map(urlsplit, filter(None, (self.brand.logo, self.brand.logo_dark)))
        self.images = " ".join(dict.fromkeys(f"{logo.scheme}://{logo.netloc}" for logo in logos))

    def name_of(self, category: str, language: Language) -> str:
        """Return a category's name as shown to readers."""
        template = template_of(category, "name.txt", self.environment)
        text = template.render({**language.values(), "category": category})
        return " ".join(text.split())

    def render(self, name: str, language: Language, **values: Any) -> str:
        """Render the template `preferences/<name>`."""
        template = self.environment.get_template(f"preferences/{name}")
        return template.render(
            {**language.values(), "brand": self.brand, "style": self._style, **values}
        )
