"""Chromium, headless."""

import base64
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

PATIENCE = 60_000
"""Milliseconds that a page may take to open, on a machine that has more to do."""

_SHELL = "chromium-headless-shell"
"""Chromium without its own windows, menus and tabs, which take three quarters of its CPU time."""

_QUALITY = 60
"""Of 100."""

# No connection but to the pages: without these, Chromium asks its maker's servers at every start.
_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The one of the path, or the one that CHROMIUM names."""
    path = shutil.which(os.environ.get("CHROMIUM", _SHELL))
    if path is None:
        raise RuntimeError("There is no Chromium: say `make browser`, or CHROMIUM=… for its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS])
        yield browser
        browser.close()


def webp(page: Page, *, whole: bool = False) -> bytes:
    """What the window shows, or the `whole` page, as WebP: a third of the size of a PNG.

    Playwright itself cannot write it.
    """
    if whole:
        width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        page.set_viewport_size({"width": width, "height": height})
    answer = page.context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": _QUALITY}
    )
    return base64.b64decode(answer["data"])
