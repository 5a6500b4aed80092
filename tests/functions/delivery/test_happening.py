"""A mention and its comment, from the bus to the email (rule 30)."""

import pytest

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import event, follow, happening, profile

pytestmark = pytest.mark.usefixtures("later")
MENTION = {"category": "mention", "excerpt": "What does Ann think?"}
PART = {"part_of": {"entity": {"type": "post", "id": "p1"}, "id": "e1"}}


def text_of(cloud: Cloud) -> str:
    """The text part of the only email."""
    (message,) = fan_out(cloud)
    cloud.work("generate", message)
    (email,) = cloud.sent()
    return str(email["Content"]["Simple"]["Body"]["Text"]["Data"])


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_retracted", [True, False])
def test_reader_gets_one_email_for_a_mention_and_its_comment(
    cloud: Cloud, *, is_first: bool, is_retracted: bool
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("follow.created", follow())
    messages = [
        ("event.created", event(7) | MENTION | PART),
        ("activity.created", happening(1) | {"excerpt": "A comment"}),
    ]
    for detail_type, detail in messages if is_first else reversed(messages):
        cloud.say(detail_type, detail)
    if is_retracted:
        cloud.say("event.retracted", {"id": "e7", "user_id": "ann"})
    text = text_of(cloud)
    assert ("What does Ann think?" in text) is not is_retracted
    assert ("A comment" in text) is is_retracted
