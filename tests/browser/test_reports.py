"""The page of a report: it can be read by everybody, and asks nothing of anybody."""

from pathlib import Path

from playwright.sync_api import Browser
from typer.testing import CliRunner

from gazette_cli.main import app
from gazette_cli.statistics.page import page
from tests.browser.accessibility import inspected, problems
from tests.builders import NOW
from tests.unit.support.test_statistics_page import an_answer


def test_forecast_is_accessible(browser: Browser, tmp_path: Path) -> None:
    """axe cannot tell the background of text in SVG, which has the colours of other quiet text."""
    file = tmp_path / "forecast.html"
    done = CliRunner().invoke(
        app, ["simulate", "--readers", "500", "--service", "50", "--html", str(file)]
    )
    assert done.exit_code == 0, done.output
    with inspected(browser) as tab:
        tab.goto(file.as_uri())
        unknown = "color-contrast: axe cannot tell: <text "
        assert [each for each in problems(tab) if unknown not in each] == []


def test_report_is_accessible(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(an_answer(), made_at=NOW), encoding="utf-8")
    with inspected(browser) as tab:
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(file.as_uri())
        assert problems(tab) == []
        assert asked == [file.as_uri()]
