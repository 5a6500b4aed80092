"""The page of a replay: it can be read by everybody and by keyboard, and leads nowhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from gazette.domain.model import Edition
from playwright.sync_api import Browser, Page, Route

from demo.engine import ROOT
from gazette_cli.preview.content import Kind, sample
from gazette_cli.preview.rendering import render
from gazette_cli.replay.comparison import Comparison
from gazette_cli.templates.building import Templates
from gazette_support.domain.replay import Change, Rendition
from tests.browser.accessibility import inspected, problems
from tests.unit.support.test_replay_page import a_rendition, add, drawn

ESCAPES = (
    '<meta http-equiv="refresh" content="0; url=https://away.example/refreshed">'
    '<a data-x href="#" id="escape">away</a><script>top.document.title = "ran"</script>'
)
"""What no template of ours has: it would leave the page by itself, and by a script."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two emails that change, one of which fails, and one that tries to leave the page."""
    edition = render(sample(Kind.DIGEST), Templates(ROOT / "templates"))
    was = Rendition(edition, a_rendition().blocks)
    now = replace(was, edition=replace(edition, subject="Another subject"))
    found = add(Comparison(), was, now)
    add(found, was, Rendition(None, failed="why"), frozenset({Change.FAILS}), user_id="bo")
    leaving = Rendition(Edition("Away", f"<html><body>{ESCAPES}</body></html>", "Away"))
    add(found, leaving, leaving, frozenset({Change.CUT}), user_id="cy")
    path = tmp_path_factory.mktemp("replay") / "index.html"
    path.write_text(drawn(found), encoding="utf-8")
    return path


@contextmanager
def opened(browser: Browser, file: Path) -> Iterator[tuple[Page, list[str]]]:
    """The page as it is read: its own policy applies. With it, what it asks the network for.

    What the policy blocks never gets there, but Playwright reports it as a request that failed.
    """
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    with browser.new_context() as context:
        context.route(lambda url: url != file.as_uri(), answer)
        tab = context.new_page()
        tab.goto(file.as_uri())
        yield tab, asked


def test_replay_page_is_accessible(browser: Browser, file: Path) -> None:
    with inspected(browser) as page:
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        page.locator("iframe").evaluate_all("frames => frames.forEach(frame => frame.remove())")
        assert problems(page) == []


def test_every_replayed_email_can_be_opened_by_keyboard(browser: Browser, file: Path) -> None:
    with opened(browser, file) as (page, asked):
        while (closed := page.locator("details:not([open]) > summary")).count():
            closed.first.focus()
            page.keyboard.press("Enter")
        for frame in page.locator("iframe").all():
            frame.scroll_into_view_if_needed()
        before, after = (
            page.frame_locator(f"iframe[title='ann-daily-1 {side}']").locator("body")
            for side in ("before", "after")
        )
        assert before.inner_text() == after.inner_text() != ""
        assert asked == []
        assert page.title() == "What changes"


def test_email_links_do_not_leave_the_frame_or_the_page(browser: Browser, file: Path) -> None:
    with opened(browser, file) as (page, asked):
        link = page.frame_locator("iframe[title='bo-daily-1 before']").locator("a").first
        link.click()
        link.click(modifiers=["Control"])
        page.wait_for_load_state()
        assert asked == []
        assert page.url == file.as_uri()


def test_frame_cannot_navigate_away(browser: Browser, file: Path) -> None:
    """Where a link were missed: the policy of the page stops it."""
    with opened(browser, file) as (page, asked):
        page.locator("details").nth(1).evaluate("each => each.open = true")
        frame = page.frame_locator("iframe[title='cy-daily-1 before']")
        frame.locator("#escape").evaluate("link => link.href = 'https://away.example/'")
        frame.locator("#escape").click()
        page.wait_for_load_state()
        assert asked == []
