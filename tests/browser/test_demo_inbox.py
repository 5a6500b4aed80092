"""The demo's inbox is accessible, folded and unfolded, and loads only its own emails."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from demo.results import page
from tests.browser.accessibility import inspected, problems
from tests.unit.demo.test_results import REPORT, line


@pytest.mark.parametrize("is_open", [False, True])
def test_demo_inbox_is_accessible(browser: Browser, tmp_path: Path, is_open: bool) -> None:
    lines = [line(number) for number in range(30)]
    html = page(lines, [("A mention leads", lines[0]), ("One update", lines[1])], REPORT)
    file = tmp_path / "index.html"
    file.write_text(html.replace("<details>", "<details open>") if is_open else html)
    emails = tmp_path / "emails"
    emails.mkdir()
    for each in lines[:2]:
        (emails / f"{each.file}.html").write_text(f"<title>{each.file}</title>")
    with inspected(browser) as tab:
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(file.as_uri())
        assert problems(tab) == []
        first, second = ((emails / f"{each.file}.html").as_uri() for each in lines[:2])
        assert asked == [file.as_uri(), first]
        with tab.expect_request(second):
            tab.get_by_role("link", name="One update").click()
        assert tab.url == file.as_uri()
