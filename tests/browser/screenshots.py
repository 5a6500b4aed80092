"""`make screenshots`: the pictures of emails and pages in docs/images."""

import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.subscribers.overview import Overview
from playwright.sync_api import Browser, ViewportSize

from demo.engine import ROOT
from gazette_cdk.assets.templates.build import build_templates
from gazette_cli.preview.rendering import render
from gazette_cli.preview.sample import READER
from gazette_cli.templates.building import Templates
from tests.browser.chromium import chromium, webp
from tests.browser.community import digest, quiet_day, with_pictures
from tests.browser.console import Console, opened
from tests.browser.report import report
from tests.browser.support_story import TUESDAY, stage_on_friday

FOLDER = ROOT / "docs" / "images"


class Picture(NamedTuple):
    """A view of a page: what is shown of it is `width` by `height` pixels."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]


EMAIL = (
    Picture("email-light.webp", 640, 1160, "light"),
    Picture("email-dark.webp", 640, 1160, "dark"),
    Picture("email-narrow.webp", 320, 700, "light"),
)


RECOMMENDED = (Picture("recommendations.webp", 640, 1080, "light"),)

PAGE = (
    Picture("preferences-light.webp", 640, 900, "light"),
    Picture("preferences-dark.webp", 640, 900, "dark"),
)

REPORT = (Picture("report.webp", 1000, 860, "light"),)

SUPPORT = (
    Picture("support-light.webp", 1000, 1200, "light"),
    Picture("support-dark.webp", 1000, 1200, "dark"),
)
PLAN = Picture("support-plan.webp", 1000, 790, "light")
EXPLANATION = Picture("support-explain.webp", 1000, 506, "light")


def draw(browser: Browser, folder: Path) -> list[Path]:
    """Write them all, and return them; the same templates make the same pictures."""
    templates = Templates(ROOT / "templates")
    email, recommended = (
        with_pictures(render(content, templates).html) for content in (digest(), quiet_day())
    )
    shots = [(email, picture) for picture in EMAIL]
    shots += [(recommended, picture) for picture in RECOMMENDED]
    shots += [(preferences(), picture) for picture in PAGE]
    shots += [(report(), picture) for picture in REPORT]
    paths = [_shot(browser, html, picture, folder) for html, picture in shots]
    return paths + draw_support(browser, folder)


def draw_support(browser: Browser, folder: Path) -> list[Path]:
    """Write the pictures of the support page, and return their paths."""
    with stage_on_friday() as (cloud, clock):

        def shot(picture: Picture, act: Callable[[Console], None]) -> Path:
            size: ViewportSize = {"width": picture.width, "height": picture.height}
            with browser.new_context(viewport=size, color_scheme=picture.scheme) as context:
                console = opened(context.new_page(), cloud, theme=picture.scheme)
                clock.pass_time(minutes=3)
                act(console)
                console.page.evaluate("scrollTo(0, 0)")
                path = folder / picture.name
                path.write_bytes(webp(console.page))
                return path

        paths = [shot(picture, lambda _: None) for picture in SUPPORT]
        return [*paths, shot(PLAN, plan), shot(EXPLANATION, explain)]


def plan(console: Console) -> None:
    """Show what a redrive of the Tuesday would do."""
    console.page.get_by_label("Date in UTC").fill(TUESDAY.date().isoformat())
    console.press("Show what a redrive would do…")


def explain(console: Console) -> None:
    """Explain a reader whose digest failed, from the top of the answer."""
    console.page.get_by_label("User id").fill("ann")
    console.press("Explain the reader")
    console.page.evaluate("document.activeElement.blur()")
    console.page.locator("dialog").evaluate("each => each.scrollTo(0, 0)")


def preferences() -> str:
    """The page of the sample's reader."""
    overview = Overview(
        subscriber=READER,
        now=datetime(2026, 11, 26, 9, tzinfo=UTC),
        defaults=(),
        next_due_at=datetime(2026, 11, 27, 7, 10, tzinfo=UTC),
    )
    with tempfile.TemporaryDirectory() as built:
        build_templates(ROOT / "templates", Path(built))
        return PreferencePages(Sheets(Path(built)), Path(built)).page(overview)


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
        path.write_bytes(webp(page))
        return path


def main() -> int:
    """Draw them where the README shows them."""
    with chromium() as browser:
        for path in draw(browser, FOLDER):
            sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
