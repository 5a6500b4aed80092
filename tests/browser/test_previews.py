"""Previews and pictures, as a browser shows them."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route

from demo.engine import ROOT
from gazette_cli.preview.content import Kind, sample
from gazette_cli.preview.folder import write
from gazette_cli.preview.rendering import render
from gazette_cli.templates.building import Templates
from tests.browser import before_and_after
from tests.browser.accessibility import inspected, problems
from tests.browser.screenshots import FOLDER, draw

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
LARGEST = 160_000
"""Bytes of a picture: they are part of what everybody clones."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preview of the sample."""
    edition = render(sample(Kind.DIGEST), Templates(ROOT / "templates"))
    return write(edition, tmp_path_factory.mktemp("preview"), sender="Gazette")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colour_mode_matches_the_browser_setting(
    browser: Browser, index: Path, scheme: str
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(index.with_name("email.html").as_uri())
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        expected = page.evaluate(BACKGROUND)
        page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
        assert page.evaluate(BACKGROUND) != expected
        page.goto(index.with_name(f"{scheme}.html").as_uri())
        assert page.evaluate(BACKGROUND) == expected


def test_preview_page_shows_all_views_and_is_accessible(browser: Browser, index: Path) -> None:
    with inspected(browser) as page:
        page.goto(index.as_uri())
        shown = [frame.url.rpartition("/")[2] for frame in page.frames[1:]]
        files = ("light.html", "dark.html", "no-images.html")
        assert shown == [*(file for file in files for _ in range(2)), "outlook.html"]
        inner = page.locator("iframe").evaluate_all("frames => frames.map(f => f.clientWidth)")
        assert inner == [620, 360] * 3 + [620]
        page.locator("iframe").evaluate_all("frames => frames.forEach(frame => frame.remove())")
        assert problems(page) == []


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("loaded", [True, False])
def test_email_is_readable_with_and_without_images(
    browser: Browser, kind: Kind, loaded: bool
) -> None:
    """A picture that is not loaded is as wide as its text, which must not widen a phone's page."""
    edition = render(sample(kind), Templates(ROOT / "templates"))
    picture = (FOLDER / "email-light.webp").read_bytes()

    def answer(route: Route) -> None:
        if loaded:
            route.fulfill(body=picture, content_type="image/webp")
        else:
            route.abort()

    with inspected(browser) as page:
        page.route("https://example.com/**", answer)
        page.set_content(edition.html)
        assert problems(page) == []


def test_screenshots_are_small_and_reproducible(browser: Browser, tmp_path: Path) -> None:
    once, again = tmp_path / "once", tmp_path / "again"
    once.mkdir()
    again.mkdir()
    for path in _all(browser, once):
        assert path.stat().st_size < LARGEST
    for path in _all(browser, again):
        is_same = path.read_bytes() == (once / path.name).read_bytes()
        assert is_same, path.name  # pytest would compare the bytes for many minutes


def _all(browser: Browser, folder: Path) -> list[Path]:
    return [*draw(browser, folder), *before_and_after.draw(browser, folder, "after")]
