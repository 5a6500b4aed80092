"""`make screenshots`: the pictures of emails and pages in docs/images."""

import sys
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser

from cli.preview.letters import Kind, sample
from cli.preview.rendering import Templates, render
from demo.engine import ROOT
from tests.browser.chromium import chromium

FOLDER = ROOT / "docs" / "images"


class Picture(NamedTuple):
    """A view of a page: what is shown of it is `width` by `height` pixels."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]


EMAIL = (
    Picture("email-light.png", 640, 900, "light"),
    Picture("email-dark.png", 640, 900, "dark"),
    Picture("email-narrow.png", 320, 700, "light"),
)


def draw(browser: Browser, folder: Path) -> list[Path]:
    """Write them all, and return them; the same templates make the same pictures."""
    email = render(sample(Kind.DIGEST), Templates(ROOT / "templates")).html
    return [_shot(browser, email, picture, folder) for picture in EMAIL]


def _shot(browser: Browser, html: str, picture: Picture, folder: Path) -> Path:
    with browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        device_scale_factor=1,
        java_script_enabled=False,
    ) as context:
        page = context.new_page()
        page.set_content(html)
        path = folder / picture.name
        page.screenshot(path=path, animations="disabled", caret="hide")
        return path


def main() -> int:
    """Draw them where the README shows them."""
    with chromium() as browser:
        for path in draw(browser, FOLDER):
            sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
