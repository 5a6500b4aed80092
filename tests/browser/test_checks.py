"""The checks can fail."""

import http.server
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.accessibility import inspected, problems
from tests.browser.conftest import refusals

_GOOD = """<!DOCTYPE html><html lang="en"><head><title>A page</title>
<style>body { color: #111; background: #fff; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #111; } }</style></head>
<body><main><h1>A page</h1><p>Some text.</p></main></body></html>"""


@pytest.fixture
def inspector(browser: Browser) -> Iterator[Page]:
    with inspected(browser) as page:
        yield page


def test_accessible_page_has_no_problems(inspector: Page) -> None:
    inspector.set_content(_GOOD)
    assert problems(inspector) == []


@pytest.mark.parametrize(
    ("good", "bad", "found"),
    [
        (' lang="en"', "", ["html-has-lang"]),
        ("<p>Some text.</p>", '<p><img src="data:,"></p>', ["image-alt"]),
        ("<p>Some text.</p>", "<form><input name=hour></form>", ["label"]),
        ("#111; background: #fff", "#999; background: #fff", ["light", "color-contrast"]),
        ("#eee; background: #111", "#555; background: #111", ["dark", "color-contrast"]),
        ("<p>Some", '<p style="width: 600px">Some', ["320 px: needs 6"]),
        (
            "<p>Some",
            '<p style="background-image: linear-gradient(#000, #fff)">Some',
            ["axe cannot tell"],
        ),
        ("<h1>A page</h1>", "", ["page-has-heading-one"]),
    ],
)
def test_inaccessible_page_is_reported(
    inspector: Page, good: str, bad: str, found: list[str]
) -> None:
    assert good in _GOOD
    inspector.set_content(_GOOD.replace(good, bad))
    notice = problems(inspector)
    assert notice
    for each in found:
        assert each in " ".join(notice)


def test_resources_blocked_by_the_csp_are_reported(browser: Browser) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.end_headers()
            self.wfile.write(_GOOD.encode())

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        refused = refusals(page)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        thread.join()
        server.server_close()
        assert [text for text in refused if "style" in text]
