"""The header fields by which mail programs unsubscribe, sort into lists, and thread."""

import re
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Run
from gazette.domain.links import MOST_NAMED, NEW_LINK
from gazette.domain.model import DAILY, Edition, RunKey, StageHeaders
from gazette.domain.scheduling.kinds import (
    critical_schedule,
    immediate_schedule,
    urgent_schedule,
)
from gazette.steps.delivery.edition import address

from tests.builders import NOW, a_link, a_subscriber
from tests.fakes import FakeLinks

NOW_POST = immediate_schedule("post#1")
LIST_ID = "news.shop.example"
LONGEST = "c" * 32


def headers(
    schedule: str = NOW_POST,
    sequence: int = 1,
    *,
    user_id: str = "ann",
    categories: tuple[str, ...] = ("mention",),
    leaves_all: bool = False,
    list_id: str = LIST_ID,
) -> dict[str, str]:
    key = RunKey(user_id, schedule, sequence)
    mail = address(
        Run(key, NOW, NOW + timedelta(hours=1)),
        Edition("subject", "<p>html</p>", "text", categories),
        a_subscriber(user_id),
        FakeLinks().links(a_link(key)),
        StageHeaders(list_id, "here", leaves_all=leaves_all),
    )
    assert len(dict(mail.headers)) == len(mail.headers), "each field once"
    return dict(mail.headers)


def one_click(found: dict[str, str]) -> str:
    assert found["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    return found["List-Unsubscribe"].strip("<>").removeprefix("https://example.com/unsubscribe/ann")


def test_immediate_email_one_click_unsubscribes_from_shown_categories() -> None:
    assert one_click(headers()) == "/i/mention"
    assert one_click(headers(categories=("mention", "reply"))) == "/i/mention/reply"


def test_one_click_ends_all_immediate_emails_for_many_categories() -> None:
    many = tuple(f"c{number}" for number in range(MOST_NAMED + 1))
    assert one_click(headers(categories=many)) == "/i"


@pytest.mark.parametrize("leaves_all", [False, True])
def test_digest_one_click_unsubscribes_from_digests(leaves_all: bool) -> None:
    assert one_click(headers(DAILY, leaves_all=leaves_all)) == "/d"


def test_stage_setting_makes_one_click_unsubscribe_from_everything() -> None:
    assert one_click(headers(leaves_all=True)) == ""


def test_new_link_email_one_click_unsubscribes_from_everything() -> None:
    found = headers(categories=(NEW_LINK,))
    assert (one_click(found), found["List-Id"]) == ("/all", f"<{LIST_ID}>")


def test_each_scope_has_unique_list_id() -> None:
    """RFC 2919, section 3: at most 255 characters, a dot-atom of RFC 5322."""
    ids = {
        headers(DAILY)["List-Id"],
        headers()["List-Id"],
        headers(categories=("like",))["List-Id"],
        headers(categories=(LONGEST,), list_id="x" * 200)["List-Id"],
    }
    assert len(ids) == 4
    for each in ids:
        assert re.fullmatch(r"<[a-z0-9_-]+(\.[a-z0-9_-]+)*>", each)
        assert len(each) <= 257
    assert f"<mention.immediate.{LIST_ID}>" in ids
    assert f"<{LIST_ID}>" in ids, "digests keep the one that filters know"


@pytest.mark.parametrize("leaves_all", [False, True])
def test_critical_email_has_no_list_unsubscribe_header(leaves_all: bool) -> None:
    """RFC 2369 says what the field offers, Gmail that such email needs none.

    https://support.google.com/a/answer/15263077
    """
    found = headers(critical_schedule("post#1"), categories=("security",), leaves_all=leaves_all)
    assert not {name for name in found if name.startswith("List-Unsubscribe")}
    assert found["List-Id"] == f"<security.critical.{LIST_ID}>"
    assert thread(found) != thread(headers())


def thread(found: dict[str, str]) -> str:
    assert re.fullmatch(r"<[0-9a-f]{32}@news\.shop\.example>", found["References"])
    return found["References"]


def test_immediate_emails_about_same_entity_share_a_thread() -> None:
    """Whatever they are of, and whenever they come: Gmail wants the same message id."""
    first, second = headers(sequence=1), headers(sequence=2, categories=("reply",))
    assert thread(first) == thread(second)
    for each in (first, second):
        assert each["In-Reply-To"] == each["References"]


def test_urgent_email_is_in_the_thread_of_its_entity() -> None:
    assert thread(headers(urgent_schedule("post#1"))) == thread(headers())


def test_readers_entities_and_lists_never_share_a_thread() -> None:
    """A message id that two readers have could tell them of each other."""
    threads = {
        thread(headers()),
        thread(headers(user_id="bo")),
        thread(headers(immediate_schedule("post#2"))),
        headers(list_id="other.shop.example")["References"],
    }
    assert len(threads) == 4
    assert not [each for each in threads if "ann" in each or "post" in each]


def test_digests_are_not_threaded() -> None:
    """Gmail threads emails with one subject, unless their References match no other message."""
    first, second = headers(DAILY, 1), headers(DAILY, 2)
    assert thread(first) != thread(second)
    assert "In-Reply-To" not in first
    assert thread(first) == thread(headers(DAILY, 1)), "the same at each attempt"
