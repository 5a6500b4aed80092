"""A short version of `make spam`, without SpamAssassin."""

from email.message import Message
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest

from proofs.spam.__main__ import table, too_high
from proofs.spam.emails import LANGUAGES, Sent, contents, sent
from proofs.spam.scores import read_score

LETTER = Sent("daily", "en", b"")


def answer(score: str, rules: str) -> Message:
    message = Message()
    message["X-Spam-Status"] = f"No, score={score} required=5.0 tests=HTML_MESSAGE version=4.0.1"
    message["X-Spam-Rules"] = rules
    return message


@pytest.mark.enable_socket
def test_server_receives_each_kind_of_email(built_templates: Path) -> None:
    assert len(contents()) * len(LANGUAGES) >= 20
    emails = list(sent(built_templates, ["he"]))
    assert [each.kind for each in emails] == [*contents()]
    messages = [BytesParser(policy=default).parsebytes(each.message) for each in emails]
    assert len({message["Message-ID"] for message in messages}) == len(emails)
    for message in messages:
        html = message.get_body(("html",))
        assert html is not None
        assert 'dir="rtl"' in html.get_content()
        assert message.get_body(("plain",)) is not None
    assert [bool(each["List-Unsubscribe"]) for each in messages] == [
        each != "critical" for each in contents()
    ]


def test_email_with_a_score_above_zero_is_reported() -> None:
    rules = "HTML_FONT_LOW_CONTRAST=0.713,HTML_MESSAGE=0.001"
    scored = [read_score(LETTER, answer(*each)) for each in (("0.7", rules), ("-0.0", "X=-0.001"))]
    assert too_high(scored) == scored[:1]
    assert table(scored) == [
        "daily        en    0.7  HTML_FONT_LOW_CONTRAST 0.7",
        "daily        en    0.0",
    ]


def test_answer_without_a_score_is_refused() -> None:
    with pytest.raises(ValueError, match="no score"):
        read_score(LETTER, answer("none", "X=0.1"))
