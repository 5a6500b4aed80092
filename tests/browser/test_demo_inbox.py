"""The demo's inbox can be read by everybody, folded and unfolded, and asks nothing of anybody."""

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
    with inspected(browser) as tab:
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(file.as_uri())
        assert problems(tab) == []
        assert asked == [file.as_uri()]
