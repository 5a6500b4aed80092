"""axe-core in a page: what keeps people from reading or using it.

Rules of WCAG 2.0, 2.1 and 2.2, levels A and AA, and axe's best practices:
https://github.com/dequelabs/axe-core/blob/develop/doc/API.md#axecore-tags
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Browser, Page

from demo.engine import ROOT
from tests.browser.chromium import PATIENCE

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_TOLD = ["violations", "incomplete"]
"""Of what passes axe then describes one element a rule; all of them take most of its time."""


_AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
_NARROW, _WIDE, _HEIGHT = 320, 1024, 800
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@contextmanager
def inspected(browser: Browser) -> Iterator[Page]:
    """A page in which axe runs: its script comes from outside, so that policies do not apply."""
    with browser.new_context(bypass_csp=True) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        yield page


def problems(page: Page) -> list[str]:
    """What axe finds in the page that is open, light and dark, wide and as narrow as a phone.

    Also where it would have to be scrolled sideways (WCAG 1.4.10: at 320 CSS pixels). The window is
    as high as the page: of what lies under a bar that sticks to its edge axe cannot tell, and that
    changes with each scroll; that the bar hides nothing with the focus is a test of its own.
    """
    page.evaluate(_AXE.read_text())
    found: list[str] = []
    for width in (_WIDE, _NARROW):
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        high = page.evaluate("document.scrollingElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": max(high, _HEIGHT)})
        for scheme in _SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}, {width} px: {each}" for each in _axe(page)]
        needed = page.evaluate("document.scrollingElement.scrollWidth")
        if needed > width:
            found.append(f"{width} px: needs {needed} px, and so scrolls sideways")
    return found


def _axe(page: Page) -> Iterator[str]:
    options = {"runOnly": {"type": "tag", "values": _RULES}, "resultTypes": _TOLD}
    answer: dict[str, list[dict[str, Any]]] = page.evaluate(
        "options => axe.run(document, options)", options
    )
    assert answer["passes"], "axe looked at nothing"
    for rule in answer["violations"]:
        for node in rule["nodes"]:
            yield f"{rule['id']}: {rule['help']}: {node['html'][:120]}"
    for rule in answer["incomplete"]:
        for node in filter(_hides_its_contrast, rule["nodes"]):
            yield f"{rule['id']}: axe cannot tell: {node['html'][:120]}"


def _hides_its_contrast(node: dict[str, Any]) -> bool:
    """Pictures or gradients behind text, say.

    Of what is larger than the window axe never knows, nor there of a single letter or digit.
    """
    reasons = [check for check in node["any"] if check["id"] == "color-contrast"]
    unknown = {"elmPartiallyObscured", "shortTextContent"}
    return any(check["data"]["messageKey"] not in unknown for check in reasons)
