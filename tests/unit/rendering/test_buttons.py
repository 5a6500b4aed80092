"""The button of an email with one update says what it does."""

from dataclasses import replace

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event


@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#p1")])
@pytest.mark.parametrize(
    ("category", "locale", "says"),
    [
        ("article", "en", "Read the article"),
        ("comment", "en", "See the comment"),
        ("mention", "en", "Reply"),
        ("message", "en", "Reply"),
        ("reply", "en", "See the reply"),
        ("like", "en", "View on Gazette"),
        ("follow", "en", "View on Gazette"),
        ("build_failed", "en", "View on Gazette"),
        ("like", "de", "Bei Gazette ansehen"),
        ("like", "he", "לצפייה ב־Gazette"),
    ],
)
def test_button_text_describes_its_action(
    renderer: JinjaRenderer, category: str, locale: str, says: str, schedule: str
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    digest = compose([an_event("e1", category=category)], max_blocks=20)
    made = renderer.render(digest, reader, LINKS, schedule)
    page = lxml.html.document_fromstring(made.html)
    (button,) = page.xpath("//*[contains(concat(' ', @class, ' '), ' button ')]")
    assert " ".join(button.text_content().split()) == says
