"""Names of people are shown as they are; sentences in place of a name are in quotation marks."""

from dataclasses import replace

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event


def line_of(renderer: JinjaRenderer, name: str, schedule: str = DAILY) -> str:
    """Return the line of a comment by a person with this name, without isolates."""
    event = replace(an_event(), actor=Actor("bo", name))
    digest = compose([event], max_blocks=1)
    text = renderer.render(digest, a_subscriber(), LINKS, schedule).text
    [line] = [each.strip() for each in text.splitlines() if " commented on " in each]
    return line.translate(dict.fromkeys(range(0x2066, 0x206A))).partition(" commented on ")[0]


@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#post1")])
@pytest.mark.parametrize(
    "name",
    [
        "José María García López",
        "Juan Carlos de la Cruz",
        "Ludwig van der Rohe",
        "Jeanne Marie d'Arc Dubois",
        "Abd al-Rahman bin Khalid",
        "Nguyễn Thị Minh Khai",
        "Ana Maria Silva e Souza",
        "ann",
        "נועה בן־דוד",
        "בת־שבע לוי כהן מזרחי",
        "عبد الرحمن بن خالد",
        "Bo 🚀",
        "🌸 Ann 🌸",
        "Ana María García López 🇲🇽",
        "Zoë ❤️",
        "Ann 👩🏽‍💻",
        "Bo 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "J. R. R. Tolkien",
        "Player 1",
    ],
)
def test_name_needs_no_quotation_marks(renderer: JinjaRenderer, name: str, schedule: str) -> None:
    assert line_of(renderer, name, schedule) == name


@pytest.mark.parametrize(
    "name",
    [
        "Your password expires today",
        "your account will be closed",
        "Security: sign in",
        "bo de la cruz",
        "One Two Three Four Five Six",
        "Sign in now!",
        "Gazette ✅",
        "✓ Gazette",
        "😀",
        "Bo (admin)",
        "Bo • Gazette",
        "Wolfeschlegelsteinhausenbergerdorff Junior",
    ],
)
def test_attack_sentence_as_a_name_is_in_quotation_marks(
    renderer: JinjaRenderer, name: str
) -> None:
    assert line_of(renderer, name) == f"“{name}”"
