"""Pictures of what a reader meets, drawn of the same events by any version of the templates.

    python -m tests.browser.before_and_after after

draws them as `docs/images/after-….webp`; those called `before-….webp` were drawn by this script, as
it was first, on commit f6fe297d, the last one before emails were rewritten for their readers.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser

from demo.engine import ROOT
from gazette_cli.preview.rendering import render
from gazette_cli.templates.building import Templates
from tests.browser.chromium import chromium, webp
from tests.browser.community import digest, immediate, with_pictures
from tests.browser.inbox import inbox
from tests.browser.screenshots import FOLDER, preferences

_PHONE, _DESKTOP, _LIST = 390, 620, 860
"""CSS pixels."""


def pages() -> Iterator[tuple[str, str, int]]:
    """The name of each picture, the page it shows from top to bottom, and its width."""
    templates = Templates(ROOT / "templates")
    daily, mention, message = (
        render(content, templates) for content in (digest(), immediate(), immediate("message"))
    )
    yield "inbox", inbox("Gazette", [daily, mention, message]), _LIST
    yield "digest", with_pictures(daily.html), _DESKTOP
    yield "immediate", with_pictures(mention.html), _DESKTOP
    yield "preferences", preferences(), _PHONE


def draw(browser: Browser, folder: Path, when: str) -> list[Path]:
    """Write them all, named after `when`, and return them."""
    drawn = []
    for name, html, width in pages():
        with browser.new_context(
            viewport={"width": width, "height": 40}, color_scheme="light", java_script_enabled=False
        ) as context:
            page = context.new_page()
            page.set_content(html)
            drawn.append(folder / f"{when}-{name}.webp")
            drawn[-1].write_bytes(webp(page, whole=True))
    return drawn


def main(arguments: list[str]) -> int:
    """Draw them; the one argument is `before` or `after`."""
    if arguments not in (["before"], ["after"]):
        sys.stderr.write("say: python -m tests.browser.before_and_after after\n")
        return 2
    with chromium() as browser:
        for path in draw(browser, FOLDER, arguments[0]):
            sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
