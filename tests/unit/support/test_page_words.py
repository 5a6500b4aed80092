"""The words of the support page, whose readers have no command line."""

import re
from pathlib import Path

import gazette.steps.support as support
import pytest
from gazette.domain.delivery.run import Reason
from gazette.steps.support.forecast_words import WAITING_FOR
from gazette.steps.support.reasons import DUE, REASON, STANDING, SUPPRESSED_FOR
from gazette.steps.support.words.commands import on_page

TEXTS = [
    *(text for words in (*REASON.values(), *STANDING.values()) for text in (words.why, words.todo)),
    *SUPPRESSED_FOR.values(),
    *WAITING_FOR.values(),
    *DUE.values(),
]


def _literals() -> list[str]:
    """Each command with its sentence, as the modules of `steps/support` write it."""
    joined = [
        re.sub(r'"\n\s*f?"', "", path.read_text(encoding="utf-8"))
        for path in Path(str(support.__file__)).parent.rglob("*.py")
        if path.name != "commands.py"
    ]
    return [
        line.strip() for text in joined for line in re.findall(r'f?"[^"\n]*`gazette [^"\n]*"', text)
    ]


@pytest.mark.parametrize("text", [each for each in TEXTS if "gazette" in each])
def test_page_recommends_no_command(text: str) -> None:
    shown = on_page(text)
    assert not re.search(r"\bgazette\b", shown)
    assert "a command" not in shown
    assert "  " not in shown
    assert not re.search(r"\brun (press|ask|read)\b", shown)


def test_every_text_with_a_command_has_words_for_the_page() -> None:
    literals = [each for each in _literals() if "def " not in each]
    assert len(literals) > 15
    for text in literals:
        assert "`gazette" not in on_page(text)
        assert "a command (ask" not in on_page(text), text


def test_words_of_the_page_name_its_buttons_and_tables() -> None:
    todo = REASON[Reason.DUE].todo
    assert "the state of sending (ask the people who operate Gazette), the queues on this page" in (
        on_page(todo)
    )
    shown = on_page("Run `gazette quarantine list` and `gazette explain ann`.")
    assert shown == 'Read the quarantine on this page and press "Explain the reader".'
    assert on_page("To see which, run `gazette receipt`.") == (
        'To see which, press "Receipt of the event".'
    )
    assert on_page("Run `gazette withdraw list`.") == "Ask the people who operate Gazette."
